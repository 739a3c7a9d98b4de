# SPDX-License-Identifier: Apache-2.0
"""Optimizers and their states on the way between workers and servers: JSON and arrays, never a pickle."""

from __future__ import annotations

import json
import os
import pickle
import struct
import tempfile
from contextlib import suppress
from math import prod
from types import MappingProxyType, SimpleNamespace
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple

from .. import lr_scheduler
from .. import optimizer as opt
from ..base import MXNetError, MXNetValueError
from ..ndarray import NDArray, array, load_frombuffer, save
from ..ndarray import concat as _concat
from ..optimizer._saved_states import states_of

# Numbers of commands to servers. Those from 2000 on (src/kvstore/wire.h) all workers give: servers obey when all have,
# with the body of rank 0, and all workers hear what came of it.
GET_STATES = 1000
SET_OPTIMIZER, SET_STATES = 2000, 2001
# Those below 0 are no concern of keys: one worker may give them alone, at any time; -2 and -3 are the library's own.
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


def states_to_bytes(states: Dict[Any, Any], optimizer: Optional[opt.Optimizer], notes: Mapping[Any, Any] = MappingProxyType({})) -> bytes:
    """States by key, each with a note of a few words or none, and the optimizer if there is one."""
    arrays: List[NDArray] = []
    trees = [[key, _tree(state, arrays), notes.get(key)] for key, state in states.items()]
    text = json.dumps({"trees": trees, "optimizer": optimizer and optimizer_to_json(optimizer)}).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "states")
        save(path, arrays or [array([0])])
        with open(path, "rb") as file:
            return struct.pack("<q", len(text)) + text + file.read()


def states_from_bytes(data: bytes) -> Tuple[Dict[Any, Any], Optional[opt.Optimizer], Dict[Any, Any]]:
    """The reverse."""
    (length,) = struct.unpack_from("<q", data)
    given = json.loads(data[8 : 8 + length].decode())
    arrays = load_frombuffer(data[8 + length :])
    states = {key: _from_tree(tree, arrays) for key, tree, _ in given["trees"]}
    notes = {key: note for key, _, note in given["trees"] if note is not None}
    return states, given["optimizer"] and optimizer_from_json(given["optimizer"]), notes


def _range_of(elements: int, server: int, servers: int) -> Tuple[int, int]:
    """What `server` holds of a key in parts: from one element up to another, as src/kvstore/servers.cc divides."""
    first, end = (min((elements + 31) // 32 * one // servers * 32, elements) for one in (server, server + 1))
    return first, end


def _cut(state: Any, elements: int, place: Tuple[int, int]) -> Any:
    """A server's part of a whole state; what is not of the key's size belongs to every part."""
    if isinstance(state, (list, tuple)):
        return type(state)(_cut(part, elements, place) for part in state)
    if not elements or not isinstance(state, NDArray) or state.size != elements:
        return state
    first, end = _range_of(elements, *place)
    return state.reshape((-1,))[first:end]


def _joined(parts: List[Any], shape: Tuple[int, ...]) -> Any:
    """The state of a key of that shape whose parts lie on several servers, one after the other."""
    first = parts[0]
    if isinstance(first, (list, tuple)):
        return type(first)(_joined(list(some), shape) for some in zip(*parts))
    if not isinstance(first, NDArray) or sum(part.size for part in parts) != prod(shape):
        return first
    return _concat(*[part.reshape((-1,)) for part in parts], dim=0).reshape(shape)


def _state_of(said: Dict[int, Tuple[Any, bool]], parts: int, shape: Tuple[int, ...], servers: int) -> Any:
    """The state of a key of what servers say: their own, or all as it was given (True) where they have not used it, since
    another one holds the key or nothing has been pushed. LookupError while the first push has not reached them all."""
    own = [state for state, is_whole in said.values() if not is_whole]
    if not own or parts < 2:
        return (own or [state for state, _ in said.values()])[0]
    elements, pieces = prod(shape), []
    for place in ((server, servers) for server in range(servers)):
        first, end = _range_of(elements, *place)
        if first < end:
            state, is_whole = said[place[0]]
            pieces.append(_cut(state, elements, place) if is_whole else state)
    return _joined(pieces, shape)


class RemoteUpdater:
    """What a worker has in place of an updater when servers update: it asks them for their states."""

    def __init__(self, store: Any, optimizer: opt.Optimizer) -> None:
        self._store = store
        self.optimizer = optimizer

    def get_states(self, dump_optimizer: bool = False) -> bytes:
        """The states of all servers together, in the format of Updater.get_states."""
        by_key: Dict[Any, Dict[int, Tuple[Any, bool]]] = {}
        replies = ask(self._store, GET_STATES)
        for server, reply in enumerate(replies):
            held, optimizer, untouched = states_from_bytes(reply)
            for key, state in held.items():
                by_key.setdefault(key, {})[server] = state, key in untouched
            self.optimizer = optimizer or self.optimizer
        states: Dict[Any, Any] = {}
        for key, said in by_key.items():
            with suppress(LookupError):  # its first push, of another worker, comes after this
                states[key] = _state_of(said, *self._placement(key), len(replies))
        return pickle.dumps((states, self.optimizer) if dump_optimizer else states)

    def set_states(self, states: bytes) -> None:
        """Gives the servers what get_states has given. All workers call it; rank 0's are taken."""
        loaded, optimizer = states_of(states)
        if optimizer is not None:
            optimizer.param_dict = self.optimizer.param_dict
            self.optimizer = optimizer
        tell(self._store, SET_STATES, lambda: states_to_bytes(loaded, optimizer, self._elements(loaded)))

    def _placement(self, key: Any) -> Tuple[int, Tuple[int, ...]]:
        """In how many parts a key lies on servers, 0 if they hold none of that name, and its shape."""
        parts, shape = self._store.handle.placement(key) if isinstance(key, (int, str)) else (0, ())
        return parts, tuple(shape)

    def _elements(self, keys: Iterable[Any]) -> Dict[Any, int]:
        """How many elements each key has that lies in parts, 0 for one in one piece; without those that are not there yet."""
        placed = ((key, *self._placement(key)) for key in keys)
        return {key: prod(shape) if parts > 1 else 0 for key, parts, shape in placed if parts > 0}


def ask(store: Any, command: int, body: bytes = b"") -> List[bytes]:
    """A command to all servers, which says whose it is; what they answer."""
    return store.handle.ask_servers(command, f"{store._number}:".encode() + body)


def tell(store: Any, command: int, body: Any) -> None:
    """Rank 0 has all servers obey a command of all workers with what `body` returns: all workers return, or all raise."""
    text = b""
    if store.rank == 0:
        try:
            text = body()
        except BaseException as error:  # an interrupt too
            with suppress(MXNetError):  # the others are to hear of it
                store.handle.ask_servers(command, f"{store._number}!:{type(error).__name__}: {error}".encode())
            raise
    ask(store, command, text)


class ServedUpdater(opt.Updater):
    """An updater on a server, which may hold a part of each big array only."""

    def __init__(self, optimizer: opt.Optimizer, server: int, servers: int) -> None:
        super().__init__(optimizer)
        self._place = server, servers
        self._elements: Dict[Any, int] = {}

    def take(self, states: Dict[Any, Any], elements: Dict[Any, int]) -> None:
        """States of whole arrays, of which each key takes its part when it is updated next. `elements`: of keys that lie in parts
        how many these have together, of others 0."""
        self.states, self._elements = states, elements
        self.states_synced = dict.fromkeys(states, False)
        self._plan = None

    def _guessed(self, state: Any, weight: Any) -> int:
        """The elements of a key that was not there when states came: it lies in parts if they are larger than the weight."""
        if isinstance(state, (list, tuple)):
            return max((self._guessed(part, weight) for part in state), default=0)
        in_parts = isinstance(state, NDArray) and state.size > weight.size and self._place[1] > 1
        return state.size if in_parts else 0

    def untouched(self) -> List[Any]:
        """Keys whose states have not been used since: another server's, or nothing has been pushed."""
        return [key for key in self.states if self.states_synced.get(key) is False]

    def _prepare_state(self, key: Any, weight: Any) -> None:
        if self.states_synced.get(key) is False:
            state = self.states[key]
            self.states[key] = _cut(state, self._elements.get(key, self._guessed(state, weight)), self._place)
        super()._prepare_state(key, weight)
