# SPDX-License-Identifier: Apache-2.0
"""Loops over blocks of numbers against NumPy, at lengths around their blocks and with the numbers that are special to them."""
import math

import numpy as np
import pytest

from op_calls import ADD, Failure

SEED = 20261122
LENGTHS = [1, 7, 255, 256, 257, 1000]
log_gamma = np.vectorize(math.lgamma, otypes=["float64"])


# ---- densities ---------------------------------------------------------------------------------

def log_negative_binomial(x, k, p):
    return log_gamma(x + k) - log_gamma(x + 1) - log_gamma(k) + k * np.log(p) + x * np.log1p(-p)


LOG_DENSITIES = {
    "uniform": lambda x, low, high: -np.log(high - low) + 0 * x,
    "normal": lambda x, mu, sigma: -0.5 * ((x - mu) / sigma) ** 2 - np.log(sigma * np.sqrt(2 * np.pi)),
    "gamma": lambda x, a, b: a * np.log(b) + (a - 1) * np.log(x) - b * x - log_gamma(a),
    "exponential": lambda x, rate: np.log(rate) - rate * x,
    "poisson": lambda x, mean: x * np.log(mean) - log_gamma(x + 1) - mean,
    "negative_binomial": log_negative_binomial,
    "generalized_negative_binomial": lambda x, mu, alpha: log_negative_binomial(x, 1 / alpha, 1 / (mu * alpha + 1)),
}
WHOLE = {"poisson", "negative_binomial", "generalized_negative_binomial"}


def drawn_samples(rng, name, rows, length, dtype):
    x = rng.integers(0, 9, (rows, length)) if name in WHOLE else rng.uniform(0.1, 3, (rows, length))
    limits = {"uniform": [(-1, 0), (3, 4)], "negative_binomial": [(1, 5), (0.2, 0.8)]}.get(name, [(0.5, 3), (0.4, 2)])
    given = [rng.uniform(low, high, rows) for low, high in limits][: 1 if name in ("exponential", "poisson") else 2]
    return [a.astype(dtype) for a in [x, *given]]


def wide(arrays):
    """In double, parameters as columns."""
    return [arrays[0].astype("float64"), *(a.astype("float64")[:, None] for a in arrays[1:])]


@pytest.mark.parametrize("dtype, tolerance", [("float32", 3e-6), ("float64", 1e-12), ("float16", 2e-3)])
@pytest.mark.parametrize("name", LOG_DENSITIES)
def test_densities_are_their_definition(mx, rng, name, dtype, tolerance):
    for length in LENGTHS:
        arrays = drawn_samples(rng, name, 3, length, dtype)
        want = LOG_DENSITIES[name](*wide(arrays))
        log_density = mx.run("_random_pdf_" + name, *arrays, is_log=True)[0]
        np.testing.assert_allclose(log_density.astype("float64"), want, tolerance, 20 * tolerance)
        density = mx.run("_random_pdf_" + name, *arrays)[0]
        np.testing.assert_allclose(density.astype("float64"), np.exp(want), 2 * tolerance, 20 * tolerance * np.exp(want).max())


@pytest.mark.parametrize("is_log", [True, False])
@pytest.mark.parametrize("name", LOG_DENSITIES)
def test_gradients_of_densities_are_those_of_differences(mx, rng, name, is_log):
    for length in (1, 256, 300):
        arrays = drawn_samples(rng, name, 2, length, "float64")
        head = rng.uniform(-1, 1, (2, length))

        def total(values, row=slice(None)):
            logs = LOG_DENSITIES[name](*wide(values))
            return (head * (logs if is_log else np.exp(logs)))[row]

        start = 0.25
        got = mx.gradients("_random_pdf_" + name, arrays, [head], ADD, start, is_log=is_log)
        step = 1e-6
        for i, a in enumerate(arrays):
            if i == 0 and name in WHOLE:
                continue
            higher, lower = [*arrays], [*arrays]
            higher[i], lower[i] = a + step, a - step
            slope = (total(higher) - total(lower)) / (2 * step)
            want = slope if i == 0 else slope.sum(1)
            np.testing.assert_allclose(got[i] - start, want, 1e-5, 1e-6 * max(1, np.abs(want).max()))


@pytest.mark.parametrize("shared", [0, 1, 2, 3])
def test_parameters_of_densities_have_any_number_of_the_first_dimensions_of_the_samples(mx, rng, shared):
    shape = (2, 3, 4)
    for name, density in LOG_DENSITIES.items():
        x = drawn_samples(rng, name, 6, 4, "float64")[0].reshape(shape)
        params = [p.reshape(shape[:shared]) for p in drawn_samples(rng, name, math.prod(shape[:shared]), 1, "float64")[1:]]
        want = density(x, *(p.reshape(shape[:shared] + (1,) * (3 - shared)) for p in params))
        np.testing.assert_allclose(mx.run("_random_pdf_" + name, x, *params, is_log=True)[0], want + 0 * x, 1e-12, 1e-12)
        slopes = mx.gradients("_random_pdf_" + name, [x, *params], [np.ones(shape)], is_log=True)
        assert [s.shape for s in slopes] == [x.shape, *(p.shape for p in params)]
    vectors = rng.dirichlet(np.ones(5), shape)
    alpha = rng.uniform(0.5, 2, (*shape[:shared], 5))
    each = np.broadcast_to(alpha.reshape(shape[:shared] + (1,) * (3 - shared) + (5,)), vectors.shape)
    want = mx.run("_random_pdf_dirichlet", vectors, np.ascontiguousarray(each))[0]
    np.testing.assert_allclose(mx.run("_random_pdf_dirichlet", vectors, alpha)[0], want, 1e-12)
    assert mx.run("_random_pdf_dirichlet", vectors[0, 0, 0], each[0, 0, 0])[0] == want[:1, 0, 0]
    with pytest.raises(Failure, match="given 'mu' of shape .2,3,4,1. .* expected the first dimensions of the sample"):
        mx.run("_random_pdf_normal", np.ones(shape), np.ones((*shape, 1)), np.ones((*shape, 1)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_densities_beyond_the_usual(mx, dtype):
    one = np.ones(1, dtype)
    x = np.array([[0, np.inf, np.nan, 200, 1e30]], dtype)
    np.testing.assert_array_equal(mx.run("_random_pdf_exponential", x, one)[0][0][[0, 1, 2, 4]], np.array([1, 0, np.nan, 0], dtype))
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(mx.run("_random_pdf_gamma", x, 2 * one, one)[0][0][[0, 2]], np.array([0, np.nan], dtype))
    assert np.isnan(mx.run("_random_pdf_exponential", x, -one)[0]).all()
    large = mx.run("_random_pdf_normal", np.zeros((1, 3), dtype), 0 * one, one * np.finfo(dtype).tiny * 4)[0]
    assert (large > 1e30).all()
    assert mx.run("_random_pdf_normal", np.zeros((2, 0), dtype), np.ones(2, dtype), np.ones(2, dtype))[0].shape == (2, 0)


# ---- quantized ---------------------------------------------------------------------------------

def all_bytes(rng, dtype, n):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, n).astype(dtype)


def number(value):
    return np.array([value], "float32")


@pytest.mark.parametrize("lhs", ["int8", "uint8"])
@pytest.mark.parametrize("rhs", ["int8", "uint8"])
def test_quantized_sums_are_rounded_products_added(mx, rng, lhs, rhs):
    ends = {"int8": np.float32(127.5), "uint8": np.float32(255.5)}
    for n in (1, 15, 33, 1023, 1024, 1025, 5000):
        a, b = all_bytes(rng, lhs, n), all_bytes(rng, rhs, n)
        ranges = [number(-2), number(2), number(-0.5), number(0.75)]
        for known in (None, 0.5, 100.0):
            attrs = {} if known is None else {"min_calib_range": -known, "max_calib_range": known}
            got = mx.run("_contrib_quantized_elemwise_add", a, b, *ranges, **attrs)[0]
            out = "int32" if known is None else "uint8" if lhs == rhs == "uint8" else "int8"
            assert got.dtype == out
            steps = np.float32(2147483647) if known is None else ends[out]
            end = np.float32(2.75 if known is None else known)
            left = a.astype("float32") * (np.float32(2) * steps / (ends[lhs] * end))
            right = b.astype("float32") * (np.float32(0.75) * steps / (ends[rhs] * end))
            info = np.iinfo(out)
            want = np.clip(np.rint((left + right).astype("float64")), info.min, info.max)
            np.testing.assert_array_equal(got, want.astype(out))


@pytest.mark.parametrize("out", ["int8", "uint8"])
def test_requantization_is_the_nearest_integer_of_a_product(mx, rng, out):
    info = np.iinfo(out)
    for n in (1, 15, 17, 63, 64, 65, 1000):
        x = rng.integers(-2**31, 2**31, n).astype("int32")
        x[:2] = [2**31 - 1, -2**31][: min(n, 2)]
        got, low, high = mx.run("_contrib_requantize", x, number(-3), number(2), out_type=out, min_calib_range=-1.5, max_calib_range=1)
        factor = np.float32(3) / np.float32(2147483647) * (np.float32(info.max) / np.float32(1.5))
        want = np.clip(np.rint(x.astype("float32") * factor), info.min, info.max)
        np.testing.assert_array_equal(got, want.astype(out))
        assert low[0] == (0 if out == "uint8" else -1.5) and high[0] == 1.5


@pytest.mark.parametrize("out", ["int8", "uint8"])
def test_quantization_of_odd_numbers(mx, out):
    info = np.iinfo(out)
    x = np.tile(np.array([np.nan, np.inf, -np.inf, 0.5, 1.5, -0.5, 2.5, 1e30, -1e30, 0], "float32"), 9)[:83]
    got = mx.run("_contrib_quantize", x, number(-info.max), number(info.max), out_type=out)[0]
    want = np.tile(np.array([info.min, info.max, info.min, 0, 2, 0, 2, info.max, info.min, 0]), 9)[:83]
    np.testing.assert_array_equal(got, want.astype(out))


@pytest.mark.parametrize("dtype, steps", [("int8", 127.5), ("uint8", 255.5)])
def test_dequantization_is_a_product(mx, rng, dtype, steps):
    for n in (1, 15, 65, 1000):
        x = all_bytes(rng, dtype, n)
        want = x.astype("float32") * (np.float32(3) / np.float32(steps))
        np.testing.assert_array_equal(mx.run("_contrib_dequantize", x, number(-3), number(2))[0], want)


# ---- integers ----------------------------------------------------------------------------------

@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
def test_numbers_divided_by_integers_are_cut(mx, rng, dtype):
    info = np.iinfo(dtype)
    numbers = [0, 1, -1, 2, -7, 100, 127, -128, 255, 2**24 - 1, 2**24, 2**24 + 2, -(2**24) + 1, 2**31 - 1, -(2**31), 2**53 - 1, -(2**53) + 1, 2**53, 2**62]
    for number in (n for n in numbers if info.min <= n <= info.max):
        size = abs(number)
        near = [size // k + d for k in (1, 2, 3, 7, 11, 101) for d in (-1, 0, 1)] + [0, 1, info.max, info.max - 1, info.min, info.min + 1, 2**24 + 1, 2**53 + 1]
        b = [s * n for n in near for s in (1, -1)] + [int(n) for n in rng.integers(info.min, info.max, 300, endpoint=True)]
        b = np.array([n for n in b if info.min <= n <= info.max], dtype)
        cut = [0 if n == 0 else size // abs(n) * (1 if (number < 0) == (n < 0) else -1) for n in map(int, b)]
        want = np.array(cut, "object").astype("int64" if dtype != "int64" else "object")
        got = mx.run("_rdiv_scalar", b, scalar=number)[0]
        assert got.dtype == dtype
        bits = 8 * info.dtype.itemsize
        wrapped = [int(n) & (2**bits - 1) for n in want]
        np.testing.assert_array_equal([int(n) & (2**bits - 1) for n in got], wrapped, err_msg=str(number))


# ---- counting and choosing ---------------------------------------------------------------------

@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8"])
def test_histograms_count_what_numpy_counts(mx, rng, dtype):
    for n in (0, 1, 100, 5000):
        x = rng.uniform(0, 100, n).astype(dtype)
        if n > 4 and dtype.startswith("float"):
            x[:5] = [np.nan, np.inf, -np.inf, 0, 100]
        finite = x[np.isfinite(x)] if dtype.startswith("float") else x
        for bins in (1, 10, 64):
            counts, edges = mx.run("_histogram", x, bin_cnt=bins, range=(0, 128))
            np.testing.assert_array_equal(counts, np.histogram(finite, edges.astype("float64"))[0])
        own = np.array([0, 1, 7, 50, 100], dtype)
        np.testing.assert_array_equal(mx.run("_histogram", x, own)[0], np.histogram(finite, own)[0])


@pytest.mark.parametrize("dtype", ["float64", "int64", "float32"])
@pytest.mark.parametrize("ascending", [True, False])
def test_the_best_few_of_long_rows(mx, rng, dtype, ascending):
    for n, k in ((64, 1), (105, 5), (106, 5), (107, 5), (1024, 5), (1024, 200), (5000, 60), (9000, 900)):
        x = rng.integers(-50, 50, (3, n)).astype(dtype)  # many are equal
        if dtype != "int64":
            x += np.where(rng.random((3, n)) < 0.5, rng.random((3, n)), 0).astype(dtype)
            x[1, : n // 10] = np.nan
        order = np.argsort(x if ascending else np.where(np.isnan(x), -np.inf, -x), axis=1, kind="stable")[:, :k]
        values, at = mx.run("topk", x, k=k, ret_typ="both", is_ascend=ascending, dtype="int32")
        np.testing.assert_array_equal(at, order)
        np.testing.assert_array_equal(values, np.take_along_axis(x, order, 1))


# ---- norms across channels ---------------------------------------------------------------------

@pytest.mark.parametrize("dtype, tolerance", [("float32", 2e-6), ("float64", 1e-12), ("float16", 4e-3)])
@pytest.mark.parametrize("inner", [(1,), (7,), (8,), (16, 16), (257,), (3, 5, 40)])
def test_positions_get_length_one_across_channels(mx, rng, inner, dtype, tolerance):
    shape = (2, 19, *inner)
    x, head = rng.uniform(-2, 2, shape).astype(dtype), rng.uniform(-1, 1, shape).astype(dtype)
    x[0, :, 0] = 0
    wide_x, wide_head = x.astype("float64"), head.astype("float64")
    length = np.sqrt((wide_x**2).sum(1, keepdims=True) + 2**-10)
    y = wide_x / length
    np.testing.assert_allclose(mx.run("L2Normalization", x, mode="channel", eps=2**-10)[0].astype("float64"), y, tolerance, tolerance)
    want = (wide_head - y * (wide_head * y).sum(1, keepdims=True)) / length
    got = mx.gradients("L2Normalization", [x], [head, None], mode="channel", eps=2**-10)[0]
    np.testing.assert_allclose(got.astype("float64"), want, 10 * tolerance, 10 * tolerance * np.abs(want).max())


@pytest.mark.parametrize("dtype, tolerance", [("float32", 2e-6), ("float64", 1e-12), ("float16", 4e-3)])
@pytest.mark.parametrize("is_log", [False, True])
def test_dirichlet_densities_and_their_gradients(mx, rng, dtype, tolerance, is_log):
    alpha = rng.uniform(0.5, 2, (3, 4)).astype(dtype)
    x = rng.dirichlet(np.ones(4), (3, 5)).clip(0.05, 0.9).astype(dtype)
    a, wide = alpha.astype("float64")[:, None], x.astype("float64")
    gamma = np.vectorize(math.lgamma)
    logs = ((a - 1) * np.log(wide) - gamma(a)).sum(-1) + gamma(a.sum(-1))
    want = logs if is_log else np.exp(logs)
    attrs = {"is_log": is_log}
    np.testing.assert_allclose(mx.run("_random_pdf_dirichlet", x, alpha, **attrs)[0], want, tolerance, tolerance)
    head = rng.uniform(-1, 1, (3, 5)).astype(dtype)
    got = mx.gradients("_random_pdf_dirichlet", [x, alpha], [head], **attrs)
    factor = head.astype("float64") * (1 if is_log else want)
    np.testing.assert_allclose(got[0], factor[..., None] * (a - 1) / wide, 4 * tolerance, 4 * tolerance)
    step = 1e-6
    digamma = (gamma(a + step) - gamma(a - step)) / (2 * step)
    digamma_sum = (gamma(a.sum(-1, keepdims=True) + step) - gamma(a.sum(-1, keepdims=True) - step)) / (2 * step)
    slope = (factor[..., None] * (np.log(wide) + digamma_sum - digamma)).sum(1)
    np.testing.assert_allclose(got[1], slope, max(1e-7, 4 * tolerance), max(1e-7, 8 * tolerance))
    for empty in ((0, 5), (3, 0)):
        assert mx.run("_random_pdf_dirichlet", np.ones((*empty, 4), dtype), np.ones((empty[0], 4), dtype), **attrs)[0].shape == empty
