# SPDX-License-Identifier: Apache-2.0
"""Calls of operators that nobody has written down: arrays of random shapes, types and numbers, and parameters that fit them."""
import dataclasses
import random
import zlib
from typing import Any, Callable, Dict, List

import numpy as np

FLOATS = ["float16", "float32", "float64"]
NUMBERS = FLOATS + ["uint8", "int8", "int32", "int64"]
TYPES = NUMBERS + ["bool"]
MAKERS: Dict[str, Callable] = {}


@dataclasses.dataclass
class Call:
    op: str
    arrays: List[np.ndarray]
    params: Dict[str, Any]


class Draw:
    """Random things, all from one seed, a text."""

    def __init__(self, seed):
        self.random, self.numbers = random.Random(seed), np.random.RandomState(zlib.crc32(seed.encode()))
        self.one_of, self.whole = self.random.choice, self.random.randint

    def chance(self, likely):
        return self.random.random() < likely

    def flag(self):
        return self.one_of(["True", "False"])

    def shape(self, least=1, most=4, longest=5, empty=False):
        return tuple(0 if empty and self.chance(0.04) else self.whole(1, longest) for _ in range(self.whole(least, most)))

    def axis(self, shape, none=True):
        return "None" if none and self.chance(0.2) else self.whole(-len(shape), len(shape) - 1)

    def axes(self, shape):
        """Some of the axes, counted from either end; none of them stands for all."""
        if self.chance(0.2):
            return "()"
        chosen = self.random.sample(range(len(shape)), self.whole(1, len(shape)))
        return as_tuple(a - len(shape) if self.chance(0.4) else a for a in chosen)

    def alike(self, most=4):
        """Two shapes that broadcast with each other."""
        first = list(self.shape(1, most))
        second = list(first)
        for i in range(len(first)):
            shorter = self.one_of([first, second, [], []])
            if shorter:
                shorter[i] = 1
        return tuple(first), tuple(second)

    def array(self, shape, dtype=None, special=None, low=-5, high=6):
        """Numbers with NaN, infinities and ends of the range among them now and then, or as `special` says."""
        dtype = dtype or self.one_of(TYPES)
        special = self.chance(0.15) if special is None else special
        if dtype == "bool":
            return np.asarray(self.numbers.rand(*shape) < 0.5)
        if dtype in FLOATS and self.chance(0.6):
            made = np.asarray(self.numbers.randn(*shape) * 3).astype(dtype)
        else:
            made = np.asarray(self.numbers.randint(0 if dtype == "uint8" else low, high, shape)).astype(dtype)
        if not special:
            return made
        limits = np.finfo(dtype) if dtype in FLOATS else np.iinfo(dtype)
        odd = [limits.min, limits.max, 0, 1] + ([np.nan, np.inf, -np.inf, -0.0, limits.tiny] if dtype in FLOATS else [])
        chosen = np.array(odd, dtype)[self.numbers.randint(0, len(odd), shape)]
        return np.where(self.numbers.rand(*shape) < 0.2, chosen, made).astype(dtype)

    def distinct(self, shape, dtype):
        """Numbers of which no two are the same where the type has room: what sorts has no ties."""
        return (self.numbers.permutation(int(np.prod(shape))).reshape(shape) % 120).astype(dtype)


def as_tuple(items):
    items = list(map(str, items))
    return f"({','.join(items)}{',' if len(items) == 1 else ''})"


def maker(names):
    """The function makes (arrays, parameters) of each of these operators."""

    def mark(function):
        for name in names.split():
            MAKERS[name] = function
        return function

    return mark


@maker("relu sigmoid softsign tanh erf exp log log2 log10 log1p expm1 sqrt rsqrt cbrt rcbrt square abs sign round rint ceil floor trunc "
       "fix reciprocal negative sin cos tan arcsin arccos arctan sinh cosh arcsinh arccosh arctanh degrees radians gammaln logical_not "
       "_npi_negative _npi_reciprocal _npi_absolute _npi_sign _npi_rint _npi_ceil _npi_floor _npi_trunc _npi_square _npi_sqrt _npi_cbrt "
       "_npi_exp _npi_log _npi_log2 _npi_log10 _npi_expm1 _npi_log1p _npi_logical_not _npi_sin _npi_cos _npi_tan _npi_arctan _npi_degrees "
       "_npi_sinh _npi_tanh _npi_arccosh _npi_arctanh _npi_bitwise_not _npi_isnan _npi_isinf _npi_isfinite")
def of_one(draw, op):
    return [draw.array(draw.shape(empty=True))], {}


@maker("broadcast_add broadcast_sub broadcast_mul broadcast_div broadcast_mod broadcast_power broadcast_maximum broadcast_minimum "
       "broadcast_hypot broadcast_equal broadcast_greater broadcast_lesser_equal broadcast_logical_and broadcast_logical_xor")
def of_two(draw, op):
    first, second = draw.alike()
    dtype = draw.one_of(TYPES)
    return [draw.array(first, dtype), draw.array(second, dtype)], {}


@maker("_npi_add _npi_subtract _npi_multiply _npi_mod _npi_power _npi_copysign _npi_maximum _npi_minimum _npi_fmax _npi_fmin _npi_arctan2 "
       "_npi_hypot _npi_true_divide _npi_equal _npi_less _npi_greater_equal _npi_logical_or _npi_bitwise_and _npi_bitwise_xor _npi_lcm")
def of_two_types(draw, op):
    first, second = draw.alike()
    return [draw.array(first), draw.array(second)], {}


@maker("_plus_scalar _minus_scalar _rminus_scalar _mul_scalar _div_scalar _rdiv_scalar _mod_scalar _rmod_scalar _power_scalar _rpower_scalar "
       "_maximum_scalar _hypot_scalar _equal_scalar _lesser_equal_scalar _logical_xor_scalar smooth_l1 _npi_add_scalar _npi_rsubtract_scalar "
       "_npi_true_divide_scalar _npi_rtrue_divide_scalar _npi_mod_scalar _npi_power_scalar _npi_maximum_scalar _npi_arctan2_scalar "
       "_npi_less_equal_scalar _npi_bitwise_or_scalar")
def with_a_number(draw, op):
    whole = draw.chance(0.5)
    number = draw.one_of([0, 1, -1, 2, 3, 7, 100]) if whole else draw.one_of([0.5, -2.5, 1e5, "inf", "nan", 2.0])
    return [draw.array(draw.shape())], {"scalar": number} if op == "smooth_l1" else {"scalar": number, "is_int": str(whole)}


@maker("sum mean prod nansum nanprod max min")
def reduced(draw, op):
    shape = draw.shape(empty=True)
    return [draw.array(shape)], {"axis": draw.axes(shape), "keepdims": draw.flag(), "exclude": draw.flag()}


@maker("_np_sum _npi_mean _npi_std _npi_var _np_prod _np_max _np_min _np_any _np_all")
def reduced_as_numpy(draw, op):
    shape = draw.shape(0, 4)
    params = {"keepdims": draw.flag()}
    if shape:
        params["axis"] = draw.axes(shape).replace("()", "None")
    if op in ("_npi_std", "_npi_var"):
        params["ddof"] = draw.whole(0, 2)
    return [draw.array(shape)], params


@maker("argmax argmin _npi_argmax _npi_argmin")
def places(draw, op):
    shape = draw.shape()
    return [draw.distinct(shape, draw.one_of(NUMBERS))], {"axis": draw.axis(shape), "keepdims": draw.flag()}


@maker("sort argsort topk")
def ordered(draw, op):
    shape = draw.shape()
    axis = draw.axis(shape)
    params = {"axis": axis, "is_ascend": draw.flag()}
    if op == "topk":
        params.update(k=draw.whole(0, 3 if axis == "None" else shape[axis]), ret_typ=draw.one_of(["indices", "value", "both", "mask"]))
    return [draw.distinct(shape, draw.one_of(NUMBERS))], params


@maker("slice")
def part(draw, op):
    shape = draw.shape()
    count = draw.whole(1, len(shape))
    bounds = [[draw.one_of(["None", draw.whole(-n - 1, n + 1)]) for n in shape[:count]] for _ in range(2)]
    steps = [draw.one_of([1, 1, 2, 3, -1, -2, "None"]) for _ in range(count)]
    return [draw.array(shape)], {"begin": as_tuple(bounds[0]), "end": as_tuple(bounds[1]), "step": as_tuple(steps)}


@maker("transpose _np_transpose")
def turned(draw, op):
    shape = draw.shape()
    return [draw.array(shape)], {"axes": as_tuple(draw.random.sample(range(len(shape)), len(shape)))} if draw.chance(0.8) else {}


@maker("tile repeat expand_dims SwapAxis reverse _npi_tril _npi_triu _np_roll")
def rearranged(draw, op):
    shape = draw.shape()
    params = {
        "tile": lambda: {"reps": as_tuple(draw.whole(1, 3) for _ in range(draw.whole(1, 5)))},
        "repeat": lambda: {"repeats": draw.whole(1, 4), "axis": draw.axis(shape)},
        "expand_dims": lambda: {"axis": draw.whole(-len(shape) - 1, len(shape))},
        "SwapAxis": lambda: {"dim1": draw.axis(shape, none=False), "dim2": draw.axis(shape, none=False)},
        "reverse": lambda: {"axis": as_tuple(draw.random.sample(range(len(shape)), draw.whole(1, len(shape))))},
        "_np_roll": lambda: {"shift": as_tuple([draw.whole(-7, 7)]), "axis": as_tuple([draw.axis(shape, none=False)])},
    }.get(op, lambda: {"k": draw.whole(-4, 4)})()
    return [draw.array(shape)], params


@maker("Concat stack")
def joined(draw, op):
    shape, dtype, count = list(draw.shape()), draw.one_of(TYPES), draw.whole(1, 4)
    if op == "stack":
        return [draw.array(shape, dtype) for _ in range(count)], {"axis": draw.whole(-len(shape) - 1, len(shape)), "num_args": count}
    axis, arrays = draw.axis(shape, none=False), []
    for _ in range(count):
        shape[axis] = draw.whole(1, 4)
        arrays.append(draw.array(shape, dtype))
    return arrays, {"dim": axis, "num_args": count}


@maker("take pick one_hot gather_nd Embedding")
def looked_up(draw, op):
    shape, index = draw.shape(), draw.one_of(["int32", "int64", "float32"])
    axis = draw.axis(shape, none=False)
    if op == "take":
        return [draw.array(shape), draw.array(draw.shape(1, 2), index, False, -7, 8)], {"axis": axis, "mode": draw.one_of(["clip", "wrap"])}
    if op == "pick":
        rest = tuple(np.delete(shape, axis))
        return [draw.array(shape), draw.array(rest or (1,), index, False, -7, 8)], {"axis": axis, "mode": draw.one_of(["clip", "wrap"])}
    if op == "one_hot":
        return [draw.array(shape, index, False, -3, 8)], {"depth": draw.whole(1, 6), "on_value": 2.5, "dtype": draw.one_of(NUMBERS)}
    if op == "gather_nd":
        rows = draw.shape(1, 2)
        places = [draw.numbers.randint(0, n, rows) for n in shape[:draw.whole(1, len(shape))]]
        return [draw.array(shape), np.stack(places).astype(index)], {}
    words, width = draw.whole(1, 6), draw.whole(1, 5)
    return [draw.array(shape, index, False, -2, 8), draw.array((words, width), draw.one_of(FLOATS))], {"input_dim": words, "output_dim": width}


@maker("dot batch_dot")
def products(draw, op):
    rows, inner, columns = (draw.whole(1, 6) for _ in range(3))
    batch, dtype = ((draw.whole(1, 5),) if op == "batch_dot" else ()), draw.one_of(FLOATS)
    turned = [draw.chance(0.5), draw.chance(0.5)]
    shapes = [(inner, rows) if turned[0] else (rows, inner), (columns, inner) if turned[1] else (inner, columns)]
    return [draw.array(batch + s, dtype, False) for s in shapes], {"transpose_a": str(turned[0]), "transpose_b": str(turned[1])}


@maker("softmax softmin log_softmax")
def normalised(draw, op):
    shape = draw.shape()
    return [draw.array(shape, draw.one_of(FLOATS), False)], {"axis": draw.axis(shape, none=False)}


@maker("clip Cast where")
def chosen(draw, op):
    shape = draw.shape()
    if op == "clip":
        return [draw.array(shape)], {"a_min": draw.one_of([-2, 0, -1.5, 1]), "a_max": draw.one_of([2, 1.5, 3, 100])}
    if op == "Cast":
        return [draw.array(shape, special=False)], {"dtype": draw.one_of(TYPES)}
    dtype = draw.one_of(TYPES)
    return [draw.array(shape if draw.chance(0.7) else shape[:1]), draw.array(shape, dtype), draw.array(shape, dtype)], {}


def names(wanted):
    """Of the operators that are known here those whose name `wanted`, a regular expression, finds."""
    return [name for name in MAKERS if wanted.search(name)]


def call(draw, op):
    """A call of this operator."""
    arrays, params = MAKERS[op](draw, op)
    return Call(op, [np.asarray(a) for a in arrays], params)
