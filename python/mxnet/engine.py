# SPDX-License-Identifier: Apache-2.0
"""Settings of the dependency engine."""

from __future__ import annotations

import contextlib
from typing import Iterator

from . import _core

__all__ = ["bulk", "set_bulk_size"]


def set_bulk_size(size: int) -> int:
    """Merges up to `size` operations that this thread pushes into one; 0 ends it. Returns the old size."""
    return _core.set_bulk_size(size)


@contextlib.contextmanager
def bulk(size: int) -> Iterator[None]:
    """Merges operations inside a `with` block."""
    old = set_bulk_size(size)
    try:
        yield
    finally:
        set_bulk_size(old)
