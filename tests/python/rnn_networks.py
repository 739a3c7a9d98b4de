# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks of random weights, what NumPy makes of them step by step, and how they are run."""
import contextlib
import ctypes as C
import os

import numpy as np

GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}
MODES = list(GATES)
VARIANTS = [dict(), dict(layers=3), dict(bidirectional=True), dict(layers=2, bidirectional=True),
            dict(lengths=[5, 1, 3]), dict(layers=2, bidirectional=True, lengths=[0, 5, 2]), dict(batch=1, steps=1, hidden=1)]
LSTM_VARIANTS = [dict(projection=2), dict(projection=4, layers=2, bidirectional=True, lengths=[4, 5, 1]),
                 dict(clip=(-0.1, 0.2)), dict(clip=(-0.1, 0.2), projection=3, layers=2)]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Network:
    """A network of random weights and what NumPy makes of it."""

    def __init__(self, rng, mode, steps=5, batch=3, inputs=4, hidden=6, layers=1, bidirectional=False, projection=None,
                 lengths=None, clip=None, scale=0.5):
        self.mode, self.steps, self.batch, self.hidden, self.layers = mode, steps, batch, hidden, layers
        self.directions, self.clip, self.lengths, self.projection = 2 if bidirectional else 1, clip, lengths, projection
        self.out = projection or hidden
        rows = GATES[mode] * hidden
        self.weights, self.biases = [], []
        for layer in range(layers):
            size = inputs if layer == 0 else self.out * self.directions
            for _ in range(self.directions):
                shapes = [(rows, size), (rows, self.out)] + ([(self.out, hidden)] if projection else [])
                self.weights.append([rng.standard_normal(s) * scale for s in shapes])
                self.biases.append([rng.standard_normal(rows) * scale for _ in range(2)])
        self.x = rng.standard_normal((steps, batch, inputs))
        places = layers * self.directions
        self.states = [rng.standard_normal((places, batch, self.out)) * scale]
        if mode == "lstm":
            self.states.append(rng.standard_normal((places, batch, hidden)) * scale)

    def params(self):
        return np.concatenate([w.ravel() for part in (self.weights, self.biases) for ws in part for w in ws])

    def arrays(self, dtype="float64"):
        arrays = [a.astype(dtype) for a in (self.x, self.params(), *self.states)]
        return arrays + ([np.array(self.lengths, "int32")] if self.lengths is not None else [])

    def attrs(self, **more):
        attrs = dict(mode=self.mode, state_size=self.hidden, num_layers=self.layers, state_outputs=True,
                     bidirectional=self.directions == 2, **more)
        if self.projection:
            attrs["projection_size"] = self.projection
        if self.lengths is not None:
            attrs["use_sequence_length"] = True
        if self.clip:
            attrs.update(lstm_state_clip_min=self.clip[0], lstm_state_clip_max=self.clip[1])
        return attrs

    def cell(self, x, h, c, weights, biases):
        n = self.hidden
        a, b = x @ weights[0].T + biases[0], h @ weights[1].T + biases[1]
        if self.mode == "rnn_relu":
            return np.maximum(a + b, 0), c
        if self.mode == "rnn_tanh":
            return np.tanh(a + b), c
        if self.mode == "gru":
            r, z = sigmoid(a[:, :n] + b[:, :n]), sigmoid(a[:, n:2 * n] + b[:, n:2 * n])
            candidate = np.tanh(a[:, 2 * n:] + r * b[:, 2 * n:])
            return (1 - z) * candidate + z * h, c
        i, f, g, o = (part for part in np.split(a + b, 4, axis=1))
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        if self.clip:
            c = np.clip(c, *self.clip)
        h = sigmoid(o) * np.tanh(c)
        return (h @ weights[2].T if self.projection else h), c

    def run(self):
        x, finals = self.x, [[], []]
        for layer in range(self.layers):
            outs = []
            for d in range(self.directions):
                at = layer * self.directions + d
                h = self.states[0][at]
                c = self.states[1][at] if self.mode == "lstm" else None
                y = np.zeros((self.steps, self.batch, self.out))
                for t in range(self.steps)[:: -1 if d else 1]:
                    next_h, next_c = self.cell(x[t], h, c, self.weights[at], self.biases[at])
                    active = np.array([self.lengths is None or t < self.lengths[i] for i in range(self.batch)])[:, None]
                    y[t] = np.where(active, next_h, 0)
                    h = np.where(active, next_h, h)
                    c = c if c is None else np.where(active, next_c, c)
                outs.append(y)
                finals[0].append(h)
                finals[1].append(c)
            x = np.concatenate(outs, axis=2)
        return [x, np.stack(finals[0])] + ([np.stack(finals[1])] if self.mode == "lstm" else [])


def large(rng, **variant):
    """Of a size for which products are made by Strassen's rule."""
    return Network(rng, "lstm", **{**dict(steps=16, batch=32, inputs=256, hidden=256, scale=0.04), **variant})


@contextlib.contextmanager
def threads(mx, count):
    """So many for the kernels that are called within."""
    mx.call("MXSetNumOMPThreads", C.c_int(count))
    try:
        yield
    finally:
        mx.call("MXSetNumOMPThreads", C.c_int(max(1, os.cpu_count() // 2)))


@contextlib.contextmanager
def setting(mx, name, value, usual):
    """A variable has this value within."""
    mx.call("MXSetEnv", name, value)
    try:
        yield
    finally:
        mx.call("MXSetEnv", name, usual)
