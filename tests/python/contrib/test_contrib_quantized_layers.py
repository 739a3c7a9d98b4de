# SPDX-License-Identifier: Apache-2.0
"""Layers of bytes as plans run them: the same steps as the loops that define them, fresh weights, no layout changes in between.

A sum of products is exact on both ways; what follows it is rounded once, so that a result may lie one step beside the other.
"""

import json

import mxnet as mx
import numpy as np
import pytest
from mxnet.contrib import quantization as q

SEED = 20261121


def conv(data, name, filters=8, kernel=(3, 3), **kwargs):
    return mx.sym.Convolution(data, kernel=kernel, num_filter=filters, name=name, **kwargs)


def relu(data):
    return mx.sym.Activation(data, act_type="relu")


def norm(data, name):
    return mx.sym.BatchNorm(data, fix_gamma=False, name=name)


def summed(data, act):
    start = relu(conv(data, "first", pad=(1, 1)))
    return act(start + norm(conv(start, "second", pad=(1, 1), no_bias=True), "norm"))


def joined(data, dim):
    parts = [relu(conv(data, "a", pad=(1, 1))), conv(data, "b", pad=(1, 1)), relu(conv(data, "c", pad=(1, 1)))]
    return conv(mx.sym.Concat(*parts, dim=dim), "last")


def two_layers_into_one_sum(data):
    return relu(norm(conv(data, "left", no_bias=True), "left_norm") + norm(conv(data, "right", no_bias=True), "right_norm"))


IMAGES = (3, 6, 9, 11)
LAYERS = {
    "plain": (lambda x: conv(x, "c"), IMAGES),
    "activated": (lambda x: relu(conv(x, "c", pad=(1, 1))), IMAGES),
    "one channel": (lambda x: relu(conv(x, "c", filters=20)), (2, 1, 9, 9)),
    "normed without bias": (lambda x: relu(norm(conv(x, "c", no_bias=True), "n")), IMAGES),
    "strided and dilated": (lambda x: conv(x, "c", stride=(2, 1), dilate=(1, 2), pad=(2, 1)), IMAGES),
    "groups": (lambda x: relu(conv(x, "c", num_group=2)), IMAGES),
    "each channel by itself": (lambda x: conv(x, "c", filters=6, num_group=6), IMAGES),
    "clipped": (lambda x: mx.sym.clip(conv(x, "c"), a_min=0, a_max=0.4), IMAGES),
    "leaky": (lambda x: mx.sym.LeakyReLU(conv(x, "c"), act_type="leaky", slope=0.2), IMAGES),
    "lines": (lambda x: relu(conv(x, "c", kernel=(3,))), (2, 6, 17)),
    "volumes": (lambda x: relu(conv(x, "c", kernel=(2, 3, 3))), (2, 3, 4, 6, 6)),
    "joined": (lambda x: joined(x, 1), IMAGES),
    "joined in height": (lambda x: joined(x, 2), IMAGES),
    "sum": (lambda x: summed(x, lambda v: v), IMAGES),
    "activated sum": (lambda x: summed(x, relu), IMAGES),
    "clipped sum": (lambda x: summed(x, lambda v: mx.sym.clip(v, a_min=0, a_max=1)), IMAGES),
    "sum of two layers": (two_layers_into_one_sum, IMAGES),
    "rows": (lambda x: mx.sym.FullyConnected(x, num_hidden=13, name="f"), (5, 70)),
    "rows, tanh": (lambda x: mx.sym.Activation(mx.sym.FullyConnected(x, num_hidden=70, name="f"), act_type="tanh"), (5, 70)),
    "rows of images": (lambda x: mx.sym.FullyConnected(relu(conv(x, "c")), num_hidden=13, name="f"), IMAGES),
    "highest of windows": (
        lambda x: mx.sym.Pooling(relu(conv(x, "c")), kernel=(3, 2), stride=(2, 2), pad=(1, 0), pool_type="max"), IMAGES),
    "highest of windows, many channels": (
        lambda x: mx.sym.Pooling(relu(conv(x, "c", filters=53)), kernel=(2, 2), stride=(2, 2), pool_type="max"), IMAGES),
    "highest of windows of both signs": (
        lambda x: mx.sym.Pooling(conv(x, "c", filters=20), kernel=(3, 3), stride=(1, 2), pad=(1, 1), pool_type="max"), IMAGES),
    "highest of lines": (lambda x: mx.sym.Pooling(relu(conv(x, "c", kernel=(3,))), kernel=(3,), stride=(2,), pool_type="max"), (2, 6, 17)),
    "highest of volumes": (
        lambda x: mx.sym.Pooling(conv(x, "c", kernel=(2, 3, 3)), kernel=(2, 2, 3), stride=(1, 2, 1), pad=(1, 0, 1), pool_type="max"), (2, 3, 4, 6, 6)),
    "means of windows": (lambda x: mx.sym.Pooling(conv(x, "c"), kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type="avg"), IMAGES),
    "means of pixels": (
        lambda x: mx.sym.Pooling(conv(x, "c"), kernel=(3, 3), pad=(1, 1), pool_type="avg", count_include_pad=False), IMAGES),
    "means of images": (lambda x: mx.sym.Pooling(relu(conv(x, "c")), global_pool=True, pool_type="avg", kernel=(1, 1)), IMAGES),
    "windows beyond the end": (
        lambda x: mx.sym.Pooling(relu(conv(x, "c")), kernel=(2, 2), stride=(2, 2), pool_type="max", pooling_convention="full"), IMAGES),
}  # fmt: skip


def parameters(net, shape, seed):
    draws = np.random.RandomState(seed)
    args, _, aux = net.infer_shape(data=shape)

    def draw(name, size):
        if name.endswith(("gamma", "var")):
            return mx.nd.array(draws.uniform(0.5, 1.5, size))
        return mx.nd.array(draws.uniform(-1, 1, size) / np.sqrt(max(1, np.prod(size[1:]))))

    pick = lambda names, sizes: {name: draw(name, size) for name, size in zip(names, sizes) if name != "data"}  # noqa: E731
    return pick(net.list_arguments(), args), pick(net.list_auxiliary_states(), aux)


def quantized(make, shape, dtype):
    """The network in bytes with its parameters, and examples."""
    net = make(mx.sym.Variable("data"))
    arg_params, aux_params = parameters(net, shape, SEED)
    data = mx.nd.array(np.random.RandomState(SEED + 1).uniform(-1, 1, shape))
    batches = mx.io.NDArrayIter(data, batch_size=shape[0])
    return q.quantize_model_mkldnn(
        net, arg_params, aux_params, ctx=mx.cpu(), calib_mode="naive", calib_data=batches, quantized_dtype=dtype), data  # fmt: skip


def bind(network, data):
    sym, arg_params, aux_params = network
    executor = sym.simple_bind(mx.cpu(), data=data.shape, grad_req="null", type_dict={name: a.dtype for name, a in arg_params.items()})
    executor.copy_params_from(arg_params, aux_params, allow_extra_params=True)
    return executor


def run(network, data):
    return bind(network, data).forward(is_train=False, data=data)[0].asnumpy()


@pytest.mark.parametrize("dtype", ["int8", "auto"])
@pytest.mark.parametrize("name", LAYERS)
def test_plans_take_the_steps_of_the_loops(name, dtype):
    network, data = quantized(*LAYERS[name], dtype)
    with mx.util.environment("MXNET_ONEDNN_ENABLED", "0"):
        expected = run(network, data)
    found = run(network, data)
    # No result has more than 256 steps; rows give real numbers and have none.
    step = np.abs(expected).max() / 127
    beside = np.abs(found - expected)
    assert beside.max() <= (1.001 if "rows" not in name else 1.6) * step
    assert (beside > 0.01 * step).mean() < 0.05, "where rounding is undecided, not everywhere"


def bytes_of(real, steps, magnitude, low=-128, high=127):
    """As quantize_v2 makes them: an end of the range stands for half a step more than the type has."""
    return np.clip(np.rint(real * (np.float32(steps) / np.float32(magnitude))), low, high).astype(np.float64)


@pytest.mark.parametrize("onednn", ["0", "1"])
def test_bytes_are_worth_to_layers_what_conversions_make_them_of(onednn):
    (sym, arg_params, aux_params), data = quantized(lambda x: relu(conv(x, "c", kernel=(1, 1))), IMAGES, "auto")
    node = next(n for n in json.loads(sym.tojson())["nodes"] if n["op"] == "_sg_mkldnn_conv")
    end = float(node["attrs"]["max_calib_range"])
    weight, bias = (arg_params[name].asnumpy() for name in ("c_weight", "c_bias"))
    weight = weight.reshape(len(weight), -1)
    magnitude = np.abs(weight).max(axis=1, keepdims=True)
    images, reach = data.asnumpy(), np.abs(data.asnumpy()).max()
    sums = np.einsum("oc,nchw->nohw", bytes_of(weight, 127.5, magnitude), bytes_of(images, 127.5, reach))
    value = sums * (magnitude * reach / 127.5**2)[..., None] + bias[:, None, None]
    with mx.util.environment("MXNET_ONEDNN_ENABLED", onednn):
        found = run((sym, arg_params, aux_params), data) * (255.5 / end)
    steps = value * (255.5 / end)
    decided = np.abs(steps - np.floor(steps) - 0.5) > 0.005  # others are rounded either way
    assert decided.mean() > 0.98
    np.testing.assert_allclose(found[decided], np.clip(np.rint(steps), 0, 255)[decided], atol=0.001)


@pytest.mark.parametrize("onednn", ["0", "1"])
def test_rows_are_sums_of_what_their_bytes_are_worth(onednn):
    network, data = quantized(*LAYERS["rows"], "auto")
    params = {name: value.asnumpy().astype(np.float64) for name, value in network[1].items()}
    # Parameters come from _contrib_quantize, which has 127 steps to the end.
    weight, bias = (params[f"f_{name}_quantize"] * params[f"f_{name}_quantize_max"] / 127 for name in ("weight", "bias"))
    reach = np.abs(data.asnumpy()).max()
    with mx.util.environment("MXNET_ONEDNN_ENABLED", onednn):
        found = run(network, data)
    np.testing.assert_allclose(found, bytes_of(data.asnumpy(), 127.5, reach) * reach / 127.5 @ weight.T + bias, rtol=1e-4, atol=1e-6)


def test_results_do_not_depend_on_what_ran_before():
    network, data = quantized(*LAYERS["activated sum"], "auto")
    executor = bind(network, data)
    first = executor.forward(is_train=False, data=data)[0].asnumpy()
    executor.forward(is_train=False, data=mx.nd.zeros_like(data))
    np.testing.assert_array_equal(executor.forward(is_train=False, data=data)[0].asnumpy(), first)


@pytest.mark.parametrize("name", ["normed without bias", "activated sum", "rows"])
def test_weights_that_change_are_packed_again(name):
    network, data = quantized(*LAYERS[name], "auto")
    executor = bind(network, data)
    before = executor.forward(is_train=False, data=data)[0].asnumpy()
    sym, arg_params, aux_params = network
    halves = {key: (value.astype("float32") * 0.5).astype(value.dtype) for key, value in arg_params.items()}
    changed = (sym, halves, {key: value + 0.25 for key, value in aux_params.items()})
    executor.copy_params_from(changed[1], changed[2], allow_extra_params=True)
    after = executor.forward(is_train=False, data=data)[0].asnumpy()
    np.testing.assert_array_equal(after, run(changed, data))
    assert np.abs(after - before).max() > 0


def test_states_stay_states_and_are_not_written():
    network, data = quantized(*LAYERS["normed without bias"], "auto")
    sym, _, aux_params = network
    assert sym.list_auxiliary_states() == ["n_moving_mean", "n_moving_var"]
    executor = bind(network, data)
    executor.forward(is_train=False, data=data)[0].wait_to_read()
    for name, value in aux_params.items():
        np.testing.assert_array_equal(executor.aux_dict[name].asnumpy(), value.asnumpy())


def test_blocks_give_what_executors_give():
    network, data = quantized(*LAYERS["means of images"], "auto")
    sym, arg_params, aux_params = network
    block = mx.gluon.SymbolBlock(sym, [mx.sym.Variable("data")])
    for name, parameter in block.collect_params().items():
        value = {**arg_params, **aux_params}[name]
        parameter.cast(value.dtype)
        parameter._load_init(value, mx.cpu(), cast_dtype=True, dtype_source="saved")
    expected = run(network, data)
    for static in (False, True):
        block.hybridize(static_alloc=static, static_shape=static)
        np.testing.assert_array_equal(block(data).asnumpy(), expected)


def test_a_network_changes_layouts_at_its_ends_only(tmp_path):
    def network(x):
        for i in range(3):
            x = mx.sym.Pooling(relu(conv(x, f"c{i}", pad=(1, 1))), kernel=(2, 2), stride=(2, 2), pool_type="max")
        x = mx.sym.Pooling(x, global_pool=True, pool_type="avg", kernel=(1, 1))
        return mx.sym.FullyConnected(x, num_hidden=5, name="f")

    made, data = quantized(network, (2, 4, 32, 32), "auto")
    executor = bind(made, data)
    executor.forward(is_train=False, data=data)
    mx.nd.waitall()
    mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename=str(tmp_path / "profile.json"))
    mx.profiler.set_state("run")
    executor.forward(is_train=False, data=data)
    mx.nd.waitall()
    mx.profiler.set_state("stop")
    counts = {line.split()[0]: int(line.split()[1]) for line in mx.profiler.dumps(reset=True).splitlines() if line.startswith("_")}
    assert counts["_sg_onednn_quantized_layer"] == 4
    assert counts["_contrib_quantized_pooling"] == 4
    assert counts.get("_sg_onednn_reorder", 0) <= 1  # to rows, for the fully connected layer


def test_a_sum_of_two_layers_goes_to_the_first():
    net = two_layers_into_one_sum(mx.sym.Variable("data")).get_backend_symbol("MKLDNN_QUANTIZE")
    nodes = [node for node in json.loads(net.tojson())["nodes"] if node["op"] != "null"]
    # As release 1.9.1 has it: run there and copied.
    assert [node["name"] for node in nodes] == ["sg_mkldnn_conv_bn_1", "sg_mkldnn_conv_bn_add_act_0"]


def two_layers_of_rows(x):
    return mx.sym.FullyConnected(relu(mx.sym.FullyConnected(x, num_hidden=8, name="f")), num_hidden=4, name="g")


LAYER, REQUANTIZE, DEQUANTIZE = "_sg_mkldnn_fully_connected", "_contrib_requantize", "_contrib_dequantize"
APART = [LAYER, REQUANTIZE, LAYER, REQUANTIZE, DEQUANTIZE]


@pytest.mark.parametrize(
    "row, value, expected",
    [
        # Of the rows that release 1.9.1 has: run there and copied.
        ("MXNET_DISABLE_ONEDNN_QFC_FUSE_ALL", "0", [LAYER, LAYER]),
        ("MXNET_DISABLE_ONEDNN_QFC_FUSE_ALL", "1", APART),
        ("MXNET_DISABLE_ONEDNN_QFC_FLOAT_OUTPUT", "1", [LAYER, LAYER, DEQUANTIZE]),
        ("MXNET_ONEDNN_FUSE_REQUANTIZE", "0", APART),
        ("MXNET_ONEDNN_FUSE_DEQUANTIZE", "0", [LAYER, LAYER, DEQUANTIZE]),
    ],
)
def test_rows_of_the_configuration_keep_steps_behind_layers_apart(row, value, expected):
    with mx.util.environment(row, value):
        network, data = quantized(two_layers_of_rows, (4, 6), "auto")
    assert [node["op"] for node in json.loads(network[0].tojson())["nodes"] if node["op"] != "null"][1:] == expected
    together, _ = quantized(two_layers_of_rows, (4, 6), "auto")
    found, whole = run(network, data), run(together, data)
    assert np.abs(found - whole).max() < 0.03 * np.abs(whole).max()


def dropped_rows(data):
    return mx.sym.FullyConnected(mx.sym.Dropout(mx.sym.identity(relu(mx.sym.FullyConnected(data, num_hidden=8, name="f")))), num_hidden=4, name="g")


def test_what_gives_its_value_as_it_is_asks_for_no_real_numbers_between_layers():
    network, data = quantized(dropped_rows, (4, 6), "auto")
    assert [node["op"] for node in json.loads(network[0].tojson())["nodes"] if node["op"] != "null"][1:] == [LAYER, LAYER]
    together, _ = quantized(two_layers_of_rows, (4, 6), "auto")
    np.testing.assert_array_equal(run(network, data), run(together, data))


def fused(symbol):
    made = symbol.get_backend_symbol("MKLDNN_QUANTIZE")
    return [node["op"] for node in json.loads(made.tojson())["nodes"] if node["op"] != "null"], made.list_outputs()


def test_dropout_goes_where_it_only_gives_an_operators_value():
    """As in release 1.9.1: run there and copied."""
    data = mx.sym.Variable("data")
    first = mx.sym.Activation(data, act_type="relu", name="a")
    dropped = mx.sym.Dropout(first, name="d")
    assert fused(dropped) == (["Activation"], ["a_output"])
    assert fused(mx.sym.Group([mx.sym.sin(mx.sym.Dropout(dropped), name="s"), mx.sym.cos(dropped, name="c")])) == (
        ["Activation", "sin", "cos"], ["s_output", "c_output"],
    )  # fmt: skip
    assert fused(mx.sym.sin(mx.sym.Dropout(first, mode="always"), name="s"))[0] == ["Activation", "Dropout", "sin"]
    assert fused(mx.sym.sin(mx.sym.Dropout(data), name="s"))[0] == ["Dropout", "sin"]
    assert fused(mx.sym.sin(mx.sym.identity(data), name="s"))[0] == ["_copy", "sin"]


@pytest.mark.parametrize(
    "row, closed",
    [
        ("MXNET_DISABLE_ONEDNN_QTRANSFORMER_FUSE_ALL", (False, False)),
        ("MXNET_DISABLE_ONEDNN_QTRANSFORMER_FLOAT_OUTPUT", (True, False)),
    ],
)
def test_rows_of_the_configuration_keep_steps_behind_attention_apart(row, closed):
    scores = mx.sym.contrib.interleaved_matmul_selfatt_qk(mx.sym.Variable("data"), heads=2, name="scores")

    def attributes():
        data = mx.nd.array(np.random.RandomState(SEED).uniform(-1, 1, (3, 2, 24)))
        made = q.quantize_model_mkldnn(
            scores, {}, {}, ctx=mx.cpu(), calib_mode="naive", calib_data=mx.io.NDArrayIter(data, batch_size=3))[0]  # fmt: skip
        found = next(n for n in json.loads(made.tojson())["nodes"] if n["op"] == "_sg_mkldnn_selfatt_qk")["attrs"]
        return "min_calib_range" in found, found.get("enable_float_output") == "True"

    assert attributes() == (False, True)  # real at once, and so without a range
    with mx.util.environment(row, "1"):
        assert attributes() == closed


def test_the_log_says_what_becomes_of_each_operator(capfd):
    net = mx.sym.softmax(two_layers_of_rows(mx.sym.Variable("data")), name="last")
    with mx.util.environment("MXNET_QUANTIZATION_VERBOSE", "1"):
        q.quantize_graph(net, {}, {}, excluded_sym_names=["f"], calib_mode="none")
    text = capfd.readouterr().err
    assert "quantization: f (FullyConnected) stays real: it is excluded" in text
    assert "quantization: g (FullyConnected) becomes _contrib_quantized_fully_connected" in text
    assert "quantization: last (softmax) stays real: there is no kernel of bytes for it with these parameters" in text
    q.quantize_graph(net, {}, {}, calib_mode="none")
    assert "quantization:" not in capfd.readouterr().err
