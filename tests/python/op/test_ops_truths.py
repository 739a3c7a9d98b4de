# SPDX-License-Identifier: Apache-2.0
"""Any byte of a bool but 0 is true: what other libraries or unwritten memory leave in one.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/op/test_ops_truths.py
"""
import numpy as np
import pytest

# About words and vectors of bytes, rows and columns, few of them and many.
SHAPES = [(7,), (17,), (40,), (1000,), (70000,), (300, 5), (5, 300), (300, 17), (64, 100), (20, 70), (3, 4, 5), (40, 9, 33)]
CALLS = {
    "argmax": lambda np, a, axis: np.argmax(a, axis=axis),
    "argmin": lambda np, a, axis: np.argmin(a, axis=axis),
    "max": lambda np, a, axis: np.max(a, axis=axis),
    "min": lambda np, a, axis: np.min(a, axis=axis),
    "any": lambda np, a, axis: np.any(a, axis=axis),
    "all": lambda np, a, axis: np.all(a, axis=axis),
    "sum": lambda np, a, axis: np.sum(a, axis=axis),
    "mean": lambda np, a, axis: np.mean(a, axis=axis),
    "prod": lambda np, a, axis: np.prod(a, axis=axis),
    "var": lambda np, a, axis: np.var(a, axis=axis),
    "sort": lambda np, a, axis: np.sort(a, axis=-1 if axis is None else axis),
    "argsort": lambda np, a, axis: np.argsort(a, axis=-1 if axis is None else axis),
    "unique": lambda np, a, axis: np.unique(a),
    "nonzero": lambda np, a, axis: np.nonzero(a)[0],
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("share", [0, 0.02, 0.5, 1])
def test_any_byte_but_0_is_true(shape, name, share):
    import mxnet as mx
    rng = np.random.default_rng(11)
    raw = np.where(rng.random(shape) < share, rng.integers(1, 256, shape), 0).astype("uint8")
    odd, plain = mx.np.array(raw.view(bool)), mx.np.array(raw != 0)
    for axis in (None, *range(len(shape))):
        got, expected = (CALLS[name](mx.np, a, axis).asnumpy() for a in (odd, plain))
        assert got.dtype == expected.dtype
        assert got.tobytes() == expected.tobytes(), f"along {axis}"
