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
