# SPDX-License-Identifier: Apache-2.0
"""Bases of `with` blocks that change what a thread has at hand, on the binding on ctypes.

The native module's are left whole; of these an interrupt may still cut off `__enter__` or `__exit__`.
"""

from __future__ import annotations

import threading
from typing import Any, Callable, List, Optional

__all__ = ["SetterScope", "StackScope", "is_np_array", "set_np_array"]


class SetterScope:
    """A setter, which returns what was before, and what it is given inside the block."""

    _setter: Callable[[Any], Any]
    _value: Any
    _allowed: Optional[Callable[[Any], Any]]
    _before: List[Any]

    def __new__(cls, setter: Callable[[Any], Any], value: Any, allowed: Optional[Callable[[Any], Any]] = None) -> SetterScope:
        made = super().__new__(cls)
        made._setter, made._value, made._allowed = setter, value, allowed
        made._before = []
        return made

    def __enter__(self) -> None:
        if self._allowed is not None:
            self._allowed(self._value)
        self._before.append(self._setter(self._value))

    def __exit__(self, *exception: Any) -> None:
        self._setter(self._before.pop())


class StackScope:
    """What is on top of a thread's stacks inside the block: `stack` of each of `_stacks`."""

    __slots__ = ()
    _stacks: Any = ()
    _entered: Any = None  # gives an item for each; None: the scope itself

    def __enter__(self) -> Any:
        items = (self,) if self._entered is None else self._entered()
        for local, item in zip(self._stacks, items):
            local.stack.append(item)
        return self

    def __exit__(self, *exception: Any) -> None:
        for local in self._stacks:
            local.stack.pop()


class _ArrayMode(threading.local):
    """Whether this thread's arrays are NumPy's; a new thread starts with legacy arrays."""

    active = False


_mode = _ArrayMode()


def is_np_array() -> bool:
    """Whether Gluon makes and expects mx.np arrays on this thread."""
    return _mode.active


def set_np_array(on: Any) -> bool:
    """Switches it for this thread; what it was."""
    before, _mode.active = _mode.active, bool(on)
    return before
