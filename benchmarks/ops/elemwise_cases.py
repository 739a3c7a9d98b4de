# SPDX-License-Identifier: Apache-2.0
"""Functions of numbers, element by element: large arrays, broadcasts, half precision, conversions."""
import numpy as np
from case import Case, floats, integers, normals

N = 1 << 20


def unary(torch, op, dtype, values, memory_bound=False):
    ufunc = getattr(np, op, None)
    return Case(f"{op} {dtype}", op, [values], None if ufunc is None else lambda x, o: ufunc(x, out=o),
                lambda x, o: getattr(torch, op)(x, out=o), memory_bound=memory_bound)


def binary(torch, label, op, a, b, name):
    return Case(label, op, [a, b], lambda x, y, o: getattr(np, {"pow": "power"}.get(name, name))(x, y, out=o),
                lambda x, y, o: getattr(torch, name)(x, y, out=o), memory_bound=name != "pow")


def cases(torch):
    for dtype in ("float32", "float64"):
        for op in ("exp", "log", "log1p", "expm1", "tanh", "sin", "cos", "sqrt", "sigmoid", "erf"):
            yield unary(torch, op, dtype, normals(dtype, N, scale=3) if op in ("sin", "cos", "tanh", "erf") else floats(dtype, N))
        for op in ("log2", "log10", "tan"):
            yield unary(torch, op, dtype, floats(dtype, N))
    yield unary(torch, "abs", "float16", normals("float16", N), memory_bound=True)
    yield unary(torch, "abs", "int32", integers("int32", 100, N), memory_bound=True)
    yield unary(torch, "exp", "float16", floats("float16", N))
    for dtype in ("float32", "float64", "float16"):
        yield binary(torch, f"add {dtype}", "elemwise_add", floats(dtype, N), floats(dtype, N), "add")
    yield binary(torch, "add int32", "elemwise_add", integers("int32", 100, N), integers("int32", 100, N), "add")
    yield binary(torch, "multiply 8 Mi float32", "elemwise_mul", floats("float32", 8 * N), floats("float32", 8 * N), "multiply")
    for label, left, right in (("", (16 * N,), (16 * N,)), (" row", (16 * 1024, 1024), (1, 1024))):
        yield binary(torch, f"add 16 Mi float32{label}", "broadcast_add", floats("float32", *left), floats("float32", *right), "add")
    yield binary(torch, "maximum float32", "broadcast_maximum", normals("float32", N), normals("float32", N), "maximum")
    for dtype in ("float32", "float64"):
        yield binary(torch, f"power {dtype}", "broadcast_power", floats(dtype, N), normals(dtype, N), "pow")
        yield binary(torch, f"hypot {dtype}", "broadcast_hypot", normals(dtype, N), normals(dtype, N), "hypot")
    for label, left, right in (("row", (1000, 1000), (1, 1000)), ("column", (1000, 1000), (1000, 1)),
                               ("4 wide, row", (250000, 4), (1, 4)), ("4 wide, column", (250000, 4), (250000, 1))):
        yield binary(torch, f"broadcast add {label}", "broadcast_add", floats("float32", *left), floats("float32", *right), "add")
    yield Case("greater float32", "_npi_greater", [normals("float32", N), normals("float32", N)],
               lambda x, y, o: np.greater(x, y, out=o), lambda x, y, o: torch.gt(x, y, out=o), memory_bound=True)
    for source, target in (("float32", "float16"), ("float16", "float32"), ("float32", "int32"), ("int64", "float32")):
        values = integers(source, 100, N) if source == "int64" else normals(source, N, scale=10)
        yield Case(f"cast {source} to {target}", "Cast", [values], lambda x, o: np.copyto(o, x, casting="unsafe"),
                   lambda x, o: o.copy_(x), {"dtype": target}, compare=False, memory_bound=True)
    yield Case("clip float32", "clip", [normals("float32", N)], lambda x, o: np.clip(x, -1, 1, out=o),
               lambda x, o: torch.clamp(x, -1, 1, out=o), {"a_min": -1, "a_max": 1}, memory_bound=True)
    yield Case("smooth_l1", "smooth_l1", [normals("float32", N)], None,
               lambda x, o: torch.nn.functional.smooth_l1_loss(x, torch.zeros(1).expand_as(x), reduction="none"), {"scalar": 1.0}, memory_bound=True)
