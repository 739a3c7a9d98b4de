# SPDX-License-Identifier: Apache-2.0
"""npx.random for arrays."""

from ..._numpy.arrays import arrays

_functions = arrays.section("random_extension").names
globals().update(_functions)

__all__ = [*_functions]
