# SPDX-License-Identifier: Apache-2.0
"""Stores with servers: optimizers, states, rows and asynchronous workers."""

import os

import pytest

from dist_job import needs_mpi, run


@needs_mpi
@pytest.mark.parametrize("servers", [1, 2])
@pytest.mark.parametrize("kind", ["dist_sync", "p3"])
def test_the_optimizer_of_servers_gives_the_weights_of_one_process(servers, kind):
    lines, done = run(
        2,
        """
        shapes = {"w": (3,), "big": (40, 30)}
        for key, shape in shapes.items():
            store.init(key, mx.nd.ones(shape))
        store.set_optimizer(mx.optimizer.SGD(learning_rate=0.5, momentum=0.5))
        for step in range(2):
            for key, shape in shapes.items():
                store.push(key, mx.nd.full(shape, rank + 1))
        for key, shape in shapes.items():
            np.testing.assert_array_equal(pulled(key, shape), np.full(shape, -2.75))
        say(size)
        """,
        servers=servers,
        STORE=kind,
        MXNET_KVSTORE_BIGARRAY_BOUND="1000",
        MXNET_KVSTORE_SLICE_THRESHOLD="100",
    )
    assert lines == {0: ["2"], 1: ["2"]}, done.stderr
    assert done.returncode == 0, done.stderr


@needs_mpi
@pytest.mark.parametrize("servers", [0, 1])
def test_a_trainer_says_that_servers_keep_their_learning_rate(servers):
    lines, done = run(
        1,
        """
        import warnings

        net = mx.gluon.nn.Dense(1, in_units=2, use_bias=False)
        net.initialize(mx.init.One())
        trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0}, kvstore=store, update_on_kvstore=True)
        trainer.set_learning_rate(0.5)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            for step in range(2):
                with mx.autograd.record():
                    loss = net(mx.nd.ones((1, 2))).sum()
                loss.backward()
                trainer.step(1)
                trainer.set_learning_rate(0.25)
        say(net.weight.data().asnumpy().tolist(), sum("servers" in str(one.message) for one in said))
        """,
        servers=servers,
        STORE="dist_sync",
    )
    # Servers got the rate of before the first step; without them every worker has the optimizer.
    assert lines == {0: ["[[0.0, 0.0]] 2" if servers else "[[0.25, 0.25]] 0"]}, done.stderr
    assert done.returncode == 0, done.stderr


@needs_mpi
def test_workers_of_an_asynchronous_store_do_not_wait_for_each_other():
    lines, done = run(
        2,
        """
        store.init("w", mx.nd.zeros((2,)))
        store.set_optimizer(mx.optimizer.SGD(learning_rate=1))
        if rank == 0:
            for step in range(3):
                store.push("w", mx.nd.ones((2,)))
            say(pulled("w", (2,)).tolist())
        store._barrier()
        if rank == 1:
            store.push("w", mx.nd.ones((2,)))
            say(pulled("w", (2,)).tolist())
        """,
        servers=1,
        STORE="dist_async",
    )
    assert lines == {0: ["[-3.0, -3.0]"], 1: ["[-4.0, -4.0]"]}, done.stderr


@needs_mpi
def test_states_of_servers_are_saved_and_loaded_with_their_parts():
    lines, done = run(
        2,
        """
        shape = (40, 30)
        store.init("w", mx.nd.zeros(shape))
        store.set_optimizer(mx.optimizer.SGD(learning_rate=1, momentum=0.5))
        store.push("w", mx.nd.arange(1200).reshape(shape))
        pulled("w", shape)
        path = os.path.join(os.environ["SAID"], "..", f"states-{os.environ['JOB']}-{rank}")
        store.save_optimizer_states(path, dump_optimizer=True)
        store.set_optimizer(mx.optimizer.SGD(learning_rate=9))
        store.load_optimizer_states(path)
        os.remove(path)
        before = pulled("w", shape)
        store._barrier()
        store.push("w", mx.nd.zeros(shape))
        momentum = pulled("w", shape) - before
        np.testing.assert_array_equal(momentum, -np.arange(1200).reshape(shape))
        say("same")
        """,
        servers=2,
        MXNET_KVSTORE_BIGARRAY_BOUND="1000",
        JOB=str(os.getpid()),
    )
    assert lines == {0: ["same"], 1: ["same"]}, done.stderr


@needs_mpi
@pytest.mark.parametrize("times", [1, 2])
def test_states_that_are_saved_again_are_those_of_the_servers_that_hold_the_keys(times):
    # A server is given the states of all keys, and does not use those of others' keys.
    lines, done = run(
        1,
        f"""
        shapes = {{key: (3,) for key in "abcdef"}}
        shapes["big"] = (40, 30)
        for key, shape in shapes.items():
            store.init(key, mx.nd.zeros(shape))
        store.set_optimizer(mx.optimizer.SGD(learning_rate=1, momentum=0.5))
        path = os.path.join(os.environ["SAID"], "states")
        for gradient in (1, 2, 3, 0):
            for key, shape in shapes.items():
                store.push(key, mx.nd.full(shape, gradient))
                pulled(key, shape)
            for again in range({times}):
                store.save_optimizer_states(path)
                store.load_optimizer_states(path)
        os.remove(path)
        say(sorted({{float(one) for key, shape in shapes.items() for one in pulled(key, shape).ravel()}}))
        """,
        servers=2,
        MXNET_KVSTORE_BIGARRAY_BOUND="1000",
    )
    assert lines == {0: ["[-9.875]"]}, done.stderr


@needs_mpi
def test_rows_are_pushed_to_servers_and_pulled_from_them():
    lines, done = run(
        2,
        """
        store.init("e", mx.nd.zeros((100, 2)).tostype("row_sparse"))
        store.set_optimizer(mx.optimizer.SGD(learning_rate=1))
        rows = mx.nd.sparse.row_sparse_array((np.full((1, 2), rank + 1.0), [10 + rank]), shape=(100, 2))
        store.push("e", rows)
        store._barrier()
        out = mx.nd.sparse.zeros("row_sparse", (100, 2))
        store.row_sparse_pull("e", out=out, row_ids=mx.nd.array([10, 11, 50]))
        say(out.indices.asnumpy().tolist(), out.data.asnumpy().tolist())
        """,
        servers=2,
    )
    expected = ["[10, 11, 50] [[-1.0, -1.0], [-2.0, -2.0], [0.0, 0.0]]"]
    assert lines == {0: expected, 1: expected}, done.stderr


@needs_mpi
def test_a_custom_optimizer_needs_consent():
    lines, done = run(
        1,
        """
        @mx.optimizer.register
        class Mine(mx.optimizer.SGD):
            pass
        store.init("w", mx.nd.zeros((2,)))
        try:
            store.set_optimizer(Mine(learning_rate=1))
        except ValueError as error:
            say("'mine'" in str(error) and "--server-import" in str(error))
        """,
        servers=1,
        STORE="dist_async",
    )
    assert lines == {0: ["True"]}, done.stderr


@needs_mpi
@pytest.mark.parametrize("kind", ["dist_sync", "dist_async"])
def test_an_optimizer_that_is_refused_is_an_error_on_all_ranks_and_the_job_goes_on(kind):
    # By servers, which do not know it, and by rank 0, which cannot say what it holds.
    lines, done = run(
        3,
        """
        @mx.optimizer.register
        class Mine(mx.optimizer.SGD):
            pass
        store.init("w", mx.nd.zeros((2,)))
        beyond_words = mx.optimizer.SGD()
        beyond_words.file = object()
        for refused in (Mine(), beyond_words):
            try:
                store.set_optimizer(refused)
                say("taken")
            except (mx.MXNetError, TypeError) as error:
                say("'mine'" in str(error), "given a object" in str(error), store._updater is None)
        store.set_optimizer(mx.optimizer.SGD(learning_rate=1))
        store.push("w", mx.nd.ones((2,)))
        pulled("w", (2,))
        store._barrier()
        say(pulled("w", (2,)).tolist())
        """,
        servers=2,
        STORE=kind,
    )
    expected = ["True False True", "False True True", "[-3.0, -3.0]"]
    assert lines == {rank: expected for rank in range(3)}, done.stderr


@needs_mpi
def test_a_rank_that_ends_before_a_command_of_all_is_an_error_for_those_that_give_it():
    lines, done = run(
        2,
        """
        store.init("w", mx.nd.zeros((2,)))
        pulled("w", (2,))
        if rank == 1:
            raise SystemExit(0)
        try:
            store.set_optimizer(mx.optimizer.SGD())
        except mx.MXNetError as error:
            say("rank 1 of 2" in str(error))
        """,
        servers=1,
    )
    assert lines == {0: ["True"]}, done.stderr


# Imported by the server before it serves.
ANSWERS_LATE = """
import os
import time
from mxnet.kvstore import KVStoreServer

control = KVStoreServer._control

def when_there_is_a_file(*arguments):
    open(os.environ["ASKED"], "w").close()
    while not os.path.exists(os.environ["WAITED_FOR"]):
        time.sleep(0.01)
    return control(*arguments)

KVStoreServer._control = when_there_is_a_file
"""


@needs_mpi
def test_a_thread_pushes_while_another_one_waits_for_the_answer_of_a_server(tmp_path):
    (tmp_path / "answers_late.py").write_text(ANSWERS_LATE)
    lines, done = run(
        1,
        """
        import threading
        store.init("w", mx.nd.zeros((2,)))
        asker = threading.Thread(target=lambda: store.set_optimizer(mx.optimizer.SGD(learning_rate=1)), daemon=True)
        asker.start()
        while not os.path.exists(os.environ["ASKED"]):
            time.sleep(0.01)
        pusher = threading.Thread(target=lambda: store.push("w", mx.nd.ones((2,))), daemon=True)
        pusher.start()
        pusher.join(timeout=120)
        say("pushed", not pusher.is_alive(), "while it waits", asker.is_alive())
        open(os.environ["WAITED_FOR"], "w").close()
        asker.join()
        store.push("w", mx.nd.ones((2,)))
        say("goes on", pulled("w", (2,)).shape)
        """,
        servers=1,
        launch=["--server-import", "answers_late"],
        STORE="dist_async",
        ASKED=str(tmp_path / "asked"),
        WAITED_FOR=str(tmp_path / "waited-for"),
        PYTHONPATH=f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}",
    )
    assert lines == {0: ["pushed True while it waits True", "goes on (2,)"]}, done.stderr
    assert done.returncode == 0, done.stderr


@needs_mpi
def test_a_store_whose_keys_servers_cannot_hold_goes_on_as_it_was():
    lines, done = run(
        2,
        """
        store.init("rows", mx.nd.ones((2, 3)).tostype("csr"))
        store.init("w", mx.nd.zeros((2,)))
        try:
            store.set_optimizer(mx.optimizer.SGD(learning_rate=1))
        except TypeError as error:
            say("csr" in str(error))
        store.push("w", mx.nd.full((2,), rank + 1))
        say(pulled("w", (2,)).tolist())
        """,
        servers=1,
    )
    assert lines == {rank: ["True", "[3.0, 3.0]"] for rank in range(2)}, done.stderr
    assert done.returncode == 0, done.stderr


@needs_mpi
@pytest.mark.parametrize("kind", ["dist_sync", "dist_async"])
def test_what_the_optimizer_of_a_server_refuses_all_who_push_hear(kind):
    lines, done = run(
        2,
        """
        store.init("w", mx.nd.zeros((2,)))
        store.set_optimizer(mx.optimizer.create("groupadagrad", learning_rate=1))
        store.push("w", mx.nd.ones((2,)))
        try:
            pulled("w", (2,))
        except mx.MXNetError as error:
            say("expected 2 dimensions" in str(error))
        mx.nd.waitall()
        store._barrier()
        store.set_optimizer(mx.optimizer.SGD(learning_rate=1))
        store.push("w", mx.nd.ones((2,)))
        pulled("w", (2,))
        store._barrier()
        say(pulled("w", (2,)).tolist())
        """,
        servers=2,
        STORE=kind,
    )
    assert lines == {rank: ["True", "[-2.0, -2.0]"] for rank in range(2)}, done.stderr
    assert done.returncode == 0, done.stderr


@needs_mpi
def test_rank_zero_has_servers_profiled_before_and_after_they_hold_the_keys(tmp_path):
    lines, done = run(
        2,
        """
        from mxnet import profiler

        try:
            profiler.set_state("run", profile_process="server")
        except ValueError as error:
            say("set_kvstore_handle" in str(error))
        profiler.set_kvstore_handle(store.handle)
        profiler.set_config(filename=os.path.join(os.environ["FOLDER"], f"mine-{rank}.json"))  # of this process
        if rank == 1:  # which servers are not to hear of: the file is that of rank 0
            profiler.set_config(filename=os.path.join(os.environ["FOLDER"], "other.json"), profile_process="server")
            profiler.set_state("stop", profile_process="server")
        if rank == 0:
            profiler.set_config(filename=os.path.join(os.environ["FOLDER"], "trace.json"), profile_process="server")
            profiler.set_state("run", profile_process="server")
        store._barrier()
        if rank == 1:
            profiler.dump(profile_process="server")
        store.init("w", mx.nd.zeros((2,)))
        store.push("w", mx.nd.ones((2,)))
        say(pulled("w", (2,)).tolist())
        store.set_optimizer(mx.optimizer.SGD(learning_rate=1))
        store.push("w", mx.nd.ones((2,)))
        say(pulled("w", (2,)).tolist())
        if rank == 0:
            profiler.pause(profile_process="server")
            profiler.resume(profile_process="server")
            profiler.set_state("stop", profile_process="server")
            profiler.dump(profile_process="server")
        """,
        servers=2,
        FOLDER=str(tmp_path),
    )
    expected = ["True", "[2.0, 2.0]", "[0.0, 0.0]"]
    assert lines == {rank: expected for rank in range(2)}, done.stderr
    assert sorted(os.listdir(tmp_path)) == ["rank0_trace.json", "rank1_trace.json"]
    assert any("KVStoreServer" in (tmp_path / f"rank{server}_trace.json").read_text() for server in range(2))


@needs_mpi
def test_profiling_servers_where_there_are_none_says_how_to_start_them():
    lines, done = run(
        1,
        """
        mx.profiler.set_kvstore_handle(store.handle)
        try:
            mx.profiler.dump(profile_process="server")
        except ValueError as error:
            say("-s 1" in str(error))
        """,
    )
    assert lines == {0: ["True"]}, done.stderr
