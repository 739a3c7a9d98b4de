# SPDX-License-Identifier: Apache-2.0
"""What tests of layers have in common: a library with oneDNN and without, and how close results are."""

import math

import numpy as np
import pytest

from op_calls import Library

TOLERANCE = {"float16": 4e-3, "float32": 3e-6, "float64": 1e-13}  # of the largest number
PLAIN, ONEDNN = "0", "1"


@pytest.fixture(scope="module")
def library():
    library = Library()
    yield library
    library.close()


@pytest.fixture(params=[ONEDNN, PLAIN], ids=["onednn", "plain"])
def mx(request, library):
    library.call("MXSetEnv", b"MXNET_ONEDNN_ENABLED", request.param.encode())
    yield library
    library.call("MXSetEnv", b"MXNET_ONEDNN_ENABLED", b"1")


def close(got, want, dtype="float32", depth=1):
    assert got.shape == want.shape and got.dtype == dtype
    scale = np.abs(want).max() if want.size else 0
    bound = TOLERANCE[dtype] * (scale + 1e-3) * math.sqrt(depth)
    assert np.abs(got.astype("float64") - want).max(initial=0) <= bound
