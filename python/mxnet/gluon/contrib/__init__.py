# SPDX-License-Identifier: Apache-2.0
"""Layers, cells and training loops that may still change."""

import importlib
from typing import Any, List

_MODULES = ("cnn", "data", "estimator", "nn", "rnn")

__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")


def __dir__() -> List[str]:
    return sorted({*globals(), *_MODULES})
