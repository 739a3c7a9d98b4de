# SPDX-License-Identifier: Apache-2.0
"""What a server of a distributed store does: it takes the optimizer, and updates by what workers push."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, NoReturn

from .. import profiler
from ..base import MXNetError, MXNetValueError
from .base import KVStoreBase

__all__ = ["KVStoreServer"]

# What workers may ask of a server's profiler.
_PROFILER = {call.__name__: call for call in (profiler.set_config, profiler.set_state, profiler.dump, profiler.pause, profiler.resume)}


class KVStoreServer:
    """Serves a store until its workers have finished. Workers send optimizers as JSON; nothing is unpickled."""

    def __init__(self, kvstore: Any) -> None:
        self.kvstore = kvstore
        self.handle = kvstore.handle
        self._place = self.handle.rank, self.handle.num_servers
        self._updaters: Any = {}

    def _control(self, head: int, body: bytes) -> bytes:
        try:
            return self._obey(head, body)
        except MXNetError:
            raise
        except Exception as error:  # of whatever kind: a server outlives what it cannot read, and the worker hears of it
            raise MXNetValueError(
                f"a server was sent command {head} ({len(body)} bytes), which it cannot follow: {type(error).__name__}: {error}"
            ) from error

    def _obey(self, head: int, body: bytes) -> bytes:
        from . import _remote

        store, _, text = body.partition(b":")
        if store.endswith(b"!"):
            raise MXNetValueError(f"rank 0 has failed: {text.decode()}")
        if head == _remote.PROFILE:
            self._profile(*json.loads(text))
            return b""
        if head == _remote.SET_OPTIMIZER:
            self._use(_remote.optimizer_from_json(text.decode()), store)
            return b""
        updater = self._updaters.get(store)
        if head == _remote.GET_STATES:
            if updater is None:
                return b""
            return _remote.states_to_bytes(updater.states, updater.optimizer, dict.fromkeys(updater.untouched(), True))
        if head == _remote.SET_STATES:
            states, optimizer, elements = _remote.states_from_bytes(text)
            if optimizer is not None:
                updater = self._use(optimizer, store)
            if updater is None:
                raise MXNetValueError("given states of an optimizer, expected the optimizer first: set_optimizer")
            updater.take(states, elements)
            return b""
        raise MXNetValueError(f"a server was sent command {head} ({len(body)} bytes), which it does not know")

    def _profile(self, call: str, arguments: Any) -> None:
        if call == "set_config":
            folder, name = os.path.split(arguments.get("filename", "profile.json"))
            arguments["filename"] = os.path.join(folder, f"rank{self._place[0]}_{name}")
        _PROFILER[call](**arguments)

    def _use(self, optimizer: Any, store: bytes) -> Any:
        from ._remote import ServedUpdater

        updater = self._updaters[store] = ServedUpdater(optimizer, *self._place)
        self.handle.set_updater(updater)
        return updater

    def run(self) -> None:
        """Returns when the workers have finished."""
        self.handle.run_server(self._control)


def serve(kvstore: KVStoreBase) -> NoReturn:
    """Does what a server does, and ends the process."""
    KVStoreServer(kvstore).run()
    sys.exit(0)
