# SPDX-License-Identifier: Apache-2.0
"""BMP files of every number of bits: pixels as they were, in the release's greys, and errors for the rest."""

import struct

import numpy as np
import pytest

import mxnet as mx
from mxnet import image

HEIGHT, WIDTH = 3, 5
rng = np.random.default_rng(21)
COLOURS = rng.integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)
PALETTE = rng.integers(0, 256, (256, 3), dtype=np.uint8)
INDICES = rng.integers(0, 256, (HEIGHT, WIDTH), dtype=np.uint8)
STANDARD = struct.pack("<III", 0xFF0000, 0xFF00, 0xFF)


def bmp(bits, rows, *, palette=None, compression=0, height=HEIGHT, masks=b"", header=40):
    """A file of rows from the top; they are stored from the bottom where the height is positive."""
    stored = b"".join(row + bytes(-len(row) % 4) for row in (rows[::-1] if height > 0 else rows))
    colours = b"" if palette is None else np.pad(palette[:, ::-1], ((0, 0), (0, 1))).tobytes()
    facts = struct.pack("<IiiHHIIiiII", header, WIDTH, height, 1, bits, compression, len(stored), 1, 1, 0 if palette is None else len(palette), 0)
    facts = (facts + masks).ljust(header, b"\0")
    start = 14 + len(facts) + len(colours)
    return b"BM" + struct.pack("<IHHI", start + len(stored), 0, 0, start) + facts + colours + stored


def blue_first(row, *more):
    return np.concatenate([row[:, ::-1], *more], axis=1).astype(np.uint8).tobytes()


def packed(bits):
    """Rows of indices of that many bits, the first pixel in the upper ones."""
    return [np.packbits(np.unpackbits(row[:, None] & (2**bits - 1), axis=1)[:, 8 - bits :].reshape(-1)).tobytes() for row in INDICES]


PLAIN = [blue_first(row) for row in COLOURS]
WITH_A_FOURTH = [blue_first(row, np.full((WIDTH, 1), 7)) for row in COLOURS]
OLDEST = b"BM" + struct.pack("<IHHI", 0, 0, 0, 26) + struct.pack("<IHHHH", 12, WIDTH, HEIGHT, 1, 24) + b"".join(row + b"\0" for row in PLAIN[::-1])
FILES = {
    "24 bits": bmp(24, PLAIN), "from the top": bmp(24, PLAIN, height=-HEIGHT), "32 bits": bmp(32, WITH_A_FOURTH),
    "masks": bmp(32, WITH_A_FOURTH, compression=3, masks=STANDARD), "the newest header": bmp(32, WITH_A_FOURTH, compression=3, masks=STANDARD, header=124),
    "the oldest header": OLDEST,
}  # fmt: skip


@pytest.mark.parametrize("file", FILES.values(), ids=FILES)
def test_colours_are_read_whatever_holds_them(file, tmp_path):
    np.testing.assert_array_equal(image.imdecode(file).asnumpy(), COLOURS)
    np.testing.assert_array_equal(image.imdecode(file, to_rgb=False).asnumpy(), COLOURS[:, :, ::-1])
    grey = np.rint(COLOURS @ [0.299, 0.587, 0.114])
    np.testing.assert_array_equal(image.imdecode(file, 0).asnumpy()[:, :, 0], grey)
    (tmp_path / "a.bmp").write_bytes(file)
    np.testing.assert_array_equal(image.imread(str(tmp_path / "a.bmp")).asnumpy(), COLOURS)


@pytest.mark.parametrize("bits", [1, 4, 8])
def test_indices_into_a_palette(bits):
    decoded = image.imdecode(bmp(bits, packed(bits), palette=PALETTE[: 2**bits]))
    np.testing.assert_array_equal(decoded.asnumpy(), PALETTE[INDICES & (2**bits - 1)])


def test_an_index_beyond_a_short_palette_is_black():
    decoded = image.imdecode(bmp(8, packed(8), palette=PALETTE[:100])).asnumpy()
    np.testing.assert_array_equal(decoded, np.where(INDICES[:, :, None] < 100, PALETTE[INDICES], 0))


@pytest.mark.parametrize("green", [5, 6])
def test_two_bytes_a_pixel_are_upper_bits(green):
    values = rng.integers(0, 2**15, (HEIGHT, WIDTH), dtype=np.uint16)
    masks = struct.pack("<III", *((0xF800, 0x7E0, 0x1F) if green == 6 else (0x7C00, 0x3E0, 0x1F)))
    decoded = image.imdecode(bmp(16, [row.tobytes() for row in values], compression=3, masks=masks)).asnumpy()
    wanted = [values >> (5 + green) << 3, values >> 5 << (8 - green), values << 3]
    np.testing.assert_array_equal(decoded, np.stack(wanted, axis=2).astype(np.uint8))


FAULTS = {
    "ends early": bmp(24, PLAIN)[:-1], "a header of 16 bytes": bmp(24, PLAIN)[:14] + struct.pack("<I", 16) + bytes(40),
    "7 bits": bmp(7, PLAIN), "8 bits and compression 1": bmp(8, PLAIN, palette=PALETTE, compression=1),
    "unusual order": bmp(32, WITH_A_FOURTH, compression=3, masks=struct.pack("<III", 0xFF, 0xFF00, 0xFF0000)),
    "0 x 5": bmp(24, PLAIN, height=0), "2147483648 x 5": bmp(24, PLAIN, height=-(2**31)),
}  # fmt: skip


@pytest.mark.parametrize("text", FAULTS)
def test_what_cannot_be_read_is_refused(text):
    with pytest.raises(mx.MXNetError, match=f"{text}.*expected a JPEG, PNG or BMP image"):
        image.imdecode(FAULTS[text])


def test_a_file_cut_anywhere_is_an_error():
    for file in (*FILES.values(), bmp(8, packed(8), palette=PALETTE)):
        for length in range(2, len(file), 7):
            with pytest.raises(mx.MXNetError):
                image.imdecode(file[:length])


def test_changed_headers_give_an_image_or_an_error():
    for file in (*FILES.values(), bmp(8, packed(8), palette=PALETTE)):
        for _ in range(300):
            changed = bytearray(file)
            for at in rng.integers(2, min(len(file), 70), rng.integers(1, 4)):
                changed[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.integers(256)])
            try:
                assert image.imdecode(bytes(changed)).ndim == 3
            except mx.MXNetError as error:
                assert "given a BMP" in str(error) or "given an image" in str(error), error
