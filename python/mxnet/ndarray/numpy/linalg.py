# SPDX-License-Identifier: Apache-2.0
"""np.linalg for arrays."""

from ..._numpy.arrays import arrays

_functions = arrays.bound("linalg")
globals().update(_functions)

__all__ = [*_functions]
