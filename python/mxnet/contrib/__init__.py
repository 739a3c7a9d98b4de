# SPDX-License-Identifier: Apache-2.0
"""What is not part of the stable interface: mixed precision, text, variance reduction, older interfaces."""

from __future__ import annotations

import importlib
from typing import Any, List

_MODULES = ("amp", "autograd", "io", "ndarray", "onnx", "quantization", "svrg_optimization", "symbol", "tensorboard", "text")
_ALIASES = {"nd": "ndarray", "quant": "quantization", "sym": "symbol"}


def __getattr__(name: str) -> Any:
    module = _ALIASES.get(name, name)
    if module not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = importlib.import_module(f"{__name__}.{module}")
    globals()[name] = made
    return made


def __dir__() -> List[str]:
    return sorted({*globals(), *_MODULES, *_ALIASES})
