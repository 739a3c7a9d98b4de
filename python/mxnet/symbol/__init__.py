# SPDX-License-Identifier: Apache-2.0
"""Networks before they have arrays: mx.sym."""

from typing import Any

from .. import _lazy
from ..ndarray import _Null  # before parts of symbols: the whole package, before what lies in it
from . import _generate
from .symbol import *  # noqa: F403
from .symbol import Symbol, SymbolBase
from . import _internal, contrib, image, linalg, op, random, sparse  # noqa: E402

_operators = _generate.fill(__name__, "")
_MODULES = {"np": "numpy", "npx": "numpy_extension", "numpy": "numpy", "numpy_extension": "numpy_extension"}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        return _operators(name)
    globals()[name] = module = _lazy.module(__name__, _MODULES[name])  # layers ask for it with every call
    return module


def __dir__() -> list:
    return _lazy.listed(globals(), _generate.names_in(""), _MODULES)
