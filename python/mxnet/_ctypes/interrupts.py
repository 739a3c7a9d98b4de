# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C during waits: the library asks ten times a second, on the waiting thread, whether a wait shall end."""

from __future__ import annotations

import ctypes
from typing import Any, Callable, Iterator, List

raised: List[BaseException] = []  # what a signal's handler has raised in the wait that has just failed


def _watching() -> Iterator[int]:
    """Gives 1 when a signal's handler has raised since the last time, else 0.

    Python runs handlers where the main thread goes on, which is the `yield` here, inside the `try`; a function would
    begin, and raise, before it reached its own.
    """
    ended = 0
    while True:
        try:
            while True:
                yield ended
                ended = 0
        except GeneratorExit:
            return
        except BaseException as error:  # pylint: disable=broad-except  (the wait raises it)
            raised[:] = [error]
            ended = 1


_watch = _watching()
next(_watch)
_check = ctypes.CFUNCTYPE(ctypes.c_int)(_watch.__next__)


_late: List[KeyboardInterrupt] = []  # Ctrl-C in a callback that returns nothing to the call that led to it


def kept(callback: Callable[..., Any], *args: Any) -> None:
    """Calls it, and keeps Ctrl-C for raise_kept()."""
    try:
        callback(*args)
    except KeyboardInterrupt as error:
        _late[:] = [error]


def answering(function: Callable[..., int], failed: Callable[[BaseException], int]) -> Callable[..., int]:
    """function(*args); what it raises goes to failed(error), which answers instead."""

    def answer(*args: Any) -> int:  # a generator would miss nothing, and may not be entered by two
        try:
            return function(*args)
        except BaseException as error:  # pylint: disable=broad-except  (C cannot carry it)
            return failed(error)

    return answer


def raise_kept() -> None:
    """After a call whose callbacks may have kept it."""
    if _late:
        raise _late.pop()


def install(library: Any) -> None:
    """Has the library ask."""
    library.MXSetInterruptCheck(_check)
