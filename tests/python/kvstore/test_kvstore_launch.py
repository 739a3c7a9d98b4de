# SPDX-License-Identifier: Apache-2.0
"""What tools/launch.py promises: commands, options, and jobs by other launchers and on several hosts."""

import os
import subprocess
import sys

import pytest

from dist_job import LAUNCH, needs_mpi, run

SUM = """
store.init("w", mx.nd.zeros((3,)))
store.push("w", mx.nd.full((3,), rank + 1))
say(pulled("w", (3,)).tolist(), os.environ.get("DMLC_ROLE"), os.environ.get("DMLC_NUM_WORKER"))
"""


@needs_mpi
def test_plain_mpirun_needs_no_launcher(tmp_path):
    program = "import mxnet as mx; s = mx.kv.create('dist_sync'); s._barrier(); print('of', s.num_workers, flush=True)"
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    done = subprocess.run(
        ["mpirun", *root, "--oversubscribe", "-np", "2", sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.count("of 2") == 2, done.stderr


@needs_mpi
def test_slurm_starts_as_many_tasks_as_workers_and_servers(tmp_path):
    # An srun that gives what it was told to mpirun.
    srun = tmp_path / "srun"
    srun.write_text(
        """#!/bin/sh
while :; do
  case $1 in
    --ntasks) tasks=$2; shift 2 ;;
    --*) shift ;;
    *) break ;;
  esac
done
root=; [ "$(id -u)" != 0 ] || root=--allow-run-as-root
exec mpirun $root --enable-recovery --oversubscribe --bind-to none -np "$tasks" "$@"
"""
    )
    srun.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    lines, done = run(2, SUM, servers=1, launch=["--launcher", "slurm"], PATH=path)
    assert lines == {rank: ["[3.0, 3.0, 3.0] worker 2"] for rank in range(2)}, done.stderr


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (["-n", "2", "a.out", "-x"], ["mpirun", "-np 2", "DMLC_NUM_WORKER", "a.out -x"]),
        (["-n", "2", "-s", "1", "-H", "hosts", "python3", "a.py"], ["-np 3", "--hostfile hosts", "-m mxnet.kvstore"]),
        (["-n", "3", "-s", "2", "--launcher", "slurm", "a.out"], ["srun", "--ntasks 5"]),
    ],
)
def test_launcher_commands(arguments, expected):
    done = subprocess.run([sys.executable, LAUNCH, "--dry-run", *arguments], capture_output=True, text=True, timeout=60)
    for part in expected:
        assert part in done.stdout


@pytest.mark.parametrize("arguments", [["-n", "0", "a.out"], ["-n", "2"], ["-n", "2", "--launcher", "ssh", "a.out"]])
def test_launcher_refuses_what_makes_no_sense(arguments):
    done = subprocess.run([sys.executable, LAUNCH, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "error" in done.stderr
