# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks: cells, which make one step, and layers, which run whole sequences in one operator."""

from . import rnn_cell, rnn_layer
from .rnn_cell import *
from .rnn_layer import *

__all__ = [*rnn_cell.__all__, *rnn_layer.__all__]
