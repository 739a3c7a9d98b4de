# SPDX-License-Identifier: Apache-2.0
"""npx.image on symbols."""

from typing import Any

from ..._numpy.symbols import symbols
from ...ndarray import _generate


def __getattr__(name: str) -> Any:
    if name in _generate.names_in("_npx__image_"):
        return symbols.op(f"_npx__image_{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list:
    return sorted({*globals(), *_generate.names_in("_npx__image_")})
