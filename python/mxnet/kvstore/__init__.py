# SPDX-License-Identifier: Apache-2.0
"""Stores of arrays by key, which sum what devices and processes push."""

from __future__ import annotations

from . import base, kvstore, kvstore_server
from .base import KVStoreBase, create
from .kvstore import KVStore
from .kvstore_server import KVStoreServer

__all__ = ["KVStore", "KVStoreBase", "KVStoreServer", "create"]
