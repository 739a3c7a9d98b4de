# SPDX-License-Identifier: Apache-2.0
"""Data sets, samplers and loaders of gluon.data."""

import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import mxnet as mx
from mxnet.gluon import data


class Numbers(data.Dataset):
    """Sample i is i, as an array."""

    def __init__(self, count):
        self._count = count

    def __len__(self):
        return self._count

    def __getitem__(self, idx):
        return np.full((2,), idx, dtype=np.float32), idx


class Raising(Numbers):
    def __getitem__(self, idx):
        if idx == 5:
            raise KeyError(f"sample {idx}")
        return super().__getitem__(idx)


class Dying(Numbers):
    def __getitem__(self, idx):
        if idx == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__getitem__(idx)


class Sleeping(Numbers):
    def __getitem__(self, idx):
        if idx == 5:
            time.sleep(30)
        return super().__getitem__(idx)


class RandomNumbers(Numbers):
    def __getitem__(self, idx):
        return np.random.randint(0, 1 << 30), os.getpid()


class Halves(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] / 2)


@mx.operator.register("test_halves")
class HalvesProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Halves()


class OfACustomOperator(Numbers):
    def __getitem__(self, idx):
        cpu = mx.cpu()  # that of a forked process is all it may use
        return mx.nd.ones((1,), ctx=cpu), mx.nd.Custom(mx.nd.full((1,), 2 * idx, ctx=cpu), op_type="test_halves")


def values(loader):
    return [batch[1].asnumpy().astype(int).tolist() for batch in loader]


# ---- data sets


def test_simple_and_array_datasets():
    assert [data.SimpleDataset([3, 4])[i] for i in range(2)] == [3, 4]
    both = data.ArrayDataset(np.arange(6).reshape(3, 2), [7, 8, 9])
    assert len(both) == 3 and both[1][0].tolist() == [2, 3] and both[1][1] == 8
    assert data.ArrayDataset(mx.nd.arange(3))[2] == 2
    with pytest.raises(ValueError, match="2 items in argument 1"):
        data.ArrayDataset([1, 2, 3], [1, 2])


def test_datasets_made_of_others():
    numbers = data.SimpleDataset(list(range(10)))
    everything = lambda dataset: [dataset[i] for i in range(len(dataset))]  # noqa: E731
    assert everything(numbers.filter(lambda x: x % 3 == 0)) == [0, 3, 6, 9]
    assert everything(numbers.take(3)) == [0, 1, 2] and len(numbers.take(None)) == len(numbers.take(99)) == 10
    assert [everything(numbers.shard(3, i)) for i in range(3)] == [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert everything(numbers.sample(data.SequentialSampler(3, start=4))) == [4, 5, 6]
    calls = []
    lazy = numbers.transform(lambda x: calls.append(x) or -x)
    assert calls == [] and lazy[4] == -4 and calls == [4]
    assert everything(numbers.transform(lambda x: -x, lazy=False)) == [-i for i in range(10)]
    pairs = data.SimpleDataset([(1, 2), (3, 4)])
    assert pairs.transform(lambda a, b: a * b)[1] == 12
    assert pairs.transform_first(lambda a: a * 10)[1] == (30, 4)
    assert numbers.transform_first(lambda a: a * 10)[1] == 10
    with pytest.raises(ValueError, match="index 3 of 3"):
        numbers.shard(3, 3)


def test_records_as_a_dataset(tmp_path):
    with mx.recordio.MXIndexedRecordIO(str(tmp_path / "a.idx"), str(tmp_path / "a.rec"), "w") as writer:
        for i in range(4):
            writer.write_idx(i, f"record {i}")
    records = data.RecordFileDataset(str(tmp_path / "a.rec"))
    assert len(records) == 4 and records[2] == b"record 2"
    assert pickle.loads(pickle.dumps(records))[3] == b"record 3"


# ---- samplers


def test_samplers_give_the_positions_in_their_order():
    assert list(data.SequentialSampler(3, start=2)) == [2, 3, 4]
    np.random.seed(1)
    order = list(data.RandomSampler(6))
    np.random.seed(1)
    expected = np.arange(6)
    np.random.shuffle(expected)
    assert order == expected.tolist()
    assert list(data.FilterSampler(lambda x: x > 1, [3, 1, 2])) == [0, 2]


@pytest.mark.parametrize("last_batch, epochs, lengths", [
    ("keep", [[[0, 1, 2], [3, 4]]] * 2, [2, 2]), ("discard", [[[0, 1, 2]]] * 2, [1, 1]),
    ("rollover", [[[0, 1, 2]], [[3, 4, 0], [1, 2, 3]]], [1, 2]),
])
def test_the_last_batch_is_kept_left_out_or_filled_by_the_next_epoch(last_batch, epochs, lengths):
    sampler = data.BatchSampler(data.SequentialSampler(5), 3, last_batch)
    for epoch, length in zip(epochs, lengths):
        assert len(sampler) == length
        assert list(sampler) == epoch
    with pytest.raises(ValueError, match="'drop'"):
        data.BatchSampler(data.SequentialSampler(5), 3, "drop")


# ---- loaders


WAYS = [{}, {"num_workers": 2}, {"num_workers": 2, "thread_pool": True}]


@pytest.mark.parametrize("way", WAYS, ids=["here", "processes", "threads"])
def test_batches_come_in_order_for_several_epochs(way):
    loader = data.DataLoader(Numbers(11), 4, **way)
    for _ in range(2):
        assert len(loader) == 3
        batches = list(loader)
        assert [batch[0].shape for batch in batches] == [(4, 2), (4, 2), (3, 2)]
        assert values(batches) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10]]
        assert batches[1][0].asnumpy().tolist() == [[i, i] for i in range(4, 8)]


@pytest.mark.parametrize("way", WAYS, ids=["here", "processes", "threads"])
def test_shuffled_batches_are_all_samples_once(way):
    np.random.seed(3)
    seen = sum(values(data.DataLoader(Numbers(20), 6, shuffle=True, **way)), [])
    assert sorted(seen) == list(range(20)) and seen != list(range(20))


def test_batches_are_made_of_what_samples_are():
    batch = next(iter(data.DataLoader([{"a": 1.5, "b": [mx.nd.ones(2), 3]}] * 2, 2)))
    assert batch["a"].asnumpy().tolist() == [1.5, 1.5] and batch["b"][0].shape == (2, 2)
    with pytest.raises(ValueError, match="batchify"):
        next(iter(data.DataLoader([mx.nd.ones(2), mx.nd.ones(3)], 2)))


def test_functions_that_make_batches():
    pad = data.batchify.Pad(axis=0, val=-1, ret_length=True)
    batch, lengths = pad([np.ones(2), np.ones(3)])
    assert batch.asnumpy().tolist() == [[1, 1, -1], [1, 1, 1]] and lengths.asnumpy().tolist() == [2, 3]
    assert data.batchify.Pad(axis=0, round_to=4)([np.ones(5), np.ones(2)]).shape == (2, 8)
    group = data.batchify.Group(data.batchify.Stack(), data.batchify.Append())
    first, second = group([(np.ones(2), np.ones(1)), (np.ones(2), np.ones(4))])
    assert first.shape == (2, 2) and [array.shape for array in second] == [(1, 1), (1, 4)]
    with pytest.raises(ValueError, match="differ in axis 0 only"):
        data.batchify.Pad(axis=0)([np.ones((2, 3)), np.ones((2, 4))])


def test_arrays_from_processes_lie_in_shared_memory_and_stay():
    loader = data.DataLoader(Numbers(40), 4, num_workers=2)
    batches = list(loader)
    assert batches[0][0].context.device_type == "cpu_shared"
    del loader  # the processes are gone
    assert values(batches) == [list(range(i, i + 4)) for i in range(0, 40, 4)]
    batches[0][0][:] = 7
    assert batches[0][0].asnumpy().tolist() == [[7, 7]] * 4


def test_descriptors_do_not_pile_up():
    loader = data.DataLoader(Numbers(64), 2, num_workers=2)
    kept = list(loader)
    before = len(os.listdir("/proc/self/fd"))
    kept += [batch for _ in range(3) for batch in loader]
    assert len(kept) == 128 and len(os.listdir("/proc/self/fd")) <= before + 2


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_that_are_not_forked(method):
    before = multiprocessing.get_start_method()
    multiprocessing.set_start_method(method, force=True)
    try:
        assert values(data.DataLoader(Numbers(5), 3, num_workers=1)) == [[0, 1, 2], [3, 4]]
    finally:
        multiprocessing.set_start_method(before, force=True)


@pytest.mark.parametrize("used_before", [False, True])
@pytest.mark.parametrize("way", WAYS, ids=["here", "processes", "threads"])
def test_samples_are_made_by_a_custom_operator(way, used_before):
    if used_before:
        assert mx.nd.Custom(mx.nd.ones((2,)), op_type="test_halves").asnumpy().tolist() == [0.5, 0.5]
    assert values(data.DataLoader(OfACustomOperator(4), 2, **way)) == [[[0], [1]], [[2], [3]]]


@pytest.mark.parametrize("way", WAYS, ids=["here", "processes", "threads"])
def test_what_a_sample_raises_comes_out(way):
    batches = iter(data.DataLoader(Raising(8), 2, **way))
    assert values([next(batches), next(batches)]) == [[0, 1], [2, 3]]
    with pytest.raises(KeyError, match="sample 5"):
        next(batches)


def test_a_worker_that_dies_is_named():
    batches = iter(data.DataLoader(Dying(8), 2, num_workers=1))
    with pytest.raises(RuntimeError, match=r"worker 0 \(process \d+\).*SIGKILL"):
        list(batches)


def test_a_worker_that_takes_too_long_is_named():
    batches = iter(data.DataLoader(Sleeping(8), 2, num_workers=1, timeout=1))
    with pytest.raises(RuntimeError, match=r"worker 0.*within 1 s"):
        list(batches)


def test_an_epoch_that_is_left_does_not_disturb_the_next():
    loader = data.DataLoader(Numbers(20), 2, num_workers=2)
    next(iter(loader))
    assert values(loader) == [[i, i + 1] for i in range(0, 20, 2)]


def test_two_epochs_at_once():
    loader = data.DataLoader(Numbers(6), 2, num_workers=2)
    pairs = [(a[1].asnumpy().tolist(), b[1].asnumpy().tolist()) for a, b in zip(loader, loader)]
    assert all(a == b for a, b in pairs) and len(pairs) == 3


def test_workers_draw_different_numbers_that_follow_the_seed():
    def drawn():
        np.random.seed(4)
        batches = list(data.DataLoader(RandomNumbers(8), 1, num_workers=2, prefetch=1))
        by_process = {}
        for number, process in batches:
            by_process.setdefault(int(process.asscalar()), []).append(int(number.asscalar()))
        return sorted(by_process.values())

    first = drawn()
    flat = sum(first, [])
    assert len(set(flat)) == len(flat)
    assert set(sum(drawn(), [])) & set(flat)


class PythonsNumbers:
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return random.getrandbits(20)


def test_loaders_made_anew_each_epoch_draw_other_numbers_of_pythons_random():
    np.random.seed(4)
    random.seed(4)
    before = random.getstate()
    epochs = [sum((b.asnumpy().tolist() for b in data.DataLoader(PythonsNumbers(), 1, num_workers=1)), [])
              for _ in range(2)]
    assert len(set(sum(epochs, []))) == 8
    assert random.getstate() == before


def test_pythons_numbers_in_workers_follow_the_seed():
    program = """if True:
        import random
        import numpy
        import mxnet as mx
        class Numbers:
            def __len__(self): return 4
            def __getitem__(self, i): return random.getrandbits(20)
        random.seed(4)
        numpy.random.seed(4)
        for _ in range(2):
            print([b.asnumpy().tolist() for b in mx.gluon.data.DataLoader(Numbers(), 1, num_workers=1)])
    """
    first, second = (subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
                     for _ in range(2))
    assert first == second and len(set(first.split("\n"))) == 3


def test_the_next_epoch_can_be_begun_early():
    loader = data.DataLoader(Numbers(4), 2, num_workers=1, auto_reload=True)
    for _ in range(3):
        assert values(loader) == [[0, 1], [2, 3]]
    loader.clean()
    loader.refresh()
    assert values(loader) == [[0, 1], [2, 3]]


def test_a_worker_may_use_the_library():
    shifted = data.SimpleDataset([mx.nd.full((3,), i) for i in range(6)]).transform(_plus_one)
    batches = [batch.asnumpy()[:, 0].tolist() for batch in data.DataLoader(shifted, 3, num_workers=2)]
    assert batches == [[1, 2, 3], [4, 5, 6]]


def _plus_one(x):
    return x + 1


def test_arguments_that_contradict_each_other():
    for kwargs, what in (
        ({}, "batch_size"), ({"batch_size": 2, "shuffle": True, "sampler": data.SequentialSampler(3)}, "sampler"),
        ({"batch_size": 2, "batch_sampler": [[1]]}, "batch_sampler"), ({"batch_size": 2, "timeout": 0}, "timeout"),
        ({"batch_size": 0}, "given batch_size 0"), ({"batch_size": -1}, "given batch_size -1"), ({"batch_size": 2.5}, "given batch_size 2.5"),
        ({"batch_size": "8"}, "given batch_size '8'"),
    ):
        with pytest.raises(ValueError, match=what):
            data.DataLoader(Numbers(3), **kwargs)


def test_interval_sampler_steps_and_begins_again_at_what_is_left():
    from mxnet.gluon.contrib.data import IntervalSampler

    assert list(IntervalSampler(7, 3)) == [0, 3, 6, 1, 4, 2, 5]
    short = IntervalSampler(7, 3, rollover=False)
    assert list(short) == [0, 3, 6] and len(short) == 3


def test_lists_of_numbers_are_arrays_and_lists_of_arrays_rows():
    batch = next(iter(data.DataLoader([[1, 2], [3, 4], [5, 6]], batch_size=3)))
    assert batch.asnumpy().tolist() == [[1, 2], [3, 4], [5, 6]]
    columns = next(iter(data.DataLoader([[mx.nd.ones(2), 1], [mx.nd.zeros(2), 2]], batch_size=2)))
    assert [item.shape for item in columns] == [(2, 2), (2,)]


def test_batches_of_processes_are_arrays_of_np_where_nobody_has_asked_for_mx_np():
    program = (
        "import sys, numpy as np, mxnet as mx\n"
        "from mxnet.gluon import data\n"
        "with mx.util.np_shape(True), mx.util.np_array(True):\n"
        "    assert 'mxnet.numpy' not in sys.modules\n"
        "    kinds = {type(x) for x in data.DataLoader(np.ones((6, 2), 'float32'), 3, num_workers=1)}\n"
        "assert kinds == {mx.np.ndarray}, kinds\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("ways", WAYS)
def test_batches_are_arrays_of_np_where_the_loop_has_them_on(ways):
    rows = np.arange(12, dtype="float32").reshape(6, 2)
    loader = data.DataLoader(data.ArrayDataset(rows, rows[:, 0]), 3, **ways)
    if "thread_pool" in ways:  # asked for with every batch; processes have what was on when they began
        assert {type(x) for batch in loader for x in batch} == {mx.nd.NDArray}
    with mx.util.np_shape(True), mx.util.np_array(True):
        loader = loader if "thread_pool" in ways else data.DataLoader(data.ArrayDataset(rows, rows[:, 0]), 3, **ways)
        assert {type(x) for batch in loader for x in batch} == {mx.np.ndarray}


def _sums(results, arrays):
    results.put([(type(array).__module__, array.asnumpy().tolist()) for array in arrays])


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_arrays_are_arguments_of_processes(method):
    context = multiprocessing.get_context(method)
    results = context.Queue()
    shared = mx.nd.arange(6, ctx=mx.Context("cpu_shared", 0))
    arrays = [mx.nd.ones(3, ctx=mx.cpu()) * 2, mx.np.ones(2, ctx=mx.cpu()), shared, shared]
    expected = [(type(array).__module__, array.asnumpy().tolist()) for array in arrays]
    process = context.Process(target=_sums, args=(results, arrays), daemon=True)
    process.start()
    assert results.get(timeout=300) == expected
    process.join()
    assert process.exitcode == 0
