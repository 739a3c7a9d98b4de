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


def test_where_chooses_rows(mx, rng):
    holds, x, y = with_specials(rng, "int32", 100), rng.standard_normal((100, 70)), rng.standard_normal((100, 70))
    np.testing.assert_array_equal(mx.run("where", holds, x, y)[0], np.where(holds[:, None] != 0, x, y))


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


def test_arange_of_fractions(mx):
    result = mx.run("_arange", start=0.1, stop=500.1, step=0.1, dtype="float64")[0]
    np.testing.assert_array_equal(result, 0.1 + np.arange(len(result)) * 0.1)


def test_one_hot_of_zeros_and_other_values(mx, rng):
    at = rng.integers(-2, 40, 1200)
    for on, off in ((1, 0), (0, 3), (2, -1)):
        expected = np.where(np.arange(37) == at[:, None], on, off).astype("float32")
        np.testing.assert_array_equal(mx.run("one_hot", at, depth=37, on_value=on, off_value=off)[0], expected)


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
