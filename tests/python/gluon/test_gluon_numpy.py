# SPDX-License-Identifier: Apache-2.0
"""Gluon on mx.np arrays: what layers, losses and training take and give are arrays of mx.np, hybridized or not."""

import numpy as onp
import pytest

import mxnet as mx
from mxnet import gluon
from mxnet.gluon import contrib, loss, nn, rnn
from mxnet.gluon.model_zoo import vision


@pytest.fixture(autouse=True)
def numpy_mode():
    mx.npx.set_np()
    mx.random.seed(1)
    yield
    mx.npx.reset_np()


LAYERS = [
    (nn.Dense, (3,), {"activation": "relu"}, (2, 4), (2, 3)),
    (nn.Dense, (3,), {"flatten": False}, (2, 5, 4), (2, 5, 3)),
    (nn.BatchNorm, (), {}, (2, 3, 4, 4), (2, 3, 4, 4)),
    (nn.Conv2D, (3, 3), {"activation": "relu"}, (1, 2, 5, 5), (1, 3, 3, 3)),
    (nn.Conv2DTranspose, (3, 3), {}, (1, 2, 5, 5), (1, 3, 7, 7)),
    (nn.MaxPool2D, (), {}, (1, 2, 4, 4), (1, 2, 2, 2)),
    (nn.GlobalAvgPool2D, (), {}, (1, 2, 4, 4), (1, 2, 1, 1)),
    (nn.Dropout, (0.5,), {}, (2, 3), (2, 3)),
    (nn.Dropout, (0,), {}, (2, 3), (2, 3)),
    (nn.Flatten, (), {}, (2, 3, 4), (2, 12)),
    (nn.Embedding, (5, 3), {}, (2, 4), (2, 4, 3)),
    (nn.LeakyReLU, (0.1,), {}, (2, 3), (2, 3)),
    (nn.PReLU, (), {}, (2, 3), (2, 3)),
    (nn.ELU, (), {}, (2, 3), (2, 3)),
    (nn.SELU, (), {}, (2, 3), (2, 3)),
    (nn.GELU, (), {}, (2, 3), (2, 3)),
    (nn.Swish, (), {}, (2, 3), (2, 3)),
    (nn.LayerNorm, (), {}, (2, 3), (2, 3)),
    (nn.InstanceNorm, (), {}, (2, 3, 4), (2, 3, 4)),
    (nn.GroupNorm, (2,), {}, (2, 4, 3), (2, 4, 3)),
    (nn.ReflectionPad2D, (1,), {}, (1, 1, 4, 4), (1, 1, 6, 6)),
    (nn.HybridLambda, ("sin",), {}, (2, 3), (2, 3)),
    (nn.HybridLambda, ("relu",), {}, (2, 3), (2, 3)),
    (contrib.nn.PixelShuffle2D, (2,), {}, (1, 4, 3, 3), (1, 1, 6, 6)),
    (rnn.LSTM, (3,), {}, (4, 2, 5), (4, 2, 3)),
    (rnn.GRU, (3, 2, "NTC"), {"bidirectional": True}, (2, 4, 5), (2, 4, 6)),
]


@pytest.mark.parametrize("kind, args, options, shape, expected", LAYERS, ids=[f"{row[0].__name__}{row[1]}" for row in LAYERS])
def test_layers_give_the_same_as_blocks_and_as_graphs(kind, args, options, shape, expected):
    layer = kind(*args, **options)
    layer.initialize()
    x = mx.np.ones(shape)
    eager = layer(x)
    layer.hybridize()
    graph = layer(x)
    assert type(eager) is type(graph) is mx.np.ndarray and eager.shape == expected
    onp.testing.assert_allclose(graph.asnumpy(), eager.asnumpy(), rtol=1e-4, atol=1e-5)


def rows(*shape):
    return mx.np.random.uniform(0.1, 1, size=shape)


LOSSES = [
    (loss.L2Loss(), 2, None), (loss.L1Loss(), 2, None), (loss.SigmoidBCELoss(), 2, None),
    (loss.SigmoidBCELoss(from_sigmoid=True), 2, None), (loss.SoftmaxCELoss(sparse_label=False), 2, None),
    (loss.KLDivLoss(), 2, None), (loss.HuberLoss(), 2, None), (loss.HingeLoss(), 2, None), (loss.SquaredHingeLoss(), 2, None),
    (loss.LogisticLoss(), 2, None), (loss.TripletLoss(), 3, None), (loss.PoissonNLLLoss(compute_full=True), 2, None),
    (loss.CosineEmbeddingLoss(), 2, "signs"), (loss.SoftmaxCELoss(), 1, "classes"),
]


@pytest.mark.parametrize("made, inputs, labels", LOSSES, ids=[type(row[0]).__name__ for row in LOSSES])
def test_losses_agree_with_those_of_nd(made, inputs, labels):
    arrays = [rows(4, 5) for _ in range(inputs)]
    if labels == "signs":
        arrays.append(mx.np.array([1, -1, 1, -1]))
    elif labels == "classes":
        arrays.append(mx.np.array([0, 1, 2, 3]))
    eager = made(*arrays)
    made.hybridize()
    graph = made(*arrays)
    made.hybridize(False)
    assert type(eager) is type(graph) is mx.np.ndarray
    mx.npx.reset_np()
    legacy = made(*[array.as_nd_ndarray() for array in arrays]).asnumpy()
    onp.testing.assert_allclose(eager.asnumpy().reshape(legacy.shape), legacy, rtol=1e-5, atol=1e-6)
    onp.testing.assert_allclose(graph.asnumpy().reshape(legacy.shape), legacy, rtol=1e-5, atol=1e-6)


def test_losses_that_are_no_graphs_or_have_other_shapes():
    assert type(loss.SDMLLoss()(rows(4, 5), rows(4, 5))) is mx.np.ndarray
    assert loss.CTCLoss()(rows(2, 5, 4), mx.np.ones((2, 2))).shape == (2,)


@pytest.mark.parametrize("valid", [False, True])
def test_cells_unroll_to_numpy_arrays_and_mask_what_is_past_the_length(valid):
    lengths = mx.np.array([1, 3]) if valid else None
    for cell in (rnn.LSTMCell(3), rnn.BidirectionalCell(rnn.GRUCell(3), rnn.RNNCell(3)), rnn.ResidualCell(rnn.GRUCell(4))):
        cell.initialize()
        out, states = cell.unroll(3, rows(2, 3, 4), merge_outputs=True, valid_length=lengths)
        assert type(out) is mx.np.ndarray and type(states[0]) is mx.np.ndarray and out.shape[:2] == (2, 3)
        assert not valid or (out.asnumpy()[0, 1:] == 0).all()


def test_training_and_files(tmp_path):
    net = nn.HybridSequential()
    net.add(nn.Dense(4, activation="relu"), nn.Dense(2))
    net.initialize()
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1})
    x, y = rows(3, 2), mx.np.ones((3, 2))
    losses = []
    for _ in range(5):
        with mx.autograd.record():
            value = loss.L2Loss()(net(x), y)
        value.backward()
        gluon.utils.clip_global_norm([p.grad() for p in net.collect_params().values()], 1.0)
        trainer.step(3)
        losses.append(float(value.mean()))
    assert losses[-1] < losses[0] and type(net[0].weight.grad()) is mx.np.ndarray
    path = str(tmp_path / "net")
    net.export(path)
    block = gluon.SymbolBlock.imports(path + "-symbol.json", "data", path + "-0000.params")
    assert type(block(x)) is mx.np.ndarray
    onp.testing.assert_allclose(block(x).asnumpy(), net(x).asnumpy(), rtol=1e-5)
    net.save_parameters(path)
    net.load_parameters(path)
    assert type(net[0].weight.data()) is mx.np.ndarray
    assert type(gluon.Constant("c", [1, 2]).value) is mx.np.ndarray
    parts = gluon.utils.split_and_load(onp.ones((4, 2)), [mx.cpu(0), mx.cpu(1)])
    assert type(parts[0]) is mx.np.ndarray


def test_unknown_dimensions_are_shown_as_minus_one():
    layer = nn.Dense(3)
    assert layer.weight.shape == (3, -1) and nn.Conv2D(2, 3).weight.shape == (2, -1, 3, 3)
    layer.initialize()
    layer(mx.np.ones((0, 4)))
    assert layer.weight.shape == (3, 4)


def test_networks_of_the_zoo():
    net = vision.resnet18_v2(classes=3)
    net.initialize()
    assert type(net(mx.np.ones((1, 3, 32, 32)))) is mx.np.ndarray
    net.hybridize()
    assert net(mx.np.ones((1, 3, 32, 32))).shape == (1, 3)


def test_files_are_loaded_as_arrays_of_np(tmp_path):
    """Also into a network that was never initialized, whose arrays the file makes."""
    net, clone, prefixed = (nn.HybridSequential(prefix="net_") for _ in range(3))
    for made in (net, clone, prefixed):
        with made.name_scope():
            made.add(nn.Dense(3), nn.BatchNorm(), nn.Dense(2))
    net.initialize()
    net.hybridize()
    x = mx.np.ones((2, 4))
    wanted = net(x)
    net.save_parameters(str(tmp_path / "a.params"))
    net.collect_params().save(str(tmp_path / "b.params"))
    net.export(str(tmp_path / "c"))
    here = mx.current_context()
    clone.load_parameters(str(tmp_path / "a.params"), ctx=here)
    prefixed.collect_params().load(str(tmp_path / "b.params"), ctx=here)
    block = gluon.SymbolBlock.imports(str(tmp_path / "c-symbol.json"), ["data"], str(tmp_path / "c-0000.params"), ctx=here)
    for loaded in (clone, prefixed, block):
        assert all(type(item.data()) is mx.np.ndarray for item in loaded.collect_params().values())
        onp.testing.assert_allclose(loaded(x).asnumpy(), wanted.asnumpy(), rtol=1e-5)
    with mx.autograd.record():
        loss = clone(x).sum()
    loss.backward()
    assert type(clone[0].weight.grad()) is mx.np.ndarray
