# SPDX-License-Identifier: Apache-2.0
"""Norms of numbers whose squares the type does not hold, and of scalars."""

import numpy as np
import pytest

import mxnet as mx


def norms(values, dtype):
    """Of all, of columns and of rows, of both norms there are."""
    array = mx.nd.array(values, dtype=dtype)
    found = [mx.nd.norm(array), mx.nd.norm(array, axis=0), mx.nd.norm(array, axis=1)]
    if dtype != "bfloat16":
        array = array.as_np_ndarray()
        found += [mx.np.linalg.norm(array), mx.np.linalg.norm(array, axis=0), mx.np.linalg.norm(array, axis=1)]
    return [each.as_nd_ndarray().astype("float64").asnumpy().reshape(-1) for each in found]


@pytest.mark.parametrize("size, dtype, rtol", [
    (1e200, "float64", 1e-14), (1e-200, "float64", 1e-14), (1e30, "float32", 1e-6), (1e-30, "float32", 1e-6), (1e30, "bfloat16", 1e-2),
])  # fmt: skip
@pytest.mark.parametrize("shape", [(2, 3), (3, 2000), (500, 4)])
def test_a_norm_is_a_number_where_squares_are_none(shape, size, dtype, rtol):
    values = np.random.default_rng(29).uniform(0.5, 1, shape)
    expected = [np.array([np.sqrt((values**2).sum())]), np.linalg.norm(values, axis=0), np.linalg.norm(values, axis=1)]
    found = norms(values * size, dtype)
    for i, each in enumerate(found):
        np.testing.assert_allclose(each / size, expected[i % 3], rtol=rtol)


def test_a_norm_of_float32_is_a_number_without_wide_sums_too(run_python):
    done = run_python(
        "import mxnet as mx\n"
        "x = mx.nd.full((2, 3), 1e30)\n"
        "print(*['%.4g' % n for n in (*mx.nd.norm(x).asnumpy(), *mx.nd.norm(x, axis=1).asnumpy())])\n",
        env={"MXNET_SAFE_ACCUMULATION": "0"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["2.449e+30", "1.732e+30", "1.732e+30"]


@pytest.mark.parametrize("values, expected", [
    ([1e200, np.inf], np.inf), ([1e200, np.nan], np.nan), ([1.7e308, 1.7e308], np.inf), ([0.0, 0.0], 0), ([5e-324, 0], 5e-324),
    ([1e-200, 1e200], 1e200),
])  # fmt: skip
def test_what_has_no_norm_or_an_odd_one(values, expected):
    np.testing.assert_array_equal(mx.nd.norm(mx.nd.array(values, dtype="float64")).asnumpy(), [expected])


@pytest.mark.parametrize("shape, axes", [
    ((3, 2, 5000), 1), ((3, 20, 70), 1), ((3, 700, 5), (0, 2)), ((2, 4, 5, 6), (1, 3)), ((40, 33), 1), ((3000, 2), 1), ((7, 5, 1), 2),
])  # fmt: skip
def test_numbers_of_any_size_beside_each_other(shape, axes):
    rng = np.random.default_rng(31)
    kept = [1 if d in np.atleast_1d(axes) else n for d, n in enumerate(shape)]
    size = rng.choice([0, 5e-324, 1e-310, 1e-200, 1e-150, 1, 1e150, 1e200, 1e307, np.inf], kept)
    whole = rng.uniform(0.05, 0.2, shape) if np.prod(shape) < 5000 else rng.uniform(0.001, 0.01, shape)
    values = np.where(np.isinf(size), rng.choice([1, -np.inf], shape), whole * np.where(np.isinf(size), 0, size))
    expected = values
    for axis in sorted(np.atleast_1d(axes))[::-1]:
        expected = np.hypot.reduce(expected, axis=axis)
    found = mx.nd.norm(mx.nd.array(values, dtype="float64"), axis=axes).asnumpy()
    np.testing.assert_allclose(found, expected.reshape(found.shape), rtol=1e-13, atol=1e-323)


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_the_gradient_of_such_a_norm(size):
    x = mx.nd.array([3 * size, 4 * size], dtype="float64")
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.norm(x)
    y.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), [0.6, 0.8], rtol=1e-14)


@pytest.mark.parametrize("name", "sum mean max min prod nansum nanprod norm".split())
def test_the_axes_of_a_scalar_are_none_also_when_they_are_kept(name):
    with mx.util.np_shape(True):
        scalar = mx.nd.ones(()) * 2.5
        assert scalar.shape == ()
        found = getattr(mx.nd, name)(scalar, keepdims=True)
        assert found.shape == () and found.asscalar() == 2.5
