# SPDX-License-Identifier: Apache-2.0
"""mx.npx's operators as Gluon's blocks see them for arrays: F.npx."""

from .. import _generate
from . import image, random

_filled = _generate.fill(__name__, "_npx_")


def __getattr__(name: str):  # type: ignore[no-untyped-def]
    return _filled(name)


def __dir__() -> list:
    return sorted({*globals(), *(name for name in _generate.names_in("_npx_") if name[0] != "_")})
