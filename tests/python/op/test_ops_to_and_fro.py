# SPDX-License-Identifier: Apache-2.0
"""Calls that walk through large arrays from either end, in turns: each gives the same bits, on any threads.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/op/test_ops_to_and_fro.py
"""
import ctypes
import hashlib
import os

import numpy as np
import pytest

from drawn import Draw


@pytest.fixture(params=[1, 2])
def threads(mx, request):
    mx.call("MXSetNumOMPThreads", ctypes.c_int(request.param))
    yield request.param
    mx.call("MXSetNumOMPThreads", ctypes.c_int(max(1, os.cpu_count() // 2)))


BITS = {}


def check(mx, key, op, *inputs, expected=None, **attrs):
    """An odd number of calls, so that the next case begins from the other end."""
    def digests(arrays):
        return [hashlib.blake2b(np.ascontiguousarray(array)).hexdigest() for array in arrays]

    for _ in range(3):
        results = digests(mx.run(op, *inputs, **attrs))
        assert results == BITS.setdefault((op, key), results)
    if expected is not None:
        assert results == digests(expected)


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
@pytest.mark.parametrize("rows, columns", [(1, 2097169), (1031, 1033), (20011, 67), (100003, 17), (350000, 3)])
def test_reductions(mx, threads, rows, columns, dtype):
    a = Draw(rows).array((rows, columns), dtype)
    wide = {"dtype": "int64"} if dtype == "uint8" else {}
    for axis in (None, 0, 1):
        attrs = {} if axis is None else {"axis": axis}
        check(mx, (rows, dtype, axis), "_np_sum", a, **attrs, **wide, expected=[np.sum(a, axis, "int64")] if wide else None)
        check(mx, (rows, dtype, axis), "_np_max", a, **attrs, expected=[np.max(a, axis)])


@pytest.mark.parametrize("shape, axes", [((32, 64, 28, 28), (0, 2, 3)), ((17, 63, 31, 37), (0, 2, 3)), ((128, 130, 127), (1,)), ((3, 500000), (1,))])
def test_sums_of_planes(mx, threads, shape, axes):
    a = Draw(shape[0]).array(shape, "float32")
    check(mx, (shape, axes), "_np_sum", a, axis=axes)


@pytest.mark.parametrize("count", [262143, 262144, 262145, 1500007, 5000011])
def test_functions(mx, threads, count):
    a, b = Draw(1).array((count,), "float32"), Draw(2).array((count,), "float32")
    check(mx, count, "elemwise_add", a, b, expected=[a + b])
    check(mx, count, "abs", a.astype("float16"), expected=[np.abs(a.astype("float16"))])
    check(mx, count, "_npi_logical_not", a > 0, expected=[a <= 0])
    check(mx, count, "broadcast_add", a[:count // 7 * 7].reshape(7, -1), b[:7].reshape(7, 1),
          expected=[a[:count // 7 * 7].reshape(7, -1) + b[:7].reshape(7, 1)])
    row = a[:count // 1003 * 1003].reshape(-1, 1003)
    check(mx, (count, "row"), "broadcast_add", row, b[:1003].reshape(1, -1), expected=[row + b[:1003]])
    check(mx, count, "exp", a)


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
def test_moves(mx, threads, dtype):
    a = Draw(3).array((1031, 1203), dtype)
    for parts in (2, 3, 5):
        for axis in (0, 1):
            joined = np.concatenate([a] * parts, axis)
            check(mx, (dtype, parts, axis), "Concat", *[a] * parts, num_args=parts, dim=axis, expected=[joined])
            check(mx, (dtype, parts, axis), "SliceChannel", joined, num_outputs=parts, axis=axis, expected=[a] * parts)
    check(mx, dtype, "reverse", a, axis=1, expected=[a[:, ::-1]])
    check(mx, dtype, "slice", a, begin=(3, 5), end=(1029, 1200), expected=[a[3:1029, 5:1200]])
    check(mx, (dtype, 2), "slice", a, begin=(0, 0), end=(1031, 1203), step=(2, 2), expected=[a[::2, ::2]])
    check(mx, dtype, "_np_roll", a, shift=7, axis=1, expected=[np.roll(a, 7, 1)])
    pictures = Draw(4).array((17, 56, 55, 24), dtype)
    for axes in ((0, 3, 1, 2), (3, 2, 1, 0), (2, 0, 3, 1)):
        check(mx, (dtype, axes), "transpose", pictures, axes=axes, expected=[np.transpose(pictures, axes)])
    for width in (3, 5, 13):
        narrow = Draw(width).array((100003, width), dtype)
        check(mx, (dtype, width), "tile", narrow, reps=(1, 3), expected=[np.tile(narrow, (1, 3))])
        check(mx, (dtype, width), "reverse", narrow, axis=1, expected=[narrow[:, ::-1]])


def test_large_results(mx, threads):
    """Past the caches."""
    a, b = Draw(5).array((13000017,), "float32"), Draw(6).array((13000017,), "float32")
    check(mx, "large", "elemwise_add", a, b, expected=[a + b])
    a = a[:12288 * 1024].reshape(12288, 1024)
    check(mx, "large", "broadcast_add", a, b[:1024].reshape(1, -1), expected=[a + b[:1024]])
    check(mx, "large", "Concat", a, a, a, num_args=3, dim=0, expected=[np.concatenate([a] * 3)])
    check(mx, ("large", 1), "Concat", a, a, a, num_args=3, dim=1, expected=[np.concatenate([a] * 3, 1)])
    for axis in (0, 1):
        check(mx, ("large", axis), "_np_sum", a, axis=axis)
