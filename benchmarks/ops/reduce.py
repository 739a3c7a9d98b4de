# SPDX-License-Identifier: Apache-2.0
"""Reductions and orders against NumPy, side by side in one run.

Usage: OMP_NUM_THREADS=1 python benchmarks/ops/reduce.py path/to/libmxnet.so [part of a label]
Columns: operator, input shape, ours in us, NumPy in us, ratio, and the rate at which ours reads, as a share of NumPy's copy.
"""
import os
import sys
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "python"))
from op_calls import Library  # noqa: E402


def best(function, seconds=0.2):
    function()
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times) * 1e6


def main():
    mx = Library(sys.argv[1])
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    rng = np.random.default_rng(0)

    def case(name, array, peer, **attrs):
        label = " ".join([name, str(array.dtype), *(f"{k}={v}" for k, v in attrs.items())])
        if only not in label:
            return
        inputs = [mx.array(array)]
        outputs = mx.invoke(name, inputs, **attrs)

        def ours():
            mx.invoke(name, inputs, out=outputs, **attrs)
            mx.call("MXNDArrayWaitAll")

        source, sink = array, np.empty_like(array)
        copied = best(lambda: np.copyto(sink, source))
        mine, theirs = best(ours), best(lambda: peer(array))
        print(f"{label:52s} {str(array.shape):18s} {mine:10.1f} {theirs:10.1f} {theirs / mine:6.2f}x {copied / mine:6.0%}", flush=True)
        mx.free(*inputs, *outputs)

    def make(dtype, *shape):
        return (rng.normal(size=shape) * 50).astype(dtype)

    for dtype in ("float32", "float64", "int32", "uint8", "float16"):
        case("_np_sum", make(dtype, 4000, 2500), np.sum)
        case("_np_sum", make(dtype, 4000, 2500), lambda a: a.sum(axis=1), axis=1)
        case("_np_sum", make(dtype, 4000, 2500), lambda a: a.sum(axis=0), axis=0)
    case("_np_sum", make("float32", 100, 100), np.sum)
    case("_np_sum", make("float32", 8), np.sum)
    case("_np_sum", make("float32", 1000000, 3), lambda a: a.sum(axis=1), axis=1)
    case("_np_sum", make("float32", 1000000, 3), lambda a: a.sum(axis=0), axis=0)
    case("_np_sum", make("float32", 32, 64, 56, 56), lambda a: a.sum(axis=(0, 2, 3)), axis=(0, 2, 3))
    case("_np_sum", make("float32", 200, 200, 200), lambda a: a.sum(axis=1), axis=1)
    case("_npi_mean", make("float32", 4000, 2500), lambda a: a.mean(axis=1), axis=1)
    case("_np_max", make("float32", 4000, 2500), lambda a: a.max(axis=1), axis=1)
    case("_np_max", make("float32", 4000, 2500), lambda a: a.max(axis=0), axis=0)
    case("_np_prod", make("float32", 4000, 2500), lambda a: a.prod(axis=1), axis=1)
    case("norm", make("float32", 4000, 2500), lambda a: np.linalg.norm(a.ravel()))
    case("_npi_var", make("float32", 4000, 2500), lambda a: a.var(axis=1), axis=1)
    case("_npi_argmax", make("float32", 4000, 2500), lambda a: a.argmax(axis=1), axis=1)
    case("_npi_argmax", make("float32", 4000, 2500), lambda a: a.argmax(axis=0), axis=0)
    case("_npi_argmax", make("int32", 4000, 2500), lambda a: a.argmax(axis=1), axis=1)
    case("_np_cumsum", make("float32", 1000, 2500), lambda a: a.cumsum(axis=1), axis=1)
    case("_np_cumsum", make("float32", 1000, 2500), lambda a: a.cumsum(axis=0), axis=0)
    case("_npi_diff", make("float32", 1000, 2500), lambda a: np.diff(a, axis=1), axis=1)
    case("all_finite", make("float32", 4000, 2500), lambda a: np.isfinite(a).all())
    for dtype in ("float32", "float64", "int32", "int64"):
        case("sort", make(dtype, 1000000), np.sort)
        case("sort", make(dtype, 1000, 1000), lambda a: np.sort(a, axis=1))
        case("argsort", make(dtype, 1000000), np.argsort, dtype="int64")
    case("sort", make("float32", 10000, 100), lambda a: np.sort(a, axis=1))
    case("sort", make("float32", 1000, 1000), lambda a: np.sort(a, axis=0), axis=0)
    case("argsort", make("float32", 10000, 100), lambda a: np.argsort(a, axis=1), dtype="int64")
    case("topk", make("float32", 1000000), lambda a: np.argpartition(-a, 10)[:10], k=10)
    case("topk", make("float32", 1000, 10000), lambda a: np.argpartition(-a, 100, axis=1)[:, :100], k=100)


if __name__ == "__main__":
    main()
