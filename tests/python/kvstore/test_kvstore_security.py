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
                    say(command, *sorted(json_of(part)))
        """,
        STORE="dist_sync",
    )
    assert said == ["changed True", "2000 held name", "1000 optimizer trees", "2001 optimizer trees"], done.stderr
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
def test_a_server_says_what_it_cannot_follow_and_goes_on():
    lines, done = run(
        2,
        """
        import json, struct
        from mxnet.kvstore import _remote
        store.init("w", mx.nd.zeros((2,)))
        store.set_optimizer(mx.optimizer.SGD(learning_rate=1, momentum=0.5))
        store.push("w", mx.nd.ones((2,)))
        store._barrier()
        good = _remote.optimizer_to_json(mx.optimizer.SGD()).encode()
        states = _remote.states_to_bytes({"w": mx.nd.ones(2)}, None)
        def states_of(given):
            text = json.dumps(given).encode()
            return struct.pack("<q", len(text)) + text
        broken = [(_remote.SET_OPTIMIZER, body) for body in (
            b"", b"null", b"[]", b"{}", b"\\xff", good[:-1], good.replace(b"held", b"help"), b"[" * 10**5,
            b'{"name": "sgd", "held": [[{}, 1]]}', b'{"name": "sgd", "held": [["x", {"scheduler": ["os", {}]}]]}')]
        broken += [(_remote.SET_STATES, body) for body in (
            b"", b"1", struct.pack("<q", -1) + states[8:], struct.pack("<q", 2**62) + states[8:], states[:-3],
            states_of({"trees": [["w", {"array": 7}]], "optimizer": None}), states_of([]))]
        broken += [(_remote.PROFILE, body) for body in (b"", b"{}", b'["__init__", {}]', b'["dump", {"x": 1}]')]
        broken += [(77, b"?"), (2**31 - 1, b"")]
        for command, body in broken:
            # Commands from 2000 on are those of all, with the body of rank 0; the others rank 1 gives alone.
            if command < 2000 and rank == 0:
                continue
            try:
                _remote.ask(store, command, body if command < 2000 or rank == 0 else b"")
                say("taken", command, body)
            except mx.MXNetError as error:
                if f"was sent command {command}" not in str(error) and "given" not in str(error):
                    say(error)
        store._barrier()
        store.push("w", mx.nd.ones((2,)))
        say(pulled("w", (2,)).tolist())
        """,
        servers=2,
        STORE="dist_sync",
    )
    assert lines == {rank: ["[-5.0, -5.0]"] for rank in range(2)}, (lines, done.stderr)


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
