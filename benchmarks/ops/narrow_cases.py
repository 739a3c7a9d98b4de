# SPDX-License-Identifier: Apache-2.0
"""Arrays with a long dimension beside short ones: points, colours, sequences of a few features, axes of one element."""
import numpy as np
from case import Case, copied, integers, normals

POINTS = 20000

REDUCTIONS = [(name, dtype, (50, 100, 4), 1) for name, dtype in (("sum", "float64"), ("nansum", "float32"), ("mean", "float32"), ("max", "float64"),
                                                                  ("argmin", "float64"), ("argmin", "int32"), ("sum", "int64"))]
REDUCTIONS += [(name, "float32", (12, 100, 16), 1) for name in ("sum", "argmin", "nansum")]
REDUCTIONS += [(name, dtype, (1176, 17), 1) for name in ("prod", "max", "norm", "nansum") for dtype in ("float32", "float64")]
REDUCTIONS += [("max", dtype, (606, 33), 1) for dtype in ("float32", "float64", "int32")]
REDUCTIONS += [("any", "float32", (POINTS, 1), 1), ("sum", "float32", (POINTS, 1), 1), ("mean", "float16", (POINTS, 1), 1), ("norm", "float16", (POINTS, 1), 1)]
REDUCTIONS += [("sum", dtype, (500, 20, 2), (0, 2)) for dtype in ("int8", "uint8")]
REDUCTIONS += [("min", "uint8", (301, 777), 1), ("max", "int32", (1031, 2053), 1), ("mean", "float16", (256, 2, 1111), 1), ("sum", "float32", (10, 2, 20000), 1)]


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


def short_reductions(torch):
    """Classes of reductions that a sweep over shapes, types and operators had found behind (`REDUCTIONS`)."""
    names = {"max": "amax", "min": "amin"}
    for name, dtype, shape, axis in REDUCTIONS:
        a = numbers(dtype, *shape)
        if name in ("prod", "nansum"):
            a = np.clip(a, -1.01, 1.01).astype(dtype)
        op = "nansum" if name == "nansum" else f"_npi_{name}" if name in ("mean", "norm", "argmin") else f"_np_{name}"
        attrs = {"axis": axis if name == "argmin" else str(axis).replace(" ", "") if isinstance(axis, tuple) else f"({axis},)"}
        if name == "norm":
            attrs["flag"] = 1
        of_numpy = np.linalg.norm if name == "norm" else getattr(np, name)
        of_torch = torch and (torch.linalg.vector_norm if name == "norm" else getattr(torch, names.get(name, name)))
        yield Case(f"{name} {'x'.join(map(str, shape))} {dtype} axis={axis}", op, [a],
                   lambda x, o, f=of_numpy, axis=axis: f(x, axis=axis), lambda x, o, f=of_torch, axis=axis: f(x, dim=axis), attrs,
                   compare=dtype not in ("float16", "uint8", "int8") and name not in ("prod", "nansum"))


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


def layers(torch):
    """Layers whose rows, channels or weights are such that to bring them into another form would take most of the time."""
    yield Case("prelu of 256 x 1111", "LeakyReLU", [normals("float32", 256, 1111), normals("float32", 1111)], None,
               lambda x, g, o: torch.nn.functional.prelu(x, g), {"act_type": "prelu"}, compare=False)
    yield Case("UpSampling of 7 x 7", "UpSampling", [normals("float32", 16, 128, 7, 7)], None,
               lambda x, o: torch.nn.functional.interpolate(x, scale_factor=2, mode="nearest"), {"scale": 2, "sample_type": "nearest", "num_args": 1})
    for images, channels, size, filters in ((4, 24, 57, 24), (2, 512, 14, 21), (1, 1, 224, 16), (1, 64, 224, 1)):
        data = [normals("float32", images, channels, size, size), normals("float32", filters, channels, 1, 1), normals("float32", filters)]
        yield Case(f"convolution of single pixels, {channels} to {filters}", "Convolution", data, None,
                   lambda x, w, b, o: torch.nn.functional.conv2d(x, w, b), {"kernel": "(1,1)", "num_filter": filters}, compare=False)
    for images, channels, size in ((8, 3, 64), (8, 16, 32)):
        data = [normals("float32", images, channels, size, size), np.tanh(normals("float32", images, 2, size, size))]
        yield Case(f"BilinearSampler {images} x {channels} x {size} x {size}", "BilinearSampler", data, None,
                   lambda x, g, o: torch.nn.functional.grid_sample(x, g.permute(0, 2, 3, 1), align_corners=True), compare=False)
    data = [normals("float16", 1, 2048), normals("float16", 2048, 2048), normals("float16", 2048)]
    yield Case("one row by 2048 x 2048 float16", "FullyConnected", data, None, lambda x, w, b, o: torch.nn.functional.linear(x, w, b),
               {"num_hidden": 2048}, compare=False)


def cases(torch):
    yield from layers(torch)
    yield from reductions(torch)
    yield from short_reductions(torch)
    yield from moves(torch)
    yield from rows(torch)
