# SPDX-License-Identifier: Apache-2.0
"""When parameters get other arrays: how blocks, which keep lists of them, hear of it."""

from __future__ import annotations

import weakref
from typing import Any, Dict, List, Tuple

from ..ndarray import NDArray

__all__ = ["Arrays", "Kept", "Told", "replacements"]

# Counts how often any parameter got other arrays. Blocks keep lists of arrays for as long as it stands.
replacements = [0]


class Kept(Dict[Tuple[int, int], Any]):
    """What a block keeps of parameters' arrays, by device.

    The next replacement empties it, for the block may never be called again and would hold on to old arrays. The count
    has to be compared all the same: another thread may put into it what it found before that.
    """

    __slots__ = ("__weakref__",)

    def __init__(self) -> None:
        super().__init__()
        _all_kept[id(self)] = self


_all_kept: "weakref.WeakValueDictionary[int, Kept]" = weakref.WeakValueDictionary()


def replaced() -> None:
    """Says that a parameter has got other arrays."""
    replacements[0] += 1
    try:
        while True:
            _all_kept.popitem()[1].clear()
    except KeyError:  # that was all
        pass


class Arrays(List[NDArray]):
    """A parameter's arrays or gradients. Packages for 1.x put others in their places, of which blocks have to hear."""

    def __setitem__(self, place: Any, array: Any) -> None:
        super().__setitem__(place, array)
        replaced()


class Told:
    """An attribute of a parameter whose setting blocks hear of. Without __get__ it is read like any other."""

    def __set_name__(self, owner: Any, name: str) -> None:
        self._name = name

    def __set__(self, parameter: Any, value: Any) -> None:
        before = parameter.__dict__.get(self._name)
        parameter.__dict__[self._name] = Arrays(value) if type(value) is list else value
        if value is not before:
            replaced()
