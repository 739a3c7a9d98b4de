# SPDX-License-Identifier: Apache-2.0
"""Networks before they have arrays: mx.sym."""

import importlib
from typing import Any

from . import _generate, symbol
from .symbol import Group, Symbol, Variable, fromjson, load, load_json, ones, var, zeros
from . import _internal, contrib, image, linalg, op, random, sparse  # noqa: E402

_operator = _generate.fill(__name__, "")
_PARTS = {"np": "numpy", "npx": "numpy_extension", "numpy": "numpy", "numpy_extension": "numpy_extension"}


def __getattr__(name: str) -> Any:
    if name in _PARTS:  # F.np and F.npx of Gluon's blocks, loaded when they are first asked for
        return importlib.import_module(f"{__name__}.{_PARTS[name]}")
    return _operator(name)


def __dir__() -> list:
    return sorted({*globals(), *_PARTS, *_generate.names_in("")})
