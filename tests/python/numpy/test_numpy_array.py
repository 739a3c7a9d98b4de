# SPDX-License-Identifier: Apache-2.0
"""mx.np.ndarray: what it is, how it is shown, copied, saved and converted."""

import copy
import math
import operator
import pickle

import numpy as onp
import pytest

import mxnet as mx
from mxnet import np, npx, util


@pytest.fixture
def a():
    return np.array([[0, 1, 2], [3, 4, 5]])


def test_an_array_tells_shape_type_and_context(a):
    assert isinstance(a, np.ndarray) and isinstance(a, mx.nd.NDArray)
    assert (a.shape, a.ndim, a.size, len(a)) == ((2, 3), 2, 6, 2)
    assert a.dtype == onp.float32 and isinstance(a.dtype, onp.dtype)
    assert a.ctx == a.context == mx.cpu(0)
    assert np.ndarray.__module__ == "mxnet.numpy"


@pytest.mark.parametrize(
    "values, dtype, shown",
    [([1, 2], "float32", "array([1., 2.])"), ([1, 2], "float64", "array([1., 2.], dtype=float64)"),
     ([1, 2], "int64", "array([1, 2], dtype=int64)"), ([1, 2], "int32", "array([1, 2], dtype=int32)"),
     ([1, 0], "bool", "array([ True, False])"), ([1.5], "float16", "array([1.5], dtype=float16)"), (3, "float32", "array(3.)")],
)
def test_shown_as_the_reference_shows_it(values, dtype, shown):
    assert repr(np.array(values, dtype=dtype)) == shown


def test_shown_without_elements_and_as_text(a):
    assert repr(np.zeros((2, 0))) == "array([], shape=(2, 0))"
    assert str(a[0]) == "[0. 1. 2.]" and str(a[0, 0]) == "0.0"
    assert repr(a) == "array([[0., 1., 2.],\n       [3., 4., 5.]])"


def test_formatted_as_a_number_or_as_text(a):
    assert f"{a[1, 2]:.2f}" == "5.00" and f"{a[0]}" == "[0. 1. 2.]" and f"{np.array([2.5]):6.1f}" == "   2.5"


def test_hashed_by_identity(a):
    assert {a: 1}[a] == 1 and len({a, a, a.copy()}) == 2


def test_as_pythons_numbers(a):
    assert a.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert [a.item(4), a.item(1, 1), a.item((1, 1)), a[1, 1].item()] == [4.0] * 4
    assert float(a[1, 2]) == 5.0 and int(a[1, 2]) == 5 and a[1, 2].asscalar() == 5.0
    assert bool(a[0, 1]) and not bool(np.zeros(())) and not bool(np.zeros((0,)))
    assert range(10)[np.array(3, dtype="int64")] == 3
    for convert in (float, int):
        with pytest.raises(TypeError, match="size-1"):
            convert(a)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(a)
    with pytest.raises(TypeError, match="unsized"):
        len(a[0, 0])
    with pytest.raises(ValueError):
        a.item()


def test_rows_are_iterated(a):
    assert [row.tolist() for row in a] == a.tolist()
    assert 4 in a and 9 not in a


def test_the_two_kinds_of_array_share_memory(a):
    legacy = a.as_nd_ndarray()
    assert type(legacy) is mx.nd.NDArray and a.as_np_ndarray() is a
    legacy[0, 0] = 7
    assert a[0, 0].item() == 7 and np.shares_memory(a, legacy.as_np_ndarray())
    assert type(legacy.as_np_ndarray()) is np.ndarray


def test_the_two_kinds_do_not_mix(a):
    legacy = mx.nd.ones((2, 3))
    for call in (lambda: a + legacy, lambda: legacy + a, lambda: a.__add__(legacy), lambda: legacy.__add__(a),
                 lambda: np.add(a, legacy), lambda: np.sin(legacy), lambda: np.concatenate([a, legacy])):
        with pytest.raises(TypeError, match="mx.np|as_np_ndarray"):
            call()


def test_legacy_operators_make_the_kind_that_they_are_given(a):
    assert type(mx.nd.relu(a)) is np.ndarray and type(mx.nd.relu(a.as_nd_ndarray())) is mx.nd.NDArray
    assert type(a.softmax()) is np.ndarray


def test_operators_of_python_give_numpys_values_and_types(a):
    values = a.asnumpy()
    for actual, expected in [
        (a + a, values + values), (1 - a, 1 - values), (a * 2, values * 2), (2 / (a + 1), 2 / (values + 1)), (a % 2, values % 2),
        (7 % (a + 1), 7 % (values + 1)), (a**2, values**2), (2**a, 2**values), (-a, -values), (+a, values), (abs(-a), values),
        (a @ a.T, values @ values.T), (a > 2, values > 2), (2 >= a, 2 >= values), (a == a, values == values), (a != 1, values != 1),
        ((a > 1) & (a < 4), (values > 1) & (values < 4)), ((a < 1) | (a > 4), (values < 1) | (values > 4)),
        ((a > 1) ^ (a > 2), (values > 1) ^ (values > 2)), (~(a > 1), ~(values > 1)), (a[0] + a, values[0] + values),
    ]:
        assert actual.dtype == expected.dtype
        onp.testing.assert_allclose(actual.asnumpy(), expected, rtol=1e-6)
    integers = a.astype("int32")
    assert (integers & 3).tolist() == (3 & integers).tolist() == [[0, 1, 2], [3, 0, 1]]
    assert (~integers).dtype == onp.int32


@pytest.mark.parametrize("other", [1, "array", "row"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64"])
@pytest.mark.parametrize("name", ["iand", "ior", "ixor"])
def test_bits_change_in_place(name, dtype, other):
    values = onp.array([[1, 0], [1, 1]], dtype)
    array = seen = np.array(values, dtype=dtype)
    shape = {"array": (2, 2), "row": (2,)}.get(other)
    array = getattr(operator, name)(array, np.ones(shape, dtype=dtype) if shape else other)
    assert array is seen and seen.dtype == onp.dtype(dtype)
    expected = getattr(operator, name[1:] + "_" * (name != "ixor"))(values, onp.ones(shape or (), dtype))
    assert seen.asnumpy().tolist() == expected.tolist()


def test_a_product_of_matrices_replaces_its_left_factor():
    array = seen = np.array([[1.0, 2.0], [3.0, 4.0]])
    array @= np.array([[0.0, 1.0], [1.0, 0.0]])
    assert array is seen and seen.asnumpy().tolist() == [[2, 1], [4, 3]]
    with pytest.raises(mx.base.MXNetError, match=r"given output 0 of shape \(2,2\)"):
        array @= np.ones((2, 3))


def test_operators_in_place(a):
    same = a
    a += 1
    a *= a
    a -= np.ones(3)
    a /= 2
    assert a is same and a.tolist() == [[0.0, 1.5, 4.0], [7.5, 12.0, 17.5]]


def test_comparisons_with_lists_are_refused(a):
    with pytest.raises(TypeError, match="given a list"):
        a == [0, 1, 2]  # pylint: disable=pointless-statement
    assert (a == None) is False and (a != "x") is True  # noqa: E711


def test_numpys_arrays_on_either_side_become_mx_arrays(a):
    for made in (a + onp.ones(3), onp.ones(3) + a, onp.ones((2, 3)) * a):
        assert type(made) is np.ndarray and made.dtype == onp.float64


def test_astype_changes_the_type_and_refuses_what_it_cannot_do(a):
    assert a.astype("int32").dtype == onp.int32 and a.astype(onp.float32, copy=False) is a
    assert a.astype(bool).tolist()[0] == [False, True, True]
    for wrong in ({"order": "F"}, {"casting": "safe"}, {"subok": False}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            a.astype("int32", **wrong)


def test_copies_on_another_device_do_not_share_memory(run_python):
    code = "import mxnet as mx; a = mx.np.ones(3, ctx=mx.gpu(0)); print(mx.np.shares_memory(a, a.copyto(mx.cpu())))"
    assert run_python(code, env={"MXNET_SIM_GPUS": "1"}).stdout.split() == ["False"]


def test_copies_do_not_share_memory(a):
    for made in (a.copy(), copy.copy(a), copy.deepcopy(a), np.array(a), a.copyto(mx.cpu()), np.copy(a)):
        assert type(made) is np.ndarray and made.tolist() == a.tolist() and not np.shares_memory(made, a)


@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_pickling_keeps_type_and_shape(shape):
    made = pickle.loads(pickle.dumps(np.ones(shape, dtype="float16")))
    assert type(made) is np.ndarray and made.shape == shape and made.dtype == onp.float16
    assert made.tolist() == onp.ones(shape).tolist()


@pytest.mark.parametrize("saved_with", [True, False])
@pytest.mark.parametrize("loaded_with", [True, False])
def test_pickles_go_between_threads_with_and_without_semantics_of_numpy(saved_with, loaded_with):
    """As to workers that have only just started; files are to say what they are, as in 1.9.1."""
    with util.np_array(False), util.np_shape(saved_with):
        arrays = [np.array(3.5), np.zeros((0, 3)), np.ones((2, 2)), mx.nd.ones((2, 1)), mx.nd.array([[0, 2]]).tostype("csr")]
        data = pickle.dumps(arrays)
        shapes = [array.shape for array in arrays]
    with util.np_array(False), util.np_shape(loaded_with):
        made = pickle.loads(data)
        assert [array.shape for array in made] == shapes == [(), (0, 3), (2, 2), (2, 1), (1, 2)]
        assert [type(array) for array in made] == [type(array) for array in arrays]
        assert made[0].asnumpy() == 3.5 and made[4].asnumpy().tolist() == [[0, 2]]
        assert util.is_np_shape() == loaded_with
        assert copy.deepcopy(made[0]).shape == ()


def test_files_of_safetensors(tmp_path, a):
    file = tmp_path / "arrays.safetensors"
    npx.save(file, {"x": a, "y": a[0, 0], "z": np.zeros((0, 2))})
    loaded = npx.load(file)
    assert {type(array) for array in loaded.values()} == {np.ndarray}
    assert loaded["x"].tolist() == a.tolist() and loaded["y"].shape == () and loaded["z"].shape == (0, 2)


def test_files_keep_names_values_and_scalars(tmp_path, a):
    file = str(tmp_path / "arrays")
    npx.save(file, {"x": a, "y": a[0, 0]})
    loaded = npx.load(file)
    assert list(loaded) == ["x", "y"] and type(loaded["x"]) is np.ndarray
    assert loaded["x"].tolist() == a.tolist() and loaded["y"].shape == ()
    npx.save(file, [a, a + 1])
    assert [array.tolist() for array in npx.load(file)] == [a.tolist(), (a + 1).tolist()]
    npx.save(file, a)
    assert npx.load(file)[0].tolist() == a.tolist()
    with pytest.raises(ValueError, match="given int"):
        npx.save(file, 3)
    with pytest.raises(TypeError, match="given NDArray"):
        npx.save(file, [a.as_nd_ndarray()])
    with pytest.raises(TypeError, match="texts"):
        npx.save(file, {1: a})


def test_as_numpys_array(a):
    for made in (onp.asarray(a), onp.array(a), a.asnumpy()):
        assert type(made) is onp.ndarray and made.dtype == onp.float32
    assert onp.asarray(a, dtype="int32").dtype == onp.int32
    onp.testing.assert_array_equal(a, [[0, 1, 2], [3, 4, 5]])


def test_dlpack_round_trip(a):
    made = onp.from_dlpack(a)
    assert made.tolist() == a.tolist()


METHODS = """sum prod mean std var max min all any cumsum argmax argmin argsort nonzero flatten ravel transpose squeeze copy""".split()


@pytest.mark.parametrize("name", METHODS)
def test_methods_are_the_functions(name, a):
    actual, expected = getattr(a, name)(), getattr(a.asnumpy(), name)()
    if isinstance(expected, tuple):
        assert [part.tolist() for part in actual] == [part.tolist() for part in expected]
    else:
        onp.testing.assert_allclose(actual.asnumpy(), expected, rtol=1e-5)


def test_methods_with_arguments(a):
    values = a.asnumpy()
    for actual, expected in [
        (a.reshape(3, 2), values.reshape(3, 2)), (a.reshape((3, -1)), values.reshape(3, -1)), (a.transpose(1, 0), values.T),
        (a.transpose((1, 0)), values.T), (a.T, values.T), (a.swapaxes(0, 1), values.T), (a.repeat(2, axis=0), values.repeat(2, 0)),
        (a.take(np.array([1, 0], dtype="int32"), axis=1), values.take([1, 0], axis=1)), (a.clip(1, 2), values.clip(1, 2)),
        (a.clip(min=1), values.clip(1)), (a.round(0), values.round(0)), (a.dot(a.T), values.dot(values.T)),
        (a.sum(axis=0, keepdims=True), values.sum(axis=0, keepdims=True)), (a.var(ddof=1), values.var(ddof=1)),
        (a[0].broadcast_to((2, 3)), onp.broadcast_to(values[0], (2, 3))), (a[0].broadcast_like(a), onp.broadcast_to(values[0], (2, 3))),
        (a.reshape_view(0, -1), values), (a.exp(), onp.exp(values)), (a.expand_dims(0), values[None]),
    ]:
        assert actual.shape == expected.shape
        onp.testing.assert_allclose(actual.asnumpy(), expected, rtol=1e-6)
    turned = np.array([[3, 1, 2], [6, 5, 4]])
    assert turned.sort() is None and turned.tolist() == [[1, 2, 3], [4, 5, 6]]
    with pytest.raises(TypeError, match="no shape"):
        a.reshape()
    with pytest.raises(TypeError, match="foo"):
        a.reshape(6, foo=1)


def test_reshape_view_shares_memory(a):
    assert np.shares_memory(a.reshape_view(3, 2), a) and np.may_share_memory(a[0], a)


def test_printing_options_are_numpys():
    before = onp.get_printoptions()
    try:
        np.set_printoptions(precision=2)
        assert str(np.array([1 / 3])) == "[0.33]"
    finally:
        onp.set_printoptions(**{key: before[key] for key in ("precision", "threshold")})
    assert np.array([1 / 3]).tolist() == [pytest.approx(1 / 3)]


def test_texts_become_arrays():
    made = np.genfromtxt(["1 2", "3 4"])
    assert type(made) is np.ndarray and made.dtype == onp.float64 and made.tolist() == [[1, 2], [3, 4]]


def test_constants_and_types():
    assert np.pi == onp.pi and np.e == onp.e and np.newaxis is None and np.inf == float("inf") and np.nan != np.nan
    assert np.float32 is onp.float32 and np.bool_ is onp.bool_ and np.bool is bool
    assert np.PINF == -np.NINF and np.PZERO == np.NZERO == 0 and np.finfo(np.float32).bits == 32


def test_functions_of_python_round_arrays():
    x = np.array([2.567, -1.25])
    for function, wanted in ((round, [3, -1]), (math.floor, [2, -2]), (math.ceil, [3, -1]), (math.trunc, [2, -1])):
        assert function(x).asnumpy().tolist() == wanted
    onp.testing.assert_allclose(round(x, 2).asnumpy(), [2.57, -1.25], rtol=1e-6)
