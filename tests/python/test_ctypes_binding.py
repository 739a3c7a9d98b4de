# SPDX-License-Identifier: Apache-2.0
"""The binding on ctypes: when it is chosen, and that it does what the native one does."""

import os
import pathlib
import subprocess
import sys

import pytest
from which_binding import ON_CTYPES

HERE = pathlib.Path(__file__).resolve().parent
SHOW = "import mxnet as mx; print(mx.nd._internal.NDArrayBase.__module__, mx.nd.CachedOp.__module__)"
NATIVE = {"MXNET_ENABLE_CYTHON": None}
# As if the native module did not load.
BREAK = "import sys; sys.modules['mxnet._core'] = None\n"


def test_each_binding_has_the_documented_classes(run_python):
    assert run_python(SHOW, env={"MXNET_ENABLE_CYTHON": "0"}).stdout.split() == ["mxnet._ctypes.ndarray"] * 2
    assert "mxnet._core" in run_python(SHOW, env=NATIVE).stdout
    code = "import mxnet as mx, mxnet._cy3.ndarray as n; print(n.NDArrayBase is mx.nd._internal.NDArrayBase)"
    assert run_python(code, env=NATIVE).stdout == "True\n"


def test_it_stands_in_unless_that_is_forbidden(run_python):
    done = run_python(BREAK + SHOW, env=NATIVE)
    assert done.stdout.split() == ["mxnet._ctypes.ndarray"] * 2, done.stderr
    done = run_python(BREAK + SHOW, env={**NATIVE, "MXNET_ENFORCE_CYTHON": "1"})
    assert done.returncode != 0 and "ImportError" in done.stderr and "MXNET_ENFORCE_CYTHON" in done.stderr


FILES = {
    "arrays": ["ndarray", "test_ndarray.py", "test_ndarray_arithmetic.py", "test_autograd.py", "test_autograd_unasked.py", "test_config.py", "test_util.py"],
    "symbols": [
        "symbol/test_symbol_doc.py", "symbol/test_symbol_control_flow.py", "symbol/test_symbol_executor.py",
        "symbol/test_symbol_monitor.py", "symbol/test_symbol_order.py", "test_symbol.py", "numpy/test_numpy_symbol.py",
    ],
    "numpy": ["numpy/test_numpy_array.py", "numpy/test_numpy_dispatch.py"],
    "data": ["recordio", "data/test_data_iterators.py", "test_signals.py"],
    "training": ["gluon/test_gluon_trainer.py", "optimizer/test_optimizer_updates.py", "kvstore/test_kvstore_local.py"],
}


@pytest.mark.skipif(ON_CTYPES, reason="already on ctypes")
@pytest.mark.parametrize("part", sorted(FILES))
def test_the_same_tests_pass(part):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(str(HERE / file) for file in FILES[part])],
        env={**os.environ, "MXNET_ENABLE_CYTHON": "0"}, capture_output=True, text=True, timeout=300, check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
