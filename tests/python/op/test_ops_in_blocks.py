# SPDX-License-Identifier: Apache-2.0
"""Operators that go through arrays by blocks and vectors, at sizes that leave a rest behind, against NumPy element by element."""
import math

import numpy as np
import pytest

from op_calls import ADD

SEED = 20261122


def windows(size, kernel, stride, pad):
    for at in range(-pad, size + pad - kernel + 1, stride):
        yield max(at, 0), min(at + kernel, size)


def max_pool_gradient(x, head, kernel, stride, pad):
    """To the first of equal numbers of each window."""
    dx = np.zeros_like(x)
    for plane in np.ndindex(x.shape[:2]):
        for i, (top, bottom) in enumerate(windows(x.shape[2], kernel, stride, pad)):
            for j, (left, right) in enumerate(windows(x.shape[3], kernel, stride, pad)):
                box = x[plane][top:bottom, left:right]
                row, column = np.unravel_index(np.argmax(box), box.shape)
                dx[plane][top + row, left + column] += head[plane][i, j]
    return dx


@pytest.mark.parametrize("kernel, stride, pad", [(2, 2, 0), (3, 2, 1), (3, 1, 1), (5, 3, 2), (2, 5, 0), (7, 1, 0), (3, 4, 1)])
@pytest.mark.parametrize("shape", [(2, 3, 11, 13), (1, 2, 40, 37), (1, 1, 7, 130)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradients_of_maxima_go_to_the_first_of_equals(mx, rng, kernel, stride, pad, shape, dtype):
    x = rng.integers(-4, 4, shape).astype(dtype)  # many are equal
    attrs = dict(kernel=(kernel, kernel), stride=(stride, stride), pad=(pad, pad), pool_type="max")
    head = rng.integers(-9, 9, mx.run("Pooling", x, **attrs)[0].shape).astype(dtype)
    want = max_pool_gradient(x, head, kernel, stride, pad)
    np.testing.assert_array_equal(mx.gradients("Pooling", [x], [head], **attrs)[0], want)
    np.testing.assert_array_equal(mx.gradients("Pooling", [x], [head], request=ADD, start=2.0, **attrs)[0], want + 2)


def test_windows_of_minus_infinity_have_their_first_pixel(mx):
    x = np.full((1, 1, 6, 20), -np.inf, "float32")
    head = np.arange(1, 31, dtype="float32").reshape(1, 1, 3, 10)
    got = mx.gradients("Pooling", [x], [head], kernel=(2, 2), stride=(2, 2), pool_type="max")[0]
    want = np.zeros_like(x)
    want[..., ::2, ::2] = head
    np.testing.assert_array_equal(got, want)
    whole = mx.gradients("Pooling", [x], [np.ones((1, 1, 1, 1), "float32")], kernel=(1, 1), global_pool=True, pool_type="max")[0]
    assert whole[0, 0, 0, 0] == 1 and whole.sum() == 1


@pytest.mark.parametrize("size", [5, 256, 777, 2000])
def test_maxima_of_whole_images(mx, rng, size):
    x = rng.integers(-50, 50, (2, 2, 3, size)).astype("float32")
    head = rng.standard_normal((2, 2, 1, 1)).astype("float32")
    got = mx.gradients("Pooling", [x], [head], kernel=(1, 1), global_pool=True, pool_type="max")[0]
    want = np.zeros_like(x)
    flat = x.reshape(4, -1)
    want.reshape(4, -1)[np.arange(4), flat.argmax(1)] = head.ravel()
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_colours_of_images_longer_than_a_block(mx, rng, channels, dtype):
    x = rng.integers(0, 200, (29, 31, channels)).astype(dtype)
    wide = x.astype("float32")
    cut = (lambda y: np.clip(np.trunc(y), 0, 255)) if dtype == "uint8" else (lambda y: y)
    brighter = mx.run("_image_random_brightness", x, min_factor=1.25, max_factor=1.25)[0]
    np.testing.assert_array_equal(brighter, cut(wide * np.float32(1.25)).astype(dtype))
    luma = np.array([0.299, 0.587, 0.114]) if channels == 3 else np.ones(1)
    mean = (wide * luma).sum(-1).mean()
    got = mx.run("_image_random_contrast", x, min_factor=0.5, max_factor=0.5)[0]
    np.testing.assert_allclose(got, wide * 0.5 + mean * 0.5, atol=1.01 if dtype == "uint8" else 1e-3)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_linear_resizing_of_floats(mx, rng, channels):
    x = rng.standard_normal((17, 23, channels)).astype("float32")
    height, width = 31, 40

    def taps(old, new):
        at = np.clip((np.arange(new) + 0.5) * old / new - 0.5, 0, old - 1)
        low = np.floor(at).astype(int)
        return low, np.minimum(low + 1, old - 1), at - low

    top, bottom, down = taps(17, height)
    left, right, across = taps(23, width)
    rows = x[top] * (1 - down)[:, None, None] + x[bottom] * down[:, None, None]
    want = rows[:, left] * (1 - across)[:, None] + rows[:, right] * across[:, None]
    np.testing.assert_allclose(mx.run("_image_resize", x, size=(width, height), interp=1)[0], want, atol=1e-5)
    nearest = mx.run("_image_resize", x, size=(width, height), interp=0)[0]
    np.testing.assert_array_equal(nearest, x[np.arange(height) * 17 // height][:, np.arange(width) * 23 // width])


def test_what_weighs_nothing_is_not_read(mx):
    x = np.full((4, 5, 3), np.inf, "float32")
    x[0] = 1
    got = mx.run("_image_resize", x, size=(5, 4), interp=1)[0]
    np.testing.assert_array_equal(got, x)


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
@pytest.mark.parametrize("shape", [(7,), (1500,), (40, 33), (3, 1, 700), (600, 2)])
def test_nonzero_is_numpys(mx, rng, dtype, shape):
    x = (rng.random(shape) < 0.3).astype(dtype)
    np.testing.assert_array_equal(mx.run("_npx_nonzero", x)[0], np.argwhere(x))


@pytest.mark.parametrize("value", [(1,), (9,), (4, 1), (4, 9), (1, 9)])
def test_values_that_broadcast_into_a_mask(mx, rng, value):
    data, mask = rng.standard_normal((8, 9)), np.array([1, 0, 1, 1, 0, 0, 1, 0], bool)
    values = rng.standard_normal(value)
    want = data.copy()
    want[mask] = values
    np.testing.assert_array_equal(mx.run("_npi_boolean_mask_assign_tensor", data, mask, values)[0], want)


@pytest.mark.parametrize("dtype, tolerance", [("float32", 2e-7), ("float64", 2e-15)])
def test_erfinv_is_undone_by_erf(mx, dtype, tolerance):
    eps = np.finfo(dtype).eps
    x = np.concatenate([np.linspace(-0.999, 0.999, 1001), [1 - eps, 1 - 3 * eps, -1 + eps / 2, 1e-30, 0]]).astype(dtype)
    got = mx.run("erfinv", x)[0].astype("float64")
    for a, y in zip(x.astype("float64"), got):
        # The error of y is what erf misses by, over its slope.
        missed = (math.erfc(abs(y)) - (1 - abs(a))) if abs(a) > 0.5 else (abs(a) - math.erf(abs(y)))
        assert abs(missed) / (2 / math.sqrt(math.pi) * math.exp(-y * y)) <= tolerance * max(abs(y), 1e-300) + 2e-16 * abs(a)
        assert math.copysign(1, y) == math.copysign(1, a)
    np.testing.assert_array_equal(mx.run("erfinv", np.array([1, -1, 2, np.nan], dtype))[0], [np.inf, -np.inf, np.nan, np.nan])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rounding_goes_away_from_zero_at_halves(mx, dtype):
    below = np.nextafter(np.array(0.5, dtype), np.array(0, dtype))
    x = np.array([0.5, -0.5, 1.5, 2.5, -2.5, below, -below, 8388609, 1e30, -0.0, np.inf, -np.inf, np.nan], dtype)
    got = mx.run("round", x)[0]
    np.testing.assert_array_equal(got, [1, -1, 2, 3, -3, 0, 0, 8388609, np.array(1e30, dtype), 0, np.inf, -np.inf, np.nan])
    assert np.signbit(got[6]) and np.signbit(got[9])


def test_smooth_l1_and_its_slope(mx, rng):
    x, head = rng.standard_normal(1000).astype("float32"), rng.standard_normal(1000).astype("float32")
    inside = np.abs(x) < 1 / 4
    np.testing.assert_allclose(mx.run("smooth_l1", x, scalar=2.0)[0], np.where(inside, 2 * x * x, np.abs(x) - 0.125), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(mx.gradients("smooth_l1", [x], [head], scalar=2.0)[0], head * np.where(inside, 4 * x, np.sign(x)), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("p", [0.5, 0.25])
def test_dropout_multiplies_by_its_mask(mx, rng, dtype, p):
    x = (1 + rng.random((37, 41))).astype(dtype)
    mx.call("MXRandomSeed", 3)
    got = mx.run("Dropout", x, p=p, mode="always")[0]
    kept = got != 0
    factor = np.array(np.float32(1) / np.float32(1 - p), dtype)
    np.testing.assert_array_equal(got, np.where(kept, (x.astype("float64") * factor).astype(dtype), 0).astype(dtype))
    assert abs(kept.mean() - (1 - p)) < 0.06
    mx.call("MXRandomSeed", 3)
    slope = mx.gradients("Dropout", [x], [np.ones_like(x)], p=p, mode="always")[0]
    np.testing.assert_array_equal(slope, np.where(kept, factor, 0).astype(dtype))


@pytest.mark.parametrize("op, attrs", [("_npi_uniform", dict(low=-1.0, high=3.0)), ("_npi_normal", dict(loc=1.0, scale=2.0)),
                                       ("_npi_exponential", dict(scale=2.0)), ("_npi_bernoulli", dict(prob=0.3, logit="None", is_logit=False))])
def test_numbers_do_not_depend_on_how_many_are_drawn(mx, op, attrs):
    mx.call("MXRandomSeed", 5)
    many = mx.run(op, size=(1500,), ctx="cpu(0)", **attrs)[0]
    mx.call("MXRandomSeed", 5)
    few = [mx.run(op, size=(count,), ctx="cpu(0)", **attrs)[0] for count in (2, 510, 514, 474)]
    np.testing.assert_array_equal(many, np.concatenate(few))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("shape", [(300, 1), (300, 4), (17, 15), (700, 3)])
def test_softmax_of_short_rows(mx, rng, dtype, shape):
    x, head = rng.standard_normal(shape).astype(dtype), rng.standard_normal(shape).astype(dtype)
    wide, top = x.astype("float64"), head.astype("float64")
    e = np.exp(wide - wide.max(1, keepdims=True))
    p = e / e.sum(1, keepdims=True)
    close = dict(rtol=4e-3, atol=2e-3) if dtype == "float16" else dict(rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(mx.run("softmax", x)[0], p, **close)
    np.testing.assert_allclose(mx.run("log_softmax", x)[0], np.log(p), **close)
    np.testing.assert_allclose(mx.gradients("softmax", [x], [head])[0], p * (top - (p * top).sum(1, keepdims=True)), **close)
    np.testing.assert_allclose(mx.gradients("log_softmax", [x], [head])[0], top - p * top.sum(1, keepdims=True), **close)


# Columns in pieces of a few, of many, of parts of a row; such as are too many to be held; rows of some vectors.
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("shape, axis", [((40, 3, 5), 1), ((3, 70, 65), 1), ((2, 9, 300), 1), ((700, 2), 0), ((3, 1500, 7), 1), ((1300, 100), 0),
                                         ((1100, 300), 0), ((5, 5000), 0), ((50, 16), 1), ((37, 33), 1), ((3, 500), 1), ((40, 513), 1)])
def test_softmax_along_any_axis(mx, rng, dtype, shape, axis):
    x, head = rng.standard_normal(shape).astype(dtype), rng.standard_normal(shape).astype(dtype)
    x.reshape(-1)[::97] = -np.inf
    wide, top = x.astype("float64"), head.astype("float64")
    e = np.exp(wide - wide.max(axis, keepdims=True))
    p = e / e.sum(axis, keepdims=True)
    close = dict(rtol=4e-3, atol=2e-3) if dtype == "float16" else dict(rtol=2e-5, atol=2e-6)
    np.testing.assert_allclose(mx.run("softmax", x, axis=axis)[0], p, **close)
    np.testing.assert_allclose(mx.run("softmin", -x, axis=axis)[0], p, **close)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(mx.run("log_softmax", x, axis=axis)[0], np.log(p), **close)
    got = mx.gradients("softmax", [x], [head], axis=axis)[0]
    np.testing.assert_allclose(got, p * (top - (p * top).sum(axis, keepdims=True)), **close)
    got = mx.gradients("log_softmax", [x], [head], axis=axis)[0]
    total = top.sum(axis, keepdims=True)
    np.testing.assert_allclose(got, top - p * total, rtol=close["rtol"], atol=close["atol"] * (1 + np.abs(total).max()))


@pytest.mark.parametrize("text", ["ij,ij->ij", "ij,ji->ji", "ij,j->ij", "ij,ij->ji"])
def test_einsum_of_elements(mx, rng, text):
    n = 9
    a, b = rng.standard_normal((n, n)), rng.standard_normal(n if ",j-" in text else (n, n))
    np.testing.assert_allclose(mx.run("_npi_einsum", a, b, num_args=2, subscripts=text)[0], np.einsum(text, a, b), rtol=1e-12)


@pytest.mark.parametrize("mode", ["edge", "reflect"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradients_of_padding_are_sums(mx, rng, mode, dtype):
    x = rng.integers(-5, 5, (3, 2, 6, 7)).astype(dtype)
    width = ((0, 0), (0, 0), (1, 2), (3, 0))
    head = rng.integers(-5, 5, np.pad(x, width, mode=mode).shape).astype(dtype)
    shown = np.pad(np.arange(x.size).reshape(x.shape), width, mode=mode)
    want = np.bincount(shown.ravel(), head.ravel().astype("float64"), x.size).reshape(x.shape)
    got = mx.gradients("Pad", [x], [head], mode=mode, pad_width=(0, 0, 0, 0, 1, 2, 3, 0))[0]
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("linear", [True, False])
def test_hinge_loss_of_labels_inside_and_outside(mx, rng, linear):
    x, label = rng.standard_normal((6, 35)).astype("float32"), np.array([0, 34, 7, -1, 35, 3], "float32")
    sign = np.where(np.arange(35) == label[:, None], -1, 1)
    missing = 1 + sign * x
    want = np.where(missing > 0, sign * (1 if linear else 2 * missing), 0)
    got = mx.gradients("SVMOutput", [x, label], [np.ones_like(x)], wanted=[0], use_linear=linear)[0]
    np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize("size", [1, 511, 513, 1300])
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
def test_choices_of_a_number_or_a_column_over_rows_longer_than_a_block(mx, rng, dtype, size):
    shape = (3, size)
    condition = rng.integers(0, 2, shape).astype("bool")
    x, column = rng.integers(0, 99, shape).astype(dtype), rng.integers(0, 99, (3, 1)).astype(dtype)
    for got, want in ((mx.run("_npi_where_rscalar", condition, x, scalar=7)[0], np.where(condition, x, 7)),
                      (mx.run("_npi_where_lscalar", condition, x, scalar=7)[0], np.where(condition, 7, x)),
                      (mx.run("_npi_where", condition, x, column)[0], np.where(condition, x, column)),
                      (mx.run("_npi_where", condition, column, x[:1])[0], np.where(condition, column, x[:1])),
                      (mx.run("_npi_where", condition, column, column + column)[0], np.where(condition, column, column + column))):
        np.testing.assert_array_equal(got, want.astype(dtype))
