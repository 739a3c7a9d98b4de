# SPDX-License-Identifier: Apache-2.0
"""Matrices into csr and back, parts of them, and products with rows and columns: what is stored, and where."""
import numpy as np
import pytest

from op_calls import Failure
from sparse_calls import Sparse, SparseLibrary, csr

LIBRARY = SparseLibrary
SEED = 20261122


def drawn(rng, shape, dtype, density):
    values = rng.integers(1, 100, shape)
    return np.where(rng.random(shape) < density, values, 0).astype(dtype)


def same(got, want):
    assert got.stype == "csr" and got.data.dtype == want.data.dtype and got.shape == want.shape
    np.testing.assert_array_equal(got.aux[0], want.aux[0])
    np.testing.assert_array_equal(got.aux[1], want.aux[1])
    np.testing.assert_array_equal(got.data, want.data)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int64", "uint8", "int8", "bool"])
@pytest.mark.parametrize("density", [0, 0.05, 0.5, 1])
def test_matrices_become_csr_and_back(mx, rng, dtype, density):
    for shape in ((1, 1), (3, 300), (300, 3), (17, 64)):
        dense = drawn(rng, shape, dtype, density)
        compressed = mx.run("cast_storage", dense, stype="csr")[0]
        same(compressed, csr(dense))
        np.testing.assert_array_equal(mx.run("cast_storage", compressed, stype="default")[0], dense)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_zeros_of_either_sign_are_not_stored_and_nan_is(mx, dtype):
    dense = np.array([[0.0, -0.0, np.nan], [-0.0, -0.0, -0.0], [np.inf, np.finfo(dtype).smallest_subnormal, -np.nan]], dtype)
    got = mx.run("cast_storage", dense, stype="csr")[0]
    np.testing.assert_array_equal(got.aux[0], [0, 1, 1, 4])
    np.testing.assert_array_equal(got.aux[1], [2, 0, 1, 2])
    np.testing.assert_array_equal(got.data, dense[[0, 2, 2, 2], [2, 0, 1, 2]])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8"])
def test_parts_of_csr_matrices(mx, rng, dtype):
    dense = drawn(rng, (20, 30), dtype, 0.3)
    for rows, columns in (((1, 19), (0, 30)), ((0, 20), (0, 30)), ((5, 5), (0, 30)), ((3, 12), (4, 17)), ((0, 20), (29, 30))):
        begin, end = (rows[0], columns[0]), (rows[1], columns[1])
        same(mx.run("slice", csr(dense), begin=begin, end=end)[0], csr(dense[rows[0] : rows[1], columns[0] : columns[1]]))
    same(mx.run("slice", csr(dense), begin="(2,)", end="(9,)")[0], csr(dense[2:9]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op, how", [("broadcast_mul", np.multiply), ("broadcast_div", np.divide)])
@pytest.mark.parametrize("shape", [(1, 30), (20, 1), (20, 30), (1, 1)])
def test_csr_by_rows_and_columns(mx, rng, op, how, shape, dtype):
    dense, other = drawn(rng, (20, 30), dtype, 0.3), rng.uniform(0.5, 2, shape).astype(dtype)
    want = csr(dense)
    want.data = how(want.data, np.broadcast_to(other, dense.shape)[dense != 0])
    got = mx.run(op, csr(dense), other)[0]
    np.testing.assert_array_equal(got.aux[1], want.aux[1])
    np.testing.assert_allclose(got.data, want.data, 1e-6)


@pytest.mark.parametrize("indices, indptr, message", [
    ([0, 5, 1], [0, 2, 3], "5"), ([0, -1, 1], [0, 2, 3], "-1"), ([0, 2**40, 1], [0, 2, 3], str(2**40)), ([0, -(2**63), 1], [0, 2, 3], "indices"),
    ([0, 1, 1], [0, 3, 2], "indptr"),
])
def test_indices_outside_are_named(mx, indices, indptr, message):
    bad = Sparse("csr", (2, 5), np.ones(3, "float32"), [np.array(indptr, "int64"), np.array(indices, "int64")])
    for op, others, attrs in (("slice", [], {"begin": "(0,)", "end": "(2,)"}), ("broadcast_mul", [np.ones((2, 1), "float32")], {}),
                              ("cast_storage", [], {"stype": "default"})):
        with pytest.raises(Failure, match=message):
            mx.run(op, bad, *others, **attrs)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "uint8"])
def test_elements_of_one_column_are_added_where_matrices_meet(mx, dtype):
    """As in 1.9.1; in any order, and also where what comes first is zero."""
    twice = Sparse("csr", (3, 4), np.array([1, 2, 3, 4, 0, 5, 6, 7], dtype),
                   [np.array([0, 2, 4, 8], "int64"), np.array([1, 1, 2, 0, 3, 1, 3, 3], "int64")])
    dense = np.array([[0, 3, 0, 0], [4, 0, 3, 0], [0, 5, 0, 13]], dtype)
    other = csr(np.array([[0, 10, 0, 0], [0, 0, 20, 0], [30, 0, 0, 40]], dtype))
    same(mx.run("elemwise_add", twice, other)[0], csr(dense + other.dense()))
    same(mx.run("elemwise_mul", other, twice)[0], csr(dense * other.dense()))
    same(mx.run("elemwise_add", twice, twice)[0], csr(dense + dense))
    for operator in ("elemwise_add", "broadcast_add"):
        np.testing.assert_array_equal(mx.run(operator, twice, other.dense())[0], dense + other.dense())
    np.testing.assert_array_equal(mx.run("elemwise_mul", twice, np.full((3, 4), 2, dtype))[0].data, twice.data * 2)


@pytest.mark.parametrize("condition_type", ["float32", "int64", "uint8"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "uint8"])
def test_choosing_by_what_csr_stores(mx, rng, dtype, condition_type):
    dense = drawn(rng, (20, 30), condition_type, 0.4)
    condition = csr(dense)
    condition.data[::3] = 0  # stored zeros do not hold
    x, y = rng.integers(0, 99, (20, 30)).astype(dtype), rng.integers(100, 199, (20, 30)).astype(dtype)
    np.testing.assert_array_equal(mx.run("where", condition, x, y)[0], np.where(condition.dense() != 0, x, y))


def backwards(array):
    """The same matrix, the columns of each row in descending order."""
    rows = np.repeat(np.arange(array.shape[0]), np.diff(array.aux[0]))
    order = np.lexsort((-array.aux[1], rows))
    return Sparse("csr", array.shape, array.data[order], [array.aux[0], array.aux[1][order]])


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "uint8"])
@pytest.mark.parametrize("shape", [(700, 600), (5, 90000), (90000, 5)])
def test_sums_and_products_of_csr_matrices_that_threads_share(mx, rng, dtype, shape):
    first, second = drawn(rng, shape, dtype, 0.3), drawn(rng, shape, dtype, 0.2)
    first[shape[0] // 2 : shape[0] // 2 + 3], second[:1], first[-1:], second[-1:] = 0, 0, 0, 0
    nothing = np.zeros(shape, dtype)
    for x, y in ((first, second), (second, first), (first, first), (first, nothing), (nothing, second)):
        for operator, function, stored in (("elemwise_add", np.add, (x != 0) | (y != 0)), ("elemwise_mul", np.multiply, (x != 0) & (y != 0))):
            want = csr(stored)
            want.data = function(x, y)[stored]
            same(mx.run(operator, csr(x), csr(y))[0], want)
            same(mx.run(operator, backwards(csr(x)), csr(y))[0], want)
            same(mx.run(operator, backwards(csr(x)), backwards(csr(y)))[0], want)


@pytest.mark.parametrize("indices, message", [
    ([0, 5, 1], "5"), ([0, -1, 1], "-1"), ([0, 2**40, 1], str(2**40)), ([0, -(2**63), 1], "indices"), ([3, 3, 5], "5"),
    ([3, 1, 2**40], str(2**40)), ([3, 1, -1], "-1"),
])
def test_sums_and_products_name_columns_that_no_array_has(mx, indices, message):
    bad = Sparse("csr", (2, 5), np.ones(3, "float32"), [np.array([0, 2, 3], "int64"), np.array(indices, "int64")])
    full = np.ones((2, 5), "float32")
    for operator in ("elemwise_add", "elemwise_mul", "_maximum"):
        for other in (csr(full), csr(np.eye(2, 5, dtype="float32")), csr(0 * full), bad, full):
            if operator == "_maximum" and other is full:
                continue
            for operands in ((bad, other), (other, bad)):
                with pytest.raises(Failure, match=message):
                    mx.run(operator, *operands)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("rows, columns, width, density", [
    (40, 30000, 9, 0.3), (40, 3000, 67, 0.3), (3000, 40, 1, 0.1), (3000, 40, 80, 0.1), (3, 70000, 5, 0.001), (300, 2, 3, 0.5)])
def test_products_with_transposed_matrices_that_threads_share(mx, rng, rows, columns, width, density, dtype):
    """Small integers, so that sums are exact; some results are larger than what is kept in a cache at a time."""
    matrix = np.where(rng.random((rows, columns)) < density, rng.integers(1, 4, (rows, columns)), 0).astype(dtype)
    dense = rng.integers(-2, 3, (rows, width)).astype(dtype)
    dense[rows // 2 :: 3] = 0
    want = matrix.T.astype("float64") @ dense.astype("float64")
    stored = np.flatnonzero(np.any(matrix != 0, 0))
    some = np.flatnonzero(np.any(dense != 0, 1))
    sparse_rows = Sparse("row_sparse", dense.shape, dense[some], [some.astype("int64")])
    for lhs in (csr(matrix), backwards(csr(matrix))):
        for rhs in (dense, sparse_rows):
            np.testing.assert_array_equal(mx.run("dot", lhs, rhs, transpose_a=True, forward_stype="default")[0], want)
            got = mx.run("dot", lhs, rhs, transpose_a=True)[0]
            np.testing.assert_array_equal(got.aux[0], stored)
            np.testing.assert_array_equal(got.data, want[stored])
