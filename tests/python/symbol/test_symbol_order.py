# SPDX-License-Identifier: Apache-2.0
"""Executors in the order of the graph: averages that move, states and gradients that are written over what others read, masks
that are drawn."""

import mxnet as mx
import numpy as np
import pytest


VARIABLES = {name: mx.sym.var(name) for name in ("x", "y", "z", "g", "b", "mean", "variance")}


def normed(name):
    """One layer of normalization: all calls share its averages."""
    return mx.sym.BatchNorm(*(VARIABLES[each] for each in (name, "g", "b", "mean", "variance")), momentum=0.5, fix_gamma=False)


def trained_once(symbol, **more):
    """Gradients and averages after a step on x and z."""
    x = np.arange(12, dtype="float32").reshape(4, 3)
    arrays = {"x": x, "z": 3 * x + 1, "g": np.ones(3), "b": np.zeros(3), **more}
    arrays = {name: mx.nd.array(arrays[name]) for name in symbol.list_arguments()}
    grads = {name: mx.nd.zeros_like(array) for name, array in arrays.items()}
    states = {"mean": mx.nd.full(3, 0.2), "variance": mx.nd.ones(3)}
    executor = symbol.bind(mx.context.current_context(), arrays, args_grad=grads, aux_states=states)
    executor.forward(is_train=True)
    executor.backward([mx.nd.ones_like(out) for out in executor.outputs])
    return {name: array.asnumpy() for name, array in {**grads, **states}.items()}


@pytest.mark.parametrize("symbol", [lambda: mx.sym.tanh(mx.sym.tanh(normed("x"))) + normed("z"), lambda: normed("x") + mx.sym.tanh(normed("z")),
                                    lambda: mx.sym.Group([mx.sym.tanh(normed("x")), normed("z")])])
def test_averages_of_a_shared_layer_move_in_the_order_of_the_graph_however_deep_its_uses_lie(symbol):
    """x has means 4.5, 5.5, 6.5 and variances 11.25, and z, which comes last, three times that."""
    states = trained_once(symbol())
    np.testing.assert_allclose(states["mean"], [8.425, 10.175, 11.925], rtol=1e-6)
    np.testing.assert_allclose(states["variance"], [53.6875] * 3, rtol=1e-6)


def test_a_gradient_that_reads_averages_before_they_move_sees_them_as_they_were():
    factor = VARIABLES["mean"] * VARIABLES["y"]
    found = trained_once(mx.sym.broadcast_add(mx.sym.tanh(factor), normed("x")), y=np.full(3, 2))
    np.testing.assert_allclose(found["y"], 4 * 0.2 * (1 - np.tanh(0.4) ** 2) * np.ones(3), rtol=1e-5)


READINGS = {  # of a state m, and the factor and power of x that an m of 0.2 makes
    "at once": (lambda m, x: m * 2 * x, 0.4, 2),
    "deep": (lambda m, x: m * mx.sym.BlockGrad(x) * 2, 0.4, 1),
    "casts": (lambda m, x: mx.sym.Cast(mx.sym.Cast(m, dtype="float64"), dtype="float32"), 0.2, 1),
}


@pytest.mark.parametrize("settings", [{}, {"MXNET_EXEC_NUM_TEMP": "2", "MXNET_USE_FUSION": "0"}, {"MXNET_BACKWARD_DO_MIRROR": "1"}])
@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("name", ["m", "another"])  # of the state where it is read: two variables may be one array
def test_what_reads_a_state_before_it_is_written_sees_it_as_it_was(settings, reading, name):
    read, factor, power = READINGS[reading]
    state, deep = mx.sym.var("m"), mx.sym.var("x")
    seen = state if name == "m" else mx.sym.var(name)
    for _ in range(4):
        deep = mx.sym.SwapAxis(deep)
    weight = mx.sym.sgd_mom_update(weight=mx.sym.var("w"), grad=mx.sym.var("g"), mom=state, lr=1, momentum=0.5)  # writes m
    symbol = mx.sym.tanh((read(seen, deep) + weight) * deep)
    arrays = {name: mx.nd.full((2, 3), value) for name, value in {"w": 0.0, "g": 0.1, "x": 1.0}.items()}
    momentum, grad = mx.nd.zeros((2, 3)), mx.nd.zeros((2, 3))
    if name != "m":
        arrays[name] = momentum
    with mx.util.environment(settings):
        executor = symbol.bind(mx.context.current_context(), arrays, args_grad={"x": grad}, aux_states={"m": momentum})
        for is_train in (False, True):
            momentum[:] = 0.2
            out = executor.forward(is_train=is_train)[0].asnumpy()
            np.testing.assert_allclose(out, np.full((2, 3), np.tanh(factor)), rtol=1e-6)
            np.testing.assert_allclose(momentum.asnumpy(), np.zeros((2, 3)), atol=1e-7)
        executor.backward([mx.nd.ones((2, 3))])
        np.testing.assert_allclose(grad.asnumpy(), (1 - out**2) * factor * power, rtol=1e-5)


@pytest.mark.parametrize("is_train", [False, True])
def test_who_reads_a_gamma_before_a_layer_sets_it_to_ones_sees_it_as_it_was(is_train):
    x, gamma, beta, mean, variance = (VARIABLES[name] for name in ("x", "g", "b", "mean", "variance"))
    layer = mx.sym.BatchNorm(x, gamma, beta, mean, variance, fix_gamma=True)
    given = mx.nd.array([2, 3, 4])
    arrays = {"x": mx.nd.zeros((2, 3)), "g": given, "b": mx.nd.zeros(3)}
    states = {"mean": mx.nd.zeros(3), "variance": mx.nd.ones(3)}
    symbol = mx.sym.exp(gamma) + mx.sym.sum(layer, axis=0)
    executor = symbol.bind(mx.context.current_context(), arrays, aux_states=states, grad_req="null")
    np.testing.assert_allclose(executor.forward(is_train=is_train)[0].asnumpy(), np.exp([2, 3, 4]), rtol=1e-5)
    assert given.asnumpy().tolist() == [1, 1, 1]


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("request_of_it", ["write", "add"])
@pytest.mark.parametrize("place", ["data", "weight", "both", "a part"])
def test_a_gradient_may_be_written_over_what_backward_reads(place, request_of_it, watched):
    data, weight = np.arange(8).reshape(2, 4) / 10, np.arange(8).reshape(2, 4) / 20
    memory = mx.nd.array(np.concatenate([data, weight]))  # the gradient of one half may begin in the other
    arrays = {"data": memory[:2], "weight": memory[2:]}
    grads = {name: mx.nd.zeros((2, 4)) for name in arrays}
    grads.update({"data": {"data": arrays["data"]}, "weight": {"weight": arrays["weight"]}, "both": dict(arrays),
                  "a part": {"data": memory[1:3]}}[place])
    before = {name: array.asnumpy() for name, array in grads.items()}
    symbol = mx.sym.tanh(mx.sym.FullyConnected(mx.sym.var("data"), mx.sym.var("weight"), num_hidden=2, no_bias=True))
    executor = symbol.bind(mx.context.current_context(), arrays, args_grad=grads, grad_req=request_of_it)
    if watched:
        executor.set_monitor_callback(lambda name, value: None)
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones((2, 2)))
    slope = 1 - np.tanh(data @ weight.T) ** 2
    true = {"data": slope @ weight, "weight": slope.T @ data}
    for name, grad in grads.items():
        expected = true[name] + (before[name] if request_of_it == "add" else 0)
        np.testing.assert_allclose(grad.asnumpy(), expected, rtol=1e-5, atol=1e-6)


def test_masks_are_drawn_in_the_order_of_the_graph():
    """The second mask asks for the type of the first only, which is known: the first is drawn before it all the same."""
    x = mx.sym.var("x")
    first = mx.sym.Dropout(x, p=0.5)
    second = mx.sym.Dropout(mx.sym.ones_like(first), p=0.5)
    executor = mx.sym.broadcast_add(second, 4 * first).simple_bind(mx.cpu(), x=(16,))
    executor.arg_dict["x"][:] = 1
    mx.random.seed(5)
    drawn = [2 * (mx.nd.random.uniform(shape=16).asnumpy() < 0.5) for _ in range(4)]
    mx.random.seed(5)
    for earlier, later in (drawn[:2], drawn[2:]):
        assert executor.forward(is_train=True)[0].asnumpy().tolist() == (later + 4 * earlier).tolist()


def masks_of(executor, count):
    executor.arg_dict["x"][:] = 1
    mx.random.seed(5)
    drawn = [(2 * (mx.nd.random.uniform(shape=16).asnumpy() < 0.5)).tolist() for _ in range(count)]
    mx.random.seed(5)
    return [output.asnumpy().tolist() for output in executor.forward(is_train=True)], drawn


def test_masks_keep_their_order_when_who_asks_for_their_types_comes_after_all():
    x = mx.sym.var("x")
    first, second = mx.sym.Dropout(x, p=0.5), mx.sym.Dropout(x * 1, p=0.5)
    asked = mx.sym.zeros_like(first + second)
    outputs, drawn = masks_of(mx.sym.Group([asked, second, first]).simple_bind(mx.cpu(), x=(16,)), 2)
    assert outputs[1:] == [drawn[1], drawn[0]]


def test_a_mask_of_which_only_the_type_is_asked_is_not_drawn_by_an_executor():
    """As in 1.9.1, whose other draws get its numbers."""
    x = mx.sym.var("x")
    second = mx.sym.Dropout(x * 1, p=0.5)
    added = mx.sym.broadcast_add(mx.sym.zeros_like(mx.sym.Dropout(x, p=0.5)), second)
    outputs, drawn = masks_of(added.simple_bind(mx.cpu(), x=(16,)), 1)
    assert outputs == drawn
