# SPDX-License-Identifier: Apache-2.0
"""Gradients of parameters back to zero: those of a device by one operation, however many they are."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Tuple

from .. import autograd, ndarray
from ..ndarray import NDArray

__all__ = ["zero_gradients"]


def zero_gradients(parameters: Iterable[Any]) -> None:
    """Fills the gradients of parameters with zeros."""
    recording = autograd.is_recording()
    dense: Dict[Tuple[int, int], List[NDArray]] = {}
    for parameter in parameters:
        for array in parameter._grad or ():
            if array._storage_type_id != 0:
                ndarray.zeros(array.shape, array.context, array.dtype, array.stype).copyto(array)
            elif recording:
                array[:] = 0  # which refuses one that is part of what was recorded
            else:
                dense.setdefault(array._device, []).append(array)
    for arrays in dense.values():
        ndarray.reset_arrays(*arrays, num_arrays=len(arrays))
