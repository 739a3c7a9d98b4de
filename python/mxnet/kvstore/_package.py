# SPDX-License-Identifier: Apache-2.0
"""Stores that hand everything to a package of somebody else's, which must be installed."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from ..base import _as_list
from ..ndarray import NDArray
from .base import Arrays, KVStoreBase, without_optimizer


def required(module: str, package: str) -> ModuleType:
    """The module, or an ImportError that names the package to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"the store '{package}' needs the package {package} with MXNet support: {error}") from error


class PackageStore(KVStoreBase):
    """What such stores share. `_package` is the module; its rank() and size() are the store's."""

    _package: ModuleType

    @staticmethod
    def is_capable(capability: str) -> bool:
        """These stores have no optimizer: trainers update by themselves."""
        return without_optimizer(capability)

    @property
    def type(self) -> str:
        """The name that the store was made by."""
        return type(self).__name__.lower()

    @property
    def rank(self) -> int:
        """This process, from 0."""
        return self._package.rank()

    @property
    def local_rank(self) -> int:
        """This process among those of its machine."""
        return self._package.local_rank()

    @property
    def num_workers(self) -> int:
        """How many processes share the store."""
        return self._package.size()

    def _one_value(self, value: Arrays, call: str) -> NDArray:
        values = _as_list(value)
        if len(values) != 1:
            raise ValueError(f"{call}: given {len(values)} values, expected one: each process has one device")
        return values[0]

    @staticmethod
    def _write(result: NDArray, out: Any) -> None:
        for target in _as_list(out):
            if target is not result:
                result.copyto(target)
