# SPDX-License-Identifier: Apache-2.0
"""What sparse arrays are not, and what is left of them where memory ends."""
import operator

import numpy as np
import pytest

import mxnet as mx

ARRAYS = {"csr": mx.nd.sparse.csr_matrix(([1], [0], [0, 1]), shape=(1, 1)), "row_sparse": mx.nd.sparse.row_sparse_array(([[1]], [0]), shape=(1, 1))}


@pytest.mark.parametrize("convert", [int, float, complex, lambda array: [1, 2][array]], ids=["int", "float", "complex", "index"])
@pytest.mark.parametrize("kind", ARRAYS)
def test_a_sparse_array_is_no_number_of_python(kind, convert):
    with pytest.raises(TypeError):
        convert(ARRAYS[kind])
    with pytest.raises(NotImplementedError):
        ARRAYS[kind].asscalar()


@pytest.mark.parametrize("kind", ARRAYS)
def test_a_sparse_array_is_true_or_false_only_where_it_is_empty(kind):
    """What other arrays raise where they are asked, callers expect of these."""
    with pytest.raises(ValueError, match="ambiguous"):
        bool(mx.nd.sparse.zeros(kind, (3, 2)))
    with pytest.raises(NotImplementedError):
        bool(ARRAYS[kind])
    assert not mx.nd.sparse.zeros(kind, (0, 2))


FILLS_UP_WITHOUT_MEMORY = """
import resource
import mxnet as mx

ROWS, MIB = 1 << 25, 1 << 20
weight = mx.nd.sparse.row_sparse_array(([[1]], [3]), shape=(ROWS, 1), dtype="float16")
gradient = mx.nd.sparse.row_sparse_array(([[2]], [5]), shape=(ROWS, 1), dtype="float16")
small = mx.nd.sparse.row_sparse_array(([[1]], [3]), shape=(8, 1), dtype="float16")
mx.nd.sgd_update(small, mx.nd.sparse.row_sparse_array(([[1]], [3]), shape=(8, 1), dtype="float16"), lr=1, out=small)
mx.nd.waitall()
in_use = lambda: mx.cpu().memory_stats()["in_use"]
before = in_use()
now = int(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmSize"))) << 10
resource.setrlimit(resource.RLIMIT_AS, (now + 200 * MIB, resource.RLIM_INFINITY))  # the values have 64, the indices 256
try:
    mx.nd.sgd_update(weight, gradient, lr=1, out=weight)
    weight.wait_to_read()
    raise SystemExit("no error")
except mx.MXNetError as error:
    print("memory" in str(error))
print(in_use() - before)
"""


def test_a_weight_for_whose_missing_rows_memory_ends_holds_what_it_held(run_python):
    ran = run_python(FILLS_UP_WITHOUT_MEMORY)
    assert ran.returncode == 0, ran.stderr + ran.stdout
    error, held = ran.stdout.split()
    assert error == "True", ran.stderr + ran.stdout
    assert int(held) < 1 << 20


@pytest.mark.parametrize("kind", ARRAYS)
def test_arithmetic_with_an_array_of_numpy_is_refused_as_it_is_of_dense_arrays(kind):
    array, numpys = ARRAYS[kind], np.ones((1, 1))
    for call in (operator.add, operator.sub, operator.mul, operator.truediv):
        for left, right in ((array, numpys), (numpys, array)):
            with pytest.raises(TypeError, match="expected two arrays of one kind"):
                call(left, right)
    assert (array * np.float32(2)).stype == (np.float32(2) * array).stype == kind


def test_the_failure_of_a_sparse_array_is_raised_once():
    store = mx.kv.create("local")
    store.init("weight", mx.nd.ones((4, 2)).tostype("row_sparse"))
    rows = mx.nd.zeros((4, 2), stype="row_sparse")
    with pytest.raises(IndexError, match="given row 9"):
        store.row_sparse_pull("weight", out=rows, row_ids=mx.nd.array([9], dtype="int64"))
        rows.asnumpy()
    rows[:] = 0  # fails while the array has failed and nobody was told
    assert not rows.asnumpy().any()
