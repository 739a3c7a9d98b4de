# SPDX-License-Identifier: Apache-2.0
"""tools/bandwidth/measure.py: a line for each batch, and sums that are those of NumPy."""

import os
import re
import subprocess
import sys

import pytest

from dist_job import LAUNCH, LONG, ROOT, needs_mpi

MEASURE = os.path.join(ROOT, "tools", "bandwidth", "measure.py")


@pytest.mark.parametrize(
    "launch, devices, store",
    [
        ((), 2, "local"),
        ((), 3, "device"),
        pytest.param(("-n", "2"), 1, "dist_sync", marks=needs_mpi),
        pytest.param(("-n", "2", "-s", "1"), 2, "dist_async", marks=needs_mpi),
    ],
)
def test_each_batch_is_a_line_of_the_table(launch, devices, store):
    command = [sys.executable, LAUNCH, *launch] if launch else []
    command += [sys.executable, MEASURE, "--network", "lenet", "--num-cpus", str(devices), "--kv-store", store, "--num-batches", "2"]
    environment = {**os.environ, "PS_HEARTBEAT_TIMEOUT": LONG}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    lines = [line for line in done.stdout.splitlines() if line]
    assert len(lines) == 3, done.stdout + done.stderr
    assert lines[0] == f"lenet: 4 keys of 1.7 MB on {devices} devices, {store}"
    # Servers that update at once have no sum to compare with.
    error = "" if "async" in store else ", error 0.000000"
    for number, line in enumerate(lines[1:], 1):
        assert re.fullmatch(rf"iter {number}, \d+\.\d{{6}} sec, \d+\.\d{{3}} GB/sec per device{error}", line), line
