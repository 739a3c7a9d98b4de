# SPDX-License-Identifier: Apache-2.0
"""What all workers tell servers together, where one of them does not, or does not wait for the end."""

from dist_job import SHORT, needs_mpi, run

INTERRUPTED = """
import threading
from mxnet.kvstore import _remote
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has it ignored in what it starts behind itself
plain = _remote.ask
said = os.path.join(os.environ["FOLDER"], "interrupted")

def ask(*arguments):
    threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    return plain(*arguments)

store.init("w", mx.nd.zeros((2,)))
if rank == 0:
    _remote.ask = ask
    try:
        store.set_optimizer(mx.optimizer.SGD(learning_rate=1))
    except KeyboardInterrupt:
        say("interrupted")
        open(said, "w").close()
    _remote.ask = plain
else:
    while not os.path.exists(said):
        time.sleep(0.01)
"""


@needs_mpi
def test_an_interrupted_rank_leaves_a_command_that_ends_for_the_others(tmp_path):
    lines, done = run(
        2,
        INTERRUPTED
        + """
if rank == 1:
    store.set_optimizer(mx.optimizer.SGD(learning_rate=1))
for step in range(2):
    store._barrier()
    store.push("w", mx.nd.ones((2,)))
    say(pulled("w", (2,)).tolist())
store.set_optimizer(mx.optimizer.SGD(learning_rate=2))
store.push("w", mx.nd.ones((2,)))
say(pulled("w", (2,)).tolist())
""",
        servers=2,
        FOLDER=str(tmp_path),
    )
    steps = ["[-2.0, -2.0]", "[-4.0, -4.0]", "[-8.0, -8.0]"]
    assert lines == {0: ["interrupted", *steps], 1: steps}, done.stderr
    assert done.returncode == 0, done.stderr


@needs_mpi
def test_an_interrupted_rank_that_ends_does_not_keep_the_others_waiting(tmp_path):
    # Its command waits for rank 1, which waits for its push.
    lines, done = run(
        2,
        INTERRUPTED
        + """
if rank == 1:
    store._updater = _remote.RemoteUpdater(store, mx.optimizer.SGD())
    try:
        store.handle.ask_servers(1000, b"0:")  # servers hold the keys from here on
    except Exception:
        pass
    store.push("w", mx.nd.ones((2,)))
    try:
        pulled("w", (2,))
    except mx.MXNetError as error:
        say("rank 0 of 2 has finished, but key 'w' waits for it" in str(error))
""",
        servers=1,
        FOLDER=str(tmp_path),
        PS_HEARTBEAT_TIMEOUT=SHORT,
    )
    assert lines == {0: ["interrupted"], 1: ["True"]}, done.stderr


@needs_mpi
def test_a_command_that_another_rank_cannot_give_is_an_error_and_the_job_goes_on():
    lines, done = run(
        2,
        """
        store.init("w", mx.nd.zeros((2,)))
        store.set_optimizer(mx.optimizer.SGD(learning_rate=1))
        if rank == 0:
            try:
                store.set_optimizer(mx.optimizer.SGD(learning_rate=5))
            except ValueError as error:
                say("command 2000 waits for rank 1 of 2, which has not given it and waits for rank 0, with a push of key 'w'" in str(error))
        store.push("w", mx.nd.ones((2,)))
        say(pulled("w", (2,)).tolist())
        """,
        servers=1,
        PS_HEARTBEAT_TIMEOUT=SHORT,
    )
    assert lines == {0: ["True", "[-2.0, -2.0]"], 1: ["[-2.0, -2.0]"]}, done.stderr
    assert done.returncode == 0, done.stderr


@needs_mpi
def test_a_barrier_where_others_give_a_command_is_an_error_on_both_sides():
    lines, done = run(
        2,
        """
        store.init("w", mx.nd.zeros((2,)))
        store.set_optimizer(mx.optimizer.SGD(learning_rate=1))
        try:
            store.set_optimizer(mx.optimizer.SGD(learning_rate=5)) if rank == 0 else store._barrier()
        except mx.MXNetError as error:
            say(error)
        """,
        servers=1,
        STORE="dist_async",
        PS_HEARTBEAT_TIMEOUT=SHORT,
    )
    assert "rank 1 of 2 has finished, but command 2000 waits for it" in "".join(lines.get(0, [])), (lines, done.stderr)
    assert "rank 0 has given command 2000, which waits for rank 1 of 2, and this one waits at a barrier" in "".join(lines.get(1, []))


@needs_mpi
def test_a_command_that_comes_late_is_waited_for_and_said_so():
    lines, done = run(
        2,
        """
        store.init("w", mx.nd.zeros((2,)))
        if rank == 1:
            time.sleep(float(os.environ["PS_HEARTBEAT_TIMEOUT"]) + 3)
        store.set_optimizer(mx.optimizer.SGD(learning_rate=1))
        store.push("w", mx.nd.ones((2,)))
        say(pulled("w", (2,)).tolist())
        """,
        servers=1,
        PS_HEARTBEAT_TIMEOUT=SHORT,
    )
    assert lines == {rank: ["[-2.0, -2.0]"] for rank in range(2)}, done.stderr
    assert "command 2000 waits for rank 1, which has not given it yet" in done.stderr


@needs_mpi
def test_commands_and_pushes_may_be_merged_with_others(tmp_path):
    lines, done = run(
        1,
        """
store.init("w", mx.nd.zeros((2,)))
with mx.engine.bulk(16):
    store.set_optimizer(mx.optimizer.SGD(learning_rate=1))
    store.push("w", mx.nd.ones((2,)))
    store.save_optimizer_states(os.path.join(os.environ["FOLDER"], "states"))
    say(pulled("w", (2,)).tolist())
""",
        servers=1,
        FOLDER=str(tmp_path),
    )
    assert lines == {0: ["[-1.0, -1.0]"]}, done.stderr
