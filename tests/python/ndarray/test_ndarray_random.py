# SPDX-License-Identifier: Apache-2.0
"""What the functions of mx.nd.random and mx.sym.random make of `dtype` and of a shape that is not given.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so PYTHONPATH=build/release/python pytest tests/python/ndarray/test_ndarray_random.py
"""
import numpy as np
import pytest

import mxnet as mx
from mxnet.base import _Null

DRAWS = ["uniform", "normal", "poisson", "exponential", "gamma", "negative_binomial", "generalized_negative_binomial"]


@pytest.mark.parametrize("name", DRAWS)
def test_no_type_is_the_operators_own_and_none_is_numpys(name):
    draw = getattr(mx.nd.random, name)
    assert draw(shape=(2,)).dtype == draw(shape=(2,), dtype=_Null).dtype == draw(shape=(2,), dtype="None").dtype == np.float32
    assert draw(shape=(2,), dtype=None).dtype == np.float64
    drawn = getattr(mx.sym.random, name)
    assert drawn(shape=(2,)).infer_type()[1] == drawn(shape=(2,), dtype=_Null).infer_type()[1] == [np.float32]
    assert drawn(shape=(2,), dtype=None).infer_type()[1] == [np.float64]


def test_parameters_that_are_arrays_take_types_alike():
    zeros, ones = mx.nd.zeros((2,), dtype="float16"), mx.nd.ones((2,), dtype="float16")
    assert mx.nd.random.uniform(zeros, ones).dtype == np.float32
    assert mx.nd.random.uniform(zeros, ones, dtype=None).dtype == np.float64


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_an_output_says_its_own_type(dtype):
    out = mx.nd.zeros((3,), dtype=dtype)
    assert mx.nd.random.uniform(1, 2, dtype=None, out=out) is out
    assert out.dtype == np.dtype(dtype) and (out.asnumpy() >= 1).all()


def test_integers_have_no_such_default():
    for dtype in (None, _Null):
        assert mx.nd.random.randint(0, 3, dtype=dtype).dtype == np.int32
        assert mx.sym.random.randint(0, 3, shape=(2,), dtype=dtype).infer_type()[1] == [np.int32]
    assert mx.nd.random.multinomial(mx.nd.array([0.5, 0.5]), dtype=_Null).dtype == np.int32


@pytest.mark.parametrize("name", [*DRAWS, "randint"])
def test_a_shape_that_is_not_given_is_one_draw(name):
    draw, bounds = getattr(mx.nd.random, name), (0, 3) if name == "randint" else ()
    assert draw(*bounds).shape == draw(*bounds, shape=_Null).shape == (1,)


def test_a_shape_that_is_not_given_is_that_of_arrays():
    zeros, ones = mx.nd.zeros((2, 3)), mx.nd.ones((2, 3))
    assert mx.nd.random.normal(zeros, ones, _Null).shape == (2, 3)
    assert mx.nd.random.multinomial(mx.nd.array([0.5, 0.5]), shape=_Null).shape == (1,)
