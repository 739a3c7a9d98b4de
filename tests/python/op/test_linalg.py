# SPDX-License-Identifier: Apache-2.0
"""Linear algebra against NumPy, on other shapes than the golden ones, and gradients against differences."""
import itertools

import numpy as np
import pytest

from op_calls import Failure

SEED = 20261120
BATCHES = [(), (3,), (2, 3), (0,)]
EXACT = {"float32": 2e-4, "float64": 1e-9, "float16": 3e-2}


def close(got, want, tolerance=None):
    tolerance = tolerance or EXACT[got.dtype.name]
    want = np.asarray(want)
    assert got.shape == want.shape
    np.testing.assert_allclose(got.astype("float64"), want.astype("float64"), rtol=tolerance, atol=tolerance)


def well_conditioned(rng, batch, n, dtype="float64"):
    return (rng.standard_normal((*batch, n, n)) * 0.3 + 2 * np.eye(n)).astype(dtype)


def positive_definite(rng, batch, n, dtype="float64"):
    a = rng.standard_normal((*batch, n, n))
    return (a @ np.swapaxes(a, -1, -2) + n * np.eye(n)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("a, b", [
    ((5,), (5,)), ((4, 5), (5,)), ((5,), (5, 4)), ((7, 5), (5, 9)), ((2, 3, 4, 5), (5, 6)), ((3, 4, 5), (2, 3, 5, 6)),
    ((2, 1, 4, 5), (3, 5, 2)), ((0, 5), (5, 3)), ((4, 0), (0, 3)), ((130, 70), (70, 150)), ((5, 1), (1, 5)),
])
def test_matmul_is_numpys(mx, rng, a, b, dtype):
    x, y = rng.standard_normal(a).astype(dtype), rng.standard_normal(b).astype(dtype)
    want = np.matmul(x.astype("float64"), y.astype("float64"))
    close(mx.run("_npi_matmul", x, y)[0], want, 0.1 if dtype == "float16" else 2e-4)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64"])
@pytest.mark.parametrize("a, b", [((7,), (5,)), ((3, 2), (4,)), ((1,), (300,)), ((600,), (1,)), ((0,), (3,)), ((), (4,)), ((130,), (257,))])
def test_outer_products_of_integers_wrap_around(mx, rng, a, b, dtype):
    info = np.iinfo(dtype)
    x, y = (rng.integers(info.min, info.max, shape, dtype, endpoint=True) for shape in (a, b))
    want = np.multiply.outer(x, y)
    np.testing.assert_array_equal(mx.run("_npi_tensordot_int_axes", x, y, axes=0)[0], want)
    if len(a) == len(b) == 1:
        np.testing.assert_array_equal(mx.run("_npi_matmul", x[:, None], y[None])[0], want)
        np.testing.assert_array_equal(mx.run("_npi_tensordot", x[:, None], y[:, None], a_axes_summed=(1,), b_axes_summed=(1,))[0], want)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("m, n", [(70, 90), (1, 300), (600, 1), (130, 257), (300, 16), (67, 17), (9, 4096), (5, 9001)])
@pytest.mark.parametrize("odd", [None, 0.0, -0.0, np.nan, np.inf])
def test_outer_products_of_floats_are_single_products(mx, rng, m, n, odd, dtype):
    x, y = rng.standard_normal(m).astype(dtype), rng.standard_normal(n).astype(dtype)
    if odd is not None:
        x[m // 2] = y[n // 3] = odd
    got = mx.run("_npi_tensordot_int_axes", x, y, axes=0)[0]
    with np.errstate(all="ignore"):
        want = (np.multiply.outer(x.astype("float64"), y.astype("float64")) + 0.0).astype(dtype)  # of zeros the sum is +0
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(np.signbit(got[want == 0]), np.signbit(want[want == 0]))


@pytest.mark.parametrize("text", ["i,j->ij", "i,j->ji", "j,i->ij"])
@pytest.mark.parametrize("m, n", [(16, 40), (300, 33), (4100, 5), (5, 4113)])
def test_outer_products_of_halves_are_those_of_floats(mx, rng, text, m, n):
    x, y = rng.standard_normal(m).astype("float16"), rng.standard_normal(n).astype("float16")
    want = np.einsum(text, x.astype("float32"), y.astype("float32"))
    np.testing.assert_array_equal(mx.run("_npi_einsum", x, y, num_args=2, subscripts=text)[0], want.astype("float16"))
    a, b = (mx.run_in_bfloat16("_copy", v) for v in (x, y))
    wide = np.einsum(text, a, b)
    rounded = mx.run_in_bfloat16("_copy", wide)
    np.testing.assert_array_equal(mx.run_in_bfloat16("_npi_einsum", a, b, num_args=2, subscripts=text), rounded)


@pytest.mark.parametrize("a, b", [((), (3, 2)), ((4, 5), (3, 5, 2)), ((2, 4, 5), (5,)), ((5,), (3, 5, 2)), ((), ())])
def test_dot_is_numpys(mx, rng, a, b):
    x, y = rng.standard_normal(a), rng.standard_normal(b)
    close(mx.run("_np_dot", x, y)[0], np.dot(x, y))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
@pytest.mark.parametrize("a, b", [((5,), (5,)), ((300001,), (300001,)), ((4, 5), (5,)), ((7, 65), (65, 9)), ((2, 3, 40), (40, 33)), ((4, 0), (0, 3)), ((3, 1), (1, 4))])
def test_products_of_integers_wrap(mx, rng, a, b, dtype):
    info = np.iinfo(dtype)
    x, y = (rng.integers(info.min, info.max, shape, dtype, endpoint=True) for shape in (a, b))
    assert np.array_equal(mx.run("_np_dot", x, y)[0], np.dot(x, y))
    transposed = np.ascontiguousarray(y.T).T if y.ndim == 2 else y
    labels = "".join("ijkl"[: x.ndim - 1]) + "m," + ("m" if y.ndim == 1 else "nm")
    got = mx.run("_npi_einsum", x, np.ascontiguousarray(transposed.T), subscripts=labels)[0]
    assert np.array_equal(got, np.dot(x, y))


@pytest.mark.parametrize("subscripts, shapes", [
    ("ij,jk,kl->il", [(3, 4), (4, 5), (5, 2)]), ("ijk->kji", [(2, 3, 4)]), ("iij->ij", [(3, 3, 2)]), ("ii", [(4, 4)]),
    ("ij,kj->", [(3, 4), (5, 4)]), ("...ij,...jk", [(2, 1, 3, 4), (5, 4, 2)]), ("bihd,bjhd->bhij", [(2, 3, 4, 5), (2, 6, 4, 5)]),
    ("ab,bc,cd,de->ae", [(2, 3), (3, 4), (4, 5), (5, 6)]), ("i,j,k->kij", [(2,), (3,), (4,)]), ("ij,ij->ij", [(3, 4), (3, 4)]),
    ("ijk,k->ij", [(3, 4, 5), (5,)]), ("i...,i...->...", [(3, 2, 4), (3, 1, 4)]), ("ii,jj->ij", [(3, 3), (2, 2)]),
    ("ij,jk->ik", [(3, 0), (0, 4)]), ("ijk->kji", [(40, 3, 70)]), ("ij->ji", [(65, 33)]), ("bij,bkj->ikb", [(3, 34, 5), (3, 35, 5)]),
    ("abcdefghijk,kl->labcdefghij", [(2, 1, 2, 1, 2, 1, 1, 2, 1, 2, 3), (3, 2)]), ("abcdefghi,ihgfedcbaj->jbdfhi", [(2,) * 9, (2,) * 10]),
])
def test_einsum_and_its_gradients(mx, rng, subscripts, shapes):
    arrays = [rng.standard_normal(s) for s in shapes]
    attrs = {"num_args": len(arrays), "subscripts": subscripts}
    want = np.einsum(subscripts, *arrays)
    close(mx.run("_npi_einsum", *arrays, **attrs)[0], want)
    if want.size:
        check_gradients(mx, rng, "_npi_einsum", arrays, **attrs)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "int32", "int64", "bool"])
@pytest.mark.parametrize("subscripts, shape", [
    ("ijk->j", (40, 3, 70)), ("ijk->ik", (9, 70, 33)), ("ijk->ki", (9, 70, 33)), ("ijk->", (40, 30, 70)), ("ij->j", (3, 500)),
    ("ijkl->lj", (3, 20, 1, 40)), ("ij->i", (5, 70001)), ("iij->j", (8, 8, 33)), ("iij->i", (8, 8, 33)), ("ijk->k", (0, 3, 4)),
    ("ijk->j", (1, 5, 1)),
])
def test_einsum_sums_over_one_array(mx, rng, subscripts, shape, dtype):
    x = (rng.integers(-4, 5, shape)).astype(dtype)  # whose sums are exact in most types
    want = np.einsum(subscripts, x.astype("int64"))
    if dtype == "bool":
        want = want != 0
    got = mx.run("_npi_einsum", x, num_args=1, subscripts=subscripts)[0]
    assert got.dtype == dtype and np.array_equal(got, want.astype(dtype))


@pytest.mark.parametrize("subscripts, shapes", [("ij,jk", [(2, 3), (4, 5)]), ("ij->k", [(2, 3)]), ("i,j", [(2, 3), (4,)]), ("ij->ii", [(2, 3)])])
def test_einsum_refuses(mx, rng, subscripts, shapes):
    with pytest.raises(Failure):
        mx.run("_npi_einsum", *[rng.standard_normal(s) for s in shapes], num_args=len(shapes), subscripts=subscripts)


def test_einsum_of_integers_is_exact(mx, rng):
    a, b = rng.integers(-2**20, 2**20, (9, 17)), rng.integers(-2**20, 2**20, (17, 5))
    assert np.array_equal(mx.run("_npi_einsum", a, b, num_args=2, subscripts="ij,jk->ki")[0], (a @ b).T)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
@pytest.mark.parametrize("subscripts, shape", [
    ("ij,ij->j", (1, 1)), ("ij,ij->j", (2, 70)), ("ij,ij->j", (2000, 3)), ("ij,ij->j", (168, 211)), ("ijk,ijk->j", (5, 30, 41)),
    ("ijk,ijk->ik", (5, 30, 41)), ("ijk,ijk->ki", (5, 30, 41)), ("ijk,ijk->k", (5, 0, 41)), ("iij,iij->ij", (9, 9, 33)), ("iij,iij->j", (9, 9, 33)),
])
def test_sums_of_products_of_integers_wrap(mx, rng, subscripts, shape, dtype):
    info = np.iinfo(dtype)
    a, b = (rng.integers(info.min, info.max, shape, dtype, endpoint=True) for _ in range(2))
    got = mx.run("_npi_einsum", a, b, num_args=2, subscripts=subscripts)[0]
    assert got.dtype == dtype and np.array_equal(got, np.einsum(subscripts, a, b))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
@pytest.mark.parametrize("subscripts", ["ij,i->j", "i,ij->j", "ij,j->i", "ij,ki->jk"])
@pytest.mark.parametrize("rows, columns", [(1, 1), (2, 3), (17, 1), (1, 40), (221, 127), (130, 17)])
def test_vectors_of_integers_meet_rows_and_columns(mx, rng, subscripts, rows, columns, dtype):
    info = np.iinfo(dtype)
    sizes = {"i": rows, "j": columns, "k": 1}
    a, b = (rng.integers(info.min, info.max, [sizes[label] for label in term], dtype, endpoint=True) for term in subscripts.split("->")[0].split(","))
    got = mx.run("_npi_einsum", a, b, num_args=2, subscripts=subscripts)[0]
    assert got.dtype == dtype and np.array_equal(got, np.einsum(subscripts, a, b))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("batch", [(), (1,), (2000,)])
def test_one_number_is_its_own_eigenvalue(mx, rng, batch, dtype):
    a = rng.standard_normal((*batch, 1, 1)).astype(dtype)
    values, vectors = mx.run("_npi_eigh", a)
    assert np.array_equal(values, a[..., 0]) and (vectors == 1).all()
    assert np.array_equal(mx.run("_npi_eigvalsh", a)[0], a[..., 0])
    vectors, values = mx.run("_linalg_syevd", a)
    assert np.array_equal(values, a[..., 0]) and (vectors == 1).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("batch", BATCHES)
def test_factors_multiply_to_the_matrix_they_came_from(mx, rng, batch, dtype):
    a, spd = well_conditioned(rng, batch, 5, dtype), positive_definite(rng, batch, 5, dtype)
    eye = np.broadcast_to(np.eye(5), a.shape)
    close(mx.run("_linalg_inverse", a)[0] @ a, eye)
    close(mx.run("_linalg_det", a)[0], np.linalg.det(a.astype("float64")), 1e-3)
    for got, want in zip(mx.run("_linalg_slogdet", a), np.linalg.slogdet(a.astype("float64"))):
        close(got, want)
    lower = mx.run("_linalg_potrf", spd)[0]
    upper = mx.run("_linalg_potrf", spd, lower=False)[0]
    close(lower, np.tril(lower))
    close(lower @ np.swapaxes(lower, -1, -2), spd, 1e-3)
    close(upper, np.swapaxes(lower, -1, -2))
    close(mx.run("_linalg_potri", lower)[0] @ spd, eye, 1e-3)
    wide = rng.standard_normal((*batch, 3, 6)).astype(dtype)
    q, l = mx.run("_linalg_gelqf", wide)
    close(l @ q, wide)
    close(q @ np.swapaxes(q, -1, -2), np.broadcast_to(np.eye(3), l.shape))
    u, s, v = mx.run("_npi_svd", wide)
    close(u * s[..., None, :] @ v, wide)
    tall = np.swapaxes(wide, -1, -2)
    close(mx.run("_npi_pinv_scalar_rcond", tall, rcond=1e-6)[0], np.linalg.pinv(tall), 1e-3)
    w, vectors = mx.run("_npi_eigh", spd)
    close(vectors * w[..., None, :] @ np.swapaxes(vectors, -1, -2), spd, 1e-3)
    rows, values = mx.run("_linalg_syevd", spd)
    close(np.swapaxes(rows, -1, -2) * values[..., None, :] @ rows, spd, 1e-3)
    w, vectors = mx.run("_npi_eig", spd)
    close(spd @ vectors, vectors * w[..., None, :], 2e-3)


@pytest.mark.parametrize("batch", [(), (3,)])
@pytest.mark.parametrize("vector", [False, True])
def test_solve_gives_back_the_right_side(mx, rng, batch, vector):
    a, b = well_conditioned(rng, batch, 4), rng.standard_normal((*batch, 4) if vector else (*batch, 4, 2))
    x = mx.run("_npi_solve", a, b)[0]
    close((a @ (x[..., None] if vector else x)).reshape(b.shape), b)
    check_gradients(mx, rng, "_npi_solve", [a, b])


@pytest.mark.parametrize("axes", [(), (0,), (1, 0)])
def test_tensorsolve_is_numpys(mx, rng, axes):
    a = rng.standard_normal((6, 2, 3) if axes == (0,) else (2, 3, 6))
    b = rng.standard_normal((2, 3) if axes == () else (a.size // 36, 6)[1:] if axes == (1, 0) else (2, 3))
    want = np.linalg.tensorsolve(a, b, axes or None)
    close(mx.run("_npi_tensorsolve", a, b, a_axes=axes)[0], want)
    check_gradients(mx, rng, "_npi_tensorsolve", [a, b], a_axes=axes)


@pytest.mark.parametrize("lower, transpose, rightside", itertools.product([False, True], repeat=3))
@pytest.mark.parametrize("op", ["_linalg_trmm", "_linalg_trsm"])
def test_triangular_products_and_systems_see_one_triangle(mx, rng, op, lower, transpose, rightside):
    a, b = well_conditioned(rng, (2,), 4), rng.standard_normal((2, 3, 4) if rightside else (2, 4, 3))
    t = np.tril(a) if lower else np.triu(a)
    t = np.swapaxes(t, -1, -2) if transpose else t
    t = np.linalg.inv(t) if op == "_linalg_trsm" else t
    attrs = {"lower": lower, "transpose": transpose, "rightside": rightside, "alpha": 1.5}
    close(mx.run(op, a, b, **attrs)[0], 1.5 * (b @ t if rightside else t @ b))
    check_gradients(mx, rng, op, [a, b], **attrs)


@pytest.mark.parametrize("side", [1, 2, 6, 7, 33, 97, 192, 256, 257, 300])
@pytest.mark.parametrize("lower, transpose, rightside", itertools.product([False, True], repeat=3))
def test_triangles_are_solved_by_panels_and_halves(mx, rng, lower, transpose, rightside, side):
    a = rng.uniform(-1, 1, (side, side)) / side + 2 * np.eye(side)
    for others in (1, 5, 64, 130):
        b = rng.standard_normal((others, side) if rightside else (side, others))
        t = np.tril(a) if lower else np.triu(a)
        t = t.T if transpose else t
        want = -1.5 * (np.linalg.solve(t.T, b.T).T if rightside else np.linalg.solve(t, b))
        attrs = {"lower": lower, "transpose": transpose, "rightside": rightside, "alpha": -1.5}
        np.testing.assert_allclose(mx.run("_linalg_trsm", a, b, **attrs)[0], want, 1e-12, 1e-13)
        narrow = mx.run("_linalg_trsm", a.astype("float32"), b.astype("float32"), **attrs)[0]
        np.testing.assert_allclose(narrow, want, 2e-5, 2e-6)


@pytest.mark.parametrize("rightside", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_triangles_that_are_singular_or_not_read(mx, rng, rightside, dtype):
    a, b = np.tril(rng.uniform(1, 2, (9, 9))).astype(dtype), rng.uniform(1, 2, (9, 9)).astype(dtype)
    attrs = {"rightside": rightside}
    want = mx.run("_linalg_trsm", a, b, **attrs)[0]
    np.testing.assert_array_equal(mx.run("_linalg_trsm", a + np.triu(np.full_like(a, np.nan), 1), b, **attrs)[0], want)
    np.testing.assert_array_equal(mx.run("_linalg_trsm", a * np.nan, b, alpha=0, **attrs)[0], np.zeros_like(b))  # as BLAS has it: nothing is read
    singular = a.copy()
    singular[4, 4] = 0
    got = mx.run("_linalg_trsm", singular, b, **attrs)[0]
    known = got[:, 5:] if rightside else got[:4]  # what does not depend on the division by zero
    np.testing.assert_array_equal(known, want[:, 5:] if rightside else want[:4])
    divided = got[:, 4] if rightside else got[4]
    assert np.isinf(divided).all()
    for shape in [(0, 9), (9, 0)]:
        assert mx.run("_linalg_trsm", a, np.zeros(shape if rightside == (shape[1] == 9) else shape[::-1], dtype), **attrs)[0].size == 0


def check_gradients(mx, rng, op, arrays, outputs=None, step=1e-5, **attrs):
    """Gradients of a random combination of the results against central differences."""
    values = mx.run(op, *arrays, **attrs)
    heads = [rng.standard_normal(v.shape) if outputs is None or i in outputs else None for i, v in enumerate(values)]

    def combination():
        return sum(np.sum(h * v) for h, v in zip(heads, mx.run(op, *arrays, **attrs)) if h is not None)

    grads = mx.gradients(op, arrays, heads, **attrs)
    for array, grad in zip(arrays, grads):
        for at in list(np.ndindex(*array.shape))[:: max(1, array.size // 7)]:
            kept = array[at]
            array[at] = kept + step
            above = combination()
            array[at] = kept - step
            below = combination()
            array[at] = kept
            np.testing.assert_allclose(grad[at], (above - below) / (2 * step), rtol=1e-4, atol=1e-5, err_msg=f"{op} {at}")


@pytest.mark.parametrize("limits", [(), (1,), (1, 1, 1, 1), (3,), (1, 3), (2, 1), (2, 1, 1), (2, 2, 3)])
def test_limits_of_pseudo_inverses_broadcast_to_the_batch(mx, rng, limits):
    a, rcond = rng.standard_normal((2, 2, 3, 3, 4)), rng.uniform(0.1, 0.7, limits)
    got = mx.run("_npi_pinv", a, rcond)[0]
    want = np.linalg.pinv(a, rcond.reshape(()) if rcond.size == 1 else rcond)
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("limits", [(2,), (3, 1), (2, 2, 2, 3), (2, 2, 3, 1)])
def test_limits_of_another_batch_are_an_error(mx, limits):
    with pytest.raises(Failure, match="expected a shape that broadcasts to"):
        mx.run("_npi_pinv", np.ones((2, 2, 3, 3, 4)), np.full(limits, 0.1))


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0)])
@pytest.mark.parametrize("op", ["_linalg_extractdiag", "_linalg_extracttrian"])
def test_matrices_without_elements_have_the_main_diagonal_alone(mx, op, shape):
    a = np.zeros(shape)
    assert mx.run(op, a)[0].shape == shape[:-1]
    assert mx.gradients(op, [a], [np.zeros(shape[:-1])])[0].shape == shape
    for offset in (1, -1, -5):  # whose gradient would be a matrix with elements
        with pytest.raises(Failure, match="expected matrices of more than"):
            mx.run(op, a, offset=offset)


@pytest.mark.parametrize("op, shape, attrs, outputs", [
    ("_linalg_inverse", (2, 3, 3), {}, None), ("_linalg_det", (2, 3, 3), {}, None), ("_linalg_slogdet", (2, 3, 3), {}, (1,)),
    ("_linalg_sumlogdiag", (2, 3, 3), {}, None), ("_linalg_gelqf", (2, 3, 4), {}, None), ("_npi_svd", (2, 3, 4), {}, None),
    ("_linalg_syrk", (2, 3, 4), {"alpha": 0.5}, None), ("_linalg_syrk", (2, 3, 4), {"transpose": True}, None),
    ("_linalg_potri", (2, 3, 3), {}, None), ("_linalg_potri", (2, 3, 3), {"lower": False}, None),
    ("_npi_pinv_scalar_rcond", (2, 3, 4), {"rcond": 1e-6}, None), ("_npi_pinv_scalar_rcond", (4, 3), {"rcond": 1e-6}, None),
    ("_npi_tensorinv", (2, 3, 6), {"ind": 2}, None), ("_linalg_extracttrian", (2, 4, 4), {"offset": -1}, None),
])
def test_gradients_are_those_of_finite_differences(mx, rng, op, shape, attrs, outputs):
    a = rng.standard_normal(shape)
    if shape[-1] == shape[-2]:
        a = np.abs(a) * 0.2 + 2 * np.eye(shape[-1])
    if op == "_linalg_potri":  # of whose argument one triangle counts, whatever the other holds
        grads = mx.gradients(op, [a], [np.ones_like(a)], **attrs)
        assert np.array_equal(grads[0], np.tril(grads[0]) if attrs.get("lower", True) else np.triu(grads[0]))
        return check_triangle(mx, rng, op, a, attrs)
    return check_gradients(mx, rng, op, [a], outputs, **attrs)


def check_triangle(mx, rng, op, a, attrs):
    head = rng.standard_normal(a.shape)
    grad = mx.gradients(op, [a], [head], **attrs)[0]
    for at in np.argwhere(a != 0)[::3]:
        moved = [a.copy(), a.copy()]
        moved[0][tuple(at)] += 1e-5
        moved[1][tuple(at)] -= 1e-5
        above, below = (np.sum(head * mx.run(op, m, **attrs)[0]) for m in moved)
        np.testing.assert_allclose(grad[tuple(at)], (above - below) / 2e-5, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("op", ["_linalg_potrf", "_npi_eigh", "_npi_eigvalsh", "_linalg_syevd"])
def test_gradients_of_symmetric_matrices(mx, rng, op):
    """The gradient is symmetric: differences go along symmetric directions."""
    a, direction = positive_definite(rng, (2,), 4), rng.standard_normal((2, 4, 4))
    direction += np.swapaxes(direction, -1, -2)
    heads = [rng.standard_normal(v.shape) for v in mx.run(op, a)]
    grad = mx.gradients(op, [a], heads)[0]
    close(grad, np.swapaxes(grad, -1, -2))
    above, below = (sum(np.sum(h * v) for h, v in zip(heads, mx.run(op, a + s * direction))) for s in (1e-5, -1e-5))
    np.testing.assert_allclose(np.sum(grad * direction), (above - below) / 2e-5, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("op", ["_npi_eig", "_npi_eigvals"])
def test_gradients_of_general_eigenvalues(mx, rng, op):
    a = np.diag([1.0, 3.0, 6.0]) + 0.2 * rng.standard_normal((2, 3, 3))
    check_gradients(mx, rng, op, [a])


@pytest.mark.parametrize("dtype", ["uint8", "int32"])
@pytest.mark.parametrize("op", ["_npi_eig", "_npi_eigvals", "_npi_eigh", "_npi_eigvalsh"])
def test_gradients_of_eigenvalues_of_integers_are_integers(mx, op, dtype):
    a = np.array([[2, 0], [0, 5]], dtype)
    results = mx.run(op, a)
    heads = [np.zeros(r.shape) for r in results]
    heads[0][:] = 3 * (results[0] > 4)  # of the value 5, whose vector is the second unit vector
    got = mx.gradients(op, [a], heads)[0]
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, [[0, 0], [0, 3]])


@pytest.mark.parametrize("op", ["_linalg_potrf", "_linalg_inverse", "_linalg_det"])
def test_matrices_must_be_square(mx, rng, op):
    with pytest.raises(Failure, match="expected equal last dimensions"):
        mx.run(op, rng.standard_normal((2, 3)))


def test_failures_name_the_operator(mx):
    with pytest.raises(Failure, match="_linalg_potrf.*not positive definite"):
        mx.run("_linalg_potrf", -np.eye(3))
    with pytest.raises(Failure, match="_linalg_inverse.*singular"):
        mx.run("_linalg_inverse", np.zeros((3, 3)))


SPECTRAL = {"_linalg_syevd": {}, "_npi_eigvalsh": {}, "_npi_svd": {}, "_npi_pinv_scalar_rcond": {"rcond": 1e-6}}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op", SPECTRAL)
def test_spectra_of_what_is_not_finite(mx, rng, op, dtype):
    """LAPACK's iterations would not end on many of these matrices."""
    for infinity in (np.inf, -np.inf):
        for place in np.ndindex(3, 3):
            a = rng.standard_normal((2, 3, 3)).astype(dtype)
            a[1][place] = a[1].T[place] = infinity
            for whole, result in zip(mx.run(op, a[:1], **SPECTRAL[op]), mx.run(op, a, **SPECTRAL[op])):
                assert np.array_equal(result[0], whole[0])
                assert np.isnan(result[1]).all()
    a[1, 0, 0] = np.nan
    with pytest.raises(Failure, match="did not converge"):
        mx.run(op, a, **SPECTRAL[op])


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_general_eigenvalues_of_what_is_not_finite(mx, value):
    with pytest.raises(Failure, match="did not converge"):
        mx.run("_npi_eigvals", np.array([[1.0, 2.0], [value, 3.0]]))


def test_the_other_triangle_may_hold_anything(mx):
    a = np.array([[2.0, np.nan], [1.0, 2.0]])
    close(mx.run("_npi_eigvalsh", a, UPLO="L")[0], np.array([1.0, 3.0]))
    close(mx.run("_npi_eigvalsh", a.T, UPLO="U")[0], np.array([1.0, 3.0]))


def test_the_determinant_of_a_singular_matrix(mx):
    a = np.ones((3, 3))
    assert mx.run("_linalg_det", a)[0] == 0
    assert np.array_equal(mx.gradients("_linalg_det", [a], [np.ones(())])[0], np.zeros((3, 3)))


@pytest.mark.parametrize("ta, tb", itertools.product([False, True], repeat=2))
def test_batch_dot_of_many_and_of_large(mx, rng, ta, tb):
    for batch, m, n, k in [(64, 8, 9, 7), (2, 150, 130, 170)]:
        a = rng.standard_normal((batch, k, m) if ta else (batch, m, k))
        b = rng.standard_normal((batch, n, k) if tb else (batch, k, n))
        want = (np.swapaxes(a, 1, 2) if ta else a) @ (np.swapaxes(b, 1, 2) if tb else b)
        close(mx.run("batch_dot", a, b, transpose_a=ta, transpose_b=tb)[0], want)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
def test_eigenvalues_and_equations_of_integers_are_float64(mx, dtype):
    a, b = np.array([[4, 1], [1, 3]], dtype), np.array([9, 5], dtype)
    want = np.linalg.eigvalsh(a.astype("float64"))
    values, vectors = mx.run("_npi_eigh", a)
    assert values.dtype == vectors.dtype == np.float64
    close(values, want)
    close(vectors @ np.diag(values) @ vectors.T, a)
    close(mx.run("_npi_eigvalsh", a)[0], want)
    close(np.sort(mx.run("_npi_eigvals", a)[0]), want)
    values, vectors = mx.run("_npi_eig", a)
    close(a @ vectors, vectors * values)
    close(mx.run("_npi_solve", a, b)[0], [2, 1])
    assert mx.run("_npi_solve", a, b)[0].dtype == np.float64


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_largest_number_of_a_vector_whose_sign_is_open_is_positive(mx, rng, dtype):
    def largest(vectors):
        return np.take_along_axis(vectors, np.abs(vectors).argmax(-1)[..., None], -1)

    a = rng.standard_normal((20, 5, 5)).astype(dtype)
    symmetric = a + np.swapaxes(a, 1, 2)
    assert (largest(mx.run("_linalg_syevd", symmetric)[0]) > 0).all()
    assert (largest(np.swapaxes(mx.run("_npi_eigh", symmetric)[1], 1, 2)) > 0).all()
    assert (largest(mx.run("_npi_svd", a)[2]) > 0).all()


@pytest.mark.parametrize("n", [131071, 131072, 300001])
def test_products_of_long_vectors_are_those_of_their_stretches(mx, n):
    a, b = (np.arange(n) % k - k // 2 for k in (7, 11))
    for dtype in ("float32", "float64"):
        got, = mx.run("dot", a.astype(dtype), b.astype(dtype))
        assert got == np.dot(a, b)


@pytest.mark.parametrize("axes", ["(0, 0)", "(1, 1, 1, 1, 1, 1, 1)", "(-1, 2)"])
def test_tensorsolve_takes_each_axis_once(mx, axes):
    with pytest.raises(Failure, match="each axis once"):
        mx.run("_npi_tensorsolve", np.zeros((6, 2, 3)), np.zeros(6), a_axes=axes)


@pytest.mark.parametrize("lower", [True, False])
def test_potri_differentiates_factors_that_are_nearly_singular(mx, rng, lower):
    factor = np.tril(rng.uniform(-4, 4, (20, 6, 6))) + 0.05 * np.eye(6)
    if not lower:
        factor = np.swapaxes(factor, -1, -2).copy()
    head = rng.standard_normal(factor.shape)
    exact, = mx.gradients("_linalg_potri", [factor.astype("float32").astype("float64")], [head.astype("float32").astype("float64")], lower=lower)
    got, = mx.gradients("_linalg_potri", [factor.astype("float32")], [head.astype("float32")], lower=lower)
    scale = np.abs(exact).max((1, 2), keepdims=True)
    assert np.abs((got - exact) / scale).max() < 2e-5


@pytest.mark.parametrize("op", ["_linalg_trsm", "_linalg_trmm"])
@pytest.mark.parametrize("a, b", [((2, 2, 2), (2, 2, 2, 3)), ((2, 2), (2, 2, 3)), ((2, 2, 2), (2, 2))])
def test_triangles_have_the_dimensions_of_what_they_are_applied_to(mx, op, a, b):
    with pytest.raises(Failure, match=f"'B' of shape .*expected {len(a)} dimensions"):
        mx.run(op, np.ones(a), np.ones(b))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("shape, places", [
    ((5, 9), (1, slice(2, None))), ((5, 9), (1, slice(None))), ((40, 40), (3, slice(4, None))), ((3, 4, 9), (1, 0, slice(1, None))), ((3, 17), (2, 16)),
    ((3, 170), (0, slice(1, None))), ((3, 170), (0, 5)),  # LAPACK's on any processor
])
def test_what_is_not_finite_reaches_both_factors(mx, rng, shape, places, bad, dtype):
    a = rng.standard_normal(shape).astype(dtype)
    a[places] = bad
    q, l = mx.run("_linalg_gelqf", a)
    *matrix, row = places[:-1]
    q, l = (part[tuple(matrix)] for part in (q, l))
    assert np.isnan(q[row:]).all()  # all that depends on the row
    assert np.isnan(l[row, row]) and np.isnan(l[row + 1:, row]).all()


@pytest.mark.parametrize("name", ["_linalg_makediag", "_linalg_maketrian"])
@pytest.mark.parametrize("offset", [-3, -1, 0, 2])
@pytest.mark.parametrize("shape", [(0,), (2, 0)])
def test_gradients_of_matrices_made_of_nothing(mx, name, offset, shape):
    side = abs(offset)
    got = mx.gradients(name, [np.zeros(shape, "float32")], [np.ones((*shape[:-1], side, side), "float32")], offset=offset)[0]
    assert got.shape == shape
    if offset:
        extract = {"_linalg_makediag": "_linalg_extractdiag", "_linalg_maketrian": "_linalg_extracttrian"}[name]
        with pytest.raises(Failure, match="matrices of more than"):
            mx.run(extract, np.zeros((side, side), "float32"), offset=offset)


@pytest.mark.parametrize("batch", [(), (3,), (2, 2), (0,)])
def test_the_gradient_of_sumlogdiag_is_zero_beside_the_diagonal(mx, rng, batch):
    a = rng.uniform(1, 2, (*batch, 4, 4)).astype("float64")
    heads = rng.standard_normal(batch or (1,))
    heads.flat[:1] = np.nan
    got = mx.gradients("_linalg_sumlogdiag", [a], [heads])[0]
    want = np.zeros_like(a)
    i = np.arange(4)
    want[..., i, i] = (heads if batch else heads[0])[..., None] / a[..., i, i]
    np.testing.assert_allclose(got, want, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("n", [1, 3, 16, 17])
def test_products_of_many_triangles(mx, rng, n, dtype):
    """What is beside the triangle is not looked at."""
    for lower, right, transpose in itertools.product([False, True], repeat=3):
        a = rng.standard_normal((19, n, n)).astype(dtype)
        b = rng.standard_normal((19, 5, n) if right else (19, n, 5)).astype(dtype)
        triangle = (np.tril if lower else np.triu)(a)
        a[(np.triu if lower else np.tril)(np.ones_like(a), 1 if lower else -1) != 0] = np.nan
        turned = np.swapaxes(triangle, 1, 2) if transpose else triangle
        attrs = {"lower": lower, "rightside": right, "transpose": transpose, "alpha": -1.5}
        want = -1.5 * (b @ turned if right else turned @ b).astype("float64")
        np.testing.assert_allclose(mx.run("_linalg_trmm", a, b, **attrs)[0], want, rtol=2e-2 if dtype == "float16" else 1e-4,
                                   atol=2e-2 if dtype == "float16" else 1e-5)


@pytest.mark.parametrize("ta, tb", itertools.product([False, True], repeat=2))
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_plain_batches_of_gemm(mx, rng, dtype, ta, tb):
    tolerance = {"rtol": 2e-2, "atol": 5e-2} if dtype == "float16" else {"rtol": 1e-4, "atol": 1e-4}
    for batch, m, n, k in [((), 1, 1, 1), ((), 3, 5, 7), ((6,), 8, 9, 7), ((2, 3), 40, 33, 21), ((0,), 2, 3, 4), ((3,), 2, 3, 0)]:
        a = rng.standard_normal((*batch, k, m) if ta else (*batch, m, k)).astype(dtype)
        b = rng.standard_normal((*batch, n, k) if tb else (*batch, k, n)).astype(dtype)
        c = rng.standard_normal((*batch, m, n)).astype(dtype)
        want = (np.swapaxes(a, -1, -2) if ta else a).astype("float64") @ (np.swapaxes(b, -1, -2) if tb else b).astype("float64")
        for axis in (-2, a.ndim - 2):
            attrs = {"transpose_a": ta, "transpose_b": tb, "alpha": 0.5, "axis": axis}
            np.testing.assert_allclose(mx.run("_linalg_gemm2", a, b, **attrs)[0], 0.5 * want, **tolerance)
            np.testing.assert_allclose(mx.run("_linalg_gemm", a, b, c, beta=-2.0, **attrs)[0], 0.5 * want - 2 * c.astype("float64"), **tolerance)
        with pytest.raises(Failure, match="_linalg_gemm"):
            mx.run("_linalg_gemm", a, b, np.zeros((*batch, m, n + 1), dtype))
