# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of mx.nd arrays by Python's operators: with arrays, numbers and what is neither, also in place."""

import operator

import mxnet as mx
import numpy as np
import pytest

BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.mod, operator.pow]
COMPARISONS = [operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge]


@pytest.fixture
def left():
    return np.array([[1, 2, 3], [4, 5, 6]], np.float32)


@pytest.fixture
def right():
    return np.array([[2, 2, 1], [1, 5, 7]], np.float32)


@pytest.mark.parametrize("function", BINARY + COMPARISONS)
def test_arithmetic_of_arrays_and_numbers(function, left, right):
    a, b = mx.nd.array(left), mx.nd.array(right)
    np.testing.assert_allclose(function(a, b).asnumpy(), function(left, right), rtol=1e-6)
    np.testing.assert_allclose(function(a, 3).asnumpy(), function(left, np.float32(3)), rtol=1e-6)
    np.testing.assert_allclose(function(3.5, a).asnumpy(), function(np.float32(3.5), left), rtol=1e-6)
    np.testing.assert_allclose(function(a, np.float64(2)).asnumpy(), function(left, np.float32(2)), rtol=1e-6)
    assert function(a, b).dtype == np.float32


def test_arithmetic_broadcasts(left):
    row = mx.nd.array([[1, 2, 3]])
    np.testing.assert_array_equal((mx.nd.array(left) + row).asnumpy(), left + row.asnumpy())


def test_scalars_become_the_type_of_the_array():
    ints = mx.nd.array([1, 2, 3], dtype="int32")
    assert (ints * 1.7).asnumpy().tolist() == [1, 2, 3]
    assert (ints * 1).dtype == np.int32


@pytest.mark.parametrize("function", [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.imod])
def test_arithmetic_in_place_keeps_the_object(function, left, right):
    a = mx.nd.array(left)
    same = function(a, mx.nd.array(right))
    assert same is a
    same = function(a, 2)
    np.testing.assert_allclose(a.asnumpy(), function(function(left.copy(), right), np.float32(2)), rtol=1e-6)


@pytest.mark.parametrize("array", [mx.nd.array, mx.np.array])
def test_a_power_assigned_is_a_new_array_and_can_be_recorded(array):
    x = array([1.0, 2.0, 3.0])
    x.attach_grad()
    with mx.autograd.record():
        y = x * 1
        before = y
        y **= 2
    y.backward()
    assert before is not y and before.asnumpy().tolist() == [1, 2, 3]
    assert x.grad.asnumpy().tolist() == [2, 4, 6]


@pytest.mark.parametrize("ones", [mx.nd.ones, mx.np.ones])
@pytest.mark.parametrize("change", [operator.iadd, operator.isub, operator.imul])
def test_what_cannot_change_an_array_in_place_is_an_error(change, ones):
    with pytest.raises(TypeError, match="unsupported operand type"):
        change(ones((2,)), None)


@pytest.mark.parametrize("ones", [mx.nd.ones, mx.np.ones])
def test_an_operand_may_answer_for_a_change_in_place(ones):
    class Answering:
        def __radd__(self, array):
            return "added"

    assert operator.iadd(ones((2,)), Answering()) == "added"


def test_the_same_number_in_other_types_is_another_call():
    x = mx.nd.zeros((1,))
    assert np.signbit((x * -0.0).asnumpy())[0] and not np.signbit((x * 0.0).asnumpy())[0]
    assert mx.nd.sum(mx.nd.ones((2, 3)), axis=1, keepdims=True).shape == (2, 1)


@pytest.mark.parametrize(
    "name", ["add", "sub", "mul", "truediv", "mod", "pow", "matmul", "eq", "ne", "lt", "le", "gt", "ge", "iadd", "isub", "imul"]
)
def test_arrays_of_numpy_are_refused_on_both_sides(name):
    """As in 1.9.1: NumPy's own answer is an array without gradient, and False where nothing is compared."""
    function, array, other = getattr(operator, name), mx.nd.ones((2, 2)), np.ones((2, 2))
    with pytest.raises(TypeError, match="given an mx.nd array and a numpy.ndarray, expected two arrays of one kind"):
        function(array, other)
    if name not in ("iadd", "isub", "imul", "matmul"):
        with pytest.raises(TypeError, match="given an mx.nd array and a numpy.ndarray"):
            function(other, array)


def test_numbers_of_numpy_on_the_left_are_left_to_the_array():
    assert isinstance(np.float32(2) * mx.nd.ones(3), mx.nd.NDArray)


def test_comparing_with_something_else():
    assert (mx.nd.ones(2) == None) is False and (mx.nd.ones(2) != None) is True  # noqa: E711
    with pytest.raises(TypeError):
        mx.nd.ones(2) < "text"  # pylint: disable=expression-not-assigned


def test_minus_and_abs_are_numpys(left):
    a = mx.nd.array(-left)
    np.testing.assert_array_equal((-a).asnumpy(), left)
    np.testing.assert_array_equal(abs(a).asnumpy(), left)


def test_functions_of_arrays_and_numbers(left, right):
    a, b = mx.nd.array(left), mx.nd.array(right)
    np.testing.assert_array_equal(mx.nd.maximum(a, b).asnumpy(), np.maximum(left, right))
    np.testing.assert_array_equal(mx.nd.subtract(1, a).asnumpy(), 1 - left)
    assert mx.nd.add(1, 2) == 3
    with pytest.raises(TypeError, match="maximum"):
        mx.nd.maximum(a, "b")


@pytest.mark.parametrize("package", [mx.nd, mx.np])
def test_the_negative_of_bool_is_a_number(package):
    values = package.array([True, False, True], dtype="bool")
    assert (-values).dtype == np.int64 and (-values).asnumpy().tolist() == [-1, 0, -1]
    assert type(-values) is type(values)


@pytest.mark.parametrize("package", ["nd", "np"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int32", "int64", "float16", "float32", "float64"])
def test_a_hybridized_block_gives_the_same_negatives(package, dtype):
    class Negative(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return -x

    values = np.array([0, 1, 2**62 + 1 if dtype == "int64" else 3]).astype(dtype)
    with mx.util.np_shape(package == "np"), mx.util.np_array(package == "np"):
        x, net = getattr(mx, package).array(values, dtype=dtype), Negative()
        net.hybridize()
        made = net(x)
        assert made.dtype == (-x).dtype
        np.testing.assert_array_equal(made.asnumpy(), (-x).asnumpy())


def test_power_names_its_operands():
    two, three = mx.nd.array([2.0]), mx.nd.array([3.0])
    assert mx.nd.power(base=two, exp=3).asscalar() == mx.nd.power(base=2, exp=three).asscalar() == 8
    assert mx.nd.power(two, exp=three).asscalar() == mx.nd.power(base=2, exp=3) == 8
