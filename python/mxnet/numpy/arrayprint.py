# SPDX-License-Identifier: Apache-2.0
"""How arrays are shown."""

from __future__ import annotations

from typing import Any

import numpy as onp

__all__ = ["set_printoptions"]


def set_printoptions(precision: Any = None, threshold: Any = None, **kwarg: Any) -> None:
    """Sets how arrays are shown, here and by NumPy, whose options these are."""
    onp.set_printoptions(precision=precision, threshold=threshold, **kwarg)
