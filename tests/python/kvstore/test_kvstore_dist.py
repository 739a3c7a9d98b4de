# SPDX-License-Identifier: Apache-2.0
"""Stores of several processes, started by tools/launch.py: sums, updates and rows."""


import pytest

from dist_job import needs_mpi, run


@needs_mpi
@pytest.mark.parametrize("workers, kind", [(2, "dist_sync"), (4, "dist_sync"), (2, "dist_device_sync"), (4, "p3")])
def test_sums_are_those_of_one_process(workers, kind):
    lines, done = run(
        workers,
        """
        shapes = [(3, 4), (1,), (70000,), (5, 2)]
        def gradient(key, of):
            return np.random.RandomState(17 * key + of).randint(-100, 100, shapes[key]).astype("float32")
        for key, shape in enumerate(shapes):
            store.init(key, mx.nd.full(shape, rank))
        say("started with", sum(float(pulled(key, shape).sum()) for key, shape in enumerate(shapes)))
        # Ranks push in different orders.
        for key in sorted(range(len(shapes)), key=lambda k: (k * (rank + 3)) % 7):
            store.push(key, mx.nd.array(gradient(key, rank)), priority=-key)
        for key, shape in enumerate(shapes):
            np.testing.assert_array_equal(pulled(key, shape), sum(gradient(key, r) for r in range(size)))
        store._barrier()
        say("done", size)
        """,
        STORE=kind,
    )
    assert lines == {rank: ["started with 0.0", f"done {workers}"] for rank in range(workers)}, done.stderr
    assert done.returncode == 0


@needs_mpi
def test_a_thread_pushes_what_other_ranks_need_to_come_to_the_barrier_where_another_one_waits():
    lines, done = run(
        2,
        """
        import threading
        store.init("w", mx.nd.zeros((3,)))
        if rank == 0:
            # Nobody takes the interpreter from the thread: this one goes on when the call has let go of it.
            sys.setswitchinterval(1000)
            comes = threading.Event()
            barrier = threading.Thread(target=lambda: (comes.set(), store._barrier()), daemon=True)
            barrier.start()
            comes.wait()
            sys.setswitchinterval(0.005)
        def push():
            store.push("w", mx.nd.full((3,), rank + 1))
            say(pulled("w", (3,)).tolist())
        pusher = threading.Thread(target=push, daemon=True)
        pusher.start()
        pusher.join(timeout=120)
        if pusher.is_alive():
            os._exit(1)
        barrier.join() if rank == 0 else store._barrier()
        say("done")
        """,
    )
    assert lines == {rank: ["[3.0, 3.0, 3.0]", "done"] for rank in range(2)}, done.stderr
    assert done.returncode == 0


@needs_mpi
def test_every_rank_applies_the_updater_to_the_same_sum():
    lines, done = run(
        2,
        """
        store.init("w", mx.nd.full((4,), 100))
        def update(key, pushed, stored):
            stored -= 0.5 * pushed
        store._set_updater(update)
        for step in range(3):
            store.push("w", [mx.nd.full((4,), rank + 1), mx.nd.full((4,), 10)])
        say(pulled("w", (4,)).tolist())
        """,
    )
    assert lines == {rank: ["[65.5, 65.5, 65.5, 65.5]"] for rank in range(2)}, done.stderr


@needs_mpi
def test_an_optimizer_gives_every_rank_the_same_weights():
    lines, done = run(
        2,
        """
        store.init("w", mx.nd.ones((3,)))
        store.set_optimizer(mx.optimizer.SGD(learning_rate=0.5, momentum=0.5))
        for step in range(2):
            store.push("w", mx.nd.full((3,), rank + 1))
        say(pulled("w", (3,)).tolist())
        """,
    )
    assert lines == {rank: ["[-2.75, -2.75, -2.75]"] for rank in range(2)}, done.stderr


@needs_mpi
def test_compressed_sums_keep_what_they_lose():
    lines, done = run(
        2,
        """
        store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
        store.init("w", mx.nd.zeros((40,)))
        for step in range(2):
            store.push("w", mx.nd.full((40,), [0.75, 0.25][rank]))
            say(pulled("w", (40,))[7])
        """,
    )
    assert lines == {rank: ["0.5", "1.0"] for rank in range(2)}, done.stderr


@needs_mpi
def test_many_small_keys_and_pushpull_in_place():
    lines, done = run(
        2,
        """
        values = [mx.nd.full((key % 7 + 1,), key) for key in range(300)]
        for key in range(300):
            store.init(key, values[key])
        for key in range(300):
            store.pushpull(key, values[key], priority=-key)
        say(all((value.asnumpy() == 2 * key).all() for key, value in enumerate(values)))
        """,
    )
    assert lines == {0: ["True"], 1: ["True"]}, done.stderr


@needs_mpi
def test_a_list_that_comes_again_is_summed_as_it_is_then():
    # One rank gives new arrays each time, so that only the other one knows the list; later both do, and push and pull.
    lines, done = run(
        2,
        """
        names = [f"key{number}" for number in range(6000)]
        store.init(names, [mx.nd.zeros((200,)) for _ in names])
        values = [mx.nd.zeros((200,)) for _ in names]
        right = True
        for step in range(6):
            if store.rank == 1 and step < 3:
                values = [mx.nd.zeros((200,)) for _ in names]
            values[step * 1000] = mx.nd.zeros((200,))
            for number, value in enumerate(values):
                value[:] = step + number % 5 + 100 * store.rank
            expected = [2 * (step + number % 5) + 100 for number in range(len(names))]
            if step < 4:
                store.pushpull(names, values)
                outs = values
            else:
                store.push(names, values)
                outs = [mx.nd.zeros((200,)) for _ in names]
                store.pull(names, out=outs)
            right = right and all((out.asnumpy() == sum).all() for out, sum in zip(outs, expected))
        say(right)
        """,
    )
    assert lines == {0: ["True"], 1: ["True"]}, done.stderr


@needs_mpi
def test_keys_of_two_stores_have_nothing_to_do_with_each_other():
    lines, done = run(
        2,
        """
        other = mx.kv.create("dist_sync")
        out = {}
        for each in [store, other] if rank == 0 else [other, store]:
            scale = 1 if each is store else 10
            each.init("w", mx.nd.full((2,), scale))
            each.push("w", mx.nd.full((2,), scale * (rank + 1)))
            each.init(["a", "b"], [mx.nd.zeros((2,))] * 2)
            each.push(["a", "b"], [mx.nd.full((2,), scale * (rank + 2))] * 2)
            out[scale] = [mx.nd.zeros((2,)) for _ in range(3)]
            each.pull(["w", "a", "b"], out=out[scale])
        say(*(value.asnumpy()[1] for scale in (1, 10) for value in out[scale]))
        """,
    )
    assert lines == {rank: ["3.0 5.0 5.0 30.0 50.0 50.0"] for rank in range(2)}, done.stderr


@needs_mpi
def test_a_list_of_keys_is_summed_with_what_others_push_one_by_one():
    lines, done = run(
        3,
        """
        keys = [f"key{i}" for i in range(20)]
        store.init(keys, [mx.nd.zeros((i + 1,)) for i in range(20)])
        for step in range(3):
            values = [mx.nd.full((i + 1,), rank + i) for i in range(20)]
            if rank == 0:
                store.push(keys, values)
            elif rank == 1:
                store.push(keys[:7], values[:7])
                store.push(keys[7:], values[7:])
            else:
                for key, value in reversed(list(zip(keys, values))):
                    store.push(key, value)
            for i, key in enumerate(keys):
                np.testing.assert_array_equal(pulled(key, (i + 1,)), np.full((i + 1,), 3 + 3 * i))
        say("equal")
        """,
    )
    assert lines == {rank: ["equal"] for rank in range(3)}, done.stderr


@needs_mpi
def test_floats_are_the_same_from_run_to_run_on_demand():
    # Ranks push at other moments in each round: which keys travel together, and with it the order of additions, would
    # depend on that.
    program = """
        import hashlib
        names = [f"key{number}" for number in range(40)]
        values = [mx.nd.array(np.random.RandomState(100 * number + rank).randn(9000 + number)) for number in range(40)]
        store.init(names, [mx.nd.zeros(value.shape) for value in values])
        for round in range(5):
            for number, (name, value) in enumerate(zip(names, values)):
                if (number + 7 * round + 3 * rank) % 11 == 0:
                    time.sleep(0.003)
                store.push(name, value)
            sums = b"".join(pulled(name, value.shape).tobytes() for name, value in zip(names, values))
            say(hashlib.sha256(sums).hexdigest())
    """
    runs = [run(3, program, MXNET_ENFORCE_DETERMINISM="1") for _ in range(2)]
    first = runs[0][0][0][0]
    for lines, done in runs:
        assert lines == {rank: [first] * 5 for rank in range(3)}, done.stderr


@needs_mpi
def test_lists_with_different_shapes_name_the_key():
    lines, done = run(
        2,
        """
        store.init(["a", "b", "c"], [mx.nd.zeros((2,)), mx.nd.zeros((3 + rank,)), mx.nd.zeros((4 - rank,))])
        try:
            mx.nd.waitall()
        except ValueError as error:
            say(all(part in str(error) for part in ("'b'", "rank 0 gave 3", "rank 1 gave 4")))
        """,
    )
    assert lines == {0: ["True"], 1: ["True"]}, done.stderr


@needs_mpi
def test_rows_are_summed_without_servers():
    lines, done = run(
        3,
        """
        store.init("e", mx.nd.zeros((1000, 2)).tostype("row_sparse"))
        rows = mx.nd.sparse.row_sparse_array((np.full((2, 2), rank + 1.0), [10, 20 + rank]), shape=(1000, 2))
        store.push("e", rows)
        out = mx.nd.sparse.zeros("row_sparse", (1000, 2))
        store.row_sparse_pull("e", out=out, row_ids=mx.nd.array([10, 21, 500]))
        say(out.indices.asnumpy().tolist(), out.data.asnumpy().tolist())
        """,
    )
    expected = ["[10, 21, 500] [[6.0, 6.0], [2.0, 2.0], [0.0, 0.0]]"]
    assert lines == {rank: expected for rank in range(3)}, done.stderr


@needs_mpi
@pytest.mark.parametrize("servers", [0, 1])
def test_trainers_sum_rows_of_gradients_wherever_they_update(servers):
    lines, done = run(
        2,
        """
        for where in (True, False):
            net = mx.gluon.nn.Embedding(5, 2, sparse_grad=True)
            net.initialize(mx.init.Zero())
            trainer = mx.gluon.Trainer(
                net.collect_params(), "sgd", {"learning_rate": 1.0}, kvstore=mx.kv.create("dist_sync"), update_on_kvstore=where
            )
            for step in range(2):
                with mx.autograd.record():
                    loss = net(mx.nd.array([rank, 2])).sum()
                loss.backward()
                trainer.step(1)
            say(net.weight.data().asnumpy()[:, 0].tolist())
        """,
        servers=servers,
    )
    assert lines == {rank: ["[-2.0, -2.0, -4.0, 0.0, 0.0]"] * 2 for rank in range(2)}, done.stderr


@needs_mpi
def test_rows_on_one_rank_and_a_dense_gradient_on_another_are_an_error_on_both():
    lines, done = run(
        2,
        """
        store.init("e", mx.nd.zeros((100, 2)))
        store._set_updater(lambda key, pushed, stored: None)
        value = mx.nd.ones((100, 2))
        store.push("e", value.tostype("row_sparse") if rank == 1 else value)
        try:
            mx.nd.waitall()
        except ValueError as error:
            say("rank 0 gave a sum of 200 of float32, rank 1 gave the gathering of 1 of int64" in str(error))
        """,
    )
    assert lines == {0: ["True"], 1: ["True"]}, done.stderr


@needs_mpi
def test_different_shapes_are_an_error_that_names_both_sides():
    lines, done = run(
        2,
        """
        store.init("w", mx.nd.zeros((4 + rank,)))
        try:
            pulled("w", (4 + rank,))
        except ValueError as error:
            say("rank 0 gave 4 of float32, rank 1 gave 5 of float32" in str(error))
        """,
    )
    assert lines == {0: ["True"], 1: ["True"]}, done.stderr


@needs_mpi
def test_a_process_of_its_own_is_a_job_of_one():
    lines, done = run(None, "store.init(1, mx.nd.ones((2,)))\nsay(size, pulled(1, (2,)).tolist())")
    assert lines == {0: ["1 [1.0, 1.0]"]}, done.stderr


@needs_mpi
def test_the_number_of_workers_must_be_the_promised_one():
    lines, done = run(None, "", DMLC_NUM_WORKER="3")
    assert "DMLC_NUM_WORKER=3" in done.stderr


@needs_mpi
def test_an_asynchronous_store_without_servers_says_how_to_start_them():
    lines, done = run(None, "", STORE="dist_async")
    assert done.returncode == 1
    assert "launch.py -n 1 -s 1" in done.stderr
