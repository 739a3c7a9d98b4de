# SPDX-License-Identifier: Apache-2.0
"""mx.np's functions of each element give what NumPy's give, for types and shapes of all kinds."""

import json
import math

import mxnet as mx
import numpy as onp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mxnet import np

from same_numbers import assert_same

UNARY = """abs absolute arcsin arcsinh arctan arctanh arccos cbrt ceil cos cosh deg2rad degrees exp expm1 fabs fix floor
isfinite isinf isnan isneginf isposinf logical_not negative rad2deg radians reciprocal rint sign sin sinh square tan tanh
trunc""".split()
POSITIVE = "arccosh log log10 log1p log2 sqrt".split()
BINARY = """add arctan2 copysign divide equal greater greater_equal hypot less less_equal maximum minimum mod multiply
not_equal remainder subtract true_divide""".split()
INTEGERS = "bitwise_and bitwise_or bitwise_xor lcm add multiply subtract maximum".split()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", UNARY + POSITIVE)
def test_functions_of_one_array(name, dtype, rng):
    values = rng.uniform(-0.9, 0.9, size=(3, 4))
    values = (values + 2 if name in POSITIVE else values).astype(dtype)
    actual = getattr(np, name)(np.array(values))
    expected = getattr(onp, name)(values)
    tolerance = 5e-3 if dtype == "float16" else 1e-5
    assert actual.dtype == expected.dtype
    onp.testing.assert_allclose(actual.asnumpy(), expected, rtol=tolerance, atol=tolerance)
    assert getattr(np, name)(0.5 if name not in POSITIVE else 1.5) == getattr(onp, name)(0.5 if name not in POSITIVE else 1.5)


shapes = st.lists(st.integers(1, 3), min_size=0, max_size=3)


@st.composite
def broadcasting_pairs(draw):
    shape = draw(shapes)
    first = [dim if draw(st.booleans()) else 1 for dim in shape]
    second = [dim if draw(st.booleans()) else 1 for dim in shape]
    return tuple(first), tuple(second[draw(st.integers(0, len(second))) :])


@settings(max_examples=150, deadline=None, derandomize=True)
@given(name=st.sampled_from(BINARY), pair=broadcasting_pairs(), dtype=st.sampled_from(["float32", "float64"]))
def test_functions_of_two_arrays_broadcast(name, pair, dtype):
    source = onp.random.default_rng(len(name))
    x, y = (source.uniform(0.5, 2.0, size=shape).astype(dtype) for shape in pair)
    expected = getattr(onp, name)(x, y)
    for actual in (getattr(np, name)(np.array(x), np.array(y)), getattr(onp, name)(np.array(x), np.array(y))):
        assert isinstance(actual, np.ndarray) and actual.dtype == expected.dtype
        assert_same(actual.asnumpy(), expected)


@pytest.mark.parametrize("name", BINARY)
def test_a_number_may_stand_on_either_side(name, rng):
    x = rng.uniform(0.5, 2.0, size=(2, 3)).astype("float32")
    for number in (2, 1.5, True, onp.float32(0.5), onp.int64(3)):
        for actual, expected in (
            (getattr(np, name)(np.array(x), number), getattr(onp, name)(x, float(number))),
            (getattr(np, name)(number, np.array(x)), getattr(onp, name)(float(number), x)),
        ):
            assert_same(actual.asnumpy(), expected)
    assert getattr(np, name)(3, 2) == getattr(onp, name)(3, 2)


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "int8"])
def test_functions_of_integers(name, dtype, rng):
    x, y = (rng.integers(1, 9, size=(3, 2)).astype(dtype) for _ in range(2))
    actual = getattr(np, name)(np.array(x), np.array(y))
    assert actual.dtype == onp.dtype(dtype)
    onp.testing.assert_array_equal(actual.asnumpy(), getattr(onp, name)(x, y))


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_multiples_of_the_smallest_integer_wrap(dtype):
    # Its size is none of the type: dividing what is left of it by -1 stopped the process.
    smallest = int(onp.iinfo(dtype).min)
    bits = 8 * onp.dtype(dtype).itemsize
    others = [7, -7, 1, -1, 0, smallest, smallest + 1, 6]
    expected = [math.lcm(smallest, other) for other in others]
    wrapped = [(n + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1) for n in expected]
    x, y = np.array([smallest] * len(others), dtype=dtype), np.array(others, dtype=dtype)
    assert np.lcm(x, y).asnumpy().tolist() == np.lcm(y, x).asnumpy().tolist() == wrapped
    assert np.lcm(x, 7).asnumpy().tolist() == wrapped[:1] * len(others)


def test_rounding_goes_to_the_even_neighbour():
    values = onp.array([0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997, onp.inf, -onp.inf, onp.nan, -0.0, 8388609.0, 3e38], "float32")
    onp.testing.assert_array_equal(np.around(np.array(values)).asnumpy(), onp.around(values))
    assert onp.signbit(np.around(np.array([-0.2, -0.0])).asnumpy()).all()


@pytest.mark.parametrize(
    "left, right, expected",
    [("int32", "float32", "float32"), ("int32", "int64", "int64"), ("float16", "float64", "float64"),
     ("bool", "float32", "float32"), ("bool", "bool", "bool"), ("uint8", "float16", "float16")],
)
def test_types_are_promoted(left, right, expected):
    a, b = np.ones((2,), dtype=left), np.ones((2,), dtype=right)
    assert (a * b).dtype == np.multiply(b, a).dtype == onp.dtype(expected)


@pytest.mark.parametrize("left, right", [("float32", "float64"), ("int64", "float32"), ("float16", "float32"), ("bool", "float64")])
def test_long_arrays_of_two_types_are_converted_in_blocks(left, right):
    a, b = onp.arange(3 * 1777).reshape(3, 1777) % 97, onp.arange(3 * 1777).reshape(3, 1777) % 31 + 1
    a, b = a.astype(left), b.astype(right)
    for x, y in ((a, b), (b, a)):
        onp.testing.assert_array_equal((np.array(x, dtype=x.dtype) - np.array(y, dtype=y.dtype)).asnumpy(), x.astype(right) - y.astype(right))


def operators_of_a_backward(left, right, tmp_path):
    """Names of all operators that ran while the gradients of a product were computed."""
    for array in (left, right):
        array.attach_grad()
    with mx.autograd.record():
        product = left * right
    mx.nd.waitall()
    mx.profiler.set_config(filename=str(tmp_path / "profile.json"), profile_all=True, aggregate_stats=True)
    mx.profiler.set_state("run")
    mx.profiler.dumps(reset=True)
    product.backward()
    mx.nd.waitall()
    mx.profiler.set_state("stop")
    names = set(json.loads(mx.profiler.dumps(format="json"))["Time"]["operator"])
    expected = right.asnumpy() if left.shape == right.shape else right.asnumpy().sum(0, keepdims=True)
    onp.testing.assert_array_equal(left.grad.asnumpy(), expected)
    return names


@pytest.mark.parametrize("package", ["np", "nd"])
def test_gradients_of_equal_shapes_and_types_are_not_copied(package, tmp_path):
    make = getattr(mx, package)
    a, b, row = (make.array(onp.arange(1, 7).reshape(2, 3)[:n], dtype="float32") for n in (2, 2, 1))
    copies = {"_sum_to_like", "_cast_like"}
    assert not copies & operators_of_a_backward(a, b, tmp_path)
    assert "_sum_to_like" in operators_of_a_backward(row, b, tmp_path)
    if package == "np":
        assert "_cast_like" in operators_of_a_backward(a, b.astype("float64"), tmp_path)


def test_integers_and_numbers():  # values of the reference
    a = np.array([1, 2, 3], dtype="int32")
    assert (a / 2).dtype == onp.float32 and (a / 2).tolist() == [0.5, 1.0, 1.5]
    assert (a + 1.5).dtype == onp.int32 and (a + 1.5).tolist() == [2, 3, 4]
    assert (np.array([True, False], dtype="bool") + 1).tolist() == [2, 1]
    assert a.mean().dtype == onp.float32 and a.sum().dtype == onp.int32
    assert (np.array([1, 0], dtype="int32") % 0).tolist() == [0, 0]


@pytest.mark.parametrize("length", [1, 33, 511, 513, 3000])
def test_bfloat16_is_rounded_and_made_finite_as_float32_is(length, rng):
    values = rng.integers(-400, 400, length).astype("float32") / 4
    values[::37] = onp.nan
    values[5::41], values[7::43], values[9::47] = onp.inf, -onp.inf, -0.0
    a = np.array(values).astype("bfloat16")
    wide = a.astype("float32").asnumpy()
    onp.testing.assert_array_equal(np.around(a).astype("float32").asnumpy(), onp.round(wide))
    largest = float.fromhex("0x1.fep127")
    onp.testing.assert_array_equal(np.nan_to_num(a).astype("float32").asnumpy(), onp.nan_to_num(wide, posinf=largest, neginf=-largest))
    given = np.nan_to_num(a, nan=1.5, posinf=3, neginf=-0.25).astype("float32").asnumpy()
    onp.testing.assert_array_equal(given, onp.nan_to_num(wide, nan=1.5, posinf=3, neginf=-0.25))
