# SPDX-License-Identifier: Apache-2.0
"""Files of arrays."""

from __future__ import annotations

import os
from typing import Any, List, Optional, Tuple, Union

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
    names, arrays = names_and_arrays(data, NDArray, "an NDArray")
    _core.save(os.fspath(fname), arrays, None if names is None else [str(name) for name in names])


def names_and_arrays(data: Any, kind: type, what: str) -> Tuple[Optional[List[Any]], List[Any]]:
    """The names, None where there are none, and the arrays of `what` save() takes: an array of a class, a list or a dictionary
    of them.
    """
    if isinstance(data, kind):
        return None, [data]
    if isinstance(data, dict):
        pairs = list(data.items())  # at once: names and arrays belong together, whatever another thread adds meanwhile
        return [name for name, _ in pairs], [array for _, array in pairs]
    if isinstance(data, (list, tuple)):
        return None, list(data)
    raise ValueError(f"save: given {type(data).__name__}, expected {what}, a list or a dictionary of them")


def loaded_file(path: Any, numpy: bool) -> Any:
    """The arrays of a file and their names, which the library hands out as bytes: here they have to be text."""
    try:
        return _core.load(path, numpy)
    except UnicodeDecodeError as error:
        with open(path, "rb") as file:
            offset = file.read().rfind(error.object)  # names are what the file ends with
        raise ValueError(f"[NDArray] given '{os.fsdecode(path)}', invalid NDArray file format at byte {offset}: the name {error.object!r} is not UTF-8") from error


def unpacked(loaded: Any) -> Any:
    """A list of the arrays that were loaded, or a dictionary where they have names."""
    arrays, names = loaded
    return dict(zip(names, arrays)) if names else arrays


def load(fname: Union[str, os.PathLike]) -> Any:
    """What `save` has written: a list, or a dictionary."""
    if os.fspath(fname).endswith(".safetensors"):
        return _safetensors.load(os.fspath(fname))
    return unpacked(loaded_file(os.fspath(fname), False))


def load_frombuffer(buf: Union[str, bytes]) -> Any:
    """As `load`, from the file's bytes."""
    return unpacked(_core.load_buffer(buf.encode("latin-1") if isinstance(buf, str) else bytes(buf), False))
