# SPDX-License-Identifier: Apache-2.0
"""mx.np's functions as Gluon's blocks see them for arrays: F.np."""

from ...numpy import multiarray
from ...numpy.multiarray import *  # noqa: F403
from ..._numpy.arrays import arrays
from . import _internal, linalg, random

_op = multiarray
broadcast_arrays, meshgrid = arrays.broadcast_arrays, arrays.meshgrid

__all__ = [name for name in multiarray.__all__ if name not in ("ndarray", "array", "empty")]
