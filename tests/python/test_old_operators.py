# SPDX-License-Identifier: Apache-2.0
"""Python 2's names of operators, which packages that wrap an array's operators look for; operators in place on symbols."""

import operator

import numpy as np
import pytest

import mxnet as mx

KINDS = {
    "array": mx.nd.array,
    "numpy": mx.np.array,
    "csr": lambda values: mx.nd.array(values).tostype("csr"),
    "row_sparse": lambda values: mx.nd.array(values).tostype("row_sparse"),
}


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_arrays_divide_by_the_old_names(make):
    values = np.array([[4.0, 8.0]], "float32")
    array = make(values)
    halves = array.__div__(2)
    assert type(halves) is type(array)
    np.testing.assert_array_equal(halves.asnumpy(), values / 2)
    np.testing.assert_array_equal(array.__rdiv__(2).asnumpy(), 2 / values)
    assert array.__idiv__(4) is array
    np.testing.assert_array_equal(array.asnumpy(), values / 4)
    with pytest.raises(TypeError):
        array.__div__("text")


@pytest.mark.parametrize("make", [mx.nd.array, mx.np.array])
def test_arrays_say_by_the_old_name_whether_they_are_true(make):
    assert make([3]).__nonzero__() is True and make([0]).__nonzero__() is False
    with pytest.raises(ValueError, match="ambiguous"):
        make([1, 2]).__nonzero__()


def test_symbols_divide_by_the_old_names():
    a = mx.sym.var("a")
    outputs = [a.__div__(2), a.__rdiv__(2), a.__div__(a)]
    found = [output.eval(ctx=mx.cpu(), a=mx.nd.array([4.0], ctx=mx.cpu()))[0].asscalar() for output in outputs]
    assert found == [2.0, 0.5, 1.0]
    with pytest.raises(mx.base.NotImplementedForSymbol):
        a.__nonzero__()


@pytest.mark.parametrize("in_place", [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.imod, operator.ipow])
@pytest.mark.parametrize("kind", [mx.sym.Symbol, mx.sym.np._Symbol])
def test_an_operator_in_place_keeps_the_kind_of_a_symbol(in_place, kind):
    symbol = mx.sym.var("a") if kind is mx.sym.Symbol else mx.sym.var("a").as_np_ndarray()
    other = mx.sym.var("b") if kind is mx.sym.Symbol else mx.sym.var("b").as_np_ndarray()
    assert type(in_place(symbol, 2)) is kind and type(in_place(symbol, other)) is kind


def test_an_operator_in_place_broadcasts_as_the_symbol_does():
    a, b = mx.sym.var("a").as_np_ndarray(), mx.sym.var("b").as_np_ndarray()
    a += b
    assert a.infer_shape(a=(2, 1), b=(1, 3))[1] == [(2, 3)]
