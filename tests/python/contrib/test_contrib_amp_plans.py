# SPDX-License-Identifier: Apache-2.0
"""Mixed precision in compiled networks: the conversions that it names cost nothing between layers, and overflow is seen."""

import re

import numpy as np
import pytest

import mxnet as mx
from mxnet.contrib import amp
from mxnet.gluon import nn

SEED = 5
# amp.init changes the operators of its process.
TRAINING = """
import sys

import numpy as np

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.contrib import amp
from mxnet.gluon import nn

dtype = sys.argv[1]
amp.init(dtype)
mx.random.seed(5)
net = nn.HybridSequential()
net.add(nn.Conv2D(16, 3, padding=1, in_channels=3), nn.BatchNorm(in_channels=16), nn.Activation("relu"))
net.add(nn.Conv2D(32, 3, padding=1, in_channels=16), nn.GlobalAvgPool2D(), nn.Dense(4, in_units=32))
net.initialize(mx.init.Xavier(), ctx=mx.cpu())
net.hybridize(static_alloc=True, static_shape=True)
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05, "momentum": 0.9})
amp.init_trainer(trainer)
scaler = trainer._amp_loss_scaler
loss = gluon.loss.SoftmaxCrossEntropyLoss()
data = mx.nd.array(np.random.default_rng(5).uniform(-1, 1, (8, 3, 12, 12)), ctx=mx.cpu())
label = mx.nd.array(np.arange(8) % 4, ctx=mx.cpu())


def step(factor=1):
    with autograd.record():
        cost = loss(net(data), label) * factor
        with amp.scale_loss(cost, trainer) as scaled:
            autograd.backward(scaled)
    trainer.step(8)
    return float(cost.astype("float32").mean().asscalar())


costs = [step() for _ in range(8)]
assert costs[-1] < costs[0], costs
assert all(p.data().dtype == p.list_grad()[0].dtype == np.float32 for p in net.collect_params().values() if p.grad_req != "null")
weight, before = net[0].weight.data().asnumpy(), scaler.loss_scale
step(1e38)
assert not all(np.isfinite(p.grad().asnumpy()).all() for p in net.collect_params().values() if p.grad_req != "null")
assert np.array_equal(weight, net[0].weight.data().asnumpy()), "a step whose gradients are not finite is skipped"
step()
assert scaler.loss_scale == before / 2, "from the second step after it"
assert not np.array_equal(weight, net[0].weight.data().asnumpy())
"""


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_training_goes_on_and_a_step_that_overflows_is_skipped(run_python, dtype):
    done = run_python(TRAINING, dtype)
    assert done.returncode == 0, done.stderr


def network():
    mx.random.seed(SEED)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(32, 3, padding=1, in_channels=3), nn.BatchNorm(in_channels=32), nn.Activation("relu"))
    net.add(nn.Conv2D(32, 1, in_channels=32), nn.Activation("relu"), nn.GlobalAvgPool2D(), nn.Dense(256, in_units=32))
    net.initialize(mx.init.Xavier(), ctx=mx.cpu())
    net.hybridize()
    return net


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("cast", [False, True])
def test_a_converted_block_is_close_to_float32(dtype, cast):
    net, data = network(), mx.nd.array(np.random.default_rng(SEED).uniform(-1, 1, (16, 3, 12, 12)), ctx=mx.cpu())
    exact = net(data).asnumpy()
    made = amp.convert_hybrid_block(net, dtype, cast_optional_params=cast, ctx=mx.cpu())
    out = made(data)
    assert out.dtype == np.float32
    error = np.abs(out.asnumpy() - exact).max() / np.abs(exact).max()
    assert error < (0.002 if dtype == "float16" else 0.02), SEED


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_inference_converts_at_its_ends_only(dtype):
    symbol = amp.convert_symbol(network()(mx.sym.var("data")), dtype)
    executor = symbol.simple_bind(mx.cpu(), "null", data=(16, 3, 12, 12))
    text = executor.debug_str()
    assert len(re.findall(r"\((?:amp_cast|Cast|amp_multicast)\)", text)) <= 2, text
    assert text.count("(_sg_onednn_conv)") == 2 and "(Convolution)" not in text, text
    assert text.count("(_sg_onednn_dense)") == 1, text
