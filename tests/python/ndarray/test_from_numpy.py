# SPDX-License-Identifier: Apache-2.0
"""NumPy's arrays, of any type and in any order, become arrays as NumPy itself would convert and lay them out first."""
import warnings

import numpy as onp
import pytest

import mxnet as mx

MADE = ("float32", "float64", "float16", "int32", "uint8", "bool", "int64", "int8")
GIVEN = MADE + ("int16", "uint32", ">f4")


def orders(dtype):
    """One array as NumPy's views show it: transposed, backwards, with steps, repeated, in pieces larger than a cache."""
    base = (onp.random.RandomState(3).rand(40, 60, 7) * 200 - 50).astype(dtype)
    large = (onp.random.RandomState(4).rand(210, 390) * 9).astype(dtype)
    deep = base.reshape(8, 5, 3, 4, 5, 7, 1)
    return [
        base, base.T, base[::-1], base[:, :, ::-1], base[::3, ::-2], base.transpose(1, 2, 0), base[..., 0], base[:, None, :1], base[:1, :, 2],
        base[0, 0, :1], onp.broadcast_to(base[:, :1], base.shape), onp.asfortranarray(base), large.T, large[::-1, ::2], deep[..., ::2].transpose(6, 1, 0, 3, 2, 5, 4),
    ]


def same(made, expected):
    return made.dtype == expected.dtype and made.shape == expected.shape and made.asnumpy().tobytes() == onp.ascontiguousarray(expected).tobytes()


@pytest.mark.parametrize("dtype", MADE)
@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast", "ignore:overflow encountered in cast")
def test_values_are_those_of_numpy(given, dtype):
    for values in orders(given):
        expected = values.astype(dtype)
        assert same(mx.nd.array(values, dtype=dtype), expected), values.strides
        assert same(mx.np.array(values, dtype=dtype), expected), values.strides
        assigned = mx.nd.zeros(values.shape, dtype=dtype)
        assigned[:] = values
        assert same(assigned, expected), values.strides


def test_nothing_and_scalars():
    with mx.util.np_shape(True):
        assert same(mx.np.array(onp.zeros((3, 0, 2)).T), onp.zeros((2, 0, 3)))
        assert same(mx.np.array(onp.zeros((3, 0)), dtype="float32"), onp.zeros((3, 0), "float32"))
        assert same(mx.np.array(onp.array(2.5), dtype="float32"), onp.array(2.5, "float32"))


@pytest.mark.parametrize("order", ["C", "F"])
def test_numpy_warns_of_what_becomes_infinite(order):
    values = onp.array([[1e300, 2], [onp.inf, 4]], order=order)
    with pytest.warns(RuntimeWarning, match="overflow encountered in cast"):
        made = mx.nd.array(values)
    assert made.asnumpy().tolist() == [[onp.inf, 2], [onp.inf, 4]]
    values[0, 0] = -onp.inf
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mx.nd.array(values).asnumpy().tolist() == values.tolist()


def test_fields_of_records_and_places_that_are_not_aligned():
    records = onp.zeros(5, dtype=[("tag", "u1"), ("value", "f4")])
    records["value"] = range(5)
    assert mx.nd.array(records["value"]).asnumpy().tolist() == [0, 1, 2, 3, 4]
    shifted = onp.frombuffer(b"\0" + onp.arange(4, dtype="float32").tobytes(), "float32", 4, 1)
    assert mx.nd.array(shifted).asnumpy().tolist() == [0, 1, 2, 3]


def test_the_array_is_a_copy():
    values = onp.arange(6.0).reshape(2, 3)
    made = mx.nd.array(values.T)
    values[:] = -1
    assert made.asnumpy().tolist() == [[0, 3], [1, 4], [2, 5]]
