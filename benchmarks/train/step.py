#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where the time of a training step goes: step.py [NETWORK] [BATCH] [--threads N] [--layers].

Each step of the compiled graph beside its limit, which is the longer of two times: its multiplications and additions,
counted as those of a direct convolution, at the rate of a large product of matrices; and its arrays, each read or written
once, at the rate of a copy. Convolutions by kind, in their three directions: both gradients of a layer are one step of the
graph, so that each is timed once more in a graph of this layer alone, with one of them. Everything else by operator. Then
what the step takes from end to end, the updates, and the page faults of a step. Times are the least of the repetitions."""
import argparse
import os
import re
import resource
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).parent
sys.path += [str(HERE.parent / "score"), str(HERE.parent)]
BACKWARD = "_backward_Convolution"
STEP = re.compile(r"  (\S+)\(([\w+]+)\) \[\w+\](.*) -> (.*)")  # name, operators, inputs, outputs
OPTIMIZER = {"learning_rate": 0.01, "momentum": 0.9, "wd": 1e-4}


def profiled(mx, call, repeat):
    """The events of `repeat` calls, as a file of the profiler's that the caller reads within a `with`."""
    folder = tempfile.TemporaryDirectory()
    mx.profiler.set_config(profile_all=True, filename=folder.name + "/trace.json")
    mx.profiler.set_state("run")
    for _ in range(repeat):
        call()
    mx.profiler.set_state("stop")
    mx.profiler.dump()
    return folder


def least_times(mx, executor, call, repeat):
    """(name, operator, inputs and outputs, milliseconds) of each step of the executor's graph, which `call` runs."""
    from layers import operator_times, shapes

    parts, steps = {"forward": [], "backward": []}, []
    for line in executor.debug_str().splitlines():
        if line.startswith("segment"):
            part = parts["backward" if "backward" in line else "forward"]
        elif found := STEP.match(line):
            name, op, left, right = found.groups()
            part.append(op)
            steps.append((name.split("+")[0], op, shapes(left), shapes(right)))
    with profiled(mx, call, repeat) as folder:
        least = []
        for part in parts.values():
            runs = operator_times(folder + "/trace.json", part)
            if not runs:
                raise SystemExit(f"the trace has no complete run of {len(part)} steps from {part[0]} to {part[-1]}")
            least += [min(times) / 1e3 for times in zip(*runs)]
    return [(*step, milliseconds) for step, milliseconds in zip(steps, least)]


class Limits:
    """Milliseconds at the rates of this machine."""

    def __init__(self, mx, threads):
        import numpy as np
        from timing import best_of_each, copy_bandwidth

        random = np.random.default_rng(1)
        rows, weight = (mx.nd.array(random.standard_normal((n, 1024)).astype("float32")) for n in (4096, 1024))

        def product():
            mx.nd.FullyConnected(rows, weight, num_hidden=1024, no_bias=True).wait_to_read()

        self.rate = 2 * 4096 * 1024**2 / best_of_each([product], 1.0)[0] * 1e6
        self.bandwidth = copy_bandwidth(threads)

    def __call__(self, flop, arrays):
        from layers import volume

        return 1e3 * max(flop / self.rate, 4 * sum(map(volume, arrays)) / self.bandwidth)


def convolution_flop(weight, result):
    from layers import volume

    return 2 * volume(result) * volume(weight[1:])


def kind_of(weight, result):
    return f"{weight[2]}x{weight[3]}, {result[2]} x {result[3]} pixels"


def gradient_alone(mx, attributes, image, weight, wanted, repeat):
    """Milliseconds of one gradient of a convolution, in the layouts that it has in a network."""
    symbol = mx.sym.Convolution(mx.sym.var("data"), **attributes)
    requests = {name: "write" if name.endswith(wanted) else "null" for name in symbol.list_arguments()}
    executor = symbol.simple_bind(mx.cpu(), grad_req=requests, data=image)
    for array in executor.arg_arrays:
        array[:] = mx.nd.random.normal(shape=array.shape)
    assert executor.arg_arrays[1].shape == weight
    executor.forward(is_train=True)
    head = mx.nd.random.normal(shape=executor.outputs[0].shape)

    def call():
        executor.forward(is_train=True)
        mx.nd.waitall()  # or the head would be copied beside it
        executor.backward([head])
        mx.nd.waitall()

    call()
    return sum(step[-1] for step in least_times(mx, executor, call, repeat) if step[1].startswith(BACKWARD))


def show_convolutions(mx, steps, attributes, limit, repeat):
    """Prints them by kind and returns the sums of their times and limits."""
    kinds, alone = defaultdict(lambda: defaultdict(lambda: [0.0, 0.0])), {}
    counts, total = defaultdict(int), [0.0, 0.0]
    for name, op, inputs, outputs, time_taken in steps:
        forward = op == "Convolution"
        weight, result = (inputs[1], outputs[0]) if forward else (inputs[2], inputs[0])
        image = inputs[0] if forward else inputs[1]
        flop, arrays, kind = convolution_flop(weight, result), (image, weight, result), kind_of(weight, result)
        total[0] += time_taken
        if forward:
            counts[kind] += 1
            parts = {"forward": time_taken}
        else:
            layer = name.removesuffix("_backward")
            shape = (image, weight, len(outputs))
            if shape not in alone:
                wanted = ("data", "weight") if len([o for o in outputs if len(o) == 4]) == 2 else ("weight",)
                alone[shape] = {which: gradient_alone(mx, attributes[layer], image, weight, which, repeat) for which in wanted}
            # Of the time that both take here.
            share = time_taken / sum(alone[shape].values())
            parts = {which: part * share for which, part in alone[shape].items()}
        for which, part in parts.items():
            cell = kinds[kind][which]
            cell[0] += part
            cell[1] += limit(flop, arrays)
            total[1] += limit(flop, arrays)
    print("| convolutions | forward: ms | limit | gradient of the image: ms | limit | of the weight: ms | limit | limit / time |")
    print("|---" * 8 + "|")
    for kind, cells in kinds.items():
        columns = [f"{cells[d][0]:.1f} | {cells[d][1]:.1f}" if d in cells else " | " for d in ("forward", "data", "weight")]
        share = sum(c[1] for c in cells.values()) / sum(c[0] for c in cells.values())
        print(f"| {kind} ({counts[kind]}) | " + " | ".join(columns) + f" | {share:.0%} |")
    return total


def show_others(steps, limit):
    """Prints them by operator and returns the sums of their times and limits."""
    rows = defaultdict(lambda: [0, 0.0, 0.0])
    for _, op, inputs, outputs, time_taken in steps:
        row = rows[op]
        row[0] += 1
        row[1] += time_taken
        row[2] += limit(0, inputs + outputs)
    print("\n| other steps | how many | ms | limit | limit / time |\n|---|---|---|---|---|")
    for op, (count, taken, least) in sorted(rows.items(), key=lambda row: -row[1][1]):
        print(f"| {op} | {count} | {taken:.1f} | {least:.1f} | {least / taken:.0%} |")
    return [sum(row[i] for row in rows.values()) for i in (1, 2)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", nargs="?", default="resnet50")
    parser.add_argument("batch", nargs="?", type=int, default=32)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--layers", action="store_true", help="each step of the graph, too")
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = str(args.threads)
    import mxnet as mx
    import numpy as np
    from networks import NETWORKS, random_parameters

    limit = Limits(mx, args.threads)
    make, size = NETWORKS[args.network]
    network = make()
    symbol = mx.sym.SoftmaxOutput(network, name="softmax", normalization="batch")
    module = mx.mod.Module(symbol, context=mx.cpu())
    module.bind(data_shapes=[("data", (args.batch, 3, size, size))], label_shapes=[("softmax_label", (args.batch,))])
    module.set_params(*random_parameters(network, size))
    module.init_optimizer(kvstore=None, optimizer="sgd", optimizer_params=OPTIMIZER)
    random = np.random.default_rng(7)
    images = mx.nd.array(random.uniform(-1, 1, (args.batch, 3, size, size)))
    batch = mx.io.DataBatch([images], [mx.nd.array(random.integers(0, 1000, args.batch))])

    def passes():
        module.forward_backward(batch)
        mx.nd.waitall()

    spent = defaultdict(list)
    for _ in range(args.repeat + 1):
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        begin = time.perf_counter()
        passes()
        middle = time.perf_counter()
        module.update()
        mx.nd.waitall()
        spent["passes"].append(1e3 * (middle - begin))
        spent["updates"].append(1e3 * (time.perf_counter() - middle))
        spent["faults"].append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults)
    executor = module._exec_group.execs[0]
    steps = least_times(mx, executor, passes, args.repeat)
    print(f"{args.network} batch {args.batch}, {args.threads} threads; limits {limit.rate / 1e9:.0f} GFLOP/s, {limit.bandwidth / 1e9:.1f} GB/s\n")
    if args.layers:
        for name, op, inputs, outputs, milliseconds in steps:
            print(f"{name:40} {op:40} {milliseconds:8.2f} ms  {inputs} -> {outputs}")
    is_layer = lambda step: step[1] == "Convolution" or step[1].startswith(BACKWARD)  # noqa: E731
    attributes = {name: {key: value for key, value in attrs.items() if not key.startswith("__")}
                  for name, attrs in symbol.attr_dict().items()}
    layers = show_convolutions(mx, [step for step in steps if is_layer(step)], attributes, limit, args.repeat)
    others = show_others([step for step in steps if not is_layer(step)], limit)
    print(f"\nconvolutions {layers[0]:.1f} ms (limits {layers[1]:.1f}), others {others[0]:.1f} ({others[1]:.1f}); both passes from end to end "
          f"{min(spent['passes']):.1f} ms, updates {min(spent['updates']):.1f} ms, page faults of a step {spent['faults'][-1]}")


if __name__ == "__main__":
    main()
