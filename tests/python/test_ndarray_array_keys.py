# SPDX-License-Identifier: Apache-2.0
"""Lists, NumPy's arrays and masks as keys of what the native module does by itself and of what it leaves to Python: NumPy's
elements are read and written either way, whatever their type."""

import mxnet as mx
import numpy as np
import pytest
from index_expressions import numbered

BOTH = pytest.mark.parametrize("make", [mx.nd.array, mx.np.array], ids=["nd", "np"])
SHAPE = (6, 5, 3)
MASK = numbered((6, 5)) % 3 == 1
KEYS = {
    "list": [4, 1],
    "from the end": [-1, 0, -6],
    "twice": [2, 2, 2],
    "int64": np.array([5, -2]),
    "int32": np.array([[5, -2], [0, 0]], np.int32),
    "int8": np.array([5, -2], np.int8),
    "strided": np.arange(6)[::2],
    "columns": np.s_[:, [1, -1]],
    "last": np.s_[:, :, np.array([0, 2])],
    "a column": np.s_[:, [3]],
    "rows of a row": np.s_[2, [1, 4]],
    "ranges beside": np.s_[::-2, [0, 3], 1:],
    "pairs": np.s_[[1, -1], np.array([0, 4])],
    "triples": np.s_[[1, -1], [0, 4], [2, 2]],
    "broadcast": np.s_[[1, 2, 3], [4]],
    "ellipsis": np.s_[..., [1, 0]],
    "new axis": np.s_[None, [1, 0]],
    "rows masked": np.array([True, False, True, True, False, False]),
    "masked": MASK,
    "all masked": numbered(SHAPE) % 2 == 0,
    "a list of truths": [False, True, True, False, True, False],
    "masked columns": np.s_[:, np.array([True, False, False, True, False])],
    "nobody": np.zeros(6, bool),
    "none": [],
}
DTYPES = ["float32", "float64", "float16", "int32", "int64", "int8", "uint8", "bool"]
# Some that a float32 says exactly and some that it does not, or that a type does not hold.
NUMBERS = [0, 1, -1, 2.0, 127, -128, 255, 300, 2**24, 2**24 + 1, 0.1, 0.5, -0.0, 1e-40, 1e300, float("nan"), float("-inf"), True]
NUMBERS += [np.float32(2.5), np.float64(0.1), np.int64(-3), np.uint8(9)]


def bits(values):
    """So that NaN is NaN and -0.0 not 0.0."""
    return np.ascontiguousarray(values).view(np.uint8)


def in_type(number, dtype):
    with np.errstate(all="ignore"):
        return np.asarray(number).astype(dtype)


def is_defined(number, dtype):
    """Whether C says what an integer type makes of a number."""
    return not isinstance(number, float) or dtype.startswith(("float", "bool")) or abs(number) < 100


@BOTH
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_a_number_is_written_where_numpy_writes_it(make, dtype, key):
    for number in NUMBERS:
        if not is_defined(number, dtype):
            continue
        values = (numbered(SHAPE) % 7).astype(dtype)
        array = make(values, dtype=dtype)
        array[key] = number
        values[key] = in_type(number, dtype)
        assert np.array_equal(bits(array.asnumpy()), bits(values)), number


@BOTH
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_what_is_read_is_numpys(make, dtype, key):
    values = (numbered(SHAPE) % 7).astype(dtype)
    with mx.util.np_shape():
        got = make(values, dtype=dtype)[key]
    assert type(got) is type(make([1])) and got.dtype == np.dtype(dtype)
    assert got.shape == values[key].shape and np.array_equal(got.asnumpy(), values[key])


@BOTH
def test_arrays_of_the_library_as_masks(make):
    for mask in (MASK, MASK[:, 0], numbered(SHAPE) % 2 == 0):
        for given in (mx.np.array(mask), mx.np.array(mask).as_nd_ndarray(), mx.np.array(mask).as_in_context(mx.cpu(1))):
            array, values = make(numbered(SHAPE)), numbered(SHAPE)
            array[given] = -2
            values[mask] = -2
            assert np.array_equal(array.asnumpy(), values)


@BOTH
@pytest.mark.parametrize("rows", [4095, 4096, 4097])
@pytest.mark.parametrize("width", [1, 3])
def test_few_and_many_rows(make, rows, width):
    """A mask of up to 4096 elements is made for a number."""
    values = numbered((rows, width))
    array = make(values)
    for key in ([0, -1, 7], np.arange(0, rows, 3), np.s_[[1, rows - 2], 0], values[:, 0] % 5 == 0):
        assert np.array_equal(array[key].asnumpy(), values[key])
        array[key] = 0.5
        values[key] = 0.5
        assert np.array_equal(array.asnumpy(), values)


@BOTH
def test_part_of_an_array(make):
    """A view that begins where no vector does; what lies around it stays."""
    values = numbered((9, 3))
    array = make(values)
    array[1:8][[0, -1]] = -1
    values[1:8][[0, -1]] = -1
    array[1:8][:, [2]] = -2
    values[1:8][:, [2]] = -2
    assert np.array_equal(array.asnumpy(), values)
    assert np.array_equal(array[1:8][[5, 0]].asnumpy(), values[1:8][[5, 0]])


@BOTH
@pytest.mark.parametrize("key", [[6], [-7], [0, 2**70], np.array([0, 6]), np.s_[:, [5]], np.s_[[0], [0, 5]], np.s_[[0, 1], [0], [3]]], ids=str)
def test_what_is_outside_is_an_error_and_nothing_is_written(make, key):
    array = make(numbered(SHAPE))
    with pytest.raises((IndexError, OverflowError)):
        array[key] = 1
    with pytest.raises((IndexError, OverflowError)):
        array[key]  # pylint: disable=expression-not-assigned
    assert np.array_equal(array.asnumpy(), numbered(SHAPE))


@BOTH
@pytest.mark.parametrize("key", [[1, 0], np.s_[:, [1]], MASK, 1, slice(1, 3)], ids=str)
def test_arrays_that_may_not_be_written(make, key):
    array = make(numbered(SHAPE))
    shown = type(array)(array._as_kind(array._is_np), writable=False)
    for value in (1, array[key]):
        with pytest.raises(ValueError, match="read-only"):
            shown[key] = value


@pytest.mark.parametrize("key", [[1, 0], np.s_[:, [1]], MASK, 1, slice(1, 3)], ids=str)
def test_what_is_recorded_is_not_written_to(key):
    x = mx.np.array(numbered(SHAPE))
    x.attach_grad()
    with mx.autograd.record():
        y = x * 2
        picked = y[key].copy() if key is not MASK else 5
        for value in (5, picked):
            with pytest.raises(ValueError, match="recorded graph"):
                y[key] = value
    assert np.array_equal(y.asnumpy(), numbered(SHAPE) * 2)
    y[key] = 5
    expected = numbered(SHAPE) * 2
    expected[key] = 5
    assert np.array_equal(y.asnumpy(), expected)


@BOTH
@pytest.mark.parametrize("key", [1, -2, slice(None), slice(1, 5), slice(5, 1), slice(None, None, 2), slice(None, None, -1)], ids=str)
def test_rows_of_other_arrays(make, key):
    """Of the shape and type that is written to, of others, from another device, and from where they are written."""
    for value in (numbered(SHAPE)[key] + 100, numbered(SHAPE)[:1, :1] - 1, numbered((3,)) - 1, numbered((1, 1, 5, 3)) - 1):
        if np.ndim(value) > np.ndim(numbered(SHAPE)[key]) and np.shape(value)[0] != 1:
            continue
        elsewhere = make(value) if getattr(key, "step", None) else make(value).as_in_context(mx.cpu(1))
        for given in (make(value), make(value, dtype="int32"), elsewhere, make(value).as_nd_ndarray()):
            array, expected = make(numbered(SHAPE)), numbered(SHAPE)
            array[key] = given
            expected[key] = value.reshape(value.shape[-expected[key].ndim :]) if 0 not in expected[key].shape else 0
            assert np.array_equal(array.asnumpy(), expected)
    array = make(numbered(SHAPE))
    array[key] = array[key].copy() * 2
    assert np.array_equal(array[key].asnumpy() if 0 not in array[key].shape else [], numbered(SHAPE)[key] * 2 if key != slice(5, 1) else [])


@BOTH
@pytest.mark.parametrize("key", [[4, -6], [2], [1, 3, 1], np.array([[5, -2], [0, 1]]), np.array([3, 3], np.int32), [False] * 5 + [True]], ids=str)
@pytest.mark.parametrize("shape", [(6, 5, 3), (6, 1), (6,)])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "bool"])
def test_rows_by_their_numbers_from_other_arrays(make, key, shape, dtype):
    """As many as are selected; one for all; of another type, kind and device. Of a row named twice the last stays."""
    values = (numbered(shape) % 2).astype(dtype)
    rows = (1 - numbered(values[key].shape) % 2).astype(dtype)
    for given in (rows, rows[:1], rows.astype("float64")):
        for source in (make(given, dtype=given.dtype), mx.np.array(given, dtype=given.dtype), make(given, dtype=given.dtype)[:]):
            array, expected = make(values, dtype=dtype), values.copy()
            array[key] = source
            expected[key] = given
            assert np.array_equal(array.asnumpy(), expected)
    wrong = make(np.ones((*rows.shape[:-1], rows.shape[-1] + 4)), dtype=dtype)
    with pytest.raises(ValueError, match="broadcast"):
        make(values, dtype=dtype)[key] = wrong
    view = make(numbered((8, 3)))
    view[1:7][[0, 5]] = view[3:5]
    expected = numbered((8, 3))
    expected[[1, 6]] = numbered((8, 3))[3:5]
    assert np.array_equal(view.asnumpy(), expected)


def test_sparse_arrays_stay_with_python():
    rows = mx.nd.array(numbered((4, 2))).tostype("row_sparse")
    with pytest.raises(Exception, match="row_sparse|sparse|slice|NDArray"):
        rows[[1, 2]]  # pylint: disable=expression-not-assigned
    dense = mx.nd.zeros((4, 2))
    dense[:] = rows
    assert np.array_equal(dense.asnumpy(), numbered((4, 2)))
