# SPDX-License-Identifier: Apache-2.0
"""Every exported function with nulls and with things that are no handles: an error with a text, and
never the end of the process. Made from tests/data/c_api.json; batches run in processes of their own.

Runs under pytest, and as `test_c_api_all_functions.py LIBRARY FIRST COUNT` for one batch."""
import ctypes
import json
import subprocess
import sys

import pytest
from c_library import ROOT, library_path

FUNCTIONS = json.loads((ROOT / "tests" / "data" / "c_api.json").read_text())["functions"]
BATCH = 25

# Ends the library's threads for good, or has no way to fail.
NEVER_CALLED = {"MXNotifyShutdown"}
# What these take is documented as not checked: a variable of the engine, a context, a property.
UNCHECKED = {"EngineVarHandle", "ContextHandle", "EngineFnPropertyHandle", "DLManagedTensorHandle"}
# Nulls have a meaning, or nothing is taken that could be wrong.
NULLS_ARE_FINE = {
    "MXGetLastError", "NNGetLastError", "NNAPISetLastError", "MXNDArrayFree", "MXNDArrayWaitAll", "MXDumpProfile",
    "MXProfilePause", "MXDumpProcessProfile", "MXProcessProfilePause", "MXRandomSeed", "MXSetProfilerState",
    "MXSetProcessProfilerState", "MXSetNumOMPThreads", "MXInitPSEnv", "MXSetProfilerConfig",
    "MXSetProcessProfilerConfig", "MXAutogradMarkVariables", "MXStorageEmptyCache", "MXRandomSeedContext"}


def is_handle(kind):
    return kind.endswith("Handle") or kind.endswith("Creator") and kind != "CustomOpPropCreator"


def is_pointer(kind):
    callback = any(word in kind for word in ("Callback", "Func", "Updater", "Controller", "Deleter", "PropCreator"))
    return "*" in kind or is_handle(kind) or callback


class Arguments:
    """The C values of one call; keeps their memory."""

    def __init__(self, lib):
        self.lib = lib
        self.kept = []

    def zero(self, kind):
        if is_pointer(kind):
            return ctypes.c_void_p(None)
        return ctypes.c_float(0) if kind in ("float", "mx_float") else ctypes.c_int64(0)

    def plausible(self, kind):
        """An address with room behind it; a text where it may be one; one of what is counted."""
        if kind in ("const char *", "char *"):
            return ctypes.c_char_p(b"data")
        if is_handle(kind) or not is_pointer(kind):
            return self.array() if kind == "NDArrayHandle" else self.zero(kind)
        self.kept.append(ctypes.create_string_buffer(4096))
        return ctypes.cast(self.kept[-1], ctypes.c_void_p)

    def array(self):
        handle = ctypes.c_void_p()
        shape = (ctypes.c_uint * 1)(2)
        assert self.lib.MXNDArrayCreate(shape, 1, 1, 0, 0, ctypes.byref(handle)) == 0
        return handle

    def stranger(self):
        """The address of what never was a handle."""
        self.kept.append(ctypes.create_string_buffer(4096))
        return ctypes.cast(self.kept[-1], ctypes.c_void_p)


def calls_of(function, make):
    """The calls to try, each with whether it must fail."""
    name = function["name"]
    kinds = [kind for kind, _ in function["params"]]
    yield [make.zero(kind) for kind in kinds], name not in NULLS_ARE_FINE
    for i, kind in enumerate(kinds):
        if kind not in UNCHECKED and is_handle(kind) and (name not in NULLS_ARE_FINE or kind != "KVStoreHandle"):
            values = [make.plausible(other) for other in kinds]
            values[i] = make.stranger()
            yield values, True


def run_batch(path, first, count):
    lib = ctypes.CDLL(path)
    lib.MXGetLastError.restype = ctypes.c_char_p
    for function in FUNCTIONS[first:first + count]:
        name = function["name"]
        if name in NEVER_CALLED:
            continue
        print(name, flush=True)
        call = getattr(lib, name)
        if function["returns"] != "int":
            call(*[ctypes.c_void_p(None) for _ in function["params"]])
            continue
        for values, must_fail in calls_of(function, Arguments(lib)):
            lib.NNAPISetLastError(b"")
            code = call(*values)
            text = lib.MXGetLastError()
            assert code in (0, -1), f"{name} gave {code}"
            assert (code == -1) == bool(text), f"{name} gave {code} with the text {text}"
            assert code == -1 or not must_fail, f"{name} took what it cannot take"


@pytest.mark.parametrize("first", range(0, len(FUNCTIONS), BATCH))
def test_nulls_and_strangers_are_errors(first):
    done = subprocess.run([sys.executable, __file__, library_path(), str(first), str(BATCH)], capture_output=True,
                          text=True, timeout=300)
    last = done.stdout.split()[-1] if done.stdout else "no function"
    assert done.returncode == 0, f"{last}: {done.stderr[-1500:]}"


def test_every_function_of_the_reference_is_exported():
    lib = ctypes.CDLL(library_path())
    missing = [function["name"] for function in FUNCTIONS if not hasattr(lib, function["name"])]
    assert not missing


if __name__ == "__main__":
    run_batch(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
