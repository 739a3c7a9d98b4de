#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small networks beside PyTorch and JAX, where what a layer costs besides its arithmetic counts: microseconds of an inference call
and of a training step (forward, backward, SGD with momentum), each with a look at its result.

    small.py --peer-python /path/to/python [--networks perceptron,lenet,resnet,lstm] [--threads 1,2]
    small.py --engines eager,torch,reference --networks dense,filters --reference-python /path/to/python --peer-python ...

    small.py --engines ours,torch,jax --jax-python /path/to/python --peer-python ...

`eager` are layers of ours that are no graph, `reference` the same script on the release of 1.9.1. Each engine runs in a process of its own, in turns; the shortest and the median of each call's times."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np

SGD = {"learning_rate": 0.01, "momentum": 0.9}
# The shape of a batch.
SHAPES = {"perceptron": (64, 784), "lenet": (8, 1, 28, 28), "resnet": (8, 3, 32, 32), "lstm": (16, 32, 64)}
# Where next to nothing is computed: three dense layers, and two convolutions with pooling before a dense one.
SHAPES_OF_LEAST = {"dense": (32, 64), "filters": (8, 1, 16, 16)}
CLASSES = 10
UNITS = 64
# Of the residual network: each stage halves height and width.
STAGES = (16, 32, 64)
BLOCKS = 3


def batch_of(network):
    draws = np.random.default_rng(0)
    shape = {**SHAPES, **SHAPES_OF_LEAST}[network]
    return draws.standard_normal(shape).astype("float32"), draws.integers(0, CLASSES, shape[0])


def gluon_network(network):
    from mxnet import gluon
    from mxnet.gluon import nn

    class Residual(nn.HybridBlock):
        def __init__(self, channels, stride):
            super().__init__()
            self.branch, self.shortcut = nn.HybridSequential(), nn.HybridSequential()
            self.branch.add(nn.Conv2D(channels, 3, stride, 1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"),
                            nn.Conv2D(channels, 3, 1, 1, use_bias=False), nn.BatchNorm())
            if stride > 1:
                self.shortcut.add(nn.Conv2D(channels, 1, stride, use_bias=False), nn.BatchNorm())

        def hybrid_forward(self, F, x):
            return F.relu(self.branch(x) + self.shortcut(x))

    class Recurrent(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.cells, self.last = gluon.rnn.LSTM(UNITS, layout="NTC"), nn.Dense(CLASSES)

        def hybrid_forward(self, F, x):
            return self.last(self.cells(x))

    if network == "lstm":
        return Recurrent()
    net = nn.HybridSequential()
    if network == "perceptron":
        net.add(nn.Dense(128, activation="relu"), nn.Dense(64, activation="relu"))
    elif network == "dense":
        net.add(nn.Dense(64, activation="relu"), nn.Dense(64, activation="relu"))
    elif network == "filters":
        for filters in (8, 16):
            net.add(nn.Conv2D(filters, 3, activation="relu"), nn.MaxPool2D(2, 2))
        net.add(nn.Flatten())
    elif network == "lenet":
        for filters in (20, 50):
            net.add(nn.Conv2D(filters, 5, activation="tanh"), nn.MaxPool2D(2, 2))
        net.add(nn.Dense(500, activation="tanh"))
    else:
        net.add(nn.Conv2D(STAGES[0], 3, 1, 1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"))
        for stage, channels in enumerate(STAGES):
            for block in range(BLOCKS):
                net.add(Residual(channels, 2 if stage > 0 and block == 0 else 1))
        net.add(nn.GlobalAvgPool2D())
    net.add(nn.Dense(CLASSES))
    return net


def ours(network, hybrid=True):
    import mxnet as mx

    net = gluon_network(network)
    net.initialize(mx.init.Xavier())
    if hybrid:
        net.hybridize(static_alloc=True, static_shape=True)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", SGD)
    loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    if hybrid:
        loss.hybridize()
    images, labels = (mx.nd.array(array) for array in batch_of(network))

    def train():
        with mx.autograd.record():
            cost = loss(net(images), labels)
        cost.backward()
        trainer.step(len(labels))
        mx.nd.waitall()  # the step whole, not only what the cost needs
        return cost.asnumpy()

    return {"inference": lambda: net(images).asnumpy(), "training": train}


def eager(network):
    return ours(network, hybrid=False)


def torch_network(network):
    import torch as pt
    from torch import nn

    class Residual(nn.Module):
        def __init__(self, before, channels, stride):
            super().__init__()
            self.branch = nn.Sequential(
                nn.Conv2d(before, channels, 3, stride, 1, bias=False), nn.BatchNorm2d(channels), nn.ReLU(),
                nn.Conv2d(channels, channels, 3, 1, 1, bias=False), nn.BatchNorm2d(channels))
            self.shortcut = nn.Sequential()
            if stride > 1:
                self.shortcut = nn.Sequential(nn.Conv2d(before, channels, 1, stride, bias=False), nn.BatchNorm2d(channels))

        def forward(self, x):
            return pt.relu(self.branch(x) + self.shortcut(x))

    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.cells, self.last = nn.LSTM(SHAPES["lstm"][2], UNITS, batch_first=True), nn.Linear(SHAPES["lstm"][1] * UNITS, CLASSES)

        def forward(self, x):
            return self.last(self.cells(x)[0].flatten(1))

    if network == "lstm":
        return Recurrent()
    if network == "perceptron":
        return nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, CLASSES))
    if network == "dense":
        return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, CLASSES))
    if network == "filters":
        return nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3), nn.ReLU(), nn.MaxPool2d(2),
                             nn.Flatten(), nn.Linear(64, CLASSES))
    if network == "lenet":
        return nn.Sequential(nn.Conv2d(1, 20, 5), nn.Tanh(), nn.MaxPool2d(2), nn.Conv2d(20, 50, 5), nn.Tanh(), nn.MaxPool2d(2),
                             nn.Flatten(), nn.Linear(800, 500), nn.Tanh(), nn.Linear(500, CLASSES))
    layers = [nn.Conv2d(3, STAGES[0], 3, 1, 1, bias=False), nn.BatchNorm2d(STAGES[0]), nn.ReLU()]
    before = STAGES[0]
    for stage, channels in enumerate(STAGES):
        for block in range(BLOCKS):
            layers.append(Residual(before, channels, 2 if stage > 0 and block == 0 else 1))
            before = channels
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, CLASSES))


def torch(network):
    import torch as pt

    pt.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    net = torch_network(network)
    optimizer = pt.optim.SGD(net.parameters(), lr=SGD["learning_rate"], momentum=SGD["momentum"])
    loss = pt.nn.CrossEntropyLoss()
    images, labels = (pt.from_numpy(array) for array in batch_of(network))

    def infer():
        net.eval()
        with pt.inference_mode():
            return net(images).numpy()

    def train():
        net.train()
        optimizer.zero_grad()
        cost = loss(net(images), labels)
        cost.backward()
        optimizer.step()
        return cost.item()

    return {"inference": infer, "training": train}


def jax(network):
    import jax_networks

    return jax_networks.calls_of(jax_networks.network_of(network, CLASSES, UNITS, STAGES, BLOCKS), *batch_of(network), SGD)


ENGINES = {"ours": ours, "torch": torch, "jax": jax, "eager": eager, "reference": eager}


def run_engine(engine, networks, seconds):
    """Prints microseconds, shortest and median, of each network's calls as JSON."""
    times = {}
    for network in networks.split(","):
        for kind, call in ENGINES[engine](network).items():
            for _ in range(20):
                call()
            samples, end = [], time.perf_counter() + float(seconds)
            while time.perf_counter() < end:
                begin = time.perf_counter()
                call()
                samples.append(1e6 * (time.perf_counter() - begin))
            times[f"{network} {kind}"] = [min(samples), statistics.median(samples)]
    print(json.dumps(times))


def measure(engine, threads, args):
    # JAX takes as many threads as there are cores, or one.
    one = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1" if threads == "1" else ""
    environment = {**os.environ, "OMP_NUM_THREADS": threads, "XLA_FLAGS": one}
    python = {"torch": args.peer_python, "jax": args.jax_python, "reference": args.reference_python}.get(engine, sys.executable)
    if python != sys.executable:
        environment.pop("PYTHONPATH", None)
        environment.pop("MXNET_LIBRARY_PATH", None)
    command = [python, __file__, "--run", engine, args.networks, str(args.seconds)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    if sys.argv[1:2] == ["--run"]:
        return run_engine(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default=",".join(SHAPES))
    parser.add_argument("--threads", default=f"1,{os.cpu_count()}")
    parser.add_argument("--engines", default="ours,torch")
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--jax-python", default=sys.executable)
    parser.add_argument("--reference-python", default=sys.executable)
    parser.add_argument("--seconds", type=float, default=0.4)
    parser.add_argument("--turns", type=int, default=2)
    args = parser.parse_args()
    columns = [(engine, threads) for threads in args.threads.split(",") for engine in args.engines.split(",")]
    best = {}
    for _ in range(args.turns):
        for column in columns:
            for name, measured in measure(*column, args).items():
                cell = best.setdefault(name, {})
                cell[column] = [min(pair) for pair in zip(measured, cell.get(column, measured))]
    print("| network | " + " | ".join(f"{engine}, {threads} threads" for engine, threads in columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for name, cell in best.items():
        print(f"| {name} | " + " | ".join("{:.0f} ({:.0f})".format(*cell[column]) for column in columns) + " |")


if __name__ == "__main__":
    main()
