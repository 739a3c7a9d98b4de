# SPDX-License-Identifier: Apache-2.0
"""What travels between workers and servers: names, JSON and arrays. No process unpickles what comes from another."""

import os
import tempfile

from dist_job import needs_mpi, run

# Imported by the server before it serves: what unpickles there from then on is written down, and fails.
WATCH = '''
"""No pickle is opened in this process."""
import os
import pickle
import sys

def refuse(*arguments, **options):
    with open(os.environ["OPENED"], "a") as file:
        print("a pickle was opened", file=file)
    raise RuntimeError("a pickle was opened")

pickle.load = pickle.loads = pickle.Unpickler = refuse
sys.addaudithook(lambda event, arguments: refuse() if event == "pickle.find_class" else None)
'''


def run_with_watch(body, **variables):
    """What the worker says, what was opened on the server, and the end of the job."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "opens_no_pickle.py"), "w") as module:
            module.write(WATCH)
        opened = os.path.join(folder, "opened")
        lines, done = run(
            1,
            body,
            servers=1,
            launch=["--server-import", "opens_no_pickle"],
            OPENED=opened,
            FOLDER=folder,
            PYTHONPATH=os.pathsep.join([os.environ.get("PYTHONPATH", ""), folder]),
            **variables,
        )
        return lines.get(0), os.path.exists(opened), done


@needs_mpi
def test_optimizers_and_states_travel_as_names_json_and_arrays():
    said, opened, done = run_with_watch(
        """
        import json
        from mxnet.kvstore import _remote
        asked, plain = [], _remote.ask
        def ask(store, command, body=b""):
            replies = plain(store, command, body)
            asked.append((command, body, replies))
            return replies
        _remote.ask = ask

        store.init("w", mx.nd.zeros((2,)))
        store.set_optimizer(mx.optimizer.Adam(learning_rate=0.5, lr_scheduler=mx.lr_scheduler.FactorScheduler(step=2)))
        store.push("w", mx.nd.ones((2,)))
        before = pulled("w", (2,))
        path = os.path.join(os.environ["FOLDER"], "states")
        store.save_optimizer_states(path, dump_optimizer=True)
        store.load_optimizer_states(path)
        store.push("w", mx.nd.ones((2,)))
        say("changed", bool((pulled("w", (2,)) < before).all()))

        def json_of(body):
            # Of states, what stands before the file of arrays; its length comes first.
            return json.loads(body if body.startswith(b"{") else body[8 : 8 + int.from_bytes(body[:8], "little")])
        for command, body, replies in asked:
            for part in [body, *replies]:
                if part:
                    say(command - _remote.ARRIVE, *sorted(json_of(part)))
        """,
        STORE="dist_sync",
    )
    assert said == ["changed True", "1 held name", "2 optimizer trees", "3 optimizer trees"], done.stderr
    assert not opened


@needs_mpi
def test_a_pickle_that_arrives_is_not_opened():
    said, opened, done = run_with_watch(
        """
        import pickle
        from mxnet.kvstore import _remote
        made = os.path.join(os.environ["FOLDER"], "made")
        class Bomb:
            def __reduce__(self):
                return os.mkdir, (made,)
        store.init("w", mx.nd.zeros((2,)))
        store.set_optimizer(mx.optimizer.SGD(learning_rate=1))
        bomb = pickle.dumps(Bomb())
        # 0 is the command by which pickled optimizers used to travel.
        for command in (0, _remote.SET_OPTIMIZER, _remote.SET_STATES):
            for body in (bomb, len(bomb).to_bytes(8, "little") + bomb):
                try:
                    _remote.ask(store, command, body)
                except mx.MXNetError:
                    say("refused")
        say("made", os.path.exists(made))
        store.push("w", mx.nd.ones((2,)))
        say(pulled("w", (2,)).tolist())
        """,
        STORE="dist_async",
    )
    assert said == ["refused"] * 6 + ["made False", "[-1.0, -1.0]"], done.stderr
    assert not opened


@needs_mpi
def test_a_custom_optimizer_runs_on_servers_that_imported_it(tmp_path):
    # What its consent is for: the class that the server makes is the one of the module that it was started with.
    (tmp_path / "mine.py").write_text(
        "import mxnet as mx\n"
        "@mx.optimizer.register\n"
        "class HalfStep(mx.optimizer.Optimizer):\n"
        "    def create_state(self, index, weight):\n"
        "        return None\n"
        "    def update(self, index, weight, grad, state):\n"
        "        weight[:] = weight - 0.5 * self._get_lr(index) * grad\n"
    )
    lines, done = run(
        2,
        """
        from mine import HalfStep
        store.init("w", mx.nd.zeros((2,)))
        store.set_optimizer(HalfStep(learning_rate=3))
        store.push("w", mx.nd.ones((2,)))
        store._barrier()
        say(pulled("w", (2,)).tolist())
        """,
        servers=1,
        launch=["--server-import", "mine"],
        STORE="dist_sync",
        PYTHONPATH=os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(tmp_path)]),
    )
    assert lines == {rank: ["[-3.0, -3.0]"] for rank in range(2)}, done.stderr
