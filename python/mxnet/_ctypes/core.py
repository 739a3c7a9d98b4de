# SPDX-License-Identifier: Apache-2.0
"""Stands in for the native module mxnet._core: the same names, on ctypes."""

from __future__ import annotations

from typing import Any

from .autograd import (
    RecordingScope, backward, is_recording, is_training, mark_variable, mark_variables, record_function, set_recording,
    set_training, stale_gradients, use_gradients,
)
from .data import (
    DataIter, RecordReader, RecordWriter, array_from_shared, data_iters, encode_image, shared_handle,
)
from .dlpack import from_buffer, from_dlpack, to_dlpack
from .executor import ExecutorBase, bind, simple_bind
from .functions import *  # noqa: F403
from .interrupts import answering, install as _install_interrupts
from .kvstore import KVStoreHandle, kinds_of
from .lib import _LIB
from .ndarray import CachedOp, NDArrayBase, is_number
from .operator import (
    ElementwiseFunction, Operator, PlainFunction, PlainMethod, all_dense, op_info, op_names, set_not_given, set_text_maker, update_weights,
)
from .scopes import *  # noqa: F403
from .symbol import (
    SymbolBase, backend_symbol, optimize_for, recorded_symbol, reduce_precision, symbol_atomic, symbol_from_json,
    symbol_group, symbol_variable,
)
from .update_rates import counted, multiplied

_install_interrupts(_LIB)


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"the binding on ctypes has no {name}; expected the native module, which MXNET_ENABLE_CYTHON=0 has switched off "
        "or which does not load here"
    )
