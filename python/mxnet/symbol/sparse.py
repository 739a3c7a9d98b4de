# SPDX-License-Identifier: Apache-2.0
"""Operators on sparse values."""

from . import _generate

__getattr__ = _generate.fill(__name__, "_sparse_")


def __dir__() -> list:
    return sorted({*globals(), *_generate.names_in("_sparse_")})
