# SPDX-License-Identifier: Apache-2.0
"""Operators that work number by number: one row each where this library has the same one."""

from __future__ import annotations

from functools import reduce
from typing import Any, Callable

import numpy as np

from .... import symbol
from ._rows import reads

sym: Any = symbol  # whose operators get inputs as lists here

_SAME = {
    "Abs": sym.abs, "Acos": sym.arccos, "Acosh": sym.arccosh, "Asin": sym.arcsin, "Asinh": sym.arcsinh,
    "Atan": sym.arctan, "Atanh": sym.arctanh, "Ceil": sym.ceil, "Cos": sym.cos, "Cosh": sym.cosh, "Erf": sym.erf,
    "Exp": sym.exp, "Floor": sym.floor, "Identity": sym.identity, "Log": sym.log, "Neg": sym.negative,
    "Not": sym.logical_not, "Reciprocal": sym.reciprocal, "Relu": sym.relu, "Sigmoid": sym.sigmoid,
    "Sign": sym.sign, "Sin": sym.sin, "Sinh": sym.sinh, "Softsign": sym.softsign, "Sqrt": sym.sqrt, "Tan": sym.tan,
    "Tanh": sym.tanh,
}  # fmt: skip
_PAIRS = {
    "Add": sym.broadcast_add, "Sub": sym.broadcast_sub, "Mul": sym.broadcast_mul, "Pow": sym.broadcast_power,
    "Equal": sym.broadcast_equal, "Greater": sym.broadcast_greater, "Less": sym.broadcast_lesser,
    "GreaterOrEqual": sym.broadcast_greater_equal, "LessOrEqual": sym.broadcast_lesser_equal,
    "And": sym.broadcast_logical_and, "Or": sym.broadcast_logical_or, "Xor": sym.broadcast_logical_xor,
}  # fmt: skip
_MANY = {"Sum": sym.broadcast_add, "Max": sym.broadcast_maximum, "Min": sym.broadcast_minimum}


def name_of(n: Any) -> str:
    """The name of a node's first output, which the symbol's node takes over."""
    return n.outputs[0].replace("/", "_").replace(":", "_") + "_"


def _same(function: Any) -> Callable[[Any], Any]:
    return lambda n: function(n.sym())


def _pair(function: Any) -> Callable[[Any], Any]:
    return lambda n: function(*aligned(n))


def _many(function: Any) -> Callable[[Any], Any]:
    return lambda n: reduce(function, (n.sym(i) for i in range(len(n.inputs))))


def aligned(n: Any) -> Any:
    """Both inputs; before opset 7 the smaller one lies along `axis` of the other."""
    left, right = n.sym(0), n.sym(1)
    if "axis" in n.attrs and n.attrs.get("broadcast"):
        behind = n.rank(0) - n.axis(0, n.rank(0)) - n.rank(1)
        right = sym.reshape(right, shape=(*n.shape(1), *[1] * behind))
    return left, right


for _name, _function in _SAME.items():
    reads(_name)(_same(_function))
for _name, _function in _PAIRS.items():
    reads(_name)(_pair(_function))
for _name, _function in _MANY.items():
    reads(_name)(_many(_function))


@reads("Mean")
def _mean(n: Any) -> Any:
    return _many(sym.broadcast_add)(n) / len(n.inputs)


@reads("Div")
def _div(n: Any) -> Any:
    made = sym.broadcast_div(*aligned(n))
    return made if n.dtype(0).kind == "f" else sym.cast(sym.trunc(made), dtype=n.dtype(0).name)


@reads("Mod")
def _mod(n: Any) -> Any:
    left, right = n.sym(0), n.sym(1)
    made = sym.broadcast_mod(left, right)  # has the sign of the right one
    if not n.attrs.get("fmod", 0):
        return made
    signs = sym.broadcast_not_equal(sym.sign(made), sym.sign(left)) * (made != 0)
    return made - sym.broadcast_mul(signs, right)


@reads("Round")
def _round(n: Any) -> Any:
    """A half goes to the even number, by rint to the one below."""
    value = n.sym(0)
    is_half = value - sym.floor(value) == 0.5
    return sym.where(is_half, 2 * sym.rint(value / 2), sym.rint(value))


@reads("Clip")
def _clip(n: Any) -> Any:
    low, high = (
        float(n.known(place, key)) if n.has(place) else n.attrs.get(key, default)
        for place, key, default in ((1, "min", -np.inf), (2, "max", np.inf))
    )
    return sym.clip(n.sym(), a_min=low, a_max=high)


@reads("Cast")
def _cast(n: Any) -> Any:
    from ....onnx._package import type_of_number

    return sym.cast(n.sym(), dtype=type_of_number(n.attrs["to"]).name)


@reads("Where")
def _where(n: Any) -> Any:
    inputs = [n.sym(i) for i in range(3)]
    shapes = [n.shape(i) for i in range(3)]
    if len(set(shapes)) > 1:
        shape = np.broadcast_shapes(*shapes)
        inputs = [expanded(value, own, shape) for value, own in zip(inputs, shapes)]
    return sym.where(*inputs)


def expanded(value: Any, own: Any, shape: Any) -> Any:
    """A value repeated to a shape that NumPy's rules allow."""
    return value if own == tuple(shape) else sym.broadcast_to(sym.reshape(value, shape=(*[1] * (len(shape) - len(own)), *own)), shape=shape)


@reads("Constant")
def _constant(n: Any) -> np.ndarray:
    for key, kind in {"value_float": np.float32, "value_floats": np.float32, "value_int": np.int64, "value_ints": np.int64}.items():
        if key in n.attrs:
            return np.array(n.attrs[key], kind)
    if "value" not in n.attrs:
        raise n.refuse(f"attributes {', '.join(n.attrs)}", "value, value_float(s) or value_int(s)")
    return n.attrs["value"]


# --- Activations


@reads("LeakyRelu")
def _leaky_relu(n: Any) -> Any:
    return sym.LeakyReLU(n.sym(), act_type="leaky", slope=n.attrs.get("alpha", 0.01))


@reads("Elu")
def _elu(n: Any) -> Any:
    return sym.LeakyReLU(n.sym(), act_type="elu", slope=n.attrs.get("alpha", 1.0))


@reads("Selu")
def _selu(n: Any) -> Any:
    alpha, gamma = n.attrs.get("alpha", 1.6732632423543772), n.attrs.get("gamma", 1.0507009873554805)
    return gamma * sym.LeakyReLU(n.sym(), act_type="elu", slope=alpha)


@reads("Gelu")
def _gelu(n: Any) -> Any:
    if n.attrs.get("approximate", "none") != "none":
        x = n.sym()
        return 0.5 * x * (1 + sym.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x * x * x)))
    return sym.LeakyReLU(n.sym(), act_type="gelu")


@reads("PRelu")
def _prelu(n: Any) -> Any:
    x, slope = n.sym(0), n.sym(1)
    return sym.relu(x) - sym.broadcast_mul(slope, sym.relu(-x))


@reads("HardSigmoid")
def _hard_sigmoid(n: Any) -> Any:
    return sym.hard_sigmoid(n.sym(), alpha=n.attrs.get("alpha", 0.2), beta=n.attrs.get("beta", 0.5))


@reads("HardSwish")
def _hard_swish(n: Any) -> Any:
    return n.sym() * sym.hard_sigmoid(n.sym(), alpha=1 / 6, beta=0.5)


@reads("Softplus")
def _softplus(n: Any) -> Any:
    return sym.Activation(n.sym(), act_type="softrelu")


@reads("ThresholdedRelu")
def _thresholded_relu(n: Any) -> Any:
    return n.sym() * (n.sym() > n.attrs.get("alpha", 1.0))


@reads("Softmax")
def _softmax(n: Any) -> Any:
    return _along_axis(n, sym.softmax)


@reads("LogSoftmax")
def _log_softmax(n: Any) -> Any:
    return _along_axis(n, sym.log_softmax)


def _along_axis(n: Any, function: Any) -> Any:
    """Along one axis; before opset 13 along all from it on."""
    if n.opset >= 13:
        return function(n.sym(), axis=n.attrs.get("axis", -1))
    axis = n.attrs.get("axis", 1)
    rank = n.rank()
    if axis in (-1, rank - 1):
        return function(n.sym(), axis=-1)
    flat = sym.reshape(n.sym(), shape=(int(np.prod(n.shape()[:axis])), -1))
    return sym.reshape_like(function(flat, axis=-1), n.sym())


@reads("Hardmax")
def _hardmax(n: Any) -> Any:
    rank = n.rank()
    axis = n.axis(-1 if n.opset >= 13 else 1, rank)
    if n.opset < 13 and axis != rank - 1:
        flat = sym.reshape(n.sym(), shape=(int(np.prod(n.shape()[:axis])), -1))
        return sym.reshape_like(sym.one_hot(sym.argmax(flat, axis=1), depth=int(np.prod(n.shape()[axis:]))), n.sym())
    hot = sym.one_hot(sym.argmax(n.sym(), axis=axis), depth=n.shape()[axis])
    order = list(range(rank - 1))
    return sym.transpose(hot, axes=(*order[:axis], rank - 1, *order[axis:]))


@reads("Dropout")
def _dropout(n: Any) -> Any:
    ratio = float(n.known(1, "ratio")) if n.has(1) else n.attrs.get("ratio", 0.5)
    return sym.Dropout(n.sym(), p=ratio)
