# SPDX-License-Identifier: Apache-2.0
"""Blocks: Block, HybridBlock, which can become a graph, and SymbolBlock, which is one."""

from ._block import Block
from ._hybrid_block import HybridBlock
from ._structure import flatten as _flatten, regroup as _regroup  # noqa: F401  (packages take them from here)
from ._symbol_block import SymbolBlock

__all__ = ["Block", "HybridBlock", "SymbolBlock"]

for _class in (Block, HybridBlock, SymbolBlock):
    _class.__module__ = __name__  # where pickles look for them
