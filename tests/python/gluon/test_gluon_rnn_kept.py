# SPDX-License-Identifier: Apache-2.0
"""What recurrent layers keep of their weights between calls: each change is seen, and no other layer's is taken."""

import numpy as np
import pytest

import mxnet as mx
from mxnet.gluon import nn, rnn
from small_nets import fresh_names  # noqa: F401  (fixture)

N, T, C, H = 3, 5, 4, 6


def ready(net):
    net.initialize(mx.init.Uniform(0.4))
    return net


KINDS = {
    "rnn": lambda: rnn.RNN(H, 2, input_size=C),
    "lstm": lambda: rnn.LSTM(H, 2, bidirectional=True, input_size=C),
    "gru": lambda: rnn.GRU(H, input_size=C),
    "projected": lambda: rnn.LSTM(H, projection_size=3, input_size=C),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("kind", KINDS)
def test_hybridized_layers_see_each_change_of_a_weight(kind, dtype):
    """What is packed of weights is kept between calls, for sequences of all lengths."""
    layer = ready(KINDS[kind]())
    layer.cast(dtype)
    inputs = [mx.nd.random.normal(shape=(steps, N, C)).astype(dtype) for steps in (T, 2)]

    def outputs(hybrid):
        layer.hybridize(hybrid)
        return [layer(one).asnumpy() for one in inputs]

    def agree():
        expected = outputs(False)
        for _ in range(3):
            for got, wanted in zip(outputs(True), expected):
                np.testing.assert_allclose(got, wanted, rtol=1e-5 if dtype != "float16" else 1e-2, atol=1e-5)
        return expected

    last = agree()
    for parameter in layer.collect_params().values():
        parameter.set_data(mx.nd.random.uniform(-0.5, 0.5, parameter.shape).astype(dtype))
        now = agree()
        assert not np.array_equal(now[0], last[0]), parameter.name
        last = now


@pytest.mark.parametrize("hybrid", [False, True])
def test_weights_kept_without_a_look_are_not_those_of_other_layers(hybrid):
    """Vectors that are made of weights at each call lie where others have lain."""
    x = mx.nd.random.normal(shape=(T, N, 32))
    layers = [ready(rnn.LSTM(64, input_size=32)) for _ in range(2)]
    with mx.autograd.train_mode():  # where nothing is kept
        expected = [layer(x).asnumpy() for layer in layers]
    for layer in layers:
        layer.hybridize(hybrid)
    with mx.util.environment("MXNET_RNN_USE_WEIGHT_CACHE", "1"):
        for _ in range(3):
            for layer, wanted in zip(layers, expected):
                np.testing.assert_allclose(layer(x).asnumpy(), wanted, rtol=1e-5, atol=1e-6)


def test_layers_that_share_some_weights_keep_them_apart():
    first = ready(rnn.GRU(H, input_size=C, prefix="shared_"))
    second = rnn.GRU(H, input_size=C, prefix="shared_", params=first.params)
    some = mx.gluon.ParameterDict("shared_")
    some.update({name: first.params[name] for name in ("shared_l0_i2h_weight", "shared_l0_h2h_bias")})
    third = rnn.GRU(H, input_size=C, prefix="shared_", params=some)
    third.collect_params(".*(h2h_weight|i2h_bias)").initialize(mx.init.Uniform(0.4))
    layers = [first, second, third]
    x = mx.nd.random.normal(shape=(T, N, C))
    expected = [layer(x).asnumpy() for layer in layers]
    for layer in layers:
        layer.hybridize()
    for _ in range(3):
        for layer, wanted in zip(layers, expected):
            np.testing.assert_allclose(layer(x).asnumpy(), wanted, rtol=1e-5, atol=1e-6)
    assert not np.allclose(expected[0], expected[2])


def test_training_between_predictions_is_seen():
    net = nn.HybridSequential()
    net.add(rnn.LSTM(H, 2, input_size=C), nn.Dense(2, flatten=False))
    ready(net)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
    x = mx.nd.random.normal(shape=(T, N, C))
    for _ in range(3):
        net.hybridize()
        predicted = [net(x).asnumpy() for _ in range(3)][-1]
        net.hybridize(False)
        np.testing.assert_allclose(predicted, net(x).asnumpy(), rtol=1e-5, atol=1e-6)
        net.hybridize()
        with mx.autograd.record():
            loss = net(x).square().sum()
        loss.backward()
        trainer.step(N)
