# SPDX-License-Identifier: Apache-2.0
"""Nested lists of arrays or symbols, as one flat list and back: what loops and branches take and give."""

from __future__ import annotations

from typing import Any, List, Tuple

from ._core import NDArrayBase, SymbolBase

__all__ = ["Structure", "flatten", "unflatten"]

Structure = Any  # of a nest of lists: None for an array, a list of structures for a list


def flatten(nest: Any, what: str) -> Tuple[List[Any], Structure]:
    """The arrays or symbols of a nest of lists, and how they were nested."""
    if isinstance(nest, (NDArrayBase, SymbolBase)):
        return [nest], None
    if not isinstance(nest, (list, tuple)):
        raise TypeError(f"{what}: given {type(nest).__name__}, expected arrays or (nested) lists of them")
    arrays, structure = [], []
    for item in nest:
        inner, shape = flatten(item, what)
        arrays += inner
        structure.append(shape)
    return arrays, structure


def unflatten(arrays: List[Any], structure: Structure) -> Any:
    """The reverse of flatten; takes what it uses off the front."""
    if structure is None:
        return arrays.pop(0)
    return [unflatten(arrays, inner) for inner in structure]
