#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how fast a key-value store sums gradients: push and pull of a network's keys, checked against NumPy.

    python tools/bandwidth/measure.py --kv-store device --gpus 0,1
    python tools/launch.py -n 2 python tools/bandwidth/measure.py --kv-store dist_sync

Each line: a batch, its time, bytes a second and device (each device sends and receives its gradients once), and the
relative error of the sums.
"""

import argparse
import time

import numpy as np

import mxnet as mx

# Shapes of the parameters: (how many, shape).
NETWORKS = {
    "lenet": [(1, (20, 1, 5, 5)), (1, (50, 20, 5, 5)), (1, (500, 800)), (1, (10, 500))],
    "alexnet": [
        (1, (96, 3, 11, 11)),
        (1, (256, 96, 5, 5)),
        (1, (384, 256, 3, 3)),
        (1, (384, 384, 3, 3)),
        (1, (256, 384, 3, 3)),
        (1, (4096, 9216)),
        (1, (4096, 4096)),
        (1, (1000, 4096)),
    ],
    "resnet": [
        (1, (64, 3, 7, 7)),
        (3, (64, 256, 1, 1)),
        (3, (64, 64, 3, 3)),
        (3, (256, 64, 1, 1)),
        (4, (128, 512, 1, 1)),
        (4, (128, 128, 3, 3)),
        (4, (512, 128, 1, 1)),
        (6, (256, 1024, 1, 1)),
        (6, (256, 256, 3, 3)),
        (6, (1024, 256, 1, 1)),
        (3, (512, 2048, 1, 1)),
        (3, (512, 512, 3, 3)),
        (3, (2048, 512, 1, 1)),
        (106, (512,)),
        (1, (1000, 2048)),
    ],
}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", choices=sorted(NETWORKS), default="resnet", help="whose keys")
    parser.add_argument("--gpus", default="", help="devices, such as 0,1; empty: the CPU")
    parser.add_argument("--num-cpus", type=int, default=1, help="devices cpu(0), cpu(1), ... without --gpus")
    parser.add_argument("--kv-store", default="device", help="type of the store")
    parser.add_argument("--num-batches", type=int, default=5, help="how many batches are measured")
    parser.add_argument("--test-results", type=int, default=1, help="0: do not check the sums")
    parser.add_argument("--gc-type", default="none", help="gradient compression: none, 1bit, 2bit")
    return parser.parse_args()


def gradients(rank, shapes, devices):
    """What a worker gives for each key: an array for each of its devices."""
    random = np.random.RandomState(rank)
    return [[random.randint(-9, 10, shape).astype("float32") for _ in range(devices)] for shape in shapes]


def main():
    options = parse()
    store = mx.kv.create(options.kv_store)
    if options.gc_type != "none":
        store.set_gradient_compression({"type": options.gc_type})
        options.test_results = 0  # what is sent is not what was given
    devices = [mx.gpu(int(i)) for i in options.gpus.split(",") if i]
    devices = devices or [mx.cpu(i) for i in range(options.num_cpus)]
    shapes = [shape for count, shape in NETWORKS[options.network] for _ in range(count)]
    keys = list(range(len(shapes)))
    given = gradients(store.rank, shapes, len(devices))
    values = [[mx.nd.array(value, ctx=device) for value, device in zip(some, devices)] for some in given]
    outs = [[mx.nd.zeros(shape, ctx=device) for device in devices] for shape in shapes]
    store.init(keys, [mx.nd.zeros(shape) for shape in shapes])
    expected = None
    if options.test_results and "async" not in store.type:
        expected = [sum(some) for some in given]
        for other in range(store.num_workers):
            if other != store.rank:
                expected = [sums + sum(some) for sums, some in zip(expected, gradients(other, shapes, len(devices)))]
    megabytes = 4e-6 * sum(int(np.prod(shape)) for shape in shapes)
    if store.rank == 0:
        print(f"{options.network}: {len(keys)} keys of {megabytes:.1f} MB on {len(devices)} devices, {store.type}")
    for batch in range(options.num_batches + 1):
        mx.nd.waitall()
        start = time.perf_counter()
        for key in keys:
            store.push(key, values[key], priority=-key)
            store.pull(key, out=outs[key], priority=-key)
        mx.nd.waitall()
        seconds = time.perf_counter() - start
        if batch == 0:
            continue  # memory is touched for the first time
        line = f"iter {batch}, {seconds:.6f} sec, {2e-3 * megabytes / seconds:.3f} GB/sec per device"
        if expected is not None:
            error = sum(float(np.abs(out.asnumpy() - sums).sum()) for some, sums in zip(outs, expected) for out in some)
            line += f", error {error / sum(float(np.abs(sums).sum()) for sums in expected):.6f}"
        if store.rank == 0:
            print(line, flush=True)


if __name__ == "__main__":
    main()
