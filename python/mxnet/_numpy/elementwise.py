# SPDX-License-Identifier: Apache-2.0
"""Functions of one or two tensors, element by element: NumPy's ufuncs and the like, from tables."""

from __future__ import annotations

from typing import Any, Dict, NamedTuple

import numpy as onp

from .. import _core
from ..util import check_ufunc_options
from .frontend import is_number, wrong

# Name: operator.
_UNARY = {
    "abs": "_npi_abs",
    "absolute": "_npi_absolute",
    "arccos": "_npi_arccos",
    "arccosh": "_npi_arccosh",
    "arcsin": "_npi_arcsin",
    "arcsinh": "_npi_arcsinh",
    "arctan": "_npi_arctan",
    "arctanh": "_npi_arctanh",
    "bitwise_not": "_npi_bitwise_not",
    "cbrt": "_npi_cbrt",
    "ceil": "_npi_ceil",
    "cos": "_npi_cos",
    "cosh": "_npi_cosh",
    "deg2rad": "_npi_radians",
    "degrees": "_npi_degrees",
    "exp": "_npi_exp",
    "expm1": "_npi_expm1",
    "fabs": "_npi_abs",
    "fix": "_npi_fix",
    "floor": "_npi_floor",
    "invert": "_npi_bitwise_not",
    "isfinite": "_npi_isfinite",
    "isinf": "_npi_isinf",
    "isnan": "_npi_isnan",
    "isneginf": "_npi_isneginf",
    "isposinf": "_npi_isposinf",
    "log": "_npi_log",
    "log10": "_npi_log10",
    "log1p": "_npi_log1p",
    "log2": "_npi_log2",
    "logical_not": "_npi_logical_not",
    "negative": "_npi_negative",
    "rad2deg": "_npi_degrees",
    "radians": "_npi_radians",
    "reciprocal": "_npi_reciprocal",
    "rint": "_npi_rint",
    "sign": "_npi_sign",
    "sin": "_npi_sin",
    "sinh": "_npi_sinh",
    "sqrt": "_npi_sqrt",
    "square": "_npi_square",
    "tan": "_npi_tan",
    "tanh": "_npi_tanh",
    "trunc": "_npi_trunc",
}


class Binary(NamedTuple):
    """Operators on two tensors, on a tensor and a number, and on a number and a tensor."""

    arrays: str
    scalar: str
    reversed: str
    options: bool = True  # takes the keywords of a ufunc


def _symmetric(name: str) -> Binary:
    return Binary(f"_npi_{name}", f"_npi_{name}_scalar", f"_npi_{name}_scalar")


def _ordered(name: str) -> Binary:
    return Binary(f"_npi_{name}", f"_npi_{name}_scalar", f"_npi_r{name}_scalar")


def _compared(name: str, mirrored: str) -> Binary:
    return Binary(f"_npi_{name}", f"_npi_{name}_scalar", f"_npi_{mirrored}_scalar", options=False)


BINARY: Dict[str, Binary] = {
    "add": _symmetric("add"),
    "arctan2": _ordered("arctan2"),
    "bitwise_and": _symmetric("bitwise_and"),
    "bitwise_or": _symmetric("bitwise_or"),
    "bitwise_xor": _symmetric("bitwise_xor"),
    "copysign": _ordered("copysign"),
    "divide": _ordered("true_divide"),
    "equal": _compared("equal", "equal"),
    "greater": _compared("greater", "less"),
    "greater_equal": _compared("greater_equal", "less_equal"),
    "hypot": _symmetric("hypot"),
    "lcm": _symmetric("lcm"),
    "ldexp": _ordered("ldexp"),
    "less": _compared("less", "greater"),
    "less_equal": _compared("less_equal", "greater_equal"),
    "maximum": _symmetric("maximum"),
    "minimum": _symmetric("minimum"),
    "mod": _ordered("mod"),
    "multiply": _symmetric("multiply"),
    "not_equal": _compared("not_equal", "not_equal"),
    "power": _ordered("power"),
    "remainder": _ordered("mod"),
    "subtract": _ordered("subtract"),
    "true_divide": _ordered("true_divide")._replace(options=False),
}


def _describe(call: Any, name: str, op_name: str) -> Any:
    call.__name__ = call.__qualname__ = name
    call.__module__ = "mxnet.numpy"
    call.__doc__ = _core.op_info(op_name)[1].strip() or f"{name}, element by element."
    return call


def _unary(F: Any, name: str, op_name: str) -> Any:
    op, of_numbers = F.op(op_name), getattr(onp, name)

    def call(x: Any, out: Any = None, **kwargs: Any) -> Any:
        if kwargs:
            check_ufunc_options(name, kwargs)
        if F.is_tensor(x):
            return op(x, out=out)
        if is_number(x):
            return of_numbers(x)
        raise wrong(name, x, f"{F.tensors} or a number")

    return F.elementwise_function(_describe(call, name, op_name), op)


def _binary(F: Any, name: str, row: Binary) -> Any:
    arrays, scalar, reverse = F.op(row.arrays), F.op(row.scalar), F.op(row.reversed)
    of_numbers = getattr(onp, name)

    def compute(x1: Any, x2: Any, out: Any) -> Any:
        left, right = F.is_tensor(x1), F.is_tensor(x2)
        if left and right:
            return arrays(x1, x2, out=out)
        if left and is_number(x2):
            return scalar(x1, scalar=float(x2), out=out)
        if right and is_number(x1):
            return reverse(x2, scalar=float(x1), out=out)
        if is_number(x1) and is_number(x2):
            return of_numbers(x1, x2)
        raise wrong(name, x2 if left or is_number(x1) else x1, f"{F.tensors} or numbers")

    def call(x1: Any, x2: Any, out: Any = None) -> Any:
        return compute(x1, x2, out)

    def call_with_options(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
        if kwargs:
            check_ufunc_options(name, kwargs)
        return compute(x1, x2, out)

    chosen: Any = call_with_options if row.options else call
    return F.elementwise_function(_describe(chosen, name, row.arrays), arrays, scalar, reverse)


def functions(F: Any) -> Dict[str, Any]:
    """All of them by name."""
    made = {name: _unary(F, name, op) for name, op in _UNARY.items()}
    made.update({name: _binary(F, name, row) for name, row in BINARY.items()})
    return made


