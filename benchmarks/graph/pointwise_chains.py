#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pointwise neighbours as one step beside the same plan with a step for each (MXNET_USE_FUSION), on the CPU.

    pointwise_chains.py [--threads 1,2] [--sizes 1000,10000,100000,1000000,10000000] [--only TEXT] [--seconds 0.3]

Both plans are of one process and take turns, call by call; the shortest time of each counts. A row: the chain, microseconds
as one and apart for each size, and their ratio. Results must be the same bits. Each number of threads is a process of its own."""
import argparse
import os
import pathlib
import subprocess
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from timing import best_of_each  # noqa: E402


def chains(sym):
    """By name: the symbol, and whether its gradients are computed too."""
    a, b, c = (sym.var(name) for name in "abc")
    cubic = a + 0.044715 * a * a * a
    return {
        "a * b + c": (a * b + c, False),
        "gelu by tanh": (0.5 * a * (1 + sym.tanh(0.79788456 * cubic)), False),
        "sigmoid * tanh": (sym.sigmoid(a) * sym.tanh(b), False),
        "relu(a + b)": (sym.relu(a + b), False),
        "scale, shift, clip": (sym.clip(a * 0.5 + 0.25, 0.0, 1.0), False),
        "gate, both ways": (sym.sigmoid(a) * sym.tanh(b) + c, True),
        "square error, both ways": (sym.square(a - b) * 0.5, True),
    }


class Bound:
    """A chain on arrays of its own, compiled with or without fusion."""

    def __init__(self, mx, symbol, backward, size, fused):
        rng = np.random.default_rng(size)
        self.backward, self.head = backward, mx.nd.ones(size)
        arguments = {name: mx.nd.array(rng.standard_normal(size).astype("float32")) for name in symbol.list_arguments()}
        gradients = {name: mx.nd.zeros(size) for name in arguments} if backward else None
        with mx.util.environment("MXNET_USE_FUSION", fused):
            self.executor = symbol.bind(mx.cpu(), arguments, args_grad=gradients, grad_req="write" if backward else "null")
            self()

    def __call__(self):
        self.executor.forward(is_train=self.backward)
        if self.backward:
            self.executor.backward(self.head)
            self.executor.grad_arrays[0].wait_to_read()
        self.executor.outputs[0].wait_to_read()

    def values(self):
        arrays = self.executor.outputs + (self.executor.grad_arrays if self.backward else [])
        return [array.asnumpy() for array in arrays]


def run(options, threads):
    import mxnet as mx
    print(f"\n{threads} thread(s): microseconds as one / apart, ratio")
    print(f"| {'elements':24} | " + " | ".join(f"{size:>22,}" for size in options.sizes) + " |")
    print("|---|" + "---:|" * len(options.sizes))
    for name, (symbol, backward) in chains(mx.sym).items():
        if options.only not in name:
            continue
        cells = []
        for size in options.sizes:
            pair = [Bound(mx, symbol, backward, size, fused) for fused in ("1", "0")]
            for one, other in zip(*(each.values() for each in pair)):
                np.testing.assert_array_equal(one, other)
            one, apart = best_of_each(pair, options.seconds)
            cells.append(f"{one:.1f} / {apart:.1f}, {one / apart:.2f}")
        print(f"| {name:24} | " + " | ".join(f"{cell:>22}" for cell in cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")],
                        default=[10**n for n in range(3, 8)])
    parser.add_argument("--only", default="", help="chains whose name has this")
    parser.add_argument("--seconds", type=float, default=0.3, help="of each cell and plan")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return run(options, options.worker)
    for threads in options.threads.split(","):
        subprocess.run([sys.executable, *sys.argv, "--worker", threads], check=True,
                       env=dict(os.environ, OMP_NUM_THREADS=threads))


if __name__ == "__main__":
    main()
