# SPDX-License-Identifier: Apache-2.0
"""Arrays' own memory as NumPy's arrays for the time of one call, which may only read it and keep nothing of it.

What writes into the memory meanwhile must be ruled out, and what NumPy calls back could do so. Hence views are for
calls whose arguments run no code of a program's (may_share), and while no other thread runs Python: nobody is there to
push a write. What is pushed before is waited for. Taking a read access to the engine's variables instead would let
other threads go on, but a writer that waits for that access while it holds Python's lock or forks, and NumPy, which
needs the lock to come to its end, would wait for each other.

Threads that Python does not know may enter it (callbacks of the engine); what they write gives arrays another version,
which ViewsOfOneCall.unchanged() sees.
"""

from __future__ import annotations

import sys
import threading
from typing import Any, List, Tuple

import numpy as onp

from . import _core
from ._core import NDArrayBase
from .ndarray import _dtypes

# From here on a view costs less than a copy (about 1.5 us).
_WORTHWHILE_BYTES = 1 << 16
_HOST = 1  # the device type of ordinary host memory, which no other process maps
_DENSE = 0

# NumPy's type of each number of one; it has none for bfloat16.
_NUMPYS = {
    number: onp.dtype(dtype)
    for number, dtype in _dtypes._DTYPE_MX_TO_NP.items()
    if dtype is not None and dtype is not _dtypes.bfloat16
}

_PLAIN = frozenset((int, float, complex, bool, str, slice, type(None), type(Ellipsis)))
_TYPES = frozenset((int, float, complex, bool))


class _Lent:
    """What NumPy's view has for a base: it keeps the array."""

    __slots__ = ("array", "__array_interface__")

    def __init__(self, array: Any, address: int, dtype: Any) -> None:
        self.array = array
        self.__array_interface__ = {"version": 3, "shape": array.shape, "typestr": dtype.str, "data": (address, True)}


def _add_leaves(value: Any, found: List[Any]) -> None:
    if isinstance(value, (tuple, list)):
        for item in value:
            _add_leaves(item, found)
    elif isinstance(value, dict):
        for item in value.values():
            _add_leaves(item, found)
    else:
        found.append(value)


def _leaves(value: Any) -> List[Any]:
    """What nested sequences and dictionaries hold. A list: generators in each other take a quarter of a small call."""
    found: List[Any] = []
    _add_leaves(value, found)
    return found


def _plain(leaf: Any) -> bool:
    """Whether NumPy runs nobody's code for it, and it holds no reference to an array."""
    if type(leaf) in _PLAIN or isinstance(leaf, (NDArrayBase, onp.dtype)):
        return True
    if type(leaf) is onp.ndarray or isinstance(leaf, onp.generic):
        return not leaf.dtype.hasobject
    return isinstance(leaf, type) and (leaf in _TYPES or issubclass(leaf, onp.generic))


def _worthwhile(leaf: Any) -> bool:
    if not isinstance(leaf, NDArrayBase) or leaf._storage_type_id != _DENSE or leaf._device[0] != _HOST:
        return False
    dtype = _NUMPYS.get(leaf._dtype_id)
    return dtype is not None and leaf.size * dtype.itemsize >= _WORTHWHILE_BYTES


def all_plain(value: Any) -> bool:
    """Whether nested sequences and dictionaries hold only arrays and things that run no code of a program's."""
    return all(_plain(leaf) for leaf in _leaves(value))


def may_share(arguments: Any) -> bool:
    """Whether a call with these arguments can run on views, and gains by it."""
    return any(map(_worthwhile, _leaves(arguments))) and all_plain(arguments) and _alone()


def _alone() -> bool:
    # The first counts threads that are about to start, the second those that the module threading did not start.
    return threading.active_count() == 1 and len(sys._current_frames()) == 1


class ViewsOfOneCall:
    """Views of the arrays of one call, after a wait for all that was pushed on them."""

    def __init__(self) -> None:
        self._shown: List[Tuple[Any, int]] = []

    def show(self, value: Any) -> Any:
        """The read-only view of an array, a copy where there is none; anything else as it is."""
        if not _worthwhile(value):
            return value._values() if isinstance(value, NDArrayBase) else value
        address, version = _core.data_to_read(value)
        self._shown.append((value, version))
        return onp.asarray(_Lent(value, address, _NUMPYS[value._dtype_id]))

    def unchanged(self) -> bool:
        """Whether nobody has written to the arrays since."""
        return all(_core.data_to_read(array)[1] == version for array, version in self._shown)
