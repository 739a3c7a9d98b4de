# SPDX-License-Identifier: Apache-2.0
"""Operators side by side with NumPy and PyTorch, whichever can be imported, on one and two threads.

Usage: python benchmarks/ops/compare.py path/to/libmxnet.so [--only TEXT] [--threads 1,2] [--seconds 0.1] [--worst N]
Columns: case, our time, GB read and written in a second and their share of what a plain copy reaches, each peer's time,
and the ratio to the faster peer (above 1: we are faster). Each number of threads is a process of its own. Operators run
on the caller's thread, as the peers' do (--engine ThreadedEnginePerDevice shows what handing them over costs).
"""
import argparse
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "..", "tests", "python")]


# Threads of OpenMP and of OpenBLAS spin after each call (OpenBLAS's for 2^26 cycles, 26 ms at 2.6 GHz), those of each library in a pool of
# their own: with more of them than there are cores, a library would be measured against what another has left running.
POOLS_SLEEP = 0.05


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--only", default="", help="cases whose label has one of these texts, separated by |")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--engine", default="NaiveEngine", help="MXNET_ENGINE_TYPE")
    parser.add_argument("--seconds", type=float, default=0.1, help="time for each function of a case")
    parser.add_argument("--worst", type=int, default=0, help="print only so many cases, the slowest first")
    return parser.parse_args()


def import_torch(threads):
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(threads)
    return torch


def check(case, result, expected):
    """The same numbers as NumPy's, within what the type holds."""
    import numpy as np

    exact = result.dtype.kind in "biu"
    coarse = result.dtype == "float16"
    np.testing.assert_allclose(result.astype("float64"), np.asarray(expected).astype("float64").reshape(result.shape),
                               rtol=0 if exact else 3e-3 if coarse else 2e-4,
                               atol=0 if exact else 1e-2 if coarse else 1e-3, err_msg=case.label)


def prepared_call(mx, case, inputs, outputs):
    """The call and the wait for it, with all arguments converted before."""
    import ctypes as C

    ins = (C.c_void_p * max(1, len(inputs)))(*inputs)
    outs = (C.c_void_p * len(outputs))(*outputs)
    outs_at = C.byref(C.cast(outs, C.POINTER(C.c_void_p)))
    keys = (C.c_char_p * len(case.attrs))(*[key.encode() for key in case.attrs])
    values = (C.c_char_p * len(case.attrs))(*[str(value).encode() for value in case.attrs.values()])
    arguments = (mx.op(case.op), len(inputs), ins, C.byref(C.c_int(len(outputs))), outs_at, len(case.attrs), keys, values)
    invoke, wait, result = mx.lib.MXImperativeInvoke, mx.lib.MXNDArrayWaitToRead, outputs[0]

    def call():
        if invoke(*arguments) != 0 or wait(result) != 0:
            raise RuntimeError(mx.lib.MXGetLastError().decode())

    return call


def measure(mx, torch, case, seconds, rest):
    """Times of ours, NumPy and PyTorch in us (None where a peer takes no part), and the bytes that a call moves."""
    import numpy as np
    from timing import best_of_each

    inputs = [mx.array(a) for a in case.inputs]
    outputs = [inputs[0]] if case.inplace else mx.invoke(case.op, inputs, **case.attrs)
    result = mx.numpy(outputs[0])
    moved = sum(a.nbytes for a in case.inputs) + sum(mx.numpy(o).nbytes for o in outputs)

    functions = {"ours": prepared_call(mx, case, inputs, outputs)}
    if case.numpy is not None:
        own, out = [a.copy() for a in case.inputs], np.empty_like(result)
        value = case.numpy(*own, out)
        if case.compare:
            check(case, result, value[0] if isinstance(value, (list, tuple)) else value)
        functions["numpy"] = lambda: case.numpy(*own, out)
    if torch is not None and case.torch is not None:
        given = [torch.from_numpy(a.copy()) for a in case.inputs]
        target = torch.from_numpy(np.empty_like(result))
        functions["torch"] = lambda: case.torch(*given, target)
    times = dict(zip(functions, best_of_each(list(functions.values()), seconds, rest=rest)))
    mx.free(*inputs, *([] if case.inplace else outputs))
    return times["ours"], times.get("numpy"), times.get("torch"), moved


def run(options, threads):
    """All cases in this process; prints a line each."""
    import cases
    from op_calls import Library
    from timing import copy_bandwidth

    torch = import_torch(threads)
    mx = Library(options.library)
    bandwidth = copy_bandwidth(threads)
    print(f"\n{threads} thread(s); a copy moves {bandwidth / 1e9:.1f} GB/s")
    print(f"{'case':40s} {'us':>10s} {'GB/s':>7s} {'copy':>5s} {'NumPy us':>10s} {'PyTorch us':>10s} {'ratio':>7s}")
    lines = []
    for case in cases.all_cases(torch):
        if not any(text in case.label for text in options.only.split("|")):
            continue
        mine, *peers, moved = measure(mx, torch, case, options.seconds, POOLS_SLEEP if threads > 1 else 0.0)
        ratio = min((t for t in peers if t is not None), default=float("nan")) / mine
        rate = moved / mine * 1e6
        shown = " ".join(f"{t:10.1f}" if t is not None else " " * 10 for t in peers)
        line = f"{case.label:40s} {mine:10.1f} {rate / 1e9:7.1f} {rate / bandwidth:5.0%} {shown} {ratio:6.2f}x"
        lines.append((ratio, line))
        if not options.worst:
            print(line, flush=True)
    for _, line in sorted(lines)[: options.worst]:
        print(line)
    slower = sum(ratio < 1 for ratio, _ in lines)
    print(f"{len(lines)} cases, {slower} slower than the faster peer", flush=True)


def main():
    options = arguments()
    child = os.environ.get("COMPARE_THREADS")
    if child:
        return run(options, int(child))
    code = 0
    for threads in options.threads.split(","):
        # Libraries read these once, when they are loaded.
        environment = dict(os.environ, COMPARE_THREADS=threads, OMP_NUM_THREADS=threads, OPENBLAS_NUM_THREADS=threads,
                           MXNET_ENGINE_TYPE=options.engine)
        code = subprocess.run([sys.executable, *sys.argv], env=environment, check=False).returncode or code
    return code


if __name__ == "__main__":
    sys.exit(main())
