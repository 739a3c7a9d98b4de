# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions on symbols."""

from __future__ import annotations

import importlib
from typing import Any, Callable, Dict, List, Optional, Tuple

from ..context import current_context
from ..symbol import _generate
from ..symbol.symbol import Symbol
from .frontend import Frontend


class Operator:
    """An operator on symbols, as a function whose results have NumPy's operators."""

    def __init__(self, op_name: str) -> None:
        self.op_name = op_name
        shown = op_name.split("_", 2)[2] if op_name.startswith(("_np_", "_npi_", "_npx_")) else op_name
        self._compose = _generate.function(op_name, shown.rpartition("_image_")[2])
        self.__name__ = self.__qualname__ = op_name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs.pop("out", None) is not None:
            raise NotImplementedError(f"{self.op_name}: given out, expected None: symbols have no memory")
        made = self._compose(*args, **kwargs).as_np_ndarray()
        return made if len(made) == 1 else list(made)

    @property
    def __doc__(self) -> Optional[str]:  # type: ignore[override]
        return self._compose.__doc__

    @property
    def __signature__(self) -> Any:
        from inspect import Parameter, Signature

        listed = _generate.operator(self.op_name).__signature__.parameters
        shown = [parameter for name, parameter in listed.items() if name not in ("out", "name", "kwargs")]
        kind = Parameter.KEYWORD_ONLY if shown and shown[0].kind is Parameter.VAR_POSITIONAL else Parameter.POSITIONAL_OR_KEYWORD
        ending = [Parameter(name, kind, default=None) for name in ("name", "attr", "out")]
        return Signature([*shown, *ending, Parameter("kwargs", Parameter.VAR_KEYWORD)])

    def __repr__(self) -> str:
        return f"<operator {self.op_name} on symbols>"

    def __reduce__(self) -> Any:
        return _operator, (self.op_name,)


class Symbols(Frontend):
    """The front end of symbols. There is one, `symbols`."""

    tensors = "symbols"

    def __init__(self) -> None:
        self._operators: Dict[str, Operator] = {}
        super().__init__()

    def op(self, name: str) -> Callable[..., Any]:
        made = self._operators.get(name)
        if made is None:
            made = self._operators[name] = Operator(name)
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

    def in_numpy(self, name: str, *tensors: Any, **params: Any) -> Any:
        importlib.import_module("mxnet.numpy_op_fallback")  # registers them
        return self.op("Custom")(*tensors, op_type=name, **params)

    def constant(self, values: Any, like: Any, exact: bool = False) -> Any:
        raise NotImplementedError(f"given {type(values).__name__}, expected a symbol: constants have no place in networks")

    def elementwise_function(self, call: Any, arrays: Any, scalar: Any = None, reverse: Any = None) -> Any:
        call.__module__ = "mxnet.symbol.numpy"
        return call

    def listed(self, several: Any) -> List[Any]:
        return several if isinstance(several, list) else [several]

    def __reduce__(self) -> str:
        return "symbols"


symbols = Symbols()


def _operator(name: str) -> Any:
    return symbols.op(name)
