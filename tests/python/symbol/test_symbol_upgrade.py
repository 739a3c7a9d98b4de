# SPDX-License-Identifier: Apache-2.0
"""Saved symbols of older versions: each step of the upgrade, on both sides of the version from which on it is left out.
What is expected was obtained by loading the same texts with 1.9.1, except where a test says that the two differ."""

import json

import pytest

import mxnet as mx

NEWEST = 10901
ATTRIBUTES = ("param", "attr", "attrs")  # what the map was called in 0.8, then, and since 1.0


def load(nodes, version):
    graph = {
        "nodes": nodes,
        "arg_nodes": [i for i, node in enumerate(nodes) if node["op"] == "null"],
        "heads": [[len(nodes) - 1, 0]],
    }
    if version is not None:
        graph["attrs"] = {"mxnet_version": ["int", version]}
    return mx.sym.load_json(json.dumps(graph))


def variable(name, **kwargs):
    return {"op": "null", "name": name, "inputs": [], **kwargs}


def dense(**kwargs):
    inputs = [variable(name) for name in ("x", "w", "b")]
    return [*inputs, {"op": "FullyConnected", "name": "fc", "inputs": [[0, 0], [1, 0], [2, 0]], **kwargs}]


@pytest.mark.parametrize("key", ATTRIBUTES)
@pytest.mark.parametrize("version", [None, 800, 905, 1000, 10900])
def test_bare_keys_of_an_operator_become_hidden_ones(version, key):
    symbol = load(dense(**{key: {"num_hidden": "4", "lr_mult": "2.0", "ctx_group": "g"}}), version)
    assert symbol.attr_dict()["fc"] == {
        "num_hidden": "4", "__lr_mult__": "2.0", "lr_mult": "2.0", "__ctx_group__": "g", "ctx_group": "g",
    }  # fmt: skip


@pytest.mark.parametrize("version", [None, 800, 905, 10900])
def test_bare_keys_of_a_variable_become_hidden_ones(version):
    bare = {"wd_mult": "3", "foo": "bar", "force_mirroring": "1", "mirror_stage": "2"}
    symbol = load([variable("x", attr=bare), {"op": "relu", "name": "r", "inputs": [[0, 0]]}], version)
    hidden = {f"__{key}__": value for key, value in bare.items() if key != "foo"}
    assert symbol.attr_dict()["x"] == {**bare, **hidden}


@pytest.mark.parametrize("version", [None, 904, 10900])
def test_keys_for_an_input_move_to_its_variable(version):
    symbol = load(dense(attr={"num_hidden": "4", "weight_lr_mult": "2.0", "bias_wd_mult": "5"}), version)
    attributes = symbol.attr_dict()
    assert attributes["fc"] == {"num_hidden": "4"}
    assert attributes["w"] == {"__lr_mult__": "2.0", "lr_mult": "2.0"}
    assert attributes["b"] == {"__wd_mult__": "5", "wd_mult": "5"}


def test_keys_for_an_input_of_a_variable_itself_stay_as_they_are():
    symbol = load([variable("x", attr={"weight_lr_mult": "2"}), {"op": "relu", "name": "r", "inputs": [[0, 0]]}], 800)
    assert symbol.attr_dict()["x"] == {"weight_lr_mult": "2"}


@pytest.mark.parametrize("attributes", [{"lr_mult": "2.0"}, {"weight_lr_mult": "2.0"}])
def test_newer_files_are_taken_at_their_word(attributes):
    with pytest.raises(mx.MXNetError, match="lr_mult"):
        load(dense(attrs={"num_hidden": "4", **attributes}), NEWEST)


@pytest.mark.parametrize("version", [None, 800, 899])
def test_states_that_old_files_leave_out_are_made(version):
    inputs = [variable(name) for name in ("x", "g", "b")]
    node = {"op": "BatchNorm", "name": "bn", "inputs": [[0, 0], [1, 0], [2, 0]], "param": {"eps": "0.001"}}
    symbol = load([*inputs, node], version)
    assert symbol.list_auxiliary_states() == ["bn_moving_mean", "bn_moving_var"]
    assert symbol.attr_dict()["bn_moving_var"] == {"eps": "0.001", "__init__": '["one", {}]'}


@pytest.mark.parametrize("version", [900, 10900, NEWEST])
def test_states_that_later_files_leave_out_are_an_error(version):
    # 1.9.1 loads them, and crashes when they run.
    inputs = [variable(name) for name in ("x", "g", "b")]
    node = {"op": "BatchNorm", "name": "bn", "inputs": [[0, 0], [1, 0], [2, 0]]}
    with pytest.raises(mx.MXNetError, match="given 3 inputs in a file, expected 5"):
        load([*inputs, node], version)


@pytest.mark.parametrize(("version", "expected"), [(None, True), (903, True), (904, False), (NEWEST, False)])
def test_states_of_files_before_0_9_4_get_their_initializer(version, expected):
    inputs = [variable(name) for name in ("x", "g", "b", "m", "v")]
    inputs[3]["attr"] = {"__init__": '["one", {}]'}
    node = {"op": "BatchNorm", "name": "bn", "inputs": [[i, 0] for i in range(5)]}
    attributes = load([*inputs, node], version).attr_dict()
    assert attributes["m"]["__init__"] == '["one", {}]'
    assert ("v" in attributes) == expected
    assert not expected or attributes["v"] == {"__init__": '["one", {}]'}


@pytest.mark.parametrize("op", ["argmax", "argmin"])
@pytest.mark.parametrize(("version", "axis"), [(None, None), (904, None), (905, "-1"), (NEWEST, "-1")])
def test_the_old_default_of_argmax_means_no_axis(op, version, axis):
    node = {"op": op, "name": "a", "inputs": [[0, 0]], "attr": {"axis": "-1", "keepdims": "True"}}
    assert load([variable("x"), node], version).attr("axis") == axis
    node["attr"]["axis"] = "1"
    assert load([variable("x"), node], version).attr("axis") == "1"


@pytest.mark.parametrize("version", [None, 904, NEWEST])
def test_operator_attributes_are_parsed_whatever_the_version(version):
    with pytest.raises(mx.MXNetError, match="num_hidden"):
        load(dense(attrs={"num_hidden": "many"}), version)


def test_a_newer_version_is_a_warning(capfd):
    symbol = load(dense(attrs={"num_hidden": "4"}), 20000)
    assert symbol.list_arguments() == ["x", "w", "b"]
    assert "20000" in capfd.readouterr().err


def test_fields_of_backward_nodes_are_read_over():
    node = {"op": "relu", "name": "r", "inputs": [[0, 0]], "backward_source_id": -1}
    assert load([variable("x", backward_source_id=-1), node], 800).list_outputs() == ["r_output"]


# ---- layers with what follows them


@pytest.mark.parametrize("version", [10500, 10501])
@pytest.mark.parametrize("layer, old, new", [
    ("conv", "with_relu", "with_act"), ("conv", "with_postsum_relu", "with_postsum_act"),
    ("dense", "with_relu", "with_eltwise"),
])
def test_activations_of_fused_layers_were_named_after_relu(version, layer, old, new):
    x = mx.sym.var("x")
    made = mx.sym.Convolution(x, kernel=(1, 1), num_filter=2) if layer == "conv" else mx.sym.FullyConnected(x, num_hidden=2)
    if old == "with_postsum_relu":
        made = made + mx.sym.var("y")
    fused = mx.sym.relu(made).get_backend_symbol("MKLDNN_QUANTIZE")
    graph = json.loads(fused.tojson())
    (node,) = [node for node in graph["nodes"] if node["op"].startswith("_sg_mkldnn_")]
    node.setdefault("attrs", {})[old] = "true"
    graph["attrs"]["mxnet_version"] = ["int", version]
    loaded = mx.sym.load_json(json.dumps(graph))
    assert loaded.attr_dict()[node["name"]][new] == "true"
    shapes = {"x": (1, 3, 4, 4), "y": (1, 2, 4, 4)}
    shapes = {name: shapes[name] for name in fused.list_inputs() if name in shapes}
    sizes = dict(zip(fused.list_inputs(), fused.infer_shape(**shapes)[0]))
    arrays = {name: mx.nd.array(range(-3, mx.nd.zeros(size).size - 3)).reshape(size) for name, size in sizes.items()}
    results = [symbol.bind(mx.cpu(), arrays).forward()[0].asnumpy().tolist() for symbol in (loaded, fused)]
    assert results[0] == results[1]
