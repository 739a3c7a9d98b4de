# SPDX-License-Identifier: Apache-2.0
"""Random arrays for tests of sparse operators, and what results are held against."""
import numpy as np

from sparse_calls import csr, dense_of, row_sparse


def draw(rng, shape, dtype="float32", density=0.3):
    values = rng.integers(-64, 65, shape).astype(dtype) / 16
    return (values * (rng.random(shape) < density)).astype(dtype)


def draw_rows(rng, shape, dtype="float32"):
    dense = draw(rng, shape, dtype, 0.9)
    dense[rng.random(shape[0]) < 0.5] = 0
    return dense


def draw_shape(rng, high=40):
    return int(rng.integers(1, high)), int(rng.integers(1, high))


def laid_out(stype, dense):
    return {"default": lambda a: a, "row_sparse": row_sparse, "csr": csr}[stype](dense)


def check(mx, got, want, stype="default", tolerance=1e-5):
    assert getattr(got, "stype", "default") == stype
    if stype != "default":
        handle = mx.array(got)
        mx.check_format(handle)
        mx.free(handle)
    dense = dense_of(got)
    assert dense.dtype == want.dtype and dense.shape == want.shape, f"{dense.dtype} {dense.shape}"
    np.testing.assert_allclose(dense.astype("float64"), want.astype("float64"), tolerance, tolerance * 10)
