# SPDX-License-Identifier: Apache-2.0
"""Products of a matrix of float16 with a vector, whose numbers are converted while they are read.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/op/test_ops_half_vectors.py
"""

import ctypes
import os

import numpy as np
import pytest

SEED = 20261201
# One row, lines that are met together and those left over; less than a vector, its ends, what is asked for ahead.
SHAPES = [(1, 5), (2, 2), (3, 15), (4, 16), (5, 17), (9, 31), (40, 33), (7, 511), (8, 513), (301, 777), (1031, 1100), (0, 4), (4, 0), (5, 1)]


@pytest.fixture(params=[1, 2])
def threads(mx, request):
    mx.call("MXSetNumOMPThreads", ctypes.c_int(request.param))
    yield request.param
    mx.call("MXSetNumOMPThreads", ctypes.c_int(max(1, os.cpu_count() // 2)))


def same(got, want):
    assert got.dtype == np.float16
    np.testing.assert_array_equal(got, want.astype("float16"))


@pytest.mark.parametrize("m, k", SHAPES)
def test_each_way_of_a_matrix_and_a_vector_to_lie(mx, rng, threads, m, k):
    matrix, vector, other = (rng.integers(-2, 3, shape).astype("float16") for shape in ((m, k), (k,), (m,)))
    rows, columns = matrix.astype("float64") @ vector, other @ matrix.astype("float64")
    turned = np.ascontiguousarray(matrix.T)
    same(mx.run("dot", matrix, vector)[0], rows)
    same(mx.run("dot", turned, vector, transpose_a=True)[0], rows)
    same(mx.run("dot", vector, matrix, transpose_b=True)[0], rows)
    same(mx.run("dot", matrix, vector[:, None])[0], rows[:, None])
    same(mx.run("dot", vector[None], matrix, transpose_b=True)[0], rows[None])
    same(mx.run("dot", other, matrix)[0], columns)
    same(mx.run("_np_dot", matrix, vector)[0], rows)
    same(mx.run("_npi_matmul", matrix, vector[:, None])[0], rows[:, None])


def test_sums_are_of_floats_and_the_same_by_any_number_of_threads(mx, rng):
    matrix, vector = rng.uniform(0, 1, (203, 3001)).astype("float16"), rng.uniform(0, 1, 3001).astype("float16")
    got = []
    for threads in (1, 2):
        mx.call("MXSetNumOMPThreads", ctypes.c_int(threads))
        got.append(mx.run("dot", matrix, vector)[0])
    np.testing.assert_array_equal(got[0], got[1])
    want = matrix.astype("float64") @ vector
    np.testing.assert_allclose(got[0], want, rtol=2**-10)


def test_what_is_no_number_stays_so_and_large_sums_are_infinite(mx):
    matrix = np.zeros((6, 40), "float16")
    matrix[1, 39], matrix[2, 3], matrix[3], matrix[4, :2] = np.nan, np.inf, 60000, (np.inf, -np.inf)
    got = mx.run("dot", matrix, np.ones(40, "float16"))[0]
    np.testing.assert_array_equal(got, np.array([0, np.nan, np.inf, np.inf, np.nan, 0], "float16"))
