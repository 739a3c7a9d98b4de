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


MEANS, VARIANCES = [0.5, -1, 2], [4, 9, 0.25]


def normal_layer(form):
    """A block whose averages are set, and its layer."""
    layer = mx.gluon.nn.BatchNorm(momentum=0.5, in_channels=3)
    net = made(layer, form)
    layer.running_mean.set_data(mx.nd.array(MEANS))
    layer.running_var.set_data(mx.nd.array(VARIANCES))
    return net, layer


def state_of(layer):
    return layer.running_mean.data().asnumpy().tolist(), layer.running_var.data().asnumpy().tolist()


def gradient_by_averages(numbers, head):
    """Of the data, and of gamma."""
    scale = 1 / np.sqrt(np.array(VARIANCES) + 1e-5)
    return head * scale, (head * (numbers - np.array(MEANS)) * scale).sum(axis=0)


def gradient_by_batch(numbers, head):
    scale = 1 / np.sqrt(numbers.var(axis=0) + 1e-5)
    normal = (numbers - numbers.mean(axis=0)) * scale
    return scale * (head - head.mean(axis=0) - normal * (head * normal).mean(axis=0)), (head * normal).sum(axis=0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("calls", ["at once", "after training", "after prediction"])
def test_backward_in_predict_mode_is_by_moving_averages_which_stay(form, calls):
    generator = np.random.default_rng(SEED)
    numbers, head = generator.normal(size=(2, 6, 3)).astype("float32")
    net, layer = normal_layer(form)
    if calls != "at once":
        with mx.autograd.record(train_mode=calls == "after training"):
            net(mx.nd.array(numbers)).sum()
    slope = gradient(net, mx.nd.array(numbers), mx.nd.array(head), train_mode=False)[1]
    of_data, of_gamma = gradient_by_averages(numbers, head)
    np.testing.assert_allclose(slope, of_data, rtol=1e-5)
    np.testing.assert_allclose(layer.gamma.grad().asnumpy(), of_gamma, rtol=1e-4, atol=1e-5)
    assert state_of(layer) == (MEANS, VARIANCES)


@pytest.mark.parametrize("form", FORMS)
def test_passes_of_both_modes_take_turns_on_one_block(form):
    generator = np.random.default_rng(SEED)
    numbers, head = generator.normal(size=(2, 6, 3)).astype("float32")
    net, layer = normal_layer(form)
    for recorded, train_mode in [(True, True), (True, False), (False, True), (True, False), (False, False), (True, True)]:
        layer.running_mean.set_data(mx.nd.array(MEANS))
        layer.running_var.set_data(mx.nd.array(VARIANCES))
        x = mx.nd.array(numbers)
        x.attach_grad()
        with mx.autograd.record(train_mode=recorded):
            y = net(x)
        y.backward(mx.nd.array(head), train_mode=train_mode)
        by_batch = recorded and train_mode
        of_data, of_gamma = (gradient_by_batch if by_batch else gradient_by_averages)(numbers, head)
        np.testing.assert_allclose(x.grad.asnumpy(), of_data, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(layer.gamma.grad().asnumpy(), of_gamma, rtol=1e-4, atol=1e-5)
        assert (state_of(layer) == (MEANS, VARIANCES)) is not by_batch


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("static", [False, True])
def test_layers_in_blocks_of_channels_follow_the_pass_too(relu, static):
    generator = np.random.default_rng(SEED)
    image, head = (generator.normal(size=(2, 16, 5, 5)).astype("float32") for _ in range(2))
    weights = {"conv": generator.normal(size=(16, 16, 3, 3)), "gamma": generator.uniform(0.5, 2, 16)}
    seen = []
    for hybrid in (False, True):
        net = mx.gluon.nn.HybridSequential()
        conv = mx.gluon.nn.Conv2D(16, 3, padding=1, in_channels=16, use_bias=False)
        norm = mx.gluon.nn.BatchNorm(in_channels=16)
        net.add(conv, norm)
        if relu:
            net.add(mx.gluon.nn.Activation("relu"))
        net.add(mx.gluon.nn.Conv2D(16, 3, padding=1, in_channels=16, use_bias=False))
        net.initialize()
        for layer in (conv, net[-1]):
            layer.weight.set_data(mx.nd.array(weights["conv"]))
        norm.gamma.set_data(mx.nd.array(weights["gamma"]))
        norm.running_mean.set_data(mx.nd.full((16,), 0.25))
        norm.running_var.set_data(mx.nd.full((16,), 4))
        if hybrid:
            net.hybridize(static_alloc=static, static_shape=static)
        results = []
        for train_mode in (False, True, False):
            y, slope = gradient(net, mx.nd.array(image), mx.nd.array(head), train_mode)
            results += [y.asnumpy(), slope, norm.gamma.grad().asnumpy(), norm.beta.grad().asnumpy(), conv.weight.grad().asnumpy()]
            results.append(norm.running_var.data().asnumpy())
        seen.append(results)
    for one, other in zip(*seen):
        np.testing.assert_allclose(other, one, rtol=1e-3, atol=1e-3)


def test_an_executor_takes_the_mode_of_its_backward():
    generator = np.random.default_rng(SEED)
    numbers, head = generator.normal(size=(2, 6, 3)).astype("float32")
    symbol = mx.sym.BatchNorm(mx.sym.Variable("data"), name="norm", fix_gamma=False, momentum=0.5, eps=1e-5)
    executor = symbol.simple_bind(mx.cpu(), data=numbers.shape)
    executor.arg_dict["data"][:] = numbers
    executor.arg_dict["norm_gamma"][:] = 1
    for train_mode in (False, True, False):
        executor.aux_dict["norm_moving_mean"][:] = mx.nd.array(MEANS)
        executor.aux_dict["norm_moving_var"][:] = mx.nd.array(VARIANCES)
        executor.forward(is_train=True)
        executor.backward(mx.nd.array(head), is_train=train_mode)
        expected = (gradient_by_batch if train_mode else gradient_by_averages)(numbers, head)
        for name, gradient_of_name in zip(("data", "norm_gamma"), expected):
            np.testing.assert_allclose(executor.grad_dict[name].asnumpy(), gradient_of_name, rtol=1e-4, atol=1e-5)
        assert (executor.aux_dict["norm_moving_mean"].asnumpy().tolist() == MEANS) is not train_mode
