# SPDX-License-Identifier: Apache-2.0
"""Networks in 8-bit integers: conversion, calibration and results through the reference's front end."""
import json

from registry import program


def perceptron(mx, np):
    """A network, its parameters and examples."""
    net = mx.sym.Variable("data")
    for i in range(2):
        net = mx.sym.Activation(mx.sym.FullyConnected(net, num_hidden=16, name=f"fc{i}"), act_type="relu", name=f"relu{i}")
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=4, name="last"), name="softmax")
    draws = np.random.RandomState(2)
    sizes = dict(zip(net.list_arguments(), net.infer_shape(data=(8, 6))[0]))
    params = {name: mx.nd.array(draws.uniform(-0.5, 0.5, size)) for name, size in sizes.items() if name not in ("data", "softmax_label")}
    return net, params, draws.uniform(-1, 1, (8, 6)).astype("float32")


def structure(sym):
    return [[node["op"], node["name"], sorted(node.get("attrs", {}))] for node in json.loads(sym.tojson())["nodes"]]


def run(mx, sym, params, data):
    types = {name: array.dtype for name, array in params.items()}
    executor = sym.simple_bind(mx.cpu(), data=data.shape, grad_req="null", type_dict={**types, "data": "float32", "softmax_label": "float32"})
    executor.copy_params_from(params, {}, allow_extra_params=True)
    return executor.forward(is_train=False, data=mx.nd.array(data))[0]


@program(tolerance=5e-3)
def quantized_without_calibration(mx, np):
    from mxnet.contrib import quantization

    net, params, data = perceptron(mx, np)
    qsym, qparams, _ = quantization.quantize_model(net, params, {}, calib_mode="none", quantized_dtype="int8")
    return [structure(qsym), sorted(qparams), run(mx, qsym, qparams, data)]


@program(tolerance=5e-3)
def quantized_fused_and_calibrated(mx, np):
    from mxnet.contrib import quantization

    net, params, data = perceptron(mx, np)
    batches = mx.io.NDArrayIter(data, np.zeros(8), batch_size=4)
    qsym, qparams, _ = quantization.quantize_model_mkldnn(
        net, params, {}, calib_mode="naive", calib_data=batches, quantized_dtype="auto")
    return [structure(qsym), run(mx, qsym, qparams, data)]


@program()
def quantized_parts_of_a_network(mx, np):
    from mxnet.contrib import quantization

    net, params, _ = perceptron(mx, np)
    results = []
    for kwargs in ({"excluded_sym_names": ["fc0"]}, {"excluded_op_names": ["FullyConnected"]}, {"quantize_mode": "smart"}):
        qsym, _, _, collector = quantization.quantize_graph(net, params, {}, calib_mode="naive", **kwargs)
        results.append([structure(qsym), collector.include_layer])
    return results


@program()
def what_cannot_be_quantized_is_an_error(mx, np):
    from mxnet.contrib import quantization

    net, params, _ = perceptron(mx, np)
    quantization.quantize_model(net, params, {}, calib_mode="none", quantized_dtype="float32")
