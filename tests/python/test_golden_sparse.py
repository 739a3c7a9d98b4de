# SPDX-License-Identifier: Apache-2.0
"""Operators on sparse arrays against numbers and storage types of the 1.9.1 release: tests/data/golden_sparse.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest test_golden_sparse.py
"""
import json
import pathlib

import numpy as np
import pytest

from op_calls import ADD, Failure
from sparse_calls import Sparse, SparseLibrary, dense_of

GOLDEN = pathlib.Path(__file__).parents[1] / "data" / "golden_sparse"
TOLERANCE = {"float32": (1e-4, 1e-5), "float64": (1e-6, 1e-7), "int64": (0, 0)}
START = 0.5
CASES = json.loads((GOLDEN / "sparse.json").read_text())["cases"]
LIBRARY = SparseLibrary


@pytest.fixture(scope="module")
def numbers():
    return dict(np.load(GOLDEN / "sparse.npz"))


def close(got, want, what):
    assert getattr(got, "stype", "default") == getattr(want, "stype", "default"), what
    got, want = dense_of(got), dense_of(want)
    assert got.dtype == want.dtype and got.shape == want.shape, f"{what}: {got.dtype} {got.shape}"
    rtol, atol = TOLERANCE[want.dtype.name]
    np.testing.assert_allclose(got, want, rtol, atol, err_msg=what)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_sparse_results_are_those_of_the_reference(mx, numbers, case):
    def read(where):
        if "st" in where:
            return Sparse(where["st"], where["s"], read(where["data"]), [read(a) for a in where["aux"]])
        count = int(np.prod(where["s"]))
        return numbers[where["d"]][where["o"]:where["o"] + count].reshape(where["s"])

    try:
        mx.op(case["op"])
    except Failure:
        pytest.skip(f"no operator {case['op']} in this library")
    mx.numpy_shape(False)
    inputs = [read(i) for i in case["inputs"]]
    if "error" in case:
        with pytest.raises(Failure):
            mx.run(case["op"], *inputs, **case["attrs"])
        return
    handles = [mx.array(i) for i in inputs]
    made = mx.invoke(case["op"], handles, out=[handles[i] for i in case.get("out", [])], **case["attrs"])
    for i, where in enumerate(case["outputs"]):
        close(mx.numpy(made[i]), read(where), f"output {i}")
    for i, given in enumerate(inputs):
        where = case.get("after", {}).get(str(i))
        close(mx.numpy(handles[i]), given if where is None else read(where), f"input {i} afterwards")
    mx.free(*handles, *([] if "out" in case else made))
    for i, where in zip(case.get("grad", []), case.get("grads", [])):
        stype = case.get("gstype", {}).get(str(i), "default")
        head = read(case["head"][0])
        buffer = np.zeros(inputs[i].shape, inputs[i].dtype) if stype == "default" else stype
        close(mx.gradient(case["op"], inputs, head, i, buffer, **case["attrs"]), read(where), f"gradient of input {i}")
        if case.get("add"):
            buffer = np.full(inputs[i].shape, START, inputs[i].dtype)
            got = mx.gradient(case["op"], inputs, head, i, buffer, ADD, **case["attrs"])
            close(got, dense_of(read(where)) + np.asarray(START, got.dtype), f"added gradient of input {i}")
