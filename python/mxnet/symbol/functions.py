# SPDX-License-Identifier: Apache-2.0
"""Functions of mx.sym whose arguments differ from those of the operators behind them."""

from __future__ import annotations

import math
from typing import Any, Callable, Optional

from .._core import SymbolBase
from ..ndarray._dtypes import dtype_name
from . import _generate
from ._arithmetic import is_number

__all__ = [
    "arange", "eye", "full", "histogram", "hypot", "linspace", "maximum", "minimum", "ones", "pow", "power", "split_v2",
    "zeros",
]

_fn = _generate.function


def _dtype(dtype: Any) -> str:
    return "float32" if dtype is None else dtype_name(dtype)


def zeros(shape: Any, dtype: Any = None, **kwargs: Any) -> Any:
    """Zeros."""
    return _fn("_zeros")(shape=shape, dtype=_dtype(dtype), **kwargs)


def ones(shape: Any, dtype: Any = None, **kwargs: Any) -> Any:
    """Ones."""
    return _fn("_ones")(shape=shape, dtype=_dtype(dtype), **kwargs)


def full(shape: Any, val: float, dtype: Any = None, **kwargs: Any) -> Any:
    """The same number everywhere."""
    return _fn("_full")(shape=shape, dtype=_dtype(dtype), value=float(val), **kwargs)


def arange(start: float, stop: Optional[float] = None, step: float = 1.0, repeat: int = 1, infer_range: bool = False, name: Optional[str] = None, dtype: Any = None) -> Any:
    """Numbers from start to before stop, each `repeat` times; with `infer_range` the consumer says where it ends."""
    return _fn("_arange")(start=start, stop=stop, step=step, repeat=repeat, infer_range=infer_range, name=name, dtype=_dtype(dtype))


def linspace(start: float, stop: float, num: int, endpoint: bool = True, name: Optional[str] = None, dtype: Any = None) -> Any:
    """`num` numbers at equal distances."""
    return _fn("_linspace")(start=start, stop=stop, num=num, endpoint=endpoint, name=name, dtype=_dtype(dtype))


def eye(N: int, M: int = 0, k: int = 0, dtype: Any = None, **kwargs: Any) -> Any:
    """Ones on a diagonal."""
    return _fn("_eye")(N=N, M=M, k=k, dtype=_dtype(dtype), **kwargs)


def histogram(a: Any, bins: Any = 10, range: Any = None, **kwargs: Any) -> Any:  # pylint: disable=redefined-builtin
    """Counts of elements in bins, and the bins' edges."""
    if isinstance(bins, SymbolBase):
        return _fn("_histogram")(a, bins, **kwargs)
    if not isinstance(bins, int):
        raise TypeError(f"histogram: given bins of type {type(bins).__name__}, expected an int or a Symbol")
    if range is None:
        raise ValueError("histogram: given a number of bins without a range, expected both")
    return _fn("_histogram")(a, bin_cnt=bins, range=range, **kwargs)


def split_v2(ary: Any, indices_or_sections: Any, axis: int = 0, squeeze_axis: bool = False) -> Any:
    """Parts of an array: so many equal ones, or between the given places."""
    if isinstance(indices_or_sections, int):
        indices, sections = (), indices_or_sections
    else:
        indices, sections = (0, *indices_or_sections), 0  # type: ignore[assignment]
    return _fn("_split_v2")(ary, indices=indices, axis=axis, squeeze_axis=squeeze_axis, sections=sections)


def _of_two(name: str, symbols: str, scalar: str, reversed_scalar: str, python: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """A function of two operands of which each may be a number."""
    if isinstance(left, SymbolBase) and isinstance(right, SymbolBase):
        return _fn(symbols)(left, right)
    if isinstance(left, SymbolBase) and is_number(right):
        return _fn(scalar)(left, scalar=right)
    if is_number(left) and isinstance(right, SymbolBase):
        return _fn(reversed_scalar)(right, scalar=left)
    if is_number(left) and is_number(right):
        return python(left, right)
    raise TypeError(f"{name}: given {type(left).__name__} and {type(right).__name__}, expected symbols or numbers")


def power(base: Any, exp: Any) -> Any:
    """`base` to the power of `exp`, of which each may be a number."""
    return _of_two("power", "_Power", "_PowerScalar", "_RPowerScalar", lambda a, b: a**b, base, exp)


pow = power  # pylint: disable=redefined-builtin


def maximum(left: Any, right: Any) -> Any:
    """The larger of two, of which each may be a number."""
    return _of_two("maximum", "_Maximum", "_MaximumScalar", "_MaximumScalar", max, left, right)


def minimum(left: Any, right: Any) -> Any:
    """The smaller of two, of which each may be a number."""
    return _of_two("minimum", "_Minimum", "_MinimumScalar", "_MinimumScalar", min, left, right)


def hypot(left: Any, right: Any) -> Any:
    """The hypotenuse of two sides, of which each may be a number."""
    return _of_two("hypot", "_Hypot", "_HypotScalar", "_HypotScalar", math.hypot, left, right)
