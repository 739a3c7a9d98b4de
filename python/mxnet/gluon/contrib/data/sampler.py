# SPDX-License-Identifier: Apache-2.0
"""Orders of samples that few programs need."""

from __future__ import annotations

from typing import Iterator

from ...data import sampler

__all__ = ["IntervalSampler"]


class IntervalSampler(sampler.Sampler):
    """Every `interval`-th number from 0 on, then with `rollover` from 1 on and so forth until all have come."""

    def __init__(self, length: int, interval: int, rollover: bool = True) -> None:
        if not 0 < interval <= length:
            raise ValueError(f"given interval {interval} for {length} numbers, expected 1 to {length}")
        self._length = length
        self._interval = interval
        self._rollover = rollover

    def __iter__(self) -> Iterator[int]:
        for start in range(self._interval if self._rollover else 1):
            yield from range(start, self._length, self._interval)

    def __len__(self) -> int:
        return self._length if self._rollover else len(range(0, self._length, self._interval))
