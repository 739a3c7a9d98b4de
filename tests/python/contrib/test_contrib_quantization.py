# SPDX-License-Identifier: Apache-2.0
"""Networks in 8-bit integers: which nodes take their quantized form, calibration, and results near the real ones.

The structures that are expected are those of release 1.9.1 for the same networks (run there and copied).
"""

import json
import logging

import mxnet as mx
import numpy as np
import pytest
from mxnet.contrib import quantization as q

SEED = 20261120


def conv(data, name, **kwargs):
    return mx.sym.Convolution(data, kernel=(3, 3), pad=(1, 1), num_filter=8, name=name, **kwargs)


def relu(data, name):
    return mx.sym.Activation(data, act_type="relu", name=name)


def lenet():
    net = mx.sym.Variable("data")
    for i in (1, 2):
        net = mx.sym.Pooling(relu(conv(net, f"conv{i}"), f"relu{i}"), kernel=(2, 2), stride=(2, 2), pool_type="max", name=f"pool{i}")
    net = relu(mx.sym.FullyConnected(mx.sym.Flatten(net, name="flat"), num_hidden=16, name="fc1"), "relu3")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=10, name="fc2"), name="softmax")


def residual_block():
    def normed(data, i):
        return mx.sym.BatchNorm(conv(data, f"conv{i}", no_bias=True), fix_gamma=False, name=f"bn{i}")

    start = relu(normed(mx.sym.Variable("data"), 0), "relu0")
    end = normed(relu(normed(start, 1), "relu1"), 2)
    summed = relu(mx.sym.elemwise_add(start, end, name="add"), "relu2")
    pooled = mx.sym.Pooling(summed, global_pool=True, pool_type="avg", kernel=(1, 1), name="pool")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(pooled, num_hidden=10, name="fc"), name="softmax")


def mlp():
    net = mx.sym.Variable("data")
    for i in range(3):
        net = relu(mx.sym.FullyConnected(net, num_hidden=32, name=f"fc{i}"), f"relu{i}")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=10, name="last"), name="softmax")


SHAPES = {lenet: (16, 3, 12, 12), residual_block: (16, 8, 10, 10), mlp: (16, 20)}


def parameters(net, shape):
    draws = np.random.RandomState(SEED)
    args, _, aux = net.infer_shape(data=shape)
    arg_params, aux_params = {}, {}
    for name, size in zip(net.list_arguments(), args):
        if name not in ("data", "softmax_label"):
            spread = 1.5 / np.sqrt(np.prod(size[1:])) if len(size) > 1 else 0.02
            drawn = draws.uniform(-spread, spread, size)
            arg_params[name] = mx.nd.array(np.abs(drawn) * 5 if name.endswith("gamma") else drawn)
    for name, size in zip(net.list_auxiliary_states(), aux):
        aux_params[name] = mx.nd.array(draws.uniform(0.5, 1.5, size) if name.endswith("var") else draws.uniform(-0.1, 0.1, size))
    return arg_params, aux_params


def examples(shape):
    return np.random.RandomState(SEED + 1).uniform(-1, 1, shape).astype("float32")


def run(sym, arg_params, aux_params, data):
    executor = sym.simple_bind(mx.cpu(), data=data.shape, grad_req="null")
    executor.copy_params_from(arg_params, aux_params, allow_extra_params=True)
    return executor.forward(is_train=False, data=mx.nd.array(data))[0].asnumpy()


def nodes(sym):
    return [node for node in json.loads(sym.tojson())["nodes"] if node["op"] != "null"]


def names(sym):
    return [node["name"] for node in nodes(sym)]


def quantized(net, **kwargs):
    """The symbol, its parameters, and the names of the values to calibrate."""
    shape = SHAPES.get(kwargs.pop("of", None), (2, 8, 6, 6))
    arg_params, aux_params = parameters(net, shape)
    qsym, qarg, _, collector = q.quantize_graph(net, arg_params, aux_params, calib_mode="naive", **kwargs)
    return qsym, qarg, collector.include_layer


def test_every_layer_of_a_convolutional_network_takes_bytes():
    qsym, qarg, calibrated = quantized(lenet(), of=lenet)
    assert names(qsym) == [
        "data_quantize", "quantized_conv1", "requantize_conv1", "quantized_relu1", "quantized_pool1", "quantized_conv2",
        "requantize_conv2", "quantized_relu2", "quantized_pool2", "quantized_flat", "quantized_fc1", "requantize_fc1",
        "quantized_relu3", "quantized_fc2", "requantize_fc2", "fc2_dequantize", "softmax",
    ]  # fmt: skip
    assert calibrated == ["data", "conv1_output", "conv2_output", "fc1_output", "fc2_output"]
    assert qsym.list_arguments()[:7] == [
        "data", "conv1_weight_quantize", "conv1_bias_quantize", "conv1_weight_quantize_min", "conv1_weight_quantize_max",
        "conv1_bias_quantize_min", "conv1_bias_quantize_max",
    ]  # fmt: skip
    assert qarg["conv1_weight_quantize"].dtype == np.int8 and qarg["conv1_weight_quantize_max"].shape == (1,)


@pytest.mark.parametrize("mode, expected", [
    ("full", ["data_quantize", "quantized_first", "quantized_c", "requantize_c", "quantized_last", "last_dequantize", "e"]),
    ("smart", ["first", "first_output_quantize", "quantized_c", "requantize_c", "c_dequantize", "last", "e"]),
])  # fmt: skip
def test_smart_quantization_leaves_what_is_not_between_layers(mode, expected):
    net = mx.sym.exp(relu(conv(relu(mx.sym.Variable("data"), "first"), "c"), "last"), name="e")
    assert names(quantized(net, quantize_mode=mode)[0]) == expected


def test_excluded_layers_and_operators_stay_real():
    net = mx.sym.FullyConnected(conv(mx.sym.Variable("data"), "c"), num_hidden=3, name="fc")
    assert names(quantized(net, excluded_sym_names=["c"])[0]) == ["c", "c_output_quantize", "quantized_fc", "requantize_fc", "fc_dequantize"]
    assert names(quantized(net, excluded_op_names=["FullyConnected"])[0])[-1] == "fc"


def test_layers_that_were_fused_are_excluded_by_their_own_names():
    net = mx.sym.FullyConnected(relu(conv(mx.sym.Variable("data"), "c"), "r"), num_hidden=3, name="fc").get_backend_symbol("MKLDNN_QUANTIZE")
    whole = ["data_quantize", "quantized_sg_mkldnn_conv_act_0", "requantize_sg_mkldnn_conv_act_0"]
    assert names(quantized(net)[0])[:3] == whole
    for name in ("c", "r", "sg_mkldnn_conv_act_0"):
        first, second, *rest = names(quantized(net, excluded_sym_names=[name])[0])
        assert (first, second) == ("sg_mkldnn_conv_act_0", "sg_mkldnn_conv_act_0_output_quantize")
        assert "quantized_sg_mkldnn_fully_connected_0" in rest
    assert names(quantized(net, excluded_op_names=["Convolution"])[0])[:3] == whole  # an operator is the fused one's


def test_what_has_no_integer_kernel_stays_real():
    data = mx.sym.Variable("data")
    for net in (
        mx.sym.Activation(data, act_type="sigmoid", name="n"),
        mx.sym.Pooling(data, kernel=(2, 2), pool_type="sum", name="n"),
        mx.sym.Convolution(data, kernel=(1, 1), num_filter=2, layout="NHWC", name="n"),
        mx.sym.BatchNorm(data, axis=2, name="n"),
        mx.sym.RNN(data, mx.sym.Variable("p"), mx.sym.Variable("s"), state_size=4, num_layers=1, mode="gru", name="n"),
    ):
        qsym, _, _, collector = q.quantize_graph(net, {}, {}, calib_mode="naive")
        assert names(qsym) == ["n"] and collector.include_layer == []


def test_a_value_that_many_read_is_converted_once():
    c = conv(mx.sym.Variable("data"), "c")
    qsym = quantized(mx.sym.Group([mx.sym.exp(c, name="e"), mx.sym.abs(c, name="a"), c]))[0]
    assert names(qsym) == ["data_quantize", "quantized_c", "requantize_c", "c_dequantize", "e", "a"]
    assert qsym.list_outputs()[2] == "c_dequantize_output"


def test_weights_that_are_not_there_are_quantized_in_the_network():
    net = conv(mx.sym.Variable("data"), "c", no_bias=True)
    qsym, _, _, collector = q.quantize_graph(net, {}, {}, calib_mode="naive", quantized_dtype="auto")
    made = {node["name"]: node["attrs"] for node in nodes(qsym) if node["op"] == "_contrib_quantize_v2"}
    assert made == {"data_quantize": {"out_type": "int8"}, "c_weight_quantize": {"out_type": "int8"}}  # all that a convolution takes
    assert collector.include_layer == ["data", "c_weight", "c_output"]
    arg_params, _ = parameters(net, (2, 8, 6, 6))
    data = examples((2, 8, 6, 6))
    assert np.abs(run(qsym, arg_params, {}, data) - run(net, arg_params, {}, data)).max() < 0.05


def test_calibrated_ranges_reach_their_nodes_exactly():
    qsym, _, _, collector = q.quantize_graph(conv(mx.sym.Variable("data"), "c"), {}, {}, calib_mode="naive")
    third = float(np.float32(-1 / 3))
    collector.min_max_dict = {"data": (0.0, 1.5), "c_output": (third, 1e-9), "nothing": (0.0, 1.0)}
    net = conv(mx.sym.Variable("data"), "c")
    found, _, _ = q.calib_graph(qsym, parameters(net, (1, 8, 6, 6))[0], {}, collector, calib_mode="naive")
    attrs = {node["name"]: node.get("attrs") for node in nodes(found)}
    assert attrs["data_quantize"]["max_calib_range"] == "1.500000"  # as files of 1.x have it
    assert np.float32(attrs["requantize_c"]["min_calib_range"]) == np.float32(third)
    assert np.float32(attrs["requantize_c"]["max_calib_range"]) == np.float32(1e-9)
    assert "min_calib_range" not in nodes(qsym)[0]["attrs"]  # the network before is not changed


@pytest.mark.parametrize("make", [lenet, residual_block, mlp])
@pytest.mark.parametrize("quantize", [q.quantize_model, q.quantize_model_mkldnn])
@pytest.mark.parametrize("mode, dtype", [("naive", "int8"), ("naive", "auto")])
def test_quantized_networks_answer_as_the_real_ones(make, quantize, mode, dtype):
    net, data = make(), examples(SHAPES[make])
    arg_params, aux_params = parameters(net, data.shape)
    batches = mx.io.NDArrayIter(data, np.zeros(len(data)), batch_size=8)
    qsym, qarg, qaux = quantize(net, arg_params, aux_params, calib_mode=mode, calib_data=batches, quantized_dtype=dtype)
    real, found = run(net, arg_params, aux_params, data), run(qsym, qarg, qaux, data)
    spread = real.max(axis=0) - real.min(axis=0)
    assert np.abs(found - real).max() < 0.15 * spread.max()
    loaded = mx.sym.load_json(qsym.tojson())
    np.testing.assert_array_equal(run(loaded, qarg, qaux, data), found)


@pytest.mark.parametrize("make", [lenet, mlp])
def test_networks_that_are_not_calibrated_find_their_ranges_as_they_run(make):
    net, data = make(), examples(SHAPES[make])
    arg_params, aux_params = parameters(net, data.shape)
    for quantize in (q.quantize_model, q.quantize_model_mkldnn):
        qsym, qarg, qaux = quantize(net, arg_params, aux_params, calib_mode="none")
        real = run(net, arg_params, aux_params, data)
        assert np.abs(run(qsym, qarg, qaux, data) - real).max() < 0.15 * (real.max(axis=0) - real.min(axis=0)).max()


def test_layers_take_over_what_follows_them():
    net, data = residual_block(), examples(SHAPES[residual_block])
    arg_params, aux_params = parameters(net, data.shape)
    batches = mx.io.NDArrayIter(data, np.zeros(len(data)), batch_size=8)
    qsym, _, _ = q.quantize_model_mkldnn(net, arg_params, aux_params, calib_mode="naive", calib_data=batches, quantized_dtype="auto")
    assert names(qsym) == [
        "data_quantize", "quantized_sg_mkldnn_conv_bn_act_0", "quantized_sg_mkldnn_conv_bn_act_1",
        "quantized_sg_mkldnn_conv_bn_add_act_2", "quantized_pool", "quantized_sg_mkldnn_fully_connected_0", "softmax",
    ]  # fmt: skip
    attrs = {node["name"]: node.get("attrs") for node in nodes(qsym)}
    assert attrs["quantized_sg_mkldnn_fully_connected_0"] == {"enable_float_output": "True", "quantized": "True"}
    summed = attrs["quantized_sg_mkldnn_conv_bn_add_act_2"]
    assert {key for key in summed if key.startswith("with")} == {"with_bn", "with_sum", "with_postsum_act"}
    assert len(nodes(qsym)[3]["inputs"]) == 11  # data, weight, four of the norm, the other branch, two ranges
    kinds = qsym.infer_type(data="float32")
    assert dict(zip(qsym.list_arguments(), kinds[0]))["conv0_weight"] == np.float32


def test_fused_real_layers_compute_the_same():
    for make in (lenet, residual_block, mlp):
        net, data = make(), examples(SHAPES[make])
        arg_params, aux_params = parameters(net, data.shape)
        fused = net.get_backend_symbol("MKLDNN_QUANTIZE")
        assert all(node["op"].startswith("_sg_mkldnn_") for node in nodes(fused) if "subgraphs" in node)
        assert sorted(fused.list_arguments()) == sorted(net.list_arguments())
        assert fused.list_auxiliary_states() == net.list_auxiliary_states()
        np.testing.assert_allclose(run(fused, arg_params, aux_params, data), run(net, arg_params, aux_params, data), rtol=1e-5, atol=1e-6)
        again = mx.sym.load_json(fused.tojson())
        assert again.tojson() == fused.tojson() and names(again.get_backend_symbol("MKLDNN_QUANTIZE")) == names(fused)


def test_channels_have_ranges_of_their_own():
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")
    weight = np.array([[1, 2, 3, 4], [0.01, 0.02, -0.03, 0.04], [100, -200, 300, 400]], "float32")
    arg_params = {"fc_weight": mx.nd.array(weight), "fc_bias": mx.nd.array([0.5, 0.001, -7])}
    data = examples((16, 4))
    batches = mx.io.NDArrayIter(data, batch_size=8)
    worst = {}
    for granularity in ("tensor-wise", "channel-wise"):
        qsym, qarg, _ = q.quantize_model_mkldnn(net, arg_params, {}, calib_mode="naive", calib_data=batches, quantize_granularity=granularity)
        error = np.abs(run(qsym, qarg, {}, data) - run(net, arg_params, {}, data)).max(axis=0)
        worst[granularity] = (error / np.abs(weight).max(axis=1)).max()
    assert worst["channel-wise"] < 0.03 < worst["tensor-wise"]


def test_attention_of_bytes():
    data = mx.sym.Variable("data")
    scores = mx.sym.softmax(mx.sym.contrib.interleaved_matmul_selfatt_qk(data, heads=2, name="qk"), name="softmax")
    net = mx.sym.contrib.interleaved_matmul_selfatt_valatt(data, scores, heads=2, name="valatt")
    values = examples((5, 3, 24))
    fused = net.get_backend_symbol("MKLDNN_QUANTIZE")
    assert [node["op"] for node in nodes(fused)] == ["_sg_mkldnn_selfatt_qk", "softmax", "_sg_mkldnn_selfatt_valatt"]
    np.testing.assert_allclose(run(fused, {}, {}, values), run(net, {}, {}, values), rtol=1e-6)
    qsym, _, _ = q.quantize_model_mkldnn(net, {}, {}, calib_mode="naive", calib_data=mx.io.NDArrayIter(values.transpose(1, 0, 2), batch_size=3))
    assert all(node["attrs"].get("enable_float_output") == "True" for node in nodes(qsym) if node["op"].startswith("_sg"))


def test_recurrent_layers_read_bytes():
    names_in = {"p": "parameters", "s": "state", "c": "state_cell"}
    given = {kind: mx.sym.Variable(name) for name, kind in names_in.items()}
    net = mx.sym.RNN(mx.sym.Variable("data"), **given, state_size=6, num_layers=2, mode="lstm", name="rnn")
    values = examples((5, 3, 4))
    sizes = dict(zip(net.list_arguments(), net.infer_shape(data=values.shape)[0]))
    arrays = {name: mx.nd.array(np.random.RandomState(SEED).uniform(-0.5, 0.5, sizes[name])) for name in names_in}
    qsym, qarg, _, collector = q.quantize_graph(net, arrays, {}, calib_mode="naive")
    assert names(qsym) == ["data_quantize", "quantized_rnn"] and collector.include_layer == ["data"]
    assert nodes(qsym)[1]["attrs"]["quantized"] == "true"
    np.testing.assert_allclose(run(qsym, qarg, {}, values), run(net, arrays, {}, values), atol=0.01)
    assert names(q.quantize_graph(net, {}, {}, calib_mode="none", quantize_mode="smart")[0]) == names(qsym)


def digits_block():
    net = mx.gluon.nn.HybridSequential()
    with net.name_scope():
        net.add(
            mx.gluon.nn.Conv2D(8, 3, activation="relu"), mx.gluon.nn.BatchNorm(), mx.gluon.nn.MaxPool2D(), mx.gluon.nn.Flatten(),
            mx.gluon.nn.Dense(10),
        )  # fmt: skip
    net.initialize(mx.init.Xavier())
    return net


@pytest.mark.parametrize("mode", ["none", "naive", "entropy"])
def test_quantized_blocks_answer_as_the_real_ones(mode, tmp_path):
    mx.random.seed(SEED)
    net, data = digits_block(), examples((12, 3, 8, 8))
    real = net(mx.nd.array(data)).asnumpy()
    loader = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(data, np.zeros(12, "float32")), batch_size=4)
    given = {"data_shapes": [(4, 3, 8, 8)], "exclude_layers_match": ["batchnorm"]} if mode == "none" else {"calib_data": loader}
    found = q.quantize_net_v2(net, calib_mode=mode, logger=logging.getLogger("quantize"), **given)
    out = found(mx.nd.array(data)).asnumpy()
    assert np.abs(out - real).max() < 0.06 * np.abs(real).max()
    found.export(str(tmp_path / "net"))
    loaded = mx.gluon.SymbolBlock.imports(str(tmp_path / "net-symbol.json"), ["data"], str(tmp_path / "net-0000.params"))
    np.testing.assert_array_equal(loaded(mx.nd.array(data)).asnumpy(), out)


def test_layers_of_blocks_are_excluded_by_a_part_of_their_names():
    net = digits_block()
    net(mx.nd.zeros((1, 3, 8, 8)))
    with pytest.warns(DeprecationWarning, match="quantize_net_v2"):
        found = q.quantize_net(net, data_shapes=[mx.io.DataDesc("data", (4, 3, 8, 8))], exclude_layers_match=["conv", "batchnorm"], quantize_mode="smart")
    assert "_conv0_weight_quantize" not in "".join(found.collect_params()) and "dense0_weight_quantize" in "".join(found.collect_params())


def test_a_collector_of_the_user():
    class Loudest:
        def __init__(self):
            self.min_max_dict, self.include_layer = {}, None

        def collect(self, name, arr):
            if name in self.include_layer:
                end = max(float(mx.nd.max(mx.nd.abs(arr)).asscalar()), self.min_max_dict.get(name, (0, 0))[1])
                self.min_max_dict[name] = (-end, end)

    net, data = digits_block(), examples((8, 3, 8, 8))
    real = net(mx.nd.array(data)).asnumpy()
    collector = Loudest()
    found = q.quantize_net_v2(net, calib_mode="customize", calib_data=[[data]], LayerOutputCollector=collector)
    assert "data" in collector.min_max_dict and len(collector.min_max_dict) == len(collector.include_layer)
    assert np.abs(found(mx.nd.array(data)).asnumpy() - real).max() < 0.06 * np.abs(real).max()


def test_examples_are_counted_in_whole_batches(caplog):
    net, data = mlp(), examples(SHAPES[mlp])
    arg_params, aux_params = parameters(net, data.shape)
    batches = mx.io.NDArrayIter(data, np.zeros(len(data)), batch_size=4)
    with caplog.at_level(logging.INFO, "quantize"):
        q.quantize_model(net, arg_params, aux_params, calib_mode="naive", calib_data=batches, num_calib_examples=6, logger=logging.getLogger("quantize"))
    assert "Collected ranges from 8 examples" in caplog.text


def test_thresholds_of_the_least_loss_leave_outliers_out():
    draws = np.random.RandomState(SEED)
    values = np.append(draws.normal(0, 1, 200000), [60.0, -55.0])
    counts, edges = np.histogram(values, bins=8001, range=(-60, 60))
    (low, high) = q._get_optimal_thresholds({"v": (counts, edges, -55.0, 60.0, 60.0)}, "int8")["v"]
    assert low == -high and 3 < high < 12
    counts, edges = np.histogram(np.abs(values), bins=8001, range=(-60, 60))
    assert q._get_optimal_thresholds({"v": (counts, edges, 0.0, 60.0, 60.0)}, "auto")["v"][0] == 0


def test_mistakes_name_what_was_given():
    net = mlp()
    arg_params, aux_params = parameters(net, SHAPES[mlp])
    for kwargs, message in (
        ({"calib_mode": "loud"}, "loud.*naive"),
        ({"calib_mode": "naive"}, "calib_data.*DataIter"),
        ({"calib_mode": "naive", "calib_data": [1]}, "list.*DataIter"),
        ({"calib_mode": "none", "quantized_dtype": "int4"}, "int4.*uint8"),
        ({"calib_mode": "none", "quantize_granularity": "row-wise"}, "row-wise.*channel-wise"),
        ({"calib_mode": "none", "quantize_mode": "clever"}, "clever.*smart"),
        ({"calib_mode": "none", "excluded_sym_names": "fc"}, "'fc'.*list"),
        ({"calib_mode": "none", "ctx": "cpu"}, "str.*context"),
    ):
        with pytest.raises(ValueError, match=message):
            q.quantize_model(net, arg_params, aux_params, **kwargs)
    with pytest.raises(ValueError, match="data_shapes"):
        q.quantize_net_v2(digits_block())


class TwoInputs(mx.gluon.HybridBlock):
    """Inputs of different widths, of which the graph reads the second one first."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.left = mx.gluon.nn.Dense(8, in_units=12)
            self.right = mx.gluon.nn.Dense(8, in_units=4)

    def hybrid_forward(self, F, x, y, scale=None):
        return self.right(y) * 2 + self.left(x)


@pytest.mark.parametrize("source", ["loader", "loader with labels", "iterator", "iterator with other names", "iterator by names", "shapes"])
def test_blocks_of_several_inputs(source):
    with mx.cpu():
        check_several_inputs(source)


def check_several_inputs(source):
    mx.random.seed(SEED)
    draws = np.random.RandomState(SEED)
    block = TwoInputs()
    block.initialize(mx.init.Xavier())
    arrays = [mx.nd.array(draws.rand(8, width)) for width in (12, 4)]
    expected = block(*arrays).asnumpy()
    if "iterator" in source:
        names = {"iterator": ("data0", "data1"), "iterator with other names": ("left", "right"), "iterator by names": ("data1", "data0")}[source]
        parts = list(zip(names, arrays if source != "iterator by names" else arrays[::-1]))
        batches = mx.io.NDArrayIter(dict(parts), batch_size=4)
    else:
        labels = [mx.nd.zeros(8)] if source == "loader with labels" else []
        batches = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(*arrays, *labels), batch_size=4)
    shapes = [(4, 12), (4, 4)] if source == "shapes" else None
    quantized = q.quantize_net_v2(block, ctx=mx.cpu(), calib_mode="naive", calib_data=batches, data_shapes=shapes)
    np.testing.assert_allclose(quantized(*arrays).asnumpy(), expected, atol=0.03 * np.abs(expected).max())
