# SPDX-License-Identifier: Apache-2.0
"""Random numbers: the seed, and what mx.nd.random has."""

from __future__ import annotations

from typing import Any

from . import _core
from .base import integer_types
from .context import Context
from .ndarray import random as _random
from .ndarray.random import (
    exponential, gamma, generalized_negative_binomial, multinomial, negative_binomial, normal, poisson, randint,
    randn, shuffle, uniform,
)

__all__ = [
    "exponential", "gamma", "generalized_negative_binomial", "integer_types", "multinomial", "negative_binomial", "normal", "poisson",
    "randint", "randn", "seed", "shuffle", "uniform",
]


def seed(seed_state: int, ctx: Any = "all") -> None:
    """Seeds the generators of all devices, or of one: a Context, or a type as "cpu", of which it is the first."""
    if not isinstance(seed_state, int) and not hasattr(seed_state, "__index__"):
        raise ValueError(f"given {seed_state!r}, expected an integer")
    # The library takes 32 bits; a larger seed keeps its lower ones.
    state = (int(seed_state) + 2**31) % 2**32 - 2**31
    if isinstance(ctx, str) and ctx == "all":
        _core.seed(state)
    else:
        device = Context(ctx)
        _core.seed_context(state, device.device_typeid, device.device_id)


def __getattr__(name: str) -> Any:
    return getattr(_random, name)
