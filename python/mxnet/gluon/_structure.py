# SPDX-License-Identifier: Apache-2.0
"""Nested lists of arrays as flat ones, and back.

A structure is 0 for an array or symbol, -1 for None, and a list of structures for a list or tuple. Where a block computes
it, a symbol of several outputs is their number, since in their place are as many arrays.
"""

from __future__ import annotations

from typing import Any, List, Tuple

from ..ndarray import NDArray
from ..symbol import Symbol


def flatten(nested: Any, what: str) -> Tuple[List[Any], Any]:
    """What is in nested lists, and their structure."""
    if isinstance(nested, Symbol) and what == "output" and len(nested) > 1:
        return [nested], len(nested)
    if isinstance(nested, (NDArray, Symbol)):
        return [nested], 0
    if nested is None:
        return [None], -1
    if not isinstance(nested, (list, tuple)):
        raise ValueError(
            f"given {nested} of type {type(nested).__name__} as {what} of a hybridized block, expected arrays, symbols, "
            "None, or nested lists of them"
        )
    flat: List[Any] = []
    structure: List[Any] = []
    for item in nested:
        items, part = flatten(item, what)
        flat += items
        structure.append(part)
    return flat, structure


def regroup(flat: List[Any], structure: Any) -> Any:
    """The nested lists again. Takes what it uses from the front of `flat`."""
    if structure == 0:
        return flat.pop(0)
    if structure == -1:
        flat.pop(0)
        return None
    if isinstance(structure, int):
        return [flat.pop(0) for _ in range(structure)]
    return [regroup(flat, part) for part in structure]


def arrays_in(nested: Any) -> List[Any]:
    """The arrays and symbols in nested lists, whatever else is there."""
    if isinstance(nested, (NDArray, Symbol)):
        return [nested]
    if isinstance(nested, (list, tuple)):
        return [array for item in nested for array in arrays_in(item)]
    return []
