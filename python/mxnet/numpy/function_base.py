# SPDX-License-Identifier: Apache-2.0
"""np.meshgrid, where NumPy's users look for it."""

from .._numpy.arrays import arrays

__all__ = ["meshgrid"]

meshgrid = arrays.meshgrid
