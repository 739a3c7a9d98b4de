# SPDX-License-Identifier: Apache-2.0
"""Gradients that reach few elements of an array and are added to what it holds: the sum of both, wherever they go."""
import numpy as np
import pytest

from op_calls import ADD

SEED = 20261122
START = 0.5


def calls(rng):
    """name, arrays, the shape of the result, attributes; the first array is differentiated."""
    whole = lambda high, *shape: rng.integers(0, high, shape).astype("int32")  # noqa: E731
    yield "pick", [(5, 7), whole(7, 5)], (5,), {"axis": 1}
    yield "pick", [(3, 4, 6), whole(4, 3, 1, 6)], (3, 1, 6), {"axis": 1, "keepdims": True}
    yield "pick", [(3, 4), np.array([-3, 99, 2], "int32")], (3,), {"axis": 1, "mode": "wrap"}
    yield "diag", [(5, 7)], (5,), {"k": 1}
    yield "diag", [(4,)], (6, 6), {"k": -2}
    yield "diag", [(3, 4, 5)], (4, 3), {"axis1": 0, "axis2": 2}
    yield "_np_diag", [(5, 5)], (5,), {}
    yield "_np_diagonal", [(4, 3, 5)], (5, 3), {"axis1": 0, "axis2": 1}
    yield "_contrib_boolean_mask", [(6, 3), np.array([1, 0, 0, 1, 1, 0], "int32")], (3, 3), {"axis": 0}
    yield "_contrib_boolean_mask", [(2, 4, 3), np.array([0, 1, 1, 0], "int32")], (2, 2, 3), {"axis": 1}
    yield "take", [(6, 3), whole(6, 40)], (40, 3), {"axis": 0}
    yield "take", [(4, 5, 3), whole(5, 2, 2)], (4, 2, 2, 3), {"axis": 1}
    yield "topk", [(3, 40)], (3, 4), {"k": 4, "ret_typ": "value"}
    yield "topk", [(5, 3, 7)], (2, 3, 7), {"k": 2, "axis": 0, "ret_typ": "value"}
    yield "gather_nd", [(4, 5, 2), whole(4, 2, 30)], (30, 2), {}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("which", range(15))
def test_an_added_gradient_is_the_sum(mx, rng, which, dtype):
    name, (shape, *others), out, attrs = list(calls(rng))[which]
    x = rng.integers(-9, 9, shape).astype(dtype)
    head = (rng.integers(-8, 9, out) / 4).astype(dtype)  # sums of these are exact
    arrays = [x, *others]
    alone = mx.gradients(name, arrays, [head], wanted=[0], **attrs)[0]
    if x.ndim > 1:  # each number of the head goes to one element; a row that became a matrix gets its diagonal alone
        assert alone.sum(dtype="float64") == head.sum(dtype="float64")
    np.testing.assert_array_equal(mx.gradients(name, arrays, [head], ADD, START, wanted=[0], **attrs)[0], alone + np.asarray(START, dtype))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_rows_of_a_table_add_up(mx, rng, dtype):
    positions = rng.integers(0, 20, (6, 9)).astype("int32")
    table, head = np.zeros((20, 5), dtype), (rng.integers(-8, 9, (6, 9, 5)) / 4).astype(dtype)
    want = np.full((20, 5), START, dtype)
    np.add.at(want, positions, head)
    got = mx.gradients("Embedding", [positions, table], [head], ADD, START, wanted=[1], input_dim=20, output_dim=5)[1]
    np.testing.assert_array_equal(got, want)
