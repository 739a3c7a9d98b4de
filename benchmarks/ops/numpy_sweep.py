# SPDX-License-Identifier: Apache-2.0
"""Every function of mx.np, mx.np.linalg and mx.np.random that NumPy has too, beside NumPy's, in large and in small arrays of each type.

    python benchmarks/ops/numpy_sweep.py [--only NAME,NAME] [--types float32,int64] [--small | --large] [--below 1] [--json FILE]

One thread in this process, calls at once (NaiveEngine), least processor time of several turns of both libraries. Printed are the calls
whose ratio NumPy / mx.np is below --below, the slowest first, and what mx.np refuses although NumPy takes it. Functions without an
operator run in NumPy, on copies: they are counted apart. `numpy_calls.py` lists the calls.
"""
import argparse
import gc
import json
import logging
import os
import sys
import time
import warnings

os.environ.update(MXNET_ENGINE_TYPE="NaiveEngine", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
os.environ.pop("OPENBLAS_CORETYPE", None)  # NumPy's products are to be as fast as they can

import numpy as onp

import numpy_calls
from mxnet import np, npx

TYPES = ("float32", "float64", "int64", "int32", "bool", "float16")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="functions, separated by commas")
    parser.add_argument("--types", default=",".join(TYPES))
    parser.add_argument("--small", action="store_true", help="arrays of 8 x 8 alone")
    parser.add_argument("--large", action="store_true", help="arrays of 512 x 1024 alone")
    parser.add_argument("--below", type=float, default=1.0, help="print ratios below this")
    parser.add_argument("--seconds", type=float, default=0.03, help="time for a call, in each library")
    parser.add_argument("--json", help="write all rows here")
    return parser.parse_args()


def repeats_of(call):
    """How often a call fills 50 us, so that the clock does not show. None if it fails."""
    try:
        call()
        start = time.thread_time()
        call()
        return max(1, int(50e-6 / max(time.thread_time() - start, 1e-7)))
    except Exception:  # noqa: BLE001: whatever a library refuses, in whatever words
        return None


def least_times(calls, repeats, seconds):
    """The least processor time of a call of each, in microseconds; they take turns."""
    least, end, turns = [float("inf")] * len(calls), time.thread_time() + seconds * len(calls), 0
    while turns < 3 or time.thread_time() < end:
        for i, call in enumerate(calls):
            if repeats[i] == 1:
                call()  # its memory comes back to the caches, out of which the other has pushed it
            start = time.thread_time()
            for _ in range(repeats[i]):
                call()
            taken = time.thread_time() - start
            if taken > 0:  # the system's account of a thread sometimes stands still when it changes its core
                least[i] = min(least[i], taken / repeats[i])
        turns += 1
    return [1e6 * value for value in least]


def compiled(text, module, given):
    """A call as a function without arguments, whose names are its own."""
    names = {"np": module, **given}
    return eval(f"lambda {', '.join(f'{name}={name}' for name in names)}: {text}", names)  # noqa: S307: our own table


def measure(label, text, dtype, large, seconds):
    theirs = numpy_calls.inputs(dtype, large)
    ours = {name: np.array(value) if isinstance(value, onp.ndarray) else value for name, value in theirs.items()}
    calls = compiled(text, np, ours), compiled(text, onp, theirs)
    repeats = [repeats_of(call) for call in calls]
    row = {"name": label, "call": text, "type": dtype, "large": large}
    if repeats[1] is None:
        return None  # of no such type
    if repeats[0] is None:
        return {**row, "refused": True}
    mine, other = least_times(calls, repeats, seconds)
    return {**row, "us": mine, "numpy": other, "ratio": other / mine}


def main():
    options = arguments()
    npx.set_np()
    warnings.simplefilter("ignore")
    onp.seterr(all="ignore")
    logging.disable(logging.WARNING)
    gc.disable()
    missing = numpy_calls.missing(np)
    if missing:
        sys.exit(f"numpy_calls.py says nothing of {', '.join(missing)}")
    chosen = set(options.only.split(",")) - {""}
    rows = []
    for label, text in numpy_calls.calls():
        if chosen and label not in chosen:
            continue
        for dtype in options.types.split(","):
            for large in (True, False):
                if not (options.small and large or options.large and not large):
                    rows.append(measure(label, text, dtype, large, options.seconds))
    rows = [row for row in rows if row]
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=0)
    report(rows, options.below)


def report(rows, below):
    fallback = {name for name in np.fallback.__all__ if name not in np.multiarray.arrays.names}
    fallback |= {f"linalg.{name}" for name in np.fallback_linalg.__all__}
    refused = [row for row in rows if "refused" in row]
    for title, own in (("with an operator", True), ("that run in NumPy", False)):
        for large in (True, False):
            part = sorted((row for row in rows if "us" in row and row["large"] == large and (row["name"] not in fallback) == own),
                          key=lambda row: row["ratio"])
            if not part:
                continue
            slower = [row for row in part if row["ratio"] < below]
            print(f"\n{'512 x 1024' if large else '8 x 8'}, functions {title}: {len(part)} calls of {len({row['name'] for row in part})}, "
                  f"{len(slower)} below {below:g}, middle ratio {part[len(part) // 2]['ratio']:.2f}")
            for row in slower if own else slower[:10]:
                print(f"{row['ratio']:7.2f} {row['us']:10.1f} us {row['numpy']:10.1f}  {row['type']:8s} {row['call']}")
    if refused:
        print("\nrefused here:", "; ".join(sorted({f"{row['call']} of {row['type']}" for row in refused})))


if __name__ == "__main__":
    main()
