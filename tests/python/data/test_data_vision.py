# SPDX-License-Identifier: Apache-2.0
"""Data sets of images out of the user's files, and transforms of images."""

import gzip
import struct

import numpy as np
import pytest

import mxnet as mx
from mxnet.gluon.data import DataLoader, vision
from mxnet.gluon.data.vision import transforms

SEED = 5


def picture(seed=SEED, height=12, width=16):
    return np.random.RandomState(seed).randint(0, 255, (height, width, 3)).astype(np.uint8)


def packed(i, label):
    return mx.recordio.pack_img(mx.recordio.IRHeader(0, label, i, 0), picture(i)[:, :, ::-1], 1, ".png")


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("kind, part", [("MNIST", "train"), ("MNIST", "t10k"), ("FashionMNIST", "train")])
def test_mnist_reads_images_and_labels(tmp_path, compressed, kind, part):
    images = np.random.RandomState(SEED).randint(0, 255, (5, 28, 28)).astype(np.uint8)
    files = {
        f"{part}-images-idx3-ubyte": struct.pack(">IIII", 2051, 5, 28, 28) + images.tobytes(),
        f"{part}-labels-idx1-ubyte": struct.pack(">II", 2049, 5) + bytes([3, 1, 4, 1, 5]),
    }
    for name, content in files.items():
        (tmp_path / (name + ".gz" * compressed)).write_bytes(gzip.compress(content) if compressed else content)
    dataset = getattr(vision, kind)(str(tmp_path), train=part == "train")
    assert len(dataset) == 5
    image, label = dataset[2]
    assert image.shape == (28, 28, 1) and image.dtype == np.uint8 and (image.asnumpy()[:, :, 0] == images[2]).all()
    assert label == 4 and label.dtype == np.int32
    doubled = getattr(vision, kind)(str(tmp_path), part == "train", lambda x, y: (x, y * 2))
    assert doubled[0][1] == 6


@pytest.mark.parametrize("kind, train, name, label_bytes, column", [
    ("CIFAR10", False, "test_batch.bin", 1, 0), ("CIFAR100", True, "train.bin", 2, 0), ("CIFAR100", False, "test.bin", 2, 1),
])
def test_cifar_reads_images_and_labels(tmp_path, kind, train, name, label_bytes, column):
    rows = np.random.RandomState(SEED).randint(0, 99, (3, label_bytes + 3072)).astype(np.uint8)
    (tmp_path / name).write_bytes(rows.tobytes())
    kwargs = {"fine_label": bool(column)} if kind == "CIFAR100" else {}
    dataset = getattr(vision, kind)(str(tmp_path), train=train, **kwargs)
    image, label = dataset[1]
    assert (image.asnumpy() == rows[1, label_bytes:].reshape(3, 32, 32).transpose(1, 2, 0)).all() and label == rows[1, column]


def test_an_idx_file_that_is_cut_off_is_an_error_whatever_its_size(tmp_path):
    for shape in ((5, 28, 28), (2**31, 2**31, 4)):  # the latter's elements are 2^64
        (tmp_path / "t10k-images-idx3-ubyte").write_bytes(struct.pack(">IIII", 2051, *shape) + b"12")
        (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(struct.pack(">II", 2049, 0))
        with pytest.raises(ValueError, match="images-idx3.*cut off"):
            vision.MNIST(str(tmp_path), train=False)


def test_what_is_missing_says_where_it_is_looked_for(tmp_path):
    with mx.util.environment("MXNET_GLUON_REPO", f"file://{tmp_path}/nothing/"):
        with pytest.raises(RuntimeError, match=r"train-images-idx3-ubyte\.gz.*MXNET_GLUON_REPO"):
            vision.MNIST(str(tmp_path))


def test_a_folder_of_folders(tmp_path):
    for i, name in enumerate(["cats/1.png", "cats/2.png", "dogs/1.png", "dogs/note.txt"]):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(mx.recordio.unpack(packed(i, 0.0))[1])
    with pytest.warns(UserWarning, match="note.txt"):
        dataset = vision.ImageFolderDataset(str(tmp_path))
    assert dataset.synsets == ["cats", "dogs"] and [label for _, label in dataset.items] == [0, 0, 1]
    image, label = dataset[2]
    assert label == 1 and (image.asnumpy() == picture(2)).all()


def test_records_and_lists(tmp_path):
    with mx.recordio.MXIndexedRecordIO(str(tmp_path / "a.idx"), str(tmp_path / "a.rec"), "w") as writer:
        for i in range(3):
            writer.write_idx(i, packed(i, float(i)))
            (tmp_path / f"{i}.png").write_bytes(mx.recordio.unpack(packed(i, 0.0))[1])
    records = vision.ImageRecordDataset(str(tmp_path / "a.rec"))
    assert len(records) == 3 and records[1][1] == 1 and (records[1][0].asnumpy() == picture(1)).all()
    batch = next(iter(DataLoader(records.transform_first(transforms.ToTensor()), 3, num_workers=1)))
    assert batch[0].shape == (3, 3, 12, 16) and batch[1].asnumpy().tolist() == [0, 1, 2]
    listed = vision.datasets.ImageListDataset(str(tmp_path), [[7, "1.png"], [1, 2, "2.png"]])
    assert listed[0][1] == 7 and listed[1][1].tolist() == [1, 2] and (listed[1][0].asnumpy() == picture(2)).all()


# ---- transforms


@pytest.fixture
def image():
    return mx.nd.array(picture(), dtype="uint8")


def test_tensors_and_normalization(image):
    tensor = transforms.ToTensor()(image)
    np.testing.assert_allclose(tensor.asnumpy(), picture().transpose(2, 0, 1) / np.float32(255), rtol=1e-6)
    out = transforms.Normalize((0.1, 0.2, 0.3), (2, 3, 4))(tensor)
    expected = (tensor.asnumpy() - np.array([0.1, 0.2, 0.3], np.float32).reshape(3, 1, 1)) / np.array([2, 3, 4], np.float32).reshape(3, 1, 1)
    np.testing.assert_allclose(out.asnumpy(), expected, rtol=1e-5, atol=1e-6)
    assert transforms.Cast("float16")(image).dtype == np.float16


def test_resizes_and_crops_give_the_size_that_is_asked_for(image):
    assert transforms.Resize(8)(image).shape == (8, 8, 3)
    assert transforms.Resize((10, 6))(image).shape == (6, 10, 3)
    assert transforms.Resize(6, keep_ratio=True)(image).shape == (6, 8, 3)
    assert (transforms.CenterCrop((4, 6))(image).asnumpy() == picture()[3:9, 6:10]).all()
    assert transforms.CenterCrop(8)(image).shape == (8, 8, 3)
    assert transforms.RandomResizedCrop(5)(image).shape == (5, 5, 3)
    assert (transforms.CropResize(2, 3, 5, 4)(image).asnumpy() == picture()[3:7, 2:7]).all()
    assert transforms.CropResize(2, 3, 5, 4, (10, 8), 1)(image).shape == (8, 10, 3)


def test_random_changes_come_both_ways_and_stay_within_bounds(image):
    pixels = picture()
    flipped = [transforms.RandomFlipLeftRight()(image).asnumpy() for _ in range(20)]
    assert {(out == pixels).all() for out in flipped} == {True, False}
    assert all((out == pixels).all() or (out == pixels[:, ::-1]).all() for out in flipped)
    assert any((transforms.RandomFlipTopBottom()(image).asnumpy() == pixels[::-1]).all() for _ in range(20))
    for block in (
        transforms.RandomBrightness(0.5), transforms.RandomContrast(0.5), transforms.RandomSaturation(0.5), transforms.RandomHue(0.5),
        transforms.RandomColorJitter(0.3, 0.3, 0.3, 0.3), transforms.RandomLighting(0.5),
    ):
        out = [block(image.astype("float32")).asnumpy() for _ in range(3)]
        assert all(o.shape == pixels.shape for o in out) and any((o != pixels).any() for o in out)
    assert (transforms.RandomBrightness(0)(image).asnumpy() == pixels).all()
    with pytest.raises(ValueError, match="-1"):
        transforms.RandomContrast(-1)


def test_a_chain_is_its_steps_one_after_another(image):
    chain = transforms.Compose([transforms.Resize(8), transforms.CenterCrop(6), transforms.ToTensor(), transforms.Normalize(0.5, 0.5)])
    out = chain(image)
    assert out.shape == (3, 6, 6) and out.dtype == np.float32
    steps = image
    for step in (transforms.Resize(8), transforms.CenterCrop(6), transforms.ToTensor(), transforms.Normalize(0.5, 0.5)):
        steps = step(steps)
    np.testing.assert_allclose(out.asnumpy(), steps.asnumpy(), rtol=1e-6)
    twice = transforms.RandomApply(transforms.Cast("float32"), p=1.0)
    assert twice(image).dtype == np.float32
    assert transforms.RandomApply(transforms.Cast("float32"), p=0.0)(image).dtype == np.uint8


def test_rotations_turn_counter_clockwise_and_refuse_bytes(image):
    tensor = transforms.ToTensor()(image)
    square = tensor[:, :, :12]
    np.testing.assert_allclose(transforms.Rotate(90)(square).asnumpy(), np.rot90(square.asnumpy(), 1, (1, 2)), atol=1e-5)
    assert transforms.RandomRotation((-30, 30))(tensor).shape == tensor.shape
    assert (transforms.RandomRotation((-30, 30), rotate_with_proba=0.0)(tensor).asnumpy() == tensor.asnumpy()).all()
    with pytest.raises(TypeError, match="uint8"):
        transforms.Rotate(10)(image)


def test_folders_may_be_given_as_paths(tmp_path):
    (tmp_path / "test_batch.bin").write_bytes(bytes(2 * 3073))
    assert len(vision.CIFAR10(tmp_path, train=False)) == 2
    (tmp_path / "t10k-images-idx3-ubyte").write_bytes(struct.pack(">IIII", 2051, 1, 28, 28) + bytes(784))
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(struct.pack(">II", 2049, 1) + b"\7")
    assert vision.MNIST(tmp_path, train=False)[0][1] == 7
    (tmp_path / "0.png").write_bytes(mx.recordio.unpack(packed(0, 2.0))[1])
    (tmp_path / "all.lst").write_text("0\t2.0\t0.png\n")
    for named in ("all.lst", tmp_path / "all.lst"):
        image, label = vision.ImageListDataset(tmp_path, named)[0]
        assert label == 2 and (image.asnumpy() == picture(0)).all()
    with pytest.raises(ValueError, match="a file that exists"):
        mx.library.load(tmp_path / "none.so")


def test_only_the_default_folder_moves_with_its_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "own"))
    with mx.util.environment({"MXNET_HOME": str(tmp_path / "moved"), "MXNET_GLUON_REPO": (tmp_path / "nowhere").as_uri()}):
        for root, folder in (("~/.mxnet/datasets/mnist", "moved/datasets/mnist"), ("~/.mxnet_mine/mnist", "own/.mxnet_mine/mnist")):
            with pytest.raises(RuntimeError, match="no train-images") as failure:
                vision.MNIST(root)
            assert str(tmp_path / folder) in str(failure.value) and (tmp_path / folder).is_dir()
