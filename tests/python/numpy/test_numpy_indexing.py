# SPDX-License-Identifier: Apache-2.0
"""Indexing means what it means in NumPy: random expressions, read and assigned."""

import numpy as onp
import pytest
from index_expressions import numbered, random_key, random_shape
from random_cases import check_cases
from turns import TURN

from mxnet import autograd, np

EXPRESSIONS = range(2500 * TURN, 2500 * (TURN + 1))  # each is tried in four ways


def random_expression(random):
    shape = random_shape(random, range(5))
    return shape, random_key(random, shape)


def with_mx_arrays(key):
    """The key with NumPy's arrays as mx.np arrays."""
    if isinstance(key, tuple):
        return tuple(with_mx_arrays(part) for part in key)
    return np.array(key) if isinstance(key, onp.ndarray) else key


def check_an_expression(shape, key):
    values = numbered(shape)
    expected = values[key]
    for own in (key, with_mx_arrays(key)):
        picked = np.array(values)[own]
        assert isinstance(picked, np.ndarray) and picked.shape == expected.shape
        assert (picked.asnumpy() == expected).all()

    changed, array = values.copy(), np.array(values)
    changed[key] = -1
    array[key] = -1
    assert (array.asnumpy() == changed).all()

    # Places that are named twice take any of their values: assign what belongs there.
    new = (-2 - values)[key]
    changed[key] = new
    array[with_mx_arrays(key)] = np.array(new)
    assert (array.asnumpy() == changed).all()


def test_what_is_read_and_assigned_by_an_index_is_numpys():
    check_cases(random_expression, check_an_expression, EXPRESSIONS)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "float32"])
def test_rows_at_an_array_of_positions(dtype):
    values = onp.arange(60).reshape(12, 5)
    array = np.array(values)
    for at in ([3], [0, 11, 3, 3], [[1, 2], [10, 0]], list(range(12)) * 50):
        at = onp.array(at, dtype)
        picked = array[np.array(at, dtype=dtype)]
        assert isinstance(picked, np.ndarray) and (picked.asnumpy() == values[at.astype(int)]).all()
    indices = np.array(onp.arange(12)[::-1].copy(), dtype="int64")
    assert (array[indices[4:9]].asnumpy() == values[::-1][4:9]).all()  # a view of other positions
    assert (array[1:][indices[1:]].asnumpy() == values[1:][::-1]).all()


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_positions_count_from_the_end_or_are_errors_at_once(dtype):
    array = np.arange(6)
    assert array[np.array([-1, 0, -6], dtype=dtype)].tolist() == [5, 0, 0]
    for wrong in (6, -7, 2**31 - 1, -(2**31)):
        with pytest.raises(IndexError, match=f"index {wrong} is out of bounds for axis 0 with size 6"):
            array[np.array([0, wrong, 1], dtype=dtype)]


def test_gradients_go_through_rows_at_an_array_of_positions():
    array = np.array([1.0, 2.0, 3.0])
    array.attach_grad()
    with autograd.record():
        picked = array[np.array([2, 0, 2], dtype="int64")]
    picked.backward(np.array([1.0, 10.0, 100.0]))
    assert array.grad.tolist() == [10, 0, 101]


def test_one_element_has_no_dimensions():
    a = np.arange(6).reshape(2, 3)
    assert a[0, 0].shape == () and a[1, 2].item() == 5 and a[0][1].shape == ()
    assert a[0, 0][()].shape == () and a[0, 0][...].item() == 0 and a[1, 1][None].tolist() == [4]


def test_views_share_memory_and_copies_do_not():
    a = np.arange(12).reshape(3, 4)
    a[1][2] = 50
    a[1:][0, 0] = 60
    assert a[1].tolist() == [60, 5, 50, 7]
    copied = a[[1]]
    copied[:] = 0
    assert a[1].tolist() == [60, 5, 50, 7]


def test_masks_and_arrays_of_floats():
    a = np.arange(6).reshape(2, 3)
    assert a[a > 2].tolist() == [3, 4, 5] and a[a > 9].shape == (0,)
    assert a[np.array([1.0, 0.0])].tolist() == [[3, 4, 5], [0, 1, 2]]  # floats are cut to integers, as in the reference
    assert a[range(2)].tolist() == a.tolist() and a[True].shape == (1, 2, 3) and a[False].shape == (0, 2, 3)
    a[a > 2] *= 0
    assert a.tolist() == [[0, 1, 2], [0, 0, 0]]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "uint8", "int64", "bool"])
@pytest.mark.parametrize("shape, dims", [((700,), 1), ((30, 50), 1), ((30, 50), 2), ((3, 4, 50), 2)])
def test_masks_of_every_type_and_number_of_dimensions(shape, dims, dtype):
    rng = onp.random.default_rng(5)
    given, chosen = rng.integers(0, 5, shape).astype(dtype), rng.random(shape[:dims]) < 0.4
    for mask in (chosen, np.array(chosen), onp.zeros_like(chosen), onp.ones_like(chosen)):
        a, expected = np.array(given, dtype=dtype), given.copy()
        host = mask if isinstance(mask, onp.ndarray) else chosen
        assert a[mask].dtype == given.dtype and onp.array_equal(a[mask].asnumpy(), given[host])
        for value in (1, 0.1) if given.dtype.kind == "f" else (1,):  # a tenth is not the same number in float32 as in float64
            a[mask], expected[host] = value, value
            assert onp.array_equal(a.asnumpy(), expected)


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
def test_arrays_of_places_for_each_dimension(dtype):
    a = onp.arange(24).reshape(2, 3, 4)
    places = tuple(onp.array([[0, 1], [1, 0]], dtype) for _ in range(3))
    below = tuple(-1 - part.astype("int64") for part in places)
    for key in (places, below, (places[0], below[1], places[2]), (places[0], places[1]), (places[0], places[1][0], places[2])):
        for wrapped in (key, tuple(np.array(part, dtype=part.dtype) for part in key), tuple(part.tolist() for part in key)):
            assert onp.array_equal(np.array(a)[wrapped].asnumpy(), a[key])
            b, expected = np.array(a), a.copy()
            b[wrapped], expected[key] = 7, 7
            assert onp.array_equal(b.asnumpy(), expected)
    for outside in ((places[0] + 2, places[1], places[2]), (places[0], -4 - places[1].astype("int64"), places[2])):
        with pytest.raises(IndexError):
            np.array(a)[tuple(np.array(part, dtype=part.dtype) for part in outside)]  # pylint: disable=expression-not-assigned


def test_gradients_go_through_places_for_each_dimension():
    a = np.zeros((2, 3))
    a.attach_grad()
    with autograd.record():
        total = (a[np.array([0, 1, 1], dtype="int64"), np.array([1, 2, 2], dtype="int32")] * np.array([1.0, 2.0, 3.0])).sum()
    total.backward()
    assert a.grad.asnumpy().tolist() == [[0, 1, 0], [0, 0, 5]]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int64", "int8", "uint8", "bool"])
def test_lines_of_numpys_and_of_arrays_are_put_into_rows(dtype):
    expected = (onp.arange(60) % 7).reshape(5, 3, 4).astype(dtype)
    line, rows = onp.ones(4, dtype), onp.arange(12).reshape(3, 4).astype(dtype)
    a = np.array(expected, dtype=dtype)
    for key in (1, -1, slice(1, 4), slice(None), slice(0, 5, 2), [0, 2]):
        for value in (line, rows, rows[:, :1], rows[::-1], onp.asfortranarray(rows), rows.astype("float64"), 1 - rows[None]):
            for given in (value, np.array(value, dtype=dtype)):
                a[key] = given
                expected[key] = value
                assert onp.array_equal(a.asnumpy(), expected)
    for value in (onp.ones(3, dtype), onp.ones((2, 4), dtype)):
        with pytest.raises(ValueError):
            a[1] = value


def test_what_is_put_into_rows_may_lie_in_them():
    a = np.arange(16).reshape(4, 4)
    a[:] = a.reshape(-1)[1:5]
    assert a.asnumpy().tolist() == [[1, 2, 3, 4]] * 4


@pytest.mark.parametrize("dtype", ["int64", "int32", "int8"])
def test_rows_from_the_front_and_from_the_back(dtype):
    a = onp.arange(12).reshape(4, 3)
    for rows in ([0, 3, 1], [-1, 0, -4], [[2], [-2]]):
        key = onp.array(rows, dtype)
        for wrapped in (key, np.array(key, dtype=dtype), rows):
            assert onp.array_equal(np.array(a)[wrapped].asnumpy(), a[key])
    for outside in (4, -5):
        with pytest.raises(IndexError, match=f"index {outside} is out of bounds for axis 0 with size 4"):
            np.array(a)[np.array([0, outside], dtype=dtype)]  # pylint: disable=expression-not-assigned


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 3, True])
def test_numbers_of_any_kind_are_put_where_a_mask_is_true(value):
    a = np.array([1, -2, 3, -4.0])
    a[a < 0] = value
    assert onp.array_equal(a.asnumpy(), onp.array([1, value, 3, value], "float32"), equal_nan=True)


def test_of_numbers_that_a_type_has_not_the_low_bits_are_put_where_a_mask_is_true():
    a = np.array([1, 2], dtype="int8")
    a[a > 1] = 300  # an error in NumPy from 2.0 on
    assert a.tolist() == [1, 44]


def test_masks_of_other_shapes_are_refused():
    a = np.array([1, 2], dtype="int8")
    for mask in (onp.ones(3, bool), onp.ones((2, 1), bool)):
        with pytest.raises(IndexError):
            a[mask]  # pylint: disable=pointless-statement


@pytest.mark.parametrize("value", [[7, 8, 9], onp.array([7, 8, 9]), (7.0, 8.0, 9.0), onp.array([[7, 8, 9]], dtype="int64")])
def test_assigned_values_broadcast_and_are_converted(value):
    a = np.zeros((2, 3))
    a[1] = value
    a[0] = np.array([7, 8, 9], dtype="int32")
    assert a.tolist() == [[7, 8, 9]] * 2


def test_keys_and_values_that_do_not_fit_are_errors():
    a = np.zeros((2, 3))
    for key in (5, (0, 3), (0, 0, 0), "x", 1.5, np.array([5], dtype="int64"), (Ellipsis, Ellipsis)):
        with pytest.raises(IndexError):
            a[key]  # pylint: disable=pointless-statement
    with pytest.raises(ValueError, match="given values"):
        a[:, 0] = np.ones((2, 1))
    with pytest.raises(ValueError):
        a[0] = [1, 2]


def test_gradients_go_through_every_kind_of_index():
    weights = onp.arange(1, 13, dtype="float32").reshape(3, 4)
    mask = weights > 6
    for key in (1, slice(0, 2), (slice(None), 1), (slice(None, None, -2),), [0, 2], ([0, 0], [1, 1]), mask, (None, 1), (1, 2), (..., 3)):
        x = np.array(weights)
        x.attach_grad()
        with autograd.record():
            y = (x[np.array(key) if key is mask else key] * 3).sum()
        y.backward()
        expected = onp.zeros_like(weights)
        onp.add.at(expected, key, 3)
        assert x.grad.tolist() == expected.tolist(), f"key {key!r}"


def test_indexing_where_there_is_nothing():
    a = np.zeros((0, 3))
    assert a[:].shape == (0, 3) and a[:, 0].shape == (0,) and a[[]].shape == (0, 3)
    a[:] = 1
    assert a.shape == (0, 3) and a.tolist() == []
