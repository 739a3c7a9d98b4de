# SPDX-License-Identifier: Apache-2.0
"""Files of arrays in the format of safetensors: the length of a JSON text, that text, and the bytes of all arrays.

Read and written here, because the package of that name gives NumPy's arrays, which have no bfloat16.
"""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Tuple

import numpy as np

from .._files import replacing
from ._dtypes import _DTYPE_MX_TO_NP, bfloat16, dtype_name, dtype_number, widened
from .creation import _from_numpy
from .ndarray import NDArray

__all__ = ["load", "save"]

# The format's names of types, and ours.
_TYPES = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64", "I32": "int32", "I8": "int8",
    "U8": "uint8", "BOOL": "bool",
}  # fmt: skip
_NAMES = {name: shown for shown, name in _TYPES.items()}
_MOST_HEADER = 100_000_000  # as the package has it


def _stored(dtype: str) -> np.dtype:
    """How NumPy sees the bytes of elements."""
    return np.dtype("<u2" if dtype == "bfloat16" else dtype).newbyteorder("<")


def save(fname: str, data: Any) -> None:
    """Writes a dictionary of arrays. The old file is replaced whole."""
    if not isinstance(data, dict):
        raise ValueError(f"given {type(data).__name__} for {fname}, expected a dictionary: the format has names")
    for name, array in data.items():
        if not isinstance(array, NDArray) or array.stype != "default":
            kind = f"{array.stype} array" if isinstance(array, NDArray) else type(array).__name__
            raise TypeError(f"given {name}, a {kind}, for {fname}, expected dense arrays")
    # Wide types first, so that all lie where their type wants them.
    items = sorted(((str(name), array) for name, array in data.items()), key=lambda item: (-_stored(_type(item[1])).itemsize, item[0]))
    header: Dict[str, Any] = {}
    end = 0
    for name, array in items:
        begin, end = end, end + array.size * _stored(_type(array)).itemsize
        header[name] = {"dtype": _NAMES[_type(array)], "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    with replacing(fname) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _, array in items:
            file.write(array.asnumpy().tobytes())


def _type(array: NDArray) -> str:
    return dtype_name(array.dtype)


def load(fname: str) -> Dict[str, NDArray]:
    """The arrays of a file by their names."""
    with open(fname, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > min(size - 8, _MOST_HEADER):
            raise ValueError(f"given {fname!r} of {size} bytes, whose first part is to have {length}; expected a file of safetensors")
        try:
            header = json.loads(file.read(length).decode())
            entries = [(name, _entry(facts)) for name, facts in header.items() if name != "__metadata__"]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ValueError(f"given {fname!r}, whose first part says nothing of arrays ({error}); expected a file of safetensors") from None
        return {name: _read(file, fname, name, 8 + length, size, *entry) for name, entry in entries}


def _entry(facts: Dict[str, Any]) -> Tuple[str, List[int], int, int]:
    begin, end = (int(offset) for offset in facts["data_offsets"])
    return facts["dtype"], [int(dim) for dim in facts["shape"]], begin, end


def _read(file: Any, fname: str, name: str, start: int, size: int, kind: str, shape: List[int], begin: int, end: int) -> NDArray:
    if kind not in _TYPES:
        raise TypeError(f"given {name} of type {kind} in {fname!r}, expected one of {', '.join(_TYPES)}")
    stored = _stored(_TYPES[kind])
    count = 1
    for dim in shape:
        count *= dim
    if min([0, *shape]) < 0 or not 0 <= begin <= end <= size - start or end - begin != count * stored.itemsize:
        raise ValueError(f"given {name} of shape {tuple(shape)} at bytes {begin} to {end} in {fname!r}, expected as many as it has elements")
    file.seek(start + begin)
    content = file.read(end - begin)
    # Another byte than 0 and 1 in a bool is undefined behaviour in whoever reads it.
    values = np.frombuffer(content, np.uint8) != 0 if kind == "BOOL" else np.frombuffer(content, stored)
    return _array(values.reshape(shape), _TYPES[kind])


def _array(values: np.ndarray, dtype: str) -> NDArray:
    from .. import _core

    if values.ndim == 0 and not _core.is_np_shape():
        values = values.reshape(1)
    if dtype != "bfloat16":
        return _from_numpy(values, None, _DTYPE_MX_TO_NP[dtype_number(dtype)])
    return _from_numpy(widened(values), None, bfloat16)
