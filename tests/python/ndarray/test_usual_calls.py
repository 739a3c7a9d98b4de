# SPDX-License-Identifier: Apache-2.0
"""Calls that the native module makes by a table say the same as the Python functions behind them."""

import inspect
import pydoc

import numpy as onp
import pytest

import mxnet as mx

TYPES = ["float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool"]


@pytest.fixture(params=["nd", "np"])
def space(request):
    return getattr(mx, request.param)


def matrix(space):
    return space.array(onp.arange(6, dtype="float32").reshape(1, 2, 3))


@pytest.mark.parametrize("usual, other", [
    (lambda a: a.squeeze(), lambda a: a.squeeze(axis=[0])),
    (lambda a: a.squeeze(0), lambda a: a.squeeze(onp.int64(0))),
    (lambda a: a.transpose(2, 0, 1), lambda a: a.transpose([2, 0, 1])),
    (lambda a: a.transpose((2, 0, 1)), lambda a: a.transpose(*onp.array([2, 0, 1]))),
    (lambda a: a.transpose(), lambda a: a.T),
    (lambda a: a.expand_dims(-1), lambda a: a.expand_dims(axis=onp.int64(-1))),
])  # fmt: skip
def test_usual_and_other_ways_to_say_it_are_one(usual, other):
    a = matrix(mx.nd)
    assert usual(a).shape == other(a).shape
    assert onp.array_equal(usual(a).asnumpy(), other(a).asnumpy())


def test_methods_of_mx_nd_take_memory_in_place_where_asked():
    a = matrix(mx.nd)
    view = a.squeeze(inplace=True)
    view[:] = 7
    assert (a.asnumpy() == 7).all()
    assert a.flatten(inplace=True).shape == a.flatten().shape == (1, 6)


def test_what_has_less_than_two_dimensions_is_its_own_transpose():
    a = mx.nd.ones((3,))
    assert a.T is a
    assert matrix(mx.nd).T.shape == (3, 2, 1)


@pytest.mark.parametrize("axes", [[2, 0, 1], (2, 0, 1), onp.array([2, 0, 1])])
def test_axes_are_a_sequence_of_any_kind(space, axes):
    assert matrix(space).transpose(axes).shape == (3, 1, 2)
    if space is mx.nd:
        assert matrix(space).transpose(axes=axes).shape == (3, 1, 2)


def test_no_axes_are_none_of_the_dimensions_to_mx_np_only():
    assert matrix(mx.nd).transpose(()).shape == matrix(mx.nd).transpose(axes=None).shape == (3, 2, 1)
    with pytest.raises(ValueError):
        matrix(mx.np).transpose(())


def test_no_shape_is_a_wrong_argument():
    with pytest.raises(TypeError):
        matrix(mx.np).reshape(None)


def test_inspection_shows_arguments():
    assert list(inspect.signature(mx.nd.NDArray.item).parameters) == ["self", "places"]
    assert list(inspect.signature(mx.nd.NDArray.asscalar).parameters) == ["self"]
    for call in mx.nd.arange, mx.np.arange:
        assert inspect.isroutine(call)
        shown = pydoc.render_doc(call, renderer=pydoc.plaintext)
        assert "arange(start" in "".join(shown.split())  # Python 3.13 gives each of many arguments a line
        assert "arange" in repr(call)


def test_ranges_are_float32_unless_a_type_is_given(space):
    assert space.arange(3).asnumpy().tolist() == [0, 1, 2]
    assert space.arange(1, 4).asnumpy().tolist() == [1, 2, 3]
    assert space.arange(1.5, 3, 0.5).asnumpy().tolist() == [1.5, 2, 2.5]
    assert space.arange(3, dtype="int32").dtype == onp.int32
    assert space.arange(3).dtype == onp.float32


def test_arrays_like_another():
    a = mx.np.array([[1, 2]], dtype="int32")
    for like, value in (mx.np.zeros_like, 0), (mx.np.ones_like, 1):
        assert like(a).asnumpy().tolist() == [[value, value]]
        assert like(a).dtype == onp.int32
        assert like(a, dtype="float64").dtype == onp.float64
        out = mx.np.full((1, 2), 5, dtype="int32")
        assert like(a, out=out) is out and out.asnumpy().tolist() == [[value, value]]


@pytest.mark.parametrize("dtype", TYPES)
def test_one_element_as_a_number(space, dtype):
    one = space.ones((1,)).astype(dtype)
    scalar = one.asscalar()
    assert isinstance(scalar, onp.dtype(dtype).type) and scalar == 1
    assert one.dtype == onp.dtype(dtype)
    assert float(one) == 1.0 and isinstance(float(one), float)
    number = one.item()
    assert number == 1
    assert isinstance(number, onp.dtype(dtype).type if space is mx.nd else (float, int))


def test_several_elements_are_no_number(space):
    several = space.ones((2,))
    for wrong in several.item, several.asscalar, several.__float__:
        with pytest.raises((ValueError, TypeError)):
            wrong()


def test_an_element_by_its_place():
    assert mx.np.array([[1, 2], [3, 4]]).item(2) == 3
    with pytest.raises(TypeError):
        mx.nd.ones((1,)).item(0)


def test_an_array_is_a_sequence(space):
    a = space.array([3, 1, 2])
    assert [float(x) for x in reversed(a)] == [2, 1, 3]
    assert [float(x) for x in a[-2:]] == [1, 2]
    with pytest.raises(IndexError):
        a[3]


def test_a_class_of_operators_made_in_python_is_called_as_an_operator():
    class Named(mx._core.Operator):
        pass

    add = Named("elemwise_add", False)
    a = mx.nd.ones((2,))
    assert add(a, rhs=a).asnumpy().tolist() == [2, 2]
    holder = type("Holder", (mx.nd.NDArray,), {"plus": add, "__slots__": ()})
    assert holder(a).plus(mx.nd.ones((2,))).asnumpy().tolist() == [2, 2]


@pytest.mark.parametrize("call", [
    "N.uniform(shape=3)", "N.uniform(1, 2, (2, 3))", "N.uniform(low=1, high=2.5, shape=())", "N.normal(shape=(4,))", "N.normal(3, 0.5, 4)",
    "N.uniform(shape=(2,), out=mx.nd.zeros(2, dtype='float64'))", "N.poisson(4, shape=5)", "N.gamma(2, 3, shape=5)",
    "N.negative_binomial(3, 0.4, shape=5)", "N.generalized_negative_binomial(2, 0.4, (5,))", "N.uniform(2, 2, 3, ctx=mx.cpu(0))",
    "N.uniform()", "N.uniform(out=mx.nd.zeros(2))", "N.uniform(shape=[2, 3])", "N.uniform(shape=2, dtype='float64')", "N.normal(mx.nd.zeros(2), mx.nd.ones(2), 3)",
    "R.rand()", "R.rand(3)", "R.rand(2, 3)", "R.rand(0)", "R.rand(3, dtype='float64')", "R.rand(3, low=2, high=3)", "R.rand(2, out=mx.np.zeros(2))",
    "R.randn()", "R.randn(2, 3)", "R.randn(3, loc=4)",
])  # fmt: skip
def test_draws_are_those_of_the_functions_behind_them(call):
    class Behind:
        def __init__(self, module):
            self._module = module

        def __getattr__(self, name):
            call = getattr(self._module, name)
            return getattr(call, "__wrapped__", call)  # without the native module it is the call itself

    drawn = []
    for of in (lambda module: module, Behind):
        mx.random.seed(5)
        drawn.append(eval(call, {"N": of(mx.nd.random), "R": of(mx.np.random), "mx": mx}))  # noqa: S307
    usual, other = drawn
    assert type(usual) is type(other)
    assert usual.shape == other.shape and usual.dtype == other.dtype and usual.context == other.context
    onp.testing.assert_array_equal(usual.asnumpy(), other.asnumpy())


@pytest.mark.parametrize("call", ["N.uniform(2, 1, shape=3)", "N.uniform('a', shape=3)", "N.uniform(shape=3.5)", "N.gamma(-1, shape=5)", "R.rand((2, 3))", "R.rand(-1)", "R.rand(2.5)", "R.rand(3, size=4)", "R.rand(3, bad=1)"])
def test_draws_of_what_is_not_right_are_errors(call):
    with pytest.raises((TypeError, ValueError)):
        eval(call, {"N": mx.nd.random, "R": mx.np.random})  # noqa: S307
