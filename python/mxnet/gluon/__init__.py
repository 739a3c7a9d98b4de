# SPDX-License-Identifier: Apache-2.0
"""Gluon: networks as objects, computed as they are called or hybridized into graphs.

The parts that few programs need (rnn, model_zoo, contrib, data) are loaded when they are first used.
"""

from __future__ import annotations

import importlib
from typing import Any, List

from .. import _lazy
from .. import ndarray as _ndarray  # noqa: F401  (whole, before what lies in it)
from . import block, loss, nn, parameter, trainer, utils
from .block import Block, HybridBlock, SymbolBlock
from .parameter import Constant, DeferredInitializationError, Parameter, ParameterDict, tensor_types
from .trainer import Trainer

__all__ = [
    "Block", "Constant", "DeferredInitializationError", "HybridBlock", "Parameter", "ParameterDict", "SymbolBlock", "Trainer",
    "block", "contrib", "data", "loss", "model_zoo", "nn", "parameter", "rnn", "tensor_types", "trainer", "utils",
]

_LAZY = ("contrib", "data", "model_zoo", "rnn")


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")


def __dir__() -> List[str]:
    return _lazy.listed(globals(), _LAZY)
