# SPDX-License-Identifier: Apache-2.0
"""Operators on images and, beside them, what mx.image has: npx.image."""

from typing import Any

from ..base import numeric_types
from ..ndarray import _generate

_filled = _generate.fill(__name__, "_npx__image_")


def __getattr__(name: str) -> Any:
    if name in _generate.names_in("_npx__image_"):
        return _filled(name)
    from .. import image

    return getattr(image, name)


def __dir__() -> list:
    from .. import image

    return sorted({*globals(), *dir(image), *_generate.names_in("_npx__image_")})
