# SPDX-License-Identifier: Apache-2.0
"""Networks of bytes give the numbers of the real ones, whatever lies below zero, far from it, or behind a relu."""

import json
import warnings

import mxnet as mx
import numpy as np
import pytest
from mxnet.contrib._calibration import _get_optimal_thresholds, _LayerHistogramCollector
from mxnet.contrib.quantization import quantize_model, quantize_model_mkldnn, quantize_net_v2

SEED = 20261130


def network(*layers):
    net = mx.gluon.nn.HybridSequential()
    net.add(*layers)
    net.initialize(mx.init.Uniform(0.5), ctx=mx.cpu())
    return net


def dense(units, activation=None):
    return mx.gluon.nn.Dense(units, activation=activation)


def furthest(net, data, **options):
    """The largest difference from the real network's numbers, in parts of the largest of them; and the quantized one."""
    real = net(data).asnumpy()
    batches = mx.io.NDArrayIter(data, batch_size=len(data))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quantized = quantize_net_v2(net, calib_data=batches, ctx=mx.cpu(), **options)
    found = quantized(data)
    return np.abs(found.asnumpy() - real).max() / np.abs(real).max(), quantized


def operators(quantized):
    nodes = json.loads(quantized._cached_graph[1].tojson())["nodes"]
    return [(node["op"], node.get("attrs", {}).get("out_type")) for node in nodes if node["op"] != "null"]


@pytest.fixture
def rows():
    mx.random.seed(SEED)
    np.random.seed(SEED)
    return mx.nd.random.uniform(-1, 1, shape=(64, 20), ctx=mx.cpu())


@pytest.mark.parametrize("mode", ["full", "smart"])
def test_a_relu_of_numbers_that_are_not_negative_keeps_the_upper_half(rows, mode):
    net = network(dense(12, "relu"), mx.gluon.nn.Activation("relu"), dense(5))
    far, quantized = furthest(net, rows, quantized_dtype="auto", quantize_mode=mode, calib_mode="naive")
    assert far < 0.04
    assert "_contrib_quantized_act" not in [op for op, _ in operators(quantized)]


def test_a_relu_of_bytes_below_zero_cuts_them_off(rows):
    net = network(dense(12), mx.gluon.nn.Dropout(0.5), mx.gluon.nn.Flatten(), mx.gluon.nn.Activation("relu"), dense(5))
    assert furthest(net, rows, quantized_dtype="int8", quantize_mode="full", calib_mode="naive")[0] < 0.04


def test_values_that_reach_below_zero_are_signed_whatever_was_asked_for(rows):
    net = network(dense(12, "relu"), dense(9), dense(5))
    for data, kind in ((rows, "int8"), (mx.nd.abs(rows), "uint8")):
        far, quantized = furthest(net, data, quantized_dtype="uint8", quantize_mode="full", calib_mode="naive")
        assert far < 0.04
        assert operators(quantized)[0] == ("_contrib_quantize_v2", kind)


def test_entropy_keeps_numbers_that_all_lie_far_from_zero():
    numbers = np.random.RandomState(SEED).uniform(0.1, 0.9, (400, 20)).astype("float32")
    numbers[:20, 0] = 0.0575  # some lie where the narrowest range ends
    net = network(dense(5))
    far, _ = furthest(net, mx.nd.array(numbers, ctx=mx.cpu()), quantized_dtype="auto", quantize_mode="full", calib_mode="entropy")
    assert far < 0.04


def test_entropy_of_a_few_numbers_in_many_bins_keeps_their_range():
    first, later = (mx.nd.array(numbers, ctx=mx.cpu()) for numbers in ([[0.1]], [[0.5, 0.5]]))
    collector = _LayerHistogramCollector(include_layer=["data"])
    for batch in (first, later):  # the second makes the histogram five times as wide
        collector.collect("data", batch)
    low, high = _get_optimal_thresholds(collector.hist_dict, "int8")["data"]
    assert low == -high and 0.49 < high < 0.51


def layer_by_layer(net, data, dtype):
    """The largest difference of what quantize_model makes of a symbol, in parts of the largest number."""
    shapes, _, states = net.infer_shape(data=data.shape)
    rng = np.random.RandomState(SEED)

    def drawn(names, shapes):
        return {name: mx.nd.array(rng.uniform(0.3, 1, shape), ctx=mx.cpu()) for name, shape in zip(names, shapes) if name != "data"}

    params, aux = drawn(net.list_arguments(), shapes), drawn(net.list_auxiliary_states(), states)
    batches = mx.io.NDArrayIter(data, batch_size=len(data))
    quantized, found_params, found_aux = quantize_model(
        net, params, aux, ctx=mx.cpu(), calib_data=batches, calib_mode="naive", quantized_dtype=dtype, quantize_mode="full")  # fmt: skip

    def run(symbol, params, aux):
        return symbol.bind(mx.cpu(), {**params, "data": data}, aux_states=aux, grad_req="null").forward()[0].asnumpy()

    real = run(net, params, aux)
    return np.abs(run(quantized, found_params, found_aux) - real).max() / np.abs(real).max()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "auto"])
@pytest.mark.parametrize("below", [0, -1])
def test_convolutions_by_themselves_have_their_bias_and_range(dtype, below):
    images = mx.nd.array(np.random.RandomState(SEED).uniform(below, 1, (4, 3, 6, 6)), ctx=mx.cpu())
    net = mx.sym.Convolution(mx.sym.var("data"), kernel=(3, 3), num_filter=4, name="first")
    net = mx.sym.Convolution(mx.sym.Activation(net, act_type="relu"), kernel=(3, 3), num_filter=5, name="second")
    assert layer_by_layer(net, images, dtype) < 0.04


@pytest.mark.parametrize("fixed", [False, True])
def test_a_fixed_gamma_is_one_whatever_the_array_holds(fixed):
    images = mx.nd.array(np.random.RandomState(SEED).uniform(-1, 1, (4, 3, 6, 6)), ctx=mx.cpu())
    assert layer_by_layer(mx.sym.BatchNorm(mx.sym.var("data"), fix_gamma=fixed, name="n"), images, "int8") < 0.04


def test_bytes_without_a_sign_that_nobody_calibrated_keep_what_lies_below_zero():
    rng = np.random.default_rng(SEED)
    rows = mx.sym.Flatten(mx.sym.Embedding(mx.sym.var("data"), input_dim=30, output_dim=12, name="rows"))
    symbol = mx.sym.FullyConnected(rows, num_hidden=10, name="scores")
    words = {"data": mx.nd.array(rng.integers(0, 30, (16, 7)), ctx=mx.cpu())}
    shapes = symbol.infer_shape(data=(16, 7))[0]
    params = {
        name: mx.nd.array(rng.normal(0, 0.3, shape), ctx=mx.cpu())
        for name, shape in zip(symbol.list_arguments(), shapes, strict=True)
        if name != "data"
    }
    quantized, weights, _ = quantize_model(
        symbol, params, {}, label_names=None, ctx=mx.cpu(), calib_mode="none", quantized_dtype="uint8", logger=None
    )
    real = symbol.bind(mx.cpu(), {**words, **params}).forward()[0].asnumpy()
    found = quantized.bind(mx.cpu(), {**words, **weights}).forward()[0].asnumpy()
    assert np.abs(found - real).max() < 0.03 * np.abs(real).max()


@pytest.mark.parametrize("mode", ["smart", "full"])
@pytest.mark.parametrize("quantize", [quantize_model, quantize_model_mkldnn])
def test_a_normalization_that_is_not_calibrated_stays_real(quantize, mode):
    """Its form in bytes needs the range of its result."""
    dense = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4, name="first")
    network = mx.sym.FullyConnected(mx.sym.BatchNorm(dense, name="norm"), num_hidden=3, name="second")
    module = mx.mod.Module(network, label_names=None)
    module.bind([("data", (5, 6))], for_training=False)
    mx.random.seed(7)
    module.init_params(mx.init.Xavier())
    batch = mx.io.DataBatch([mx.nd.random.uniform(shape=(5, 6))])
    module.forward(batch)
    expected = module.get_outputs()[0].asnumpy()
    made, arguments, states = quantize(network, *module.get_params(), calib_mode="none", quantize_mode=mode, ctx=mx.cpu())
    quantized = mx.mod.Module(made, label_names=None)
    quantized.bind([("data", (5, 6))], for_training=False)
    quantized.set_params(arguments, states)
    quantized.forward(batch)
    np.testing.assert_allclose(quantized.get_outputs()[0].asnumpy(), expected, atol=0.03 * np.abs(expected).max())
