# SPDX-License-Identifier: Apache-2.0
"""Detection operators: boxes against NumPy, pooling of regions against definitions and differences."""

import numpy as np
import pytest

from op_calls import DEVICE, Failure
from test_ops_spatial import bilinear, check_gradients

SEED = 20261123


def boxes(rng, *shape):
    corner = rng.random((*shape, 2))
    return np.concatenate([corner, corner + 0.05 + rng.random((*shape, 2)) * 0.5], axis=-1)


def iou(a, b):
    low, high = np.maximum(a[:2], b[:2]), np.minimum(a[2:], b[2:])
    common = np.prod(np.maximum(high - low, 0))
    return common / (np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - common)


@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-12), ("float32", 1e-5), ("float16", 1e-2)])
def test_iou_in_both_formats(mx, rng, dtype, tolerance):
    a, b = boxes(rng, 2, 3).astype(dtype), boxes(rng, 5).astype(dtype)
    want = [[[iou(x, y) for y in b.astype("f8")] for x in row] for row in a.astype("f8")]
    np.testing.assert_allclose(mx.run("_contrib_box_iou", a, b)[0].astype("f8"), want, atol=tolerance)

    def centered(x):
        return np.concatenate([(x[..., :2] + x[..., 2:]) / 2, x[..., 2:] - x[..., :2]], axis=-1)

    got = mx.run("_contrib_box_iou", centered(a), centered(b), format="center")[0]
    np.testing.assert_allclose(got.astype("f8"), want, atol=tolerance * 2)


def test_empty_boxes_do_not_overlap(mx):
    nothing = np.zeros((1, 4))
    assert mx.run("_contrib_box_iou", nothing, nothing)[0] == 0


@pytest.mark.parametrize("force, topk, count", [(False, -1, 30), (True, -1, 30), (False, 7, 30), (True, 3, 1), (True, -1, 0)])
def test_nms_keeps_the_best_of_boxes_that_overlap(mx, rng, force, topk, count):
    data = np.concatenate([rng.integers(0, 3, (2, count, 1)), rng.random((2, count, 1)), boxes(rng, 2, count)], axis=2)
    got = mx.run("_contrib_box_nms", data, overlap_thresh=0.3, valid_thresh=0.2, topk=topk, id_index=0,
                 force_suppress=force)[0]
    for rows, result in zip(data, got):
        order = sorted((r for r in rows if r[1] > 0.2), key=lambda r: -r[1])[:topk if topk > 0 else None]
        kept = []
        for r in order:
            if not any(iou(k[2:], r[2:]) > 0.3 and (force or k[0] == r[0]) for k in kept):
                kept.append(r)
        np.testing.assert_array_equal(result[:len(kept)], np.reshape(kept, (-1, 6)))
        assert (result[len(kept):] == -1).all()


@pytest.mark.parametrize("force", [True, False])
def test_nms_of_many_boxes_is_that_of_each_pair(mx, rng, force):
    data = np.concatenate([rng.integers(0, 3, (300, 1)), rng.random((300, 1)), boxes(rng, 300)], axis=1)
    data[50, 0] = data[51, 0] = np.nan  # a class that is not even its own
    order = [i for i in np.argsort(-data[:, 1], kind="stable") if data[i, 0] != -1]
    kept = []
    for i in order:
        if not any((force or data[i, 0] == data[j, 0]) and iou(data[j, 2:], data[i, 2:]) > 0.4 for j in kept):
            kept.append(i)
    got = mx.run("_contrib_box_nms", data, overlap_thresh=0.4, id_index=0, force_suppress=force)[0]
    np.testing.assert_array_equal(got[:len(kept)], data[kept])
    assert (got[len(kept):] == -1).all()


@pytest.mark.parametrize("formats", [("corner", "corner"), ("corner", "center")])
@pytest.mark.parametrize("count", [1, 5, 0])
def test_nms_of_no_boxes_leaves_everything_as_in_1_9_1(mx, rng, formats, count):
    data = np.concatenate([rng.random((2, count, 2)), boxes(rng, 2, count)], axis=2)
    options = {"topk": 0, "valid_thresh": 0.5, "in_format": formats[0], "out_format": formats[1]}
    np.testing.assert_array_equal(mx.run("_contrib_box_nms", data, **options)[0], data)
    slopes = rng.random(data.shape)
    (gradient,) = mx.gradients("_contrib_box_nms", [data], [slopes], **options)
    np.testing.assert_array_equal(gradient, slopes)


def test_nms_leaves_out_exactly_the_background(mx):
    rows = np.array([[[0, 0.9, 0, 0, 1, 1], [0.5, 0.8, 2, 2, 3, 3], [1, 0.7, 4, 4, 5, 5]]])
    got = mx.run("_contrib_box_nms", rows, id_index=0, background_id=0)[0]
    assert got[0, :, 0].tolist() == [0.5, 1, -1]  # a class between two numbers is not the lower one


def test_nms_leaves_out_rows_of_class_minus_one_unless_the_background_is_another(mx):
    rows = np.array([[[-1, 0.9, 0, 0, 1, 1], [0, 0.8, 2, 2, 3, 3], [1, 0.7, 4, 4, 5, 5]]])
    got = mx.run("_contrib_box_nms", rows, id_index=0)[0]
    assert got[0, :, 1].tolist() == [0.8, 0.7, -1]
    got = mx.run("_contrib_box_nms", rows, id_index=0, background_id=0)[0]
    assert got[0, :, 1].tolist() == [0.9, 0.7, -1]


def test_gradients_of_nms_reach_each_of_thousands_of_boxes_in_half_precision(mx):
    count = 4100
    rows = np.zeros((1, count, 6), "float16")
    rows[..., 1] = 1
    slopes = np.arange(count * 6).reshape(rows.shape).astype("float16")
    (gradient,) = mx.gradients("_contrib_box_nms", [rows], [slopes], overlap_thresh=1)
    np.testing.assert_array_equal(gradient, slopes)


@pytest.mark.parametrize("formats", [("corner", "corner"), ("corner", "center"), ("center", "corner")])
def test_gradients_of_nms_are_those_of_finite_differences(mx, rng, formats):
    data = np.concatenate([rng.random((2, 6, 2)), boxes(rng, 2, 6)], axis=2)
    check_gradients(mx, rng, "_contrib_box_nms", [data], in_format=formats[0], out_format=formats[1])


def test_encode_and_decode_are_inverse(mx, rng):
    anchors, refs = boxes(rng, 1, 5), boxes(rng, 1, 3)
    matches, stds = np.array([[0.0, 2, 1, 1, 0]]), np.array([0.1, 0.1, 0.2, 0.2])
    samples = np.array([[1.0, 1, 1, -1, 1]])
    targets, masks = mx.run("_contrib_box_encode", samples, matches, anchors, refs, np.zeros(4), stds)
    np.testing.assert_array_equal(masks[0, :, 0], [1, 1, 1, 0, 1])
    got = mx.run("_contrib_box_decode", targets, anchors, std0=0.1, std1=0.1, std2=0.2, std3=0.2, format="corner")[0]
    want = refs[0][matches[0].astype(int)]
    want[3] = anchors[0, 3]  # no sample: no offset
    np.testing.assert_allclose(got[0], want, atol=1e-6)


def test_a_sample_that_is_matched_with_no_box_is_an_error(mx, rng):
    anchors, refs = boxes(rng, 1, 5), boxes(rng, 1, 3)
    run = lambda: mx.run("_contrib_box_encode", np.ones((1, 5)), np.full((1, 5), 3.0), anchors, refs, np.zeros(4), np.ones(4))
    if DEVICE == 2:  # kernels of GPUs cannot throw
        assert np.isnan(run()[0]).all()
        return
    with pytest.raises(Failure, match="matches"):
        run()


def test_matching_is_greedy(mx):
    scores = np.array([[0.5, 0.6], [0.1, 0.2], [0.3, 0.4]])
    rows, columns = mx.run("_contrib_bipartite_matching", scores, threshold=1e-12)
    assert rows.tolist() == [1, -1, 0] and columns.tolist() == [2, 0]
    rows, columns = mx.run("_contrib_bipartite_matching", scores, threshold=0.35, is_ascend=True)
    assert rows.tolist() == [-1, 0, 1] or rows.tolist() == [-1, 0, -1]


def test_priors_lie_around_their_places(mx):
    got = mx.run("_contrib_MultiBoxPrior", np.zeros((1, 1, 2, 4)), sizes=(0.5, 0.25), ratios=(1, 4))[0].reshape(2, 4, 3, 4)
    centers = (got[..., :2] + got[..., 2:]) / 2
    np.testing.assert_allclose(centers[1, 2], [[0.625, 0.75]] * 3, atol=1e-6)
    extents = (got[..., 2:] - got[..., :2])[0, 0]
    np.testing.assert_allclose(extents, [[0.25, 0.5], [0.125, 0.25], [0.5, 0.25]], atol=1e-6)


def test_targets_of_a_perfect_anchor(mx, rng):
    anchors = boxes(rng, 1, 6)
    label = np.full((1, 2, 5), -1.0)
    label[0, 0] = [2, *anchors[0, 4]]
    offsets, mask, classes = mx.run("_contrib_MultiBoxTarget", anchors, label, rng.random((1, 4, 6)), overlap_threshold=0.99)
    assert classes.tolist() == [[0, 0, 0, 0, 3, 0]]
    assert mask.reshape(6, 4).sum(axis=1).tolist() == [0, 0, 0, 0, 4, 0]
    np.testing.assert_allclose(offsets, 0, atol=1e-12)
    nothing = np.full((1, 2, 5), -1.0)
    assert (mx.run("_contrib_MultiBoxTarget", anchors, nothing, rng.random((1, 4, 6)), ignore_label=-7)[2] == -7).all()


def test_detection_of_zero_offsets_gives_anchors(mx, rng):
    anchors = np.clip(boxes(rng, 1, 4), 0, 1)
    probabilities = np.array([[[0.1, 0.9, 0.2, 0.1], [0.7, 0.05, 0.3, 0.1], [0.2, 0.05, 0.5, 0.8]]])
    got = mx.run("_contrib_MultiBoxDetection", probabilities, np.zeros((1, 16)), anchors, threshold=0.4, nms_threshold=1)[0][0]
    assert got[:3, 0].tolist() == [1, 0, 1] and got[:3, 1].tolist() == [0.8, 0.7, 0.5] and (got[3] == -1).all()
    np.testing.assert_allclose(got[:3, 2:], anchors[0, [3, 0, 2]], atol=1e-12)


def test_proposals_are_inside_and_apart(mx, rng):
    scores, offsets = rng.random((2, 12, 6, 7)), rng.standard_normal((2, 24, 6, 7)) * 0.2
    info = np.array([[96.0, 112, 1], [90, 100, 1]])
    rows, best = mx.run("_contrib_MultiProposal", scores, offsets, info, scales=(1, 2), ratios=(0.5, 1, 2), threshold=0.5,
                        rpn_min_size=4, rpn_post_nms_top_n=20, output_score=True)
    assert rows[:, 0].tolist() == [0] * 20 + [1] * 20
    for n in range(2):
        b, s = rows[n * 20:n * 20 + 20, 1:], best[n * 20:n * 20 + 20, 0]
        assert (b[:, :2] >= 0).all() and (b[:, 2] <= info[n, 1] - 1).all() and (b[:, 3] <= info[n, 0] - 1).all()
        assert (np.diff(s) <= 0).all() or len(set(s)) < 20
        one = [1, 1]
        distinct = np.unique(b, axis=0)
        apart = [iou(np.r_[p[:2], p[2:] + one], np.r_[q[:2], q[2:] + one])
                 for i, p in enumerate(distinct) for q in distinct[:i]]
        assert max(apart) <= 0.5 + 1e-9


def clamped(plane, y, x):
    h, w = plane.shape
    if not (-1 <= y <= h and -1 <= x <= w):
        return 0.0
    return bilinear(plane, min(max(y, 0), h - 1), min(max(x, 0), w - 1))


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("ratio", [2, -1])
def test_roi_align_averages_samples_between_pixels(mx, rng, aligned, ratio):
    data = rng.standard_normal((2, 3, 8, 9))
    rois = np.array([[0, 1, 1, 12, 14], [1, -3, 2, 9.5, 30], [1, 4, 4, 4.2, 4.2], [-1, 0, 0, 1, 1]], "float64")
    attrs = dict(pooled_size=(2, 3), spatial_scale=0.5, sample_ratio=ratio, aligned=aligned)
    got = mx.run("_contrib_ROIAlign", data, rois, **attrs)[0]
    for n, roi in enumerate(rois[:3]):
        x0, y0, x1, y1 = roi[1:] * 0.5 - (0.5 if aligned else 0)
        w, h = (x1 - x0, y1 - y0) if aligned else (max(x1 - x0, 1), max(y1 - y0, 1))
        gh, gw = (ratio, ratio) if ratio > 0 else (int(np.ceil(h / 2)), int(np.ceil(w / 3)))
        for i in range(2):
            for j in range(3):
                samples = [clamped(data[int(roi[0]), 1], y0 + (i + (s + .5) / gh) * h / 2, x0 + (j + (t + .5) / gw) * w / 3)
                           for s in range(gh) for t in range(gw)]
                assert got[n, 1, i, j] == pytest.approx(np.mean(samples), abs=1e-10)
    assert not got[3].any()
    check_gradients(mx, rng, "_contrib_ROIAlign", [data, rois], wanted=[0], **attrs)


@pytest.mark.parametrize("sensitive", [False, True])
def test_regions_of_no_image_are_zeros_whatever_lay_there(mx, rng, sensitive):
    data, rois = rng.standard_normal((1, 4, 6, 6)), np.array([[-1.0, -1, -1, -1, -1], [0, 0, 0, 4, 4], [-1, 0, 0, 4, 4]])
    attrs = dict(pooled_size=(2, 2), spatial_scale=1.0, position_sensitive=sensitive)
    out = mx.array(np.full((3, 1 if sensitive else 4, 2, 2), 1e20))
    inputs = [mx.array(data), mx.array(rois)]
    mx.invoke("_contrib_ROIAlign", inputs, out=[out], **attrs)
    got = mx.numpy(out)
    mx.free(out, *inputs)
    assert got[1].all() and not got[[0, 2]].any()
    gradient = mx.gradients("_contrib_ROIAlign", [data, rois], [np.full_like(got, 1e20)], wanted=[0], **attrs)[0]
    alone = mx.gradients("_contrib_ROIAlign", [data, rois[1:2]], [np.full_like(got[:1], 1e20)], wanted=[0], **attrs)[0]
    np.testing.assert_array_equal(gradient, alone)


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("height, width", [(0, 0), (0, 6), (6, 0)])
def test_regions_of_images_without_pixels_are_zeros(mx, height, width, aligned):
    data, rois = np.zeros((2, 5, height, width)), np.array([[0, 0, 0, 0, 0], [1, -1, -1, 4, 4], [1, 0, 0, 1, 1]], "float64")
    attrs = dict(pooled_size=(2, 2), spatial_scale=0.5, sample_ratio=3, aligned=aligned)
    got = mx.run("_contrib_ROIAlign", data, rois, **attrs)[0]
    np.testing.assert_array_equal(got, np.zeros((3, 5, 2, 2)))
    assert mx.gradients("_contrib_ROIAlign", [data, rois], [np.ones_like(got)], wanted=[0], **attrs)[0].shape == data.shape


def test_position_sensitive_align_picks_the_channel_of_the_bin(mx):
    data = np.arange(8.0)[None, :, None, None] * np.ones((1, 8, 6, 6))
    got = mx.run("_contrib_ROIAlign", data, np.array([[0.0, 0, 0, 4, 4]]), pooled_size=(2, 2), spatial_scale=1.0,
                 position_sensitive=True)[0]
    np.testing.assert_allclose(got.reshape(2, 4), np.arange(8).reshape(2, 4))


def test_rotated_regions_turn_about_their_middle(mx, rng):
    data = rng.standard_normal((1, 2, 9, 9))
    upright = mx.run("_contrib_ROIAlign", data, np.array([[0.0, 2, 2, 6, 6]]), pooled_size=(2, 2), spatial_scale=1.0,
                     sample_ratio=2)[0]
    same = mx.run("_contrib_RROIAlign", data, np.array([[0.0, 4, 4, 4, 4, 0]]), pooled_size=(2, 2), spatial_scale=1.0,
                  sampling_ratio=2)[0]
    np.testing.assert_allclose(same, upright, atol=1e-12)
    turned = mx.run("_contrib_RROIAlign", data, np.array([[0.0, 4, 4, 4, 4, 90]]), pooled_size=(2, 2), spatial_scale=1.0,
                    sampling_ratio=2)[0]
    np.testing.assert_allclose(turned, np.rot90(upright, -1, axes=(2, 3)), atol=1e-10)


def test_position_sensitive_pooling(mx, rng):
    data = rng.standard_normal((2, 8, 6, 6))
    rois = np.array([[0, 0, 0, 7, 7], [1, 2, 2, 9, 9]], "float64")
    got = mx.run("_contrib_PSROIPooling", data, rois, spatial_scale=0.5, output_dim=2, pooled_size=2)[0]
    assert got[0, 1, 0, 1] == pytest.approx(data[0, 5, 0:2, 2:4].mean())
    check_gradients(mx, rng, "_contrib_PSROIPooling", [data, rois], wanted=[0], spatial_scale=0.5, output_dim=2, pooled_size=2)


def test_deformable_pooling_gradients(mx, rng):
    data, rois = rng.standard_normal((1, 8, 6, 6)), np.array([[0, 1, 1, 7, 8], [0, 0, 2, 5, 9]], "float64")
    attrs = dict(spatial_scale=0.5, output_dim=2, group_size=2, pooled_size=2, sample_per_part=3)
    check_gradients(mx, rng, "_contrib_DeformablePSROIPooling", [data, rois], wanted=[0], no_trans=True, **attrs)
    trans = rng.standard_normal((2, 4, 2, 2))
    check_gradients(mx, rng, "_contrib_DeformablePSROIPooling", [data, rois, trans], wanted=[0, 2], trans_std=0.1, **attrs)


def test_anchors_are_equal_to_the_last_bit_whatever_the_sides_of_the_feature_map(mx):
    size, half = np.float32(0.3), np.float32(0.5)
    for height in range(1, 9):
        for width in range(1, 9):
            got = mx.run("_contrib_MultiBoxPrior", np.zeros((1, 1, height, width), "float32"), sizes=(0.3,))[0]
            across = size * np.float32(height) / np.float32(width) / 2
            centres = (np.arange(width, dtype="float32") + half) * (np.float32(1) / np.float32(width))
            np.testing.assert_array_equal(got.reshape(height, width, 4)[0, :, 0], centres - across)
            np.testing.assert_array_equal(got.reshape(height, width, 4)[0, :, 2], centres + across)


@pytest.mark.parametrize("score, kind, start", [(2, -1, 2), (5, 0, 2), (1, 3, 2), (1, 1, 2), (0, 4, 1)])
def test_a_number_of_a_box_has_one_meaning(mx, score, kind, start):
    with pytest.raises(Failure, match=f"given coord_start {start}, score_index {score}, id_index {kind}, expected .* beside each other"):
        mx.run("_contrib_box_nms", np.ones((3, 7), "float32"), score_index=score, id_index=kind, coord_start=start)


@pytest.mark.parametrize("threshold", ["0", "-0.5", "nan"])
def test_negatives_are_mined_with_a_threshold_above_0(mx, threshold):
    arrays = [np.ones(shape, "float32") for shape in ((1, 2, 4), (1, 2, 5), (1, 2, 2))]
    mx.run("_contrib_MultiBoxTarget", *arrays, negative_mining_thresh=threshold)
    with pytest.raises(Failure, match=f"given negative_mining_thresh {threshold}, expected a number above 0"):
        mx.run("_contrib_MultiBoxTarget", *arrays, negative_mining_thresh=threshold, negative_mining_ratio=3)
