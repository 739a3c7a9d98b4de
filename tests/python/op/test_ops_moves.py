# SPDX-License-Identifier: Apache-2.0
"""Operators that move elements: rows of every width, channels, columns of pictures, codes of reshape, and errors.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/op/test_ops_moves.py
"""
import numpy as np
import pytest

from drawn import Draw
from op_calls import Failure

SEED = 20240608
ROUNDS = 25


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("parts, rows", [(4, 3001), (7, 40), (8, 9000), (64, 513), (65, 100)])
def test_stacks_of_columns_come_apart_again(mx, parts, rows, dtype):
    arrays = [Draw(parts * rows + i).array((rows,), dtype) for i in range(parts)]
    joined, = mx.run("stack", *arrays, axis=-1, num_args=parts)
    np.testing.assert_array_equal(joined, np.stack(arrays, -1))
    for column, array in zip(mx.run("SliceChannel", joined, num_outputs=parts, axis=1, squeeze_axis=True), arrays):
        np.testing.assert_array_equal(column, array)


# Up to 15 bytes, of some rows by several threads: what is stored behind a row is the next one's.
@pytest.mark.parametrize("dtype, widths", [("uint8", range(1, 18)), ("float16", range(1, 9)), ("float32", range(1, 5)), ("float64", range(1, 3))])
@pytest.mark.parametrize("rows", [1, 2, 37, 20011])
def test_short_rows_that_are_repeated(mx, dtype, widths, rows):
    for width in widths:
        a = Draw(width).array((rows, width), dtype)
        for count in (2, 3, 4, 7):
            np.testing.assert_array_equal(mx.run("tile", a, reps=(1, count))[0], np.tile(a, (1, count)))
            middle = mx.run("broadcast_to", a.reshape(rows, 1, width), shape=(rows, count, width))[0]
            np.testing.assert_array_equal(middle, np.broadcast_to(a.reshape(rows, 1, width), (rows, count, width)))
    backwards = mx.run("tile", mx.run("reverse", a, axis=0)[0], reps=(2, 3))[0]
    np.testing.assert_array_equal(backwards, np.tile(a[::-1], (2, 3)))


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("width", [3, 17, 31, 33, 250, 1003, 4099])
def test_rows_of_every_length_are_moved_whole(mx, width, dtype):
    a = Draw(width).array((9, width), dtype)
    np.testing.assert_array_equal(mx.run("_np_roll", a, shift=2, axis=1)[0], np.roll(a, 2, 1))
    np.testing.assert_array_equal(mx.run("slice", a, begin=(1, 1), end=(9, width))[0], a[1:, 1:])
    np.testing.assert_array_equal(mx.run("Concat", a, a[:, :1], a, num_args=3, dim=1)[0], np.concatenate([a, a[:, :1], a], 1))


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("planes", [5, 300])  # for one thread and for several, which part planes between their rows
@pytest.mark.parametrize("width", [1, 3, 7, 17, 33, 112])
def test_borders_of_every_width_go_around_rows_of_every_length(mx, width, planes, dtype):
    a = Draw(width).array((planes, 11, width), dtype)
    for before, after in ((1, 1), (0, 2), (3, 0), (9, 40)):
        borders = ((0, 0), (before, after), (after, before))
        for mode, more in (("constant", {"constant_values": 7}), ("edge", {}), ("symmetric", {})):
            got, = mx.run("_npi_pad", a, mode=mode, pad_width=borders, **({"constant_value": 7} if more else {}))
            np.testing.assert_array_equal(got, np.pad(a, borders, mode, **more), err_msg=f"{mode} {borders}")


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("channels", [2, 3, 4, 7])
def test_channels_of_pictures_change_their_place(mx, channels, dtype):
    picture = Draw(channels).array((61, 67, channels), dtype)
    first, = mx.run("_np_transpose", picture, axes=(2, 0, 1))
    np.testing.assert_array_equal(first, picture.transpose(2, 0, 1))
    np.testing.assert_array_equal(mx.run("_np_transpose", first, axes=(1, 2, 0))[0], picture)


def test_column_images_and_their_gradient(mx):
    d = Draw(SEED + 2)
    for _ in range(ROUNDS):
        spatial = d.int(1, 3)
        kernel = tuple(d.int(1, 3) for _ in range(spatial))
        stride = tuple(d.int(1, 2) for _ in range(spatial))
        dilate = tuple(d.int(1, 2) for _ in range(spatial))
        pads = tuple(d.int(0, 2) for _ in range(spatial))
        size = tuple(di * (k - 1) + d.int(1, 4) for k, di in zip(kernel, dilate))
        x = d.array((d.int(1, 2), d.int(1, 3)) + size)
        padded = np.pad(x, ((0, 0), (0, 0)) + tuple((p, p) for p in pads))
        reach = tuple(di * (k - 1) + 1 for k, di in zip(kernel, dilate))
        windows = np.lib.stride_tricks.sliding_window_view(padded, reach, tuple(range(2, 2 + spatial)))
        step = tuple(slice(None, None, s) for s in stride)
        seen = windows[(slice(None), slice(None)) + step + tuple(slice(None, None, di) for di in dilate)]
        order = (0, 1) + tuple(range(2 + spatial, 2 + 2 * spatial)) + tuple(range(2, 2 + spatial))
        wanted = seen.transpose(order).reshape(x.shape[0], x.shape[1] * int(np.prod(kernel)), -1)
        attrs = {"kernel": kernel, "stride": stride, "dilate": dilate, "pad": pads}
        np.testing.assert_array_equal(mx.run("im2col", x, **attrs)[0], wanted)
        head = d.array(wanted.shape)
        image = mx.run("col2im", head, output_size=size, **attrs)[0]
        assert float(np.vdot(head, wanted)) == float(np.vdot(image, x))
        np.testing.assert_array_equal(mx.gradients("im2col", [x], [head], **attrs)[0], image)


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("width, pad", [(5, 0), (5, 2), (17, 1), (40, 3)])
def test_columns_of_pictures_of_every_width(mx, width, pad, dtype):
    x = Draw(width).array((2, 3, 9, width), dtype)
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    seen = np.lib.stride_tricks.sliding_window_view(padded, (3, 2), (2, 3))
    wanted = seen.transpose(0, 1, 4, 5, 2, 3).reshape(2, 18, -1)
    attrs = {"kernel": (3, 2), "stride": (1, 1), "dilate": (1, 1), "pad": (pad, pad)}
    np.testing.assert_array_equal(mx.run("im2col", x, **attrs)[0], wanted)


@pytest.mark.parametrize("shape, codes, reverse, result", [
    ((2, 3, 4), (4, 0, 2), False, (4, 3, 2)), ((2, 3, 4), (6, 1, -1), False, (6, 1, 4)),
    ((2, 3, 4, 5), (-2, 1, 1), False, (2, 3, 4, 5, 1, 1)), ((2, 3, 4, 5), (0, 0, -3), False, (2, 3, 20)),
    ((8, 3), (-4, 2, -1, 0), False, (2, 4, 3)), ((10, 5, 4), (-1, 0), True, (50, 4)),
])
def test_reshape_reads_its_codes(mx, shape, codes, reverse, result):
    x = np.arange(np.prod(shape), dtype="float32").reshape(shape)
    got = mx.run("Reshape", x, shape=codes, reverse=reverse)[0]
    np.testing.assert_array_equal(got, x.reshape(result))


@pytest.mark.parametrize("name, shapes, attrs, said", [
    ("transpose", [(2, 3)], {"axes": "(0,0)"}, "axis 0 twice"),
    ("transpose", [(2, 3)], {"axes": "(0,1,2)"}, "each dimension once"),
    ("Reshape", [(2, 3)], {"shape": "(4,2)"}, "as many elements"),
    ("_np_reshape", [(2, 3)], {"newshape": "(3,2)", "order": "F"}, "order 'F'"),
    ("Concat", [(2, 3), (3, 3)], {"num_args": 2, "dim": 1}, "given 'arg1'"),
    ("SliceChannel", [(2, 5)], {"num_outputs": 2}, "num_outputs 2 divides"),
    ("_split_v2", [(2, 5)], {"indices": "(1,3)"}, "rising indices from 0"),
    ("broadcast_to", [(2, 3)], {"shape": "(2,4)"}, "broadcasts to"),
    ("Pad", [(1, 1, 3, 3)], {"mode": "reflect", "pad_width": "(0,0,0,0,3,0,0,0)"}, "less than the size"),
    ("_npi_pad", [(3,)], {"pad_width": "((-1,1),)"}, "no negative numbers"),
    ("squeeze", [(1, 3)], {"axis": "1"}, "size 1 in dimension 1"),
    ("depth_to_space", [(1, 3, 2, 2)], {"block_size": 2}, "block_size 2 squared"),
    ("_npi_concatenate", [(2,), (2,)], {"num_args": 2, "dim": 0}, "unknown parameter 'dim'"),
    ("_backward_im2col", [(1, 4, 9), (1, 1, 3, 3)], {"kernel": "(4,1)"}, "holds the kernel in spatial dimension 0"),
    ("_backward_im2col", [(1, 4, 5), (1, 1, 3, 3)], {"kernel": "(2,2)"}, "(1,4,4)"),
])
def test_errors_say_what_was_given_and_expected(mx, name, shapes, attrs, said):
    with pytest.raises(Failure) as error:
        mx.run(name, *[np.zeros(s, "float32") for s in shapes], **attrs)
    assert said in str(error.value) and "given" in str(error.value) and "expected" in str(error.value)


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "maximum"])
def test_pad_takes_the_pair_of_a_vector_as_two_lists(mx, mode):
    """As the front end of 1.x gives it."""
    x = np.arange(4, dtype="float32")
    np.testing.assert_array_equal(mx.run("_npi_pad", x, pad_width="[[1],[2]]", mode=mode)[0], np.pad(x, (1, 2), mode))


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("count", [*range(2, 10), 17, 65])
@pytest.mark.parametrize("rows", [1, 7, 64, 2051])
def test_columns_side_by_side(mx, rng, rows, count, dtype):
    columns = [rng.integers(0, 200, rows).astype(dtype) for _ in range(count)]
    np.testing.assert_array_equal(mx.run("stack", *columns, axis=-1, num_args=count)[0], np.stack(columns, axis=-1))
    wide = np.stack(columns)
    np.testing.assert_array_equal(mx.run("transpose", wide)[0], wide.T)


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("step", [2, 3, 4, 5, -1, -2, -3])
def test_slices_with_steps(mx, rng, step, dtype):
    for columns in (1, 2, 3, 4, 5, 6, 37, 1000):
        a = rng.integers(0, 200, (3, columns)).astype(dtype)
        got = mx.run("slice", a, begin="(None, None)", end="(None, None)", step=f"(2, {step})")[0]
        np.testing.assert_array_equal(got, a[::2, ::step])


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("rows", [1, 2, 17, 5003])
@pytest.mark.parametrize("widths", [(1,), (1,) * 2, (1,) * 3, (1,) * 4, (1,) * 5, (1,) * 8, (3, 1, 3, 1), (1, 1, 1, 8), (2, 2), (3, 3, 3), (1, 3), (2, 3, 5), (4, 1, 4, 7), (8, 8), (2,) * 9, (1, 0, 3), (5, 33), (4, 40), (20, 33, 20), (1, 1, 8), (3,) * 65])
def test_narrow_pieces_are_joined_and_come_apart_again(mx, rng, widths, rows, dtype):
    parts = [rng.integers(0, 200, (rows, width)).astype(dtype) for width in widths]
    whole = np.concatenate(parts, 1)
    np.testing.assert_array_equal(mx.run("Concat", *parts, num_args=len(parts), dim=1)[0], whole)
    ends = tuple(int(end) for end in np.cumsum(widths))
    split = mx.run("_split_v2", whole, indices=(0, *ends[:-1]), axis=1)
    for got, part in zip(split, parts):
        np.testing.assert_array_equal(got, part)
    for begin, end in zip((0, *ends), ends):
        if begin < end:
            np.testing.assert_array_equal(mx.run("slice_axis", whole, axis=1, begin=begin, end=end)[0], whole[:, begin:end])


@pytest.mark.parametrize("widths", [(1, 1), (1,) * 4, (4,) * 5, (8,) * 3, (3, 1, 3, 1), (3,) * 8, (1, 8)])
def test_narrow_pieces_of_rows_for_several_threads(mx, rng, widths):
    """None writes what is another's, as it lies behind its own rows."""
    parts = [rng.integers(0, 200, (300007, width)).astype("uint8") for width in widths]
    whole = np.concatenate(parts, 1)
    ends = tuple(int(end) for end in np.cumsum(widths))
    for _ in range(3):
        np.testing.assert_array_equal(mx.run("Concat", *parts, num_args=len(parts), dim=1)[0], whole)
        for got, part in zip(mx.run("_split_v2", whole, indices=(0, *ends[:-1]), axis=1), parts):
            np.testing.assert_array_equal(got, part)


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("columns", [*range(1, 20), 31, 32, 33, 63, 64, 65, 127, 130, 1000])
def test_flips_of_rows_of_every_length(mx, rng, columns, dtype):
    a = rng.integers(0, 200, (5, columns, 3)).astype(dtype)
    for axis in ((0,), (1,), (2,), (1, 2), (0, 1, 2)):
        np.testing.assert_array_equal(mx.run("reverse", a, axis=axis)[0], np.flip(a, axis))
    np.testing.assert_array_equal(mx.run("reverse", a[:, :, 0], axis=(1,))[0], a[:, ::-1, 0])


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("count", [0, *range(1, 18), 33, 300])
def test_elements_are_repeated(mx, rng, count, dtype):
    for shape in ((1,), (7,), (3, 37), (2, 5, 3)):
        a = rng.integers(0, 200, shape).astype(dtype)
        for axis in range(len(shape)):
            np.testing.assert_array_equal(mx.run("repeat", a, repeats=count, axis=axis)[0], np.repeat(a, count, axis))
            reps = tuple(count if i == axis else 1 for i in range(len(shape)))
            np.testing.assert_array_equal(mx.run("tile", a, reps=reps)[0], np.tile(a, reps))
        np.testing.assert_array_equal(mx.run("repeat", a, repeats=count)[0], np.repeat(a, count))


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
@pytest.mark.parametrize("shape", [(1,), (2,), (5000,), (3, 5), (1, 4, 2)])
def test_borders_longer_than_what_they_show(mx, rng, shape, mode):
    a = rng.integers(-9, 9, shape).astype("float32")
    for width in ((0, 0), (1, 0), (0, 1), (3, 17)):
        widths = (width,) * a.ndim if width != (3, 17) else tuple((3 + i, 17 - i) for i in range(a.ndim))
        wanted = np.pad(a, widths, mode)
        np.testing.assert_array_equal(mx.run("_npi_pad", a, pad_width=widths, mode=mode)[0], wanted)
        head = rng.integers(-5, 5, wanted.shape).astype("float32")
        shown = np.pad(np.arange(1, a.size + 1).reshape(a.shape), widths, mode)  # 0: the constant
        sums = np.bincount(shown.ravel(), head.ravel(), a.size + 1)[1:].reshape(a.shape)
        np.testing.assert_array_equal(mx.gradients("_npi_pad", [a], [head], pad_width=widths, mode=mode)[0], sums)


@pytest.mark.parametrize("width", [1, 7, 8, 9, 255, 256, 257, 600])
def test_rows_of_half_type_are_added_where_they_were_taken(mx, rng, width):
    table, at = rng.standard_normal((12, width)).astype("float16"), rng.integers(0, 12, 40)
    head = rng.standard_normal((40, width)).astype("float16")
    sums = np.zeros((12, width), "float32")
    np.add.at(sums, at, head.astype("float32"))
    got = mx.gradients("take", [table, at], [head], wanted=[0], axis=0)[0]
    np.testing.assert_array_equal(got, sums.astype("float16"))


KINDS = ["float64", "float32", "float16", "int64", "int32", "int8", "uint8", "bool"]


@pytest.mark.parametrize("into", KINDS)
@pytest.mark.parametrize("count", [0, 1, 17, 4099, 300007])
def test_copies_into_an_array_that_is_there(mx, count, into):
    for dtype in KINDS:
        a = np.abs(Draw(count).array((count,), dtype).astype("float64") * 3).astype(dtype)
        given, there = mx.array(a), mx.array(np.ones(count, into))
        mx.invoke("_copyto", [given], out=[there])
        np.testing.assert_array_equal(mx.numpy(there), a.astype(into))
        mx.free(given, there)
