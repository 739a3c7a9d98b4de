# SPDX-License-Identifier: Apache-2.0
"""Arrays from texts."""

from __future__ import annotations

from typing import Any

import numpy as onp

from ._array import ndarray
from .multiarray import array

__all__ = ["genfromtxt"]


def genfromtxt(*args: Any, **kwargs: Any) -> ndarray:
    """Numbers from a text file, with holes; arguments as of numpy.genfromtxt, and ctx."""
    ctx = kwargs.pop("ctx", None)
    values = onp.genfromtxt(*args, **kwargs)
    return array(values, dtype=values.dtype, ctx=ctx)
