#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Images a second on a GPU, side by side with PyTorch, compiled and with channels last: inference and training (SGD with
momentum) of the networks of benchmarks/score in half precision.

    networks_on_gpu.py [--peer-python /path/to/python] [--networks resnet50 vgg16] [--batches 1 32 256] [--seconds 2]

Each engine runs in a process of its own, from the same weights; what both compute is compared first. CUDA graphs are on for
both. With --warm-peer, PyTorch alone runs each cell once, so that its compiler finds its own work in its cache later. With
--simulated, ours alone runs small images on a simulated GPU: a test of this program, whose times mean nothing."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SCORE = Path(__file__).resolve().parent.parent / "score"
sys.path.append(str(SCORE))
SGD = {"learning_rate": 0.01, "momentum": 0.9}
CLASSES = 1000
LEAST_CALLS = 3
NO_TIME = "no time left"


def batch_of(batch, size, dtype):
    rng = np.random.default_rng(7)
    images = rng.uniform(-1, 1, (batch, 3, size, size))
    # NumPy has no bfloat16: each engine rounds by itself.
    return images.astype("float32" if dtype == "bfloat16" else dtype), rng.integers(0, CLASSES, batch)


class Ours:
    """Through Module, as scripts of 1.x do."""

    def __init__(self, prefix, images, labels, dtype, training):
        import mxnet as mx

        self.mx = mx
        symbol, args, states = mx.model.load_checkpoint(prefix, 0)
        symbol = mx.sym.Cast(symbol, dtype="float32")
        label_names = ["softmax_label"] if training else []
        if training:
            symbol = mx.sym.SoftmaxOutput(symbol, name="softmax", normalization="batch")
        self.module = mx.mod.Module(symbol, context=mx.gpu(0), label_names=label_names)
        data = [mx.io.DataDesc("data", images.shape, dtype)]
        label = [mx.io.DataDesc("softmax_label", labels.shape, "float32")] if training else None
        self.module.bind(data, label, for_training=training)
        self.module.set_params(args, states)
        if training:
            options = {**SGD, "rescale_grad": 1.0, "multi_precision": True}
            self.module.init_optimizer(kvstore=None, optimizer="sgd", optimizer_params=options)
        given = [mx.nd.array(labels.astype("float32"), ctx=mx.gpu(0))] if training else []
        self.batch = mx.io.DataBatch([mx.nd.array(images, ctx=mx.gpu(0), dtype=dtype)], given)
        self.training = training

    def run(self):
        if self.training:
            self.module.forward_backward(self.batch)
            self.module.update()
        else:
            self.module.forward(self.batch, is_train=False)

    def wait(self):
        self.mx.nd.waitall()

    def result(self):
        return self.module.get_outputs()[0].asnumpy()


class Torch:
    def __init__(self, prefix, images, labels, dtype, training):
        import torch
        from torch_network import TorchNetwork

        self.torch, self.training, self.dtype = torch, training, getattr(torch, dtype)
        torch.backends.cudnn.benchmark = True
        net = TorchNetwork(prefix).cuda().to(memory_format=torch.channels_last)
        self.images = torch.from_numpy(images).cuda().to(memory_format=torch.channels_last)
        self.labels = torch.from_numpy(labels).cuda()
        if training:
            net.train()
            self.optimizer = torch.optim.SGD(net.parameters(), SGD["learning_rate"], SGD["momentum"])
            self.scaler = torch.amp.GradScaler("cuda", enabled=dtype == "float16")
            self.net = torch.compile(net)
        else:
            self.net = torch.compile(net.half().eval(), mode="reduce-overhead")

    def run(self):
        torch = self.torch
        if not self.training:
            with torch.inference_mode():
                self.out = self.net(self.images)
            return
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", self.dtype):
            logits = self.net(self.images)
            loss = torch.nn.functional.cross_entropy(logits, self.labels)
        self.out = torch.softmax(logits.detach().float(), 1)
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def wait(self):
        self.torch.cuda.synchronize()

    def result(self):
        return self.out.float().cpu().numpy()


ENGINES = {"ours": Ours, "torch": Torch}


def measure(made, seconds, result):
    """In the engine's own process: saves what the first call computes, prints the shortest time of a call."""
    made.run()
    np.save(result, made.result())
    for _ in range(LEAST_CALLS):  # engines are chosen, graphs recorded
        made.run()
    made.wait()
    begin = time.perf_counter()
    made.run()
    made.wait()
    calls = max(LEAST_CALLS, int(0.1 / (time.perf_counter() - begin)))
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end or best == float("inf"):
        begin = time.perf_counter()
        for _ in range(calls):
            made.run()
        made.wait()
        best = min(best, (time.perf_counter() - begin) / calls)
    print(json.dumps(best))


class Budget:
    """Seconds for all that a program measures; what finds none left is not run, and says so."""

    LEAST = 20  # of a process that starts, loads its libraries and compiles

    def __init__(self, seconds):
        self.end = time.monotonic() + seconds if seconds else None

    def left(self):
        """For the next process; None: as long as it takes."""
        return None if self.end is None else self.end - time.monotonic()


def in_process(budget, python, program, engine, environment, *arguments):
    """Seconds of a call, or None and the reason."""
    left = budget.left()
    if left is not None and left < Budget.LEAST:
        return None, NO_TIME
    command = [python, program, "--engine", engine, *map(str, arguments)]
    try:
        done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=left)
    except subprocess.TimeoutExpired:
        return None, f"{engine}: {NO_TIME}"
    if done.returncode == 0:
        return float(done.stdout.splitlines()[-1]), None
    return None, (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]


def compare(given):
    from networks import save_network  # imports mxnet

    environment = {"MXNET_SIM_GPUS": "1"} if given.simulated else {"MXNET_ENABLE_CUDA_GRAPHS": "1"}
    failed, budget = False, Budget(given.most_seconds)
    print(f"{'network':14} {'':9} {'type':8} {'batch':>5} {'ours':>9} {'torch':>9} {'ratio':>6}  images/s")
    with tempfile.TemporaryDirectory() as folder:
        for name in given.networks:
            prefix, size = save_network(name, Path(folder), 32 if given.simulated else None)
            for training, dtype, batch in cells(given):
                files = [str(Path(folder) / f"{engine}.npy") for engine in ENGINES]
                job = (prefix, batch, size, dtype, int(training), given.seconds)
                ours = peer = why = None
                if not given.warm_peer:
                    ours, why = in_process(budget, sys.executable, __file__, "ours", environment, *job, files[0])
                if given.peer_python:
                    peer, reason = in_process(budget, given.peer_python, __file__, "torch", {}, *job, files[1])
                    why = why or reason
                rate = lambda seconds: f"{batch / seconds:9.0f}" if seconds else f"{'-':>9}"
                ratio = f"{peer / ours:6.2f}" if ours and peer else f"{'-':>6}"
                note = why or ""
                if ours and peer:
                    note = difference(*map(np.load, files), dtype)
                failed |= (ours is None and not given.warm_peer and NO_TIME not in note) or note.startswith("differs")
                print(f"{name:14} {'training' if training else 'inference':9} {dtype:8} {batch:5} {rate(ours)} {rate(peer)} {ratio}  {note}",
                      flush=True)
    return failed


def cells(given):
    """What is run of each network: whether it is training, the type, the batch."""
    if given.simulated:  # the CPU's kernels of the simulator are slow in halves
        inference_type, training_types = "float32", ["float32"]
    else:
        inference_type, training_types = "float16", given.training_types
    yield from ((False, inference_type, batch) for batch in given.batches)
    yield from ((True, dtype, batch) for dtype in training_types for batch in given.training_batches or given.batches)


def difference(ours, theirs, dtype="float16"):
    """Half precision on both sides: the largest error, of the largest value. bfloat16 has three bits less than float16."""
    error = np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-6)
    return "" if error < (0.2 if dtype == "bfloat16" else 0.05) else f"differs by {error:.3f} of the largest value"


def main():
    if sys.argv[1:2] == ["--engine"]:
        engine, prefix, batch, size, dtype, training, seconds, result = sys.argv[2:]
        made = ENGINES[engine](prefix, *batch_of(int(batch), int(size), dtype), dtype, bool(int(training)))
        return measure(made, float(seconds), result)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer-python", help="an interpreter that has PyTorch; without it ours runs alone")
    parser.add_argument("--networks", nargs="+", default=["resnet50", "vgg16", "inception_v3"])
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 32, 256])
    parser.add_argument("--training-batches", nargs="+", type=int, help="default: as for inference")
    parser.add_argument("--training-types", nargs="+", default=["float16"])
    parser.add_argument("--seconds", type=float, default=1.0, help="of measuring, for each cell and engine")
    parser.add_argument("--warm-peer", action="store_true")
    parser.add_argument("--most-seconds", type=float, help="for all of it: cells that find none left are not run")
    parser.add_argument("--simulated", action="store_true")
    given = parser.parse_args()
    if given.warm_peer:
        if not given.peer_python:
            parser.error("--warm-peer wants --peer-python")
        given.seconds = 0.0
    return sys.exit(compare(given))


if __name__ == "__main__":
    main()
