# SPDX-License-Identifier: Apache-2.0
"""Zeros and ones of which only the operator that reads them says the shape, as a network's parts make first states:
passes replace that operator, and what they make of it need not say it. Large ones are not kept as constants."""

import mxnet as mx
import numpy as np
import pytest
from mxnet.gluon import nn, rnn

IMAGES, ROWS = (4, 32, 24, 24), (256, 512)


def convolution(data):
    return mx.sym.Convolution(data, mx.sym.var("weight"), mx.sym.var("bias"), kernel=(3, 3), pad=(1, 1), num_filter=32)


def dense(data):
    return mx.sym.FullyConnected(data, mx.sym.var("weight"), mx.sym.var("bias"), num_hidden=ROWS[1])


def normalised(data):
    return mx.sym.BatchNorm(data, fix_gamma=False, use_global_stats=True, name="norm")


NETWORKS = {
    "sum_of_convolution": (IMAGES, lambda x, more: convolution(x) + more),
    "relu_of_the_sum": (IMAGES, lambda x, more: mx.sym.relu(convolution(x) + more)),
    "relu_before": (IMAGES, lambda x, more: mx.sym.relu(more) + convolution(x)),
    "batch_norm": (IMAGES, lambda x, more: normalised(convolution(x) + more)),
    "sum_of_dense": (ROWS, lambda x, more: dense(x) + more),
    "chain": (ROWS, lambda x, more: mx.sym.tanh(mx.sym.sigmoid(dense(x)) * more + more)),
    "layer_norm": (ROWS, lambda x, more: mx.sym.LayerNorm(dense(x) + more, mx.sym.var("gamma"), mx.sym.var("beta"))),
    "beside_draws": (ROWS, lambda x, more: dense(x) + more + 0 * mx.sym.random.normal(shape=ROWS)),
}


@pytest.mark.parametrize("first", ["zeros", "ones"])
@pytest.mark.parametrize("is_train", [False, True])
@pytest.mark.parametrize("name", NETWORKS)
def test_plans_keep_the_shape_that_a_reader_gave(name, is_train, first):
    shape, network = NETWORKS[name]
    rng = np.random.default_rng(3)
    given = {}

    def outputs(more):
        executor = network(mx.sym.var("data"), more).simple_bind(
            mx.cpu(), grad_req="write" if is_train else "null", data=shape
        )
        for kind in (executor.arg_dict, executor.aux_dict):
            for key, array in kind.items():
                array[:] = given.setdefault(key, rng.uniform(0.1, 1, array.shape).astype("float32") / 8)
        made = [executor.forward(is_train=is_train)[0].asnumpy()]
        if is_train:
            executor.backward(mx.nd.ones(made[0].shape))
            made += [gradient.asnumpy() for gradient in executor.grad_arrays]
        return made

    make = getattr(mx.sym, first)
    for actual, expected in zip(outputs(make((0,) + shape[1:])), outputs(make(shape))):
        np.testing.assert_array_equal(actual, expected)


class Unrolled(mx.gluon.HybridBlock):
    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.cell = rnn.LSTMCell(512, input_size=8)

    def hybrid_forward(self, F, x):
        return self.cell.unroll(3, x, layout="TNC", merge_outputs=True)[0]


RECURRENT = {
    "lstm": lambda: rnn.LSTM(512, input_size=8),
    "gru": lambda: rnn.GRU(256, 2, input_size=8),
    "rnn": lambda: rnn.RNN(256, bidirectional=True, layout="NTC", input_size=8),
    "cell": Unrolled,
}


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [(kind, dtype) for kind in ("lstm", "gru", "rnn") for dtype in ("float32", "float64", "float16")]
    + [("cell", "float32")],  # cells begin with float32, as in 1.9.1
)
def test_hybridized_networks_around_recurrent_layers_begin_with_zeros(kind, dtype):
    """64 samples: states of 128 KiB and more."""
    net = nn.HybridSequential()
    net.add(RECURRENT[kind](), nn.Dense(3, flatten=False))
    net.initialize(mx.init.Uniform(0.1))
    net.cast(dtype)
    x = mx.nd.random.normal(shape=(64, 3, 8) if kind == "rnn" else (3, 64, 8)).astype(dtype)
    expected = net(x).asnumpy()
    net.hybridize()
    for training in (False, True, False):
        with mx.autograd.record() if training else mx.autograd.pause():
            actual = net(x)
        near = 5e-3 if dtype == "float16" else 1e-5
        np.testing.assert_allclose(actual.asnumpy(), expected, rtol=near, atol=near)
