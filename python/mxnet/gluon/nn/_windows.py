# SPDX-License-Identifier: Apache-2.0
"""What layers that move a window over an array have in common: sizes for each dimension, and layouts."""

from __future__ import annotations

from typing import Any, Tuple

import numpy as np

from ...base import numeric_types
from .._errors import MismatchError


def per_dimension(value: Any, dims: int) -> Tuple[int, ...]:
    """A number as a tuple of it, one per dimension."""
    if isinstance(value, (*numeric_types, np.integer)):
        number: Any = value
        return (int(number),) * dims
    value = tuple(value)
    if len(value) != dims:
        raise MismatchError(f"given {value}, expected a number or {dims} of them")
    return value


def one_of_layouts(layout: str, *allowed: str) -> str:
    """The layout, if it is one of those allowed."""
    if layout not in allowed:
        raise MismatchError(f"given layout {layout!r}, expected one of {', '.join(allowed)}")
    return layout
