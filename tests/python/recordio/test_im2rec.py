# SPDX-License-Identifier: Apache-2.0
"""tools/im2rec.py: lists of images, and records out of them, as 1.9.1's tool of that name makes them."""

import os
import subprocess
import sys

import numpy as np
import pytest

import mxnet as mx

FOLDERS = [("", 1), ("bird", 2), ("bird/small", 3), ("cat", 5), ("dog", 7)]
ORDER = [13, 9, 7, 3, 10, 0, 17, 1, 8, 15, 5, 6, 11, 2, 12, 16, 14, 4]  # of 18 images in 1.9.1


def encoded(seed, ending):
    slopes = np.random.RandomState(seed).uniform(0, 2, (2, 3))
    pixels = (np.arange(40 + 8 * (seed % 3))[:, None, None] * slopes[0] + np.arange(56)[None, :, None] * slopes[1]).astype(np.uint8)
    return mx.recordio.unpack(mx.recordio.pack_img(mx.recordio.IRHeader(0, 0.0, 0, 0), pixels, 9, ending))[1]


@pytest.fixture
def images(tmp_path):
    root = tmp_path / "images"
    number = 0
    for folder, count in FOLDERS:
        (root / folder).mkdir(parents=True, exist_ok=True)
        for i in range(count):
            ending = [".jpg", ".png", ".JPG"][i % 3]
            (root / folder / f"{i}{ending}").write_bytes(encoded(number, ending.lower()))
            number += 1
    (root / "notes.txt").write_text("no image")
    return root


def run(*arguments):
    tool = mx.test_utils.get_im2rec_path("NO_SUCH_VARIABLE")
    package = os.path.dirname(os.path.dirname(mx.__file__))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([package, os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([sys.executable, tool, *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


def lines(path):
    return [line.split("\t") for line in path.read_text().splitlines()]


def records(prefix):
    """{id: (header, bytes)} in the order of the file, through the index."""
    reader = mx.recordio.MXIndexedRecordIO(f"{prefix}.idx", f"{prefix}.rec", "r")
    unpacked = [mx.recordio.unpack(reader.read_idx(key)) for key in reader.keys]
    assert [header.id for header, _ in unpacked] == reader.keys
    return {header.id: (header, content) for header, content in unpacked}


def pixels_of(content, flag=1):
    return mx.image.imdecode(content, flag, to_rgb=False).asnumpy()


def test_a_list_has_a_label_for_each_folder_and_the_order_of_the_release(images, tmp_path):
    code, printed, _ = run("--list", "--recursive", tmp_path / "x", images)
    assert (code, printed.splitlines()) == (0, [". 0", "bird 1", "bird/small 2", "cat 3", "dog 4"])
    found = lines(tmp_path / "x.lst")
    assert [int(index) for index, _, _ in found] == ORDER
    assert {path.rpartition("/")[0]: label for _, label, path in found} == {
        folder: f"{number}.000000" for number, (folder, _) in enumerate(FOLDERS)
    }
    assert all((images / path).is_file() for _, _, path in found)


def test_without_recursive_only_the_folder_itself_is_listed(images, tmp_path):
    assert run("--list", tmp_path / "x", images / "cat")[0] == 0
    found = lines(tmp_path / "x.lst")
    assert sorted(path for _, _, path in found) == ["0.jpg", "1.png", "2.JPG", "3.jpg", "4.png"]
    assert {label for _, label, _ in found} == {"0.000000"}


def test_shares_and_chunks_make_several_lists(images, tmp_path):
    run("--list", "--recursive", "--no-shuffle", "--chunks", 2, "--train-ratio", 0.5, "--test-ratio", 0.25, tmp_path / "x", images)
    indices = {path.name: [int(line[0]) for line in lines(path)] for path in tmp_path.glob("*.lst")}
    assert indices == {
        "x_0_test.lst": [0, 1],
        "x_0_train.lst": [2, 3, 4, 5],
        "x_0_val.lst": [6, 7, 8],
        "x_1_test.lst": [9, 10],
        "x_1_train.lst": [11, 12, 13, 14],
        "x_1_val.lst": [15, 16, 17],
    }


def test_records_hold_the_images_in_the_order_of_the_list(images, tmp_path):
    run("--list", "--recursive", tmp_path / "x", images)
    code, _, complaints = run("--quality", 100, tmp_path / "x", images)
    assert (code, complaints) == (0, "")
    made = records(tmp_path / "x")
    assert list(made) == ORDER
    for index, label, path in lines(tmp_path / "x.lst"):
        header, content = made[int(index)]
        assert header.label == float(label)
        given = pixels_of((images / path).read_bytes()).astype(int)
        assert np.abs(pixels_of(content) - given).mean() < 4, path
    reading = mx.io.ImageRecordIter(path_imgrec=str(tmp_path / "x.rec"), data_shape=(3, 32, 32), batch_size=18)
    assert sorted(reading.next().label[0].asnumpy()) == sorted(float(label) for _, label, _ in lines(tmp_path / "x.lst"))


def test_options_change_the_pixels(images, tmp_path):
    def made(*options):
        run("--list", "--recursive", tmp_path / "x", images)
        assert run(*options, tmp_path / "x", images)[0] == 0
        return records(tmp_path / "x")

    given = {int(index): (images / path).read_bytes() for index, _, path in lines_of_all(images, tmp_path)}
    for index, (_, content) in made("--pass-through").items():
        assert content == given[index]
    for index, (_, content) in made("--resize", 24).items():
        height, width = pixels_of(given[index]).shape[:2]
        expected = (height * 24 // width, 24) if height > width else (24, width * 24 // height)
        assert pixels_of(content).shape[:2] == expected
    for index, (_, content) in made("--center-crop", "--encoding", ".png", "--quality", 3).items():
        whole = pixels_of(given[index])
        edge = min(whole.shape[:2])
        top, left = (whole.shape[0] - edge) // 2, (whole.shape[1] - edge) // 2
        np.testing.assert_array_equal(pixels_of(content), whole[top : top + edge, left : left + edge])
    for index, (_, content) in made("--color", 0, "--encoding", ".png").items():
        assert mx.recordio.unpack_img(mx.recordio.pack(mx.recordio.IRHeader(0, 0.0, 0, 0), content))[1].ndim == 2
        np.testing.assert_array_equal(pixels_of(content, 0), pixels_of(given[index], 0))


def lines_of_all(images, tmp_path):
    run("--list", "--recursive", tmp_path / "all", images)
    return lines(tmp_path / "all.lst")


def test_threads_change_nothing(images, tmp_path):
    run("--list", "--recursive", tmp_path / "x", images)
    made = []
    for threads in (1, 3):
        assert run("--num-thread", threads, "--resize", 20, tmp_path / "x", images)[0] == 0
        made.append((tmp_path / "x.rec").read_bytes() + (tmp_path / "x.idx").read_bytes())
    assert made[0] == made[1]


def test_several_labels_are_kept_if_asked_for(images, tmp_path):
    (tmp_path / "x.lst").write_text("4\t1\t2.5\t3\tcat/0.jpg\n7\t9\tcat/1.png\n")
    run(tmp_path / "x", images)
    assert [header.label for header, _ in records(tmp_path / "x").values()] == [1.0, 9.0]
    run("--pack-label", tmp_path / "x", images)
    several, one = [header for header, _ in records(tmp_path / "x").values()]
    assert (several.flag, several.label.tolist()) == (3, [1.0, 2.5, 3.0])
    assert (one.flag, one.label) == (0, 9.0)


def test_what_cannot_be_used_is_named_and_left_out(images, tmp_path):
    (images / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 no image")
    (images / "empty.png").write_bytes(b"")
    (tmp_path / "x.lst").write_text(
        "0\t1\tcat/0.jpg\n1\t1\tbroken.jpg\n2\t1\tgone.jpg\none\t1\tcat/1.png\n3\tcat/1.png\n4\t1\tempty.png\n5\t1\tcat/1.png\n"
    )
    code, printed, complaints = run("--num-thread", 2, tmp_path / "x", images)
    assert code == 0 and "2 records, 3 images left out" in printed
    for name in ("broken.jpg: left out", "gone.jpg: left out", "empty.png: left out", "x.lst:4: left out", "x.lst:5: left out"):
        assert name in complaints
    assert list(records(tmp_path / "x")) == [0, 5]


def test_wrong_calls_say_what_is_expected(images, tmp_path):
    for arguments, complaint in (
        ([tmp_path / "x", images], "expected the beginning of the name of a .lst file"),
        (["--list", tmp_path / "x", tmp_path / "nowhere"], "expected the folder of the images"),
        (["--list", "--chunks", 0, tmp_path / "x", images], "expected at least 1"),
        (["--list", "--train-ratio", 0.8, "--test-ratio", 0.3, tmp_path / "x", images], "add up to at most 1"),
    ):
        code, _, said = run(*arguments)
        assert code != 0 and complaint in said
