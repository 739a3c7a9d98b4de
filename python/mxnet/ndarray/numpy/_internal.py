# SPDX-License-Identifier: Apache-2.0
"""The operators behind mx.np, by their names without _npi_."""

from .. import _generate

__getattr__ = _generate.fill(__name__, "_npi_")


def __dir__() -> list:
    return sorted({*globals(), *_generate.names_in("_npi_")})
