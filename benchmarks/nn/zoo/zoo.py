# SPDX-License-Identifier: Apache-2.0
"""Networks of many kinds beside PyTorch and the 1.9.1 release: inference of one and of some examples, and a training step.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so PYTHONPATH=path/to/package python benchmarks/nn/zoo/zoo.py [--threads N] [--seconds S]
           [--peer-python PYTHON_WITH_TORCH] [--reference-python PYTHON_WITH_MXNET_1_9_1] [--networks a,b] [--engines ours,torch,...]
All start from the same weights; two sums over what inference computes, and over the gradients of the first step, are compared (to a hundredth). Each library runs in a process of its own, a
few networks at a time, and they take turns. Times are the least of S seconds of calls, in milliseconds; ratios are the better peer's
time by ours.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

import numpy as np

import networks
import sequences
import tasks

ENGINES = ("ours", "reference", "torch", "torch_compiled")
# Networks that draw numbers in training, so that gradients are others each time.
DROPPING = ("bert_2_layers", "transformer", "alexnet", "textcnn", "tcn", "pointnet", "perceptron")


def cases(name):
    """The network, its inputs, batches, the batch of a step, labels and loss of a name."""
    for others in (sequences, tasks):
        if name in others.NETWORKS:
            return others.NETWORKS[name]
    network, shape, batches, step = networks.NETWORKS[name]
    classes = {"lenet": 10, "dcgan": 1}.get(name)
    images = name not in ("ssd", "yolo", "unet", "dcgan", "wavenet", "style_instance", "style_group")
    labels = sequences.integers(classes or 10, None) if images else None
    return network, sequences.floats(None, *shape), batches, step, labels, "classes" if images else None


def weights(seed):
    rng = np.random.default_rng(seed)

    def numbers(shape):
        return (rng.standard_normal(tuple(shape)) / np.sqrt(max(np.prod(shape[1:]), 1))).astype("float32")
    return numbers


def least(function, seconds):
    function()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 2 or time.perf_counter() < end:
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def run(name, engine, args):
    """Yields (what, milliseconds, numbers that tell what was computed)."""
    if engine.startswith("torch"):
        import torch_zoo as library
    else:
        import gluon_zoo as library
    make, inputs_of, batches, step, labels, kind = cases(name)
    eager = name.endswith("_eager")
    network = library.prepare(make(library), weights(1), eager)
    called = network
    if engine == "torch_compiled":
        import torch
        called = torch.compile(network, dynamic=False)
    for batch in batches if "inference" in args.what else ():
        inputs = library.arrays(inputs_of(np.random.default_rng(2), batch))
        y = library.forward(called, inputs)
        yield f"{batch}", least(lambda: library.forward(called, inputs), args.seconds), [float(np.abs(y).mean()), float(y.ravel()[::max(1, y.size // 997)].std())]
    if "training" in args.what:
        rng = np.random.default_rng(3)
        inputs = library.arrays(inputs_of(rng, step))
        momentum = 0.0 if name.endswith("_sparse") else 0.9
        take = library.stepper(called, inputs, labels(rng, step) if labels else None, kind, eager, momentum)
        take()
        losses = step if kind == "ctc" else inputs[0].shape[0]  # one per example; else per place of the first axis
        told = None if name in DROPPING else library.gradients(network, losses)
        yield f"step {step}", least(take, args.seconds), told


def child(args):
    for name in args.networks.split(","):
        try:
            for what, milliseconds, told in run(name, args.only, args):
                print("RESULT", json.dumps([name, what, milliseconds, told]), flush=True)
        except Exception as error:
            print("FAILED", name, type(error).__name__, str(error).strip().splitlines()[:3], flush=True)


def measure(engine, args):
    pythons = {"ours": sys.executable, "reference": args.reference_python}
    environment = {**os.environ, "OMP_NUM_THREADS": str(args.threads)}
    if engine != "ours":
        environment.pop("MXNET_LIBRARY_PATH", None)
        environment.pop("PYTHONPATH", None)
    command = [pythons.get(engine, args.peer_python), __file__, "--only", engine, "--networks", args.networks, "--seconds", str(args.seconds), "--what", args.what]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        if line.startswith("RESULT"):
            yield json.loads(line[7:])
        elif line.startswith("FAILED"):
            print(engine, line)
    if done.returncode:
        print(engine, done.stderr.strip().splitlines()[-3:])


def main():
    every = [*networks.NETWORKS, *sequences.NETWORKS, *tasks.NETWORKS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--reference-python")
    parser.add_argument("--networks", default=",".join(every))
    parser.add_argument("--engines", default="ours,reference,torch")
    parser.add_argument("--what", default="inference,training")
    parser.add_argument("--only", choices=ENGINES, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.only:
        child(args)
        return
    engines = [name for name in args.engines.split(",") if name != "reference" or args.reference_python]
    for network in args.networks.split(","):
        args.networks, table, computed = network, {}, {}
        for engine in engines:
            for name, what, milliseconds, told in measure(engine, args):
                table.setdefault(what, {})[engine] = milliseconds
                if told and not np.allclose(told, computed.setdefault(what, told), rtol=1e-2, atol=1e-5):
                    print(f"{name} {what}: {engine} computes something else: {told} for {computed[what]}")
        for what, times in table.items():
            peers = [t for engine, t in times.items() if engine != "ours"]
            ratio = f"{min(peers) / times['ours']:.2f}" if peers and "ours" in times else ""
            print(f"| {network} | {what} | " + " | ".join(f"{times[e]:.2f}" if e in times else "" for e in engines) + f" | {ratio} |", flush=True)


if __name__ == "__main__":
    main()
