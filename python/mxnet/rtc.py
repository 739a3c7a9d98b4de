# SPDX-License-Identifier: Apache-2.0
"""CUDA C++ compiled while the program runs. Needs a build with a GPU and NVRTC: others say so."""

from __future__ import annotations

import ctypes
import re
from typing import Any, Sequence, Tuple, Union

import numpy as np

from ._ctypes.lib import _LIB, CudaKernelHandle, CudaModuleHandle, c_array, c_str, c_str_array, check_call
from .base import numeric_types, show_ctypes_names, string_types
from .ndarray import NDArray
from .ndarray._dtypes import _DTYPE_MX_TO_NP, _DTYPE_NP_TO_MX

__all__ = ["CudaKernel", "CudaModule", "numeric_types", "string_types"]
show_ctypes_names(__name__)

_TYPES = {
    "float": "float32", "double": "float64", "__half": "float16", "uint8_t": "uint8", "int": "int32",
    "int32_t": "int32", "int8_t": "int8", "char": "int8", "int64_t": "int64",
}
_ARGUMENT = re.compile(r"^\s*(const)?\s*([\w_]+)\s*(\*)?\s*([\w_]+)?\s*$")


class CudaModule:
    """CUDA C++ source, compiled for the device that its kernels are first launched on."""

    def __init__(self, source: str, options: Union[str, Sequence[str]] = (), exports: Union[str, Sequence[str]] = ()) -> None:
        options = (options,) if isinstance(options, str) else tuple(options)
        exports = (exports,) if isinstance(exports, str) else tuple(exports)
        self.handle = CudaModuleHandle()
        check_call(_LIB.MXRtcCudaModuleCreate(
            c_str(source), len(options), c_str_array(options), len(exports), c_str_array(exports),
            ctypes.byref(self.handle),
        ))

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            _LIB.MXRtcCudaModuleFree(self.handle)

    def get_kernel(self, name: str, signature: str) -> CudaKernel:
        """A kernel by its name; the signature is that of C: "const float *x, float *y, int n"."""
        arrays, constants, types = [], [], []
        for text in signature.split(","):
            is_array, is_const, dtype = _parsed(text, signature)
            arrays.append(is_array)
            constants.append(is_const)
            types.append(dtype)
        numbers = [_number_of(dtype) for dtype in types]
        handle = CudaKernelHandle()
        check_call(_LIB.MXRtcCudaKernelCreate(
            self.handle, c_str(name), len(numbers), c_array(ctypes.c_int, arrays), c_array(ctypes.c_int, constants),
            c_array(ctypes.c_int, numbers), ctypes.byref(handle),
        ))
        return CudaKernel(handle, name, [bool(flag) for flag in arrays], [_DTYPE_MX_TO_NP[n] for n in numbers])


def _number_of(dtype: str) -> int:
    return _DTYPE_NP_TO_MX[np.dtype(dtype).type]


def _parsed(text: str, signature: str) -> Tuple[int, int, str]:
    match = _ARGUMENT.match(text)
    if match is None or match.group(2) == "const":
        raise ValueError(f"given argument {text!r} in {signature!r}, expected one like 'const float *x' or 'int n'")
    if match.group(2) not in _TYPES:
        raise TypeError(f"given type {match.group(2)!r} in {signature!r}, expected one of {', '.join(_TYPES)}")
    return int(match.group(3) is not None), int(match.group(1) is not None), _TYPES[match.group(2)]


class CudaKernel:
    """A kernel of a CudaModule."""

    def __init__(self, handle: Any, name: str, is_ndarray: Sequence[bool], dtypes: Sequence[Any]) -> None:
        self.handle = handle
        self._name = name
        self._is_ndarray, self._dtypes = list(is_ndarray), [np.dtype(dtype) for dtype in dtypes]
        self._pointers = ctypes.c_void_p * len(self._dtypes)

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            _LIB.MXRtcCudaKernelFree(self.handle)

    def launch(self, args: Sequence[Any], ctx: Any, grid_dims: Sequence[int], block_dims: Sequence[int], shared_mem: int = 0) -> None:
        """Runs it on a GPU with arrays and numbers for its arguments."""
        if ctx.device_type != "gpu":
            raise ValueError(f"given {ctx}, expected a GPU")
        if len(grid_dims) != 3 or len(block_dims) != 3:
            raise ValueError(f"given grid {grid_dims} and block {block_dims}, expected three numbers each")
        if len(args) != len(self._dtypes):
            raise ValueError(f"{self._name}: given {len(args)} arguments, expected {len(self._dtypes)}")
        values, kept = [], []
        for i, (arg, is_array, dtype) in enumerate(zip(args, self._is_ndarray, self._dtypes)):
            if is_array:
                if not isinstance(arg, NDArray) or arg.dtype != dtype:
                    raise TypeError(f"{self._name}: given {type(arg).__name__} as argument {i}, expected an NDArray of {dtype}")
                values.append(arg.handle.value)
            else:
                if not isinstance(arg, numeric_types):
                    raise TypeError(f"{self._name}: given {type(arg).__name__} as argument {i}, expected a number")
                number = np.array(arg, dtype=dtype)
                kept.append(number)  # alive until the call is over
                values.append(number.ctypes.data)
        # Sizes are below 2^31 and go as they are: an object of ctypes for each costs as much as the launch.
        check_call(_LIB.MXRtcCudaKernelCall(
            self.handle, ctx.device_id, self._pointers(*values), *map(int, grid_dims), *map(int, block_dims), int(shared_mem),
        ))
