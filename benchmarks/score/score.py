#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inference of six networks side by side with the peers that are installed: images a second, ratio to the best peer and
peak memory. score.py makes the whole table; --networks, --batches and --engines make parts of it.

    score.py --peer-python /path/to/python --reference-python /path/to/python --folder /tmp/score

Every engine gets the same weights and images, in a process of its own, and what it computes is compared with ours. Cells
are kept in FOLDER/results.json and not measured again, so that a table can be made in pieces: batch by batch in the order
given, so that `--batches 1,32 --minutes 9` makes those that matter most and a call without --minutes the rest. --again
measures anew, --show only prints. `ours_one_thread` tells what the other threads are worth."""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from engines import ENGINES, MODULES

HERE = Path(__file__).parent
NETWORKS = ("alexnet", "vgg16", "inception_bn", "inception_v3", "resnet50", "resnet152")
DEFAULT_ENGINES = ("ours", "reference", "onnxruntime", "openvino", "torch", "torch_compiled")
HALF_TYPES = ("bf16", "f16", "autocast")
TOLERANCE = 1e-3
TOLERANCE_OF_HALF_TYPES = 0.1


def in_half_type(engine):
    return engine.endswith(HALF_TYPES)


def library():
    given = os.environ.get("MXNET_LIBRARY_PATH")
    if given:
        return given
    import mxnet as mx

    return mx.libinfo.find_lib_path()[0]


def model_of(name, args):
    """Prefix and height of the images of a network; its files are made once."""
    folder = Path(args.folder)
    folder.mkdir(parents=True, exist_ok=True)
    prefix = folder / name
    size_file = folder / f"{name}.size"
    if not size_file.exists():
        from networks import save_network

        _, size = save_network(name, folder, args.size)
        if args.peer_python:
            subprocess.run([args.peer_python, HERE / "onnx_model.py", prefix, str(size)], check=True)
        size_file.write_text(str(size))
    return str(prefix), int(size_file.read_text())


class Engine:
    """How to start one, if it is installed."""

    def __init__(self, name, args):
        self.name, self.args = name, args
        own = name.startswith("ours")
        self.python = sys.executable if own else args.reference_python if name == "reference" else args.peer_python
        self.threads = 1 if name == "ours_one_thread" else args.threads
        self.environment = {**os.environ, "OMP_NUM_THREADS": str(self.threads)}
        if own:
            self.environment["MXNET_LIBRARY_PATH"] = library()
        else:
            self.environment.pop("PYTHONPATH", None)
            self.environment.pop("MXNET_LIBRARY_PATH", None)

    def installed(self):
        if self.name.startswith("ours"):
            return True
        return bool(self.python) and subprocess.run([self.python, "-c", f"import {MODULES[self.name]}"], env=self.environment,
                                                    capture_output=True).returncode == 0

    def run(self, prefix, batch, size, seconds, result):
        command = [self.python, HERE / "engines.py", self.name, prefix, batch, size, self.threads, seconds, result]
        done = subprocess.run([str(part) for part in command], env=self.environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{self.name}: {done.stderr.strip()[-2000:]}")
        return json.loads(done.stdout.strip().splitlines()[-1])


def measure(network, batch, engines, args):
    """Images a second and peak bytes of each engine; those that compute something else than ours are an error."""
    prefix, size = model_of(network, args)
    times, peaks, results = {}, {}, {}
    for _ in range(args.turns):
        for engine in engines:
            path = Path(args.folder) / f"{engine.name}.npy"
            measured = engine.run(prefix, batch, size, args.seconds, path)
            times.setdefault(engine.name, []).extend(measured["seconds"])
            peaks[engine.name] = measured["peak"]
            results[engine.name] = np.load(path)
    expected = results.get("ours", next(iter(results.values())))
    for name, result in results.items():
        error = np.abs(result.reshape(expected.shape) - expected).max() / np.abs(expected).max()
        bound = TOLERANCE_OF_HALF_TYPES if in_half_type(name) else TOLERANCE
        assert error < bound, f"{name} computes something else: {error}"
    rate = {"median": statistics.median, "best": min}[args.figure]
    return {name: {"rate": batch / rate(all_times), "peak": peaks[name]} for name, all_times in times.items()}


def geometric_mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def show(results, args):
    """The table in Markdown, and what the issue asks for in one line."""
    engines = [name for name in ENGINES if any(name in cell for cell in results.values())]
    print("| network | batch | " + " | ".join(engines) + " | ratio | peak MiB (best peer's) |")
    print("|---" * (len(engines) + 4) + "|")
    ratios = {}
    for network in args.networks.split(","):
        for batch in args.batches.split(","):
            cell = results.get(f"{network} {batch}", {})
            if not cell:
                continue
            peers = {name: one["rate"] for name, one in cell.items() if not name.startswith("ours") and not in_half_type(name)}
            best = max(peers, key=peers.get, default=None)
            memory = f"{cell['ours']['peak'] >> 20}" if "ours" in cell else ""
            if best and "ours" in cell:
                ratios[f"{network} {batch}"] = cell["ours"]["rate"] / peers[best]
                memory += f" ({cell[best]['peak'] >> 20})"
            ratio = ratios.get(f"{network} {batch}")
            rates = (f"{cell[name]['rate']:.1f}" if name in cell else "" for name in engines)
            print(f"| {network} | {batch} | " + " | ".join(rates) + f" | {f'**{ratio:.2f}**' if ratio else ''} | {memory} |")
    if ratios:
        worst = min(ratios, key=ratios.get)
        print(f"\ngeometric mean of {len(ratios)} ratios {geometric_mean(ratios.values()):.2f}, least {ratios[worst]:.2f} ({worst})")
    scaling = [f"{name} {cell['ours']['rate'] / cell['ours_one_thread']['rate']:.2f}" for name, cell in results.items()
               if {"ours", "ours_one_thread"} <= cell.keys()]
    if scaling:
        print(f"\n{args.threads} threads to one: {', '.join(scaling)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--batches", default="1,2,4,8,16,32")
    parser.add_argument("--engines", default=",".join(DEFAULT_ENGINES), help="of " + ", ".join(ENGINES))
    parser.add_argument("--peer-python", default=sys.executable, help="has torch, onnx, onnxruntime, openvino; any may lack")
    parser.add_argument("--reference-python", help="has mxnet 1.9.1")
    parser.add_argument("--folder", default="build/score", help="models and results")
    parser.add_argument("--size", type=int, help="height of the images, for a quick look; otherwise each network's own")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each engine in each turn, at least three calls")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no cell after these; another call goes on")
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--figure", choices=("median", "best"), default="median", help="of the times of the calls")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    store = Path(args.folder) / "results.json"
    results = json.loads(store.read_text()) if store.exists() else {}
    if not args.show:
        engines = [engine for engine in (Engine(name, args) for name in args.engines.split(",")) if engine.installed()]
        end = time.monotonic() + 60 * args.minutes
        for batch in args.batches.split(","):
            for network in args.networks.split(","):
                if time.monotonic() > end:
                    break
                cell = results.setdefault(f"{network} {batch}", {})
                missing = [engine for engine in engines if args.again or engine.name not in cell]
                if missing:
                    cell.update(measure(network, int(batch), missing, args))
                    store.write_text(json.dumps(results, indent=1))
                    rates = "  ".join(f"{name} {one['rate']:.1f}" for name, one in cell.items())
                    print(f"{network} batch {batch}: {rates}", file=sys.stderr, flush=True)
    show(results, args)


if __name__ == "__main__":
    main()
