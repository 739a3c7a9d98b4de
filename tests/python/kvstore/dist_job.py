# SPDX-License-Identifier: Apache-2.0
"""Jobs of several processes for the tests of this folder: a program for each rank, and what the ranks say."""

import os
import shutil
import subprocess
import sys
import tempfile
import textwrap

import pytest

import mxnet as mx

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
LAUNCH = os.path.join(ROOT, "tools", "launch.py")


def has_plugin():
    return os.path.exists(os.path.join(os.path.dirname(mx.libinfo.find_lib_path()[0]), "libmxnet_mpi.so"))


needs_mpi = pytest.mark.skipif(not has_plugin() or shutil.which("mpirun") is None, reason="needs OpenMPI")

# Seconds after which a rank counts as lost: short, so that tests of that are, but not so that one which waits for its
# turn on a busy machine is lost; and long where nobody is to be lost, whatever else the machine does.
SHORT, LONG = "8", "60"
AMPLE = 240  # seconds, for what only a hang takes longer than on the busiest machine

PRELUDE = """
import os, signal, sys, time
if os.environ.get("OMPI_COMM_WORLD_RANK") == os.environ.get("LATE_RANK", "none"):
    time.sleep(float(os.environ["LATE_BY"]))
import numpy as np
import mxnet as mx
store = mx.kv.create(os.environ.get("STORE", "dist_sync"))
rank, size = store.rank, store.num_workers

def say(*words):
    # A file each: mpirun mixes what ranks print.
    with open(os.path.join(os.environ["SAID"], str(rank)), "a") as file:
        print(*words, file=file)

def pulled(key, shape):
    out = mx.nd.zeros(shape)
    store.pull(key, out=out)
    return out.asnumpy()
"""


def run(workers, body, servers=0, launch=(), **variables):
    """The lines that each rank says, by rank, and the end of the job. `workers` None: without the launcher."""
    program = PRELUDE + textwrap.dedent(body)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PS_HEARTBEAT_TIMEOUT": LONG, "SAID": folder, **variables}
        command = [sys.executable, "-c", program]
        if workers is not None:
            command = [sys.executable, LAUNCH, "-n", str(workers), "-s", str(servers), "--env", f"SAID:{folder}", *launch, *command]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=AMPLE)
        lines = {}
        for rank in os.listdir(folder):
            with open(os.path.join(folder, rank)) as file:
                lines[int(rank)] = file.read().splitlines()
    return lines, done


# What is computed from `array` waits until release.set(): all can be pushed before, however little of a processor
# there is for who pushes, and what goes first then is the library's choice alone.
HOLD = """
import ctypes, threading, time
from mxnet.base import _LIB, check_call
release = threading.Event()
work = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(lambda context, state: release.wait())

def hold(array):
    array.wait_to_read()
    context, handles = (ctypes.c_int * 2)(1, 0), (ctypes.c_void_p * 1)(array.handle.value)
    check_call(_LIB.MXEnginePushSyncND(work, None, None, context, None, 0, handles, 1, None, 0, b"held"))
"""
