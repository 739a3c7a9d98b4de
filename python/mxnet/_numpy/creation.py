# SPDX-License-Identifier: Apache-2.0
"""Tensors from numbers."""

from __future__ import annotations

from typing import Any

import numpy as onp

from ..ndarray._integers import ints
from .frontend import dtype_text, is_number, only_c, wrong

__all__ = [
    "arange", "blackman", "empty_like", "eye", "full", "full_like", "hamming", "hanning", "identity", "indices",
    "linspace", "logspace", "ones", "ones_like", "zeros", "zeros_like",
]


def zeros(F: Any, shape: Any, dtype: Any = None, order: str = "C", ctx: Any = None) -> Any:
    """Zeros, float32 unless `dtype` says otherwise."""
    only_c(order, "zeros")
    return F.op("_npi_zeros")(shape=ints(shape, "zeros"), ctx=F.context(ctx), dtype=dtype_text(dtype))


def ones(F: Any, shape: Any, dtype: Any = onp.float32, order: str = "C", ctx: Any = None) -> Any:
    """Ones."""
    only_c(order, "ones")
    return F.op("_npi_ones")(shape=ints(shape, "ones"), ctx=F.context(ctx), dtype=dtype_text(dtype))


def full(F: Any, shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", ctx: Any = None, out: Any = None) -> Any:
    """The same number everywhere, or a tensor repeated to a shape."""
    only_c(order, "full")
    if F.is_tensor(fill_value):
        made = F.broadcast_to(fill_value, shape)
        made = made if dtype is None else made.astype(dtype)
        return made if out is None else F.op("_npi_copyto")(made, out=out)
    if not is_number(fill_value):
        raise wrong("full", fill_value, f"{F.tensors} or a number")
    if dtype is None and isinstance(fill_value, (bool, onp.bool_)):
        dtype = onp.bool_
    return F.op("_npi_full")(shape=ints(shape, "full"), value=float(fill_value), ctx=F.context(ctx), dtype=dtype_text(dtype), out=out)


def full_like(F: Any, a: Any, fill_value: Any, dtype: Any = None, order: str = "C", ctx: Any = None, out: Any = None) -> Any:
    """The same number everywhere, in the shape and type of a tensor."""
    only_c(order, "full_like")
    if ctx is None:
        return F.op("_npi_full_like")(a, fill_value=float(fill_value), dtype=dtype_text(dtype, None), out=out)
    return F.op("_npi_full_like")(a, fill_value=float(fill_value), dtype=dtype_text(dtype, None), ctx=F.context(ctx), out=out)


def zeros_like(F: Any, a: Any, dtype: Any = None, order: str = "C", ctx: Any = None, out: Any = None) -> Any:
    """Zeros in the shape and type of a tensor."""
    return full_like(F, a, 0, dtype, order, ctx, out)


def ones_like(F: Any, a: Any, dtype: Any = None, order: str = "C", ctx: Any = None, out: Any = None) -> Any:
    """Ones in the shape and type of a tensor."""
    return full_like(F, a, 1, dtype, order, ctx, out)


def empty_like(F: Any, prototype: Any, dtype: Any = None, order: str = "C", subok: bool = False, shape: Any = None) -> Any:
    """A tensor in the shape and type of another, whose elements mean nothing."""
    only_c(order, "empty_like")
    if subok:
        raise NotImplementedError("empty_like: given subok=True, expected False: there are no subclasses to make")
    if shape is not None:
        raise NotImplementedError(f"empty_like: given shape={shape}, expected None; empty makes any shape")
    return full_like(F, prototype, 0, dtype)


def arange(F: Any, start: Any, stop: Any = None, step: Any = 1, dtype: Any = None, ctx: Any = None) -> Any:
    """Numbers from start to before stop; with one number, from zero to before it. float32 by default."""
    if start is None and stop is None:
        raise ValueError("arange: given neither start nor stop, expected at least one")
    if stop is None or start is None:
        start, stop = 0, start if stop is None else stop
    step = 1 if step is None else step
    if step == 0:
        raise ZeroDivisionError("arange: given step=0, expected another number")
    return F.op("_npi_arange")(
        start=start, stop=stop, step=step, repeat=1, infer_range=False, ctx=F.context(ctx), dtype=dtype_text(dtype)
    )


def _evenly_spaced(name: str, start: Any, stop: Any, axis: int) -> None:
    if not (is_number(start) and is_number(stop)):
        raise NotImplementedError(
            f"{name}: given {type(start).__name__} and {type(stop).__name__} as ends, expected numbers"
        )
    if axis != 0:
        raise NotImplementedError(f"{name}: given axis={axis}, expected 0")


def linspace(
    F: Any, start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None, axis: int = 0,
    ctx: Any = None,
) -> Any:
    """`num` numbers at equal distances; with `retstep` also their distance."""
    _evenly_spaced("linspace", start, stop, axis)
    made = F.op("_npi_linspace")(
        start=start, stop=stop, num=num, endpoint=endpoint, ctx=F.context(ctx), dtype=dtype_text(dtype)
    )
    if not retstep:
        return made
    gaps = num - 1 if endpoint else num
    return made, (stop - start) / gaps if gaps > 0 else onp.nan


def logspace(
    F: Any, start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: float = 10.0, dtype: Any = None, axis: int = 0,
    ctx: Any = None,
) -> Any:
    """`num` powers of `base` whose exponents lie at equal distances."""
    _evenly_spaced("logspace", start, stop, axis)
    return F.op("_npi_logspace")(
        start=start, stop=stop, num=num, endpoint=endpoint, base=base, ctx=F.context(ctx), dtype=dtype_text(dtype)
    )


def eye(F: Any, N: int, M: Any = None, k: int = 0, dtype: Any = onp.float32, **kwargs: Any) -> Any:
    """Ones on a diagonal of an N x M matrix; keywords: ctx, out."""
    ctx, out = kwargs.pop("ctx", None), kwargs.pop("out", None)
    only_c(kwargs.pop("order", "C"), "eye")
    if kwargs:
        raise TypeError(f"eye: given {', '.join(kwargs)}, expected no other keywords than ctx and out")
    return F.op("_npi_eye")(N=N, M=M, k=k, ctx=F.context(ctx), dtype=dtype_text(dtype), out=out)


def identity(F: Any, n: int, dtype: Any = None, ctx: Any = None) -> Any:
    """Ones on the diagonal of an n x n matrix."""
    if not isinstance(n, (int, onp.integer)):
        raise wrong("identity", n, "an integer")
    if n < 0:
        raise ValueError(f"identity: given n={n}, expected no negative number")
    return F.op("_npi_identity")(shape=(n, n), ctx=F.context(ctx), dtype=dtype_text(dtype))


def indices(F: Any, dimensions: Any, dtype: Any = onp.int32, ctx: Any = None) -> Any:
    """Each element's place in a grid, one leading row per dimension."""
    if not isinstance(dimensions, (tuple, list)):
        raise ValueError(f"indices: given {type(dimensions).__name__}, expected a tuple of dimensions")
    return F.op("_npi_indices")(dimensions=ints(dimensions), ctx=F.context(ctx), dtype=dtype_text(dtype))


def hanning(F: Any, M: int, dtype: Any = onp.float32, ctx: Any = None) -> Any:
    """The Hann window of M points."""
    return F.op("_npi_hanning")(M=M, ctx=F.context(ctx), dtype=dtype_text(dtype))


def hamming(F: Any, M: int, dtype: Any = onp.float32, ctx: Any = None) -> Any:
    """The Hamming window of M points."""
    return F.op("_npi_hamming")(M=M, ctx=F.context(ctx), dtype=dtype_text(dtype))


def blackman(F: Any, M: int, dtype: Any = onp.float32, ctx: Any = None) -> Any:
    """The Blackman window of M points."""
    return F.op("_npi_blackman")(M=M, ctx=F.context(ctx), dtype=dtype_text(dtype))
