# SPDX-License-Identifier: Apache-2.0
"""npx.image for arrays."""

from .. import _generate

__getattr__ = _generate.fill(__name__, "_npx__image_")


def __dir__() -> list:
    return sorted({*globals(), *_generate.names_in("_npx__image_")})
