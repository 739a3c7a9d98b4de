# SPDX-License-Identifier: Apache-2.0
"""np.random."""

from .._numpy.arrays import arrays

_functions = arrays.section("random").names
globals().update(_functions)

__all__ = [*_functions]
