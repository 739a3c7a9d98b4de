# SPDX-License-Identifier: Apache-2.0
"""A network for inference, given as symbol file and parameter file, as an ONNX model, which peers of the benchmark run:
onnx_model.py PREFIX SIZE writes PREFIX.onnx. Reading parameter files needs NumPy only."""

import ast
import json
import struct
import sys

import numpy as np

try:
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError:  # whoever only reads parameters does without
    onnx = None

DTYPES = {0: np.float32, 1: np.float64, 2: np.float16, 4: np.int32, 6: np.int64}
ARRAY_MAGIC = 0xF993FAC9


def read_params(path):
    """Arrays of a parameter file by name, without the prefixes arg: and aux:."""
    data = open(path, "rb").read()
    at = 0

    def take(form):
        nonlocal at
        values = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize("<" + form)
        return values

    take("QQ")
    arrays = []
    for _ in range(take("Q")[0]):
        magic, storage = take("Ii")
        assert magic == ARRAY_MAGIC and storage == 0, "expected dense arrays of the present format"
        shape = take(f"{take('i')[0]}q")
        take("ii")
        dtype = np.dtype(DTYPES[take("i")[0]])
        count = int(np.prod(shape))
        arrays.append(np.frombuffer(data, dtype, count, at).reshape(shape))
        at += count * dtype.itemsize
    names = []
    for _ in range(take("Q")[0]):
        length = take("Q")[0]
        names.append(data[at : at + length].decode().split(":", 1)[1])
        at += length
    return dict(zip(names, arrays))


def pair(text, default):
    return list(ast.literal_eval(text)) if text else [default, default]


def pool(node, inputs, output):
    attrs = node.get("attrs", {})
    kind = "MaxPool" if attrs.get("pool_type", "max") == "max" else "AveragePool"
    if attrs.get("global_pool", "False") in ("True", "1"):
        return [helper.make_node("Global" + kind, inputs, [output])]
    extra = {"ceil_mode": int(attrs.get("pooling_convention") == "full")}
    if kind == "AveragePool":
        extra["count_include_pad"] = int(attrs.get("count_include_pad", "True") != "False")
    return [helper.make_node(kind, inputs, [output], kernel_shape=pair(attrs["kernel"], 1),
                             strides=pair(attrs.get("stride"), 1), pads=pair(attrs.get("pad"), 0) * 2, **extra)]


def convert(node, inputs, output):
    """The ONNX nodes of one operator."""
    op, attrs = node["op"], node.get("attrs", {})
    if op == "Convolution":
        return [helper.make_node("Conv", inputs, [output], kernel_shape=pair(attrs["kernel"], 1),
                                 strides=pair(attrs.get("stride"), 1), dilations=pair(attrs.get("dilate"), 1),
                                 pads=pair(attrs.get("pad"), 0) * 2, group=int(attrs.get("num_group", 1)))]
    if op == "BatchNorm":
        return [helper.make_node("BatchNormalization", inputs, [output], epsilon=float(attrs.get("eps", 1e-3)))]
    if op == "Pooling":
        return pool(node, inputs, output)
    if op == "FullyConnected":
        flat = output + "_flat"
        return [helper.make_node("Flatten", inputs[:1], [flat]),
                helper.make_node("Gemm", [flat, *inputs[1:]], [output], transB=1)]
    simple = {"Flatten": "Flatten", "elemwise_add": "Add", "broadcast_add": "Add", "Dropout": "Identity"}
    if op == "Activation":
        simple["Activation"] = {"relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh"}[attrs["act_type"]]
    if op == "Concat":
        return [helper.make_node("Concat", inputs, [output], axis=int(attrs.get("dim", 1)))]
    if op not in simple:
        raise ValueError(f"given the operator {op}, expected one of a convolutional network")
    return [helper.make_node(simple[op], inputs, [output])]


def write_onnx(prefix, size):
    """Writes PREFIX.onnx, whose input `data` is any number N of square images."""
    with open(prefix + "-symbol.json") as file:
        symbol = json.load(file)
    params = dict(read_params(prefix + "-0000.params"))
    names, nodes = [], []
    for node in symbol["nodes"]:
        names.append(node["name"])
        if node["op"] == "null":
            continue
        inputs = [names[i] for i, *_ in node["inputs"]]
        if node["op"] == "BatchNorm" and node.get("attrs", {}).get("fix_gamma", "True") == "True":
            params[inputs[1]] = np.ones_like(params[inputs[1]])
        nodes += convert(node, inputs, node["name"])
    output = names[symbol["heads"][0][0]]
    graph = helper.make_graph(
        nodes, "network", [helper.make_tensor_value_info("data", TensorProto.FLOAT, ["N", 3, size, size])],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.ascontiguousarray(v), k) for k, v in params.items() if k in names])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, prefix + ".onnx")


if __name__ == "__main__":
    write_onnx(sys.argv[1], int(sys.argv[2]))
