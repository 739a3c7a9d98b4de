# SPDX-License-Identifier: Apache-2.0
"""Operators under their plain names."""

from .._core import CachedOp  # noqa: F401  (programs find it here)
from . import _generate

__getattr__ = _generate.fill(__name__, "")


def __dir__() -> list:
    return sorted({*globals(), *_generate.names_in("")})
