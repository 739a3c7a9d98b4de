# SPDX-License-Identifier: Apache-2.0
"""Operators at the edges that random calls beside the 1.9.1 release found: poles, infinite weights, types that differ.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/op/test_ops_edges.py
"""
import ctypes as C

import math

import numpy as np
import pytest
from op_calls import Failure

SEED = 20261122


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op, first, second", [
    ("rsqrt", lambda x: -0.5 * x**-1.5, lambda x: 0.75 * x**-2.5),
    ("reciprocal", lambda x: -(x**-2), lambda x: 2 * x**-3),
    ("cbrt", lambda x: x ** (-2 / 3) / 3, lambda x: -2 / 9 * x ** (-5 / 3)),
    ("rcbrt", lambda x: -(x ** (-4 / 3)) / 3, lambda x: 4 / 9 * x ** (-7 / 3)),
])
def test_second_derivatives_at_a_pole_are_infinite_not_nan(mx, op, first, second, dtype):
    x = np.array([0, 0.25, 1, 3, np.inf, np.nan], dtype)
    ones = np.ones_like(x)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(mx.gradients(op, [x], [ones])[0], first(x), rtol=1e-5)
        np.testing.assert_allclose(mx.second_gradients(op, [x], [ones], [ones])[0][0], second(x), rtol=1e-5)


@pytest.mark.parametrize("wd", [0.0, 0.1])
def test_an_infinite_weight_stays_what_it_is(mx, wd):
    weight, grad = np.array([np.inf, -np.inf, 1, np.nan], "float32"), np.array([1, 1, 2, 1], "float32")
    want = np.array([np.inf, -np.inf, 1 - 0.5 * (2 + wd), np.nan], "float32")
    np.testing.assert_allclose(mx.run("sgd_update", weight, grad, lr=0.5, wd=wd)[0], want, rtol=1e-6)
    direction = np.array([2], "float32")
    stepped = mx.run("lamb_update_phase2", weight, grad, direction, direction, lr=0.5)[0]
    np.testing.assert_allclose(stepped, weight - 0.5 * grad, rtol=1e-6)


def test_a_state_that_is_no_number_shows_in_the_weight(mx):
    w, g, z, n = (np.array(v, "float32") for v in ([1, 1, 1], [0.5, 0.5, 0.5], [np.nan, 0, 3], [1, 1, 1]))
    got = mx.run("ftrl_update", w, g, z, n, lr=0.1, lamda1=2)[0]
    assert np.isnan(got[0]) and got[1] == 0 and got[2] < 0


@pytest.mark.parametrize("request_, start", [(1, 0.0), (3, 0.5)])
@pytest.mark.parametrize("shape, rows", [((6,), 1), ((6, 3), 6), ((2, 3, 4), 6), ((1, 2, 3, 5), 6)])
def test_a_loss_over_a_batch_is_divided_by_its_rows(mx, shape, rows, request_, start):
    x = np.full(shape, 2, "float32")
    got = mx.gradients("MakeLoss", [x], [np.ones_like(x)], request=request_, start=start, grad_scale=3, normalization="batch")[0]
    np.testing.assert_allclose(got, np.full(shape, start + 3 / rows, "float32"), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_a_quadratic_of_integers_keeps_the_fractions_of_its_coefficients(mx, dtype):
    x = np.arange(-4, 5).astype(dtype)
    a, b, c = -0.875, 1.65625, -0.953125
    want = np.trunc((a * x.astype("float64") + b) * x + c).astype(dtype)
    np.testing.assert_array_equal(mx.run("_contrib_quadratic", x, a=a, b=b, c=c)[0], want)


def test_a_quadratic_of_infinity_is_not_a_difference_of_two(mx):
    x = np.array([-np.inf, np.inf, -0.0, 2], "float32")
    assert mx.run("_contrib_quadratic", x, a=1, b=2, c=3)[0].tolist() == [np.inf, np.inf, 3, 11]


@pytest.mark.parametrize("a_type, b_type", [("float32", "float64"), ("float64", "float32"), ("int32", "float32"),
                                            ("float64", "int64"), ("int8", "uint8"), ("float16", "float32")])
def test_equations_and_right_hand_sides_may_differ_in_type(mx, rng, a_type, b_type):
    a = (rng.integers(-3, 4, (2, 3, 3)) + 9 * np.eye(3)).astype(a_type)
    b = rng.integers(0, 9, (2, 3, 2)).astype(b_type)
    got = mx.run("_npi_solve", a, b)[0]
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, np.linalg.solve(a.astype("float64"), b.astype("float64")), rtol=1e-12)
    one = mx.run("_npi_tensorsolve", a[0], b[0, :, 0])[0]
    assert one.dtype == np.float64
    np.testing.assert_allclose(one, got[0, :, 0], rtol=1e-12)
    assert mx.run("_npi_solve", a[:0], b[:0])[0].shape == (0, 3, 2)


@pytest.mark.parametrize("a_type, b_type", [("float32", "float64"), ("float64", "float32")])
def test_gradients_of_equations_have_the_types_of_their_arrays(mx, rng, a_type, b_type):
    a = (rng.normal(size=(3, 3)) + 4 * np.eye(3)).astype(a_type)
    b, head = rng.normal(size=(3, 2)).astype(b_type), rng.normal(size=(3, 2))
    da, db = mx.gradients("_npi_solve", [a, b], [head])
    want = np.linalg.solve(a.astype("float64").T, head)
    assert da.dtype == a_type and db.dtype == b_type
    np.testing.assert_allclose(db, want, rtol=1e-5)
    np.testing.assert_allclose(da, -want @ np.linalg.solve(a.astype("float64"), b.astype("float64")).T, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name, given, argument", [("broadcast_add", (None, 1), "'lhs'"), ("broadcast_add", (1, None), "'rhs'"),
                                                   ("relu", (None,), "'data'"), ("Concat", (1, None), "'arg1'"),
                                                   ("relu", (1, None), "input 1")])
def test_a_null_handle_is_named_with_operator_and_argument(mx, name, given, argument):
    array = mx.array(np.ones((2, 3), "float32"))
    handles = [array if one else None for one in given]
    with pytest.raises(Failure, match=rf"\[{name}\] given null, expected a live NDArray handle for {argument}"):
        mx.invoke(name, handles)
    with pytest.raises(Failure, match=rf"\[{name}\] given null, expected a live NDArray handle for output 0"):
        mx.invoke(name, [array for _ in given if name != "relu"] or [array], out=[C.c_void_p()])
    freed = mx.array(np.ones(2, "float32"))
    mx.free(freed)
    with pytest.raises(Failure, match=r"\[relu\] given a freed handle, expected a live NDArray handle for 'data'"):
        mx.invoke("relu", [freed])
    mx.free(array)


@pytest.mark.parametrize("name, attrs, text", [
    ("reverse", {"axis": 5}, r"\[reverse\] given axis 5 for 2 dimensions"),
    ("_npi_flip", {"axis": 5}, r"\[_npi_flip\] given axis 5 for 2 dimensions"),
    ("_npi_delete", {"int_ind": 9, "axis": 0}, r"\[_npi_delete\] given index 9, expected one in \[-2, 2\)"),
    ("_npi_norm", {"flag": 0}, r"\[_npi_norm\] given 0 axes, expected two for the norm of a matrix"),
])
def test_an_error_names_the_operator_that_was_called(mx, name, attrs, text):
    with pytest.raises(Failure, match=text):
        mx.run(name, np.ones((2, 3), "float32"), **attrs)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int64", "uint8"])
@pytest.mark.parametrize("num", [0, 1, 2, 1023, 1024, 1025, 5000])
@pytest.mark.parametrize("endpoint", [True, False])
def test_even_steps_are_counted_in_double_and_end_exactly(mx, num, endpoint, dtype):
    start, stop = 0.3, 100.1
    parts = max(num - 1 if endpoint else num, 1)
    want = start + np.arange(num, dtype="float64") * ((stop - start) / parts)
    if endpoint and num > 1:
        want[-1] = stop
    got = mx.run("_npi_linspace", start=start, stop=stop, num=num, endpoint=endpoint, dtype=dtype)[0]
    np.testing.assert_array_equal(got, want.astype("float32").astype(dtype) if dtype == "float16" else want.astype(dtype))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64"])
@pytest.mark.parametrize("base, start, stop, num", [(10.0, -5, 22, 28), (10.0, -3, 3, 2401), (4.0, -8, 8, 1025), (9.0, 0, 6, 4097), (0.5, 3, 3, 1),
                                                    (0.0, -1, 1, 5), (-2.0, -3, 3, 13), (float("inf"), -1, 1, 3), (10.0, 0, 400, 2001)])
def test_logspace_is_the_c_librarys_powers(mx, dtype, base, start, stop, num):
    """Within an ulp of double, and the number itself where it has few bits or the exponent is whole; integers are cut from that."""
    got = mx.run("_npi_logspace", start=start, stop=stop, num=num, base=base, dtype=dtype)[0]
    steps = start + np.arange(num) * ((stop - start) / max(1, num - 1))
    steps[-1] = stop if num > 1 else start

    def power(exponent):
        try:
            value = math.pow(base, exponent)
        except OverflowError:
            value = math.inf
        except ValueError:  # a power of a negative number, or one of zero below zero
            value = math.inf if base == 0 else math.nan
        return value

    expected = np.array([power(e) for e in steps])
    if dtype == "int64":
        sane = np.isfinite(expected) & (np.abs(expected) < 2.0**62)
        np.testing.assert_array_equal(got[sane], expected[sane].astype(dtype))
        return
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(got, expected.astype(dtype), rtol=float(np.finfo(dtype).eps), atol=0)
        short = (expected == np.float32(expected)) | (steps == np.trunc(steps))
    if dtype == "float64":
        np.testing.assert_array_equal(got[short], expected[short])


@pytest.mark.parametrize("subscripts", ["ij->i", "ij->j", "ij->", "ijk->j"])
def test_one_array_is_summed_in_order(mx, rng, subscripts):
    x = rng.integers(-50, 50, (7, 300) if "k" not in subscripts else (5, 60, 9)).astype("float32")
    np.testing.assert_array_equal(mx.run("_npi_einsum", x, subscripts=subscripts)[0], np.einsum(subscripts, x))


@pytest.mark.parametrize("op, shape, params, attrs", [
    ("InstanceNorm", (0, 0, 6), 0, {}), ("InstanceNorm", (32, 0, 16), 0, {}), ("InstanceNorm", (2, 3, 0), 3, {}),
    ("InstanceNorm", (0, 3, 4), 3, {}), ("LayerNorm", (3, 0), 0, {}), ("LayerNorm", (0, 4), 4, {}),
    ("GroupNorm", (0, 4, 3), 2, {"num_groups": 2}), ("GroupNorm", (2, 0, 3), 1, {"num_groups": 1}),
])
def test_normalising_nothing_gives_nothing(mx, op, shape, params, attrs):
    arrays = [np.zeros(shape, "float32"), np.ones(params, "float32"), np.ones(params, "float32")]
    result = mx.run(op, *arrays, **attrs)[0]
    assert result.shape == shape
    heads = [result] + [None] * (len(mx.run(op, *arrays, **attrs)) - 1)
    for gradient, array in zip(mx.gradients(op, arrays, heads, **attrs), arrays):
        np.testing.assert_array_equal(gradient, np.zeros_like(array))


@pytest.mark.parametrize("shape, like, axes", [
    ((0, 4), (4, 3), {"lhs_axes": (0,), "rhs_axes": (0,)}), ((0, 4), (4, 4), {}), ((0, 4), (1, 4), {}), ((3, 4), (0, 4), {}),
])
def test_no_length_but_one_is_repeated(mx, shape, like, axes):
    with pytest.raises(Failure, match="broadcast"):
        mx.run("broadcast_like", np.zeros(shape, "uint8"), np.zeros(like, "uint8"), **axes)


@pytest.mark.parametrize("shape, like, want", [((1, 4), (0, 4), (0, 4)), ((0, 1), (0, 3), (0, 3)), ((0, 4), (0, 4), (0, 4))])
def test_arrays_without_elements_are_repeated(mx, shape, like, want):
    assert mx.run("broadcast_like", np.zeros(shape, "float32"), np.zeros(like, "float32"))[0].shape == want


@pytest.mark.parametrize("op, masters", [("lamb_update_phase2", 0), ("mp_lamb_update_phase2", 1)])
def test_norms_of_lamb_have_an_element(mx, op, masters):
    weight, nothing, one = np.ones((2, 3), "float32"), np.ones((1, 0), "float32"), np.ones(1, "float32")
    for norms in ([nothing, one], [one, nothing]):
        with pytest.raises(Failure, match="one element"):
            mx.run(op, weight, weight, *norms, *[weight] * masters, lr=0.5)


@pytest.mark.parametrize("dtype, tolerance", [("float16", 2e-3), ("float32", 1e-6), ("float64", 1e-14)])
def test_the_slope_of_expm1_is_not_lost_below_zero(mx, dtype, tolerance):
    x = np.array([-60, -17, -9, -5, -1, 0, 2], dtype)
    want = np.exp(x.astype("float64")).astype(dtype)
    np.testing.assert_allclose(mx.gradients("expm1", [x], [np.ones_like(x)])[0], want, rtol=tolerance, atol=np.finfo(dtype).tiny)
    assert (mx.second_gradients("expm1", [x], [np.ones_like(x)], [np.ones_like(x)])[0][0] > 0)[2:].all()


@pytest.mark.parametrize("given", [{"start": "-inf", "stop": 11, "repeat": 4}, {"start": 0, "stop": "inf"}, {"start": 0, "stop": 1e19}, {"start": 0, "stop": 3, "step": 1e-300}])
def test_a_range_that_does_not_end_is_named(mx, given):
    with pytest.raises(Failure, match="given start .*, stop .*, step .*, repeat .*, expected at most"):
        mx.run("_arange", **given)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64"])
def test_the_gradient_of_negative_is_exact_and_does_not_read_the_argument(mx, dtype):
    head = np.array([0, 1, -7] if dtype == "float16" else [0, 2**24 + 1 if dtype[0] == "i" else 1, -7]).astype(dtype)
    argument = np.array([1, 2, 3]).astype(dtype)
    if dtype[0] == "f":
        argument[:] = np.nan, np.inf, 0
    np.testing.assert_array_equal(mx.run("_backward_negative", head, argument)[0], -head)
