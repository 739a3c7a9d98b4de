# SPDX-License-Identifier: Apache-2.0
"""Optimizers and their states on the way between workers and servers: JSON and arrays, never a pickle."""

from __future__ import annotations

import json
import os
import pickle
import struct
import tempfile
from types import SimpleNamespace
from typing import Any, Dict, List, Optional, Tuple

from .. import lr_scheduler
from .. import optimizer as opt
from ..base import MXNetError, MXNetValueError
from ..ndarray import NDArray, array, load_frombuffer, save
from ..ndarray import concat as _concat

# Numbers of commands to servers. Those from 2000 on (src/kvstore/wire.h) all workers give: servers obey when all have,
# with the body of rank 0, and all workers hear what came of it.
GET_STATES = 1000
SET_OPTIMIZER, SET_STATES = 2000, 2001
# Those below 0 are no concern of keys: one worker may give them alone, at any time.
PROFILE = -1


def _encoded(value: Any, where: str) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return {type(value).__name__: [_encoded(item, where) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[_encoded(key, where), _encoded(item, where)] for key, item in value.items()]}
    if isinstance(value, lr_scheduler.LRScheduler) and getattr(lr_scheduler, type(value).__name__, None) is type(value):
        return {"scheduler": [type(value).__name__, _encoded(vars(value), where)]}
    if hasattr(value, "lr_mult") and hasattr(value, "wd_mult"):  # a parameter: what optimizers ask of it
        return {"multipliers": [value.lr_mult, value.wd_mult]}
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        return value.item()
    raise TypeError(
        f"{where}: given a {type(value).__name__}, which does not travel to servers; expected numbers, texts, lists "
        "and dictionaries of them, and schedulers of mxnet.lr_scheduler. Without update_on_kvstore the workers update"
    )


def _decoded(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "dict":
        return {_decoded(key): _decoded(item) for key, item in content}
    if kind == "scheduler":
        klass = getattr(lr_scheduler, content[0], None)
        if not (isinstance(klass, type) and issubclass(klass, lr_scheduler.LRScheduler)):
            raise MXNetValueError(f"given scheduler {content[0]!r}, expected one of mxnet.lr_scheduler")
        scheduler = klass.__new__(klass)
        vars(scheduler).update(_decoded(content[1]))
        return scheduler
    if kind == "multipliers":
        return SimpleNamespace(lr_mult=content[0], wd_mult=content[1])
    items = [_decoded(item) for item in content]
    return tuple(items) if kind == "tuple" else items


def optimizer_to_json(optimizer: opt.Optimizer) -> str:
    """The registered name of an optimizer, and what it holds. TypeError for what JSON cannot say."""
    klass = type(optimizer)
    name = klass.__name__.lower()
    if opt.Optimizer.opt_registry.get(name) is not klass:
        raise MXNetValueError(
            f"given an optimizer of class {klass.__name__}, which servers cannot find; expected a registered one: "
            "decorate it with mx.optimizer.register, and let servers import its module (launch.py --server-import)"
        )
    held = [[key, _encoded(value, f"{klass.__name__}.{key}")] for key, value in vars(optimizer).items()]
    return json.dumps({"name": name, "held": held})


def optimizer_from_json(text: str) -> opt.Optimizer:
    """The reverse. A name that is not registered here is an error that says how to allow it."""
    given = json.loads(text)
    klass: Any = opt.Optimizer.opt_registry.get(given["name"])
    if klass is None:
        raise MXNetValueError(
            f"given optimizer {given['name']!r}, which is not registered on the server. A custom one needs your "
            "consent: launch.py --server-import MODULE lets servers import the module that registers it"
        )
    optimizer = klass.__new__(klass)
    for key, value in given["held"]:
        setattr(optimizer, key, _decoded(value))
    optimizer._set_current_context(0)
    return optimizer


# --- States: a tree as JSON, whose leaves are numbers of arrays, then a file of these arrays


def _tree(state: Any, arrays: List[NDArray]) -> Any:
    if isinstance(state, NDArray):
        arrays.append(state)
        return {"array": len(arrays) - 1}
    if isinstance(state, (list, tuple)):
        return {type(state).__name__: [_tree(part, arrays) for part in state]}
    return _encoded(state, "a state of the optimizer")


def _from_tree(tree: Any, arrays: List[NDArray]) -> Any:
    if not isinstance(tree, dict):
        return tree
    ((kind, content),) = tree.items()
    if kind == "array":
        return arrays[content]
    if kind in ("list", "tuple"):
        parts = [_from_tree(part, arrays) for part in content]
        return tuple(parts) if kind == "tuple" else parts
    return _decoded(tree)


def states_to_bytes(states: Dict[Any, Any], optimizer: Optional[opt.Optimizer], untouched: Any = ()) -> bytes:
    """States by key, and the optimizer if there is one. `untouched`: keys whose states are as they were given, whole."""
    arrays: List[NDArray] = []
    trees = [[key, _tree(state, arrays)] + [True] * (key in untouched) for key, state in states.items()]
    text = json.dumps({"trees": trees, "optimizer": optimizer and optimizer_to_json(optimizer)}).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "states")
        save(path, arrays or [array([0])])
        with open(path, "rb") as file:
            return struct.pack("<q", len(text)) + text + file.read()


def states_from_bytes(data: bytes) -> Tuple[Dict[Any, Any], Optional[opt.Optimizer]]:
    """The reverse."""
    (length,) = struct.unpack_from("<q", data)
    given = json.loads(data[8 : 8 + length].decode())
    arrays = load_frombuffer(data[8 + length :])
    states = {tree[0]: _from_tree(tree[1], arrays) for tree in given["trees"]}
    return states, given["optimizer"] and optimizer_from_json(given["optimizer"])


def _untouched(data: bytes) -> List[Any]:
    (length,) = struct.unpack_from("<q", data)
    return [tree[0] for tree in json.loads(data[8 : 8 + length].decode())["trees"] if len(tree) > 2]


def _size(state: Any) -> int:
    if isinstance(state, (list, tuple)):
        return max(map(_size, state), default=0)
    return state.size if isinstance(state, NDArray) else 0


def _cut(state: Any, whole: int, server: int, servers: int) -> Any:
    """What `server` holds of an array of `whole` elements, as src/kvstore/servers.cc divides."""
    if isinstance(state, (list, tuple)):
        return type(state)(_cut(part, whole, server, servers) for part in state)
    if not isinstance(state, NDArray) or state.size < whole:
        return state
    first, end = (min((whole + 31) // 32 * one // servers * 32, whole) for one in (server, server + 1))
    return state.reshape((-1,))[first:end]


def _of_all(parts: List[Tuple[Any, bool]]) -> Any:
    """The state of a key of what each server says: its own, or all as it was given (True) where it has not used it, since
    another one holds the key or nothing has been pushed."""
    own = [state for state, is_whole in parts if not is_whole]
    if not own:
        return parts[0][0]
    if len(own) < len(parts):
        whole = max(_size(state) for state, is_whole in parts if is_whole)
        if _size(own[0]) >= whole:
            return own[0]
        own = [_cut(state, whole, i, len(parts)) if is_whole else state for i, (state, is_whole) in enumerate(parts)]
    return own[0] if len(own) == 1 else _joined(own)


def _joined(parts: List[Any]) -> Any:
    """The state of an array whose parts lie on several servers, one after the other."""
    first = parts[0]
    if isinstance(first, NDArray):
        return _concat(*[part.reshape((-1,)) for part in parts], dim=0)
    if isinstance(first, (list, tuple)):
        return type(first)(_joined(list(some)) for some in zip(*parts))
    return first


class RemoteUpdater:
    """What a worker has in place of an updater when servers update: it asks them for their states."""

    def __init__(self, store: Any, optimizer: opt.Optimizer) -> None:
        self._store = store
        self.optimizer = optimizer

    def get_states(self, dump_optimizer: bool = False) -> bytes:
        """The states of all servers together, in the format of Updater.get_states."""
        by_key: Dict[Any, List[Tuple[Any, bool]]] = {}
        for reply in ask(self._store, GET_STATES):
            states, optimizer = states_from_bytes(reply)
            untouched = _untouched(reply)
            for key, state in states.items():
                by_key.setdefault(key, []).append((state, key in untouched))
            self.optimizer = optimizer or self.optimizer
        states = {key: _of_all(parts) for key, parts in by_key.items()}
        return pickle.dumps((states, self.optimizer) if dump_optimizer else states)

    def set_states(self, states: bytes) -> None:
        """Gives the servers what get_states has given. All workers call it; rank 0's are taken."""
        loaded = pickle.loads(states)
        optimizer = None
        if isinstance(loaded, tuple) and len(loaded) == 2:
            loaded, optimizer = loaded
            optimizer.param_dict = self.optimizer.param_dict
            self.optimizer = optimizer
        tell(self._store, SET_STATES, lambda: states_to_bytes(loaded, optimizer))


def ask(store: Any, command: int, body: bytes = b"") -> List[bytes]:
    """A command to all servers, which says whose it is; what they answer."""
    return store.handle.ask_servers(command, f"{store._number}:".encode() + body)


def tell(store: Any, command: int, body: Any) -> None:
    """Rank 0 has all servers obey a command of all workers with what `body` returns: all workers return, or all raise."""
    text = b""
    if store.rank == 0:
        try:
            text = body()
        except Exception as error:
            try:  # the others are to hear of it
                store.handle.ask_servers(command, f"{store._number}!:{type(error).__name__}: {error}".encode())
            except MXNetError:
                pass
            raise
    ask(store, command, text)
    # A server that ends now may have answered some: nobody goes on before all have heard it.
    store._barrier()


class ServedUpdater(opt.Updater):
    """An updater on a server, which may hold a part of each big array only."""

    def __init__(self, optimizer: opt.Optimizer, server: int, servers: int) -> None:
        super().__init__(optimizer)
        self._place = server, servers

    def take(self, states: Dict[Any, Any]) -> None:
        """States of whole arrays, of which each key takes its part when it is updated next."""
        self.states = states
        self.states_synced = dict.fromkeys(states, False)

    def untouched(self) -> List[Any]:
        """Keys whose states have not been used since: another server's, or nothing has been pushed."""
        return [key for key in self.states if self.states_synced.get(key) is False]

    def _prepare_state(self, key: Any, weight: Any) -> None:
        if self.states_synced.get(key) is False:
            self.states[key] = self._part(self.states[key], weight)
        super()._prepare_state(key, weight)

    def _part(self, state: Any, weight: Any) -> Any:
        if isinstance(state, (list, tuple)):
            return type(state)(self._part(part, weight) for part in state)
        if not isinstance(state, NDArray) or state.size <= weight.size or weight.stype != "default":
            return state
        server, servers = self._place
        first = (state.size + 31) // 32 * server // servers * 32  # as src/kvstore/servers.cc divides
        return state.reshape((-1,))[first : first + weight.size].reshape(weight.shape)
