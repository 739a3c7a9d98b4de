# SPDX-License-Identifier: Apache-2.0
"""Element by element with parameters, and along one axis."""

from __future__ import annotations

from typing import Any

import numpy as onp

from ..util import check_ufunc_options
from .frontend import is_number

__all__ = ["around", "diff", "ediff1d", "nan_to_num", "polyval", "round", "round_"]


def around(F: Any, x: Any, decimals: int = 0, out: Any = None, **kwargs: Any) -> Any:
    """Rounded to so many decimals."""
    check_ufunc_options("around", kwargs)
    if is_number(x):
        return onp.around(x, decimals)
    return F.op("_npi_around")(x, decimals=decimals, out=out)


round = round_ = around  # pylint: disable=redefined-builtin


def nan_to_num(F: Any, x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None, **kwargs: Any) -> Any:
    """With numbers for what is not a number and for infinities; in place without `copy`."""
    out = kwargs.pop("out", None)
    check_ufunc_options("nan_to_num", kwargs)
    if is_number(x):
        return onp.nan_to_num(x, copy=copy, nan=nan, posinf=posinf, neginf=neginf)
    into = out if out is not None or copy else x
    return F.op("_npi_nan_to_num")(x, copy=copy, nan=nan, posinf=posinf, neginf=neginf, out=into)


def polyval(F: Any, p: Any, x: Any) -> Any:
    """A polynomial with coefficients p, the highest power first, at x."""
    if is_number(x):
        x = F.full_like(p[0], x)
    return F.op("_npi_polyval")(p, x)


def diff(F: Any, a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """n times the difference of neighbours along an axis."""
    if n != 0 and (prepend is not None or append is not None):
        row = F.op("slice_axis")(a, axis=axis, begin=0, end=1)
        given = [F.full_like(row, part) if is_number(part) else part for part in (prepend, a, append) if part is not None]
        a = F.concatenate(given, axis=axis)
    return F.op("_npi_diff")(a, n=n, axis=axis)


def ediff1d(F: Any, ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """The difference of neighbours in the flattened tensor, between given values."""
    tensors, params = [ary], {}
    for name, value in (("begin", to_begin), ("end", to_end)):
        if is_number(value):
            params[f"to_{name}_scalar"] = float(value)
        elif value is not None:
            tensors.append(value)
            params[f"to_{name}_arr_given"] = True
    return F.op("_npi_ediff1d")(*tensors, **params)
