# SPDX-License-Identifier: Apache-2.0
"""States of optimizers on servers, saved and loaded in the middle of training."""

import pickle
from types import SimpleNamespace

import pytest

import mxnet as mx
from mxnet.kvstore import KVStoreServer, _remote
from dist_job import HOLD, needs_mpi, run


class Worker:
    """The store of one worker, and servers that hold its keys, in this process: each hears of a push when it is told to."""

    _number = rank = 0

    def __init__(self, servers, placements):
        self.placement = lambda key: placements.get(key, (0, ()))
        self.ask_servers = lambda command, body: [server._control(command, body) for server in self.servers]
        self.handle = self
        handles = [SimpleNamespace(rank=rank, num_servers=servers, set_updater=lambda updater: None) for rank in range(servers)]
        self.servers = [KVStoreServer(SimpleNamespace(handle=handle)) for handle in handles]

    def set_optimizer(self, optimizer):
        _remote.tell(self, _remote.SET_OPTIMIZER, lambda: _remote.optimizer_to_json(optimizer).encode())
        return _remote.RemoteUpdater(self, optimizer)

    def push(self, server, key, weight, gradient):
        self.servers[server]._updaters[b"0"](key, mx.nd.full(weight.shape, gradient), weight)


def of_a_big_key():
    """A worker and the two parts of its key."""
    return Worker(2, {"w": (2, (40, 30))}), [mx.nd.zeros((608,)), mx.nd.zeros((592,))]


def test_a_key_whose_first_push_has_reached_one_of_its_servers_has_no_state_yet():
    worker, parts = of_a_big_key()
    updater = worker.set_optimizer(mx.optimizer.SGD(learning_rate=1, momentum=0.5))
    worker.push(0, "w", parts[0], 1)
    saved = updater.get_states()
    worker.push(1, "w", parts[1], 1)
    assert pickle.loads(saved) == {}
    updater.set_states(saved)
    for server in range(2):
        worker.push(server, "w", parts[server], 1)
        assert (parts[server].asnumpy() == -2).all()


def test_states_of_parts_are_saved_as_those_of_one_process():
    worker, parts = of_a_big_key()
    updater = worker.set_optimizer(mx.optimizer.Adam(learning_rate=1))
    for server in range(2):
        worker.push(server, "w", parts[server], server + 1)
    states = pickle.loads(updater.get_states())["w"]
    assert [state.shape for state in states] == [(40, 30)] * 2
    assert states[0].reshape((-1,))[607].asscalar() != states[0].reshape((-1,))[608].asscalar()


class ThreeOfEach(mx.optimizer.Optimizer):
    """Keeps three arrays of a weight's size in one."""

    def create_state(self, index, weight):
        return mx.nd.zeros((3, *weight.shape)), mx.nd.array([7.0])

    def update(self, index, weight, grad, state):
        assert state[0].shape == (3, *weight.shape)
        assert state[1].asnumpy().tolist() == [7.0]
        state[0][:] += grad
        weight[:] = state[0].sum(axis=0)


@pytest.mark.parametrize("servers", [1, 2])
def test_a_state_that_is_larger_than_its_weight_is_loaded_whole(servers):
    mx.optimizer.register(ThreeOfEach)  # not before: tests of all optimizers list them when they are collected
    worker, weight = Worker(servers, {"w": (1, (4, 5))}), mx.nd.zeros((4, 5))
    updater = worker.set_optimizer(ThreeOfEach())
    for times in range(1, 4):
        worker.push(servers - 1, "w", weight, 1)
        assert (weight.asnumpy() == 3 * times).all()
        updater.set_states(updater.get_states())


def test_a_key_that_comes_after_its_states_takes_its_part_too():
    worker, parts = of_a_big_key()
    updater = worker.set_optimizer(mx.optimizer.SGD(learning_rate=1, momentum=0.5))
    worker.placement = lambda key: (0, ())
    updater.set_states(pickle.dumps({"w": mx.nd.ones((40, 30))}))
    for server in range(2):
        worker.push(server, "w", parts[server], 0)
        assert (parts[server].asnumpy() == 0.5).all()


def test_an_interrupt_of_what_rank_zero_is_to_say_is_told_to_the_others():
    worker = Worker(1, {})
    heard = []
    worker.ask_servers = lambda command, body: heard.append(body)

    def body():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _remote.tell(worker, _remote.SET_OPTIMIZER, body)
    assert heard == [b"0!:KeyboardInterrupt: "]


@needs_mpi
@pytest.mark.parametrize("kind", ["dist_sync", "dist_async"])
def test_states_are_saved_and_loaded_behind_what_was_pushed_before(kind):
    lines, done = run(
        1,
        HOLD
        + """
store.init("w", mx.nd.zeros((3,)))
store.set_optimizer(mx.optimizer.SGD(learning_rate=1, momentum=0.5))
path = os.path.join(os.environ["SAID"], "states")

def push_late():
    gradient = mx.nd.ones((3,))
    hold(gradient)
    release.clear()
    store.push("w", gradient)
    threading.Timer(0.3, release.set).start()

push_late()
store.save_optimizer_states(path)
push_late()
store.load_optimizer_states(path)
os.remove(path)
before = pulled("w", (3,))
store.push("w", mx.nd.zeros((3,)))
say(before.tolist(), (pulled("w", (3,)) - before).tolist())
""",
        servers=2,
        STORE=kind,
    )
    # The momentum of one push, and steps of 1 and 1.5.
    assert lines == {0: ["[-2.5, -2.5, -2.5] [-0.5, -0.5, -0.5]"]}, done.stderr
