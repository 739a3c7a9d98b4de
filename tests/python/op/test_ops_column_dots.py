# SPDX-License-Identifier: Apache-2.0
"""Sums of products of two arrays that lie alike, along columns and along rows whose sums are columns.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/op/test_ops_column_dots.py
"""

import ctypes
import os

import numpy as np
import pytest

SEED = 20261130
# Less than a vector, ends of vectors, of eight rows, of blocks and tiles; chunks that threads share; planes.
COLUMNS = [(3, 1), (1, 40), (9, 15), (9, 16), (9, 17), (20, 7), (20, 8), (7, 33), (300, 64), (513, 100), (1000, 63), (5, 1023),
           (5, 1025), (3, 5000), (70, 2047), (1000, 1000), (1, 3), (0, 5), (5000, 37), (2, 4), (2, 5)]
PLANES = [(3, 5, 7), (4, 9, 20), (2, 1, 33), (1, 300, 17), (20, 3, 1030), (3, 700, 130), (2, 0, 20), (5, 6, 300), (40, 50, 2)]


@pytest.fixture(params=[1, 2])
def threads(mx, request):
    mx.call("MXSetNumOMPThreads", ctypes.c_int(request.param))
    yield request.param
    mx.call("MXSetNumOMPThreads", ctypes.c_int(max(1, os.cpu_count() // 2)))


def einsum(mx, text, *arrays):
    return mx.run("_npi_einsum", *arrays, num_args=len(arrays), subscripts=text)[0]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("shape", COLUMNS)
def test_columns(mx, rng, threads, shape, dtype):
    a, b = (rng.integers(-2, 3, shape).astype(dtype) for _ in range(2))
    np.testing.assert_array_equal(einsum(mx, "ij,ij->j", a, b), (a.astype("float64") * b).sum(0).astype(dtype))
    np.testing.assert_array_equal(einsum(mx, "ij,ij->i", a, b), (a.astype("float64") * b).sum(1).astype(dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("text", ["abc,abc->c", "abc,abc->bc", "abc,abc->ac", "abc,abc->ca", "abc,abc->b", "abc,abc->a", "abc,abc->cb", "acb,acb->c"])
@pytest.mark.parametrize("shape", PLANES)
def test_planes(mx, rng, threads, shape, text, dtype):
    a, b = (rng.integers(-2, 3, shape).astype(dtype) for _ in range(2))
    np.testing.assert_array_equal(einsum(mx, text, a, b), np.einsum(text, a.astype("float64"), b).astype(dtype))


@pytest.mark.parametrize("dtype", ["int64", "int32"])
@pytest.mark.parametrize("text", ["ij,ij->j", "ij,ij->i"])
@pytest.mark.parametrize("shape", COLUMNS)
def test_integers_wrap_around(mx, rng, threads, shape, text, dtype):
    of = np.iinfo(dtype)
    a, b = (rng.integers(of.min, of.max, shape, dtype, endpoint=True) for _ in range(2))
    np.testing.assert_array_equal(einsum(mx, text, a, b), (a * b).sum(int(text[-1] == "i"), dtype=dtype))


@pytest.mark.parametrize("text, axes", [("abcd,abcd->bd", (0, 2)), ("abcd,abcd->c", (0, 1, 3)), ("abcd,abcd->ac", (1, 3)), ("abcd,abcd->bc", (0, 3))])
def test_labels_that_take_turns(mx, rng, threads, text, axes):
    a, b = (rng.integers(-2, 3, (5, 6, 9, 19)).astype("float32") for _ in range(2))
    np.testing.assert_array_equal(einsum(mx, text, a, b), (a * b).sum(axes))


@pytest.mark.parametrize("text", ["ij,ij->j", "iaj,iaj->a"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_error_is_small_and_threads_do_not_matter(mx, rng, text, dtype):
    shape = (6001, 130) if text == "ij,ij->j" else (601, 13, 100)
    a, b = (rng.standard_normal(shape).astype(dtype) for _ in range(2))
    got = []
    for threads in (1, 2):
        mx.call("MXSetNumOMPThreads", ctypes.c_int(threads))
        got.append(einsum(mx, text, a, b))
    mx.call("MXSetNumOMPThreads", ctypes.c_int(max(1, os.cpu_count() // 2)))
    np.testing.assert_array_equal(*got)
    wide = [x.astype("longdouble") for x in (a, b)]
    axes = (0,) if text == "ij,ij->j" else (0, 2)
    size = np.abs(wide[0] * wide[1]).sum(axes)
    np.testing.assert_array_less(np.abs(got[0] - (wide[0] * wide[1]).sum(axes)), size * 8 * np.finfo(dtype).eps)


def test_what_is_not_finite_stays_in_its_column(mx, rng, threads):
    a, b = np.ones((20, 37), "float32"), np.ones((20, 37), "float32")
    a[3, 20], a[19, 36], b[7, 5] = np.nan, np.inf, -np.inf
    np.testing.assert_array_equal(einsum(mx, "ij,ij->j", a, b), (a * b).sum(0))
