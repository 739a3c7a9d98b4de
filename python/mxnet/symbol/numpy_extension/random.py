# SPDX-License-Identifier: Apache-2.0
"""npx.random on symbols."""

from ..._numpy.symbols import symbols

_functions = symbols.section("random_extension").names
globals().update(_functions)

__all__ = [*_functions]
