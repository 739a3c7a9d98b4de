# SPDX-License-Identifier: Apache-2.0
"""Passes of backward through one graph: of several threads, and of one inside another."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, nd
from several_threads import together


def recorded():
    """A leaf, and two results whose histories have the most part in common."""
    leaf = nd.array(np.random.RandomState(0).rand(3, 4))
    leaf.attach_grad()
    with autograd.record():
        trunk = leaf
        for _ in range(20):
            trunk = nd.tanh(trunk) + leaf
        return leaf, [(trunk * trunk).sum(), nd.exp(trunk).sum()]


def gradients(heads, leaf):
    return [autograd.grad(head, [leaf], retain_graph=True)[0].asnumpy() for head in heads for _ in range(10)]


def test_threads_differentiate_one_graph_at_once():
    leaf, heads = recorded()
    alone = gradients(heads, leaf)
    for results in together(lambda i: gradients(heads if i % 2 else heads[::-1], leaf)):
        for result in results:
            assert any((result == expected).all() for expected in alone)


def test_a_pass_that_frees_the_graph_leaves_others_what_they_go_through():
    for _ in range(20):
        leaf, heads = recorded()
        alone = gradients(heads, leaf)

        def call(i, leaf=leaf, heads=heads):
            try:
                return autograd.grad(heads[i % 2], [leaf], retain_graph=bool(i // 2))[0].asnumpy()
            except mx.MXNetError as error:
                assert "freed by an earlier backward" in str(error) or "not in a computational graph" in str(error)
                return None

        results = together(call)
        assert any(result is not None for result in results)
        for i, result in enumerate(results):
            assert result is None or (result == alone[10 * (i % 2)]).all()


class SquareThatLooksBack(autograd.Function):
    """x * x; while it is differentiated it asks for the gradient of 5 x with respect to a leaf before x."""

    def __init__(self, leaf, retain_graph):
        super().__init__()
        self.leaf, self.retain_graph = leaf, retain_graph

    def forward(self, x):
        self.save_for_backward(x)
        return x * x

    def backward(self, dy):
        (x,) = self.saved_tensors
        with autograd.record():
            again = x * 5
        self.seen = autograd.grad(again, [self.leaf], retain_graph=self.retain_graph)[0].asnumpy()
        return 2 * x * dy


@pytest.mark.parametrize("inner", [False, True])
@pytest.mark.parametrize("outer", [False, True])
def test_a_pass_goes_on_inside_another_through_the_same_graph(outer, inner):
    leaf = nd.array([1.0, 2.0, 3.0])
    leaf.attach_grad()
    square = SquareThatLooksBack(leaf, inner)
    with autograd.record():
        x = nd.exp(leaf)
        total = square(x) + x
    total.backward(retain_graph=outer)
    powers = np.exp(np.array([1, 2, 3], np.float32))
    np.testing.assert_allclose(square.seen, 5 * powers, rtol=1e-6)
    np.testing.assert_allclose(leaf.grad.asnumpy(), 2 * powers**2 + powers, rtol=1e-6)


def test_what_a_pass_leaves_alone_is_freed_by_the_next():
    """As after one pass: the graph is gone when the outer one, which frees it, has ended."""
    leaf = nd.array([1.0])
    leaf.attach_grad()
    with autograd.record():
        x = nd.exp(leaf)
        total = SquareThatLooksBack(leaf, True)(x) + x
    total.backward()
    with pytest.raises(mx.MXNetError, match="not in a computational graph"):
        x.backward()
