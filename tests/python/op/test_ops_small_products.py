# SPDX-License-Identifier: Apache-2.0
"""Products of small matrices and vectors, which go to BLAS as they lie, are NumPy's, and so are those next to them that do not."""
import numpy as np
import pytest

from op_calls import Failure

SEED = 20261122

# Operator, its parameters, shapes of both, and the same in NumPy's words.
ROWS = [
    *[(op, {}, a, b, of) for op, of in (("_np_dot", np.dot), ("_npi_matmul", np.matmul))
      for a, b in [((8, 8), (8, 8)), ((3, 5), (5, 2)), ((5,), (5,)), ((5,), (5, 2)), ((3, 5), (5,)), ((1, 1), (1, 1)), ((1,), (1,)), ((4, 0), (0, 3)),
                   ((0, 4), (4, 3)), ((0,), (0,)), ((70, 70), (70, 70)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (4,))]],
    *[("_npi_tensordot_int_axes", {"axes": axes}, a, b, lambda x, y, axes=axes: np.tensordot(x, y, axes))
      for axes, a, b in [(0, (3,), (4, 2)), (0, (), (3,)), (0, (), ()), (1, (2, 3, 4), (4, 5, 2)), (2, (2, 3, 4), (3, 4, 2)), (3, (2, 3, 4), (2, 3, 4)),
                         (1, (2, 0), (0, 2)), (2, (8, 8), (8, 8))]],
    *[("_npi_tensordot", {"a_axes_summed": one, "b_axes_summed": other}, a, b, lambda x, y, one=one, other=other: np.tensordot(x, y, (one, other)))
      for one, other, a, b in [((-1,), (-1,), (5,), (5,)), ((-1,), (-1,), (2, 3, 5), (4, 5)), ((2,), (1,), (2, 3, 5), (4, 5)), ((0,), (-1,), (5, 2), (4, 5)),
                               ((-1,), (0,), (2, 5), (5, 4)), ((0, 1), (0, 1), (2, 5), (2, 5))]],
]  # fmt: skip


# Vectors of dot, of which transposing is that of the matrix beside them.
DOTS = [("dot", {"transpose_a": left, "transpose_b": right}, a[::-1] if left else a, b[::-1] if right else b,
         lambda x, y, left=left, right=right: np.dot(x.T if left else x, y.T if right else y))
        for left in (False, True) for right in (False, True)
        for a, b in [((5,), (5,)), ((1,), (1,)), ((40,), (40,)), ((5,), (5, 2)), ((3, 5), (5,)), ((1, 5), (5,)), ((5,), (5, 1)), ((1,), (1, 4)), ((4, 1), (1,)),
                     ((37, 21), (21,)), ((21,), (21, 37)), ((600,), (600, 500)), ((0,), (0,)), ((0, 5), (5,)), ((0,), (0, 3))]]  # fmt: skip


def described(row):
    return f"{row[0]}{row[1] or ''} {row[2]} {row[3]}"


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "float16"])
@pytest.mark.parametrize("row", ROWS, ids=described)
def test_products_are_numpys(mx, rng, row, dtype):
    op, params, of_a, of_b, of = row
    a, b = (rng.integers(-4, 5, shape).astype(dtype) for shape in (of_a, of_b))
    expected = np.asarray(of(a.astype("float64"), b.astype("float64")))
    found = mx.run(op, a, b, **params)[0]
    assert found.shape == expected.shape or (expected.shape == () and found.size == 1)
    np.testing.assert_array_equal(found.reshape(expected.shape).astype("float64"), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("row", [row for row in ROWS + DOTS if 0 not in row[2] and row[2] and row[3]], ids=described)
def test_gradients_are_products_too(mx, rng, row, dtype):
    op, params, of_a, of_b, of = row
    a, b = (rng.integers(-4, 5, shape).astype(dtype) for shape in (of_a, of_b))
    head = np.ones_like(mx.run(op, a, b, **params)[0])
    for place, shape in ((0, of_a), (1, of_b)):
        found = mx.gradients(op, [a, b], [head], **params)[place]
        step = np.zeros(shape)
        at = tuple(rng.integers(0, dim) for dim in shape)
        step[at] = 1
        moved = of(step, b.astype("float64")) if place == 0 else of(a.astype("float64"), step)
        assert found[at] == np.sum(moved)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("row", DOTS, ids=described)
def test_dot_of_a_vector_is_numpys_and_has_a_dimension(mx, rng, row, dtype):
    op, params, of_a, of_b, of = row
    a, b = (rng.integers(-1, 2, shape).astype(dtype) for shape in (of_a, of_b))
    np.testing.assert_array_equal(mx.run(op, a, b, **params)[0], np.atleast_1d(of(a.astype("float64"), b.astype("float64"))))


def test_not_a_number_in_what_the_result_overwrites_does_not_stay(mx):
    a, b = (mx.array(np.ones((8, 8), "float32")) for _ in range(2))
    out = mx.array(np.full((8, 8), np.nan, "float32"))
    mx.invoke("_npi_matmul", [a, b], out=[out])
    np.testing.assert_array_equal(mx.numpy(out), np.full((8, 8), 8, "float32"))
    mx.free(a, b, out)


@pytest.mark.parametrize("op, params", [("dot", {}), ("_np_dot", {}), ("_npi_matmul", {}), ("_npi_tensordot_int_axes", {"axes": 1}), ("_npi_tensordot_int_axes", {"axes": 3}),
                                        ("_npi_tensordot", {"a_axes_summed": (-1,), "b_axes_summed": (-1,)})])
def test_matrices_that_do_not_fit_are_refused_by_name(mx, op, params):
    with pytest.raises(Failure, match=op):
        mx.run(op, np.ones((3, 5), "float32"), np.ones((4, 2), "float32"), **params)


def test_vectors_that_do_not_fit_are_refused_by_name(mx):
    for a, b in [((4,), (5,)), ((3, 5), (3,)), ((5,), (4, 5)), ((), (3,))]:
        with pytest.raises(Failure, match="dot"):
            mx.run("dot", np.ones(a, "float32"), np.ones(b, "float32"))
