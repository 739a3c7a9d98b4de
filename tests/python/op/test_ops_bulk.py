# SPDX-License-Identifier: Apache-2.0
"""Large arrays, on which kernels take their fast ways, give what NumPy gives: special values, ties, block edges."""
import numpy as np
import pytest

SEED = 20250212


def with_specials(rng, dtype, count):
    """Random numbers, many of them equal, with NaN, infinities and both zeros among floating ones."""
    values = (rng.integers(-50, 50, count) / 4).astype(dtype)
    if np.dtype(dtype).kind == "f":
        for special in (np.nan, np.inf, -np.inf, 0.0, -0.0):
            values[rng.integers(0, count, 1 + count // 50)] = special
    return values


@pytest.mark.parametrize("count", [1, 65, 1000, 50000])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64", "int8", "uint8"])
def test_sort_is_numpys(mx, rng, dtype, count):
    values = with_specials(rng, dtype, count)
    np.testing.assert_array_equal(mx.run("sort", values)[0], np.sort(values))
    ascending = np.sort(values)
    np.testing.assert_array_equal(mx.run("sort", values, is_ascend=False)[0], ascending[::-1])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64"])
def test_argsort_keeps_equal_elements_in_order(mx, rng, dtype):
    values = with_specials(rng, dtype, 30000)
    np.testing.assert_array_equal(mx.run("argsort", values, dtype="int64")[0], np.argsort(values, kind="stable"))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64", "uint8", "bool"])
def test_unique_values_keep_the_bits_of_the_first(mx, rng, dtype):
    values = with_specials(rng, dtype, 20000)
    if dtype[:5] == "float":
        zeros = np.flatnonzero(values == 0)
        values[zeros[0]] = -0.0
    result = mx.run("_npi_unique", values)[0]
    np.testing.assert_array_equal(result, np.unique(values))
    if dtype[:5] == "float":
        assert np.signbit(result[result == 0]).all()


def test_unique_with_positions_and_counts(mx, rng):
    values = rng.integers(-300, 300, 40000).astype("int32")
    ours = mx.run("_npi_unique", values, return_index=True, return_inverse=True, return_counts=True)
    theirs = np.unique(values, return_index=True, return_inverse=True, return_counts=True)
    for mine, expected in zip(ours, theirs):
        np.testing.assert_array_equal(mine, expected)


@pytest.mark.parametrize("condition", ["bool", "float32", "float64", "float16", "int32", "uint8"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8"])
def test_where_by_conditions_of_any_type(mx, rng, condition, dtype):
    holds = with_specials(rng, condition, 5003)
    x, y = with_specials(rng, dtype, 5003), with_specials(rng, dtype, 5003)
    np.testing.assert_array_equal(mx.run("where", holds, x, y)[0], np.where(holds != 0, x, y))
    np.testing.assert_array_equal(mx.run("_npi_where", holds, x, y[:1])[0], np.where(holds != 0, x, y[:1]))


# Rows of fewer elements than one is worth looking for, as many as several blocks, and broadcasts in every dimension.
@pytest.mark.parametrize("condition", ["bool", "float32", "int64"])
@pytest.mark.parametrize("dtype", ["uint8", "float16", "int32", "float64"])
@pytest.mark.parametrize("shapes", [((900, 1), (900, 3), (900, 3)), ((900, 3), (900, 3), (1, 3)), ((900, 3), (900, 1), (3,)),
                                    ((1, 3), (900, 3), (900, 3)), ((4, 1, 5), (4, 60, 5), (1, 60, 1)), ((4, 60, 5), (1, 1, 5), (4, 1, 1)),
                                    ((900, 31), (900, 1), (31,)), ((3,), (1,), (700, 1)), ((7, 1, 1), (1, 50, 1), (1, 1, 2))])
def test_where_broadcasts_short_rows(mx, rng, condition, dtype, shapes):
    holds, x, y = (rng.integers(0, 2 if i == 0 else 90, shape) for i, shape in enumerate(shapes))
    holds, x, y = holds.astype(condition), x.astype(dtype), y.astype(dtype)
    np.testing.assert_array_equal(mx.run("_npi_where", holds, x, y)[0], np.where(holds != 0, x, y))


@pytest.mark.parametrize("dtype", ["uint8", "float16", "int32", "float64"])
@pytest.mark.parametrize("columns", [2, 3, 11, 12, 17, 70])
def test_narrow_rows_are_reversed(mx, rng, dtype, columns):
    a = rng.integers(0, 90, (50, columns)).astype(dtype)
    np.testing.assert_array_equal(mx.run("reverse", a, axis=1)[0], a[:, ::-1])
    np.testing.assert_array_equal(mx.run("slice", a, begin="(None,None)", end="(None,None)", step="(1,2)")[0], a[:, ::2])


# As many rows as threads share, whose parts end within a vector.
@pytest.mark.parametrize("dtype", ["uint8", "float16", "int32"])
@pytest.mark.parametrize("shape", [(601, 701, 3), (1, 5), (30011, 1, 2)])
def test_channels_are_turned_round(mx, rng, dtype, shape):
    a = rng.integers(0, 200, shape).astype(dtype)
    for axis in ((len(shape) - 1,), (0, len(shape) - 1)):
        np.testing.assert_array_equal(mx.run("reverse", a, axis=axis)[0], np.flip(a, axis))


# Around the size from which on a pattern is repeated, and the vectors that end it.
@pytest.mark.parametrize("dtype, value", [("uint8", 7), ("float16", -0.0), ("int32", -3), ("float64", np.nan), ("bool", 1)])
@pytest.mark.parametrize("size", [8, 64, 2040, 2048, 2056, 2072, 2104, 4096 + 24, 3 << 20])
def test_one_value_fills_arrays_of_every_size(mx, dtype, value, size):
    for count in (size // np.dtype(dtype).itemsize, size // np.dtype(dtype).itemsize + 1):
        got, = mx.run("_full", shape=(count,), dtype=dtype, value=value)
        assert got.tobytes() == np.full(count, value, dtype).tobytes()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
def test_integers_times_powers_of_two(mx, dtype):
    a = np.arange(-100 if dtype != "uint8" else 0, 101).astype(dtype)
    for exponent in (-2000, -1100, -3, 0, 1, 5) if dtype in ("int32", "int64") else (0, 1, 5):
        expected = (a * 2.0 ** exponent).astype("int64").astype(dtype)
        np.testing.assert_array_equal(mx.run("_npi_ldexp_scalar", a, scalar=exponent, is_int=True)[0], expected)


def test_where_chooses_rows(mx, rng):
    holds, x, y = with_specials(rng, "int32", 100), rng.standard_normal((100, 70)), rng.standard_normal((100, 70))
    np.testing.assert_array_equal(mx.run("where", holds, x, y)[0], np.where(holds[:, None] != 0, x, y))


@pytest.mark.parametrize("dtype", ["uint8", "float16", "int32", "float64"])
@pytest.mark.parametrize("length", [1, 15, 16, 33, 700, 100_000])
def test_any_byte_but_0_of_a_condition_holds(mx, rng, dtype, length):
    """Elements were mixed bit by bit, and rows read from between the two arrays."""
    byte = (rng.integers(0, 256, length) * rng.integers(0, 2, length)).astype("uint8")
    holds, clean = byte.view("bool"), byte != 0
    for shape in (length,), (length, 2), (length, 40):
        x, y = rng.integers(0, 120, shape).astype(dtype), rng.integers(0, 120, shape).astype(dtype)
        wanted = np.where(clean.reshape((length,) + (1,) * (len(shape) - 1)), x, y)
        np.testing.assert_array_equal(mx.run("where", holds, x, y)[0], wanted)
        np.testing.assert_array_equal(mx.run("_npi_where", holds.reshape((length,) + (1,) * (len(shape) - 1)), x, y)[0], wanted)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64", "uint8"])
def test_positions_of_extremes_with_ties_and_nan(mx, rng, dtype, axis):
    for values in (with_specials(rng, dtype, 6300).reshape(90, 70), rng.integers(0, 9, (90, 700)).astype(dtype)):
        np.testing.assert_array_equal(mx.run("_npi_argmax", values, axis=axis)[0], np.argmax(values, axis=axis))
        np.testing.assert_array_equal(mx.run("_npi_argmin", values, axis=axis)[0], np.argmin(values, axis=axis))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint8", "int32", "int64"])
@pytest.mark.parametrize("start,step", [(0, 1), (-7, 3), (100, -2)])
def test_arange_counts_as_its_type_does(mx, dtype, start, step):
    count = 3000
    result = mx.run("_arange", start=start, stop=start + count * step, step=step, dtype=dtype)[0]
    if dtype[:5] == "float":
        expected = (np.array(start, dtype).astype("float64") + np.arange(count) * float(step)).astype(dtype)
    else:
        first, by = int(np.int64(start).astype(dtype)), int(np.int64(step).astype(dtype))
        expected = (first + np.arange(count) * by).astype(dtype)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint8", "int32", "int64"])
@pytest.mark.parametrize("name,factors", [("hanning", (0.5, 0.5, 0)), ("hamming", (0.54, 0.46, 0)), ("blackman", (0.42, 0.5, 0.08))])
def test_windows_are_sums_of_cosines(mx, name, factors, dtype):
    """Ends of registers and blocks, and more than a thread's worth. Integers come from a pi in single precision."""
    pi = np.pi if dtype.startswith("float") else float(np.float32(np.pi))
    for points in (0, 1, 2, 3, 8, 17, 255, 256, 257, 100003):
        a = 2 * pi * np.arange(points) / max(points - 1, 1)
        exact = factors[0] - factors[1] * np.cos(a) + factors[2] * np.cos(2 * a) if points != 1 else np.ones(1)
        got = mx.run(f"_npi_{name}", M=points, dtype=dtype)[0]
        assert got.dtype == dtype and got.shape == (points,)
        if dtype.startswith("float"):
            np.testing.assert_allclose(got, exact, rtol=np.finfo(dtype).eps, atol=2e-15 if dtype != "float16" else 1e-7, err_msg=str(points))
            assert points < 2 or name == "blackman" or got[0] == np.dtype(dtype).type(factors[0] - factors[1])
        else:
            np.testing.assert_array_equal(got, exact.astype(dtype), err_msg=str(points))


def test_arange_of_fractions(mx):
    result = mx.run("_arange", start=0.1, stop=500.1, step=0.1, dtype="float64")[0]
    np.testing.assert_array_equal(result, 0.1 + np.arange(len(result)) * 0.1)


def test_one_hot_of_zeros_and_other_values(mx, rng):
    at = rng.integers(-2, 40, 1200)
    for on, off in ((1, 0), (0, 3), (2, -1)):
        expected = np.where(np.arange(37) == at[:, None], on, off).astype("float32")
        np.testing.assert_array_equal(mx.run("one_hot", at, depth=37, on_value=on, off_value=off)[0], expected)


# Rows of a few bytes, of less and more than what is filled at a time, in results of 2 MiB and more.
@pytest.mark.parametrize("rows,depth", [(300001, 3), (5003, 211), (1201, 1100), (3, 400003)])
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
def test_one_hot_of_large_results(mx, rng, rows, depth, dtype):
    at = rng.integers(-1, depth + 1, rows)
    for on, off in ((1, 0), (2, 5)):
        expected = np.full((rows, depth), off, dtype)
        inside = np.flatnonzero((at >= 0) & (at < depth))
        expected[inside, at[inside]] = on
        result = mx.run("one_hot", at, depth=depth, on_value=on, off_value=off, dtype=dtype)[0]
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("m,n", [(1, 50), (50, 1), (1, 1)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_with_a_single_row_or_column(mx, rng, dtype, m, n, transpose_a, transpose_b):
    a, b = rng.standard_normal((m, 33)).astype(dtype), rng.standard_normal((33, n)).astype(dtype)
    given = [np.ascontiguousarray(a.T) if transpose_a else a, np.ascontiguousarray(b.T) if transpose_b else b]
    result = mx.run("dot", *given, transpose_a=transpose_a, transpose_b=transpose_b)[0]
    np.testing.assert_allclose(result, a @ b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("op", ["sin", "cos", "tan"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_angles_of_few_and_many_turns(mx, rng, op, dtype):
    values = np.concatenate([rng.uniform(-10, 10, 3000), rng.uniform(-1e4, 1e4, 999), [0.0, -0.0, 6e4, -6e4]]).astype(dtype)
    exact = getattr(np, op)(values.astype("float64"))
    tolerance = {"float16": 1e-3, "float32": 5e-7, "float64": 2e-15}[dtype]
    np.testing.assert_allclose(mx.run(op, values)[0].astype("float64"), exact, rtol=tolerance, atol=tolerance / 10)
    slope = {"sin": np.cos, "cos": lambda x: -np.sin(x), "tan": lambda x: 1 + np.tan(x) ** 2}[op](values.astype("float64"))
    with np.errstate(over="ignore"):
        slope = slope.astype(dtype).astype("float64")
    gradient = mx.gradients(op, [values], [np.ones_like(values)])[0]
    np.testing.assert_allclose(gradient.astype("float64"), slope, rtol=max(tolerance * 4, 3e-3 if dtype == "float16" else 0),
                               atol=tolerance)


# Results that are written past the caches, of rows that begin anywhere in a line.
@pytest.mark.parametrize("dtype,shape,axes", [("float32", (1999, 2051), (1, 0)), ("float32", (2048, 2048), (1, 0)),
                                              ("float64", (1100, 1027), (1, 0)), ("float16", (2051, 2100), (1, 0)),
                                              ("uint8", (3001, 2999), (1, 0)), ("float32", (3, 900, 1001), (0, 2, 1)),
                                              ("int32", (40, 301, 11, 17), (3, 2, 1, 0))])
def test_large_transposes_are_numpys(mx, rng, dtype, shape, axes):
    values = rng.integers(0, 200, shape).astype(dtype)
    got = mx.run("transpose", values, axes=str(axes).replace(" ", ""))[0]
    np.testing.assert_array_equal(got, values.transpose(axes))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
@pytest.mark.parametrize("spread", [(1, 2051), (2100, 1)])
def test_large_broadcasts_are_numpys(mx, rng, dtype, spread):
    values, other = rng.integers(0, 50, (4200, 2051)).astype(dtype), rng.integers(0, 50, spread).astype(dtype)
    other = np.concatenate([other, other]) if spread[1] == 1 else other
    np.testing.assert_array_equal(mx.run("broadcast_add", values, other)[0], values + other)
    np.testing.assert_array_equal(mx.run("broadcast_sub", other, values)[0], other - values)


@pytest.mark.parametrize("dtype", ["uint8", "bool"])
@pytest.mark.parametrize("shape", [(1000, 1100), (771, 40), (5, 600, 70), (3, 31), (64,), (1, 1), (0, 3), (600, 3)])
def test_sums_of_bytes(mx, rng, dtype, shape):
    values = (rng.integers(200, 256, shape) if dtype == "uint8" else rng.random(shape) < 0.7).astype(dtype)
    for axis in (None, *range(len(shape)), tuple(range(len(shape)))[::2]):
        attrs = {} if axis is None else {"axis": axis}
        np.testing.assert_array_equal(mx.run("_np_sum", values, dtype="int64", **attrs)[0], values.sum(axis=axis, dtype="int64"))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64", "uint8"])
def test_rows_of_few_elements(mx, rng, dtype):
    for length in range(1, 19):
        values = with_specials(rng, dtype, 700 * length).reshape(700, length)
        kinds = [("_np_max", np.max), ("_np_min", np.min), ("_np_any", np.any)]
        for name, peer in kinds:
            np.testing.assert_array_equal(mx.run(name, values, axis=1)[0], peer(values, axis=1), err_msg=f"{name} {length}")
        finite = np.nan_to_num(values, nan=1, posinf=2, neginf=-3) if values.dtype.kind == "f" else values
        np.testing.assert_array_equal(mx.run("_np_sum", finite, axis=1)[0], finite.sum(axis=1, dtype="float64").astype(dtype))
        variance = mx.run("_npi_var", finite, axis=1, dtype="float64")[0]
        np.testing.assert_allclose(variance, np.var(finite.astype("float64"), axis=1), rtol=1e-9, atol=1e-9)


def test_powers_do_not_depend_on_their_neighbours(mx, rng):
    odd = np.array([0.0, -0.0, 1.0, -1.0, -2.5, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 3e38], "float32")
    base = rng.uniform(1e-3, 9, 5000).astype("float32")
    exponent = rng.normal(0, 20, 5000).astype("float32")
    alone = mx.run("broadcast_power", base, exponent)[0]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        exact = np.power(base.astype("float64"), exponent.astype("float64")).astype("float32")
    np.testing.assert_allclose(alone, exact, rtol=3e-7, atol=1e-44)
    at = rng.permutation(5000)[: 4 * len(odd) ** 2]
    mixed_base, mixed_exponent = base.copy(), exponent.copy()
    mixed_base[at], mixed_exponent[at] = np.tile(np.repeat(odd, len(odd)), 4), np.tile(odd, 4 * len(odd))
    mixed = mx.run("broadcast_power", mixed_base, mixed_exponent)[0]
    others = np.setdiff1d(np.arange(5000), at)
    np.testing.assert_array_equal(mixed[others].view("int32"), alone[others].view("int32"))
    with np.errstate(all="ignore"):
        expected = np.power(mixed_base[at].astype("float64"), mixed_exponent[at].astype("float64")).astype("float32")
    np.testing.assert_allclose(mixed[at], expected, rtol=3e-7, atol=1e-44)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("exponent", [-2, -1, -0.5, 0.5, 2, 3, 2.5])
def test_powers_of_one_element_are_those_among_many(mx, rng, dtype, exponent):
    base = with_specials(rng, dtype, 300) * rng.uniform(0.5, 2, 300).astype(dtype)
    many = mx.run("_power_scalar", base, scalar=exponent)[0]
    for shape in [(1,), (1, 1, 1)]:
        each = [mx.run("_power_scalar", x.reshape(shape), scalar=exponent)[0].reshape(-1) for x in base]
        np.testing.assert_array_equal(np.concatenate(each), many)


@pytest.mark.parametrize("start,step", [(2**31 - 3000, 1), (-(2**31) + 2000, -1), (16777210, 3), (-0.0, -1), (0.5, 2)])
def test_arange_of_whole_numbers_that_float32_rounds(mx, start, step):
    result = mx.run("_arange", start=start, stop=start + 3000 * step, step=step, dtype="float32")[0]
    expected = (float(np.float32(start)) + np.arange(len(result)) * float(step)).astype("float32")
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(np.signbit(result), np.signbit(expected))


@pytest.mark.parametrize("count", [0, 1, 7, 33, 50001, 900001])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_hard_sigmoid_rounds_twice_with_every_instruction_set(mx, rng, dtype, count):
    values = with_specials(rng, dtype, count) if count else np.zeros(0, dtype)
    values += rng.standard_normal(count).astype(dtype) * np.finfo(dtype).eps
    alpha, beta = (np.float32(v).astype(dtype) for v in (0.2, 0.5))
    want = np.clip(values * alpha + beta, 0, 1)
    np.testing.assert_array_equal(mx.run("hard_sigmoid", values)[0], want)


@pytest.mark.parametrize("subscripts", ["ij->i", "ij->j", "ij->", "ijk->j", "ijk->ik", "ijk->k", "ijk->ij", "ijk->ki"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int32", "int64", "uint8"])
def test_sums_of_einsum_over_one_array_are_exact_where_their_numbers_are_whole(mx, rng, subscripts, dtype):
    shapes = [(3, 5, 7), (1, 33, 129), (70, 60, 100), (33, 257, 3)] if "k" in subscripts else [(3, 5), (1, 40001), (513, 1025), (20001, 2)]
    for shape in shapes:
        low = 0 if dtype == "uint8" else -3
        x = rng.integers(low, 4, shape).astype(dtype)
        want = np.einsum(subscripts, x.astype("float64" if dtype[:5] == "float" else dtype))
        got = mx.run("_npi_einsum", x, num_args=1, subscripts=subscripts)[0]
        np.testing.assert_array_equal(got, want.astype(dtype))
