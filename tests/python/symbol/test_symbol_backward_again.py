# SPDX-License-Identifier: Apache-2.0
"""Several backward passes after one forward pass of training, as programs that make Jacobians row by row do them."""

import mxnet as mx
import numpy as np
import pytest


def perceptron():
    hidden = mx.sym.Activation(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4, name="first"), act_type="tanh")
    return mx.sym.FullyConnected(hidden, num_hidden=3, name="second")


def bound(symbol, grad_req="write", **shapes):
    rng = np.random.default_rng(5)
    executor = symbol.simple_bind(mx.current_context(), grad_req=grad_req, **shapes)
    for array in executor.arg_arrays:
        array[:] = mx.nd.array(rng.uniform(-1, 1, array.shape))
    return executor


def jacobian_of_perceptron(executor):
    values = {name: array.asnumpy() for name, array in executor.arg_dict.items()}
    slopes = 1 - np.tanh(values["data"] @ values["first_weight"].T + values["first_bias"]) ** 2
    return (values["second_weight"] * slopes) @ values["first_weight"]


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("grad_req", ["write", "add"])
def test_jacobian_row_by_row(grad_req, watched):
    executor = bound(perceptron(), grad_req, data=(1, 5))
    if watched:
        executor.set_monitor_callback(lambda name, array: None)
    output = executor.forward(is_train=True)[0].asnumpy()
    rows = []
    for row in range(3):
        executor.backward(mx.nd.one_hot(mx.nd.array([row]), 3))
        rows.append(executor.grad_dict["data"].asnumpy()[0])
    expected = jacobian_of_perceptron(executor)
    np.testing.assert_allclose(rows, np.cumsum(expected, 0) if grad_req == "add" else expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(executor.outputs[0].asnumpy(), output)


def test_a_module_gives_a_row_for_each_gradient():
    module = mx.mod.Module(perceptron(), label_names=None, context=mx.current_context())
    module.bind([("data", (1, 5))], inputs_need_grad=True)
    module.init_params(mx.init.One())
    module.forward(mx.io.DataBatch([mx.nd.zeros((1, 5))]), is_train=True)
    for row in range(3):
        module.backward([mx.nd.one_hot(mx.nd.array([row]), 3) * (row + 1)])
        np.testing.assert_allclose(module.get_input_grads()[0].asnumpy(), np.full((1, 5), 4.0 * (row + 1)))


def test_each_gradient_moves_averages_once():
    executor = bound(mx.sym.BatchNorm(mx.sym.var("data"), momentum=0.5, name="norm"), data=(4, 2))
    mean = executor.arg_dict["data"].asnumpy().mean(0)
    executor.forward(is_train=True)
    for part in (0.5, 0.75, 0.875):
        executor.backward(mx.nd.ones((4, 2)))
        np.testing.assert_allclose(executor.aux_dict["norm_moving_mean"].asnumpy(), part * mean, rtol=1e-5)


class CountingCalls(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        aux[0][:] += 1
        self.assign(out_data[0], req[0], in_data[0] * aux[0])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * aux[0])


@mx.operator.register("counting_calls")
class CountingCallsProp(mx.operator.CustomOpProp):
    def list_auxiliary_states(self):
        return ["calls"]

    def infer_shape(self, in_shape):
        return in_shape, in_shape, [(1,)]

    def infer_type(self, in_type):
        return in_type, in_type, in_type

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return CountingCalls()


def dropout_in_a_loop():
    data, state = mx.sym.var("data"), mx.sym.var("state")
    return mx.sym.contrib.foreach(lambda x, s: (mx.sym.Dropout(x), s), data, state)[0]


@pytest.mark.parametrize(
    "symbol, shapes",
    [
        (mx.sym.Dropout(mx.sym.var("data")), {}),
        (dropout_in_a_loop(), {"state": (1,)}),
        (mx.sym.Custom(mx.sym.var("data"), op_type="counting_calls"), {}),
    ],
)
def test_what_would_run_otherwise_is_an_error(symbol, shapes):
    executor = bound(symbol, data=(3, 4), **shapes)
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones((3, 4)))
    before = executor.grad_dict["data"].asnumpy()
    with pytest.raises(mx.base.MXNetError, match="second backward"):
        executor.backward(mx.nd.ones((3, 4)))
    np.testing.assert_array_equal(executor.grad_dict["data"].asnumpy(), before)
