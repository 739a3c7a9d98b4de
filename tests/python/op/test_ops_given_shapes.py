# SPDX-License-Identifier: Apache-2.0
"""Operators of gradients look at shapes before they touch memory; types that need nothing pass through.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/op/test_ops_given_shapes.py
"""
import numpy as np
import pytest

from op_calls import Failure

DATA = np.arange(12, dtype="float32").reshape(3, 4)
ROWS, COLUMNS, WRONG = np.ones(3, "float32"), np.ones((1, 4), "float32"), np.ones((2, 4), "float32")


def test_sums_to_the_shape_of_another(mx):
    np.testing.assert_array_equal(mx.run("_reduce_sum_as", DATA, ROWS, axis=1)[0], DATA.sum(1))
    np.testing.assert_array_equal(mx.run("_reduce_sum_as", DATA, COLUMNS, axis=0)[0], DATA.sum(0, keepdims=True))
    np.testing.assert_array_equal(mx.run("_reduce_mean_as", DATA, np.ones(1, "float32"))[0], [DATA.mean()])
    np.testing.assert_array_equal(mx.run("_sum_to_like", DATA, COLUMNS)[0], DATA.sum(0, keepdims=True))
    np.testing.assert_array_equal(mx.run("_backward_sum_to_like", COLUMNS[0], DATA)[0], np.ones((3, 4)))
    np.testing.assert_array_equal(mx.run("_backward_sum_to_like", DATA[None], DATA)[0], DATA)
    np.testing.assert_array_equal(mx.run("_backward_sum", ROWS, DATA, axis=1)[0], np.ones((3, 4)))


@pytest.mark.parametrize("op, arrays, attrs", [
    ("_reduce_sum_as", [DATA, WRONG], dict(axis=1)), ("_reduce_sum_as", [DATA, ROWS], dict(axis=0)),
    ("_reduce_mean_as", [DATA, WRONG], {}), ("_sum_to_like", [DATA, WRONG], {}),
    ("_backward_sum", [WRONG, DATA], dict(axis=1)), ("_backward_mean", [ROWS, DATA], dict(axis=0)),
    ("_backward_max", [ROWS, WRONG, DATA], dict(axis=1)), ("_backward_norm", [WRONG, ROWS, DATA], dict(axis=1)),
    ("_backward_sum_to_like", [WRONG, DATA], {}), ("_backward_sum_to_like", [DATA, COLUMNS], {}),
    ("_sg_attention", [ROWS], {}), ("_sg_attention", [DATA.reshape(1, 3, 4)], {}),
])
def test_other_shapes_are_refused(mx, op, arrays, attrs):
    with pytest.raises(Failure, match="shape"):
        mx.run(op, *arrays, **attrs)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64"])
def test_types_without_nan_pass_through(mx, dtype):
    given = np.array([[0, 1], [1, 1]], dtype)
    got = mx.run("_npi_nan_to_num", given, nan=5.0)[0]
    assert got.dtype == given.dtype
    np.testing.assert_array_equal(got, given)
