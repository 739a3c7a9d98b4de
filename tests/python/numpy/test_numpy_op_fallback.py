# SPDX-License-Identifier: Apache-2.0
"""Operators of networks that run in NumPy."""

import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, np, numpy_op_fallback, sym


def run(network, *inputs):
    return mx.nd.CachedOp(network)(*inputs)


@pytest.fixture
def x():
    return sym.var("x").as_np_ndarray()


def test_resize_repeats_and_cuts(x):
    values = np.arange(6).reshape(2, 3)
    for shape in [(2, 2), (3, 3), 7]:
        assert run(sym.np.resize(x, shape), values).tolist() == onp.resize(values.asnumpy(), shape).tolist()


def test_the_gradient_of_resize_adds_up(x):
    values = np.array([1.0, 2.0, 3.0])
    values.attach_grad()
    network = mx.nd.CachedOp(sym.np.resize(x, (7,)))
    with autograd.record():
        y = network(values)
    y.backward(np.arange(7))
    assert values.grad.tolist() == [0 + 3 + 6, 1 + 4, 2 + 5]


def test_places_become_rows(x):
    numpy_op_fallback.Unravel_indexProp("(2, 3)")
    made = sym.np._internal.unravel_index_fallback(x, shape=(2, 3))
    assert run(made, np.array([1.0, 5.0])).tolist() == [[0, 1], [1, 2]]
    assert mx.nd.numpy._internal.unravel_index_fallback(np.array([4.0]), shape=(2, 3)).tolist() == [[1], [1]]


def test_empty_like_has_shape_and_type(x):
    made = mx.nd.numpy._internal.empty_like_fallback(np.ones((2, 3)), dtype="int32", order="C", subok=False, shape=None)
    assert made.shape == (2, 3) and made.dtype == onp.int32


def test_multivariate_normal_draws(x):
    network = sym.np.random.multivariate_normal(x, sym.var("c").as_np_ndarray(), size=(500,))
    draws = run(network, np.array([3.0, -3.0]), np.eye(2)).asnumpy()
    assert draws.shape == (500, 2) and abs(draws.mean(axis=0) - [3, -3]).max() < 0.3


def test_operators_of_ones_own():
    @numpy_op_fallback.register("twice_fallback", symbolic=False)
    class TwiceProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Twice()

    class Twice(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], in_data[0] * 2)

    assert TwiceProp.__name__ == "TwiceProp"
    assert mx.nd.numpy._internal.twice_fallback(np.ones(2)).tolist() == [2, 2]
    assert not hasattr(sym.np._internal, "twice_fallback")
