# SPDX-License-Identifier: Apache-2.0
"""Index expressions mean what they mean in NumPy, for reading and for writing."""

import mxnet as mx
import numpy as np
import pytest
from index_expressions import numbered, random_key, random_shape
from random_cases import check_cases
from turns import TURN

THOUSANDS = range(20 * TURN, 20 * TURN + (8 if TURN else 20))  # of expressions, each read and written


def same(got, expected):
    """Without NumPy shapes a scalar is a vector of one."""
    expected = np.asarray(expected)
    expected = expected.reshape(1) if expected.ndim == 0 else expected
    got = got.asnumpy()
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(got, expected)


def as_given(values, kind):
    """NumPy's values as what scripts assign."""
    return {"array": values, "list": values.tolist(), "nd.array": mx.nd.array(values)}[kind]


def random_value(random, shape):
    """A number, or new values of the shape or of one that fits it: the last of each row, or with axes in front."""
    if random.randrange(5) == 0:
        return random.choice([100.5, np.float32(100.5)])
    value = -1 - numbered(shape)
    if random.randrange(3) == 0 and value.ndim:
        value = value[..., -1:]
    return value.reshape((1, 1, *value.shape)) if random.randrange(4) == 0 else value


def random_expression(random):
    """A shape, a key of it, a value for what it names, and whether that is an array of ours."""
    shape = random_shape(random, range(1, 5))
    key = random_key(random, shape)
    return shape, key, random_value(random, np.shape(np.empty(shape)[key])), random.randrange(2) == 1


def is_advanced(key):
    return any(isinstance(part, (np.ndarray, list)) for part in (key if isinstance(key, tuple) else (key,)))


def check_an_empty_selection(array, key, expected, values):
    """mx.nd has arrays without elements only as slices along the first axis; to write to nothing is always allowed."""
    if isinstance(array, mx.np.ndarray) or (expected.shape[0] == 0 and not is_advanced(key)):
        assert array[key].asnumpy().shape == expected.shape
    else:
        with pytest.raises(IndexError, match="set_np"):
            array[key]  # pylint: disable=expression-not-assigned
    array[key] = 7
    array[key] = np.ones(expected.shape)
    assert np.array_equal(array.asnumpy(), values)


def assigned(values, key, value):
    """Whether NumPy takes the value there; it does not for all axes in front."""
    try:
        values[key] = value
        return True
    except (ValueError, TypeError):
        return False


def check_an_expression(make, shape, key, value, is_ours):
    values = numbered(shape)
    array, expected = make(values), np.array(values[key])
    if 0 in expected.shape:
        check_an_empty_selection(array, key, expected, values)
        return
    got = array[key].asnumpy()
    assert got.dtype == expected.dtype
    assert got.shape == (expected.shape or ((1,) if make is mx.nd.array else ()))
    assert np.array_equal(got.reshape(expected.shape), expected)
    if np.ndim(value) and len(set(expected.ravel().tolist())) < expected.size:  # it is not said which value wins
        return
    if assigned(values, key, value):
        array[key] = make(value) if is_ours and np.ndim(value) else value
        assert np.array_equal(array.asnumpy(), values)


def check_an_expression_of_nd(*case):
    check_an_expression(mx.nd.array, *case)


def check_an_expression_of_np(*case):
    check_an_expression(mx.np.array, *case)


@pytest.mark.parametrize("check", [check_an_expression_of_nd, check_an_expression_of_np], ids=["nd", "np"])
@pytest.mark.parametrize("thousand", THOUSANDS)
def test_what_is_read_and_written_by_an_index_is_numpys(thousand, check):
    with mx.util.np_shape(check is check_an_expression_of_np):  # arrays may have no elements
        check_cases(random_expression, check, range(1000 * thousand, 1000 * (thousand + 1)))


@pytest.mark.parametrize("index", [[0, 2], [True, False, True], ([0, 1], [1, 0]), slice(None, None, -1)])
def test_lists_are_indices(index):
    values = numbered((3, 2))
    same(mx.nd.array(values)[index], values[index])


def test_arrays_of_the_library_are_indices():
    values, where = numbered((3, 4)), np.array([2, 0, -1])
    same(mx.nd.array(values)[mx.nd.array(where)], values[where])
    same(mx.nd.array(values)[mx.nd.array(where, dtype="int32"), 1], values[where, 1])


def test_rows_and_ranges_of_rows_share_memory():
    array = mx.nd.zeros((4, 3))
    array[1][:] = 1
    array[2:4][:] = 2
    array[0, 1:][:] = 3
    assert array.asnumpy().tolist() == [[0, 3, 3], [1, 1, 1], [2, 2, 2], [2, 2, 2]]


def test_gradients_pass_through_indices():
    x = mx.nd.array(numbered((3, 4)))
    x.attach_grad()
    with mx.autograd.record():
        y = x[1:].sum() + 2 * x[[0, 0], [1, 1]].sum() + x[:, ::2].sum() + x[0, 1:3].sum()
    y.backward()
    expected = np.zeros((3, 4), np.float32)
    expected[1:] += 1
    np.add.at(expected, ([0, 0], [1, 1]), 2)
    expected[:, ::2] += 1
    expected[0, 1:3] += 1
    np.testing.assert_array_equal(x.grad.asnumpy(), expected)


@pytest.mark.parametrize("key", [3, -4, (0, 2), (0, 0, 0), "a", 1.5, (Ellipsis, Ellipsis), [5]])
def test_bad_indices_are_errors(key):
    with pytest.raises(IndexError):
        mx.nd.zeros((3, 2))[key]  # pylint: disable=expression-not-assigned


@pytest.mark.parametrize("key", ["a", 1.5, (0, 1.0), {}, np.float32(1)])
def test_an_index_of_another_type_is_an_error_of_numpys_class_and_of_the_releases(key):
    for error in (IndexError, ValueError):
        with pytest.raises(error, match="given an index of type"):
            mx.nd.zeros((3, 2))[key] = 1


@pytest.mark.parametrize("key", [slice(None), slice(0, 2), slice(None, None, 2), (slice(1, 3), slice(1, 4)), [2, 0], np.array([1, 2])])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("make", [mx.nd, mx.np])
def test_values_come_from_any_device(key, dtype, make):
    device, other = mx.cpu(0), mx.gpu(0) if mx.num_gpus() else mx.cpu(1)
    expected = np.zeros((3, 4), "float32")
    expected[key] = values = np.arange(expected[key].size, dtype=dtype).reshape(expected[key].shape)
    for here, there in ((device, other), (other, device)):
        array = make.zeros((3, 4), ctx=here)
        array[key] = make.array(values, ctx=there, dtype=dtype)
        same(array, expected)
        assert array.context == here


@pytest.mark.parametrize("key", [0, (slice(None), 0), slice(1, 1), [0, 1]])
@pytest.mark.parametrize("values", [np.ones(5), np.ones((2, 1, 5))])
@pytest.mark.parametrize("given", ["array", "list", "nd.array"])
def test_values_that_do_not_fit_are_errors(key, values, given):
    array = mx.nd.zeros((3, 2))
    with pytest.raises(ValueError, match="given values of shape") as caught:
        array[key] = as_given(values, given)
    assert isinstance(caught.value, mx.MXNetError)  # as in 1.9.1, where the class depends on what was given
    assert array.sum().asscalar() == 0


@pytest.mark.parametrize("key", [0, slice(None), slice(1, 1), (0, 1), [0, 1]])
def test_what_is_no_number_is_refused(key):
    with pytest.raises(TypeError, match="given 'x', expected numbers"):
        mx.nd.zeros((3, 2))[key] = "x"


@pytest.mark.parametrize("key", [slice(None), slice(None, None, -1), 0, [0, 1], (slice(None), [0]), "mask"])
@pytest.mark.parametrize("make", [mx.nd.zeros, mx.np.zeros])
def test_numbers_beyond_an_integer_type_wrap_around_whatever_numpys_version(key, make):
    """NumPy from 2.0 on refuses them where they are numbers of Python; an array of numbers wraps around in all."""
    array = make((2, 3), dtype="uint8")
    if isinstance(key, str):
        key = array == 0 if make is mx.np.zeros else [0, 1]
    for value, kept in ((300, 44), (-2, 254), (-1.5, 255), (300.0, 44), ([300, -2, 7], [44, 254, 7]), (1e30, 0)):
        if isinstance(value, list) and isinstance(key, (tuple, mx.np.ndarray)):
            continue
        array[:] = 0
        array[key] = value
        expected = np.zeros((2, 3), np.uint8)
        expected[key.asnumpy() if isinstance(key, mx.np.ndarray) else key] = kept
        np.testing.assert_array_equal(array.asnumpy(), expected)


@pytest.mark.parametrize("key", [slice(None), slice(None, None, -1), [2, 0, 1]])
@pytest.mark.parametrize("given", ["array", "list", "nd.array"])
def test_values_are_rounded_to_bfloat16(key, given):
    """Where NumPy has no such type: values were cut to integers and taken for bits."""
    values = np.array([0.5, 1.5, -2.5], np.float32)
    array = mx.nd.zeros((3,), dtype="bfloat16")
    array[key] = as_given(values, given)
    expected = np.zeros(3, np.float32)
    expected[key] = values
    assert array.astype("float32").asnumpy().tolist() == expected.tolist()


def test_slices_along_the_first_axis_may_be_empty():
    taken = mx.nd.array(numbered((3, 2)))
    assert taken[1:1].shape == taken[5:7].shape == taken[1:1,].shape == taken[2:1, :].shape == (0, 2)
    assert taken[1:1, 0].shape == (0,)
    taken[1:1] = 5
    taken[1:1, 0] = mx.nd.array(np.ones((1, 1, 0)))
    assert taken[1:1].dtype == np.float32 and taken.asnumpy().tolist() == numbered((3, 2)).tolist()


def test_a_truth_value_is_a_number_to_read_and_a_mask_to_write():
    """As in 1.9.1, but that False writes nothing."""
    array = numbered((3, 2))
    taken = mx.nd.array(array)
    np.testing.assert_array_equal(taken[True].asnumpy(), array[1])
    taken[False] = 9
    np.testing.assert_array_equal(taken.asnumpy(), array)
    taken[True] = 9
    np.testing.assert_array_equal(taken.asnumpy(), np.full((3, 2), 9))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8", "int64"])
@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 2)])
@pytest.mark.parametrize("key", [0, -1, 1, slice(1, 3), slice(None), slice(-2, None), slice(3, 1), slice(None, None, -1)])
@pytest.mark.parametrize("value", [7, 2.5, True, np.float32(3), np.int64(9)])
def test_a_number_in_rows_is_written_where_numpy_writes_it(dtype, shape, key, value):
    array, expected = mx.nd.zeros(shape, dtype=dtype), np.zeros(shape, dtype)
    array[key] = value
    expected[key] = value
    np.testing.assert_array_equal(array.asnumpy(), expected)


@pytest.mark.parametrize("key, block", [(1, None), (np.s_[1:3, :1], (2, 1))])
def test_writing_into_a_recorded_array_is_refused(key, block):
    x = mx.nd.ones((3, 2))
    x.attach_grad()
    with mx.autograd.record():
        y = x * 2
        with pytest.raises(ValueError, match="already part of a recorded graph"):
            y[key] = 5 if block is None else mx.nd.zeros(block)
    np.testing.assert_array_equal(y.asnumpy(), np.full((3, 2), 2))


@pytest.mark.parametrize("size", [6, 5000])
@pytest.mark.parametrize("written, read", [(0, 1), (1, 0), (0, 2), (2, 0)])
def test_rows_written_over_the_rows_they_are_read_from(size, written, read):
    values, count = np.arange(size, dtype=np.float32), size - 2
    array = mx.nd.array(values)
    array[written : written + count] = array[read : read + count]
    values[written : written + count] = values[read : read + count].copy()
    np.testing.assert_array_equal(array.asnumpy(), values)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "float32"])
def test_rows_by_indices_of_any_type_and_number(dtype):
    array = mx.nd.array(numbered((60, 2)))
    for places in ([0], [59, 0, 3], list(range(60))):
        found = array[mx.nd.array(places, dtype=dtype)]
        np.testing.assert_array_equal(found.asnumpy(), numbered((60, 2))[places])
    with pytest.raises(IndexError, match="index 60 is out of bounds"):
        array[mx.nd.array([1, 60], dtype=dtype)]


def test_masks_where_shapes_are_not_numpys():
    array, values = mx.np.array(numbered((3, 4, 2))), numbered((3, 4, 2))
    for mask in (values > 7, values[:, :, 0] > 7, values[:, 0, 0] > 7):
        np.testing.assert_array_equal(array[mask].asnumpy(), values[mask])
        np.testing.assert_array_equal(array[mx.np.array(mask, dtype=bool)].asnumpy(), values[mask])
    with mx.util.np_shape(False):
        assert array[values > 100].shape == (0,) and array[values[:, 0, 0] > 100].shape == (0, 4, 2)  # an mx.np array may be empty
        with pytest.raises(IndexError, match="need mx.np, or mx.npx.set_np"):
            array.as_nd_ndarray()[values > 100]


@pytest.mark.parametrize("value", [5.0, np.float32(5), np.array(5.0), np.array([5.0]), mx.nd.array([5.0])], ids=lambda value: type(value).__name__)
def test_all_of_an_array_without_dimensions(value):
    with mx.util.np_shape():
        array = mx.nd.ones(())
        array[:] = value
        assert array.shape == () and array.asnumpy() == 5
        assert array[:].shape == () and array[:].asnumpy() == 5
        array[...] = 6
        assert array.shape == () and array.asnumpy() == 6
        with mx.autograd.record():
            found = array[:] * 2
        assert found.shape == ()
        for key in (0, slice(0, 1), (slice(None),)):
            with pytest.raises(IndexError, match="given 1 indices, expected at most 0"):
                array[key] = value
        of_numpy = mx.np.ones(())
        for key in (slice(None), 0):  # as of NumPy's
            with pytest.raises(IndexError, match="given 1 indices, expected at most 0"):
                of_numpy[key] = 5


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0), (2, 0, 3)])
@pytest.mark.parametrize("np_shape", [False, True])
def test_arrays_of_numpy_without_elements_are_indexed_whatever_shapes_mean(shape, np_shape):
    empty = np.zeros(shape, np.float32)
    array = mx.np.array(empty)
    keys = [(), None, ..., slice(None), slice(None, None, -1), slice(None, None, 2), slice(1, 5), (None, slice(None)), (..., None)]
    with mx.util.np_shape(np_shape):
        for key in keys + [(slice(None), 0)] * (shape[1:] == (3,)):
            found = array[key]
            assert type(found) is mx.np.ndarray and found.shape == empty[key].shape and found.asnumpy().size == 0


def test_nothing_is_selected_of_arrays_of_numpy_whatever_shapes_mean():
    values = numbered((3, 4))
    array = mx.np.array(values)
    array.attach_grad()
    for key in ((slice(None), slice(2, 2)), slice(5, 9), (0, slice(3, 1)), [], np.zeros(3, bool), (slice(2, 2), 1)):
        with mx.util.np_shape(False):
            with mx.autograd.record():
                found = array[key]
            found.backward()
        assert found.shape == values[key].shape
        assert (array.grad.asnumpy() == 0).all()
    with mx.util.np_shape(False):
        assert mx.np.array(3.0)[()].shape == () and array[1, 2].shape == (1,)  # as 1.9.1


def test_a_squeezed_array_of_numpy_is_a_scalar_whatever_shapes_mean():
    array = mx.np.ones((1, 1))
    array.attach_grad()
    with mx.util.np_shape(False):
        with mx.autograd.record():
            found = mx.np.squeeze(array) * 3
        found.backward()
        assert found.shape == array.squeeze().shape == array.squeeze((0, 1)).shape == mx.np.array(2.0).squeeze().shape == ()
        assert array.squeeze(0).shape == (1,)
        assert mx.sym.var("x").as_np_ndarray().squeeze().infer_shape(x=(1, 1))[1] == [()]
    assert array.grad.asnumpy().tolist() == [[3.0]]


@pytest.mark.parametrize("numpy_shapes", [False, True])
def test_a_squeezed_array_of_nd_keeps_a_dimension_whatever_shapes_mean(numpy_shapes):
    with mx.util.np_shape(numpy_shapes):
        for shape, axis in [((1, 1), None), ((1, 1), (0, 1)), ((1,), 0), ((1,), -1)]:
            array = mx.nd.ones(shape)
            assert array.squeeze(axis).shape == array.squeeze(axis, inplace=True).shape == (1,)
        assert mx.nd.ones((1, 2, 1)).squeeze((0, -1), inplace=True).shape == (2,)
        for axis in [(0, 1), 1, -2]:
            with pytest.raises(ValueError, match="axis"):
                mx.nd.ones((1,)).squeeze(axis, inplace=True)
    with mx.util.np_shape(True):
        scalar = mx.nd.ones(())
        assert scalar.squeeze().shape == scalar.squeeze(inplace=True).shape == ()


@pytest.mark.parametrize("numpy_shapes", [False, True])
def test_what_is_selected_is_of_the_kind_of_the_array(numpy_shapes):
    """Not of the kind of the index."""
    with mx.util.np_shape(numpy_shapes):
        places, mask = [1, 0], [True, False]
        for make, other in [(mx.nd.array, mx.np.array), (mx.np.array, mx.nd.array)]:
            array = make([[0, 1, 2], [3, 4, 5]])
            for dtype in ("int32", "int64", "uint8", "float32"):
                at = other(places, dtype=dtype)
                for key in (at, (at,), (at, 0), (slice(None), at), -at.astype("int64")):
                    assert type(array[key]) is type(array)
                assert array[at].asnumpy().tolist() == [[3, 4, 5], [0, 1, 2]]
            chosen = array[other(mask, dtype=bool)]
            assert type(chosen) is type(array)


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
@pytest.mark.parametrize("make", [mx.nd.array, mx.np.array], ids=["nd", "np"])
@pytest.mark.parametrize("number", [2, -3.5, True, 2**40 + 1, float("inf")])
def test_a_number_in_columns(make, dtype, number):
    """What does not lie together, also backwards, of numbers that a type holds."""
    if dtype == "int64" and isinstance(number, float) or dtype == "float32" and number == 2**40 + 1:
        number = 7
    for key in (np.s_[:, 1], np.s_[::-2, ..., 0], np.s_[None, 1:, :, ::-1], np.s_[::2], np.s_[:, -1:]):
        values = np.zeros((3, 4, 2), dtype)
        array = make(values, dtype=dtype)
        array[key] = number
        values[key] = number
        np.testing.assert_array_equal(array.asnumpy(), values)


@pytest.mark.parametrize("make", [mx.nd.array, mx.np.array], ids=["nd", "np"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "bool", "float16", "bfloat16"])
def test_the_truth_of_one_element_is_that_of_its_value(make, dtype):
    for value in (0, 1):
        assert bool(make([[value]]).astype(dtype)) is bool(value)
    assert bool(make([float("nan")]))
    with pytest.raises(ValueError, match="multiple elements"):
        bool(make([1, 2]))


def lines(places, axis, ndim):
    """An index of whole slices but for one dimension, and what else says the same."""
    key = [slice(None)] * ndim
    key[axis] = places
    return [tuple(key), tuple(key[: axis + 1]), (..., *key[axis:])]


PLACES = {
    "few": np.array([3, 0, 5]),
    "from the end": np.array([[-1], [2]], np.int8),
    "one twice": [4, 1, 4, -2, 4],
    "many": np.arange(60) % 6,
    "unsigned": np.array([5, 2], np.uint64),
    "cut": np.array([1.7, -2.2], np.float32),
    "none": np.empty((2, 0), np.int64),
}


@pytest.mark.parametrize("make", [mx.nd.array, mx.np.array], ids=["nd", "np"])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("inner", [2, 300], ids=["small", "large"])
@pytest.mark.parametrize("places", PLACES.values(), ids=PLACES)
def test_an_array_beside_whole_slices(make, axis, inner, places):
    """Small and large arrays find their places in different ways; where an index comes twice the last value stays."""
    sizes = [4, inner, 5]
    sizes[axis] = 6
    if inner == 300 and axis == 1:
        sizes[0] = 250
    values = numbered(tuple(sizes))
    cut = np.asarray(places)
    cut = cut.astype(np.int64) if cut.dtype.kind == "f" else cut
    with mx.util.np_shape():
        for key, index in zip(lines(places, axis, 3), lines(cut, axis, 3)):
            selected = values[index]
            assert np.array_equal(make(values)[key].asnumpy(), selected)
            for value in (7.5, -1 - numbered(selected.shape), -1 - numbered((1, *selected.shape[1:])), make([[-3]])):
                array, expected = make(values), values.copy()
                array[key] = value
                expected[index] = value.asnumpy() if isinstance(value, mx.nd.NDArray) else value
                assert np.array_equal(array.asnumpy(), expected)


@pytest.mark.parametrize("inner", [2, 3000], ids=["small", "large"])
@pytest.mark.parametrize("axis", [0, 1])
def test_places_outside_are_named_as_numpy_names_them(axis, inner):
    array = mx.np.zeros((4, 6, inner))
    size = array.shape[axis]
    for places in ([1, size], np.array([-size - 1, 0]), np.array([size, size + 7])):
        outside = next(place for place in places if not -size <= place < size)
        for key in lines(places, axis, 3):
            with pytest.raises(IndexError, match=f"index {outside} is out of bounds for axis {axis} with size {size}"):
                array[key]  # pylint: disable=expression-not-assigned
            with pytest.raises(IndexError, match=f"index {outside} is out of bounds for axis {axis} with size {size}"):
                array[key] = 1
    assert not array.asnumpy().any()


@pytest.mark.parametrize("make", [mx.nd.array, mx.np.array], ids=["nd", "np"])
def test_the_gradient_of_an_array_beside_whole_slices(make):
    array = make(numbered((3, 50, 40)))
    array.attach_grad()
    with mx.autograd.record():
        picked = array[:, [7, -1, 7]]
        picked = picked * picked
    picked.backward()
    expected = np.zeros((3, 50, 40), np.float32)
    expected[:, 49] = 2 * array.asnumpy()[:, 49]
    expected[:, 7] = 4 * array.asnumpy()[:, 7]
    assert np.array_equal(array.grad.asnumpy(), expected)


@pytest.mark.parametrize("make", [mx.nd.array, mx.np.array], ids=["nd", "np"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int64", "uint8", "bool"])
@pytest.mark.parametrize("key", [1, -1, slice(None), slice(1, 3)], ids=str)
def test_values_of_any_type_in_rows(make, dtype, key):
    """Of NumPy and of the library, of the array's type and of others, as they are and spread over the rows."""
    values = numbered((4, 3)) % 2
    shape = values[key].shape
    for given in (np.float64, np.float32, np.int64, np.bool_):
        for value in (np.ones(shape, given), np.ones(3, given), np.ones((1, *shape), given), np.ones((), given)):
            for assigned_value in (value, value.T.copy().T, mx.np.array(value, dtype=given)):
                array, expected = make(values, dtype=dtype), values.copy()
                array[key] = assigned_value
                expected[key] = value
                assert np.array_equal(array.astype("float32").asnumpy(), expected)


@pytest.mark.parametrize("kind", [mx.nd.array, np.asarray])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint8", "int32", "int64"])
@pytest.mark.parametrize(
    "key",
    [
        np.s_[1:4, 2:5], np.s_[:, 3], np.s_[2, :], np.s_[..., 1], np.s_[::2, ::-1], np.s_[::-2, 4], np.s_[1:2, 1:3, 0:2], np.s_[None, 1:3, 2],
        np.s_[:, 1, ::2], np.s_[-1, -2, :], np.s_[1:1, :], np.s_[...], (slice(None),),
    ],
)
def test_blocks_of_just_their_shape_are_written(kind, dtype, key):
    values = numbered((5, 6, 3)).astype(dtype)
    array = mx.nd.array(values, dtype=dtype)
    given = (numbered(values[key].shape) + 100).astype(dtype)
    if given.size == 0 and kind is mx.nd.array:
        return  # mx.nd has no such arrays
    array[key] = given if kind is np.asarray else mx.nd.array(given, dtype=dtype)
    values[key] = given
    same(array, values)


def test_a_block_is_written_from_the_same_memory():
    values = numbered((6, 8))
    array, half = mx.nd.array(values), mx.nd.array(values)[1:4]
    array[2:5, :] = array[1:4]
    values[2:5, :] = values[1:4].copy()
    same(array, values)
    half[:, 2] = half[:, 5]
    assert half.asnumpy()[:, 2].tolist() == numbered((6, 8))[1:4, 5].tolist()
