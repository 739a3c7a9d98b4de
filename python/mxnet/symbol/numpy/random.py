# SPDX-License-Identifier: Apache-2.0
"""np.random on symbols."""

from ..._numpy.symbols import symbols

_functions = symbols.section("random").names
globals().update(_functions)

__all__ = [*_functions]
