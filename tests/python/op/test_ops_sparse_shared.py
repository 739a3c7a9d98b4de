# SPDX-License-Identifier: Apache-2.0
"""Arrays that store the same elements have index arrays in common: whatever is written to one of them, the others stay as they are."""
import ctypes as C
import os

import numpy as np
import pytest

from op_calls import Failure, Library
from sparse_calls import Sparse, SparseLibrary

LIBRARY = SparseLibrary
SEED = int(os.environ.get("MXNET_TEST_SEED", "20261127"))
COUNT = int(os.environ.get("MXNET_TEST_COUNT", "300"))
SHAPE = (12, 40)


def drawn(rng, stype, dtype):
    stored = rng.random(SHAPE) < rng.choice([0, 0.1, 0.6])
    if stype == "row_sparse":
        rows = np.flatnonzero(stored.any(axis=1))
        return Sparse(stype, SHAPE, rng.integers(-8, 9, (rows.size, SHAPE[1])).astype(dtype), [rows])
    ends = np.concatenate([[0], np.cumsum(stored.sum(axis=1))])
    return Sparse(stype, SHAPE, rng.integers(-8, 9, stored.sum()).astype(dtype), [ends, np.nonzero(stored)[1]])


def like(array, data):
    return Sparse(array.stype, array.shape, data, array.aux)


def write_part(mx, handle, values, part):
    given = Library.array(mx, values)
    mx.call("MXNDArraySyncCopyFromNDArray", handle, given, C.c_int(part))
    mx.free(given)


def same(mx, handle, want, message):
    got = mx.numpy(handle)
    assert got.stype == want.stype and len(got.aux) == len(want.aux)
    for of_got, of_want in zip([got.data, *got.aux], [want.data, *want.aux]):
        np.testing.assert_array_equal(of_got, of_want, err_msg=message)


UNARY = {"square": np.square, "abs": np.abs, "negative": np.negative, "_copy": np.array}


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
def test_writes_meet_one_array_alone(mx, stype):
    for number in range(-(-COUNT // 25)):
        seed = [SEED, number]
        rng = np.random.default_rng(seed)
        dtype = rng.choice(["float32", "float64"])
        wanted = [drawn(rng, stype, dtype) for _ in range(4)]
        handles = [mx.array(array) for array in wanted]
        for step in range(40):
            source, target = (int(each) for each in rng.integers(len(handles), size=2))
            deed = rng.choice(["new", "given", "copy", "values", "structure", "sum", "product", "index", "doubled"])
            array = wanted[source]
            message = f"seed {seed}, step {step}: {deed} of {source} into {target}"
            if deed in ("new", "given"):
                name = str(rng.choice(list(UNARY)))
                result = mx.invoke(name, [handles[source]], [handles[target]] if deed == "given" else None)[0]
                if deed == "new":
                    mx.free(handles[target])
                handles[target], wanted[target] = result, like(array, UNARY[name](array.data))
            elif deed == "copy":
                mx.invoke("_copyto", [handles[source]], [handles[target]])
                wanted[target] = array
            elif deed == "values":
                wanted[target] = like(wanted[target], wanted[target].data + 1)
                write_part(mx, handles[target], wanted[target].data, -1)
            elif deed == "structure":  # all parts anew, of other sizes
                wanted[target] = drawn(rng, stype, dtype)
                for part, values in enumerate([wanted[target].data, *wanted[target].aux], -1):
                    write_part(mx, handles[target], values, part)
            elif deed == "index":  # of the same size: the memory would do
                where = wanted[target].aux[-1]
                if where.size:
                    moved = Sparse(stype, SHAPE, wanted[target].data, [*wanted[target].aux[:-1], where[::-1].copy()])
                    write_part(mx, handles[target], moved.aux[-1], len(moved.aux) - 1)
                    for other in range(len(handles)):
                        same(mx, handles[other], moved if other == target else wanted[other], message)
                    write_part(mx, handles[target], where, len(moved.aux) - 1)
            elif deed == "doubled":
                mx.invoke("elemwise_add", [handles[source], handles[source]], [handles[target]])
                wanted[target] = like(array, array.data + array.data)
            else:
                name, function = ("elemwise_add", np.add) if deed == "sum" else ("elemwise_mul", np.multiply)
                result = mx.invoke(name, [handles[source], handles[target]], [handles[target]])[0]
                np.testing.assert_array_equal(mx.numpy(result).dense(), function(array.dense(), wanted[target].dense()), err_msg=message)
                wanted[target] = mx.numpy(result)
            if np.abs(wanted[target].data).max(initial=0) > 1000:  # as numbers stay exact
                wanted[target] = like(wanted[target], np.sign(wanted[target].data))
                mx.invoke("sign", [handles[target]], [handles[target]])
            for handle, want in zip(handles, wanted):
                same(mx, handle, want, message)
        mx.free(*handles)


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
def test_results_are_told_from_wrong_inputs(mx, stype):
    """Operators that look at values alone follow no index: sizes that fit nothing make a result that is as wrong, and is refused."""
    rows, stored = 100000, 3
    shape = (rows, 4)
    data = np.ones(stored if stype == "csr" else (stored, 4), "float32")
    for aux in ([np.arange(3), np.arange(3)], [np.arange(rows + 1), np.arange(1)]) if stype == "csr" else ([np.arange(1)], [np.arange(rows)]):
        array = mx.array(Sparse(stype, shape, data, aux))
        for name in ("square", "_copy", "zeros_like"):
            result = mx.invoke(name, [array])[0]
            if name == "zeros_like":
                mx.check_format(result)
            else:
                with pytest.raises(Failure, match="given"):
                    mx.check_format(result)
                with pytest.raises(Failure, match="given"):
                    mx.call("MXNDArrayWaitToRead", mx.invoke("elemwise_add", [result, result])[0])
            mx.free(result)
        mx.free(array)
