# SPDX-License-Identifier: Apache-2.0
"""Images: what moves pixels against NumPy, interpolation by its properties, decoders with files made here and damaged ones."""
import struct
import zlib

import numpy as np
import pytest

from op_calls import Failure

SEED = 20261120
# A JPEG of 8 x 8 grey pixels, all 128: quantization by ones, two codes a table, one block of zeros.
JPEG = bytes.fromhex(
    "ffd8" "ffdb004300" + "01" * 64 + "ffc0000b080008000801011100"
    "ffc40014000100000000000000000000000000000000" "ffc40014100100000000000000000000000000000000"
    "ffda0008010100003f00" "3f" "ffd9")


def pixels(rng, *shape, dtype="uint8"):
    return rng.integers(0, 256, shape).astype(dtype)


def png(image, color, depth=8):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + row.tobytes() for row in image)
    header = struct.pack(">IIBBBBB", image.shape[1], image.shape[0], depth, color, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def decode(mx, data, **attrs):
    return mx.run("_cvimdecode", np.frombuffer(data, "uint8"), **attrs)[0]


@pytest.mark.parametrize("shape", [(4, 5, 3), (2, 4, 5, 1)])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "float16", "int64"])
def test_flips_and_crops_are_numpys(mx, rng, shape, dtype):
    x = pixels(rng, *shape, dtype=dtype)
    np.testing.assert_array_equal(mx.run("_image_flip_left_right", x)[0], np.flip(x, -2))
    np.testing.assert_array_equal(mx.run("_image_flip_top_bottom", x)[0], np.flip(x, -3))
    np.testing.assert_array_equal(mx.run("_image_crop", x, x=2, y=1, width=3, height=2)[0], x[..., 1:3, 2:5, :])


@pytest.mark.parametrize("box", [dict(x=3, y=0, width=3, height=1), dict(x=0, y=-1, width=1, height=1), dict(x=0, y=0, width=0, height=1)])
def test_boxes_outside_are_refused(mx, rng, box):
    with pytest.raises(Failure, match="_image_crop"):
        mx.run("_image_crop", pixels(rng, 4, 5, 3), **box)


def test_gradients_go_back_to_their_pixels(mx, rng):
    x, flipped = rng.standard_normal((4, 5, 3)), rng.standard_normal((4, 5, 3))
    np.testing.assert_array_equal(mx.gradients("_image_flip_left_right", [x], [flipped])[0], np.flip(flipped, 1))
    box, want = rng.standard_normal((2, 3, 3)), np.zeros_like(x)
    want[1:3, 2:5] = box
    np.testing.assert_array_equal(mx.gradients("_image_crop", [x], [box], x=2, y=1, width=3, height=2)[0], want)
    planes = rng.standard_normal((3, 4, 5))
    got = mx.gradients("_image_normalize", [planes], [np.ones_like(planes)], mean=(1, 2, 3), std=(2, 4, 5))[0]
    np.testing.assert_allclose(got, np.ones_like(planes) / np.array([2, 4, 5]).reshape(3, 1, 1))
    head = rng.standard_normal((3, 4, 5)).astype("float32")
    got = mx.gradients("_image_to_tensor", [x.astype("float32")], [head])[0]
    np.testing.assert_allclose(got, head.transpose(1, 2, 0) / 255, rtol=1e-6)


def test_tensors_are_channels_of_normalized_pixels(mx, rng):
    x = pixels(rng, 2, 4, 5, 3)
    got = mx.run("_image_to_tensor", x)[0]
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, x.transpose(0, 3, 1, 2) / np.float32(255), rtol=1e-6)
    np.testing.assert_allclose(mx.run("_image_normalize", got, mean=(0.5,), std=(0.25,))[0], (got - 0.5) / 0.25, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(mx.run("_image_normalize", got)[0], got)


@pytest.mark.parametrize("interp", [0, 1, 2, 3, 4])
def test_the_same_size_and_flat_images_stay(mx, rng, interp):
    x = pixels(rng, 6, 7, 3)
    np.testing.assert_array_equal(mx.run("_cvimresize", x, w=7, h=6, interp=interp)[0], x)
    flat = np.full((2, 6, 7, 3), 77, "uint8")
    got = mx.run("_image_resize", flat, size=(11, 4), interp=interp)[0]
    assert got.shape == (2, 4, 11, 3) and (got == 77).all()


def test_halving_by_area_is_the_mean_of_four(mx, rng):
    x = rng.standard_normal((6, 8, 2))
    want = x.reshape(3, 2, 4, 2, 2).mean((1, 3))
    np.testing.assert_allclose(mx.run("_cvimresize", x, w=4, h=3, interp=3)[0], want, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("old, size, at, picked", [(39, 30, [10, 20], [12, 25]), (6, 34, [16, 17, 18], [2, 2, 3]), (9, 51, [17, 34], [2, 5])])
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
@pytest.mark.parametrize("axis", [0, 1])
def test_growing_by_area_rounds_whole_places_as_1x(mx, old, size, at, picked, dtype, axis):
    """Where a new pixel begins between two old ones, rounding of the scale says which one it has: that of 1.9.1."""
    ramp = np.arange(old, dtype=dtype)[:, None, None].repeat(3, 1).swapaxes(0, axis)
    grown = mx.run("_image_resize", ramp, size=(4, size) if axis == 0 else (size, 4), interp=3)[0]
    np.testing.assert_array_equal(grown.take(at, axis).take(0, 1 - axis)[:, 0], picked)


def test_linear_interpolation_keeps_ramps(mx):
    ramp = np.arange(8, dtype="float64").reshape(1, 8, 1).repeat(3, 0)
    got = mx.run("_image_resize", ramp, size=(16, 3))[0][0, :, 0]
    np.testing.assert_allclose(got, np.clip((np.arange(16) + 0.5) / 2 - 0.5, 0, 7), atol=1e-6)


def test_keep_ratio_makes_the_shorter_side_the_size(mx, rng):
    assert mx.run("_image_resize", pixels(rng, 10, 20, 3), size=5, keep_ratio=True)[0].shape == (5, 10, 3)
    assert mx.run("_image_resize", pixels(rng, 20, 10, 3), size=5, keep_ratio=True)[0].shape == (10, 5, 3)


@pytest.mark.parametrize("attrs", [dict(), dict(size=(0,)), dict(size=(1, 2, 3)), dict(size=3, interp=9)])
def test_sizes_that_make_no_sense(mx, rng, attrs):
    with pytest.raises(Failure, match="_image_resize"):
        mx.run("_image_resize", pixels(rng, 4, 4, 3), **attrs)


@pytest.mark.parametrize("kind, mode", [(1, "edge"), (2, "symmetric"), (3, "wrap"), (4, "reflect")])
def test_borders_are_numpys_padding(mx, rng, kind, mode):
    x = pixels(rng, 3, 4, 2)
    got = mx.run("_cvcopyMakeBorder", x, top=5, bot=1, left=7, right=2, type=kind)[0]
    np.testing.assert_array_equal(got, np.pad(x, ((5, 1), (7, 2), (0, 0)), mode))


def test_borders_of_constants(mx, rng):
    x = pixels(rng, 3, 4, 2)
    got = mx.run("_cvcopyMakeBorder", x, top=1, bot=0, left=0, right=0, values=(3, 300))[0]
    assert (got[0] == [3, 255]).all() and (got[1:] == x).all()
    got = mx.run("_cvcopyMakeBorder", x, top=0, bot=1, left=0, right=0, values=(7,))[0]
    assert (got[3] == [7, 0]).all() and (got[:3] == x).all()  # channels without one have 0


def test_colour_changes_by_nothing_keep_pixels_and_hues_turn(mx, rng):
    x = pixels(rng, 5, 6, 3, dtype="float64")
    same = dict(min_factor=1, max_factor=1)
    for change in ("brightness", "contrast", "saturation", "hue"):
        np.testing.assert_allclose(mx.run(f"_image_random_{change}", x, **same)[0], x, rtol=1e-5, atol=1e-4)
    grey = np.full((4, 4, 3), 90.0)
    np.testing.assert_allclose(mx.run("_image_random_hue", grey, min_factor=0.3, max_factor=0.3)[0], grey)
    turned = mx.run("_image_random_hue", np.array([[[200.0, 0, 0]]]), min_factor=1 / 3, max_factor=1 / 3)[0]
    np.testing.assert_allclose(turned, [[[0, 200, 0]]], atol=1e-3)
    mean = (x @ [0.299, 0.587, 0.114]).mean()
    got = mx.run("_image_random_contrast", x, min_factor=1.5, max_factor=1.5)[0]
    np.testing.assert_allclose(got, 1.5 * x - 0.5 * mean, rtol=1e-5, atol=1e-3)


def test_turned_hues_of_bytes_are_cut_from_numbers_rounded_as_existing_programs_have_them(mx):
    # Pixels of which some number is a whole one but for its rounding, and what 1.9.1 makes of them.
    x = np.array([[[172, 47, 117], [192, 67, 251], [216, 88, 140], [58, 193, 230], [39, 87, 174], [88, 81, 165]]], "uint8")
    want = [[[46, 91, 172], [67, 250, 228], [88, 114, 215], [158, 230, 57], [59, 174, 38], [80, 165, 104]]]
    assert mx.run("_image_random_hue", x, min_factor=0.7, max_factor=0.7)[0].tolist() == want


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8"])
def test_colours_of_many_pixels_are_those_of_pixels_alone(mx, rng, dtype):
    # Vectors and what is left behind them, black, grey and white, numbers that are none; in place, too.
    x = rng.uniform(0, 255, (1, 601, 3)).astype(dtype)
    x[0, :9] = [[0, 0, 0], [7, 7, 7], [255, 255, 255], [9, 9, 1], [9, 1, 9], [1, 9, 9], [0, 255, 0], [255, 0, 0], [0, 0, 255]]
    if dtype != "uint8":
        x[0, 300:304, 1] = [np.nan, np.inf, -np.inf, -0.0]
    changes = [("_image_random_hue", dict(min_factor=f, max_factor=f)) for f in (0.3, 1.2, -0.4)]
    changes += [("_image_adjust_lighting", dict(alpha=(0.1, -0.05, 0.02))), ("_image_random_saturation", dict(min_factor=0.7, max_factor=0.7)),
                ("_image_random_brightness", dict(min_factor=0.7, max_factor=0.7))]
    for name, params in changes:
        alone = np.concatenate([mx.run(name, x[:, i:i + 1], **params)[0] for i in range(x.shape[1])], axis=1)
        np.testing.assert_array_equal(mx.run(name, x, **params)[0], alone)


def test_factors_are_drawn_from_their_range(mx):
    x = np.full((1, 1, 3), 1.0)
    factors = [mx.run("_image_random_brightness", x, min_factor=0.5, max_factor=2)[0][0, 0, 0] for _ in range(200)]
    assert 0.5 <= min(factors) < 0.7 and 1.8 < max(factors) <= 2
    with pytest.raises(Failure, match="min_factor"):
        mx.run("_image_random_brightness", x, min_factor=2, max_factor=1)


def test_coins_fall_on_both_sides(mx, rng):
    x = pixels(rng, 2, 3, 3)
    seen = {bytes(mx.run("_image_random_flip_left_right", x)[0]) for _ in range(64)}
    assert seen == {x.tobytes(), np.flip(x, 1).tobytes()}


SEEDED = [("_image_random_color_jitter", {"brightness": 0.3, "contrast": 0.2, "saturation": 0.25, "hue": 0}, [51.473408, 52.184692, 52.895985]),
          ("_image_random_color_jitter", {"brightness": 1.5, "contrast": 0, "saturation": 0, "hue": 0}, [28.954884, 29.437464, 29.920046]),
          ("_image_random_lighting", {"alpha_std": 0.5}, [88.379997, 88.220078, 85.051315])]


def test_seeded_coins_jitters_and_lights_are_those_of_the_release(mx):
    """Values that the 1.9.1 release gives."""
    x = np.arange(6, dtype="uint8").reshape(1, 2, 3)
    tossed = ""
    for seed in range(40):
        mx.call("MXRandomSeed", seed)
        tossed += str(int((mx.run("_image_random_flip_left_right", x)[0] != x).any()))
    assert tossed == "1010001111011001101010000010100011010011"
    x = np.arange(60, 156, dtype="float32").reshape(8, 4, 3)
    for name, attrs, want in SEEDED:
        mx.call("MXRandomSeed", 3)
        np.testing.assert_allclose(mx.run(name, x, **attrs)[0][0, 0], want, rtol=1e-5)


def test_jitter_of_nothing_changes_nothing(mx, rng):
    x = pixels(rng, 3, 4, 3)
    np.testing.assert_array_equal(mx.run("_image_random_color_jitter", x, brightness=0, contrast=0, saturation=0, hue=0)[0], x)
    assert mx.run("_image_random_color_jitter", x, brightness=0.5, contrast=0.5, saturation=0.5, hue=0.5)[0].shape == x.shape


@pytest.mark.parametrize("channels, color", [(1, 0), (3, 2), (2, 4), (4, 6)])
def test_png_of_all_colour_types_decodes(mx, rng, channels, color):
    image = pixels(rng, 5, 7, channels)
    colours = image[..., :3] if channels > 2 else image[..., :1].repeat(3, 2)
    data = png(image, color)
    np.testing.assert_array_equal(decode(mx, data), colours)
    np.testing.assert_array_equal(decode(mx, data, to_rgb=False), colours[..., ::-1])
    grey = decode(mx, data, flag=0)
    assert grey.shape == (5, 7, 1)
    np.testing.assert_allclose(grey[..., 0], colours @ [0.299, 0.587, 0.114], atol=1.5)


def test_png_of_16_bits_keeps_the_high_byte(mx, rng):
    image = rng.integers(0, 65536, (3, 4, 3)).astype(">u2")
    np.testing.assert_array_equal(decode(mx, png(image, 2, 16)), image >> 8)


def test_jpeg_decodes_in_colour_and_in_grey(mx):
    assert decode(mx, JPEG).shape == (8, 8, 3) and (decode(mx, JPEG, flag=0) == 128).all()


def test_damaged_files_are_errors_or_images(mx, rng):
    for data in (png(pixels(rng, 4, 4, 3), 2), JPEG):
        for end in range(0, len(data), 3):
            try:
                assert decode(mx, data[:end]).ndim == 3
            except Failure as failure:
                assert "expected a JPEG, PNG or BMP image" in str(failure)
        for _ in range(200):
            broken = bytearray(data)
            # Sizes are left alone: a file may claim gigabytes, which are an honest failure but a slow test.
            broken[int(rng.integers(30, len(data)))] ^= 1 << int(rng.integers(8))
            try:
                assert decode(mx, bytes(broken)).ndim == 3
            except Failure as failure:
                assert "expected a JPEG, PNG or BMP image" in str(failure)


def claimed_png(height, width):
    """The first bytes of an image of this size."""
    image = png(np.zeros((1, 1), "uint8"), 0)
    return image[:16] + struct.pack(">II", width, height) + image[24:]


def claimed_jpeg(height, width):
    at = JPEG.index(b"\xff\xc0") + 5
    return JPEG[:at] + struct.pack(">HH", height, width) + JPEG[at + 4:]


@pytest.mark.parametrize("data, told", [
    (claimed_png(2**30, 1), "ends early"), (claimed_png(1, 2**30), "ends early"), (claimed_png(2**15, 2**15), "ends early"),
    (claimed_jpeg(32768, 32767), f"{len(JPEG)} bytes of a JPEG of 32768 x 32767"), (claimed_jpeg(8000, 8000), "of 8000 x 8000"),
])
def test_a_few_bytes_ask_for_no_gigabytes(mx, data, told):
    with pytest.raises(Failure, match=told):
        decode(mx, data)


def test_imread_reads_files_and_names_those_that_are_missing(mx, rng, tmp_path):
    image = pixels(rng, 3, 4, 3)
    (tmp_path / "image.png").write_bytes(png(image, 2))
    np.testing.assert_array_equal(mx.run("_cvimread", filename=tmp_path / "image.png")[0], image)
    with pytest.raises(Failure, match="nowhere.png"):
        mx.run("_cvimread", filename=tmp_path / "nowhere.png")


# Numbers of the 1.9.1 release: interpolation, size, the first channel of the first two rows, and the sum of all.
REFERENCE_RESIZES = [
    (2, (7, 6), [0, 47, 162, 240, 111, 102, 193, 9, 84, 137, 111, 83, 149, 240], 15006),
    (4, (7, 6), [0, 35, 171, 242, 111, 91, 191, 9, 82, 144, 112, 78, 155, 248], 15027),
    (3, (7, 6), [0, 67, 133, 222, 106, 121, 188, 22, 88, 129, 116, 102, 143, 210], 14967),
]


@pytest.mark.parametrize("interp, size, rows, total", REFERENCE_RESIZES)
def test_resized_bytes_are_the_releases(mx, interp, size, rows, total):
    image = (np.arange(60).reshape(4, 5, 3) * 37 % 256).astype("uint8")
    result = mx.run("_cvimresize", image, w=size[0], h=size[1], interp=interp)[0]
    assert result[:2, :, 0].ravel().tolist() == rows
    assert int(result.astype("int64").sum()) == total


def test_the_nearest_pixel_is_that_of_the_release(mx):
    image = np.arange(6, dtype="float32").reshape(1, 6, 1)
    result = mx.run("_image_resize", image, size=(34, 1), interp=0)[0].ravel()
    assert result[16:19].tolist() == [2, 2, 3]  # 17 * (6 / 34) is 3, and 17 / (34 / 6) less


# Areas of a whole number of pixels, of the 1.9.1 release: channels, size, the first numbers, and the sum of all.
REFERENCE_AREAS = [
    (1, (4, 3), [39, 113, 187, 69, 119, 193, 75, 85, 199, 81], 1416),
    (1, (2, 3), [76, 128, 156, 80, 140, 128], 708),
    (2, (4, 3), [77, 114, 161, 70, 117, 154, 73, 110, 173, 82], 3012),
    (2, (8, 2), [80, 117, 154, 106, 143, 94, 131, 83, 120, 157], 4016),
    (3, (4, 3), [116, 89, 126, 146, 119, 92, 112, 149, 122, 78], 4504),
    (3, (4, 2), [133, 84, 122, 142, 136, 88, 108, 144, 139, 116], 2994),
]


@pytest.mark.parametrize("channels, size, first, total", REFERENCE_AREAS)
def test_averages_of_bytes_are_the_releases(mx, channels, size, first, total):
    image = (np.arange(48 * channels).reshape(6, 8, channels) * 37 % 256).astype("uint8")
    result = mx.run("_cvimresize", image, w=size[0], h=size[1], interp=3)[0]
    assert result.ravel()[:10].tolist() == first
    assert int(result.astype("int64").sum()) == total
