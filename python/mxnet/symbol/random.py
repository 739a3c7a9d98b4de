# SPDX-License-Identifier: Apache-2.0
"""Random numbers."""

from . import _generate

__getattr__ = _generate.fill(__name__, "_random_")


def __dir__() -> list:
    return sorted({*globals(), *_generate.names_in("_random_")})
