# SPDX-License-Identifier: Apache-2.0
"""Random numbers that NumPy does not have, and the seed: npx.random."""

from typing import Any

from .. import random as _legacy
from .._numpy.arrays import arrays

__all__ = ["bernoulli", "normal_n", "seed", "uniform_n"]

globals().update(arrays.section("random_extension").names)


def seed(seed: int, ctx: Any = "all") -> None:  # pylint: disable=redefined-outer-name
    """Seeds the generators of all devices, or of one."""
    _legacy.seed(seed, ctx)
