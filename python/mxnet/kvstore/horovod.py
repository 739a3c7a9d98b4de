# SPDX-License-Identifier: Apache-2.0
"""The store 'horovod': sums by the package of this name."""

from __future__ import annotations

from typing import Any, Optional

from ._package import PackageStore, required
from .base import Arrays, KVStoreBase

__all__ = ["Horovod"]


@KVStoreBase.register
class Horovod(PackageStore):
    """Horovod's processes, of one device each."""

    def __init__(self) -> None:
        self._package = required("horovod.mxnet", "horovod")
        self._package.init()

    def broadcast(self, key: Any, value: Arrays, out: Arrays, priority: int = 0) -> None:
        """Gives the value of rank 0 to all arrays of `out` on all ranks."""
        given = self._one_value(value, "broadcast")
        self._write(self._package.broadcast(given, root_rank=0, name=str(key), priority=priority), out)

    def pushpull(self, key: Any, value: Arrays, out: Optional[Arrays] = None, priority: int = 0) -> None:
        """Writes the sum of the values of all ranks into `out`; into the value where there is none."""
        given = self._one_value(value, "pushpull")
        if out is None:
            self._package.allreduce_(given, average=False, name=str(key), priority=priority)
        else:
            self._write(self._package.allreduce(given, average=False, name=str(key), priority=priority), out)
