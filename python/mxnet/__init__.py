# SPDX-License-Identifier: Apache-2.0
"""A runtime for what was written for MXNet 1.x.

Importing loads libmxnet.so and reads the environment: a bad value in a variable raises here.
Modules that few programs need are loaded when they are first used.
"""

from __future__ import annotations

import importlib
from typing import Any, List

from . import _lazy, base, context, util
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

# Names that live in a module of their own, loaded when they are first asked for.
_FROM_MODULES = {
    "AttrScope": "attribute",
    "is_np_array": "util",
    "is_np_shape": "util",
    "np_array": "util",
    "np_shape": "util",
    "set_np_shape": "util",
    "use_np": "util",
    "use_np_array": "util",
    "use_np_shape": "util",
}
_ALIASES = {
    "img": "image",
    "init": "initializer",
    "kv": "kvstore",
    "mod": "module",
    "mon": "monitor",
    "nd": "ndarray",
    "np": "numpy",
    "np_symbol": "symbol.numpy._symbol",
    "npx": "numpy_extension",
    "rnd": "random",
    "sym": "symbol",
    "viz": "visualization",
}
_MODULES = [
    "attribute",
    "autograd",
    "callback",
    "contrib",
    "engine",
    "error",
    "executor",
    "executor_manager",
    "gluon",
    "image",
    "initializer",
    "io",
    "kvstore",
    "libinfo",
    "library",
    "log",
    "lr_scheduler",
    "metric",
    "model",
    "module",
    "monitor",
    "name",
    "ndarray",
    "numpy",
    "numpy_extension",
    "onnx",
    "operator",
    "optimizer",
    "profiler",
    "random",
    "recordio",
    "registry",
    "rnn",
    "rtc",
    "runtime",
    "symbol",
    "test_utils",
    "visualization",
]

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
    # What `from mxnet import *` brings besides, as it does in 1.x: all of these are loaded then.
    *_ALIASES,
    *_FROM_MODULES,
    *_MODULES,
]


def __getattr__(name: str) -> Any:
    if name in _FROM_MODULES:
        return getattr(importlib.import_module(f"{__name__}.{_FROM_MODULES[name]}"), name)
    full = f"{__name__}.{_ALIASES.get(name, name)}"
    try:
        module = importlib.import_module(full)
    except ModuleNotFoundError as error:
        if error.name != full:
            raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    globals()[name] = module
    return module


def __dir__() -> List[str]:
    import pkgutil

    # The installed package holds the libraries too, which look like modules to pkgutil.
    names = (module.name for module in pkgutil.iter_modules(__path__))
    modules = (name for name in names if not name.startswith("libmxnet"))
    return _lazy.listed(globals(), modules, _ALIASES, _FROM_MODULES)
