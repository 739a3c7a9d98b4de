# SPDX-License-Identifier: Apache-2.0
"""Photographs are decoded as they were held: the Exif note of a JPEG says how, as viewers and 1.9.1 obey it."""

import struct

import numpy as np
import pytest

import mxnet as mx

# What each value of the tag asks for, of the stored pixels.
SEEN = {
    1: lambda stored: stored,
    2: np.fliplr,
    3: lambda stored: np.rot90(stored, 2),
    4: np.flipud,
    5: lambda stored: stored.swapaxes(0, 1),
    6: lambda stored: np.rot90(stored, -1),
    7: lambda stored: np.rot90(stored, 2).swapaxes(0, 1),
    8: np.rot90,
}


def photograph():
    pixels = np.random.RandomState(3).randint(0, 255, (5, 7, 3)).astype(np.uint8).repeat(8, 0).repeat(8, 1)
    return mx.recordio.unpack(mx.recordio.pack_img(mx.recordio.IRHeader(0, 0.0, 0, 0), pixels))[1]


def exif(orientation, order="<", directory=8, kind=3):
    """An Exif note with one entry; `kind` is the entry's type, 3 for 16 bits and 4 for 32."""
    value = struct.pack(order + ("HH" if kind == 3 else "I"), *((orientation, 0) if kind == 3 else (orientation,)))
    head = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "I", directory)
    entry = struct.pack(order + "HHHI", 1, 0x112, kind, 1) + value + bytes(4)
    return b"Exif\0\0" + head.ljust(directory, b"\0") + entry


def with_notes(jpeg, *notes):
    marked = b"".join(b"\xff\xe1" + struct.pack(">H", len(note) + 2) + note for note in notes)
    return jpeg[:2] + marked + jpeg[2:]


@pytest.mark.parametrize("orientation", sorted(SEEN))
def test_pixels_are_turned_as_the_note_says(orientation, tmp_path):
    jpeg = photograph()
    noted = with_notes(jpeg, exif(orientation))
    expected = SEEN[orientation](mx.image.imdecode(jpeg).asnumpy())
    np.testing.assert_array_equal(mx.image.imdecode(noted).asnumpy(), expected)
    grey = SEEN[orientation](mx.image.imdecode(jpeg, 0).asnumpy())
    np.testing.assert_array_equal(mx.image.imdecode(noted, 0).asnumpy(), grey)
    np.testing.assert_array_equal(mx.image.imdecode(noted, to_rgb=False).asnumpy(), expected[:, :, ::-1])
    (tmp_path / "held.jpg").write_bytes(noted)
    np.testing.assert_array_equal(mx.image.imread(str(tmp_path / "held.jpg")).asnumpy(), expected)


def test_record_iterators_see_them_so(tmp_path):
    jpeg = photograph()
    path = str(tmp_path / "held.rec")
    with mx.recordio.MXRecordIO(path, "w") as writer:
        for orientation in SEEN:
            header = mx.recordio.IRHeader(0, float(orientation), orientation, 0)
            writer.write(mx.recordio.pack(header, with_notes(jpeg, exif(orientation))))
    (batch,) = mx.io.ImageRecordIter(path_imgrec=path, data_shape=(3, 32, 32), batch_size=len(SEEN), preprocess_threads=2)
    stored = mx.image.imdecode(jpeg).asnumpy()
    for orientation, pixels in zip(batch.label[0].asnumpy(), batch.data[0].asnumpy()):
        seen = SEEN[int(orientation)](stored)
        top, left = (seen.shape[0] - 32) // 2, (seen.shape[1] - 32) // 2
        np.testing.assert_array_equal(pixels.transpose(1, 2, 0), seen[top : top + 32, left : left + 32])


@pytest.mark.parametrize(
    "note",
    [
        exif(6, ">"),
        exif(6, directory=20),
        exif(6, kind=4),
    ],
    ids=["big endian", "a directory further on", "a value of 32 bits"],
)
def test_notes_of_every_writer_are_read(note):
    jpeg = photograph()
    expected = SEEN[6](mx.image.imdecode(jpeg).asnumpy())
    np.testing.assert_array_equal(mx.image.imdecode(with_notes(jpeg, note)).asnumpy(), expected)
    other = b"http://ns.adobe.com/xap/1.0/\0<x:xmpmeta/>"
    np.testing.assert_array_equal(mx.image.imdecode(with_notes(jpeg, other, note)).asnumpy(), expected)


@pytest.mark.parametrize(
    "note",
    [exif(6)[:length] for length in (6, 7, 9, 13, 15, 20)] + [exif(0), exif(9), b"Exif\0\0II*\0\xff\xff\xff\xff", b"Exif\0\0MM*\0" + exif(6)[10:]],
    ids=lambda note: note.hex(),
)
def test_a_note_that_cannot_be_read_turns_nothing(note):
    jpeg = photograph()
    np.testing.assert_array_equal(mx.image.imdecode(with_notes(jpeg, note)).asnumpy(), mx.image.imdecode(jpeg).asnumpy())
