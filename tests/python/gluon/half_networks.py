# SPDX-License-Identifier: Apache-2.0
"""A network of half types and the settings that its tests share."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon
from mxnet.gluon import nn

SEED = 11
HALF_TYPES = ["float16", "bfloat16"]
PLAIN = {"MXNET_SUBGRAPH_BACKEND": "NONE"}
SHAPE = (2, 3, 24, 24)
ROUNDING = {"float16": 2.0**-11, "bfloat16": 2.0**-8}


@pytest.fixture(autouse=True)
def on_the_cpu():
    """Plans of other devices are not optimised."""
    with mx.cpu():
        yield


class Residual(gluon.HybridBlock):
    """Two ways through, as in a ResNet."""

    def __init__(self, channels, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.body = nn.HybridSequential()
            for kernel in (1, 3, 1):
                self.body.add(nn.Conv2D(channels, kernel, padding=kernel // 2, use_bias=kernel == 1, in_channels=channels))
                self.body.add(nn.BatchNorm(in_channels=channels))
            self.act = nn.Activation("relu")

    def hybrid_forward(self, F, x):
        return self.act(self.body(x) + x)


def network(dtype="float32"):
    mx.random.seed(SEED)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(32, 3, padding=1, in_channels=3), nn.BatchNorm(in_channels=32), nn.Activation("relu"), nn.MaxPool2D())
    net.add(Residual(32), Residual(32), nn.GlobalAvgPool2D(), nn.Dense(64, in_units=32), nn.Dense(10, in_units=64))
    net.initialize(mx.init.Xavier())
    if dtype != "float32":
        net.cast(dtype)
    return net


def images(dtype="float32"):
    return mx.nd.array(np.random.default_rng(SEED).uniform(-1, 1, SHAPE)).astype(dtype)


def numbers(array):
    return array.astype("float32").asnumpy().ravel().astype("float64")
