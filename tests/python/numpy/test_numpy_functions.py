# SPDX-License-Identifier: Apache-2.0
"""mx.np's functions give what NumPy's give for the same arguments."""

import numpy as onp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mxnet import autograd, np

from same_numbers import as_numpy, assert_same

# Expressions that are evaluated with np = mx.np and with np = numpy. a, b: float (2, 3, 4); m, n: float matrices (3, 3);
# v: float vector of 6; i, j: int32 (2, 3); t: bool (2, 3).
SAME = """
np.concatenate([a, b], axis=1)
np.concatenate([a, b], axis=None)
np.concatenate((a, b, a), axis=-1)
np.append(a, b)
np.append(a, b, axis=2)
np.stack([a, b], axis=2)
np.vstack([m, n])
np.vstack([v, v])
np.hstack([m, n])
np.hstack([v, v])
np.dstack([m, n])
np.column_stack([v, v])
np.column_stack([m, n])
np.split(v, 3)
np.split(v, [1, 4])
np.split(a, 2, axis=-1)
np.split(v, [2, 9])
np.split(v, [-2])
np.split(v[:0], [1, 3])
np.array_split(a, [1, 3, 7], axis=1)
np.split(v, [-9, 2, 6])
np.array_split(v, 4)
np.array_split(a, 2, axis=1)
np.hsplit(m, 3)
np.hsplit(v, 2)
np.hsplit(v, (1, 99))
np.hsplit(m, (-1, 5))
np.vsplit(a, 2)
np.dsplit(a, [1, 3])
np.broadcast_arrays(m, n[0])
np.meshgrid(v, m[0])
np.meshgrid(v, m[0], indexing='ij')
np.meshgrid(v, m[0], sparse=True)
np.copy(a)
np.reshape(a, (4, -1))
np.reshape(a, 24)
np.ravel(a)
np.transpose(a)
np.transpose(a, (1, 2, 0))
np.swapaxes(a, 0, -1)
np.moveaxis(a, 0, -1)
np.moveaxis(a, (0, 1), (-1, -2))
np.expand_dims(a, 1)
np.expand_dims(a, -1)
np.squeeze(np.expand_dims(a, 1))
np.squeeze(np.expand_dims(a, 1), axis=1)
np.broadcast_to(v, (2, 6))
np.broadcast_to(2.0, (2, 3))
np.tile(m, 2)
np.tile(m, (2, 1, 3))
np.repeat(m, 2)
np.repeat(m, 2, axis=1)
np.repeat(m, [1, 0, 2], axis=0)
np.roll(v, 2)
np.roll(a, -1, axis=1)
np.roll(a, (1, 2), axis=(0, 2))
np.rot90(m)
np.rot90(a, k=3, axes=(1, 2))
np.flip(a)
np.flip(a, (0, 2))
np.flip(m, 1)
np.flipud(m)
np.fliplr(m)
np.pad(m, ((1, 2), (0, 1)))
np.pad(m, 1)
np.pad(m, (1, 2))
np.pad(m, ((1, 1), (2, 0)), mode='constant', constant_values=3)
np.pad(m, ((1, 1), (1, 1)), mode='edge')
np.pad(m, ((1, 1), (2, 1)), mode='reflect')
np.pad(m, ((1, 1), (2, 1)), mode='symmetric')
np.pad(m, ((1, 1), (1, 1)), mode='maximum')
np.pad(m, ((1, 1), (1, 1)), mode='minimum')
np.resize(m, (2, 7))
np.resize(v, (2, 2))
np.diag(m, k=1)
np.diag(v)
np.diagflat(m)
np.diagonal(a, offset=1, axis1=1, axis2=2)
np.tril(m, k=-1)
np.atleast_1d(m)
np.atleast_2d(v)
np.atleast_3d(m)
np.atleast_2d(v, m)
np.argmax(a)
np.argmax(a, axis=1)
np.argmin(a, axis=-1)
np.sort(a, axis=1)
np.sort(v)
np.argsort(v)
np.argsort(a, axis=0)
np.take(v, i)
np.take(a, j, axis=1, mode='wrap')
np.take(a, j, axis=1, mode='clip')
np.nonzero(i)
np.where(t)
np.where(t, i, j)
np.where(t, 1.0, m[:2])
np.where(t, m[:2], 2.0)
np.unravel_index(np.ravel(i), (3, 4))
np.unravel_index(7, (3, 4))
np.diag_indices_from(m)
np.unique(i)
np.unique(i, return_index=True, return_inverse=True, return_counts=True)[0]
np.unique(i, return_index=True, return_inverse=True, return_counts=True)[3]
np.unique(i, axis=0)
np.bincount(np.ravel(i))
np.bincount(np.ravel(i), minlength=20)
np.bincount(np.ravel(i), weights=v)
np.clip(a, 0, 1)
np.clip(a, None, 0.5)
np.clip(i, 2, None)
np.clip(i, -1e12, 3.0)
np.histogram(a, bins=5, range=(-1.0, 1.0))
np.histogram(i)
np.histogram(a, bins=4)
np.histogram(a * 0 + 2, bins=4)
np.delete(v, 2)
np.delete(v, slice(1, 4))
np.delete(a, slice(None), axis=1)
np.delete(m, slice(None))
np.delete(a, 1, axis=2)
np.delete(m, np.ravel(i)[:1] * 0, axis=0)
np.insert(v, 2, 9.0)
np.insert(m, 1, v[:3], axis=1)
np.insert(m, 1, v[:3], axis=0)
np.insert(v, slice(0, 3), 7.0)
np.insert(m, slice(1, 3, 2), m[:3], axis=0)
np.insert(m, slice(1, 2), m[:, :2], axis=1)
np.sum(a)
np.sum(a, axis=(0, 2), keepdims=True)
np.sum(a, axis=-1, initial=2.0)
np.sum(i, axis=0)
np.sum(t)
np.prod(m, axis=0)
np.max(a, axis=(0, 1))
np.min(a, axis=1, keepdims=True)
np.amax(i)
np.amin(i)
np.all(t, axis=1)
np.any(t, axis=0)
np.mean(a, axis=0)
np.std(a, axis=1, ddof=1)
np.std(t, axis=1)
np.var(t)
np.var(a, axis=(0, 1), keepdims=True)
np.average(a, axis=1)
np.average(v, weights=np.abs(v))
np.average(a, axis=0, weights=np.abs(v[:2]))
np.average(a, axis=1, weights=np.abs(m[0]))
np.average(a, axis=-1, weights=np.abs(v[:4]))
np.average(m, axis=1, weights=np.abs(n))
np.average(m, axis=0, weights=np.abs(v[:3]), returned=True)[0]
np.cumsum(a)
np.cumsum(a, axis=1)
np.trace(m)
np.trace(a, offset=1, axis1=1, axis2=2)
np.trace(t)
np.trace(t, offset=1)
np.trace(t[:0])
np.trace(np.stack([t, t]), axis1=1, axis2=2)
np.percentile(a, 30)
np.percentile(a, [10, 50], axis=1)
np.quantile(a, 0.25, axis=0, keepdims=True)
np.dot(m, n)
np.dot(a, m[0][:1] * np.broadcast_to(v[:4], (4,)))
np.dot(m, 2)
np.matmul(a, np.swapaxes(b, 1, 2))
np.tensordot(a, b, axes=([0, 2], [0, 2]))
np.tensordot(m, n, axes=1)
np.inner(a, b)
np.outer(v, v)
np.outer(v, 2)
np.vdot(m, n)
np.einsum('ij,jk->ik', m, n)
np.einsum('ijk,ijk->i', a, b, optimize=True)
np.around(a, 1)
np.around(a * 4)
np.around(np.concatenate([np.arange(9) - 4.5, v, v / (v - v)]))
np.ptp(a)
np.ptp(m, axis=0)
np.ptp(a, axis=(0, 2), keepdims=True)
np.ptp(np.array([3, -5, 7], dtype='int32'))
np.diff(a, axis=1)
np.diff(v, n=2)
np.diff(t)
np.diff(t, n=2, axis=0)
np.diff(t, n=2)
np.diff(t, n=0)
np.diff(t, n=9)
np.diff(v, prepend=v[:1], append=v[:2])
np.diff(m, prepend=0, append=2.5, axis=0)
np.diff(m, n=0, prepend=0, append=2.5, axis=0)
np.ediff1d(m)
np.ediff1d(v, to_begin=1.0, to_end=v[:2])
np.polyval(v, m)
np.nan_to_num(m / (m - m))
np.linalg.norm(m)
np.linalg.norm(m, 'fro')
np.linalg.norm(m, 'nuc')
np.linalg.norm(m, 1)
np.linalg.norm(m, -1)
np.linalg.norm(m, 2)
np.linalg.norm(m, -2)
np.linalg.norm(m, onp.inf, keepdims=True)
np.linalg.norm(a, 2, axis=(0, 2), keepdims=True)
np.linalg.norm(a, 'nuc', axis=(1, 2))
np.linalg.norm(a, onp.inf, axis=(2, 0))
np.linalg.norm(v, 1)
np.linalg.norm(v, 3)
np.linalg.norm(v, -onp.inf)
np.linalg.norm(v, 0)
np.linalg.norm(a, axis=1, keepdims=True)
np.linalg.norm(a, axis=(0, 1))
np.linalg.det(m)
np.linalg.slogdet(m)
np.linalg.inv(m)
np.linalg.pinv(a)
np.linalg.solve(m, n)
np.linalg.cholesky(np.matmul(m, np.transpose(m)) + np.eye(3))
np.linalg.eigvalsh(m + np.transpose(m))
np.linalg.tensorinv(m, ind=1)
np.linalg.tensorsolve(m, v[:3])
np.linspace(0, 3, 7)
np.linspace(0, 3, 7, endpoint=False)
np.logspace(0, 2, 5, base=2.0)
np.eye(3, 4, k=1)
np.identity(3)
np.indices((2, 3))
np.indices((2, 3, 4))
np.indices((5,))
np.indices((3, 0, 2))
np.indices((7, 1, 2))
np.indices((30, 70))
np.arange(5)
np.arange(1, 6, 2)
np.arange(0.5, 3, 0.5)
np.hanning(7)
np.hamming(7)
np.blackman(7)
np.full((2, 3), 2.5)
np.full_like(a, 3)
np.zeros_like(a)
np.ones_like(i)
np.add(1, 2)
np.sin(1)
np.triu_indices_from(m)
np.isclose(m, n)
np.interp(v, np.sort(v), v)
""".strip().splitlines()


def operands(rng):
    return {
        "a": rng.normal(size=(2, 3, 4)).astype("float32"),
        "b": rng.normal(size=(2, 3, 4)).astype("float32"),
        "m": rng.normal(size=(3, 3)).astype("float32"),
        "n": rng.normal(size=(3, 3)).astype("float32"),
        "v": rng.normal(size=(6,)).astype("float32"),
        "i": rng.integers(0, 6, size=(2, 3)).astype("int32"),
        "j": rng.integers(-3, 5, size=(2, 3)).astype("int32"),
        "t": rng.integers(0, 2, size=(2, 3)).astype("bool"),
    }


@pytest.mark.parametrize("expression", SAME)
def test_a_function_gives_what_numpy_gives(expression, rng):
    theirs = operands(rng)
    ours = {name: np.array(value) for name, value in theirs.items()}
    with onp.errstate(all="ignore"):
        expected = eval(expression, {"np": onp, "onp": onp, **theirs})
    actual = eval(expression, {"np": np, "onp": onp, **ours})
    assert_same(as_numpy(actual), expected)


@pytest.mark.parametrize("order", [1, -1, 2, -2, onp.inf, -onp.inf, "fro", "nuc"])
def test_norms_of_more_dimensions_are_of_matrices_and_fro_of_a_vector_its_length(order, rng):
    values = rng.normal(size=(2, 3, 4)).astype("float32")
    assert_same(np.linalg.norm(np.array(values), order).asnumpy(), onp.linalg.norm(values, order, axis=(-2, -1)))
    length = onp.linalg.norm(values, axis=1, keepdims=True)
    assert_same(np.linalg.norm(np.array(values), "fro", axis=1, keepdims=True).asnumpy(), length)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "int8", "bool"])
@pytest.mark.parametrize("order", [None, 1, -1, 2, -2, onp.inf, -onp.inf, "fro", "nuc", 0, 3])
def test_norms_of_integers_are_numbers_of_float32(order, dtype, rng):
    values = rng.integers(0 if dtype in ("uint8", "bool") else -9, 2 if dtype == "bool" else 9, (3, 4)).astype(dtype)
    values = values[0] if order in (0, 3) else values
    made = np.linalg.norm(np.array(values, dtype=dtype), order)
    assert made.dtype == onp.float32
    assert_same(made.asnumpy(), onp.linalg.norm(values.astype("float32"), order))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    name=st.sampled_from("sum prod max min mean std var all any".split()),
    shape=st.lists(st.integers(1, 4), min_size=1, max_size=4),
    chosen=st.sets(st.integers(0, 3)),
    keepdims=st.booleans(),
    negative=st.booleans(),
)
def test_reductions_along_any_axes(name, shape, chosen, keepdims, negative):
    values = onp.random.default_rng(sum(shape)).uniform(0.5, 1.5, size=shape).astype("float32")
    axes = tuple(axis - len(shape) if negative else axis for axis in sorted(chosen) if axis < len(shape)) or None
    actual = getattr(np, name)(np.array(values), axis=axes, keepdims=keepdims)
    assert_same(actual.asnumpy(), getattr(onp, name)(values, axis=axes, keepdims=keepdims))
    assert_same(getattr(np.array(values), name)(axis=axes, keepdims=keepdims).asnumpy(), actual.asnumpy())


@settings(max_examples=100, deadline=None, derandomize=True)
@given(shape=st.lists(st.integers(0, 4), min_size=0, max_size=4), seed=st.integers(0, 99))
def test_shapes_with_zeros_and_without_dimensions(shape, seed):
    source = onp.random.default_rng(seed)
    values = source.normal(size=shape).astype("float32")
    array = np.array(values)
    order = tuple(source.permutation(len(shape)).tolist())
    assert array.shape == tuple(shape) and array.size == values.size and array.ndim == values.ndim
    assert_same(np.transpose(array, order).asnumpy(), values.transpose(order))
    assert_same(array.reshape(-1).asnumpy(), values.reshape(-1))
    assert_same((array + array).asnumpy(), values + values)
    assert_same(np.sum(array).asnumpy(), values.sum())
    assert_same(np.concatenate([array.reshape(-1)] * 2).asnumpy(), onp.concatenate([values.reshape(-1)] * 2))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "uint8"])
def test_weights_of_an_axis_count_for_all_others(dtype, rng):
    values, weights = rng.integers(1, 9, (30, 40, 5)).astype(dtype), [rng.integers(1, 4, length).astype(dtype) for length in (30, 40, 5)]
    for axis in (0, 1, 2, -3):
        made, total = np.average(np.array(values), axis=axis, weights=np.array(weights[axis]), returned=True)
        expected, sums = onp.average(values.astype("float64"), axis=axis, weights=weights[axis].astype("float64"), returned=True)
        whole = made.dtype.kind in "iu"
        onp.testing.assert_allclose(made.asnumpy(), onp.trunc(expected) if whole else expected, rtol=2e-3 if dtype == "float16" else 1e-6)
        assert total.item() == sums.flat[0]


def test_places_of_a_scalar_are_those_of_a_vector_of_one():
    for value, expected in ((3.0, [0]), (0.0, [])):
        for found in (np.nonzero(np.array(value)), np.where(np.array(value))):
            assert len(found) == 1 and found[0].tolist() == expected


def test_svd_eig_and_eigh_rebuild_the_matrix(rng):
    matrix = rng.normal(size=(2, 3, 4)).astype("float32")
    left, values, right = np.linalg.svd(np.array(matrix))
    rebuilt = np.matmul(left * np.expand_dims(values, -2), right)
    onp.testing.assert_allclose(rebuilt.asnumpy(), matrix, atol=1e-5)
    symmetric = matrix[0] @ matrix[0].T
    for function in (np.linalg.eigh, np.linalg.eig):
        values, vectors = function(np.array(symmetric))
        onp.testing.assert_allclose(np.dot(np.array(symmetric), vectors).asnumpy(), (vectors * values).asnumpy(), atol=1e-4)
    onp.testing.assert_allclose(onp.sort(np.linalg.eigvals(np.array(symmetric)).asnumpy()), onp.linalg.eigvalsh(symmetric), atol=1e-4)


def test_arrays_are_float32_where_no_type_is_said():
    assert np.array([1, 2]).dtype == np.array([True]).dtype == np.array(3).dtype == onp.float32
    assert np.array(onp.array([1, 2])).dtype == onp.int64 and np.array(onp.float64(3)).dtype == onp.float64
    assert np.zeros(2).dtype == np.ones(2).dtype == np.arange(3).dtype == np.linspace(0, 1, 3).dtype == onp.float32
    assert np.full(2, 3).dtype == onp.float32 and np.full(2, True).dtype == onp.bool_
    assert np.indices((2, 2)).dtype == onp.int32 and np.argmax(np.ones(2)).dtype == onp.int64
    assert np.zeros(2, dtype=int).dtype == onp.int64 and np.ones(2, dtype="float16").dtype == onp.float16


def test_results_go_where_out_says(rng):
    a = np.array(rng.normal(size=(2, 3)))
    out = np.zeros((2, 3), dtype="float64")
    for made in (np.add(a, a, out=out), np.add(a, a, out), np.multiply(a, 2, out=out), onp.add(a, a, out=out)):
        assert made is out
    assert_same(out.asnumpy(), 2 * a.asnumpy())
    total = np.zeros(3, dtype="float64")
    assert np.sum(a, axis=0, out=total) is total
    assert_same(total.asnumpy(), a.asnumpy().sum(axis=0))
    assert np.exp(a, out=out) is out and np.concatenate([a[:1], a[:1]], out=out) is out
    unknown = np.array([onp.nan, 1], dtype="float64")
    numbers = np.zeros(2, dtype="float64")
    assert np.nan_to_num(unknown, nan=3, out=numbers) is numbers and numbers.tolist() == [3, 1]
    assert onp.isnan(unknown.asnumpy()[0])


def test_an_array_of_one_that_is_true_selects_all_elements():
    a = np.array([[1, 2], [3, 4]])
    for where in (np.array([True]), np.array(True), np.array([1.0]), onp.array([[True]])):
        assert np.add(a, a, where=where).tolist() == [[2, 4], [6, 8]]
        assert np.negative(a, where=where).tolist() == [[-1, -2], [-3, -4]]


@pytest.mark.parametrize("axis", [0, -1, (0,)])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "var", "std", "all", "any", "argmax", "argmin", "average", "squeeze"])
def test_scalars_may_be_reduced_along_the_axis_that_they_do_not_have(name, axis):
    if isinstance(axis, tuple) and name in ("argmax", "argmin"):
        pytest.skip("these take one axis")
    function, reference = getattr(np, name), getattr(onp, name)
    value = np.array(-3.0)
    made = function(value, axis=axis)
    assert made.shape == ()
    assert made.item() == reference(onp.float32(-3.0))
    with pytest.raises(ValueError, match="0 dimensions"):
        function(value, axis=1)


def test_gradients_of_scalars_that_were_reduced_along_an_axis():
    value = np.array(-3.0)
    value.attach_grad()
    with autograd.record():
        loss = np.sum(value, axis=0) * np.max(value, axis=-1)
    loss.backward()
    assert value.grad.item() == -6.0


@pytest.mark.parametrize("shape, order, axis, norm", [
    ((0,), onp.inf, None, 0), ((0, 3), onp.inf, 0, [0, 0, 0]), ((0, 3), 1, None, 0), ((3, 0), 1, None, 0), ((0, 3), -1, None, 0),
    ((3, 0), -onp.inf, None, 0), ((0, 3), 2, None, 0), ((2, 0, 3), "nuc", (1, 2), [0, 0]), ((2, 0, 3), 2, (0, 1), [0, 0, 0]),
])
def test_norms_of_no_elements_are_zero(shape, order, axis, norm):
    made = np.linalg.norm(np.zeros(shape), order, axis=axis)
    assert made.asnumpy().tolist() == norm


@pytest.mark.parametrize("shape, order", [((0,), -onp.inf), ((3, 0), -1), ((0, 3), -onp.inf), ((0, 3), -2), ((3, 0), -2)])
def test_the_smallest_of_no_numbers_is_refused(shape, order):
    with pytest.raises(ValueError, match="at least one element"):
        np.linalg.norm(np.zeros(shape), order)


@pytest.mark.parametrize("first, second", [([1, 2], [3, 4]), (np.ones(2), [3, 4]), ([3, 4], np.ones(2))], ids=["both", "second", "first"])
def test_vdot_of_a_list_says_what_it_expected(first, second):
    with pytest.raises(TypeError, match="given list, expected an mx.np array"):
        np.vdot(first, second)
