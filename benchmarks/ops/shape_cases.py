# SPDX-License-Identifier: Apache-2.0
"""Elements in another order or several times: transposes, joins, splits, borders."""
import numpy as np
from case import Case, copied, normals


def transpose(label, shape, axes, dtype="float32"):
    return Case(f"transpose {label} {dtype}", "transpose", [normals(dtype, *shape)], copied(lambda x: x.transpose(axes)),
                lambda x, o: o.copy_(x.permute(axes)), {"axes": str(axes).replace(" ", "")}, memory_bound=True)


def spread(label, shape):
    return Case(f"broadcast {label}", "broadcast_to", [normals("float32", *shape)],
                copied(lambda x: np.broadcast_to(x, (2048, 2048))), lambda x, o: o.copy_(x), {"shape": "(2048,2048)"}, memory_bound=True)


def joins(torch, a):
    for axis in (0, 1):
        yield Case(f"concat axis={axis}", "Concat", [a] * 4, lambda *x, axis=axis: np.concatenate(x[:-1], axis, out=x[-1]),
                   lambda *x, axis=axis: torch.cat(x[:-1], axis, out=x[-1]), {"num_args": 4, "dim": axis}, memory_bound=True)
    yield Case("concat narrow", "Concat", [normals("float32", 65536, 3)] * 8, lambda *x: np.concatenate(x[:-1], 1, out=x[-1]),
               lambda *x: torch.cat(x[:-1], 1, out=x[-1]), {"num_args": 8, "dim": 1}, memory_bound=True)
    yield Case("stack last", "stack", [normals("float32", 262144)] * 8, lambda *x: np.stack(x[:-1], -1, out=x[-1]),
               lambda *x: torch.stack(x[:-1], -1, out=x[-1]), {"num_args": 8, "axis": -1}, memory_bound=True)
    yield Case("split axis=1", "SliceChannel", [a], lambda x, o: [np.ascontiguousarray(p) for p in np.split(x, 4, 1)],
               lambda x, o: [p.contiguous() for p in torch.split(x, 256, 1)], {"num_outputs": 4, "axis": 1}, memory_bound=True)


def cases(torch):
    for dtype in ("float32", "float64", "float16", "uint8"):
        yield transpose("2048x2048", (2048, 2048), (1, 0), dtype)
    for label, shape, axes in (("ragged", (1999, 2051), (1, 0)), ("64x64", (64, 64), (1, 0)),
                               ("NCHW to NHWC", (16, 64, 56, 56), (0, 2, 3, 1)), ("NHWC to NCHW", (16, 56, 56, 64), (0, 3, 1, 2)),
                               ("HWC to CHW", (512, 512, 3), (2, 0, 1)), ("CHW to HWC", (3, 512, 512), (1, 2, 0)),
                               ("heads", (8, 128, 16, 64), (0, 2, 1, 3)), ("reversed 4-d", (32, 48, 40, 36), (3, 2, 1, 0)),
                               ("ends", (96, 96, 96), (2, 1, 0))):
        yield transpose(label, shape, axes)
    a = normals("float32", 1024, 1024)
    yield spread("rows", (1, 2048))
    yield spread("columns", (2048, 1))
    yield Case("tile 2 x 2", "tile", [a], lambda x, o: np.tile(x, (2, 2)), lambda x, o: torch.tile(x, (2, 2)), {"reps": "(2,2)"},
               memory_bound=True)
    for axis in (0, 1):
        yield Case(f"repeat axis={axis}", "repeat", [a], lambda x, o, axis=axis: np.repeat(x, 2, axis),
                   lambda x, o, axis=axis: torch.repeat_interleave(x, 2, dim=axis), {"repeats": 2, "axis": axis}, memory_bound=True)
    yield Case("flip last", "reverse", [a], copied(lambda x: x[:, ::-1]), lambda x, o: torch.flip(x, (1,)), {"axis": "(1,)"},
               memory_bound=True)
    yield Case("roll", "_np_roll", [a], lambda x, o: np.roll(x, 3, 1), lambda x, o: torch.roll(x, 3, 1), {"shift": 3, "axis": 1},
               memory_bound=True)
    yield from joins(torch, a)
    for mode in ("constant", "reflect"):
        yield Case(f"pad {mode}", "Pad", [normals("float32", 16, 64, 28, 28)],
                   lambda x, o, mode=mode: np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), mode),
                   lambda x, o, mode=mode: torch.nn.functional.pad(x, (1, 1, 1, 1), mode),
                   {"mode": mode, "pad_width": "(0,0,0,0,1,1,1,1)"}, memory_bound=True)
