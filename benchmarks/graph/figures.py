# SPDX-License-Identifier: Apache-2.0
"""What graphs, plans and the profiler are held to, beside what they do on this machine.

    python benchmarks/graph/figures.py [--build build/release] [--parts bytes,recomputation,overhead,python,profiler]

Each line is a bar: a figure, its limit, and whether it is met; the exit status is 1 where one is not. Bytes are the same
on a busy machine, times are not. Built before: bench_graph, bench_graph_memory, bench_graph_mirror, bench_profiler and the package."""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
INFERENCE, TRAINING = "inference", "training"
MIRROR, BUDGET = "MXNET_BACKWARD_DO_MIRROR=1", "MXNET_BACKWARD_MIRROR_BUDGET"
RESNET, VGG = "ResNet-50 v1", "VGG-16"

# A call of a network of five layers, 32 wide, on four rows; and a symbol of 10^5 nodes out of its text.
PYTHON = """
import json, time
import mxnet as mx
net = mx.sym.var("x")
for i in range(5):
    net = mx.sym.relu(mx.sym.FullyConnected(net, num_hidden=32, name=f"fc{i}"))
arrays = [mx.nd.ones(shape) for shape in net.infer_shape(x=(4, 32))[0]]
op = mx.nd.CachedOp(net, (("static_alloc", True), ("static_shape", True)))
def call():
    op(*arrays).wait_to_read()
def best(function, repeats, rounds):
    shortest = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(repeats):
            function()
        shortest = min(shortest, (time.perf_counter() - start) / repeats)
    return shortest
count = 100_000
nodes = [{"op": "null", "name": "x", "inputs": []}]
nodes += [{"op": "_plus_scalar", "name": f"n{i}", "attrs": {"scalar": "1"}, "inputs": [[i, 0, 0]]} for i in range(count)]
text = json.dumps({"nodes": nodes, "arg_nodes": [0], "heads": [[count, 0, 0]], "attrs": {"mxnet_version": ["int", 10901]}})
best(call, 100, 1)
print(json.dumps({"forward": best(call, 500, 20) * 1e6, "load": best(lambda: mx.sym.load_json(text), 1, 3)}))
"""


@dataclass
class Bar:
    """`sign` is how the figure has to lie to its limit."""

    what: str
    figure: float
    sign: str
    limit: float
    unit: str

    @property
    def met(self):
        return {"<=": self.figure <= self.limit, ">=": self.figure >= self.limit, ">": self.figure > self.limit}[self.sign]


class Programs:
    """Those of a build folder, on one thread but where they make more themselves."""

    def __init__(self, build):
        self.build = build

    def output(self, program, *arguments, threads=1):
        return self._run([self.build / "benchmarks" / program, *arguments], threads, {})

    def python(self, code):
        return json.loads(self._run([sys.executable, "-c", code], 1, {"PYTHONPATH": str(self.build / "python")}))

    def times(self, program, pattern):
        """Nanoseconds and calls a second of the benchmarks that match, by name: the best of three."""
        text = self.output(program, f"--benchmark_filter={pattern}", "--benchmark_repetitions=3", "--benchmark_format=json")
        times, rates = {}, {}
        unit = {"ns": 1, "us": 1e3, "ms": 1e6}
        for run in json.loads(text)["benchmarks"]:
            if run["run_type"] != "iteration":
                continue
            name = run["run_name"]
            times[name] = min(times.get(name, float("inf")), run["real_time"] * unit[run["time_unit"]])
            rates[name] = max(rates.get(name, 0), run.get("items_per_second", 0))
        return times, rates

    @staticmethod
    def _run(command, threads, variables):
        kept = {key: text for key, text in os.environ.items() if not key.startswith(("MXNET_", "NNVM_"))}
        environment = {**kept, "OMP_NUM_THREADS": str(threads), **variables}
        done = subprocess.run([str(part) for part in command], env=environment, stdout=subprocess.PIPE, text=True, check=True)
        return done.stdout


def bytes_of_plans(programs):
    planned = {}
    for line in programs.output("graph/bench_graph_memory").splitlines()[1:]:
        name, kind, megabytes, _ = re.split(r"\s{2,}", line.strip().replace("ResNet-50 v1 ", "ResNet-50 v1  "))
        planned[name, kind] = float(megabytes)
    within, smallest = f"{BUDGET}=900e6", "MXNET_MEMORY_OPT=1"
    for bar, kind, limit in (("inference", INFERENCE, 215), ("training", TRAINING, 2600), ("training, cheap operators again", MIRROR, 1600),
                             ("training, a budget of 900 MB", within, 900)):
        yield Bar(f"{RESNET}: {bar}", planned[RESNET, kind], "<=", limit, "MB")
    yield Bar(f"{VGG}: a budget of 900 MB, to unmirrored", planned[VGG, within] / planned[VGG, TRAINING], "<=", 0.6, "x")
    for name in (RESNET, VGG):
        plain = planned[name, TRAINING]
        others = min(planned[name, kind] for kind in (TRAINING, MIRROR, within))
        yield Bar(f"{name}: {smallest}, to the best of the others", planned[name, smallest] / others, "<=", 1, "x")
        for kind in ("MXNET_EXEC_ENABLE_INPLACE=0", "NNVM_EXEC_MATCH_RANGE=0"):
            yield Bar(f"{name}: {kind}, to training", planned[name, kind] / plain, ">", 1, "x")


def price_of_recomputation(programs):
    for line in programs.output("graph/bench_graph_mirror", "resnet50", threads=2).splitlines():
        if factor := re.search(r"x(\d+\.\d+)$", line):
            if MIRROR in line:
                yield Bar(f"{RESNET}: time of a step, cheap operators again", float(factor[1]), "<=", 1.10, "x")
            elif BUDGET in line:
                yield Bar(f"{RESNET}: time of a step, a budget of 35 %", float(factor[1]), "<=", 1.35, "x")


def overhead(programs):
    times, rates = programs.times("graph/bench_graph", "executor_forward|cached_op_forward|scalar_chain|_threads")
    microseconds = {name: time / 1e3 for name, time in times.items()}
    yield Bar("MLP of 5 layers, 32 wide, batch 4: forward", microseconds["executor_forward"], "<=", 8, "us")
    yield Bar("the same as a cached op", microseconds["cached_op_forward"], "<=", 8, "us")
    yield Bar("forward and backward", microseconds["executor_forward_backward"], "<=", 60, "us")
    yield Bar("10^4 additions of scalars, unfused", microseconds["scalar_chain/10000"] / 1e3, "<=", 1, "ms")
    for what in ("cached_op_threads", "predictor_threads"):
        two, one = (rates[f"{what}/real_time/threads:{threads}"] for threads in (2, 1))
        yield Bar(f"{what.replace('_threads', '').replace('_', ' ')}: two threads, to one", two / one, ">=", 1.85, "x")


def from_python(programs):
    figures = programs.python(PYTHON)
    yield Bar("the same MLP from Python: forward", figures["forward"], "<=", 12, "us")
    yield Bar("a file of 10^5 nodes", figures["load"], "<=", 1, "s")


def profiler(programs):
    times, _ = programs.times("profiler/bench_profiler", "nothing_around|span|operation")
    bare = times["nothing_around"]
    for what, alone in (("span", bare), ("operation", times["operation/-1"])):
        around = "a multiplication" if what == "span" else "an engine operation"
        yield Bar(f"profiler around {around}: on", times[f"{what}/15"] - alone, "<=", 300, "ns")
        yield Bar(f"profiler around {around}: on, with tables", times[f"{what}/16"] - alone, "<=", 300, "ns")
    yield Bar("profiler around a multiplication: off", times["span/-1"] - bare, "<=", 2, "ns")


PARTS = {"bytes": bytes_of_plans, "recomputation": price_of_recomputation, "overhead": overhead, "python": from_python,
         "profiler": profiler}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build" / "release", type=pathlib.Path)
    parser.add_argument("--parts", default=",".join(PARTS))
    options = parser.parse_args()
    short = 0
    for part in options.parts.split(","):
        for bar in PARTS[part](Programs(options.build)):
            short += not bar.met
            print(f"{bar.what:<58} {bar.figure:>9.2f} {bar.sign:>2} {bar.limit:<6g} {bar.unit:<2}  "
                  f"{'met' if bar.met else 'SHORT'}", flush=True)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
