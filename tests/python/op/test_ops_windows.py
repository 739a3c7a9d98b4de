# SPDX-License-Identifier: Apache-2.0
"""Windows of images: the gradient of maxima that tile them, sums where channels lie last, samples of regions."""
import re

import numpy as np
import pytest

from op_calls import ADD, Failure

SEED = 20261122


def first_maxima(x, head):
    """The gradient of maxima of 2 x 2 by its definition: the first that nothing before it reaches; NaN reaches nothing."""
    result = np.zeros_like(head, shape=x.shape)
    for at in np.ndindex(head.shape):
        *plane, i, j = at
        places = [(2 * i, 2 * j), (2 * i, 2 * j + 1), (2 * i + 1, 2 * j), (2 * i + 1, 2 * j + 1)]
        best, where = -np.inf, places[0]
        for place in places:
            if x[(*plane, *place)] > best:
                best, where = x[(*plane, *place)], place
        result[(*plane, *where)] = head[at]
    return result


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("height, width", [(2, 2), (4, 6), (5, 7), (6, 14), (3, 15), (4, 16), (4, 17), (7, 28), (4, 34), (2, 67)])
def test_maxima_that_tile_the_image_give_their_gradient_to_the_first(mx, rng, height, width, dtype):
    x = rng.integers(-3, 4, (2, 3, height, width)).astype(dtype)  # many are equal
    special = rng.random(x.shape)
    x[special < 0.1], x[special > 0.9] = np.nan, -np.inf
    x[0, 0, :2, :2] = np.nan
    x[0, 1, :2, :2] = -np.inf
    head = rng.integers(-8, 9, (2, 3, height // 2, width // 2)).astype(dtype) / 4
    attrs = {"kernel": (2, 2), "stride": (2, 2), "pool_type": "max"}
    np.testing.assert_array_equal(mx.gradients("Pooling", [x], [head], **attrs)[0], first_maxima(x, head))
    np.testing.assert_array_equal(mx.gradients("Pooling", [x], [head], ADD, 0.5, **attrs)[0], first_maxima(x, head) + np.asarray(0.5, dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("depth, height, width, kernel", [
    (1, 1, 5, (1, 1, 5)), (1, 1, 17, (1, 1, 17)), (1, 7, 7, (1, 7, 7)), (1, 3, 50, (1, 3, 50)), (2, 3, 50, (2, 3, 50)),
    (3, 4, 33, (2, 3, 33)), (2, 5, 70, (1, 4, 40)), (1, 56, 56, (1, 56, 56))])
def test_wide_windows_give_their_gradient_to_the_first_of_equal_maxima(mx, rng, depth, height, width, kernel, dtype):
    x = rng.integers(-3, 4, (2, 3, depth, height, width)).astype(dtype)
    x[0, 0].flat[:2] = np.nan  # reaches nothing
    x[0, 1] = -2  # all are equal
    windows = np.lib.stride_tricks.sliding_window_view(x, kernel, axis=(2, 3, 4))
    head = rng.standard_normal(windows.shape[:5]).astype(dtype)
    firsts = np.nan_to_num(windows.reshape(*head.shape, -1), nan=-np.inf).argmax(-1)
    expected = np.zeros(x.shape)
    for at in np.ndindex(head.shape):
        *plane, z, y, i = at
        within = np.unravel_index(firsts[at], kernel)
        expected[(*plane, z + within[0], y + within[1], i + within[2])] += head[at]
    got = mx.gradients("Pooling", [x], [head], kernel=kernel, stride=(1, 1, 1), pool_type="max")[0]
    np.testing.assert_allclose(got, expected, rtol={"float16": 2e-2}.get(dtype, 1e-5), atol={"float16": 2e-2}.get(dtype, 1e-6))


def test_windows_over_the_edge_are_not_tiles(mx, rng):
    x = rng.permutation(2 * 5 * 7).reshape(1, 2, 5, 7).astype("float32")
    head = rng.integers(1, 9, (1, 2, 3, 4)).astype("float32")
    got = mx.gradients("Pooling", [x], [head], kernel=(2, 2), stride=(2, 2), pool_type="max", pooling_convention="full")[0]
    padded = np.pad(x, ((0, 0), (0, 0), (0, 1), (0, 1)), constant_values=-1)
    np.testing.assert_array_equal(got, first_maxima(padded, head)[..., :5, :7])


@pytest.mark.parametrize("channels", [3, 8, 19])
@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-6), ("float64", 1e-13), ("float16", 4e-3)])
@pytest.mark.parametrize("kind, extra", [("sum", {}), ("avg", {}), ("avg", {"count_include_pad": False}), ("lp", {"p_value": 1}), ("lp", {"p_value": 2}),
                                         ("lp", {"p_value": 3})])
@pytest.mark.parametrize("spatial, windows", [
    ((7, 6), {"kernel": (2, 2), "stride": (2, 2)}),
    ((7, 6), {"kernel": (3, 2), "stride": (1, 2), "pad": (1, 1)}),
    ((5, 8), {"kernel": (3, 3), "stride": (2, 3), "pooling_convention": "full"}),
    ((6, 5), {"kernel": (1, 1), "global_pool": True}),
    ((3, 4, 5), {"kernel": (2, 2, 2), "stride": (1, 2, 2), "pad": (0, 1, 0)}),
    ((9,), {"kernel": (4,), "stride": (2,), "pad": (1,)}),
])
def test_sums_and_norms_of_channels_that_lie_last(mx, rng, spatial, windows, kind, extra, dtype, tolerance, channels):
    x = rng.uniform(0.5 if kind == "lp" else -1, 1, (2, channels, *spatial)).astype(dtype)
    last = (0, *range(2, x.ndim), 1)
    attrs = windows | {"pool_type": kind} | extra
    layout = {1: "NWC", 2: "NHWC", 3: "NDHWC"}[len(spatial)]
    want = mx.run("Pooling", x, **attrs)[0]
    got = mx.run("Pooling", x.transpose(last), layout=layout, **attrs)[0]
    np.testing.assert_allclose(got, want.transpose(last), tolerance, 20 * tolerance)
    head = rng.uniform(-1, 1, want.shape).astype(dtype)
    slope = mx.gradients("Pooling", [x], [head], **attrs)[0]
    got = mx.gradients("Pooling", [x.transpose(last)], [head.transpose(last)], layout=layout, **attrs)[0]
    np.testing.assert_allclose(got, slope.transpose(last), tolerance, 20 * tolerance)


@pytest.mark.parametrize("power", [2, 3])
def test_norms_of_zero_have_no_slope_wherever_channels_lie(mx, rng, power):
    x = rng.uniform(0.5, 1, (1, 4, 4, 9)).astype("float32")
    x[:, :2, :2], x[0, 3, 3, 4] = 0, np.nan
    attrs = {"kernel": (2, 2), "stride": (2, 2), "pool_type": "lp", "p_value": power, "layout": "NHWC"}
    windows = x.reshape(1, 2, 2, 2, 2, 9).astype("float64")
    sums = (windows**power).sum((2, 4))
    got = mx.run("Pooling", x, **attrs)[0]
    np.testing.assert_allclose(got, sums ** (1 / power), 1e-6)
    slope = mx.gradients("Pooling", [x], [np.ones_like(got)], **attrs)[0]
    assert not slope[:, :2, :2].any()
    want = (windows / np.where(sums == 0, 1, sums ** (1 / power))[:, :, None, :, None]) ** (power - 1)
    np.testing.assert_allclose(slope, want.reshape(x.shape), 2e-6)


@pytest.mark.parametrize("channels", [1, 3, 4, 6, 9])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_regions_are_sampled_channel_by_channel(mx, rng, channels, dtype):
    x = rng.uniform(-1, 1, (2, channels, 9, 11)).astype(dtype)
    rois = np.array([[0, 0, 0, 10, 8], [1, 2, 1, 5, 7], [-1, 0, 0, 3, 3], [1, -3, -2, 20, 9]], dtype)
    attrs = {"pooled_size": (3, 2), "spatial_scale": 0.9, "sample_ratio": 2}
    head = rng.uniform(-1, 1, (4, channels, 3, 2)).astype(dtype)
    got = mx.run("_contrib_ROIAlign", x, rois, **attrs)[0]
    slope = mx.gradients("_contrib_ROIAlign", [x, rois], [head], wanted=[0], **attrs)[0]
    for c in range(channels):
        one = np.ascontiguousarray(x[:, c : c + 1])
        np.testing.assert_array_equal(got[:, c : c + 1], mx.run("_contrib_ROIAlign", one, rois, **attrs)[0])
        alone = mx.gradients("_contrib_ROIAlign", [one, rois], [np.ascontiguousarray(head[:, c : c + 1])], wanted=[0], **attrs)[0]
        np.testing.assert_array_equal(slope[:, c : c + 1], alone)
    assert not got[2].any() and got[1].any()


@pytest.mark.parametrize("given, shown", [({"pad": (1, 1, -1)}, "pad (1,1,-1)"), ({"stride": (1, -1)}, "stride (1,-1)"), ({"pad": (-1,)}, "pad (-1,)")])
def test_lists_of_windows_are_shown_as_they_were_given(mx, given, shown):
    with pytest.raises(Failure, match=re.escape(f"given {shown}, expected for each of 2 spatial dimensions")):
        mx.run("Pooling", np.ones((1, 2, 6, 6), "float32"), kernel=(2, 2), **given)
