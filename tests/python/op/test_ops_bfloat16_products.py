# SPDX-License-Identifier: Apache-2.0
"""Products of bfloat16, which the processor may multiply in pairs: exact sums, rounded once.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/op/test_ops_bfloat16_products.py
"""

import ctypes
import os

import numpy as np
import pytest

SEED = 20261130
# Around the smallest that are multiplied so, odd depths, sizes that threads share, ends of vectors, no depth.
SIZES = [(16, 16, 2), (15, 40, 8), (40, 15, 8), (17, 33, 31), (16, 100, 64), (129, 47, 130), (700, 65, 258), (20, 300, 1), (16, 16, 0),
         (4, 16, 3), (3, 40, 8), (5, 17, 2), (80, 31, 12), (9, 70, 4103),
         (13, 32, 2048), (22, 64, 32), (27, 49, 2050), (35, 17, 36), (150, 96, 7)]


def rounded(x):
    """The nearest bfloat16, as float32; of two the even one."""
    bits = np.asarray(x, "float32").view("uint32")
    return ((bits + np.uint32(0x7FFF) + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)).view("float32")


@pytest.fixture(params=[1, 2])
def threads(mx, request):
    mx.call("MXSetNumOMPThreads", ctypes.c_int(request.param))
    yield request.param
    mx.call("MXSetNumOMPThreads", ctypes.c_int(max(1, os.cpu_count() // 2)))


@pytest.mark.parametrize("m, n, k", SIZES)
@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_products_are_rounded_once(mx, rng, threads, m, n, k, transpose_a, transpose_b):
    a = rng.integers(-9, 10, (k, m) if transpose_a else (m, k)).astype("float32")
    b = rng.integers(-9, 10, (n, k) if transpose_b else (k, n)).astype("float32")
    want = rounded((a.T if transpose_a else a) @ (b.T if transpose_b else b))
    attrs = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    np.testing.assert_array_equal(mx.run_in_bfloat16("dot", a, b, **attrs), want)
    got = mx.run_in_bfloat16("batch_dot", np.stack([a, -a]), np.stack([b, b]), **attrs)
    np.testing.assert_array_equal(got, np.stack([want, rounded(-want)]))


def test_what_is_summed_before_is_not_rounded(mx, rng, threads):
    """Sums of many are no bfloat16, nor are products that meet a third array."""
    a, b, c = (rng.integers(-9, 10, shape).astype("float32") for shape in ((64, 50, 90), (50, 70), (70, 40)))
    a[0] += 200  # sums of more digits than bfloat16 has
    got = mx.run_in_bfloat16("_npi_einsum", a, b, num_args=2, subscripts="izj,zk->ik")
    np.testing.assert_array_equal(got, rounded(a.sum(2) @ b))
    got = mx.run_in_bfloat16("_npi_einsum", a[:, :, 0], b, c, num_args=3, subscripts="ij,jk,kl->il")
    np.testing.assert_array_equal(got, rounded(a[:, :, 0] @ b @ c))


def test_real_numbers_are_near_their_products(mx, rng, threads):
    a, b = rounded(rng.normal(size=(300, 500))), rounded(rng.normal(size=(500, 70)))
    got = mx.run_in_bfloat16("dot", a, b)
    exact = a.astype("float64") @ b
    size = np.abs(a).astype("float64") @ np.abs(b)
    np.testing.assert_array_less(np.abs(got - exact), np.abs(exact) * 2.0**-8 + size * 1e-6)


def test_what_is_not_finite_stays_so(mx, threads):
    a, b = np.ones((40, 30), "float32"), np.ones((30, 50), "float32")
    a[3, 7], a[5, 29], b[11, 13] = np.inf, np.nan, -np.inf
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(mx.run_in_bfloat16("dot", a, b), a @ b)
