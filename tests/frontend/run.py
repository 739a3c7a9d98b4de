# SPDX-License-Identifier: Apache-2.0
"""The reference's own front end on our library, and our own package: every program of programs/ runs
with the wheel's library, with ours below the wheel's package, and with ours alone; all must give the same.

    tests/frontend/run.py --lib build/release/src/libmxnet.so [--package build/release/python]
                          [--only NAME] [-v]

Programs in C and C++ that were linked with the wheel's library run with ours (relink.py).

With --package the interpreter that runs this file runs the programs on our own package, too, and
files of every kind go from each package to the other (exchange.py).

The wheel is installed into build/frontend-venv on the first run; where it cannot be (it needs
Python 3.7 to 3.11 and x86-64) the run says so and ends with 0.
"""
import argparse
import math
import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sys

import registry
import relink
import saturating
import uncalled

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
VENV = ROOT / "build" / "frontend-venv"
WHEEL = ["mxnet==1.9.1", "numpy==1.23.5"]
SECONDS = 400  # for all programs on one library; a process that hangs is an error

# Calls that raise with the reference's package are expected to do so of the same package on our library,
# except in sweeps of calls without sense; our own package may know better.
SWEEP_RAISES, ANY_RAISES = re.compile("raises$"), re.compile("raises")

# Programs in which our own package differs from the wheel's, and why.
OWN_WAYS = {
    "arrays.creation": "an array of one number has the shape (1,)",
    "failing.failures_of_binding": "it is an error of the library like others, not a RuntimeError that holds its text",
    "extras.loops_in_networks": "names of hidden nodes are counted otherwise",
    "numpy.protocol": "numpy.asarray gives numbers, not arrays of objects",
    "symbols.json": "mx.sym.fromjson is there",
    "symbols.monitors": "names come as text",
    "nodes.losses": "pred - label, a constant weight behind the mean, and HuberLoss of rho 1 is smooth_l1",
    "signatures.array_operators_of_any_number": "their parameters are shown, which the release hides in **kwargs",
    "signatures.symbol_operators_of_any_number": "their parameters are shown, which the release hides in **kwargs",
    "sweeps.operators_on_arrays": "helpers of indexing are not there, and no array is a type to cast to",
    "sweeps.operators_on_sparse_arrays": "retain without rows to keep is refused",
}

# What decides how something is computed, and nothing of what. The machine of a test has few cores, those
# of users many.
SETTINGS = (
    {"OMP_NUM_THREADS": "7", "MXNET_CPU_WORKER_NTHREADS": "5", "MXNET_CPU_PARALLEL_SIZE": "0"},
    {"OMP_NUM_THREADS": "1", "MXNET_ENGINE_TYPE": "NaiveEngine", "MXNET_ONEDNN_ENABLED": "0", "MXNET_USE_FUSION": "0",
     "MXNET_CPU_MEM_POOL_TYPE": "Unpooled"},
    {"OMP_NUM_THREADS": "3", "MXNET_ENGINE_TYPE": "ThreadedEngine", "MXNET_MEMORY_OPT": "1", "MXNET_ONEDNN_CACHE_NUM": "1",
     "MXNET_BACKWARD_MIRROR_BUDGET": "1", "MXNET_EXEC_NUM_TEMP": "4", "MXNET_ENGINE_RUN_AHEAD_BYTES": "0"},
    {"MXNET_EXEC_BULK_EXEC_TRAIN": "0", "MXNET_EXEC_BULK_EXEC_INFERENCE": "0", "MXNET_EXEC_ENABLE_INPLACE": "0",
     "MXNET_ELIMINATE_COMMON_EXPR": "0", "MXNET_ONEDNN_WINOGRAD": "off", "MXNET_OPTIMIZER_AGGREGATION_SIZE": "1",
     "MXNET_KVSTORE_BIGARRAY_BOUND": "10", "MXNET_CPU_MEM_POOL_TYPE": "Round"},
)


def environment():
    """The interpreter with the wheel, or a reason why there is none."""
    python = VENV / "bin" / "python"
    if (VENV / "ready").exists():
        return python, ""
    if not (3, 7) <= sys.version_info[:2] <= (3, 11):
        return None, f"the wheel needs Python 3.7 to 3.11, this is {sys.version.split()[0]}"
    steps = [[sys.executable, "-m", "venv", str(VENV)],
             [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *WHEEL],
             [str(python), "-c", "import mxnet"]]
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True)
        if done.returncode != 0:
            return None, f"{' '.join(step[:4])} failed: {done.stderr.strip()[-300:]}"
    (VENV / "ready").touch()
    return python, ""


def read(target):
    """What the worker has written so far: results by name, and the process's own record."""
    results = {}
    with open(target, "rb") as file:
        while True:
            try:
                name, result = pickle.load(file)
            except (EOFError, pickle.UnpicklingError):
                return results
            results[name] = result


def environment_of(variables):
    """That of a child process: nothing of MXNet's but these."""
    child = {key: text for key, text in os.environ.items() if not key.startswith("MXNET_")}
    child.update(OMP_NUM_THREADS="2", MXNET_STORAGE_FALLBACK_LOG_VERBOSE="0",
                 MXNET_SUBGRAPH_VERBOSE="0")
    child.pop("PYTHONPATH", None)
    child.update(variables)
    return child


def run(python, target, *wanted, **variables):
    """All programs in an environment of these variables; `wanted`: what else the worker is to record.
    Where a process ends early it is started again, with the program in which it ended; what ends it
    twice has that as its result."""
    child = environment_of(variables)
    names = [item.name for item in registry.load(HERE / "programs")]
    target.unlink(missing_ok=True)
    first, tried = 0, -1
    while True:
        done = subprocess.run([str(python), str(HERE / "worker.py"), str(target), str(first), *wanted],
                              env=child, capture_output=True, text=True, timeout=SECONDS)
        results = read(target) if target.exists() else {}
        if "" in results:
            return results
        output = (done.stdout + done.stderr)[-2000:]
        if not results:
            sys.exit(f"with {variables or 'the library of the wheel'} nothing runs:\n{output}")
        first = len(results)
        if tried == first:
            with open(target, "ab") as file:
                crash = {"crash": f"the process ended with {done.returncode}: {output[-500:]}",
                         "seconds": 0.0}
                file.write(pickle.dumps((names[first], crash)))
            first += 1
        tried = first


def is_array(result):
    """Whether this stands for an array, as the worker writes one."""
    return isinstance(result, dict) and result.keys() == {"array", "stype"}


def differences(ours, theirs, tolerance, np, path="", excused=SWEEP_RAISES):
    """What differs, as texts with the place in the result. Where the reference's text is `excused`
    nothing is expected."""
    if isinstance(theirs, str) and excused.match(theirs):
        return []
    if is_array(theirs) and is_array(ours):
        a, b = ours["array"], theirs["array"]
        if a.shape != b.shape or a.dtype != b.dtype or ours["stype"] != theirs["stype"]:
            return [f"{path}: {a.dtype} {a.shape} {ours['stype']} instead of {b.dtype} {b.shape} "
                    f"{theirs['stype']}"]
        if a.dtype.kind not in "fc":
            return [] if np.array_equal(a, b) else [f"{path}: {a.ravel()[:8]} instead of "
                                                    f"{b.ravel()[:8]}"]
        scale = max(1e-2, float(np.max(np.abs(b[np.isfinite(b)]), initial=0)))
        if np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True):
            return []
        return [f"{path}: {a.ravel()[:6]} instead of {b.ravel()[:6]}"]
    if type(ours) is not type(theirs):
        return [f"{path}: {str(ours)[:200]} instead of {str(theirs)[:200]}"]
    if isinstance(theirs, dict):
        if list(map(str, sorted(ours))) != list(map(str, sorted(theirs))):
            return [f"{path}: keys {sorted(ours)} instead of {sorted(theirs)}"]
        return [text for key in theirs
                for text in differences(ours[key], theirs[key], tolerance, np, f"{path}.{key}", excused)]
    if isinstance(theirs, list):
        if len(ours) != len(theirs):
            return [f"{path}: {len(ours)} items instead of {len(theirs)}"]
        return [text for i, (a, b) in enumerate(zip(ours, theirs))
                for text in differences(a, b, tolerance, np, f"{path}[{i}]", excused)]
    if isinstance(theirs, float):
        same = math.isclose(ours, theirs, rel_tol=tolerance, abs_tol=tolerance) or (
            math.isnan(ours) and math.isnan(theirs))
        return [] if same else [f"{path}: {ours} instead of {theirs}"]
    return [] if ours == theirs else [f"{path}: {str(ours)[:300]!r} instead of {str(theirs)[:300]!r}"]


def compare(ours, theirs, tolerance, np, may_raise, excused=SWEEP_RAISES):
    """What differs. Programs that raise on both sides tell something only where errors are their subject."""
    if "crash" in ours:
        return [ours["crash"]]
    if "crash" in theirs:  # nothing to compare with; ours has ended well
        return []
    if "error" in ours or "error" in theirs:
        if "error" in ours and "error" in theirs:
            return [] if may_raise else [f"both raise: {theirs['error']}"]
        return [f"{ours.get('error', 'no error')} instead of {theirs.get('error', 'a result')}"]
    return differences(ours["value"], theirs["value"], tolerance, np, excused=excused)


def compare_package(package, theirs, programs, build, np):
    """The same programs on our own package: how many differ where none is meant to."""
    python = pathlib.Path(sys.executable)
    ours = run(python, build / "frontend-package.pickle", PYTHONPATH=str(package.resolve()))
    failed = 0
    for item in programs:
        found = compare(ours[item.name], theirs[item.name], item.tolerance, np, "error" in item.name, ANY_RAISES)
        if item.name in OWN_WAYS:
            found = [] if found else [f"is the same again: take it off the list ({OWN_WAYS[item.name]})"]
        failed += bool(found)
        for text in found[:20]:
            print(f"own package: {item.name}: {text}")
    failed += compare_settings(package, ours, programs, build, np)
    count = sum(item.name in OWN_WAYS for item in programs)
    print(f"{len(programs) - failed - count} of {len(programs)} programs give the same with our own package, "
          f"{count} differ on purpose")
    return failed


def compare_settings(package, ours, programs, build, np):
    """The same programs on our own package under settings that change none of their results: how many differ."""
    failed = 0
    for variables in SETTINGS:
        results = run(pathlib.Path(sys.executable), build / "frontend-settings.pickle",
                      PYTHONPATH=str(package.resolve()), **variables)
        different = 0
        for item in programs:
            found = compare(results[item.name], ours[item.name], item.tolerance, np, may_raise=True)
            different += bool(found)
            for text in found[:5]:
                print(f"{item.name}: {text}")
        failed += different
        print(f"{len(programs) - different} of {len(programs)} programs give the same with "
              f"{' '.join(f'{name}={value}' for name, value in variables.items())}")
    return failed


def compare_files(package, wheel, build):
    """Files written with our package and read with the wheel's, and the other way round: how many ways fail."""
    own = pathlib.Path(sys.executable), {"PYTHONPATH": str(package.resolve())}
    failed = 0
    for title, writer, reader in (("written with our package, read with the release", own, (wheel, {})),
                                  ("written with the release, read with our package", (wheel, {}), own)):
        folder = build / "frontend-files"
        shutil.rmtree(folder, ignore_errors=True)
        done = None
        for what, (python, variables) in (("write", writer), ("read", reader)):
            done = subprocess.run([str(python), str(HERE / "exchange.py"), what, str(folder)], env=environment_of(variables),
                                  capture_output=True, text=True, timeout=SECONDS)
            if done.returncode != 0:
                failed += 1
                print(done.stdout, done.stderr[-2000:], sep="")
                break
        summary = [line for line in done.stdout.splitlines() if line.endswith("are what they were")]
        print(f"{title}: {', '.join(summary) or 'nothing'}")
    return failed


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--lib", required=True, type=pathlib.Path)
    arguments.add_argument("--package", type=pathlib.Path)
    arguments.add_argument("--only", default="")
    arguments.add_argument("-v", action="store_true")
    options = arguments.parse_args()
    python, reason = environment()
    if python is None:
        print(f"skipped: the reference cannot be installed here: {reason}")
        return 0
    import numpy as np

    build = ROOT / "build"
    ours = run(python, build / "frontend-ours.pickle", "calls", MXNET_LIBRARY_PATH=str(options.lib.resolve()))
    theirs = saturating.with_vnni(run(python, build / "frontend-theirs.pickle", "calls"), np)
    different = 0
    programs = [item for item in registry.load(HERE / "programs") if options.only in item.name]
    for item in programs:
        mine, its = ours[item.name], theirs[item.name]
        found = compare(mine, its, item.tolerance, np, "error" in item.name)
        different += bool(found)
        for text in found[:20]:
            print(f"{item.name}: {text}")
        if options.v and not found:
            print(f"{item.name}: same, {mine['seconds'] * 1e3:.1f} ms instead of "
                  f"{its['seconds'] * 1e3:.1f}" + (", both raise" if "error" in its else ""))
    names = set((HERE.parent / "data" / "public_names.txt").read_text().split())
    called = set(ours[""]["called"])
    failed = different
    for part in ("nd", "sym", "gluon", "module", "io", "optimizer", "metric", "autograd", "np", "npx"):
        mine = {name for name in names if name.startswith(f"mxnet.{part}.")}
        print(f"coverage of mx.{part}: {len(mine & called)} of {len(mine)} public names")
        for name in sorted(mine - called):
            reason = uncalled.REASON_OF.get(name)
            print(f"   {name} is not called: {reason or 'no program, no reason'}")
            failed += reason is None and not options.only
    seconds = [sum(item.get("seconds", 0) for item in side.values()) for side in (ours, theirs)]
    crashes = sum("crash" in item for item in theirs.values())
    same = len(programs) - different
    print(f"{same} of {len(programs)} programs give the same "
          f"({crashes} end the process with the reference's library); import "
          f"{ours['']['import_seconds']:.2f} s instead of {theirs['']['import_seconds']:.2f} s; "
          f"{seconds[0]:.1f} s with this library, {seconds[1]:.1f} s with the reference's")
    wheel_library, = VENV.glob("lib/python3*/site-packages/mxnet/libmxnet.so")
    failed += relink.compare(wheel_library, options.lib, build)
    if options.package is not None:
        failed += compare_package(options.package, theirs, programs, build, np)
        failed += compare_files(options.package, python, build)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
