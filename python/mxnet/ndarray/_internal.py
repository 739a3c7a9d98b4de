# SPDX-License-Identifier: Apache-2.0
"""Operators whose names start with an underscore."""

from . import _generate

__getattr__ = _generate.fill(__name__, "_")


def __dir__() -> list:
    return sorted({*globals(), *_generate.names_in("_")})


from .._core import CachedOp, NDArrayBase  # noqa: E402,F401  (programs compare these classes)
