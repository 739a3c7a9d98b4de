# SPDX-License-Identifier: Apache-2.0
"""Python's operators on symbols."""

from __future__ import annotations

from typing import Any, Optional

from .._core import SymbolBase
from .._old_operators import OldOperators
from . import _generate

# Python's name: (of two symbols, symbol OP number, number OP symbol or None for comparisons). The
# names become those of nodes that users have not named: they are part of saved parameters.
_OPERATORS = {
    "add": ("_Plus", "_PlusScalar", "_PlusScalar"),
    "sub": ("_Minus", "_MinusScalar", "_RMinusScalar"),
    "mul": ("_Mul", "_MulScalar", "_MulScalar"),
    "truediv": ("_Div", "_DivScalar", "_RDivScalar"),
    "mod": ("_Mod", "_ModScalar", "_RModScalar"),
    "pow": ("_Power", "_PowerScalar", "_rpower_scalar"),
    "eq": ("_equal", "_equal_scalar", None),
    "ne": ("_not_equal", "_not_equal_scalar", None),
    "gt": ("_greater", "_greater_scalar", None),
    "ge": ("_greater_equal", "_greater_equal_scalar", None),
    "lt": ("_lesser", "_lesser_scalar", None),
    "le": ("_lesser_equal", "_lesser_equal_scalar", None),
}


def is_number(value: Any) -> bool:
    """Whether it may stand where an operator takes a scalar."""
    if isinstance(value, (int, float)):
        return True
    import numpy as np

    return isinstance(value, np.generic)


class Arithmetic(OldOperators):
    """The part of Symbol that is arithmetic."""

    def _arithmetic(self, other: Any, arrays: str, scalar: str) -> Any:
        if isinstance(other, SymbolBase):
            return _generate.function(arrays)(self, other)
        if is_number(other):
            return _generate.function(scalar)(self, scalar=other)
        return NotImplemented

    def __neg__(self) -> Any:
        return _generate.function("_MulScalar")(self, scalar=-1.0)

    def __abs__(self) -> Any:
        return _generate.function("abs")(self)


def _define(python: str, arrays: str, scalar: str, reversed_scalar: Optional[str]) -> None:
    def operator(self: Arithmetic, other: Any) -> Any:
        return self._arithmetic(other, arrays, scalar)

    def reversed_operator(self: Arithmetic, other: Any) -> Any:
        return self._arithmetic(other, arrays, reversed_scalar)  # type: ignore[arg-type]

    def in_place(self: Arithmetic, other: Any) -> Any:
        return getattr(self, f"__{python}__")(other)  # that of the symbol's own class, which may be NumPy's

    setattr(Arithmetic, f"__{python}__", operator)
    if python in ("add", "sub", "mul", "truediv"):  # a symbol has no memory: x += y is x = x + y
        setattr(Arithmetic, f"__i{python}__", in_place)
    if reversed_scalar is not None:
        setattr(Arithmetic, f"__r{python}__", reversed_operator)


for _python, _row in _OPERATORS.items():
    _define(_python, *_row)
