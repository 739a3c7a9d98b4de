# SPDX-License-Identifier: Apache-2.0
"""What programs of mx.np call most besides arithmetic: questions, masks, remainders, searches, counts, percentages."""
import numpy as np
from case import Case, integers, normals

SHAPE = (1000, 1000)


def questions(torch):
    a, b = normals("float32", *SHAPE), integers("bool", 2, *SHAPE)
    never = np.zeros(SHAPE, "bool")
    for name in ("isnan", "isfinite"):
        yield Case(name, f"_npi_{name}", [a], lambda x, o, f=getattr(np, name): f(x, out=o),
                   lambda x, o, f=getattr(torch, name, None): f(x), memory_bound=True)
    yield Case("greater than a number, float64", "_npi_greater_scalar", [a.astype("float64")], lambda x, o: np.greater(x, 0.5, out=o),
               lambda x, o: torch.gt(x, 0.5, out=o), {"scalar": 0.5, "is_int": False}, memory_bound=True)
    yield Case("logical_not bool", "_npi_logical_not", [b], lambda x, o: np.logical_not(x, out=o), lambda x, o: torch.logical_not(x, out=o))
    for axis in (None, 0, 1):
        yield Case(f"any bool axis={axis}", "_np_any", [never], lambda x, o, axis=axis: np.any(x, axis=axis),
                   lambda x, o, axis=axis: torch.any(x) if axis is None else torch.any(x, axis), {} if axis is None else {"axis": axis})
    yield Case("max uint8 axis=0", "_np_max", [integers("uint8", 200, *SHAPE)], lambda x, o: np.max(x, axis=0),
               lambda x, o: torch.amax(x, 0), {"axis": 0})
    yield Case("argmin float32", "_npi_argmin", [a], lambda x, o: np.argmin(x), lambda x, o: torch.argmin(x))


def arithmetic(torch):
    for dtype in ("int32", "int64", "float32", "float64"):
        a, b = (integers(dtype, 100, *SHAPE) + low for low in (0, 1))
        yield Case(f"mod {dtype}", "_npi_mod", [a.astype(dtype), b.astype(dtype)], lambda x, y, o: np.mod(x, y, out=o),
                   lambda x, y, o: torch.remainder(x, y, out=o))
    a = normals("float64", *SHAPE)
    yield Case("square as a power, float64", "_npi_power_scalar", [a], lambda x, o: np.power(x, 2, out=o),
               lambda x, o: torch.pow(x, 2, out=o), {"scalar": 2}, memory_bound=True)
    for exponent in (3, -2, -0.5):
        yield Case(f"power {exponent} float32", "_npi_power_scalar", [abs(a).astype("float32")],
                   lambda x, o, e=exponent: np.power(x, np.float32(e), out=o), lambda x, o, e=exponent: torch.pow(x, e, out=o),
                   {"scalar": exponent}, compare=False)
    yield Case("int32 divided by a number", "_div_scalar", [integers("int32", 10**9, *SHAPE)], lambda x, o: np.floor_divide(x, 7, out=o),
               lambda x, o: torch.div(x, 7, rounding_mode="trunc", out=o), {"scalar": 7}, memory_bound=True)
    yield Case("polyval", "_npi_polyval", [normals("float32", 4), normals("float32", *SHAPE)], lambda p, x, o: np.polyval(p, x),
               lambda p, x, o: ((p[0] * x + p[1]) * x + p[2]) * x + p[3])
    yield Case("dot of int32", "_np_dot", [integers("int32", 9, 10**6), integers("int32", 9, 10**6)], lambda x, y, o: np.dot(x, y),
               lambda x, y, o: torch.dot(x, y))
    a = normals("float32", 10**6)
    yield Case("ediff1d", "_npi_ediff1d", [a], lambda x, o: np.ediff1d(x), lambda x, o: torch.diff(x))


def selections(torch):
    a, mask = normals("float32", 10**6), integers("bool", 2, 10**6)
    yield Case("mask of elements", "_npi_boolean_mask", [a, mask], lambda x, m, o: x[m], lambda x, m, o: x[m])
    yield Case("nonzero", "_npx_nonzero", [mask.reshape(SHAPE)], lambda m, o: np.argwhere(m), lambda m, o: torch.nonzero(m))
    yield Case("bincount", "_npi_bincount", [integers("int64", 100, 10**6)], lambda x, o: np.bincount(x), lambda x, o: torch.bincount(x))
    for axis in (0, 1):
        yield Case(f"percentile axis={axis}", "_npi_percentile", [a.reshape(SHAPE)], lambda x, o, axis=axis: np.percentile(x, 30, axis=axis),
                   lambda x, o, axis=axis: torch.quantile(x, 0.3, axis), {"q_scalar": 30, "axis": axis})
    yield Case("slice step 2, 3", "slice", [a.reshape(SHAPE)], lambda x, o: np.copyto(o, x[::2, ::3]), lambda x, o: o.copy_(x[::2, ::3]),
               {"begin": "(0,0)", "end": "(1000,1000)", "step": "(2,3)"}, compare=False)
    yield Case("stack of two along the last axis", "_npi_stack", [a, a[::-1].copy()], lambda x, y, o: np.stack([x, y], -1, out=o),
               lambda x, y, o: torch.stack([x, y], -1, out=o), {"axis": -1, "num_args": 2}, memory_bound=True)
    for to in ("float32", "int64"):
        yield Case(f"cast bool to {to}", "Cast", [mask], lambda x, o: np.copyto(o, x), lambda x, o: o.copy_(x), {"dtype": to},
                   compare=False, memory_bound=True)


def cases(torch):
    yield from questions(torch)
    yield from arithmetic(torch)
    yield from selections(torch)
