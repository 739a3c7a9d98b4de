# SPDX-License-Identifier: Apache-2.0
"""Results of some MiB, whose lines some processors ask for before they are written, are those of NumPy: in blocks whose
ends lie anywhere, along rows, and past the ends of what threads share."""
import numpy as np
import pytest

import mxnet as mx

ROWS, COLUMNS = 1201, 1603  # 7.3 MiB of floats, of which nothing is a whole number of lines


@pytest.fixture(scope="module")
def numbers():
    return np.random.default_rng(5).integers(-100, 100, (ROWS, COLUMNS)).astype("float32")


def test_elementwise_results(numbers):
    x, row = mx.nd.array(numbers), mx.nd.array(numbers[:1])
    np.testing.assert_array_equal((x + x).asnumpy(), numbers + numbers)
    np.testing.assert_array_equal(mx.nd.broadcast_add(x, row).asnumpy(), numbers + numbers[:1])
    np.testing.assert_array_equal(mx.nd.abs(x).asnumpy(), np.abs(numbers))
    np.testing.assert_array_equal(mx.nd.where(x, x, row.broadcast_like(x)).asnumpy(),
                                  np.where(numbers != 0, numbers, numbers[:1]))


@pytest.mark.parametrize("dtype", ["float16", "float64", "int32", "int64", "int8"])
def test_casts_to_other_types(numbers, dtype):
    np.testing.assert_array_equal(mx.nd.array(numbers).astype(dtype).asnumpy(), numbers.astype(dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_arrays_that_are_filled(dtype):
    count = ROWS * COLUMNS
    np.testing.assert_array_equal(mx.nd.arange(3, 3 + 2 * count, 2, dtype=dtype).asnumpy(), 3 + 2 * np.arange(count, dtype=dtype))
    np.testing.assert_array_equal(mx.nd.full((ROWS, COLUMNS), 7, dtype=dtype).asnumpy(), np.full((ROWS, COLUMNS), 7, dtype))
    assert not mx.nd.zeros((ROWS, COLUMNS), dtype=dtype).asnumpy().any()


def test_rows_joined_cut_and_repeated(numbers):
    x = mx.nd.array(numbers)
    np.testing.assert_array_equal(mx.nd.concat(x, x, dim=1).asnumpy(), np.concatenate([numbers, numbers], 1))
    np.testing.assert_array_equal(x[1:-1, 5:-7].asnumpy(), numbers[1:-1, 5:-7])
    np.testing.assert_array_equal(x.copy().asnumpy(), numbers)
    np.testing.assert_array_equal(mx.nd.broadcast_to(x[:, :1], shape=(ROWS, COLUMNS)).asnumpy(), np.tile(numbers[:, :1], COLUMNS))
    np.testing.assert_array_equal(mx.nd.tile(x, reps=(2, 2)).asnumpy(), np.tile(numbers, (2, 2)))


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64"])
def test_transposes_of_whole_and_of_broken_lines(numbers, dtype):
    for columns in (COLUMNS, 1600):
        part = np.ascontiguousarray(np.tile(numbers[:, :columns], (3, 1))).astype(dtype)
        part = part[: part.shape[0] // 64 * 64] if columns == 1600 else part
        np.testing.assert_array_equal(mx.nd.array(part, dtype=dtype).T.asnumpy(), part.T)


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(33, 40, 45, 36), (64, 66, 64, 16), (70, 31, 32, 33)])
def test_four_dimensions_turned_round(shape, dtype):
    x = np.random.default_rng(6).integers(-100, 100, shape).astype(dtype)
    for axes in ((3, 2, 1, 0), (3, 1, 2, 0), (2, 3, 1, 0)):
        np.testing.assert_array_equal(mx.nd.array(x, dtype=dtype).transpose(axes).asnumpy(), x.transpose(axes))


# Bytes of a row: whole lines, few and many, and what ends between them.
@pytest.mark.parametrize("width", [32, 128, 137, 300, 1024])
def test_rows_taken_one_by_one(width):
    rng, rows = np.random.default_rng(7), (12 << 20) // (4 * width)
    table, at = rng.integers(-100, 100, (rows, width)).astype("float32"), rng.integers(0, rows, rows + 3)
    x = mx.nd.array(table)
    np.testing.assert_array_equal(mx.nd.take(x, mx.nd.array(at, dtype="int64")).asnumpy(), table[at])
    np.testing.assert_array_equal(mx.nd.take(x[1:], mx.nd.array(at, dtype="int64")).asnumpy(), table[1:][np.minimum(at, rows - 2)])
    held = rng.random(rows) < 0.9
    np.testing.assert_array_equal(mx.nd.contrib.boolean_mask(x, mx.nd.array(held, dtype="bool")).asnumpy(), table[held])
