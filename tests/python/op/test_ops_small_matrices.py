# SPDX-License-Identifier: Apache-2.0
"""Batches of small matrices, many of which are worked on at a time, and contractions that need no product of matrices."""
import numpy as np
import pytest

from op_calls import Failure

SEED = 20261127
SIDES = [1, 2, 3, 4, 5, 8, 9, 16, 17, 33]
BATCHES = [(1,), (17,), (3, 11), (40, 2, 1)]
TOLERANCE = {"float32": 2e-4, "float64": 1e-11, "float16": 3e-2}


def close(got, want):
    tolerance = TOLERANCE[got.dtype.name]
    assert got.shape == want.shape
    np.testing.assert_allclose(got.astype("float64"), want, rtol=tolerance, atol=tolerance)


def regular(rng, batch, n, dtype):
    """Matrices of a large diagonal whose rows are in another order, so that they are exchanged."""
    a = rng.uniform(-1, 1, (*batch, n, n)) + 2 * n * np.eye(n)
    return np.stack([matrix[rng.permutation(n)] for matrix in a.reshape(-1, n, n)]).reshape(a.shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("n", SIDES)
def test_batches_are_numpys(mx, rng, n, batch, dtype):
    a = regular(rng, batch, n, dtype)
    exact = a.astype("float64")
    close(mx.run("_linalg_inverse", a)[0], np.linalg.inv(exact))
    signs, logs = mx.run("_linalg_slogdet", a)
    want = np.linalg.slogdet(exact)
    np.testing.assert_array_equal(signs, want[0])
    close(logs, want[1])
    if dtype != "float16":
        if np.abs(np.linalg.det(exact)).max() < np.finfo(dtype).max:
            np.testing.assert_allclose(mx.run("_linalg_det", a)[0], np.linalg.det(exact), rtol=1e-5 if dtype == "float32" else 1e-12)
        for sides in (1, 2, 8, 17):
            b = rng.uniform(-1, 1, (*batch, n, sides)).astype(dtype)
            close(mx.run("_npi_solve", a, b)[0], np.linalg.solve(exact, b.astype("float64")))
    square = (exact @ np.swapaxes(exact, -1, -2) / n).astype(dtype)
    factor = np.linalg.cholesky(square.astype("float64"))
    close(mx.run("_linalg_potrf", square)[0], factor)
    other = np.where(np.tri(n, dtype=bool), np.dtype(dtype).type(np.nan), square) if n > 1 else square
    other = np.where(np.eye(n, dtype=bool), square, other)  # the upper triangle and the diagonal
    close(mx.run("_linalg_potrf", other, lower=False)[0], np.swapaxes(factor, -1, -2))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", SIDES)
@pytest.mark.parametrize("at", [0, 16, 39])
def test_one_singular_matrix_fails_the_batch(mx, rng, n, at, dtype):
    a = regular(rng, (40,), n, dtype)
    b = np.ones((40, n), dtype)
    for op in ("_linalg_inverse", "_npi_solve"):
        mx.run(op, *([a] if op == "_linalg_inverse" else [a, b]))
    a[at, :, n // 2] = 0
    with pytest.raises(Failure, match="_linalg_inverse.*singular"):
        mx.run("_linalg_inverse", a)
    with pytest.raises(Failure, match="_npi_solve.*singular"):
        mx.run("_npi_solve", a, b)
    assert mx.run("_linalg_det", a)[0][at] == 0
    with pytest.raises(Failure, match="_linalg_potrf.*not positive definite"):
        mx.run("_linalg_potrf", np.broadcast_to(np.eye(n, dtype=dtype), a.shape) * np.where(np.arange(40) == at, -1, 1)[:, None, None].astype(dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("m, k, n", [(3, 3, 3), (4, 4, 4), (1, 4, 4), (4, 1, 3), (8, 8, 8), (2, 7, 5), (9, 8, 8), (8, 9, 8), (8, 8, 9), (16, 16, 16), (17, 5, 16), (9, 17, 12),
                                     (5, 16, 17), (1, 12, 11), (3, 0, 3)])
def test_batches_of_small_products_are_numpys(mx, rng, m, k, n, dtype):
    for batch in [(1,), (50,), (5, 7)]:
        a, b = rng.integers(-4, 5, (*batch, m, k)).astype(dtype), rng.integers(-4, 5, (*batch, k, n)).astype(dtype)
        np.testing.assert_array_equal(mx.run("_npi_matmul", a, b)[0], a @ b)
        np.testing.assert_array_equal(mx.run("_npi_matmul", a, b[:1])[0], a @ b[:1])
        np.testing.assert_array_equal(mx.run("_npi_matmul", a[0], b)[0], a[0] @ b)
        if k > 0:
            np.testing.assert_array_equal(mx.run("_linalg_gemm2", a, b, alpha=-2.0)[0], -2 * (a @ b))
            turned = np.ascontiguousarray(np.swapaxes(b, -1, -2))
            np.testing.assert_array_equal(mx.run("_linalg_gemm2", a, turned, transpose_b=True)[0], a @ b)
            c = rng.integers(-4, 5, (*batch, m, n)).astype(dtype)
            np.testing.assert_array_equal(mx.run("_linalg_gemm", a, b, c, beta=3.0)[0], a @ b + 3 * c)
            np.testing.assert_array_equal(mx.run("_npi_einsum", a, b, num_args=2, subscripts="...ij,...jk->i...k")[0], np.moveaxis(a @ b, -2, 0))


@pytest.mark.parametrize("m, k, n", [(3, 3, 3), (4, 4, 4), (8, 8, 8), (2, 7, 5)])
@pytest.mark.parametrize("ta", [False, True])
@pytest.mark.parametrize("tb", [False, True])
def test_batch_dot_of_small_matrices(mx, rng, m, k, n, ta, tb):
    a = rng.integers(-4, 5, (33, k, m) if ta else (33, m, k)).astype("float32")
    b = rng.integers(-4, 5, (33, n, k) if tb else (33, k, n)).astype("float32")
    want = (np.swapaxes(a, 1, 2) if ta else a) @ (np.swapaxes(b, 1, 2) if tb else b)
    np.testing.assert_array_equal(mx.run("batch_dot", a, b, transpose_a=ta, transpose_b=tb)[0], want)


@pytest.mark.parametrize("n", [3, 8, 9])
def test_zero_times_a_product_is_zero_whatever_is_in_it(mx, rng, n):
    a, b, c = (rng.standard_normal((20, n, n)).astype("float32") for _ in range(3))
    a[5, 1, 1], b[7, 2, 0] = np.nan, np.inf
    zeros = mx.run("_linalg_gemm2", a, b, alpha=0.0)[0]
    np.testing.assert_array_equal(zeros, np.zeros_like(zeros))
    np.testing.assert_array_equal(np.signbit(zeros), False)
    np.testing.assert_array_equal(mx.run("_linalg_gemm", a, b, c, alpha=0.0, beta=0.0)[0], zeros)
    np.testing.assert_array_equal(mx.run("_linalg_gemm", a, b, c, alpha=0.0, beta=1.0)[0], c)


def test_what_is_not_finite_stays_in_its_product(mx, rng):
    a, b = (rng.standard_normal((20, 3, 3)).astype("float32") for _ in range(2))
    want = mx.run("batch_dot", a, b)[0]
    a[5, 1, 1], b[7, 2, 0] = np.nan, np.inf
    got = mx.run("batch_dot", a, b)[0]
    spoilt = ~np.isfinite(got)
    expected = np.zeros_like(spoilt)
    expected[5, 1], expected[7, :, 0] = True, True
    np.testing.assert_array_equal(spoilt, expected)
    np.testing.assert_array_equal(got[~spoilt], want[~spoilt])


WHOLE = ["int8", "uint8", "int32", "int64", "bool"]


@pytest.mark.parametrize("dtype", [*WHOLE, "float32", "float64", "float16"])
@pytest.mark.parametrize("subscripts, shapes", [
    ("ij,ij->ij", [(70, 65), (70, 65)]), ("ij,ji->ij", [(70, 65), (65, 70)]), ("ij,ij->ji", [(3, 65), (3, 65)]), ("i,j->ij", [(33,), (130,)]), ("i,j->ji", [(33,), (130,)]),
    ("ij,j->ij", [(40, 33), (33,)]), ("ij,i->ji", [(40, 33), (40,)]), ("i,i->i", [(129,), (129,)]), ("ijk,kj->ikj", [(3, 5, 7), (7, 5)]), ("ij,kl->ikjl", [(3, 4), (5, 6)]),
    ("ii,i->i", [(9, 9), (9,)]), ("ij,->ij", [(3, 4), ()]), ("i,j,k->kij", [(2,), (3,), (4,)]), ("ij,ij->i", [(20, 300), (20, 300)]), ("ij->ji", [(65, 130)]), ("ii->i", [(40, 40)]),
    ("ijk->kij", [(5, 40, 33)]), ("...->...", [(4, 5)]), ("ij,jk->ki", [(9, 70), (70, 11)]),
])
def test_contractions_of_elements_are_numpys(mx, rng, subscripts, shapes, dtype):
    if dtype in WHOLE and dtype != "bool":
        info = np.iinfo(dtype)
        arrays = [rng.integers(info.min, info.max, shape, dtype, endpoint=True) for shape in shapes]
    else:
        arrays = [rng.integers(0, 2, shape).astype(dtype) if dtype == "bool" else rng.integers(-2, 3, shape).astype(dtype) for shape in shapes]
    want = np.einsum(subscripts, *[a.astype("float64") if dtype == "float16" else a for a in arrays])
    got = mx.run("_npi_einsum", *arrays, num_args=len(arrays), subscripts=subscripts)[0]
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, want.astype(dtype))


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("subscripts, shape", [("ij->i", (9, 1000)), ("ij->j", (1000, 9)), ("ijk->kj", (30, 40, 50)), ("ij->", (300, 301)), ("ii->", (300, 300)), ("ijk->k", (7, 1, 200))])
def test_sums_of_bytes_wrap(mx, rng, subscripts, shape, dtype):
    info = np.iinfo(dtype)
    a = rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    got = mx.run("_npi_einsum", a, num_args=1, subscripts=subscripts)[0]
    np.testing.assert_array_equal(got, np.einsum(subscripts, a.astype("int64")).astype(dtype))


@pytest.mark.parametrize("dtype", [*WHOLE[:4], "float32"])
@pytest.mark.parametrize("m, n", [(1, 1), (7, 300), (300, 7), (1000, 129)])
def test_outer_products(mx, rng, m, n, dtype):
    a, b = rng.integers(-9, 9, m).astype(dtype), rng.integers(-9, 9, n).astype(dtype)
    np.testing.assert_array_equal(mx.run("_npi_tensordot_int_axes", a, b, axes=0)[0], np.outer(a, b))


def test_signs_of_zeros_of_elements(mx):
    a, b = np.array([-0.0, 0.0, -1.0], "float32"), np.array([1.0, -1.0, 0.0], "float32")
    for dtype in ("float32", "float64", "float16"):
        got = mx.run("_npi_einsum", a.astype(dtype), b.astype(dtype), num_args=2, subscripts="i,i->i")[0]
        assert np.signbit(got).tolist() == [True, True, True]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 5, 16, 33])
@pytest.mark.parametrize("rightside", [False, True])
def test_right_sides_of_a_triangle_do_not_depend_on_each_other(mx, rng, n, rightside, dtype):
    a = (np.tril(rng.uniform(-1, 1, (3, n, n))) + 2 * np.eye(n)).astype(dtype)
    b = rng.uniform(-1, 1, (3, 81, n) if rightside else (3, n, 81)).astype(dtype)
    for transpose in (False, True):
        def solved(count):
            sides = b[:, :count] if rightside else b[..., :count]
            return mx.run("_linalg_trsm", a, np.ascontiguousarray(sides), rightside=rightside, transpose=transpose)[0]
        every = solved(81)
        left = np.swapaxes(a, -1, -2) if transpose else a
        close(every @ left if rightside else left @ every, b.astype("float64"))
        for count in (1, 15, 16, 17, 64, 65):
            np.testing.assert_array_equal(solved(count), every[:, :count] if rightside else every[..., :count])


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("text", ["ij,ij->i", "ij,ij->j", "ij,ij->", "ij,ij->ij", "ij,kj->ik", "ij,jk->ik"])
def test_sums_of_products_of_bytes_wrap(mx, rng, text, dtype):
    for shape in [(1, 1), (3, 31), (5, 64), (2, 65), (64, 129)]:
        info = np.iinfo(dtype)
        a, b = (rng.integers(info.min, info.max + 1, shape).astype(dtype) for _ in range(2))
        if text == "ij,jk->ik":
            b = np.ascontiguousarray(b.T)
        want = np.einsum(text, a.astype("int64"), b.astype("int64")).astype(dtype)
        np.testing.assert_array_equal(mx.run("_npi_einsum", a, b, subscripts=text)[0], want)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 15, 16, 17, 33, 700])
def test_outer_products_are_sums_of_one_product(mx, rng, n, dtype):
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, -1.5], dtype)
    a, b = np.concatenate([special, rng.uniform(-1, 1, 600).astype(dtype)]), np.resize(np.concatenate([rng.uniform(-1, 1, 5).astype(dtype), special]), n)
    with np.errstate(invalid="ignore"):
        want = a[:, None] * b + 0  # no -0
    for rows in (1, 9, len(a)):
        got = mx.run("_npi_tensordot_int_axes", a[:rows], b, axes=0)[0]
        np.testing.assert_array_equal(got, want[:rows])
        finite = np.isfinite(got)
        np.testing.assert_array_equal(np.signbit(got[finite]), np.signbit(want[:rows][finite]))


def sums_of_zeros_and_others(rng, shape, dtype):
    a = rng.integers(-3, 4, shape).astype(dtype)
    return np.where(rng.integers(0, 4, shape) == 0, np.array(-0.0, dtype), a)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("text, shapes", [("ij,j->ij", [(70, 33), (33,)]), ("ij,i->ij", [(33, 70), (33,)]), ("j,ij->ij", [(33,), (70, 33)]), ("ij,i->ji", [(33, 70), (33,)]),
                                          ("ijk,j->ijk", [(3, 33, 20), (33,)]), ("ijk,ik->ijk", [(9, 33, 20), (9, 20)]), ("ij,->ij", [(30, 4), ()]),
                                          ("ij,kj->ikj", [(50, 33), (7, 33)]), ("ij,jk->ikj", [(50, 33), (33, 7)]), ("nhw,c->nchw", [(3, 20, 21), (16,)]),
                                          ("c,nhw->nchw", [(16,), (3, 20, 21)]), ("nhw,c->nhwc", [(3, 20, 21), (16,)])])
def test_products_with_labels_of_their_own_are_added_to_zero(mx, rng, text, shapes, dtype):
    a, b = (sums_of_zeros_and_others(rng, shape, dtype) for shape in shapes)
    got = mx.run("_npi_einsum", a, b, subscripts=text)[0]
    np.testing.assert_array_equal(got, np.einsum(text, a.astype("float64"), b.astype("float64")).astype(dtype))
    assert not np.signbit(got[got == 0]).any()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("text, shape", [("ij,ij->j", (70, 33)), ("ij,ij->j", (1, 33)), ("ij,ij->j", (2, 33)), ("ij,ij->j", (3, 7)), ("ijk,ijk->ik", (9, 2, 3)),
                                         ("ijk,ijk->ik", (5, 70, 33)), ("ijk,ijk->ki", (5, 70, 33)), ("ijk,ijk->k", (5, 70, 33)),
                                         ("ijk,ijk->j", (5, 70, 33)), ("ijk,ijk->jk", (1, 70, 33)), ("ij,ij->i", (70, 33)), ("ij,ij->", (70, 33))])
def test_sums_of_products_of_arrays_that_lie_alike(mx, rng, text, shape, dtype):
    a, b = (sums_of_zeros_and_others(rng, shape, dtype) for _ in range(2))
    want = np.einsum(text, a.astype("float64"), b.astype("float64")).astype(dtype)
    np.testing.assert_array_equal(mx.run("_npi_einsum", a, b, subscripts=text)[0], want)
    zeros = mx.run("_npi_einsum", np.full_like(a, -0.0), np.ones_like(b), subscripts=text)[0]
    assert not zeros.any() and (shape[0] == 1 or not np.signbit(zeros).any())  # one product is no sum
    turned = np.ascontiguousarray(np.swapaxes(b, 0, 1))
    back = text.replace(",ij", ",ji", 1)
    np.testing.assert_array_equal(mx.run("_npi_einsum", a, turned, subscripts=back)[0], want)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("text, shape", [("ij,ij->j", (3000, 40)), ("ijk,ijk->ik", (4, 3000, 9)), ("ij,ij->i", (40, 250))])
def test_sums_of_many_products_are_near_the_truth(mx, rng, text, shape, dtype):
    a, b = (rng.standard_normal(shape).astype(dtype) for _ in range(2))
    wide = np.longdouble
    want, most = (np.einsum(text, f(a.astype(wide)), f(b.astype(wide))) for f in (lambda x: x, abs))
    got = mx.run("_npi_einsum", a, b, subscripts=text)[0]
    assert (abs(got - want) <= np.finfo(dtype).eps * most).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
@pytest.mark.parametrize("text, shapes", [("nchw,c->nhw", [(3, 16, 20, 21), (16,)]), ("c,nchw->nhw", [(16,), (3, 16, 20, 21)]), ("nchw,oc->nohw", [(3, 16, 20, 21), (7, 16)]),
                                          ("oc,nchw->nohw", [(7, 16), (3, 16, 20, 21)]), ("nchw,oc->onhw", [(3, 16, 20, 21), (7, 16)]), ("nchw,oc->nhwo", [(3, 16, 20, 21), (7, 16)]),
                                          ("gnchw,gc->gnhw", [(2, 3, 16, 20, 21), (2, 16)]), ("gnchw,goc->ngohw", [(2, 3, 16, 20, 21), (2, 7, 16)]),
                                          ("nchw,mcx->nhwmx", [(3, 16, 20, 21), (2, 16, 300)]), ("abck,dk->abdc", [(2, 3, 80, 60), (5, 60)])])
def test_contractions_of_images_are_numpys(mx, rng, text, shapes, dtype):
    arrays = [rng.integers(-2, 3, shape).astype(dtype) for shape in shapes]
    want = np.einsum(text, *[a.astype("float64") for a in arrays], optimize=True)
    np.testing.assert_array_equal(mx.run("_npi_einsum", *arrays, subscripts=text)[0], want.astype(dtype))
