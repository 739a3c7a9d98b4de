# SPDX-License-Identifier: Apache-2.0
"""What Python's index expressions select, told from the index and a shape: no array is read or made but the index's own.

Basic indices are numbers for each dimension. Arrays and lists become, by NumPy itself, positions in the flat array, so
that they mean what they mean there.
"""

from __future__ import annotations

from math import prod
from typing import Any, List, NamedTuple, Optional, Tuple

import numpy as np

from .._core import NDArrayBase
from ._dtypes import dtype_number

Shape = Tuple[int, ...]

# Up to so many numbers Python's own functions find the least sooner than NumPy's.
_FEW = 48
# Up to so many elements NumPy picks their places sooner than they are computed.
_SMALL = 4096
_PLACES = np.arange(_SMALL, dtype=np.int64)
_BOOL = dtype_number(np.bool_)
# What makes an index more than a basic one.
_ADVANCED = (list, range, np.ndarray, NDArrayBase, bool, np.bool_, tuple)


class WrongKind(IndexError, ValueError):
    """An index of a type that none has: NumPy's class of error, and that of 1.9.1."""


class Basic(NamedTuple):
    """A basic index, one entry per dimension."""

    begin: Tuple[int, ...]
    end: Tuple[Optional[int], ...]
    step: Tuple[int, ...]
    kept: Shape  # of what the operator slice gives
    shape: Shape  # after integers have gone and new axes have come


def is_advanced(key: Any) -> bool:
    """Whether NumPy would call it advanced."""
    if not isinstance(key, tuple):
        return isinstance(key, _ADVANCED)
    return any(isinstance(part, _ADVANCED) for part in key)


def expand(key: Any, ndim: int) -> List[Any]:
    """The parts of a basic index, with the ellipsis and what follows written out."""
    parts = list(key) if isinstance(key, tuple) else [key]
    dots = [i for i, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1:
        raise IndexError("given two ellipses, expected at most one")
    used = sum(part is not None and part is not Ellipsis for part in parts)
    if used > ndim:
        raise IndexError(f"given {used} indices, expected at most {ndim}, one per dimension")
    at = dots[0] if dots else len(parts)
    return [*parts[:at], *[slice(None)] * (ndim - used), *parts[at + 1 :]]


def basic(key: Any, shape: Shape) -> Basic:
    """What a basic index selects."""
    begins, ends, steps, kept, result = [], [], [], [], []
    axis = 0
    for part in expand(key, len(shape)):
        if part is None:
            result.append(1)
            continue
        size = shape[axis]
        if isinstance(part, slice):
            begin, end, step = part.indices(size)
            length = len(range(begin, end, step))
            if length == 0:
                begin, end, step = 0, 0, 1  # a beginning before the first element would count from the end
            result.append(length)
        else:
            try:
                begin = part.__index__()
            except AttributeError:
                raise WrongKind(
                    f"given an index of type {type(part).__name__}, expected integers, slices, "
                    "None, Ellipsis, arrays or lists"
                ) from None
            if not -size <= begin < size:
                raise IndexError(f"given index {begin} for axis {axis}, expected one within {size}")
            begin += size if begin < 0 else 0
            end, step, length = begin + 1, 1, 1
        begins.append(begin)
        ends.append(None if step < 0 and end < 0 else end)
        steps.append(step)
        kept.append(length)
        axis += 1
    return Basic(tuple(begins), tuple(ends), tuple(steps), tuple(kept), tuple(result))


def contiguous_range(shape: Shape, index: Basic) -> Optional[Tuple[int, int]]:
    """First and last + 1 element, if what is selected lies together."""
    full = len(shape)
    while full > 0 and index.kept[full - 1] == shape[full - 1] and index.step[full - 1] == 1:
        full -= 1
    if any(length != 1 for length in index.kept[: max(full - 1, 0)]):
        return None
    if full > 0 and index.step[full - 1] != 1 and index.kept[full - 1] != 1:
        return None
    begin = 0
    for start, size in zip(index.begin, shape):
        begin = begin * size + start
    return begin, begin + prod(index.kept)


def as_numpy_key(key: Any) -> Any:
    """The index with arrays as NumPy's; indices of other types than integers are cut to them."""
    if isinstance(key, tuple):
        return tuple(as_numpy_key(part) for part in key)
    if isinstance(key, NDArrayBase):
        key = key._values()
    elif isinstance(key, (list, range)):
        key = np.asarray([as_numpy_key(part) for part in key] if key else np.empty(0, np.int64))
    if isinstance(key, np.ndarray) and key.dtype.kind == "f":
        key = key.astype(np.int64)
    return key


def elements(key: Any, shape: Shape) -> Optional[np.ndarray]:
    """The places in the flat array if an index is an array of integers for each dimension, None otherwise."""
    if not isinstance(key, tuple) or len(key) != len(shape) or not all(isinstance(part, np.ndarray) for part in key):
        return None
    if any(part.dtype.kind not in "iu" or part.shape != key[0].shape or part.size == 0 for part in key):
        return None
    where: Any = 0
    for part, size in zip(key, shape):
        low, high = _bounds(part)
        if low < -size or high >= size:
            return None  # NumPy says which
        part = part.astype(np.int64, copy=False)
        where = where * size + (part if low >= 0 else np.where(part < 0, part + size, part))
    return where


def positions(key: Any, shape: Shape) -> np.ndarray:
    """The places in the flat array that an index selects; as much work as it selects elements."""
    key = as_numpy_key(key)
    size = prod(shape)
    if size <= _SMALL:
        return np.asarray(_PLACES[:size].reshape(shape)[key])
    single = elements(key, shape)
    if single is not None:
        return single
    where, stride = 0, 1
    for axis in reversed(range(len(shape))):
        steps = np.arange(shape[axis], dtype=np.int64) * stride
        # No memory beyond `steps`: NumPy picks from a view that repeats it.
        where = where + np.broadcast_to(steps.reshape(-1, *[1] * (len(shape) - axis - 1)), shape)[key]
        stride *= shape[axis]
    return np.asarray(where)


def _bounds(places: np.ndarray) -> Tuple[int, int]:
    """The least and the greatest of some integers."""
    if places.size > _FEW:
        return int(places.min()), int(places.max())
    numbers = places.reshape(-1).tolist()
    return (min(numbers), max(numbers)) if numbers else (0, 0)


class Along(NamedTuple):
    """An index that is one array of integers along one dimension and takes the others whole."""

    axis: int
    key: Any  # as it was given
    picked: np.ndarray  # its numbers, counted from the front
    low: int  # the least number given


def along(key: Any, shape: Shape) -> Optional[Along]:
    """The index as one along a dimension, None if it is no such one or out of bounds: NumPy says which."""
    axis = 0
    if isinstance(key, tuple):
        if prod(shape) <= _SMALL:
            return None  # its places are found sooner
        dots = sum(part is Ellipsis for part in key)
        if dots > 1 or len(key) - dots > len(shape):
            return None
        parts = expand(key, len(shape))
        arrays = [axis for axis, part in enumerate(parts) if not isinstance(part, slice) or part != slice(None)]
        if len(arrays) != 1:
            return None
        axis = arrays[0]
        key = parts[axis]
    if not isinstance(key, (list, np.ndarray, NDArrayBase)) or not shape or shape[axis] == 0:
        return None
    picked = as_numpy_key(key)
    if picked.dtype.kind not in "iu" or picked.ndim == 0:
        return None
    low, high = _bounds(picked)
    if low < -shape[axis] or high >= shape[axis]:
        return None
    picked = picked.astype(np.int64, copy=False)
    return Along(axis, key, picked if low >= 0 else np.where(picked < 0, picked + shape[axis], picked), low)


def is_mask(array: Any, key: Any) -> bool:
    """Whether an index is a mask over the first dimensions; of one that does not fit NumPy says what is wrong."""
    if isinstance(key, NDArrayBase):
        if key._dtype_id != _BOOL:
            return False
    elif not isinstance(key, np.ndarray) or key.dtype != np.bool_:
        return False
    shape, of_array = key.shape, array.shape
    return bool(shape) and 0 not in of_array and shape == of_array[: len(shape)]
