# SPDX-License-Identifier: Apache-2.0
"""Sorting, selection and distinct elements."""
import numpy as np
from case import Case, integers, normals


def cases(torch):
    for dtype in ("float32", "float64", "int32", "int64", "uint8", "float16"):
        values = integers("uint8", 256, 1000000) if dtype == "uint8" else normals(dtype, 1000000, scale=9000)
        yield Case(f"sort 1e6 {dtype}", "sort", [values], lambda x, o: np.sort(x), lambda x, o: torch.sort(x))
    for dtype in ("float32", "int64"):
        yield Case(f"argsort 1e6 {dtype}", "argsort", [normals(dtype, 1000000, scale=9000)],
                   lambda x, o: np.argsort(x), lambda x, o: torch.argsort(x), {"dtype": "int64"}, compare=False)
    for shape, axis in (((1000, 1000), -1), ((10000, 100), -1), ((1000, 1000), 0)):
        values = normals("float32", *shape)
        yield Case(f"sort {shape} axis={axis}", "sort", [values], lambda x, o, axis=axis: np.sort(x, axis=axis),
                   lambda x, o, axis=axis: torch.sort(x, dim=axis), {"axis": axis})
        yield Case(f"argsort {shape} axis={axis}", "argsort", [values], lambda x, o, axis=axis: np.argsort(x, axis=axis),
                   lambda x, o, axis=axis: torch.argsort(x, dim=axis), {"axis": axis, "dtype": "int64"}, compare=False)
    yield Case("topk 10 of 1e6", "topk", [normals("float32", 1000000)], lambda x, o: np.argpartition(-x, 10)[:10],
               lambda x, o: torch.topk(x, 10), {"k": 10}, compare=False)
    yield Case("topk 1 of 1000, 1000 rows", "topk", [normals("float32", 1000, 1000)], lambda x, o: np.argmax(x, axis=1),
               lambda x, o: torch.max(x, 1), {"k": 1}, compare=False)
    yield Case("topk 100 of 10000, 200 rows", "topk", [normals("float32", 200, 10000)],
               lambda x, o: np.argpartition(-x, 100, axis=1)[:, :100], lambda x, o: torch.topk(x, 100), {"k": 100},
               compare=False)
    for dtype in ("int64", "float16"):
        for rows, n, k in ((123, 321, 3), (200, 128, 5)):
            values = integers(dtype, 100, rows, n) if dtype == "int64" else normals(dtype, rows, n)
            yield Case(f"topk {k} of rows of {n} {dtype}", "topk", [values], None, lambda x, o, k=k: torch.topk(x, k, 1),
                       {"k": k, "ret_typ": "both", "dtype": "int64"}, compare=False)
    for dtype in ("int64", "float64", "uint8"):
        values = normals(dtype, 2000, 64) if dtype == "float64" else integers(dtype, 200, 2000, 64)
        yield Case(f"topk 10 of rows of 64 {dtype}", "topk", [values], None, lambda x, o: torch.topk(x, 10, 1),
                   {"k": 10, "ret_typ": "both", "dtype": "int64"}, compare=False)
    for dtype, count in (("int64", 1000), ("int64", 10**9), ("float32", 1 << 23)):
        yield Case(f"unique 1e6 {dtype} of {count}", "_npi_unique", [integers(dtype, count, 1000000)],
                   lambda x, o: np.unique(x), lambda x, o: torch.unique(x))
