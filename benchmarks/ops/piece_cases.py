# SPDX-License-Identifier: Apache-2.0
"""Moves of pieces of a few bytes: narrow parts, flips, repeats, short rows taken, put, chosen and ordered."""
import numpy as np
from case import Case, copied, integers, normals

ROWS = 1 << 16


def numbers(dtype, *shape):
    return normals(dtype, *shape) if dtype.startswith("float") else integers(dtype, 100, *shape)


def flips(torch):
    for dtype in ("uint8", "float16", "float64"):
        yield Case(f"flip last {dtype}", "reverse", [numbers(dtype, 1024, 1024)], copied(lambda x: x[:, ::-1]),
                   lambda x, o: torch.flip(x, (1,)), {"axis": "(1,)"}, memory_bound=True)


def joins(torch):
    for dtype, widths in (("float32", (2,) * 8), ("float32", (5,) * 4), ("float32", (2, 3, 5)), ("uint8", (3,) * 8), ("float64", (3,) * 2)):
        parts = [numbers(dtype, ROWS, width) for width in widths]
        yield Case(f"concat of {len(widths)}, {widths[-1]} wide, {dtype}", "Concat", parts, lambda *x: np.concatenate(x[:-1], 1, out=x[-1]),
                   lambda *x: torch.cat(x[:-1], 1, out=x[-1]), {"num_args": len(parts), "dim": 1}, memory_bound=True)
    for count, width in ((4, 3), (4, 5)):
        yield Case(f"split into {count}, {width} wide", "SliceChannel", [normals("float32", ROWS, count * width)],
                   lambda x, o, n=count: [np.ascontiguousarray(p) for p in np.split(x, n, 1)],
                   lambda x, o, w=width: [p.contiguous() for p in torch.split(x, w, 1)], {"num_outputs": count, "axis": 1}, memory_bound=True)


def repeats(torch):
    for dtype, count in (("uint8", 2), ("uint8", 10), ("float16", 3), ("float32", 2), ("float64", 3)):
        yield Case(f"repeat {count} {dtype}", "repeat", [numbers(dtype, 1024, 512)], lambda x, o, n=count: np.repeat(x, n, 1),
                   lambda x, o, n=count: torch.repeat_interleave(x, n, dim=1), {"repeats": count, "axis": 1}, memory_bound=True)
    yield Case("tile rows of 3", "tile", [normals("float32", ROWS, 3)], lambda x, o: np.tile(x, (1, 4)), lambda x, o: torch.tile(x, (1, 4)),
               {"reps": "(1,4)"}, memory_bound=True)
    yield Case("slice step 2 uint8", "slice", [numbers("uint8", 1024, 1024)], lambda x, o: np.copyto(o, x[:, ::2]), lambda x, o: o.copy_(x[:, ::2]),
               {"begin": "(0,0)", "end": "(1024,1024)", "step": "(1,2)"}, compare=False)


def planes(torch):
    """Small matrices, each turned, thinned out or cut; rows again and again."""
    for dtype in ("uint8", "float16", "float32", "float64"):
        yield Case(f"transpose 20000 matrices of 5 x 2 {dtype}", "transpose", [numbers(dtype, 20000, 5, 2)], copied(lambda x: x.transpose(0, 2, 1)),
                   lambda x, o: o.copy_(x.transpose(1, 2)), {"axes": "(0,2,1)"}, memory_bound=True)
    for shape in ((20000, 3, 4), (3000, 8, 8)):
        yield Case(f"transpose matrices of {shape[1]} x {shape[2]}", "transpose", [normals("float32", *shape)], copied(lambda x: x.transpose(0, 2, 1)),
                   lambda x, o: o.copy_(x.transpose(1, 2)), {"axes": "(0,2,1)"}, memory_bound=True)
    yield Case("slice 3 x 2 of 5 x 4", "slice", [normals("float32", 20000, 5, 4)], copied(lambda x: x[:, 1:4, ::2]), lambda x, o: o.copy_(x[:, 1:4, ::2]),
               {"begin": "(0,1,0)", "end": "(20000,4,4)", "step": "(1,1,2)"}, memory_bound=True)
    yield Case("tril of matrices of 5 x 5", "_npi_tril", [normals("float32", 5000, 5, 5)], lambda x, o: np.tril(x), lambda x, o: torch.tril(x, out=o),
               memory_bound=True)
    images = normals("float32", 8, 64, 32, 32)
    yield Case("space_to_depth", "space_to_depth", [images], lambda x, o: np.ascontiguousarray(x.reshape(8, 64, 16, 2, 16, 2).transpose(0, 3, 5, 1, 2, 4)),
               lambda x, o: x.view(8, 64, 16, 2, 16, 2).permute(0, 3, 5, 1, 2, 4).contiguous(), {"block_size": 2}, memory_bound=True)
    for dtype, width in (("float32", 8), ("float32", 32), ("uint8", 32), ("float64", 16)):
        a = numbers(dtype, 60000, width)
        yield Case(f"tile rows of {width} {dtype}", "tile", [a], lambda x, o: np.tile(x, (1, 3)), lambda x, o: torch.tile(x, (1, 3)), {"reps": "(1,3)"},
                   memory_bound=True)
        yield Case(f"repeat rows of {width} {dtype}", "repeat", [a], lambda x, o: np.repeat(x, 3, 0),
                   lambda x, o: torch.repeat_interleave(x, 3, dim=0), {"repeats": 3, "axis": 0}, memory_bound=True)
    for width in (3, 20):
        yield Case(f"tile a vector of {width}", "tile", [normals("float32", width)], lambda x, o: np.tile(x, 100000), lambda x, o: torch.tile(x, (100000,)),
                   {"reps": "(100000,)"}, memory_bound=True)


def rows(torch):
    at = integers("int64", 10000, 100000)
    for width in (2, 3, 5, 7):
        yield Case(f"take rows of {width}", "take", [normals("float32", 10000, width), at], lambda x, i, o: np.take(x, i, axis=0, out=o, mode="clip"),
                   lambda x, i, o: torch.index_select(x, 0, i, out=o))
    places = np.stack([at // 100, at % 100])
    for width in (1, 3):
        yield Case(f"gather_nd, rows of {width}", "gather_nd", [normals("float32", 100, 100, width), places], lambda x, i, o: x[i[0], i[1]],
                   lambda x, i, o: x[i[0], i[1]])
        yield Case(f"scatter_nd, rows of {width}", "scatter_nd", [normals("float32", 100000, width), places],
                   lambda x, i, o: (o.fill(0), o.__setitem__((i[0], i[1]), x)), lambda x, i, o: o.zero_().index_put_((i[0], i[1]), x),
                   {"shape": f"(100,100,{width})"}, compare=False)
    for width in (1, 3):
        yield Case(f"where, rows of {width}", "where", [integers("bool", 2, 200000), normals("float32", 200000, width), normals("float32", 200000, width)],
                   lambda c, a, b, o: np.where(c[:, None], a, b), lambda c, a, b, o: torch.where(c[:, None], a, b, out=o))
    for dtype in ("uint8", "float16", "float32"):
        yield Case(f"outer {dtype}", "_npi_tensordot_int_axes", [numbers(dtype, 1000)] * 2, lambda x, y, o: np.outer(x, y),
                   lambda x, y, o: torch.outer(x, y), {"axes": 0}, compare=False)


def orders(torch):
    for dtype in ("float32", "int64"):
        for n in (8, 32):
            a = normals(dtype, (1 << 18) // n, n) if dtype == "float32" else integers(dtype, 10**9, (1 << 18) // n, n)
            yield Case(f"argsort rows of {n} {dtype}", "argsort", [a], lambda x, o: np.argsort(x, 1, kind="stable"), lambda x, o: torch.argsort(x, 1),
                       {"dtype": "int64"}, compare=False)
            yield Case(f"topk 2 of rows of {n} {dtype}", "topk", [a], None, lambda x, o: torch.topk(x, 2, 1), {"k": 2, "ret_typ": "both", "dtype": "int64"},
                       compare=False)


def cases(torch):
    for some in (flips, joins, repeats, planes, rows, orders):
        yield from some(torch)
