# SPDX-License-Identifier: Apache-2.0
"""Several tensors into one, one into several."""

from __future__ import annotations

from typing import Any, List, Sequence, Tuple

import numpy as onp

from ..ndarray._integers import ints
from .frontend import is_number, wrong

__all__ = [
    "append", "array_split", "broadcast_arrays", "column_stack", "concatenate", "dsplit", "dstack", "hsplit", "hstack",
    "meshgrid", "row_stack", "split", "stack", "vsplit", "vstack",
]


def _several(F: Any, name: str, arrays: Any, axis: Any = 0) -> Sequence[Any]:
    if not isinstance(arrays, (list, tuple)):
        if not F.is_tensor(arrays):
            raise wrong(name, arrays, f"a sequence of {F.tensors}")
        arrays = list(arrays)
    if type(axis) is not int and F.is_tensor(axis):  # as if tensors were given one by one
        raise wrong(f"{name}: axis", axis, f"an integer; {F.tensors} to join are one sequence, the first argument")
    return arrays


def concatenate(F: Any, seq: Any, axis: Any = 0, out: Any = None) -> Any:
    """Tensors one after the other along an axis; flattened ones for axis=None."""
    parts = _several(F, "concatenate", seq, axis)
    if axis is None:  # the operator takes tensors of any shape as flat ones; ravel would copy them first
        parts = [F.ravel(part) if is_number(part) else part for part in parts]
    return F.op("_npi_concatenate")(*parts, axis=axis, out=out)


def append(F: Any, arr: Any, values: Any, axis: Any = None) -> Any:
    """Values after those of a tensor; both flattened for axis=None."""
    return concatenate(F, (arr, values), axis)


def stack(F: Any, arrays: Any, axis: int = 0, out: Any = None) -> Any:
    """Tensors of one shape along a new axis."""
    return F.op("_npi_stack")(*_several(F, "stack", arrays, axis), axis=axis, out=out)


def vstack(F: Any, arrays: Any, out: Any = None) -> Any:
    """Tensors as rows below each other."""
    return F.op("_npi_vstack")(*_several(F, "vstack", arrays), out=out)


def row_stack(F: Any, arrays: Any) -> Any:
    """As vstack."""
    return vstack(F, arrays)


def hstack(F: Any, arrays: Any) -> Any:
    """Tensors beside each other: along the second axis, vectors along their only one."""
    return F.op("_npi_hstack")(*_several(F, "hstack", arrays))


def dstack(F: Any, arrays: Any) -> Any:
    """Tensors along the third axis."""
    return F.op("_npi_dstack")(*_several(F, "dstack", arrays))


def column_stack(F: Any, tup: Any) -> Any:
    """Vectors as columns, matrices beside each other."""
    return F.op("_npi_column_stack")(*_several(F, "column_stack", tup))


def _places(F: Any, ary: Any, places: Any, axis: int) -> Any:
    """Where to cut, as in slices: from the end where a place is negative, and none is beyond it."""
    length = F.known_length(ary, axis)
    if length is None or isinstance(places, (int, onp.integer)):
        return places
    return [max(0, min(place + length if place < 0 else place, length)) for place in ints(places)]


def _parts(F: Any, op: str, ary: Any, indices_or_sections: Any, axis: int) -> List[Any]:
    if isinstance(indices_or_sections, (int, onp.integer)):
        where: Tuple[int, ...] = ()
        sections = int(indices_or_sections)
    else:
        where, sections = (0, *ints(indices_or_sections)), 0
    return F.listed(F.op(op)(ary, indices=where, axis=axis, squeeze_axis=False, sections=sections))


def split(F: Any, ary: Any, indices_or_sections: Any, axis: int = 0) -> List[Any]:
    """Equal parts of a tensor, or the parts between the given places."""
    if isinstance(indices_or_sections, (int, onp.integer)):
        length = F.known_length(ary, axis)
        if length is not None and length % indices_or_sections:
            raise ValueError(
                f"split: array split does not result in an equal division: given {length} elements along axis {axis}, "
                f"expected a multiple of {indices_or_sections}"
            )
    elif not isinstance(indices_or_sections, (tuple, list)):
        raise wrong("split", indices_or_sections, "an integer or a tuple of them")
    return _parts(F, "_npi_split", ary, _places(F, ary, indices_or_sections, axis), axis)


def array_split(F: Any, ary: Any, indices_or_sections: Any, axis: int = 0) -> List[Any]:
    """As split; parts may differ by one in length."""
    if not isinstance(indices_or_sections, (int, onp.integer)):
        return split(F, ary, tuple(indices_or_sections), axis)
    sections = int(indices_or_sections)
    if sections <= 0:
        raise ValueError(f"array_split: given {sections} sections, expected at least one")
    length = F.known_length(ary, axis)
    if length is None:  # a symbol: parts of one length, or an error when shapes are known
        return _parts(F, "_npi_split", ary, sections, axis)
    each, longer = divmod(length, sections)
    lengths = [each + 1] * longer + [each] * (sections - longer)
    return _parts(F, "_npi_split", ary, tuple(onp.cumsum(lengths)[:-1].tolist()), axis)


def _at_least(F: Any, name: str, ary: Any, dims: int) -> None:
    if F.known_ndim(ary, dims) < dims:
        raise ValueError(f"{name}: given {F.known_ndim(ary, dims)} dimensions, expected {dims} or more")


def hsplit(F: Any, ary: Any, indices_or_sections: Any) -> List[Any]:
    """As split, along the second axis; vectors along their only one."""
    _at_least(F, "hsplit", ary, 1)
    axis = 0 if F.known_ndim(ary, 2) == 1 else 1
    return _parts(F, "_npi_hsplit", ary, _places(F, ary, indices_or_sections, axis), 1)


def vsplit(F: Any, ary: Any, indices_or_sections: Any) -> List[Any]:
    """As split, along the first axis."""
    _at_least(F, "vsplit", ary, 2)
    return split(F, ary, indices_or_sections, 0)


def dsplit(F: Any, ary: Any, indices_or_sections: Any) -> List[Any]:
    """As split, along the third axis."""
    _at_least(F, "dsplit", ary, 3)
    return split(F, ary, indices_or_sections, 2)


def broadcast_arrays(F: Any, *args: Any) -> List[Any]:
    """Tensors repeated to the shape that they have in common."""
    shape = onp.broadcast_shapes(*(F.shape(arg, "broadcast_arrays") for arg in args))
    return [arg if F.shape(arg, "") == shape else F.broadcast_to(arg, shape) for arg in args]


def meshgrid(F: Any, *xi: Any, **kwargs: Any) -> List[Any]:
    """Coordinates of a grid from the ones of its axes; keywords: sparse, indexing ("xy" or "ij"), copy."""
    sparse, indexing = kwargs.pop("sparse", False), kwargs.pop("indexing", "xy")
    copy = kwargs.pop("copy", True)
    if kwargs:
        raise TypeError(f"meshgrid: given {', '.join(kwargs)}, expected copy, sparse and indexing")
    if not copy and not sparse:
        raise NotImplementedError("meshgrid: given copy=False, expected True: repeated elements cannot share memory")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: given indexing={indexing!r}, expected 'xy' or 'ij'")
    order = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        order[0], order[1] = 1, 0
    grids = []
    for x, place in zip(xi, order):
        shape = [1] * len(xi)
        shape[place] = -1
        grids.append(F.reshape(x, tuple(shape)))
    return grids if sparse else broadcast_arrays(F, *grids)
