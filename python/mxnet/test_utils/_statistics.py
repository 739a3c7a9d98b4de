# SPDX-License-Identifier: Apache-2.0
"""Tests of random generators: their mean, variance, and counts in buckets."""

from __future__ import annotations

from typing import Any, Callable, List, Tuple

import numpy as np


def _draws(generator: Callable[[int], Any], nsamples: int) -> np.ndarray:
    drawn = generator(nsamples)
    return np.asarray(drawn.asnumpy() if hasattr(drawn, "asnumpy") else drawn)


def gen_buckets_probs_with_ppf(ppf: Callable[[float], float], nbuckets: int) -> Tuple[List[Tuple[float, float]], List[float]]:
    """Buckets of equal probability, from the inverse of a distribution function."""
    if nbuckets < 1:
        raise ValueError(f"given {nbuckets} buckets, expected at least 1")
    edges = [ppf(i / float(nbuckets)) for i in range(nbuckets + 1)]
    return list(zip(edges, edges[1:])), [1.0 / nbuckets] * nbuckets


def mean_check(generator: Callable[[int], Any], mu: float, sigma: float, nsamples: int = 1000000) -> bool:
    """Whether the mean of normal draws is within three standard errors."""
    error = 3 * sigma / np.sqrt(nsamples)
    return bool(abs(_draws(generator, nsamples).mean() - mu) < error)


def var_check(generator: Callable[[int], Any], sigma: float, nsamples: int = 1000000) -> bool:
    """Whether the variance of normal draws is within three standard errors."""
    error = 3 * sigma**2 * np.sqrt(2.0 / (nsamples - 1))
    return bool(abs(_draws(generator, nsamples).var(ddof=1) - sigma**2) < error)


def chi_square_check(generator: Callable[[int], Any], buckets: List[Any], probs: List[float], nsamples: int = 1000000) -> Tuple[float, Any, Any]:
    """Pearson's test: (p value, counts, expected counts). Buckets are pairs (from, before) or values."""
    from scipy import stats

    if len(buckets) != len(probs):
        raise ValueError(f"given {len(buckets)} buckets and {len(probs)} probabilities, expected as many of each")
    expected = np.array(probs, np.float64) * nsamples
    samples = _draws(generator, nsamples).reshape(-1)
    if len(samples) != nsamples:
        raise ValueError(f"given {len(samples)} draws, expected {nsamples}")
    if isinstance(buckets[0], (list, tuple)):
        counts = np.array([((samples >= low) & (samples < high)).sum() for low, high in buckets])
        # Draws on the last edge belong to the last bucket.
        counts[-1] += int((samples == buckets[-1][1]).sum())
    else:
        counts = np.array([(samples == value).sum() for value in buckets])
    scale = counts.sum() / expected.sum() if counts.sum() else 1.0
    _, p = stats.chisquare(f_obs=counts, f_exp=expected * scale)
    return float(p), counts, expected.astype(np.int64)


def verify_generator(
    generator: Callable[[int], Any],
    buckets: List[Any],
    probs: List[float],
    nsamples: int = 1000000,
    nrepeat: int = 5,
    success_rate: float = 0.2,
    alpha: float = 0.05,
) -> List[float]:
    """Raises unless enough of `nrepeat` chi-square tests are passed; returns their p values."""
    found = [chi_square_check(generator, buckets, probs, nsamples) for _ in range(nrepeat)]
    passed = sum(p > alpha for p, _, _ in found)
    if passed < nrepeat * success_rate:
        raise AssertionError(
            f"{passed} of {nrepeat} chi-square tests passed, expected at least {nrepeat * success_rate}: "
            f"p values {[p for p, _, _ in found]}, buckets {buckets}, counts {[list(counts) for _, counts, _ in found]}, "
            f"expected counts {list(found[0][2])}"
        )
    return [p for p, _, _ in found]
