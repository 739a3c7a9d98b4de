# SPDX-License-Identifier: Apache-2.0
"""Operators on images: npx.image."""

from typing import Any

from ..base import numeric_types
from ..ndarray import _generate

_filled = _generate.fill(__name__, "_npx__image_")


def __getattr__(name: str) -> Any:
    if name == "copyMakeBorder":
        from .. import image

        return getattr(image, name)
    return _filled(name)


def __dir__() -> list:
    return sorted({*globals(), "copyMakeBorder", *_generate.names_in("_npx__image_")})
