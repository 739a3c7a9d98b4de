# SPDX-License-Identifier: Apache-2.0
"""Threads that share blocks and parameters, from the first call on."""

import threading

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn
from several_threads import together


class Watched(mx.initializer.Initializer):
    """Makes ones, and shows that it has begun; goes on when another thread has ended, or after a while if that one waits."""

    def __init__(self):
        super().__init__()
        self.calls = 0
        self.begun, self.other_ended = threading.Event(), threading.Event()

    def _init_weight(self, name, array):
        self.calls += 1
        self.begun.set()
        self.other_ended.wait(0.3)
        array[:] = 1


@pytest.mark.parametrize("hybrid", [False, True])
def test_a_thread_waits_while_another_makes_the_first_arrays(hybrid):
    watched = Watched()
    block = nn.Dense(2, weight_initializer=watched)
    block.initialize()
    block.hybridize(hybrid)
    x = nd.ones((1, 3))

    def call(i):
        if i == 1:
            watched.begun.wait()
        try:
            return block(x).asnumpy()
        finally:
            if i == 1:
                watched.other_ended.set()

    assert [result.tolist() for result in together(call, 2)] == [[[3, 3]], [[3, 3]]]
    assert watched.calls == 1


def test_a_failed_initializer_lets_others_go_on():
    class Failing(mx.initializer.Initializer):
        def _init_weight(self, name, array):
            raise OSError("no values")

    block = nn.Dense(2, weight_initializer=Failing())
    block.initialize()
    with pytest.raises(OSError, match="no values"):
        block(nd.ones((1, 3)))
    other = nn.Dense(2)
    other.initialize()
    x = nd.ones((1, 3))
    assert together(lambda i: other(x).shape) == [(1, 2)] * 4


def network(hybrid):
    net = nn.HybridSequential()
    for _ in range(4):
        net.add(nn.Dense(8, activation="relu"), nn.BatchNorm(), nn.Dense(3, flatten=False))
    net.initialize()
    net.hybridize(hybrid)
    return net


@pytest.mark.parametrize("hybrid", [False, True])
def test_first_calls_and_their_gradients_at_once_are_those_of_one_thread(hybrid):
    x = nd.array(np.random.RandomState(0).rand(4, 5))
    for _ in range(8):
        net = network(hybrid)

        def call(_, net=net):
            with autograd.record(train_mode=False):
                loss = (net(x) ** 2).sum()
            learned = [p.data() for p in net.collect_params().values() if p.grad_req != "null"]
            return [loss.asnumpy(), *(gradient.asnumpy() for gradient in autograd.grad(loss, learned))]

        results = together(call)
        alone = call(0)
        for result in results:
            for got, expected in zip(result, alone):
                np.testing.assert_array_equal(got, expected)


def test_a_parameter_has_one_variable_for_all_threads():
    for _ in range(50):
        parameter = gluon.Parameter("w", shape=(3,))
        assert len({id(variable) for variable in together(lambda i, p=parameter: p.var())}) == 1


def test_parameters_are_collected_while_another_thread_sets_an_attribute():
    class Interrupted(list):
        """Lets another thread's forward() keep something in the block, whenever it is looked at."""

        def __len__(self):
            together(lambda i: setattr(block, f"kept_{len(vars(block))}", i), 1)
            return 0

    block = nn.Dense(2, in_units=3)
    block.layers = Interrupted()
    assert len(block.collect_params()) == 2
    assert sum(name.startswith("kept_") for name in vars(block)) == 1


@pytest.mark.parametrize("modifier", [gluon.rnn.ResidualCell, gluon.rnn.ZoneoutCell])
def test_threads_share_a_cell_inside_another(modifier):
    cell = modifier(gluon.rnn.GRUCell(3, input_size=3))
    cell.initialize()
    x = nd.array(np.random.RandomState(0).rand(2, 5, 3))
    results = together(lambda i: cell.unroll(5, x, merge_outputs=True)[0].asnumpy())
    for result in results:
        np.testing.assert_array_equal(result, results[0])
    with pytest.raises(AssertionError, match="inside a modifier cell"):
        cell.base_cell.begin_state(2)
