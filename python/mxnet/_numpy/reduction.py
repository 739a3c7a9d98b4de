# SPDX-License-Identifier: Apache-2.0
"""Many elements to one along axes."""

from __future__ import annotations

from typing import Any

import numpy as onp

from .frontend import dtype_text, is_number, optional_ints

__all__ = [
    "all", "amax", "amin", "any", "average", "cumsum", "max", "mean", "min", "percentile", "prod", "product", "ptp", "quantile",
    "sometrue", "std", "sum", "trace", "var",
]

# pylint: disable=redefined-builtin


def sum(F: Any, a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, initial: Any = None, out: Any = None) -> Any:
    """The sum along axes, all by default."""
    return F.op("_np_sum")(
        a, axis=optional_ints(axis), dtype=dtype_text(dtype, None), keepdims=keepdims, initial=initial, out=out
    )


def prod(F: Any, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """The product along axes, all by default."""
    return F.op("_np_prod")(a, axis=optional_ints(axis), dtype=dtype_text(dtype, None), keepdims=keepdims, out=out)


product = prod


def max(F: Any, a: Any, axis: Any = None, keepdims: bool = False, out: Any = None) -> Any:
    """The largest element along axes, all by default."""
    return F.op("_np_max")(a, axis=optional_ints(axis), keepdims=keepdims, out=out)


def min(F: Any, a: Any, axis: Any = None, keepdims: bool = False, out: Any = None) -> Any:
    """The smallest element along axes, all by default."""
    return F.op("_np_min")(a, axis=optional_ints(axis), keepdims=keepdims, out=out)


amax, amin = max, min


def ptp(F: Any, a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """How far the largest element along axes, all by default, is from the smallest."""
    return F.op("_npi_subtract")(max(F, a, axis, keepdims), min(F, a, axis, keepdims), out=out)


def all(F: Any, a: Any, axis: Any = None, keepdims: bool = False, out: Any = None) -> Any:
    """Whether all elements along axes are other than zero."""
    return F.op("_np_all")(a, axis=optional_ints(axis), keepdims=keepdims, out=out)


def any(F: Any, a: Any, axis: Any = None, keepdims: bool = False, out: Any = None) -> Any:
    """Whether some element along axes is other than zero."""
    return F.op("_np_any")(a, axis=optional_ints(axis), keepdims=keepdims, out=out)


sometrue = any


def mean(F: Any, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """The mean along axes, all by default; of integers in floating point."""
    return F.op("_npi_mean")(a, axis=optional_ints(axis), dtype=dtype_text(dtype, None), keepdims=keepdims, out=out)


def std(F: Any, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """The standard deviation along axes, all by default."""
    return F.op("_npi_std")(
        a, axis=optional_ints(axis), dtype=dtype_text(dtype, None), ddof=ddof, keepdims=keepdims, out=out
    )


def var(F: Any, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    """The variance along axes, all by default."""
    return F.op("_npi_var")(
        a, axis=optional_ints(axis), dtype=dtype_text(dtype, None), ddof=ddof, keepdims=keepdims, out=out
    )


def average(F: Any, a: Any, axis: Any = None, weights: Any = None, returned: bool = False, out: Any = None) -> Any:
    """The weighted mean along axes; with `returned` also the sum of weights."""
    tensors = (a,) if weights is None else (a, weights)
    made = F.op("_npi_average")(
        *tensors, axis=optional_ints(axis), returned=returned, weighted=weights is not None, out=out
    )
    return made if not returned or out is not None else F.listed(made)


def cumsum(F: Any, a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Sums of all elements up to each along an axis, or in the flattened tensor."""
    return F.op("_np_cumsum")(a, axis=axis, dtype=dtype_text(dtype, None), out=out)


def trace(F: Any, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, out: Any = None) -> Any:
    """Sums of the diagonals in the plane of two axes."""
    if getattr(a, "dtype", None) == onp.bool_:  # whose sums are of another type
        diagonals = F.op("_np_diagonal")(a, offset=offset, axis1=axis1, axis2=axis2)
        return F.op("_np_sum")(diagonals, axis=-1, out=out)
    return F.op("_np_trace")(a, offset=offset, axis1=axis1, axis2=axis2, out=out)


def percentile(
    F: Any, a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: Any = None, interpolation: str = "linear",
    keepdims: bool = False,
) -> Any:
    """What q per cent of the elements along axes lie below."""
    if overwrite_input:
        raise NotImplementedError("percentile: given overwrite_input, expected None: inputs are left alone")
    params = {"axis": optional_ints(axis), "interpolation": interpolation, "keepdims": keepdims, "out": out}
    if is_number(q):
        return F.op("_npi_percentile")(a, q_scalar=float(q), **params)
    return F.op("_npi_percentile")(a, q if F.is_tensor(q) else F.constant(q, a), q_scalar=None, **params)


def quantile(
    F: Any, a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: Any = None, interpolation: str = "linear",
    keepdims: bool = False,
) -> Any:
    """What a share q of the elements along axes lies below."""
    if not is_number(q) and not F.is_tensor(q):
        q = F.constant(q, a)
    return percentile(F, a, q * 100, axis, out, overwrite_input, interpolation, keepdims)
