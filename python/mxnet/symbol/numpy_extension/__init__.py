# SPDX-License-Identifier: Apache-2.0
"""mx.npx's operators on symbols: F.npx in Gluon's blocks, mx.sym.npx."""

from typing import Any

from ..._numpy.symbols import symbols
from ...ndarray import _generate
from . import image, random


def __getattr__(name: str) -> Any:
    if name[0] != "_" and name in _generate.names_in("_npx_"):
        return symbols.op(f"_npx_{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list:
    return sorted({*globals(), *(name for name in _generate.names_in("_npx_") if name[0] != "_")})
