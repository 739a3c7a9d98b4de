# SPDX-License-Identifier: Apache-2.0
"""Layers: the graphs that 1.9.1 makes of them, and their numbers against NumPy."""

import copy
import json
import math
import pathlib
import pickle

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon
from mxnet.gluon import contrib, nn

DATA = pathlib.Path(__file__).parents[2] / "data" / "gluon"
LAYERS = json.loads((DATA / "layers.json").read_text())


def nodes_of(symbol):
    found = []
    for node in json.loads(symbol.tojson())["nodes"]:
        attributes = {key: value for key, value in sorted(node.get("attrs", {}).items()) if not key.startswith("__")}
        found.append([node["op"], node["name"], attributes, [entry[:2] for entry in node["inputs"]]])
    return found


@pytest.mark.parametrize("row", LAYERS, ids=[row["layer"] for row in LAYERS])
def test_graph_is_that_of_the_reference(row):
    """tests/data/gluon/layers.json was made by running 1.9.1."""
    names = {"nn": nn, "contrib_nn": contrib.nn, "contrib_cnn": contrib.cnn}
    with mx.name.NameManager():
        layer = eval(row["layer"], names)  # pylint: disable=eval-used
        made = layer(*[mx.sym.var(f"x{i}") for i in range(row["inputs"])])
    assert nodes_of(made) == row["nodes"]


def run(layer, *arrays, train=False):
    layer.initialize(mx.init.Uniform(0.5))
    inputs = [mx.nd.array(array) for array in arrays]
    if not train:
        return layer(*inputs).asnumpy()
    with mx.autograd.record():
        return layer(*inputs).asnumpy()


@pytest.fixture
def x():
    return np.random.RandomState(3).standard_normal((4, 6)).astype(np.float32)


ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "softrelu": lambda x: np.log1p(np.exp(x)),
    "softsign": lambda x: x / (1 + np.abs(x)),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_compute_their_formulas(name, x):
    np.testing.assert_allclose(run(nn.Activation(name), x), ACTIVATIONS[name](x), rtol=1e-5, atol=1e-6)


def test_activations_with_parameters_are_their_formulas(x):
    positive, negative = np.maximum(x, 0), np.minimum(x, 0)
    erf = np.vectorize(math.erf)
    cases = {
        nn.LeakyReLU(0.1): positive + 0.1 * negative,
        nn.PReLU(): positive + 0.25 * negative,
        nn.ELU(1.5): positive + 1.5 * np.expm1(negative),
        nn.SELU(): 1.0507009873554805 * (positive + 1.6732632423543772 * np.expm1(negative)),
        nn.GELU(): 0.5 * x * (1 + erf(x / np.sqrt(2))),
        nn.Swish(2.0): x / (1 + np.exp(-2 * x)),
    }
    for layer, expected in cases.items():
        np.testing.assert_allclose(run(layer, x), expected, rtol=1e-4, atol=1e-5, err_msg=str(layer))
    with pytest.raises(ValueError, match="at least 0"):
        nn.LeakyReLU(-1)


@pytest.mark.parametrize("flatten, shape", [(True, (2, 3, 4)), (False, (2, 3, 4))])
def test_dense_multiplies_rows_or_last_axes(flatten, shape):
    x = np.random.RandomState(1).standard_normal(shape).astype(np.float32)
    layer = nn.Dense(5, flatten=flatten, activation="relu", bias_initializer="ones")
    out = run(layer, x)
    weight = layer.weight.data().asnumpy()
    rows = x.reshape(2, -1) if flatten else x
    np.testing.assert_allclose(out, np.maximum(rows @ weight.T + 1, 0), rtol=1e-5, atol=1e-6)
    assert layer.weight.shape == (5, 12 if flatten else 4)


def test_batch_norm_follows_the_batches(x):
    layer = nn.BatchNorm(momentum=0.5)
    out = run(layer, x, train=True)
    mean, var = x.mean(0), x.var(0)
    np.testing.assert_allclose(out, (x - mean) / np.sqrt(var + 1e-5), rtol=1e-4, atol=1e-5)
    with mx.autograd.record():
        loss = layer(mx.nd.array(x)).sum()
    loss.backward()
    np.testing.assert_allclose(layer.running_mean.data().asnumpy(), 0.5 * mean, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(layer.running_var.data().asnumpy(), 0.5 + 0.5 * var, rtol=1e-4)
    fixed = run(nn.BatchNorm(use_global_stats=True), x, train=True)
    np.testing.assert_allclose(fixed, x / np.sqrt(1 + 1e-5), rtol=1e-4)


def test_normalizations_of_samples():
    x = np.random.RandomState(2).standard_normal((2, 4, 3, 5)).astype(np.float32)

    def normalized(values, axes, eps=1e-5):
        mean, var = values.mean(axes, keepdims=True), values.var(axes, keepdims=True)
        return (values - mean) / np.sqrt(var + eps)

    np.testing.assert_allclose(run(nn.LayerNorm(), x), normalized(x, -1), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(run(nn.LayerNorm(axis=1), x), normalized(x, 1), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(run(nn.InstanceNorm(), x), normalized(x, (2, 3)), rtol=1e-3, atol=1e-4)
    groups = normalized(x.reshape(2, 2, 2, 3, 5), (2, 3, 4)).reshape(x.shape)
    np.testing.assert_allclose(run(nn.GroupNorm(2), x), groups, rtol=1e-3, atol=1e-4)


def test_dropout_drops_in_training_only():
    x = np.ones((100, 100), np.float32)
    layer = nn.Dropout(0.25)
    np.testing.assert_array_equal(run(layer, x), x)
    mx.random.seed(1)
    out = run(layer, x, train=True)
    assert set(np.unique(out.round(5))) == {0.0, np.float32(1.33333)}
    assert abs((out == 0).mean() - 0.25) < 0.02
    rows = run(nn.Dropout(0.5, axes=(1,)), x, train=True)
    assert ((rows == rows[:, :1]).all(axis=1)).all()


def test_embedding_takes_rows_and_trains_those_alone():
    for sparse in (False, True):
        layer = nn.Embedding(5, 3, sparse_grad=sparse)
        layer.initialize()
        numbers = mx.nd.array([[0, 2], [2, 4]])
        with mx.autograd.record():
            out = layer(numbers)
            loss = out.sum()
        loss.backward()
        np.testing.assert_array_equal(out.asnumpy(), layer.weight.data().asnumpy()[[[0, 2], [2, 4]]])
        grad = layer.weight.grad()
        assert grad.stype == ("row_sparse" if sparse else "default")
        np.testing.assert_array_equal(grad.asnumpy()[:, 0], [1, 0, 2, 0, 1])


def windows(x, size, stride):
    out = [[x[..., i : i + size, j : j + size] for j in range(0, x.shape[-1] - size + 1, stride)]
           for i in range(0, x.shape[-2] - size + 1, stride)]
    return np.array(out)  # rows, columns, ..., size, size


def test_convolution_and_pooling():
    x = np.random.RandomState(4).standard_normal((2, 3, 7, 7)).astype(np.float32)
    layer = nn.Conv2D(4, 3, strides=2, bias_initializer="ones")
    out = run(layer, x)
    weight = layer.weight.data().asnumpy()
    expected = np.einsum("hwncij,ocij->nohw", windows(x, 3, 2), weight) + 1
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(run(nn.MaxPool2D(3, 2), x), windows(x, 3, 2).max((-1, -2)).transpose(2, 3, 0, 1))
    np.testing.assert_allclose(
        run(nn.AvgPool2D(3, 2), x), windows(x, 3, 2).mean((-1, -2)).transpose(2, 3, 0, 1), rtol=1e-4, atol=1e-6
    )
    np.testing.assert_allclose(run(nn.GlobalAvgPool2D(), x)[..., 0, 0], x.mean((2, 3)), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(run(nn.GlobalMaxPool2D(), x)[..., 0, 0], x.max((2, 3)))


@pytest.mark.parametrize(
    "layer, shape, expected",
    [
        (nn.Conv1D(4, 3, 2, 1), (2, 3, 9), (2, 4, 5)),
        (nn.Conv3D(4, 3, groups=1), (2, 3, 5, 5, 5), (2, 4, 3, 3, 3)),
        (nn.Conv2D(6, 3, groups=3), (2, 3, 5, 5), (2, 6, 3, 3)),
        (nn.Conv1DTranspose(4, 3, 2, 1, 1), (2, 3, 5), (2, 4, 10)),
        (nn.Conv2DTranspose(4, 3, strides=2, padding=1, output_padding=1), (2, 3, 5, 5), (2, 4, 10, 10)),
        (nn.Conv3DTranspose(2, 2), (1, 3, 3, 3, 3), (1, 2, 4, 4, 4)),
        (nn.MaxPool1D(3, 2), (2, 3, 7), (2, 3, 3)),
        (nn.MaxPool3D(2), (1, 2, 4, 4, 4), (1, 2, 2, 2, 2)),
        (nn.AvgPool1D(2), (2, 3, 7), (2, 3, 3)),
        (nn.AvgPool3D(2), (1, 2, 4, 4, 4), (1, 2, 2, 2, 2)),
        (nn.MaxPool2D(3, 2, ceil_mode=True), (1, 1, 6, 6), (1, 1, 3, 3)),
        (nn.GlobalAvgPool1D(), (2, 3, 7), (2, 3, 1)),
        (nn.GlobalMaxPool3D(), (1, 2, 4, 4, 4), (1, 2, 1, 1, 1)),
        (nn.ReflectionPad2D(2), (1, 1, 4, 5), (1, 1, 8, 9)),
        (nn.Flatten(), (2, 3, 4), (2, 12)),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, gluon.Block) else str(value),
)
def test_layers_give_shapes_that_follow_from_their_parameters(layer, shape, expected):
    assert run(layer, np.ones(shape, np.float32)).shape == expected


@pytest.mark.parametrize("layer", [nn.Conv2D, nn.Conv1D, nn.MaxPool2D, nn.AvgPool3D])
def test_unknown_layout_is_an_error(layer):
    with pytest.raises(ValueError, match="given layout 'XYZ'"):
        layer(*((3, 3) if "Conv" in layer.__name__ else ()), layout="XYZ")


def test_functions_as_layers(x):
    np.testing.assert_array_equal(run(nn.Lambda("relu"), x), np.maximum(x, 0))
    np.testing.assert_array_equal(run(nn.Lambda(lambda a: a * 2), x), x * 2)
    layer = nn.HybridLambda(lambda F, a: F.square(a))
    np.testing.assert_allclose(run(layer, x), x * x)
    layer.hybridize()
    np.testing.assert_allclose(run(layer, x), x * x)
    assert repr(nn.HybridLambda("tanh")) == "HybridLambda(tanh)"
    for layer in (nn.HybridLambda("tanh"), nn.Lambda("tanh")):
        for made in (pickle.loads(pickle.dumps(layer)), copy.deepcopy(layer)):
            np.testing.assert_allclose(run(made, x), np.tanh(x), rtol=1e-5)
    with pytest.raises(ValueError, match="expected one of mxnet.ndarray"):
        nn.Lambda("no_such_function")
    with pytest.raises(ValueError, match="expected a function"):
        nn.HybridLambda(3)


# --- contrib


def test_concurrent_layers_join_what_each_makes(x):
    for kind in (contrib.nn.Concurrent, contrib.nn.HybridConcurrent):
        net = kind(axis=1)
        net.add(contrib.nn.Identity(), nn.HybridLambda(lambda F, a: a * 2))
        np.testing.assert_array_equal(run(net, x), np.concatenate([x, 2 * x], axis=1))


def test_pixel_shuffles_move_channels_into_space():
    flat = np.arange(2 * 4 * 3, dtype=np.float32).reshape(2, 4, 3)
    expected = flat.reshape(2, 2, 2, 3).transpose(0, 1, 3, 2).reshape(2, 2, 6)
    np.testing.assert_array_equal(run(contrib.nn.PixelShuffle1D(2), flat), expected)
    image = np.arange(12 * 2 * 3, dtype=np.float32).reshape(1, 12, 2, 3)
    expected = image.reshape(1, 2, 2, 3, 2, 3).transpose(0, 1, 4, 2, 5, 3).reshape(1, 2, 4, 9)
    np.testing.assert_array_equal(run(contrib.nn.PixelShuffle2D((2, 3)), image), expected)
    volume = np.arange(24 * 2 * 1 * 2, dtype=np.float32).reshape(1, 24, 2, 1, 2)
    expected = volume.reshape(1, 1, 2, 3, 4, 2, 1, 2).transpose(0, 1, 5, 2, 6, 3, 7, 4).reshape(1, 1, 4, 3, 8)
    layer = contrib.nn.PixelShuffle3D((2, 3, 4))
    np.testing.assert_array_equal(run(layer, volume), expected)
    layer.hybridize()
    np.testing.assert_array_equal(run(layer, volume), expected)
    with pytest.raises(AssertionError, match="expected a number or 2"):
        contrib.nn.PixelShuffle2D((1, 2, 3))


@pytest.mark.parametrize("kind", [contrib.cnn.DeformableConvolution, contrib.cnn.ModulatedDeformableConvolution])
def test_deformable_convolution_without_offsets_is_a_convolution(kind):
    """Offsets start at 0, and the factors of the modulated one at 1."""
    x = np.random.RandomState(5).standard_normal((2, 3, 6, 6)).astype(np.float32)
    layer = kind(4, 3, padding=1, in_channels=3)
    out = run(layer, x)
    plain = nn.Conv2D(4, 3, padding=1, in_channels=3)
    plain.initialize()
    plain.weight.set_data(layer.deformable_conv_weight.data())
    np.testing.assert_allclose(out, plain(mx.nd.array(x)).asnumpy(), rtol=1e-4, atol=1e-5)


def test_sync_batch_norm_is_batch_norm_on_one_device(x):
    image = x.reshape(2, 3, 2, 2)
    np.testing.assert_allclose(
        run(contrib.nn.SyncBatchNorm(in_channels=3, num_devices=1), image, train=True),
        run(nn.BatchNorm(), image, train=True), rtol=1e-4, atol=1e-5,
    )
