# SPDX-License-Identifier: Apache-2.0
"""Names of symbols that the user does not name: `fullyconnected0`, counted per manager and thread."""

from __future__ import annotations

import threading
from typing import Dict, List, Optional

from . import _core
from ._class_property import Innermost
from .base import ClassPropertyMeta, classproperty

__all__ = ["NameManager", "Prefix", "current"]


class NameManager(_core.StackScope, metaclass=ClassPropertyMeta):
    """Gives names inside a `with` block; counters start at 0 for each manager."""

    def __init__(self) -> None:
        self._counter: Dict[str, int] = {}

    current = classproperty(lambda cls: _local.stack[-1])
    _current = Innermost(lambda: _local.stack[-1], lambda value: _local.stack.__setitem__(-1, value))  # its old name

    def get(self, name: Optional[str], hint: str) -> str:
        """The name if there is one, else the hint and a number."""
        if name:
            return name
        number = self._counter.get(hint, 0)
        self._counter[hint] = number + 1
        return f"{hint}{number}"


class Prefix(NameManager):
    """Puts a prefix before all names, given ones too."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix

    def get(self, name: Optional[str], hint: str) -> str:
        """The given name, or one that is made of `hint`, behind the prefix."""
        return self._prefix + super().get(name, hint)


class _Local(threading.local):
    """Each thread's managers, the innermost last."""

    def __init__(self) -> None:
        self.stack: List[NameManager] = [NameManager()]


_local: _Local = _Local()
NameManager._stacks = (_local,)


def current() -> NameManager:
    """The innermost manager of this thread."""
    return _local.stack[-1]
