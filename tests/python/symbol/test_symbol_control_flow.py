# SPDX-License-Identifier: Apache-2.0
"""Loops and branches in networks: they give what the same loops give on arrays, gradients included."""

import mxnet as mx
import numpy as np
import pytest
from mxnet import autograd, gluon

SEED = 11


def run(network, **values):
    """Outputs, and gradients of their sum, of a network with these values."""
    arrays = {name: mx.nd.array(value) for name, value in values.items()}
    gradients = {name: mx.nd.zeros(array.shape) for name, array in arrays.items()}
    executor = network.bind(mx.cpu(), arrays, args_grad=gradients)
    outputs = executor.forward(is_train=True)
    executor.backward([mx.nd.ones(output.shape) for output in outputs])
    return [o.asnumpy() for o in outputs], {name: g.asnumpy() for name, g in gradients.items()}


def variables(names):
    return [mx.sym.var(name) for name in names.split()]


def test_foreach_gives_the_numbers_of_the_reference():
    data, state, weight = variables("data state weight")
    out, last = mx.sym.contrib.foreach(lambda x, s: (x * weight + s, x * s), data, state)
    network = mx.sym.Group([out, last])
    outputs, gradients = run(network, data=[[1, 2], [3, 4], [5, 6]], state=[1, 2], weight=[0.5, 2])
    np.testing.assert_allclose(outputs[0], [[1.5, 6], [2.5, 12], [5.5, 28]])
    np.testing.assert_allclose(outputs[1], [15, 96])
    np.testing.assert_allclose(gradients["data"], [[19.5, 60], [6.5, 30], [3.5, 18]])
    np.testing.assert_allclose(gradients["state"], [20, 59])
    np.testing.assert_allclose(gradients["weight"], [9, 12])
    assert network.infer_shape(data=(3, 2), state=(2,))[1] == [(3, 2), (2,)]
    again, _ = run(mx.sym.load_json(network.tojson()), data=[[1, 2], [3, 4], [5, 6]], state=[1, 2], weight=[0.5, 2])
    np.testing.assert_allclose(again[0], outputs[0])


def test_foreach_of_nests_with_a_state_that_the_body_does_not_read():
    a, b, s, t = variables("a b s t")
    out, last = mx.sym.contrib.foreach(lambda x, states: ([x[0], [x[1] * 2]], [x[0], states[1]]), [a, b], [s, t])
    network = mx.sym.Group([out[0], out[1][0], *last])
    ones, zeros = np.ones((3, 2)), np.zeros(2)
    outputs, gradients = run(network, a=ones * [[1], [2], [3]], b=ones, s=zeros, t=zeros + 7)
    np.testing.assert_allclose(outputs[0], [[1, 1], [2, 2], [3, 3]])
    np.testing.assert_allclose(outputs[1], ones * 2)
    np.testing.assert_allclose(outputs[2], [3, 3])
    np.testing.assert_allclose(outputs[3], [7, 7])
    np.testing.assert_allclose(gradients["a"], [[1, 1], [1, 1], [2, 2]])
    np.testing.assert_allclose(gradients["s"], zeros)


def test_while_loop_stops_at_its_condition_and_fills_with_zeros():
    i, s = variables("i s")
    out, last = mx.sym.contrib.while_loop(lambda i, s: i <= 5, lambda i, s: (i * s, [i + 1, s * i]), [i, s], max_iterations=7)
    outputs, gradients = run(mx.sym.Group([out, *last]), i=[1], s=[2])
    np.testing.assert_allclose(outputs[0].ravel(), [2, 4, 12, 48, 240, 0, 0])
    np.testing.assert_allclose([outputs[1], outputs[2]], [[6], [240]])
    np.testing.assert_allclose([gradients["i"], gradients["s"]], [[1227], [273]])  # the reference's


def test_while_loop_reads_the_network_around_it():
    i, limit, step = variables("i limit step")
    out, last = mx.sym.contrib.while_loop(lambda i: i < limit * 2, lambda i: (i, i + step), i, max_iterations=5)
    outputs, gradients = run(mx.sym.Group([out, last]), i=[0], limit=[2], step=[1.5])
    np.testing.assert_allclose(outputs[0].ravel(), [0, 1.5, 3, 0, 0])
    np.testing.assert_allclose(outputs[1], [4.5])
    np.testing.assert_allclose(gradients["step"], [0 + 1 + 2 + 3])


@pytest.mark.parametrize("times", [0, 1, 3])
def test_while_loop_fills_shapes_that_only_values_tell(times):
    """What boolean_mask leaves is not known before an iteration has run."""
    i, x, limit = variables("i x limit")
    out, _ = mx.sym.contrib.while_loop(lambda i: i < limit, lambda i: (mx.sym.contrib.boolean_mask(x, x > 0), [i + 1]), [i], max_iterations=3)
    symbol = mx.sym.Group(out) if isinstance(out, list) else out
    values = {"i": mx.nd.zeros(1), "x": mx.nd.array([5, 0, 7]), "limit": mx.nd.full(1, times)}
    executor = symbol.bind(mx.cpu(), {name: values[name] for name in symbol.list_arguments()})
    if times == 0:
        with pytest.raises(ValueError, match="expected one iteration at least"):
            executor.forward()
    else:
        expected = [[5, 7]] * times + [[0, 0]] * (3 - times)
        np.testing.assert_array_equal(executor.forward()[0].asnumpy(), expected)


@pytest.mark.parametrize("a, b, value, by_a, by_b", [(1, 2, 42, 7, 6), (3, 4, 2, -1, -2)])
def test_cond_runs_one_branch(a, b, value, by_a, by_b):
    first, second = variables("a b")
    chosen = mx.sym.contrib.cond(
        first * second < 5, lambda: (first + 5) * (second + 5), lambda: (first - 5) * (second - 5)
    )
    outputs, gradients = run(chosen, a=[a], b=[b])
    assert (outputs[0].item(), gradients["a"].item(), gradients["b"].item()) == (value, by_a, by_b)


def test_a_loop_in_a_loop():
    data, state = variables("data state")

    def row(x, s):
        inner, _ = mx.sym.contrib.foreach(lambda y, t: (y * s, t + y), x, mx.sym.zeros((1,)))
        return inner, s + mx.sym.sum(inner)

    out, last = mx.sym.contrib.foreach(row, data, state)
    outputs, _ = run(mx.sym.Group([out, last]), data=[[1, 2], [3, 4]], state=[1])
    np.testing.assert_allclose(outputs[0].reshape(2, 2), [[1, 2], [12, 16]])
    np.testing.assert_allclose(outputs[1], [32])


class Recurrent(gluon.HybridBlock):
    """A layer in a loop, a loop with a condition, and a branch."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.dense = gluon.nn.Dense(2, in_units=2, flatten=False)

    def hybrid_forward(self, F, x, state):
        out, last = F.contrib.foreach(lambda item, s: (self.dense(item) + s, s * 2), x, state)
        grown, _ = F.contrib.while_loop(lambda v: F.sum(v) < 60, lambda v: (v, v * 2), last, max_iterations=3)
        chosen = F.contrib.cond(F.sum(state) > 3, lambda: state * 3, lambda: state + 1)
        return out, F.sum(grown, axis=0), chosen


def test_a_block_gives_the_same_eager_and_hybridized():
    results = []
    for hybrid in (False, True):
        mx.random.seed(SEED)
        block = Recurrent()
        block.initialize(mx.init.Uniform(1))
        if hybrid:
            block.hybridize()
        x, state = mx.nd.arange(12).reshape((3, 2, 2)), mx.nd.ones((2, 2))
        x.attach_grad()
        state.attach_grad()
        with autograd.record():
            outputs = block(x, state)
            total = sum((output * output).sum() for output in outputs)
        total.backward()
        results.append([*outputs, x.grad, state.grad, block.dense.weight.grad()])
    for eager, hybridized in zip(*results):
        np.testing.assert_allclose(eager.asnumpy(), hybridized.asnumpy(), rtol=1e-5, err_msg=f"seed {SEED}")


def test_what_does_not_fit_is_refused():
    x, y = variables("x y")
    with pytest.raises(ValueError, match="given 0 new states, expected 1"):
        mx.sym.contrib.foreach(lambda a, b: (a, []), x, y)
    with pytest.raises(ValueError, match="no max_iterations"):
        mx.sym.contrib.while_loop(lambda a: a, lambda a: (a, a), x)
    with pytest.raises(ValueError, match="given 1 outputs of then_func and 2 of else_func"):
        mx.sym.contrib.cond(x, lambda: y, lambda: [y, y])
    with pytest.raises(TypeError, match="given int"):
        mx.sym.contrib.foreach(lambda a, b: (1, b), x, y)


def test_an_error_in_the_body_names_the_loop_and_the_node_in_it():
    def body(row, states):
        return mx.sym.reshape(row, shape=(7,), name="inner"), states

    outputs, _ = mx.sym.contrib.foreach(body, mx.sym.var("rows"), [mx.sym.var("state")])
    with pytest.raises(ValueError, match=r"\[_foreach\d+\(_foreach\)\] inner\(Reshape\): given 'data' of shape \(4,\)"):
        outputs.infer_shape(rows=(3, 4), state=(1,))
