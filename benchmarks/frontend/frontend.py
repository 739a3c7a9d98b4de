# SPDX-License-Identifier: Apache-2.0
"""The reference's own Python front end on our library beside the same front end on its own library, in one run.

    python benchmarks/frontend/frontend.py --lib build/release/src/libmxnet.so --reference /path/to/python

The interpreter is one of an environment with the wheel (tests/frontend/run.py makes build/frontend-venv). Each case is timed
in a process of its own, the two libraries by turns; what counts is the fastest of all. Two threads for operators.
"""

import argparse
import json
import os
import subprocess
import sys

CASES = """
import json, sys, time
import numpy as np
import mxnet as mx
from mxnet import autograd, gluon

rng = np.random.RandomState(5)

def operator_call():
    a, b = mx.nd.ones((8, 8)), mx.nd.ones((8, 8))
    def work():
        for _ in range(2000):
            a + b
        mx.nd.waitall()
    return work, 2000, 8

def mlp_step():
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(128, activation="relu"), gluon.nn.Dense(64, activation="relu"), gluon.nn.Dense(10))
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True, static_shape=True)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9})
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    x, y = mx.nd.array(rng.rand(64, 784)), mx.nd.array(rng.randint(0, 10, 64))
    def work():
        for _ in range(50):
            with autograd.record():
                value = loss(net(x), y)
            value.backward()
            trainer.step(64)
        mx.nd.waitall()
    return work, 50, 8

def lenet_epoch():
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Conv2D(20, 5, activation="tanh"), gluon.nn.MaxPool2D(2, 2), gluon.nn.Conv2D(50, 5, activation="tanh"),
            gluon.nn.MaxPool2D(2, 2), gluon.nn.Flatten(), gluon.nn.Dense(500, activation="tanh"), gluon.nn.Dense(10))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05})
    loss, metric = gluon.loss.SoftmaxCrossEntropyLoss(), mx.metric.Accuracy()
    images = mx.io.NDArrayIter(rng.rand(2000, 1, 28, 28).astype("float32"), rng.randint(0, 10, 2000).astype("float32"), 100)
    def work():
        images.reset()
        metric.reset()
        for batch in images:
            x, y = batch.data[0], batch.label[0]
            with autograd.record():
                out = net(x)
                value = loss(out, y)
            value.backward()
            trainer.step(100)
            metric.update([y], [out])
        metric.get()
    return work, 1, 3

work, calls, rounds = globals()[sys.argv[1]]()
work()
best = float("inf")
for _ in range(rounds):
    start = time.perf_counter()
    work()
    best = min(best, (time.perf_counter() - start) / calls)
print(json.dumps(best))
"""
NAMES = {
    "operator_call": ("a + b, 8 x 8", 1e6, "us"),
    "mlp_step": ("MLP 784-128-64-10, batch 64: forward, backward, update", 1e6, "us"),
    "lenet_epoch": ("LeNet, 2000 images, NDArrayIter, metric: an epoch", 1e3, "ms"),
}


def seconds_of(python, case, library):
    """Shortest time of a call in a fresh process."""
    environment = {key: text for key, text in os.environ.items() if not key.startswith("MXNET_") and key != "PYTHONPATH"}
    environment["OMP_NUM_THREADS"] = "2"
    if library is not None:
        environment["MXNET_LIBRARY_PATH"] = os.path.abspath(library)
    done = subprocess.run([python, "-c", CASES, case], env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{case} with {library or 'the library of the wheel'}: {done.stderr[-800:]}")
    return json.loads(done.stdout.splitlines()[-1])


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--lib", required=True, help="our libmxnet.so")
    arguments.add_argument("--reference", required=True, help="an interpreter with the reference's wheel")
    arguments.add_argument("--rounds", type=int, default=2, help="processes for each library and case")
    options = arguments.parse_args()
    print(f"{'':58s} {'reference':>11s} {'here':>11s}  ratio")
    for case, (name, scale, unit) in NAMES.items():
        theirs, ours = float("inf"), float("inf")
        for _ in range(options.rounds):
            theirs = min(theirs, seconds_of(options.reference, case, None))
            ours = min(ours, seconds_of(options.reference, case, options.lib))
        print(f"{name:58s} {theirs * scale:8.1f} {unit} {ours * scale:8.1f} {unit}  {theirs / ours:5.2f}")


if __name__ == "__main__":
    main()
