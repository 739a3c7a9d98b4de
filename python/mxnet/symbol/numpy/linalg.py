# SPDX-License-Identifier: Apache-2.0
"""np.linalg on symbols."""

from ..._numpy.symbols import symbols

_functions = symbols.bound("linalg")
globals().update(_functions)

__all__ = [*_functions]
