# SPDX-License-Identifier: Apache-2.0
"""Random shapes, types and arrays for tests of operators that move elements."""
import numpy as np

from op_calls import DTYPES


class Draw:
    """Random arguments; the seed stands in the name of each test."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def int(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def shape(self, low=1, high=4, longest=5, zero=True):
        return tuple(self.int(0 if zero and self.int(0, 19) == 0 else 1, longest) for _ in range(self.int(low, high)))

    def array(self, shape, dtype="float32"):
        if dtype == "bool":
            return self.rng.integers(0, 2, shape).astype(bool)
        return self.rng.integers(0 if dtype == "uint8" else -60, 60, shape).astype(dtype)

    def axis(self, ndim):
        return self.int(-ndim, ndim - 1)

    def axes(self, ndim, count=None):
        chosen = self.rng.permutation(ndim)[: self.int(0, ndim) if count is None else count]
        return tuple(int(a) - (ndim if self.int(0, 1) else 0) for a in chosen)

    def cuts(self, size):
        return (0,) + tuple(sorted(self.int(0, size) for _ in range(self.int(0, 3))))
