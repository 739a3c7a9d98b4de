# SPDX-License-Identifier: Apache-2.0
"""Gradients of gradients through hybridized blocks: what a compiled graph computed is computed again, as eager calls."""
import numpy as np
import pytest

import mxnet as mx
from mxnet.gluon import nn

LAYERS = {
    "BatchNorm": lambda: nn.BatchNorm(in_channels=3),
    "Dropout": lambda: nn.Dropout(0.5),
    "LayerNorm": lambda: nn.LayerNorm(in_channels=3),
    "PReLU": nn.PReLU,
}


class Branches(mx.gluon.HybridBlock):
    """Two outputs; `layer` is behind the second, and behind the first where that is asked for."""

    def __init__(self, layer, through):
        super().__init__()
        self.through = through
        with self.name_scope():
            self.layer = layer

    def hybrid_forward(self, F, x):
        h = self.layer(F.tanh(x)) * 2
        return F.square(h) * x if self.through else F.square(x) * x * 1.0, h


def network(layer, through, hybridized):
    net = Branches(LAYERS[layer](), through)
    net.initialize()
    if hybridized:
        net.hybridize()
    return net


def slopes(net, training, heads=slice(0, 1), train_mode=True):
    """The array, and its gradient, which can be differentiated again."""
    x = mx.nd.array([[1, 2, 3], [4, 5, 7]])
    x.attach_grad()
    net(x)
    for name, parameter in net.collect_params().items():
        if "running" in name:
            parameter.set_data(parameter.data() + mx.nd.array([0.5, 1, 2]))
    with mx.autograd.record(training):
        slope = mx.autograd.grad(net(x)[heads], [x], create_graph=True, retain_graph=True, train_mode=train_mode)[0]
        penalty = (slope * slope).sum()
    return x, slope, penalty


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("layer", LAYERS)
def test_an_output_that_does_not_pass_the_layer(layer, training, hybridized):
    x, slope, penalty = slopes(network(layer, False, hybridized), training)
    penalty.backward()
    numbers = x.asnumpy()
    np.testing.assert_allclose(slope.asnumpy(), 3 * numbers**2, rtol=1e-5)
    np.testing.assert_allclose(x.grad.asnumpy(), 36 * numbers**3, rtol=1e-5)


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("layer", ["BatchNorm", "LayerNorm", "PReLU"])
def test_a_layer_without_a_second_order_is_named_when_it_is_reached(layer, hybridized):
    _, slope, penalty = slopes(network(layer, True, hybridized), True)
    assert np.isfinite(slope.asnumpy()).all()
    with pytest.raises(mx.MXNetError, match=f"_backward_{dict(PReLU='LeakyReLU').get(layer, layer)}.*no gradient"):
        penalty.backward()


def test_random_numbers_that_would_be_drawn_again_are_named():
    with pytest.raises(mx.MXNetError, match="Dropout.*draws random numbers"):
        slopes(network("Dropout", True, True), True)


@pytest.mark.parametrize("layer", LAYERS)
def test_what_was_recorded_in_predict_mode_is_computed_again_in_predict_mode(layer):
    eager, compiled = (slopes(network(layer, True, hybridized), False)[1].asnumpy() for hybridized in (False, True))
    np.testing.assert_allclose(compiled, eager, rtol=1e-5, atol=1e-6)


def test_averages_move_once():
    net = network("BatchNorm", False, True)
    x, _, penalty = slopes(net, True, heads=slice(0, 1))
    tanh = np.tanh(x.asnumpy())
    for _ in range(2):
        mean = net.layer.running_mean.data().asnumpy()
        np.testing.assert_allclose(mean, 0.9 * np.array([0.5, 1, 2]) + 0.1 * tanh.mean(0), rtol=1e-5)
        if penalty is not None:
            penalty.backward()
            penalty = None


@pytest.mark.parametrize("hybridized", [False, True])
def test_averages_that_move_behind_a_stopped_gradient_are_no_part_of_it(hybridized):
    class Stopped(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.layer = nn.BatchNorm(in_channels=3)

        def hybrid_forward(self, F, x):
            return F.square(x) * x + F.BlockGrad(self.layer(x)) * 1.0, x * 1.0

    net = Stopped()
    net.initialize()
    if hybridized:
        net.hybridize()
    x, slope, penalty = slopes(net, True)
    penalty.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), 36 * x.asnumpy()**3, rtol=1e-5)
    moved = net.layer.running_mean.data().asnumpy()
    np.testing.assert_allclose(moved, 0.9 * np.array([0.5, 1, 2]) + 0.1 * x.asnumpy().mean(0), rtol=1e-5)


def test_a_loss_of_classes_with_lengths_has_a_first_gradient():
    x, lengths = mx.nd.array([[1, 2, 3], [4, 5, 7]]), mx.nd.array([2, 3], dtype="int32")
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.softmax(x, lengths, use_length=True)
        slope = mx.autograd.grad((y * y).sum(), [x], create_graph=True, retain_graph=True)[0]
    with mx.autograd.record():
        again = (mx.nd.softmax(x, lengths, use_length=True)**2).sum()
    again.backward()
    np.testing.assert_allclose(slope.asnumpy(), x.grad.asnumpy(), rtol=1e-6)
    with pytest.raises(mx.MXNetError, match="_backward_softmax.*no gradient"):
        slope.backward()


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("shape", [(3,), (1, 3), (2, 1), (1,), (1, 1, 3)])
def test_what_is_broadcast_from_fewer_dimensions_has_a_second_order(shape, hybridized):
    class Shifted(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x, b):
            return (x + b)**3

    net = Shifted()
    if hybridized:
        net.hybridize()
    with mx.util.np_shape(True), mx.util.np_array(True):
        x, b = mx.np.array([[1, 2, 3], [4, 5, 7]]), mx.np.array(np.arange(1, 1 + np.prod(shape)).reshape(shape))
        x.attach_grad()
        b.attach_grad()
        with mx.autograd.record():
            slope = mx.autograd.grad(net(x, b), [b], create_graph=True, retain_graph=True)[0]
            penalty = (slope * slope).sum()
        penalty.backward()
    # The slope is the sum of 3 s^2 over what b is broadcast to, where s = x + b.
    sums = x.asnumpy() + b.asnumpy()

    def gathered(values):
        axes = tuple(i for i in range(-sums.ndim, 0) if -i > len(shape) or shape[i] != sums.shape[i])
        return values.sum(axes, keepdims=True).reshape(shape)

    np.testing.assert_allclose(slope.asnumpy(), gathered(3 * sums**2), rtol=1e-5)
    of_each = 2 * gathered(3 * sums**2) * 6
    np.testing.assert_allclose(b.grad.asnumpy(), gathered(of_each * sums), rtol=1e-5)
    np.testing.assert_allclose(x.grad.asnumpy(), (of_each * sums).reshape(2, 3), rtol=1e-5)


@pytest.mark.parametrize("hybridized", [None, False, True])
def test_a_given_head_gradient_that_passes_unchanged_keeps_what_it_depends_on(hybridized):
    class Cube(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, v):
            return v * v * v

    cube = Cube()
    if hybridized:
        cube.hybridize(static_alloc=True)
    x, v = mx.nd.array([1, 2]), mx.nd.array([3, 5])
    x.attach_grad()
    v.attach_grad()
    with mx.autograd.record():
        given = v if hybridized is None else cube(v)
        slope = mx.autograd.grad(x + 1, [x], head_grads=[given], create_graph=True, retain_graph=True)[0]
        penalty = (slope * slope).sum()
    penalty.backward()
    expected = 2 * v.asnumpy() if hybridized is None else 6 * v.asnumpy()**5
    np.testing.assert_allclose(v.grad.asnumpy(), expected, rtol=1e-6)
    assert x.grad.asnumpy().tolist() == [0, 0]


class Waves(mx.gluon.HybridBlock):
    """Its slope with respect to x reads tanh(x w), and w as it is."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.w = self.params.get("w", shape=(3,), init="ones")

    def hybrid_forward(self, F, x, w):
        return F.exp(F.tanh(x * w)) * 2


def waves_between(change, **hybridize):
    """The slope of the slope, where `change(x, w)` comes between a call and its gradient."""
    net = Waves()
    net.initialize()
    if hybridize.pop("hybridized"):
        net.hybridize(**hybridize)
    x = mx.nd.array([0.1, 0.2, 0.3])
    x.attach_grad()
    net.w.data()[:] = 1.5  # pushed before the call: what it reads
    with mx.autograd.record():
        y = net(x)
    change(x, net.w.data())
    with mx.autograd.record():
        slope = mx.autograd.grad(y, [x], create_graph=True, retain_graph=True)[0]
        penalty = (slope * slope).sum()
    penalty.backward()
    return x.grad.asnumpy()


CHANGES = {
    "the input": lambda x, w: x.__setitem__(slice(None), 0.7),
    "the weight": lambda x, w: w.__setitem__(slice(None), 0.7),
    "a part of the weight": lambda x, w: w[1:].__setitem__(0, 0.7),
    "the input, copied from the host": lambda x, w: x._sync_copyfrom(np.full(3, 0.7, "float32")),
}


@pytest.mark.parametrize("flags", [{}, {"static_alloc": True, "static_shape": True}, {"forward_bulk_size": 1}], ids=str)
@pytest.mark.parametrize("change", CHANGES)
def test_what_would_be_computed_again_of_other_numbers_is_refused(change, flags):
    with pytest.raises(mx.MXNetError, match="create_graph=True after .* was written"):
        waves_between(CHANGES[change], hybridized=True, **flags)


@pytest.mark.parametrize("monitored", [False, True])
def test_a_monitored_call_refuses_numbers_that_were_changed(monitored):
    net = Waves()
    net.initialize()
    net.hybridize()
    if monitored:
        net.register_op_hook(lambda name, op, array: None)
    x = mx.nd.array([0.1, 0.2, 0.3])
    x.attach_grad()
    with mx.autograd.record():
        same, changed = net(x), net(x)
        mx.autograd.grad(same, [x], create_graph=True, retain_graph=True)
    net.w.data()[:] = 2
    with mx.autograd.record(), pytest.raises(mx.MXNetError, match="create_graph=True after .* was written"):
        mx.autograd.grad(changed, [x], create_graph=True, retain_graph=True)


def test_writes_that_nothing_is_computed_again_of_are_none():
    eager, compiled = (waves_between(lambda x, w: (x + w).wait_to_read(), hybridized=h) for h in (False, True))
    np.testing.assert_allclose(compiled, eager, rtol=1e-6)

    class Scaled(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x, w):
            return (x * w) * 1.0 + 0.0  # the slope is w, as it is then

    found = []
    for hybridized in (False, True):
        net = Scaled()
        if hybridized:
            net.hybridize()
        x, w = mx.nd.array([1, 2]), mx.nd.array([3, 4])
        x.attach_grad()
        with mx.autograd.record():
            y = net(x, w)
        w[:] = 5
        with mx.autograd.record():
            found.append(mx.autograd.grad(y, [x], create_graph=True)[0].asnumpy().tolist())
    assert found == [[5, 5], [5, 5]]


@pytest.mark.parametrize("hybridized", [False, True])
def test_the_loss_of_sequences_has_a_first_gradient_and_names_itself_at_the_second(hybridized):
    loss = mx.gluon.loss.CTCLoss()
    if hybridized:
        loss.hybridize()
    x = mx.nd.array(np.random.default_rng(5).uniform(-1, 1, (2, 6, 4)))
    label, share = mx.nd.array([[1, 2], [2, 0]]), mx.nd.array([1, 3])
    x.attach_grad()
    share.attach_grad()
    with mx.autograd.record():
        (loss(x, label) * share).sum().backward()
    plain = x.grad.asnumpy()
    with mx.autograd.record():
        slope = mx.autograd.grad((loss(x, label) * share).sum(), [x], create_graph=True, retain_graph=True)[0]
        total = slope.sum(axis=(1, 2))
        penalty = (slope * slope).sum()
    np.testing.assert_allclose(slope.asnumpy(), plain, rtol=1e-6)
    assert np.abs(plain).max() > 0.1
    assert total.shape == (2,)
    with pytest.raises(mx.MXNetError, match="CTCLoss.*given a gradient of a gradient"):
        penalty.backward()


@pytest.mark.parametrize("function", ["gamma", "gammaln"])
def test_gamma_functions_have_a_first_gradient_and_name_themselves_at_the_second(function):
    x, given = mx.nd.array([1.5, 2.5]), mx.nd.array([2, 3])
    given.attach_grad()
    x.attach_grad()
    with mx.autograd.record():
        y = getattr(mx.nd, function)(x)
    y.backward(given)
    with mx.autograd.record():
        y = getattr(mx.nd, function)(x)
        slope = mx.autograd.grad(y, [x], head_grads=[given], create_graph=True, retain_graph=True)[0]
    np.testing.assert_allclose(slope.asnumpy(), x.grad.asnumpy(), rtol=1e-6)
    with mx.autograd.record():
        total = slope.sum()
    with pytest.raises(mx.MXNetError, match="_backward_gammaln.*no gradient"):
        total.backward()
