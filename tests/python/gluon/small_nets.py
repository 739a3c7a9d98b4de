# SPDX-License-Identifier: Apache-2.0
"""Nets with names that are the same in each test."""

import pytest

import mxnet as mx
from mxnet.gluon import nn


@pytest.fixture(autouse=True)
def fresh_names():
    with mx.name.NameManager():
        mx.random.seed(7)
        yield


def small_net(**kwargs):
    net = nn.HybridSequential(prefix="net_", **kwargs)
    with net.name_scope():
        net.add(nn.Conv2D(4, 3, activation="relu"), nn.BatchNorm(), nn.MaxPool2D(), nn.Flatten(), nn.Dense(3))
    net.initialize(mx.init.Xavier())
    return net
