# SPDX-License-Identifier: Apache-2.0
"""What every store offers, the registry of stores that other packages bring, and the way to make one."""

from __future__ import annotations

import importlib
from typing import Any, Dict, Optional, Sequence, Type, Union

from .. import config
from ..base import _as_list, string_types
from ..ndarray import NDArray

__all__ = ["KVStoreBase", "create"]

Arrays = Union[NDArray, Sequence[Any]]

# Stores that stand for a package of their own; each registers itself when it is imported.
_ADAPTERS = {"horovod": "horovod", "byteps": "byteps"}


class KVStoreBase:
    """The interface between a trainer and a store. Classes that are registered can be made by name."""

    kv_registry: Dict[str, Type["KVStoreBase"]] = {}
    OPTIMIZER = "optimizer"

    def broadcast(self, key: Any, value: Arrays, out: Arrays, priority: int = 0) -> None:
        """Gives the value of rank 0 to all arrays of `out` on all ranks; once a key."""
        raise NotImplementedError(f"{type(self).__name__}.broadcast")

    def pushpull(self, key: Any, value: Arrays, out: Optional[Arrays] = None, priority: int = 0) -> None:
        """Writes the sum of the values of all ranks into `out`; into `value` where there is none."""
        raise NotImplementedError(f"{type(self).__name__}.pushpull")

    def set_optimizer(self, optimizer: Any) -> None:
        """Lets the store change what it holds by this optimizer when something is pushed."""
        raise NotImplementedError(f"{type(self).__name__}.set_optimizer")

    @staticmethod
    def is_capable(capability: str) -> bool:
        """Whether the store can do what the name says, e.g. `KVStoreBase.OPTIMIZER`."""
        raise NotImplementedError("KVStoreBase.is_capable")

    def save_optimizer_states(self, fname: str, dump_optimizer: bool = False) -> None:
        """Writes the states of the store's optimizer to a file, `dump_optimizer`: and the optimizer itself."""
        raise NotImplementedError(f"{type(self).__name__}.save_optimizer_states")

    def load_optimizer_states(self, fname: str) -> None:
        """Reads what `save_optimizer_states` has written."""
        raise NotImplementedError(f"{type(self).__name__}.load_optimizer_states")

    @property
    def type(self) -> str:
        """The name that the store was made by."""
        raise NotImplementedError(f"{type(self).__name__}.type")

    @property
    def rank(self) -> int:
        """This process among those that share the store."""
        raise NotImplementedError(f"{type(self).__name__}.rank")

    @property
    def num_workers(self) -> int:
        """How many processes share the store."""
        raise NotImplementedError(f"{type(self).__name__}.num_workers")

    @staticmethod
    def register(klass: Type["KVStoreBase"]) -> Type["KVStoreBase"]:
        """Lets `create` make `klass` by its name in small letters; a decorator."""
        if not isinstance(klass, type):
            raise TypeError(f"given {klass!r}, expected a class")
        KVStoreBase.kv_registry[klass.__name__.lower()] = klass
        return klass


def without_optimizer(capability: str) -> bool:
    """What is_capable says of a store whose trainers update by themselves."""
    if capability.lower() == KVStoreBase.OPTIMIZER:
        return False
    raise ValueError(f"given capability {capability!r}, expected 'optimizer'")


@KVStoreBase.register
class TestStore(KVStoreBase):
    """A store that keeps nothing, within one process: what a store of another package looks like."""

    __test__ = False  # not a test, whatever its name makes of it

    def broadcast(self, key: Any, value: Arrays, out: Arrays, priority: int = 0) -> None:
        """Copies `value` into every array of `out`."""
        for target in _as_list(out):
            target[...] = _as_list(value)[0]

    def pushpull(self, key: Any, value: Arrays, out: Optional[Arrays] = None, priority: int = 0) -> None:
        """Writes the sum of the values into every array of `out`; into the values where there is none."""
        values = _as_list(value)
        context = values[0].context
        total = values[0].copy()
        for other in values[1:]:
            total += other.as_in_context(context)
        for target in _as_list(value if out is None else out):
            total.copyto(target)

    @staticmethod
    def is_capable(capability: str) -> bool:
        """It has no optimizer."""
        return without_optimizer(capability)

    @property
    def type(self) -> str:
        """The name that the store was made by."""
        return "teststore"

    @property
    def rank(self) -> int:
        """Always 0."""
        return 0

    @property
    def num_workers(self) -> int:
        """Always 1."""
        return 1

    def set_optimizer(self, optimizer: Any) -> None:
        """It has none."""
        raise NotImplementedError("TestStore.set_optimizer: this store has no optimizer")

    def save_optimizer_states(self, fname: str, dump_optimizer: bool = False) -> None:
        """It has none."""
        raise NotImplementedError("TestStore.save_optimizer_states: this store has no optimizer")

    def load_optimizer_states(self, fname: str) -> None:
        """It has none."""
        raise NotImplementedError("TestStore.load_optimizer_states: this store has no optimizer")


def create(name: str = "local") -> KVStoreBase:
    """A store by its name: one of the library's (docs/kvstore.md) or one that was registered."""
    if not isinstance(name, string_types):
        raise TypeError(f"given {name!r}, expected the name of a store")
    name = name.lower()
    if name not in KVStoreBase.kv_registry and name in _ADAPTERS:
        importlib.import_module(f"{__package__}.{_ADAPTERS[name]}")
    if name in KVStoreBase.kv_registry:
        return KVStoreBase.kv_registry[name]()
    from .kvstore import KVStore

    store = KVStore._create(name)
    if ("dist" in name or "p3" in name) and config.get("DMLC_ROLE") == "server":
        from .kvstore_server import serve

        serve(store)  # a server never comes back into the program, which is the workers'
    return store
