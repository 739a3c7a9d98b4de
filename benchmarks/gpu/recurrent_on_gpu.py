#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers on a GPU, side by side with PyTorch: sequences a second, of the outputs alone and with the gradients of
all arguments.

    recurrent_on_gpu.py [--peer-python /path/to/python] [--seconds 1]

Each engine runs in a process of its own, from the same weights; what both compute is compared first. Ours fails where it
does not find cuDNN. With --simulated, ours alone runs a small network on a simulated GPU: a test of this program, whose
times mean nothing."""
import argparse
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from networks_on_gpu import NO_TIME, Budget, difference, in_process, measure

# mode, steps, batch, input, units, layers, directions
CASES = [
    ("lstm", 35, 64, 650, 650, 2, 1),  # a language model
    ("lstm", 100, 32, 512, 1024, 4, 1),
    ("lstm", 200, 16, 256, 320, 3, 2),  # speech
    ("gru", 100, 64, 512, 512, 2, 1),
]
SMALL = [("lstm", 4, 2, 8, 8, 2, 2), ("gru", 4, 2, 8, 8, 1, 1)]
GATES = {"lstm": 4, "gru": 3}


def weights_of(mode, size, units, layers, directions):
    """Of each layer and direction: input and state matrices, then their biases."""
    rng = np.random.default_rng(7)
    draw = lambda *shape: rng.uniform(-1, 1, shape).astype("float32") / np.float32(np.sqrt(units))
    rows, result = GATES[mode] * units, []
    for layer in range(layers):
        width = size if layer == 0 else units * directions
        result += [(draw(rows, width), draw(rows, units), draw(rows), draw(rows)) for _ in range(directions)]
    return result


def sequences(steps, batch, size):
    return np.random.default_rng(8).uniform(-1, 1, (steps, batch, size)).astype("float32")


class Ours:
    def __init__(self, mode, steps, batch, size, units, layers, directions, dtype, training):
        import mxnet as mx

        parts = weights_of(mode, size, units, layers, directions)
        flat = np.concatenate([a.ravel() for part in parts for a in part[:2]] + [a for part in parts for a in part[2:]])
        on_gpu = lambda values: mx.nd.array(values, ctx=mx.gpu(0), dtype=dtype)
        states = [on_gpu(np.zeros((layers * directions, batch, units))) for _ in range(2 if mode == "lstm" else 1)]
        self.mx, self.training = mx, training
        self.arguments = [on_gpu(sequences(steps, batch, size)), on_gpu(flat), *states]
        self.options = dict(state_size=units, num_layers=layers, bidirectional=directions == 2, mode=mode)
        if training:
            for argument in self.arguments:
                argument.attach_grad()
            self.head = mx.nd.ones((steps, batch, units * directions), ctx=mx.gpu(0), dtype=dtype)

    def run(self):
        with self.mx.autograd.record() if self.training else self.mx.autograd.pause():
            self.out = self.mx.nd.RNN(*self.arguments, **self.options)
        if self.training:
            self.out.backward(self.head)

    def wait(self):
        self.mx.nd.waitall()

    def result(self):
        found = [self.out] + [a.grad for a in self.arguments[:1] if self.training]
        return np.concatenate([a.asnumpy().astype("float32").ravel() for a in found])


class Torch:
    def __init__(self, mode, steps, batch, size, units, layers, directions, dtype, training):
        import torch

        kind = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[mode]
        self.torch, self.training = torch, training
        torch.backends.cudnn.allow_tf32 = True  # as ours, unless MXNET_CUDA_ALLOW_TENSOR_CORE=0
        self.net = kind(size, units, layers, bidirectional=directions == 2).cuda().to(getattr(torch, dtype))
        with torch.no_grad():
            for weights, values in zip(self.net.all_weights, weights_of(mode, size, units, layers, directions)):
                for weight, value in zip(weights, values):
                    weight.copy_(torch.from_numpy(value))
        self.net.flatten_parameters()
        self.x = torch.from_numpy(sequences(steps, batch, size)).cuda().to(getattr(torch, dtype)).requires_grad_(training)
        self.head = torch.ones((steps, batch, units * directions), device="cuda", dtype=self.x.dtype)

    def run(self):
        if not self.training:
            with self.torch.inference_mode():
                self.out = self.net(self.x)[0]
            return
        self.net.zero_grad(set_to_none=True)
        self.x.grad = None
        self.out = self.net(self.x)[0]
        self.out.backward(self.head)

    def wait(self):
        self.torch.cuda.synchronize()

    def result(self):
        found = [self.out] + ([self.x.grad] if self.training else [])
        return np.concatenate([a.detach().float().cpu().numpy().ravel() for a in found])


ENGINES = {"ours": Ours, "torch": Torch}


class NoLibrary(Exception):
    """Our own kernels have computed what cuDNN was to."""


def run_engine(engine, mode, *rest):
    *sizes, dtype, training, seconds, result = rest
    made = ENGINES[engine](mode, *map(int, sizes), dtype, bool(int(training)))
    kept, seen = os.dup(2), tempfile.TemporaryFile()
    os.dup2(seen.fileno(), 2)
    try:
        measure(made, float(seconds), result)
    finally:
        os.dup2(kept, 2)
        seen.seek(0)
        said = seen.read().decode(errors="replace")
        sys.stderr.write(said)
    if "without cuDNN" in said:
        raise NoLibrary(said.strip().splitlines()[-1])


def compare(given):
    environment = {"MXNET_SIM_GPUS": "1"} if given.simulated else {}
    failed, budget = False, Budget(given.most_seconds)
    print(f"{'network':38} {'type':8} {'':9} {'ours':>9} {'torch':>9} {'ratio':>6}  sequences/s")
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder) / f"{engine}.npy") for engine in ENGINES]
        for case in SMALL if given.simulated else CASES:
            mode, steps, batch, size, units, layers, directions = case
            name = f"{mode} {steps} x {batch}, {size} -> {layers * directions} x {units}"
            for dtype in ("float32", "float16"):
                for training in (0, 1):
                    job = (*case, dtype, training, given.seconds)
                    ours, why = in_process(budget, sys.executable, __file__, "ours", environment, *job, files[0])
                    peer, reason = None, None
                    if given.peer_python:
                        peer, reason = in_process(budget, given.peer_python, __file__, "torch", {}, *job, files[1])
                    note = why or reason or ""
                    if ours and peer:
                        note = difference(*map(np.load, files))
                    failed |= (ours is None and NO_TIME not in note) or note.startswith("differs")
                    rate = lambda seconds: f"{batch / seconds:9.0f}" if seconds else f"{'-':>9}"
                    ratio = f"{peer / ours:6.2f}" if ours and peer else f"{'-':>6}"
                    kind = "gradients" if training else "outputs"
                    print(f"{name:38} {dtype:8} {kind:9} {rate(ours)} {rate(peer)} {ratio}  {note}", flush=True)
    return failed


def main():
    if sys.argv[1:2] == ["--engine"]:
        return run_engine(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer-python", help="an interpreter that has PyTorch; without it ours runs alone")
    parser.add_argument("--seconds", type=float, default=1.0, help="of measuring, for each cell and engine")
    parser.add_argument("--most-seconds", type=float, help="for all of it: cells that find none left are not run")
    parser.add_argument("--simulated", action="store_true")
    return sys.exit(compare(parser.parse_args()))


if __name__ == "__main__":
    main()
