# SPDX-License-Identifier: Apache-2.0
"""Plans of networks of half types: what they convert, and where."""

import collections
import re

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn

from half_networks import HALF_TYPES, PLAIN, ROUNDING, SEED, SHAPE, images, network, numbers, on_the_cpu  # noqa: F401  (fixtures)

STEP = re.compile(r"\((\S+?)\) \[(\S+?)\]")


def plan(dtype, training):
    net = network(dtype)
    symbol = net(mx.sym.var("data", dtype=dtype))
    types = {name: p.dtype for name, p in net.collect_params().items()}
    requests = {name: "null" if name == "data" or not training else "write" for name in symbol.list_arguments()}
    executor = symbol.simple_bind(mx.cpu(), requests, type_dict={**types, "data": dtype}, data=SHAPE)
    return collections.Counter(op for op, _ in STEP.findall(executor.debug_str())), executor.debug_str()


@pytest.mark.parametrize("dtype", HALF_TYPES)
def test_inference_has_the_steps_of_float32_and_conversions_at_the_ends(dtype):
    expected, _ = plan("float32", training=False)
    steps, text = plan(dtype, training=False)
    assert steps["_sg_onednn_conv"] == expected["_sg_onednn_conv"], text
    assert steps["_sg_onednn_conv_add"] == expected["_sg_onednn_conv_add"], text
    assert steps["BatchNorm"] == 0, text
    assert steps["Cast"] <= 6, text  # the data, the result, and two layers that are too small to keep weights
    # Layers of bfloat16 may have Winograd's in float32 between them.
    assert steps["_sg_onednn_reorder"] <= expected["_sg_onednn_reorder"] + 4, text


@pytest.mark.parametrize("dtype", HALF_TYPES)
def test_a_training_step_converts_nothing_between_its_layers(dtype):
    expected, of_float32 = plan("float32", training=True)
    steps, text = plan(dtype, training=True)
    for op in ("Convolution", "_backward_Convolution"):
        assert steps[op] == expected[op], text
        assert text.count(f"({op}) [plain]") == of_float32.count(f"({op}) [plain]"), text
    assert expected["_contrib_BatchNormWithReLU"] > 0, of_float32
    for op in ("BatchNorm", "_contrib_BatchNormWithReLU", "_backward_BatchNorm", "_backward_contrib_BatchNormWithReLU"):
        assert steps[op] == expected[op], text
        assert f"({op}) [plain]" not in text, text
    # Weights, forward and back, and the gradient of the result; no image in between.
    image = re.compile(r"\((Cast|_sg_onednn_reorder)\) \[\S+\] \(2,32,(24,24|12,12)\)")
    assert not image.findall(text), text


@pytest.mark.parametrize("dtype", HALF_TYPES)
def test_channels_of_nan_stay_nan_behind_a_relu_in_training(dtype):
    def step(**settings):
        with mx.util.environment(settings):
            net = network(dtype)
            shift = net[1].beta.data()
            shift[7] = np.nan
            head = nn.HybridSequential()
            head.add(*[net[i] for i in range(3)])
            head.hybridize()
            with autograd.record():
                out = head(images(dtype))
            out.backward()
            return out.astype("float32").asnumpy()

    found, expected = step(), step(**PLAIN)
    assert np.isnan(found[:, 7]).all() and np.isnan(found).sum() == found[:, 7].size
    assert (np.isnan(found) == np.isnan(expected)).all()


class Layers(gluon.HybridBlock):
    """Weights whose layouts have full blocks, none, padding within them, groups, and several pieces."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.body = nn.HybridSequential()
            for before, channels, kernel, groups in ((16, 32, 3, 1), (32, 24, 1, 1), (24, 13, 3, 1), (13, 64, 1, 1), (64, 64, 3, 64)):
                self.body.add(nn.Conv2D(channels, kernel, padding=kernel // 2, groups=groups, in_channels=before))
            self.body.add(nn.Conv2D(512, 1, in_channels=64), nn.Conv2D(512, 3, strides=2, padding=1, in_channels=512))
            self.last = nn.Dense(5, in_units=512 * 4)

    def hybrid_forward(self, F, x):
        return self.last(self.body(x))


def step_of(net, data, **settings):
    with mx.util.environment(settings):
        net.hybridize(static_alloc=True, static_shape=True)
        data.attach_grad()
        with autograd.record():
            out = net(data)
        out.backward(mx.nd.array(np.random.default_rng(SEED).uniform(-1, 1, out.shape)).astype(out.dtype))
        grads = {name: numbers(p.grad()) for name, p in net.collect_params().items()}
        return {"out": numbers(out), "data": numbers(data.grad), **grads}


@pytest.mark.parametrize("dtype", HALF_TYPES)
def test_weights_that_are_converted_into_layouts_and_gradients_out_of_them_are_those_of_rows(dtype):
    mx.random.seed(SEED)
    net = Layers()
    net.initialize(mx.init.Xavier())
    net.cast(dtype)
    data = mx.nd.array(np.random.default_rng(SEED).uniform(-1, 1, (2, 16, 4, 4))).astype(dtype)
    exact = Layers(prefix=net.prefix)
    exact.initialize()
    for name, parameter in exact.collect_params().items():
        parameter.set_data(net.collect_params()[name].data().astype("float32"))
    expected = step_of(exact, data.astype("float32"), **PLAIN)
    rows, laid_out = step_of(net, data.copy(), **PLAIN), step_of(net, data.copy())
    for name, values in expected.items():
        size = np.linalg.norm(values)
        away, allowed = np.linalg.norm(laid_out[name] - values), np.linalg.norm(rows[name] - values)
        assert away <= 1.1 * allowed + ROUNDING[dtype] / 2 * size, (name, away, allowed, size)


@pytest.mark.parametrize("channels", [32, 36, 20, 3])
@pytest.mark.parametrize("dtype", HALF_TYPES)
def test_gradients_of_maxima_are_those_of_rows_whatever_the_channels(dtype, channels):
    mx.random.seed(SEED)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(channels, 1, in_channels=8, use_bias=False), nn.MaxPool2D(3, 2, 1))
    net.add(nn.Conv2D(24, 1, in_channels=channels), nn.GlobalAvgPool2D())
    net.initialize(mx.init.Xavier())
    net.cast(dtype)
    data = mx.nd.array(np.random.default_rng(SEED).integers(-4, 5, (2, 8, 9, 7)) / 4).astype(dtype)
    for parameter in net.collect_params().values():  # sums without rounding: the maxima are the same ones
        parameter.set_data((parameter.data().astype("float32") * 8).round() / 8)
    expected, found = step_of(net, data.copy(), **PLAIN), step_of(net, data.copy())
    for name, values in expected.items():
        assert np.linalg.norm(found[name] - values) <= 2 * ROUNDING[dtype] * np.linalg.norm(values), name


def test_float16_weights_are_converted_a_piece_at_a_time():
    _, of_float32 = plan("float32", training=True)
    _, text = plan("float16", training=True)
    assert text.count("(_sg_onednn_reorder)") < of_float32.count("(_sg_onednn_reorder)"), text
    # Of layers whose kernel reads and writes weights in a layout.
    assert "(Cast) [onednn] (32,32,1,1)" in text and "(_cast_like) [onednn] (32,32,1,1)" in text, text


@pytest.mark.parametrize("dtype", HALF_TYPES)
def test_the_maximum_of_padding_alone_is_the_lowest_number_of_the_half_type(dtype):
    net = nn.MaxPool2D((1, 3), 2, ceil_mode=True)
    images = mx.nd.array(np.arange(14).reshape(1, 1, 2, 7), dtype=dtype)
    expected = numbers(net(images))  # The second row of windows begins behind the image.
    net.hybridize(static_alloc=True)
    result = numbers(net(images))
    assert np.isfinite(result).all() and (result[3:] < -60000).all(), result
    np.testing.assert_array_equal(result, expected)
