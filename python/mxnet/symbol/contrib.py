# SPDX-License-Identifier: Apache-2.0
"""Operators of contrib."""

from . import _generate

__getattr__ = _generate.fill(__name__, "_contrib_")


def __dir__() -> list:
    return sorted({*globals(), *_generate.names_in("_contrib_")})
