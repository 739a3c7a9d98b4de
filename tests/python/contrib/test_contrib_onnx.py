# SPDX-License-Identifier: Apache-2.0
"""ONNX files: what is written means the same to another reader, and to ours."""

import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon, sym

onnx = pytest.importorskip("onnx", exc_type=ImportError)

from onnx_readers import SEED, arrays_of, assert_same, op, outputs_of, run  # noqa: E402, F401  (run is a fixture)

x, y, z = (sym.var(name) for name in "xyz")


def elementwise():
    unary = "abs arctan ceil cos erf exp floor negative relu rint sigmoid sign sin sinh softsign tan tanh square BlockGrad _copy "
    unary += "MakeLoss ones_like zeros_like logical_not hard_sigmoid expm1"
    for name in unary.split():
        yield name, op(name, x), [(2, 3)]
    for name in "sqrt log log2 log10 log1p reciprocal rsqrt arccosh".split():
        yield name, op(name, sym.abs(x) + 1.5), [(2, 3)]
    for name in "arccos arcsin arctanh arcsinh".split():
        yield name, op(name, sym.tanh(x) * 0.9), [(2, 3)]
    for name in "elemwise_add elemwise_sub elemwise_mul elemwise_div _maximum _minimum add_n".split():
        yield name, op(name, x, y), [(2, 3), (2, 3)]
    binary = "add sub mul div maximum minimum equal not_equal greater lesser greater_equal lesser_equal logical_and logical_or logical_xor mod"
    for name in binary.split():
        yield f"broadcast_{name}", op(f"broadcast_{name}", x, y), [(2, 1, 3), (1, 4, 3)]
    yield "broadcast_power", sym.broadcast_power(sym.abs(x), y), [(2, 3), (1, 3)]
    scalars = "plus minus rminus mul div rdiv maximum minimum power rpower equal not_equal greater lesser greater_equal lesser_equal"
    for name in scalars.split():
        yield f"_{name}_scalar", op(f"_{name}_scalar", sym.abs(x) + 1, scalar=1.5), [(2, 3)]
    yield "clip", sym.clip(x, -0.3, 0.6), [(5, 3)]
    yield "cast", sym.cast(x * 3, dtype="int32"), [(5, 3)]
    yield "smooth_l1", sym.smooth_l1(x * 2, scalar=1.7), [(4, 5)]
    yield "where", sym.where(x > 0, x, y), [(2, 3), (2, 3)]
    yield "div_sqrt_dim", sym.contrib.div_sqrt_dim(x), [(2, 5)]
    yield "softmax", sym.softmax(x, axis=1), [(2, 3, 4)]
    yield "softmax with a temperature", sym.softmax(x, temperature=2.5), [(2, 3)]
    yield "softmax of lengths", sym.softmax(x, sym.cast(sym.abs(y) + 1, dtype="int32"), use_length=True), [(2, 4), (2,)]
    yield "log_softmax", sym.log_softmax(x, axis=-1), [(2, 3)]
    yield "SoftmaxOutput", sym.SoftmaxOutput(x, name="softmax"), [(2, 3)]
    yield "SoftmaxOutput of a whole sample", sym.SoftmaxOutput(x, name="softmax"), [(2, 3, 2)]
    yield "SoftmaxOutput along channels", sym.SoftmaxOutput(x, multi_output=True, name="softmax"), [(2, 3, 4)]
    yield "LogisticRegressionOutput", sym.LogisticRegressionOutput(x, name="out"), [(2, 3)]


def layers():
    yield "Convolution", sym.Convolution(x, y, z, kernel=(3, 2), stride=(2, 1), pad=(1, 0), num_filter=4), [(2, 3, 7, 6), (4, 3, 3, 2), (4,)]
    yield "Convolution in groups", sym.Convolution(x, y, kernel=(3,), dilate=(2,), num_filter=4, num_group=2, no_bias=True), [(2, 4, 9), (4, 2, 3)]
    deconvolution = {"kernel": (3, 3), "stride": (2, 2), "num_filter": 5}
    yield "Deconvolution", sym.Deconvolution(x, y, pad=(1, 1), adj=(1, 0), **deconvolution), [(1, 4, 5, 4), (4, 5, 3, 3)]
    yield "Deconvolution to a size", sym.Deconvolution(x, y, target_shape=(10, 8), **deconvolution), [(1, 4, 5, 4), (4, 5, 3, 3)]
    yield "FullyConnected", sym.FullyConnected(x, y, z, num_hidden=5), [(2, 3, 4), (5, 12), (5,)]
    yield "FullyConnected of the last axis", sym.FullyConnected(x, y, z, num_hidden=5, flatten=False), [(2, 3, 4), (5, 4), (5,)]
    yield "FullyConnected without bias", sym.FullyConnected(x, y, num_hidden=5, no_bias=True), [(2, 4), (5, 4)]
    for kind in "relu sigmoid tanh softrelu softsign".split():
        yield kind, sym.Activation(x, act_type=kind), [(2, 3)]
    for kind in "leaky elu selu gelu rrelu".split():
        yield kind, sym.LeakyReLU(x, act_type=kind, slope=0.3)[0], [(2, 3)]
    yield "prelu", sym.LeakyReLU(x, y, act_type="prelu"), [(2, 3, 4, 4), (3,)]
    yield "Dropout", sym.Dropout(x, p=0.4), [(2, 3)]
    yield "Embedding", sym.Embedding(sym.abs(x) * 2, y, input_dim=9, output_dim=4), [(2, 3), (9, 4)]
    yield "UpSampling", sym.UpSampling(x, scale=3, sample_type="nearest", num_args=1), [(1, 2, 3, 4)]
    yield "BilinearResize2D", sym.contrib.BilinearResize2D(x, height=7, width=9), [(1, 2, 4, 5)]
    yield "BilinearResize2D between pixels", sym.contrib.BilinearResize2D(x, height=8, width=10, align_corners=False), [(1, 2, 4, 5)]


def norms():
    aux = [(3,)] * 4
    for name, more in {"BatchNorm": {}, "BatchNorm with gamma": {"fix_gamma": False, "eps": 0.01}}.items():
        yield name, sym.BatchNorm(x, y, z, sym.var("m"), sym.abs(sym.var("v")), **more), [(2, 3, 4), *aux]
    yield "BatchNorm of the last axis", sym.BatchNorm(x, y, z, sym.var("m"), sym.var("v"), axis=-1), [(2, 4, 3), *aux]
    yield "LayerNorm", sym.LayerNorm(x, y, z), [(2, 4, 3), (3,), (3,)]
    yield "LayerNorm of another axis", sym.LayerNorm(x, y, z, axis=1), [(2, 4, 3), (4,), (4,)]
    yield "InstanceNorm", sym.InstanceNorm(x, y, z), [(2, 4, 3), (4,), (4,)]
    yield "GroupNorm", sym.GroupNorm(x, y, z, num_groups=2), [(2, 4, 3), (2,), (2,)]
    for mode in "instance channel spatial".split():
        yield f"L2Normalization {mode}", sym.L2Normalization(x, mode=mode), [(2, 4, 3)]
    yield "LRN", sym.LRN(x, nsize=3, alpha=0.01, knorm=1.5), [(2, 5, 3, 3)]


def pooling():
    for kind in "max avg sum lp".split():
        more = {"p_value": 2} if kind == "lp" else {}
        yield f"{kind} pooling", sym.Pooling(sym.abs(x), kernel=(3, 2), stride=(2, 2), pool_type=kind, **more), [(1, 2, 8, 7)]
        yield f"global {kind} pooling", sym.Pooling(sym.abs(x), global_pool=True, pool_type=kind, **more), [(1, 2, 4, 3)]
    for kind in "max avg".split():
        shared = {"kernel": (3, 3), "stride": (2, 2), "pool_type": kind}
        yield f"full {kind} pooling", sym.Pooling(x, pad=(1, 0), pooling_convention="full", **shared), [(1, 2, 8, 6)]
        yield f"padded {kind} pooling", sym.Pooling(x, pad=(1, 1), count_include_pad=False, **shared), [(1, 2, 8, 7)]
    yield "pooling of one dimension", sym.Pooling(x, kernel=(3,), pad=(1,), pool_type="avg"), [(1, 2, 6)]
    yield "AdaptiveAvgPooling2D", sym.contrib.AdaptiveAvgPooling2D(x, output_size=(3, 4)), [(1, 2, 7, 9)]
    yield "AdaptiveAvgPooling2D to one", sym.contrib.AdaptiveAvgPooling2D(x, output_size=1), [(1, 2, 7, 9)]


def layout():
    yield "Reshape", sym.reshape(x, shape=(0, -1)), [(2, 3, 4)]
    yield "Reshape with codes", sym.reshape(x, shape=(-3, -2)), [(2, 3, 4)]
    yield "Reshape that splits", sym.reshape(x, shape=(0, -4, 2, 2, 0)), [(2, 4, 3)]
    yield "Flatten", sym.Flatten(x), [(2, 3, 4)]
    yield "reshape_like", sym.reshape_like(x, y), [(2, 6), (3, 4)]
    yield "transpose", sym.transpose(x, axes=(2, 0, 1)), [(2, 3, 4)]
    yield "SwapAxis", sym.SwapAxis(x, dim1=0, dim2=2), [(2, 3, 4)]
    yield "expand_dims", sym.expand_dims(x, axis=-1), [(2, 3)]
    yield "squeeze", sym.squeeze(x, axis=1), [(2, 1, 3)]
    yield "Concat", sym.concat(x, y, dim=1), [(2, 1, 3), (2, 4, 3)]
    yield "stack", sym.stack(x, y, axis=1), [(2, 3), (2, 3)]
    yield "SliceChannel", sym.SliceChannel(x, num_outputs=3, axis=1, squeeze_axis=True), [(2, 3, 4)]
    yield "split at places", sym.split_v2(x, (1, 3), axis=1), [(2, 4, 2)]
    yield "tile", sym.tile(x, reps=(2, 1, 3)), [(2, 3)]
    yield "repeat", sym.repeat(x, repeats=3, axis=1), [(2, 3, 2)]
    yield "repeat of all", sym.repeat(x, repeats=2), [(2, 3)]
    yield "reverse", sym.reverse(x, axis=1), [(2, 3, 4)]
    for mode in "constant edge reflect".split():
        yield f"Pad {mode}", sym.Pad(x, mode=mode, pad_width=(0, 0, 0, 0, 1, 2, 2, 1), constant_value=0.5), [(1, 2, 4, 5)]
    yield "depth_to_space", sym.depth_to_space(x, block_size=2), [(1, 8, 2, 3)]
    yield "space_to_depth", sym.space_to_depth(x, block_size=2), [(1, 2, 4, 6)]
    yield "broadcast_to", sym.broadcast_to(x, shape=(2, 3, 4)), [(2, 1, 4)]
    yield "broadcast_axis", sym.broadcast_axis(x, axis=1, size=3), [(2, 1, 4)]
    yield "broadcast_like", sym.broadcast_like(x, y), [(2, 1), (2, 3)]


def indexing():
    yield "slice", sym.slice(x, begin=(1, None), end=(None, -1), step=(1, 2)), [(3, 6)]
    yield "slice backwards", sym.slice(x, begin=(None,), end=(None,), step=(-1,)), [(3, 4)]
    yield "slice_axis", sym.slice_axis(x, axis=1, begin=-3, end=None), [(2, 5)]
    yield "slice_like", sym.slice_like(x, y, axes=(1,)), [(2, 5), (7, 3)]
    yield "Crop", sym.Crop(x, h_w=(3, 2), center_crop=True, num_args=1), [(1, 2, 7, 6)]
    yield "take", sym.take(x, sym.abs(y) * 9, axis=1), [(2, 5), (3,)]
    yield "take around", sym.take(x, sym.floor(y * 9), axis=0, mode="wrap"), [(4, 2), (5,)]
    yield "pick", sym.pick(x, sym.abs(y) * 2, axis=1), [(3, 4), (3,)]
    yield "gather_nd", sym.gather_nd(x, sym.floor(sym.abs(y))), [(3, 4), (2, 5)]
    yield "one_hot", sym.one_hot(sym.floor(sym.abs(x) * 2), depth=6, on_value=2.0), [(2, 3)]
    yield "SequenceMask", sym.SequenceMask(x, sym.floor(sym.abs(y)) + 1, use_sequence_length=True, value=-1), [(4, 3, 2), (3,)]
    yield "SequenceReverse", sym.SequenceReverse(x, sym.floor(sym.abs(y)) + 1, use_sequence_length=True), [(4, 3, 2), (3,)]
    yield "SequenceLast", sym.SequenceLast(x, sym.floor(sym.abs(y)) + 1, use_sequence_length=True), [(4, 3, 2), (3,)]
    yield "topk", sym.topk(x, k=2, ret_typ="both"), [(3, 5)]
    yield "argsort", sym.argsort(x, axis=0), [(5, 2)]
    yield "sort", sym.sort(x, is_ascend=False), [(2, 5)]


def reductions():
    for name in "sum mean max min prod".split():
        yield name, op(name, x, axis=(0, 2)), [(2, 3, 4)]
        yield f"{name} of the others", op(name, x, axis=1, exclude=True, keepdims=True), [(2, 3, 4)]
        yield f"{name} of all", op(name, x), [(2, 3)]
    yield "norm", sym.norm(x, axis=1), [(2, 3)]
    yield "norm of sizes", sym.norm(x, ord=1, axis=1, keepdims=True), [(2, 3)]
    yield "argmax", sym.argmax(x, axis=1), [(2, 5)]
    yield "argmin", sym.argmin(x, axis=0, keepdims=True), [(4, 3)]
    yield "shape_array", sym.shape_array(x), [(4, 3)]
    yield "size_array", sym.size_array(x), [(4, 3)]


def products():
    yield "dot", sym.dot(x, y), [(2, 3), (3, 4)]
    yield "dot turned", sym.dot(x, y, transpose_a=True, transpose_b=True), [(3, 2), (4, 3)]
    yield "dot of more axes", sym.dot(x, y), [(2, 4, 3), (3, 2, 2)]
    yield "batch_dot", sym.batch_dot(x, y, transpose_b=True), [(2, 3, 4), (2, 5, 4)]
    yield "gemm2", sym.linalg.gemm2(x, y, alpha=0.5), [(2, 3, 4), (2, 4, 5)]
    yield "selfatt_qk", sym.contrib.interleaved_matmul_selfatt_qk(x, heads=2), [(5, 3, 24)]
    yield "selfatt_valatt", sym.contrib.interleaved_matmul_selfatt_valatt(x, y, heads=2), [(5, 3, 24), (6, 5, 5)]
    yield "encdec_qk", sym.contrib.interleaved_matmul_encdec_qk(x, y, heads=2), [(5, 3, 8), (4, 3, 16)]
    yield "encdec_valatt", sym.contrib.interleaved_matmul_encdec_valatt(x, y, heads=2), [(4, 3, 16), (6, 5, 4)]


def made():
    yield "zeros", x + sym.zeros((2, 3)), [(2, 3)]
    yield "arange", x + sym.arange(3), [(3,)]
    yield "MultiBoxPrior", sym.contrib.MultiBoxPrior(x, sizes=(0.5, 0.3), ratios=(1, 2)), [(1, 2, 3, 4)]
    yield "box_decode", sym.contrib.box_decode(x, y), [(2, 3, 4), (1, 3, 4)]


CASES = [case for family in (elementwise, layers, norms, pooling, layout, indexing, reductions, products, made) for case in family()]


@pytest.mark.parametrize("symbol, shapes", [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_an_operator_means_the_same_to_other_readers_and_to_ours(symbol, shapes, run, tmp_path):
    values = arrays_of(symbol, shapes, np.random.default_rng(SEED))
    expected = outputs_of(symbol, values)
    first, *others = values
    parameters = {name: mx.nd.array(values[name]) for name in others}
    path = mx.onnx.export_model(symbol, parameters, [values[first].shape], np.float32, str(tmp_path / "m.onnx"))
    assert_same(run(path, {first: values[first]}), expected)

    loaded, arguments, states = mx.contrib.onnx.import_model(path)
    again = {name: value.asnumpy() for name, value in {**arguments, **states}.items()}
    if first in loaded.list_arguments():
        again[first] = values[first]
    assert_same(outputs_of(loaded, again), expected)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("mode", ["lstm", "gru", "rnn_tanh", "rnn_relu"])
def test_recurrent_layers_are_exported_with_their_states(mode, bidirectional, layers, run, tmp_path):
    size, directions = 3, 1 + bidirectional
    states = [sym.var("h"), sym.var("c")][: 2 if mode == "lstm" else 1]
    symbol = sym.RNN(
        x, sym.var("w"), *states, state_size=size, num_layers=layers, mode=mode, bidirectional=bidirectional, state_outputs=True,
        name="layer"
    )  # fmt: skip
    shapes, *_ = symbol.infer_shape(x=(4, 2, 5))
    rng = np.random.default_rng(SEED)
    values = {name: rng.standard_normal(shape).astype("float32") * 0.5 for name, shape in zip(symbol.list_arguments(), shapes)}
    assert values["h"].shape == (layers * directions, 2, size)
    expected = outputs_of(symbol, values)
    inputs = {name: value for name, value in values.items() if name != "w"}
    path = mx.onnx.export_model(
        symbol, {"w": mx.nd.array(values["w"])}, [v.shape for v in inputs.values()], np.float32, str(tmp_path / "m.onnx")
    )
    names = ["layer", "layer1", "layer2"]  # as files of 1.9.1 have them
    assert [output.name for output in onnx.load(path).graph.output] == names[: len(expected)]
    assert_same(run(path, inputs), expected)
    loaded, arguments, _ = mx.contrib.onnx.import_model(path)
    assert_same(outputs_of(loaded, {**{n: v.asnumpy() for n, v in arguments.items()}, **inputs}), expected)


@pytest.mark.parametrize("name, size", [("resnet18_v1", 32), ("squeezenet1.1", 224), ("mobilenetv2_0.25", 32)])
def test_a_network_of_the_zoo_and_batches_of_any_size(name, size, run, tmp_path):
    mx.random.seed(SEED)
    network = gluon.model_zoo.vision.get_model(name, classes=10)
    network.initialize(mx.init.Xavier())
    network.hybridize()
    network(mx.nd.zeros((1, 3, size, size)))
    network.export(str(tmp_path / "net"))
    files = [str(tmp_path / "net-symbol.json"), str(tmp_path / "net-0000.params")]
    path = mx.onnx.export_model(*files, [(1, 3, size, size)], np.float32, str(tmp_path / "m.onnx"), dynamic=True)
    block = mx.contrib.onnx.import_to_gluon(path, mx.cpu())
    for batch in (1, 3):
        images = mx.nd.random.uniform(shape=(batch, 3, size, size))
        expected = network(images).asnumpy()
        assert_same(run(path, {"data": images.asnumpy()}), [expected])
        assert_same([block(images).asnumpy()], [expected])


def test_metadata_tells_inputs_and_outputs(tmp_path):
    symbol = sym.FullyConnected(sym.var("data"), num_hidden=3, name="fc")
    parameters = {"fc_weight": mx.nd.ones((3, 4)), "fc_bias": mx.nd.zeros(3)}
    path = mx.onnx.export_model(symbol, parameters, [(2, 4)], np.float32, str(tmp_path / "m.onnx"))
    expected = {"input_tensor_data": [("data", (2, 4), onnx.TensorProto.FLOAT)], "output_tensor_data": [("fc", (2, 3))]}
    assert mx.contrib.onnx.get_model_metadata(path) == expected


def test_several_outputs_and_names_stay(run, tmp_path):
    halves = sym.SliceChannel(x, num_outputs=2, axis=0, name="half")
    symbol = sym.Group([sym.relu(x, name="a"), sym.sum(sym.relu(x), axis=1, name="b"), halves[1]])
    path = mx.onnx.export_model(symbol, {}, [(2, 3)], np.float32, str(tmp_path / "m.onnx"))
    assert [output.name for output in onnx.load(path).graph.output] == ["a", "b", "half1"]
    data = np.array([[1, -2, 3], [0, 1, -1]], np.float32)
    assert_same(run(path, {"x": data}), [np.maximum(data, 0), np.maximum(data, 0).sum(1), data[1:]])


def test_an_operator_that_cannot_be_written_is_named(tmp_path):
    symbol = sym.contrib.MultiBoxTarget(x, y, z, name="target")
    with pytest.raises(mx.MXNetError, match="MultiBoxTarget.*'target'.*get_internals"):
        mx.onnx.export_model(symbol, {}, [(1, 4, 4), (1, 2, 5), (1, 3, 4)], np.float32, str(tmp_path / "m.onnx"))


def test_an_operator_that_cannot_be_read_is_named(tmp_path):
    helper = onnx.helper
    info = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2]) for name in ("a", "b")]
    node = helper.make_node("Bernoulli", ["a"], ["b"], name="coin")
    model = helper.make_model(helper.make_graph([node], "g", info[:1], info[1:]), opset_imports=[helper.make_opsetid("", 15)])
    onnx.save(model, str(tmp_path / "m.onnx"))
    with pytest.raises(mx.MXNetError, match="Bernoulli.*'coin'"):
        mx.contrib.onnx.import_model(str(tmp_path / "m.onnx"))


def test_wrong_counts_of_shapes_are_refused(tmp_path):
    with pytest.raises(ValueError, match="given 1 shapes, expected one for each of x, y"):
        mx.onnx.export_model(x + y, {}, [(2,)], np.float32, str(tmp_path / "m.onnx"))


def test_without_the_package_the_error_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match="pip install onnx"):
        mx.contrib.onnx.import_model(str(tmp_path / "m.onnx"))


def test_the_functions_for_types_of_1_13_are_not_asked_for(monkeypatch, tmp_path):
    """Packages of the time of 1.9.1 have none; newer ones call them themselves."""

    def guarded(function):
        def call(*args):
            assert not sys._getframe(1).f_globals["__name__"].startswith("mxnet")
            return function(*args)

        return call

    for name in ("np_dtype_to_tensor_dtype", "tensor_dtype_to_np_dtype"):
        monkeypatch.setattr(onnx.helper, name, guarded(getattr(onnx.helper, name)))
    path = mx.onnx.export_model(sym.cast(x * 3, dtype="int32"), {}, [(4,)], np.float32, str(tmp_path / "m.onnx"))
    read = mx.contrib.onnx.import_model(path)[0]
    assert read.infer_type(x="float32")[1] == [np.int32]


def test_the_table_knows_what_the_reference_writes():
    """The list is what the reference's get_operator_support(13) printed."""
    names = (
        "Activation BatchNorm BlockGrad Cast Concat Convolution Crop Deconvolution Dropout Embedding Flatten FullyConnected "
        "InstanceNorm L2Normalization LRN LayerNorm LeakyReLU LogisticRegressionOutput MakeLoss Pad Pooling RNN ROIPooling Reshape "
        "SequenceMask SequenceReverse SliceChannel SoftmaxOutput SwapAxis UpSampling _arange _contrib_AdaptiveAvgPooling2D "
        "_contrib_BilinearResize2D _contrib_ROIAlign _contrib_arange_like _contrib_box_decode _contrib_div_sqrt_dim "
        "_contrib_interleaved_matmul_selfatt_qk _contrib_interleaved_matmul_selfatt_valatt _copy _div_scalar _equal_scalar "
        "_greater_scalar _lesser_scalar _linalg_gemm2 _maximum _maximum_scalar _minimum _minimum_scalar _minus_scalar _mul_scalar "
        "_ones _plus_scalar _power _power_scalar _random_normal _random_uniform _random_uniform_like _rdiv_scalar _rminus_scalar "
        "_rnn_param_concat _sample_multinomial _split_v2 _zeros abs add_n arccos arcsin arctan argmax argmin argsort batch_dot "
        "broadcast_add broadcast_axis broadcast_div broadcast_equal broadcast_greater broadcast_greater_equal broadcast_lesser "
        "broadcast_lesser_equal broadcast_like broadcast_logical_and broadcast_logical_or broadcast_logical_xor broadcast_minimum "
        "broadcast_mod broadcast_mul broadcast_not_equal broadcast_power broadcast_sub broadcast_to ceil clip cos depth_to_space dot "
        "elemwise_add elemwise_div elemwise_mul elemwise_sub exp expand_dims floor gather_nd hard_sigmoid identity log log2 "
        "log_softmax logical_not max mean min negative norm one_hot ones_like prod reciprocal relu repeat reshape_like reverse "
        "shape_array sigmoid sin size_array slice slice_axis slice_like softmax space_to_depth sqrt square squeeze stack sum sum_axis "
        "take tan tanh tile topk transpose where zeros_like"
    )
    assert set(names.split()) <= set(mx.onnx.get_operator_support(13))


def test_the_file_is_of_opset_13(tmp_path):
    path = mx.onnx.export_model(sym.relu(x), {}, [(2,)], np.float32, str(tmp_path / "m.onnx"))
    assert [entry.version for entry in onnx.load(path).opset_import] == [13]
    with pytest.raises(AttributeError, match="given opset 9"):
        mx.onnx.get_operator_support(9)


def test_constants_are_inputs_of_the_graph_too_as_the_release_needs_them(tmp_path):
    path = mx.onnx.export_model(sym.FullyConnected(x, num_hidden=2, name="fc"), {"fc_weight": mx.nd.ones((2, 3)), "fc_bias": mx.nd.ones(2)}, [(4, 3)], np.float32, str(tmp_path / "m.onnx"))
    model = onnx.load(path)
    constants = {tensor.name: tuple(tensor.dims) for tensor in model.graph.initializer}
    inputs = {i.name: tuple(dim.dim_value for dim in i.type.tensor_type.shape.dim) for i in model.graph.input}
    assert constants and inputs == {"x": (4, 3), **constants}
    assert model.ir_version < 4  # else a reader must expect other values for them
