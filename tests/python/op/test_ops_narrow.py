# SPDX-License-Identifier: Apache-2.0
"""Long arrays of a few columns, and axes of one element: whole vectors work on several rows at once there, and behind the last
row there is nothing to read or to write.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/op/test_ops_narrow.py
"""
import numpy as np
import pytest

from drawn import Draw
from op_calls import Failure

SEED = 20261129
TYPES = ["float32", "float64", "float16", "uint8", "int8", "int32", "int64"]
ROWS = [1, 2, 15, 16, 17, 64, 100, 129, 300, 512, 1021, 3000]
WIDTHS = [1, 2, 3, 4, 5, 7, 9, 15, 17, 31, 33]


def drawn(seed, shape, dtype):
    """A few different numbers, so that the best comes more than once."""
    rng = np.random.default_rng(seed)
    return rng.integers(0 if dtype in ("uint8", "bool") else -9, 2 if dtype == "bool" else 10, shape).astype(dtype)


@pytest.mark.parametrize("dtype", [*TYPES, "bool"])
@pytest.mark.parametrize("rows", ROWS)
def test_the_first_best_of_narrow_columns_is_found(mx, rows, dtype):
    for width in WIDTHS:
        a = drawn(rows + width, (2, rows, width), dtype)
        for name in ("argmax", "argmin"):
            got, = mx.run(f"_npi_{name}", a, axis=1)
            np.testing.assert_array_equal(got, getattr(np, name)(a, 1), err_msg=f"{name} of {width} columns")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("rows", [2, 17, 100, 129, 3000])
def test_the_first_nan_of_narrow_columns_is_their_best(mx, rows, dtype):
    for width in (1, 2, 3, 4, 5, 8, 9, 17, 20, 33, 70):
        a = drawn(rows, (3, rows, width), dtype)
        a[1, [rows // 3, rows // 2, rows - 1], width // 2] = np.nan
        a[1, rows - 2:, 0] = np.nan
        a[2, rows // 2, :] = [(np.inf, -np.inf)[j % 2] for j in range(width)]
        for name in ("argmax", "argmin"):
            for block in (a[1], a[2]):
                np.testing.assert_array_equal(mx.run(f"_npi_{name}", block, axis=0)[0], getattr(np, name)(block, 0))
            np.testing.assert_array_equal(mx.run(f"_npi_{name}", a, axis=1)[0], getattr(np, name)(a, 1), err_msg=f"{name} of {width} columns")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9, 100])
def test_rows_of_a_few_vectors_are_reduced_whole(mx, rows, dtype):
    """Products, norms and sums without NaN, each element of which counts once; extremes beside rows that have a NaN."""
    for length in range(1, 70):
        a = (drawn(rows + length, (rows, length), dtype) % 3 + 1).astype(dtype)
        a[rows // 2, length // 2] = -3
        np.testing.assert_array_equal(mx.run("_np_prod", a, axis=(1,))[0], np.prod(a.astype("float64"), 1).astype(dtype))
        np.testing.assert_allclose(mx.run("norm", a, axis=(1,))[0], np.sqrt((a.astype("float64") ** 2).sum(1)), rtol=1e-6)
        a[0, -1] = np.nan
        np.testing.assert_array_equal(mx.run("nansum", a, axis=(1,))[0], np.nansum(a, 1))
        a[0, 0], a[rows - 1, 0] = np.inf, -np.inf
        for name in ("max", "min"):
            np.testing.assert_array_equal(mx.run(f"_np_{name}", a, axis=(1,))[0], getattr(a, name)(1), err_msg=f"{name} of {length}")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_infinity_is_above_the_largest_number(mx, dtype):
    a = np.full((300, 3), np.finfo(dtype).max, dtype)
    a[200] = np.inf
    np.testing.assert_array_equal(mx.run("_npi_argmax", a, axis=0)[0], [200] * 3)
    np.testing.assert_array_equal(mx.run("_npi_argmin", -a, axis=0)[0], [200] * 3)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("rows", ROWS)
def test_narrow_columns_are_reduced_whole(mx, rows, dtype):
    for width in WIDTHS:
        a = drawn(rows * width, (3, rows, width), dtype)
        total, = mx.run("_np_sum", a, axis=(1,), dtype="float64" if dtype.startswith("float") else "int64")
        np.testing.assert_array_equal(total, a.astype("int64").sum(1), err_msg=f"sum of {width} columns")
        for name in ("max", "min"):
            np.testing.assert_array_equal(mx.run(f"_np_{name}", a, axis=(1,))[0], getattr(a, name)(1), err_msg=f"{name} of {width} columns")


@pytest.mark.parametrize("dtype", TYPES)
def test_an_axis_of_one_element_is_in_order(mx, dtype):
    for shape, axis in (((30, 1), 1), ((1, 30), 0), ((4, 1, 5), 1), ((1,), 0)):
        a = drawn(3, shape, dtype)
        np.testing.assert_array_equal(mx.run("sort", a, axis=axis)[0], a)
        np.testing.assert_array_equal(mx.run("argsort", a, axis=axis, dtype="int64")[0], np.zeros(shape))
        values, positions = mx.run("topk", a, axis=axis, k=1, ret_typ="both", dtype="int32")
        np.testing.assert_array_equal(values, a)
        np.testing.assert_array_equal(positions, np.zeros(shape))
        np.testing.assert_array_equal(mx.run("topk", a, axis=axis, k=1, ret_typ="mask")[0], np.ones(shape))
        np.testing.assert_array_equal(mx.run("_npi_argmax", a, axis=axis)[0], np.zeros(np.delete(shape, axis)))
        np.testing.assert_array_equal(mx.run("argmin", a, axis=axis)[0], np.zeros(np.delete(shape, axis)))


# Blocks of up to fifteen bytes, of which a vector holds several, and few enough that none fits at the end.
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("rows", [1, 2, 3, 5, 6, 37, 20011])
def test_short_rows_come_in_reverse_order(mx, rows, dtype):
    for width in range(1, 18):
        a = Draw(width).array((2, rows, width), dtype)
        np.testing.assert_array_equal(mx.run("reverse", a, axis=(1,))[0], a[:, ::-1], err_msg=f"{width} wide")


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
@pytest.mark.parametrize("rows", [1, 2, 19, 6000])
def test_borders_around_short_rows(mx, rows, dtype):
    for width in (1, 2, 3, 5, 13):
        a = Draw(width).array((rows, width), dtype)
        for borders in (((1, 2), (0, 0)), ((0, 0), (1, 1)), ((2, 0), (0, 3)), ((0, 0), (9, 17)), ((1, 1), (2, 0))):
            for mode, more in (("constant", {"constant_values": 7}), ("edge", {}), ("symmetric", {})):
                got, = mx.run("_npi_pad", a, mode=mode, pad_width=borders, **({"constant_value": 7} if more else {}))
                np.testing.assert_array_equal(got, np.pad(a, borders, mode, **more), err_msg=f"{mode} {borders} {width} wide")


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("widths", [(32, 1), (1, 32), (1, 70, 1), (2, 40, 3, 17), (7, 300), (100, 1, 1)])
@pytest.mark.parametrize("rows", [1, 3, 20, 5003])
def test_narrow_and_wide_parts_are_joined_and_come_apart_again(mx, rows, widths, dtype):
    parts = [Draw(rows + i).array((rows, width), dtype) for i, width in enumerate(widths)]
    joined, = mx.run("Concat", *parts, num_args=len(parts), dim=1)
    np.testing.assert_array_equal(joined, np.concatenate(parts, 1))
    for got, part in zip(mx.run("_backward_Concat", joined, *parts, num_args=len(parts), dim=1), parts):
        np.testing.assert_array_equal(got, part)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_norms_of_many_rows(mx, dtype):
    a = drawn(5, (5000, 3), dtype)
    for axis, squares in ((1, (a.astype("float64") ** 2).sum(1)), (0, (a.astype("float64") ** 2).sum(0))):
        got, = mx.run("_npi_norm", a, axis=(axis,), flag=1, ord=2)
        np.testing.assert_array_equal(got, np.sqrt(squares).astype(dtype))


@pytest.mark.parametrize("dtype", ["int64", "int32", "int8", "uint8", "bool", "float16", "float32", "float64"])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_norms_of_one_number_each_are_its_size_in_every_type(mx, dtype, order):
    """Of integers they are float32, whose array is no room for doubles."""
    a = (np.arange(900) % 9).astype(dtype).reshape(30, 1, 30)
    got, = mx.run("_npi_norm", a, axis=(1,), ord=order)
    assert got.dtype == (dtype if dtype.startswith("float") else "float32")
    np.testing.assert_allclose(got, a[:, 0].astype(got.dtype), 1e-6)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("order", [1, 2])
def test_norms_of_rows_of_one_number_are_its_magnitude(mx, dtype, order):
    """Also where its square is no number of the type."""
    largest = np.finfo(dtype).max
    a = np.concatenate([drawn(6, 300, dtype), np.array([-largest, largest, np.finfo(dtype).tiny, -0.0, np.inf, -np.inf, np.nan], dtype)])
    for shape, axis in (((-1, 1), 1), ((1, -1), 0)):
        got, = mx.run("_npi_norm", a.reshape(shape), axis=(axis,), flag=1, ord=order)
        np.testing.assert_array_equal(got, np.abs(a))


@pytest.mark.parametrize("rows", [1, 3, 4, 5, 400])
def test_extremes_of_rows_of_doubles_of_every_length(mx, rows):
    rng = np.random.default_rng(SEED)
    for length in range(1, 70):
        a = rng.standard_normal((rows, length))
        for name in ("max", "min"):
            np.testing.assert_array_equal(mx.run(f"_np_{name}", a, axis=(1,))[0], getattr(a, name)(1), err_msg=f"{name} of {length}")
        a[rng.random(a.shape) < 0.02] = np.nan
        np.testing.assert_array_equal(mx.run("_np_max", a, axis=(1,))[0], a.max(1), err_msg=f"{length} with NaN")


# As many positions as are one list for several blocks, and more; rows of types, of a few bytes, and of many.
@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
@pytest.mark.parametrize("outer, extent, width", [(2, 3, 1), (700, 5, 1), (1000, 3, 3), (513, 7, 20), (40, 300, 1)])
def test_few_positions_of_many_blocks_are_taken(mx, outer, extent, width, dtype):
    a = Draw(outer).array((outer, extent, width), dtype)
    rng = np.random.default_rng(SEED)
    for count in (1, 2, 4, 100, 255, 256, 257):
        at = rng.integers(0, extent, count)
        np.testing.assert_array_equal(mx.run("take", a, at, axis=1)[0], np.take(a, at, 1), err_msg=f"{count} positions")
    with pytest.raises(Failure):
        mx.run("take", a, np.array([0, extent]), axis=1, mode="raise")


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("subscripts", ["bii->b", "bii->", "bimi->m", "bimi->bm"])
def test_sums_along_diagonals(mx, subscripts, dtype):
    a = drawn(5, (300, 3, 3) if "m" not in subscripts else (70, 3, 9, 3), dtype)
    np.testing.assert_array_equal(mx.run("_npi_einsum", a, num_args=1, subscripts=subscripts)[0], np.einsum(subscripts, a))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_roots_of_many_sums(mx, dtype):
    a = drawn(7, (3000, 4), dtype)
    for axis in (0, 1):
        variance = a.astype("float64").var(axis)
        np.testing.assert_allclose(mx.run("_npi_std", a, axis=(axis,))[0], np.sqrt(variance), rtol={"float16": 1e-3}.get(dtype, 1e-6))
        np.testing.assert_array_equal(mx.run("norm", a, axis=(axis,))[0], np.sqrt((a.astype("float64") ** 2).sum(axis)).astype(dtype))
    np.testing.assert_array_equal(mx.run("_npi_std", a[:, :1], axis=(1,))[0], np.zeros(3000))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "uint8", "int8"])
@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 16, 17, 31, 33, 64, 70, 127, 128])
def test_sums_of_short_runs_that_lie_apart(mx, width, dtype):
    a = np.random.default_rng(11).integers(0, 9, (23, 6, width)).astype(dtype)  # whose sums are exact
    np.testing.assert_array_equal(mx.run("_np_sum", a, axis=(0, 2), dtype="float64")[0], a.astype("float64").sum((0, 2)))
    if dtype != "float16":
        np.testing.assert_array_equal(mx.run("_npi_einsum", a, num_args=1, subscripts="ijk->j")[0], a.sum((0, 2), dtype=dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8", "bool"])
@pytest.mark.parametrize("subscripts", ["ab,ab->ba", "ab,ab->ab", "ab,ba->ab", "ab,ba->ba"])
def test_products_that_lie_otherwise_than_their_factors(mx, subscripts, dtype):
    rng = np.random.default_rng(12)
    left, right = subscripts[:5].split(",")
    a, b = (rng.integers(0, 2 if dtype == "bool" else 9, (33, 70) if term == left else (70, 33)).astype(dtype) for term in (left, right))
    got = mx.run("_npi_einsum", a, b, num_args=2, subscripts=subscripts)[0]
    np.testing.assert_array_equal(got, np.einsum(subscripts, a, b))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_what_is_reduced_alone_stays_but_for_the_sign_of_a_sum_of_zero(mx, dtype):
    a = np.array([[-0.0], [np.nan], [-np.inf], [3.5], [-1e-7]], dtype)
    for name, want in (("max", a), ("min", a), ("prod", a), ("sum", a + np.zeros(1, dtype))):
        got, = mx.run(f"_np_{name}", a, axis=1)
        np.testing.assert_array_equal(got, want[:, 0], err_msg=name)
        np.testing.assert_array_equal(np.signbit(got), np.signbit(want[:, 0]), err_msg=name)
    got, = mx.run("_npi_power_scalar", a, scalar=1, is_int=False)
    np.testing.assert_array_equal(got, a)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_means_norms_and_questions_of_one_number(mx, dtype):
    a = np.array([[-0.0], [0.0], [np.nan], [-np.inf], [-3.5], [np.finfo(dtype).tiny], [-np.finfo(dtype).max]] * 9, dtype)
    for name, attrs, want in (("_npi_mean", {"axis": 1}, a + np.zeros(1, dtype)), ("_npi_norm", {"axis": "(1,)", "flag": 1, "ord": 2}, abs(a)),
                              ("norm", {"axis": "(1,)"}, abs(a)), ("norm", {"axis": "(1,)", "ord": 1}, abs(a))):
        got, = mx.run(name, a, **attrs)
        np.testing.assert_array_equal(got, want[:, 0], err_msg=name)
        np.testing.assert_array_equal(np.signbit(got[:2]), [False] * 2, err_msg=name)
    for name in ("any", "all"):
        np.testing.assert_array_equal(mx.run(f"_np_{name}", a, axis=1)[0], a[:, 0] != 0)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64"])
def test_questions_about_one_number_are_those_about_zero(mx, dtype):
    a = drawn(3, (300, 1, 1), dtype)
    for name in ("any", "all"):
        np.testing.assert_array_equal(mx.run(f"_np_{name}", a, axis=(1, 2))[0], a[:, 0, 0] != 0)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "_np_any", "_np_all"])
def test_bools_of_any_byte_that_are_reduced_alone_are_0_or_1(mx, name):
    a = np.arange(256, dtype="uint8").view(bool).reshape(256, 1)
    got, = mx.run(name, a, axis=1)
    assert got.dtype == bool
    np.testing.assert_array_equal(got.view("uint8"), [0] + [1] * 255)


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
@pytest.mark.parametrize("shape, widths", [((40, 3, 1, 5), ((0, 0), (0, 0), (0, 0), (1, 2))), ((4, 7, 3, 9), ((3, 3), (2, 1), (0, 0), (0, 1))),
                                           ((3, 5, 1, 2, 4), ((1, 0), (0, 0), (0, 0), (0, 2), (0, 0))), ((2, 3, 4), ((0, 0), (0, 0), (0, 0))),
                                           ((2, 5000, 1, 3), ((1, 2), (0, 0), (0, 0), (2, 1))), ((3, 0, 2, 2), ((1, 1), (0, 0), (0, 0), (1, 1)))])
def test_borders_of_some_dimensions(mx, shape, widths, dtype):
    a = drawn(7, shape, dtype)
    pairs = str(widths).replace(" ", "")
    np.testing.assert_array_equal(mx.run("_npi_pad", a, pad_width=pairs, constant_value=3)[0], np.pad(a, widths, constant_values=3))


@pytest.mark.parametrize("width", [5, 8, 31, 33, 66])
def test_rows_of_halves_meet_a_column_in_place_too(mx, width):
    a, b = drawn(1, (20, width), "float16"), drawn(2, (20, 1), "float16")
    for given in ((a, b), (b, a)):
        for name, fn in (("add", np.add), ("subtract", np.subtract), ("maximum", np.maximum)):
            np.testing.assert_array_equal(mx.run(f"_npi_{name}", *given)[0], fn(*given))
    x, y = mx.array(a), mx.array(b)
    mx.invoke("_npi_subtract", [x, y], out=[x])
    np.testing.assert_array_equal(mx.numpy(x), a - b)
    mx.free(x, y)


OPERANDS = [((3, 1, 1), (3, 4, 5), (3, 4, 5)), ((1, 4, 1), (3, 4, 5), (3, 4, 5)), ((2, 3, 1, 1), (2, 3, 40, 50), (1, 1, 40, 50)),
            ((5,), (3, 4, 5), (4, 5)), ((2, 1, 70, 1), (2, 3, 70, 9), (2, 3, 70, 9)), ((1, 1), (1, 1), (1, 1)), ((), (7, 1, 9), ()),
            ((1, 6, 1), (8, 1, 1), (8, 6, 33)), ((8, 6, 33), (), (8, 1, 33)), ((4, 1, 2, 1), (1, 5, 2, 3), (4, 5, 1, 3))]


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("operands", OPERANDS)
def test_selections_join_dimensions_that_operands_have_alike(mx, dtype, operands):
    rng = np.random.default_rng(1)
    condition, x, y = ((rng.integers(0, 2 if k == 0 else 100, shape)).astype("bool" if k == 0 else dtype) for k, shape in enumerate(operands))
    np.testing.assert_array_equal(mx.run("_npi_where", condition, x, y)[0], np.where(condition, x, y))


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(514, 4, 2), (3, 4, 2), (1000, 4, 3), (70, 4, 300), (5, 4, 513)])
def test_small_planes_are_repeated(mx, dtype, shape):
    a = np.arange(4).astype(dtype).reshape(1, 4, 1)
    np.testing.assert_array_equal(mx.run("broadcast_to", a, shape=shape)[0], np.broadcast_to(a, shape))
    np.testing.assert_array_equal(mx.run("_npi_broadcast_to", a, shape=(2, *shape))[0], np.broadcast_to(a, (2, *shape)))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("scale", [1, 2, 3, 4, 5, 8])
def test_lines_of_enlarged_images_are_spread(mx, dtype, scale):
    a, b = (np.random.default_rng(k).standard_normal((2, 3, 5, 7)).astype(dtype) for k in (1, 2))
    large, other = (x.repeat(scale, 2).repeat(scale, 3) for x in (a, b))
    up = {"scale": scale, "sample_type": "nearest"}
    np.testing.assert_array_equal(mx.run("UpSampling", a, num_args=1, **up)[0], large)
    np.testing.assert_array_equal(mx.run("UpSampling", a, b, num_args=2, **up)[0], np.concatenate([large, other], 1))
    summed, = mx.run("UpSampling", a, b, num_args=2, multi_input_mode="sum", **up)
    np.testing.assert_array_equal(summed, (large.astype("float64") + other).astype(dtype) if dtype == "float16" else large + other)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_norms_of_one_number_are_its_magnitude(mx, dtype):
    a = np.array([-3, 0.0, -0.0, np.finfo(dtype).max, -np.finfo(dtype).tiny / 4, np.inf, np.nan], dtype).reshape(7, 1)
    for order in (1, 2):
        got, = mx.run("norm", a, axis=1, ord=order)
        np.testing.assert_array_equal(got, np.abs(a[:, 0]))
        assert not np.signbit(got[:6]).any()
