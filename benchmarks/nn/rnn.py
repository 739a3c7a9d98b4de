# SPDX-License-Identifier: Apache-2.0
"""The fused recurrent operator beside PyTorch: two layers of 512 LSTM (or GRU) units, batch 32, 64 steps, forward and training.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so python benchmarks/nn/rnn.py [--threads N] [--mode lstm|gru] [--repeat N]
Times are the least of the repetitions, in milliseconds; PyTorch is left out where it is not installed. Each library runs in
a process of its own, so that their thread pools do not meet.
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
    parser.add_argument("--only", choices=["ours", "torch"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.only:
        print(*{"ours": ours, "torch": torch}[args.only](args.mode, args.repeat))
        return
    results = {}
    for name in ("ours", "torch"):
        command = [sys.executable, __file__, "--only", name, "--mode", args.mode, "--repeat", str(args.repeat)]
        done = subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": str(args.threads)}, capture_output=True, text=True)
        if done.returncode == 0:
            results[name] = [float(word) for word in done.stdout.split()]
            print(f"{name:6} {args.mode} {args.threads} threads: forward {results[name][0]:7.2f} ms, training {results[name][1]:7.2f} ms")
        else:
            print(f"{name}: {done.stderr.strip().splitlines()[-1]}")
    if len(results) == 2:
        ratios = [there / here for here, there in zip(results["ours"], results["torch"])]
        print(f"faster by {ratios[0]:.2f} forward, {ratios[1]:.2f} training")


main()
