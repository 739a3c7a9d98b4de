# SPDX-License-Identifier: Apache-2.0
"""ONNX files that cannot be read: the error names the node, its attribute or the constant, and nothing huge is made."""

import numpy as np
import pytest

import mxnet as mx

onnx = pytest.importorskip("onnx", exc_type=ImportError)


def written(path, nodes, constants=(), shape=(2, 3), outputs=("y",), kind=None):
    """The path of a file with one input x."""
    helper = onnx.helper
    x = helper.make_tensor_value_info("x", kind or onnx.TensorProto.FLOAT, shape)
    made = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in outputs]
    stored = [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in dict(constants).items()]
    model = helper.make_model(helper.make_graph(nodes, "g", [x], made, stored), opset_imports=[helper.make_opsetid("", 13)])
    onnx.save(model, str(path / "m.onnx"))
    return str(path / "m.onnx")


def node(op, inputs, name="odd", outputs=("y",), **attributes):
    return onnx.helper.make_node(op, inputs, list(outputs), name=name, **attributes)


@pytest.mark.parametrize("made, constants, text", [
    (lambda: node("Relu", ["nowhere"]), {}, "Relu 'odd': given inputs .'nowhere'. that no node before makes"),
    (lambda: node("Relu", []), {}, "Relu 'odd'.*given 0 inputs"),
    (lambda: node("Relu", ["x"], outputs=()), {}, "Relu 'odd': given no outputs"),
    (lambda: node("MaxPool", ["x"], strides=[1, 1]), {}, "MaxPool 'odd'.*given attributes strides, expected one named kernel_shape"),
    (lambda: node("Cast", ["x"]), {}, "Cast 'odd'.*one named to"),
    (lambda: node("Cast", ["x"], to=99), {}, "Cast 'odd', attributes: to=99"),
    (lambda: node("Softmax", ["x"], axis="first"), {}, "Softmax 'odd', attributes: axis='first'"),
    (lambda: node("MaxPool", ["x"], auto_pad=b"\xff", kernel_shape=[1, 1]), {}, "MaxPool 'odd'.*attribute 'auto_pad' that cannot be read"),
    (lambda: node("Constant", [], value=1.5), {}, "Constant 'odd'.*a value of type float, expected tensors"),
    (lambda: node("Expand", ["x", "s"]), {"s": np.array([4, 4])}, "Expand 'odd'.*shape"),
    (lambda: node("LSTM", ["x", "w", "w"], hidden_size=3), {"w": np.ones(4, "float32")}, "LSTM 'odd', attributes: hidden_size=3"),
    (lambda: node("ConstantOfShape", ["s"]), {"s": np.array([2**20, 2**20])}, "ConstantOfShape 'odd'.*a constant of shape .1048576, 1048576."),
    (lambda: node("ConstantOfShape", ["s"]), {"s": np.array([-1])}, "ConstantOfShape 'odd'.*sizes from 0 on"),
    (lambda: node("Range", ["a", "b", "c"]), {"a": np.int64(0), "b": np.int64(2**62), "c": np.int64(1)}, "Range 'odd'.*a constant of shape"),
    (lambda: node("Range", ["a", "b", "c"]), {"a": np.int64(0), "b": np.int64(5), "c": np.int64(0)}, "Range 'odd'"),
    (lambda: node("Tile", ["a", "s"]), {"a": np.ones((4, 4), "float32"), "s": np.array([2**18, 2**18])}, "Tile 'odd'.*a constant of shape"),
    (lambda: node("Pad", ["x", "s"]), {"s": np.array([2**40, 0, 0, 0])}, "Pad 'odd'.*a constant of shape"),
    (lambda: node("OneHot", ["x", "d", "v"], axis=2**31), {"d": np.int64(2), "v": np.ones(2, "float32")}, "OneHot 'odd': given axis 2147483648, expected -3 to 2"),
    (lambda: node("Hardmax", ["x"], axis=-3), {}, "Hardmax 'odd': given axis -3, expected -2 to 1"),
    (lambda: node("LayerNormalization", ["x", "w"], axis=2), {"w": np.ones(3, "float32")}, "LayerNormalization 'odd': given axis 2"),
    (lambda: node("Add", ["x", "w"], axis=-(2**31), broadcast=1), {"w": np.ones(3, "float32")}, "Add 'odd': given axis -2147483648"),
    (lambda: node("GatherElements", ["x", "i"], axis=2), {"i": np.zeros((2, 3), np.int64)}, "GatherElements 'odd': given axis 2"),
    (lambda: node("GatherElements", ["x", "i"], axis=0), {"i": np.zeros((20000, 3), np.int64)}, "GatherElements 'odd': given 20000 indices along axis 0"),
])  # fmt: skip
def test_errors_name_the_node_and_what_is_wrong_with_it(tmp_path, made, constants, text):
    with pytest.raises(mx.MXNetError, match=f"^import_model: {text}"):
        mx.contrib.onnx.import_model(written(tmp_path, [made()], constants))


@pytest.mark.parametrize("content", [b"", b"this is no model", b"\x08\x08\x3a\xff\xff\xff\xff\x0f"])
@pytest.mark.parametrize("read", [mx.contrib.onnx.import_model, lambda path: mx.contrib.onnx.import_to_gluon(path, mx.cpu())])
def test_a_file_that_is_no_model_is_named(tmp_path, content, read):
    path = tmp_path / "none.onnx"
    path.write_bytes(content)
    with pytest.raises(mx.MXNetError, match="none.onnx"):
        read(str(path))


def test_constants_and_ends_of_the_graph_are_named_too(tmp_path):
    relu = node("Relu", ["x"])
    with pytest.raises(mx.MXNetError, match="outputs.*'z'"):
        mx.contrib.onnx.import_model(written(tmp_path, [relu], outputs=["z"]))
    with pytest.raises(mx.MXNetError, match="outputs"):
        mx.contrib.onnx.import_model(written(tmp_path, [relu], outputs=[]))
    with pytest.raises(mx.MXNetError, match="input 'x': given type 99"):
        mx.contrib.onnx.import_model(written(tmp_path, [relu], kind=99))
    path = written(tmp_path, [node("Add", ["x", "w"])], {"w": np.ones(3, "float32")})
    model = onnx.load(path)
    model.graph.initializer[0].dims[0] = 2**40
    onnx.save(model, path)
    with pytest.raises(mx.MXNetError, match="constant 'w'"):
        mx.contrib.onnx.import_model(path)
    with pytest.raises(mx.MXNetError, match="constant 'w'"):
        mx.contrib.onnx.import_to_gluon(path, mx.cpu())
