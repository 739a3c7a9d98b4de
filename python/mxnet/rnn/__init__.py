# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks on symbols: cells, sentences in buckets, checkpoints."""

from .. import initializer as init  # noqa: F401  (public here, as what follows to the empty line)
from .. import ndarray, symbol  # noqa: F401
from ..base import numeric_types, string_types  # noqa: F401
from ..io import DataBatch, DataDesc, DataIter  # noqa: F401
from ..model import load_checkpoint, save_checkpoint  # noqa: F401

from . import io, rnn, rnn_cell
from .io import BucketSentenceIter, encode_sentences
from .rnn import do_rnn_checkpoint, load_rnn_checkpoint, rnn_unroll, save_rnn_checkpoint
from .rnn_cell import *  # noqa: F403
from .rnn_cell import __all__ as _cells

__all__ = [
    *_cells, "BucketSentenceIter", "do_rnn_checkpoint", "encode_sentences", "io", "load_rnn_checkpoint", "rnn", "rnn_cell",
    "rnn_unroll", "save_rnn_checkpoint",
]  # fmt: skip
