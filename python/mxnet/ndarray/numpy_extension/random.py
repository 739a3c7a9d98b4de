# SPDX-License-Identifier: Apache-2.0
"""npx.random for arrays."""

from ..._numpy.arrays import arrays

_functions = arrays.bound("random_extension")
globals().update(_functions)

__all__ = [*_functions]
