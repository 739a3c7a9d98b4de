# SPDX-License-Identifier: Apache-2.0
"""Random numbers. Parameters are numbers, or arrays of which each element gives a row of draws."""

from __future__ import annotations

from typing import Any

from .._core import NDArrayBase
from ..base import numeric_types
from ..context import current_context
from . import _generate
from ._generate import _Null
from ._dtypes import dtype_name
from ._plain import drawn as _drawn

__getattr__ = _generate.fill(__name__, "_random_")
_op = _generate.operator


def __dir__() -> list:
    return sorted({*globals(), *_generate.names_in("_random_")})


def _draw(name: str, params: dict, shape: Any, dtype: Any, ctx: Any, out: Any, kwargs: dict) -> Any:
    # None is NumPy's default type, float64, unless `out` says another; not given, it is the operator's own.
    own = dtype is _Null or isinstance(dtype, str) and dtype == "None" or dtype is None and out is not None
    dtype = "None" if own else dtype_name(dtype)
    shape = None if shape is _Null else shape
    arrays = [isinstance(value, NDArrayBase) for value in params.values()]
    if any(arrays):
        if not all(arrays):
            raise ValueError(f"{name}: given arrays and numbers, expected one of the two for all parameters")
        shape = () if shape is None else shape
        return _op(f"_sample_{name}")(*params.values(), shape=shape, dtype=dtype, out=out, **kwargs)
    if ctx is None:
        ctx = current_context()
    if out is None and shape is None:
        shape = 1
    given = {} if shape is None else {"shape": shape if not isinstance(shape, int) else (shape,)}
    return _op(f"_random_{name}")(**params, **given, dtype=dtype, ctx=str(ctx), out=out, **kwargs)


@_drawn
def uniform(low: Any = 0, high: Any = 1, shape: Any = None, dtype: Any = _Null, ctx: Any = None, out: Any = None, **kwargs: Any) -> Any:
    """Random numbers evenly in [low, high)."""
    return _draw("uniform", {"low": low, "high": high}, shape, dtype, ctx, out, kwargs)


@_drawn
def normal(loc: Any = 0, scale: Any = 1, shape: Any = None, dtype: Any = _Null, ctx: Any = None, out: Any = None, **kwargs: Any) -> Any:
    """Random numbers of the normal distribution with mean `loc` and standard deviation `scale`."""
    if isinstance(loc, NDArrayBase):
        return _draw("normal", {"mu": loc, "sigma": scale}, shape, dtype, ctx, out, kwargs)
    return _draw("normal", {"loc": loc, "scale": scale}, shape, dtype, ctx, out, kwargs)


def randn(*shape: int, loc: Any = 0, scale: Any = 1, dtype: Any = _Null, ctx: Any = None, **kwargs: Any) -> Any:
    """Random numbers of the normal distribution, with the shape as arguments."""
    return normal(loc, scale, shape or None, dtype, ctx, kwargs.pop("out", None), **kwargs)


@_drawn
def poisson(lam: Any = 1, shape: Any = None, dtype: Any = _Null, ctx: Any = None, out: Any = None, **kwargs: Any) -> Any:
    """Random numbers of the Poisson distribution with mean `lam`."""
    return _draw("poisson", {"lam": lam}, shape, dtype, ctx, out, kwargs)


def exponential(scale: Any = 1, shape: Any = None, dtype: Any = _Null, ctx: Any = None, out: Any = None, **kwargs: Any) -> Any:
    """Random numbers of the exponential distribution with mean `scale`."""
    return _draw("exponential", {"lam": 1.0 / scale}, shape, dtype, ctx, out, kwargs)


@_drawn
def gamma(alpha: Any = 1, beta: Any = 1, shape: Any = None, dtype: Any = _Null, ctx: Any = None, out: Any = None, **kwargs: Any) -> Any:
    """Random numbers of the gamma distribution with shape `alpha` and scale `beta`."""
    return _draw("gamma", {"alpha": alpha, "beta": beta}, shape, dtype, ctx, out, kwargs)


@_drawn
def negative_binomial(k: Any = 1, p: Any = 1, shape: Any = None, dtype: Any = _Null, ctx: Any = None, out: Any = None, **kwargs: Any) -> Any:
    """Random numbers of failures before the k-th success, each with probability `p`."""
    return _draw("negative_binomial", {"k": k, "p": p}, shape, dtype, ctx, out, kwargs)


@_drawn
def generalized_negative_binomial(mu: Any = 1, alpha: Any = 1, shape: Any = None, dtype: Any = _Null, ctx: Any = None, out: Any = None, **kwargs: Any) -> Any:
    """Random numbers of the negative binomial distribution with mean `mu` and dispersion `alpha`."""
    return _draw("generalized_negative_binomial", {"mu": mu, "alpha": alpha}, shape, dtype, ctx, out, kwargs)


def randint(low: int, high: int, shape: Any = None, dtype: Any = _Null, ctx: Any = None, out: Any = None, **kwargs: Any) -> Any:
    """Random integers in [low, high)."""
    return _draw("randint", {"low": low, "high": high}, shape, "int32" if dtype is None or dtype is _Null else dtype, ctx, out, kwargs)


def multinomial(data: Any, shape: Any = None, get_prob: bool = False, out: Any = None, dtype: Any = "int32", **kwargs: Any) -> Any:
    """Random positions, drawn with the probabilities that lie along the last axis; with `get_prob` their logarithms,
    too."""
    shape = () if shape is None or shape is _Null else shape
    return _op("_sample_multinomial")(data, shape=shape, get_prob=get_prob, out=out, dtype="int32" if dtype is _Null else dtype_name(dtype), **kwargs)


def shuffle(data: Any, **kwargs: Any) -> Any:
    """The rows in a random order."""
    return _op("_shuffle")(data, **kwargs)
