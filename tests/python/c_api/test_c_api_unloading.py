# SPDX-License-Identifier: Apache-2.0
"""Programs that load the library by dlopen, close it, and go on: it stays as it is, whatever of it was running."""

import os
import shutil
import signal
import subprocess
import sys

import pytest
from c_library import library_path

PROGRAM = """
import _ctypes, ctypes as C, os, resource, sys, threading

def opened(path):
    return _ctypes.dlopen(path, os.RTLD_NOW | os.RTLD_LOCAL)

def multiply(library, times, wait=False):
    functions = C.CDLL(None, handle=library)
    def call(name, *values):
        if getattr(functions, name)(*values) != 0:
            functions.MXGetLastError.restype = C.c_char_p
            raise RuntimeError(functions.MXGetLastError().decode())
    array, op = C.c_void_p(), C.c_void_p()
    call("MXNDArrayCreate", (C.c_uint * 2)(300, 300), 2, 1, 0, 0, C.byref(array))
    call("NNGetOpHandle", b"dot", C.byref(op))
    for _ in range(times):
        count, outputs = C.c_int(0), C.POINTER(C.c_void_p)()
        call("MXImperativeInvoke", op, 2, (C.c_void_p * 2)(array, array), C.byref(count), C.byref(outputs), 0, None, None)
        call("MXNDArrayFree", C.c_void_p(outputs[0]))
    call("MXNDArrayFree", array)
    if wait:
        call("MXNDArrayWaitAll")

def open_use_and_close():
    library = opened(path)
    thread = threading.Thread(target=multiply, args=(library, 3, True))  # what is kept for a thread goes with it
    thread.start()
    thread.join()
    _ctypes.dlclose(library)

def reserved():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
path = sys.argv[1]
"""


def run(program, *arguments, **variables):
    command = [sys.executable, "-c", PROGRAM + program, library_path(), *map(str, arguments)]
    return subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize("engine", ["NaiveEngine", "ThreadedEnginePerDevice"])
@pytest.mark.parametrize("times", [0, 200])
def test_a_program_may_close_the_library_with_work_in_flight(engine, times):
    done = run(f"library = opened(path)\nif {times}: multiply(library, {times})\n_ctypes.dlclose(library)", MXNET_ENGINE_TYPE=engine)
    assert done.returncode == 0, done.stderr


def test_a_signal_after_the_library_was_closed_still_has_its_handler():
    done = run("""
for _ in range(5):
    open_use_and_close()
os.abort()
""", MXNET_ENGINE_TYPE="NaiveEngine")
    assert done.returncode == -signal.SIGABRT
    assert "Fatal error: SIGABRT" in done.stderr


def test_opening_and_closing_reserves_no_memory_anew():
    done = run("""
open_use_and_close()
before = reserved()
for _ in range(10):
    open_use_and_close()
print(reserved() - before)
""", MXNET_ENGINE_TYPE="NaiveEngine")
    assert int(done.stdout) < 256 << 20, done.stdout  # loaded anew it would be 3.4 GB each time


def test_two_copies_of_the_library_work_beside_each_other(tmp_path):
    shutil.copy(library_path(), tmp_path / "libmxnet.so")
    done = run("""
first, second = opened(path), opened(sys.argv[2])
assert first != second
for library in (first, second, first):
    multiply(library, 50)
child = os.fork()
if child == 0:
    for library in (first, second):
        multiply(library, 2, wait=True)
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
multiply(second, 50)
_ctypes.dlclose(second)
multiply(first, 2, wait=True)
""", tmp_path / "libmxnet.so")
    assert done.returncode == 0, done.stderr
