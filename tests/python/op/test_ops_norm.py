# SPDX-License-Identifier: Apache-2.0
"""Normalisation, activation and softmax: against NumPy in float64 on random shapes, types and axes; gradients
against differences; states, random masks and errors.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/op/test_ops_norm.py
"""
import ctypes
import math
import os

import numpy as np
import pytest

from layer_checks import TOLERANCE, agree, check_gradients, normal, softmax
from op_calls import Failure

SEED = 20250117
FLOATS = ["float32", "float64", "float16"]
KEPT_FIRST = "0001111011111111101000001010111111101010000100000000000001100000110000"
KEPT_SECOND = "1011010001001101010011111101010011000100100100101001110010010110110011"
EPS = 2.0 ** -10  # a float exactly, as all parameters below whose results are compared in float64
# --- softmax -----------------------------------------------------------------------------------

SOFTMAX = {"softmax": lambda x, axis: softmax(x, axis), "softmin": lambda x, axis: softmax(-x, axis),
           "log_softmax": lambda x, axis: np.log(softmax(x, axis))}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape,axis", [((7,), 0), ((5, 3), -1), ((3, 5), 0), ((2, 3, 4), 1), ((3, 5000), 1),
                                        ((2, 70, 300), 1), ((1, 1), 1), ((300, 4), 0), ((2, 2, 2, 17), -1)])
@pytest.mark.parametrize("name", SOFTMAX)
def test_softmax_along_any_axis(mx, rng, name, shape, axis, dtype):
    x = (4 * normal(rng, shape)).astype(dtype)
    temperature = float(rng.choice([1.0, 0.5, 3.0]))
    got = mx.run(name, x, axis=axis, temperature=temperature)[0]
    assert got.dtype == dtype
    agree(got, SOFTMAX[name](x.astype("float64") / temperature, axis), dtype, scale=4)


def test_softmax_survives_large_numbers_and_none_at_all(mx):
    x = np.array([[1e30, 1e30], [-1e30, 0], [-np.inf, 5]], "float32")
    np.testing.assert_array_equal(mx.run("softmax", x)[0], [[0.5, 0.5], [0, 1], [0, 1]])
    assert np.isnan(mx.run("softmax", np.array([1, np.nan, 2], "float32"))[0]).all()
    assert mx.run("softmax", np.zeros((0, 3), "float32"))[0].shape == (0, 3)
    assert mx.run("log_softmax", np.float32(3).reshape(()))[0] == 0


def test_a_negative_temperature_turns_the_order_round(mx, rng):
    x = normal(rng, (4, 60))
    agree(mx.run("softmax", x, temperature=-2.0)[0], softmax(x / -2))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_softmin_is_softmax_of_the_negated_numbers(mx, rng, axis, dtype):
    """To the bit, for both go the same way."""
    x = (4 * normal(rng, (9, 33, 50))).astype(dtype)
    x[3, 5, 7] = np.inf
    np.testing.assert_array_equal(mx.run("softmin", x, axis=axis)[0], mx.run("softmax", -x, axis=axis)[0])
    x[3, 5, 7] = np.nan
    missing = np.isnan(mx.run("softmin", x, axis=axis)[0])
    assert missing.any() and missing.all(axis=axis).sum() * x.shape[axis] == missing.sum()


@pytest.mark.parametrize("name", SOFTMAX)
@pytest.mark.parametrize("axis", [-1, 1])
def test_only_the_beginning_of_a_row_takes_part(mx, rng, name, axis):
    x = normal(rng, (3, 5, 4))
    lengths = rng.integers(-1, 8, size=(3, 5) if axis == -1 else (3, 4))
    rows = np.moveaxis(x, axis, -1)
    want = np.zeros_like(rows)
    for at in np.ndindex(*rows.shape[:-1]):
        n = min(max(lengths[at], 0), rows.shape[-1])
        if n:
            want[at][:n] = SOFTMAX[name](rows[at][:n], -1)
    for dtype in ("int32", "int64"):
        got = mx.run(name, x, lengths.astype(dtype), axis=axis, use_length=True)[0]
        agree(got, np.moveaxis(want, -1, axis))
    head = normal(rng, x.shape)
    grad = mx.gradients(name, [x, lengths.astype("int64")], [head], wanted=[0], axis=axis, use_length=True)[0]
    outside = np.moveaxis(grad, axis, -1)[np.arange(rows.shape[-1]) >= np.maximum(lengths, 0)[..., None]]
    assert not outside.any()


def test_a_length_of_another_type_is_an_error(mx):
    with pytest.raises(Failure, match="length"):
        mx.run("softmax", np.ones((2, 3), "float32"), np.ones(2, "float32"), use_length=True)


@pytest.mark.parametrize("name", SOFTMAX)
def test_gradients_of_softmax(mx, rng, name):
    check_gradients(mx, rng, name, [normal(rng, (3, 4, 2))], [0], axis=1, temperature=1.5)
    check_gradients(mx, rng, name, [normal(rng, (3, 4))], [0])
    x = normal(rng, (2, 3), "float32")
    assert mx.gradients(name, [x], [np.ones((2, 3))], dtype="float64")[0].dtype == np.float32


@pytest.mark.parametrize("name,attrs", [("softmax", {}), ("log_softmax", {}), ("softmin", {"temperature": 2.0}),
                                        ("Activation", {"act_type": "tanh"}), ("Activation", {"act_type": "softsign"}),
                                        ("Activation", {"act_type": "softrelu"}), ("LeakyReLU", {"act_type": "gelu"}),
                                        ("LeakyReLU", {"act_type": "elu", "slope": 0.5}), ("SoftmaxActivation", {})])
def test_nodes_of_second_order_are_the_fused_gradient(mx, rng, name, attrs):
    """The gradient is linear in its head, so its derivative along a direction is the fused gradient itself, if symmetric."""
    x, head, direction = normal(rng, (3, 4)), normal(rng, (3, 4)), normal(rng, (3, 4))
    by_nodes = mx.adjoint_of_adjoint(name, [x], [head], [direction], **attrs)[0]
    step = 1e-6
    moved = [mx.run(name, x + sign * step * direction, **attrs)[0] for sign in (1, -1)]
    np.testing.assert_allclose(by_nodes, (moved[0] - moved[1]) / (2 * step), rtol=1e-6, atol=1e-8)


def test_softmax_activation_modes(mx, rng):
    x = normal(rng, (2, 3, 4, 5))
    agree(mx.run("SoftmaxActivation", x)[0], softmax(x))
    agree(mx.run("SoftmaxActivation", x, mode="channel")[0], softmax(x, 1))
    check_gradients(mx, rng, "SoftmaxActivation", [x[:1, :, :2, :2]], [0], mode="channel")
    with pytest.raises(Failure, match="rank 3"):
        mx.run("SoftmaxActivation", x[0, 0], mode="channel")


# --- activations -------------------------------------------------------------------------------

erf = np.vectorize(math.erf)
ALPHA, LAMBDA = 1.6732632423543772, 1.0507009873554805
ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0), "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "tanh": np.tanh,
    "softrelu": lambda x: np.logaddexp(0, x), "softsign": lambda x: x / (1 + np.abs(x))}
LEAKY = {
    "leaky": lambda x: np.where(x > 0, x, 0.25 * x), "elu": lambda x: np.where(x > 0, x, 0.25 * np.expm1(np.minimum(x, 0))),
    "selu": lambda x: LAMBDA * np.where(x > 0, x, ALPHA * np.expm1(np.minimum(x, 0))),
    "gelu": lambda x: 0.5 * x * (1 + erf(x / np.sqrt(2)))}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("kind", [*ACTIVATIONS, *LEAKY])
def test_activations_and_their_gradients(mx, rng, kind, dtype):
    x = (3 * normal(rng, (7, 91))).astype(dtype)
    name, attrs = ("Activation", {}) if kind in ACTIVATIONS else ("LeakyReLU", {"slope": 0.25})
    want = {**ACTIVATIONS, **LEAKY}[kind](x.astype("float64"))
    agree(mx.run(name, x, act_type=kind, **attrs)[0], want, dtype)
    if dtype == "float64":
        check_gradients(mx, rng, name, [x[:2, :9]], [0], act_type=kind, **attrs)


def test_softplus_and_sigmoid_keep_small_results(mx):
    x = np.array([-80, -20], "float32")
    for kind in ("softrelu", "sigmoid"):
        np.testing.assert_allclose(mx.run("Activation", x, act_type=kind)[0], np.exp(x.astype("float64")), rtol=1e-6)


def test_gelu_of_doubles_keeps_small_results_and_ends(mx):
    x = np.concatenate([-np.geomspace(1e-300, 8.4, 300), np.geomspace(1e-300, 40, 300), np.linspace(-1.42, -1.4, 40), np.linspace(-8.4, -1.4, 999)])
    want = np.array([0.5 * a * math.erfc(-a * math.sqrt(0.5)) for a in x])
    np.testing.assert_allclose(mx.run("LeakyReLU", x, act_type="gelu")[0], want, rtol=2e-14)
    ends = mx.run("LeakyReLU", np.array([-9.0, -1e300, -np.inf, np.inf, np.nan, 0.0, -0.0]), act_type="gelu")[0]
    np.testing.assert_allclose(ends, [0, 0, np.nan, np.inf, np.nan, 0, 0], atol=1e-17)
    assert np.signbit(ends[6])


@pytest.mark.parametrize("shape,gamma", [((3, 4), (4,)), ((2, 3, 5), (3,)), ((2, 3, 5), (1,)), ((2, 3, 2, 2), (1, 3, 1, 1)), ((6,), (6,))])
def test_prelu_has_a_slope_for_each_channel(mx, rng, shape, gamma):
    x, slopes = normal(rng, shape), normal(rng, gamma)
    axis = 0 if len(shape) == 1 else 1
    spread = slopes.reshape([-1 if i == axis else 1 for i in range(len(shape))])
    agree(mx.run("LeakyReLU", x, slopes, act_type="prelu")[0], np.where(x > 0, x, spread * x))
    check_gradients(mx, rng, "LeakyReLU", [x, slopes], [0, 1], act_type="prelu")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(37, 3), (64, 7), (300, 129), (257, 5, 3), (19, 33, 7, 9), (3, 2, 64), (0, 3), (3, 4, 0)])
def test_prelu_of_few_elements_a_slope(mx, rng, shape, dtype):
    x, dy, slopes = normal(rng, shape, dtype), normal(rng, shape, dtype), normal(rng, shape[1:2], dtype)
    x.reshape(-1)[::7] = 0
    spread = slopes.reshape([1, -1] + [1] * (len(shape) - 2))
    np.testing.assert_array_equal(mx.run("LeakyReLU", x, slopes, act_type="prelu")[0], np.where(x > 0, x, spread * x))
    dx, dslopes = mx.gradients("LeakyReLU", [x, slopes], [dy], act_type="prelu")
    np.testing.assert_array_equal(dx, np.where(x > 0, dy, spread * dy))
    expected = (dy.astype("float64") * np.minimum(x, 0)).sum(tuple(i for i in range(len(shape)) if i != 1))
    np.testing.assert_allclose(dslopes, expected, rtol=2e-3 if dtype == "float16" else 1e-5, atol=1e-3 if dtype == "float16" else 1e-4)


def test_prelu_refuses_other_numbers_of_slopes(mx):
    with pytest.raises(Failure, match="gamma"):
        mx.run("LeakyReLU", np.ones((2, 3, 5), "float32"), np.ones(5, "float32"), act_type="prelu")


def test_rrelu_draws_while_training_and_takes_the_mean_otherwise(mx, rng):
    x = -np.ones((400, 50), "float32")
    bounds = {"act_type": "rrelu", "lower_bound": 0.2, "upper_bound": 0.4}
    np.testing.assert_allclose(mx.run("LeakyReLU", x, **bounds)[0], -0.3, rtol=1e-6)
    mx.training(True)
    y, slopes = mx.run("LeakyReLU", x, **bounds)
    assert -0.4 <= y.min() < -0.39 and -0.21 < y.max() <= -0.2 and abs(y.mean() + 0.3) < 2e-3
    np.testing.assert_array_equal(y, x * slopes)
    mx.call("MXRandomSeed", 5)
    first = mx.run("LeakyReLU", x, **bounds)[0]
    mx.call("MXRandomSeed", 5)
    grad = mx.gradients("LeakyReLU", [x], [np.ones_like(x), None], **bounds)[0]
    np.testing.assert_array_equal(grad, -first)


# --- normalisation -----------------------------------------------------------------------------

def standardised(x, axes, eps):
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(var + eps), mean, np.sqrt(var + eps)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape,axis", [((3, 4), -1), ((5, 768), -1), ((2, 3, 5), 1), ((4, 2, 3), 0), ((3, 5000), 1), ((1, 1), 1)])
def test_layer_norm_standardises_along_its_axis(mx, rng, shape, axis, dtype):
    x, gamma, beta = (normal(rng, s, dtype) for s in (shape, shape[axis], shape[axis]))
    y, mean, std = standardised(x.astype("float64"), axis, EPS)
    along = [-1 if i == axis % len(shape) else 1 for i in range(len(shape))]
    got = mx.run("LayerNorm", x, gamma, beta, axis=axis, eps=EPS, output_mean_var=True)
    agree(got[0], y * gamma.astype("float64").reshape(along) + beta.astype("float64").reshape(along), dtype, scale=3)
    agree(got[1], mean, dtype)
    agree(got[2], std, dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("length", [1, 2, 15, 16, 33, 64, 127, 128, 700])
def test_rows_that_are_normalised_together_are_those_of_each_alone(mx, rng, length, dtype):
    x, gamma, beta = (normal(rng, s, dtype) for s in ((35, length), (length,), (length,)))
    x[3, 0], x[7, length - 1] = np.nan, np.inf
    together = mx.run("LayerNorm", x, gamma, beta, output_mean_var=True)
    alone = [mx.run("LayerNorm", row[np.newaxis], gamma, beta, output_mean_var=True) for row in x]
    for got, want in zip(together, zip(*alone)):
        np.testing.assert_array_equal(got, np.concatenate(want))
    group = mx.run("InstanceNorm", x[:30].reshape(5, 6, length), gamma[:1].repeat(6), beta[:1].repeat(6))[0].reshape(30, length)
    for r in range(30):
        np.testing.assert_array_equal(group[r], mx.run("InstanceNorm", x[r].reshape(1, 1, length), gamma[:1], beta[:1])[0][0, 0])


@pytest.mark.parametrize("dtype,limit", [("float32", 2e-4), ("float64", 1e-9)])
def test_a_large_mean_does_not_drown_the_variance(mx, rng, dtype, limit):
    x = (normal(rng, (4, 3, 300)) + 1000).astype(dtype)
    ones, zeros = np.ones(300, dtype), np.zeros(300, dtype)
    want = standardised(x.astype("float64"), 2, 1e-5)[0]
    np.testing.assert_allclose(mx.run("LayerNorm", x, ones, zeros)[0], want, atol=limit)
    mx.training(True)
    for data, axis in ((x, 1), (np.moveaxis(x, 1, 2).copy(), 2)):
        over = tuple(i for i in range(3) if i != axis)
        got = mx.run("BatchNorm", data, *[np.full(3, v, dtype) for v in (1, 0, 0, 1)], axis=axis, eps=1e-5)[0]
        np.testing.assert_allclose(got, standardised(data.astype("float64"), over, 1e-5)[0], atol=limit)


@pytest.mark.parametrize("name,shape,parameters,attrs", [
    ("LayerNorm", (3, 4), 4, {}), ("LayerNorm", (2, 3, 2), 3, {"axis": 1}), ("GroupNorm", (2, 4, 3), 2, {"num_groups": 2}),
    ("GroupNorm", (2, 3, 2, 2), 1, {}), ("InstanceNorm", (2, 3, 4), 3, {"eps": 0.01})])
def test_gradients_of_normalised_rows(mx, rng, name, shape, parameters, attrs):
    arrays = [normal(rng, shape), normal(rng, parameters), normal(rng, parameters)]
    check_gradients(mx, rng, name, arrays, [0, 1, 2], **attrs)


@pytest.mark.parametrize("shape,axis", [((7, 1), -1), ((5, 1, 3), 1), ((1, 4), 0)])
def test_one_number_is_its_own_mean(mx, rng, shape, axis):
    # Standardised it is 0 whatever it is: no gradient, to the bit, though 1 / sqrt(eps) is large.
    x, gamma, beta, head = (normal(rng, s).astype("float32") for s in (shape, (1,), (1,), shape))
    np.testing.assert_array_equal(mx.gradients("LayerNorm", [x, gamma, beta], [head], wanted=[0], axis=axis, eps=1e-5)[0], np.zeros(shape))


@pytest.mark.parametrize("dtype", FLOATS)
def test_group_and_instance_norm(mx, rng, dtype):
    x = normal(rng, (2, 6, 5, 7), dtype)
    gamma, beta = normal(rng, 3, dtype), normal(rng, 3, dtype)
    y, mean, std = standardised(x.astype("float64").reshape(2, 3, -1), 2, EPS)
    got = mx.run("GroupNorm", x, gamma, beta, num_groups=3, eps=EPS, output_mean_var=True)
    want = y * gamma.astype("float64")[:, None] + beta.astype("float64")[:, None]
    agree(got[0], want.reshape(x.shape), dtype, scale=3)
    agree(got[1], mean[..., 0], dtype)
    agree(got[2], std[..., 0], dtype)
    ones, zeros = np.ones(6, dtype), np.zeros(6, dtype)
    agree(mx.run("InstanceNorm", x, ones, zeros, eps=EPS)[0], standardised(x.astype("float64"), (2, 3), EPS)[0], dtype, scale=3)
    with pytest.raises(Failure, match="multiple of 4"):
        mx.run("GroupNorm", x, np.ones(4, dtype), np.ones(4, dtype), num_groups=4)


def batch_norm_states(rng, channels, dtype="float64"):
    gamma, beta, mean = (normal(rng, channels, dtype) for _ in range(3))
    return gamma, beta, mean, rng.uniform(0.5, 2, channels).astype(dtype)


BATCH_SHAPES = [((6, 3), 1), ((4, 3, 2, 2), 1), ((4, 2, 2, 3), -1), ((3, 5, 2), 0), ((70, 130), 1), ((2, 3, 50, 60), 1), ((131, 515), 1)]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape,axis", BATCH_SHAPES)
def test_batch_norm_of_the_batch_and_of_moving_averages(mx, rng, shape, axis, dtype):
    x = normal(rng, shape, dtype)
    gamma, beta, mean, var = batch_norm_states(rng, shape[axis], "float32" if dtype == "float16" else dtype)
    wide, over = x.astype("float64"), tuple(i for i in range(x.ndim) if i != axis % x.ndim)
    spread = [-1 if i == axis % x.ndim else 1 for i in range(x.ndim)]
    attrs = {"axis": axis, "fix_gamma": False, "eps": 1e-3, "output_mean_var": True}
    g, b, m, v = (a.astype("float64").reshape(spread) for a in (gamma, beta, mean, var))
    got = mx.run("BatchNorm", x, gamma, beta, mean, var, **attrs)
    agree(got[0], (wide - m) / np.sqrt(v + 1e-3) * g + b, dtype, scale=3)
    mx.training(True)
    got = mx.run("BatchNorm", x, gamma, beta, mean, var, **attrs)
    y, batch_mean, std = standardised(wide, over, 1e-3)
    agree(got[0], y * g + b, dtype, scale=3)
    agree(got[1], batch_mean.ravel(), gamma.dtype.name)
    agree(got[2], 1 / std.ravel(), gamma.dtype.name)
    relu = mx.run("_contrib_BatchNormWithReLU", x, gamma, beta, mean, var, **attrs)[0]
    np.testing.assert_array_equal(relu, np.maximum(got[0], 0))


# Few and many channels as columns, short and long runs, one element more and one less than are taken together, nothing.
ORDERED_SHAPES = [((5000, 1), 1), ((3001, 5), 1), ((65, 31), 1), ((65, 32), 1), ((41, 50), 1), ((3, 1025), 1), ((5, 7, 3, 3), 1), ((3, 4, 33, 31), 1),
                  ((3, 4, 1025), 1), ((2, 3, 32), 1), ((7, 3, 47), 1), ((2, 3, 4, 5), 2), ((2, 300, 7), -1), ((0, 4), 1)]


# No channel, no position or no example, in loops along channels and along positions.
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape, axis", [((4, 0), 1), ((2, 3, 0), 1), ((2, 3, 0), -1), ((0, 5), 1), ((2, 0, 4), 1), ((0,), 0), ((3, 2, 0, 2), 1)])
def test_batch_norm_of_nothing(mx, shape, axis, dtype):
    data, channels = np.zeros(shape, dtype), shape[axis]
    parameters = [np.full(channels, value, "float64" if dtype == "float64" else "float32") for value in (2, 3, 4, 5)]
    for training in (True, False):
        mx.training(training)
        inputs = [mx.array(a) for a in (data, *parameters)]
        outputs = mx.invoke("BatchNorm", inputs, axis=axis, fix_gamma=False)
        assert mx.numpy(outputs[0]).shape == shape
        np.testing.assert_array_equal(mx.numpy(inputs[3]), parameters[2])
        mx.free(*inputs, *outputs)
        gradients = mx.gradients("BatchNorm", [data, *parameters], [data], wanted=[0, 1, 2], axis=axis, fix_gamma=False)
        assert gradients[0].shape == shape
        for gradient in gradients[1:]:
            np.testing.assert_array_equal(gradient, np.zeros(channels))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shape,axis", ORDERED_SHAPES)
def test_batch_norm_takes_elements_in_any_order(mx, rng, shape, axis, threads):
    mx.call("MXSetNumOMPThreads", ctypes.c_int(threads))
    x = normal(rng, shape, "float16")
    if x.size > 20:
        x.flat[[3, 11, 17]] = np.inf, np.nan, 6e-8
    states = batch_norm_states(rng, shape[axis], "float32")
    attrs = {"axis": axis, "fix_gamma": False, "eps": 1e-3, "use_global_stats": True}
    spread = [-1 if i == axis % x.ndim else 1 for i in range(x.ndim)]
    g, b, m, v = (a.reshape(spread).astype("float64") for a in states)
    want = (x.astype("float64") - m) / np.sqrt(v + 1e-3) * g + b
    single = mx.run("BatchNorm", x.astype("float32"), *states, **attrs)[0]
    half = mx.run("BatchNorm", x, *states, **attrs)[0]
    mx.call("MXSetNumOMPThreads", ctypes.c_int(max(1, os.cpu_count() // 2)))
    np.testing.assert_allclose(single, want, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(half, single.astype("float16"))  # rounded once


@pytest.mark.parametrize("op,key", [("BatchNorm", {}), ("BatchNorm_v1", {}), ("_contrib_SyncBatchNorm", {"key": "a"}),
                                    ("_contrib_BatchNormWithReLU", {})])
def test_the_backward_pass_moves_the_averages(mx, rng, op, key):
    x = normal(rng, (4, 3, 5))
    states = batch_norm_states(rng, 3)
    head = [normal(rng, x.shape)]
    attrs = {"momentum": 0.75, "fix_gamma": False, **key}

    def after(train, **more):
        mx.training(train)
        arrays = []
        mx.gradients(op, [x, *states], head, wanted=[0, 1, 2], after=arrays, **attrs, **more)
        return arrays[3:]

    for states_then in (after(False), after(True, use_global_stats=True)):
        for now, before in zip(states_then, states[2:]):
            np.testing.assert_array_equal(now, before)
    mean, var = after(True)
    agree(mean, 0.75 * states[2] + 0.25 * x.mean((0, 2)), scale=10)
    agree(var, 0.75 * states[3] + 0.25 * x.var((0, 2)), scale=10)
    mx.training(True)
    handles = [mx.array(a) for a in (x, *states)]
    mx.free(*mx.invoke(op, handles, **attrs))
    np.testing.assert_array_equal(mx.numpy(handles[3]), states[2])  # forward leaves them alone
    mx.free(*handles)


@pytest.mark.parametrize("shape,axis", BATCH_SHAPES[:4])
@pytest.mark.parametrize("attrs", [{}, {"use_global_stats": True}])
def test_gradients_of_batch_norm(mx, rng, shape, axis, attrs):
    arrays = [normal(rng, shape), *batch_norm_states(rng, shape[axis])]
    mx.training(True)
    for op in ("BatchNorm", "_contrib_BatchNormWithReLU"):
        check_gradients(mx, rng, op, arrays, [0, 1, 2], axis=axis, fix_gamma=False, **attrs)
    mx.training(False)
    check_gradients(mx, rng, "BatchNorm", arrays, [0, 1, 2], axis=axis, fix_gamma=False)


@pytest.mark.parametrize("shape, axis", [((4, 3), 1), ((2, 3, 5), 1), ((2, 5, 3), -1)])
@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_of_fixed_statistics_the_gradient_is_finite_whatever_the_data_is(mx, rng, shape, axis, odd):
    x, (gamma, beta, mean, var) = normal(rng, shape), batch_norm_states(rng, 3)
    x.ravel()[::2] = odd
    dy = normal(rng, shape)
    arrays = [x, gamma, beta, mean, var]
    got = mx.gradients("BatchNorm", arrays, [dy], wanted=[0], axis=axis, fix_gamma=False, use_global_stats=True, eps=1e-3)[0]
    spread = [-1 if i == axis % x.ndim else 1 for i in range(x.ndim)]
    np.testing.assert_allclose(got, dy * (gamma / np.sqrt(var + 1e-3)).reshape(spread), rtol=1e-5)


def test_fix_gamma_sets_gamma_to_ones_and_its_gradient_to_zero(mx, rng):
    x, states = normal(rng, (4, 3)), batch_norm_states(rng, 3)
    for train in (False, True):
        mx.training(train)
        after = []
        grads = mx.gradients("BatchNorm", [x, *states], [normal(rng, x.shape)], wanted=[0, 1, 2], after=after)
        np.testing.assert_array_equal(after[1], np.ones(3))
        assert not grads[1].any() and grads[0].any()
        free = mx.run("BatchNorm", x, np.ones(3), *states[1:], fix_gamma=False)[0]
        np.testing.assert_array_equal(mx.run("BatchNorm", x, *states)[0], free)


def test_statistics_of_several_devices_are_refused_on_the_cpu(mx, rng):
    with pytest.raises(Failure, match="ndev"):
        mx.run("_contrib_SyncBatchNorm", normal(rng, (2, 3)), *batch_norm_states(rng, 3), key="a", ndev=2)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("mode,over", [("instance", (1, 2, 3)), ("channel", (1,)), ("spatial", (2, 3))])
def test_l2_normalization_divides_by_the_length(mx, rng, mode, over, dtype):
    x = normal(rng, (3, 4, 5, 6), dtype)
    wide = x.astype("float64")
    want = wide / np.sqrt((wide ** 2).sum(over, keepdims=True) + 0.5)
    agree(mx.run("L2Normalization", x, mode=mode, eps=0.5)[0], want, dtype)
    check_gradients(mx, rng, "L2Normalization", [normal(rng, (2, 3, 2, 2))], [0], mode=mode, eps=0.5)


@pytest.mark.parametrize("nsize", [1, 3, 4, 5, 9])
def test_lrn_divides_by_neighbouring_channels(mx, rng, nsize):
    x = normal(rng, (2, 7, 5, 131), "float32")
    square = np.pad(x.astype("float64") ** 2, ((0, 0), (nsize, nsize), (0, 0), (0, 0)))
    half = (nsize - 1) // 2
    sums = sum(square[:, nsize + k:nsize + k + 7] for k in range(-half, half + 1))
    attrs = {"nsize": nsize, "alpha": 0.3, "beta": 0.6, "knorm": 1.5}
    agree(mx.run("LRN", x, **attrs)[0], x * (1.5 + 0.3 / nsize * sums) ** -0.6, "float32")
    check_gradients(mx, rng, "LRN", [normal(rng, (2, 5, 2, 2))], [0], **attrs)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(2, 6, 3, 1), (1, 9, 23, 37), (2, 0, 3, 3), (0, 3, 2, 2)])
def test_lrn_of_each_type_in_planes_that_no_block_divides(mx, rng, dtype, shape):
    """23 x 37 positions are a block of 512, whole registers, and what is left; 0.75 is the power that roots make."""
    x = normal(rng, shape, dtype)
    square = np.pad(x.astype("float64") ** 2, ((0, 0), (2, 2), (0, 0), (0, 0)))
    sums = sum(square[:, k:k + shape[1]] for k in range(5))
    y = mx.run("LRN", x, nsize=5, alpha=0.5, beta=0.75, knorm=1.0)[0]
    agree(y, x.astype("float64") * (1 + 0.5 / 5 * sums) ** -0.75, dtype)


@pytest.mark.parametrize("beta", [0.75, 0.5])
def test_lrn_of_sums_at_the_ends_of_floats(mx, beta):
    """A sum that is 0, below the normal numbers, or too large for a float, in a whole register and in what is left of one."""
    x = np.array([0, 1, 1e-20, -1e-20, 1e30, -1e30, np.inf, np.nan, 4] * 3, "float32")
    y = mx.run("LRN", x.reshape(1, 1, 3, 9), nsize=1, alpha=1.0, beta=beta, knorm=0.0)[0].ravel()
    tiny = 1e-20 * 1e-40 ** -beta
    want = [np.nan, 1, tiny, -tiny, 0, 0, np.nan, np.nan, 4 * 16.0 ** -beta] * 3
    np.testing.assert_allclose(y, want, rtol=1e-4)  # 1e-40 has 17 bits
    np.testing.assert_array_equal(mx.run("LRN", np.zeros((1, 1, 3, 9), "float32"), nsize=1, beta=beta, knorm=1.0)[0], 0)


# --- Dropout -----------------------------------------------------------------------------------

def test_dropout_masks_are_those_of_seeded_programs(mx):
    """What 1.9.1 keeps of 70 ones after seed 51, in two calls."""
    mx.call("MXRandomSeed", 51)
    mx.training(True)
    for want in (KEPT_FIRST, KEPT_SECOND):
        y = mx.run("Dropout", np.ones(70, "float32"), p=0.5)[0]
        assert "".join("1" if v else "0" for v in y) == want
        assert set(y) == {0.0, 2.0}


@pytest.mark.parametrize("dtype", FLOATS)
def test_dropout_while_training_only_unless_always(mx, rng, dtype):
    x = np.ones((300, 200), dtype)
    np.testing.assert_array_equal(mx.run("Dropout", x, p=0.25)[0], x)
    for train, mode in ((True, "training"), (False, "always")):
        mx.training(train)
        y = mx.run("Dropout", x, p=0.25, mode=mode)[0]
        assert abs((y != 0).mean() - 0.75) < 0.01
        np.testing.assert_allclose(y[y != 0], 1 / 0.75, rtol=max(1e-7, TOLERANCE[dtype]))  # the factor is a float
    mx.call("MXRandomSeed", 9)
    y = mx.run("Dropout", x, p=0.25, mode="always")[0]
    mx.call("MXRandomSeed", 9)
    grad = mx.gradients("Dropout", [x], [x], p=0.25, mode="always")[0]
    np.testing.assert_array_equal(grad, y)  # the same mask
    assert not mx.run("Dropout", x, p=1.0, mode="always")[0].any()


def test_dropout_axes_share_decisions(mx):
    x = np.ones((40, 3, 50, 2), "float32")
    mx.call("MXRandomSeed", 3)
    y = mx.run("Dropout", x, p=0.5, mode="always", axes="(1, 3)")[0]
    np.testing.assert_array_equal(y, np.broadcast_to(y[:, :1, :, :1], y.shape))
    assert 0.45 < (y != 0).mean() < 0.55
    mx.call("MXRandomSeed", 3)
    np.testing.assert_array_equal(mx.gradients("Dropout", [x], [x], p=0.5, mode="always", axes="(1, 3)")[0], y)


def test_softrelu_keeps_the_digits_of_small_and_large_results(mx):
    x = np.concatenate([np.linspace(-110, 110, 20011), [0.0, -0.0, 1e-30, -1e-30, np.inf, -np.inf, np.nan]]).astype("float32")
    exact = np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x.astype("float64"))))
    np.testing.assert_allclose(mx.run("Activation", x, act_type="softrelu")[0], exact, rtol=5e-7, atol=3e-45)


def test_layer_norm_adds_up_the_gradients_of_many_rows_in_short_sums(mx):
    rng = np.random.default_rng(5)
    rows, width = 20000, 16
    data, head = (rng.standard_normal((rows, width)).astype("float32") for _ in range(2))
    head += 1
    gamma, beta = np.ones(width, "float32"), np.zeros(width, "float32")
    _, dgamma, dbeta = mx.gradients("LayerNorm", [data, gamma, beta], [head, None, None])
    x, dy = data.astype("float64"), head.astype("float64")
    normal = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    for found, exact, bound in ((dgamma, (dy * normal).sum(0), 2.5e-7), (dbeta, dy.sum(0), 1e-7)):
        assert abs(found - exact).max() < bound * abs(exact).max()
