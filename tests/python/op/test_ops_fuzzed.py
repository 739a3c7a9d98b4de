# SPDX-License-Identifier: Apache-2.0
"""Calls that a fuzzer of operators found: each read or wrote what is not an array's, or did what C++ leaves undefined.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/op/test_ops_fuzzed.py
"""
import numpy as np
import pytest

import op_calls
from op_calls import ADD, Failure


def floats(*shape):
    return np.ones(shape, "float32")


@pytest.mark.parametrize("op, arrays, attrs, text", [
    ("_npi_tensorsolve", [floats(2, 3, 6), floats(2, 3)], {"a_axes": "(2,2,2,2)"}, "each axis once"),
    ("_npi_tensorsolve", [floats(2, 3, 6), floats(2, 3)], {"a_axes": "(-1,2)"}, "each axis once"),
    ("_npi_tensordot_int_axes", [floats(2, 3), floats(3, 4)], {"axes": -2**31}, "axes"),
    ("_npi_tensordot_int_axes", [floats(2, 3), floats(3, 4)], {"axes": 2**31 - 1}, "axes"),
    ("broadcast_like", [floats(1, 0, 3), floats(1, 1, 3)], {}, "broadcasts"),
    ("broadcast_like", [floats(0, 3), floats(5, 3)], {"lhs_axes": "(0,)", "rhs_axes": "(0,)"}, "size 1 or 5"),
    ("_np_reshape", [floats(2, 3)], {"newshape": f"({2**40},{2**40},-1)"}, "as many elements"),
    ("space_to_depth", [floats(2, 3, 0, 0)], {"block_size": 2**31 - 1}, str(2**63 - 1)),
    ("_sg_onednn_quantized_layer", [np.zeros((2, 3), "int8"), np.zeros((4, 3), "int8"), np.zeros(4, "int8"), floats(1), floats(1)], {}, "plan"),
])  # fmt: skip
def test_what_cannot_be_done_is_an_error(mx, op, arrays, attrs, text):
    with pytest.raises(Failure, match=text):
        mx.run(op, *arrays, **attrs)


@pytest.mark.parametrize("op, arrays, attrs, shape", [
    ("_sum_to_like", [floats(3, 3, 4, 0, 8), floats(3, 3, 3, 0)], {}, (3, 3, 3, 0)),
    ("_backward_sum_to_like", [floats(3, 3, 3, 0), floats(3, 3, 4, 0, 8)], {}, (3, 3, 4, 0, 8)),
    ("slice", [floats(2, 0, 3)], {"begin": "(0,0,2)", "end": "(2,0,None)", "step": "(1,1,-1)"}, (2, 0, 3)),
])
def test_of_nothing_comes_nothing(mx, op, arrays, attrs, shape):
    inputs = [mx.array(a) for a in arrays]
    outputs = mx.invoke(op, inputs, **attrs)
    assert mx.numpy(outputs[0]).shape == shape
    mx.free(*inputs, *outputs)


def test_blocks_of_nothing_may_be_of_any_size(mx):
    images = mx.array(floats(2, 0, 4, 8))
    (wide,) = mx.invoke("depth_to_space", [images], block_size=2**31 - 1)
    mx.call("MXNDArrayWaitToRead", wide)
    mx.free(images, wide)


def test_a_border_around_no_rows_is_all_there_is(mx):
    image = np.zeros((0, 3, 2), "uint8")
    got = mx.run("_cvcopyMakeBorder", image, top=1, bot=2, left=0, right=1, type=0, value=7.0)[0]
    np.testing.assert_array_equal(got, np.full((3, 4, 2), 7, "uint8"))


@pytest.mark.parametrize("index_type", ["int32", "int64", "float32"])
@pytest.mark.parametrize("dtype, length", [("int8", 4), ("int8", 8), ("float16", 2), ("float16", 4), ("float32", 2)])
@pytest.mark.parametrize("ahead", [1, 3])
def test_rows_of_small_elements_are_gathered_from_anywhere(mx, monkeypatch, ahead, dtype, length, index_type):
    monkeypatch.setattr(op_calls, "AHEAD", ahead)
    values = np.arange(37 * length).reshape(37, length).astype(dtype)
    at = np.array([5, 0, 36, 36, 7, 1], index_type)
    data, indices = mx.view(values), mx.whole_array(at)
    (taken,) = mx.invoke("take", [data, indices], mode="clip")
    np.testing.assert_array_equal(mx.numpy(taken), values[at.astype(int)])
    mx.free(data, indices, taken)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_added_gradients_of_integers_wrap_around(mx, dtype):
    most = np.iinfo(dtype).max
    got = mx.gradients("negative", [np.zeros(5, dtype)], [np.full(5, -3, dtype)], request=ADD, start=most)[0]
    np.testing.assert_array_equal(got, np.full(5, np.array(most) + np.array(3, dtype), dtype))


def test_positions_and_sums_that_no_number_holds_wrap_around(mx):
    most = np.iinfo("int64").max
    with np.errstate(over="ignore"):
        at = mx.run("_ravel_multi_index", np.array([[most, 3], [5, 1]]), shape="(-1,4)")[0]
        np.testing.assert_array_equal(at, np.array([most, 3]) * np.int64(4) + np.array([5, 1]))
        traced = mx.run("_np_trace", np.full((3, 3), most))[0]
        np.testing.assert_array_equal(traced, np.array([most]) * np.int64(3))
    small = mx.run("_np_trace", np.full((3, 3, 2), -100, "int8"))[0]
    np.testing.assert_array_equal(small, np.full(2, -300, "int64").astype("int8"))


@pytest.mark.parametrize("dtype, size", [("uint8", 256), ("int8", 256), ("int8", 200), ("uint8", 512), ("int8", 100), ("int32", 5)])
def test_means_of_more_whole_numbers_than_their_type_counts(mx, dtype, size):
    x = np.ones(size, dtype)
    got = mx.gradients("mean", [x], [np.full_like(mx.run("mean", x)[0], 100)])[0]
    np.testing.assert_array_equal(got, np.full(size, 100 // size, dtype))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_regions_without_an_end(mx, dtype):
    """Bins of an infinite region hold all that is on their side; NaN is somewhere."""
    data = np.arange(1, 17).reshape(1, 1, 4, 4).astype(dtype)
    inf, nan = np.inf, np.nan
    regions = [[0, 0, 0, inf, inf], [0, inf, inf, inf, inf], [0, nan, nan, 3, 3], [0, 0, 1, inf, 2]]
    got = mx.run("ROIPooling", data, np.array(regions, dtype), pooled_size="(2,2)", spatial_scale=1.0)[0]
    want = [[[16, 0], [0, 0]], [[0, 0], [0, 0]], [[8, 0], [12, 0]]]
    np.testing.assert_array_equal(got[[0, 1, 3], 0], want)


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_quantized_nothing_is_nothing(mx, dtype):
    got = mx.run("_contrib_quantize_v2", np.zeros((0, 3), dtype), out_type="int8")
    assert got[0].shape == (0, 3) and got[0].dtype == np.int8


def test_whole_numbers_wrap_around(mx):
    most = np.iinfo("int64").max
    pad = mx.gradients("_npi_pad", [np.zeros(3, "int64")], [np.full(6, most)], mode="edge", pad_width="((1,2),)")[0]
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(pad, np.array([2, 1, 3]) * np.int64(most))
    counted = mx.run("_arange", start=2.0**62, step=2.0**61, stop=2.0**62 * 3, repeat=2, dtype="int64")[0]
    np.testing.assert_array_equal(counted, np.repeat(np.int64(2**62) + np.arange(4) * np.int64(2**61), 2))
    for count in (2, 3):
        added = mx.run("add_n", *[np.array([most, -5], "int64")] * count, num_args=count)[0]
        np.testing.assert_array_equal(added, np.array([-2 if count == 2 else most - 2, -5 * count]))
    scaled = mx.run("_contrib_backward_gradientmultiplier", np.array([3, most], "int64"), scalar=4.0)[0]
    np.testing.assert_array_equal(scaled, np.array([12, -4]))
