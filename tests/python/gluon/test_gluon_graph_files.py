# SPDX-License-Identifier: Apache-2.0
"""Files of graphs: exported, imported, saved with their parameters, and those of the reference."""

import json
import pathlib

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon
from mxnet.gluon import nn

from small_nets import fresh_names, small_net  # noqa: F401  (fixtures)

DATA = pathlib.Path(__file__).parents[2] / "data" / "gluon"


def exported(tmp_path):
    net = small_net()
    net.hybridize()
    x = mx.nd.random.uniform(shape=(2, 1, 8, 8))
    out = net(x)
    path = str(tmp_path / "net")
    net.export(path, epoch=3)
    return net, x, out.asnumpy(), path


class _DeclaredInAnotherOrder(gluon.HybridBlock):
    def __init__(self):
        super().__init__()
        self.last, self.norm, self.first = nn.Dense(2, in_units=2), nn.BatchNorm(in_channels=2), nn.Dense(2, in_units=2)
        self.factor = self.params.get("factor", shape=(2,), init="ones")
        self.unused = self.params.get("unused", shape=(2,), init="ones")

    def hybrid_forward(self, F, x, factor, unused):
        return F.broadcast_mul(self.last(self.norm(self.first(x))), factor)


def test_exported_parameters_stand_in_the_order_of_the_graph(tmp_path):
    net = _DeclaredInAnotherOrder()
    net.initialize()
    net.hybridize()
    net(mx.nd.ones((1, 2)))
    with pytest.warns(UserWarning, match="unused has no place"):
        net.export(str(tmp_path / "net"))
    block = gluon.SymbolBlock.imports(str(tmp_path / "net-symbol.json"), "data", str(tmp_path / "net-0000.params"), mx.current_context())
    block(mx.nd.ones((1, 2)))
    block.export(str(tmp_path / "again"))
    written = list(mx.nd.load(str(tmp_path / "net-0000.params")))
    assert [name.rpartition("_")[2] for name in written] == ["weight", "bias", "gamma", "beta", "mean", "var", "weight", "bias", "factor"]
    assert [name[:4] for name in written] == ["arg:"] * 4 + ["aux:"] * 2 + ["arg:"] * 3
    assert list(mx.nd.load(str(tmp_path / "again-0000.params"))) == written


def test_export_needs_a_graph():
    with pytest.raises(RuntimeError, match="no graph yet"):
        nn.Dense(2).export("never")


def test_exported_files_hold_graph_and_parameters(tmp_path):
    net, _, _, path = exported(tmp_path)
    arrays = mx.nd.load(path + "-0003.params")
    assert sorted(arrays) == sorted(
        ("aux:" if "running" in name else "arg:") + name for name in net.collect_params()
    )
    graph = json.loads(pathlib.Path(path + "-symbol.json").read_text())
    assert [node["name"] for node in graph["nodes"]][0] == "data"
    assert graph["attrs"]["mxnet_version"] == ["int", 10901]


@pytest.mark.parametrize("hybridize", [False, True])
def test_imported_block_computes_the_same_and_can_be_trained(tmp_path, hybridize):
    net, x, expected, path = exported(tmp_path)
    block = gluon.SymbolBlock.imports(path + "-symbol.json", ["data"], path + "-0003.params", ctx=mx.cpu())
    if hybridize:
        block.hybridize()
    np.testing.assert_allclose(block(x).asnumpy(), expected, rtol=1e-5, atol=1e-6)
    assert sorted(block.collect_params()) == sorted(net.collect_params())
    with mx.autograd.record():
        loss = block(x).sum()
    loss.backward()
    assert np.abs(block.collect_params()["net_conv0_weight"].grad().asnumpy()).sum() > 0
    assert block.collect_params()["net_batchnorm0_running_mean"].grad_req == "null"


def test_import_names_what_is_missing(tmp_path):
    _, _, _, path = exported(tmp_path)
    empty = str(tmp_path / "empty.params")
    mx.nd.save(empty, {"arg:other": mx.nd.ones((1,))})
    with pytest.raises(AssertionError, match="net_conv0_weight is missing"):
        gluon.SymbolBlock.imports(path + "-symbol.json", "data", empty)
    block = gluon.SymbolBlock.imports(path + "-symbol.json", "data", empty, allow_missing=True, ignore_extra=True)
    with pytest.raises(RuntimeError, match="was not initialized"):
        block(mx.nd.ones((1, 1, 8, 8)))


def test_files_of_layers_without_parameters_load(tmp_path):
    pool = nn.MaxPool2D()
    pool.hybridize()
    x = mx.nd.arange(16).reshape((1, 1, 4, 4))
    there = pool(x)
    pool.export(str(tmp_path / "pool"))
    file = str(tmp_path / "pool-0000.params")
    again = gluon.SymbolBlock.imports(str(tmp_path / "pool-symbol.json"), ["data"], file)
    np.testing.assert_array_equal(again(x).asnumpy(), there.asnumpy())
    pool.collect_params().load(file)
    with pytest.raises(AssertionError, match="dense_weight is missing"):
        nn.Dense(1, in_units=1, prefix="dense_").collect_params().load(file)


def test_a_file_without_names_is_refused_as_such(tmp_path):
    file = str(tmp_path / "list.params")
    mx.nd.save(file, [mx.nd.ones(1)])
    with pytest.raises(ValueError, match="1 arrays without names"):
        nn.Dense(1).collect_params().load(file)


def test_symbol_block_of_internals():
    net = small_net()
    net(mx.nd.ones((2, 1, 8, 8)))
    data = mx.sym.var("data")
    inner = net(data).get_internals()
    features = gluon.SymbolBlock([inner["net_pool0_fwd_output"], inner["net_dense0_fwd_output"]], data, params=net.collect_params())
    pooled, out = features(mx.nd.ones((2, 1, 8, 8)))
    assert pooled.shape == (2, 4, 3, 3)
    np.testing.assert_allclose(out.asnumpy(), net(mx.nd.ones((2, 1, 8, 8))).asnumpy(), rtol=1e-5)
    assert features.collect_params()["net_conv0_weight"] is net[0].weight


def test_symbol_block_can_be_a_part_of_a_net():
    dense = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    block = gluon.SymbolBlock(dense, mx.sym.var("data"))
    assert repr(block) == "SymbolBlock(\n<Symbol fc> : 1 -> 1\n)" and list(block.collect_params()) == ["fc_weight", "fc_bias"]
    net = nn.HybridSequential()
    net.add(block, nn.Dense(2))
    net.initialize()
    x = mx.nd.random.uniform(shape=(2, 4))
    expected = net(x).asnumpy()
    net.hybridize()
    np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-6)
    assert block(mx.sym.var("other")).list_arguments() == ["other", "fc_weight", "fc_bias"]
    with pytest.raises(AssertionError, match="expected a variable"):
        gluon.SymbolBlock(dense, dense)


def test_save_and_load_keep_the_graphs(tmp_path):
    net, x, expected, _ = exported(tmp_path)
    prefix = str(tmp_path / "saved")
    net.save(prefix)
    other = nn.HybridSequential()
    other.add(nn.Conv2D(4, 3, activation="relu"), nn.BatchNorm(), nn.MaxPool2D(), nn.Flatten(), nn.Dense(3))
    other.load(prefix)
    np.testing.assert_allclose(other(x).asnumpy(), expected, rtol=1e-5, atol=1e-6)
    different = nn.HybridSequential()
    different.add(nn.Dense(3))
    with pytest.raises(AssertionError, match="children"):
        different.load(prefix)


def test_files_of_the_reference_load():
    """The graph and its parameters were written by 1.9.1, the outputs computed by it."""
    facts = json.loads((DATA / "reference_net.json").read_text())
    block = gluon.SymbolBlock.imports(
        DATA / "reference_net-symbol.json", ["data"], DATA / "reference_net-0000.params", ctx=mx.cpu()
    )
    x = mx.nd.array(facts["data"])
    np.testing.assert_allclose(block(x).asnumpy(), facts["output"], rtol=1e-4, atol=1e-5)
    net = small_net()
    net.load_parameters(DATA / "reference_net-0000.params")
    np.testing.assert_allclose(net(x).asnumpy(), facts["output"], rtol=1e-4, atol=1e-5)
    net.load_parameters(DATA / "reference_paths.params")
    np.testing.assert_allclose(net(x).asnumpy(), facts["output"], rtol=1e-4, atol=1e-5)


MODELS = [path.name[: -len("-0000.params")] for path in sorted((DATA / "models").glob("*.params"))]
SYMBOLS = {path.name: path for folder in (DATA.parent / "symbols", DATA / "models") for path in folder.glob("*.json")}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("hybridize", [False, True])
def test_models_of_the_reference_predict_what_they_did(name, hybridize):
    """Written and run by 1.9.1: networks of Module, fused recurrent ones, a detector, attention, and a Gluon net."""
    facts = np.load(DATA / "models" / "models.npz")
    names = [key.split("/")[2] for key in facts if key.startswith(f"{name}/feed/")]
    feed = [mx.nd.array(facts[f"{name}/feed/{key}"], dtype=facts[f"{name}/feed/{key}"].dtype) for key in names]
    block = gluon.SymbolBlock.imports(
        SYMBOLS[f"{name}-symbol.json"], names, DATA / "models" / f"{name}-0000.params", allow_missing=True,
        ignore_extra=True,
    )
    if hybridize:
        block.hybridize()
    found = block(*feed)
    found = found if isinstance(found, (list, tuple)) else [found]
    expected = [facts[key] for key in sorted(facts) if key.startswith(f"{name}/predict/")]
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        np.testing.assert_allclose(a.asnumpy(), b, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(
    ("names", "written"),
    [
        (["dense0_weight", "dense1_weight"], ["0_weight", "1_weight"]),
        (["net_dense0_weight", "net_dense0_bias"], ["weight", "bias"]),
        (["a", "b"], ["a", "b"]),
        (["w", "weight"], ["", "eight"]),
        (["alone"], [""]),
    ],
)
def test_parameters_of_a_graph_are_written_without_the_letters_that_they_share(names, written, tmp_path):
    """As the release writes them: a network with such a block, and its files, go from one to the other."""
    data = mx.sym.var("data")
    block = gluon.SymbolBlock(mx.sym.add_n(data, *(mx.sym.var(name, shape=(2,)) for name in names)), data)
    block.initialize(mx.init.Uniform())
    wanted = block(mx.nd.ones(2)).asnumpy()
    outer = nn.HybridSequential()
    outer.add(block)
    path = str(tmp_path / "net.params")
    for net, expected in ((block, written), (outer, [f"0.{name}" for name in written])):
        net.save_parameters(path)
        assert list(mx.nd.load(path)) == expected
        net.initialize(mx.init.Zero(), force_reinit=True)
        net.load_parameters(path)
        np.testing.assert_array_equal(net(mx.nd.ones(2)).asnumpy(), wanted)
    assert list(outer.collect_params()) == names
    outer.save_parameters(path)
    with pytest.raises(AssertionError, match="given shape"):
        wrong = {name: mx.nd.ones(3) for name in mx.nd.load(path)}
        mx.nd.save(path, wrong)
        outer.load_parameters(path)


def test_files_of_full_names_are_read_by_a_graph(tmp_path):
    data = mx.sym.var("data")
    block = gluon.SymbolBlock(data + mx.sym.var("dense0_w") + mx.sym.var("dense1_w"), data)
    path = str(tmp_path / "net.params")
    for names in (["dense0_w", "dense1_w"], ["arg:dense0_w", "arg:dense1_w"], ["0_w", "1_w"]):
        mx.nd.save(path, {name: mx.nd.ones(2) * (place + len(name)) for place, name in enumerate(names)})
        block.load_parameters(path, ctx=mx.current_context())
        assert block(mx.nd.zeros(2)).asnumpy().tolist() == [2 * len(names[0]) + 1] * 2
    mx.nd.save(path, {"0_w": mx.nd.ones(2)})
    with pytest.raises(AssertionError, match="1_w is missing"):
        block.load_parameters(path)
