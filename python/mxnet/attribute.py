# SPDX-License-Identifier: Apache-2.0
"""Attributes that all symbols get which are made inside a `with` block."""

from __future__ import annotations

import threading
from typing import Any, Dict, List, Optional

from ._class_property import Innermost
from .base import ClassPropertyMeta, classproperty, string_types

__all__ = ["AttrScope", "current", "string_types"]


class AttrScope(metaclass=ClassPropertyMeta):
    """Texts by name; inner scopes win."""

    def __init__(self, **kwargs: str) -> None:
        for value in kwargs.values():
            if not isinstance(value, str):
                raise ValueError(f"given an attribute of type {type(value).__name__}, expected str")
        self._attr = kwargs
        self._merged: List[Dict[str, str]] = []

    current = classproperty(lambda cls: _stack()[-1])
    _current = Innermost(lambda: _stack()[-1], lambda value: _stack().__setitem__(-1, value))  # its old name

    def get(self, attr: Optional[Dict[str, str]]) -> Dict[str, str]:
        """Those of the scope and, before them, the given ones."""
        scope = self._merged[-1] if self._merged else self._attr
        return {**scope, **(attr or {})}

    def __enter__(self) -> AttrScope:
        self._merged.append(current().get(self._attr))
        _stack().append(self)
        return self

    def __exit__(self, *exception: Any) -> None:
        _stack().pop()
        self._merged.pop()


_local = threading.local()


def _stack() -> List[AttrScope]:
    if not hasattr(_local, "stack"):
        _local.stack = [AttrScope()]
    return _local.stack


def current() -> AttrScope:
    """The innermost scope of this thread."""
    return _stack()[-1]
