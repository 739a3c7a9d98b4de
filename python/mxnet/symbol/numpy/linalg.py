# SPDX-License-Identifier: Apache-2.0
"""np.linalg on symbols."""

from ..._numpy.symbols import symbols

_functions = symbols.section("linalg").names
globals().update(_functions)

__all__ = [*_functions]
