# SPDX-License-Identifier: Apache-2.0
"""mx.np's functions as Gluon's blocks see them for arrays: F.np."""

from ..._numpy.arrays import arrays
from ...numpy import multiarray
from ...numpy.multiarray import may_share_memory, shape, shares_memory
from .. import _generate
from . import _internal, linalg, random

_op = multiarray
globals().update(arrays.names)
# These are operators here, with the arguments of the registry.
globals().update({name: _generate.placed_operator(f"_np_{name}", __name__, name) for name in _generate.names_in("_np_")})

__all__ = sorted({*arrays.names, *_generate.names_in("_np_"), "may_share_memory", "shape", "shares_memory"})
