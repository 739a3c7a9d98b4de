# SPDX-License-Identifier: Apache-2.0
"""mx.np's functions on symbols: F.np in Gluon's blocks, mx.sym.np."""

from ..._numpy.symbols import symbols
from . import _internal, _symbol, linalg, random
from ._symbol import _Symbol

globals().update(symbols.names)

__all__ = sorted({*symbols.names} - {"broadcast_arrays", "meshgrid", "nonzero"})
