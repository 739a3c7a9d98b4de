# SPDX-License-Identifier: Apache-2.0
"""How samples become a batch: functions for the argument batchify_fn of DataLoader.

All are classes, so that they travel to worker processes.
"""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Sequence

import numpy as np

from ... import ndarray
from ...ndarray import NDArray

__all__ = ["AsList", "Append", "Group", "Pad", "Stack"]


def _as_numpy(item: Any) -> np.ndarray:
    return item._values() if isinstance(item, NDArray) else np.asarray(item)


class Stack:
    """Samples of one shape along a new first axis."""

    def __call__(self, data: Sequence[Any]) -> NDArray:
        if isinstance(data[0], NDArray):
            return ndarray.stack(*data)
        stacked = np.stack([_as_numpy(item) for item in data])
        return ndarray.array(stacked, dtype=stacked.dtype)


class Pad:
    """Samples of different lengths along a new first axis, filled up with `val` to the longest.

    With `axis` only that axis may differ; without it all may. `ret_length` gives the lengths too (then
    `axis` must be given). `round_to` makes the length a multiple.
    """

    def __init__(
        self,
        axis: Optional[int] = None,
        val: float = 0,
        dtype: Any = None,
        round_to: Optional[int] = None,
        ret_length: bool = False,
    ) -> None:
        if ret_length and axis is None:
            raise ValueError("given ret_length without axis: which length is not known")
        self._axis, self._val, self._dtype, self._round_to, self._ret_length = axis, val, dtype, round_to, ret_length

    def __call__(self, data: Sequence[Any]) -> Any:
        items = [_as_numpy(item) for item in data]
        shapes = np.array([item.shape for item in items])
        longest = shapes.max(axis=0)
        axes = range(len(longest)) if self._axis is None else [self._axis % len(longest)]
        for axis, length in enumerate(longest):
            if axis not in axes and (shapes[:, axis] != length).any():
                raise ValueError(f"given shapes {shapes.tolist()}, expected them to differ in axis {self._axis} only")
            if axis in axes and self._round_to:
                longest[axis] = -(-length // self._round_to) * self._round_to
        padded = np.full((len(items), *longest), self._val, dtype=self._dtype or items[0].dtype)
        for row, item in zip(padded, items):
            row[tuple(slice(n) for n in item.shape)] = item
        batch = ndarray.array(padded, dtype=padded.dtype)
        if not self._ret_length:
            return batch
        return batch, ndarray.array(shapes[:, self._axis], dtype=np.int32)


class Append:
    """Samples as a list of arrays, each a batch of one with `expand`."""

    def __init__(self, expand: bool = True, batch_axis: int = 0) -> None:
        self._expand, self._batch_axis = expand, batch_axis

    def __call__(self, data: Sequence[Any]) -> List[NDArray]:
        arrays = []
        for item in data:
            values = _as_numpy(item)
            values = np.expand_dims(values, self._batch_axis) if self._expand else values
            arrays.append(ndarray.array(values, dtype=values.dtype))
        return arrays


class Group:
    """Of samples that are tuples: the first function makes a batch of all first items, and so on."""

    def __init__(self, *functions: Callable[[Sequence[Any]], Any]) -> None:
        if len(functions) == 1 and isinstance(functions[0], (list, tuple)):
            functions = tuple(functions[0])
        self._functions = functions

    def __call__(self, data: Sequence[Any]) -> Any:
        if len(data[0]) != len(self._functions):
            raise ValueError(f"given samples of {len(data[0])} items, expected {len(self._functions)}")
        return tuple(function([item[i] for item in data]) for i, function in enumerate(self._functions))


class AsList:
    """Samples as they are."""

    def __call__(self, data: Sequence[Any]) -> List[Any]:
        return list(data)
