# SPDX-License-Identifier: Apache-2.0
"""Jobs that lose a process: the others are told which one, and end. benchmarks/kvstore/faults.py prints all cases."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest

from dist_job import AMPLE, LAUNCH, SHORT, needs_mpi, run

# Rank 1 ends in the middle of a call; the others go on calling.
WORKER_ENDS = """
big = mx.nd.ones((1000000,))
store.init(1, big)
pulled(1, big.shape)
try:
    store._barrier()
    while True:
        if "CALL" == "barrier":
            if rank != 1:
                store._barrier()
        else:
            store.push(1, big)
            if "CALL" == "pull" or rank != 1:
                pulled(1, big.shape)
        if rank == 1:
            os.kill(os.getpid(), signal.NUMBER)
except mx.MXNetError as error:
    say("rank 1 of 3 is lost" in str(error), store.num_dead_node(7))
"""


@needs_mpi
@pytest.mark.parametrize("call, number", [("push", "SIGKILL"), ("pull", "SIGTERM"), ("barrier", "SIGKILL")])
def test_a_lost_worker_is_named_by_all_others(call, number):
    lines, done = run(
        3, WORKER_ENDS.replace("CALL", call).replace("NUMBER", number), PS_HEARTBEAT_TIMEOUT=SHORT
    )
    assert lines == {0: ["True 1"], 2: ["True 1"]}, done.stderr
    status = 128 + getattr(signal, number)
    assert done.returncode == status
    assert f"rank 1 ended with status {status}" in done.stderr


# The server has written its number into a file.
SERVER_ENDS = """
store.init("w", mx.nd.zeros((2,)))
store.set_optimizer(mx.optimizer.SGD(learning_rate=1))
if rank == 1:
    # Nothing that needs the server is under way outside of the try; a barrier would be, until its end.
    open(os.environ["SERVER"] + ".begun", "w").close()
try:
    if rank == 0:
        while not os.path.exists(os.environ["SERVER"] + ".begun"):
            time.sleep(0.01)
        os.kill(int(open(os.environ["SERVER"]).read()), signal.SIGKILL)
    while True:
        if "CALL" == "barrier":
            time.sleep(0.01)
            store._barrier()
        else:
            store.push("w", mx.nd.ones((2,)))
            pulled("w", (2,))
except mx.MXNetError as error:
    say("server 0 of 1" in str(error), store.num_dead_node(2), store.num_dead_node(4))
"""


@needs_mpi
@pytest.mark.parametrize("call", ["push", "barrier"])
def test_a_lost_server_is_named_by_all_workers(call):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "says_where_it_is.py"), "w") as module:
            module.write('"""Imported by servers."""\nimport os\nopen(os.environ["SERVER"], "w").write(str(os.getpid()))\n')
        lines, done = run(
            2,
            SERVER_ENDS.replace("CALL", call),
            servers=1,
            launch=["--server-import", "says_where_it_is"],
            STORE="dist_async",
            PS_HEARTBEAT_TIMEOUT=SHORT,
            SERVER=os.path.join(folder, "server"),
            PYTHONPATH=os.pathsep.join([os.environ.get("PYTHONPATH", ""), folder]),
        )
    assert lines == {0: ["True 1 0"], 1: ["True 1 0"]}, done.stderr
    assert "server 0 ended with status 137" in done.stderr


@needs_mpi
def test_a_rank_that_ends_early_is_an_error_for_those_that_wait():
    lines, done = run(
        2,
        """
        store.init(1, mx.nd.zeros((4,)))
        pulled(1, (4,))
        if rank == 1:
            raise SystemExit(0)
        store.push(1, mx.nd.ones((4,)))
        try:
            pulled(1, (4,))
        except mx.MXNetError as error:
            say("rank 1 of 2 is lost" in str(error))
        """,
    )
    assert lines == {0: ["True"]}, done.stderr


@needs_mpi
def test_a_stopped_worker_is_lost_for_all_others_and_ended_behind_them():
    lines, done = run(
        2,
        """
        store.init(1, mx.nd.zeros((4,)))
        try:
            store._barrier()
            if rank == 1:
                os.kill(os.getpid(), signal.SIGSTOP)
            while True:
                store._barrier()
        except mx.MXNetError as error:
            say("rank 1 of 2 is lost" in str(error))
        """,
        servers=1,
        PS_HEARTBEAT_TIMEOUT=SHORT,
    )
    assert lines == {0: ["True"]}, done.stderr
    assert done.returncode != 0 and "rank 1 ended with status" in done.stderr


# Cuts what rank 1 sends first with tag 1, its wish to rank 0, to 5 bytes.
SPOILER = r"""
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
int MPI_Isend(const void* bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  static int spoiled = 0;
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  if (tag == 1 && count > 5 && rank && strcmp(rank, "1") == 0 && !spoiled++) count = 5;
  return PMPI_Isend(bytes, count, type, to, tag, comm, request);
}
"""


@needs_mpi
@pytest.mark.skipif(shutil.which("mpicc") is None, reason="needs MPI's compiler")
def test_who_sends_nonsense_is_named_by_all_with_what_came(tmp_path):
    (tmp_path / "spoiler.c").write_text(SPOILER)
    spoiler = str(tmp_path / "spoiler.so")
    subprocess.run(["mpicc", "-shared", "-fPIC", "-o", spoiler, str(tmp_path / "spoiler.c")], check=True)
    lines, done = run(
        3,
        """
        try:
            store.init(1, mx.nd.zeros((4,)))
            while True:
                store.push(1, mx.nd.ones((4,)))
                pulled(1, (4,))
        except mx.MXNetError as error:
            say("rank 1 of 3 is lost: what it sent cannot be read: given 5 bytes" in str(error), error)
        """,
        launch=["--env", f"LD_PRELOAD:{spoiler}"],
    )
    assert [[line.split()[0] for line in said] for _, said in sorted(lines.items())] == [["True"]] * 3, (lines, done.stderr)


@needs_mpi
def test_a_rank_that_comes_late_or_is_slow_is_not_lost():
    lines, done = run(
        2,
        """
        store.init(1, mx.nd.zeros((4,)))
        if rank == 1:
            time.sleep(float(os.environ["PS_HEARTBEAT_TIMEOUT"]) + 1)
        store.push(1, mx.nd.ones((4,)))
        say(pulled(1, (4,))[0])
        """,
        LATE_RANK="1",
        LATE_BY=str(float(SHORT) + 1),
        PS_HEARTBEAT_TIMEOUT=SHORT,
    )
    assert lines == {0: ["2.0"], 1: ["2.0"]}, done.stderr


@needs_mpi
def test_a_machine_that_stands_still_loses_nobody():
    lines, done = run(
        2,
        """
        import subprocess
        def total(values):
            store.push("w", mx.nd.array(values))
            return pulled("w", (2,))
        store.init("w", mx.nd.zeros((2,)))
        processes = " ".join(str(int(number)) for number in total([os.getpid() * (r == rank) for r in range(2)]))
        if rank == 0:
            both = subprocess.Popen(["sh", "-c", f"kill -STOP {processes}; sleep {2 + float(os.environ['PS_HEARTBEAT_TIMEOUT'])}; kill -CONT {processes}"])
        while total([0, rank == 0 and both.poll() is not None])[1] == 0:
            time.sleep(0.01)
        for step in range(20):
            time.sleep(0.01)
            store._barrier()
        say("all there", store.num_dead_node(7))
        """,
        PS_HEARTBEAT_TIMEOUT=SHORT,
    )
    assert lines == {rank: ["all there 0"] for rank in range(2)}, done.stderr


@needs_mpi
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_ending_the_launcher_ends_all_processes(tmp_path, number):
    # A file each: a terminal hands over a number and the end of its line one by one, and mpirun mixes what ranks print.
    program = (
        "import os, time, mxnet as mx; s = mx.kv.create('dist_sync'); s._barrier();"
        f"os.mkdir(os.path.join({str(tmp_path)!r}, str(os.getpid()))); time.sleep(1000)"
    )
    job = subprocess.Popen([sys.executable, LAUNCH, "-n", "2", sys.executable, "-c", program])
    deadline = time.monotonic() + AMPLE
    while len(os.listdir(tmp_path)) < 2 and job.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    started = [int(process) for process in os.listdir(tmp_path)]
    job.send_signal(number)
    assert job.wait(timeout=AMPLE) != 0
    assert len(started) == 2
    deadline = time.monotonic() + AMPLE
    while any(os.path.exists(f"/proc/{process}") for process in started) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(os.path.exists(f"/proc/{process}") for process in started)
