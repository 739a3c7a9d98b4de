# SPDX-License-Identifier: Apache-2.0
"""Indexes, lists, tables and descriptions of networks that are damaged: each is read, or refused by an error that names it."""

import collections
import gzip
import random
import shutil
import struct

import numpy as np
import pytest
from damage import SEED, damaged, reads_or_refuses

import mxnet as mx
from mxnet.gluon import nn
from mxnet.gluon.data import vision

COUNT = 150


@pytest.fixture
def records(tmp_path):
    """A RecordIO file of twelve images and its index; the records by key."""
    rec, idx, written = str(tmp_path / "a.rec"), str(tmp_path / "a.idx"), {}
    with mx.recordio.MXIndexedRecordIO(idx, rec, "w") as writer:
        for key in range(12):
            image = np.full((8, 8, 3), 20 * key, np.uint8)
            written[key] = mx.recordio.pack_img(mx.recordio.IRHeader(0, float(key), key, 0), image, img_fmt=".png")
            writer.write_idx(key, written[key])
    return rec, idx, written


def content_of(path):
    with open(path, "rb") as file:
        return file.read()


def read_by(idx, records):
    rec, _, written = records
    with mx.recordio.MXIndexedRecordIO(idx, rec, "r") as reader:
        for key in reader.keys:
            assert reader.read_idx(key) in written.values()


@pytest.mark.parametrize("line, text", [
    (b"5", "a key, a tab, an offset"),
    (b"5\t1\t2", "a key, a tab, an offset"),
    (b"five\t0", "invalid literal"),
    (b"5\t-4", "offset -4"),
    (b"5\t99999999999999999999", "offset 99999999999999999999"),
    (b"\xff\t0", "which is no text"),
])  # fmt: skip
def test_a_line_of_an_index_that_says_nothing_is_named(tmp_path, records, line, text):
    path = tmp_path / "odd.idx"
    path.write_bytes(b"0\t0\n" + line + b"\n")
    with pytest.raises(ValueError, match=text) as caught:
        mx.recordio.MXIndexedRecordIO(str(path), records[0], "r")
    assert str(path) in str(caught.value) and ("line 2" in str(caught.value) or line[0] == 255)


@pytest.mark.parametrize("offset", [2, 1 << 40, (1 << 63) - 1])
def test_an_offset_without_a_record_is_named_with_its_key(tmp_path, records, offset):
    path = tmp_path / "odd.idx"
    path.write_text(f"3\t{offset}\n")
    reader = mx.recordio.MXIndexedRecordIO(str(path), records[0], "r")
    with pytest.raises(ValueError, match=f"byte {offset}, where key 3 lies") as caught:
        reader.read_idx(3)
    assert str(path) in str(caught.value)


def test_damaged_indexes(tmp_path, records):
    contents = [content_of(records[1])]
    seen = reads_or_refuses(lambda path: read_by(path, records), tmp_path / "odd.idx", contents, COUNT, ValueError)
    assert seen[None] > 5 and sum(seen.values()) - seen[None] > 60, seen


def test_an_iterator_of_images_names_a_damaged_index(tmp_path, records):
    def read(path):
        for batch in mx.image.ImageIter(4, (3, 8, 8), path_imgrec=records[0], path_imgidx=path):
            assert batch.data[0].shape == (4, 3, 8, 8)

    seen = reads_or_refuses(read, tmp_path / "odd.idx", [content_of(records[1])], COUNT, ValueError)
    assert seen[None] > 5 and sum(seen.values()) - seen[None] > 60, seen


@pytest.fixture
def listed(tmp_path, records):
    """A list of image files."""
    rows = []
    for key, record in records[2].items():
        (tmp_path / f"{key}.png").write_bytes(mx.recordio.unpack(record)[1])
        rows.append(f"{key}\t{float(key)}\t{key}.png\n")
    return "".join(rows).encode()


READERS = {
    "ImageIter": lambda path, folder: mx.image.ImageIter(2, (3, 8, 8), path_imglist=path, path_root=folder),
    "ImageListDataset": lambda path, folder: vision.ImageListDataset(folder, path),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("row", [b"5\t1.5", b"5\tnone\t0.png", b"\xff\t1\t0.png"])
def test_a_line_of_a_list_that_says_nothing_is_named(tmp_path, reader, row):
    path = tmp_path / "odd.lst"
    path.write_bytes(b"0\t1.5\t0.png\n" + row + b"\n")
    with pytest.raises(ValueError, match="a number, labels") as caught:
        READERS[reader](str(path), str(tmp_path))
    assert str(path) in str(caught.value) and ("line 2" in str(caught.value) or row[0] == 255)


@pytest.mark.parametrize("reader", READERS)
def test_damaged_lists(tmp_path, listed, reader):
    seen = reads_or_refuses(lambda path: READERS[reader](path, str(tmp_path)) and None, tmp_path / "odd.lst", [listed], COUNT, ValueError)
    assert seen[None] > 20 and seen["ValueError"] > 20, seen


def test_an_image_that_the_list_does_not_have_is_named(tmp_path, records):
    path = tmp_path / "short.lst"
    path.write_text("0\t1.5\t0.png\n")
    shutil.copy(records[0], tmp_path / "other.rec")  # without an index beside it
    iterator = mx.image.ImageIter(2, (3, 8, 8), path_imgrec=str(tmp_path / "other.rec"), path_imglist=str(path))
    with pytest.raises(ValueError, match="an image of number 1, expected one of the 1 that the list has"):
        iterator.next()


@pytest.mark.parametrize("iterator, name, content, shape", [
    ("CSVIter", "data_csv", b"1,2,3\n4,5,6\n7,8,9\n", (3,)),
    ("LibSVMIter", "data_libsvm", b"1 0:1 3:2\n0 1:4\n1 2:2.5 4:1\n", (5,)),
])  # fmt: skip
def test_damaged_tables(tmp_path, iterator, name, content, shape):
    def read(path):
        for batch in getattr(mx.io, iterator)(**{name: path}, data_shape=shape, batch_size=2):
            batch.data[0].wait_to_read()

    seen = reads_or_refuses(read, tmp_path / "odd", [content, b""], 2 * COUNT, ValueError)
    assert seen[None] > 10 and sum(seen.values()) - seen[None] > 100, seen


def network():
    net = nn.HybridSequential(prefix="n_")
    with net.name_scope():
        net.add(nn.Dense(3, in_units=2), nn.Dense(2, in_units=3))
    net.initialize()
    net.hybridize()
    net(mx.nd.ones((1, 2)))
    return net


def test_damaged_descriptions_of_blocks(tmp_path):
    network().save(str(tmp_path / "good"))
    shutil.copy(tmp_path / "good-model.params", tmp_path / "odd-model.params")
    contents = [content_of(tmp_path / "good-model.json"), b"[1]", b"{}", b'{"a": 1}', b'{"a": {"children": 3}}']
    target = network()
    seen = reads_or_refuses(lambda _: target.load(str(tmp_path / "odd")), tmp_path / "odd-model.json", contents, COUNT, (ValueError, mx.MXNetError))
    assert seen[None] and sum(seen.values()) - seen[None] > 60, seen


def test_damaged_symbols(tmp_path):
    network().export(str(tmp_path / "good"))

    def read(path):
        mx.sym.load(path)

    seen = reads_or_refuses(read, tmp_path / "odd.json", [content_of(tmp_path / "good-symbol.json")], COUNT, mx.MXNetError)
    assert seen[None] > 5 and sum(seen.values()) - seen[None] > 60, seen


def test_damaged_files_of_safetensors(tmp_path):
    mx.nd.save(str(tmp_path / "good.safetensors"), {"a": mx.nd.ones((2, 3)), "b": mx.nd.arange(4).astype("int8")})

    def read(path):
        for array in mx.nd.load(path).values():
            array.wait_to_read()

    contents = [content_of(tmp_path / "good.safetensors")]
    seen = reads_or_refuses(read, tmp_path / "odd.safetensors", contents, COUNT, (ValueError, TypeError))
    assert seen[None] > 5 and seen["ValueError"] > 60, seen


def test_damaged_files_of_embeddings(tmp_path):
    content = b"hello 0.1 0.2 0.3\nworld 1 2 3\n<unk> 0 0 0\n"

    def read(path):
        embedding = mx.contrib.text.embedding.CustomEmbedding(path)
        assert embedding.get_vecs_by_tokens(["hello"]).shape == (1, embedding.vec_len)

    seen = reads_or_refuses(read, tmp_path / "odd.txt", [content, b"<unk> 0 0 0\n", b"", b"\xff 1 2\n"], COUNT, ValueError)
    assert seen[None] > 5 and seen["ValueError"] > 60, seen


def test_damaged_files_of_digits(tmp_path):
    images = struct.pack(">IIII", 2051, 3, 4, 4) + bytes(48)
    labels = struct.pack(">II", 2049, 3) + bytes(3)
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(labels)

    def read(_):
        assert vision.MNIST(tmp_path, train=False)[2][0].ndim == 3

    seen = reads_or_refuses(read, tmp_path / "t10k-images-idx3-ubyte", [images, gzip.compress(images)], COUNT, ValueError)
    assert seen[None] > 20 and seen["ValueError"] > 60, seen


def test_damaged_records_of_images(records):
    contents = [*records[2].values(), mx.recordio.pack(mx.recordio.IRHeader(0, [1.0, 2.0], 1, 0), b"no image")]
    rng = random.Random(SEED)
    seen = collections.Counter()
    for _ in range(COUNT):
        try:
            pixels = mx.recordio.unpack_img(damaged(rng, rng.choice(contents)))[1]
            seen[pixels.ndim] += 1
        except ValueError as error:
            seen["refused"] += 1
            assert "given" in str(error)
    assert seen["refused"] > 60, seen
