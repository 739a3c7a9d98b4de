# SPDX-License-Identifier: Apache-2.0
"""Elements by place, order and value."""

from __future__ import annotations

from typing import Any, Tuple

import numpy as onp

from ..ndarray._integers import ints
from .frontend import is_number, wrong

__all__ = [
    "argmax", "argmin", "argsort", "bincount", "clip", "delete", "diag_indices_from", "histogram", "insert", "isin",
    "nonzero", "sort", "take", "unique", "unravel_index", "where",
]
_MOST = float("inf")


def argmax(F: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    """Where the largest element is, along an axis or in the flattened tensor."""
    return F.op("_npi_argmax")(a, axis=axis, keepdims=False, out=out)


def argmin(F: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    """Where the smallest element is, along an axis or in the flattened tensor."""
    return F.op("_npi_argmin")(a, axis=axis, keepdims=False, out=out)


def _no_order(name: str, order: Any) -> None:
    if order is not None:
        raise NotImplementedError(f"{name}: given order={order!r}, expected None: elements have no fields")


def argsort(F: Any, a: Any, axis: Any = -1, kind: Any = None, order: Any = None) -> Any:
    """The places of elements in ascending order, as int64. `kind` is a hint."""
    del kind
    _no_order("argsort", order)
    return F.op("_npi_argsort")(a, axis=axis, is_ascend=True, dtype="int64")


def sort(F: Any, a: Any, axis: Any = -1, kind: Any = None, order: Any = None) -> Any:
    """The elements in ascending order. `kind` is a hint."""
    del kind
    _no_order("sort", order)
    return F.op("_npi_sort")(a, axis=axis, is_ascend=True)


def take(F: Any, a: Any, indices: Any, axis: Any = None, mode: str = "raise", out: Any = None) -> Any:
    """Elements by their places along an axis, or in the flattened tensor."""
    if mode not in ("wrap", "clip", "raise"):
        raise NotImplementedError(f"take: given mode={mode!r}, expected 'wrap', 'clip' or 'raise'")
    if axis is None:
        a, axis = a if F.known_ndim(a, 0) == 1 else F.ravel(a), 0
    if not F.is_tensor(indices):
        indices = F.constant(onp.asarray(indices), a)
    return F.op("_npi_take")(a, indices, axis=axis, mode=mode, out=out)


def nonzero(F: Any, a: Any) -> Tuple[Any, ...]:
    """The places of elements other than zero, a vector per dimension."""
    dims = F.ndim(a, "nonzero")
    places = F.transpose(F.op("_npi_nonzero")(a if dims else F.reshape(a, (1,))))  # a scalar is a vector of one, as in 1.9.1
    return tuple(places[i] for i in range(dims or 1))


def where(F: Any, condition: Any, x: Any = None, y: Any = None) -> Any:
    """Elements of x where the condition holds, of y elsewhere; without both, nonzero(condition)."""
    if x is None and y is None:
        return nonzero(F, condition)
    if x is None or y is None:
        raise ValueError("where: given one of x and y, expected both or neither")
    if is_number(condition):
        return x if condition != 0 else y
    if is_number(x) and is_number(y):
        return F.op("_npi_where_scalar2")(condition, x=float(x), y=float(y))
    if is_number(x):
        return F.op("_npi_where_lscalar")(condition, y, scalar=float(x))
    if is_number(y):
        return F.op("_npi_where_rscalar")(condition, x, scalar=float(y))
    return F.op("_npi_where")(condition, x, y)


def unravel_index(F: Any, indices: Any, shape: Any, order: str = "C") -> Any:
    """Places in the flattened tensor as places in one of a shape, a tensor per dimension."""
    if order != "C":
        raise NotImplementedError(f"unravel_index: given order={order!r}, expected 'C'")
    if is_number(indices):
        return onp.unravel_index(indices, ints(shape))
    places = F.op("_unravel_index")(indices, shape=ints(shape))
    return tuple(places[i] for i in range(len(ints(shape))))


def diag_indices_from(F: Any, arr: Any) -> Any:
    """The places of the diagonal, a vector per dimension; of a symbol as rows of one."""
    places = F.op("_npi_diag_indices_from")(arr)
    dims = F.known_ndim(arr, 0)
    return tuple(places[i] for i in range(dims)) if dims else places


def unique(
    F: Any, ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: Any = None
) -> Any:
    """Each value once, in order; with first places, places of all elements among them, and counts."""
    made = F.op("_npi_unique")(
        ar, return_index=return_index, return_inverse=return_inverse, return_counts=return_counts, axis=axis
    )
    return tuple(F.listed(made)) if return_index or return_inverse or return_counts else made


def isin(
    F: Any, element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> Any:
    """Whether each element is among some values. `assume_unique` and `kind` are hints."""
    del assume_unique, kind
    if not (F.is_tensor(element) or F.is_tensor(test_elements)):
        return onp.isin(element, test_elements, invert=invert)
    like = element if F.is_tensor(element) else test_elements
    given = [value if F.is_tensor(value) else F.constant(onp.asarray(value), like, exact=True) for value in (element, test_elements)]
    return F.op("_npi_isin")(*given, invert=bool(invert))


def bincount(F: Any, x: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often, or with which sum of weights, each integer occurs."""
    if minlength < 0:
        raise ValueError(f"bincount: given minlength={minlength}, expected no negative number")
    if weights is None:
        return F.op("_npi_bincount")(x, minlength=minlength, has_weights=False)
    return F.op("_npi_bincount")(x, weights, minlength=minlength, has_weights=True)


def clip(F: Any, a: Any, a_min: Any, a_max: Any, out: Any = None) -> Any:
    """Elements no smaller and no larger than two numbers, of which one may be None."""
    if a_min is None and a_max is None:
        raise ValueError("clip: array_clip must set either max or min")
    low = -_MOST if a_min is None else float(a_min)
    high = _MOST if a_max is None else float(a_max)
    return F.op("_npi_clip")(a, a_min=low, a_max=high, out=out)


def histogram(
    F: Any, a: Any, bins: Any = 10, range: Any = None, normed: Any = None, weights: Any = None, density: Any = None
) -> Any:  # pylint: disable=redefined-builtin
    """Counts of elements in bins, and the bins' edges."""
    for name, value in (("normed", normed), ("weights", weights), ("density", density)):
        if value is not None and value is not False:
            raise NotImplementedError(f"histogram: given {name}, expected None: elements are counted")
    if F.is_tensor(bins):
        return F.listed(F.op("_npi_histogram")(a, bins))
    if not is_number(bins):
        raise wrong("histogram", bins, f"a number of bins or {F.tensors}")
    if range is None:
        F.shape(a, "histogram without a range")
        a = a.astype("float64") if a.dtype.kind in "biu" else a  # else edges would be integers too, as with a range
        range = (a.min().item(), a.max().item())
    low, high = float(range[0]), float(range[1])
    if low == high:
        low, high = low - 0.5, high + 0.5
    return F.listed(F.op("_npi_histogram")(a, bin_cnt=int(bins), range=(low, high)))


def _along(obj: Any) -> dict:
    """A place or a slice as parameters; nothing for tensors of places."""
    if isinstance(obj, slice):
        # Without a step the whole of it would be no parameters at all.
        return {"start": obj.start, "stop": obj.stop, "step": 1 if obj.step is None else obj.step}
    return {"int_ind": int(obj)} if isinstance(obj, (int, onp.integer)) else {}


def _places(F: Any, name: str, obj: Any, arr: Any) -> Any:
    if isinstance(obj, (list, tuple)):
        return F.constant(onp.asarray(obj, onp.int64), arr)
    if not F.is_tensor(obj):
        raise wrong(name, obj, f"an integer, a slice or {F.tensors} of integers")
    return obj


def delete(F: Any, arr: Any, obj: Any, axis: Any = None) -> Any:
    """Without what lies at places along an axis."""
    where_ = _along(obj)
    if where_:
        return F.op("_npi_delete")(arr, axis=axis, **where_)
    return F.op("_npi_delete")(arr, _places(F, "delete", obj, arr), axis=axis)


def insert(F: Any, arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """With values before places along an axis."""
    where_ = _along(obj)
    number = is_number(values)
    given = {"val": float(values)} if number else {}
    tensors = [arr] if number else [arr, values]
    if "int_ind" in where_:
        return F.op("_npi_insert_scalar")(*tensors, **given, **where_, axis=axis)
    if where_:
        return F.op("_npi_insert_slice")(*tensors, **given, **where_, axis=axis)
    return F.op("_npi_insert_tensor")(*tensors, _places(F, "insert", obj, arr), **given, axis=axis)
