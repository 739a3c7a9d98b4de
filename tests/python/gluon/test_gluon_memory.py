# SPDX-License-Identifier: Apache-2.0
"""Long training keeps the process's memory flat, and blocks that are gone leave nothing behind."""

import gc
import os
import weakref

import numpy as np

import mxnet as mx
from mxnet import gluon
from mxnet.gluon import nn


def resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_training_with_changing_shapes_keeps_memory_flat():
    net = nn.HybridSequential()
    net.add(nn.Dense(16, activation="relu", flatten=False), nn.Dense(4, flatten=False))
    net.initialize()
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam")
    loss_of = gluon.loss.L2Loss()
    sizes = np.random.RandomState(1).randint(1, 33, 2000)

    def steps(numbers):
        for size in numbers:
            x = mx.nd.ones((int(size), 8))
            with mx.autograd.record():
                loss = loss_of(net(x), mx.nd.zeros((int(size), 4)))
            loss.backward()
            trainer.step(int(size))
        mx.nd.waitall()
        gc.collect()

    steps(sizes[:500])  # all shapes have been seen, pools are filled
    before = resident()
    steps(sizes[500:])
    assert resident() - before < 8 << 20


def test_dropped_nets_are_freed():
    net = nn.HybridSequential()
    net.add(nn.Dense(4), nn.BatchNorm(), nn.Dense(2))
    net.initialize()
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    with mx.autograd.record():
        loss = net(mx.nd.ones((2, 3))).sum()
    loss.backward()
    trainer.step(1)
    watched = [weakref.ref(thing) for thing in (net, net[0], net[0].weight, trainer)]
    del net, trainer, loss
    gc.collect()
    assert [reference() for reference in watched] == [None] * 4


def test_inputs_are_not_kept_alive():
    net = nn.Dense(2, in_units=1000)
    net.initialize()
    net.hybridize()
    for _ in range(3):
        net(mx.nd.ones((1000, 1000)))
    mx.nd.waitall()
    used = mx.cpu().memory_stats()
    big = [mx.nd.ones((1000, 1000)) for _ in range(4)]
    for array in big:
        net(array)
    mx.nd.waitall()
    del big, array
    gc.collect()
    after = mx.cpu().memory_stats()
    key = next(name for name in used if "use" in name)
    assert after[key] <= used[key] + (1 << 20)
