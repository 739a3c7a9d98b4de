# SPDX-License-Identifier: Apache-2.0
"""Indices that become wrong after operators have followed them: by every way of writing into an array."""
import numpy as np
import pytest

from op_calls import Failure
from sparse_calls import Sparse, SparseLibrary

LIBRARY = SparseLibrary
ROWS, COLUMNS, EACH = 200, 50, 5  # so many indices that what was found in them is kept


def good_of(stype, shape=None):
    rng = np.random.default_rng(5)
    if stype == "row_sparse":
        return Sparse(stype, (2 * ROWS, 2), rng.uniform(1, 2, (ROWS, 2)).astype("float32"), [np.arange(ROWS) * 2])
    columns = np.sort(rng.permuted(np.tile(np.arange(COLUMNS), (ROWS, 1)), axis=1)[:, :EACH], axis=1).ravel()
    return Sparse(stype, (ROWS, COLUMNS), rng.uniform(1, 2, ROWS * EACH).astype("float32"), [np.arange(ROWS + 1) * EACH, columns])


def with_index(array, part, at, index):
    aux = [np.array(each) for each in array.aux]
    aux[part][at] = index
    return Sparse(array.stype, array.shape, array.data, aux)


# Name, array, part and entry that is changed, and its number.
WRONG = {
    "column too large": ("csr", 1, 17, COLUMNS), "column far too large": ("csr", 1, -1, 2**40), "column negative": ("csr", 1, 0, -1),
    "rows go backwards": ("csr", 0, 7, 7 * EACH + 100), "rows begin before": ("csr", 0, 7, -3),
    "row too large": ("row_sparse", 0, -1, 2 * ROWS), "row negative": ("row_sparse", 0, 0, -1), "row far too large": ("row_sparse", 0, -1, 2**40),
}

USES = {
    "csr": [
        ("dot", [np.ones((COLUMNS, 2), "float32")], {}), ("dot", [np.ones((ROWS, 1), "float32")], {"transpose_a": True}),
        ("dot", [np.ones((ROWS, 20), "float32")], {"transpose_a": True}),
        ("sum", [], {"axis": 0}), ("sum", [], {"axis": 1}), ("slice", [], {"begin": "(0, 3)", "end": "(200, 40)"}),
        ("broadcast_mul", [np.ones((ROWS, 1), "float32")], {}), ("cast_storage", [], {"stype": "default"}), ("elemwise_add", [None], {}),
        ("elemwise_mul", [np.ones((ROWS, COLUMNS), "float32")], {}), ("elemwise_mul", [good_of("csr")], {}), ("_maximum", [None], {}),
        ("take", [np.arange(ROWS).astype("float32")], {"axis": 0, "mode": "clip"}),
        ("where", [np.ones((ROWS, COLUMNS), "float32"), np.zeros((ROWS, COLUMNS), "float32")], {}),
    ],
    "row_sparse": [
        ("elemwise_add", [None], {}), ("elemwise_mul", [good_of("row_sparse")], {}), ("cast_storage", [], {"stype": "default"}),
        ("elemwise_add", [np.ones((2 * ROWS, 2), "float32")], {}), ("add_n", [None, None], {}), ("sum", [], {"axis": 1}),
        ("_sparse_retain", [np.arange(ROWS).astype("float32")], {}),
        ("Embedding", "table", {"input_dim": 2 * ROWS, "output_dim": 2}),
        ("sgd_update", "gradient", {"lr": 1}),
    ],
}


def by_part(mx, array, wrong, part):
    given = super(SparseLibrary, mx).array(wrong.aux[part])
    import ctypes as C
    mx.call("MXNDArraySyncCopyFromNDArray", array, given, C.c_int(part))
    mx.free(given)


def by_operator(name, **attrs):
    def write(mx, array, wrong, part):
        source = mx.array(wrong)
        mx.invoke(name, [source] if name != "_identity_with_attr_like_rhs" else [source, source], [array], **attrs)
        mx.free(source)
    return write


DOORS = {"part": by_part, "_copyto": by_operator("_copyto"), "_copy": by_operator("_copy"), "abs": by_operator("abs"),
         "_mul_scalar": by_operator("_mul_scalar", scalar=2), "like": by_operator("_identity_with_attr_like_rhs")}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("case", WRONG)
def test_indices_that_become_wrong_are_refused(mx, case, door):
    stype, part, at, index = WRONG[case]
    good = good_of(stype)
    wrong = with_index(good, part, at, index)
    for name, others, attrs in USES[stype]:
        array = mx.array(good)
        others = [np.zeros(3, "float32")] if others == "table" else [np.ones(good.shape, "float32")] if others == "gradient" else others
        given = [array if other is None else mx.array(other) for other in others]
        inputs = [*given, array] if name in ("Embedding", "sgd_update") else [array, *given]
        for _ in range(2):
            results = mx.invoke(name, inputs, **attrs)
            mx.call("MXNDArrayWaitToRead", results[0])
            mx.free(*results)
        DOORS[door](mx, array, wrong, part)
        if name == "Embedding":  # looks rows up by their numbers, and follows none
            continue
        for _ in range(2):
            with pytest.raises(Failure, match="indptr|indices|columns"):
                results = mx.invoke(name, inputs, **attrs)
                mx.call("MXNDArrayWaitToRead", results[0])
        DOORS[door](mx, array, good, part)
        results = mx.invoke(name, inputs, **attrs)
        mx.call("MXNDArrayWaitToRead", results[0])
        mx.free(*results, array, *(handle for handle in given if handle is not array))
