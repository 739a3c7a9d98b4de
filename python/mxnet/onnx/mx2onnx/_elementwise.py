# SPDX-License-Identifier: Apache-2.0
"""Operators that work number by number: one row each where ONNX has the same one."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from ._rows import writes

_SAME = {
    "Abs": "abs", "Acos": "arccos", "Acosh": "arccosh", "Asin": "arcsin", "Asinh": "arcsinh", "Atan": "arctan",
    "Atanh": "arctanh", "Ceil": "ceil", "Cos": "cos", "Cosh": "cosh", "Erf": "erf", "Exp": "exp", "Floor": "floor",
    "Log": "log", "Neg": "negative", "Reciprocal": "reciprocal", "Sigmoid": "sigmoid",
    "Sign": "sign", "Sin": "sin", "Sinh": "sinh", "Softsign": "softsign", "Sqrt": "sqrt", "Tan": "tan", "Tanh": "tanh",
    "Identity": "_copy",
}  # fmt: skip
_OF_INTEGERS = ("Abs", "Identity", "Neg", "Sign")  # what ONNX has for them too
_IDENTITIES = ("BlockGrad", "MakeLoss", "make_loss", "LinearRegressionOutput", "MAERegressionOutput", "SVMOutput")
_PAIRS = {
    "Add": ("elemwise_add", "broadcast_add", "_npi_add"), "Sub": ("elemwise_sub", "broadcast_sub", "_npi_subtract"),
    "Mul": ("elemwise_mul", "broadcast_mul", "_npi_multiply"), "Div": ("elemwise_div", "broadcast_div", "_npi_true_divide"),
    "Pow": ("_power", "broadcast_power", "_npi_power"), "Max": ("_maximum", "broadcast_maximum", "_npi_maximum"),
    "Min": ("_minimum", "broadcast_minimum", "_npi_minimum"),
}  # fmt: skip
_SCALARS = {
    "Add": ("_plus_scalar", "_npi_add_scalar"), "Sub": ("_minus_scalar", "_npi_subtract_scalar"),
    "Mul": ("_mul_scalar", "_npi_multiply_scalar"), "Div": ("_div_scalar", "_npi_true_divide_scalar"),
    "Pow": ("_power_scalar", "_npi_power_scalar"), "Max": ("_maximum_scalar", "_npi_maximum_scalar"),
    "Min": ("_minimum_scalar", "_npi_minimum_scalar"),
}  # fmt: skip
_REVERSED = {"Sub": "_rminus_scalar", "Div": "_rdiv_scalar", "Pow": "_rpower_scalar"}
_COMPARED = {"equal": "Equal", "greater": "Greater", "lesser": "Less", "greater_equal": "GreaterOrEqual", "lesser_equal": "LessOrEqual"}


def _scalar(g: Any, n: Any) -> str:
    """The node's number in the type of its input."""
    return g.const(n.params.scalar, n.dtypes[0])


def _is_whole(n: Any) -> bool:
    """Whether the input's type has whole numbers alone."""
    return n.dtypes[0].kind in "iub"


def _same(kind: str) -> Callable[..., str]:
    def write(g: Any, n: Any) -> str:
        if kind in _OF_INTEGERS or not _is_whole(n):
            return g.op(kind, n.inputs[0])
        if kind in ("Ceil", "Floor"):
            return g.op("Identity", n.inputs[0])
        return g.cast(g.op(kind, g.cast(n.inputs[0], np.float64)), n.out_dtypes[0])

    return write


def _pair(kind: str) -> Callable[..., str]:
    return lambda g, n: g.op(kind, n.inputs[0], n.inputs[1])


def _with_scalar(kind: str) -> Callable[..., str]:
    return lambda g, n: g.op(kind, n.inputs[0], _scalar(g, n))


def _scalar_first(kind: str) -> Callable[..., str]:
    return lambda g, n: g.op(kind, _scalar(g, n), n.inputs[0])


def _compared(kind: str, negate: bool = False) -> Callable[..., str]:
    def write(g: Any, n: Any) -> str:
        right = n.inputs[1] if len(n.inputs) > 1 else _scalar(g, n)
        found = g.op(kind, n.inputs[0], right)
        return g.cast(g.op("Not", found) if negate else found, n.out_dtypes[0])

    return write


def _logical(kind: str) -> Callable[..., str]:
    def write(g: Any, n: Any) -> str:
        return g.cast(g.op(kind, *(g.cast(value, bool) for value in n.inputs)), n.out_dtypes[0])

    return write


for _kind, _name in _SAME.items():
    writes(_name)(_same(_kind))
writes(*_IDENTITIES)(_same("Identity"))
for _kind, _names in _PAIRS.items():
    writes(*_names)(_pair(_kind))
for _kind, _both in _SCALARS.items():
    writes(*_both)(_with_scalar(_kind))
for _kind, _name in _REVERSED.items():
    writes(_name)(_scalar_first(_kind))
for _name, _kind in _COMPARED.items():
    writes(f"broadcast_{_name}", f"_{_name}", f"_{_name}_scalar")(_compared(_kind))
writes("broadcast_not_equal", "_not_equal", "_not_equal_scalar")(_compared("Equal", negate=True))
for _name, _kind in {"and": "And", "or": "Or", "xor": "Xor"}.items():
    writes(f"broadcast_logical_{_name}", f"_logical_{_name}")(_logical(_kind))


@writes("logical_not")
def _logical_not(g: Any, n: Any) -> str:
    return g.cast(g.op("Not", g.cast(n.inputs[0], bool)), n.out_dtypes[0])


def _times(factor: float, kind: str) -> Callable[..., str]:
    """A function of ONNX, then a constant factor."""
    return lambda g, n: g.op("Mul", g.op(kind, n.inputs[0]), g.const(factor, n.dtypes[0]))


writes("log2")(_times(1 / math.log(2), "Log"))
writes("log10")(_times(1 / math.log(10), "Log"))


@writes("log1p")
def _log1p(g: Any, n: Any) -> str:
    return g.op("Log", g.op("Add", n.inputs[0], g.const(1, n.dtypes[0])))


@writes("expm1")
def _expm1(g: Any, n: Any) -> str:
    return g.op("Sub", g.op("Exp", n.inputs[0]), g.const(1, n.dtypes[0]))


@writes("square")
def _square(g: Any, n: Any) -> str:
    return g.op("Mul", n.inputs[0], n.inputs[0])


@writes("rsqrt")
def _rsqrt(g: Any, n: Any) -> str:
    return g.op("Reciprocal", g.op("Sqrt", n.inputs[0]))


@writes("_contrib_div_sqrt_dim")
def _div_sqrt_dim(g: Any, n: Any) -> str:
    return g.op("Div", n.inputs[0], g.const(math.sqrt(n.shapes[0][-1]), n.dtypes[0]))


@writes("relu")
def _relu(g: Any, n: Any) -> str:
    return g.op("Max", n.inputs[0], g.const(0, n.dtypes[0])) if _is_whole(n) else g.op("Relu", n.inputs[0])


@writes("rint")
def _rint(g: Any, n: Any) -> str:
    """A half goes to the number below; ONNX's Round takes the even one."""
    if _is_whole(n):
        return g.op("Identity", n.inputs[0])
    below = g.op("Floor", n.inputs[0])
    above = g.op("Greater", g.op("Sub", n.inputs[0], below), g.const(0.5, n.dtypes[0]))
    return g.op("Add", below, g.cast(above, n.dtypes[0]))


@writes("broadcast_mod", "_mod")
def _mod(g: Any, n: Any) -> str:
    """What is left has the sign of the divisor, and is 0 of a division by 0."""
    (a, b), zero = n.inputs, g.const(0, n.dtypes[0])
    by_nothing = g.op("Equal", b, zero)
    if _is_whole(n):
        return g.op("Mod", a, g.op("Where", by_nothing, g.const(1, n.dtypes[0]), b))
    left = g.op("Mod", a, b, fmod=1)  # with the sign of the other one
    turned = g.op("Xor", g.op("Less", left, zero), g.op("Less", b, zero))
    turned = g.op("And", turned, g.op("Not", g.op("Equal", left, zero)))
    return g.op("Where", by_nothing, zero, g.op("Where", turned, g.op("Add", left, b), left))


@writes("hard_sigmoid")
def _hard_sigmoid(g: Any, n: Any) -> str:
    return g.op("HardSigmoid", n.inputs[0], alpha=n.params.alpha, beta=n.params.beta)


@writes("clip")
def _clip(g: Any, n: Any) -> str:
    low, high = n.params.a_min, n.params.a_max
    if _is_whole(n):
        ends = np.iinfo(n.dtypes[0])
        low, high = (int(min(max(bound, ends.min), ends.max)) for bound in (low, high))
    return g.op("Clip", n.inputs[0], g.const(low, n.dtypes[0]), g.const(high, n.dtypes[0]))


@writes("Cast")
def _cast(g: Any, n: Any) -> str:
    return g.cast(n.inputs[0], n.params.dtype)


@writes("add_n")
def _add_n(g: Any, n: Any) -> str:
    return g.op("Sum", *n.inputs)


@writes("smooth_l1")
def _smooth_l1(g: Any, n: Any) -> str:
    x, square = n.inputs[0], n.params.scalar**2
    size = g.op("Abs", x)
    near = g.op("Mul", g.op("Mul", x, x), g.const(0.5 * square, n.dtypes[0]))
    far = g.op("Sub", size, g.const(0.5 / square, n.dtypes[0]))
    return g.op("Where", g.op("Less", size, g.const(1 / square, n.dtypes[0])), near, far)


@writes("where")
def _where(g: Any, n: Any) -> str:
    condition = g.cast(n.inputs[0], bool)
    if n.rank < len(n.shapes[1]):  # one truth for each row
        condition = g.reshape(condition, [-1, *[1] * (len(n.shapes[1]) - 1)])
    return g.op("Where", condition, n.inputs[1], n.inputs[2])


@writes("ones_like")
def _ones_like(g: Any, n: Any) -> str:
    return _filled(g, n, 1)


@writes("zeros_like")
def _zeros_like(g: Any, n: Any) -> str:
    return _filled(g, n, 0)


def _filled(g: Any, n: Any, value: int) -> str:
    return g.op("Expand", g.const(value, n.dtypes[0]), g.op("Shape", n.inputs[0]))


@writes("LogisticRegressionOutput")
def _logistic(g: Any, n: Any) -> str:
    return g.op("Sigmoid", n.inputs[0])


def softmax(g: Any, value: str, axis: int, kind: str = "Softmax") -> str:
    """Softmax along one axis."""
    return g.op(kind, value, axis=axis)


@writes("SoftmaxOutput")
def _softmax_output(g: Any, n: Any) -> str:
    if n.params.preserve_shape:
        return softmax(g, n.inputs[0], -1)
    if n.params.multi_output or n.rank == 2:
        return softmax(g, n.inputs[0], 1)
    flat = softmax(g, g.op("Flatten", n.inputs[0], axis=1), 1)
    return g.op("Reshape", flat, g.op("Shape", n.inputs[0]))


@writes("SoftmaxActivation")
def _softmax_activation(g: Any, n: Any) -> str:
    return softmax(g, n.inputs[0], 1 if n.params.mode == "channel" else -1)


@writes("softmax", "log_softmax", "softmin")
def _softmax(g: Any, n: Any) -> str:
    from ... import _core

    op, value = _core.op_info(n.op)[0], n.inputs[0]
    if n.params.temperature not in (None, 1.0):
        value = g.op("Div", value, g.const(n.params.temperature, n.dtypes[0]))
    if op == "softmin":
        value = g.op("Neg", value)
    if getattr(n.params, "use_length", False):
        return _softmax_of_lengths(g, n, value)
    made = softmax(g, value, n.params.axis, "LogSoftmax" if op == "log_softmax" else "Softmax")
    return made if n.params.dtype is None else g.cast(made, n.params.dtype)


def _softmax_of_lengths(g: Any, n: Any, value: str) -> str:
    """Numbers beyond each row's length do not take part, and come out as 0."""
    axis = n.axis(n.params.axis)
    size = [1] * n.rank
    size[axis] = n.shapes[0][axis]
    places = g.const(np.arange(size[axis], dtype=np.int64).reshape(size))
    inside = g.op("Less", places, g.unsqueeze(g.cast(n.inputs[1], np.int64), axis))
    kept = g.op("Where", inside, value, g.const(-np.inf, n.dtypes[0]))
    return g.op("Where", inside, softmax(g, kept, axis), g.const(0, n.dtypes[0]))
