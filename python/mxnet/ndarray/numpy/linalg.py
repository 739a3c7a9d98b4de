# SPDX-License-Identifier: Apache-2.0
"""np.linalg for arrays."""

from ..._numpy.arrays import arrays

_functions = arrays.section("linalg").names
globals().update(_functions)

__all__ = [*_functions]
