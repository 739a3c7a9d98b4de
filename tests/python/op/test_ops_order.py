# SPDX-License-Identifier: Apache-2.0
"""sort, argsort and topk against NumPy: every type, axis and direction, ties, NaN and long rows.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/op/test_ops_order.py
"""

import numpy as np
import pytest

from op_calls import Failure

SEED = 20240612
TYPES = ["float32", "float64", "float16", "int8", "uint8", "int32", "int64"]
# Below and above the length from which rows are sorted digit by digit.
SHAPES = [(1,), (5, 4), (3, 255), (3, 256), (40, 300, 2), (2, 5000), (20001,)]


def sample(rng, shape, dtype):
    if dtype.startswith("float"):
        return (rng.normal(size=shape) * 100).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, size=shape, dtype=dtype, endpoint=True)


def order_of(a, axis, ascending):
    """Stable in both directions: equal elements keep their order."""
    key = a.astype("float64") if a.dtype.kind == "f" else a
    if ascending:
        return np.argsort(key, axis=axis, kind="stable")
    flipped = np.flip(key, axis=axis)
    return np.flip(key.shape[axis] - 1 - np.argsort(flipped, axis=axis, kind="stable"), axis=axis)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ascending", [True, False])
def test_sort_and_argsort_agree_with_numpy(mx, rng, shape, dtype, ascending):
    a = sample(rng, shape, dtype)
    for axis in range(len(shape)):
        want = order_of(a, axis, ascending)
        got = mx.run("argsort", a, axis=axis, is_ascend=ascending, dtype="int64")[0]
        np.testing.assert_array_equal(got, want)
        got = mx.run("sort", a, axis=axis, is_ascend=ascending)[0]
        np.testing.assert_array_equal(got, np.take_along_axis(a, want, axis))


@pytest.mark.parametrize("shape", [(300,), (3, 2000)])
@pytest.mark.parametrize("ascending", [True, False])
def test_equal_elements_keep_their_order(mx, rng, shape, ascending):
    a = rng.integers(0, 5, size=shape).astype("float32")
    a[a == 4] = -0.0  # equals 0
    got = mx.run("argsort", a, is_ascend=ascending, dtype="int32")[0]
    np.testing.assert_array_equal(got, order_of(a, -1, ascending))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", range(1, 11))
@pytest.mark.parametrize("ascending", [True, False])
def test_many_short_rows(mx, rng, n, dtype, ascending):
    """Most of them with equal elements."""
    few = rng.choice(sample(rng, (4,), dtype), size=(300, n))
    for a, axis in ((few, 1), (few.T.copy(), 0)):
        want = order_of(a, axis, ascending)
        attrs = {"axis": axis, "is_ascend": ascending}
        np.testing.assert_array_equal(mx.run("argsort", a, dtype="int64", **attrs)[0], want)
        values, places = mx.run("topk", a, k=(n + 1) // 2, ret_typ="both", dtype="int32", **attrs)
        best = want.take(range((n + 1) // 2), axis)
        np.testing.assert_array_equal(places, best)
        np.testing.assert_array_equal(values, np.take_along_axis(a, best, axis))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("rows, n", [(1, 16), (2, 64), (15, 8), (16, 9), (17, 33), (33, 128), (50, 256), (50, 257)])
def test_short_rows_are_ordered_each_by_itself(mx, rng, rows, n, dtype):
    """However many of them come together."""
    a = rng.choice(sample(rng, (20,), dtype), size=(rows, n))
    for ascending in (True, False):
        want, attrs = order_of(a, 1, ascending), {"axis": 1, "is_ascend": ascending}
        np.testing.assert_array_equal(mx.run("argsort", a, dtype="int64", **attrs)[0], want)
        np.testing.assert_array_equal(mx.run("sort", a, **attrs)[0], np.take_along_axis(a, want, 1))
        for k in (1, 2, n // 4, n // 2):
            values, places = mx.run("topk", a, k=k, ret_typ="both", dtype="int32", **attrs)
            np.testing.assert_array_equal(places, want[:, :k])
            np.testing.assert_array_equal(values, np.take_along_axis(a, want[:, :k], 1))
            mask = np.zeros_like(a)
            np.put_along_axis(mask, want[:, :k], 1, 1)
            np.testing.assert_array_equal(mx.run("topk", a, k=k, ret_typ="mask", **attrs)[0], mask)


@pytest.mark.parametrize("dtype", [*TYPES, "bool"])
@pytest.mark.parametrize("n", range(2, 34))
def test_rows_side_by_side_are_ordered_as_each_alone(mx, rng, n, dtype):
    """With NaN of either sign, infinities and both zeros; sixteen rows come together, and what is left."""
    if dtype == "bool":
        some = np.array([False, True])
    elif dtype.startswith("float"):
        some = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1.5, np.finfo(dtype).tiny]).astype(dtype)
    else:
        info = np.iinfo(dtype)
        some = np.array([info.min, info.max, 0, 1, 2, 3, info.max - 1], dtype)
    for rows in (2, 16, 35):
        a = rng.choice(some, size=(rows, n))
        for ascending in (True, False):
            attrs = {"axis": -1, "is_ascend": ascending}
            for x, axis in ((a, 1), (a.T.copy(), 0)):
                calls = [("sort", {}), ("argsort", {"dtype": "int64"})]
                if dtype != "bool":
                    calls += [("topk", {"k": k, "dtype": "int32"}) for k in (1, (n + 1) // 2)]
                for op, more in calls:
                    got = np.moveaxis(mx.run(op, x, **(attrs | more | {"axis": axis}))[0], axis, 1)
                    want = np.stack([mx.run(op, row, **attrs, **more)[0] for row in a])
                    assert np.ascontiguousarray(got).tobytes() == want.tobytes(), (op, rows, ascending, axis)


@pytest.mark.parametrize("ascending", [True, False])
@pytest.mark.parametrize("spread", [2**32 - 1, 2**32, 2**63 - 2])
@pytest.mark.parametrize("least", [-2**62, -5, 0])
def test_64_bit_integers_near_each_other_and_far_apart_are_ordered_alike(mx, rng, least, spread, ascending):
    """Those that differ by less than 2^32 are ordered by the difference to the least."""
    a = least + rng.integers(0, 1000, size=500)
    a[417], a[3], a[499] = least, least + spread, least + spread
    for values in (a, a[4:400]):  # the first 64 are near each other in both
        got = mx.run("argsort", values, is_ascend=ascending, dtype="int32")[0]
        np.testing.assert_array_equal(got, order_of(values, -1, ascending))


def test_real_numbers_near_each_other_are_ordered_with_their_last_bits(mx, rng):
    a = 1 + rng.integers(0, 2**30, size=5000) * 2.0**-52
    np.testing.assert_array_equal(mx.run("argsort", a, dtype="int32")[0], np.argsort(a, kind="stable"))
    a[77], a[100] = np.nan, -np.inf
    np.testing.assert_array_equal(mx.run("argsort", a, dtype="int32")[0], np.argsort(a, kind="stable"))


@pytest.mark.parametrize("n", [9, 1000])
def test_nan_of_either_sign_comes_last_in_ascending_order(mx, rng, n):
    a = rng.normal(size=n).astype("float32")
    a[1], a[4], a[5], a[6] = np.nan, -np.float32(np.nan), np.inf, -np.inf
    got = mx.run("sort", a)[0]
    np.testing.assert_array_equal(got, np.sort(a))
    assert list(mx.run("argsort", a, dtype="int32")[0][-3:]) == [5, 1, 4]
    assert list(mx.run("topk", a, k=3, dtype="int32")[0]) == [1, 4, 5]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape,axis,k", [((1,), 0, 1), ((4, 50), 1, 3), ((50, 4), 0, 20), ((3, 3000, 2), 1, 7),
                                          ((3, 3000), 1, 2999), ((100000,), 0, 100), ((6, 7), 1, 0)])
def test_topk_returns_values_positions_and_masks(mx, rng, shape, axis, k, dtype):
    a = sample(rng, shape, dtype)
    for ascending in (True, False):
        taken = np.take(order_of(a, axis, ascending), range(k or shape[axis]), axis)
        attrs = {"axis": axis, "k": k, "is_ascend": ascending, "dtype": "int32"}
        values, positions = mx.run("topk", a, ret_typ="both", **attrs)
        np.testing.assert_array_equal(positions, taken)
        np.testing.assert_array_equal(values, np.take_along_axis(a, taken, axis))
        np.testing.assert_array_equal(mx.run("topk", a, ret_typ="value", **attrs)[0], values)
        np.testing.assert_array_equal(mx.run("topk", a, ret_typ="indices", **attrs)[0], taken)
        mask = np.zeros_like(a)
        np.put_along_axis(mask, taken, 1, axis)
        np.testing.assert_array_equal(mx.run("topk", a, ret_typ="mask", **attrs)[0], mask)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [20, 33, 47, 48, 63, 64, 65, 95, 96, 97, 128, 129, 255, 256, 257, 1024, 2047, 2080, 5000])
def test_the_best_of_rows_with_many_equal_numbers(mx, rng, dtype, n):
    a = rng.integers(0, 4, size=(5, n)).astype(dtype)
    a[1] = 3  # all equal
    a[2] = np.sort(a[2])
    a[3, : n - 2], a[3, n - 2 :] = 1, 2  # the best come last
    if dtype == "int64":  # the first and the last of all keys
        a[4, ::2], a[4, 1::2] = np.iinfo(dtype).min, np.iinfo(dtype).max
    if dtype.startswith("float"):
        a[4, ::3], a[4, 1::3], a[4, 2::3] = np.nan, np.inf, -np.inf
    for ascending in (True, False):
        order = order_of(a, 1, ascending)
        if dtype.startswith("float"):  # NaN is last in ascending order, and so it is first in the other
            at = np.arange(n)
            parts = [at[2::3], at[1::3], at[::3]]
            order[4] = np.concatenate(parts if ascending else parts[::-1])
        for k in (1, 2, 4, 5, 6, 8, 15, 16, 17):
            got = mx.run("topk", a, axis=1, k=k, is_ascend=ascending, dtype="int32")[0]
            np.testing.assert_array_equal(got, order[:, :k])


# Whatever finds it: short rows and long ones, along any axis, by one thread and by several.
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("ascending", [True, False])
@pytest.mark.parametrize("content", ["few different", "zeros of both signs", "some NaN", "all NaN"])
def test_the_best_one_is_the_first_in_order(mx, rng, dtype, ascending, content):
    if "different" not in content and dtype[0] != "f":
        dtype = "float32"
    for shape in ((1, 2), (7,), (5, 3, 2), (3000, 4), (4, 3000), (40, 30, 50), (2, 70000)):
        a = rng.integers(0, 3, shape).astype(dtype)
        if content == "zeros of both signs":
            a = np.copysign(np.zeros(shape), rng.normal(size=shape)).astype(dtype)
        elif content != "few different":
            a[rng.random(shape) < (0.2 if content == "some NaN" else 1)] = np.nan
        for axis in range(len(shape)):
            place = np.take(order_of(a, axis, ascending), [0], axis)
            mask = np.zeros_like(a)
            np.put_along_axis(mask, place, 1, axis)
            want = np.take_along_axis(a, place, axis)
            attrs = {"k": 1, "axis": axis, "is_ascend": ascending}
            for number in ("int64", "float32", "int32"):
                values, positions = mx.run("topk", a, ret_typ="both", dtype=number, **attrs)
                np.testing.assert_array_equal(positions, place.astype(number))
                np.testing.assert_array_equal(values.view(f"u{a.itemsize}"), want.view(f"u{a.itemsize}"))
            np.testing.assert_array_equal(mx.run("topk", a, ret_typ="indices", dtype="int64", **attrs)[0], place)
            np.testing.assert_array_equal(mx.run("topk", a, ret_typ="mask", **attrs)[0], mask)
            given = rng.integers(1, 9, place.shape).astype(dtype)
            back = np.zeros_like(a)
            np.put_along_axis(back, place, given, axis)
            np.testing.assert_array_equal(mx.run("_backward_topk", given, a, **attrs)[0], back)
            np.testing.assert_array_equal(mx.run("_topk_take", back, a, **attrs)[0], given)


def test_no_axis_orders_the_flattened_array(mx, rng):
    a = sample(rng, (7, 60), "float32")
    np.testing.assert_array_equal(mx.run("sort", a, axis="None")[0], np.sort(a, axis=None))
    np.testing.assert_array_equal(mx.run("argsort", a, axis="None", dtype="int32")[0], np.argsort(a, axis=None))


def test_empty_arrays_have_empty_orders(mx):
    a = np.zeros((0, 3), "float32")
    assert mx.run("sort", a, axis=0)[0].shape == (0, 3)
    assert mx.run("argsort", a, axis=1)[0].shape == (0, 3)


def test_more_elements_than_there_are_cannot_be_taken(mx):
    with pytest.raises(Failure, match="k=4"):
        mx.run("topk", np.ones((2, 3), "float32"), k=4)
    with pytest.raises(Failure, match="axis"):
        mx.run("sort", np.ones((2, 3), "float32"), axis=2)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8", "float16"])
@pytest.mark.parametrize("shape, axis", [((300, 37), 0), ((3, 130, 16), 1), ((2, 70, 3, 5), 1)])
@pytest.mark.parametrize("k", [1, 20, 0])
def test_rows_of_inner_axes_are_ordered_as_rows_alone(mx, rng, dtype, shape, axis, k):
    x = rng.integers(0, 50, shape).astype(dtype)
    alone = np.ascontiguousarray(np.moveaxis(x, axis, -1))
    for ret_typ in ("value", "indices", "mask", "both"):
        got = mx.run("topk", x, axis=axis, k=k, ret_typ=ret_typ, is_ascend=True)
        want = mx.run("topk", alone, axis=-1, k=k, ret_typ=ret_typ, is_ascend=True)
        for a, b in zip(got, want):
            np.testing.assert_array_equal(np.moveaxis(a, axis, -1), b)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("n", [1, 5, 31, 64, 300, 9000])
@pytest.mark.parametrize("ascending", [True, False])
def test_zeros_keep_their_signs(mx, rng, dtype, n, ascending):
    a = rng.choice(np.array([-2.0, -0.0, 0.0, 1.0]), size=(n, 3)).astype(dtype)
    for axis, rows in ((0, a), (1, np.ascontiguousarray(a.T))):
        got = mx.run("sort", rows, axis=axis, is_ascend=ascending)[0]
        np.testing.assert_array_equal(np.signbit(got).sum(axis), np.signbit(rows).sum(axis))
        np.testing.assert_array_equal(got, np.sort(rows, axis) if ascending else np.flip(np.sort(rows, axis), axis))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_unique_takes_both_zeros_for_one(mx, dtype):
    for first in (0.0, -0.0):
        a = np.array([1, first, -first, -1, np.nan, first, -1], dtype=dtype)
        got = mx.run("_npi_unique", a)[0]
        np.testing.assert_array_equal(got, np.array([-1, 0, 1, np.nan], dtype=dtype))
        assert np.signbit(got[1]) == np.signbit(a[1])
