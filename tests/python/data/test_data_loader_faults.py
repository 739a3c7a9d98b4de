# SPDX-License-Identifier: Apache-2.0
"""Loaders whose workers die, hang, or make what cannot be sent, with every way to start them; Ctrl-C; pinned batches."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import mxnet as mx
from mxnet.gluon import data
from mxnet.gluon.data import _workers

METHODS = ["fork", "spawn", "forkserver"]
AMPLE = 300  # seconds for what comes, on the busiest machine


class Numbers(data.Dataset):
    """Sample i is i. What happens at sample 5 is for subclasses to say."""

    def __len__(self):
        return 8

    def __getitem__(self, idx):
        if idx == 5:
            self.at_five()
        return np.float32(idx)

    def at_five(self):
        pass


class Killed(Numbers):
    def at_five(self):
        os.kill(os.getpid(), signal.SIGKILL)


class Leaving(Numbers):
    def at_five(self):
        os._exit(3)


class Stuck(Numbers):
    def at_five(self):
        threading.Event().wait()


class OneStuckOneKilled(Numbers):
    """The first batch never comes, and the other worker dies."""

    def __getitem__(self, idx):
        if idx < 2:
            threading.Event().wait()
        os.kill(os.getpid(), signal.SIGKILL)


class NotLoadable(Numbers):
    def __reduce__(self):
        return _no_data, ()


def _no_data():
    raise OSError("no such data here")


@pytest.fixture(params=METHODS)
def start_method(request):
    before = multiprocessing.get_start_method()
    multiprocessing.set_start_method(request.param, force=True)
    yield request.param
    multiprocessing.set_start_method(before, force=True)


def first_numbers(loader, count):
    """So many batches, and the iterator, which has more."""
    batches = iter(loader)
    return [next(batches).asnumpy().tolist() for _ in range(count)], batches


@pytest.mark.parametrize(
    "kind, error, message",
    [
        (Killed, RuntimeError, r"worker 0 \(process \d+\) of a DataLoader has ended by signal SIGKILL before it made batch 2"),
        (Leaving, RuntimeError, r"worker 0 \(process \d+\) of a DataLoader has ended with status 3 before it made batch 2"),
        (Stuck, multiprocessing.TimeoutError, r"worker 0 \(process \d+\) of a DataLoader has not made a batch within 0.5 s"),
    ],
)
def test_a_worker_that_dies_or_hangs_is_an_error_after_the_batches_before(start_method, kind, error, message):
    loader = data.DataLoader(kind(), 2, num_workers=1, timeout=AMPLE)
    found, batches = first_numbers(loader, 2)
    assert found == [[0, 1], [2, 3]]
    if kind is Stuck:
        loader._workers._timeout = 0.5
    with pytest.raises(error, match=message):
        next(batches)


def test_a_worker_that_cannot_load_its_data_set_is_an_error():
    before = multiprocessing.get_start_method()
    multiprocessing.set_start_method("spawn", force=True)
    try:
        with pytest.raises(RuntimeError, match=r"worker 0 \(process \d+\) of a DataLoader has ended with status 1"):
            list(data.DataLoader(NotLoadable(), 2, num_workers=1))
    finally:
        multiprocessing.set_start_method(before, force=True)


def test_the_worker_that_died_is_named_with_the_batch_of_its_own():
    with pytest.raises(RuntimeError, match=r"worker 1 .* before it made batch 1"):
        list(data.DataLoader(OneStuckOneKilled(), 2, num_workers=2, prefetch=2))


def test_a_batch_that_cannot_be_sent_is_an_error_and_the_next_epoch_goes_on():
    loader = data.DataLoader(Numbers(), 4, num_workers=1, batchify_fn=_unsendable_once_two)
    with pytest.raises(Exception, match="in worker 0"):
        list(loader)
    assert first_numbers(loader, 1)[0] == [[0, 1, 2, 3]]


def _unsendable_once_two(samples):
    return mx.nd.array(samples) if samples[0] == 0 else (lambda: samples)


def test_a_thread_that_takes_too_long_is_an_error():
    release = threading.Event()

    class Waiting(Numbers):
        def at_five(self):
            release.wait()

    loader = data.DataLoader(Waiting(), 2, num_workers=1, thread_pool=True, timeout=AMPLE)
    try:
        found, batches = first_numbers(loader, 2)
        assert found == [[0, 1], [2, 3]]
        loader._workers._timeout = 0.2
        with pytest.raises(multiprocessing.TimeoutError, match="thread of a DataLoader has not made a batch within 0.2 s"):
            next(batches)
    finally:
        release.set()


@pytest.mark.parametrize("threads", [False, True])
def test_ctrl_c_ends_a_wait_for_a_batch(run_python, threads):
    code = f"""
import multiprocessing, os, signal, threading, time
import numpy as np
from mxnet.gluon import data
release = multiprocessing.Event()
class Stuck(data.Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, idx):
        if idx == 2:
            release.wait()
        return np.float32(idx)
loader = data.DataLoader(Stuck(), 2, num_workers=1, thread_pool={threads})
batches = iter(loader)
print(next(batches).asnumpy().tolist())
try:
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    next(batches)
except KeyboardInterrupt:
    print("interrupted")
release.set()
print(next(batches).asnumpy().tolist(), len(getattr(loader._workers, "_ready", [])))
loader._workers.close()
print(multiprocessing.active_children())
"""
    done = run_python(code)
    assert (done.returncode, done.stdout) == (0, "[0.0, 1.0]\ninterrupted\n[2.0, 3.0] 0\n[]\n"), done.stderr


@pytest.mark.parametrize("seconds, most", [(0.2, 15), (20, 0)])  # those of one batch are 16
def test_the_end_of_a_program_does_not_wait_for_batches_of_threads(run_python, seconds, most):
    code = f"""
import threading
import numpy as np
from mxnet.gluon import data
begun = threading.Event()
class Slow(data.Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, idx):
        begun.set()
        threading.Event().wait({seconds})
        print("sample", flush=True)
        return np.float32(idx)
batches = iter(data.DataLoader(Slow(), 16, num_workers=1, prefetch=1, thread_pool=True))
begun.wait()
"""
    done = run_python(code)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) <= most


def test_threads_begin_anew_in_a_forked_process():
    loader = data.DataLoader(Numbers(), 4, num_workers=1, thread_pool=True)
    expected = [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert [batch.asnumpy().tolist() for batch in loader] == expected
    process = os.fork()
    if process == 0:
        try:
            os._exit(0 if [batch.asnumpy().tolist() for batch in loader] == expected else 1)
        finally:
            os._exit(2)
    assert os.waitpid(process, 0)[1] == 0
    assert [batch.asnumpy().tolist() for batch in loader] == expected


ABANDONED = """
import multiprocessing, os, signal, sys
import numpy as np
from mxnet.gluon import data
multiprocessing.set_start_method("fork")
loaders = [data.DataLoader(data.SimpleDataset(np.zeros((8, 3), "float32")), 2, num_workers=2) for _ in range(2)]
for loader in loaders:
    next(iter(loader))
print(*[child.pid for child in multiprocessing.active_children()], flush=True)
os.kill(os.getpid(), signal.SIGTERM)
"""


def test_forked_workers_end_with_a_parent_that_is_killed():
    with subprocess.Popen([sys.executable, "-c", ABANDONED], stdout=subprocess.PIPE, text=True) as program:
        workers = program.stdout.readline().split()
        assert len(workers) == 4
        ended = threading.Timer(60, lambda: [os.kill(int(worker), signal.SIGKILL) for worker in workers])
        ended.start()
        assert program.stdout.read() == ""  # which ends when the last of them does
        assert ended.is_alive(), "they have been killed"
        ended.cancel()
    assert program.returncode == -signal.SIGTERM


@pytest.mark.parametrize("received", [False, True])
def test_ctrl_c_in_the_middle_of_a_message_loses_nothing(monkeypatch, received):
    receive, calls = _workers.receive_batch, []

    def cut_off(connection):
        calls.append(1)
        if len(calls) != 2:
            return receive(connection)
        if received:
            receive(connection)
        else:
            connection.recv()  # the head, before the arrays
        raise KeyboardInterrupt

    monkeypatch.setattr(_workers, "receive_batch", cut_off)
    loader = data.DataLoader(Numbers(), 2, num_workers=2, timeout=10)
    batches = iter(loader)
    found, interrupted = [], 0
    while len(found) < 4:
        try:
            found.append(next(batches).asnumpy().tolist())
        except KeyboardInterrupt:
            interrupted += 1
    assert interrupted == 1
    assert found == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert not loader._workers._ready and not loader._workers._asked
    assert [batch.asnumpy().tolist() for batch in loader] == found


def test_workers_do_not_hear_ctrl_c_while_they_start():
    before = multiprocessing.get_start_method()
    multiprocessing.set_start_method("spawn", force=True)
    try:
        loader = data.DataLoader(Numbers(), 4, num_workers=1, timeout=AMPLE)
        os.kill(loader._workers._processes[0].pid, signal.SIGINT)
        assert [batch.asnumpy().tolist() for batch in loader] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    finally:
        multiprocessing.set_start_method(before, force=True)


@pytest.mark.parametrize("workers", [{}, {"num_workers": 1}, {"num_workers": 1, "thread_pool": True}])
def test_pinned_batches_lie_where_devices_read_them(workers):
    for i, batch in enumerate(data.DataLoader(Numbers(), 4, pin_memory=True, **workers)):
        assert batch.context == mx.cpu_pinned(0)
        np.testing.assert_array_equal(batch.asnumpy(), np.arange(4) + 4 * i)
