# SPDX-License-Identifier: Apache-2.0
"""Shapes and axes: an integer or several, as a tuple."""

from __future__ import annotations

from operator import index
from typing import Any, Tuple

import numpy as np

from .. import _core

_plain_ints = _core.plain_ints


def ints(value: Any, name: str = "") -> Tuple[int, ...]:
    """One integer or several, as a tuple. `name`: who was given them."""
    plain = _plain_ints(value)
    if plain is not None:
        return plain
    if isinstance(value, (int, np.integer)):
        return (int(value),)
    try:
        given = tuple(value)
        try:
            return tuple(map(index, given))
        except TypeError:  # whole numbers of other types, or none
            return tuple(map(_whole, given))
    except (TypeError, ValueError, OverflowError):
        said = f"{name}: " if name else ""
        raise TypeError(f"{said}given {value!r}, expected an integer or a sequence of integers") from None


def _whole(number: Any) -> int:
    made = int(number)
    if made != number:
        raise ValueError
    return made
