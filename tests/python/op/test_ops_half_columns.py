# SPDX-License-Identifier: Apache-2.0
"""Softmax along axes that are not the last one, of float16: columns whose numbers are converted as they are met.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/op/test_ops_half_columns.py
"""

import ctypes
import os

import numpy as np
import pytest

SEED = 20261202
# Fewer columns than are taken so, groups of them, vectors and what is left over, several outer positions, long columns.
SHAPES = [(5, 63), (1, 64), (7, 65), (3, 79), (4, 80), (31, 127), (6, 128), (2, 3, 130), (3, 17, 8, 25), (300, 200), (1100, 70)]


@pytest.fixture(params=[1, 2])
def threads(mx, request):
    mx.call("MXSetNumOMPThreads", ctypes.c_int(request.param))
    yield request.param
    mx.call("MXSetNumOMPThreads", ctypes.c_int(max(1, os.cpu_count() // 2)))


def exact(x, axis, scale=1.0):
    x = x.astype("float64") * scale
    x = x - x.max(axis, keepdims=True)
    e = np.exp(x)
    total = e.sum(axis, keepdims=True)
    return e / total, x - np.log(total)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("temperature", [None, 2.0, -1.0])
def test_columns_of_halves(mx, rng, threads, shape, temperature):
    x = rng.uniform(-9, 9, shape).astype("float16")
    axis = len(shape) - 2 if len(shape) < 4 else 1
    attrs = {"axis": axis} if temperature is None else {"axis": axis, "temperature": temperature}
    for name, want in zip(("softmax", "log_softmax"), exact(x, axis, 1 / (temperature or 1.0))):
        got = mx.run(name, x, **attrs)[0]
        assert got.dtype == np.float16
        # A rounding of the result, and another half of one for errors before it; a logarithm of a sum is of float32.
        np.testing.assert_allclose(got.astype("float64"), want, rtol=2**-10, atol=2**-24 if name == "softmax" else 2**-20)


def test_infinite_numbers_and_nan_stay_in_their_columns(mx):
    x = np.zeros((3, 70), "float16")
    x[1, 3], x[:, 20], x[0, 40], x[2, 69] = -np.inf, -np.inf, np.nan, np.inf
    got = mx.run("softmax", x, axis=0)[0]
    want = np.full((3, 70), 1 / 3)
    want[:, 3] = 0.5, 0, 0.5
    want[:, [20, 40, 69]] = np.nan
    np.testing.assert_allclose(got.astype("float64"), want, rtol=2**-10)
