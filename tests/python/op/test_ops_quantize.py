# SPDX-License-Identifier: Apache-2.0
"""Quantized operators: integers are what they stand for to half a step, sums of products are exact."""

import numpy as np
import pytest

from op_calls import Failure

SEED = 20261120


def end(value):
    return np.array([value], "float32")


def integers(rng, dtype, *shape):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_there_and_back_loses_half_a_step(mx, rng, dtype):
    x = rng.uniform(0 if dtype == "uint8" else -3, 3, (7, 130)).astype("float32")
    got, low, high = mx.run("_contrib_quantize_v2", x, out_type=dtype)
    assert got.dtype == dtype and high[0] == np.abs(x).max() if dtype == "int8" else x.max()
    back = mx.run("_contrib_dequantize", got, low, high)[0]
    steps = 127.5 if dtype == "int8" else 255.5
    np.testing.assert_allclose(back, x, atol=0.51 * 3 / steps)


def test_values_beyond_the_range_are_its_ends(mx):
    x = np.array([-1e9, -2, 0, 2, 1e9, np.nan], "float32")
    got = mx.run("_contrib_quantize", x, end(-1), end(1), out_type="int8")[0]
    np.testing.assert_array_equal(got[:5], [-128, -128, 0, 127, 127])
    np.testing.assert_array_equal(mx.run("_contrib_quantize_v2", np.zeros(3, "float32"))[0], [0, 0, 0])


def test_types_follow_calibration(mx):
    x = np.ones((2, 2), "float32")
    assert mx.run("_contrib_quantize_v2", x, out_type="auto", min_calib_range=0, max_calib_range=1)[0].dtype == np.uint8
    assert mx.run("_contrib_quantize_v2", x, out_type="auto", min_calib_range=-1, max_calib_range=1)[0].dtype == np.int8
    with pytest.raises(Failure, match="min_calib_range"):
        mx.run("_contrib_quantize_v2", x, min_calib_range=1)
    with pytest.raises(Failure, match="uint8"):
        mx.run("_contrib_quantize_v2", x.astype("uint8"), out_type="int8")
    with pytest.raises(Failure, match="expected float32, int8 or uint8"):
        mx.run("_contrib_quantize_v2", x.astype("float16"))


def test_requantization_maps_the_range_onto_bytes(mx, rng):
    x = rng.integers(-2**30, 2**30, (5, 33)).astype("int32")
    got, low, high = mx.run("_contrib_requantize", x, end(-100), end(60))
    real = x * (100 / 2**31)
    assert high[0] == pytest.approx(np.abs(real).max(), rel=1e-6) and low[0] == -high[0]
    np.testing.assert_allclose(got * (high[0] / 127), real, atol=0.51 * high[0] / 127)
    least = mx.run("_contrib_requantize", np.array([-2**31, 0], "int32"), end(-1), end(1))
    assert least[0][0] == -127 and least[2][0] == pytest.approx(1)


def test_asymmetric_quantization_uses_the_whole_range_of_bytes(mx, rng):
    x = rng.uniform(2, 5, (1, 2, 40)).astype("float32")
    got, scale, shift = mx.run("_contrib_quantize_asym", x)
    assert got.min() == 0 and got.max() == 255
    np.testing.assert_allclose((got - shift) / scale, x, atol=0.51 / scale[0])


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (3, 5, 31), (2, 9, 32), (5, 4, 1000), (1, 3, 70000)])
def test_rows_are_summed_exactly(mx, rng, dtype, m, n, k):
    x, w = integers(rng, dtype, m, k), integers(rng, "int8", n, k)
    ends = [end(-2), end(2), end(-1), end(1)]
    got, low, high = mx.run("_contrib_quantized_fully_connected", x, w, *ends, num_hidden=n, no_bias=True)
    want = (x.astype("int64") @ w.T.astype("int64")).astype("int32")
    np.testing.assert_array_equal(got, want)
    assert high[0] == pytest.approx(2 / (127 if dtype == "int8" else 255) / 127 * 2**31, rel=1e-6) and low[0] == -high[0]


def test_sums_beyond_int32_wrap(mx):
    k = 140000
    x, w = np.full((2, k), 255, "uint8"), np.full((1, k), 127, "int8")
    got = mx.run("_contrib_quantized_fully_connected", x, w, end(0), end(1), end(-1), end(1), num_hidden=1, no_bias=True)[0]
    assert (got == (255 * 127 * k + 2**31) % 2**32 - 2**31).all()


def test_bias_is_brought_to_steps_of_products(mx, rng):
    x, w, b = integers(rng, "int8", 3, 8), integers(rng, "int8", 4, 8), integers(rng, "int8", 4)
    ends = [end(v) for v in (-2, 2, -1, 1, -0.5, 0.5)]
    got = mx.run("_contrib_quantized_fully_connected", x, w, b, *ends, num_hidden=4)[0]
    plain = x.astype("int64") @ w.T.astype("int64")
    np.testing.assert_array_equal(got - plain, np.trunc(b * (0.5 * 127.5 / 2)).astype("int64") * np.ones((3, 1), "int64"))


def convolve(x, w, stride, dilate, pad, groups):
    spatial = x.ndim - 2
    x = np.pad(x.astype("int64"), ((0, 0), (0, 0)) + tuple((p, p) for p in pad))
    maps = [(x.shape[2 + i] - dilate[i] * (w.shape[2 + i] - 1) - 1) // stride[i] + 1 for i in range(spatial)]
    out = np.zeros((x.shape[0], w.shape[0], *maps), "int64")
    size, filters = w.shape[1], w.shape[0] // groups
    for f in range(w.shape[0]):
        for c in range(size):
            for at in np.ndindex(*w.shape[2:]):
                window = tuple(slice(at[i] * dilate[i], at[i] * dilate[i] + (maps[i] - 1) * stride[i] + 1, stride[i]) for i in range(spatial))
                out[:, f] += x[(slice(None), f // filters * size + c, *window)] * int(w[(f, c, *at)])
    return out


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("image, kernel, stride, dilate, pad, groups", [
    ((9,), (3,), (2,), (1,), (1,), 1), ((7, 9), (3, 2), (1, 2), (2, 1), (1, 0), 2), ((12, 11), (1, 1), (1, 1), (1, 1), (0, 0), 1),
    ((4, 5, 6), (2, 3, 2), (1, 1, 2), (1, 1, 1), (1, 1, 0), 1)])
def test_convolutions_are_exact(mx, rng, dtype, image, kernel, stride, dilate, pad, groups):
    x, w = integers(rng, dtype, 2, 4, *image), integers(rng, "int8", 6, 4 // groups, *kernel)
    b = integers(rng, "int8", 6)
    got = mx.run("_contrib_quantized_conv", x, w, b, *[end(v) for v in (-1, 1, -1, 1, -1, 1)], kernel=kernel, stride=stride, dilate=dilate,
                 pad=pad, num_filter=6, num_group=groups)[0]
    # A bias beside uint8 counts in steps of the products, as files of 1.x have it; beside int8 in steps of its range.
    steps = b.astype("int64") if dtype == "uint8" else np.trunc(b * 127.5).astype("int64")
    want = convolve(x, w, stride, dilate, pad, groups) + steps.reshape(1, 6, *[1] * len(image))
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_pooling_of_bytes_takes_extremes_and_rounded_averages(mx, rng, dtype):
    x = integers(rng, dtype, 2, 3, 6, 8)
    blocks = x.reshape(2, 3, 3, 2, 4, 2)
    attrs = dict(kernel=(2, 2), stride=(2, 2))
    np.testing.assert_array_equal(mx.run("_contrib_quantized_pooling", x, end(-1), end(1), **attrs)[0], blocks.max((3, 5)))
    got = mx.run("_contrib_quantized_pooling", x, end(-1), end(1), pool_type="avg", **attrs)[0]
    np.testing.assert_array_equal(got, np.rint(blocks.astype("f8").mean((3, 5))))
    with pytest.raises(Failure, match="pool_type"):
        mx.run("_contrib_quantized_pooling", x, end(-1), end(1), pool_type="sum", **attrs)


@pytest.mark.parametrize("left, right", [("int8", "int8"), ("uint8", "uint8"), ("uint8", "int8")])
def test_sums_and_products_stand_for_real_ones(mx, rng, left, right):
    a, b = integers(rng, left, 3, 50), integers(rng, right, 3, 50)
    ends = [end(v) for v in (-2, 2, -0.5, 0.5)]
    limit = {"int8": 127, "uint8": 255}
    got, _, high = mx.run("_contrib_quantized_elemwise_add", a, b, *ends)
    real = a * (2 / (limit[left] + 0.5)) + b * (0.5 / (limit[right] + 0.5))
    np.testing.assert_allclose(got.astype("f8") / (2**31 - 1) * high[0], real, atol=1e-5)
    got, _, high = mx.run("_contrib_quantized_elemwise_mul", a, b, *ends)
    np.testing.assert_array_equal(got, a.astype("int32") * b)
    real = a * (2 / limit[left]) * (b * (0.5 / limit[right]))
    np.testing.assert_allclose(got * (high[0] / (2**31 - 1)), real, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(mx.run("_contrib_quantized_elemwise_mul", a, b, *ends, enable_float_output=True)[0], real, rtol=1e-5)
    got = mx.run("_contrib_quantized_elemwise_mul", a, b, *ends, min_calib_range=-1, max_calib_range=1)[0]
    np.testing.assert_allclose(got, np.clip(real * 127, -128, 127), atol=0.51)


def test_sums_of_bytes_are_rounded_as_in_the_release(mx):
    a, b = np.array([-60, 124, 68, -24], "int8"), np.array([-91, -40, -57, 89], "int8")
    ends = [end(v) for v in (-2.2052541, 2.2052541, -2.8707576, 2.8707576)]
    got = mx.run("_contrib_quantized_elemwise_add", a, b, *ends)[0]
    np.testing.assert_array_equal(got, [-1305875072, 526330272, -45378784, 672163712])


def test_concatenation_brings_all_to_one_range(mx, rng):
    a, b = integers(rng, "int8", 2, 3, 4), integers(rng, "int8", 2, 5, 4)
    got, low, high = mx.run("_contrib_quantized_concat", a, b, end(-1), end(1), end(-4), end(3), num_args=2, dim=1)
    assert low[0] == -4 and high[0] == 3
    np.testing.assert_array_equal(got[:, 3:], b)
    np.testing.assert_allclose(got[:, :3], a / 4, atol=0.51)


def test_lookup_takes_the_nearest_row(mx, rng):
    table = integers(rng, "int8", 5, 3)
    got = mx.run("_contrib_quantized_embedding", np.array([0, 4, 7, -1, np.nan], "float32"), table, end(-1), end(2), input_dim=5, output_dim=3)[0]
    np.testing.assert_array_equal(got, table[[0, 4, 4, 0, 0]])


def test_activations_other_than_relu_are_refused(mx, rng):
    x = integers(rng, "int8", 4, 4)
    np.testing.assert_array_equal(mx.run("_contrib_quantized_act", x, end(-1), end(1), act_type="relu")[0], np.maximum(x, 0))
    with pytest.raises(Failure, match="act_type"):
        mx.run("_contrib_quantized_act", x, end(-1), end(1), act_type="tanh")


def test_batch_norm_needs_calibration(mx, rng):
    x, ones = integers(rng, "int8", 2, 3, 4), np.ones(3, "float32")
    inputs = [x, ones * 2, ones, ones * 0.5, ones, end(-2), end(2)]
    got = mx.run("_contrib_quantized_batch_norm", *inputs, min_calib_range=-4, max_calib_range=4, eps=0.001)[0]
    real = (x * (2 / 127.5) - 0.5) / np.sqrt(1.001) * 2 + 1
    np.testing.assert_allclose(got, np.clip(real * 127.5 / 4, -128, 127), atol=0.51)
    with pytest.raises(Failure, match="min_calib_range"):
        mx.run("_contrib_quantized_batch_norm", *inputs)


def divergence(hist, half, levels):
    """What the range of `half` bins to each side of the middle one loses, bin by bin."""
    middle = len(hist) // 2
    inside = hist[middle - half : middle + half + 1].astype("float64")
    p = inside.copy()
    p[0] += hist[: middle - half].sum()
    p[-1] += hist[middle + half + 1 :].sum()
    merged, q = len(p) // levels, np.zeros_like(p)
    for level in range(levels):
        bins = slice(level * merged, None if level == levels - 1 else (level + 1) * merged)
        full = p[bins] != 0
        q[bins][full] = inside[bins].sum() / max(full.sum(), 1)
    for each in (p, q):
        empty = each == 0
        if empty.all() or 1e-4 * empty.sum() >= (~empty).sum():
            return np.inf
        each[~empty] -= 1e-4 * empty.sum() / (~empty).sum()
        each[empty] = 1e-4
    p, q = p / p.sum(), q / q.sum()
    return (p * np.log(p / q)).sum() if (q > 0).all() else np.inf


@pytest.mark.parametrize("bins, levels", [(15, 15), (41, 7), (401, 15), (1001, 255), (3, 1), (1, 1)])
def test_entropy_is_that_of_each_range_bin_by_bin(mx, rng, bins, levels):
    edges = np.linspace(-1, 1, bins + 1, dtype="float32")
    for values in (rng.standard_normal(5000) / 4, rng.standard_normal(50) / 4, np.abs(rng.standard_normal(300)) / 4, np.array([0.0, 0.9])):
        hist = np.histogram(values, bins=edges)[0].astype("float32")
        least = levels // 2
        want = [divergence(hist, half, levels) for half in range(least, bins // 2 + 1)]
        threshold, lost = mx.run("_contrib_calibrate_entropy", hist, edges, num_quantized_bins=levels)
        np.testing.assert_allclose(lost[0], min(want), rtol=1e-5, atol=1e-12)
        best = int(np.argmin(np.abs(edges - threshold[0]))) - bins // 2 - 1 - least
        np.testing.assert_allclose(want[best], min(want), rtol=1e-9, atol=1e-12)


def test_entropy_cuts_off_outliers(mx, rng):
    values = np.append(rng.standard_normal(100000), [30.0, -30.0])
    hist, edges = np.histogram(values, bins=2001, range=(-30, 30))
    threshold, divergence = mx.run("_contrib_calibrate_entropy", hist.astype("float32"), edges.astype("float32"), num_quantized_bins=255)
    assert 3 < threshold[0] < 8 and 0 <= divergence[0] < 0.1
    with pytest.raises(Failure, match="hist"):
        mx.run("_contrib_calibrate_entropy", hist[:100].astype("float32"), edges[:101].astype("float32"))
