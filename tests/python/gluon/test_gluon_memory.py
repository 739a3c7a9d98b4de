# SPDX-License-Identifier: Apache-2.0
"""Long training keeps the process's memory flat, and blocks that are gone leave nothing behind."""

import gc
import weakref

import numpy as np
import pytest
from process_memory import resident

import mxnet as mx
from mxnet import gluon
from mxnet.gluon import nn

STEPS = 2_000
SIZES = np.random.RandomState(1).randint(1, 33, STEPS)
# What is lost in each step grows every run; what an allocator or a thread takes for once grows one.
RUNS = 6
ALLOWED_BYTES = STEPS << 10


def assert_flat(step):
    """Runs a step for each size, again and again: there is a run after which the process holds what it held before."""
    grown = []
    for run in range(RUNS):
        before = resident()
        for size in SIZES:
            step(int(size))
        mx.nd.waitall()
        gc.collect()
        grown.append((resident() - before) >> 10)
        if run > 0 and grown[-1] << 10 < ALLOWED_BYTES:  # in the first one shapes are new and pools empty
            return
    pytest.fail(f"{grown} KiB more after each {STEPS} steps")


@pytest.mark.parametrize("hybrid", [True, False])
def test_training_with_changing_shapes_keeps_memory_flat(hybrid):
    net = nn.HybridSequential()
    net.add(nn.Dense(16, activation="relu", flatten=False), nn.Dense(4, flatten=False))
    net.initialize()
    if hybrid:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam")
    loss_of = gluon.loss.L2Loss()

    def step(size):
        x = mx.nd.ones((size, 8))
        with mx.autograd.record():
            loss = loss_of(net(x), mx.nd.zeros((size, 4)))
        loss.backward()
        trainer.step(size)

    assert_flat(step)


def test_a_module_whose_batches_change_keeps_memory_flat():
    data = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=8, name="hidden")
    symbol = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.relu(data), num_hidden=3, name="out"), name="softmax")
    module = mx.mod.Module(symbol)
    module.bind([("data", (32, 4))], [("softmax_label", (32,))])
    module.init_params()
    module.init_optimizer(optimizer="adam")

    def step(size):
        size = 1 + size // 4  # each change binds anew
        batch = mx.io.DataBatch(data=[mx.nd.ones((size, 4))], label=[mx.nd.zeros(size)])
        module.forward_backward(batch)
        module.update()

    assert_flat(step)


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


def test_inputs_are_not_kept_alive(collector_off):
    net = nn.Dense(2, in_units=1000)
    net.initialize()
    net.hybridize()

    def requested():
        mx.nd.waitall()
        return mx.current_context().memory_stats()["requested"]

    for _ in range(3):
        net(mx.nd.ones((1000, 1000)))
    before = requested()
    big = [mx.nd.ones((1000, 1000)) for _ in range(4)]
    for array in big:
        net(array)
    assert requested() >= before + 4 * 4_000_000
    del big, array
    assert requested() == before


SIDE = 2048  # of a weight of 16 MiB


def load_into_block(path):
    net = nn.Dense(SIDE, use_bias=False, in_units=SIDE)
    net.load_parameters(path + ".params")
    return net.weight


def load_into_dictionary(path):
    params = gluon.ParameterDict()
    weight = params.get("weight", shape=(SIDE, SIDE))
    params.load(path + ".params", ctx=mx.cpu())
    return weight


def load_with_a_graph(path):
    return gluon.SymbolBlock.imports(path + "-symbol.json", ["data"], path + ".params").params["weight"]


@pytest.mark.parametrize("load", [load_into_block, load_into_dictionary, load_with_a_graph])
def test_what_a_file_holds_is_in_memory_once(load, tmp_path):
    path = str(tmp_path / "net")
    expected = np.random.RandomState(2).rand(SIDE, SIDE).astype("float32")
    mx.nd.save(path + ".params", {"weight": mx.nd.array(expected)})
    data, weight = mx.sym.var("data"), mx.sym.var("weight")
    mx.sym.FullyConnected(data, weight, num_hidden=SIDE, no_bias=True).save(path + "-symbol.json")
    gc.collect()
    mx.nd.waitall()
    mx.cpu().empty_cache()
    mx.cpu().reset_peak_memory_stats()
    before, process = mx.cpu().memory_stats(), resident()
    parameter = load(path)
    assert parameter.grad().shape == expected.shape
    mx.nd.waitall()
    after = mx.cpu().memory_stats()
    # A value, and a gradient that nobody has written yet: a block that a copy has left would have to be filled.
    assert after["requested"] - before["requested"] == 2 * expected.nbytes
    assert after["peak_in_use"] - before["in_use"] < 2.5 * expected.nbytes
    assert resident() - process < 1.5 * expected.nbytes
    np.testing.assert_array_equal(parameter.data().asnumpy(), expected)
    assert not parameter.grad().asnumpy().any()
