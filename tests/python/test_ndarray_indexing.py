# SPDX-License-Identifier: Apache-2.0
"""Index expressions mean what they mean in NumPy, for reading and for writing."""

import mxnet as mx
import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from turns import TURN

# Hypothesis names the shortest expression that fails, and takes ten times as long for each as NumPy's random numbers do:
# it draws few, those many.
EXAMPLES = 500 if TURN else 1500  # each is read and written
SEEDS = range(20 * TURN, 20 * TURN + (6 if TURN else 15))  # of a thousand expressions each
SHAPES = hnp.array_shapes(min_dims=1, max_dims=4, max_side=4)


def numbered(shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


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


@st.composite
def basic_cases(draw):
    shape = draw(SHAPES)
    return shape, draw(hnp.basic_indices(shape, allow_newaxis=True))


@st.composite
def advanced_cases(draw):
    shape = draw(SHAPES)
    count = draw(st.integers(1, len(shape)))
    result = draw(hnp.array_shapes(min_dims=1, max_dims=2, max_side=3))
    key = [
        draw(hnp.arrays(np.int64, result, elements=st.integers(-size, size - 1)))
        if draw(st.booleans())
        else draw(st.one_of(st.integers(-size, size - 1), st.slices(size)))
        for size in shape[:count]
    ]
    return shape, tuple(key)


@st.composite
def masks(draw):
    shape = draw(SHAPES)
    dims = draw(st.integers(1, len(shape)))
    return shape, draw(hnp.arrays(np.bool_, shape[:dims]))


CASES = st.one_of(basic_cases(), advanced_cases(), masks())


def check_reading(shape, key):
    values = numbered(shape)
    array, expected = mx.nd.array(values), values[key]
    advanced = any(isinstance(part, np.ndarray) for part in (key if isinstance(key, tuple) else (key,)))
    no_rows = np.shape(expected)[:1] == (0,) and not advanced  # these are an array, as in 1.9.1
    if 0 in np.shape(expected) and not no_rows:
        with pytest.raises(IndexError, match="set_np"):
            array[key]  # pylint: disable=pointless-statement
    else:
        same(array[key], expected)


def check_writing(shape, key, kind):
    values = numbered(shape)
    array, target = mx.nd.array(values), np.shape(values[key])
    if 0 in target or len(set(np.arange(values.size).reshape(shape)[key].reshape(-1))) < np.prod(target):
        return  # nothing is written, or it is not said which value wins
    value = 100.5 if kind == "number" else -1 - numbered(target)
    if kind == "row" and target:
        value = value[..., -1:]
    values[key] = value
    array[key] = mx.nd.array(value) if kind in ("array", "row") else value
    np.testing.assert_array_equal(array.asnumpy(), values)


@settings(max_examples=EXAMPLES, deadline=None, database=None)
@seed(TURN)  # the same in every run
@given(CASES, st.sampled_from(["number", "numpy", "array", "row"]))
def test_what_is_read_and_written_by_an_index_is_numpys(case, kind):
    check_reading(*case)
    check_writing(*case, kind)


def random_key(random, shape):
    """An index of integers, slices, new axes, an ellipsis, arrays or a mask."""
    if random.randint(6) == 0:
        return random.rand(*shape[: random.randint(1, len(shape) + 1)]) < 0.5
    parts, ellipsis = [], random.randint(len(shape) + 3)
    together = tuple(random.randint(1, 4, random.randint(1, 3)))  # shapes of arrays broadcast
    for axis, size in enumerate(shape[: random.randint(len(shape) + 1)]):
        if axis == ellipsis:
            parts.append(Ellipsis)
            break
        kind = random.randint(7)
        if kind == 0:
            parts.append(None)
        if kind < 3:
            parts.append(int(random.randint(-size, size)))
        elif kind < 6:
            begin, end = (None if random.randint(3) == 0 else int(random.randint(-size - 1, size + 2)) for _ in range(2))
            parts.append(slice(begin, end, [None, 1, 2, 3, 6, -1, -2, -5][random.randint(8)]))
        else:
            parts.append(random.randint(-size, size, together))
    return tuple(parts) if len(parts) != 1 or random.randint(2) else parts[0]


def value_for(random, shape):
    """A number, or new values of the shape or of one that fits it: the last of each row, or with axes in front."""
    if random.randint(5) == 0:
        return np.float32(100.5) if random.randint(2) else 100.5
    value = -1 - numbered(shape)
    if random.randint(3) == 0 and value.ndim:
        value = value[..., -1:]
    return value.reshape((1, 1, *value.shape)) if random.randint(4) == 0 else value


def assigned(values, key, value):
    """Whether NumPy takes the value there; it does not for all axes in front."""
    try:
        values[key] = value
        return True
    except (ValueError, TypeError):
        return False


def check_an_empty_selection(array, key, expected, values, where):
    """mx.nd has arrays without elements only as slices along the first axis; to write to nothing is always allowed."""
    advanced = any(isinstance(part, np.ndarray) for part in (key if isinstance(key, tuple) else (key,)))
    if isinstance(array, mx.np.ndarray) or (expected.shape[0] == 0 and not advanced):
        assert array[key].asnumpy().shape == expected.shape, where
    else:
        with pytest.raises(IndexError):
            array[key]  # pylint: disable=expression-not-assigned
    array[key] = 7
    array[key] = np.ones(expected.shape)
    np.testing.assert_array_equal(array.asnumpy(), values, err_msg=where)


def check_a_random_expression(random, make, where):
    shape = tuple(random.randint(1, 5, random.randint(1, 5)))
    key, values = random_key(random, shape), numbered(shape)
    where = f"{where}: {shape}[{key!r}]"
    array, expected = make(values), np.asarray(values[key])
    if 0 in expected.shape:
        check_an_empty_selection(array, key, expected, values, where)
        return
    got = array[key].asnumpy()
    assert got.dtype == expected.dtype, where
    assert got.shape == expected.shape or (make is mx.nd.array and not expected.shape), where
    np.testing.assert_array_equal(got.reshape(expected.shape), expected, err_msg=where)
    if np.unique(expected).size < expected.size:  # it is not said which value wins
        return
    value = value_for(random, expected.shape)
    if assigned(values, key, value):
        array[key] = make(value) if random.randint(2) and np.ndim(value) else value
        np.testing.assert_array_equal(array.asnumpy(), values, err_msg=where)


@pytest.mark.parametrize("make", [mx.nd.array, mx.np.array], ids=["nd", "np"])
@pytest.mark.parametrize("start", SEEDS)
def test_a_thousand_random_expressions(start, make):
    random = np.random.RandomState(start)
    with mx.util.np_shape(make is mx.np.array):  # arrays may have no elements
        for step in range(1000):
            check_a_random_expression(random, make, f"seed {start}, step {step}")


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


def test_a_number_in_a_row_of_a_recorded_array_is_refused():
    x = mx.nd.ones((3, 2))
    x.attach_grad()
    with mx.autograd.record():
        y = x * 2
        with pytest.raises(ValueError, match="already part of a recorded graph"):
            y[1] = 5
    np.testing.assert_array_equal(y.asnumpy(), np.full((3, 2), 2))
    y[1] = 5
    np.testing.assert_array_equal(y.asnumpy(), [[2, 2], [5, 5], [2, 2]])
