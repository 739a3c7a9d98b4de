# SPDX-License-Identifier: Apache-2.0
"""mx.np's functions on symbols: F.np in Gluon's blocks, mx.sym.np."""

from typing import Any

from ..._numpy.symbols import symbols
from ...ndarray import _generate
from . import _internal, _symbol, linalg, random
from ._symbol import _Symbol

globals().update(symbols.names)
# These are operators here, with the arguments of the registry.
globals().update({name: symbols.op(f"_np_{name}") for name in _generate.names_in("_np_")})


def shares_memory(a: Any, b: Any, max_work: Any = None) -> _Symbol:
    """Whether two tensors lie in the same memory. `max_work` is not needed."""
    del max_work
    return symbols.op("_npi_share_memory")(a, b)


may_share_memory = shares_memory

__all__ = sorted(
    {*symbols.names, *_generate.names_in("_np_"), "may_share_memory", "shares_memory"}
    - {"broadcast_arrays", "meshgrid", "nonzero"}
)
