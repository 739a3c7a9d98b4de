# SPDX-License-Identifier: Apache-2.0
"""The operators of mxnet.ndarray.contrib, where older programs look for them."""

from __future__ import annotations

from typing import Any

from ..ndarray import contrib as _contrib


def __getattr__(name: str) -> Any:
    return getattr(_contrib, name)


def __dir__() -> list:
    return dir(_contrib)
