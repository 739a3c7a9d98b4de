# SPDX-License-Identifier: Apache-2.0
"""Operators over layouts that are taken apart in their own way, against NumPy: short rows that broadcast, narrow
results of reductions, neighbours that are taken together, keys that are counted."""
import numpy as np
import pytest

SEED = 20261127
TYPES = ["bool", "int8", "uint8", "int32", "int64", "float16", "float32", "float64"]


def sample(rng, shape, dtype):
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.startswith("float"):
        return rng.uniform(-9, 9, shape).astype(dtype)
    return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype, endpoint=True)


# Short rows that one array has for many neighbours of the other one: above and below a block of 512, cut by the end.
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("a, b", [
    ((7, 1, 4), (1, 500, 4)), ((1, 500, 4), (7, 1, 4)), ((5, 1, 3), (700, 3)), ((40, 4), (6, 1, 4)), ((9, 1, 31), (9, 17, 31)),
    ((3, 1, 2, 3), (3, 100, 1, 3)), ((2, 300, 1, 2), (2, 1, 5, 2)), ((4, 1, 5, 1), (1, 80, 5, 1)), ((1, 2000, 5), (1, 1, 5)),
])  # fmt: skip
def test_short_rows_of_many_neighbours_broadcast(mx, rng, a, b, dtype):
    x, y = sample(rng, a, dtype), sample(rng, b, dtype)
    if dtype != "bool":
        np.testing.assert_array_equal(mx.run("broadcast_maximum", x, y)[0], np.maximum(x, y))
        np.testing.assert_array_equal(mx.run("_npi_subtract", x, y)[0], x - y)
    np.testing.assert_array_equal(mx.run("_npi_multiply", x, y)[0], x * y)
    np.testing.assert_array_equal(mx.run("_npi_less", x, y)[0], x < y)


@pytest.mark.parametrize("name", ["maximum", "minimum"])
@pytest.mark.parametrize("shape", [(50, 64), (3, 1000), (9, 5)])
def test_extremes_of_float16_keep_nan(mx, rng, name, shape):
    x, y = (rng.normal(size=shape).astype("float16") for _ in range(2))
    x[rng.random(shape) < 0.2] = np.nan
    y[rng.random(shape) < 0.2] = np.nan
    x[0, :4], y[0, :4] = [0.0, -0.0, np.inf, -np.inf], [-0.0, 0.0, 1, 1]
    for other in (y, y[:, :1], y[:1]):
        got, want = mx.run("broadcast_" + name, x, other)[0], getattr(np, name)(x, other)
        np.testing.assert_array_equal(got, want)
    assert np.signbit(mx.run("broadcast_" + name, x, y)[0][0, :2]).tolist() == [False, True]  # the first of what ties


# ---- reductions --------------------------------------------------------------------------------

@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape, axis", [
    ((3, 5000), 0), ((1, 2050), 0), ((9, 3000), 0), ((4, 4000), 0), ((20, 2, 300), 1), ((2, 13, 1100), 1), ((300, 33), 1), ((500, 3), 1), ((300, 20), 1), ((300, 24), 1), ((300, 25), 1),
    ((70, 3, 3), 1),
])  # fmt: skip
def test_extremes_and_questions_of_any_axis(mx, rng, shape, axis, dtype):
    x = sample(rng, shape, dtype)
    x[rng.random(shape) < 0.5] = 0
    for name in ("max", "min", "any", "all", "argmax", "argmin"):
        if dtype == "bool" and name in ("max", "min"):
            continue
        got = mx.run(("_npi_" if name.startswith("arg") else "_np_") + name, x, axis=axis)[0]
        np.testing.assert_array_equal(got, getattr(np, name)(x, axis=axis))
        assert name.startswith("arg") or got.dtype == (bool if name in ("any", "all") else x.dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape, axis", [((600, 3), 1), ((600, 9), 1), ((50, 3, 300), 1), ((600, 16), 1), ((600, 17), 1)])
def test_the_first_nan_of_short_rows_is_the_extreme(mx, rng, shape, axis, dtype):
    x = rng.integers(-2, 2, shape).astype(dtype)
    x[rng.random(shape) < 0.1] = np.nan
    for name in ("argmax", "argmin"):
        np.testing.assert_array_equal(mx.run("_npi_" + name, x, axis=axis)[0], getattr(np, name)(x, axis=axis))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("order", [np.inf, -np.inf, 3.0])
def test_norms_of_other_orders(mx, rng, order, dtype):
    x = sample(rng, (70, 90), dtype)
    got = mx.run("_npi_norm", x, ord=order, axis="(1,)", flag=-1)[0]
    np.testing.assert_allclose(got, np.linalg.norm(x.astype("float64"), order, 1), 2e-3 if dtype == "float16" else 1e-6)


# ---- positions ---------------------------------------------------------------------------------

@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("width", [(), (3,), (20,)])
def test_neighbours_are_taken_together(mx, rng, width, dtype):
    x = sample(rng, (5, 1300, *width), dtype)
    runs = [np.arange(start, start + length) for start, length in [(7, 600), (3, 1), (1290, 10), (0, 2), (100, 40), (40, 700)]]
    for positions in (np.concatenate(runs), np.arange(1300), np.delete(np.arange(1300), [0, 5, 6, 800]), np.arange(1300)[::-1]):
        np.testing.assert_array_equal(mx.run("take", x, positions.astype("int32"), axis=1)[0], x[:, positions])


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8"])
@pytest.mark.parametrize("n", [47, 48, 300, 20000])
def test_positions_of_bytes_are_stable(mx, rng, n, dtype):
    for x in (sample(rng, (3, n), dtype), np.zeros((3, n), dtype)):
        for ascending in (True, False):
            key = x.astype("int64") if ascending else -x.astype("int64")
            got = mx.run("argsort", x, axis=1, is_ascend=ascending, dtype="int64")[0]
            np.testing.assert_array_equal(got, np.argsort(key, 1, kind="stable"))


# ---- bfloat16 ----------------------------------------------------------------------------------

def in_bfloat16(values):
    """The nearest numbers with eight bits."""
    bits = np.asarray(values, "float32").view("uint32")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view("float32")


def test_cubes_of_bfloat16_are_those_of_exact_numbers(mx, rng):
    x = in_bfloat16(np.concatenate([rng.normal(size=3000), 10.0 ** rng.uniform(-15, 12, 3000), [0.0, -0.0, np.inf, -np.inf, 1e30, -1e30]]))
    with np.errstate(over="ignore"):
        want = in_bfloat16((x.astype("float64") ** 3).astype("float32"))
    got = mx.run_in_bfloat16("_npi_power_scalar", x, scalar=3.0, is_int=False)
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(want))
    assert np.isnan(mx.run_in_bfloat16("_npi_power_scalar", np.full(9, np.nan, "float32"), scalar=3.0, is_int=False)).all()


@pytest.mark.parametrize("exponent", [1.0, 2.0, 3.0, -1.0, -2.0, 0.5, -0.5])
def test_short_powers_of_every_bfloat16(mx, exponent):
    x = (np.arange(1 << 16, dtype="uint32") << 16).view("float32")
    x = x[~np.isnan(x)]
    with np.errstate(all="ignore"):
        want = in_bfloat16(np.power(x.astype("float64"), exponent).astype("float32"))
    if abs(exponent) == 0.5:  # as C has it, NumPy takes the root
        want[x == 0], want[np.isneginf(x)] = (0, np.inf) if exponent > 0 else (np.inf, 0)
    got = mx.run_in_bfloat16("_npi_power_scalar", x, scalar=exponent, is_int=False)
    np.testing.assert_array_equal(got, want)
    numbers = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[numbers]), np.signbit(want[numbers]))
    assert np.isnan(mx.run_in_bfloat16("_npi_power_scalar", np.full(9, np.nan, "float32"), scalar=exponent, is_int=False)).all()


@pytest.mark.parametrize("shape, axis", [((600, 3), 1), ((600, 3), 0), ((50, 3, 3), 1), ((90, 17), 1), ((3, 700), 0), ((5, 2, 40), 1)])
def test_positions_of_extremes_of_bfloat16(mx, rng, shape, axis):
    x = rng.integers(-9, 9, shape).astype("float32")
    for name in ("argmax", "argmin"):
        np.testing.assert_array_equal(mx.run_in_bfloat16("_npi_" + name, x, axis=axis), getattr(np, name)(x, axis=axis))


# Rows are counted in lanes as wide as the elements, those of bytes 255 at a time; the last one of a count, the first of the
# next, equal ones in both and numbers that are better late.
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("rows", [1, 2, 254, 255, 256, 509, 510, 511, 1100])
@pytest.mark.parametrize("width", [1, 5, 31, 32, 33, 300])
def test_positions_of_extremes_in_columns(mx, rng, rows, width, dtype):
    x = np.zeros((2, rows, width), dtype)
    best = 1 if dtype == "bool" else 100
    for column in range(width):
        for block in range(2):
            at = rng.choice([0, rows - 1, min(254, rows - 1), min(255, rows - 1), rng.integers(rows)], 2)
            x[block, at, column] = best
    np.testing.assert_array_equal(mx.run("_npi_argmax", x, axis=1)[0], np.argmax(x, axis=1))
    if dtype != "uint8":
        low = ~x if dtype == "bool" else -x
        np.testing.assert_array_equal(mx.run("_npi_argmin", low, axis=1)[0], np.argmin(low, axis=1))
    if dtype.startswith("float"):
        x[0, rng.integers(rows, size=width), np.arange(width)] = np.nan
        np.testing.assert_array_equal(mx.run("_npi_argmax", x, axis=1)[0], np.argmax(x, axis=1))


def test_inverses_of_erf_do_not_depend_on_their_neighbours(mx, rng):
    """Blocks of numbers that are not close to 1 go without what those that are need."""
    x = rng.uniform(-0.99, 0.99, 1000).astype("float32")
    x[:8] = 0.0, -0.0, 0.999, -0.999, 1e-30, -1e-45, 0.5, np.float32(0.99900001)
    got = mx.run("erfinv", x)[0]
    with_others = np.repeat(x, 2)
    with_others[1::2] = np.tile(np.array([1, -1, 0.9995, np.nan, 2, -0.99999994, np.inf, 0], "float32"), 125)
    mixed = mx.run("erfinv", with_others)[0]
    np.testing.assert_array_equal(mixed[::2].view("uint32"), got.view("uint32"))
    assert np.isinf(mixed[1::16]).all() and np.isnan(mixed[7::16]).all() and np.isnan(mixed[9::16]).all()
    for n in (1, 15, 16, 17, 63, 64, 65):
        np.testing.assert_array_equal(mx.run("erfinv", x[:n])[0].view("uint32"), got[:n].view("uint32"))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64", "int8", "uint8", "bool"])
def test_positions_of_extremes_in_rows_of_any_length(mx, rng, dtype):
    """Around the vectors, the bits of a number, and the lengths of rows that are met twice."""
    lengths = {edge + d for edge in (8, 16, 32, 64, 128, 256, 512, 1024, 2048) for d in (-1, 0, 1)} | {1, 3, 70, 100, 300}
    for n in sorted(lengths):
        drawn = sample(rng, (9, n), dtype)
        ends = np.zeros((6, n), dtype)
        for row, at in enumerate((0, n - 1, n // 2)):  # the only one
            ends[row, at], ends[3 + row] = 1, 1
            ends[3 + row, at] = 0
        for x in (drawn, ends):
            np.testing.assert_array_equal(mx.run("_npi_argmax", x, axis=1)[0], np.argmax(x, 1), err_msg=f"rows of {n}")
            np.testing.assert_array_equal(mx.run("_npi_argmin", x, axis=1)[0], np.argmin(x, 1), err_msg=f"rows of {n}")
