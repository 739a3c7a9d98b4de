# SPDX-License-Identifier: Apache-2.0
"""Elementwise operators of types that have a way of their own: bytes by tables, half types by their bits, inverses of integers."""
import numpy as np
import pytest

SEED = 20261128
LENGTHS = [0, 1, 15, 17, 63, 64, 65, 511, 512, 513, 1023, 1025, 1087, 5000]
FUNCTIONS = "sin cbrt sqrt exp arctan sigmoid degrees radians log1p erf reciprocal rsqrt softsign gammaln tanh".split()


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_tables_of_bytes_hold_what_few_bytes_give(mx, rng, dtype, name):
    every = np.arange(256).astype("uint8").view(dtype)
    each = mx.run(name, every)[0]  # without a table
    for length in (1024, 1025, 1087, 1088, 4099):
        at = rng.integers(0, 256, length)
        np.testing.assert_array_equal(mx.run(name, every[at])[0], each[at])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
@pytest.mark.parametrize("length", [1, 31, 5000])
def test_inverses_of_integers(mx, rng, dtype, length):
    values = rng.integers(-3 if dtype != "uint8" else 0, 4, length).astype(dtype)
    values[-1] = np.iinfo(dtype).max
    infinity = np.iinfo(dtype).min if dtype in ("int32", "int64") else 0
    expected = np.where(values == 0, infinity, np.where(abs(values.astype("int64")) == 1, values, 0))
    np.testing.assert_array_equal(mx.run("reciprocal", values)[0], expected)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("length", LENGTHS)
def test_what_is_not_finite_becomes_numbers(mx, rng, dtype, length):
    finite = rng.normal(0, 3, length).astype(dtype)
    finite[: length // 3] *= np.finfo(dtype).tiny  # subnormal ones, and zeros of both signs, stay
    np.testing.assert_array_equal(mx.run("_npi_nan_to_num", finite)[0].view("uint8"), finite.view("uint8"))
    values = finite.copy()
    for special in (np.nan, np.inf, -np.inf, -np.nan):
        values[rng.integers(0, length, length // 40 + 1) if length else []] = special
    np.testing.assert_array_equal(mx.run("_npi_nan_to_num", values)[0], np.nan_to_num(values))
    given = mx.run("_npi_nan_to_num", values, nan=1.5, posinf=2.25, neginf=-7)[0]
    np.testing.assert_array_equal(given, np.nan_to_num(values, nan=1.5, posinf=2.25, neginf=-7))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("length", LENGTHS)
def test_numbers_are_rounded_to_even_ones(mx, rng, dtype, length):
    values = (rng.integers(-4000, 4000, length) / 4).astype(dtype)
    if length > 9:
        values[3:7] = np.nan, np.inf, -np.inf, -0.0
    result = mx.run("_npi_around", values)[0]
    np.testing.assert_array_equal(result, np.round(values))
    np.testing.assert_array_equal(np.signbit(result), np.signbit(np.round(values)))


@pytest.mark.parametrize("columns", [5, 16, 17, 31, 33, 64, 100, 191, 192])
@pytest.mark.parametrize("dtype", ["uint8", "float16", "int32", "float64"])
def test_rows_meet_a_column_a_row_or_groups(mx, rng, dtype, columns):
    a = rng.integers(0, 100, (60, 7, columns)).astype(dtype)
    for shape in [(60, 7, 1), (columns,), (60, 1, columns), (1, 7, 1), (60, 1, 1)]:
        b = rng.integers(0, 100, shape).astype(dtype)
        np.testing.assert_array_equal(mx.run("broadcast_add", a, b)[0], a + b)
        np.testing.assert_array_equal(mx.run("broadcast_maximum", b, a)[0], np.maximum(a, b))


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("length", LENGTHS)
def test_products_of_bytes_wrap(mx, rng, dtype, length):
    a, b = (rng.integers(0, 256, length).astype("uint8").view(dtype) for _ in range(2))
    first, second = mx.array(a), mx.array(b)
    mx.invoke("broadcast_mul", [first, second], out=[first])
    np.testing.assert_array_equal(mx.numpy(first), a * b)
    np.testing.assert_array_equal(mx.run("broadcast_mul", a, b)[0], a * b)
    for one in a[:3].reshape(-1, 1):
        np.testing.assert_array_equal(mx.run("broadcast_mul", one, b)[0], one * b)
        mx.invoke("broadcast_mul", [second, mx.array(one)], out=[second])
        b = b * one
        np.testing.assert_array_equal(mx.numpy(second), b)
    np.testing.assert_array_equal(mx.run("_npi_tensordot_int_axes", a[:9], b, axes=0)[0], np.multiply.outer(a[:9], b))
    mx.free(first, second)
