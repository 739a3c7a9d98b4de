# SPDX-License-Identifier: Apache-2.0
"""What amp.init() does to Python's operators on arrays and symbols: `a - b` casts as mx.nd.broadcast_sub does.

The functions of mx.nd and mx.sym are replaced in their modules; the operators between arrays do not come from there.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List

from ... import ndarray, symbol
from ...ndarray import NDArray
from ...ndarray import arithmetic as _of_arrays
from ...symbol import _generate as _of_symbols

__all__ = ["patch"]

# Python's name of an operator and the function of mx.nd of which it is a sign.
_SIGNS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "mod": "modulo", "pow": "power",
    "lt": "less", "le": "less_equal", "eq": "equal", "ne": "not_equal", "gt": "greater", "ge": "greater_equal",
}  # fmt: skip
_IN_PLACE = ("add", "sub", "mul", "truediv", "mod")

# Operators of two symbols, under the names that their nodes are given or that cells call, and what the lists call them.
_NODES = {
    "_Power": "_power", "_Hypot": "_hypot",
    **{name: name for name in (
        "_Plus", "_Minus", "_Mul", "_Div", "_Mod", "_Maximum", "_Minimum", "_equal", "_not_equal", "_greater", "_greater_equal",
        "_lesser", "_lesser_equal", "_plus", "_minus", "_mul", "_div", "_mod",
    )},
}  # fmt: skip

Cast = Callable[[List[Any]], List[Any]]


def patch(makes: Dict[str, Callable[[Any, bool], Cast]], wrapped: Callable[..., Any]) -> None:
    """`makes` has, by operator, what makes the cast of its inputs; `wrapped` puts a cast before a function."""
    for name, row in _of_arrays._FUNCTIONS.items():
        if row[0] in makes:
            cast = makes[row[0]](ndarray, True)
            _of_arrays.replaced[row[0]] = wrapped(_of_arrays._op(row[0]), cast, NDArray)
            for sign in (sign for sign, function in _SIGNS.items() if function == name):
                _patch_sign(sign, cast)
    for name, listed in _NODES.items():
        if listed in makes:
            made = wrapped(_of_symbols.function(name), makes[listed](symbol, False), symbol.Symbol)
            _of_symbols.replace(name, made)
            setattr(symbol._internal, name, made)


def _takes_part(value: Any) -> bool:
    """Operators of mx.np find their types themselves; sparse arrays stay as they are."""
    return isinstance(value, NDArray) and not value._is_np and value.stype == "default"


def _patch_sign(sign: str, cast: Cast) -> None:
    """`a OP b` and `a OP= b` of two arrays. What becomes of another type is a new array: memory keeps its type."""
    plain = getattr(NDArray, f"__{sign}__")

    def operator(a: Any, b: Any) -> Any:
        return plain(*cast([a, b])) if _takes_part(b) and _takes_part(a) else plain(a, b)

    setattr(NDArray, f"__{sign}__", operator)
    if sign not in _IN_PLACE:
        return
    plain_in_place = getattr(NDArray, f"__i{sign}__")

    def in_place(a: Any, b: Any) -> Any:
        if not (_takes_part(b) and _takes_part(a)):
            return plain_in_place(a, b)
        left, right = cast([a, b])
        return plain_in_place(a, right) if left.dtype == a.dtype else plain(left, right)

    setattr(NDArray, f"__i{sign}__", in_place)
