# SPDX-License-Identifier: Apache-2.0
"""Drawn calls of sparse operators beside NumPy: layouts, types of values and of indices, empty rows, arrays that store nothing, zeros that are
stored, results that replace, that are given, and that are one of the operands. MXNET_TEST_SEED and MXNET_TEST_COUNT draw others."""
import ctypes as C
import os

import numpy as np
import pytest

from op_calls import DEVICE, DTYPES
from sparse_calls import STYPES, Sparse, SparseLibrary, dense_of

SEED = int(os.environ.get("MXNET_TEST_SEED", "20261127"))
COUNT = int(os.environ.get("MXNET_TEST_COUNT", "300"))


class IndexedLibrary(SparseLibrary):
    """Sparse arrays have the index types of what they are made from."""

    def array(self, values):
        self.index = [DTYPES[aux.dtype.name] for aux in values.aux] if isinstance(values, Sparse) else None
        return super().array(values)

    def empty(self, stype, shape, dtype):
        handle, dims = C.c_void_p(), (C.c_uint * len(shape))(*shape)
        count = 1 if stype == "row_sparse" else 2
        types, ndims, aux_shapes = (C.c_int * count)(*(self.index or [6] * count)), (C.c_uint * count)(*[1] * count), (C.c_uint * count)()
        self.call("MXNDArrayCreateSparseEx", STYPES[stype], dims, C.c_uint(len(shape)), DEVICE, 0, 1, DTYPES[np.dtype(dtype).name],
                  C.c_uint(count), types, ndims, aux_shapes, C.byref(handle))
        return handle


LIBRARY = IndexedLibrary


def drawn(rng, stype, shape, dtype):
    """A matrix and the same in a layout. Some of what is stored is zero, of either sign."""
    values = rng.integers(-8, 9, shape).astype(dtype)
    density = rng.choice([0, 0.05, 0.3, 0.9])
    index = rng.choice(["int32", "int64"])
    if stype == "row_sparse":
        stored = np.flatnonzero(rng.random(shape[0]) < density)
        values = values[stored]
        values[values == 0] *= -1
        array = Sparse(stype, shape, values, [stored.astype(index)])
        return array.dense(), array
    if stype == "csr":
        stored = rng.random(shape) < density
        stored[rng.random(shape[0]) < 0.3] = False
        ends = np.concatenate([[0], np.cumsum(stored.sum(axis=1))])
        rows, columns = np.nonzero(stored)
        if rng.random() < 0.2:  # in any order
            order = np.lexsort((rng.random(rows.size), rows))
            rows, columns = rows[order], columns[order]
        array = Sparse(stype, shape, values[rows, columns], [ends.astype(index), columns.astype(rng.choice(["int32", "int64"]))])
        return array.dense(), array
    return values, values


def pair(rng, stypes, shapes, dtype):
    made = [drawn(rng, stype, shape, dtype) for stype, shape in zip(stypes, shapes)]
    return [dense for dense, _ in made], [array for _, array in made]


def some(rng, choices):
    return choices[rng.integers(len(choices))]


def sums(rng, shape, dtype):
    operator, function = some(rng, [("elemwise_add", np.add), ("elemwise_sub", np.subtract), ("elemwise_mul", np.multiply)])
    stypes = some(rng, [("csr", "csr"), ("row_sparse", "row_sparse"), ("row_sparse", "default"), ("default", "row_sparse"), ("csr", "default")])
    dense, arrays = pair(rng, stypes, [shape, shape], dtype)
    return operator, arrays, {}, function(*dense), shape == arrays[0].shape


def add_n(rng, shape, dtype):
    stypes = some(rng, [("row_sparse",) * 3, ("row_sparse", "default", "row_sparse"), ("row_sparse",) * 2, ("default", "row_sparse")])
    dense, arrays = pair(rng, stypes, [shape] * len(stypes), dtype)
    return "add_n", arrays, {}, sum(dense), True


def products(rng, shape, dtype):
    inner, width, transposed = shape[0], int(rng.choice([1, 1, 2, 17])), bool(rng.integers(2))
    dense, csr = drawn(rng, "csr", shape, dtype)
    other, given = drawn(rng, some(rng, ["default", "row_sparse"]), (inner if transposed else shape[1], width), dtype)
    return "dot", [csr, given], {"transpose_a": transposed}, (dense.T if transposed else dense) @ other, False


def products_from_the_left(rng, shape, dtype):
    transposed = bool(rng.integers(2))
    dense, csr = drawn(rng, "csr", shape, dtype)
    other = rng.integers(-3, 4, (3, shape[1] if transposed else shape[0])).astype(dtype)
    return "dot", [other, csr], {"transpose_b": transposed}, other @ (dense.T if transposed else dense), False


def axes(rng, shape, dtype):
    dense, array = drawn(rng, some(rng, ["csr", "row_sparse"]), shape, dtype)
    axis = int(rng.integers(2))
    return "sum", [array], {"axis": axis, "keepdims": True}, dense.sum(axis=axis, keepdims=True), False


def squares(rng, shape, dtype):
    dense, array = drawn(rng, some(rng, ["csr", "row_sparse"]), shape, dtype)
    operator, function = some(rng, [("square", np.square), ("abs", np.abs), ("negative", np.negative), ("sign", np.sign)])
    return operator, [array], {}, function(dense), True


def parts(rng, shape, dtype):
    dense, array = drawn(rng, "csr", shape, dtype)
    ends = [sorted(int(each) for each in rng.choice(extent + 1, 2, replace=False)) for extent in shape]
    begin, end = zip(*ends)
    return "slice", [array], {"begin": begin, "end": end}, dense[begin[0] : end[0], begin[1] : end[1]], False


def casts(rng, shape, dtype):
    dense, array = drawn(rng, some(rng, ["csr", "row_sparse"]), shape, dtype)
    return "cast_storage", [array], {"stype": "default"}, dense, False


def retained(rng, shape, dtype):
    dense, array = drawn(rng, "row_sparse", shape, dtype)
    rows = np.flatnonzero(rng.random(shape[0]) < 0.4)
    want = np.zeros_like(dense)
    want[rows] = dense[rows]
    return ("_sparse_retain", [array, rows.astype("float32")], {}, want, False) if rows.size else casts(rng, shape, dtype)


def scaled(rng, shape, dtype):
    dense, array = drawn(rng, "csr", shape, dtype)
    other = rng.integers(1, 5, some(rng, [(shape[0], 1), (1, shape[1]), shape])).astype(dtype)
    return "broadcast_mul", [array, other], {}, dense * other, False


def updates(rng, shape, dtype):
    weight, given = drawn(rng, "default", shape, dtype)
    gradient, array = drawn(rng, "row_sparse", shape, dtype)
    return "sgd_update", [given, array], {"lr": 0.5, "lazy_update": bool(rng.integers(2))}, weight - gradient / 2, True


KINDS = (sums, add_n, products, products_from_the_left, axes, squares, parts, casts, retained, scaled, updates)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_drawn_calls_are_numpys(mx, kind):
    for number in range(-(-COUNT // len(KINDS))):
        seed = [SEED, KINDS.index(kind), number]
        rng = np.random.default_rng(seed)
        shape = tuple(int(some(rng, [1, 2, 7, 40, 300])) for _ in range(2))
        operator, arrays, attrs, want, same_shape = kind(rng, shape, some(rng, ["float32", "float64"]))
        handles = [mx.array(array) for array in arrays]
        where = some(rng, ["new", "again", "given", "operand"]) if same_shape else some(rng, ["new", "again", "given"])
        if operator == "sgd_update":
            where = "operand"
        if where == "again":  # what was found in indices serves
            mx.free(*mx.invoke(operator, handles, **attrs))
        out = None
        if where == "operand" and mx.stype(handles[0]) != "row_sparse":
            out = [handles[0]] if mx.stype(handles[0]) == "default" or all(mx.stype(each) == "csr" for each in handles) else None
        if where == "given":
            out = [mx.array(np.full(want.shape, 7, want.dtype))]
        results = mx.invoke(operator, handles, out, **attrs)
        got = dense_of(mx.numpy(results[0]))
        np.testing.assert_array_equal(got, want, err_msg=f"seed {seed}: {operator} {attrs} {where}")
        mx.free(*{handle.value: handle for handle in [*handles, *results]}.values())
