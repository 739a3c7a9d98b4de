# SPDX-License-Identifier: Apache-2.0
"""Random numbers. Parameters are numbers, or symbols of which each element gives a row of draws."""

from __future__ import annotations

from typing import Any, Dict

from .._core import SymbolBase
from ..base import numeric_types
from ..ndarray._dtypes import dtype_name
from . import _generate
from ._generate import _Null

_operators = _generate.fill(__name__, "_random_")
_fn = _generate.function


def __getattr__(name: str) -> Any:
    return _operators(name)


def __dir__() -> list:
    return sorted({*globals(), *_generate.names_in("_random_")})


def _draw(name: str, numbers: Dict[str, Any], symbols: Dict[str, Any], shape: Any, dtype: Any, kwargs: Dict[str, Any]) -> Any:
    """`numbers` and `symbols` are the same parameters by the names of the two operators."""
    if dtype is not _Null and not isinstance(dtype, str):
        dtype = dtype_name(dtype)  # None is NumPy's default type, float64
    given = [isinstance(value, SymbolBase) for value in symbols.values()]
    if any(given) and not all(given):
        raise ValueError(f"{name}: given symbols and numbers, expected one of the two for all parameters")
    params = {"shape": shape, "dtype": dtype, **kwargs}
    params = {key: value for key, value in params.items() if value is not _Null and value is not None}
    if all(given):
        return _fn(f"_sample_{name}")(*symbols.values(), **params)
    return _fn(f"_random_{name}")(**numbers, **params)


def uniform(low: Any = 0, high: Any = 1, shape: Any = _Null, dtype: Any = _Null, **kwargs: Any) -> Any:
    """Random numbers evenly in [low, high)."""
    params = {"low": low, "high": high}
    return _draw("uniform", params, params, shape, dtype, kwargs)


def normal(loc: Any = 0, scale: Any = 1, shape: Any = _Null, dtype: Any = _Null, **kwargs: Any) -> Any:
    """Random numbers of the normal distribution with mean `loc` and standard deviation `scale`."""
    return _draw("normal", {"loc": loc, "scale": scale}, {"mu": loc, "sigma": scale}, shape, dtype, kwargs)


def randn(*shape: int, **kwargs: Any) -> Any:
    """The normal distribution, with the shape as arguments; `loc`, `scale` and `dtype` as keywords."""
    loc, scale, dtype = kwargs.pop("loc", 0), kwargs.pop("scale", 1), kwargs.pop("dtype", _Null)
    return normal(loc, scale, shape, dtype, **kwargs)


def poisson(lam: Any = 1, shape: Any = _Null, dtype: Any = _Null, **kwargs: Any) -> Any:
    """Random numbers of the Poisson distribution with mean `lam`."""
    return _draw("poisson", {"lam": lam}, {"lam": lam}, shape, dtype, kwargs)


def exponential(scale: Any = 1, shape: Any = _Null, dtype: Any = _Null, **kwargs: Any) -> Any:
    """Random numbers of the exponential distribution with mean `scale`."""
    params = {"lam": 1.0 / scale}
    return _draw("exponential", params, params, shape, dtype, kwargs)


def gamma(alpha: Any = 1, beta: Any = 1, shape: Any = _Null, dtype: Any = _Null, **kwargs: Any) -> Any:
    """Random numbers of the gamma distribution with shape `alpha` and scale `beta`."""
    params = {"alpha": alpha, "beta": beta}
    return _draw("gamma", params, params, shape, dtype, kwargs)


def negative_binomial(k: Any = 1, p: Any = 1, shape: Any = _Null, dtype: Any = _Null, **kwargs: Any) -> Any:
    """Random numbers of failures before the k-th success, each with probability `p`."""
    params = {"k": k, "p": p}
    return _draw("negative_binomial", params, params, shape, dtype, kwargs)


def generalized_negative_binomial(mu: Any = 1, alpha: Any = 1, shape: Any = _Null, dtype: Any = _Null, **kwargs: Any) -> Any:
    """Random numbers of the negative binomial distribution with mean `mu` and dispersion `alpha`."""
    params = {"mu": mu, "alpha": alpha}
    return _draw("generalized_negative_binomial", params, params, shape, dtype, kwargs)


def randint(low: Any, high: Any, shape: Any = _Null, dtype: Any = _Null, **kwargs: Any) -> Any:
    """Random integers in [low, high)."""
    params = {"low": low, "high": high}
    return _draw("randint", params, params, shape, _Null if dtype is None else dtype, kwargs)


def multinomial(data: Any, shape: Any = _Null, get_prob: bool = True, dtype: Any = "int32", **kwargs: Any) -> Any:
    """Draws of indices, with the last axis as probabilities; with `get_prob` their logarithms too."""
    given = {} if shape is _Null else {"shape": shape}
    return _fn("_sample_multinomial")(data, **given, get_prob=get_prob, dtype=dtype_name(dtype), **kwargs)


def shuffle(data: Any, **kwargs: Any) -> Any:
    """The rows in a random order."""
    return _fn("_shuffle")(data, **kwargs)
