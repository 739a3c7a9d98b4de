# SPDX-License-Identifier: Apache-2.0
"""What is done backward although no gradient arrives: by losses, by functions of users, by layers with averages."""

import mxnet as mx
import numpy as np
import pytest
from mxnet import autograd

SEED = 20261126


def leaf(values, **kwargs):
    x = mx.nd.array(values)
    x.attach_grad(**kwargs)
    return x


LOSSES = {
    "SoftmaxOutput": lambda F, x, y: F.SoftmaxOutput(x, y, name="loss"),
    "SVMOutput": lambda F, x, y: F.SVMOutput(x, y, name="loss"),
    "LinearRegressionOutput": lambda F, x, y: F.LinearRegressionOutput(F.sum(x, axis=1), y, name="loss"),
    "LogisticRegressionOutput": lambda F, x, y: F.LogisticRegressionOutput(F.sum(x, axis=1), y, name="loss"),
    "MAERegressionOutput": lambda F, x, y: F.MAERegressionOutput(F.sum(x, axis=1), y, name="loss"),
    "MakeLoss": lambda F, x, y: F.MakeLoss(x, grad_scale=0.5, name="loss"),
    "make_loss": lambda F, x, y: F.make_loss(x, name="loss"),
}
READERS = {
    "BlockGrad": lambda F, loss: F.BlockGrad(loss),
    "BlockGrad of tanh": lambda F, loss: F.BlockGrad(F.tanh(loss)),
    "ones_like": lambda F, loss: F.ones_like(loss),
    "comparison": lambda F, loss: loss > 0.5,
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_loss_trains_whoever_reads_it(loss, reader):
    # Its gradient is what it is whatever comes from above, nothing too.
    numbers, labels = np.array([[1.0, 2, 3], [3, 1, 0.5]], "float32"), np.array([1.0, 2], "float32")
    x, y = leaf(numbers), mx.nd.array(labels)
    with autograd.record():
        result = LOSSES[loss](mx.nd, x, y)
    result.backward()
    expected = x.grad.asnumpy()
    assert np.abs(expected).max() > 0

    for others in (0, 1):  # beside a result with a gradient of its own, too
        with autograd.record():
            read = READERS[reader](mx.nd, LOSSES[loss](mx.nd, x, y)).sum() + others * x.sum()
        read.backward()
        np.testing.assert_allclose(x.grad.asnumpy(), expected + others, rtol=1e-6)

        a, b = mx.sym.Variable("x"), mx.sym.Variable("y")
        symbol = mx.sym.Group([READERS[reader](mx.sym, LOSSES[loss](mx.sym, a, b)), a * others])
        bound = symbol.bind(mx.cpu(), {"x": x, "y": y}, args_grad={"x": mx.nd.full(x.shape, 7)}, grad_req={"x": "write", "y": "null"})
        bound.forward(is_train=True)
        bound.backward([mx.nd.ones(out.shape) for out in bound.outputs])
        np.testing.assert_allclose(bound.grad_dict["x"].asnumpy(), expected + others, rtol=1e-6)


class Five(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] * 2)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] + 5)


@mx.operator.register("autograd_five")
class FiveProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Five()


class FiveFunction(autograd.Function):
    def forward(self, x):
        return x * 2

    def backward(self, head):
        return head + 5


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("function", ["operator", "symbol", "function"])
def test_functions_of_the_user_may_be_losses_too(function, reader):
    """They are called with zeros, as in 1.9.1."""
    x = leaf([1.0, 2.0])
    if function == "symbol":
        symbol = READERS[reader](mx.sym, mx.sym.Custom(mx.sym.Variable("x") * 3, op_type="autograd_five"))
        bound = symbol.bind(mx.cpu(), {"x": x}, args_grad={"x": x.grad})
        bound.forward(is_train=True)
        bound.backward([mx.nd.ones(2)])
    else:
        with autograd.record():
            inner = x * 3
            result = mx.nd.Custom(inner, op_type="autograd_five") if function == "operator" else FiveFunction()(inner)
            read = READERS[reader](mx.nd, result)
        read.backward()
    assert x.grad.asnumpy().tolist() == [15, 15]


class Behind(mx.gluon.HybridBlock):
    def __init__(self, called):
        super().__init__()
        self.called = called

    def hybrid_forward(self, F, *arrays):
        return self.called(F, *arrays)


@pytest.mark.parametrize("flags", [{}, {"static_alloc": True}, {"static_alloc": True, "static_shape": True}])
def test_what_a_compiled_block_does_backward_unasked(flags):
    numbers = np.array([[1.0, 2, 3], [3, 1, 0.5]], "float32")

    def behind(called, *others):
        block, x = Behind(called), leaf(numbers)
        block.hybridize(**flags)
        with autograd.record():
            result = mx.nd.BlockGrad(block(x, *others))
        result.backward()
        return x.grad.asnumpy()

    x, y = leaf(numbers), mx.nd.array([1.0, 2])
    with autograd.record():
        loss = LOSSES["SoftmaxOutput"](mx.nd, mx.nd.tanh(x), y)
    loss.backward()
    trained = behind(lambda F, x, y: LOSSES["SoftmaxOutput"](F, F.tanh(x), y), y)
    np.testing.assert_allclose(trained, x.grad.asnumpy(), rtol=1e-6)

    states = [mx.nd.zeros(3), mx.nd.ones(3)]
    parameters = [mx.nd.ones(3), mx.nd.zeros(3)]
    normalised = lambda F, x, *rest: F.BatchNorm(F.tanh(x), *rest, fix_gamma=False, momentum=0.9)
    assert (behind(normalised, *parameters, *states) == 0).all()
    np.testing.assert_allclose(states[0].asnumpy(), 0.1 * np.tanh(numbers).mean(axis=0), rtol=1e-4)
    assert (behind(lambda F, x: F.tanh(x) * 2) == 0).all()


def test_a_penalty_is_passed_on_behind_what_blocks_gradients():
    numbers = np.array([[0.2, 0.4, 0.9], [0.3, 0.1, 0.5]], "float32")
    a = mx.sym.Variable("x")
    penalised = mx.sym.IdentityAttachKLSparseReg(a, penalty=0.1)
    results = []
    for symbol in (mx.sym.BlockGrad(penalised), penalised):
        bound = symbol.simple_bind(mx.cpu(), x=numbers.shape)
        bound.arg_dict["x"][:], bound.aux_arrays[0][:] = numbers, 0.3
        bound.forward(is_train=True)
        bound.backward([mx.nd.zeros(numbers.shape)])
        results.append((bound.grad_dict["x"].asnumpy(), bound.aux_arrays[0].asnumpy()))
    for blocked, plain in zip(*results):
        np.testing.assert_array_equal(blocked, plain)
    np.testing.assert_allclose(results[0][0], [[0.09376127, 0.09376127, 0.10695188]] * 2, rtol=1e-5)
    np.testing.assert_allclose(results[0][1], [0.295, 0.295, 0.34], rtol=1e-5)


@pytest.mark.parametrize("requests", [("write", "write"), ("null", "write"), ("write", "null")])
def test_averages_move_behind_what_blocks_gradients(requests, rng):
    # A frozen part of a network that trains keeps averages for the time when it predicts.
    numbers = rng.uniform(0, 4, size=(5, 3)).astype("float32")
    data, gamma = requests
    mean, variance = 0.1 * numbers.mean(axis=0), 0.9 + 0.1 * numbers.var(axis=0)

    arrays = [leaf(numbers, grad_req=data), leaf(np.ones(3), grad_req=gamma), leaf(np.zeros(3), grad_req=gamma)]
    states = [mx.nd.zeros(3), mx.nd.ones(3)]
    other = leaf([2.0])
    with autograd.record():
        result = mx.nd.BlockGrad(mx.nd.BatchNorm(*arrays, *states, fix_gamma=False, momentum=0.9)).sum() * other
    result.backward()
    for state, expected in zip(states, (mean, variance)):
        np.testing.assert_allclose(state.asnumpy(), expected, rtol=1e-4, atol=1e-6)

    x = mx.sym.Variable("x")
    first = mx.sym.BatchNorm(x * 2, fix_gamma=False, momentum=0.9, name="first")
    second = mx.sym.BatchNorm(mx.sym.relu(first), fix_gamma=False, momentum=0.9, name="second")
    top = mx.sym.FullyConnected(mx.sym.BlockGrad(second), num_hidden=2, name="top")
    names = top.list_arguments()
    wanted = {name: "write" if name.startswith("top") else data if name == "x" else gamma for name in names}
    bound = top.simple_bind(mx.cpu(), x=numbers.shape, grad_req=wanted)
    bound.arg_dict["x"][:] = numbers
    for name in names:
        if not name.startswith(("x", "top")):
            bound.arg_dict[name][:] = 1
    for name, state in bound.aux_dict.items():
        state[:] = name.endswith("var")
    hidden = bound.forward(is_train=True)
    bound.backward([mx.nd.ones(hidden[0].shape)])
    moved = {name: state.asnumpy() for name, state in bound.aux_dict.items()}
    np.testing.assert_allclose(moved["first_moving_mean"], 2 * mean, rtol=1e-4)
    np.testing.assert_allclose(moved["first_moving_var"], 0.9 + 0.4 * numbers.var(axis=0), rtol=1e-4)
    assert (moved["second_moving_mean"] > 0.01).all() and (moved["second_moving_var"] != 1).all()
