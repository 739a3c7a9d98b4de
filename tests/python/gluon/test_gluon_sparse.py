# SPDX-License-Identifier: Apache-2.0
"""Row_sparse gradients of hybridized blocks: the rows and numbers of the same block run call by call, without a dense copy."""

import json

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon
from mxnet.gluon import nn

ROWS, WIDTH = 50, 4


def table():
    return nn.Embedding(ROWS, WIDTH, sparse_grad=True, weight_initializer=mx.init.Uniform(1))


class Once(gluon.HybridBlock):
    """A table behind which comes a network."""

    def __init__(self):
        super().__init__()
        self.words = table()
        self.dense = nn.Dense(3, in_units=2 * WIDTH, weight_initializer=mx.init.Uniform(1))

    def hybrid_forward(self, F, x):
        return F.tanh(self.dense(self.words(x)))


class Twice(Once):
    """One table read at two places: its gradient is a sum of row_sparse ones."""

    def hybrid_forward(self, F, x):
        reversed_words = F.tanh(self.words(F.reverse(x, axis=1)))
        return self.dense(reversed_words * 2 + self.words(x))


class Computed(Once):
    """Positions that are computed themselves."""

    def hybrid_forward(self, F, x):
        first, second = F.split(x, num_outputs=2, axis=1)
        return self.dense(F.concat(self.words(first), self.words(F.abs(second - 7)), dim=1))


class Tied(Once):
    """The table is the matrix of a dense layer as well, whose gradient is dense."""

    def __init__(self):
        super().__init__()
        self.scores = nn.Dense(ROWS, in_units=WIDTH, use_bias=False, params=self.words.params)

    def hybrid_forward(self, F, x):
        words = self.words(x)
        return self.dense(words), self.scores(words.sum(axis=1))


class TwoTables(Once):
    """Tables with and without row_sparse gradients, one of which is an output as it is."""

    def __init__(self):
        super().__init__()
        self.others = nn.Embedding(ROWS, WIDTH, weight_initializer=mx.init.Uniform(1))
        self.third = table()

    def hybrid_forward(self, F, x):
        return self.dense(self.words(x) * self.others(x)), self.third(x)


NETWORKS = [Once, Twice, Computed, Tied, TwoTables]


def gradients(network, hybridize, request="write", passes=1, retain=False, **flags):
    mx.random.seed(3)
    net = network()
    net.initialize()
    net(mx.nd.zeros((1, 2)))
    if request == "add":
        for parameter in net.collect_params().values():
            parameter.grad_req = "add"
    if hybridize:
        net.hybridize(**flags)
    rng = np.random.RandomState(1)
    for _ in range(passes):
        x = mx.nd.array(rng.randint(0, ROWS, (6, 2)))
        with mx.autograd.record():
            y = net(x)
            heads = y if isinstance(y, (list, tuple)) else [y]
            loss = sum((head * head).sum() for head in heads)
        loss.backward(retain_graph=retain)
        if retain:
            loss.backward()
    found = {}
    for name, parameter in net._collect_params_with_prefix().items():
        grad = parameter.grad()
        rows = grad.indices.asnumpy() if grad.stype == "row_sparse" else None
        found[name] = grad.stype, rows, grad.tostype("default").asnumpy()
    return found


def assert_same(got, expected):
    assert got.keys() == expected.keys()
    for name, (stype, rows, values) in expected.items():
        assert got[name][0] == stype, name
        if rows is not None:
            np.testing.assert_array_equal(got[name][1], rows, err_msg=name)
        np.testing.assert_allclose(got[name][2], values, rtol=1e-5, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("flags", [{}, {"static_alloc": True, "static_shape": True}], ids=["plain", "static"])
@pytest.mark.parametrize("request_", ["write", "add"])
@pytest.mark.parametrize("network", NETWORKS)
def test_gradients_are_those_of_single_calls(network, request_, flags):
    for passes in (1, 3):
        single = gradients(network, False, request_, passes)
        assert_same(gradients(network, True, request_, passes, **flags), single)


@pytest.mark.parametrize("network", NETWORKS)
def test_gradients_of_a_graph_that_is_kept(network):
    assert_same(gradients(network, True, "add", 2, retain=True), gradients(network, False, "add", 2, retain=True))


def swing(step, file):
    """By how many bytes the memory in use differs while `step` runs."""
    mx.nd.waitall()
    mx.profiler.set_config(profile_memory=True, aggregate_stats=True, filename=str(file))
    mx.profiler.set_state("run")
    step()
    mx.nd.waitall()
    told = json.loads(mx.profiler.dumps(reset=True, format="json"))["Memory"]["Device Storage"]
    mx.profiler.set_state("stop")
    return max(of_device["Max"] - of_device["Min"] for of_device in told.values()) * 1000


def test_a_dense_gradient_of_one_table_leaves_those_of_others_sparse(tmp_path, collector_off):
    rows = 200_000

    class Both(Tied):
        def __init__(self):
            super().__init__()
            self.large = nn.Embedding(rows, 64, sparse_grad=True)

        def hybrid_forward(self, F, x):
            return [*super().hybrid_forward(F, x), self.large(x)]

    net = Both()
    net.initialize()
    net.hybridize()
    x = mx.nd.array([[1, 3], [7, 7]])

    def step():
        with mx.autograd.record():
            loss = sum(head.sum() for head in net(x))
        loss.backward()

    step()
    assert 0 < swing(step, tmp_path / "profile.json") < rows * 64
    assert net.large.weight.grad().indices.asnumpy().tolist() == [1, 3, 7]


def test_no_array_as_large_as_the_table_is_made(tmp_path, collector_off):
    rows = 200_000
    net = nn.HybridSequential()
    net.add(nn.Embedding(rows, 64, sparse_grad=True), nn.Dense(3, in_units=2 * 64), nn.Activation("tanh"))
    net.initialize()
    net.hybridize()
    x = mx.nd.array([[1, rows - 1], [7, 7]])

    def step():
        with mx.autograd.record():
            loss = net(x).sum()
        loss.backward()

    step()
    assert 0 < swing(step, tmp_path / "profile.json") < rows * 64
    grad = net[0].weight.grad()
    assert grad.indices.asnumpy().tolist() == [1, 7, rows - 1]


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
@pytest.mark.parametrize("static", [False, True])
def test_a_sparse_head_gradient_is_that_of_the_same_numbers(stype, static):
    net = nn.HybridSequential()
    net.add(nn.Dense(4, in_units=3, activation="tanh"), nn.Dense(2, in_units=4))
    net.initialize()
    net.hybridize(static_alloc=static, static_shape=static)
    x, head = mx.nd.arange(6).reshape((2, 3)), mx.nd.array([[0, 0], [3, -1]])
    x.attach_grad()
    found = []
    for grad in (head, head.tostype(stype)):
        with mx.autograd.record():
            y = net(x)
        y.backward(grad)
        found.append([x.grad.asnumpy(), *(p.grad().asnumpy() for p in net.collect_params().values())])
    for dense, sparse in zip(*found):
        np.testing.assert_array_equal(sparse, dense)


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
@pytest.mark.parametrize("flags", [{}, {"static_alloc": True}, {"static_alloc": True, "static_shape": True}, {"inline_limit": 0}])
def test_a_network_of_dense_arrays_may_have_sparse_results(stype, flags):
    class Stored(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.abs(F.cast_storage(x * 2, stype)), x + 1

    net = Stored()
    net.hybridize(**flags)
    x = mx.nd.array([[0, -1, 2], [0, 0, 0], [3, 0, 0]])
    x.attach_grad()
    for recorded in (False, True):
        with mx.autograd.record() if recorded else mx.autograd.pause():
            stored, dense = net(x)
        assert (stored.stype, dense.stype) == (stype, "default")
        np.testing.assert_array_equal(stored.asnumpy(), np.abs(2 * x.asnumpy()))
        np.testing.assert_array_equal(dense.asnumpy(), x.asnumpy() + 1)
    dense.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), np.ones((3, 3)))
