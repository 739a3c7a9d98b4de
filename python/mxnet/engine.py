# SPDX-License-Identifier: Apache-2.0
"""Settings of the dependency engine."""

from __future__ import annotations

from typing import Any

from . import _core

__all__ = ["bulk", "set_bulk_size"]


def set_bulk_size(size: int) -> int:
    """Merges up to `size` operations that this thread pushes into one; 0 ends it. Returns the old size."""
    return _core.set_bulk_size(size)


def bulk(size: int) -> Any:
    """Merges operations inside a `with` block."""
    return _core.SetterScope(_core.set_bulk_size, size)
