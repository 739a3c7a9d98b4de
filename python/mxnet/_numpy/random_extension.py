# SPDX-License-Identifier: Apache-2.0
"""npx.random: draws that NumPy does not have."""

from __future__ import annotations

from typing import Any

from ..ndarray._integers import ints
from .frontend import dtype_text, is_number, wrong
from .random import draw

__all__ = ["bernoulli", "normal_n", "uniform_n"]


def bernoulli(
    F: Any, prob: Any = None, logit: Any = None, size: Any = None, dtype: Any = None, ctx: Any = None, out: Any = None
) -> Any:
    """Ones with a probability, or with one given by its logit."""
    if (prob is None) == (logit is None):
        raise ValueError(f"bernoulli: given prob={prob} and logit={logit}, expected one of the two")
    is_logit = logit is not None
    value = logit if is_logit else prob
    params = {"size": None if size is None else ints(size), "ctx": F.context(ctx), "dtype": dtype_text(dtype)}
    if F.is_tensor(value):
        return F.op("_npi_bernoulli")(value, prob=None, logit=None, is_logit=is_logit, out=out, **params)
    if not is_number(value):
        raise wrong("bernoulli", value, f"{F.tensors} or a number")
    params["size"] = params["size"] or ()
    given = {"prob": None if is_logit else float(value), "logit": float(value) if is_logit else None}
    return F.op("_npi_bernoulli")(**given, is_logit=is_logit, out=out, **params)


def uniform_n(F: Any, low: Any = 0.0, high: Any = 1.0, batch_shape: Any = None, dtype: Any = None, ctx: Any = None) -> Any:
    """Evenly in [low, high), so many for each element of the parameters as batch_shape says."""
    return draw(F, "uniform_n", {"low": low, "high": high}, batch_shape, ctx, dtype=dtype_text(dtype))


def normal_n(F: Any, loc: Any = 0.0, scale: Any = 1.0, batch_shape: Any = None, dtype: Any = None, ctx: Any = None) -> Any:
    """The normal distribution, so many for each element of the parameters as batch_shape says."""
    return draw(F, "normal_n", {"loc": loc, "scale": scale}, batch_shape, ctx, dtype=dtype_text(dtype))
