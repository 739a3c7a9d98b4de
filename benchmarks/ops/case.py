# SPDX-License-Identifier: Apache-2.0
"""What one line of the comparison is made of: an operator call, its inputs, and the same in the peers' words."""
from dataclasses import dataclass, field
from typing import Callable, Optional

import numpy as np

RNG = np.random.default_rng(0)


@dataclass
class Case:
    """`numpy` and `torch` take the inputs and an array for the result, which they may leave unused.

    None: the peer has no such function. `inplace`: the call writes its first input instead of a result.
    `memory_bound`: it does so little with an element that it should take no longer than to copy as many bytes.
    """

    label: str
    op: str
    inputs: list
    numpy: Optional[Callable] = None
    torch: Optional[Callable] = None
    attrs: dict = field(default_factory=dict)
    compare: bool = True  # whether the result must be that of NumPy
    exact: Optional[Callable] = None  # which of the inputs gives it, where what NumPy is timed at loses too much
    inplace: bool = False
    memory_bound: bool = False


def floats(dtype, *shape, low=0.1, high=4.0):
    return RNG.uniform(low, high, shape).astype(dtype)


def normals(dtype, *shape, scale=1.0):
    return (RNG.standard_normal(shape) * scale).astype(dtype)


def integers(dtype, count, *shape):
    return RNG.integers(0, count, shape).astype(dtype)


def copied(view):
    """A peer's function that writes out what is only a view in its words."""

    def call(*arguments):
        *inputs, out = arguments
        if isinstance(out, np.ndarray):
            np.copyto(out, view(*inputs))
            return out
        return out.copy_(view(*inputs))

    return call
