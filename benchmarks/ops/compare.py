# SPDX-License-Identifier: Apache-2.0
"""Operators side by side with NumPy and PyTorch, whichever can be imported, on one and two threads.

Usage: python benchmarks/ops/compare.py path/to/libmxnet.so [--only TEXT] [--threads 1,2] [--rounds 3] [--seconds 0.1] [--worst N] [--markdown]
Columns: case, our time, GB read and written in a second, their share of what a plain copy of arrays too large for the caches
reaches, each peer's time, and the ratio to the faster peer (above 1: we are faster). Each round measures a case in arrays of
its own, in turns with the peers, and after it the copy where the case waits for memory (`*`). Shown are the shortest times, the
best share and the middle one of the rounds' ratios. A case counts as slower (`<`) only where all rounds say so.
Each number of threads is a process of its own, in which OpenBLAS (NumPy's and ours) chooses its loops by the processor.
Operators run on the caller's thread, as the peers' do (--engine ThreadedEnginePerDevice shows what handing them over costs).
"""
import argparse
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "..", "tests", "python")]


PEERS = ("NumPy", "PyTorch")
# Bytes of the arrays that the copy reads and writes, and the share of its rate that what waits for memory is to reach.
COPIED = 2 * 64 << 20
SHARE = 0.85
# Threads of OpenMP and of OpenBLAS spin after each call (OpenBLAS's for 2^26 cycles, 26 ms at 2.6 GHz), those of each library in a pool of
# their own: with more of them than there are cores, a library would be measured against what another has left running.
POOLS_SLEEP = 0.05


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--only", default="", help="cases whose label has one of these texts, separated by |")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--engine", default="NaiveEngine", help="MXNET_ENGINE_TYPE")
    parser.add_argument("--rounds", type=int, default=3, help="how often a case is measured")
    parser.add_argument("--seconds", type=float, default=0.1, help="time for each function of a case in a round")
    parser.add_argument("--markdown", action="store_true", help="rows of the table in docs/operator_speed.md")
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


def prepared_call(mx, case, inputs, outputs, waits):
    """The call, and the wait for it where another thread may run it, with all arguments converted before."""
    import ctypes as C

    ins = (C.c_void_p * max(1, len(inputs)))(*inputs)
    outs = (C.c_void_p * len(outputs))(*outputs)
    outs_at = C.byref(C.cast(outs, C.POINTER(C.c_void_p)))
    keys = (C.c_char_p * len(case.attrs))(*[key.encode() for key in case.attrs])
    values = (C.c_char_p * len(case.attrs))(*[str(value).encode() for value in case.attrs.values()])
    arguments = (mx.op(case.op), len(inputs), ins, C.byref(C.c_int(len(outputs))), outs_at, len(case.attrs), keys, values)
    invoke, wait, result = mx.lib.MXImperativeInvoke, mx.lib.MXNDArrayWaitToRead, outputs[0]

    def call():
        if invoke(*arguments) != 0 or (waits and wait(result) != 0):
            raise RuntimeError(mx.lib.MXGetLastError().decode())

    return call


class Round:
    """One measurement of a case. It keeps its arrays, so that those of the next round lie elsewhere."""

    def __init__(self, mx, torch, case, options, rest, copy):
        import numpy as np
        from timing import best_of_each

        self.inputs = [mx.array(a) for a in case.inputs]
        self.outputs = [self.inputs[0]] if case.inplace else mx.invoke(case.op, self.inputs, **case.attrs)
        result = mx.numpy(self.outputs[0])
        self.moved = sum(a.nbytes for a in case.inputs) + sum(mx.numpy(o).nbytes for o in self.outputs)

        self.functions = {"ours": prepared_call(mx, case, self.inputs, self.outputs, options.engine != "NaiveEngine")}
        if case.numpy is not None:
            own, out = [a.copy() for a in case.inputs], np.empty_like(result)
            value = case.numpy(*own, out)
            if case.exact is not None:
                value = case.exact(*case.inputs)
            if case.compare:
                check(case, result, value[0] if isinstance(value, (list, tuple)) else value)
            self.functions["NumPy"] = lambda: case.numpy(*own, out)
        if torch is not None and case.torch is not None:
            given = [torch.from_numpy(a.copy()) for a in case.inputs]
            target = torch.from_numpy(np.empty_like(result))
            self.functions["PyTorch"] = lambda: case.torch(*given, target)
        self.times = dict(zip(self.functions, best_of_each(list(self.functions.values()), options.seconds, rest=rest)))
        if case.memory_bound:  # not in turns with the others, whom it would push out of the caches
            self.times["copy"], = best_of_each([copy], 0)

    def free(self, mx, case):
        mx.free(*self.inputs, *([] if case.inplace else self.outputs))

    def ratio(self):
        """What the faster peer takes, in our times; nothing where none takes part."""
        return min((self.times[name] for name in PEERS if name in self.times), default=float("nan")) / self.times["ours"]

    def share(self):
        return self.moved / self.times["ours"] * self.times["copy"] / COPIED if "copy" in self.times else float("nan")


class Line:
    """What the rounds of a case have shown."""

    def __init__(self, case, rounds):
        self.case, self.moved = case, rounds[0].moved
        self.times = {name: min(r.times[name] for r in rounds) for name in rounds[0].times}
        ratios = sorted(r.ratio() for r in rounds)
        self.ratio, self.slower = ratios[len(ratios) // 2], ratios[-1] < 1
        self.share = max(r.share() for r in rounds)

    def markdown(self):
        times = [f"{self.times[name]:.1f}" if name in self.times else "" for name in ("ours", *PEERS)]
        ratio = f"{self.ratio:.2f}"
        return " ".join(["|", *(f"{text} |" for text in (self.case.label, *times, ratio if self.slower else f"**{ratio}**"))])

    def __str__(self):
        mine = self.times["ours"]
        share = f"*{self.share:5.0%}" if self.case.memory_bound else " " * 6
        peers = " ".join(f"{self.times[name]:10.1f}" if name in self.times else " " * 10 for name in PEERS)
        return (f"{self.case.label:40s} {mine:10.1f} {self.moved / mine / 1e3:7.1f} {share} {peers} "
                f"{self.ratio:6.2f}x{' <' if self.slower else ''}")


def run(options, threads):
    """All cases in this process; prints a line each."""
    import cases
    from op_calls import Library
    from timing import copier

    torch = import_torch(threads)
    mx = Library(options.library)
    copy = copier(threads, COPIED // 2 // threads)
    shown = Line.markdown if options.markdown else str
    print(f"\n{threads} thread(s)")
    if options.markdown:
        print("\n| call | us | NumPy | PyTorch | ratio |\n|---|---|---|---|---|")
    else:
        print(f"{'case':40s} {'us':>10s} {'GB/s':>7s} {'copy':>6s} {'NumPy us':>10s} {'PyTorch us':>10s} {'ratio':>7s}")
    lines = []
    for case in cases.all_cases(torch):
        if not any(text in case.label for text in options.only.split("|")):
            continue
        rest = POOLS_SLEEP if threads > 1 else 0.0
        rounds = [Round(mx, torch, case, options, rest, copy) for _ in range(options.rounds)]
        lines.append(Line(case, rounds))
        for each in rounds:
            each.free(mx, case)
        if not options.worst:
            print(shown(lines[-1]), flush=True)
    for line in sorted(lines, key=lambda line: line.ratio)[: options.worst]:
        print(shown(line))
    ratios = [line.ratio for line in lines if line.ratio == line.ratio]
    mean = statistics.geometric_mean(ratios) if ratios else float("nan")
    copies = [line.times["copy"] for line in lines if line.case.memory_bound]
    short = [line.case.label for line in lines if line.share < SHARE]
    print(f"{len(lines)} cases, {sum(line.slower for line in lines)} slower than the faster peer; "
          f"the geometric mean of {len(ratios)} ratios is {mean:.2f}")
    if copies:
        print(f"{len(copies)} wait for memory, of which a copy moves up to {COPIED / min(copies) / 1e3:.1f} GB/s; "
              f"{len(short)} move less than {SHARE:.0%} of what it did meanwhile: {'; '.join(short)}", flush=True)


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
        environment.pop("OPENBLAS_CORETYPE", None)  # NumPy's products are to be as fast as they can
        environment.pop("OMP_WAIT_POLICY", None)  # where threads sleep between calls, two take as long as one, everybody's
        code = subprocess.run([sys.executable, *sys.argv], env=environment, check=False).returncode or code
    return code


if __name__ == "__main__":
    sys.exit(main())
