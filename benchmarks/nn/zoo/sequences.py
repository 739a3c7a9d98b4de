# SPDX-License-Identifier: Apache-2.0
"""The networks of the zoo that read sequences or words, with what they are given: `B` is gluon_zoo or torch_zoo."""
import numpy as np


def floats(*shape):
    return lambda rng, batch: [rng.standard_normal([batch if n is None else n for n in shape]).astype("float32")]


def integers(below, *shape):
    return lambda rng, batch: rng.integers(0, below, [batch if n is None else n for n in shape]).astype("float32")


def sentences(below, words, *others):
    """Words, a mask by which each one reads those of its own sentence, and sentences of another language."""
    def make(rng, batch):
        lengths = rng.integers(words // 2, words + 1, batch)
        mask = np.arange(words)[None, None, :] < lengths[:, None, None]
        mask = np.broadcast_to(mask, (batch, words, words)).astype("float32")
        return [integers(below, None, words)(rng, batch), mask, *(integers(below, None, n)(rng, batch) for n in others)]
    return make


def clicks(rng, batch):
    return [integers(10000, None, 26)(rng, batch), floats(None, 13)(rng, batch)[0]]


def language(B):
    layers = [B.recurrent("lstm", 400, 1150), B.recurrent("lstm", 1150, 1150), B.recurrent("lstm", 1150, 400), B.dense(400, 10000, False)]
    return B.First(layers, 10000, 400)


# By name: the network, its inputs, the batches of inference, that of a step, labels and the kind of loss.
NETWORKS = {
    "gru": (lambda B: B.First([B.recurrent("gru", 512, 512, 2)]), floats(35, None, 512), (1, 8), 16, None, None),
    "rnn_tanh": (lambda B: B.First([B.recurrent("rnn", 512, 512, 2)]), floats(35, None, 512), (1, 8), 16, None, None),
    "lstm_projected": (lambda B: B.First([B.recurrent("lstm", 256, 512, 1, True, 256)]), floats(35, None, 256), (1, 8), 16, None, None),
    "awd_lstm": (language, lambda rng, batch: [integers(10000, 35, None)(rng, batch)], (1, 8), 16, integers(10000, 35, None), "classes"),
    "bert_2_layers": (lambda B: B.Transformer(2, 0, 768, 12, 30000), sentences(30000, 128), (1, 8), 4, integers(2, None, 128), "classes"),
    "transformer": (lambda B: B.Transformer(2, 2, 512, 8, 10000), sentences(10000, 32, 32), (1, 8), 8, integers(10000, None, 32), "classes"),
    "ctc": (lambda B: B.First([B.recurrent("lstm", 40, 128, 2, True), B.dense(256, 80, False)]), floats(100, None, 40), (1, 8), 8, integers(79, None, 20), "ctc"),
    "recommender": (lambda B: B.Recommender(False), clicks, (1, 256), 256, integers(2, None), "classes"),
    "recommender_sparse": (lambda B: B.Recommender(True), clicks, (256,), 256, integers(2, None), "classes"),
    "lstm_cells": (lambda B: B.Cells(256), floats(None, 20, 256), (1, 8), 16, None, None),
    "lstm_cells_eager": (lambda B: B.Cells(256), floats(None, 20, 256), (1, 8), 16, None, None)}
