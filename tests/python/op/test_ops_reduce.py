# SPDX-License-Identifier: Apache-2.0
"""Reductions against NumPy in float64, on random shapes, axes and types; gradients against differences.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/op/test_ops_reduce.py
"""
import itertools
import os

import numpy as np
import pytest

from op_calls import ADD, DEVICE, Failure

SEED = 20240611
FLOATS = ["float32", "float64", "float16"]
INTEGERS = ["int8", "uint8", "int32", "int64"]


def sample(rng, shape, dtype):
    if dtype in FLOATS:
        return rng.normal(size=shape).astype(dtype)
    return rng.integers(0 if dtype == "uint8" else -4, 5, size=shape).astype(dtype)


def tolerance(dtype):
    return {"float16": 2e-3, "float32": 1e-6, "float64": 1e-12}.get(dtype, 0)


# Shapes that meet every path: scalars, empty, short and long rows, narrow and wide columns, alternating axes.
CASES = [((), None), ((7,), (0,)), ((5, 3), (1,)), ((5, 3), (0,)), ((2, 3, 4), (0, 2)), ((2, 3, 4), (1,)),
         ((3, 1, 5), (1,)), ((1, 1), (0, 1)), ((4000, 3), (1,)), ((4000, 3), (0,)), ((3, 5000), (1,)),
         ((300, 1500), (0,)), ((2, 70, 3, 40), (1, 3)), ((2, 70, 3, 40), (0, 2)), ((300001,), (0,)),
         ((200, 1, 2100), (0, 2)), ((0, 3), (0,)), ((3, 0), (0,)), ((3, 0), (1,)), ((2, 0, 3), (1,)), ((2, 3), ()), ((70000, 8), (0,)),
         ((300, 110), (0,)), ((258, 333), (0,)), ((9, 50, 700), (1,))]


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
@pytest.mark.parametrize("shape,axis", CASES)
def test_sum_mean_and_extremes_are_those_of_numpy(mx, rng, shape, axis, dtype):
    a = sample(rng, shape, dtype)
    wide = a.astype("float64" if dtype in FLOATS else "int64")
    attrs = {} if axis is None else {"axis": axis}
    keep = bool(rng.integers(2))
    count = max(1, a.size // max(1, np.sum(wide, axis=axis).size))
    got = mx.run("_np_sum", a, keepdims=keep, **attrs)[0]
    want = np.sum(wide, axis=axis, keepdims=keep)
    assert got.dtype == dtype and got.shape == want.shape
    scale = np.sqrt(count) if dtype in FLOATS else 0
    np.testing.assert_allclose(got, want.astype(dtype), rtol=tolerance(dtype), atol=tolerance(dtype) * scale)
    if a.size == 0:
        return
    for name, peer in (("_np_max", np.max), ("_np_min", np.min)):
        np.testing.assert_array_equal(mx.run(name, a, keepdims=keep, **attrs)[0], peer(a, axis=axis, keepdims=keep))
    mean = mx.run("_npi_mean", a, keepdims=keep, dtype="float64", **attrs)[0]
    np.testing.assert_allclose(mean, np.mean(wide.astype("float64"), axis=axis, keepdims=keep), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("count", [1, 3, 7, 8, 64])
def test_means_of_many_columns_are_rounded_once(mx, rng, dtype, count):
    a = rng.integers(-9, 9, (count, 1300)).astype(dtype)
    np.testing.assert_array_equal(mx.run("_npi_mean", a, axis=(0,))[0], (a.astype("float64").sum(0) / count).astype(dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_columns_of_more_than_the_caches_hold(mx, rng, dtype):
    a = rng.choice(np.array([-1, 1], dtype), size=(4200, 1040))
    for name, peer in (("_np_sum", np.sum), ("_np_max", np.max), ("_np_prod", np.prod)):
        np.testing.assert_array_equal(mx.run(name, a, axis=(0,))[0], peer(a, axis=0).astype(dtype))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int32"])
@pytest.mark.parametrize("shape,axis", [((300001,), (0,)), ((3, 5000), (1,)), ((5000, 3), (0,)), ((2, 70, 3, 40), (1, 3))])
def test_means_of_integers_are_those_of_exact_sums(mx, rng, shape, axis, dtype):
    low, high = (0, 2) if dtype == "bool" else (np.iinfo(dtype).min, int(np.iinfo(dtype).max) + 1)
    a = rng.integers(low, high, size=shape).astype(dtype)
    count = np.prod([shape[i] for i in axis])
    got, = mx.run("_npi_mean", a, axis=axis, dtype="float64")
    np.testing.assert_array_equal(got, a.astype("int64").sum(axis) / count)
    half, = mx.run("_npi_mean", a, axis=axis)
    np.testing.assert_array_equal(half, got.astype("float32"))


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS + ["bool"])
@pytest.mark.parametrize("shape,axis", CASES)
def test_whether_any_or_all_are_not_zero(mx, rng, shape, axis, dtype):
    """One that differs from the rest is found wherever it is; floats that are NaN are not zero."""
    attrs = {} if axis is None else {"axis": axis}
    for rest, other in ((0, 1), (1, 0), (0, 0), (1, 1)):
        a = np.full(shape, rest, dtype)
        if a.size:
            a.flat[rng.integers(a.size)] = np.nan if other and dtype in FLOATS else other
        np.testing.assert_array_equal(mx.run("_np_any", a, **attrs)[0], np.any(a, axis=axis))
        np.testing.assert_array_equal(mx.run("_np_all", a, **attrs)[0], np.all(a, axis=axis))


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("shape,axis", [((1000,), (0,)), ((70, 33), (1,)), ((33, 70), (0,)), ((300000,), (0,))])
def test_extremes_of_integers_reach_the_limits_of_the_type(mx, rng, shape, axis, dtype):
    limits = np.iinfo(dtype)
    a = rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
    for name, peer in (("_np_max", np.max), ("_np_min", np.min)):
        np.testing.assert_array_equal(mx.run(name, a, axis=axis)[0], peer(a, axis=axis))


@pytest.mark.parametrize("shape,axis", [c for c in CASES if 0 not in c[0]])
def test_variance_survives_a_large_mean(mx, rng, shape, axis):
    a = (sample(rng, shape, "float64") * 1e-3 + 1e4).astype("float32")
    attrs = {} if axis is None else {"axis": axis}
    want = np.var(a.astype("float64"), axis=axis)
    np.testing.assert_allclose(mx.run("_npi_var", a, dtype="float64", **attrs)[0], want, rtol=1e-6, atol=1e-15)
    np.testing.assert_allclose(mx.run("_npi_std", a, dtype="float64", **attrs)[0], np.sqrt(want), rtol=1e-6, atol=1e-12)


def test_a_sum_of_many_float32_is_exact_to_the_last_bit(mx, rng):
    a = rng.random(3_000_000, dtype="float32")
    want = np.float32(np.sum(a.astype("longdouble")))
    assert mx.run("_np_sum", a)[0] == want
    np.testing.assert_array_equal(mx.run("_np_sum", a.reshape(-1, 2), axis=0)[0],
                                  a.reshape(-1, 2).astype("longdouble").sum(axis=0).astype("float32"))


def test_a_half_mean_of_many_ones_is_one(mx):
    assert mx.run("mean", np.ones(70000, "float16"))[0] == 1.0


@pytest.mark.parametrize("op, meaning", [("sum", np.any), ("mean", np.any), ("norm", np.any), ("nansum", np.any), ("max", np.any),
                                         ("prod", np.all), ("nanprod", np.all), ("min", np.all)])
def test_reductions_of_bool_to_bool_say_whether_any_or_all_are_true(mx, rng, op, meaning):
    a = rng.integers(0, 4, size=(40, 3, 5)) > 0
    a[:5] = False
    for axis in (0, 1, 2):
        got, = mx.run(op, a, axis=axis)
        assert got.dtype == bool
        np.testing.assert_array_equal(got, meaning(a, axis=axis))


def test_bool_counts_as_numbers(mx, rng):
    a = rng.integers(0, 2, size=(5, 70)).astype(bool)
    total = mx.run("_np_sum", a, axis=1)[0]
    assert total.dtype == np.int64
    np.testing.assert_array_equal(total, a.sum(axis=1))
    np.testing.assert_array_equal(mx.run("_np_any", a, axis=0)[0], a.any(axis=0))
    np.testing.assert_array_equal(mx.run("_np_all", a, axis=0)[0], a.all(axis=0))


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("shape,axis", [((3, 200), 1), ((200, 3), 0), ((40, 50), 0)])
def test_nan_is_the_extreme_and_where_it_is(mx, rng, name, shape, axis):
    a = sample(rng, shape, "float32")
    a[tuple(rng.integers(0, n) for n in shape)] = np.nan
    np.testing.assert_array_equal(mx.run(f"_np_{name}", a, axis=axis)[0], getattr(np, name)(a, axis=axis))
    np.testing.assert_array_equal(mx.run(f"_npi_arg{name}", a, axis=axis)[0], getattr(np, f"arg{name}")(a, axis=axis))


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
@pytest.mark.parametrize("length", [*range(1, 20), 24, 25, 31, 32, 33, 47, 48, 49, 63, 64, 65, 100, 127, 128, 129, 257, 1000, 1024, 1025, 5000])
def test_extreme_elements_are_found_wherever_they_are(mx, rng, length, dtype):
    """Each row has its first one of several at a place of its own; a NaN, and of those the first, is before all."""
    places = sorted({0, 1, length // 2, length - 2, length - 1, *rng.integers(0, length, 20)} & set(range(length)))
    a = rng.integers(1, 100, (len(places), length)).astype(dtype)
    for name, value in (("max", 101), ("min", 0), ("max", np.nan), ("min", np.nan)):
        if value != value and dtype not in FLOATS:
            continue
        b = a.copy()
        for row, place in enumerate(places):
            b[row, place] = value
            b[row, rng.integers(place, length)] = value
        np.testing.assert_array_equal(mx.run(f"_npi_arg{name}", b, axis=1)[0], getattr(b, f"arg{name}")(axis=1))
        np.testing.assert_array_equal(mx.run(f"_np_{name}", b, axis=1)[0], getattr(b, name)(axis=1))
        assert mx.run(f"_npi_arg{name}", b[-1])[0] == places[-1]


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
@pytest.mark.parametrize("shape,axis", [((1,), 0), ((3, 700), 1), ((700, 3), 0), ((3, 40, 300), 1), ((9, 2), None)])
def test_the_first_of_equal_elements_is_found(mx, rng, shape, axis, dtype):
    a = rng.integers(0, 4, size=shape).astype(dtype)
    attrs = {} if axis is None else {"axis": axis}
    np.testing.assert_array_equal(mx.run("_npi_argmax", a, **attrs)[0], np.argmax(a, axis=axis))
    np.testing.assert_array_equal(mx.run("_npi_argmin", a, **attrs)[0], np.argmin(a, axis=axis))


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS + ["bool"])
def test_the_first_of_equal_elements_is_found_in_rows_that_threads_share(mx, rng, dtype):
    """Stretches of 65536: equal elements, and NaN, on both sides of their ends and in the last, short one."""
    n = 5 * 65536 + 17
    for rows, places in ((1, [65535, 65536, 3 * 65536]), (1, [n - 1]), (1, [0, n - 1]), (2, [2 * 65536 - 1, 2 * 65536])):
        low, high = ([0, 1] if dtype == "bool" else [3, 5])
        for name, usual, extreme in (("argmax", low, high), ("argmin", high, low)):
            a = np.full((rows, n), usual, dtype)
            a[:, places] = extreme
            attrs = {"axis": 1} if rows > 1 else {}
            np.testing.assert_array_equal(mx.run(f"_npi_{name}", a, **attrs)[0], [places[0]] * rows if rows > 1 else places[0])
            if dtype in FLOATS:
                a[:, [4 * 65536, n - 2]] = np.nan
                np.testing.assert_array_equal(mx.run(f"_npi_{name}", a, **attrs)[0], [4 * 65536] * rows if rows > 1 else 4 * 65536)
    with np.errstate(all="ignore"):
        b = (rng.normal(size=n) * 100).astype(dtype)
    assert mx.run("_npi_argmax", b)[0] == np.argmax(b) and mx.run("_npi_argmin", b)[0] == np.argmin(b)


# Short and long rows, few and many columns; sums that are exact in any order.
@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
@pytest.mark.parametrize("shape", [(7, 1), (301, 2), (301, 3), (300, 4), (40, 13), (3, 1025), (2, 4200), (50, 3, 3), (2, 900, 3),
                                   (2, 3, 1000), (2, 513, 1), (5, 1100, 2), (3, 70, 17), (21, 3, 7), (9, 300, 15)])
def test_running_sums_of_any_shape(mx, rng, dtype, shape):
    a = rng.integers(0 if dtype == "uint8" else -2, 2, shape).astype(dtype)
    wide = "float64" if dtype in FLOATS else dtype
    for axis in range(len(shape)):
        np.testing.assert_array_equal(mx.run("_np_cumsum", a, axis=axis)[0], np.cumsum(a, axis, wide).astype(dtype))
        back = np.flip(np.cumsum(np.flip(a, axis), axis, wide), axis).astype(dtype)
        np.testing.assert_array_equal(mx.run("_backward_np_cumsum", a, a, axis=axis)[0], back)


def sums_by_fours(row):
    """Each four numbers are summed by pairs before the sum until then is added; -0 is nothing."""
    carry, sums = np.float64(-0.0), np.empty(row.shape, "float64")
    whole = len(row) // 4 * 4
    for at in range(0, whole, 4):
        x = row[at: at + 4].astype("float64")
        pair = x[0] + x[1]
        sums[at: at + 4] = [carry + x[0], carry + pair, carry + (pair + x[2]), carry + (pair + (x[2] + x[3]))]
        carry = sums[at + 3]
    for at in range(whole, len(row)):
        sums[at] = carry = carry + np.float64(row[at])
    return sums.astype(row.dtype)


# To the digit and the sign of zero, whatever the processor; the rows of three one after the other, over themselves too.
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 23, 1001])
def test_digits_of_running_sums(mx, rng, dtype, n):
    a = (rng.normal(size=(9, n)) * 10.0 ** rng.integers(-3, 4, (9, n))).astype(dtype)
    a[0], a[1, 0], a[2, -1] = -0.0, np.inf, np.nan
    want = np.stack([sums_by_fours(row) for row in a])
    back = np.stack([sums_by_fours(row[::-1])[::-1] for row in a])
    for given, name, arrays in ((want, "_np_cumsum", [a]), (back, "_backward_np_cumsum", [a, a])):
        got = mx.run(name, *arrays, axis=1)[0]
        np.testing.assert_array_equal(got, given)
        np.testing.assert_array_equal(np.signbit(got[:2]), np.signbit(given[:2]))
    array = mx.array(a)
    mx.invoke("_np_cumsum", [array], out=[array], axis=1)
    np.testing.assert_array_equal(mx.numpy(array), want)
    mx.free(array)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_cumsum_and_diff_undo_each_other(mx, rng, axis):
    a = rng.integers(-9, 9, size=(6, 5, 300)).astype("int32")
    attrs = {} if axis is None else {"axis": axis}
    total = mx.run("_np_cumsum", a, **attrs)[0]
    np.testing.assert_array_equal(total, np.cumsum(a, axis=axis))
    if axis is not None:
        for n in range(4):
            np.testing.assert_array_equal(mx.run("_npi_diff", a, n=n, axis=axis)[0], np.diff(a, n=n, axis=axis))


def test_integer_sums_wrap_in_their_type(mx):
    assert mx.run("_np_sum", np.full(300, 100, "int8"))[0] == np.int8(300 * 100 & 0xFF)
    assert mx.run("_np_prod", np.full(70, 2, "int64"))[0] == 0


def test_products_of_nothing_are_zero_in_numpys_operators_but_one_with_an_initial_value(mx):
    assert mx.run("prod", np.ones((2, 0), "float32"), axis=1)[0].tolist() == [1, 1]
    assert mx.run("_np_prod", np.ones((0,), "float32"))[0] == 0
    assert mx.run("_np_prod", np.ones((0,), "float32"), initial=1)[0] == 1
    assert mx.run("_np_max", np.ones((0,), "float32"), initial=-3)[0] == -3


@pytest.mark.parametrize("name,attrs", [("_np_max", {}), ("_npi_argmax", {}), ("_npi_percentile", {"q_scalar": 50}),
                                        ("_np_sum", {"axis": 3}), ("sum", {"axis": "(0, 0)"}), ("norm", {"ord": 3})])
def test_what_has_no_answer_is_refused_at_the_call(mx, name, attrs):
    with pytest.raises(Failure, match="given"):
        mx.run(name, np.ones((0, 2), "float32"), **attrs)


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
@pytest.mark.parametrize("shape,axis", [((1,), 0), ((2,), 0), ((70001,), 0), ((5, 67), 1), ((67, 5), 0), ((3, 4, 9), 1), ((300, 2), 1), ((4, 0), 1), ((0, 4), 1)])
def test_differences_and_their_gradients(mx, rng, shape, axis, dtype):
    a = sample(rng, shape, dtype)
    assert np.array_equal(mx.run("_npi_diff", a, axis=axis)[0], np.diff(a, axis=axis))
    flat = mx.run("_npi_ediff1d", a, to_begin_scalar=3, to_end_scalar=2)[0]
    assert np.array_equal(flat, np.concatenate([[3], np.diff(a.ravel()), [2]]).astype(dtype))
    if dtype in FLOATS and shape[axis] > 1 and a.size:
        head = np.round(4 * sample(rng, np.diff(a, axis=axis).shape, dtype))
        wide = np.moveaxis(head, axis, 0)
        ends = np.zeros((1, *wide.shape[1:]), dtype)
        want = np.moveaxis(np.concatenate([ends, wide]) - np.concatenate([wide, ends]), 0, axis)
        assert np.array_equal(mx.gradients("_npi_diff", [a], [head], axis=axis)[0], want)


SMOOTH = [("sum", {"axis": "(1,)"}), ("mean", {"axis": "(0, 2)"}), ("prod", {"axis": "(1,)"}), ("prod", {}),
          ("nansum", {"axis": "(2,)"}), ("nanprod", {"axis": "(1,)"}), ("max", {"axis": "(1,)"}), ("min", {}),
          ("norm", {"ord": 1}), ("norm", {"axis": "(1,)"}), ("_square_sum", {"axis": "(1,)"}),
          ("moments", {"axes": "(0, 1)"}), ("_npi_var", {"axis": "(1,)", "ddof": 1}), ("_npi_std", {}),
          ("_np_cumsum", {"axis": "1"}), ("_np_cumsum", {}), ("_npi_diff", {"n": 2, "axis": 1}), ("_npi_ediff1d", {}),
          ("_npi_norm", {"ord": 3, "axis": "(0,)"}), ("_npi_norm", {"ord": 2, "axis": "(0, 1)", "flag": 0}),
          ("_npi_norm", {"axis": "(1, 2)", "flag": 2}), ("_npi_norm", {"ord": -1, "axis": "(0, 2)", "flag": 0}),
          ("_npi_average", {"weighted": False, "axis": "(1,)"}), ("_npi_average", {"axis": "(0,)"}),
          ("sort", {"axis": 1}), ("topk", {"axis": 0, "k": 2, "ret_typ": "value"})]


@pytest.mark.parametrize("name,attrs", SMOOTH)
@pytest.mark.parametrize("request_", ["write", "add"])
def test_gradients_are_slopes(mx, rng, name, attrs, request_):
    arrays = [rng.normal(size=(3, 4, 2))]
    if name == "_npi_average" and attrs.get("weighted", True):
        arrays.append(rng.random((3, 4, 2)) + 0.5)
    heads = [rng.normal(size=o.shape) for o in mx.run(name, *arrays, **attrs)]

    def value():
        return sum((o * h).sum() for o, h in zip(mx.run(name, *arrays, **attrs), heads))

    start = 0.5 if request_ == "add" else 0.0
    got = mx.gradients(name, arrays, heads, **({"request": ADD, "start": start} if start else {}), **attrs)
    for array, slope in zip(arrays, got):
        for at in itertools.product(*map(range, array.shape)):
            kept, values = array[at], []
            for step in (1e-6, -1e-6):
                array[at] = kept + step
                values.append(value())
            array[at] = kept
            assert slope[at] - start == pytest.approx((values[0] - values[1]) / 2e-6, rel=1e-4, abs=1e-6)


def test_gradient_of_a_product_with_zeros_is_the_product_of_the_others(mx):
    a = np.array([[2.0, 0.0, 5.0], [0.0, 0.0, 3.0], [2.0, 3.0, 4.0]])
    got = mx.gradients("prod", [a], [np.ones(3)], axis="(1,)")[0]
    np.testing.assert_array_equal(got, [[0, 10, 0], [0, 0, 0], [12, 8, 6]])


@pytest.mark.parametrize("dtype", ["int32", "int64", "int8", "uint8"])
def test_gradient_of_a_product_of_whole_numbers(mx, dtype):
    a, least = np.array([[2, 0, 5], [0, 0, 3], [2, 3, 4]], dtype), np.iinfo(dtype).min
    np.testing.assert_array_equal(mx.gradients("prod", [a], [np.ones(3, dtype)], axis="(1,)")[0], [[0, 10, 0], [0, 0, 0], [12, 8, 6]])
    # Not the product of the others: 0 / 0 of floating numbers is no number, which no whole one says.
    np.testing.assert_array_equal(mx.gradients("nanprod", [a], [np.ones(3, dtype)], axis="(1,)")[0], [[0, 0, 0], [0, 0, 0], [12, 8, 6]])
    if least < 0:  # the quotient of the least and -1 is too large for the type
        got = mx.gradients("prod", [np.array([least, -1], dtype)], [np.ones(1, dtype)])[0]
        assert got[1] == least


@pytest.mark.parametrize("of", ["float16", "float32", "float64"])
@pytest.mark.parametrize("to", ["float32", "float64"])
def test_gradients_of_reductions_to_another_type(mx, of, to):
    a = np.array([[2.0, 0.0, 5.0], [2.0, 3.0, 4.0]], of)
    head = np.array([1.0, 2.0], to)
    attrs = {"axis": "(1,)", "dtype": to}
    assert mx.gradients("_np_prod", [a], [head], **attrs)[0].tolist() == [[0, 10, 0], [24, 16, 12]]
    assert mx.gradients("_np_sum", [a], [head], **attrs)[0].tolist() == [[1] * 3, [2] * 3]
    np.testing.assert_allclose(mx.gradients("_npi_mean", [a], [head], **attrs)[0], [[1 / 3] * 3, [2 / 3] * 3], rtol=1e-3)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape,axis", [((5, 3), (1,)), ((4000, 3), (1,)), ((700, 1), (1,)), ((5, 3), (0,)), ((3, 5000), (1,)), ((2, 513), (1,)),
                                        ((300, 1500), (0,)), ((2, 70, 3, 40), (1, 3)), ((2, 70, 3, 40), (0, 2)), ((9, 50, 700), (1,)),
                                        ((1, 40, 1, 7), (0, 2)), ((1, 40000), (1,))])
def test_gradients_reach_each_element_of_rows_of_any_length(mx, rng, shape, axis, dtype):
    a = rng.integers(-9, 10, size=shape).astype(dtype)
    wide = a.astype("float64")
    head = rng.integers(-4, 5, size=np.max(a, axis=axis).shape).astype(dtype)
    spread = np.broadcast_to(head.reshape(np.max(a, axis=axis, keepdims=True).shape).astype("float64"), shape)
    largest = wide == np.max(wide, axis=axis, keepdims=True)
    count = a.size // head.size
    want = {"sum": spread, "mean": spread / count, "max": spread * largest, "nansum": spread}
    for name, expected in want.items():
        got = mx.gradients(name, [a], [head], axis=axis)[0]
        assert got.dtype == a.dtype
        np.testing.assert_allclose(got.reshape(shape), expected, rtol=tolerance(dtype), atol=1e-7, err_msg=name)


@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "midpoint", "nearest"])
@pytest.mark.parametrize("axis", [None, (0,), (0, 2), (1,)])
def test_percentiles_are_those_of_numpy(mx, rng, interpolation, axis):
    a, q = rng.normal(size=(3, 4, 5)), np.array([0.0, 12.5, 50.0, 99.0, 100.0])
    attrs = {} if axis is None else {"axis": axis}
    got = mx.run("_npi_percentile", a, q, interpolation=interpolation, **attrs)[0]
    np.testing.assert_allclose(got, np.percentile(a, q, axis=axis, method=interpolation), rtol=1e-12)


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS + ["bool"])
@pytest.mark.parametrize("shape,axis", [((501,), None), ((7, 90), (1,)), ((90, 37), (0,)), ((5, 6, 40), (0, 2)), ((1,), (0,))])
def test_percentiles_of_each_type_and_axis(mx, rng, shape, axis, dtype):
    a = (rng.normal(size=shape) > 0) if dtype == "bool" else sample(rng, shape, dtype)
    attrs = {} if axis is None else {"axis": axis}
    got = mx.run("_npi_percentile", a, q_scalar=30.0, **attrs)[0]
    np.testing.assert_allclose(got, np.percentile(a.astype("float64"), 30, axis=axis), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("shape,axis", [((40,), (0,)), ((40, 20), (0,)), ((20, 40), (1,))])
def test_a_nan_is_each_percentage_of_its_line_alone(mx, rng, shape, axis):
    a = rng.normal(size=shape).astype("float32")
    a.flat[3] = np.nan
    for q in (0.0, 50.0, 100.0):
        np.testing.assert_allclose(mx.run("_npi_percentile", a, q_scalar=q, axis=axis)[0],
                                   np.percentile(a.astype("float64"), q, axis=axis), rtol=1e-6)


def test_histograms_count_what_lies_between_edges(mx, rng):
    a = rng.normal(size=2000).astype("float32")
    edges = np.array([-2.0, -0.5, 0.1, 3.0], "float32")
    counts, given = mx.run("_histogram", a, edges)
    np.testing.assert_array_equal(counts, np.histogram(a, edges)[0])
    np.testing.assert_array_equal(given, edges)
    counts, given = mx.run("_histogram", a, bin_cnt=16, range=(-2, 2))
    np.testing.assert_array_equal(counts, np.histogram(a, given)[0])
    # Edges of integers are cut off: an element moves by one of them at most.
    counts, given = mx.run("_histogram", np.array([-1, 1, 0, 0, 4, 1, 2, 2], "int64"), bin_cnt=7, range=(0, 2))
    assert (counts.tolist(), given.tolist()) == ([0, 2, 0, 0, 2, 0, 2], [0, 0, 0, 0, 1, 1, 1, 2])


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float16", "float32", "float64"])
@pytest.mark.parametrize("high", [1e-320, 1e-312])
def test_a_range_whose_bins_have_no_width_counts_what_is_at_its_beginning(mx, dtype, high):
    # 0 is so many bins times infinity from the lowest edge.
    counts, _ = mx.run("_histogram", np.array([0, 1, 0, 200], dtype), bin_cnt=4, range=(0, high))
    assert counts.sum() == 2
    if dtype == "float64":
        assert counts.tolist() == [2, 0, 0, 0]


def test_a_range_without_end_counts_everything_once(mx):
    for dtype in ("uint8", "float32"):
        assert mx.run("_histogram", np.array([0, 1, 5, 200], dtype), bin_cnt=4, range=(-np.inf, np.inf))[0].sum() == 4


@pytest.mark.parametrize("dtype", INTEGERS)
def test_bincount_has_the_length_of_the_largest_number_or_more(mx, rng, dtype):
    a = rng.integers(0, 90, size=500).astype(dtype)
    weights = rng.random(500)
    np.testing.assert_array_equal(mx.run("_npi_bincount", a)[0], np.bincount(a).astype(dtype))
    np.testing.assert_array_equal(mx.run("_npi_bincount", a, minlength=200)[0], np.bincount(a, minlength=200).astype(dtype))
    np.testing.assert_allclose(mx.run("_npi_bincount", a, weights, has_weights=True)[0], np.bincount(a, weights), rtol=1e-12)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_numbers_that_repeat_are_counted_once_each(mx, rng, dtype):
    a = np.repeat(np.array([3, 0, 7], dtype), [1001, 2, 4])
    np.testing.assert_array_equal(mx.run("_npi_bincount", a[a == 7])[0], [0] * 7 + [4])
    assert mx.run("_npi_bincount", rng.permutation(a).astype("int64"))[0].tolist() == [2, 0, 0, 1001, 0, 0, 0, 4]


@pytest.mark.parametrize("largest", [2**60, 2**63 - 1])
def test_bins_that_no_memory_holds_are_refused_by_number(mx, largest):
    with pytest.raises(Failure, match=f"given {largest} in 'data', expected at most [0-9]+ bins"):
        mx.run("_npi_bincount", np.array([largest], "int64"))


def test_a_length_that_no_memory_holds_is_refused_by_name(mx):
    """2^31 - 1 bins of 16 bytes are 32 GiB."""
    if DEVICE == 2:
        pytest.skip("GPUs may have the memory")
    if os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") > 30 << 30:
        pytest.skip("this machine has the memory")
    with pytest.raises(Failure, match="given minlength=2147483647, expected at most [0-9]+ bins"):
        mx.run("_npi_bincount", np.array([1], "int64"), minlength=2**31 - 1)


def test_bincount_refuses_negative_numbers(mx):
    with pytest.raises(Failure, match="negative"):
        mx.run("_npi_bincount", np.array([3, -1], "int32"))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 600), (2, 5, 700)])
def test_running_sums_keep_the_sign_of_zero(mx, dtype, shape):
    a = np.full(shape, -0.0, dtype=dtype)
    for axis in range(len(shape)):
        assert np.signbit(mx.run("_np_cumsum", a, axis=axis)[0]).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_all_finite_looks_at_every_bit_of_every_element(mx, dtype):
    greatest = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38, "float64": 1.7976931348623157e308}[dtype]
    for size in (0, 1, 7, 8, 9, 33, 5000):
        fine = np.resize(np.array([greatest, -greatest, 0.0, -0.0, 6e-8, 1.0]), size)
        for at in {0, size // 2, size - 1} if size else ():
            for bad in (np.nan, -np.nan, np.inf, -np.inf):
                wrong = fine.copy()
                wrong[at] = bad
                assert all_finite(mx, wrong, dtype) == 0, (size, at, bad)
        assert all_finite(mx, fine, dtype) == 1, size


def all_finite(mx, values, dtype):
    if dtype == "bfloat16":
        return mx.run_in_bfloat16("all_finite", values)[0].item()
    return mx.run("all_finite", values.astype(dtype))[0].item()


@pytest.mark.parametrize("op", ["_np_sum", "_npi_mean", "_np_prod", "_np_max", "_np_min", "_np_any", "_np_all", "_npi_var", "_npi_average"])
def test_a_scalar_has_one_axis_at_most(mx, op):
    a = np.array(2.0, "float32")
    arrays = [a, a] if op == "_npi_average" else [a]
    for axis in ("0", "-1", "(0,)"):
        assert mx.run(op, *arrays, axis=axis)[0].shape == ()
    for axis in ("(0,0)", "(0,-1)", "(1,)"):
        with pytest.raises(Failure, match="axis"):
            mx.run(op, *arrays, axis=axis)


@pytest.mark.parametrize("dtype,most", [("int64", 2**60), ("int32", 2**30), ("int8", 100), ("uint8", 200)])
def test_averages_of_integers_are_those_of_exact_sums(mx, dtype, most):
    rows, weights = [[most + 1, most + 3, most + 5], [7, 8, 9]], [[1, 2, 3], [1, 0, 1]]
    a, w = np.array(rows, dtype), np.array(weights, dtype)
    exact = [sum(x * y for x, y in zip(row, of_row)) // sum(of_row) for row, of_row in zip(rows, weights)]
    assert mx.run("_npi_average", a, w, axis="(1,)")[0].tolist() == exact
    assert mx.run("_npi_average", a, np.array([1, 2, 1], dtype), axis="(1,)")[0].tolist() == [most + 3, 8]
    assert mx.run("_npi_average", a, weighted=False, axis="(1,)")[0].tolist() == [most + 3, 8]
    assert mx.run("_npi_average", a, np.zeros(2, dtype), axis="(0,)")[0].tolist() == [0, 0, 0]  # weights of nothing
    assert mx.run("_npi_average", np.zeros((0, 2), dtype), weighted=False, axis="(0,)")[0].tolist() == [0, 0]


def test_an_average_of_the_least_integer_by_a_negative_weight_wraps(mx):
    least = np.iinfo("int64").min
    assert mx.run("_npi_average", np.array([least], "int64"), np.array([-1], "int64"))[0].item() == least


@pytest.mark.parametrize("op", ["_np_max", "_np_min"])
def test_extremes_along_an_axis_of_no_length_are_refused_though_there_would_be_no_results(mx, op):
    a = np.zeros((0, 2, 0), "float32")
    for axis in ("0", "-1", "(0,1)"):
        with pytest.raises(Failure, match="at least one element"):
            mx.run(op, a, axis=axis)
        assert mx.run(op, a, axis=axis, initial=1.0)[0].size == 0
    assert mx.run(op, a, axis="1")[0].shape == (0, 0)
    assert mx.run(op, np.zeros((3, 0), "float32"), axis="0")[0].shape == (0,)
