# SPDX-License-Identifier: Apache-2.0
"""Names of blocks: a prefix for each, made of the class's name and a number.

Inside `with block.name_scope()` numbers start anew and prefixes follow the block's own; elsewhere
the thread's NameManager counts.
"""

from __future__ import annotations

import threading
from typing import Any, Dict, List, Optional, Tuple

from .. import _core
from .. import name as _name
from .._class_property import Innermost
from .parameter import ParameterDict


class _Entered(threading.local):
    """The scopes that each thread is in, the innermost last; None stands for there being none."""

    def __init__(self) -> None:
        self.stack: List[Optional[BlockScope]] = [None]


_local = _Entered()


class BlockScope(_core.StackScope):
    """The names that a block gives to what is made inside its name_scope. May be nested."""

    _stacks = (_local, *_name.NameManager._stacks)
    _current = Innermost(lambda: _local.stack[-1])

    def __init__(self, block: Any) -> None:
        self._block = block
        self._counter: Dict[str, int] = {}

    @staticmethod
    def create(prefix: Optional[str], params: Optional[ParameterDict], hint: str) -> Tuple[str, ParameterDict]:
        """Prefix and parameters of a new block."""
        scope = _local.stack[-1]
        if scope is None:
            if prefix is None:
                prefix = _name.current().get(None, hint) + "_"
            return prefix, ParameterDict(prefix) if params is None else ParameterDict(params.prefix, params)
        if prefix is None:
            prefix = f"{hint}{scope._next(hint)}_"
        if params is None:
            parent = scope._block.params
            made = ParameterDict(parent.prefix + prefix, parent._shared)
        else:
            made = ParameterDict(params.prefix, params)
        return scope._block.prefix + prefix, made

    def _next(self, hint: str) -> int:
        number = self._counter.get(hint, 0)
        self._counter[hint] = number + 1
        return number

    def _entered(self) -> Tuple[Any, ...]:
        if self._block._empty_prefix:
            return _local.stack[-1], _name.current()
        return self, _name.Prefix(self._block.prefix)
