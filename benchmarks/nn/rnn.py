# SPDX-License-Identifier: Apache-2.0
"""The fused recurrent operator beside its peers: two layers of 512 LSTM (or GRU) units, batch 32, 64 steps, forward and training.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so python benchmarks/nn/rnn.py [--threads N] [--mode lstm|gru] [--repeat N]
           [--peer-python PYTHON_WITH_TORCH] [--reference-python PYTHON_WITH_MXNET_1_9_1]
Times are the least of the repetitions, in milliseconds; peers that are not installed are left out. Each library runs in
a process of its own, so that their thread pools do not meet, and they take turns.
"""
import argparse
import ctypes as C
import os
import pathlib
import subprocess
import sys
import time

STEPS, BATCH, UNITS, LAYERS = 64, 32, 512, 2
GATES = {"lstm": 4, "gru": 3}


def least(fn, repeat):
    fn()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        fn()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def ours(mode, repeat):
    import numpy as np
    sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests" / "python"))
    from op_calls import WRITE, Library
    mx = Library()
    rng = np.random.default_rng(0)
    count = LAYERS * GATES[mode] * UNITS * (2 * UNITS + 2)
    weights = (rng.standard_normal(count) * 0.04).astype("float32")
    states = [np.zeros((LAYERS, BATCH, UNITS), "float32")] * (2 if mode == "lstm" else 1)
    inputs = [mx.array(a) for a in (rng.standard_normal((STEPS, BATCH, UNITS)).astype("float32"), weights, *states)]
    attrs = dict(state_size=UNITS, num_layers=LAYERS, mode=mode, state_outputs=True)
    flag = C.c_int()

    def forward():
        outputs = mx.invoke("RNN", inputs, **attrs)
        mx.call("MXNDArrayWaitToRead", outputs[0])
        mx.free(*outputs)

    def train():
        for name in ("MXAutogradSetIsRecording", "MXAutogradSetIsTraining"):
            mx.call(name, 1, C.byref(flag))
        outputs = mx.invoke("RNN", inputs, **attrs)
        for name in ("MXAutogradSetIsRecording", "MXAutogradSetIsTraining"):
            mx.call(name, 0, C.byref(flag))
        mx.call("MXAutogradBackward", 1, (C.c_void_p * 1)(outputs[0]), None, 0)
        mx.call("MXNDArrayWaitToRead", gradient)
        mx.free(*outputs)

    times = [least(forward, repeat)]
    gradient = mx.array(np.zeros_like(weights))
    mx.call("MXAutogradMarkVariables", 1, (C.c_void_p * 1)(inputs[1]), (C.c_uint * 1)(WRITE), (C.c_void_p * 1)(gradient))
    return [*times, least(train, repeat)]


def reference(mode, repeat):
    import mxnet as mx
    import numpy as np
    rng = np.random.default_rng(0)
    count = LAYERS * GATES[mode] * UNITS * (2 * UNITS + 2)
    weights = mx.nd.array(rng.standard_normal(count) * 0.04)
    weights.attach_grad()
    x = mx.nd.array(rng.standard_normal((STEPS, BATCH, UNITS)))
    states = [mx.nd.zeros((LAYERS, BATCH, UNITS))] * (2 if mode == "lstm" else 1)

    def network():
        return mx.nd.RNN(x, weights, *states, state_size=UNITS, num_layers=LAYERS, mode=mode, state_outputs=True)[0]

    def train():
        with mx.autograd.record():
            y = network()
        y.backward()
        weights.grad.wait_to_read()

    return [least(lambda: network().wait_to_read(), repeat), least(train, repeat)]


def torch(mode, repeat):
    import torch as pt
    pt.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    network = {"lstm": pt.nn.LSTM, "gru": pt.nn.GRU}[mode](UNITS, UNITS, LAYERS)
    x = pt.randn(STEPS, BATCH, UNITS)

    def forward():
        with pt.inference_mode():
            network(x)

    def train():
        network.zero_grad()
        network(x)[0].sum().backward()

    return [least(forward, repeat), least(train, repeat)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--mode", choices=GATES, default="lstm")
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--reference-python")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--only", choices=["ours", "torch", "reference"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.only:
        print(*{"ours": ours, "torch": torch, "reference": reference}[args.only](args.mode, args.repeat))
        return
    pythons = {"ours": sys.executable, "reference": args.reference_python, "torch": args.peer_python}
    results = {}
    for name in [name for name in pythons if pythons[name]] * args.turns:
        environment = {**os.environ, "OMP_NUM_THREADS": str(args.threads)}
        if name == "reference":
            environment.pop("MXNET_LIBRARY_PATH", None)
            environment.pop("PYTHONPATH", None)
        command = [pythons[name], __file__, "--only", name, "--mode", args.mode, "--repeat", str(args.repeat)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            print(f"{name}: {done.stderr.strip().splitlines()[-1]}")
            continue
        times = [float(word) for word in done.stdout.split()]
        results[name] = [min(pair) for pair in zip(times, results.get(name, times))]
    for name, (forward, training) in results.items():
        print(f"{name:9} {args.mode} {args.threads} threads: forward {forward:7.2f} ms, training {training:7.2f} ms")
    peers = [times for name, times in results.items() if name != "ours"]
    if peers and "ours" in results:
        ratios = [min(there) / here for here, there in zip(results["ours"], zip(*peers))]
        print(f"faster than the best peer by {ratios[0]:.2f} forward, {ratios[1]:.2f} training")


main()
