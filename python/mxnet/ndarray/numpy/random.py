# SPDX-License-Identifier: Apache-2.0
"""np.random for arrays."""

from ..._numpy.arrays import arrays

_functions = arrays.bound("random")
globals().update(_functions)

__all__ = [*_functions]
