# SPDX-License-Identifier: Apache-2.0
"""DLPack capsules and borrowed memory on ctypes."""

from __future__ import annotations

import ctypes
from typing import Any, Dict

from .lib import _LIB, DLPackHandle, NDArrayHandle, check_call
from .ndarray import wrap

__all__ = ["from_buffer", "from_dlpack", "to_dlpack"]

_FRESH, _USED = b"dltensor", b"used_dltensor"
_python = ctypes.pythonapi
_python.PyCapsule_New.restype = ctypes.py_object
_python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_python.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
_python.PyCapsule_GetPointer.restype = ctypes.c_void_p
_python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
_python.PyCapsule_SetDestructor.argtypes = [ctypes.py_object, ctypes.c_void_p]


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _free(capsule: int) -> None:
    """A capsule nobody has used gives its tensor back."""
    borrowed = ctypes.cast(capsule, ctypes.py_object)
    if _python.PyCapsule_IsValid(borrowed, _FRESH):
        _LIB.MXNDArrayCallDLPackDeleter(ctypes.c_void_p(_python.PyCapsule_GetPointer(borrowed, _FRESH)))


def to_dlpack(array: Any) -> Any:
    """A capsule."""
    tensor = DLPackHandle()
    check_call(_LIB.MXNDArrayToDLPack(array.handle, ctypes.byref(tensor)))
    return _python.PyCapsule_New(tensor, _FRESH, ctypes.cast(_free, ctypes.c_void_p))


def _from_tensor(tensor: Any, numpy: bool) -> Any:
    handle = NDArrayHandle()
    check_call(_LIB.MXNDArrayFromDLPack(tensor, ctypes.byref(handle)))
    return wrap(handle, numpy)


def from_dlpack(capsule: Any, numpy: bool) -> Any:
    """An array on a capsule's memory."""
    if not _python.PyCapsule_IsValid(capsule, _FRESH):
        raise ValueError(
            "from_dlpack: given no capsule, or one that was taken already, expected one of DLPack, which can be taken once"
        )
    array = _from_tensor(ctypes.c_void_p(_python.PyCapsule_GetPointer(capsule, _FRESH)), numpy)
    _python.PyCapsule_SetName(capsule, _USED)
    _python.PyCapsule_SetDestructor(capsule, None)
    return array


class _Tensor(ctypes.Structure):
    """DLManagedTensor, with DLTensor and its parts written out."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
    ]


_lent: Dict[int, Any] = {}  # tensors that the library uses, and what keeps their memory, by address
_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _give_back(tensor: int) -> None:
    _lent.pop(tensor, None)


def from_buffer(array: Any, dtype: int, numpy: bool) -> Any:
    """An array on the memory of one of NumPy's, which may not change it any more."""
    del dtype  # the array knows
    shape = (ctypes.c_int64 * array.ndim)(*array.shape)
    tensor = _Tensor(
        array.ctypes.data, 1, 0, array.ndim, _CODES[array.dtype.kind], array.dtype.itemsize * 8, 1,
        ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64)), None, 0, None, ctypes.cast(_give_back, ctypes.c_void_p),
    )
    address = ctypes.addressof(tensor)
    _lent[address] = (tensor, shape, array)
    try:
        return _from_tensor(ctypes.c_void_p(address), numpy)
    except BaseException:
        _give_back(address)
        raise
