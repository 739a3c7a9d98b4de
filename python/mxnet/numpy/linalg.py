# SPDX-License-Identifier: Apache-2.0
"""np.linalg."""

from .._numpy.arrays import arrays
from . import fallback_linalg
from .fallback_linalg import *  # noqa: F403

_functions = arrays.section("linalg").names
globals().update(_functions)

__all__ = [*_functions, *fallback_linalg.__all__]
