# SPDX-License-Identifier: Apache-2.0
"""Attributes that all symbols get which are made inside a `with` block."""

from __future__ import annotations

import threading
from typing import Any, Dict, List, Optional, Tuple

from . import _core
from ._class_property import Innermost
from .base import ClassPropertyMeta, classproperty, string_types

__all__ = ["AttrScope", "current", "string_types"]


class AttrScope(_core.StackScope, metaclass=ClassPropertyMeta):
    """Texts by name; inner scopes win."""

    def __init__(self, **kwargs: str) -> None:
        for value in kwargs.values():
            if not isinstance(value, str):
                raise ValueError(f"given an attribute of type {type(value).__name__}, expected str")
        self._attr = kwargs

    current = classproperty(lambda cls: _local.stack[-1][0])
    _current = Innermost(lambda: _local.stack[-1][0], lambda value: _replace(value))  # its old name

    def get(self, attr: Optional[Dict[str, str]]) -> Dict[str, str]:
        """Those of the scope and, before them, the given ones."""
        for scope, merged in reversed(_local.stack):
            if scope is self:
                return {**merged, **(attr or {})}
        return {**self._attr, **(attr or {})}

    def _entered(self) -> Tuple[Any, ...]:
        return ((self, current().get(self._attr)),)


class _Local(threading.local):
    """Each thread's scopes with their attributes and those of the scopes around them, the innermost last."""

    def __init__(self) -> None:
        self.stack: List[Tuple[AttrScope, Dict[str, str]]] = [(AttrScope(), {})]


_local: _Local = _Local()


def _replace(scope: AttrScope) -> None:
    _local.stack[-1] = scope, scope.get(None)


AttrScope._stacks = (_local,)


def current() -> AttrScope:
    """The innermost scope of this thread."""
    return _local.stack[-1][0]
