# SPDX-License-Identifier: Apache-2.0
"""RecordIO files: what is written is read again, byte for byte as MXNet 1.9.1 does it."""

import multiprocessing
import os
import pickle
import struct
import threading
import time

import numpy as np
import pytest

import mxnet as mx

MAGIC = struct.pack("<I", 0xCED7230A)
RECORDS = [
    b"", b"a", b"four", b"plain text that is longer", MAGIC, MAGIC + MAGIC, b"1234" + MAGIC + b"56", b"12" + MAGIC + b"3456",
    MAGIC + b"tail", b"head" + MAGIC, bytes(range(256)) * 3,
]


def part(kind, payload):
    """A part as docs/recordio.md describes it."""
    return MAGIC + struct.pack("<I", kind << 29 | len(payload)) + payload + b"\0" * (-len(payload) % 4)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "a.rec")


def write(path, records):
    with mx.recordio.MXRecordIO(path, "w") as writer:
        for record in records:
            writer.write(record)


def read_all(path, **kwargs):
    with mx.recordio.MXRecordIO(path, "r", **kwargs) as reader:
        return list(iter(reader.read, None)), reader.skipped


def test_records_come_back_in_order(path):
    write(path, RECORDS)
    assert read_all(path)[0] == RECORDS


def test_a_file_holds_what_the_format_says(path):
    write(path, [b"abc", MAGIC + b"xyz!" + MAGIC, b"12" + MAGIC])
    with open(path, "rb") as file:
        content = file.read()
    assert content == part(0, b"abc") + part(1, b"") + part(2, b"xyz!") + part(3, b"") + part(0, b"12" + MAGIC)


def test_random_records_with_magics_anywhere_survive(path):
    seed = 7
    rng = np.random.RandomState(seed)
    records = []
    for _ in range(300):
        pieces = [rng.bytes(rng.randint(0, 9)) if rng.rand() < 0.6 else MAGIC for _ in range(rng.randint(0, 12))]
        records.append(b"".join(pieces))
    records.append(rng.bytes(3 << 20))  # more than a reader has in memory at once
    write(path, records)
    assert read_all(path)[0] == records, f"seed {seed}"


def test_a_reader_begins_anew(path):
    write(path, RECORDS)
    reader = mx.recordio.MXRecordIO(path, "r")
    assert [reader.read(), reader.read()] == RECORDS[:2]
    reader.reset()
    assert reader.read() == RECORDS[0]


def test_an_index_finds_records_by_key(tmp_path):
    idx, rec = str(tmp_path / "a.idx"), str(tmp_path / "a.rec")
    with mx.recordio.MXIndexedRecordIO(idx, rec, "w") as writer:
        for i, record in enumerate(RECORDS):
            assert writer.tell() == os.path.getsize(rec) or writer.tell() > 0 or i == 0
            writer.write_idx(i * 10, record)
    reader = mx.recordio.MXIndexedRecordIO(idx, rec, "r")
    assert reader.keys == [i * 10 for i in range(len(RECORDS))]
    for i in (5, 0, 10, 3):
        assert reader.read_idx(i * 10) == RECORDS[i]
    reader.seek(20)
    assert reader.read() == RECORDS[2] and reader.read() == RECORDS[3]
    with open(idx) as file:
        assert file.readline() == "0\t0\n"
    with pytest.raises(KeyError):
        reader.read_idx(7)


def test_keys_may_be_text(tmp_path):
    idx, rec = str(tmp_path / "a.idx"), str(tmp_path / "a.rec")
    with mx.recordio.MXIndexedRecordIO(idx, rec, "w", key_type=str) as writer:
        writer.write_idx("one", b"1")
        writer.write_idx("two", b"2")
    assert mx.recordio.MXIndexedRecordIO(idx, rec, "r", key_type=str).read_idx("two") == b"2"


def test_readers_are_pickled_and_writers_are_not(tmp_path, path):
    write(path, RECORDS)
    reader = mx.recordio.MXRecordIO(path, "r")
    reader.read()
    assert pickle.loads(pickle.dumps(reader)).read() == RECORDS[0]
    with pytest.raises(ValueError, match="writing"):
        pickle.dumps(mx.recordio.MXRecordIO(str(tmp_path / "b.rec"), "w"))


def _read_in_child(reader, connection):
    connection.send(reader.read())


def test_a_fork_reads_with_a_file_of_its_own(path):
    write(path, RECORDS)
    reader = mx.recordio.MXRecordIO(path, "r")
    reader.read()
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    child = context.Process(target=_read_in_child, args=(reader, theirs))
    child.start()
    assert ours.recv() == RECORDS[0]
    child.join()
    assert reader.read() == RECORDS[1]


class SlowToOpen(mx.recordio.MXRecordIO):
    times = 0

    def _open_file(self):
        self.times += 1
        time.sleep(0.05 * (self.times - 1))  # the parent opens at once, threads one after the other
        super()._open_file()


def test_threads_of_a_fork_share_its_own_file(path):
    write(path, [b"0", b"1", b"2", b"3"])
    reader = SlowToOpen(path, "r")
    reader.pid = None  # the parent's
    records = []
    threads = [threading.Thread(target=lambda: records.append(reader.read())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(records) == [b"0", b"1", b"2", b"3"]


def test_many_readers_read_one_file(path):
    write(path, RECORDS * 50)
    results = []
    threads = [threading.Thread(target=lambda: results.append(read_all(path)[0])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [RECORDS * 50] * 4


def test_damage_is_an_error_with_file_and_offset(path):
    write(path, [b"first", b"second", b"third"])
    with open(path, "r+b") as file:
        file.seek(16)
        file.write(b"\0\0\0\0")
    reader = mx.recordio.MXRecordIO(path, "r")
    assert reader.read() == b"first"
    with pytest.raises(mx.MXNetError, match=r"a\.rec.*at byte 16"):
        reader.read()


def test_a_reader_that_skips_goes_on_and_counts(path):
    write(path, [b"first", b"second", b"third", b"fourth"])
    with open(path, "r+b") as file:
        file.seek(16)
        file.write(b"\0\0\0\0")
    records, skipped = read_all(path, skip_damaged=True)
    assert records == [b"first", b"third", b"fourth"]
    assert skipped == (1, 16)


@pytest.mark.parametrize("cut", [1, 5, 9, 13])
def test_a_file_that_is_cut_off(path, cut):
    write(path, [b"first", b"second"])
    os.truncate(path, os.path.getsize(path) - cut)
    with pytest.raises(mx.MXNetError, match="cut off"):
        read_all(path)
    records, (places, _) = read_all(path, skip_damaged=True)
    assert records == [b"first"] and places == 1


def test_a_file_of_anything_is_only_an_error(path):
    seed = 3
    rng = np.random.RandomState(seed)
    for _ in range(50):
        with open(path, "wb") as file:
            file.write(b"".join(rng.choice([MAGIC, rng.bytes(4), struct.pack("<I", rng.randint(0, 2**31))]) for _ in range(40)))
        records, _ = read_all(path, skip_damaged=True)
        assert all(isinstance(record, bytes) for record in records), f"seed {seed}"


def test_wrong_use_is_named(tmp_path, path):
    write(path, RECORDS)
    with pytest.raises(ValueError, match="'q'"):
        mx.recordio.MXRecordIO(path, "q")
    with pytest.raises(mx.MXNetError, match="nowhere"):
        mx.recordio.MXRecordIO(str(tmp_path / "nowhere" / "a.rec"), "r")
    with pytest.raises(mx.MXNetError, match="s3://"):
        mx.recordio.MXRecordIO("s3://bucket/a.rec", "r")
    with pytest.raises(ValueError, match="reading"):
        mx.recordio.MXRecordIO(path, "r").write(b"")


def test_headers_hold_one_label_or_many():
    header = mx.recordio.IRHeader(0, 4.0, 7, 9)
    packed = mx.recordio.pack(header, b"rest")
    assert packed == struct.pack("IfQQ", 0, 4.0, 7, 9) + b"rest"
    assert mx.recordio.unpack(packed) == (header, b"rest")
    assert repr(header) == "HEADER(flag=0, label=4.0, id=7, id2=9)"
    header, rest = mx.recordio.unpack(mx.recordio.pack(mx.recordio.IRHeader(9, [1, 2.5], 7, 0), b"rest"))
    assert header.flag == 2 and header.label.tolist() == [1, 2.5] and rest == b"rest"


def test_images_are_packed_as_png_without_loss_and_as_jpeg_nearly():
    rng = np.random.RandomState(1)
    coarse = rng.randint(0, 255, (4, 5, 3), np.uint8).repeat(8, 0).repeat(8, 1)
    header = mx.recordio.IRHeader(0, 1.0, 2, 0)
    _, exact = mx.recordio.unpack_img(mx.recordio.pack_img(header, coarse, quality=3, img_fmt=".png"))
    assert exact.dtype == np.uint8 and (exact == coarse).all()
    assert mx.recordio.pack_img(header, coarse, img_fmt=".PNG") == mx.recordio.pack_img(header, coarse, quality=9, img_fmt=".png")
    _, near = mx.recordio.unpack_img(mx.recordio.pack_img(header, coarse, quality=95))
    assert near.shape == coarse.shape and np.abs(near.astype(int) - coarse).mean() < 8
    grey = coarse[:, :, 0]
    _, back = mx.recordio.unpack_img(mx.recordio.pack_img(header, grey, quality=3, img_fmt=".png"))
    assert back.shape == grey.shape and (back == grey).all()
    with pytest.raises(mx.MXNetError, match="quality"):
        mx.recordio.pack_img(header, coarse, quality=0)
    with pytest.raises(mx.MXNetError, match="gif"):
        mx.recordio.pack_img(header, coarse, img_fmt=".gif")


def test_an_image_that_is_none_is_an_error():
    with pytest.raises(mx.MXNetError, match="JPEG, PNG or BMP"):
        mx.recordio.unpack_img(mx.recordio.pack(mx.recordio.IRHeader(0, 0.0, 0, 0), b"no image at all"))


def test_threads_read_and_write_one_file_by_key(tmp_path):
    """Each write lands under its key, each read gives its own record, whatever the other threads do meanwhile."""
    files = str(tmp_path / "a.idx"), str(tmp_path / "a.rec")
    keys = [list(range(first, 400, 4)) for first in range(4)]

    def at_once(work):
        threads = [threading.Thread(target=work, args=(mine,)) for mine in keys]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    with mx.recordio.MXIndexedRecordIO(*files, "w") as writer:
        at_once(lambda mine: [writer.write_idx(key, b"%d" % key * 50) for key in mine])
    with mx.recordio.MXIndexedRecordIO(*files, "r") as reader:
        assert sorted(reader.keys) == list(range(400))
        wrong = []
        at_once(lambda mine: wrong.extend(key for key in mine * 20 if reader.read_idx(key) != b"%d" % key * 50))
        assert wrong == []
        assert pickle.loads(pickle.dumps(reader)).read_idx(7) == b"7" * 50
