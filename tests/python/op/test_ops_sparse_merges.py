# SPDX-License-Identifier: Apache-2.0
"""Sums and products of two sparse arrays by the lengths of what is merged, around those of vectors: which elements are stored, and their values."""
import numpy as np
import pytest

from sparse_calls import Sparse, SparseLibrary

LIBRARY = SparseLibrary
SEED = 20261127
LENGTHS = (0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 100)
TYPES = ["float32", "float64", "float16", "int32", "int64", "int8"]


def places(rng, length, limit, near):
    """Ascending numbers below `limit`, close to its end or anywhere."""
    reach = min(limit, max(length, int(length * rng.choice([1, 1.3, 4]))) if near else limit)
    few = rng.choice(reach, length, replace=False) if reach < 10**6 else np.unique(rng.integers(0, reach, 3 * length + 1))
    return np.sort(rng.permutation(few)[:length]) + (limit - reach)


def lines(rng, limit, near):
    """Of each pair of lengths a pair of lists, some of them with numbers in common."""
    for a in LENGTHS:
        for b in LENGTHS:
            left, right = places(rng, a, limit, near), places(rng, b, limit, near)
            if rng.random() < 0.3:
                right = np.unique(np.concatenate([right, left[rng.random(left.size) < 0.5]]))
            if rng.random() < 0.1:
                right = left
            yield left, right


def values(rng, count, dtype, tail=()):
    drawn = rng.integers(-5, 6, (count, *tail)).astype(dtype)
    if np.dtype(dtype).kind == "f":
        drawn[rng.random(drawn.shape) < 0.1] *= -1  # zeros of either sign
        drawn[rng.random(drawn.shape) < 0.03] = np.nan
    return drawn


CASES = {"elemwise_add": np.add, "elemwise_sub": np.subtract, "elemwise_mul": np.multiply}


def merged(name, left, right):
    """Of (numbers, values) pairs; what is in one alone meets zeros, or is left out of a product."""
    both = np.intersect1d(left[0], right[0]) if name == "elemwise_mul" else np.union1d(left[0], right[0])
    filled = []
    for numbers, data in (left, right):
        full = np.zeros((both.size, *data.shape[1:]), data.dtype)
        here = np.isin(both, numbers)
        full[here] = data[np.searchsorted(numbers, both[here])]
        filled.append(full)
    with np.errstate(all="ignore"):
        return both, CASES[name](*filled)


def alike(got, want):
    np.testing.assert_array_equal(got, want)
    if got.dtype.kind == "f":
        number = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(got)[number], np.signbit(want)[number])


@pytest.mark.parametrize("near", [True, False])
@pytest.mark.parametrize("limit", [200, 5000, 2**31 - 1, 2**31, 2**32 - 1])
@pytest.mark.parametrize("dtype", TYPES)
def test_rows_of_all_lengths(mx, dtype, limit, near):
    rng = np.random.default_rng([SEED, TYPES.index(dtype), limit, near])
    pairs = list(lines(rng, limit, near))
    pairs = [pairs[k] for k in rng.permutation(len(pairs))]
    arrays, parts = [], []
    for side in (0, 1):
        ends = np.concatenate([[0], np.cumsum([pair[side].size for pair in pairs])])
        data = values(rng, ends[-1], dtype)
        parts.append([(pair[side], data[ends[row] : ends[row + 1]]) for row, pair in enumerate(pairs)])
        arrays.append(Sparse("csr", (len(pairs), limit), data, [ends, np.concatenate([pair[side] for pair in pairs])]))
    handles = [mx.array(array) for array in arrays]
    for name in CASES:
        for order in ((0, 1), (1, 0)):
            result = mx.invoke(name, [handles[order[0]], handles[order[1]]])[0]
            got = mx.numpy(result)
            mx.check_format(result)
            mx.free(result)
            want = [merged(name, parts[order[0]][row], parts[order[1]][row]) for row in range(len(pairs))]
            np.testing.assert_array_equal(got.aux[0], np.concatenate([[0], np.cumsum([each.size for each, _ in want])]))
            np.testing.assert_array_equal(got.aux[1], np.concatenate([each for each, _ in want]))
            alike(got.data, np.concatenate([data for _, data in want]))
    mx.free(*handles)


# Types and shapes of rows: of 1, 2, 4 and 8 bytes, and of others.
ROWS = [("int8", ()), ("float16", ()), ("float16", (2,)), ("float32", ()), ("float32", (1, 2)), ("float64", (1,)), ("float32", (3,)), ("int64", ())]


@pytest.mark.parametrize("limit", [150, 4000, 2**31 - 1, 2**32 - 1])
@pytest.mark.parametrize("dtype, tail", ROWS)
def test_lists_of_rows_of_all_lengths(mx, dtype, tail, limit):
    rng = np.random.default_rng([SEED, ROWS.index((dtype, tail)), limit])
    for left, right in lines(rng, limit, rng.random() < 0.5):
        sides = [(numbers, values(rng, numbers.size, dtype, tail)) for numbers in (left, right)]
        handles = [mx.array(Sparse("row_sparse", (limit, *tail), data, [numbers])) for numbers, data in sides]
        name = str(rng.choice(list(CASES)))
        result = mx.invoke(name, handles)[0]
        got = mx.numpy(result)
        numbers, data = merged(name, *sides)
        np.testing.assert_array_equal(got.aux[0], numbers)
        alike(got.data, data)
        mx.free(result, *handles)
