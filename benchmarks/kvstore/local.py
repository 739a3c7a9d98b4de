# SPDX-License-Identifier: Apache-2.0
"""Push and pull of a ResNet-50-like set of keys over four devices, beside what its memory traffic needs.

    PYTHONPATH=build/release/python python benchmarks/kvstore/local.py [--reference PYTHON]

PYTHON is an interpreter with the 1.9.1 wheel, which runs the same calls; the ratio is printed beside each line.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np

DEVICES = 4


def shapes():
    """84 MB of float32: the convolutions of four stages of bottleneck blocks, and vectors for their norms."""
    all_shapes = [(64, 3, 7, 7), (64,), (64,)]
    channels = 64
    for width, blocks in [(64, 3), (128, 4), (256, 6), (512, 3)]:
        for block in range(blocks):
            if block == 0:
                all_shapes.append((width * 4, channels, 1, 1))
            all_shapes += [(width, channels, 1, 1), (width, width, 3, 3), (width * 4, width, 1, 1)]
            all_shapes += [(width,), (width,), (width,), (width,), (width * 4,), (width * 4,)]
            channels = width * 4
    return [shape for shape in all_shapes if shape != (2048, 1024, 1, 1)]


TOTAL = 4 * sum(int(np.prod(shape)) for shape in shapes())


def seconds_of(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


# Bytes that each call moves, in sizes of all keys: each value read and the sum written once; then the sum read and each
# out written once. In one pass the sum is not read again.
NEEDS = {"push, pull": 2 * (DEVICES + 1), "key by key": 2 * (DEVICES + 1), "pushpull": 2 * DEVICES + 1}


def measure(rounds=9):
    """Of each call: its shortest time, and the median of its time beside that which the same bytes take to be copied.

    A copy is taken in every round, since machines that share their memory change their rate from second to second.
    """
    import mxnet as mx

    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    from timing import copier

    keys = list(range(len(shapes())))
    values = [[mx.nd.ones(shape, ctx=mx.cpu(d)) for d in range(DEVICES)] for shape in shapes()]
    outs = [[mx.nd.zeros(shape, ctx=mx.cpu(d)) for d in range(DEVICES)] for shape in shapes()]
    calls = {}
    for kind in ("local", "device"):
        store = mx.kv.create(kind)
        store.init(keys, [value[0] for value in values])

        def in_lists(store=store):
            store.push(keys, values)
            store.pull(keys, out=outs)
            mx.nd.waitall()

        def by_key(store=store):
            for key in keys:
                store.push(key, values[key], priority=-key)
                store.pull(key, out=outs[key], priority=-key)
            mx.nd.waitall()

        def together(store=store):
            store.pushpull(keys, values, out=outs)
            mx.nd.waitall()

        calls.update({(kind, "push, pull"): in_lists, (kind, "key by key"): by_key, (kind, "pushpull"): together})
    cores = len(os.sched_getaffinity(0))
    copy = copier(cores, DEVICES * TOTAL // cores)
    for call in (copy, *calls.values()):
        call()
    times, ratios, copies = {name: [] for name in calls}, {name: [] for name in calls}, []
    for _ in range(rounds):
        for name, call in calls.items():
            copied = seconds_of(copy)
            times[name].append(seconds_of(call))
            ratios[name].append(times[name][-1] * 2 * DEVICES / (copied * NEEDS[name[1]]))
            copies.append(copied)
    rate = 2 * DEVICES * TOTAL / statistics.median(copies)
    return rate, [(*name, min(times[name]), statistics.median(ratios[name])) for name in calls]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reference", help="interpreter with the 1.9.1 wheel")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measure()))
        return
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    reference = None
    if options.reference:
        command = [options.reference, os.path.abspath(__file__), "--child"]
        reference = json.loads(subprocess.check_output(command, env=environment).splitlines()[-1])
    rate, ours = measure()
    print(f"{len(shapes())} keys of {TOTAL / 1e6:.0f} MB on {DEVICES} devices; copies at {rate / 1e9:.1f} GB/s")
    for number, (kind, row, seconds, ratio) in enumerate(ours):
        need = NEEDS[row] * TOTAL / rate
        line = f"{kind:7} {row:11} {seconds * 1e3:7.1f} ms   needs {need * 1e3:6.1f} ms   x {ratio:.2f} of a copy at that time"
        if reference:
            theirs = reference[1][number][2]
            line += f"   1.9.1 {theirs * 1e3:7.1f} ms   {theirs / seconds:.2f} times"
        print(line)


if __name__ == "__main__":
    sys.exit(main())
