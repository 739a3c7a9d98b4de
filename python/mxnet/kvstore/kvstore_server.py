# SPDX-License-Identifier: Apache-2.0
"""What a server of a distributed store does."""

from __future__ import annotations

from .base import KVStoreBase

__all__ = ["KVStoreServer"]


class KVStoreServer:
    """Serves a store until its workers have finished. The library's own stores have no servers (every worker holds all
    keys), and say so."""

    def __init__(self, kvstore: KVStoreBase) -> None:
        self.kvstore = kvstore
        self.handle = kvstore.handle

    def _control(self, head: int, body: str) -> None:
        raise ValueError(f"a server was sent command {head} ({len(body)} characters), which it does not know")

    def run(self) -> None:
        """Returns when the workers have finished."""
        self.handle.run_server(self._control)
