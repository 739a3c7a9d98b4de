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

_LAZY = ("config", "engine", "error", "libinfo", "runtime")

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
    if name in _LAZY:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> List[str]:
    return sorted({*globals(), *_LAZY})
