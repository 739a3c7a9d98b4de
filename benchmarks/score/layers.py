#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time of each layer of a network beside its limit: layers.py [NETWORK] [BATCH] [--threads N] [--top N].

The limit of a layer is the longer of two times: its multiplications and additions, counted as those of a direct
convolution, at the rate of a large product of matrices; and its arrays, each read or written once, at the rate of a copy.
Both rates are measured first. Winograd kernels may be ahead of the limit, which is why the share can exceed 100 %. Times
are the least of the repetitions, as the profiler has them."""
import argparse
import json
import os
import re
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

STEP = re.compile(r"  (\S+)\((\w+)\) \[(\w+)\](.*) -> (.*)")
SHAPE = re.compile(r"\(([\d,]*)\)")


def shapes(text):
    return [tuple(int(n) for n in found.split(",") if n) for found in SHAPE.findall(text)]


def volume(shape):
    size = 1
    for n in shape:
        size *= n
    return size


def flops(op, inputs, out):
    """Of a convolution or a fully connected layer; other operators do next to nothing."""
    weight = next((s for s in inputs[1:] if len(s) == (4 if "conv" in op.lower() else 2)
                   and s[0] == out[1] and s != out), None)
    if "conv" in op.lower() and weight:
        return 2 * volume(out) * volume(weight[1:])
    return 2 * volume(out) * weight[1] if weight and len(out) == 2 else 0


def network_steps(executor, batch):
    """(name, operator, kernel, FLOP, bytes, turns) of each step of the compiled graph. One that takes turns computes a part
    of the batch in each."""
    for line in executor.debug_str().splitlines():
        found = STEP.match(line)
        if found:
            name, op, kernel, left, right = found.groups()
            inputs, outputs = shapes(left), shapes(right)
            turns = max(batch // outputs[0][0], 1)
            # A sum is read where the result is written: it counts once more, as it should.
            size = 4 * sum(map(volume, inputs + outputs))
            yield name, op, kernel, turns * flops(op, inputs, outputs[0]), turns * size, turns


def operator_times(trace, names):
    """Microseconds of each step, of the last of its turns: one list for each run of the graph in the trace."""
    events = [e for e in json.loads(Path(trace).read_text())["traceEvents"] if e.get("cat") == "operator"]
    spans, opened = [], {}
    for event in events:
        if event["ph"] == "B":
            opened[event["tid"], event["name"]] = event["ts"]
        else:
            spans.append((event["name"], event["ts"] - opened.pop((event["tid"], event["name"]))))
    runs, at = [], 0
    while at + len(names) <= len(spans):
        if [name for name, _ in spans[at:at + len(names)]] == names:
            runs.append([time for _, time in spans[at:at + len(names)]])
            at += len(names)
        else:
            at += 1
    return runs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", nargs="?", default="resnet50")
    parser.add_argument("batch", nargs="?", type=int, default=32)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--top", type=int, default=0, help="only so many, those that lose most time")
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = str(args.threads)
    import mxnet as mx
    import numpy as np
    from networks import NETWORKS, random_parameters
    from timing import best_of_each, copy_bandwidth

    make, size = NETWORKS[args.network]
    symbol = make()
    executor = symbol.simple_bind(mx.cpu(), grad_req="null", data=(args.batch, 3, size, size))
    executor.copy_params_from(*random_parameters(symbol, size))
    random = np.random.default_rng(1)
    rows, weight = (mx.nd.array(random.standard_normal((n, 1024)).astype("float32")) for n in (4096, 1024))

    def product():
        mx.nd.FullyConnected(rows, weight, num_hidden=1024, no_bias=True).wait_to_read()

    rate = 2 * 4096 * 1024**2 / best_of_each([product], 1.0)[0] * 1e6
    bandwidth = copy_bandwidth(args.threads)
    forward = lambda: executor.forward(is_train=False)[0].wait_to_read()  # noqa: E731
    forward()
    with tempfile.TemporaryDirectory() as folder:
        mx.profiler.set_config(profile_all=True, filename=folder + "/trace.json")
        mx.profiler.set_state("run")
        for _ in range(args.repeat):
            forward()
        mx.profiler.set_state("stop")
        mx.profiler.dump()
        steps = list(network_steps(executor, args.batch))
        runs = operator_times(folder + "/trace.json", [step[1] for step in steps])
    if not runs:
        raise SystemExit("the trace has no complete run of the network")
    least = [min(times) for times in zip(*runs)]
    layers = []
    for (name, op, kernel, flop, size, turns), time in zip(steps, least):
        limit = max(flop / rate, size / bandwidth) * 1e6
        layers.append((name.split("+")[0], op, kernel, flop, size, turns * time, limit))
    total, limits = sum(row[5] for row in layers), sum(row[6] for row in layers)
    if args.top:
        layers = sorted(layers, key=lambda row: row[6] - row[5])[:args.top]
    print(f"{args.network} batch {args.batch}, {args.threads} threads; limits {rate / 1e9:.0f} GFLOP/s, {bandwidth / 1e9:.1f} GB/s\n")
    print("| layer | kernel | GFLOP | MB | ms | GFLOP/s | limit ms | limit / time |\n|---|---|---|---|---|---|---|---|")
    for name, _, kernel, flop, size, time, limit in layers:
        print(f"| {name} | {kernel} | {flop / 1e9:.3f} | {size / 1e6:.1f} | {time / 1e3:.3f} | {flop / time / 1e3:.0f} | {limit / 1e3:.3f} "
              f"| {limit / time:.0%} |")
    print(f"\nall layers {total / 1e3:.2f} ms, their limits {limits / 1e3:.2f} ms: {limits / total:.0%}")


if __name__ == "__main__":
    main()
