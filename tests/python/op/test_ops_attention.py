# SPDX-License-Identifier: Apache-2.0
"""The interleaved products of attention against NumPy on heads taken apart, and their gradients against differences."""
import numpy as np
import pytest

from op_calls import Failure

SEED = 20261121


def heads_of(x, heads, parts):
    """(time, batch, heads * parts * size) -> parts of (batch * heads, time, size)."""
    time, batch, _ = x.shape
    split = x.reshape(time, batch, heads, parts, -1).transpose(3, 1, 2, 0, 4)
    return split.reshape(parts, batch * heads, time, -1)


def joined(x, batch):
    heads, time, size = x.shape[0] // batch, *x.shape[1:]
    return x.reshape(batch, heads, time, size).transpose(2, 0, 1, 3).reshape(time, batch, -1)


ATTENTION = [(5, 7, 2, 3, 4), (1, 1, 1, 1, 1), (70, 33, 3, 2, 17), (16, 20, 1, 4, 64)]


@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-10), ("float32", 1e-4), ("float16", 2e-2)])
@pytest.mark.parametrize("queries, keys, batch, heads, size", ATTENTION)
def test_interleaved_attention_is_that_of_separate_heads(mx, rng, queries, keys, batch, heads, size, dtype, tolerance):
    def compare(got, want):
        assert got.dtype == dtype
        np.testing.assert_allclose(got.astype("float64"), want, rtol=tolerance, atol=tolerance * np.abs(want).max())

    qkv = rng.standard_normal((queries, batch, heads * 3 * size)).astype(dtype)
    q, k, v = heads_of(qkv.astype("float64"), heads, 3)
    compare(mx.run("_contrib_interleaved_matmul_selfatt_qk", qkv, heads=heads)[0], q @ k.swapaxes(1, 2) / np.sqrt(size))
    weights = rng.random((batch * heads, queries, queries)).astype(dtype)
    compare(mx.run("_contrib_interleaved_matmul_selfatt_valatt", qkv, weights, heads=heads)[0],
            joined(weights.astype("float64") @ v, batch))
    kv = rng.standard_normal((keys, batch, heads * 2 * size)).astype(dtype)
    apart = rng.standard_normal((queries, batch, heads * size)).astype(dtype)
    k, v = heads_of(kv.astype("float64"), heads, 2)
    q = heads_of(apart.astype("float64"), heads, 1)[0]
    compare(mx.run("_contrib_interleaved_matmul_encdec_qk", apart, kv, heads=heads)[0],
            q @ k.swapaxes(1, 2) / np.sqrt(size))
    weights = rng.random((batch * heads, queries, keys)).astype(dtype)
    compare(mx.run("_contrib_interleaved_matmul_encdec_valatt", kv, weights, heads=heads)[0],
            joined(weights.astype("float64") @ v, batch))


@pytest.mark.parametrize("op, shapes", [
    ("selfatt_qk", [(6, 2, 18)]), ("selfatt_valatt", [(6, 2, 18), (4, 6, 6)]),
    ("encdec_qk", [(6, 2, 6), (5, 2, 12)]), ("encdec_valatt", [(5, 2, 12), (4, 6, 5)])])
def test_gradients_are_those_of_differences(mx, rng, op, shapes):
    name = "_contrib_interleaved_matmul_" + op
    arrays = [rng.standard_normal(s) for s in shapes]
    head = rng.standard_normal(mx.run(name, *arrays, heads=2)[0].shape)
    for i, got in enumerate(mx.gradients(name, arrays, [head], heads=2)):
        direction = rng.standard_normal(shapes[i])
        ends = [(mx.run(name, *[a + s * direction if j == i else a for j, a in enumerate(arrays)], heads=2)[0] * head).sum()
                for s in (0.5, -0.5)]  # quadratic in each input at most
        assert (got * direction).sum() == pytest.approx(ends[0] - ends[1], rel=1e-9)


def test_heads_that_do_not_divide_are_refused(mx):
    with pytest.raises(Failure, match="heads"):
        mx.run("_contrib_interleaved_matmul_selfatt_qk", np.zeros((2, 2, 10)), heads=2)


def test_products_of_vectors_without_elements_are_zero(mx):
    empty = np.zeros((4, 2, 0), "float32")
    mx.numpy_shape(True)
    try:
        for op, arrays in (("selfatt", [empty]), ("encdec", [empty, empty])):
            scores, = mx.run(f"_contrib_interleaved_matmul_{op}_qk", *arrays, heads=1)
            np.testing.assert_array_equal(scores, np.zeros((2, 4, 4)))
    finally:
        mx.numpy_shape(False)
