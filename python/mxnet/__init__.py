# SPDX-License-Identifier: Apache-2.0
"""A runtime for what was written for MXNet 1.x.

Importing loads libmxnet.so and reads the environment: a bad value in a variable raises here.
Modules that few programs need are loaded when they are first used.
"""

from __future__ import annotations

import importlib
from typing import Any, List

from . import base, context, util
from .base import MXNetError
from .context import (
    Context,
    cpu,
    cpu_memory_info,
    cpu_pinned,
    current_context,
    gpu,
    gpu_memory_info,
    num_gpus,
)
from .libinfo import __version__

_LAZY = ("attribute", "autograd", "config", "engine", "error", "libinfo", "name", "ndarray", "random", "runtime", "symbol")
_ALIASES = {"nd": "ndarray", "rnd": "random", "sym": "symbol"}

__all__ = [
    "Context",
    "MXNetError",
    "__version__",
    "base",
    "context",
    "cpu",
    "cpu_memory_info",
    "cpu_pinned",
    "current_context",
    "gpu",
    "gpu_memory_info",
    "num_gpus",
    "util",
    *_LAZY,
]


def __getattr__(name: str) -> Any:
    full = _ALIASES.get(name, name)
    if full in _LAZY:
        module = importlib.import_module(f"{__name__}.{full}")
        globals()[name] = module
        return module
    if name == "AttrScope":
        return importlib.import_module(f"{__name__}.attribute").AttrScope
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> List[str]:
    return sorted({*globals(), *_LAZY, *_ALIASES})
