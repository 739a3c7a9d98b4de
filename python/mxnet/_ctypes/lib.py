# SPDX-License-Identifier: Apache-2.0
"""The library for ctypes, and the conversions that programs on the C ABI use (known as mxnet.base's)."""

from __future__ import annotations

import ctypes
import sys
from array import array
from typing import Any, Callable, Iterable, List, Type

from .. import libinfo
from . import interrupts

__all__ = [
    "CachedOpHandle", "CudaKernelHandle", "CudaModuleHandle", "DLPackHandle", "DataIterCreatorHandle", "DataIterHandle",
    "ExecutorHandle", "FunctionHandle", "KVStoreHandle", "MXCallbackList", "NDArrayHandle", "OpHandle", "ProfileHandle",
    "RecordIOHandle", "RtcHandle", "SymbolHandle", "_LIB", "c_array", "c_array_buf", "c_handle_array", "c_str",
    "c_str_array", "check_call", "ctypes2buffer", "ctypes2numpy_shared", "mx_float", "mx_float_p", "mx_int", "mx_int64",
    "mx_real_t", "mx_uint",
]


def _load() -> ctypes.CDLL:
    if "mxnet._core" in sys.modules and hasattr(sys.modules["mxnet._core"], "__file__"):
        try:
            return ctypes.CDLL("libmxnet.so")  # the one that the native binding has loaded, by its name
        except OSError:
            pass  # loaded under another name, by MXNET_LIBRARY_PATH
    return ctypes.CDLL(libinfo.find_lib_path()[0])


_LIB = _load()
_LIB.MXGetLastTypedError.restype = ctypes.c_char_p

mx_int = ctypes.c_int
mx_uint = ctypes.c_uint
mx_int64 = ctypes.c_int64
mx_float = ctypes.c_float
mx_float_p = ctypes.POINTER(mx_float)

NDArrayHandle = ctypes.c_void_p
FunctionHandle = ctypes.c_void_p
OpHandle = ctypes.c_void_p
CachedOpHandle = ctypes.c_void_p
SymbolHandle = ctypes.c_void_p
ExecutorHandle = ctypes.c_void_p
DataIterCreatorHandle = ctypes.c_void_p
DataIterHandle = ctypes.c_void_p
KVStoreHandle = ctypes.c_void_p
RecordIOHandle = ctypes.c_void_p
RtcHandle = ctypes.c_void_p
CudaModuleHandle = ctypes.c_void_p
CudaKernelHandle = ctypes.c_void_p
ProfileHandle = ctypes.c_void_p
DLPackHandle = ctypes.c_void_p


class MXCallbackList(ctypes.Structure):
    """Functions, and the state that each gets."""

    _fields_ = [
        ("num_callbacks", ctypes.c_int),
        ("callbacks", ctypes.POINTER(ctypes.CFUNCTYPE(ctypes.c_int))),
        ("contexts", ctypes.POINTER(ctypes.c_void_p)),
    ]


def check_call(ret: int) -> None:
    """Raises the library's last error if a function has not returned 0."""
    if ret != 0:
        if interrupts.raised:
            raise interrupts.raised.pop()
        from ..base import get_last_ffi_error

        raise get_last_ffi_error()


def c_str(string: str) -> ctypes.c_char_p:
    """A text for the library."""
    return ctypes.c_char_p(string.encode("utf-8"))


def c_str_array(strings: Iterable[str]) -> Any:
    """Texts for the library."""
    texts = [text.encode("utf-8") for text in strings]
    return (ctypes.c_char_p * len(texts))(*texts)


def c_array(ctype: Type[Any], values: Any) -> Any:
    """Values as an array of a type of C."""
    return (ctype * len(values))(*values)


def c_array_buf(ctype: Type[Any], buf: array) -> Any:
    """The memory of an array.array as an array of a type of C."""
    return (ctype * len(buf)).from_buffer(buf)


def c_handle_array(objs: Iterable[Any]) -> Any:
    """The handles of objects; null for None."""
    handles: List[Any] = [None if obj is None else getattr(obj.handle, "value", obj.handle) for obj in objs]
    return (ctypes.c_void_p * len(handles))(*handles)


def ctypes2buffer(cptr: Any, length: int) -> bytearray:
    """A copy of `length` bytes behind a pointer to char."""
    if not isinstance(cptr, ctypes.POINTER(ctypes.c_char)):
        raise RuntimeError(f"given {type(cptr).__name__}, expected a pointer to char")
    return bytearray(ctypes.string_at(cptr, length))


def ctypes2numpy_shared(cptr: Any, shape: Any) -> Any:
    """A NumPy array on the memory behind a pointer to float, which must outlive it."""
    if not isinstance(cptr, mx_float_p):
        raise RuntimeError(f"given {type(cptr).__name__}, expected a pointer to float")
    import numpy as np

    return np.ctypeslib.as_array(cptr, shape=tuple(shape))


def __getattr__(name: str) -> Callable[..., Any]:
    if name == "mx_real_t":
        import numpy as np

        return np.float32  # type: ignore[return-value]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
