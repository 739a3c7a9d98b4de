# SPDX-License-Identifier: Apache-2.0
"""Modes of backward that are not those of the forward call: train_mode=False behind record()."""

import mxnet as mx
import numpy as np
import pytest

SEED = 20261130
FORMS = {"eager": None, "hybrid": {}, "static": {"static_alloc": True, "static_shape": True}}


def made(layer, form):
    net = mx.gluon.nn.HybridSequential()
    net.add(layer)
    net.initialize()
    if FORMS[form] is not None:
        net.hybridize(**FORMS[form])
    return net


def gradient(net, x, head, train_mode):
    x.attach_grad()
    with mx.autograd.record():
        y = net(x)
    y.backward(head, retain_graph=True, train_mode=train_mode)
    return y, x.grad.asnumpy()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("train_mode", [True, False])
def test_what_was_dropped_has_no_gradient_whatever_the_mode_of_backward(form, train_mode):
    mx.random.seed(SEED)
    x = mx.nd.ones((200,))
    y, slope = gradient(made(mx.gluon.nn.Dropout(0.5), form), x, mx.nd.ones((200,)), train_mode)
    assert set(y.asnumpy()) == {0, 2}
    np.testing.assert_array_equal(slope, y.asnumpy())
    y.backward(train_mode=train_mode)  # and so again
    np.testing.assert_array_equal(x.grad.asnumpy(), y.asnumpy())


@pytest.mark.parametrize("form", ["eager", "hybrid"])
def test_backward_in_predict_mode_is_by_moving_averages_which_stay(form):
    generator = np.random.default_rng(SEED)
    numbers, head = generator.normal(size=(2, 6, 3)).astype("float32")
    layer = mx.gluon.nn.BatchNorm(momentum=0.5)
    net = made(layer, form)
    net(mx.nd.array(numbers))
    layer.running_mean.set_data(mx.nd.array([0.5, -1, 2]))
    layer.running_var.set_data(mx.nd.array([4, 9, 0.25]))
    slope = gradient(net, mx.nd.array(numbers), mx.nd.array(head), train_mode=False)[1]
    scale = 1 / np.sqrt(np.array([4, 9, 0.25]) + 1e-5)
    np.testing.assert_allclose(slope, head * scale, rtol=1e-5)
    normal = (numbers - np.array([0.5, -1, 2])) * scale
    np.testing.assert_allclose(layer.gamma.grad().asnumpy(), (head * normal).sum(axis=0), rtol=1e-4, atol=1e-5)
    assert layer.running_mean.data().asnumpy().tolist() == [0.5, -1, 2]
    assert layer.running_var.data().asnumpy().tolist() == [4, 9, 0.25]
