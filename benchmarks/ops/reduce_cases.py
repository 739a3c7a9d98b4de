# SPDX-License-Identifier: Apache-2.0
"""Reductions along every kind of axis, positions of extremes, running sums."""
import numpy as np
from case import Case, normals


def make(dtype, *shape):
    return normals(dtype, *shape, scale=5 if dtype == "float16" else 50)


def summed(torch, dtype, shape, axis, label):
    attrs = {} if axis is None else {"axis": axis}
    wide = {"dtype": "int64"} if dtype in ("int32", "uint8") else {}
    return Case(label, "_np_sum", [make(dtype, *shape)], lambda x, o: np.sum(x, axis=axis),
                lambda x, o: torch.sum(x) if axis is None else torch.sum(x, axis), {**attrs, **wide},
                exact=lambda x: np.sum(x, axis=axis, dtype="float64"), memory_bound=True)


def cases(torch):
    for dtype in ("float32", "float64", "int32", "uint8", "float16"):
        for axis in (None, 0, 1):
            yield summed(torch, dtype, (2000, 1000), axis, f"sum {dtype} axis={axis}")
    for axis in (None, 0, 1):
        yield summed(torch, "float32", (16 * 1024, 1024), axis, f"sum 16 Mi float32 axis={axis}")
    yield summed(torch, "float32", (100, 100), None, "sum 100x100")
    yield summed(torch, "float32", (500000, 3), 1, "sum of 3 columns")
    yield summed(torch, "float32", (500000, 3), 0, "sum of 3 long columns")
    yield summed(torch, "float32", (32, 64, 28, 28), (0, 2, 3), "sum of channels")
    yield summed(torch, "float32", (128, 128, 128), 1, "sum of the middle")
    a = make("float32", 2000, 1000)
    for axis in (0, 1):
        yield Case(f"max float32 axis={axis}", "_np_max", [a], lambda x, o, axis=axis: np.max(x, axis=axis),
                   lambda x, o, axis=axis: torch.amax(x, axis), {"axis": axis}, memory_bound=True)
        yield Case(f"argmax float32 axis={axis}", "_npi_argmax", [a], lambda x, o, axis=axis: np.argmax(x, axis=axis),
                   lambda x, o, axis=axis: torch.argmax(x, axis), {"axis": axis})
        yield Case(f"cumsum float32 axis={axis}", "_np_cumsum", [a], lambda x, o, axis=axis: np.cumsum(x, axis=axis, out=o),
                   lambda x, o, axis=axis: torch.cumsum(x, axis, out=o), {"axis": axis}, compare=False)
    for dtype in ("float32", "uint8"):
        yield Case(f"max of 40 columns {dtype}", "_np_max", [make(dtype, 7000, 40)], lambda x, o: np.max(x, axis=0),
                   lambda x, o: torch.amax(x, 0), {"axis": 0})
    yield Case("argmax int32 axis=1", "_npi_argmax", [make("int32", 2000, 1000)], lambda x, o: np.argmax(x, axis=1),
               lambda x, o: torch.argmax(x, 1), {"axis": 1})
    yield Case("mean float32 axis=1", "_npi_mean", [a], lambda x, o: np.mean(x, axis=1), lambda x, o: torch.mean(x, 1), {"axis": 1},
               memory_bound=True)
    yield Case("var float32 axis=1", "_npi_var", [a], lambda x, o: np.var(x, axis=1),
               lambda x, o: torch.var(x, 1, correction=0), {"axis": 1}, compare=False)
    yield Case("norm float32", "norm", [a], lambda x, o: np.linalg.norm(x.ravel()), lambda x, o: torch.linalg.vector_norm(x),
               memory_bound=True)
    for shape in ((8, 64, 28, 28), (32, 512, 7, 7)):
        yield Case(f"global average of {shape[2]} x {shape[3]}", "Pooling", [make("float32", *shape)], lambda x, o: np.mean(x, (2, 3), keepdims=True),
                   lambda x, o: torch.nn.functional.adaptive_avg_pool2d(x, 1), {"kernel": (1, 1), "global_pool": True, "pool_type": "avg"},
                   memory_bound=True)
    for name, of_torch in (("sum", "sum"), ("max", "amax")):
        yield Case(f"{name} of outer and inner", f"_np_{name}", [make("float32", 100, 100, 100)], lambda x, o, f=getattr(np, name): f(x, (0, 2)),
                   lambda x, o, f=getattr(torch, of_torch, None): f(x, (0, 2)), {"axis": (0, 2)}, memory_bound=True)
