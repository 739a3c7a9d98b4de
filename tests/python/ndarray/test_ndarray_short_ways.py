# SPDX-License-Identifier: Apache-2.0
"""What the binding does without a detour through Python: numbers into parts of arrays, elements as numbers, arguments
by names made at run time. All of it gives what the long way gives."""

import itertools

import mxnet as mx
import numpy as np
import pytest

DTYPES = ["float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool"]
KINDS = {"nd": mx.nd, "np": mx.np}


def array(kind, values, dtype=None):
    return KINDS[kind].array(values, dtype=dtype or values.dtype)


# --- array[key] = number

KEYS = {
    "an element": (1, 2), "from the end": -1, "a row": 0, "rows": slice(1, 3), "rows up to the end": slice(1, None), "all": slice(None),
    "every element": Ellipsis, "a column": (slice(None), 1), "backwards": slice(None, None, -1), "every other row": slice(None, None, 2),
    "part of a row": (2, slice(1, 3)), "no rows": slice(2, 2), "beyond the end": slice(1, 100), "a new axis": (None, 1),
    "an ellipsis and a column": (Ellipsis, 0), "one row of one": (slice(1, 2), slice(None)),
}  # fmt: skip


@pytest.mark.parametrize("recording", [False, True], ids=["", "recording"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_a_number_goes_where_numpy_puts_it(key, kind, recording):
    for dtype, number in itertools.product(DTYPES, (0, 1, 2.5)):
        wanted = np.arange(12).reshape(3, 4).astype(dtype)
        given = array(kind, wanted)
        with mx.autograd.record() if recording else mx.autograd.pause():
            given[key] = number
        wanted[key] = number
        assert given.asnumpy().dtype == wanted.dtype
        np.testing.assert_array_equal(given.asnumpy(), wanted, err_msg=f"{dtype} {number}")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_a_number_into_no_elements_changes_nothing(shape, kind):
    with mx.util.np_shape():
        given = KINDS[kind].zeros(shape)
        for key in (slice(None), Ellipsis, slice(0, 0)):
            given[key] = 1
        assert given.shape == shape


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_into_a_view_is_in_the_array(kind):
    whole = array(kind, np.zeros((3, 4), np.float32))
    whole[1][2] = 5
    assert whole.asnumpy()[1].tolist() == [0, 0, 5, 0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key", [3, -4, (0, 4), (0, 0, 0)])
def test_a_number_beyond_the_end_is_an_index_error(key, kind):
    given = array(kind, np.zeros((3, 4), np.float32))
    with pytest.raises(IndexError):
        given[key] = 1
    assert not given.asnumpy().any()


# --- Elements as Python's numbers


@pytest.mark.parametrize("dtype", [*DTYPES, "bfloat16"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(1,), (1, 1)])
def test_the_only_element_is_a_number(shape, kind, dtype):
    for number in (0, 1):
        one = KINDS[kind].array(np.full(shape, number), dtype=dtype)
        assert (float(one), int(one), bool(one)) == (number, number, bool(number))
        assert type(float(one)) is float and type(int(one)) is int
        assert one.item() == number and one.asscalar() == number
        assert isinstance(one.asscalar(), np.generic)


@pytest.mark.parametrize("dtype", ["float16", "int32", "bfloat16"])
@pytest.mark.parametrize("kind", [mx.nd, mx.np])
def test_an_array_stands_for_its_type(kind, dtype):
    like = kind.zeros(3, dtype=dtype)
    assert kind.ones(2).astype(like, copy=False).dtype == like.dtype
    assert kind.zeros(2, dtype=like).dtype == like.dtype


def test_numbers_keep_their_digits():
    assert mx.nd.array([2**53 + 1], dtype="int64").asscalar() == 2**53 + 1
    assert mx.np.array([-(2**62) - 1], dtype="int64").item() == -(2**62) - 1
    assert mx.np.array([0.1], dtype="float64").item() == 0.1
    assert float(mx.nd.array([0.1])) == float(np.float32(0.1))


@pytest.mark.parametrize("dtype", [*DTYPES, "bfloat16"])
@pytest.mark.parametrize("shape", [(2,), (2, 2), (0,)])
@pytest.mark.parametrize("kind", KINDS)
def test_other_counts_of_elements_are_no_number(kind, shape, dtype):
    with mx.util.np_shape():
        several = KINDS[kind].zeros(shape, dtype=dtype)
        for read in (float, int, lambda x: x.item(), lambda x: x.asscalar()):
            with pytest.raises((TypeError, ValueError), match="size-1|one element|size 1"):
                read(several)
        if 0 in shape:
            assert not bool(several)
        else:
            with pytest.raises(ValueError, match="ambiguous"):
                bool(several)


# --- Arguments


def made_at_run_time(name):
    return "".join(list(name))


def test_names_of_arguments_that_are_made_at_run_time_are_found():
    a = mx.nd.array([[1, 2], [3, 4]])
    out = mx.nd.zeros((2,))
    given = {made_at_run_time(name): value for name, value in {"axis": 1, "keepdims": False, "out": out}.items()}
    assert mx.nd.sum(a, **given) is out and out.asnumpy().tolist() == [3, 7]
    dense = {made_at_run_time(name): value for name, value in {"no_bias": True, "num_hidden": 2, "weight": a, "data": a}.items()}
    assert mx.nd.FullyConnected(**dense).asnumpy().tolist() == [[5, 11], [11, 25]]
    several = {made_at_run_time("dim"): 0}
    assert mx.nd.concat(a, a, **several).shape == (4, 2)
    assert mx.np.add(mx.np.ones(2), 1, **{made_at_run_time("out"): mx.np.zeros(2)}).tolist() == [2, 2]


def test_unknown_names_that_are_made_at_run_time_are_errors():
    for name in ("axi", "axiss", "Axis"):
        with pytest.raises(mx.MXNetError, match=name):
            mx.nd.sum(mx.nd.ones(2), **{made_at_run_time(name): 0})


class Unsure:
    """Has no truth and says a wrong class."""

    def __bool__(self):
        raise ArithmeticError("neither true nor false")

    @property
    def __class__(self):
        raise ArithmeticError("of no class")


@pytest.mark.parametrize("kind", KINDS)
def test_errors_of_an_operands_own_class_do_not_get_lost(kind):
    a = array(kind, np.ones(4, np.float32))
    for meet in (lambda: a + Unsure(), lambda: Unsure() * a, lambda: a < Unsure()):
        with pytest.raises((TypeError, ArithmeticError)):
            meet()
    with pytest.raises(ArithmeticError, match="neither"):
        a._view((2, 2), Unsure())
    np.testing.assert_array_equal((a + 1).asnumpy(), 2)  # no error is left behind


def test_a_parameter_whose_text_calls_the_operator_itself():
    a = array("nd", np.ones((2, 3), np.float32))

    class One:
        def __str__(self):
            for axis in range(-2, 2):
                mx.nd.max(a, axis=axis)
                mx.nd.max(a, axis=(axis,), keepdims=True, exclude=True)
            return "1"

    mx.nd.max(a, axis=0, keepdims=True)
    assert mx.nd.max(a, axis=One(), keepdims=True).shape == (2, 1)


# --- arrays of floats as keys, which mx.nd makes where no type is said, and of integers in assignments

PLACES = {
    "rows": [2, 0, 2], "from the end": [-1, 1, -3], "cut": [1.75, -0.5, 2.0], "of two dimensions": [[0, 1], [2, -1]], "one": [1],
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("places", PLACES.values(), ids=PLACES)
def test_arrays_of_any_type_say_which_rows(places, kind, dtype):
    places = np.array(places, dtype)
    key, cut = array(kind, places), places.astype(np.int64)
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    given = array(kind, values)
    np.testing.assert_array_equal(given[key].asnumpy(), values[cut])
    np.testing.assert_array_equal(given[:, key].asnumpy(), values[:, cut])
    np.testing.assert_array_equal(given[key, key].asnumpy(), values[cut, cut])
    rows = np.random.RandomState(0).rand(*cut.shape, 4).astype(np.float32)
    given[key] = array(kind, rows)
    values[cut] = rows
    np.testing.assert_array_equal(given.asnumpy(), values)
    given[key] = 7
    values[cut] = 7
    np.testing.assert_array_equal(given.asnumpy(), values)
    given[1, key] = 9
    values[1, cut] = 9
    np.testing.assert_array_equal(given.asnumpy(), values)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", [3, -4, 1e9])
def test_places_outside_are_an_error_and_nothing_is_written(place, kind):
    given = array(kind, np.zeros((3, 4), np.float32))
    key = array(kind, np.array([0, place], np.float32))
    with pytest.raises(IndexError):
        given[key]
    with pytest.raises(IndexError):
        given[key] = array(kind, np.ones((2, 4), np.float32))
    with pytest.raises(IndexError):
        given[key] = 1
    assert not given.asnumpy().any()


@pytest.mark.parametrize("kind", KINDS)
def test_rows_at_floats_have_a_gradient(kind):
    given = array(kind, np.ones((3, 4), np.float32))
    given.attach_grad()
    with mx.autograd.record():
        taken = given[array(kind, np.array([2, 0, 2], np.float32))]
    taken.backward()
    np.testing.assert_array_equal(given.grad.asnumpy(), np.array([[1], [0], [2]]) * np.ones((3, 4)))
