# SPDX-License-Identifier: Apache-2.0
"""Dictionaries of names, as the columns of pointers and numbers that the C ABI takes."""

from __future__ import annotations

import ctypes
from typing import Any, Dict, Iterable, List, Tuple

from .lib import c_array, c_str_array

__all__ = ["devices", "numbers", "shapes_and_starts"]


def numbers(named: Dict[str, int]) -> Tuple[int, Any, Any]:
    """Count, names and numbers."""
    return len(named), c_str_array(named), c_array(ctypes.c_int, list(named.values()))


def devices(groups: Dict[str, Tuple[int, int]]) -> Tuple[int, Any, Any, Any]:
    """Count, names, device types and device numbers."""
    kinds, ids = [kind for kind, _ in groups.values()], [number for _, number in groups.values()]
    return len(groups), c_str_array(groups), c_array(ctypes.c_int, kinds), c_array(ctypes.c_int, ids)


def shapes_and_starts(shapes: Iterable[Any]) -> Tuple[List[int], List[int]]:
    """All dimensions in a row, and where each shape begins."""
    dims: List[int] = []
    starts = [0]
    for shape in shapes:
        dims += [int(dim) for dim in shape]
        starts.append(len(dims))
    return dims, starts
