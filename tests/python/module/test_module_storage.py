# SPDX-License-Identifier: Apache-2.0
"""How simple_bind stores arguments, gradients and outputs of symbols with sparse parts. The expected types are those of the 1.9.1
release."""

import numpy as np
import pytest

import mxnet as mx

var = mx.sym.var
ROWS, CSR, DENSE = "row_sparse", "csr", "default"


def embedding(stype=None, **settings):
    return mx.sym.Embedding(var("d"), var("w", stype=stype), input_dim=5, output_dim=3, **settings)


def product(stype=None, **settings):
    return mx.sym.sparse.dot(var("x", stype=CSR), var("w", stype=stype), **settings)


@pytest.mark.parametrize(
    ("net", "shapes", "expected", "output"),
    [
        (embedding(), {"d": (4,)}, {"w": (DENSE, DENSE)}, DENSE),
        (embedding(sparse_grad=True), {"d": (4,)}, {"w": (DENSE, ROWS)}, DENSE),
        (embedding(ROWS), {"d": (4,)}, {"w": (ROWS, DENSE)}, DENSE),
        (embedding(ROWS, sparse_grad=True), {"d": (4,)}, {"w": (ROWS, ROWS)}, DENSE),
        (product(), {"x": (4, 5), "w": (5, 3)}, {"x": (CSR, DENSE), "w": (DENSE, ROWS)}, DENSE),
        (product(ROWS), {"x": (4, 5), "w": (5, 3)}, {"x": (CSR, DENSE), "w": (ROWS, ROWS)}, DENSE),
        (product(ROWS, transpose_a=True), {"x": (5, 4), "w": (5, 3)}, {"x": (CSR, DENSE), "w": (ROWS, DENSE)}, ROWS),
        (var("w", stype=ROWS) * 2, {"w": (4, 5)}, {"w": (ROWS, ROWS)}, ROWS),
        (mx.sym.elemwise_add(var("w", stype=ROWS), var("b")), {"w": (4, 5)}, {"w": (ROWS, DENSE), "b": (DENSE, DENSE)}, DENSE),
        (mx.sym.relu(var("w")), {"w": (4, 5)}, {"w": (DENSE, DENSE)}, DENSE),
    ],
)
def test_arrays_are_stored_as_the_graph_says(net, shapes, expected, output):
    executor = net.simple_bind(mx.cpu(), **shapes)
    found = {name: (executor.arg_dict[name].stype, executor.grad_dict[name].stype) for name in expected}
    assert found == expected
    assert executor.outputs[0].stype == output


def test_the_caller_goes_before_the_variable():
    executor = product(ROWS).simple_bind(mx.cpu(), stype_dict={"w": DENSE}, x=(4, 5), w=(5, 3))
    assert executor.arg_dict["w"].stype == DENSE


def test_gradients_hold_the_rows_that_were_used():
    executor = embedding(sparse_grad=True).simple_bind(mx.cpu(), d=(4,))
    executor.arg_dict["d"][:] = mx.nd.array([3, 1, 3, 3])
    executor.forward(is_train=True)
    executor.backward([mx.nd.ones((4, 3))])
    gradient = executor.grad_dict["w"]
    assert gradient.indices.asnumpy().tolist() == [1, 3]
    np.testing.assert_array_equal(gradient.data.asnumpy(), [[1] * 3, [3] * 3])


def test_storage_that_is_none_is_named():
    with pytest.raises(mx.base.MXNetError, match="__storage_type__ = '7'"):
        mx.sym.relu(var("w", __storage_type__="7")).simple_bind(mx.cpu(), w=(2, 3))
