# SPDX-License-Identifier: Apache-2.0
"""What a test changes for its thread or process does not reach the next one: conftest.py's fixture, in a run of its own."""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent

# Each test finds what the module found, and changes all of it.
PROGRAM = """
import os
import random

import mxnet as mx
import numpy as np
import pytest

LIVE = "MXNET_UPDATE_AGGREGATION_SIZE"

def found():
    bulk = mx.engine.set_bulk_size(0)
    mx.engine.set_bulk_size(bulk)
    return {
        "recording": mx.autograd.is_recording(),
        "training": mx.autograd.is_training(),
        "shapes": mx.util.is_np_shape(),
        "arrays": mx.util.is_np_array(),
        "context": str(mx.current_context()),
        "test_utils": str(mx.test_utils.default_context()),
        "bulk": bulk,
        "row": mx.config.get(LIVE),
        "variable": os.environ.get("A_VARIABLE"),
        "lost": os.environ.get("HOME_OF_TEST"),
        "name": mx.sym.var("x").__add__(1).name,
        "block": mx.gluon.nn.Dense(1).prefix,
        "attribute": mx.sym.var("y").attr("color"),
        "profile": [line for line in mx.profiler.dumps().splitlines() if line.startswith("exp")],
    }

def drawn():
    return mx.nd.random.uniform(shape=(2,)).asnumpy().tolist(), np.random.rand(2).tolist(), random.random()

AT_IMPORT = found()
NUMBERS = []

@pytest.mark.parametrize("again", range(3))
def test_is_as_the_module_found_it(again):
    names = {"name": "_plusscalar1", "block": "dense1_"}
    assert found() == {**AT_IMPORT, **names}
    NUMBERS.append(drawn())
    assert NUMBERS[again] == NUMBERS[0]
    mx.profiler.set_config(aggregate_stats=True, filename=os.devnull)
    mx.profiler.set_state("run")
    mx.nd.zeros(1).exp().wait_to_read()
    mx.engine.set_bulk_size(7)
    mx.npx.set_np()
    mx.util.set_np_shape(2)
    mx.autograd.set_recording(True)
    mx.autograd.set_training(True)
    mx.Context.default_ctx = mx.cpu(3)
    mx.test_utils.set_default_context(mx.cpu(2))
    mx.cpu(1).__enter__()
    mx.AttrScope(color="red").__enter__()
    mx.name.Prefix("left_").__enter__()
    mx.gluon.nn.HybridSequential().name_scope().__enter__()
    mx.config.set(LIVE, 3)
    os.environ["A_VARIABLE"] = "1"
    os.environ.pop("HOME_OF_TEST")
    left = found()
    assert {key for key in left if left[key] == AT_IMPORT[key]} == set()
"""


def test_each_test_is_as_if_it_were_the_first(tmp_path):
    (tmp_path / "test_changes.py").write_text(PROGRAM)
    environment = {**os.environ, "HOME_OF_TEST": "here", "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "conftest", "--rootdir", str(tmp_path), str(tmp_path)],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and "3 passed" in done.stdout, done.stdout + done.stderr
