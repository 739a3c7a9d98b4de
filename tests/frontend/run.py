# SPDX-License-Identifier: Apache-2.0
"""The reference's own front end on our library: every program of programs/ runs with the wheel's
library and with ours, and both must give the same.

    tests/frontend/run.py --lib build/release/src/libmxnet.so [--only NAME] [-v]

The wheel is installed into build/frontend-venv on the first run; where it cannot be (it needs
Python 3.7 to 3.11 and x86-64) the run says so and ends with 0.
"""
import argparse
import math
import os
import pathlib
import pickle
import subprocess
import sys

import registry
import uncalled

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
VENV = ROOT / "build" / "frontend-venv"
WHEEL = ["mxnet==1.9.1", "numpy==1.23.5"]
SECONDS = 400  # for all programs on one library; a process that hangs is an error


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


def run(python, library, target):
    """All programs on one library (None: the wheel's own). Where a process ends early it is started
    again, with the program in which it ended; what ends it twice has that as its result."""
    child = {key: text for key, text in os.environ.items() if not key.startswith("MXNET_")}
    child.update(OMP_NUM_THREADS="2", MXNET_STORAGE_FALLBACK_LOG_VERBOSE="0",
                 MXNET_SUBGRAPH_VERBOSE="0")
    child.pop("PYTHONPATH", None)
    if library is not None:
        child["MXNET_LIBRARY_PATH"] = str(library)
    names = [item.name for item in registry.load(HERE / "programs")]
    target.unlink(missing_ok=True)
    first, tried = 0, -1
    while True:
        done = subprocess.run([str(python), str(HERE / "worker.py"), str(target), str(first)],
                              env=child, capture_output=True, text=True, timeout=SECONDS)
        results = read(target) if target.exists() else {}
        if "" in results:
            return results
        output = (done.stdout + done.stderr)[-2000:]
        if not results:
            sys.exit(f"with {library or 'the library of the wheel'} nothing runs:\n{output}")
        first = len(results)
        if tried == first:
            with open(target, "ab") as file:
                crash = {"crash": f"the process ended with {done.returncode}: {output[-500:]}",
                         "seconds": 0.0}
                file.write(pickle.dumps((names[first], crash)))
            first += 1
        tried = first


def differences(ours, theirs, tolerance, np, path=""):
    """What differs, as texts with the place in the result. Where a sweep's call raises with the
    reference's library nothing is expected."""
    if theirs == "raises":
        return []
    if isinstance(theirs, dict) and "array" in theirs and isinstance(ours, dict) and "array" in ours:
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
                for text in differences(ours[key], theirs[key], tolerance, np, f"{path}.{key}")]
    if isinstance(theirs, list):
        if len(ours) != len(theirs):
            return [f"{path}: {len(ours)} items instead of {len(theirs)}"]
        return [text for i, (a, b) in enumerate(zip(ours, theirs))
                for text in differences(a, b, tolerance, np, f"{path}[{i}]")]
    if isinstance(theirs, float):
        same = math.isclose(ours, theirs, rel_tol=tolerance, abs_tol=tolerance) or (
            math.isnan(ours) and math.isnan(theirs))
        return [] if same else [f"{path}: {ours} instead of {theirs}"]
    return [] if ours == theirs else [f"{path}: {str(ours)[:300]!r} instead of {str(theirs)[:300]!r}"]


def compare(ours, theirs, tolerance, np, may_raise):
    """What differs. Programs that raise on both sides tell something only where errors are their subject."""
    if "crash" in ours:
        return [ours["crash"]]
    if "crash" in theirs:  # nothing to compare with; ours has ended well
        return []
    if "error" in ours or "error" in theirs:
        if "error" in ours and "error" in theirs:
            return [] if may_raise else [f"both raise: {theirs['error']}"]
        return [f"{ours.get('error', 'no error')} instead of {theirs.get('error', 'a result')}"]
    return differences(ours["value"], theirs["value"], tolerance, np)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--lib", required=True, type=pathlib.Path)
    arguments.add_argument("--only", default="")
    arguments.add_argument("-v", action="store_true")
    options = arguments.parse_args()
    python, reason = environment()
    if python is None:
        print(f"skipped: the reference cannot be installed here: {reason}")
        return 0
    import numpy as np

    build = ROOT / "build"
    ours = run(python, options.lib.resolve(), build / "frontend-ours.pickle")
    theirs = run(python, None, build / "frontend-theirs.pickle")
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
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
