# SPDX-License-Identifier: Apache-2.0
"""mx.nd.contrib: loops and branches, and updates with a gradient scale that is an array."""

import mxnet as mx
import numpy as np
import pytest

nd = mx.nd


def test_foreach_stacks_outputs_and_hands_states_on():
    outputs, state = nd.contrib.foreach(lambda x, s: (x + s, x * s), nd.arange(3), nd.array([1.0]))
    assert outputs.asnumpy().tolist() == [[1], [1], [2]] and state.asnumpy().tolist() == [0]


def test_foreach_takes_nested_lists():
    data, states = [nd.arange(4), [nd.arange(4) * 2]], [nd.zeros(1)]
    outputs, states = nd.contrib.foreach(lambda x, s: ([x[0], [x[1][0] + s[0]]], [s[0] + x[0]]), data, states)
    assert outputs[0].asnumpy().ravel().tolist() == [0, 1, 2, 3]
    assert outputs[1][0].asnumpy().ravel().tolist() == [0, 2, 5, 9] and states[0].asscalar() == 6


def test_foreach_is_differentiable():
    x = nd.array([[1.0], [2.0], [3.0]])
    x.attach_grad()
    with mx.autograd.record():
        _, product = nd.contrib.foreach(lambda row, s: (row, row * s), x, nd.ones(1))
    product.backward()
    np.testing.assert_allclose(x.grad.asnumpy().ravel(), [6, 3, 2])


def test_while_loop_ends_by_its_condition_or_count():
    def run(limit, most):
        return nd.contrib.while_loop(
            lambda i, s: i <= limit, lambda i, s: ([i * 2, s], [i + 1, s + i]), [nd.ones(1), nd.zeros(1)], max_iterations=most
        )

    outputs, (i, s) = run(3, 5)
    assert outputs[0].asnumpy().ravel().tolist() == [2, 4, 6, 0, 0]  # zeros for what was not run
    assert i.asscalar() == 4 and s.asscalar() == 6
    outputs, (i, _) = run(100, 2)
    assert outputs[0].shape == (2, 1) and i.asscalar() == 3
    assert run(0, 5)[0] == []


def test_cond_runs_one_branch():
    ran = []
    result = nd.contrib.cond(nd.ones(1), lambda: ran.append("then") or nd.ones(1), lambda: ran.append("else") or nd.zeros(1))
    assert result.asscalar() == 1 and ran == ["then"]


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="max_iterations"):
        nd.contrib.while_loop(lambda i: i < 1, lambda i: (i, i), nd.zeros(1))
    with pytest.raises(ValueError, match="2 new loop_vars, expected 1"):
        nd.contrib.while_loop(lambda i: i < 1, lambda i: (i, [i, i]), nd.zeros(1), max_iterations=2)
    with pytest.raises(TypeError, match="int"):
        nd.contrib.foreach(lambda x, s: (x, s), nd.arange(3), 3)


def test_kinds_of_numbers():
    x = nd.array([1, np.nan, np.inf, -np.inf])
    assert nd.contrib.isnan(x).asnumpy().tolist() == [0, 1, 0, 0]
    assert nd.contrib.isinf(x).asnumpy().tolist() == [0, 0, 1, 1]
    assert nd.contrib.isfinite(x).asnumpy().tolist() == [1, 0, 0, 0]


def test_zipfian_classes_are_those_of_the_reference():
    mx.random.seed(1)  # values of the reference 1.9.1
    sampled, true, drawn = nd.contrib.rand_zipfian(nd.array([3]), 4, 5)
    assert sampled.asnumpy().tolist() == [0, 1, 2, 4] and sampled.dtype == np.int64
    np.testing.assert_allclose(true.asnumpy(), [0.49815515], rtol=1e-7)
    np.testing.assert_allclose(drawn.asnumpy(), [1.54741123, 0.90517754, 0.64223369, 0.40702239], rtol=1e-7)


@pytest.mark.parametrize("scale", [1.0, nd.array([1.0])])
def test_adamw_takes_a_number_or_an_array_as_scale(scale):
    weight, grad, mean, var = nd.ones(2), nd.ones(2), nd.zeros(2), nd.zeros(2)
    nd.contrib.adamw_update(weight, grad, mean, var, scale, 0.1, 1.0, out=weight)
    np.testing.assert_allclose(weight.asnumpy(), [0.68377024] * 2, rtol=1e-6)  # of the reference 1.9.1


def test_several_weights_at_once_equal_each_alone():
    def arrays():
        random = np.random.RandomState(3)
        return [[nd.array(random.rand(n)) for n in (2, 3)] for _ in range(4)]

    alone, together = arrays(), arrays()
    for weight, grad, mean, var in zip(*alone):
        nd.contrib.adamw_update(weight, grad, mean, var, 1.0, 0.1, 0.5, wd=0.01, out=weight)
    nd.contrib.multi_adamw_update(*together, 1.0, [0.1] * 2, [0.01] * 2, [0.5] * 2, out=together[0])
    for a, b in zip(alone[0], together[0]):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-6)


@pytest.mark.parametrize("mixed", [False, True])
def test_lamb_of_several_weights_equals_its_phases_on_each(mixed):
    random = np.random.RandomState(3)
    weights, grads, means, variances = ([nd.array(random.rand(n), dtype="float32") for n in (2, 3)] for _ in range(4))
    expected = []
    for weight, grad, mean, var, step in zip(weights, grads, means, variances, (1, 4)):
        change = nd.lamb_update_phase1(weight, grad.copy(), mean.copy(), var.copy(), wd=0.01, t=step)
        expected.append(nd.lamb_update_phase2(weight, change, weight.norm(), change.norm(), lr=0.1).asnumpy())
    given = [weights, grads, means, variances]
    if mixed:
        given = [[array.astype("float16") for array in weights], [array.astype("float16") for array in grads], means, variances, weights]
    update = nd.contrib.multi_mp_lamb_update if mixed else nd.contrib.multi_lamb_update
    update(*given, [1, 4], [0.1] * 2, [0.01] * 2, out=given[0])
    for found, kept, values in zip(given[0], weights, expected):
        np.testing.assert_allclose(found.asnumpy(), values, rtol=2e-3 if mixed else 1e-6)
        np.testing.assert_allclose(kept.asnumpy(), values, rtol=1e-3 if mixed else 1e-6)  # halves of gradients


def test_sparse_arithmetic_stays_sparse():
    csr = nd.array([[1, 0], [0, 2]]).tostype("csr")
    rows = nd.array([[1, 0], [0, 0]]).tostype("row_sparse")
    for made, stype, values in (
        (csr + csr, "csr", [[2, 0], [0, 4]]),
        (csr - csr, "csr", [[0, 0], [0, 0]]),
        (csr * 2, "csr", [[2, 0], [0, 4]]),
        (csr / 2, "csr", [[0.5, 0], [0, 1]]),
        (rows + rows, "row_sparse", [[2, 0], [0, 0]]),
        (nd.sparse.multiply(csr, csr), "csr", [[1, 0], [0, 4]]),
        (csr + nd.ones((2, 2)), "default", [[2, 1], [1, 3]]),
        (nd.ones((2, 2)) - csr, "default", [[0, 1], [1, -1]]),
    ):
        assert made.stype == stype and made.asnumpy().tolist() == values
    assert csr.astype("float64").dtype == np.float64 and csr.astype("float64").stype == "csr"
    with pytest.raises(NotImplementedError, match="data.size"):
        csr.size
