# SPDX-License-Identifier: Apache-2.0
"""Taking, choosing and marking elements by position or condition."""
import numpy as np
from case import RNG, Case, integers, normals

N = 1 << 20


def numpy_one_hot(i, o):
    o.fill(0)
    o[np.arange(len(i)), i] = 1
    return o


def torch_one_hot(i, o):
    o.zero_().scatter_(1, i[:, None], 1.0)


def taking(torch):
    at = integers("int64", 100000, N)
    for kind in ("int64", "int32"):
        yield Case(f"take 1 Mi float32 by {kind}", "take", [normals("float32", 100000), at.astype(kind)],
                   lambda x, i, o: np.take(x, i, out=o, mode="clip"), lambda x, i, o: torch.index_select(x, 0, i, out=o))
    for width in (16, 64, 300):
        yield Case(f"Embedding 8192 x {width}", "Embedding", [integers("int64", 50000, 8192), normals("float32", 50000, width)],
                   lambda i, w, o: np.take(w, i, axis=0, out=o, mode="clip"), lambda i, w, o: torch.index_select(w, 0, i, out=o),
                   {"input_dim": 50000, "output_dim": width}, memory_bound=True)
    yield Case("take along axis 1", "take", [normals("float32", 1000, 1000), integers("int64", 1000, 500)],
               lambda x, i, o: np.take(x, i, axis=1, out=o, mode="clip"), lambda x, i, o: torch.index_select(x, 1, i, out=o),
               {"axis": 1})
    yield Case("pick", "pick", [normals("float32", 10000, 100), integers("int64", 100, 10000)],
               lambda x, i, o: np.take_along_axis(x, i[:, None], 1), lambda x, i, o: torch.gather(x, 1, i[:, None]))


def choosing(torch):
    x, y, mask = normals("float32", N), normals("float32", N), integers("bool", 2, N)
    for label, c, a, b in (("bool float32", mask, x, y), ("bool float64", mask, x.astype("float64"), y.astype("float64"))):
        yield Case(f"where {label}", "where", [c, a, b], lambda c, a, b, o: np.where(c, a, b),
                   lambda c, a, b, o: torch.where(c, a, b, out=o), memory_bound=True)
    yield Case("where float32 float32", "where", [mask.astype("float32"), x, y], lambda c, a, b, o: np.where(c, a, b),
               lambda c, a, b, o: torch.where(c != 0, a, b, out=o), memory_bound=True)
    yield Case("where rows", "where", [mask[:1024], x.reshape(1024, 1024), y.reshape(1024, 1024)],
               lambda c, a, b, o: np.where(c[:, None], a, b), lambda c, a, b, o: torch.where(c[:, None], a, b, out=o), memory_bound=True)
    yield Case("where or a number", "_npi_where_rscalar", [mask, x], lambda c, a, o: np.where(c, a, np.float32(0)),
               lambda c, a, o: torch.where(c, a, 0.0), {"scalar": 0}, memory_bound=True)
    few = RNG.random(N) < 0.01
    yield Case("nonzero of few", "_npx_nonzero", [few], lambda x, o: np.stack(np.nonzero(x), 1), lambda x, o: torch.nonzero(x))
    yield Case("boolean_mask of few", "_contrib_boolean_mask", [x, few], lambda x, m, o: x[m], lambda x, m, o: x[m])
    yield Case("boolean_mask", "_contrib_boolean_mask", [normals("float32", 10000, 64), integers("int32", 2, 10000)],
               lambda x, m, o: x[m != 0], lambda x, m, o: x[m != 0])


def cases(torch):
    yield from taking(torch)
    yield from choosing(torch)
    yield Case("one_hot 4096 x 1000", "one_hot", [integers("int64", 1000, 4096)], numpy_one_hot, torch_one_hot, {"depth": 1000},
               memory_bound=True)
    yield Case("one_hot 1e5 x 10", "one_hot", [integers("int64", 10, 100000)], numpy_one_hot, torch_one_hot, {"depth": 10},
               memory_bound=True)
    a = normals("float32", 2048, 2048)
    yield Case("slice box", "slice", [a], lambda x, o: np.copyto(o, x[100:1900, 100:1900]),
               lambda x, o: o.copy_(x[100:1900, 100:1900]), {"begin": "(100,100)", "end": "(1900,1900)"}, compare=False,
               memory_bound=True)
    yield Case("slice step 2", "slice", [a], lambda x, o: np.copyto(o, x[:, ::2]), lambda x, o: o.copy_(x[:, ::2]),
               {"begin": "(0,0)", "end": "(2048,2048)", "step": "(1,2)"}, compare=False, memory_bound=True)
