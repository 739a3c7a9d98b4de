# SPDX-License-Identifier: Apache-2.0
"""mx.image: reading, cutting, augmenters and iterators over images."""

import base64
import json
import random

import numpy as np
import pytest

import mxnet as mx
from mxnet import image

SEED = 11


def picture(height=24, width=32, seed=SEED):
    return np.random.RandomState(seed).randint(0, 255, (height // 4, width // 4, 3)).astype(np.uint8).repeat(4, 0).repeat(4, 1)


def png(pixels):
    return mx.recordio.unpack(mx.recordio.pack_img(mx.recordio.IRHeader(0, 0.0, 0, 0), pixels[:, :, ::-1], 1, ".png"))[1]


def array(pixels):
    return mx.nd.array(pixels, dtype=pixels.dtype)


@pytest.fixture
def folder(tmp_path):
    for i in range(5):
        (tmp_path / f"{i}.png").write_bytes(png(picture(seed=i)))
    return tmp_path


def test_decoding_and_reading(folder):
    pixels = picture(seed=0)
    for decoded in (image.imdecode(png(pixels)), image.imread(str(folder / "0.png")), image.imdecode(array(np.frombuffer(png(pixels), np.uint8)))):
        assert decoded.dtype == np.uint8 and (decoded.asnumpy() == pixels).all()
    assert (image.imdecode(png(pixels), to_rgb=False).asnumpy() == pixels[:, :, ::-1]).all()
    assert image.imdecode(png(pixels), 0).shape == (24, 32, 1)
    with pytest.raises(mx.MXNetError, match="JPEG, PNG or BMP"):
        image.imdecode(b"nothing")
    with pytest.raises(mx.MXNetError, match="no bytes"):
        image.imdecode(b"")
    for given in (None, 3, "a text", [1, 2]):
        with pytest.raises(ValueError, match=f"given {type(given).__name__}, expected bytes"):
            image.imdecode(given)
    with pytest.raises(mx.MXNetError, match="nowhere.jpg"):
        image.imread("nowhere.jpg")


def test_out_and_name_follow_an_operators_own_arguments(folder):
    # A model server's reader: read(buf, flag=1, to_rgb=True, out=None) that hands all of them on by position.
    pixels = picture(seed=0)
    path, coded = str(folder / "0.png"), png(pixels)
    for given in ((1, True, None), (1, True, None, "picture")):
        assert (image.imdecode(coded, *given).asnumpy() == pixels).all()
        assert (image.imread(path, *given).asnumpy() == pixels).all()
    out = mx.nd.zeros(pixels.shape, dtype="uint8")
    assert image.imdecode(coded, 1, True, out) is out and (out.asnumpy() == pixels).all()
    small = mx.nd.zeros((12, 16, 3), dtype="uint8")
    assert image.imresize(out, 16, 12, 1, small) is small
    assert (small.asnumpy() == image.imresize(out, 16, 12, 1, None).asnumpy()).all()
    assert (image.copyMakeBorder(out, 0, 0, 0, 0, 0, 0.0, (), None).asnumpy() == pixels).all()
    with pytest.raises(TypeError, match="flag, to_rgb, out, name"):
        image.imdecode(coded, 1, True, None, "picture", 3)


# Two colours of printing, eight columns each, as an Adobe program stores them.
FOUR_COLOURS = base64.b64decode(
    "/9j/7gAOQWRvYmUAZAAAAAAA/9sAQwAoHB4jHhkoIyEjLSsoMDxkQTw3Nzx7WF1JZJGAmZaPgIyKoLTmw6Cq2q2KjMj/y9ru9f///5vB////+v/m/f/4/8AAFAgA"
    "CAAQBEMRAE0RAFkRAEsRAP/EABcAAAMBAAAAAAAAAAAAAAAAAAMEBQb/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/9oADgRDAE0AWQBLAAA/AEB1NRaYFkjD/9k="
)


def test_pictures_of_four_colours_have_the_releases_values():
    assert image.imdecode(FOUR_COLOURS).asnumpy()[3, [0, 15]].tolist() == [[45, 137, 187], [242, 133, 1]]
    assert image.imdecode(FOUR_COLOURS, 0).asnumpy()[3, [0, 15], 0].tolist() == [115, 151]


def test_a_crop_is_scaled_down_until_it_fits():
    # values of 1.9.1
    assert image.scale_down((640, 480), (720, 120)) == (640, 106)
    assert image.scale_down((360, 1000), (480, 500)) == (360, 375)
    assert image.scale_down((300, 400), (0, 0)) == (0, 0)


def test_resizing_and_cutting():
    pixels = picture()
    source = array(pixels)
    assert image.resize_short(source, 12).shape == (12, 16, 3)
    assert image.resize_short(source.transpose((1, 0, 2)), 12).shape == (16, 12, 3)
    assert image.imresize(source, 5, 7).shape == (7, 5, 3)
    assert (image.fixed_crop(source, 3, 5, 8, 6).asnumpy() == pixels[5:11, 3:11]).all()
    assert image.fixed_crop(source, 3, 5, 8, 6, (4, 3)).shape == (3, 4, 3)
    out, where = image.center_crop(source, (10, 8))
    assert where == (11, 8, 10, 8) and (out.asnumpy() == pixels[8:16, 11:21]).all()
    out, where = image.center_crop(source, (64, 24))
    assert out.shape == (24, 64, 3) and where == (0, 6, 32, 12)
    random.seed(SEED)
    out, (x, y, w, h) = image.random_crop(source, (10, 8))
    assert (out.asnumpy() == pixels[y : y + h, x : x + w]).all() and (w, h) == (10, 8)
    for _ in range(10):
        out, (x, y, w, h) = image.random_size_crop(source, (10, 8), (0.2, 0.5), (0.5, 2))
        assert out.shape == (8, 10, 3) and x + w <= 32 and y + h <= 24
    bordered = image.copyMakeBorder(source, 1, 2, 3, 4, values=(9, 8, 7)).asnumpy()
    assert bordered.shape == (27, 39, 3) and bordered[0, 0].tolist() == [9, 8, 7] and (bordered[1:25, 3:35] == pixels).all()
    with pytest.raises(ValueError, match="interp 7"):
        image.imresize(source, 5, 5, interp=7)


def test_normalization_of_colours():
    pixels = picture().astype(np.float32)
    mean, std = np.array([1, 2, 3], np.float32), np.array([4, 5, 6], np.float32)
    out = image.color_normalize(array(pixels), mx.nd.array(mean), mx.nd.array(std))
    np.testing.assert_allclose(out.asnumpy(), (pixels - mean) / std, rtol=1e-6)


@pytest.mark.parametrize("degrees, turned", [(90, lambda x: np.rot90(x, 1, (1, 2))), (180, lambda x: x[:, ::-1, ::-1]), (-90, lambda x: np.rot90(x, -1, (1, 2)))])
def test_rotations_by_right_angles_move_whole_pixels(degrees, turned):
    square = np.random.RandomState(SEED).rand(3, 9, 9).astype(np.float32)
    np.testing.assert_allclose(image.imrotate(array(square), degrees).asnumpy(), turned(square), atol=1e-5)


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (3, 1)])
def test_of_an_image_of_one_pixel_width_a_quarter_turn_leaves_the_middle(shape):
    """Where its length lies across, only the middle is still within the image."""
    line = np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(1, *shape)
    across = np.where(np.arange(line.size).reshape(line.shape) == line.size // 2, line, 0)
    np.testing.assert_allclose(image.imrotate(array(line), 90).asnumpy(), across, atol=1e-5)
    np.testing.assert_allclose(image.imrotate(array(line), 180).asnumpy(), line[:, ::-1, ::-1], atol=1e-5)
    np.testing.assert_allclose(image.imrotate(array(line), 0).asnumpy(), line, atol=1e-5)


def test_drawn_angles_are_those_of_numpy():
    """One for an image, one for each image of a batch, between the limits."""
    squares = np.random.RandomState(SEED).rand(2, 3, 9, 9).astype(np.float32)
    np.random.seed(SEED)
    found = image.random_rotate(array(squares[0]), (10, 30)), image.random_rotate(array(squares), (-20, 5))
    np.random.seed(SEED)
    one, each = np.random.uniform(10, 30), np.random.uniform(-20, 5, size=2).astype(np.float32)
    np.testing.assert_array_equal(found[0].asnumpy(), image.imrotate(array(squares[0]), one).asnumpy())
    np.testing.assert_array_equal(found[1].asnumpy(), image.imrotate(array(squares), each).asnumpy())


def test_turning_with_zoom():
    ones = mx.nd.ones((2, 1, 15, 21))
    assert (image.imrotate(ones, 30).asnumpy()[:, 0, 0, 0] == 0).all()
    assert image.imrotate(ones, 30, zoom_in=True).asnumpy().min() > 0.9  # as 1.9.1: half a pixel of the edge may show
    spot = np.zeros((1, 15, 21), np.float32)
    spot[0, :2, :2] = 1
    assert image.imrotate(array(spot), 45, zoom_out=True).asnumpy().sum() > 0.3
    assert image.imrotate(ones, np.array([10.0, 20.0], np.float32)).shape == ones.shape
    with pytest.raises(ValueError, match="zoom_in and zoom_out"):
        image.imrotate(ones, 3, True, True)
    with pytest.raises(TypeError, match="float32"):
        image.imrotate(ones.astype("uint8"), 3)


def test_augmenters_describe_themselves():
    # texts of 1.9.1
    assert image.ResizeAug(10).dumps() == '["resizeaug", {"size": 10, "interp": 2}]'
    assert image.CastAug().dumps() == '["castaug", {"type": "float32"}]'
    assert image.HorizontalFlipAug(0.5).dumps() == '["horizontalflipaug", {"p": 0.5}]'
    name, kwargs = json.loads(image.LightingAug(0.1, np.ones(3), np.eye(3)).dumps())
    assert name == "lightingaug" and kwargs["eigval"] == [1, 1, 1]
    assert image.SequentialAug([image.CastAug()]).dumps() == ["sequentialaug", ['["castaug", {"type": "float32"}]']]


def test_changes_of_colour():
    source = array(picture().astype(np.float32))
    for augmenter in (
        image.BrightnessJitterAug(0.5), image.ContrastJitterAug(0.5), image.SaturationJitterAug(0.5), image.HueJitterAug(0.5),
        image.LightingAug(1.0, np.ones(3), np.eye(3)), image.ColorJitterAug(0.3, 0.3, 0.3),
    ):
        out = augmenter(source)
        assert out.shape == source.shape and out.dtype == np.float32
        assert np.abs(out.asnumpy() - source.asnumpy()).max() > 0
    grey = np.full((4, 4, 3), 50, np.float32)
    for augmenter in (image.SaturationJitterAug(0.9), image.ContrastJitterAug(0.9)):
        np.testing.assert_allclose(augmenter(array(grey)).asnumpy(), 50, atol=1e-2)
    # The two matrices of the axes of colour are inverse to about a hundredth.
    np.testing.assert_allclose(image.HueJitterAug(0.9)(array(grey)).asnumpy(), 50, atol=0.6)
    coloured = picture().astype(np.float32)
    flat = image.RandomGrayAug(1.0)(array(coloured)).asnumpy()
    np.testing.assert_allclose(flat[:, :, 0], flat[:, :, 2], rtol=1e-5)
    assert (image.HorizontalFlipAug(1.0)(array(coloured)).asnumpy() == coloured[:, ::-1]).all()


def test_the_augmenters_of_a_script():
    names = lambda augmenters: [type(a).__name__ for a in augmenters]  # noqa: E731
    augmenters = image.CreateAugmenter((3, 16, 16), resize=20, rand_crop=True, rand_mirror=True, mean=True, std=True, brightness=0.1, hue=0.1, pca_noise=0.1, rand_gray=0.1)
    assert names(augmenters) == [
        "ResizeAug", "RandomCropAug", "HorizontalFlipAug", "CastAug", "ColorJitterAug", "HueJitterAug", "LightingAug",
        "RandomGrayAug", "ColorNormalizeAug",
    ]
    assert names(image.CreateAugmenter((3, 16, 16))) == ["CenterCropAug", "CastAug"]
    out = array(picture())
    for augmenter in augmenters:
        out = augmenter(out)
    assert out.shape == (16, 16, 3) and out.dtype == np.float32


# ---- iterators


def batches(iterator):
    return [(batch.label[0].asnumpy().tolist(), batch.pad) for batch in iterator]


@pytest.mark.parametrize("last_batch, epochs", [
    ("pad", [[([0, 1], 0), ([2, 3], 0), ([4, 0], 1)]] * 2), ("discard", [[([0, 1], 0), ([2, 3], 0)]] * 2),
    ("roll_over", [[([0, 1], 0), ([2, 3], 0)], [([4, 0], 0), ([1, 2], 0), ([3, 4], 0)]]),
])
def test_image_iter_over_a_list(folder, last_batch, epochs):
    listed = [[i, f"{i}.png"] for i in range(5)]
    iterator = image.ImageIter(2, (3, 16, 16), imglist=listed, path_root=str(folder), last_batch_handle=last_batch)
    assert tuple(iterator.provide_data[0]) == ("data", (2, 3, 16, 16))
    for expected in epochs:
        assert batches(iterator) == expected
        iterator.reset()


def test_image_iter_gives_augmented_pixels(folder):
    iterator = image.ImageIter(1, (3, 16, 16), imglist=[[0, "0.png"]], path_root=str(folder))
    expected = picture(seed=0)[4:20, 8:24].transpose(2, 0, 1)
    assert (next(iterator).data[0].asnumpy()[0] == expected).all()


def test_image_iter_over_records_and_list_files(folder):
    rec, idx, listed = (str(folder / name) for name in ("a.rec", "a.idx", "a.lst"))
    with mx.recordio.MXIndexedRecordIO(idx, rec, "w") as writer, open(listed, "w") as lines:
        for i in range(4):
            writer.write_idx(i, mx.recordio.pack_img(mx.recordio.IRHeader(0, [i, i + 10], i, 0), picture(seed=i), 1, ".png"))
            lines.write(f"{i}\t{i}\t{i + 20}\t{i}.png\n")
    records = image.ImageIter(2, (3, 16, 16), label_width=2, path_imgrec=rec, shuffle=True)
    assert sorted(sum((labels for labels, _ in batches(records)), [])) == [[i, i + 10] for i in range(4)]
    files = image.ImageIter(2, (3, 16, 16), label_width=2, path_imglist=listed, path_root=str(folder))
    assert batches(files) == [([[0, 20], [1, 21]], 0), ([[2, 22], [3, 23]], 0)]
    part = image.ImageIter(2, (3, 16, 16), label_width=2, path_imgrec=rec, num_parts=2, part_index=1)
    assert batches(part) == [([[2, 12], [3, 13]], 0)]
    assert (records.num_image, files.num_image, part.num_image) == (4, 4, 2)


def test_samples_of_lists_have_arrays_as_labels(folder):
    """Iterators derived from ImageIter take label.asnumpy(), as of 1.9.1; a record's label is what unpack gives."""
    rec, idx = str(folder / "a.rec"), str(folder / "a.idx")
    with mx.recordio.MXIndexedRecordIO(idx, rec, "w") as writer:
        writer.write_idx(0, mx.recordio.pack_img(mx.recordio.IRHeader(0, 7.0, 0, 0), picture(seed=0), 1, ".png"))
    listed = [[[1, 2], "0.png"], [3, "1.png"]]
    iterator = image.ImageIter(1, (3, 16, 16), imglist=listed, path_root=str(folder))
    labels = [iterator.next_sample()[0] for _ in listed]
    both = image.ImageIter(1, (3, 16, 16), imglist=[[4, "0.png"]], path_imgrec=rec)
    labels.append(both.next_sample()[0])
    assert [type(label) for label in labels] == [mx.nd.NDArray] * 3
    assert [label.asnumpy().tolist() for label in labels] == [[1, 2], [3], [4]]
    assert image.ImageIter(1, (3, 16, 16), path_imgrec=rec).next_sample()[0] == 7.0


def test_image_iter_passes_over_what_is_no_image(folder, caplog):
    (folder / "1.png").write_bytes(b"nothing")
    iterator = image.ImageIter(2, (3, 16, 16), imglist=[[i, f"{i}.png"] for i in range(5)], path_root=str(folder))
    assert batches(iterator) == [([0, 2], 0), ([3, 4], 0)]
    assert "passed over" in caplog.text


def test_image_iter_wrong_arguments(folder):
    for kwargs, what in (
        ({}, "path_imgrec"), ({"imglist": [[0, "0.png"]], "last_batch_handle": "drop"}, "'drop'"),
        ({"imglist": [[0, "0.png"]], "data_shape": (16, 16)}, "data_shape"), ({"imglist": [[0, "0.png"]], "part_index": 2}, "part_index 2"),
    ):
        with pytest.raises(ValueError, match=what):
            image.ImageIter(**{"batch_size": 2, "data_shape": (3, 16, 16), **kwargs})


# ---- objects

OBJECTS = np.array([[0, 0.1, 0.2, 0.5, 0.6], [1, 0.3, 0.3, 0.9, 0.95]], np.float32)


def test_boxes_are_mirrored_cut_and_bordered():
    source = array(picture())
    mirrored, label = image.DetHorizontalFlipAug(1)(source, OBJECTS)
    assert (mirrored.asnumpy() == source.asnumpy()[:, ::-1]).all()
    np.testing.assert_allclose(label[0], [0, 0.5, 0.2, 0.9, 0.6], rtol=1e-6)
    random.seed(SEED)
    cut, label = image.DetRandomCropAug(0.1, (0.9, 1.1), (0.4, 0.6))(source, OBJECTS)
    assert cut.shape[0] * cut.shape[1] < 24 * 32 * 0.7
    assert len(label) and ((label[:, 1:] >= 0) & (label[:, 1:] <= 1)).all()
    larger, label = image.DetRandomPadAug((0.9, 1.1), (2.0, 3.0))(source, OBJECTS)
    assert larger.shape[0] * larger.shape[1] > 24 * 32 * 1.8
    box = label[0, 1:] * [larger.shape[1], larger.shape[0], larger.shape[1], larger.shape[0]]
    np.testing.assert_allclose(box[2] - box[0], 0.4 * 32, rtol=1e-4)


def test_a_border_moves_labels_that_stand_for_no_object():
    """They are not cut to the image, as in 1.9.1."""
    random.seed(SEED)
    label = np.array([[0, 0.1, 0.2, 0.5, 0.6], [-1, -1, -1, -1, -1]], np.float32)
    larger, moved = image.DetRandomPadAug((0.9, 1.1), (2.0, 3.0))(array(picture()), label)
    height, width = larger.shape[:2]
    left, top = moved[0, 1] * width - 0.1 * 32, moved[0, 2] * height - 0.2 * 24  # of the image in its border
    np.testing.assert_allclose(moved[1], [-1, *[(left - 32) / width, (top - 24) / height] * 2], rtol=1e-4)


def test_seeded_det_augmenters_draw_as_the_release_does():
    source = array(np.zeros((30, 25, 3), np.uint8))
    boxes = np.array([[0, 0.1, 0.1, 0.5, 0.6], [1, 0.3, 0.2, 0.9, 0.8], [2, 0.5, 0.5, 0.6, 0.9]], np.float32)

    def shapes(augmenter, seeds):
        found = []
        for seed in seeds:
            random.seed(seed)
            found.append(augmenter(source, boxes)[0].shape[:2])
        return found

    # A border has a pixel on each side; a part that rounding made too small grows by a line. All from 1.9.1.
    assert shapes(image.DetRandomPadAug((0.7, 1.4), (1.0, 3.0), 20), (1, 2, 6)) == [(45, 40), (44, 34), (38, 40)]
    crop = image.DetRandomCropAug(0.1, (0.7, 1.4), (0.1, 0.3), 0.3, 20)
    assert shapes(crop, (2, 24, 36, 47)) == [(12, 16), (13, 16), (10, 9), (13, 13)]
    for seed, dtype in ((0, np.uint8), (2, np.float32)):
        random.seed(seed)
        select = image.DetRandomSelectAug([image.DetHorizontalFlipAug(1.0), image.DetBorrowAug(image.CastAug())], 0.5)
        assert select(source, boxes)[0].dtype == dtype


def test_one_number_for_an_area_is_that_area():
    source = array(picture(20, 24))
    random.seed(SEED)
    parts = [image.DetRandomCropAug(area_range=0.5)(source, OBJECTS)[0].shape for _ in range(8)]
    assert {height * width for height, width, _ in parts} == {240}
    padded = [image.DetRandomPadAug(area_range=1.5)(source, OBJECTS)[0].shape for _ in range(8)]
    assert all(680 < height * width < 760 for height, width, _ in padded)  # sides are whole numbers


def test_objects_of_two_pixels_do_not_reject_a_part():
    source = array(np.zeros((15, 5, 3), np.uint8))
    tiny = np.array([[0, 0.59, 0.866, 0.88, 0.908], [0, 0.24, 0.882, 0.657, 0.929]], np.float32)
    random.seed(SEED)
    out, label = image.DetRandomCropAug(0.1, (0.6, 1.07), (0.29, 0.52), 0.3)(source, tiny)
    assert out.shape == source.shape and (label == tiny).all()


def test_det_augmenters_of_a_script():
    augmenters = image.CreateDetAugmenter((3, 16, 16), resize=20, rand_crop=0.5, rand_pad=0.5, rand_mirror=True, mean=True, brightness=0.1)
    out, label = array(picture()), OBJECTS
    for augmenter in augmenters:
        assert augmenter.dumps()
        out, label = augmenter(out, label)
    assert out.shape == (16, 16, 3) and label.shape[1] == 5
    several = image.CreateMultiRandCropAugmenter(min_object_covered=[0.1, 0.5], skip_prob=0.1)
    assert len(several.aug_list) == 2
    with pytest.raises(ValueError, match="expected 1 or 3"):
        image.CreateMultiRandCropAugmenter(min_object_covered=[0.1, 0.5], max_attempts=[1, 2, 3])


def test_the_iterator_of_objects_fills_missing_labels_with_minus_one(folder):
    listed = [[2, 5, *OBJECTS[: 1 + i % 2].ravel().tolist(), f"{i}.png"] for i in range(5)]
    iterator = image.ImageDetIter(2, (3, 16, 16), imglist=listed, path_root=str(folder))
    assert iterator.label_shape == (2, 5) and tuple(iterator.provide_label[0]) == ("label", (2, 2, 5))
    batch = next(iterator)
    assert batch.data[0].shape == (2, 3, 16, 16)
    np.testing.assert_allclose(batch.label[0].asnumpy(), [[OBJECTS[0], [-1] * 5], OBJECTS], rtol=1e-6)
    iterator.reshape((3, 8, 8), (4, 5))
    iterator.reset()
    batch = next(iterator)
    assert batch.data[0].shape == (2, 3, 8, 8) and batch.label[0].shape == (2, 4, 5)
    other = image.ImageDetIter(2, (3, 16, 16), imglist=listed[:1], path_root=str(folder))
    iterator.sync_label_shape(other)
    assert other.label_shape == (4, 5)
    drawn = next(iter(other.draw_next(color=(1, 2, 3), thickness=1)))
    assert (drawn == [1, 2, 3]).all(axis=2).any()
    with pytest.raises(ValueError, match="label_shape"):
        iterator.reshape(label_shape=(1, 5))


def test_shuffled_objects_have_the_releases_order(folder):
    random.seed(1)
    listed = [[2, 5, i, 0.1, 0.2, 0.5, 0.6, f"{i}.png"] for i in range(5)]
    iterator = image.ImageDetIter(1, (3, 16, 16), imglist=listed, path_root=str(folder), shuffle=True)
    orders = []
    for _ in range(2):
        orders.append([int(batch.label[0].asnumpy()[0, 0, 0]) for batch in iterator])
        iterator.reset()
    assert orders == [[3, 1, 0, 2, 4], [1, 3, 0, 4, 2]]  # as the release gives them


def test_the_old_imdecode_cuts_subtracts_and_fills_a_row():
    pixels = picture()
    whole = pixels.transpose(2, 0, 1).astype(np.float32)
    np.testing.assert_array_equal(mx.nd.imdecode(png(pixels)).asnumpy(), whole[None])
    assert mx.nd.imdecode(png(pixels)).dtype == np.float32
    assert mx.nd.imdecode(png(pixels), channels=1).shape == (1, 1, 24, 32)
    mean, out = mx.nd.full((3, 5, 6), 2), mx.nd.zeros((2, 3, 5, 6))
    assert mx.nd.imdecode(png(pixels), clip_rect=(1, 2, 7, 7), out=out, index=1, mean=mean) is out
    np.testing.assert_array_equal(out.asnumpy(), [np.zeros((3, 5, 6)), whole[:, 2:7, 1:7] - 2])
    one = mx.nd.zeros(whole.shape)
    assert mx.nd.imdecode(png(pixels), out=one) is one
    np.testing.assert_array_equal(one.asnumpy(), whole)


@pytest.mark.parametrize(
    "name, given",
    [("clip_rect", {"clip_rect": (0, 0, 33, 4)}), ("clip_rect", {"clip_rect": (4, 0, 4, 4)}), ("channels", {"channels": 2}),
     ("mean", {"mean": mx.nd.zeros((3, 24, 31))}), ("out", {"out": mx.nd.zeros((2, 3, 24, 31))}),
     ("index", {"out": mx.nd.zeros((2, 3, 24, 32)), "index": 2})],
)  # fmt: skip
def test_the_old_imdecode_says_what_does_not_fit(name, given):
    with pytest.raises(ValueError, match=f"imdecode: .*{name}.*given .*expected"):
        mx.nd.imdecode(png(picture()), **given)


def test_a_part_outside_of_the_image_is_an_error():
    inside = mx.nd.array(picture(24, 32))
    assert image.fixed_crop(inside, 30, 20, 10, 10).shape == (4, 2, 3)  # as much as there is
    with pytest.raises(ValueError, match=r"given a part of 5 x 6 at \(32, 0\), expected one inside of the image's 32 x 24"):
        image.fixed_crop(inside, 32, 0, 5, 6)
