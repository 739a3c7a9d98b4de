# SPDX-License-Identifier: Apache-2.0
"""np.random: parameters are numbers, or tensors that are repeated to one shape."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

import numpy as onp

from ..ndarray._integers import ints
from .frontend import dtype_text, is_number, wrong

__all__ = [
    "beta", "chisquare", "choice", "exponential", "gamma", "gumbel", "logistic", "lognormal", "multinomial",
    "multivariate_normal", "normal", "pareto", "power", "rand", "randint", "randn", "rayleigh", "shuffle", "uniform",
    "weibull",
]


def draw(F: Any, name: str, params: Dict[str, Any], size: Any, ctx: Any, out: Any = None, **others: Any) -> Any:
    """Runs an operator of draws: numbers are parameters, tensors inputs."""
    tensors: List[Any] = []
    numbers: Dict[str, Optional[float]] = {}
    for key, value in params.items():
        if is_number(value):
            numbers[key] = float(value)
        elif F.is_tensor(value):
            tensors.append(value)
            numbers[key] = None
        else:
            raise wrong(name, value, f"{F.tensors} or a number for {key}")
    shape = None if size is None else ints(size)
    where = {} if ctx is False else {"ctx": F.context(ctx)}
    if shape is None and not tensors:
        shape = ()
    return F.op(f"_npi_{name}")(*tensors, **numbers, size=shape, out=out, **where, **others)


def uniform(
    F: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None, dtype: Any = None, ctx: Any = None, out: Any = None
) -> Any:
    """Random numbers evenly in [low, high)."""
    return draw(F, "uniform", {"low": low, "high": high}, size, ctx, out, dtype=dtype_text(dtype))


def normal(
    F: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, dtype: Any = None, ctx: Any = None, out: Any = None
) -> Any:
    """Random numbers of the normal distribution with mean `loc` and standard deviation `scale`."""
    return draw(F, "normal", {"loc": loc, "scale": scale}, size, ctx, out, dtype=dtype_text(dtype))


def lognormal(
    F: Any, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None, dtype: Any = None, ctx: Any = None, out: Any = None
) -> Any:
    """Random numbers whose logarithms are normally distributed, with mean `mean` and standard deviation `sigma`."""
    return F.exp(normal(F, mean, sigma, size, dtype, ctx), out=out)


def logistic(F: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, ctx: Any = None, out: Any = None) -> Any:
    """Random numbers of the logistic distribution around `loc`."""
    return draw(F, "logistic", {"loc": loc, "scale": scale}, size, ctx, out)


def gumbel(F: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, ctx: Any = None, out: Any = None) -> Any:
    """Random numbers of the Gumbel distribution with mode `loc`."""
    return draw(F, "gumbel", {"loc": loc, "scale": scale}, size, ctx, out)


def exponential(F: Any, scale: Any = 1.0, size: Any = None, ctx: Any = None, out: Any = None) -> Any:
    """Random numbers of the exponential distribution with mean `scale`."""
    return draw(F, "exponential", {"scale": scale}, size, ctx, out)


def rayleigh(F: Any, scale: Any = 1.0, size: Any = None, ctx: Any = None, out: Any = None) -> Any:
    """Random numbers of the Rayleigh distribution with mode `scale`."""
    return draw(F, "rayleigh", {"scale": scale}, size, ctx, out)


def weibull(F: Any, a: Any, size: Any = None, ctx: Any = None, out: Any = None) -> Any:
    """Random numbers of the Weibull distribution with shape `a`."""
    return draw(F, "weibull", {"a": a}, size, ctx, out)


def pareto(F: Any, a: Any, size: Any = None, ctx: Any = None, out: Any = None) -> Any:
    """Random numbers of the Pareto II distribution with shape `a`."""
    return draw(F, "pareto", {"a": a}, size, ctx, out)


def power(F: Any, a: Any, size: Any = None) -> Any:
    """Random numbers in [0, 1] with a density that grows as the power a - 1."""
    return draw(F, "powerd", {"a": a}, size, False)


def gamma(F: Any, shape: Any, scale: Any = 1.0, size: Any = None, dtype: Any = None, ctx: Any = None, out: Any = None) -> Any:
    """Random numbers of the gamma distribution with this `shape` and `scale`."""
    return draw(F, "gamma", {"shape": shape, "scale": scale}, size, ctx, out, dtype=dtype_text(dtype))


def chisquare(F: Any, df: Any, size: Any = None, dtype: Any = None, ctx: Any = None) -> Any:
    """The sum of df squared draws of the standard normal distribution."""
    return gamma(F, df / 2, 2.0, size, dtype, ctx)


def beta(F: Any, a: Any, b: Any, size: Any = None, dtype: Any = None, ctx: Any = None) -> Any:
    """Random numbers in [0, 1] of the beta distribution."""
    if F.is_tensor(a) and size is None and is_number(b):
        b = F.full_like(a, b)
    elif F.is_tensor(b) and size is None and is_number(a):
        a = F.full_like(b, a)
    one, other = (gamma(F, shape, 1.0, size, "float64", ctx) for shape in (a, b))
    return F.divide(one, F.add(one, other)).astype(dtype_text(dtype))


def rand(F: Any, *size: int, **kwargs: Any) -> Any:
    """Evenly in [0, 1), with the shape as arguments; keywords as of uniform."""
    return uniform(F, size=size, **kwargs)


def randn(F: Any, *size: int, **kwargs: Any) -> Any:
    """The standard normal distribution, with the shape as arguments; keywords as of normal."""
    return normal(F, size=size, **kwargs)


def randint(F: Any, low: Any, high: Any = None, size: Any = None, dtype: Any = None, ctx: Any = None, out: Any = None) -> Any:
    """Integers in [low, high), or [0, low) without a high; int64 by default."""
    if high is None:
        low, high = 0, low
    return F.op("_npi_random_randint")(
        low=low,
        high=high,
        shape=() if size is None else ints(size),
        ctx=F.context(ctx),
        dtype=dtype_text(dtype, "int64"),
        out=out,
    )


def choice(F: Any, a: Any, size: Any = None, replace: bool = True, p: Any = None, ctx: Any = None, out: Any = None) -> Any:
    """Draws from range(a), or from the elements of a vector; p holds their probabilities."""
    count = int(a) if is_number(a) else F.shape(a, "choice")[0]
    shape = () if size is None else ints(size)
    weights = () if p is None else (p,)
    places = F.op("_npi_choice")(
        *weights, a=count, size=shape, ctx=F.context(ctx), replace=replace, weighted=p is not None,
        out=out if is_number(a) else None,
    )
    return places if is_number(a) else F.take(a, places, out=out)


def multinomial(F: Any, n: int, pvals: Any, size: Any = None, **kwargs: Any) -> Any:
    """How often each of several outcomes comes in n draws; pvals holds their probabilities."""
    if kwargs:
        raise TypeError(f"multinomial: given {', '.join(kwargs)}, expected n, pvals and size")
    shape = None if size is None else ints(size)
    if F.is_tensor(pvals):
        return F.op("_npi_multinomial")(pvals, n=n, pvals=None, size=shape)
    if isinstance(pvals, onp.ndarray):
        raise ValueError("multinomial: given an array of NumPy's as pvals, expected a list or an mx.np array")
    return F.op("_npi_multinomial")(n=n, pvals=tuple(float(value) for value in pvals), size=shape)


def multivariate_normal(F: Any, mean: Any, cov: Any, size: Any = None, check_valid: Any = None, tol: Any = None) -> Any:
    """Normally distributed vectors with a mean and a positive definite covariance matrix."""
    if check_valid is not None or tol is not None:
        raise NotImplementedError("multivariate_normal: given check_valid or tol, expected None: the covariance is factored")
    if F.known_ndim(mean, -1) < 0:
        return F.in_numpy("multivariate_normal_fallback", mean, cov, size=None if size is None else ints(size))
    count = F.shape(mean, "")[-1]
    lead = onp.broadcast_shapes(F.shape(mean, "")[:-1], F.shape(cov, "")[:-2])
    draws = normal(F, 0.0, 1.0, (*(() if size is None else ints(size)), *lead, count, 1), mean.dtype)
    turned = F.matmul(F.op("_npi_cholesky")(cov), draws)
    return F.add(F.squeeze(turned, axis=-1), mean)


def shuffle(F: Any, x: Any) -> None:
    """The rows of an array in another order, in place."""
    F.op("_npi_shuffle")(x, out=x)
