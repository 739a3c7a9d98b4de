# SPDX-License-Identifier: Apache-2.0
"""Arrays from and to other libraries: DLPack and NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ._dtypes import dtype_number
from .creation import _from_numpy
from .ndarray import NDArray

__all__ = ["from_dlpack", "from_numpy", "to_dlpack_for_read", "to_dlpack_for_write"]


def from_dlpack(dlpack: Any) -> NDArray:
    """An array on another framework's memory: from a capsule, or an object that has __dlpack__."""
    return _core.from_dlpack(dlpack.__dlpack__() if hasattr(dlpack, "__dlpack__") else dlpack, False)


def to_dlpack_for_read(data: NDArray) -> Any:
    """See NDArray.to_dlpack_for_read."""
    return data.to_dlpack_for_read()


def to_dlpack_for_write(data: NDArray) -> Any:
    """See NDArray.to_dlpack_for_write."""
    return data.to_dlpack_for_write()


def from_numpy(ndarray: np.ndarray, zero_copy: bool = True, array_cls: Any = NDArray) -> NDArray:
    """An array of NumPy's, on the same memory if `zero_copy`; NumPy may then no longer write to it."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"given {type(ndarray).__name__}, expected a numpy.ndarray")
    numpy = bool(array_cls._is_np)
    if not zero_copy:
        return _from_numpy(ndarray, None, ndarray.dtype, array_cls)
    if not ndarray.flags["C_CONTIGUOUS"]:
        raise ValueError("given an array that is not C-contiguous, expected one for zero_copy")
    ndarray.flags["WRITEABLE"] = False
    return _core.from_buffer(ndarray, dtype_number(ndarray.dtype), numpy)
