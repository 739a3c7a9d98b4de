# SPDX-License-Identifier: Apache-2.0
"""Runs all programs once with the front end of the installed reference wheel, on whichever library
MXNET_LIBRARY_PATH names, and writes what comes out. A process of its own."""
import cProfile
import logging
import os
import pathlib
import pickle
import shutil
import sys
import tempfile
import time
import warnings

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

import registry  # noqa: E402


def plain(value, mx, np):
    """Numbers, shapes and texts that other processes can read."""
    if isinstance(value, (mx.nd.NDArray, mx.np.ndarray)):
        stype = getattr(value, "stype", "default")
        return {"array": np.array(value.asnumpy()), "stype": stype}
    if isinstance(value, np.ndarray) and value.dtype == object:
        return plain(value.tolist(), mx, np)
    if isinstance(value, np.ndarray):
        return {"array": np.array(value), "stype": "default"}
    if isinstance(value, mx.sym.Symbol):
        return {"outputs": value.list_outputs(), "arguments": value.list_arguments(),
                "states": value.list_auxiliary_states()}
    if isinstance(value, dict):
        return {str(key): plain(item, mx, np) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, mx, np) for item in value]
    if isinstance(value, (np.generic,)):
        return value.item()
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return value
    return repr(type(value).__name__)


def outcome(program, mx, np):
    """What the program gives: its value, or that it raises, always from the same start."""
    mx.random.seed(7)
    np.random.seed(7)
    import random

    random.seed(7)
    try:
        value = plain(program.run(mx, np), mx, np)
        mx.nd.waitall()
        return {"value": value}
    except Exception as error:  # what a program raises is its result
        return {"error": f"{type(error).__name__}: {str(error)[-600:]}"}


def named(name, mx):
    """What has this name, also where a function of its package hides a module."""
    value, path = mx, "mxnet"
    for part in name.split(".")[1:]:
        path += f".{part}"
        module = sys.modules.get(path)
        value = getattr(value, part) if module is None or path == name else module
    return value


def called_names(names, calls, mx):
    """Of the public names, those whose code ran, of the calls that a profiler has seen."""
    codes_that_ran = {entry.code for entry in calls.getstats()}
    found = []
    for name in names:
        try:
            value = named(name, mx)
        except AttributeError:
            continue
        if isinstance(value, type):
            codes = [getattr(item, "__code__", None) for item in vars(value).values()]
            ours = [getattr(vars(base).get("__init__"), "__code__", None) for base in value.__mro__]
            if any(code in codes_that_ran for code in codes + ours[:1] if code):
                found.append(name)
            continue
        function = getattr(value, "__wrapped__", value)
        if getattr(function, "__code__", None) in codes_that_ran:
            found.append(name)
    return found


def main():
    """worker.py TARGET FIRST [calls]: appends a pickle per program, from number FIRST on, then one of
    the process, with the public names that ran where `calls` are asked for: where it ends early, the
    number of pickles says which program it was."""
    target, first = sys.argv[1], int(sys.argv[2])
    watched, calls = "calls" in sys.argv[3:], cProfile.Profile(builtins=False)
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    import numpy as np

    start = time.perf_counter()
    import mxnet as mx

    seconds = time.perf_counter() - start
    programs = registry.load(HERE / "programs")
    names = (HERE.parent / "data" / "public_names.txt").read_text().split()
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    with open(target, "ab") as file:
        for program in programs[first:]:
            if watched:  # what is told of each call costs what the programs do
                calls.enable()
            begin = time.perf_counter()
            result = outcome(program, mx, np)
            result["seconds"] = time.perf_counter() - begin
            calls.disable()
            file.write(pickle.dumps((program.name, result)))
            file.flush()
        file.write(pickle.dumps(("", {"import_seconds": seconds,
                                      "called": called_names(names, calls, mx)})))
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
