# SPDX-License-Identifier: Apache-2.0
"""Functions that make arrays of numbers, shapes and other arrays."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

import numpy as np

from .. import _core
from .._core import NDArrayBase
from ..context import Context, current_context, current_context_text
from . import _generate
from ._dtypes import _DTYPE_MX_TO_NP, bfloat16, dtype_name, dtype_number, widened
from ._integers import ints
from ._plain import arange as _usual_arange
from .ndarray import NDArray

__all__ = ["arange", "array", "empty", "eye", "full", "linspace", "ones", "zeros"]

_op = _generate.operator
Shape = Union[int, Sequence[int]]


def _from_numpy(values: Any, context: Optional[Context], dtype: Any, cls: Any = NDArray) -> Any:
    """An array of NumPy's values, as mx.nd or mx.np array."""
    number = dtype_number(dtype)
    if isinstance(values, np.ndarray) and values.dtype.kind == "V" and values.dtype == bfloat16:  # as asnumpy() gives them
        values = widened(values)
    context = current_context() if context is None else context
    kind = _DTYPE_MX_TO_NP[number]
    if kind is bfloat16:
        return _from_numpy(values, context, np.float32, cls).astype("bfloat16")
    is_np = getattr(cls, "_is_np", False)
    made = _core.create_of(values, context.device_typeid, context.device_id, number, is_np)
    if made is None:
        made = _core.create_of(np.asarray(values, kind, "C"), context.device_typeid, context.device_id, number, is_np)
    return made


def _sparse_copy(source_array: Any, ctx: Optional[Context], dtype: Any) -> NDArray:
    from . import sparse

    return sparse.array(source_array, ctx, dtype)


def array(source_array: Any, ctx: Optional[Context] = None, dtype: Any = None) -> NDArray:
    """An array of numbers, nested lists, NumPy or other arrays; float32 unless `dtype` says otherwise. What is sparse, SciPy's
    matrices too, stays sparse."""
    if isinstance(source_array, NDArrayBase):
        if source_array.stype != "default":
            return _sparse_copy(source_array, ctx, dtype)
        dtype = source_array.dtype if dtype is None else dtype
        if ctx is None:
            ctx = current_context()
        source_array = source_array.asnumpy()
    elif not isinstance(source_array, (np.ndarray, list)) and hasattr(source_array, "tocsr"):
        return _sparse_copy(source_array, ctx, dtype)
    if dtype is None:
        dtype = np.float32
    if type(source_array) is list and dtype is np.float32:
        context = current_context() if ctx is None else ctx
        made = _core.create_of_list(source_array, context.device_typeid, context.device_id, False)
        if made is not None:
            return made
    if not isinstance(source_array, np.ndarray):
        try:
            source_array = np.asarray(_plain(source_array))
            if source_array.dtype.kind in "SUOc":  # texts of numbers and None are numbers, as in 1.9.1; other things are refused
                source_array = np.asarray(source_array.tolist(), np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"given {type(source_array).__name__}, expected what becomes an array: {error}") from None
    made = source_array
    if made.ndim == 0 and not _core.is_np_shape():
        made = made.reshape(1)
    return _from_numpy(made, ctx, dtype)


def _plain(value: Any) -> Any:
    """Lists of arrays as lists of NumPy's."""
    if isinstance(value, NDArrayBase):
        return value.asnumpy()
    if isinstance(value, (list, tuple)):
        return [item if type(item) in _NUMBERS else _plain(item) for item in value]
    return value


_NUMBERS = {float, int, bool}


def empty(shape: Shape, ctx: Optional[Context] = None, dtype: Any = None, stype: Optional[str] = None) -> NDArray:
    """An array whose elements are whatever the memory holds; one that stores nothing if it is sparse."""
    if stype not in (None, "default"):
        from . import sparse

        return sparse.empty(stype, shape, ctx, dtype)
    context = current_context() if ctx is None else ctx
    number = dtype_number(np.float32 if dtype is None else dtype)
    return _core.create(ints(shape, "empty"), context.device_typeid, context.device_id, False, number, False)


def zeros(shape: Shape, ctx: Optional[Context] = None, dtype: Any = None, stype: Optional[str] = None, **kwargs: Any) -> NDArray:
    """Zeros."""
    if stype is not None and stype != "default":
        from . import sparse

        return sparse.zeros(stype, shape, ctx, dtype, **kwargs)
    where = current_context_text() if ctx is None else str(ctx)
    return _op("_zeros")(ints(shape, "zeros"), where, "float32" if dtype is None else dtype_name(dtype), **kwargs)


def ones(shape: Shape, ctx: Optional[Context] = None, dtype: Any = None, **kwargs: Any) -> NDArray:
    """Ones."""
    where = current_context_text() if ctx is None else str(ctx)
    return _op("_ones")(ints(shape, "ones"), where, "float32" if dtype is None else dtype_name(dtype), **kwargs)


def full(shape: Shape, val: Any, ctx: Optional[Context] = None, dtype: Any = np.float32, out: Any = None) -> NDArray:
    """The same number everywhere, or what broadcasts to the shape."""
    where, kind = current_context_text() if ctx is None else str(ctx), "float32" if dtype is None else dtype_name(dtype)
    single = isinstance(val, (float, int, np.generic))
    number = float(val) if isinstance(val, (bool, np.bool_)) else val if single else 0.0
    made = _op("_full")(shape=ints(shape, "full"), ctx=where, dtype=kind, out=out, value=number)
    if not single:
        made[:] = val
    return made


def arange(start: float, stop: Any = None, step: float = 1.0, repeat: int = 1, infer_range: Any = None, ctx: Any = None, dtype: Any = np.float32) -> NDArray:
    """Numbers from start to before stop, each `repeat` times."""
    if infer_range is not None:
        import warnings

        warnings.warn("`infer_range` argument has been deprecated", DeprecationWarning, stacklevel=2)
    context = current_context_text() if ctx is None else str(ctx)
    return _op("_arange")(start=start, stop=stop, step=step, repeat=repeat, infer_range=False, dtype=dtype_name(dtype), ctx=context)


arange = _usual_arange(arange)


def linspace(start: float, stop: float, num: int, endpoint: bool = True, ctx: Any = None, dtype: Any = np.float32) -> NDArray:
    """`num` numbers at equal distances."""
    context = current_context_text() if ctx is None else str(ctx)
    return _op("_linspace")(start=start, stop=stop, num=num, endpoint=endpoint, ctx=context, dtype=dtype_name(dtype))


def eye(N: int, M: int = 0, k: int = 0, ctx: Any = None, dtype: Any = None, **kwargs: Any) -> NDArray:
    """Ones on a diagonal."""
    context = current_context_text() if ctx is None else str(ctx)
    return _op("_eye")(N=N, M=M, k=k, ctx=context, dtype="float32" if dtype is None else dtype_name(dtype), **kwargs)
