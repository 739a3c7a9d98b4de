# SPDX-License-Identifier: Apache-2.0
"""Functions of two operands, of which each may be a number, and Python's operators on arrays."""

from __future__ import annotations

from typing import Any, Callable, Dict

import numpy as np

from .. import _core
from .._core import NDArrayBase
from . import _generate

_op = _generate.operator

# What functions of two arrays call in place of an operator: mixed precision casts before it.
replaced: Dict[str, Callable[..., Any]] = {}


def _function(name: str, arrays: str, scalar: str, reversed_scalar: str, python: Any) -> Any:
    """A function of two operands of which each may be a number."""

    def call(lhs: Any, rhs: Any) -> Any:
        left, right = isinstance(lhs, NDArrayBase), isinstance(rhs, NDArrayBase)
        if left and right:
            return (replaced.get(arrays) or _op(arrays))(lhs, rhs)
        if left and isinstance(rhs, (int, float, np.generic)):
            return _op(scalar)(lhs, scalar=rhs)
        if right and isinstance(lhs, (int, float, np.generic)):
            return _op(reversed_scalar)(rhs, scalar=lhs)
        if not left and not right:
            return python(lhs, rhs)
        raise TypeError(f"{name}: given {type(lhs).__name__} and {type(rhs).__name__}, expected arrays or numbers")

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{arrays} of two arrays, or of an array and a number."
    return call


# Name: (arrays, array OP number, number OP array, of two numbers).
_ARITHMETIC = {
    "add": ("broadcast_add", "_plus_scalar", "_plus_scalar", np.add),
    "subtract": ("broadcast_sub", "_minus_scalar", "_rminus_scalar", np.subtract),
    "multiply": ("broadcast_mul", "_mul_scalar", "_mul_scalar", np.multiply),
    "divide": ("broadcast_div", "_div_scalar", "_rdiv_scalar", np.divide),
    "modulo": ("broadcast_mod", "_mod_scalar", "_rmod_scalar", np.mod),
    "power": ("broadcast_power", "_power_scalar", "_rpower_scalar", np.power),
    "less": ("broadcast_lesser", "_lesser_scalar", "_greater_scalar", np.less),
    "less_equal": ("broadcast_lesser_equal", "_lesser_equal_scalar", "_greater_equal_scalar", np.less_equal),
    "equal": ("broadcast_equal", "_equal_scalar", "_equal_scalar", np.equal),
    "not_equal": ("broadcast_not_equal", "_not_equal_scalar", "_not_equal_scalar", np.not_equal),
    "greater": ("broadcast_greater", "_greater_scalar", "_lesser_scalar", np.greater),
    "greater_equal": ("broadcast_greater_equal", "_greater_equal_scalar", "_lesser_equal_scalar", np.greater_equal),
}
_FUNCTIONS = {
    **_ARITHMETIC,
    "maximum": ("broadcast_maximum", "_maximum_scalar", "_maximum_scalar", np.maximum),
    "minimum": ("broadcast_minimum", "_minimum_scalar", "_minimum_scalar", np.minimum),
    "logical_and": ("broadcast_logical_and", "_logical_and_scalar", "_logical_and_scalar", np.logical_and),
    "logical_or": ("broadcast_logical_or", "_logical_or_scalar", "_logical_or_scalar", np.logical_or),
    "logical_xor": ("broadcast_logical_xor", "_logical_xor_scalar", "_logical_xor_scalar", np.logical_xor),
}
for _name, _row in _FUNCTIONS.items():
    globals()[_name] = _function(_name, *_row)
lesser, lesser_equal, true_divide = globals().pop("less"), globals().pop("less_equal"), globals()["divide"]
_power = globals()["power"]
lesser.__name__ = lesser.__qualname__ = "lesser"
lesser_equal.__name__ = lesser_equal.__qualname__ = "lesser_equal"


def power(base: Any, exp: Any) -> Any:
    """Power of two arrays, or of an array and a number."""
    return _power(base, exp)


_core.set_arithmetic(
    False,
    {
        **{name: tuple(_op(op) for op in row[:3]) for name, row in _ARITHMETIC.items()},
        "negative": _op("negative"),
        "absolute": _op("abs"),
    },
)

__all__ = ["lesser", "lesser_equal", "true_divide", *(name for name in _FUNCTIONS if not name.startswith("less"))]
