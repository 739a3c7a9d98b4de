# SPDX-License-Identifier: Apache-2.0
"""mx.np.isin says what NumPy's says: by a list, a table of places and hashes, for all types and mixtures of them."""

import itertools

import numpy as onp
import pytest

from mxnet import autograd, np

TYPES = ["float32", "float64", "float16", "int64", "int32", "int8", "uint8", "bool"]
SIZES = [0, 1, 5, 16, 17, 300, 2000]  # of values: none, a list, the first that are in a table


def numbers(rng, dtype, shape, spread=40):
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype.startswith("float"):
        return (rng.integers(-spread, spread, shape) / 4).astype(dtype)
    return rng.integers(0 if dtype == "uint8" else -spread, spread, shape).astype(dtype)


def assert_numpys(element, values, **how):
    made = np.isin(np.array(element, dtype=element.dtype), np.array(values, dtype=values.dtype), **how)
    assert made.dtype == onp.bool_
    onp.testing.assert_array_equal(made.asnumpy(), onp.isin(element, values, **how))


@pytest.mark.parametrize("first, second", list(itertools.product(TYPES, TYPES)))
def test_all_types_and_numbers_of_values(first, second, rng):
    for size in SIZES:
        for shape in [(7, 13), (1000,)]:
            assert_numpys(numbers(rng, first, shape), numbers(rng, second, size), invert=bool(size % 2))


@pytest.mark.parametrize("dtype", ["float64", "int64"])
@pytest.mark.parametrize("size", [3, 20, 5000])
def test_numbers_far_from_each_other(dtype, size, rng):
    values = rng.integers(-(2**62), 2**62, size).astype(dtype)
    element = onp.concatenate([rng.choice(values, 700), rng.integers(-(2**62), 2**62, 700).astype(dtype)])
    assert_numpys(element, values)
    assert 700 <= np.isin(np.array(element), np.array(values)).asnumpy().sum() < 720


@pytest.mark.parametrize("present", [True, False])
def test_ends_of_the_range_of_integers(present):
    ends = onp.array([-(2**63), 2**63 - 1, -1, 0], "int64")
    values = onp.concatenate([onp.arange(10**15, 10**18, 10**16), ends[:3] if present else []]).astype("int64")
    assert_numpys(onp.concatenate([ends, values]), values)


@pytest.mark.parametrize("size", [3, 50])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_nan_is_nowhere_and_zeros_are_one_number(dtype, size, rng):
    values = numbers(rng, dtype, size)
    values[:3] = onp.nan, onp.inf, -0.0
    element = onp.array([onp.nan, 0.0, -0.0, onp.inf, -onp.inf, 99.0], dtype)
    assert_numpys(element, values)
    assert np.isin(np.array(element), np.array(values)).tolist() == [False, True, True, True, False, False]


def test_large_integers_beside_real_numbers_are_compared_as_doubles():
    element, values = onp.array([2**53, 2**53 + 1, 3], "int64"), onp.array([2.0**53] * 20)
    assert_numpys(element, values)


@pytest.mark.parametrize("shape, of_values", [((), ()), ((0,), (3,)), ((3, 0), (0,)), ((2, 3), (2, 2)), ((), (40,))])
def test_isin_is_numpys_for_any_shapes(shape, of_values, rng):
    assert_numpys(numbers(rng, "float32", shape), numbers(rng, "float32", of_values))


def test_lists_numbers_and_numpys_arrays(rng):
    a = np.array(numbers(rng, "float64", (3, 4)))
    for values in ([1, 2, 0.1], 1, 0.25, (), onp.array([0.5, 7]), [True]):
        onp.testing.assert_array_equal(np.isin(a, values).asnumpy(), onp.isin(a.asnumpy(), values))
    onp.testing.assert_array_equal(np.isin([1, 2, 0.1], a).asnumpy(), onp.isin([1, 2, 0.1], a.asnumpy()))
    assert np.isin(np.array(onp.array([0.1])), [0.1]).tolist() == [True]
    assert np.isin([1, 2], [2, 3]).tolist() == [False, True]
    large = onp.array([2**63 + 2**12, 3], "uint64")
    assert np.isin(np.array(onp.array([3, -(2**63) + 2**12])), large).tolist() == [True, False]


def test_numpys_function_runs_here_and_is_recorded(caplog):
    a = np.array([0.0, 1.0, 2.0])
    a.attach_grad()
    with autograd.record():
        loss = (a * onp.isin(a, np.array([1.0, 2.0]))).sum()
    loss.backward()
    assert a.grad.tolist() == [0, 1, 1] and not caplog.records
    assert np.in1d(np.array([[1.0, 2.0]]), np.array([2.0])).tolist() == [False, True]


def test_isin_of_symbols_is_numpys(rng):
    import mxnet as mx

    x, values = numbers(rng, "float32", (4, 5)), numbers(rng, "int32", 6)
    made = mx.sym.np.isin(mx.sym.var("x").as_np_ndarray(), mx.sym.var("v").as_np_ndarray(), invert=True)
    result = made.eval(ctx=mx.cpu(), x=np.array(x), v=np.array(values))[0]
    onp.testing.assert_array_equal(result.asnumpy(), onp.isin(x, values, invert=True))


def test_what_is_no_array_of_numbers_is_refused():
    with pytest.raises(TypeError, match="complex"):
        np.isin(np.ones(3), onp.ones(2, "complex64"))
    with pytest.raises(TypeError, match="expected numbers"):
        np.isin(np.ones(3), ["a"])
