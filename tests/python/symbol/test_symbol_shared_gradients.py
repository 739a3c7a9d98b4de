# SPDX-License-Identifier: Apache-2.0
"""Gradients of an executor that lie in one array, or in one with what the backward pass reads."""

import mxnet as mx
import numpy as np
import pytest


def test_of_gradients_that_are_written_to_one_array_the_last_argument_has_it():
    x, y, z = (mx.sym.Variable(name) for name in "xyz")
    numbers = {name: np.array(values, "float32") for name, values in {"x": [1, 2], "y": [3, 5], "z": [2, 7]}.items()}
    arguments = {name: mx.nd.array(values) for name, values in numbers.items()}
    one, own = mx.nd.zeros(2), mx.nd.zeros(2)
    executor = (x * y * y * z * z).bind(mx.cpu(), arguments, {"x": one, "y": one, "z": own}, "write")
    for _ in range(2):
        executor.forward(is_train=True)
        executor.backward(mx.nd.ones(2))
        of = {"y": 2 * numbers["x"] * numbers["y"] * numbers["z"]**2, "z": 2 * numbers["x"] * numbers["y"]**2 * numbers["z"]}
        np.testing.assert_allclose(one.asnumpy(), of["y"], rtol=1e-6)
        np.testing.assert_allclose(own.asnumpy(), of["z"], rtol=1e-6)
    rows = mx.nd.zeros((4,))
    executor = (x * y * y).bind(mx.cpu(), arguments, {"x": rows[0:2], "y": rows[1:3], "z": own}, "write")
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones(2))
    np.testing.assert_allclose(rows.asnumpy(), [9, 6, 20, 0], rtol=1e-6)


@pytest.mark.parametrize("x_req, y_req", [("add", "write"), ("write", "add"), ("add", "add")])
def test_of_gradients_that_are_written_and_added_to_one_array_the_later_argument_comes_second(x_req, y_req):
    x, y = mx.sym.Variable("x"), mx.sym.Variable("y")
    arguments = {"x": mx.nd.array([1, 2]), "y": mx.nd.array([3, 5])}
    one = mx.nd.array([100, 200])
    executor = (x * y * y * x + x * 3 + y * 7 + x * x).bind(mx.cpu(), arguments, {"x": one, "y": one}, {"x": x_req, "y": y_req})
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones(2))
    of_x, of_y = np.array([23, 107]), np.array([13, 47])
    expected = np.array([100, 200]) + of_x if x_req == "add" else of_x
    expected = expected + of_y if y_req == "add" else of_y
    assert one.asnumpy().tolist() == expected.tolist()


def test_gradients_added_to_an_argument_of_the_call_that_is_another_gradient_too_are_all_there():
    """What the backward pass reads is where both are to be added: neither is lost."""
    x, y = mx.sym.Variable("x"), mx.sym.Variable("y")
    one = mx.nd.array([3, 5])
    arguments = {"x": mx.nd.array([1, 2]), "y": one}
    executor = (x * y * y).bind(mx.cpu(), arguments, {"x": one, "y": one}, "add")
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones(2))
    assert one.asnumpy().tolist() == [3 + 9 + 6, 5 + 25 + 20]
