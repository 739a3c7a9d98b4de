# SPDX-License-Identifier: Apache-2.0
"""Operators against numbers of the 1.9.1 release: each tests/data/golden/<family>.json lists cases, the .npz beside it holds one flat array a type.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest test_golden.py
"""
import json
import pathlib

import numpy as np
import pytest

from op_calls import ADD, WRITE, Failure

GOLDEN = pathlib.Path(__file__).parents[1] / "data" / "golden"
# |got - want| <= rtol * |want| + atol + scale * max|want|; other types are exact.
TOLERANCE = {"float16": (1e-2, 1e-3, 2e-3), "float32": (1e-4, 1e-6, 1e-5), "float64": (1e-6, 1e-8, 1e-7)}
ADDED_TO = 0.5
# What this driver knows to do; a family with other cases extends it.
KNOWN = {"id", "op", "attrs", "inputs", "np", "train", "outputs", "grad", "head", "grads", "add", "error", "tag", "tol", "int_atol", "nout", "cmp", "out", "noin", "after"}


def all_cases():
    for path in sorted(GOLDEN.glob("*.json")):
        for case in json.loads(path.read_text())["cases"]:
            yield pytest.param(path.stem, case, id=f"{path.stem}-{case['id']}")


@pytest.fixture(scope="module")
def numbers():
    return {path.stem: dict(np.load(path)) for path in GOLDEN.glob("*.npz")}


def canonical(values, how):
    """Factors are unique up to signs, eigenvalues up to their order."""
    if how == "svd":
        return np.abs(values)
    if how == "sorted":
        return np.sort(values, axis=-1)
    axis = {"rowsign": -1, "colsign": -2}[how]
    largest = np.take_along_axis(values, np.expand_dims(np.argmax(np.abs(values), axis), axis), axis)
    return values * np.where(largest < 0, -1, 1).astype(values.dtype)


def close(got, want, case, what):
    assert got.dtype == want.dtype and got.shape == want.shape, f"{what}: {got.dtype} {got.shape}, not {want.dtype} {want.shape}"
    if want.dtype.name not in TOLERANCE or want.size == 0:
        np.testing.assert_allclose(got, want, rtol=0, atol=case.get("int_atol", 0), err_msg=what)
        return
    rtol, atol, scale = TOLERANCE[want.dtype.name]
    tolerance = case.get("tol", {})
    rtol, atol, scale = tolerance.get("rtol", rtol), tolerance.get("atol", atol), tolerance.get("scale", scale)
    finite = np.abs(want[np.isfinite(want)].astype("float64"))
    atol += scale * (finite.max() if finite.size else 0)
    np.testing.assert_allclose(got.astype("float64"), want.astype("float64"), rtol, atol, err_msg=what)


def run_on_states(mx, case, inputs):
    """Outputs, unless they are inputs themselves, and the inputs after a call that writes some of them."""
    handles = [mx.array(i) for i in inputs]
    out = [handles[i] for i in case["out"]] if "out" in case else None
    read_only = [h for i, h in enumerate(handles) if i not in case.get("noin", ())]
    made = mx.invoke(case["op"], read_only, out=out, **case["attrs"])
    outputs = [] if "out" in case else [mx.numpy(h) for h in made]
    after = [mx.numpy(h) for h in handles]
    mx.free(*handles, *([] if "out" in case else made))
    return outputs, after


@pytest.mark.parametrize("family, case", list(all_cases()))
def test_numbers_are_those_of_the_reference(mx, numbers, family, case):
    assert set(case) <= KNOWN

    def read(where):
        if "o" not in where:
            return None  # only shape and type are known
        count = int(np.prod(where["s"]))
        return numbers[family][where["d"]][where["o"]:where["o"] + count].reshape(where["s"])

    def check_after(arrays):
        for i, got in enumerate(arrays):
            where = case.get("after", {}).get(str(i))
            close(got, inputs[i] if where is None else read(where), case, f"input {i} afterwards")

    mx.numpy_shape(bool(case.get("np")))
    mx.training(case.get("train", "grad" in case))
    inputs = [read(i) for i in case["inputs"]]
    if "error" in case:
        with pytest.raises(Failure):
            run_on_states(mx, case, inputs)
        return
    if "out" in case or ("after" in case and "grad" not in case):
        outputs, after = run_on_states(mx, case, inputs)
        check_after(after)
    else:
        outputs = mx.run(case["op"], *inputs, **case["attrs"])
    assert len(outputs) >= case.get("nout", len(case["outputs"]))
    for i, (got, where) in enumerate(zip(outputs, case["outputs"])):
        want = read(where)
        if want is None:
            assert list(got.shape) == where["shape"] and got.dtype.name == where["dtype"]
        elif str(i) in case.get("cmp", {}):
            how = case["cmp"][str(i)]
            close(canonical(got, how), canonical(want, how), case, f"output {i}")
        else:
            close(got, want, case, f"output {i}")
    if "grad" not in case:
        return
    for request in (WRITE, ADD) if case.get("add") else (WRITE,):
        start = ADDED_TO if request == ADD else 0.0
        heads = [None if h is None else read(h) for h in case["head"]]
        after = []
        grads = mx.gradients(case["op"], inputs, heads, request=request, start=start, wanted=case["grad"], after=after, **case["attrs"])
        check_after(after)
        for i, where in zip(case["grad"], case["grads"]):
            if where is not None:
                close(grads[i], read(where) + np.asarray(start, grads[i].dtype), case, f"gradient of input {i}")
