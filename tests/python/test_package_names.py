# SPDX-License-Identifier: Apache-2.0
"""What published packages (GluonCV, GluonNLP, GluonTS, Sockeye, training loops of detectors) take from here beyond the public names."""

import ctypes
import importlib
import multiprocessing
import multiprocessing.pool
import os
import pickle
import subprocess
import sys
import threading

import mxnet as mx
import numpy as np
import pytest
from mxnet.base import _as_list
from mxnet.executor_manager import _load_data, _load_label
from mxnet.gluon.block import _BlockScope, _brief_print_list, _flatten, _indent, _regroup
from mxnet.gluon.data.dataloader import ForkingPickler, _as_in_context, _MultiWorkerIter
from mxnet.gluon.loss import Loss, _apply_weighting, _reshape_like
from mxnet.gluon.model_zoo import model_store
from mxnet.gluon.model_zoo.vision.densenet import _make_dense_block, _make_transition
from mxnet.gluon.model_zoo.vision.mobilenet import _add_conv_dw
from mxnet.gluon.nn.conv_layers import _infer_weight_shape
from mxnet.gluon.rnn import rnn_cell
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


def test_a_loss_of_ones_own_weights_its_samples():
    class Absolute(Loss):
        def hybrid_forward(self, F, pred, label, sample_weight=None):
            loss = F.abs(_reshape_like(F, label, pred) - pred)
            return F.mean(_apply_weighting(F, loss, self._weight, sample_weight), axis=self._batch_axis, exclude=True)

    loss = Absolute(2.0, 0)
    for _ in range(2):
        found = loss(mx.nd.ones((2, 3)), mx.nd.zeros(6), mx.nd.array([[1], [0.5]]))
        assert found.asnumpy().tolist() == [2, 1]
        loss.hybridize()


def test_nests_of_arrays_become_flat_and_come_back():
    arrays = [mx.nd.full(1, i) for i in range(3)]
    flat, structure = _flatten([arrays[0], [arrays[1], None], (arrays[2],)], "input")
    assert structure == [0, [0, -1], [0]] and [item is None for item in flat] == [False, False, True, False]
    first, (second, nothing), third = _regroup(flat, structure)
    assert [first, second, third[0]] == arrays and nothing is None


def test_arrays_bring_pools_of_processes():
    _run("import multiprocessing, mxnet\nmxnet.nd.NDArray\nassert multiprocessing.pool.Pool")


def test_hashes_of_ones_own_networks(monkeypatch):
    monkeypatch.setattr(model_store, "_model_sha1", dict(model_store._model_sha1))
    model_store._model_sha1.update({"bert_of_mine": "0123456789abcdef"})
    assert model_store.short_hash("bert_of_mine") == "01234567"


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


def test_batches_go_to_a_device_with_what_they_hold():
    batch = _as_in_context([mx.nd.ones(1), (3, mx.nd.zeros(2))], mx.cpu())
    assert batch[1][0] == 3 and batch[1][1].shape == (2,)


def doubled(numbers, batchify_fn):
    return bytes(ForkingPickler.dumps(batchify_fn([2 * i for i in numbers])))


def stacked(items):
    return mx.nd.array(items)


class _Negated(_MultiWorkerIter):
    """Sends work of its own, as loaders do that change a transformation every few batches."""

    def _push_next(self):
        numbers = next(self._iter, None)
        if numbers is not None:
            work = self._worker_pool.apply_async(self._worker_fn, ([-i for i in numbers], self._batchify_fn))
            self._data_buffer[self._sent_idx] = work
            self._sent_idx += 1


@pytest.mark.parametrize("kind, sign", [(_MultiWorkerIter, 1), (_Negated, -1)])
@pytest.mark.parametrize("prefetch", [0, 2])
def test_a_pool_makes_batches_in_order(kind, sign, prefetch):
    sampler = mx.gluon.data.BatchSampler(mx.gluon.data.SequentialSampler(7), 2, "keep")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        made = kind(pool, stacked, sampler, worker_fn=doubled, prefetch=prefetch)
        assert len(made) == 4
        assert [batch.asnumpy().tolist() for batch in made] == [[0, 4 * sign / 2], [4 * sign, 6 * sign], [8 * sign, 10 * sign], [12 * sign]]


def test_threads_share_the_data_set():
    numbers = np.arange(6)

    def work(places, batchify_fn, dataset):
        return batchify_fn(dataset[places])

    with multiprocessing.pool.ThreadPool(2) as pool:
        made = _MultiWorkerIter(pool, list, [[0, 1], [4, 5]], worker_fn=work, prefetch=1, dataset=numbers)
        assert [*made] == [[0, 1], [4, 5]]
        assert pickle.loads(pickle.dumps(len(made))) == 2


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


def test_blocks_tell_the_scope_in_which_they_are_made():
    assert getattr(_BlockScope._current, "value", None) is None
    block = mx.gluon.nn.HybridSequential(prefix="outer_")
    with block.name_scope():
        assert _BlockScope._current.value is block.name_scope()
        assert _BlockScope.create(None, None, "dense")[0] == "outer_dense0_"
    assert _BlockScope._current.value is None


def test_texts_of_blocks():
    assert _indent("a\nb\n\nc", 2) == "a\n  b\n  \n  c"
    assert _brief_print_list(["a", "b"]) == "'a', 'b'"
    assert _brief_print_list(range(20)) == "'0', '1', '2', ..., '16', '17', '18', '19'"


class _Cell(mx.gluon.rnn.HybridRecurrentCell):
    """A cell of a program, written with the helpers of the library's own."""

    def state_info(self, batch_size=0):
        return [{"shape": (batch_size, 2), "__layout__": "NC"}]

    def hybrid_forward(self, F, inputs, states):
        output = self._get_activation(F, inputs + states[0], "relu")
        return output, [output]

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None, valid_length=None):
        steps, axis, F, batch = rnn_cell._format_sequence(length, inputs, layout, False)
        steps = rnn_cell._reverse_sequences(steps, length, valid_length)
        states = rnn_cell._get_begin_state(self, F, begin_state, steps, batch)
        outputs = []
        for step in steps:
            output, states = self(step, states)
            outputs.append(output)
        return rnn_cell._mask_sequence_variable_length(F, outputs, length, valid_length, axis, True), states


def test_cells_of_ones_own_unroll():
    cell = _Cell()
    data = mx.nd.array([[[1, 2], [3, 4], [-20, 6]], [[1, 1], [2, 2], [3, 3]]])
    outputs, states = cell.unroll(3, data, valid_length=mx.nd.array([2, 3]))
    assert outputs.asnumpy().tolist() == [[[3, 4], [4, 6], [0, 0]], [[3, 3], [5, 5], [6, 6]]]
    assert states[0].shape == (2, 2)
    assert rnn_cell._cells_state_info([cell, cell], 3) == cell.state_info(3) * 2
    assert [state.shape for state in rnn_cell._cells_begin_state([cell], batch_size=3)] == [(3, 2)]


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


def test_arrays_of_parameters_for_trainers_of_ones_own():
    parameter = mx.gluon.Parameter("weight", shape=2)
    with pytest.raises(RuntimeError, match="was not initialized"):
        parameter._check_and_get(parameter._data, list)
    parameter.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    assert parameter._check_and_get(parameter._data, list) == parameter.list_data()
    assert parameter._check_and_get(parameter._grad, mx.cpu(1)) is parameter.grad(mx.cpu(1))
    trainer = mx.gluon.Trainer([parameter], "sgd")
    trainer._check_and_rescale_grad(0.25)
    assert trainer.optimizer.rescale_grad == 0.25


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


def test_parts_of_the_model_zoo():
    class Narrow(mx.gluon.model_zoo.vision.ResNetV1):
        def _make_layer(self, block, layers, channels, stride, stage_index, in_channels=0):
            made.append((layers, channels, stride, stage_index, in_channels))
            return super()._make_layer(block, layers, channels, stride, stage_index, in_channels=in_channels)

    made = []
    Narrow(mx.gluon.model_zoo.vision.BasicBlockV1, [1, 2], [4, 8, 16], classes=3)
    assert made == [(1, 8, 1, 1, 4), (2, 16, 2, 2, 8)]
    network = mx.gluon.nn.HybridSequential()
    network.add(_make_dense_block(2, 2, 3, 0.1, 1), _make_transition(5))
    _add_conv_dw(network, 5, 7, 2, relu6=True)
    network.initialize()
    assert network(mx.nd.ones((1, 4, 8, 8))).shape == (1, 7, 2, 2)
    shapes = _infer_weight_shape("Convolution", (1, 3, 0, 0), {"kernel": (3, 3), "num_filter": 4})
    assert shapes == [(1, 3, 0, 0), (4, 3, 3, 3), (4,)]


def test_samples_below_a_transformation():
    samples = mx.gluon.data.SimpleDataset([1, 2])
    doubled_ones = samples.transform(lambda sample: 2 * sample)
    assert isinstance(doubled_ones, mx.gluon.data.dataset._LazyTransformDataset)
    assert doubled_ones[1] == 4 and doubled_ones._data is samples


class DroppingOut(mx.gluon.Parameter):
    """Another parameter's arrays with dropout, made as a package for language makes them."""

    def __init__(self, of, rate):
        super().__init__(of.name, grad_req=of.grad_req, shape=of._shape, dtype=of.dtype)
        self._rate, self._var, self._data, self._grad = rate, of._var, of._data, of._grad
        self._ctx_list, self._ctx_map, self._trainer = of._ctx_list, of._ctx_map, of._trainer

    def data(self, ctx=None):
        return mx.nd.Dropout(self._check_and_get(self._data, ctx), self._rate)


def test_a_parameter_made_of_anothers_parts():
    weight = mx.gluon.Parameter("weight", shape=(40, 50))
    assert weight._ctx_map is None
    weight.initialize("ones")
    dropping = DroppingOut(weight, 0.5)
    assert (dropping.data().asnumpy() == 1).all()
    with mx.autograd.record():
        dropped = dropping.data()
        dropped.sum().backward()
    assert set(dropped.asnumpy().ravel()) == {0, 2} and (weight.grad().asnumpy() == dropped.asnumpy()).all()


def test_the_array_of_a_device_is_found_by_its_type_and_number():
    weight = mx.gluon.Parameter("weight", shape=(2,))
    weight.initialize(ctx=[mx.cpu(2), mx.cpu(0)])
    kind = mx.cpu().device_typeid & 1
    assert weight._ctx_map[kind] == [1, None, 0] and weight._ctx_map[1 - kind] == []


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


def _replace_an_item(parameter, array):
    parameter._data[parameter._ctx_map[mx.cpu().device_typeid & 1][0]] = array


def _replace_all(parameter, array):
    parameter._data = [array]


@pytest.mark.parametrize("replace", [_replace_an_item, _replace_all])
@pytest.mark.parametrize("hybridized", [False, True])
def test_arrays_put_in_the_places_of_a_parameters_are_used(replace, hybridized):
    """Bayesian networks of xfer-ml draw weights so, and take gradients of what they were drawn from."""
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(1, use_bias=False, in_units=2))
    net.initialize(mx.init.One(), ctx=mx.cpu())
    if hybridized:
        net.hybridize()
    data, mean = mx.nd.array([[1, 2]], ctx=mx.cpu()), mx.nd.array([[3, 4]], ctx=mx.cpu())
    mean.attach_grad()
    found = [net(data).asscalar()]
    for factor in (1, 2):
        with mx.autograd.record():
            replace(net[0].weight, mean * factor)
            made = net(data)
        made.backward()
        found.append(made.asscalar())
    assert found == [3, 11, 22] and mean.grad.asnumpy().tolist() == [[2, 4]]


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
