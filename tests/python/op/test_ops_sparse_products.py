# SPDX-License-Identifier: Apache-2.0
"""Products of random sparse matrices with vectors and matrices against NumPy: results, storage types, gradients."""
import numpy as np
import pytest

from op_calls import ADD
from sparse_calls import Sparse, SparseLibrary, csr, row_sparse
from sparse_checks import check, draw, draw_rows, draw_shape

LIBRARY = SparseLibrary
SEEDS = range(8)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("seed", SEEDS)
def test_products_of_matrices(mx, seed, dtype):
    rng = np.random.default_rng(seed)
    m, k = draw_shape(rng, 60)
    n = int(rng.choice([1, 2, 7, 16, 33, 130]))
    a, b = draw(rng, (m, k), dtype), draw(rng, (k, n), dtype, 1)
    tolerance = 1e-2 if dtype == "float16" else 1e-5
    wide = a.astype("float64")
    check(mx, mx.run("dot", csr(a), b)[0], (wide @ b).astype(dtype), tolerance=tolerance)
    c = draw(rng, (m, n), dtype, 1)
    turned = (wide.T @ c).astype(dtype)
    check(mx, mx.run("dot", csr(a), c, transpose_a=True)[0], turned, "row_sparse", tolerance)
    check(mx, mx.run("dot", csr(a), c, transpose_a=True, forward_stype="default")[0], turned, tolerance=tolerance)
    sparse_rows = draw_rows(rng, (k, n), dtype)
    check(mx, mx.run("dot", csr(a), row_sparse(sparse_rows))[0], (wide @ sparse_rows).astype(dtype), tolerance=tolerance)
    d = draw(rng, (n, m), dtype, 1)
    check(mx, mx.run("dot", d, csr(a))[0], (d @ wide).astype(dtype), "csr", tolerance)
    check(mx, mx.run("dot", d, csr(a), forward_stype="default")[0], (d @ wide).astype(dtype), tolerance=tolerance)
    e = draw(rng, (n, k), dtype, 1)
    check(mx, mx.run("dot", e, csr(a), transpose_b=True)[0], (e @ wide.T).astype(dtype), "csr", tolerance)


@pytest.mark.parametrize("density", [0.001, 0.3])
@pytest.mark.parametrize("width", [1, 5, 40])
def test_a_csr_matrix_meets_few_or_many_stored_rows(mx, width, density):
    """Rows that are not stored are zeros, of which an infinity that meets them takes nothing."""
    rng = np.random.default_rng(width)
    a, rows = draw(rng, (30, 2000), density=density), draw_rows(rng, (2000, width))
    a[3, 7], rows[7] = np.inf, 0
    finite = a.copy()
    finite[3, 7] = 0
    check(mx, mx.run("dot", csr(a), row_sparse(rows))[0], finite @ rows)
    wide = draw_rows(rng, (30, width))
    wide[3] = 0
    check(mx, mx.run("dot", csr(a), row_sparse(wide), transpose_a=True)[0], finite.T @ wide, "row_sparse")
    nothing = row_sparse(np.zeros((2000, width), "float32"))
    check(mx, mx.run("dot", csr(a), nothing)[0], np.zeros((30, width), "float32"))


@pytest.mark.parametrize("seed", SEEDS)
def test_gradients_of_products(mx, seed):
    rng = np.random.default_rng(seed)
    m, k = draw_shape(rng)
    n = int(rng.integers(1, 9))
    a = draw(rng, (m, k))
    for transposed in (False, True):
        matrix = a.T if transposed else a
        b, head = draw(rng, (matrix.shape[1], n), density=1), draw(rng, (matrix.shape[0], n), density=1)
        for buffer in ("row_sparse", np.zeros_like(b)):
            got = mx.gradient("dot", [csr(a), b], head, 1, buffer, transpose_a=transposed)
            check(mx, got, matrix.T @ head, buffer if isinstance(buffer, str) else "default")
        got = mx.gradient("dot", [csr(a), b], head, 1, np.ones_like(b), ADD, transpose_a=transposed)
        check(mx, got, matrix.T @ head + 1)
    d, head = draw(rng, (n, m), density=1), draw(rng, (n, k), density=1)
    check(mx, mx.gradient("dot", [d, csr(a)], head, 0, np.zeros_like(d), forward_stype="default"), head @ a.T)


def wide_rows(rng, columns, ascending):
    """A matrix of three rows, of 0, 30000 and 50000 entries, and itself, dense."""
    chosen = [np.sort(rng.permutation(columns)[:count]) for count in (0, 30000, 50000)]
    if not ascending:
        chosen = [rng.permutation(row) for row in chosen]
    aux = [np.cumsum([0] + [len(row) for row in chosen]).astype("int64"), np.concatenate(chosen).astype("int64")]
    values = rng.integers(-8, 9, 80000).astype("float32")
    matrix = Sparse("csr", (3, columns), values, aux)
    return matrix, matrix.dense()


@pytest.mark.parametrize("ascending", [True, False])
def test_more_columns_than_caches_hold_are_summed_in_any_order(mx, ascending):
    columns = 100001
    x, dense = wide_rows(np.random.default_rng(5), columns, ascending)
    head = np.array([[3], [0.5], [-2]], "float32")
    for _ in range(2):  # the second time what is known of the columns is known before
        check(mx, mx.run("sum", x, axis=0)[0], dense.sum(0))
        check(mx, mx.run("mean", x, axis=0)[0], dense.mean(0, dtype="float64").astype("float32"))
        got = mx.run("dot", x, head, transpose_a=True, forward_stype="default")[0]
        check(mx, got, dense.T @ head)
        check(mx, mx.run("dot", x, np.tile(head, 3), transpose_a=True, forward_stype="default")[0], dense.T @ np.tile(head, 3))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_columns_whose_products_are_lost_behind_a_sum_are_stored(mx, dtype):
    one, small = np.ones((), dtype), np.ldexp(np.ones((), dtype), -70 if dtype == "float32" else -530)
    values = np.array([small, -(one + np.ldexp(one, -20)) * small], dtype)
    x = Sparse("csr", (2, 3), values, [np.arange(3), np.ones(2, "int64")])
    product = mx.run("dot", x, np.full((2, 1), small), transpose_a=True)[0]
    check(mx, product, np.zeros((3, 1), dtype), "row_sparse")
    assert product.aux[0].tolist() == [1]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_of_each_length_times_a_vector(mx, dtype):
    rng = np.random.default_rng(6)
    dense = (np.tri(80, 79) * rng.integers(1, 9, (80, 79))).astype(dtype)  # the last ones are long
    vector = rng.integers(-8, 9, (79, 1)).astype(dtype)
    check(mx, mx.run("dot", csr(dense), vector)[0], dense @ vector)
    left = rng.integers(-8, 9, (5, 79)).astype(dtype)
    check(mx, mx.run("dot", left, csr(dense), transpose_b=True)[0], left @ dense.T, "csr")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_with_matrices_of_each_width(mx, dtype):
    rng = np.random.default_rng(7)
    dense = np.where(rng.random((30, 40)) < 0.3, rng.integers(1, 9, (30, 40)), 0).astype(dtype)
    for width in range(1, 36):
        right, head = (rng.integers(-8, 9, (size, width)).astype(dtype) for size in (40, 30))
        check(mx, mx.run("dot", csr(dense), right)[0], dense @ right)
        check(mx, mx.run("dot", csr(dense), head, transpose_a=True, forward_stype="default")[0], dense.T @ head)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_sums_of_no_products_are_zeros(mx, dtype):
    """Also where that is all the caller's array, which held something else."""
    for transpose_b, shape in ((False, (0, 4)), (True, (4, 0))):
        dense, matrix = np.zeros((3, 0), dtype), csr(np.zeros(shape, dtype))
        handles = [mx.array(array) for array in (dense, matrix, np.ones((3, 4), dtype))]
        mx.invoke("dot", handles[:2], handles[2:], transpose_b=transpose_b)
        np.testing.assert_array_equal(mx.numpy(handles[2]), np.zeros((3, 4), dtype))
        mx.free(*handles)
