# SPDX-License-Identifier: Apache-2.0
"""What a small call costs from Python: ours, PyTorch's and the reference's, each in its own process.

    python benchmarks/python/overhead.py [--torch /path/to/python] [--reference /path/to/python]

One thread each. Times are the shortest of many in microseconds; the machine should be quiet.
"""

import argparse
import json
import os
import subprocess
import sys

MXNET = """
import mxnet as mx
ones = lambda *shape: mx.nd.ones(shape)
a, b, o = ones(8, 8), ones(8, 8), ones(8, 8)
add = mx.nd.elemwise_add
x = ones(8, 16)
net = mx.gluon.nn.HybridSequential()
for i in range(5):
    net.add(mx.gluon.nn.Dense(16, activation="relu", in_units=16))
net.initialize()
net.hybridize(static_alloc=True, static_shape=True)
def step():
    with mx.autograd.record():
        y = net(x)
    y.backward()
c = ones(8, 8)
c.attach_grad()
def chain(backward=True):
    with mx.autograd.record():
        y = c
        for _ in range(5):
            y = y * b + a
    if backward:
        y.backward()
def training(optimizer, **options):
    trainer = mx.gluon.Trainer(net.collect_params(), optimizer, {"learning_rate": 1e-3, **options})
    def train():
        with mx.autograd.record():
            loss = net(x).sum()
        loss.backward()
        trainer.step(8)
    return train
cases = {
    "a + b": lambda: a + b, "add(a, b, out=o)": lambda: add(a, b, out=o), "a[1]": lambda: a[1],
    "ten operators recorded": lambda: chain(False), "ten operators and backward": chain,
    "MLP forward": lambda: net(x), "MLP forward + backward": step,
    "MLP and SGD's step": training("sgd", momentum=0.9), "MLP and Adam's step": training("adam"),
}
wait = mx.nd.waitall
"""
TORCH = """
import torch
torch.set_num_threads(1)
a, b, o = torch.ones(8, 8), torch.ones(8, 8), torch.ones(8, 8)
layers = []
for i in range(5):
    layers += [torch.nn.Linear(16, 16), torch.nn.ReLU()]
net, x = torch.nn.Sequential(*layers), torch.ones(8, 16)
def forward():
    with torch.no_grad():
        return net(x)
def step():
    net(x).sum().backward()
c = torch.ones(8, 8, requires_grad=True)
def chain(backward=True):
    y = c
    for _ in range(5):
        y = y * b + a
    if backward:
        y.backward(a)
def training(optimizer):
    def train():
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
    return train
cases = {
    "a + b": lambda: a + b, "add(a, b, out=o)": lambda: torch.add(a, b, out=o), "a[1]": lambda: a[1],
    "ten operators recorded": lambda: chain(False), "ten operators and backward": chain,
    "MLP forward": forward, "MLP forward + backward": step,
    "MLP and SGD's step": training(torch.optim.SGD(net.parameters(), 1e-3, momentum=0.9, fused=True)),
    "MLP and Adam's step": training(torch.optim.Adam(net.parameters(), 1e-3, fused=True)),
}
wait = lambda: None
"""
MEASURE = """
import json, time
def shortest(call, repeats):
    best = float("inf")
    for _ in range(15):
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        wait()
        best = min(best, (time.perf_counter() - start) / repeats)
    return best * 1e6
print(json.dumps({name: shortest(call, 200 if "MLP" in name or "ten" in name else 2000) for name, call in cases.items()}))
"""
IMPORT = """
import time, numpy
start = time.perf_counter()
import {module}
print(time.perf_counter() - start)
"""


def run(python, code):
    """The last line that a program prints, None if it fails."""
    env = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    done = subprocess.run([python, "-c", code], env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"{python}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return done.stdout.splitlines()[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--torch", help="a Python that has PyTorch")
    parser.add_argument("--reference", help="a Python that has the reference")
    options = parser.parse_args()
    pythons = {"here": (sys.executable, MXNET, "mxnet")}
    if options.torch:
        pythons["PyTorch"] = (options.torch, TORCH, "torch")
    if options.reference:
        pythons["reference"] = (options.reference, MXNET, "mxnet")
    table = {}
    for name, (python, code, module) in pythons.items():
        if name == "reference":
            os.environ.pop("PYTHONPATH", None)
        measured, imported = run(python, code + MEASURE), run(python, IMPORT.format(module=module))
        table[name] = {**(json.loads(measured) if measured else {}), "import beyond numpy, ms": float(imported or "nan") * 1e3}
    print("us".ljust(26) + "".join(name.rjust(12) for name in table))
    for case in table["here"]:
        print(case.ljust(26) + "".join(f"{table[name].get(case, float('nan')):12.2f}" for name in table))


if __name__ == "__main__":
    main()
