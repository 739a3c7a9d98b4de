# SPDX-License-Identifier: Apache-2.0
"""Blocks: Block, HybridBlock, which can become a graph, and SymbolBlock, which is one."""

from ._block import Block
from ._hybrid_block import HybridBlock
from ._naming import BlockScope as _BlockScope  # noqa: F401  (packages take what has an underscore from here)
from ._structure import flatten as _flatten, regroup as _regroup  # noqa: F401
from ._symbol_block import SymbolBlock
from .utils import _brief_print_list, _indent  # noqa: F401

__all__ = ["Block", "HybridBlock", "SymbolBlock"]

for _class in (Block, HybridBlock, SymbolBlock):
    _class.__module__ = __name__  # where pickles look for them
