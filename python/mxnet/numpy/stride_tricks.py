# SPDX-License-Identifier: Apache-2.0
"""np.broadcast_arrays, where NumPy's users look for it."""

from .._numpy.arrays import arrays

__all__ = ["broadcast_arrays"]

broadcast_arrays = arrays.broadcast_arrays
