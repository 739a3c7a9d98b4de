# SPDX-License-Identifier: Apache-2.0
"""The helpers for tests that draw: shapes, arrays of each kind, matrices of known properties, tests of generators."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import test_utils as tu


@pytest.fixture(autouse=True)
def _seeded():
    np.random.seed(5)


def test_shapes_and_points_lie_within_their_limits():
    for _ in range(50):
        assert all(1 <= dim <= most for dim, most in zip(tu.rand_shape_3d(2, 3, 4), (2, 3, 4)))
        shape = tu.rand_shape_nd(4, dim=2, allow_zero_size=True)
        assert len(shape) == 4 and all(0 <= dim <= 2 for dim in shape)
        x, y = tu.rand_coord_2d(1, 3, 5, 6)
        assert x in (1, 2) and y == 5


def test_arrays_have_the_shapes_and_limits_asked_for():
    scalar, matrix = tu.random_arrays((), (2, 3))
    assert scalar.shape == () and matrix.shape == (2, 3) and tu.random_arrays((4,)).shape == (4,)
    low, high = tu.random_uniform_arrays((100,), (3, 2), low=2, high=3, dtype="float64")
    assert low.dtype == np.float64 and 2 <= low.min() and low.max() < 3 and high.shape == (3, 2)
    with pytest.raises(TypeError, match="given bounds"):
        tu.random_uniform_arrays((1,), bounds=3)


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
def test_sparse_arrays_hold_what_was_said(stype):
    if stype == "csr":
        pytest.importorskip("scipy")
    made = tu.create_sparse_array((6, 4), stype, data_init=2, density=0.5)
    assert made.stype == stype and set(np.unique(made.asnumpy())) <= {0, 2}
    assert (tu.create_sparse_array_zd((6, 4), stype, density=0.0).asnumpy() == 0).all()
    assert set(np.unique(tu.rand_ndarray((6, 4), stype, density=1.0, modifier_func=lambda value: 3).asnumpy())) == {3}


def test_rows_that_are_stored_can_be_chosen():
    made = tu.create_sparse_array_zd((5, 2), "row_sparse", density=0.0, data_init=1, rsp_indices=[1, 4])
    assert made.indices.asnumpy().tolist() == [1, 4] and made.asnumpy().sum() == 4
    with pytest.raises(ValueError, match="given 3 rows, expected at most 2"):
        tu.create_sparse_array((2, 2), "row_sparse", rsp_indices=[0, 1, 1])


def test_row_sparse_arrays_of_no_density_draw_rows_and_keep_none():
    assert (tu.create_sparse_array_zd((5, 2), "row_sparse", density=1.0).asnumpy() == 0).all()
    after = np.random.rand()
    np.random.seed(5)
    np.random.rand(5)
    assert np.random.rand() == after


def test_a_check_of_gradients_draws_for_its_projection_too():
    values = {"a": np.ones((2, 3)), "b": np.ones((2, 3))}
    tu.check_numeric_gradient(mx.sym.var("a") * mx.sym.var("b"), values)
    after = np.random.rand()
    np.random.seed(5)
    np.random.rand(2, 3)
    np.random.normal(size=3 * 6)  # of a, b and the projection
    assert np.random.rand() == after


def test_functions_of_elements():
    np.testing.assert_array_equal(tu.assign_each([[1, 2], [3, 4]], lambda value: value * 10), [[10, 20], [30, 40]])
    np.testing.assert_array_equal(tu.assign_each2([1.0, 2.0], [3.0, 4.0], lambda a, b: a * b), [3, 8])
    given = np.arange(3)
    for copy in (tu.assign_each(given, None), tu.assign_each2(given, given, None)):
        assert copy is not given and copy.tolist() == [0, 1, 2]


def test_sums_undo_broadcasts():
    ones = np.ones((2, 3, 4))
    assert tu.collapse_sum_like(ones, (3, 1)).tolist() == [[8], [8], [8]]
    assert tu.collapse_sum_like(ones, (2, 3, 4)) is ones
    assert tu.np_reduce(ones, (0, -1), True, np.sum).tolist() == [[[8], [8], [8]]]
    assert tu.np_reduce(ones, None, False, np.sum) == 24


def test_counted_rows_and_identities():
    assert tu.create_2d_tensor(3, 2).asnumpy().tolist() == [[0, 0], [1, 1], [2, 2]]
    assert tu.create_vector(3).asnumpy().tolist() == [0, 1, 2] and tu.create_vector(3).dtype == np.int64
    np.testing.assert_array_equal(tu.get_identity_mat(3).asnumpy(), np.identity(3))
    np.testing.assert_array_equal(tu.get_identity_mat_batch(2).asnumpy(), [np.identity(2)] * 2)


def test_matrices_have_their_properties():
    basis = tu.new_orthonormal_matrix_2d(4)
    np.testing.assert_allclose(basis.T @ basis, np.identity(4), atol=1e-12)
    for matrix in tu.new_matrix_with_real_eigvals_nd((2, 3, 4, 4)).reshape(-1, 4, 4):
        values = np.linalg.eigvals(matrix)
        assert np.abs(values.imag).max() == 0 and np.diff(np.sort(values.real)).min() > 1e-6
    symmetric = tu.new_sym_matrix_with_real_eigvals_nd((2, 3, 3))
    np.testing.assert_array_equal(symmetric, symmetric.swapaxes(1, 2))


def test_generators_are_told_from_others():
    draws = np.random.RandomState(1)
    assert tu.mean_check(lambda n: draws.normal(2, 3, n), 2, 3, 10000) and tu.var_check(lambda n: draws.normal(2, 3, n), 3, 10000)
    assert not tu.mean_check(lambda n: draws.normal(2.5, 3, n), 2, 3, 10000)
    assert not tu.var_check(lambda n: draws.normal(2, 3.5, n), 3, 10000)
    assert tu.mean_check(lambda n: mx.nd.random.normal(0, 1, shape=n), 0, 1.2, 10000)


def test_counts_in_buckets_are_compared():
    pytest.importorskip("scipy")
    draws = np.random.RandomState(1)
    halves, shares = tu.gen_buckets_probs_with_ppf(lambda share: share, 2)
    assert halves == [(0.0, 0.5), (0.5, 1.0)] and shares == [0.5, 0.5]
    p, counts, expected = tu.chi_square_check(draws.rand, halves, shares, 10000)
    assert p > 1e-3 and counts.sum() == 10000 and expected.tolist() == [5000, 5000]
    assert tu.chi_square_check(lambda n: draws.rand(n) ** 1.2, halves, shares, 10000)[0] < 1e-3
    coins = tu.chi_square_check(lambda n: draws.randint(0, 2, n), [0, 1], [0.5, 0.5], 10000)
    assert coins[0] > 1e-3 and coins[1].sum() == 10000
    with pytest.raises(AssertionError, match="0 of 2 chi-square tests passed"):
        tu.verify_generator(lambda n: draws.rand(n) ** 2, halves, shares, 10000, nrepeat=2)
    with pytest.raises(ValueError, match="given 2 buckets and 1 probabilities"):
        tu.chi_square_check(draws.rand, halves, [1.0], 10)
