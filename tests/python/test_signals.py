# SPDX-License-Identifier: Apache-2.0
"""A crash prints the library's trace and leaves Python's faulthandler and the signal as they were."""

import signal

import pytest

CRASH = "import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\nimport os, signal\n"


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGFPE", "SIGBUS", "SIGILL"])
def test_signal_is_traced_and_kills(run_python, name):
    done = run_python(f"{CRASH}import mxnet\nos.kill(os.getpid(), signal.{name})")
    assert done.returncode == -getattr(signal, name)
    assert f"Fatal error: {name}" in done.stderr and "[bt] (0)" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("first", ["faulthandler", "mxnet"])
def test_faulthandler_prints_too_in_either_order(run_python, first):
    second = "mxnet" if first == "faulthandler" else "faulthandler"
    enable = {"mxnet": "import mxnet\n", "faulthandler": "import faulthandler; faulthandler.enable()\n"}
    done = run_python(f"{CRASH}{enable[first]}{enable[second]}import ctypes; ctypes.string_at(0)")
    assert done.returncode == -signal.SIGSEGV
    assert done.stderr.count("Fatal error: SIGSEGV") == 1
    assert done.stderr.count("Fatal Python error: Segmentation fault") == 1


def test_interrupt_stays_a_keyboard_interrupt(run_python):
    done = run_python(
        "import mxnet, os, signal\ntry:\n    os.kill(os.getpid(), signal.SIGINT)\nexcept KeyboardInterrupt:\n    print('caught')"
    )
    assert done.stdout == "caught\n"


HELD = """
import atexit, ctypes, os, signal, threading
import mxnet as mx
from mxnet.base import _LIB, check_call
mx.nd.ones(1).wait_to_read()
array, release, begun = mx.nd.ones(4), threading.Event(), threading.Event()
kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
held = kind(lambda context, state: (begun.set(), release.wait()))
later = kind(lambda context, state: print("ran", flush=True))
context, handles = (ctypes.c_int * 2)(1, 0), (ctypes.c_void_p * 1)(array.handle.value)
for work in held, later:
    check_call(_LIB.MXEnginePushSyncND(work, None, None, context, None, 0, handles, 1, None, 0, b"held"))
begun.wait()
def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
"""


@pytest.mark.parametrize("native", ["1", "0"])
def test_a_program_that_ctrl_c_has_ended_does_not_wait_for_what_it_has_pushed(run_python, native):
    done = run_python(f"{HELD}threading.Timer(0.2, interrupt).start()\narray.wait_to_read()", env={"MXNET_ENABLE_CYTHON": native})
    assert "KeyboardInterrupt" in done.stderr
    assert (done.returncode, done.stdout) == (-signal.SIGINT, "")


@pytest.mark.parametrize("native", ["1", "0"])
def test_ctrl_c_ends_the_wait_at_exit(run_python, native):
    code = f"""{HELD}
at_exit = threading.Event()
threading.Thread(target=lambda: (at_exit.wait(), interrupt()), daemon=True).start()
atexit.register(at_exit.set)
"""
    done = run_python(code, env={"MXNET_ENABLE_CYTHON": native})
    assert done.stdout == ""
    assert "SystemError" not in done.stderr


@pytest.mark.parametrize("native", ["1", "0"])
@pytest.mark.parametrize("wait", ["mx.nd.waitall()", "array.wait_to_read()", "array.asnumpy()"])
def test_interrupt_ends_a_wait(run_python, wait, native):
    # An operation that ends only when the test lets it, and a Ctrl-C while the main thread waits for it.
    code = f"""
import ctypes, os, signal, threading
import mxnet as mx
from mxnet.base import _LIB, check_call
mx.nd.ones(1).wait_to_read()
array, release = mx.nd.ones(4), threading.Event()
work = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(lambda context, state: release.wait())
context, handles = (ctypes.c_int * 2)(1, 0), (ctypes.c_void_p * 1)(array.handle.value)
check_call(_LIB.MXEnginePushSyncND(work, None, None, context, None, 0, handles, 1, None, 0, b"held"))
try:
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    {wait}
except KeyboardInterrupt:
    print("interrupted")
release.set()
{wait}
print(array.asnumpy().tolist())
"""
    done = run_python(code, env={"MXNET_ENABLE_CYTHON": native})
    assert done.stdout == "interrupted\n[1.0, 1.0, 1.0, 1.0]\n", done.stderr
