# SPDX-License-Identifier: Apache-2.0
"""Bases of `with` blocks that change what a thread has at hand, on the binding on ctypes.

An interrupt leaves them whole, as it does the native module's: a block is entered, or all is as it was.
"""

from __future__ import annotations

import ctypes
import threading
from functools import partial
from typing import Any, Callable, Generator, List, Optional, Tuple

__all__ = ["SetterScope", "StackScope", "is_np_array", "set_np_array"]

Step = Tuple[Callable[..., Any], Any]  # a function and what it is given; done twice is as done once

# function, and what `__exit__` is given, which is left alone. A call in C: Python's own begin with a look for signals.
_call = ctypes.PYFUNCTYPE(ctypes.py_object, *[ctypes.py_object] * 4)(
    ("PyObject_CallNoArgs", ctypes.pythonapi), ((1, "function"), *((1, name, None) for name in ("kind", "error", "trace")))
)


def _leaving(scope: Scope, waits: List[bool]) -> Generator[None, None, None]:
    """Goes as far as to where the scope is left, which `waits` says, and then leaves it.

    What a signal's handler raises when it goes on is raised at the `yield`, inside the `try`; a function would begin, and
    raise, before it reached its own. What is interrupted is done once more.
    """
    steps: Optional[List[Step]] = None
    late: Optional[BaseException] = None
    while True:
        try:
            if not waits:
                yield
            if steps is None:
                steps = scope._ways_back()
            take(steps)
            break
        except GeneratorExit:  # nobody has left
            return
        except BaseException as error:  # pylint: disable=broad-except  (it is raised)
            if late is not None or not waits:
                raise
            late = error
    if late is not None:
        raise late
    yield


class _Exit:
    """`__exit__`, of a scope one in C: where a `with` asks for it nothing is entered yet."""

    def __get__(self, scope: Any, kind: Any = None) -> Any:
        if scope is None:
            return lambda scope, *exception: self.__get__(scope)(*exception)  # of a class: not what another has made of it
        waits: List[bool] = []
        leave = _leaving(scope, waits).__next__
        leave()
        waits.append(True)
        return partial(_call, leave)


class Scope:
    """A block that is left by the steps that `_ways_back` names; IndexError where none is entered."""

    __slots__ = ()
    __exit__ = _Exit()

    def _ways_back(self) -> List[Step]:
        raise NotImplementedError


def take(steps: List[Step]) -> None:
    """Takes all of them."""
    for function, value in steps:
        function(value)


class NestedScope(Scope):
    """A block that may be entered inside itself: `_begin` enters it once more and appends to `_before` what the way back takes."""

    __slots__ = ()
    _before: List[Any]

    def __enter__(self) -> None:
        depth = len(self._before)
        try:
            self._begin()
        except BaseException:
            if len(self._before) > depth:
                take(self._ways_back())
            raise

    def _begin(self) -> None:
        raise NotImplementedError


class SetterScope(NestedScope):
    """A setter, which returns what was before, and what it is given inside the block."""

    _setter: Callable[[Any], Any]
    _value: Any
    _allowed: Optional[Callable[[Any], Any]]

    def __new__(cls, setter: Callable[[Any], Any], value: Any, allowed: Optional[Callable[[Any], Any]] = None) -> SetterScope:
        made = super().__new__(cls)
        made._setter, made._value, made._allowed = setter, value, allowed
        made._before = []
        return made

    def _begin(self) -> None:
        if self._allowed is not None:
            self._allowed(self._value)
        self._before.append(self._setter(self._value))

    def _ways_back(self) -> List[Step]:
        if not self._before:
            raise IndexError("pop from empty list")
        return [(self._setter, self._before[-1]), (self._before.__delitem__, slice(len(self._before) - 1, None))]


class StackScope(Scope):
    """What is on top of a thread's stacks inside the block: `stack` of each of `_stacks`."""

    __slots__ = ()
    _stacks: Any = ()
    _entered: Any = None  # gives an item for each; None: the scope itself

    def __enter__(self) -> Any:
        back = [(local.stack.__delitem__, slice(len(local.stack), None)) for local in self._stacks]
        try:
            items = (self,) if self._entered is None else self._entered()
            for local, item in zip(self._stacks, items):
                local.stack.append(item)
            return self
        except BaseException:
            take(back)
            raise

    def _ways_back(self) -> List[Step]:
        if not all(local.stack for local in self._stacks):
            raise IndexError("pop from empty list")
        return [(local.stack.__delitem__, slice(len(local.stack) - 1, None)) for local in self._stacks]


class _ArrayMode(threading.local):
    """Whether this thread's arrays are NumPy's; a new thread starts with legacy arrays."""

    active = False


_mode = _ArrayMode()


def is_np_array() -> bool:
    """Whether Gluon makes and expects mx.np arrays on this thread."""
    return _mode.active


def set_np_array(on: Any) -> bool:
    """Switches it for this thread; what it was."""
    before = _mode.active
    try:
        _mode.active = bool(on)
        return before
    except BaseException:
        _mode.active = before
        raise
