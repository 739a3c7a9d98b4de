# SPDX-License-Identifier: Apache-2.0
"""What tests are given: a fresh interpreter, the operators of a library through its C ABI, random numbers."""

import ctypes
import gc
import os
import pathlib
import signal
import subprocess
import sys

import about_the_cpu
import package_state
import pytest


def pytest_addoption(parser):
    parser.addoption(
        "--on-gpu", action="store_true", help="arrays are made on gpu(0) of two simulated GPUs, where a test says nothing"
    )
    parser.addoption("--on-real-gpu", action="store_true", help="the same on a GPU of this machine")


def on_gpu(config):
    return config.getoption("--on-gpu") or config.getoption("--on-real-gpu")


def pytest_configure(config):
    if config.getoption("--on-gpu"):
        os.environ["MXNET_SIM_GPUS"] = "2"


def pytest_collection_finish():
    """NumPy, which says what is expected, multiplies on one thread: those of its OpenBLAS spin for each other, and where more
    tests run than there are processors, products of three milliseconds take fifty. The library's own is another one."""
    if np := sys.modules.get("numpy"):
        for path in pathlib.Path(np.__file__).parent.with_name("numpy.libs").glob("*openblas*"):
            openblas = ctypes.CDLL(str(path))
            for name in ("scipy_openblas_set_num_threads64_", "openblas_set_num_threads64_"):
                if hasattr(openblas, name):
                    getattr(openblas, name)(1)


def pytest_collection_modifyitems(config, items):
    if not on_gpu(config):
        return
    for item in items:
        if why := about_the_cpu.reason(item.nodeid):
            item.add_marker(pytest.mark.skip(reason=why))


@pytest.fixture(scope="module")
def mx(request):
    """Operators of the library at MXNET_LIBRARY_PATH, without the package; by the module's LIBRARY, where it has one."""
    if not os.environ.get("MXNET_LIBRARY_PATH"):
        pytest.skip("MXNET_LIBRARY_PATH is not set")
    from op_calls import Library

    library = getattr(request.module, "LIBRARY", Library)()
    yield library
    library.close()


@pytest.fixture(autouse=True)
def leaves_nothing(request):
    """What a test sets is gone at its end, and each draws the same numbers, whichever were before it; arrays are made on
    gpu(0) where the run asks for it."""
    library = getattr(request.getfixturevalue("mx"), "lib", None) if "mx" in request.fixturenames else None
    if on_gpu(request.config):
        import mxnet

        mxnet.Context.default_ctx = mxnet.gpu(0)
    # A module's own `mx` may be the package, in which a wheel has a folder of that name.
    with package_state.kept(library if isinstance(library, ctypes.CDLL) else None):
        yield


@pytest.fixture
def collector_off():
    """What earlier tests have left in cycles is gone, and nothing else is collected: a test may count bytes and arrays."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def rng(request):
    """Random numbers of the test's own, from its name and the module's SEED, or MXNET_TEST_SEED instead of that."""
    import numpy as np

    seed = int(os.environ.get("MXNET_TEST_SEED", request.module.SEED))
    print("seed", seed)
    return np.random.default_rng([seed, sum(request.node.name.encode())])


def hear_ctrl_c():
    """In the child: a run in the background of a shell has inherited that SIGINT is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def run_python():
    """Runs code in a new interpreter, with the binding of this one. `env` adds variables, None removes one.

    The time limit is for what hangs: on a busy machine training in one takes many times what it does alone.
    """
    kept = "MXNET_ENABLE_CYTHON"

    def run(code, *arguments, env=None, module=None):
        variables = {k: v for k, v in os.environ.items() if k == kept or not k.startswith(("MXNET_", "OMP_", "KMP_"))}
        for name, value in (env or {}).items():
            if value is None:
                variables.pop(name, None)
            else:
                variables[name] = value
        command = [sys.executable, "-m", module] if module else [sys.executable, "-c", code]
        return subprocess.run(
            [*command, *arguments], env=variables, capture_output=True, text=True, timeout=300, check=False,
            preexec_fn=hear_ctrl_c,
        )  # fmt: skip

    return run
