#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Images a second of one network, side by side with the peers that are installed: score.py LIB PREFIX [--batch 1,8]
reads PREFIX-symbol.json and PREFIX-0000.params. Every engine gets the same weights and the same images, its result is
compared with ours, and engines take turns in processes of their own."""

import argparse
import ctypes
import multiprocessing
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from onnx_model import write_onnx


class Ours:
    """The C predict API of the library."""

    def __init__(self, lib, prefix, images):
        self.lib = ctypes.CDLL(lib)
        self.lib.MXGetLastError.restype = ctypes.c_char_p
        symbol, params = Path(prefix + "-symbol.json").read_bytes(), Path(prefix + "-0000.params").read_bytes()
        self.handle = ctypes.c_void_p()
        self.call("MXPredCreate", symbol, params, len(params), 1, 0, 1, (ctypes.c_char_p * 1)(b"data"),
                  (ctypes.c_uint * 2)(0, 4), (ctypes.c_uint * 4)(*images.shape), ctypes.byref(self.handle))
        data, rank = ctypes.POINTER(ctypes.c_uint)(), ctypes.c_uint()
        self.call("MXPredGetOutputShape", self.handle, 0, ctypes.byref(data), ctypes.byref(rank))
        self.result = np.empty(data[: rank.value], "float32")
        self.images = images

    def call(self, name, *args):
        if getattr(self.lib, name)(*args):
            raise RuntimeError(self.lib.MXGetLastError().decode())

    def __call__(self):
        self.call("MXPredSetInput", self.handle, b"data", self.images.ctypes.data_as(ctypes.c_void_p), self.images.size)
        self.call("MXPredForward", self.handle)
        self.call("MXPredGetOutput", self.handle, 0, self.result.ctypes.data_as(ctypes.c_void_p), self.result.size)
        return self.result


def onnxruntime_engine(path, images, threads):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, {"data": images})[0]


def openvino_engine(path, images, threads):
    import openvino

    core = openvino.Core()
    settings = {"INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads}
    request = core.compile_model(path, "CPU", settings).create_infer_request()
    return lambda: request.infer({"data": images})[0]


def measure(make, seconds):
    """Runs in a process of its own: thread pools of several engines in one would spin against each other."""
    run = make()
    result = np.array(run())
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 3:
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return result, times


def child(pipe, name, args, images, path):
    make = {
        "ours": lambda: Ours(args.lib, args.prefix, images),
        "onnxruntime": lambda: onnxruntime_engine(path, images, args.threads),
        "openvino": lambda: openvino_engine(path, images, args.threads),
    }[name]
    try:
        pipe.send(measure(make, args.seconds))
    except ImportError:
        pipe.send(None)


def in_a_process(*args):
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=child, args=(there, *args))
    process.start()
    there.close()
    result = here.recv()
    process.join()
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lib")
    parser.add_argument("prefix")
    parser.add_argument("--batch", default="1,8")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each engine in each turn")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    rng = np.random.default_rng(7)
    for batch in map(int, args.batch.split(",")):
        images = rng.uniform(-1, 1, (batch, 3, args.size, args.size)).astype("float32")
        times, results = {}, {}
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/model.onnx"
            write_onnx(args.prefix + "-symbol.json", args.prefix + "-0000.params", images.shape, path)
            for name in ("ours", "onnxruntime", "openvino") * args.turns:
                measured = in_a_process(name, args, images, path)
                if measured is not None:
                    results[name] = measured[0]
                    times.setdefault(name, []).extend(measured[1])
        expected = results["ours"]
        for name, result in results.items():
            error = np.abs(result.reshape(expected.shape) - expected).max() / np.abs(expected).max()
            assert error < 1e-3, f"{name} computes something else: {error}"
        rates = {name: batch / statistics.median(all_times) for name, all_times in times.items()}
        best = max((rate for name, rate in rates.items() if name != "ours"), default=float("nan"))
        text = "  ".join(f"{name} {rate:.1f}" for name, rate in rates.items())
        print(f"{Path(args.prefix).name} batch {batch}: {text} images/s, ratio to the best peer "
              f"{rates['ours'] / best:.2f}", flush=True)


if __name__ == "__main__":
    main()
