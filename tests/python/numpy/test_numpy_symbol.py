# SPDX-License-Identifier: Apache-2.0
"""Symbols with NumPy's operators: the same functions as on arrays, in networks."""

import copy
import json
import pickle

import numpy as onp
import pytest

import mxnet as mx
from mxnet import np, npx, sym

# Expressions of x (2, 3) and y (3,) that are evaluated with F = mx.np, and with F = mx.sym.np and run as a network.
SAME = """
x + y
2 - x
x / 2
x % 2
x ** 2
2 ** x
-x
abs(x)
x @ x.T
x > y
x == 1
(x > 1) & (x < 4)
~(x > 1)
x[0]
x[0, 1:]
x[:, 1]
x[..., ]
x[None, 0]
x[-1]
x.T
x.reshape(3, 2)
x.reshape(-1)
x.sum(axis=1, keepdims=True)
x.mean()
x.std(ddof=1)
x.astype('int32')
x.copy()
x.flatten()
x.transpose(1, 0)
x.expand_dims(0)
x.clip(1, 3)
x.exp()
x.repeat(2, axis=1)
F.np.sin(x)
F.np.add(x, y)
F.np.maximum(x, 2.5)
F.np.concatenate([x, x], axis=1)
F.np.stack([x, x])
F.np.vstack([x, y])
F.np.split(x, 3, axis=1)[1]
F.np.split(x, [1], axis=1)[1]
F.np.array_split(x, 2)[0]
F.np.hsplit(x, 3)[2]
F.np.where(x > 1, x, 0.5)
F.np.where(x > 1, 0.5, x)
F.np.sum(x, axis=0)
F.np.max(x, axis=1)
F.np.cumsum(x, axis=0)
F.np.unique(x, return_counts=True)[1]
F.np.argsort(x)
F.np.take(x, y.astype('int32'), axis=1)
F.np.pad(x, ((1, 0), (0, 1)))
F.np.flip(x)
F.np.rot90(x)
F.np.resize(x, (4, 2))
F.np.tril(x)
F.np.dot(x, y)
F.np.tensordot(x, x, axes=2)
F.np.outer(y, y)
F.np.einsum('ij,j->i', x, y)
F.np.linalg.norm(x)
F.np.linalg.norm(x, axis=1)
F.np.linalg.norm(x, 'nuc')
F.np.linalg.norm(x, 1, axis=(0, 1))
F.np.linalg.svd(x)[1]
F.np.linspace(0, 1, 5) + F.np.zeros((2, 5))
F.np.full_like(x, 3)
F.np.around(x / 3, 2)
F.np.diff(x)
F.np.insert(y, 1, 9.0)
F.np.delete(y, 0)
F.np.unravel_index(y.astype('int32'), (2, 3))[1]
F.np.histogram(x, bins=3, range=(0, 5))[0]
F.np.atleast_2d(y)
F.np.diag_indices_from(x[:, :2])[0]
F.npx.softmax(x)
F.npx.relu(x - 2)
F.npx.one_hot(y.astype('int32'), depth=4)
F.npx.reshape(x, (-6, 1, 2, 3))
x.softmax()
x.one_hot(6)
""".strip().splitlines()


class Arrays:
    np, npx = np, npx


@pytest.fixture
def variables():
    return {name: sym.var(name).as_np_ndarray() for name in "xy"}


@pytest.mark.parametrize("expression", SAME)
def test_a_network_gives_what_the_function_gives(expression, variables):
    values = {"x": np.arange(6).reshape(2, 3), "y": np.array([0.0, 2.0, 1.0])}
    expected = eval(expression, {"F": Arrays, **values})
    network = eval(expression, {"F": sym, **variables})
    assert type(network) is sym.np._Symbol
    inputs = [values[name] for name in network.list_arguments()]
    actual = mx.nd.CachedOp(network)(*inputs)
    assert type(actual) is np.ndarray and actual.shape == expected.shape and actual.dtype == expected.dtype
    onp.testing.assert_allclose(actual.asnumpy(), expected.asnumpy(), rtol=1e-5)


def test_kinds_of_symbols(variables):
    x = variables["x"]
    legacy = x.as_nd_ndarray()
    assert type(legacy) is sym.Symbol and type(legacy.as_np_ndarray()) is type(x) is sym.np._Symbol
    assert x.as_np_ndarray() is x
    with pytest.raises(TypeError, match="legacy"):
        x + legacy  # pylint: disable=pointless-statement
    assert (x + legacy.as_np_ndarray()).list_arguments() == ["x"]  # the same variable, not another of its name


def test_hashed_by_identity(variables):
    x = variables["x"]
    assert {x: 1}[x] == 1


def test_names_are_the_functions(variables):
    x = variables["x"]
    with mx.name.NameManager():
        named = [sym.np.sum(x), x + 1, x * x, sym.npx.fully_connected(x, num_hidden=2), sym.np.zeros((2,)), sym.np.random.uniform()]
        assert [part.name for part in named] == ["sum0", "add_scalar0", "multiply0", "fully_connected0", "zeros0", "uniform0"]
    assert sym.npx.fully_connected(x, num_hidden=2, name="fc").list_arguments() == ["x", "fc_weight", "fc_bias"]
    assert sym.np.dot(x, x, name="d").name == "d"


def test_operators_in_files_are_the_registrys(variables):
    nodes = json.loads(sym.np.sum(variables["x"] * 2).tojson())["nodes"]
    assert [node["op"] for node in nodes] == ["null", "_npi_multiply_scalar", "_np_sum"]


def test_several_outputs_are_a_list(variables):
    parts = sym.np.split(variables["x"], 3)
    assert isinstance(parts, list) and [type(part) for part in parts] == [sym.np._Symbol] * 3
    assert isinstance(sym.np.atleast_1d(variables["x"], variables["y"]), list)


def test_shapes_are_inferred(variables):
    assert (variables["x"] @ variables["y"]).infer_shape(x=(0, 3), y=(3,))[1] == [(0,)]
    assert variables["x"].sum().infer_shape(x=(2, 3))[1] == [()]


def test_copies_keep_the_kind(variables):
    total = variables["x"].sum()
    for made in (copy.copy(total), copy.deepcopy(total), pickle.loads(pickle.dumps(total)), total.get_internals(), total(x=variables["y"])):
        assert type(made) is sym.np._Symbol


def test_what_needs_a_shape_says_so(variables):
    x = variables["x"]
    for call in (lambda: sym.np.nonzero(x), lambda: sym.np.random.choice(x), lambda: sym.np.linalg.norm(x, 1)):
        with pytest.raises(NotImplementedError, match="symbol"):
            call()
    with pytest.raises(NotImplementedError, match="no memory"):
        sym.np.sin(x, out=x)
    with pytest.raises(TypeError, match="given an index of type list"):
        x[[0, 1]]  # pylint: disable=pointless-statement
    with pytest.raises(TypeError, match="given list, expected symbols"):
        sym.np.sin([1])


def test_random_and_created_values_have_shape_and_type():
    network = sym.np.random.normal(size=(3, 2)) + sym.np.ones((3, 2)) + sym.np.arange(2)
    assert network.infer_shape()[1] == [(3, 2)]
    assert network.list_arguments() == []


def test_numbers_alone_need_no_network():
    assert sym.np.add(1, 2) == 3 and sym.np.sin(1) == onp.sin(1)


def test_blocks_use_the_functions_of_their_inputs():
    class Block(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.np.concatenate([F.npx.relu(x), F.np.sum(x, axis=1, keepdims=True)], axis=1) * 2

    block = Block()
    x = np.array([[1.0, -2.0], [3.0, 4.0]])
    eager = block(x)
    block.hybridize()
    compiled = block(x)
    assert type(eager) is type(compiled) is np.ndarray
    assert eager.tolist() == compiled.tolist() == [[2, 0, -2], [6, 8, 14]]


def test_absolute_values_are_named_as_by_the_release():
    x = mx.sym.var("x").as_np_ndarray()
    with mx.name.NameManager():
        assert [getattr(mx.sym.np, name)(x).name for name in ("abs", "absolute", "fabs")] == ["abs0", "absolute0", "abs1"]
