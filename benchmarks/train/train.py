#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training steps a second side by side with the 1.9.1 release and PyTorch: forward, backward and an update by SGD with
momentum of a network of benchmarks/score, on one random batch.

    train.py --peer-python /path/to/python --reference-python /path/to/python [--networks resnet50] [--batches 32]

Ours and the release run the very same scripts (Module, and Gluon as `ours_gluon` and `reference_gluon`). Every engine starts from
the same weights, in a process of its own. What its first forward pass gives is compared with ours; that step, which touches all
memory for the first time, is not timed. Cells are kept in FOLDER/training.json as score.py keeps its.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
SCORE = HERE.parent / "score"
sys.path += [str(SCORE), str(HERE.parent)]
SGD = {"learning_rate": 0.01, "momentum": 0.9, "wd": 1e-4}
LEAST_STEPS = 3


def batch_of(batch, size):
    rng = np.random.default_rng(7)
    return rng.uniform(-1, 1, (batch, 3, size, size)).astype("float32"), rng.integers(0, 1000, batch).astype("float32")


def module_step(prefix, images, labels):
    """Ours or the release's: one step, which returns the probabilities of the forward pass."""
    import mxnet as mx

    symbol, args, states = mx.model.load_checkpoint(prefix, 0)
    symbol = mx.sym.SoftmaxOutput(symbol, name="softmax", normalization="batch")
    module = mx.mod.Module(symbol, context=mx.cpu())
    module.bind(data_shapes=[("data", images.shape)], label_shapes=[("softmax_label", labels.shape)])
    module.set_params(args, states)
    module.init_optimizer(kvstore=None, optimizer="sgd", optimizer_params={**SGD, "rescale_grad": 1.0})
    batch = mx.io.DataBatch([mx.nd.array(images)], [mx.nd.array(labels)])

    def step():
        module.forward_backward(batch)
        module.update()
        probabilities = module.get_outputs()[0].asnumpy()
        mx.nd.waitall()
        return probabilities

    return step


def gluon_step(prefix, images, labels, dtype="float32"):
    """The same by a hybridized block and a Trainer, cast to this type; updates are of weights in float32."""
    import mxnet as mx

    from engines import cast_block

    network = cast_block(prefix, dtype)
    trainer = mx.gluon.Trainer(network.collect_params(), "sgd", {**SGD, "multi_precision": dtype != "float32"})
    loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    data, target = mx.nd.array(images).astype(dtype), mx.nd.array(labels)

    def step():
        with mx.autograd.record():
            scores = network(data)
            cost = loss(scores, target)
        cost.backward()
        trainer.step(len(labels))
        probabilities = mx.nd.softmax(scores.astype("float32")).asnumpy()
        mx.nd.waitall()
        return probabilities

    return step


def torch_step(prefix, images, labels, compiled=False, bf16=False, autocast=False):
    import torch as pt
    from torch_network import TorchNetwork

    pt.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    network = TorchNetwork(prefix).train()
    if bf16:
        network = network.bfloat16()
    run = pt.compile(network) if compiled else network
    optimizer = pt.optim.SGD(network.parameters(), lr=SGD["learning_rate"], momentum=SGD["momentum"], weight_decay=SGD["wd"])
    data, target = pt.from_numpy(images), pt.from_numpy(labels).long()
    if bf16:
        data = data.bfloat16()

    def step():
        optimizer.zero_grad()
        with pt.autocast("cpu", dtype=pt.bfloat16, enabled=autocast):
            scores = run(data).float()
        pt.nn.functional.cross_entropy(scores, target).backward()
        optimizer.step()
        return pt.softmax(scores, 1).detach().numpy()

    return step


ENGINES = {
    "ours": module_step,
    "ours_gluon": gluon_step,
    "reference": module_step,
    "reference_gluon": gluon_step,
    "torch": torch_step,
    "torch_compiled": lambda *args: torch_step(*args, compiled=True),
    "ours_cast_bf16": lambda *args: gluon_step(*args, dtype="bfloat16"),
    "ours_cast_f16": lambda *args: gluon_step(*args, dtype="float16"),
    "torch_bf16": lambda *args: torch_step(*args, bf16=True),
    "torch_autocast": lambda *args: torch_step(*args, autocast=True),
}


def run_engine(engine, prefix, batch, size, seconds, clock, result):
    """In a process of its own: prints seconds of each step and the peak of memory as JSON."""
    from timing import peak_memory

    step = ENGINES[engine](prefix, *batch_of(int(batch), int(size)))
    np.save(result, step())
    times, end, now = [], time.perf_counter() + float(seconds), getattr(time, clock)
    while time.perf_counter() < end or len(times) < LEAST_STEPS:
        begin = now()
        step()
        times.append(now() - begin)
    print(json.dumps({"seconds": times, "peak": peak_memory()}))


def measure(network, batch, engines, args):
    from score import in_half_type, model_of

    prefix, size = model_of(network, args)
    seconds, peaks, results = {}, {}, {}
    for engine in engines * args.turns:
        whose = engine.partition("_")[0]
        python = {"ours": sys.executable, "reference": args.reference_python}.get(whose, args.peer_python)
        if not python:
            continue
        environment = {**os.environ, "OMP_NUM_THREADS": str(args.threads)}
        if whose != "ours":
            environment.pop("PYTHONPATH", None)
            environment.pop("MXNET_LIBRARY_PATH", None)
        path = Path(args.folder) / f"train_{engine}.npy"
        command = [python, __file__, "--run", engine, prefix, batch, size, args.seconds, args.clock, path]
        done = subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True)
        if done.returncode:
            print(f"{engine}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
            continue
        measured = json.loads(done.stdout.strip().splitlines()[-1])
        results[engine] = np.load(path)
        seconds[engine] = seconds.get(engine, []) + measured["seconds"]
        peaks[engine] = max(peaks.get(engine, 0), measured["peak"])
    expected = results.get("ours", next(iter(results.values())))
    for engine, result in results.items():
        error = np.abs(result - expected).max()
        assert error < (0.1 if in_half_type(engine) else 1e-3), f"{engine} computes something else: {error}"
    return {engine: {"rate": batch / (min(times) if args.clock == "process_time" else statistics.median(times)), "peak": peaks[engine]} for engine, times in seconds.items()}


def show(results, args):
    engines = [name for name in ENGINES if any(name in cell for cell in results.values())]
    print("| network | batch | " + " | ".join(f"{name} (MiB)" for name in engines) + " | to the release | to PyTorch |")
    print("|---" * (len(engines) + 4) + "|")
    for network in args.networks.split(","):
        for batch in args.batches.split(","):
            cell = results.get(f"{network} {batch}", {})
            if not cell:
                continue
            rates = (f"{cell[name]['rate']:.2f} ({cell[name]['peak'] >> 20})" if name in cell else "" for name in engines)
            ratios = (f"{cell['ours']['rate'] / cell[peer]['rate']:.2f}" if peer in cell and "ours" in cell else ""
                      for peer in ("reference", "torch"))
            print(f"| {network} | {batch} | " + " | ".join(rates) + " | " + " | ".join(ratios) + " |")


def main():
    if sys.argv[1:2] == ["--run"]:
        return run_engine(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default="resnet50")
    parser.add_argument("--batches", default="32")
    parser.add_argument("--engines", default="ours,reference,torch", help="of " + ", ".join(ENGINES))
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--reference-python")
    parser.add_argument("--folder", default="build/score")
    parser.add_argument("--size", type=int)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--turns", type=int, default=1, help="of all engines, one process after the other; the median is of all steps")
    parser.add_argument("--clock", choices=("perf_counter", "process_time"), default="perf_counter",
                        help="process_time on a busy machine: processor time of all threads, and of the steps the shortest")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    store = Path(args.folder) / "training.json"
    results = json.loads(store.read_text()) if store.exists() else {}
    for network in args.networks.split(",") if not args.show else ():
        for batch in args.batches.split(","):
            cell = results.setdefault(f"{network} {batch}", {})
            missing = [name for name in args.engines.split(",") if args.again or name not in cell]
            if missing:
                cell.update(measure(network, int(batch), missing, args))
                store.write_text(json.dumps(results, indent=1))
    show(results, args)


if __name__ == "__main__":
    main()
