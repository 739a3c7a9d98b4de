# SPDX-License-Identifier: Apache-2.0
"""array[key] and array[key] = value, for keys that the binding leaves to Python.

Integers and slices of whole rows are views. Other basic indices are the operator slice, what arrays and lists select is
one of take: what a key says is told in _index_keys.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .. import _core
from .._core import NDArrayBase
from .._np_scopes import called_with_shapes
from ..base import MXNetValueError
from . import _generate
from ._dtypes import bfloat16, dtype_number, widened
from ._index_keys import Shape, along, as_numpy_key, basic, contiguous_range, is_advanced, is_mask, positions

# Types of indices that the operator take reads as they are.
_TAKEN = (dtype_number(np.int32), dtype_number(np.int64))
_BFLOAT16 = dtype_number(bfloat16)


def _of_kind(array: Any, key: Any) -> Any:
    """The index as an array of mx.nd or of mx.np, whichever the other is: what is selected is of its kind."""
    return key if key._is_np == array._is_np else key._as_kind(array._is_np)


def mask_of(array: Any, key: Any) -> Any:
    """The mask, on the array's device, if an index is one and may select nothing, None otherwise."""
    return _as_mask(array, key) if array._allows_empty() and is_mask(array, key) else None


def _as_mask(array: Any, key: Any) -> Any:
    if isinstance(key, np.ndarray):
        return array._index_array(key, np.bool_)
    return _of_kind(array, key if key._device == array._device else key.copyto(array.context))


def flat(array: Any) -> Any:
    """All elements as a vector on the same memory."""
    return array._view((-1,), False)


def _get_advanced(array: Any, key: Any) -> Any:
    """A copy of what masks and arrays of integers select."""
    shape = array.shape
    if is_mask(array, key):
        lines = array if key.ndim == 1 else array._view((key.size, *shape[key.ndim :]), False)
        if array._allows_empty():
            mask = _as_mask(array, key)
            return _generate.operator("_contrib_boolean_mask")(lines, mask if key.ndim == 1 else flat(mask))
        taken = np.flatnonzero(as_numpy_key(key))
        _check_size(array, taken.shape)
        return _generate.operator("take")(lines, array._index_array(taken), axis=0)
    one = along(key, shape)
    if one is not None:
        axis, key, picked, low = one
        _check_size(array, shape[:axis] + picked.shape + shape[axis + 1 :])
        as_is = low >= 0 and isinstance(key, NDArrayBase) and key._dtype_id in _TAKEN and key._device == array._device
        return _generate.operator("take")(array, _of_kind(array, key) if as_is else array._index_array(picked), axis=axis)
    where = positions(key, shape)
    _check_size(array, where.shape)
    picked = _generate.operator("take")(flat(array), array._index_array(where if where.ndim else where.reshape(1)), axis=0)
    return array._of_shape(picked, where.shape)


def _is_whole_scalar(array: Any, key: Any) -> bool:
    """Whether that is all of an mx.nd array without dimensions, as in 1.9.1; those of mx.np refuse it, as NumPy's do."""
    return isinstance(key, slice) and key == slice(None) and not array._is_np


def get(array: Any, key: Any) -> Any:
    """array[key]."""
    shape = array.shape
    if not shape and _is_whole_scalar(array, key):
        key = ()
    if isinstance(key, (int, np.integer)) and not isinstance(key, bool) and shape:
        size = shape[0]
        if not -size <= key < size:
            raise IndexError(f"given index {key}, expected one within {size}")
        return array._at(int(key) + (size if key < 0 else 0))
    if isinstance(key, slice) and shape:
        begin, end, step = key.indices(shape[0])
        if step == 1:
            return array._slice(begin, max(begin, end))
    if isinstance(key, bool) and not array._is_np:  # a number to mx.nd, as to Python
        return get(array, int(key))
    made = _core.basic_index(array, key)
    if made is not NotImplemented:
        return made
    if array._is_np and not array._allows_empty():  # may have no elements whatever shapes mean, as in 1.9.1
        picked = called_with_shapes(True, _get_others, array, key)
        return array._of_shape(picked, picked.shape) if shape else picked
    return _get_others(array, key)


def _get_others(array: Any, key: Any) -> Any:
    """The same of what is no index that the binding knows."""
    shape = array.shape
    if is_advanced(key):
        return _get_advanced(array, key)
    index = basic(key, shape)
    if index.shape and index.shape[0] == 0 and not array._is_np:  # no rows are an array, as in 1.9.1
        return array._index_array(np.empty(index.shape), array.dtype)
    _check_size(array, index.shape)
    if not shape:
        return array._of_shape(array, index.shape)
    together = contiguous_range(shape, index) if 0 not in index.kept else None
    if together is not None:
        return array._of_shape(flat(array)._slice(*together), index.shape)
    picked = _generate.operator("slice")(array, begin=index.begin, end=index.end, step=index.step)
    return array._of_shape(picked, index.shape)


def _check_size(array: Any, shape: Shape) -> None:
    if 0 in shape and not array._allows_empty():
        raise IndexError(f"the result would have the shape {shape}; arrays without elements need mx.np, or mx.npx.set_np()")


def _fitting(given: Shape, shape: Shape) -> Shape:
    """The shape of given values with as many dimensions as the selected shape has, which they can be broadcast to."""
    if not given:
        return (1,) * len(shape)
    lead = len(given) - len(shape)
    fitting = given[lead:] if lead > 0 else (1,) * -lead + tuple(given)
    if any(size != 1 for size in given[: max(lead, 0)]) or any(size not in (1, to) for size, to in zip(fitting, shape)):
        raise MXNetValueError(f"given values of shape {tuple(given)}, expected some that broadcast to the selected {shape}")
    return fitting


def _elements(array: Any, value: Any) -> np.ndarray:
    """Numbers that are no array of the library, in the type of one."""
    dtype = np.float32 if array._dtype_id == _BFLOAT16 else array.dtype
    if isinstance(value, np.ndarray):
        if value.dtype == dtype and type(value) is np.ndarray:
            return value
        if value.dtype == bfloat16:  # as asnumpy() gives them
            value = widened(value)
    try:
        # Into an array first: whether NumPy lets a number of Python's wrap around depends on its version.
        with np.errstate(invalid="ignore", over="ignore"):
            return np.asarray(value).astype(dtype, copy=False)
    except ValueError as error:
        raise TypeError(f"given {value!r}, expected numbers of type {array.dtype} or an array of them") from error


def _values(array: Any, value: Any, shape: Shape) -> Any:
    """What is assigned, as an array of exactly this shape."""
    from_array = isinstance(value, NDArrayBase)
    if not from_array:
        value = _elements(array, value)
    given = shape if value.shape == shape else _fitting(value.shape, shape)
    if 0 in shape:
        return value  # nothing of it is written
    if not from_array:
        if value.shape != shape:
            spread = np.empty(shape, value.dtype)
            spread[...] = value.reshape(given) if value.ndim > len(shape) else value
            value = spread
        return array._index_array(value, array.dtype)
    if value.dtype != array.dtype:
        value = value.astype(array.dtype)
    if value.context != array.context:
        value = value.as_in_context(array.context)
    if given != tuple(value.shape):
        value = value._view(given, False)
    return value if given == shape else _generate.operator("broadcast_to")(value, shape=shape)


def _rows_in_place(array: Any, key: Any, shape: Shape) -> Any:
    """What an integer or a plain slice selects, on the memory of the array; None where that takes more than a view."""
    if not shape or array._storage_type_id != 0 or _core.is_recording():
        return None
    size = shape[0]
    if type(key) is int:
        return array._at(key if key >= 0 else key + size) if -size <= key < size else None
    if type(key) is slice:
        begin, end, step = key.indices(size)
        return array._slice(begin, end) if step == 1 and begin < end else None
    return None


def _put_advanced(array: Any, key: Any, value: Any, number: bool) -> None:
    """Writes to what masks and arrays of integers select."""
    mask = mask_of(array, key) if number else None
    if mask is not None:
        element = float(_elements(array, value))
        if element != element or element == float(np.float32(element)):  # what a parameter can be
            _generate.operator("_npi_boolean_mask_assign_scalar")(array, mask, value=element, out=array)
            return
    shape = array.shape
    one = along(key, shape)
    if one is not None:  # lines along the dimensions behind
        axis, _, picked, _ = one
        behind = shape[axis + 1 :]
        selected, width = shape[:axis] + picked.shape + behind, prod(behind)
        where = picked.reshape(1, -1)
        if axis > 0:
            where = np.arange(0, prod(shape[: axis + 1]), shape[axis]).reshape(-1, 1) + where
    else:
        where = positions(key, shape)
        selected, width = where.shape, 1
    if 0 in selected:
        _values(array, value, selected)
        return
    lines = (-1, width) if width > 1 else (-1,)
    target = array._view(lines, False)
    values = _values(array, value, selected or (1,))._view(lines, False)
    places = array._index_array(where.reshape(1, -1))
    _generate.operator("_scatter_set_nd")(target, values, places, shape=target.shape, out=target)


def put(array: Any, key: Any, value: Any) -> None:
    """array[key] = value."""
    shape = array.shape
    if not shape and _is_whole_scalar(array, key):
        key = ()
    number = isinstance(value, (int, float, bool, np.generic)) and not isinstance(value, np.ndarray)
    if number:
        view = _rows_in_place(array, key, shape)
        if view is not None and view.size:
            number_of = float if isinstance(value, (float, np.floating)) else int
            _generate.operator("_set_value")(src=number_of(value), out=view)
            return
    elif isinstance(value, np.ndarray) or (isinstance(value, NDArrayBase) and value._storage_type_id == 0):
        view = _rows_in_place(array, key, shape)
        if view is not None and view.size and (len(shape) > 1 or type(key) is slice or value.shape == view.shape):
            if not isinstance(value, NDArrayBase) or value.shape != view.shape or value._dtype_id != array._dtype_id:
                value = _values(array, value, view.shape)
            value.copyto(view)
            return
    if is_advanced(key):
        _put_advanced(array, key, value, number)
        return
    index = basic(key, shape)
    if 0 in index.kept:
        _values(array, value, index.shape)  # what would not fit is an error without elements too, as in NumPy
        return
    whole = index.kept == shape and all(step == 1 for step in index.step)
    if number:
        value = float(value) if isinstance(value, (float, np.floating)) else int(value)
        if whole:
            _generate.operator("_set_value")(src=value, out=array)
        else:
            _generate.operator("_slice_assign_scalar")(
                array, scalar=value, begin=index.begin, end=index.end, step=index.step, out=array
            )
        return
    if whole:
        if index.shape != index.kept or not isinstance(value, NDArrayBase) or value.shape != shape:
            value = _values(array, value, index.shape)._view(shape, False)
        value.copyto(array)
        return
    values = _values(array, value, index.shape)._view(index.kept, False)
    _generate.operator("_slice_assign")(
        array, values, begin=index.begin, end=index.end, step=index.step, out=array
    )
