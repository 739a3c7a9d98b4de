# SPDX-License-Identifier: Apache-2.0
"""What published packages (GluonCV, GluonNLP, GluonTS, Sockeye, training loops of detectors) take from here beyond the public names."""

import multiprocessing
import multiprocessing.pool
import pickle
import subprocess
import sys

import mxnet as mx
import numpy as np
import pytest
from mxnet.base import _as_list
from mxnet.contrib.amp import amp
from mxnet.gluon.block import _flatten, _regroup
from mxnet.gluon.data.dataloader import ForkingPickler, _as_in_context, _MultiWorkerIter
from mxnet.gluon.loss import Loss, _apply_weighting, _reshape_like
from mxnet.gluon.model_zoo import model_store
from mxnet.gluon.utils import _get_repo_file_url, _get_repo_url
from mxnet.image.image import _get_interp_method
from mxnet.metric import ndarray
from mxnet.module.base_module import _check_input_names, _check_names_match, _parse_data_desc


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
    program = "import multiprocessing, mxnet\nmxnet.nd.NDArray\nmultiprocessing.pool.Pool"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_hashes_of_ones_own_networks(monkeypatch):
    monkeypatch.setattr(model_store, "_model_sha1", dict(model_store._model_sha1))
    model_store._model_sha1.update({"bert_of_mine": "0123456789abcdef"})
    assert model_store.short_hash("bert_of_mine") == "01234567"


def test_whether_mixed_precision_was_started_can_be_seen():
    assert amp._amp_initialized in (None, "float16", "bfloat16")


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
