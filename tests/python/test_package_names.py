# SPDX-License-Identifier: Apache-2.0
"""What published packages (GluonCV, GluonNLP, GluonTS, Sockeye) take from here beyond the public names; of Gluon: gluon/."""

import ctypes
import importlib
import os
import subprocess
import sys
import threading

import mxnet as mx
import numpy as np
import pytest
from mxnet.base import _as_list
from mxnet.executor_manager import _load_data, _load_label
from mxnet.gluon.utils import _get_repo_file_url, _get_repo_url
from mxnet.image.image import _get_interp_method
from mxnet.io.io import _getdata_by_idx, _has_instance, _init_data
from mxnet.metric import _BinaryClassificationMetrics, ndarray
from mxnet.module.base_module import _check_input_names, _check_names_match, _parse_data_desc
from mxnet.module.executor_group import _load_general, _merge_multi_context
from mxnet.rnn.rnn_cell import _cells_begin_state, _cells_pack_weights, _cells_state_shape, _cells_unpack_weights, _normalize_sequence


def _run(program):
    """In a process of its own, whose failure is the test's."""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)


def test_arrays_bring_pools_of_processes():
    _run("import multiprocessing, mxnet\nmxnet.nd.NDArray\nassert multiprocessing.pool.Pool")


def test_whether_mixed_precision_was_started_can_be_seen():
    _run("""
from mxnet.contrib.amp import amp
assert amp._amp_initialized is None
amp.init("bfloat16")
assert amp._amp_initialized == "bfloat16"
""")


def test_one_thing_and_several_become_a_list():
    assert [_as_list(3), _as_list([1, 2]), _as_list("ab")] == [[3], [1, 2], ["ab"]]


@pytest.mark.parametrize("interp, sizes, method", [(2, (), 2), (9, (), 2), (9, (8, 8, 9, 9), 2), (9, (9, 9, 8, 8), 3), (9, (8, 9, 9, 8), 1)])
def test_how_an_image_is_resized(interp, sizes, method):
    assert _get_interp_method(interp, sizes) == method


def test_addresses_of_files():
    assert _get_repo_file_url("gluon/dataset", "file.zip") == _get_repo_url() + "gluon/dataset/file.zip"


def test_inputs_of_modules_are_checked():
    network = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="out")
    _check_input_names(network, ["data"], "data", True)
    with pytest.raises(ValueError, match="'date', expected .*: data"):
        _check_input_names(network, ["date"], "data", True)
    data, label = _parse_data_desc(["data"], [], [("data", (1, 2))], None)
    assert data == [mx.io.DataDesc("data", (1, 2))] and label is None
    with pytest.raises(ValueError, match="other"):
        _check_names_match(["data"], [mx.io.DataDesc("other", (1, 2))], "data", True)


def test_metrics_know_arrays():
    assert ndarray is mx.nd


def test_what_is_innermost_is_read_and_set_by_its_old_name():
    """mx.Context._default_ctx.value = mx.gpu(1) is how programs choose a device for all that follows."""
    found = []
    outside = mx.current_context()

    def in_a_thread():  # so that nothing of it stays
        for owner, default, other in (
            (mx.name.NameManager, mx.name.NameManager.current, mx.name.Prefix("mine_")),
            (mx.AttrScope, mx.AttrScope.current, mx.AttrScope(ctx_group="a")),
            (mx.Context, mx.cpu(), mx.cpu(1)),
        ):
            current = owner._default_ctx if owner is mx.Context else owner._current
            assert current.value == default
            with other:
                assert current.value is other
            current.value = other
            found.append(current.value is other)
        made = mx.sym.relu(mx.sym.var("x"))
        found.append((mx.nd.ones(1).context, made.name, made.attr("ctx_group")))

    thread = threading.Thread(target=in_a_thread)
    thread.start()
    thread.join()
    assert found == [True, True, True, (mx.cpu(1), "mine_relu0", "a")]
    assert mx.Context._default_ctx.value == outside and isinstance(mx.name.current(), mx.name.NameManager)


def test_sequences_of_symbols():
    steps, axis = _normalize_sequence(3, mx.sym.var("x"), "NTC", False)
    assert len(steps) == 3 and axis == 1
    whole, axis = _normalize_sequence(3, steps, "TNC", True)
    assert whole.infer_shape(x=(2, 3, 4))[1] == [(3, 2, 4)] and axis == 0
    turned = _normalize_sequence(3, mx.sym.var("x"), "TNC", None, "NTC")[0]
    assert turned.infer_shape(x=(2, 3, 4))[1] == [(3, 2, 4)]
    with pytest.raises(ValueError, match="given 2 inputs, expected 3"):
        _normalize_sequence(3, steps[:2], "NTC", True)
    with pytest.raises(ValueError, match="given no inputs"):
        _normalize_sequence(3, None, "NTC", True)


def test_several_cells_on_symbols():
    cells = [mx.rnn.LSTMCell(2, prefix="a_"), mx.rnn.RNNCell(3, prefix="b_")]
    assert _cells_state_shape(cells) == [(0, 2), (0, 2), (0, 3)]
    assert [state.name for state in _cells_begin_state(cells)] == ["a_begin_state_0", "a_begin_state_1", "b_begin_state_0"]
    sizes = {"a_i2h": (8, 4), "a_h2h": (8, 2), "b_i2h": (3, 4), "b_h2h": (3, 3)}
    packed = {f"{name}_weight": mx.nd.random.normal(shape=shape) for name, shape in sizes.items()}
    packed.update({f"{name}_bias": mx.nd.random.normal(shape=shape[:1]) for name, shape in sizes.items()})
    by_gate = _cells_unpack_weights(cells, packed)
    assert by_gate["a_i2h_f_weight"].shape == (2, 4)
    again = _cells_pack_weights(cells, by_gate)
    assert all((again[name] == packed[name]).asnumpy().all() for name in packed) and set(again) == set(packed)


def test_sources_of_iterators():
    source = _init_data({"b": np.arange(3), "a": mx.nd.zeros((3, 2))}, False, "data")
    assert [(name, array.shape) for name, array in source] == [("a", (3, 2)), ("b", (3,))]
    assert mx.io._init_data(None, True, "data") == [] and mx.io.utils._init_data is _init_data
    assert _has_instance(source, mx.nd.NDArray) and not _has_instance(source, np.ndarray)
    assert _getdata_by_idx(source, np.array([2, 0]))[1][1].asnumpy().tolist() == [2, 0]


def test_parts_of_batches_on_devices():
    def parts():
        return [[(slice(0, 1), mx.nd.zeros((1, 2))), (slice(1, 3), mx.nd.zeros((2, 2)))], mx.nd.zeros(3)]

    batch = mx.io.DataBatch([mx.nd.array([[1, 2], [3, 4], [5, 6]]), mx.nd.array([7, 8, 9])])
    batch.label = batch.data
    loads = (
        lambda targets: _load_data(batch, targets),
        lambda targets: _load_label(batch, targets),
        lambda targets: _load_general(batch.data, targets, [0, 0]),
    )
    for load in loads:
        targets = parts()
        load(targets)
        assert [array.asnumpy().tolist() for _, array in targets[0]] == [[[1, 2]], [[3, 4], [5, 6]]]
        assert targets[1].asnumpy().tolist() == [7, 8, 9]
        merged = _merge_multi_context([[array for _, array in targets[0]]], [0])
        assert (merged[0] == batch.data[0]).asnumpy().all()


def test_values_of_numpy_go_into_arrays():
    array = mx.nd.zeros(2, dtype="int32")
    array._sync_copyfrom(np.array([1.0, 2.0]))
    assert array.asnumpy().tolist() == [1, 2] and array.dtype == np.int32
    with pytest.raises(ValueError, match="expected"):
        array._sync_copyfrom(np.ones(3))


def test_recording_is_switched_by_its_old_name():
    with mx.autograd._RecordingStateScope(True, False):
        assert mx.autograd.is_recording() and not mx.autograd.is_training()
    assert not mx.autograd.is_recording()


def test_counts_of_two_classes():
    labels, scores = mx.nd.array([0, 1, 1]), mx.nd.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]])
    for counts in (_BinaryClassificationMetrics(), mx.metric.F1(average="micro").metrics):
        counts.update_binary_stats(labels, scores)
        counts.local_reset_stats()
        counts.update_binary_stats(labels, scores)
        assert (counts.true_positives, counts.false_negatives, counts.true_negatives, counts.false_positives) == (1, 1, 1, 0)
        assert (counts.total_examples, counts.global_total_examples, counts.global_true_negatives) == (3, 6, 2)
        assert (counts.precision, counts.recall, counts.matthewscc()) == (1, 0.5, 0.5)
        assert counts.fscore == counts.global_fscore == pytest.approx(2 / 3)
        counts.reset_stats()
        assert (counts.precision, counts.matthewscc(True), counts.global_total_examples) == (0, 0, 0)


@pytest.mark.parametrize("base", [mx.optimizer.SGD, mx.optimizer.LARS, mx.optimizer.LAMB])
def test_optimizers_of_ones_own_say_how_weights_change(base):
    class Mine(base):
        def _update_impl(self, index, weight, grad, state, multi_precision=False):
            calls.append(multi_precision)
            super()._update_impl(index, weight, grad, state, multi_precision=multi_precision)

    calls = []
    weight = mx.nd.ones(2)
    updater = mx.optimizer.get_updater(Mine(learning_rate=0.5, wd=0))
    updater(0, mx.nd.ones(2), weight)
    assert calls == [False] and (weight.asnumpy() < 1).all()


@pytest.mark.parametrize(
    "module, some",
    [
        ("mxnet", "nd sym gluon autograd mod io init kv metric np npx MXNetError cpu test_utils"),
        ("mxnet.ndarray", "array zeros NDArray Convolution softmax sgd_update relu contrib linalg random sparse save waitall"),
        ("mxnet.symbol", "var Variable Group FullyConnected SoftmaxOutput Symbol load contrib linalg"),
        ("mxnet.ndarray.contrib", "MultiBoxPrior box_nms foreach"),
        ("mxnet.symbol.contrib", "MultiBoxPrior ROIAlign while_loop"),
        ("mxnet.ndarray.linalg", "gemm2 potrf"),
        ("mxnet.ndarray.random", "uniform randn normal_like"),
        ("mxnet.ndarray.sparse", "csr_matrix row_sparse_array CSRNDArray add retain"),
        ("mxnet.test_utils", "mx np os rnd default_context assert_almost_equal check_numeric_gradient use_np"),
    ],
)
def test_a_star_brings_what_it_brings_in_1_x(module, some):
    """Operators that nobody has asked for yet are among it, as are modules that are not loaded."""
    found = {}
    exec(f"from {module} import *", found)
    assert [name for name in some.split() if name not in found] == []
    unwanted = {"Any", "annotations", "multiprocessing", "config", "diagnose", *(() if module in ("mxnet", "mxnet.test_utils") else ("np",))}
    assert unwanted.isdisjoint(found)


def test_a_star_of_sparse_arrays_leaves_functions_of_dense_ones_alone():
    found = {}
    exec("from mxnet.ndarray import *\nfrom mxnet.ndarray.sparse import *", found)
    assert [found[name] for name in ("NDArray", "array", "empty", "zeros")] == [mx.nd.NDArray, mx.nd.array, mx.nd.empty, mx.nd.zeros]


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_loaders_that_programs_have_copied_hand_arrays_over(dtype):
    sent = mx.nd.arange(6, dtype=dtype).reshape((2, 3)).as_in_context(mx.Context("cpu_shared", 0))
    process, descriptor, shape, kind = sent._to_shared_mem()
    made = mx.nd.NDArray(mx.nd.ndarray._new_from_shared_mem(process, os.dup(descriptor), shape, kind))
    assert made.dtype == sent.dtype and made.asnumpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    made[0] = 7
    assert sent.asnumpy().tolist() == [[7, 7, 7], [3, 4, 5]]


@pytest.mark.parametrize(
    "module, names",
    [
        ("kvstore.kvstore", "KVStoreHandle NDArrayHandle _LIB c_str check_call ctypes mx_uint py_str"),
        ("profiler", "KVStoreHandle ProfileHandle _LIB c_str c_str_array check_call ctypes py_str"),
        ("recordio", "RecordIOHandle _LIB c_str check_call ctypes"),
        ("io.io", "DataIterHandle NDArrayHandle _LIB c_str_array check_call ctypes mx_real_t mx_uint py_str ImageRecordIter"),
        ("executor", "ExecutorHandle NDArrayHandle SymbolHandle _LIB c_handle_array check_call ctypes mx_int mx_uint py_str"),
        ("rtc", "CudaKernelHandle CudaModuleHandle _LIB c_array c_str check_call mx_uint"),
        ("symbol.symbol", "ExecutorHandle NDArrayHandle SymbolHandle _LIB c_array c_str_array check_call mx_int64 mx_uint py_str"),
        ("ndarray.ndarray", "NDArrayHandle _LIB c_array c_handle_array c_str check_call ctypes mx_int mx_real_t mx_uint"),
    ],
)
def test_modules_show_the_names_for_ctypes(module, names):
    found = importlib.import_module(f"mxnet.{module}")
    for name in names.split():
        assert getattr(found, name) is (ctypes if name == "ctypes" else getattr(mx.io if name == "ImageRecordIter" else mx.base, name))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        found.nothing


def test_a_program_of_ctypes_takes_its_names_from_beside_the_classes():
    from mxnet.ndarray.ndarray import _LIB, NDArrayHandle, check_call

    first, handle = mx.nd.array([[1, 2], [3, 4]]), NDArrayHandle()
    check_call(_LIB.MXNDArraySlice(first.handle, 1, 2, ctypes.byref(handle)))
    assert mx.nd.NDArray(handle).asnumpy().tolist() == [[3, 4]]


def test_storage_types_have_numbers():
    from mxnet.ndarray import ndarray as arrays
    from mxnet.symbol.symbol import _STORAGE_TYPE_STR_TO_ID

    for name, number in {"undefined": -1, "default": 0, "row_sparse": 1, "csr": 2}.items():
        assert getattr(arrays, "_STORAGE_TYPE_" + name.upper()) == _STORAGE_TYPE_STR_TO_ID[name] == number
        assert arrays._STORAGE_TYPE_ID_TO_STR[number] == name


def test_a_device_to_seed_is_told_by_its_type():
    mx.random.seed(5)
    expected = mx.nd.random.uniform(shape=3).asnumpy()
    mx.random.seed(5, ctx=mx.current_context().device_type)
    assert (mx.nd.random.uniform(shape=3).asnumpy() == expected).all()
    with pytest.raises(KeyError, match="expected one of cpu"):
        mx.random.seed(5, ctx="nothing")


def test_classes_with_properties_of_their_own_are_patched():
    _run("""
import mxnet as mx

def set_attribute(cls, key, value):
    found = cls.__dict__.get(key)
    if found and isinstance(found, mx.base._MXClassPropertyDescriptor):
        return found.__set__(cls, value)
    return super(mx.base._MXClassPropertyMetaClass, cls).__setattr__(key, value)

mx.base._MXClassPropertyMetaClass.__setattr__ = set_attribute
mx.Context.default_ctx = mx.cpu(3)
assert mx.nd.ones(1).context == mx.cpu(3) and mx.current_context() == mx.cpu(3)
mx.Context.mine = 5
assert mx.cpu().mine == 5
""")


def test_quantization_is_taken_step_by_step():
    """Values to watch from the symbol alone, histograms by a monitor, ranges of them, and what calib_graph makes of an object that has some."""
    steps = mx.contrib.quantization
    net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    draws = np.random.RandomState(3)
    params = {name: mx.nd.array(draws.uniform(-1, 1, shape)) for name, shape in (("fc_weight", (3, 4)), ("fc_bias", (3,)))}
    data = mx.nd.array(draws.uniform(-1, 1, (64, 4)))

    qsym, values = steps._quantize_symbol(sym=net, ctx=mx.cpu(), offline_params=list(params), quantized_dtype="auto", quantize_mode="full")
    watched = steps._LayerHistogramCollector(include_layer=values)
    executor = net.bind(mx.cpu(), {**params, "data": data})
    executor.set_monitor_callback(watched.collect, monitor_all=True)
    executor.forward()
    watched.min_max_dict = steps._get_optimal_thresholds(watched.hist_dict, "auto")
    assert set(watched.min_max_dict) == set(values) == {"data", "fc_output"}

    ready, weights, _ = steps.calib_graph(qsym, params, {}, watched, "naive", quantized_dtype="auto")
    result = ready.bind(mx.cpu(), {**weights, "data": data}).forward()[0]
    np.testing.assert_allclose(result.asnumpy(), executor.outputs[0].asnumpy(), atol=0.1)
