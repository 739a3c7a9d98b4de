# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions on symbols."""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, Optional, Tuple

from ..context import current_context
from ..symbol import _generate
from ..symbol.symbol import Symbol
from .frontend import Frontend


class Symbols(Frontend):
    """The front end of symbols. There is one, `symbols`."""

    tensors = "symbols"

    def __init__(self) -> None:
        self._operators: Dict[str, Callable[..., Any]] = {}
        super().__init__()

    def op(self, name: str) -> Callable[..., Any]:
        made = self._operators.get(name)
        if made is None:
            compose = _generate.function(name)

            @functools.wraps(compose)
            def call(*args: Any, **kwargs: Any) -> Any:
                from ..symbol.numpy._symbol import as_numpy_symbol

                if kwargs.pop("out", None) is not None:
                    raise NotImplementedError(f"{name}: given out, expected None: symbols have no memory")
                return as_numpy_symbol(compose(*args, **kwargs))

            made = self._operators[name] = call
        return made

    def is_tensor(self, value: Any) -> bool:
        return isinstance(value, Symbol)

    def context(self, ctx: Any) -> str:
        return str(current_context() if ctx is None else ctx)

    def ndim(self, value: Any, why: str) -> int:
        raise NotImplementedError(f"{why} needs the number of dimensions, which a symbol does not have yet")

    def shape(self, value: Any, why: str) -> Tuple[int, ...]:
        raise NotImplementedError(f"{why} needs the shape, which a symbol does not have yet")

    def known_ndim(self, value: Any, otherwise: int) -> int:
        return otherwise

    def known_length(self, value: Any, axis: int) -> Optional[int]:
        return None

    def constant(self, values: Any, like: Any) -> Any:
        raise NotImplementedError(f"given {type(values).__name__}, expected a symbol: constants have no place in networks")

    def elementwise_function(self, call: Any, arrays: Any, scalar: Any = None, reverse: Any = None) -> Any:
        return call

    def listed(self, several: Any) -> Any:
        return several

    def __reduce__(self) -> str:
        return "symbols"


symbols = Symbols()
