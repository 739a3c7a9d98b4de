# SPDX-License-Identifier: Apache-2.0
"""Networks before they have arrays: mx.sym."""

from . import _generate, symbol
from .symbol import Group, Symbol, Variable, fromjson, load, load_json, ones, var, zeros
from . import _internal, contrib, image, linalg, op, random, sparse  # noqa: E402

__getattr__ = _generate.fill(__name__, "")


def __dir__() -> list:
    return sorted({*globals(), *_generate.names_in("")})
