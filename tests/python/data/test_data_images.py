# SPDX-License-Identifier: Apache-2.0
"""ImageRecordIter and ImageDetRecordIter on small lossless images."""

import numpy as np
import pytest

import mxnet as mx

SEED = 0


@pytest.fixture(scope="module")
def images():
    rng = np.random.RandomState(SEED)
    return [rng.randint(0, 255, (5 + i % 3, 6, 3)).astype(np.uint8).repeat(4, 0).repeat(4, 1) for i in range(23)]


@pytest.fixture(scope="module")
def files(tmp_path_factory, images):
    folder = tmp_path_factory.mktemp("records")
    rec, idx = str(folder / "a.rec"), str(folder / "a.idx")
    with mx.recordio.MXIndexedRecordIO(idx, rec, "w") as writer:
        for i, picture in enumerate(images):
            header = mx.recordio.IRHeader(0, float(i), i, 0)
            writer.write_idx(i, mx.recordio.pack_img(header, picture[:, :, ::-1], quality=1, img_fmt=".png"))
    return {"path_imgrec": rec, "path_imgidx": idx}


def make(files, name="ImageRecordIter", **kwargs):
    kwargs.setdefault("data_shape", (3, 16, 16))
    kwargs.setdefault("batch_size", 5)
    return getattr(mx.io, name)(path_imgrec=files["path_imgrec"], verbose=False, **kwargs)


def middle(picture, height=16, width=16):
    top, left = (picture.shape[0] - height) // 2, (picture.shape[1] - width) // 2
    return picture[top : top + height, left : left + width].transpose(2, 0, 1)


def labels(iterator):
    return [batch.label[0].asnumpy().astype(int).tolist() for batch in iterator]


def test_batches_hold_the_middle_of_images(files, images):
    iterator = make(files)
    for number, batch in enumerate(iterator):
        for place, index in enumerate(batch.index.astype(int)):
            assert (batch.data[0].asnumpy()[place] == middle(images[index])).all()
        assert batch.pad == (2 if number == 4 else 0)


def test_epochs_and_orders_are_those_of_the_reference(files):
    # values of 1.9.1
    iterator = make(files)
    assert labels(iterator)[-1] == [20, 21, 22, 0, 1]
    iterator.reset()
    assert labels(iterator)[0] == [2, 3, 4, 5, 6]
    shuffled = make(files, batch_size=23, shuffle=True, seed=5, preprocess_threads=1)
    assert labels(shuffled) == [[13, 16, 0, 8, 21, 5, 17, 15, 12, 11, 4, 7, 6, 9, 18, 20, 14, 22, 3, 19, 1, 10, 2]]
    shuffled.reset()
    assert labels(shuffled) == [[11, 3, 6, 10, 13, 14, 8, 16, 20, 5, 1, 7, 22, 21, 2, 15, 19, 18, 9, 12, 0, 17, 4]]


def test_orders_do_not_depend_on_where_an_epoch_was_left(files):
    whole, left = (make(files, batch_size=4, shuffle=True, seed=1, preprocess_threads=2) for _ in range(2))
    next(left)
    for _ in range(6):
        next(whole)
    for iterator in (whole, left):
        iterator.reset()
    assert labels(whole) == labels(left)


@pytest.mark.parametrize("with_index", [False, True])
def test_parts_cover_the_file_once(files, with_index):
    path = {"path_imgidx": files["path_imgidx"]} if with_index else {}
    parts = [make(files, batch_size=1, num_parts=3, part_index=i, **path) for i in range(3)]
    seen = [sum(labels(part), []) for part in parts]
    assert seen == [list(range(8)), list(range(8, 16)), list(range(16, 23))]  # as 1.9.1


def test_means_are_taken_off_before_deviations_divide(files, images):
    batch = next(make(files, mean_r=10, mean_g=20, mean_b=30, std_r=2, std_g=3, std_b=4, scale=0.5))
    expected = (middle(images[0]) - np.array([10, 20, 30]).reshape(3, 1, 1)) * 0.5 / np.array([2, 3, 4]).reshape(3, 1, 1)
    np.testing.assert_allclose(batch.data[0].asnumpy()[0], expected, rtol=1e-6)


def test_a_mean_image_is_subtracted(files, images, tmp_path):
    mean = np.random.RandomState(SEED).rand(3, 16, 16).astype(np.float32)
    mx.nd.save(str(tmp_path / "mean"), [mx.nd.array(mean)])
    batch = next(make(files, mean_img=str(tmp_path / "mean")))
    np.testing.assert_allclose(batch.data[0].asnumpy()[0], middle(images[0]) - mean, rtol=1e-5)
    mx.nd.save(str(tmp_path / "wrong"), [mx.nd.array(mean[0])])
    with pytest.raises(mx.MXNetError, match=r"expected one of float32 and shape \(3,16,16\)"):
        make(files, mean_img=str(tmp_path / "wrong"))


@pytest.mark.parametrize("options", [{}, {"mean_r": 9, "scale": 3, "round_batch": True}, {"num_parts": 3, "part_index": 1}, {"shuffle": True}])
def test_a_mean_image_that_is_not_there_is_made(files, images, tmp_path, options):
    path = str(tmp_path / "mean.nd")
    batch = next(make(files, mean_img=path, **options))
    (name, mean), = mx.nd.load(path).items()
    numbers = range(8, 16) if "num_parts" in options else range(len(images))
    expected = np.mean([middle(images[i]).astype(np.float64) for i in numbers], axis=0)
    assert name == "mean_img" and mean.dtype == np.float32
    np.testing.assert_allclose(mean.asnumpy(), expected, rtol=1e-6)
    found = batch.data[0].asnumpy()[0] / options.get("scale", 1)
    np.testing.assert_allclose(found, middle(images[int(batch.label[0].asnumpy()[0])]) - mean.asnumpy(), rtol=1e-5, atol=1e-4)
    again = next(make(files, mean_img=path, **options))
    assert (again.data[0].asnumpy() == batch.data[0].asnumpy()).all()


def test_images_come_in_the_type_that_is_asked_for(files, images):
    assert next(make(files, "ImageRecordUInt8Iter")).data[0].dtype == np.uint8
    small = next(make(files, "ImageRecordInt8Iter")).data[0]
    assert small.dtype == np.int8 and (small.asnumpy()[0] == np.minimum(middle(images[0]), 127)).all()  # as 1.9.1
    half = next(make(files, dtype="float16")).data[0]
    assert half.dtype == np.float16 and (half.asnumpy()[0] == middle(images[0])).all()
    grey = next(make(files, data_shape=(1, 16, 16))).data[0]
    assert grey.shape == (5, 1, 16, 16)


@pytest.mark.parametrize("name, dtype", [("ImageRecordInt8Iter", None), ("ImageRecordIter", "int8")])
def test_int8_is_what_means_leave_as_whole_numbers(files, images, name, dtype):
    given = {"dtype": dtype} if dtype else {}
    taken = next(make(files, name, mean_r=100.5, mean_g=-2.25, mean_b=300, **given)).data[0].asnumpy()[0]
    expected = middle(images[0]).astype(int) - np.array([101, -2, 300]).reshape(3, 1, 1)
    assert (taken == np.clip(expected, -128, 127)).all()  # as 1.9.1


@pytest.mark.parametrize("name", ["ImageRecordUInt8Iter", "ImageRecordInt8Iter"])
def test_bytes_are_mirrored_though_no_description_says_so(files, images, name):
    plain, mirrored, random = ([batch.data[0].asnumpy() for batch in make(files, name, **given)]
                               for given in ({}, {"mirror": True}, {"rand_mirror": True, "seed": 3}))
    assert all((a == b[..., ::-1]).all() for a, b in zip(mirrored, plain))
    turned = [(a == b).all() for batch in zip(random, plain) for a, b in zip(*batch)]
    assert 0 < sum(turned) < len(turned)


def test_mirrors_borders_and_sizes(files, images):
    assert (next(make(files, mirror=True)).data[0].asnumpy()[0] == middle(images[0])[:, :, ::-1]).all()
    padded = next(make(files, pad=3, fill_value=7, data_shape=(3, 26, 30))).data[0].asnumpy()[0]
    assert (padded[:, 3:-3, 3:-3] == images[0].transpose(2, 0, 1)).all() and (padded[:, :3] == 7).all()
    resized = next(make(files, resize=16, data_shape=(3, 16, 19))).data[0].asnumpy()[0]
    expected = mx.image.imresize(mx.nd.array(images[0], dtype="uint8"), 19, 16, interp=1).asnumpy()
    assert (resized == expected.transpose(2, 0, 1)).all()
    enlarged = next(make(files, data_shape=(3, 30, 20))).data[0].asnumpy()[0]
    expected = mx.image.imresize(mx.nd.array(images[0], dtype="uint8"), 36, 30, interp=1).asnumpy()[:, 8:28]
    assert (enlarged == expected.transpose(2, 0, 1)).all()


AUGMENTATIONS = {
    "rand_crop": {"rand_crop": True}, "area": {"random_resized_crop": True, "min_random_area": 0.3, "max_aspect_ratio": 0.3},
    "turn": {"max_rotate_angle": 20, "max_shear_ratio": 0.1, "min_random_scale": 0.8, "max_random_scale": 1.2},
    "colour": {"brightness": 0.3, "contrast": 0.3, "saturation": 0.3, "pca_noise": 0.1},
    "hls": {"random_h": 20, "random_s": 30, "random_l": 30}, "mirror": {"rand_mirror": True},
    "light": {"max_random_contrast": 0.3, "max_random_illumination": 10}, "square": {"min_crop_size": 8, "max_crop_size": 14},
}


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_augmentations_follow_the_seed_and_not_the_threads(files, name):
    kwargs = AUGMENTATIONS[name]
    runs = [
        np.concatenate([b.data[0].asnumpy() for b in make(files, preprocess_threads=threads, seed_aug=seed, **kwargs)])
        for threads, seed in ((1, 3), (4, 3), (2, 4))
    ]
    assert (runs[0] == runs[1]).all()
    assert (runs[0] != runs[2]).any()
    plain = np.concatenate([b.data[0].asnumpy() for b in make(files)])
    assert (runs[0] != plain).any() and np.isfinite(runs[0]).all()


def test_random_crops_are_parts_of_the_image(files, images):
    batch = next(make(files, rand_crop=True, seed=2)).data[0].asnumpy()
    for picture, got in zip(images, batch):
        places = [
            (y, x) for y in range(picture.shape[0] - 15) for x in range(picture.shape[1] - 15)
            if (picture[y : y + 16, x : x + 16].transpose(2, 0, 1) == got).all()
        ]
        assert places


def test_damaged_images_are_passed_over_and_named(files, tmp_path, capfd, images):
    rec = str(tmp_path / "b.rec")
    with mx.recordio.MXRecordIO(rec, "w") as writer:
        for i, picture in enumerate(images[:6]):
            record = mx.recordio.pack_img(mx.recordio.IRHeader(0, float(i), i, 0), picture, quality=1, img_fmt=".png")
            writer.write(record[:60] if i in (1, 4) else record)
    iterator = make({"path_imgrec": rec}, batch_size=3)
    assert labels(iterator) == [[0, 2, 3], [5, 0, 2]]
    assert "passed over" in capfd.readouterr().err
    with mx.recordio.MXRecordIO(rec, "w") as writer:
        writer.write(b"nothing")
    with pytest.raises(mx.MXNetError, match="none can be decoded"):
        make({"path_imgrec": rec}, batch_size=3)


def test_a_list_replaces_labels(files, tmp_path):
    listed = tmp_path / "a.lst"
    listed.write_text("".join(f"{i}\t{i + 100}\t{i + 200}\tx/{i}.jpg\n" for i in range(23)))
    batch = next(make(files, path_imglist=str(listed), label_width=2))
    assert batch.label[0].asnumpy()[:2].tolist() == [[100, 200], [101, 201]]
    # One that holds more than is asked for gives the first of them; one that holds less is refused.
    assert next(make(files, path_imglist=str(listed))).label[0].asnumpy()[:2].tolist() == [100, 101]
    with pytest.raises(mx.MXNetError, match="label_width 3"):
        next(make(files, path_imglist=str(listed), label_width=3))


def test_limited_sides_are_cut_without_another_change_of_scale(files):
    limited = next(make(files, max_img_size=8)).data[0].asnumpy()
    parts = next(make(files, min_crop_size=8, max_crop_size=8)).data[0].asnumpy()
    assert (limited == parts).all()


def test_a_wrong_parameter_is_named(files):
    for kwargs, what in (
        ({"label_width": 2}, "label_width 2"), ({"data_shape": (2, 8, 8)}, "data_shape"), ({"std_r": 0}, "std"),
        ({"aug_seq": "mine"}, "aug_seq"), ({"random_resized_crop": True, "rand_crop": True}, "random_resized_crop"),
        ({"inter_method": 7}, "inter_method"), ({"num_parts": 2, "part_index": 2}, "part_index"),
    ):
        with pytest.raises(mx.MXNetError, match=what):
            make(files, **kwargs)


def test_no_mean_image_is_made_for_parameters_that_are_refused(files, tmp_path):
    path = tmp_path / "mean.nd"
    with pytest.raises(mx.MXNetError, match="std"):
        make(files, mean_img=str(path), std_g=0)
    assert not path.exists()


LABELS = [[4, 5, 9, 9, 0, 0.1, 0.2, 0.5, 0.6], [4, 5, 9, 9, 1, 0.1, 0.2, 0.5, 0.6, 1, 0.3, 0.3, 0.9, 0.95]]


@pytest.fixture(scope="module")
def boxes(tmp_path_factory, images):
    rec = str(tmp_path_factory.mktemp("boxes") / "a.rec")
    with mx.recordio.MXRecordIO(rec, "w") as writer:
        for i, label in enumerate(LABELS):
            writer.write(mx.recordio.pack_img(mx.recordio.IRHeader(0, label, i, 0), images[i], quality=1, img_fmt=".png"))
    return {"path_imgrec": rec}


def test_labels_of_objects(boxes):
    batch = next(make(boxes, "ImageDetRecordIter", batch_size=2))
    expected = [[3, 16, 16, 9, *LABELS[0], *[-1] * 5], [3, 16, 16, 14, *LABELS[1]]]
    np.testing.assert_allclose(batch.label[0].asnumpy(), expected, rtol=1e-6)
    padded = next(make(boxes, "ImageDetRecordIter", batch_size=2, label_pad_width=20, label_pad_value=-2))
    assert padded.label[0].shape == (2, 24) and padded.label[0].asnumpy()[1, -1] == -2
    with pytest.raises(mx.MXNetError, match="label_pad_width 10"):
        make(boxes, "ImageDetRecordIter", batch_size=2, label_pad_width=10)


def test_a_mean_image_is_made_of_images_with_boxes_too(boxes, tmp_path):
    path = str(tmp_path / "mean.nd")
    pictures = next(make(boxes, "ImageDetRecordIter", batch_size=2)).data[0].asnumpy()
    batch = next(make(boxes, "ImageDetRecordIter", batch_size=2, mean_img=path, std_r=2, std_g=2, std_b=2))
    np.testing.assert_allclose(mx.nd.load(path)["mean_img"].asnumpy(), pictures.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(batch.data[0].asnumpy(), (pictures - pictures.mean(axis=0)) / 2, rtol=1e-6)


def test_labels_of_a_file_that_has_changed_stay_in_their_room(tmp_path):
    """The room is that of the largest label when the file was opened."""
    rec = str(tmp_path / "a.rec")
    picture = np.random.RandomState(SEED).randint(0, 255, (700, 700, 3)).astype(np.uint8)  # no reader keeps two of them

    def write(first):
        with mx.recordio.MXRecordIO(rec, "w") as writer:
            for i, label in enumerate([first, LABELS[0]]):
                writer.write(mx.recordio.pack_img(mx.recordio.IRHeader(0, label, i, 0), picture, quality=1, img_fmt=".png"))

    write(LABELS[0])
    iterator = make({"path_imgrec": rec}, "ImageDetRecordIter", batch_size=1, preprocess_threads=1)
    assert len(list(iterator)) == 2
    write(LABELS[1])
    iterator.reset()
    with pytest.raises(mx.MXNetError, match="room for 9 labels, and record 0 has 14"):
        next(iterator)


def test_boxes_follow_the_mirror(boxes):
    label = next(make(boxes, "ImageDetRecordIter", batch_size=2, rand_mirror_prob=1)).label[0].asnumpy()
    np.testing.assert_allclose(label[0, 9:13], [0.5, 0.2, 0.9, 0.6], rtol=1e-5)


def test_an_image_that_is_fitted_keeps_its_proportions(boxes):
    batch = next(make(boxes, "ImageDetRecordIter", batch_size=2, resize_mode="fit", data_shape=(3, 16, 30)))
    assert batch.label[0].asnumpy()[0, :3].tolist() == [3, 16, 19]  # as 1.9.1
    assert (batch.data[0].asnumpy()[0, :, :, 19:] == 0).all()


def test_what_a_fitted_image_leaves_is_black_and_normalized_with_it(boxes):
    settings = {"resize_mode": "fit", "data_shape": (3, 16, 30), "mean_r": 12, "mean_g": 5, "std_g": 2, "scale": 0.5}
    left = next(make(boxes, "ImageDetRecordIter", batch_size=2, **settings)).data[0].asnumpy()[0, :, :, 19:]
    for channel, number in enumerate([-6, -1.25, 0]):  # as 1.9.1
        assert (left[channel] == number).all()


def test_an_epoch_that_the_one_before_has_read_ahead_is_empty(tmp_path):
    rec = str(tmp_path / "a.rec")
    with mx.recordio.MXRecordIO(rec, "w") as writer:
        picture = np.full((8, 8, 3), 9, np.uint8)
        writer.write(mx.recordio.pack_img(mx.recordio.IRHeader(0, 1.0, 0, 0), picture, img_fmt=".png"))
    iterator = make({"path_imgrec": rec}, batch_size=2, data_shape=(3, 8, 8), round_batch=True)
    batches = []
    for _ in range(4):
        batches.append([batch.pad for batch in iterator])
        iterator.reset()
    assert batches == [[1], [], [1], []]  # as 1.9.1


def test_fitted_sizes_are_rounded_as_the_release_does(tmp_path):
    rec = str(tmp_path / "a.rec")
    sizes = {(55, 42): (31, 24), (48, 49): (31, 32), (42, 55): (24, 31), (62, 41): (32, 21)}  # of 1.9.1
    with mx.recordio.MXRecordIO(rec, "w") as writer:
        for i, (height, width) in enumerate(sizes):
            picture = np.full((height, width, 3), 9, np.uint8)
            writer.write(mx.recordio.pack_img(mx.recordio.IRHeader(0, LABELS[0], i, 0), picture, img_fmt=".png"))
    batch = next(make({"path_imgrec": rec}, "ImageDetRecordIter", batch_size=4, resize_mode="fit", data_shape=(3, 32, 32)))
    assert [tuple(row) for row in batch.label[0].asnumpy()[:, 1:3].astype(int)] == list(sizes.values())


def test_cut_parts_keep_objects_inside(boxes):
    kwargs = {"rand_crop_prob": 1, "min_crop_scales": 0.5, "max_crop_scales": 0.9, "min_crop_object_coverages": 0.3}
    for seed in range(5):
        iterator = make(boxes, "ImageDetRecordIter", batch_size=2, seed=seed, **{k: (v,) if "crop_" in k and k != "rand_crop_prob" else v for k, v in kwargs.items()})
        for row in next(iterator).label[0].asnumpy():
            objects = row[8 : 4 + int(row[3])].reshape(-1, 5)
            assert ((objects[:, 1:] >= 0) & (objects[:, 1:] <= 1)).all(), f"seed {seed}"
            assert (objects[:, 3] > objects[:, 1]).all() and (objects[:, 4] > objects[:, 2]).all(), f"seed {seed}"


def test_a_border_makes_boxes_smaller(boxes):
    label = next(make(boxes, "ImageDetRecordIter", batch_size=2, rand_pad_prob=1, max_pad_scale=3)).label[0].asnumpy()
    assert label[0, 11] - label[0, 9] < 0.4
