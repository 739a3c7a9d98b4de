# SPDX-License-Identifier: Apache-2.0
"""Softmax along axes that are not the last one and in short rows; axes of one element; borders of one dimension; matrices and columns
of halves, bytes and integers, and a number for each channel of images."""
import numpy as np
from case import Case, integers, normals


def softmaxes(torch):
    for op, dtype, shape, axis in (("softmax", "float32", (25216, 3, 4), 1), ("softmax", "float32", (40000, 7), 0), ("softmax", "float16", (64, 21, 400), 1),
                                   ("log_softmax", "float32", (97, 64, 21), 1), ("log_softmax", "float16", (1600, 31, 4), 1),
                                   ("softmax", "float16", (301, 777), 0), ("log_softmax", "float16", (301, 777), 0),
                                   ("log_softmax", "float32", (5000, 16), 1), ("log_softmax", "float32", (4000, 21), 1),
                                   ("log_softmax", "float32", (2, 12992), 0), ("softmin", "float32", (5000, 16), 1)):
        text = " x ".join(map(str, shape))
        yield Case(f"{op} axis {axis} of {text} {dtype}", op, [normals(dtype, *shape)], None,
                   lambda x, o, op=op, axis=axis: getattr(torch.nn.functional, op)(x, dim=axis), {"axis": axis})


def slopes(torch):
    """Gradients of log_softmax along rows of a few elements, of which a result was kept."""
    for shape in ((20000, 3), (5000, 16), (3000, 33)):
        x = normals("float32", *shape)
        y = (x - np.log(np.exp(x.astype("float64")).sum(1, keepdims=True))).astype("float32")
        yield Case(f"gradient of log_softmax {shape[0]} x {shape[1]}", "_backward_log_softmax", [normals("float32", *shape), y, x], None,
                   lambda g, y, x, o: torch._log_softmax_backward_data(g, y, 1, torch.float32), {"axis": 1})


def single(torch):
    """One element for each result."""
    for name, dtype in (("max", "float16"), ("max", "int64"), ("prod", "float64"), ("all", "bool")):
        a = normals(dtype, 400000, 1) if dtype.startswith("float") else integers(dtype, 2, 400000, 1)
        yield Case(f"{name} of rows of 1 {dtype}", f"_np_{name}", [a], lambda x, o, f=getattr(np, name): f(x, axis=1),
                   lambda x, o, f={"max": "amax"}.get(name, name): getattr(torch, f)(x, 1), {"axis": 1}, memory_bound=True)


def columns(torch):
    for name, dtype, left, right in (("multiply", "float16", (1270, 66), (1270, 1)), ("maximum", "float16", (3000, 200), (3000, 1)),
                                     ("multiply", "uint8", (3000, 200), (3000, 1)), ("add", "int32", (4000, 33), (4000, 1)),
                                     ("maximum", "float32", (16, 32, 7, 7), (1, 32, 1, 1))):
        a, b = ((normals(dtype, *shape) if dtype.startswith("float") else integers(dtype, 100, *shape)) for shape in (left, right))
        yield Case(f"{name} {' x '.join(map(str, left))} and a column {dtype}", f"_npi_{name}", [a, b],
                   lambda x, y, o, f=getattr(np, name): f(x, y, out=o), lambda x, y, o, f=getattr(torch, name, None): f(x, y, out=o))


def cases(torch):
    yield from softmaxes(torch)
    yield from slopes(torch)
    yield from single(torch)
    yield Case("pad rows of 5 in 3 dimensions", "_npi_pad", [normals("float32", 6000, 4, 5)], lambda x, o: np.pad(x, ((0, 0), (0, 0), (1, 2))),
               lambda x, o: torch.nn.functional.pad(x, (1, 2)), {"pad_width": "((0,0),(0,0),(1,2))"}, memory_bound=True)
    yield from columns(torch)
