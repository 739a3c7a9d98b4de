# SPDX-License-Identifier: Apache-2.0
"""Making sparse arrays: types, forms and what equal places add up to."""

import numpy as np
import pytest

import mxnet as mx

sparse = mx.nd.sparse


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64"])
def test_arrays_keep_their_type(dtype):
    rows = np.ones((2, 3), dtype)
    assert sparse.row_sparse_array((rows, [1, 3]), shape=(5, 3)).dtype == np.dtype(dtype)
    assert sparse.row_sparse_array(rows).dtype == np.dtype(dtype)
    assert sparse.csr_matrix((rows[0], [0, 2, 1], [0, 2, 2, 3])).dtype == np.dtype(dtype)
    assert sparse.csr_matrix((rows[0], ([0, 1, 1], [2, 0, 1]))).dtype == np.dtype(dtype)
    assert sparse.csr_matrix(np.diag(rows[0])).dtype == np.dtype(dtype)


@pytest.mark.parametrize("stype", ["row_sparse", "csr"])
def test_array_of_a_sparse_array_stays_sparse(stype):
    source = mx.nd.array([[0, 1], [0, 0], [2, 0]]).tostype(stype)
    for dtype in (None, "float64"):
        made = mx.nd.array(source, dtype=dtype)
        assert made.stype == stype
        assert np.dtype(made.dtype) == np.dtype(dtype or "float32")
        np.testing.assert_array_equal(made.asnumpy(), source.asnumpy())
    assert mx.nd.array(source, mx.cpu(1)).context == mx.cpu(1)
    made[:] = 0
    assert source.asnumpy().sum() == 3  # a copy


def test_lists_and_empty_arrays_are_float32_unless_a_type_is_given():
    assert sparse.csr_matrix(([1, 2, 3], [0, 2, 1], [0, 2, 2, 3])).dtype == np.float32
    assert sparse.row_sparse_array(([[1, 2]], [1]), shape=(3, 2)).dtype == np.float32
    assert sparse.csr_matrix([[1, 0], [0, 1]]).dtype == np.float32
    assert sparse.csr_matrix((3, 4)).dtype == np.float32
    assert sparse.csr_matrix(([1], [0], [0, 1]), dtype="int32").dtype == np.int32


def test_elements_at_one_place_add_up():
    made = sparse.csr_matrix(([1.0, 2, 4, 8], ([2, 0, 2, 0], [1, 3, 1, 0])))
    assert made.shape == (3, 4)
    assert made.asnumpy().tolist() == [[8, 0, 0, 2], [0, 0, 0, 0], [0, 5, 0, 0]]
    assert made.indptr.asnumpy().tolist() == [0, 2, 2, 3] and made.indices.asnumpy().tolist() == [0, 3, 1]


def test_places_may_be_none_in_a_given_shape():
    made = sparse.csr_matrix((np.zeros(0), (np.zeros(0, int), np.zeros(0, int))), shape=(2, 3))
    assert made.asnumpy().tolist() == np.zeros((2, 3)).tolist()


@pytest.mark.parametrize("seed", range(5))
def test_places_in_any_order_give_the_dense_matrix(seed):
    draws = np.random.RandomState(seed)
    row, col, data = draws.randint(0, 6, 20), draws.randint(0, 5, 20), draws.randint(-4, 5, 20)
    dense = np.zeros((6, 5), int)
    np.add.at(dense, (row, col), data)
    made = sparse.csr_matrix((data, (row, col)), shape=(6, 5))
    np.testing.assert_array_equal(made.asnumpy(), dense, f"seed {seed}")


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("make", [lambda dtype: sparse.zeros("csr", (3, 2), dtype=dtype), lambda dtype: sparse.empty("csr", (3, 2), dtype=dtype),
                                  lambda dtype: sparse.csr_matrix((3, 2), dtype=dtype)])
def test_a_matrix_of_zeros_has_a_pointer_for_each_row(make, dtype):
    made = make(dtype)
    assert made.dtype == np.dtype(dtype)
    assert made.indptr.asnumpy().tolist() == [0, 0, 0, 0]
    assert made.data.shape == made.indices.shape == (0,)
    made.check_format()
    pytest.importorskip("scipy")
    assert made.asscipy().toarray().tolist() == [[0, 0]] * 3


@pytest.mark.parametrize(
    "make",
    [
        lambda: mx.nd.sparse.zeros("other", (2, 2)),
        lambda: mx.nd.sparse.empty("undefined", (2, 2)),
        lambda: mx.nd.zeros((2, 2), stype="other"),
        lambda: mx.nd.ones((2, 2)).attach_grad(stype="other"),
    ],
    ids=["zeros", "empty", "mx.nd.zeros", "attach_grad"],
)
def test_storage_types_that_there_are_not(make):
    with pytest.raises(ValueError, match="expected one of default"):
        make()


@pytest.mark.parametrize("operator", ["add", "subtract", "multiply"])
def test_csr_rows_in_any_order_of_columns_are_merged(operator):
    first = mx.nd.sparse.csr_matrix((np.array([1, 2, 3], "float32"), [2, 0, 1], [0, 2, 3]), shape=(2, 3))
    second = mx.nd.sparse.csr_matrix((np.array([4, 5, 6], "float32"), [1, 0, 1], [0, 2, 3]), shape=(2, 3))
    found = getattr(mx.nd.sparse, operator)(first, second)
    assert found.stype == "csr"
    dense = np.array([[2, 0, 1], [0, 3, 0]]), np.array([[5, 4, 0], [0, 6, 0]])
    np.testing.assert_array_equal(found.asnumpy(), getattr(np, operator)(*dense))
    twice = mx.nd.sparse.csr_matrix((np.array([1, 2, 3], "float32"), [0, 0, 1], [0, 2, 3]), shape=(2, 3))
    added = np.array([[3, 0, 0], [0, 3, 0]])
    np.testing.assert_array_equal(getattr(mx.nd.sparse, operator)(twice, second).asnumpy(), getattr(np, operator)(added, dense[1]))


@pytest.mark.parametrize("draw", ["exponential", "gamma", "normal", "poisson", "uniform"])
def test_drawn_rows_are_those_of_a_dense_array_and_all_stored(draw, capfd):
    """No word about dense copies: rows of embeddings are initialized like this."""
    made, dense = sparse.zeros("row_sparse", (9, 2)), mx.nd.zeros((9, 2))
    for out in (made, dense):
        mx.random.seed(3)
        getattr(mx.nd.random, draw)(out=out)
    assert made.indices.asnumpy().tolist() == list(range(9))
    assert made.asnumpy().tolist() == dense.asnumpy().tolist()
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
def test_a_product_with_a_dense_array_on_the_left_is_dense_as_in_the_release(stype):
    dense = mx.nd.array([[1, 2], [3, 4]])
    packed = mx.nd.array([[0, 5], [0, 0]]).tostype(stype)
    product = dense * packed
    assert product.stype == "default"
    np.testing.assert_array_equal(product.asnumpy(), [[0, 10], [0, 0]])
    assert (packed * dense).stype == (2 * packed).stype == stype


@pytest.mark.parametrize("data, dtype", [([1.0, 2.0], "float64"), ([1, 2], "int64"), (np.ones(2, "float16"), "float16"), (mx.nd.ones(2), "float32")])
def test_numbers_at_places_have_the_type_that_scipy_gives_them(data, dtype):
    """1.9.1 hands them to SciPy, so that a list of numbers is of float64 here alone."""
    made = sparse.csr_matrix((data, ([0, 1], [1, 0])), shape=(2, 2))
    assert made.dtype == np.dtype(dtype)
    assert sparse.csr_matrix((data, ([0, 1], [1, 0])), shape=(2, 2), dtype="float16").dtype == np.float16


def test_nothing_is_stored_of_rows_that_are_retained_of_an_array_that_stores_none():
    nothing = sparse.zeros("row_sparse", (4, 2))
    assert sparse.retain(nothing, mx.nd.array([0, 2])).data.shape == (0, 2)
    # Of an array that stores one, those that are missing are zeros.
    one = sparse.row_sparse_array(([[1, 2]], [1]), shape=(4, 2))
    np.testing.assert_array_equal(sparse.retain(one, mx.nd.array([0, 1])).data.asnumpy(), [[0, 0], [1, 2]])


@pytest.mark.parametrize("shape", [(1, 4), (5, 1), (3, 4)])
def test_the_quotient_of_a_csr_matrix_and_a_dense_array_is_of_what_is_stored(shape):
    csr = mx.nd.array(np.arange(np.prod(shape)).reshape(shape)).tostype("csr")
    dense = mx.nd.full(shape, 2)
    dense[0, 0] = 0  # below an element that is not stored
    got = csr / dense
    assert got.stype == "csr"
    np.testing.assert_array_equal(got.asnumpy(), np.arange(np.prod(shape)).reshape(shape) / 2)
