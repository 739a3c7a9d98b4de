# SPDX-License-Identifier: Apache-2.0
"""ONNX files whose bytes, nodes, attributes, constants and shapes were changed at random: each is read, or refused by an error
that names it, and nothing huge is made.
"""

import numpy as np
import pytest
from damage import EXTREMES, damaged, reads_or_refuses

import mxnet as mx

onnx = pytest.importorskip("onnx", exc_type=ImportError)

NUMBERS = [*EXTREMES, 2, 3, 5, -2, 7, 100]
MOST_ELEMENTS = 1e6  # of what is run


def whole(*numbers):
    return np.array(numbers, np.int64)


def model(nodes, constants, shape, outputs):
    """The bytes of a file with one input x."""
    helper = onnx.helper
    x = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)
    made = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in outputs]
    stored = [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    listed = [helper.make_node(op, inputs.split(" "), names.split(), **more) for op, inputs, names, more in nodes]
    return helper.make_model(helper.make_graph(listed, "g", [x], made, stored), opset_imports=[helper.make_opsetid("", 13)]).SerializeToString()


def layers():
    constants = {
        "w": np.ones((2, 1, 3, 3), "float32"), "g": np.ones(2, "float32"), "d": np.ones((18, 3), "float32"), "b": np.zeros(3, "float32"),
    }  # fmt: skip
    nodes = [
        ("Conv", "x w", "a", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}), ("BatchNormalization", "a g g g g", "n", {}),
        ("MaxPool", "n", "p", {"kernel_shape": [2, 2], "strides": [2, 2]}), ("Flatten", "p", "f", {"axis": 1}),
        ("Gemm", "f d b", "o", {"alpha": 1.0}), ("Softmax", "o", "y", {"axis": 1}),
    ]  # fmt: skip
    return model(nodes, constants, [1, 1, 6, 6], ["y"])


def moves():
    constants = {
        "p": whole(0, 1, 0, 1), "v": np.float32(0), "first": whole(0), "last": whole(2), "one": whole(1), "zero": whole(0),
        "square": np.ones((1, 1, 2, 2), "float32"), "scales": np.array([1, 1, 2, 2], "float32"), "depth": np.int64(4),
        "both": np.array([0, 1], "float32"),
    }  # fmt: skip
    nodes = [
        ("Split", "x", "a b", {"axis": 1}), ("Pad", "a p v", "c", {}), ("Slice", "c first last one", "d", {}),
        ("Unsqueeze", "d zero", "e", {}), ("Resize", "square  scales", "r", {}), ("Transpose", "b", "t", {"perm": [1, 0]}),
        ("OneHot", "t depth both", "o", {"axis": -1}), ("Concat", "b d", "y", {"axis": 1}),
    ]  # fmt: skip
    return model(nodes, constants, [2, 4], ["y", "e", "o"])


def constants():
    stored = {
        "s": whole(2, 3), "from": np.int64(0), "to": np.int64(4), "step": np.int64(1), "e": whole(2, 2, 3), "places": np.zeros((2, 2, 3), np.int64),
        "r": whole(1, 2, 1),
    }  # fmt: skip
    nodes = [
        ("ConstantOfShape", "s", "c", {}), ("Add", "x c", "a", {}), ("Range", "from to step", "n", {}), ("Expand", "a e", "z", {}),
        ("GatherElements", "z places", "q", {"axis": 0}), ("Tile", "q r", "y", {}), ("ReduceSum", "y one", "u", {}),
    ]  # fmt: skip
    return model(nodes, {**stored, "one": whole(1)}, [2, 3], ["y", "u"])


def recurrent():
    stored = {"w": np.ones((1, 8, 3), "float32"), "r": np.ones((1, 8, 2), "float32"), "b": np.zeros((1, 16), "float32"), "k": whole(1)}
    nodes = [("LSTM", "x w r b", "y h", {"hidden_size": 2}), ("TopK", "h k", "v i", {"axis": 2})]
    return model(nodes, stored, [4, 1, 3], ["y", "v"])


MODELS = [layers(), moves(), constants(), recurrent()]


def _attribute(rng, graph):
    node = rng.choice(graph.node)
    name = rng.choice("axis axes kernel_shape strides pads group hidden_size keepdims perm split blocksize mode to alpha".split())
    value = rng.choice([rng.choice(NUMBERS), [rng.choice(NUMBERS) for _ in range(rng.randrange(1, 4))], "text", 1.5])
    for old in [attribute for attribute in node.attribute if attribute.name == name]:
        node.attribute.remove(old)
    node.attribute.append(onnx.helper.make_attribute(name, value))


def _number(rng, graph):
    node = rng.choice(graph.node)
    for attribute in node.attribute:
        if attribute.ints:
            attribute.ints[rng.randrange(len(attribute.ints))] = rng.choice(NUMBERS)
        elif attribute.type == onnx.AttributeProto.INT:
            attribute.i = rng.choice(NUMBERS)


def _inputs(rng, graph):
    node = rng.choice(graph.node)
    names = ["", *(name for other in graph.node for name in [*other.input, *other.output])]
    if node.input and rng.random() < 0.7:
        node.input[rng.randrange(len(node.input))] = rng.choice(names)
    else:
        node.input.append(rng.choice(names))


def _constant(rng, graph):
    tensor = rng.choice(graph.initializer)
    if tensor.data_type == onnx.TensorProto.INT64 and rng.random() < 0.8:
        value = onnx.numpy_helper.to_array(tensor).copy()
        value.reshape(-1)[rng.randrange(value.size)] = rng.choice(NUMBERS)
        tensor.CopyFrom(onnx.numpy_helper.from_array(value, tensor.name))
    elif tensor.dims:
        tensor.dims[rng.randrange(len(tensor.dims))] = rng.choice(NUMBERS)


def _input_shape(rng, graph):
    rng.choice(graph.input[0].type.tensor_type.shape.dim).dim_value = rng.choice(NUMBERS)


def _operator(rng, graph):
    from mxnet.contrib.onnx.onnx2mx.import_onnx import convert_map

    rng.choice(graph.node).op_type = rng.choice(sorted(convert_map))


def changed(rng, content):
    """A model with one or two parts changed."""
    made = onnx.ModelProto()
    made.ParseFromString(content)
    for _ in range(rng.choice([1, 1, 2])):
        rng.choice([_attribute, _number, _inputs, _constant, _input_shape, _operator])(rng, made.graph)
    made.opset_import[0].version = rng.choice([13, 13, 13, 1, 5, 9, 18, 2**40])
    return made.SerializeToString()


def elements(shapes):
    return max((float(np.prod([float(size) for size in shape])) for shape in shapes), default=0)


def imported(path):
    """Reads the file both ways, and runs what is small."""
    symbol, arguments, states = mx.contrib.onnx.import_model(path)
    mx.contrib.onnx.import_to_gluon(path, mx.current_context())
    names = symbol.list_arguments()
    inputs = {name: tuple(size or 1 for size in shape) for name, shape, _ in mx.contrib.onnx.get_model_metadata(path)["input_tensor_data"]}
    inputs = {name: shape for name, shape in inputs.items() if name in names}
    try:
        shapes = symbol.infer_shape(**inputs)[1]
        if not shapes or elements([*inputs.values(), *shapes]) > MOST_ELEMENTS:
            return "large"
        given = {name: mx.nd.ones(shape) for name, shape in inputs.items()}
        for output in symbol.bind(mx.current_context(), {**arguments, **given}, aux_states=states, grad_req="null").forward():
            output.wait_to_read()
    except mx.MXNetError:  # shapes of the file that do not fit
        return "unfit"
    return "run"


@pytest.mark.parametrize("content", MODELS, ids=["layers", "moves", "constants", "recurrent"])
def test_the_models_are_read_and_run(tmp_path, content):
    (tmp_path / "m.onnx").write_bytes(content)
    assert imported(str(tmp_path / "m.onnx")) == "run"
    mx.nd.waitall()  # nothing has failed that nobody has seen


@pytest.mark.filterwarnings("ignore:infer_shape cannot decide")
@pytest.mark.parametrize("change, least", [(damaged, 10), (changed, 60)])
def test_each_is_read_or_refused(tmp_path, change, least):
    seen = reads_or_refuses(imported, tmp_path / "m.onnx", MODELS, 250, mx.MXNetError, change)
    assert seen["run"] > least and seen["MXNetError"] > least, seen
