# SPDX-License-Identifier: Apache-2.0
"""What published packages (GluonCV, GluonNLP, xfer-ml, training loops of detectors) take from Gluon beyond the public names."""

import multiprocessing
import multiprocessing.pool
import pickle

import mxnet as mx
import numpy as np
import pytest
from mxnet.gluon.block import _BlockScope, _brief_print_list, _flatten, _indent, _regroup
from mxnet.gluon.data.dataloader import ForkingPickler, _as_in_context, _MultiWorkerIter
from mxnet.gluon.loss import Loss, _apply_weighting, _reshape_like
from mxnet.gluon.model_zoo import model_store
from mxnet.gluon.model_zoo.vision.densenet import _make_dense_block, _make_transition
from mxnet.gluon.model_zoo.vision.mobilenet import _add_conv_dw
from mxnet.gluon.nn.conv_layers import _infer_weight_shape
from mxnet.gluon.rnn import rnn_cell


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


def test_hashes_of_ones_own_networks(monkeypatch):
    monkeypatch.setattr(model_store, "_model_sha1", dict(model_store._model_sha1))
    model_store._model_sha1.update({"bert_of_mine": "0123456789abcdef"})
    assert model_store.short_hash("bert_of_mine") == "01234567"


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
