# SPDX-License-Identifier: Apache-2.0
"""Arrays with a long dimension beside short ones: points, colours, sequences of a few features, axes of one element."""
import numpy as np
from case import Case, copied, integers, normals

POINTS = 20000


def numbers(dtype, *shape):
    return normals(dtype, *shape, scale=50) if dtype.startswith("float") else integers(dtype, 200, *shape)


def reductions(torch):
    for dtype in ("float32", "float64", "int32", "uint8"):
        yield Case(f"argmax of 3 columns {dtype}", "_npi_argmax", [numbers(dtype, POINTS, 3)], lambda x, o: np.argmax(x, 0),
                   lambda x, o: torch.argmax(x, 0), {"axis": 0})
    for shape in ((64, 100, 3), (32, 100, 7)):
        a = normals("float32", *shape)
        yield Case(f"sum of 100 rows of {shape[2]}", "_np_sum", [a], lambda x, o: np.sum(x, 1), lambda x, o: torch.sum(x, 1), {"axis": "(1,)"})
        yield Case(f"argmax of 100 rows of {shape[2]}", "_npi_argmax", [a], lambda x, o: np.argmax(x, 1), lambda x, o: torch.argmax(x, 1), {"axis": 1})
    for width in (1, 3):
        yield Case(f"norm of rows of {width}", "_npi_norm", [normals("float32", POINTS, width)], lambda x, o: np.linalg.norm(x, axis=1),
                   lambda x, o: torch.linalg.vector_norm(x, dim=1), {"axis": "(1,)", "flag": 1}, compare=False)
    for dtype in ("float16", "int8"):
        yield Case(f"sum of 2 long columns {dtype}", "sum", [numbers(dtype, 10 * POINTS, 2)], lambda x, o: np.sum(x, 0, dtype=x.dtype),
                   lambda x, o: torch.sum(x, 0, dtype=x.dtype), {"axis": "(0,)"}, compare=False, memory_bound=True)
    for width in (32, 128):
        data = [normals("float32", POINTS // 10, width), normals("float32", width), normals("float32", width)]
        yield Case(f"layer_norm rows of {width}", "LayerNorm", data, None,
                   lambda x, g, b, o: torch.nn.functional.layer_norm(x, g.shape, g, b), compare=False)
    for dtype, shape in (("float32", (3000, 5)), ("float16", (1000, 32)), ("float16", (16, 64, 14, 14))):
        data = [numbers(dtype, *shape), *(normals("float32", shape[1]) for _ in range(3)), abs(normals("float32", shape[1])) + 1]
        yield Case(f"batch_norm {' x '.join(map(str, shape))} {dtype}", "BatchNorm", data, None,
                   lambda x, g, b, m, v, o: torch.nn.functional.batch_norm(x, m, v, g, b), {"use_global_stats": True, "fix_gamma": False}, compare=False)
    a = normals("float32", 50, 60, 70)
    yield Case("sum of runs of 70", "_np_sum", [a], lambda x, o: np.sum(x, (0, 2)), lambda x, o: torch.sum(x, (0, 2)), {"axis": "(0,2)"})
    for dtype, width in (("int64", 17), ("int32", 17), ("uint8", 14)):
        yield Case(f"sort rows of {width} {dtype}", "sort", [numbers(dtype, POINTS // 4, width)], lambda x, o: np.sort(x, 1), lambda x, o: torch.sort(x, 1))
    for op in ("sort", "argsort"):
        yield Case(f"{op} rows of 1", op, [normals("float32", POINTS, 1)], lambda x, o, f=getattr(np, op): f(x, 1),
                   lambda x, o, op=op: getattr(torch, op)(x, 1), {"dtype": "int64"} if op == "argsort" else {})


def moves(torch):
    for dtype in ("uint8", "float32"):
        a = numbers(dtype, POINTS, 3)
        yield Case(f"flip rows of 3 {dtype}", "reverse", [a], copied(lambda x: x[::-1]), lambda x, o: torch.flip(x, (0,)), {"axis": "(0,)"},
                   memory_bound=True)
        for label, widths in (("between", ((0, 0), (1, 1))), ("around", ((1, 1), (0, 0)))):
            pairs = str(widths).replace(" ", "")
            yield Case(f"pad {label} rows of 3 {dtype}", "_npi_pad", [a], lambda x, o, w=widths: np.pad(x, w),
                       lambda x, o, w=widths: torch.nn.functional.pad(x, (*w[1], *w[0])), {"pad_width": pairs}, memory_bound=True)
    for width in (32, 64):
        parts = [normals("float32", POINTS // 4, width), normals("float32", POINTS // 4, 1)]
        yield Case(f"concat {width} wide and 1", "Concat", parts, lambda *x: np.concatenate(x[:-1], 1, out=x[-1]),
                   lambda *x: torch.cat(x[:-1], 1, out=x[-1]), {"num_args": 2, "dim": 1}, memory_bound=True)


def rows(torch):
    """Whole rows are chosen, repeated, spread; halves are summed."""
    x, y, condition = normals("float32", 300, 4, 2), normals("float32", 300, 4, 2), integers("bool", 2, 300, 1, 1)
    yield Case("where by rows of 4 x 2", "_npi_where", [condition, x, y], lambda c, x, y, o: np.where(c, x, y),
               lambda c, x, y, o: torch.where(c, x, y), memory_bound=True)
    yield Case("broadcast_to planes of 4 x 2", "broadcast_to", [normals("float32", 1, 4, 1)], copied(lambda x: np.broadcast_to(x, (514, 4, 2))),
               copied(lambda x: x.expand(514, 4, 2)), {"shape": "(514,4,2)"}, memory_bound=True)
    yield Case("UpSampling nearest", "UpSampling", [normals("float32", 1, 3, 100, 120)], None,
               lambda x, o: torch.nn.functional.interpolate(x, scale_factor=2, mode="nearest"),
               {"scale": 2, "sample_type": "nearest", "num_args": 1}, memory_bound=True)
    a, b = normals("float16", 1 << 20), normals("float16", 1 << 20)
    yield Case("dot of vectors float16", "dot", [a, b], None, lambda x, y, o: torch.dot(x, y), compare=False, memory_bound=True)
    yield Case("add_n of 3 float16", "add_n", [a, b, a[::-1].copy()], None, lambda x, y, z, o: x + y + z, {"num_args": 3}, compare=False,
               memory_bound=True)


def cases(torch):
    yield from reductions(torch)
    yield from moves(torch)
    yield from rows(torch)
