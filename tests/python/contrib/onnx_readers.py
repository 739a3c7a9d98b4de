# SPDX-License-Identifier: Apache-2.0
"""Programs that run ONNX files, and our own results to compare theirs with.

The other reader is ONNX Runtime where it is installed, else the evaluator in NumPy of the package onnx.
"""

import numpy as np
import onnx
import pytest

import mxnet as mx

SEED = 20


def op(name, *inputs, **params):
    """A symbol of an operator by the name in the registry."""
    return mx.symbol._generate.function(name)(*inputs, **params)


@pytest.fixture(scope="module")
def run():
    """Runs a file in another program: in ONNX Runtime, or in onnx's own evaluator but for what that one cannot do."""
    try:
        from onnxruntime import InferenceSession
    except ImportError:
        return evaluated

    return lambda path, feeds: InferenceSession(str(path)).run(None, feeds)


# Where the evaluator of onnx 1.23 is not what ONNX says.
EVALUATOR_LACKS = {
    "BatchNormalization": "before opset 14 it mixes the batch's statistics into the saved ones",
    "LRN": "it goes over as many channels as there are images",
    "GlobalLpPool": "it has none",
    "RNN of Relu": "it does not know the activation",
}


def evaluated(path, feeds):
    from onnx.reference import ReferenceEvaluator

    model = onnx.load(str(path))
    for node in model.graph.node:
        activations = {text.decode() for attribute in node.attribute if attribute.name == "activations" for text in attribute.strings}
        lack = EVALUATOR_LACKS.get(" of ".join([node.op_type, *sorted(activations)]))
        if lack:
            pytest.skip(f"onnx's evaluator of {node.op_type}: {lack}")
    return ReferenceEvaluator(model).run(None, feeds)


def arrays_of(symbol, shapes, rng):
    """Random values of what the outputs depend on, by name; labels are left out."""
    names = [n for n in symbol.list_inputs() if not n.endswith("label")]
    assert len(names) == len(shapes), (names, shapes)
    return {n: rng.standard_normal(shape).astype("float32") for n, shape in zip(names, shapes)}


def outputs_of(symbol, values):
    arguments = symbol.list_arguments()
    executor = symbol.simple_bind(
        mx.cpu(), grad_req="null", type_dict={name: value.dtype for name, value in values.items() if name in arguments},
        **{name: value.shape for name, value in values.items()}
    )  # fmt: skip
    executor.copy_params_from(
        {n: mx.nd.array(v, dtype=v.dtype) for n, v in values.items() if n in executor.arg_dict},
        {n: mx.nd.array(v, dtype=v.dtype) for n, v in values.items() if n in executor.aux_dict},
    )
    return [output.asnumpy() for output in executor.forward(is_train=False)]


def assert_same(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5, err_msg=f"seed {SEED}")
