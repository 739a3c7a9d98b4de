# SPDX-License-Identifier: Apache-2.0
"""Names of symbols that the user does not name: `fullyconnected0`, counted per manager and thread."""

from __future__ import annotations

import threading
from typing import Any, Dict, List, Optional

from ._class_property import Innermost
from .base import ClassPropertyMeta, classproperty

__all__ = ["NameManager", "Prefix", "current"]


class NameManager(metaclass=ClassPropertyMeta):
    """Gives names inside a `with` block; counters start at 0 for each manager."""

    def __init__(self) -> None:
        self._counter: Dict[str, int] = {}

    current = classproperty(lambda cls: _stack()[-1])
    _current = Innermost(lambda: _stack()[-1], lambda value: _stack().__setitem__(-1, value))  # its old name

    def get(self, name: Optional[str], hint: str) -> str:
        """The name if there is one, else the hint and a number."""
        if name:
            return name
        number = self._counter.get(hint, 0)
        self._counter[hint] = number + 1
        return f"{hint}{number}"

    def __enter__(self) -> NameManager:
        _stack().append(self)
        return self

    def __exit__(self, *exception: Any) -> None:
        _stack().pop()


class Prefix(NameManager):
    """Puts a prefix before all names, given ones too."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix

    def get(self, name: Optional[str], hint: str) -> str:
        """The given name, or one that is made of `hint`, behind the prefix."""
        return self._prefix + super().get(name, hint)


_local = threading.local()


def _stack() -> List[NameManager]:
    if not hasattr(_local, "stack"):
        _local.stack = [NameManager()]
    return _local.stack


def current() -> NameManager:
    """The innermost manager of this thread."""
    return _stack()[-1]
