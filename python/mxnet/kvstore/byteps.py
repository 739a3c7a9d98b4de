# SPDX-License-Identifier: Apache-2.0
"""The store 'byteps': sums by the package of this name."""

from __future__ import annotations

from typing import Any, Optional

from ._package import PackageStore, required
from .base import Arrays, KVStoreBase

__all__ = ["BytePS"]


@KVStoreBase.register
class BytePS(PackageStore):
    """BytePS's processes, of one device each."""

    def __init__(self) -> None:
        self._package = required("byteps.mxnet", "byteps")
        self._package.init()

    def broadcast(self, key: Any, value: Arrays, out: Arrays, priority: int = 0) -> None:
        """Gives the value of rank 0 to all arrays of `out` on all ranks."""
        # The package knows sums only: everyone but rank 0 brings zeros.
        result = self._one_value(value, "broadcast").copy()
        if self.rank != 0:
            result[:] = 0
        self._sum(key, result, priority)
        self._write(result, out)

    def pushpull(self, key: Any, value: Arrays, out: Optional[Arrays] = None, priority: int = 0) -> None:
        """Writes the sum of the values of all ranks into `out`; into the value where there is none."""
        result = self._one_value(value, "pushpull")
        if out is not None:
            result = result.copy()
        self._sum(key, result, priority)
        if out is not None:
            self._write(result, out)

    def _sum(self, key: Any, array: Any, priority: int) -> None:
        self._package.byteps_declare_tensor(str(key))
        self._package.byteps_push_pull(array, version=0, priority=priority, name=str(key), is_average=False)
