# SPDX-License-Identifier: Apache-2.0
"""All recurrent cells on symbols. Gluon's (mxnet.gluon.rnn) are for new programs."""

from ..base import numeric_types, string_types  # noqa: F401  (public here)
from ._cells import BaseRNNCell, GRUCell, LSTMCell, RNNCell, RNNParams
from ._conv import BaseConvRNNCell, ConvGRUCell, ConvLSTMCell, ConvRNNCell
from ._fused import FusedRNNCell
from ._modifiers import BidirectionalCell, DropoutCell, ModifierCell, ResidualCell, SequentialRNNCell, ZoneoutCell
from ._packages import (  # noqa: F401  (cells of programs take them from here)
    _cells_begin_state,
    _cells_pack_weights,
    _cells_state_info,
    _cells_state_shape,
    _cells_unpack_weights,
    _normalize_sequence,
)

__all__ = [
    "BaseConvRNNCell", "BaseRNNCell", "BidirectionalCell", "ConvGRUCell", "ConvLSTMCell", "ConvRNNCell", "DropoutCell",
    "FusedRNNCell", "GRUCell", "LSTMCell", "ModifierCell", "RNNCell", "RNNParams", "ResidualCell", "SequentialRNNCell",
    "ZoneoutCell",
]  # fmt: skip
