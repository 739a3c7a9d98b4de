# SPDX-License-Identifier: Apache-2.0
"""Operators on images and, beside them, what mx.image has: npx.image."""

from typing import Any

from ..base import numeric_types
from ..ndarray import _generate

_filled = _generate.fill(__name__, "_npx__image_")


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return list(_generate.names_in("_npx__image_"))
    # What Python asks a module for is said of this one: with that package's __path__ it were one itself.
    if name in _generate.names_in("_npx__image_") or name.startswith("__"):
        return _filled(name)
    from .. import image

    return getattr(image, name)


def __dir__() -> list:
    from .. import image

    others = (name for name in dir(image) if not name.startswith("__"))
    return sorted({*globals(), *others, *_generate.names_in("_npx__image_")})
