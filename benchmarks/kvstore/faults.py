# SPDX-License-Identifier: Apache-2.0
"""What the others of a job hear, and when, of a worker or a server that ends in the middle of a call.

    PYTHONPATH=build/release/python python benchmarks/kvstore/faults.py

Prints a row for each case: seconds from the end of the process to the error on the last survivor, and whether the
launcher ended and left no process behind. Signs of life are those of the defaults.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

LAUNCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "launch.py")

PROGRAM = """
import json, os, signal, sys, time
import mxnet as mx
who, call, number, folder = sys.argv[1:]
store = mx.kv.create("dist_async" if who == "server" else "dist_sync")
big = mx.nd.ones((2000000,))
store.init(1, big)
if who == "server":
    store.set_optimizer(mx.optimizer.SGD(learning_rate=1))
store._barrier()
victim = os.getpid() if who == "worker" else int(open(os.path.join(folder, "server")).read())
ends = store.rank == (1 if who == "worker" else 0)
error = None
try:
    for step in range(10**6):
        if call == "barrier":
            if not (ends and who == "worker"):
                store._barrier()
        else:
            store.push(1, big)
            if call == "pull":
                store.pull(1, out=big)
        if ends and step == 3:
            with open(os.path.join(folder, "ended"), "w") as file:
                file.write(str(time.time()))
            os.kill(victim, getattr(signal, number))
        if call != "barrier":
            mx.nd.waitall()
except mx.MXNetError as caught:
    error = str(caught)
with open(os.path.join(folder, f"heard{store.rank}"), "w") as file:
    json.dump([time.time(), error], file)
"""


def run(who, call, number):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "says_where_it_is.py"), "w") as module:
            module.write(f"import os\nopen({os.path.join(folder, 'server')!r}, 'w').write(str(os.getpid()))\n")
        servers = ["-s", "1", "--server-import", "says_where_it_is"] if who == "server" else []
        command = [sys.executable, LAUNCH, "-n", "3", *servers, sys.executable, "-c", PROGRAM, who, call, number, folder]
        path = os.pathsep.join([os.environ.get("PYTHONPATH", ""), folder])
        done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=90)
        time.sleep(0.5)
        left = subprocess.run(["pgrep", "-f", folder], capture_output=True, text=True, check=False).stdout.split()
        with open(os.path.join(folder, "ended")) as file:
            ended = float(file.read())
        heard = []
        for name in os.listdir(folder):
            if name.startswith("heard"):
                with open(os.path.join(folder, name)) as file:
                    heard.append(json.load(file))
        name = "rank 1 of 3" if who == "worker" else "server 0 of 1"
        named = sum(1 for _, error in heard if error and name in error)
        return max(at for at, _ in heard) - ended, named, done.returncode, len(left)


def main():
    print("| who ends | in | by | survivors that name it | after | launcher's status | processes left |")
    print("|---|---|---|---|---|---|---|")
    for who in ("worker", "server"):
        for call in ("push", "pull", "barrier"):
            for number in ("SIGKILL", "SIGTERM"):
                seconds, named, status, left = run(who, call, number)
                survivors = 2 if who == "worker" else 3
                print(f"| {who} | {call} | {number} | {named} of {survivors} | {seconds:.1f} s | {status} | {left} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
