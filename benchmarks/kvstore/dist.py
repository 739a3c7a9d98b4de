# SPDX-License-Identifier: Apache-2.0
"""Sums over processes of this machine beside MPI_Allreduce called directly.

    PYTHONPATH=build/release/python python benchmarks/kvstore/dist.py --peer build/bench/benchmarks/kvstore/bench_mpi_allreduce
"""

import argparse
import json
import os
import subprocess
import sys
import time

LAUNCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "launch.py")
BIG = 25_000_000  # elements: 100 MB
SMALL_KEYS, SMALL = 10_000, 256  # 1 KB each
ONE = 1024  # 4 KB


def best(store, repeats=6, **functions):
    """Of each, in turns: what else the machine does meets all of them alike."""
    times = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            store._barrier()
            start = time.perf_counter()
            function()
            times[name].append(time.perf_counter() - start)
    return {name: min(some) for name, some in times.items()}


def round_trips(store, mx, repeats=1000):
    """One small key, pushed and pulled, until the sum is there: the shortest time and the median."""
    value, out = mx.nd.ones((ONE,)), mx.nd.zeros((ONE,))
    store.init("one", value)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        store.push("one", value)
        store.pull("one", out=out)
        out.wait_to_read()
        times.append(time.perf_counter() - start)
    times.sort()
    return {"one": times[0], "one_median": times[len(times) // 2]}


def measure():
    import mxnet as mx

    store = mx.kv.create("dist_sync")
    big = mx.nd.ones((BIG,))
    medium = mx.nd.ones((SMALL_KEYS * SMALL,))
    small = [mx.nd.ones((SMALL,)) for _ in range(SMALL_KEYS)]
    store.init("big", big)
    store.init("medium", medium)
    names = [f"small{i}" for i in range(SMALL_KEYS)]
    store.init(names, small)
    mx.nd.waitall()

    def sum_of(keys, values):
        def once():
            store.pushpull(keys, values)
            mx.nd.waitall()

        return once

    def sum_only():
        store.push("big", big)
        mx.nd.waitall()

    result = {
        **best(store, sum=sum_only, big=sum_of("big", big)),
        **best(store, repeats=20, medium=sum_of("medium", medium), small=sum_of(names, small)),
        **round_trips(store, mx),
    }
    if store.rank == 0:
        print(json.dumps(result), flush=True)


def started(workers, *command):
    output = subprocess.check_output([sys.executable, LAUNCH, "-n", str(workers), *command], text=True)
    return json.loads([line for line in output.splitlines() if line.startswith("{")][-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", help="bench_mpi_allreduce")
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return measure()
    for workers in options.workers:
        # In turns: machines that share their memory with others change from second to second.
        rounds = []
        for _ in range(3):
            direct = started(workers, options.peer, str(BIG)) if options.peer else {}
            rounds.append({**started(workers, sys.executable, os.path.abspath(__file__), "--child"), **direct})
        ours = {name: min(one[name] for one in rounds) for name in rounds[0]}
        line = f"{workers} processes, 100 MB: push {ours['sum'] * 1e3:.1f} ms, pushpull {ours['big'] * 1e3:.1f} ms"
        if options.peer:
            direct = ours["seconds"]
            line += f", MPI_Allreduce {direct * 1e3:.1f} ms: {100 * direct / ours['sum']:.0f} and {100 * direct / ours['big']:.0f} % of its speed"
        print(line)
        ratio = ours["small"] / ours["medium"]
        print(f"{workers} processes, 10 MB: {ours['medium'] * 1e3:.1f} ms in one key, {ours['small'] * 1e3:.1f} ms in 10^4 keys, x {ratio:.2f}")
        print(f"{workers} processes, 4 KB: {ours['one'] * 1e6:.0f} us to push and pull, the median {ours['one_median'] * 1e6:.0f} us")


if __name__ == "__main__":
    sys.exit(main())
