# SPDX-License-Identifier: Apache-2.0
"""The functions of mx.np: those of mxnet._numpy bound to arrays, and those that make arrays of other things."""

from __future__ import annotations

from typing import Any, Tuple

import numpy as onp

from .. import _core
from .._core import NDArrayBase
from .._numpy.arrays import arrays
from .._numpy.frontend import ints, only_c
from ..context import current_context
from ..ndarray._dtypes import dtype_number
from ..ndarray.creation import _from_numpy, _plain
from . import fallback
from ._array import ndarray
from .fallback import *  # noqa: F403

integer_types = (int,)
numeric_types = (float, int)


def array(object: Any, dtype: Any = None, ctx: Any = None) -> ndarray:  # pylint: disable=redefined-builtin
    """An array of numbers or nested lists, as float32, or of arrays, in their type; `dtype` overrides both."""
    if isinstance(object, ndarray):
        made: Any = object.astype(object.dtype if dtype is None else dtype)
        return made.as_in_ctx(current_context() if ctx is None else ctx)
    if isinstance(object, NDArrayBase):
        raise ValueError("array: given an mx.nd array, expected other things; its as_np_ndarray() copies nothing")
    if dtype is None:
        dtype = object.dtype if isinstance(object, (onp.ndarray, onp.generic)) else onp.float32
    if type(object) is list and dtype is onp.float32:
        context = current_context() if ctx is None else ctx
        made = _core.create_of_list(object, context.device_typeid, context.device_id, True)
        if made is not None:
            return made
    if not isinstance(object, onp.ndarray):
        try:
            object = onp.asarray(_plain(object))
        except ValueError as error:
            raise TypeError(f"array: given {type(object).__name__}, expected what becomes an array: {error}") from None
        if object.dtype == onp.object_:
            raise TypeError("array: expected numbers, or sequences of one length")
    return _from_numpy(object, ctx, dtype, ndarray)


def empty(shape: Any, dtype: Any = onp.float32, order: str = "C", ctx: Any = None) -> ndarray:
    """An array whose elements are whatever the memory holds."""
    only_c(order, "empty")
    context = current_context() if ctx is None else ctx
    number = dtype_number(onp.float32 if dtype is None else dtype)
    return _core.create(ints(shape), context.device_typeid, context.device_id, False, number, True)


def from_dlpack(x: Any) -> ndarray:
    """An array on another framework's memory: from a capsule, or an object that has __dlpack__."""
    return _core.from_dlpack(x.__dlpack__() if hasattr(x, "__dlpack__") else x, True)


def shape(a: ndarray) -> Tuple[int, ...]:
    """The dimensions of an array."""
    return a.shape


def shares_memory(a: ndarray, b: ndarray, max_work: Any = None) -> bool:
    """Whether two arrays lie in the same memory. `max_work` is not needed."""
    del max_work
    if a.context != b.context and "gpu" in (a.context.device_type, b.context.device_type):
        return False
    return bool(arrays.op("_npi_share_memory")(a, b).item())


may_share_memory = shares_memory

globals().update(arrays.names)

__all__ = sorted(
    {*arrays.names, *fallback.__all__, "array", "empty", "from_dlpack", "may_share_memory", "ndarray", "shape", "shares_memory"}
    - {"broadcast_arrays", "meshgrid"}
)
