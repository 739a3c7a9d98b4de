# SPDX-License-Identifier: Apache-2.0
"""Gradients of parameters back to zero: those of a device by one operation, however many they are."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Tuple

from .. import autograd, ndarray
from ..ndarray import NDArray

__all__ = ["zero_gradient", "zero_gradients"]

_DENSE = 0


def zero_gradient(array: NDArray) -> None:
    """Fills one with zeros."""
    if array._storage_type_id == _DENSE:
        array[...] = 0
    else:
        ndarray.zeros(array.shape, array.context, array.dtype, array.stype).copyto(array)


def zero_gradients(parameters: Iterable[Any]) -> None:
    """Fills those of all parameters with zeros."""
    recording = autograd.is_recording()  # when an array that is part of what was recorded is refused
    dense: Dict[Tuple[int, int], List[NDArray]] = {}
    for parameter in parameters:
        for array in parameter._grad or ():
            if recording or array._storage_type_id != _DENSE:
                zero_gradient(array)
            else:
                dense.setdefault(array._device, []).append(array)
    for arrays in dense.values():
        ndarray.reset_arrays(*arrays, num_arrays=len(arrays))
