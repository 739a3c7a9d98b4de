# SPDX-License-Identifier: Apache-2.0
"""NumPy's semantics for every test of this folder, and a seed that is printed on failure."""

import numpy as onp
import pytest

SEED = 20260


@pytest.fixture(autouse=True)
def numpy_semantics():
    from mxnet import npx, util  # not before the options are read: --on-gpu says what the library finds when it is loaded

    util.set_np()
    npx.random.seed(SEED)
    yield
    util.reset_np()


@pytest.fixture
def rng():
    print("seed:", SEED)
    return onp.random.default_rng(SEED)
