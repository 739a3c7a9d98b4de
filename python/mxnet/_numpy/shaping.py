# SPDX-License-Identifier: Apache-2.0
"""The same elements in another shape or order."""

from __future__ import annotations

from typing import Any, Tuple

import numpy as onp

from ..ndarray._integers import ints
from .frontend import is_number, only_c, optional_ints

__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_to", "copy", "diag", "diagflat", "diagonal", "expand_dims",
    "flip", "fliplr", "flipud", "moveaxis", "pad", "ravel", "repeat", "reshape", "resize", "roll", "rot90", "squeeze",
    "swapaxes", "tile", "transpose", "tril",
]


def copy(F: Any, a: Any, out: Any = None) -> Any:
    """A copy."""
    return F.op("_np_copy")(a, out=out)


def reshape(F: Any, a: Any, newshape: Any, order: str = "C", out: Any = None) -> Any:
    """Another shape; one dimension may be -1."""
    only_c(order, "reshape")
    return F.op("_np_reshape")(a, newshape=ints(newshape, "reshape"), order="C", out=out)


def ravel(F: Any, x: Any, order: str = "C") -> Any:
    """All elements in one dimension."""
    only_c(order, "ravel")
    return onp.reshape(x, -1) if is_number(x) else F.op("_np_reshape")(x, newshape=(-1,), order="C")


def transpose(F: Any, a: Any, axes: Any = None) -> Any:
    """The axes in another order, reversed by default."""
    return F.op("_np_transpose")(a) if axes is None else F.op("_np_transpose")(a, axes=ints(axes))


def swapaxes(F: Any, a: Any, axis1: int, axis2: int) -> Any:
    """Two axes in each other's place."""
    return F.op("_npi_swapaxes")(a, dim1=axis1, dim2=axis2)


def moveaxis(F: Any, a: Any, source: Any, destination: Any) -> Any:
    """Axes at other places, the others in their order."""
    return F.op("_np_moveaxis")(a, source=ints(source), destination=ints(destination))


def expand_dims(F: Any, a: Any, axis: int) -> Any:
    """A new dimension of one."""
    return F.op("_npi_expand_dims")(a, axis=axis)


def squeeze(F: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    """Without dimensions of one."""
    return F.op("_np_squeeze")(a, axis=optional_ints(axis), out=out)


def broadcast_to(F: Any, array: Any, shape: Any) -> Any:
    """Repeated along dimensions of one, and new ones at the front."""
    if is_number(array):
        return F.full(shape, array)
    return F.op("_npi_broadcast_to")(array, shape=ints(shape, "broadcast_to"))


def tile(F: Any, A: Any, reps: Any) -> Any:
    """Repeated as a whole, so many times along each axis."""
    return onp.tile(A, reps) if is_number(A) else F.op("_npi_tile")(A, reps=ints(reps))


def repeat(F: Any, a: Any, repeats: Any, axis: Any = None) -> Any:
    """Each element repeated: all alike, or by a count for each along the axis."""
    if is_number(repeats):
        return F.op("_np_repeat")(a, repeats=int(repeats), axis=axis)
    if axis is None:
        a, axis = ravel(F, a), 0
    length = F.shape(a, "repeat with several counts")[axis]
    places = onp.repeat(onp.arange(length), onp.broadcast_to(onp.asarray(ints(repeats)), (length,)))
    return F.take(a, F.constant(places, a), axis=axis)


def roll(F: Any, a: Any, shift: Any, axis: Any = None) -> Any:
    """Elements moved along axes; what leaves at the end comes in at the start."""
    return F.op("_np_roll")(a, shift=ints(shift), axis=optional_ints(axis))


def rot90(F: Any, m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """Turned by k quarters in the plane of two axes."""
    return F.op("_npi_rot90")(m, k=k, axes=ints(axes))


def flip(F: Any, m: Any, axis: Any = None, out: Any = None) -> Any:
    """In reverse order along axes, all by default."""
    if is_number(m):
        return m
    axes = optional_ints(axis)
    return copy(F, m, out) if axes == () else F.op("_npi_flip")(m, axis=axes, out=out)


def flipud(F: Any, m: Any) -> Any:
    """In reverse order along the first axis."""
    return flip(F, m, 0)


def fliplr(F: Any, m: Any) -> Any:
    """In reverse order along the second axis."""
    return flip(F, m, 1)


def _widths(F: Any, x: Any, pad_width: Any) -> Tuple[Tuple[int, int], ...]:
    """Before and after each axis, from any of NumPy's short forms."""
    if isinstance(pad_width, (tuple, list)) and pad_width and isinstance(pad_width[0], (tuple, list)) and len(pad_width) > 1:
        return tuple((int(before), int(after)) for before, after in pad_width)
    dims = F.ndim(x, "pad with one width for all axes")
    if isinstance(pad_width, int):
        return ((int(pad_width), int(pad_width)),) * dims
    return tuple((int(before), int(after)) for before, after in onp.broadcast_to(onp.asarray(pad_width, int), (dims, 2)))


def pad(F: Any, x: Any, pad_width: Any = None, mode: str = "constant", **kwargs: Any) -> Any:
    """Elements around a tensor. Keywords: constant_values for mode "constant", reflect_type "even"."""
    if pad_width is None:
        raise TypeError("pad: given no pad_width, expected widths before and after each axis")
    if not isinstance(mode, str):
        raise NotImplementedError("pad: given a function as mode, expected a name")
    known = {"constant": "constant_values", "reflect": "reflect_type", "symmetric": "reflect_type"}
    unknown = set(kwargs) - {known.get(mode)}
    if unknown:
        raise ValueError(f"pad: given {', '.join(sorted(unknown))} with mode {mode!r}, which does not know it")
    value, kind = kwargs.get("constant_values", 0), kwargs.get("reflect_type", "even")
    if not is_number(value):
        raise NotImplementedError("pad: given several constant_values, expected one number")
    if kind != "even":
        raise NotImplementedError(f"pad: given reflect_type={kind!r}, expected 'even'")
    return F.op("_npi_pad")(x, pad_width=_widths(F, x, pad_width), mode=mode, constant_value=float(value), reflect_type=kind)


def resize(F: Any, a: Any, new_shape: Any) -> Any:
    """The elements in another shape, again from the first one where there are too few."""
    if is_number(a):
        return F.full(new_shape, a)
    wanted, have = ints(new_shape), 1
    if F.known_ndim(a, -1) < 0:
        return F.in_numpy("resize_fallback", a, new_shape=wanted)
    for dim in F.shape(a, "resize"):
        have *= dim
    count = int(onp.prod(wanted, dtype=onp.int64))
    if have == 0 or count == 0:
        return F.zeros(wanted, dtype=a.dtype)
    flat = ravel(F, a)
    if count > have:
        flat = tile(F, flat, -(-count // have))
    if count % have != 0:
        flat = F.op("_npi_slice")(flat, begin=(0,), end=(count,))
    return reshape(F, flat, wanted)


def diag(F: Any, array: Any, k: int = 0) -> Any:
    """A matrix's diagonal, or a matrix with a vector on its diagonal."""
    return F.op("_np_diag")(array, k=k)


def diagflat(F: Any, array: Any, k: int = 0) -> Any:
    """A matrix with all elements on its diagonal."""
    return F.op("_np_diagflat")(array, k=k)


def diagonal(F: Any, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The diagonals in the plane of two axes."""
    return F.op("_np_diagonal")(a, offset=offset, axis1=axis1, axis2=axis2)


def tril(F: Any, m: Any, k: int = 0) -> Any:
    """With zeros above a diagonal."""
    return F.op("_npi_tril")(m, k=k)


def _at_least(F: Any, op: str, arys: Any) -> Any:
    made = F.op(op)(*(F.full((), ary) if is_number(ary) else ary for ary in arys))
    return F.listed(made) if len(arys) > 1 else made


def atleast_1d(F: Any, *arys: Any) -> Any:
    """With at least one dimension."""
    return _at_least(F, "_np_atleast_1d", arys)


def atleast_2d(F: Any, *arys: Any) -> Any:
    """With at least two dimensions."""
    return _at_least(F, "_np_atleast_2d", arys)


def atleast_3d(F: Any, *arys: Any) -> Any:
    """With at least three dimensions."""
    return _at_least(F, "_np_atleast_3d", arys)
