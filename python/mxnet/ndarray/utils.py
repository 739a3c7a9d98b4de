# SPDX-License-Identifier: Apache-2.0
"""Files of arrays."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Union

from .. import _core
from ..base import string_types
from . import _safetensors
from .ndarray import NDArray, array, empty, zeros

__all__ = ["array", "empty", "load", "load_frombuffer", "save", "string_types", "zeros"]


def save(fname: Union[str, os.PathLike], data: Any) -> None:
    """Saves an array, a list of arrays or a dictionary of them. The old file is replaced whole.

    A dictionary goes into the format of safetensors if the name ends with .safetensors.
    """
    if os.fspath(fname).endswith(".safetensors"):
        _safetensors.save(os.fspath(fname), data)
        return
    names = None
    if isinstance(data, NDArray):
        data = [data]
    elif isinstance(data, dict):
        pairs = list(data.items())  # at once: names and arrays belong together, whatever another thread adds meanwhile
        names, data = [str(name) for name, _ in pairs], [array for _, array in pairs]
    elif isinstance(data, (list, tuple)):
        data = list(data)
    else:
        raise ValueError(f"given {type(data).__name__}, expected an NDArray, a list or a dictionary of them")
    _core.save(os.fspath(fname), data, names)


def _unpacked(loaded: Any) -> Union[List[NDArray], Dict[str, NDArray]]:
    arrays, names = loaded
    return dict(zip(names, arrays)) if names else arrays


def load(fname: Union[str, os.PathLike]) -> Any:
    """What `save` has written: a list, or a dictionary."""
    if os.fspath(fname).endswith(".safetensors"):
        return _safetensors.load(os.fspath(fname))
    return _unpacked(_core.load(os.fspath(fname), False))


def load_frombuffer(buf: Union[str, bytes]) -> Any:
    """As `load`, from the file's bytes."""
    return _unpacked(_core.load_buffer(buf.encode("latin-1") if isinstance(buf, str) else bytes(buf), False))
