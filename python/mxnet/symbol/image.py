# SPDX-License-Identifier: Apache-2.0
"""Operators on images."""

from . import _generate

__getattr__ = _generate.fill(__name__, "_image_")


def __dir__() -> list:
    return sorted({*globals(), *_generate.names_in("_image_")})
