# SPDX-License-Identifier: Apache-2.0
"""Operators on images: definitions written out in NumPy, and gradients against differences."""

import itertools
import numpy as np
import pytest

from op_calls import Failure

SEED = 20261122


def check_gradients(mx, rng, name, arrays, wanted=None, outputs=1, tolerance=1e-6, **attrs):
    """Directional derivatives by differences, one input at a time."""
    results = mx.run(name, *arrays, **attrs)[:outputs]
    heads = [rng.standard_normal(r.shape) for r in results]
    wanted = range(len(arrays)) if wanted is None else wanted
    got = mx.gradients(name, arrays, heads, wanted=wanted, **attrs)
    for i in wanted:
        direction, step = rng.standard_normal(arrays[i].shape), 1e-7
        ends = []
        for sign in (1, -1):
            changed = [a + sign * step * direction if j == i else a for j, a in enumerate(arrays)]
            ends.append(sum((r * h).sum() for r, h in zip(mx.run(name, *changed, **attrs), heads)))
        want = (ends[0] - ends[1]) / (2 * step)
        assert (got[i] * direction).sum() == pytest.approx(want, rel=tolerance * 100, abs=tolerance * 100), f"input {i}"


def bilinear(plane, y, x):
    """Zero outside."""
    result, y0, x0 = 0.0, int(np.floor(y)), int(np.floor(x))
    for i in (y0, y0 + 1):
        for j in (x0, x0 + 1):
            if 0 <= i < plane.shape[0] and 0 <= j < plane.shape[1]:
                result += plane[i, j] * (1 - abs(y - i)) * (1 - abs(x - j))
    return result


@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-10), ("float32", 1e-4), ("float16", 3e-2)])
def test_the_sampler_interpolates_between_pixels(mx, rng, dtype, tolerance):
    data, grid = rng.standard_normal((2, 3, 5, 7)).astype(dtype), rng.uniform(-1.4, 1.4, (2, 2, 4, 6)).astype(dtype)
    got = mx.run("BilinearSampler", data, grid)[0]
    x, y = (grid[:, 0].astype("f8") + 1) * 3, (grid[:, 1].astype("f8") + 1) * 2
    want = [[[[bilinear(data[n, c].astype("f8"), y[n, i, j], x[n, i, j]) for j in range(6)] for i in range(4)] for c in range(3)]
            for n in range(2)]
    np.testing.assert_allclose(got.astype("f8"), want, rtol=tolerance, atol=tolerance * 3)


def test_places_that_are_no_numbers_are_no_zeros(mx, rng):
    data, grid = rng.standard_normal((1, 2, 5, 7)), np.zeros((1, 2, 1, 4))
    grid[0, 0, 0, 1], grid[0, 1, 0, 2], grid[0, :, 0, 3] = np.nan, np.inf, -2
    got = mx.run("BilinearSampler", data, grid)[0]
    assert np.isnan(got[0, :, 0]).tolist() == [[False, True, True, False]] * 2 and (got[0, :, 0, 3] == 0).all()
    ddata, dgrid = mx.gradients("BilinearSampler", [data, grid], [np.ones_like(got)])
    assert np.isfinite(ddata).all() and np.isnan(dgrid[0, :, 0]).any(axis=0).tolist() == [False, True, True, False]


def test_grids_and_transformer(mx, rng):
    theta = rng.uniform(-1, 1, (2, 6))
    ys, xs = np.meshgrid(np.linspace(-1, 1, 4), np.linspace(-1, 1, 5), indexing="ij")
    places = np.stack([xs, ys, np.ones_like(xs)]).reshape(3, -1)
    want = (theta.reshape(2, 2, 3) @ places).reshape(2, 2, 4, 5)
    grid = mx.run("GridGenerator", theta, transform_type="affine", target_shape=(4, 5))[0]
    np.testing.assert_allclose(grid, want, atol=1e-12)
    data = rng.standard_normal((2, 3, 6, 7))
    attrs = dict(transform_type="affine", sampler_type="bilinear", target_shape=(4, 5))
    np.testing.assert_allclose(mx.run("SpatialTransformer", data, theta, **attrs)[0],
                               mx.run("BilinearSampler", data, grid)[0], atol=1e-12)
    flow = rng.standard_normal((2, 2, 3, 4))
    warped = mx.run("GridGenerator", flow, transform_type="warp")[0]
    np.testing.assert_allclose((warped[:, 0] + 1) * 1.5, flow[:, 0] + np.arange(4), atol=1e-12)
    np.testing.assert_allclose(warped[:, 1] + 1, flow[:, 1] + np.arange(3)[:, None], atol=1e-12)
    check_gradients(mx, rng, "GridGenerator", [theta], transform_type="affine", target_shape=(4, 5))
    check_gradients(mx, rng, "GridGenerator", [flow], transform_type="warp")
    check_gradients(mx, rng, "SpatialTransformer", [data, theta], **attrs)
    check_gradients(mx, rng, "BilinearSampler", [data, rng.uniform(-1.2, 1.2, (2, 2, 4, 5))])


def test_identity_transform_gives_the_image_back(mx, rng):
    data = rng.standard_normal((1, 2, 5, 6))
    theta = np.array([[1.0, 0, 0, 0, 1, 0]])
    got = mx.run("SpatialTransformer", data, theta, transform_type="affine", sampler_type="bilinear", target_shape=(5, 6))
    np.testing.assert_allclose(got[0], data, atol=1e-12)


@pytest.mark.parametrize("multiply", [True, False])
@pytest.mark.parametrize("kernel, displacement, stride1, stride2, pad", [(1, 2, 1, 1, 2), (3, 2, 2, 2, 3), (1, 4, 1, 2, 4)])
def test_correlation_compares_patches_of_two_images(mx, rng, multiply, kernel, displacement, stride1, stride2, pad):
    a, b = rng.standard_normal((2, 2, 3, 7, 8))
    attrs = dict(kernel_size=kernel, max_displacement=displacement, stride1=stride1, stride2=stride2, pad_size=pad,
                 is_multiply=multiply)
    got = mx.run("Correlation", a, b, **attrs)[0]
    x, y = (np.pad(v, [(0, 0), (0, 0), (pad, pad), (pad, pad)]) for v in (a, b))
    reach, radius, border = displacement // stride2, kernel // 2, displacement + kernel // 2
    for c, (dy, dx) in enumerate((i * stride2, j * stride2) for i in range(-reach, reach + 1) for j in range(-reach, reach + 1)):
        for i in range(got.shape[2]):
            for j in range(got.shape[3]):
                h, w = border + i * stride1, border + j * stride1
                first = x[:, :, h - radius:h + radius + 1, w - radius:w + radius + 1]
                second = y[:, :, h + dy - radius:h + dy + radius + 1, w + dx - radius:w + dx + radius + 1]
                met = first * second if multiply else np.abs(first - second)
                np.testing.assert_allclose(got[:, c, i, j], met.mean(axis=(1, 2, 3)), atol=1e-12)
    check_gradients(mx, rng, "Correlation", [a, b], **attrs)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_nearest_up_sampling(mx, rng, dtype):
    a, b = rng.standard_normal((2, 3, 2, 3)).astype(dtype), rng.standard_normal((2, 4, 4, 6)).astype(dtype)
    got = mx.run("UpSampling", a, b, scale=4, sample_type="nearest", num_args=2)[0]
    want = np.concatenate([a.repeat(4, 2).repeat(4, 3), b.repeat(2, 2).repeat(2, 3)], axis=1)
    np.testing.assert_array_equal(got, want)
    c = rng.standard_normal((2, 3, 4, 6)).astype(dtype)
    got = mx.run("UpSampling", a, c, scale=2, sample_type="nearest", num_args=2, multi_input_mode="sum")[0]
    np.testing.assert_allclose(got, a.repeat(2, 2).repeat(2, 3) + c, rtol=2e-3)


# Lines of a few bytes, of whole vectors, and too long to be taken several at once; ends of images within a thread's part.
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("scale", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("shape", [(3, 5, 1, 1), (2, 3, 7, 7), (3, 40, 13, 5), (2, 2, 3, 130), (1, 2, 5, 601), (2, 3, 11, 2), (0, 3, 2, 2), (2, 0, 2, 2)])
def test_up_sampling_of_lines_of_any_length(mx, rng, shape, scale, dtype):
    a = rng.standard_normal(shape).astype(dtype)
    b = rng.standard_normal((shape[0], 2, shape[2] * scale, shape[3] * scale)).astype(dtype)
    got, = mx.run("UpSampling", a, b, scale=scale, sample_type="nearest", num_args=2)
    np.testing.assert_array_equal(got, np.concatenate([a.repeat(scale, 2).repeat(scale, 3), b], axis=1))


def test_up_sampling_gradients(mx, rng):
    a, b = rng.standard_normal((2, 3, 2, 3)), rng.standard_normal((2, 3, 4, 6))
    for mode in ("concat", "sum"):
        check_gradients(mx, rng, "UpSampling", [a, b], scale=4, sample_type="nearest", num_args=2, multi_input_mode=mode)
    for scale in (2, 3):
        kernel = 2 * scale - scale % 2
        check_gradients(mx, rng, "UpSampling", [a, rng.standard_normal((3, 1, kernel, kernel))], scale=scale,
                        sample_type="bilinear", num_filter=3, num_args=1)


def test_bilinear_up_sampling_is_a_transposed_convolution(mx, rng):
    data, weight = rng.standard_normal((1, 2, 3, 4)), rng.standard_normal((2, 1, 4, 4))
    want = np.zeros((1, 2, 3 * 2 + 2, 4 * 2 + 2))
    for i in range(3):
        for j in range(4):
            want[:, :, 2 * i:2 * i + 4, 2 * j:2 * j + 4] += data[:, :, i:i + 1, j:j + 1] * weight[:, 0]
    got = mx.run("UpSampling", data, weight, scale=2, sample_type="bilinear", num_filter=2, num_args=1)[0]
    np.testing.assert_allclose(got, want[:, :, 1:-1, 1:-1], atol=1e-12)


@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize("attrs, size", [
    (dict(height=3, width=9), (3, 9)), (dict(scale_height=2.0, scale_width=0.5), (10, 3)),
    (dict(mode="odd_scale", scale_height=2.0, scale_width=2.0), (9, 12)), (dict(mode="to_even_down"), (4, 6)),
    (dict(mode="to_even_up"), (6, 6)), (dict(mode="to_odd_down"), (5, 5)), (dict(mode="to_odd_up"), (5, 7)),
    (dict(height=1, width=1), (1, 1)), (dict(height=3, width=1), (3, 1)), (dict(height=1, width=4), (1, 4))])
def test_resized_images_interpolate_between_pixels(mx, rng, align, attrs, size):
    data = rng.standard_normal((2, 3, 5, 6))
    got = mx.run("_contrib_BilinearResize2D", data, align_corners=align, **attrs)[0]
    assert got.shape == (2, 3, *size)

    def axis(n, out):
        if out == 1:
            return np.zeros(1)  # of the release: the first, not the middle
        if align:
            return np.linspace(0, n - 1, out)
        return np.clip((np.arange(out) + 0.5) * n / out - 0.5, 0, n - 1)

    want = [[bilinear(data[0, 0], y, x) for x in axis(6, size[1])] for y in axis(5, size[0])]
    np.testing.assert_allclose(got[0, 0], want, atol=1e-10)
    check_gradients(mx, rng, "_contrib_BilinearResize2D", [data], align_corners=align, **attrs)


def test_resize_like_takes_the_size_of_another_array(mx, rng):
    data, like = rng.standard_normal((2, 3, 5, 6)), np.zeros((1, 1, 7, 4))
    got = mx.run("_contrib_BilinearResize2D", data, like, mode="like")[0]
    np.testing.assert_array_equal(got, mx.run("_contrib_BilinearResize2D", data, height=7, width=4)[0])
    gradient, none = mx.gradients("_contrib_BilinearResize2D", [data, like], [np.ones_like(got)], mode="like")
    assert gradient.sum() == pytest.approx(got.size) and not none.any()


def test_roi_pooling_takes_the_largest_of_each_part(mx, rng):
    data = rng.standard_normal((2, 3, 8, 9))
    rois = np.array([[0, 0, 0, 8, 7], [1, 2, 3, 5, 6], [1, 4, 4, 4, 4]], "float64")
    got = mx.run("ROIPooling", data, rois, pooled_size=(2, 2), spatial_scale=1.0)[0]
    np.testing.assert_array_equal(got[1, :, 0, 0], data[1, :, 3:5, 2:4].max(axis=(1, 2)))
    np.testing.assert_array_equal(got[2], np.broadcast_to(data[1, :, 4:5, 4:5], (3, 2, 2)))
    check_gradients(mx, rng, "ROIPooling", [data, rois], wanted=[0], pooled_size=(2, 2), spatial_scale=1.0)


@pytest.mark.parametrize("size", [(0, 3), (3, 0), (0, 0)])
@pytest.mark.parametrize("name,others,attrs", [
    ("_contrib_BilinearResize2D", [], dict(height=2, width=2)),
    ("_contrib_BilinearResize2D", [(1, 1, 2, 2)], dict(mode="like")),
    ("_contrib_RROIAlign", [(1, 6)], dict(pooled_size="(2, 2)", spatial_scale=1.0)),
    ("_contrib_DeformablePSROIPooling", [(1, 5)], dict(pooled_size=1, output_dim=2, group_size=1, spatial_scale=1.0, no_trans=True)),
])
def test_images_without_pixels_have_none_to_give(mx, name, others, attrs, size):
    with pytest.raises(Failure, match="images of one pixel or more"):
        mx.run(name, np.zeros((1, 2, *size), "float32"), *[np.zeros(shape, "float32") for shape in others], **attrs)


def test_a_region_of_an_image_that_is_not_there_is_an_error(mx, rng):
    with pytest.raises(Failure, match="rois"):
        mx.run("ROIPooling", rng.standard_normal((2, 3, 8, 9)), np.array([[2.0, 0, 0, 1, 1]]), pooled_size=(2, 2), spatial_scale=1.0)


@pytest.mark.parametrize("modulated", [False, True])
def test_deformable_convolution_gradients(mx, rng, modulated):
    shapes = [(2, 4, 5, 6), (2, 16, 2, 3)] + ([(2, 8, 2, 3)] if modulated else []) + [(6, 2, 2, 2), (6,)]
    arrays = [rng.standard_normal(s) for s in shapes]
    name = "_contrib_ModulatedDeformableConvolution" if modulated else "_contrib_DeformableConvolution"
    check_gradients(mx, rng, name, arrays, kernel=(2, 2), stride=(2, 2), num_filter=6, num_group=2, num_deformable_group=2)


def test_deformable_convolution_without_offsets_is_one(mx, rng):
    data, weight = rng.standard_normal((1, 2, 6, 6)), rng.standard_normal((3, 2, 3, 3))
    got = mx.run("_contrib_DeformableConvolution", data, np.zeros((1, 18, 4, 4)), weight, kernel=(3, 3), num_filter=3,
                 no_bias=True)[0]
    windows = np.lib.stride_tricks.sliding_window_view(data, (3, 3), axis=(2, 3))
    np.testing.assert_allclose(got, np.einsum("nchwij,fcij->nfhw", windows, weight), atol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 3, 8, 15, 97, 128, 1000])
@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-11), ("float32", 1e-4)])
def test_fft_is_numpys_and_undone_by_its_inverse(mx, rng, n, dtype, tolerance):
    x = rng.standard_normal((3, n)).astype(dtype)
    pairs = mx.run("_contrib_fft", x)[0]
    want = np.fft.fft(x.astype("float64"))
    np.testing.assert_allclose(pairs[:, ::2] + 1j * pairs[:, 1::2], want, rtol=tolerance, atol=tolerance * n)
    back = mx.run("_contrib_ifft", pairs)[0]
    np.testing.assert_allclose(back / n, x, rtol=tolerance, atol=tolerance * 10)


def test_gradients_of_fft_are_those_of_finite_differences(mx, rng):
    check_gradients(mx, rng, "_contrib_fft", [rng.standard_normal((2, 3, 2, 6))])
    check_gradients(mx, rng, "_contrib_ifft", [rng.standard_normal((3, 10))])


def test_count_sketch_adds_signed_columns_where_they_hash_to(mx, rng):
    x, h, s = rng.standard_normal((4, 9)), rng.integers(0, 5, (1, 9)).astype("float64"), rng.choice([-1.0, 1.0], (1, 9))
    want = np.zeros((4, 5))
    np.add.at(want.T, h[0].astype(int), (x * s).T)
    np.testing.assert_allclose(mx.run("_contrib_count_sketch", x, h, s, out_dim=5)[0], want, atol=1e-12)
    check_gradients(mx, rng, "_contrib_count_sketch", [x, h, s], wanted=[0], out_dim=5)


def test_a_column_that_hashes_to_nowhere_is_an_error(mx, rng):
    with pytest.raises(Failure, match="h: given 5"):
        mx.run("_contrib_count_sketch", rng.standard_normal((4, 9)), np.full((1, 9), 5.0), np.ones((1, 9)), out_dim=5)


def test_hawkes_gradients_and_the_poisson_limit(mx, rng):
    sequences, kinds, events = 3, 4, 6
    arrays = [rng.uniform(0.5, 1, (sequences, kinds)), rng.uniform(0.1, 0.5, kinds), rng.uniform(0.5, 2, kinds),
              rng.uniform(0, 1, (sequences, kinds)), rng.uniform(0.1, 0.5, (sequences, events)),
              rng.integers(0, kinds, (sequences, events)).astype("int32"), np.array([6.0, 3, 0]), np.full(sequences, 5.0)]
    no_excitement = [a * 0 if i in (1, 3) else a for i, a in enumerate(arrays)]
    rates, marks, lengths = arrays[0], arrays[5], arrays[6].astype(int)
    want = [np.log(rates[i, marks[i, :lengths[i]]]).sum() - rates[i].sum() * 5 for i in range(sequences)]
    np.testing.assert_allclose(mx.run("_contrib_hawkesll", *no_excitement)[0], want, rtol=1e-12)
    check_gradients(mx, rng, "_contrib_hawkesll", arrays, wanted=[0, 1, 2, 3], outputs=2)
    parts = [a - 0.75 * (a > 0) if i == 6 else a for i, a in enumerate(arrays)]
    for whole, part in zip(mx.run("_contrib_hawkesll", *arrays), mx.run("_contrib_hawkesll", *parts)):
        np.testing.assert_array_equal(part, whole)


@pytest.mark.parametrize("reach", [0.9, 1.3])
def test_samples_of_lines_of_any_length(mx, rng, reach):
    """Places are sampled a line at a time, with all pixels inside or not."""
    data = rng.normal(size=(2, 3, 9, 7)).astype("float32")
    for height, width in ((1, 31), (1, 32), (1, 33), (5, 13), (8, 8)):
        grid = rng.uniform(-reach, reach, (2, 2, height, width)).astype("float32")
        got = mx.run("BilinearSampler", data, grid)[0]
        beside = np.pad(data.astype("float64"), [(0, 0), (0, 0), (2, 2), (2, 2)])
        for n, i, j in itertools.product(range(2), range(height), range(width)):
            x, y = ((grid[n, k, i, j] + 1.0) * (size - 1) / 2 for k, size in ((0, 7), (1, 9)))
            left, top = int(np.floor(x)), int(np.floor(y))
            pixels = beside[n, :, top + 2 : top + 4, left + 2 : left + 4]
            weights = np.outer([top + 1 - y, y - top], [left + 1 - x, x - left])
            np.testing.assert_allclose(got[n, :, i, j], (pixels * weights).sum(axis=(1, 2)), atol=1e-5)
