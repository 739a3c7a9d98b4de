# SPDX-License-Identifier: Apache-2.0
"""Slopes where functions are nearly flat, have corners, or are made of numbers that no type holds.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/op/test_ops_saturated.py
"""
import numpy as np
import pytest

FLOATS = ["float16", "float32", "float64"]
ALPHA, LAMBDA = 1.6732632423543772, 1.0507009873554805


def slopes(mx, name, x, dtype=None, **attrs):
    x = np.asarray(x, dtype)
    return mx.gradients(name, [x], [np.ones_like(x)], **attrs)[0]


@pytest.mark.parametrize("kind, below, above", [("elu", 0.25, 1.0), ("selu", LAMBDA * ALPHA, LAMBDA)])
def test_slopes_of_exponentials_keep_their_digits_far_below(mx, kind, below, above):
    """From the result they would be differences of nearly equal numbers, and 0 below -17 in float32."""
    for dtype in FLOATS:
        x = np.concatenate([-np.geomspace(1e-3, 8 if dtype == "float16" else 80, 91), [0.0, 1e-3, 1000.0]]).astype(dtype)
        wide = x.astype("float64")
        want = np.where(wide > 0, above, below * np.exp(np.minimum(wide, 0)))
        rtol = 4 * np.finfo(dtype).eps
        np.testing.assert_allclose(slopes(mx, "LeakyReLU", x, act_type=kind, slope=0.25), want, rtol=rtol, atol=1e-7 if dtype == "float16" else 0)
    x = np.array([-20, -5, -1, -0.25, 0.5, 3], "float32")  # which bfloat16 holds
    want = np.where(x > 0, above, below * np.exp(np.minimum(x, 0)))
    got = mx.run_in_bfloat16("_backward_LeakyReLU", np.ones_like(x), x, act_type=kind, slope=0.25)
    np.testing.assert_allclose(got, want, rtol=2.0**-8)


@pytest.mark.parametrize("kind", ["elu", "selu"])
def test_second_slopes_of_exponentials_are_numbers_far_above(mx, kind):
    x = np.array([-30.0, -1, 1, 1000])
    ones = np.ones_like(x)
    got = mx.second_gradients("LeakyReLU", [x], [ones], [ones], act_type=kind, slope=0.25)[0][0]
    np.testing.assert_allclose(got, np.where(x > 0, 0, (0.25 if kind == "elu" else LAMBDA * ALPHA) * np.exp(np.minimum(x, 0))), rtol=1e-14)


def test_quotients_have_slopes_where_no_type_holds_the_square(mx):
    half = np.array([-900, -300, 256, 1000, 0.5], "float16")
    want = -3 / half.astype("float64") ** 2
    np.testing.assert_allclose(slopes(mx, "_rdiv_scalar", half, scalar=3.0), want, rtol=2e-3, atol=1e-7)
    three = np.full_like(half, 3)
    for name in ("elemwise_div", "broadcast_div"):
        np.testing.assert_allclose(mx.gradients(name, [three, half], [np.ones_like(half)])[1], want, rtol=2e-3, atol=1e-7)
    a, b = np.array([1e-30], "float32"), np.array([1e-25], "float32")
    for name in ("elemwise_div", "broadcast_div"):
        np.testing.assert_allclose(mx.gradients(name, [a, b], [np.ones_like(a)])[1], [-1e20], rtol=1e-6)


@pytest.mark.parametrize("dtype", FLOATS)
def test_what_is_one_everywhere_is_flat_at_zero_too(mx, dtype):
    x = np.array([0, -0.0, 1e-7, 2, -3], dtype)
    for name in ("_power_scalar", "_npi_power_scalar"):
        np.testing.assert_array_equal(slopes(mx, name, x, scalar=0.0), np.zeros(5))


@pytest.mark.parametrize("dtype", FLOATS)
def test_roots_of_zero_have_no_slope(mx, dtype):
    """Where all numbers are equal their deviation has a corner, as the length of a vector has at zero."""
    x = np.array([[3, 3, 3, 3], [1, 2, 3, 4], [0, 0, 0, 0]], dtype)
    for attrs in ({"axis": "(1,)"}, {"axis": "(1,)", "ddof": 1}):
        got = mx.gradients("_npi_std", [x], [np.ones(3, dtype)], **attrs)[0]
        assert np.isfinite(got).all() and not got[[0, 2]].any() and got[1, 0] < 0 < got[1, 3]
    wide, heads = x.astype("float64"), np.ones(3)
    for name, attrs in (("norm", {"axis": "(1,)"}), ("_npi_std", {"axis": "(1,)"})):
        again, along = mx.second_gradients(name, [wide], [heads], [np.ones_like(wide)], **attrs)
        assert np.isfinite(again[0]).all() and np.isfinite(along[0]).all()
