# SPDX-License-Identifier: Apache-2.0
"""What the rows of registry.py are made of: inputs, and calls, large (0.1 to 4 MB) or small (8 x 8)."""
from dataclasses import dataclass, field

import numpy as np

FLOATS = ("float32", "float16", "float64")
INTEGERS = ("int32", "int64", "uint8", "int8")


@dataclass
class Given:
    """An input: what it is filled with is decided by a seed when it is made, so that both libraries get the same."""

    shape: tuple
    dtype: str = "float32"
    low: float = -2.0
    high: float = 2.0
    kind: str = "uniform"  # or normal, ordered, symmetric (positive definite), triangular, boxes, csr, row_sparse
    density: float = 0.1

    def make(self, rng):
        if self.kind == "symmetric":
            a = rng.standard_normal(self.shape)
            return (a @ np.swapaxes(a, -1, -2) / self.shape[-1] + 2 * np.eye(self.shape[-1])).astype(self.dtype)
        if self.kind == "triangular":
            return (np.tril(rng.uniform(0.1, 1, self.shape)) / self.shape[-1] + np.eye(self.shape[-1])).astype(self.dtype)
        if self.kind == "boxes":
            corner = rng.uniform(0, 0.8, (*self.shape[:-1], 2))
            return np.concatenate([corner, corner + rng.uniform(0.05, 0.2, corner.shape)], -1).astype(self.dtype)
        if self.kind == "ordered":
            return np.sort(rng.uniform(self.low, self.high, self.shape), -1).astype(self.dtype)
        if self.kind == "distinct":
            return rng.permutation(int(self.high))[: self.shape[0]].astype(self.dtype)
        if self.kind == "labelled":  # a class before each box
            box = Given((*self.shape[:-1], 4), kind="boxes").make(rng)
            return np.concatenate([rng.integers(0, 4, (*self.shape[:-1], 1)), box], -1).astype(self.dtype)
        if self.kind == "scored":  # a class and a score before each box
            box = Given((*self.shape[:-1], 4), kind="boxes").make(rng)
            return np.concatenate([rng.integers(0, 4, (*self.shape[:-1], 1)), rng.random((*self.shape[:-1], 1)), box], -1).astype(self.dtype)
        if self.kind == "regions":  # a picture's number before two corners in its pixels
            picture = rng.integers(0, 1 if self.low == 1 else 2, (self.shape[0], 1))
            corner = rng.uniform(0, self.high / 2, (self.shape[0], 2))
            rest = corner + rng.uniform(1, self.high / 2, corner.shape)
            angle = rng.uniform(0, 90, (self.shape[0], self.shape[1] - 5))
            return np.concatenate([picture, corner, rest, angle], -1).astype(self.dtype)
        if self.kind in ("csr", "row_sparse"):
            a = rng.uniform(self.low, self.high, self.shape)
            kept = rng.random(self.shape if self.kind == "csr" else (self.shape[0],) + (1,) * (len(self.shape) - 1)) < self.density
            return (a * kept).astype(self.dtype)
        if self.dtype == "bool":
            return rng.random(self.shape) < 0.5
        if np.dtype(self.dtype).kind in "iu":
            low = max(int(self.low), 0) if self.dtype == "uint8" else int(self.low)
            return rng.integers(low, max(int(self.high), low + 1), self.shape).astype(self.dtype)
        return rng.uniform(self.low, self.high, self.shape).astype(self.dtype)


@dataclass
class Row:
    """One call. `out`: positions of inputs that are the outputs. `gradients`: whether the inputs of floats are differentiated, or which."""

    op: str
    inputs: list
    attrs: dict = field(default_factory=dict)
    numpy: bool = False
    out: tuple = ()
    gradients: object = True
    training: bool = True
    outputs_only: tuple = ()  # inputs that are only outputs

    def label(self):
        given = " ".join(f"{'' if i.kind in ('uniform', 'normal') else i.kind + ' '}{i.dtype}{list(i.shape)}".replace(", ", ",") for i in self.inputs)
        attrs = " ".join(f"{k}={v}".replace(", ", ",") for k, v in self.attrs.items())
        return f"{self.op} {given} {attrs}".rstrip()


class Sizes:
    """What families of operators choose shapes by."""

    def __init__(self, large):
        self.large = large

    def size(self, large, small):
        return large if self.large else small

    def of(self, *shape, dtype="float32", low=-2.0, high=2.0, kind="uniform", density=0.1):
        return Given(shape, dtype, low, high, kind, density)

    def plane(self, dtype="float32", low=-2.0, high=2.0):
        return Given(self.size((512, 1024), (8, 8)), dtype, low, high)
