# SPDX-License-Identifier: Apache-2.0
"""What is not finite in one sample of a batch reaches no other, in plans that mix numbers: Winograd's tiles, products in
fewer multiplications, blocks of channels, padding, pooling."""

import mxnet as mx
import numpy as np
import pytest
from mxnet.gluon import nn, rnn


def network(*layers):
    net = nn.HybridSequential()
    net.add(*layers)
    return net


NETWORKS = {
    "winograd": ((4, 32, 28, 28), 0, lambda: network(nn.Conv2D(32, 3, padding=1, activation="relu"), nn.Conv2D(64, 3))),
    "pooled": ((4, 16, 13, 13), 0, lambda: network(nn.Conv2D(16, 3, padding=1), nn.AvgPool2D(3, 2, 1), nn.MaxPool2D(2))),
    "strided": ((3, 3, 17, 17), 0, lambda: network(nn.Conv2D(24, 5, strides=2, padding=2), nn.GlobalAvgPool2D())),
    "grouped": ((3, 32, 9, 9), 0, lambda: network(nn.Conv2D(32, 3, padding=1, groups=32), nn.Conv2DTranspose(8, 2, 2))),
    "normalised": ((4, 16, 8, 8), 0, lambda: network(nn.Conv2D(16, 1), nn.InstanceNorm(), nn.LayerNorm())),
    "dense": ((256, 512), 0, lambda: network(nn.Dense(512, activation="tanh"), nn.Dense(512))),
    "few_rows": ((5, 300), 0, lambda: network(nn.Dense(64, activation="relu"), nn.Dense(3))),
    "lstm": ((3, 32, 256), 1, lambda: network(rnn.LSTM(256))),
    "gru": ((3, 5, 20), 1, lambda: network(rnn.GRU(24, 2, bidirectional=True))),
}


@pytest.mark.parametrize("fault", [np.nan, np.inf, -np.inf, 3e38])
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("name", NETWORKS)
def test_a_fault_stays_in_its_sample(name, training, fault):
    shape, axis, make = NETWORKS[name]
    mx.random.seed(7)
    net = make()
    net.initialize(mx.init.Xavier())
    net.hybridize()
    good = np.random.RandomState(3).randn(*shape).astype("float32")
    bad, at = good.copy(), shape[axis] // 2
    np.moveaxis(bad, axis, 0)[at].flat[::5] = fault

    def results(values):
        data = mx.nd.array(values)
        if not training:
            return [net(data).asnumpy()]
        data.attach_grad()
        with mx.autograd.record():
            made = net(data)
        made.backward()
        return [made.asnumpy(), data.grad.asnumpy()]

    for expected, actual in zip(results(good), results(bad)):
        expected, actual = (np.delete(values, at, axis) for values in (expected, actual))
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)
