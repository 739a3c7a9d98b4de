# SPDX-License-Identifier: Apache-2.0
"""The library's own stores: within one process and, by a plug-in, between processes."""

from __future__ import annotations

import itertools
import numbers
import weakref
from functools import partial
from typing import Any, Callable, List, Mapping, Optional, Sequence, Set, Tuple

from .. import _core
from .._files import replacing
from ..base import MXNetValueError, show_ctypes_names
from ..ndarray import NDArray
from ..optimizer import _saved_states
from .base import Arrays, KVStoreBase

__all__ = ["KVStore"]
show_ctypes_names(__name__)

_numbers = itertools.count()


def _all_of(kinds: Set[type], expected: Any) -> bool:
    return all(issubclass(kind, expected) and kind is not bool for kind in kinds)


def _flat(key: Any, value: Any) -> Tuple[Sequence[Any], Sequence[NDArray]]:
    """Keys and arrays of a call as two lists: a key with a list of arrays stands there once for each."""
    if isinstance(key, (list, tuple)):
        if not isinstance(value, (list, tuple)) or len(key) != len(value):
            given = len(value) if isinstance(value, (list, tuple)) else type(value).__name__
            raise MXNetValueError(f"given {len(key)} keys and {given} as values, expected a value for each key")
        # Lists of thousands are looked at by the kinds in them.
        kinds = _core.kinds_of(key)
        if len(kinds) > 1 and any(issubclass(kind, str) for kind in kinds):
            others = [item for item in key if not isinstance(item, str)]
            if others:
                text = next(item for item in key if isinstance(item, str))
                raise MXNetValueError(f"given keys {others[0]!r} and {text!r} in one list, expected keys of one kind")
        if _all_of(kinds, (int, str)) and _all_of(_core.kinds_of(value), NDArray):
            return key, tuple(value)  # which stay until the call's end, whatever an updater does to the list
        keys: List[Any] = []
        arrays: List[NDArray] = []
        for one_key, one_value in zip(key, value):
            some_keys, some_arrays = _flat(one_key, one_value)
            keys += some_keys
            arrays += some_arrays
        return keys, arrays
    if isinstance(key, numbers.Integral):
        key = int(key)
    elif not isinstance(key, str):
        raise TypeError(f"given key {key!r}, expected an int, a str or a list of them")
    if isinstance(value, NDArray):
        return [key], [value]
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, NDArray) for item in value):
        raise TypeError(f"key {key!r}: given {type(value).__name__}, expected an NDArray or a list of them")
    return [key] * len(value), list(value)


def _update(store: weakref.ref[KVStore], key: Any, pushed: NDArray, stored: NDArray) -> None:
    owner = store()
    if owner is not None:
        owner._called(key, pushed, stored)


class KVStore(KVStoreBase):
    """Sums arrays by key over devices and processes. Made by `mx.kv.create`.

    A key is an int or a str, a store keeps to one kind; a value is an array or, for several devices, a list of
    them. Keys may come as a list with a list of values. Calls return at once: arrays are written in the order of
    the engine, those with a higher `priority` earlier.
    """

    def __init__(self, handle: Any) -> None:
        if not isinstance(handle, _core.KVStoreHandle):
            raise TypeError(f"given {type(handle).__name__}, expected a store: use mx.kv.create(name)")
        self.handle = handle
        self._updater: Any = None
        self._called: Any = None  # at each push
        # Workers make their stores in the same order: by this number, servers tell them apart.
        self._number = next(_numbers)

    @classmethod
    def _create(cls, name: str) -> "KVStore":
        return cls(_core.KVStoreHandle(name))

    def __del__(self) -> None:
        self.handle = None

    def init(self, key: Any, value: Arrays) -> None:
        """Stores a copy of the value of each key, once in the life of the store."""
        self.handle.init(*_flat(key, value))

    def broadcast(self, key: Any, value: Arrays, out: Arrays, priority: int = 0) -> None:
        """Stores the value of each key (that of rank 0), and writes it into all of `out`."""
        self.handle.broadcast(*_flat(key, value), *_flat(key, out), priority)

    def push(self, key: Any, value: Arrays, priority: int = 0) -> None:
        """Sums the values of each key. The sum replaces what is stored or, with an optimizer, changes it."""
        self.handle.push(*_flat(key, value), priority)

    def pull(self, key: Any, out: Optional[Arrays] = None, priority: int = 0, ignore_sparse: bool = True) -> None:
        """Writes what is stored into all of `out`; `ignore_sparse`: but sparse arrays are left alone."""
        if out is None:
            raise MXNetValueError("pull: given no out, expected the arrays to write into")
        self.handle.pull(*_flat(key, out), priority, ignore_sparse)

    def pushpull(self, key: Any, value: Arrays, out: Optional[Arrays] = None, priority: int = 0) -> None:
        """A push and a pull in one pass; into the values themselves where there is no `out`."""
        given = _flat(key, value)
        self.handle.pushpull(*given, *(given if out is None else _flat(key, out)), priority)

    def row_sparse_pull(self, key: Any, out: Optional[Arrays] = None, priority: int = 0, row_ids: Any = None) -> None:
        """Writes the rows that `row_ids` names into row_sparse arrays.

        `row_ids` is one array for all of `out`, or a list with one for each.
        """
        if out is None:
            raise MXNetValueError("row_sparse_pull: given no out, expected the arrays to write into")
        if row_ids is None:
            raise MXNetValueError("row_sparse_pull: given no row_ids, expected the rows to pull")
        keys, arrays = _flat(key, out)
        if isinstance(row_ids, NDArray):
            rows = [row_ids] * len(arrays)
        elif isinstance(key, (list, tuple)):
            # A key may have one array of rows for all of its outs.
            spread = [
                [ids] * len(some) if isinstance(ids, NDArray) and isinstance(some, (list, tuple)) else ids
                for ids, some in zip(row_ids, out)
            ]
            rows = list(_flat(key, spread)[1])
        else:
            rows = list(row_ids) * (len(arrays) if len(row_ids) == 1 else 1)
        if len(rows) != len(arrays):
            raise MXNetValueError(f"given {len(rows)} row_ids for {len(arrays)} outs, expected one for each")
        self.handle.row_sparse_pull(keys, arrays, rows, priority)

    def set_gradient_compression(self, compression_params: Mapping[str, Any]) -> None:
        """Sends less: {'type': '2bit', 'threshold': 0.5} or {'type': '1bit', ...}; what is lost is sent later."""
        if not isinstance(compression_params, Mapping):
            raise TypeError(f"given {type(compression_params).__name__}, expected a dictionary")
        self.handle.set_gradient_compression({str(k): str(v) for k, v in compression_params.items()})

    def set_optimizer(self, optimizer: Any) -> None:
        """Lets the store change what it holds by this optimizer when something is pushed."""
        if self.handle.num_servers > 0:
            # Servers get its registered name and its parameters as JSON.
            from ._remote import SET_OPTIMIZER, RemoteUpdater, optimizer_to_json, tell

            tell(self, SET_OPTIMIZER, lambda: optimizer_to_json(optimizer).encode())
            self._updater = RemoteUpdater(self, optimizer)
            return
        from .. import optimizer as opt

        # Stores of several processes give the same sum to every worker, and each applies its own optimizer to it:
        # nothing is sent, least of all a pickle.
        self._set_updater(opt.get_updater(optimizer))

    @staticmethod
    def is_capable(capability: str) -> bool:
        """Whether the store can do what the name says: 'optimizer', it can."""
        if capability.lower() == KVStoreBase.OPTIMIZER:
            return True
        raise MXNetValueError(f"given capability {capability!r}, expected 'optimizer'")

    @property
    def type(self) -> str:
        """The name that the store was made by."""
        return self.handle.type

    @property
    def rank(self) -> int:
        """This worker's number, from 0."""
        return self.handle.rank

    @property
    def num_workers(self) -> int:
        """How many workers share the store."""
        return self.handle.group_size

    @property
    def _is_p3(self) -> bool:
        return "p3" in self.type

    def num_dead_node(self, node_id: int, timeout: int = 60) -> int:
        """Processes known to be lost, of a group: 1 scheduler, 2 servers, 4 workers, or a sum of these."""
        return self.handle.num_dead_node(node_id, timeout)

    def save_optimizer_states(self, fname: str, dump_optimizer: bool = False) -> None:
        """Writes the states of the store's optimizer to a file; `dump_optimizer`: and the optimizer itself."""
        states = self._updater_here("save").get_states(dump_optimizer)
        with replacing(fname) as file:
            file.write(states)

    def load_optimizer_states(self, fname: str) -> None:
        """Reads what `save_optimizer_states` has written. The file is unpickled: only load what you trust."""
        _saved_states.set_states_of_file([self._updater_here("load")], fname)

    def _updater_here(self, what: str) -> Any:
        if self._updater is None:
            raise MXNetValueError(f"cannot {what} the states of an optimizer that is not in this process")
        return self._updater

    def _set_updater(self, updater: Callable[[Any, NDArray, NDArray], None]) -> None:
        """Calls updater(key, pushed, stored), which changes the third, at each push of a key."""
        self._updater = updater
        # The library keeps what it calls where Python's collector does not look: that must not hold the store, as updaters often do.
        self._called = updater
        self.handle.set_updater(partial(_update, weakref.ref(self)))

    def _barrier(self) -> None:
        """Waits until all workers are here."""
        self.handle.barrier()

    def _send_command_to_servers(self, head: int, body: str) -> None:
        """Has every server's controller called with the two, and waits until they have answered."""
        self.handle.ask_servers(head, body.encode())
