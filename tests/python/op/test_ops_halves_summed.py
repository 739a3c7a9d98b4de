# SPDX-License-Identifier: Apache-2.0
"""Halves that are summed in registers: products of two vectors, several arrays, narrow columns. All sums are of small whole
numbers, which are exact in any order.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/op/test_ops_halves_summed.py
"""
import numpy as np
import pytest

LENGTHS = [1, 7, 31, 32, 33, 100, 2047, 2048, 2049, 70001]


def whole(seed, *shape, most=3):
    return np.random.default_rng(seed).integers(-most, most + 1, shape).astype("float32")


def run(mx, dtype, name, *arrays, **attrs):
    if dtype == "bfloat16":
        return mx.run_in_bfloat16(name, *arrays, **attrs)
    return mx.run(name, *(a.astype(dtype) for a in arrays), **attrs)[0].astype("float32")


def rounded(mx, dtype, a):
    return run(mx, dtype, "identity", np.asarray(a, "float32"))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("length", LENGTHS)
def test_two_vectors_are_multiplied_exactly(mx, dtype, length):
    a, b = whole(length, length), whole(length + 1, length)
    for name in ("dot", "_np_dot", "_npi_matmul"):
        np.testing.assert_array_equal(run(mx, dtype, name, a, b).reshape(()), rounded(mx, dtype, [a @ b])[0], err_msg=name)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_nan_in_the_rest_of_a_vector_is_met(mx, dtype):
    a = np.ones(2049, "float32")
    a[-1] = np.nan
    assert np.isnan(run(mx, dtype, "dot", a, np.ones_like(a))).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("count", [1, 2, 3, 8, 63, 64, 65])
def test_arrays_are_added_exactly(mx, dtype, length, count):
    arrays = [whole(k, min(length, 2500), most=1) for k in range(count)]
    np.testing.assert_array_equal(run(mx, dtype, "add_n", *arrays, num_args=count), sum(arrays))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_the_sum_of_arrays_may_be_one_of_them(mx, dtype):
    arrays = [whole(k, 2055) for k in range(3)]
    handles = [mx.invoke("amp_cast", [mx.array(a)], dtype=dtype)[0] for a in arrays]
    mx.invoke("add_n", handles, num_args=3, out=[handles[0]])
    got = mx.numpy(mx.invoke("Cast", [handles[0]], dtype="float32")[0])
    np.testing.assert_array_equal(got, sum(arrays))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8", "uint8"])
@pytest.mark.parametrize("rows", [1, 7, 8, 255, 256, 257, 2049, 5000])
def test_narrow_columns_are_reduced_in_their_own_type(mx, dtype, rows):
    for width in (1, 2, 3, 7, 16, 31, 32, 33):
        a = np.abs(whole(rows + width, 2, rows, width, most=1)) * (np.arange(rows) % 40 == 0)[:, None]
        np.testing.assert_array_equal(run(mx, dtype, "sum", a, axis=1), a.sum(1), err_msg=f"sum of {width} columns")
        np.testing.assert_array_equal(run(mx, dtype, "max", a, axis=1), a.max(1), err_msg=f"max of {width} columns")


@pytest.mark.parametrize("shape", [(3, 1, 5), (40, 3, 1), (2, 1, 1), (1, 1, 1), (5000,), (9, 4097)])
def test_sums_of_bfloat16_are_exact_along_any_axes(mx, shape):
    a = whole(1, *shape, most=1)
    a *= np.arange(a.size).reshape(shape) % 100 < 2
    for axis in [*range(len(shape)), tuple(range(len(shape)))]:
        np.testing.assert_array_equal(mx.run_in_bfloat16("_np_sum", a, axis=str(axis).replace(" ", "")), a.sum(axis))
