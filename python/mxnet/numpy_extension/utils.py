# SPDX-License-Identifier: Apache-2.0
"""Files of mx.np arrays."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Union

from .. import _core
from ..base import string_types
from ..ndarray import _safetensors
from ..ndarray.utils import loaded_file, names_and_arrays, unpacked
from ..numpy import ndarray

__all__ = ["load", "save"]


def save(file: Union[str, os.PathLike], arr: Any) -> None:
    """Saves an array, a list of arrays or a dictionary of them. The old file is replaced whole.

    A dictionary goes into the format of safetensors if the name ends with .safetensors.
    """
    if os.fspath(file).endswith(".safetensors"):
        _safetensors.save(os.fspath(file), arr)
        return
    names, arrays = names_and_arrays(arr, ndarray, "an mx.np array")
    if not all(isinstance(name, string_types) for name in names or ()):
        raise TypeError("save: given a dictionary with other keys, expected texts")
    for array in arrays:
        if not isinstance(array, ndarray):
            raise TypeError(f"save: given {type(array).__name__} among the arrays, expected mx.np arrays")
    _core.save(os.fspath(file), arrays, names)


def load(file: Union[str, os.PathLike]) -> Union[List[ndarray], Dict[str, ndarray]]:
    """What `save` has written: a list, or a dictionary."""
    if os.fspath(file).endswith(".safetensors"):
        return {name: array.as_np_ndarray() for name, array in _safetensors.load(os.fspath(file)).items()}
    return unpacked(loaded_file(os.fspath(file), True))
