# SPDX-License-Identifier: Apache-2.0
"""While a call waits or computes, other threads of Python run."""

import pathlib
import sys
import threading
import time

import numpy as np
import pytest

import mxnet as mx
from which_binding import ON_CTYPES


class Counter(threading.Thread):
    """Counts as long as it is let, and gives the interpreter up after each step."""

    def __init__(self):
        super().__init__(daemon=True)
        self.count = 0
        self.stopped = False
        self.begun = threading.Event()

    def run(self):
        self.begun.set()
        while not self.stopped:
            self.count += 1
            time.sleep(0)


@pytest.fixture
def counter():
    """A thread that counts. The interpreter is taken from nobody by force: it runs where others give it up."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    thread = Counter()
    thread.start()
    thread.begun.wait()
    yield thread
    thread.stopped = True
    thread.join()
    sys.setswitchinterval(interval)


def product():
    """Work of some milliseconds."""
    a = mx.nd.ones((600, 600))
    return mx.nd.dot(a, mx.nd.dot(a, a))


@pytest.mark.skipif(ON_CTYPES, reason="it gives the interpreter up before the call too")
def test_a_list_may_be_emptied_while_its_arrays_are_in_use(counter):
    """By another thread, while the call runs without the interpreter: the call has them until it ends."""
    arrays, stopped, failures = [], threading.Event(), []
    add = mx.nd.add_n
    add([mx.nd.ones(4)])  # what is made for the first call has been made

    def empty():
        while not stopped.is_set():
            arrays.clear()
            time.sleep(0)

    thread = threading.Thread(target=empty)
    thread.start()
    try:
        for _ in range(60):
            fresh = [mx.nd.ones(4) for _ in range(1000)]
            arrays.clear()
            arrays.extend(fresh)
            del fresh  # from here to the call nothing is freed, which would let the other thread run
            try:
                assert add(arrays)[0].asscalar() == 1000
            except mx.MXNetError as error:
                failures.append(str(error))
    finally:
        stopped.set()
        thread.join()
    assert failures == []


class Emptying:
    """A parameter whose text is made after the call has taken its arrays."""

    def __init__(self, arrays):
        self.arrays = arrays

    def __str__(self):
        self.arrays.clear()
        return "0"


@pytest.mark.parametrize("count", [2, 16, 17, 40])
def test_a_list_may_be_emptied_by_what_makes_a_text_of_a_parameter(count):
    """Few arrays are kept one by one, many as a tuple."""
    arrays = [mx.nd.full(1, i) for i in range(count)]
    joined = mx.nd.concat(arrays, dim=Emptying(arrays))
    assert arrays == [] and joined.asnumpy().tolist() == list(range(count))


class Growing(str):
    """A name whose text is made while another thread adds to the dictionary."""

    def __new__(cls, text, arrays):
        made = super().__new__(cls, text)
        made.arrays = arrays
        return made

    def __str__(self):
        self.arrays.setdefault("late", mx.nd.zeros(1))
        return str.__str__(self)


class Shrinking(list):
    """A list that another thread makes shorter after its length was asked for."""

    def __iter__(self):
        return iter(self[:1])


def test_arrays_that_are_saved_may_change_hands_meanwhile(tmp_path):
    """Names, arrays and their number are those of one moment."""
    file, arrays = str(tmp_path / "arrays"), {}
    arrays[Growing("a", arrays)] = mx.nd.ones(1)
    mx.nd.save(file, arrays)
    assert list(mx.nd.load(file)) == ["a"] and len(arrays) == 2
    mx.nd.save(file, Shrinking([mx.nd.ones(1), mx.nd.zeros(1)]))
    assert [array.asscalar() for array in mx.nd.load(file)] == [1]


class LookedAtAgain(dict):
    """A dictionary to which another thread adds before each look at its arrays."""

    def values(self):
        self.setdefault("late", mx.np.zeros(1))
        return super().values()

    def items(self):
        self.values()
        return super().items()


def test_arrays_of_numpys_kind_that_are_saved_may_change_hands_meanwhile(tmp_path):
    """Names and arrays are those of one look, here the first one that sees any array."""
    file = str(tmp_path / "arrays")
    mx.npx.save(file, LookedAtAgain(a=mx.np.ones(1)))
    assert {name: array.item() for name, array in mx.npx.load(file).items()} == {"a": 1, "late": 0}


def with_store():
    store = mx.kv.create("local")
    store.init("w", mx.nd.zeros((600, 600)))
    out = mx.nd.zeros((600, 600))
    store.push("w", product())
    store.pull("w", out=out)
    out.wait_to_read()


def with_loader():
    rows = mx.gluon.data.ArrayDataset(np.ones((8, 300, 300), "float32"))
    for batch in mx.gluon.data.DataLoader(rows, batch_size=4, num_workers=1, thread_pool=True):
        mx.nd.batch_dot(batch, batch).wait_to_read()


def with_block():
    net = mx.gluon.nn.Dense(400, in_units=400)
    net.initialize()
    net.hybridize()
    with mx.autograd.record():
        out = net(mx.nd.ones((400, 400)))
    out.backward()
    net.weight.grad().wait_to_read()


WAITS = {
    "asnumpy": lambda: product().asnumpy(),
    "asscalar": lambda: product().sum().asscalar(),
    "wait_to_read": lambda: product().wait_to_read(),
    "waitall": lambda: (product(), mx.nd.waitall()),
    "copyto": lambda: product().copyto(mx.cpu()).wait_to_read(),
    "kvstore": with_store,
    "DataLoader": with_loader,
    "a hybridized block": with_block,
}


def test_without_a_wait_it_does_not_count(counter):
    """What the other test rests on."""
    before = counter.count
    total = sum(range(1_000_000))
    assert counter.count == before and total > 0


@pytest.mark.parametrize("name", WAITS)
def test_another_thread_counts_while_a_call_waits(name, counter):
    WAITS[name]()  # what is made once
    last = time.monotonic() + 60  # a busy machine may have no time for the other thread for many calls
    while time.monotonic() < last:
        before = counter.count
        WAITS[name]()
        if counter.count > before:
            return
    pytest.fail(f"{name}: the other thread did not run during any call")


def test_no_call_waits_for_a_thread_that_needs_the_interpreter(run_python):
    """Every call that can wait, while the engine gives memory of NumPy back."""
    done = run_python((pathlib.Path(__file__).parent / "waiting_calls.py").read_text())
    assert done.stdout.endswith("done\n"), done.stdout[-200:] + done.stderr[-3000:]
