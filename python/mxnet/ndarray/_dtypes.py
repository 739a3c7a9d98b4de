# SPDX-License-Identifier: Apache-2.0
"""Element types by number and by NumPy's names, and parameters of operators as texts."""

from __future__ import annotations

from typing import Any, Dict

import numpy as np

# NumPy has no bfloat16: its bits, under a name of their own.
bfloat16 = np.dtype([("bfloat16", np.uint16)])

_DTYPE_NP_TO_MX: Dict[Any, int] = {
    None: -1,
    np.float32: 0,
    np.float64: 1,
    np.float16: 2,
    np.uint8: 3,
    np.int32: 4,
    np.int8: 5,
    np.int64: 6,
    np.bool_: 7,
    bfloat16: 12,
}
_DTYPE_MX_TO_NP: Dict[int, Any] = {number: dtype for dtype, number in _DTYPE_NP_TO_MX.items()}

_STORAGE_TYPE_STR_TO_ID = {"undefined": -1, "default": 0, "row_sparse": 1, "csr": 2}
_STORAGE_TYPE_ID_TO_STR = {number: name for name, number in _STORAGE_TYPE_STR_TO_ID.items()}
_STORAGE_TYPE_UNDEFINED, _STORAGE_TYPE_DEFAULT, _STORAGE_TYPE_ROW_SPARSE, _STORAGE_TYPE_CSR = _STORAGE_TYPE_ID_TO_STR


# Names and numbers of types by all that most programs say: the type itself, NumPy's object of it, its name.
_NAMES: Dict[Any, str] = {bfloat16: "bfloat16", "bfloat16": "bfloat16"}
for _type in _DTYPE_NP_TO_MX:
    if isinstance(_type, type):
        _name = np.dtype(_type).name
        _NAMES.update({_type: _name, np.dtype(_type): _name, _name: _name})
_NUMBERS: Dict[str, int] = {_NAMES[dtype]: number for dtype, number in _DTYPE_NP_TO_MX.items() if dtype is not None}


def dtype_name(dtype: Any) -> str:
    """The library's name of a type, given as NumPy or a script would name it."""
    try:
        return _NAMES[dtype]
    except (KeyError, TypeError):  # other ways of saying it; NumPy's descriptions of structures have no hash
        if not isinstance(dtype, type) and hasattr(dtype, "dtype"):  # an array stands for its own
            return dtype_name(dtype.dtype)
        dtype = np.dtype(dtype)
        return "bfloat16" if dtype == bfloat16 else dtype.name


def dtype_number(dtype: Any) -> int:
    """The library's number of a type, given as NumPy or a script would name it."""
    name = dtype_name(dtype)
    number = _NUMBERS.get(name)
    if number is None:
        raise TypeError(f"given type {name}, expected one of {', '.join(_NUMBERS)}")
    return number


def widened(bits: np.ndarray) -> np.ndarray:
    """The numbers behind the bits of bfloat16: they are the upper halves of those of float32."""
    return (bits.view(np.uint16).astype(np.uint32) << 16).view(np.float32)


def is_half(dtype: Any) -> bool:
    """Whether it is one of the types of two bytes that hold real numbers."""
    return dtype_name(dtype) in ("float16", "bfloat16")


def text_of(value: Any) -> str:
    """A parameter as the library reads it, for values that are neither numbers nor texts."""
    if isinstance(value, np.generic):
        return str(value.item())
    if isinstance(value, (type, np.dtype)):
        return dtype_name(value)
    if isinstance(value, np.ndarray):
        return text_of(tuple(value.tolist()))
    if isinstance(value, (tuple, list)):
        inner = ", ".join(text_of(item) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return str(value)
