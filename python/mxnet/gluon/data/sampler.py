# SPDX-License-Identifier: Apache-2.0
"""In which order the samples of a data set come, and in which batches."""

from __future__ import annotations

from typing import Any, Callable, Iterator, List

__all__ = ["BatchSampler", "FilterSampler", "RandomSampler", "Sampler", "SequentialSampler"]


class Sampler:
    """The base of samplers: a subclass defines __iter__(), which gives numbers, and __len__()."""

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} has no __len__()")

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} has no __iter__()")


class SequentialSampler(Sampler):
    """start, start + 1, ..., `length` numbers."""

    def __init__(self, length: int, start: int = 0) -> None:
        self._length = length
        self._start = start

    def __iter__(self) -> Iterator[int]:
        return iter(range(self._start, self._start + self._length))

    def __len__(self) -> int:
        return self._length


class RandomSampler(Sampler):
    """0 to length - 1 in a random order, which numpy.random.seed decides."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __iter__(self) -> Iterator[int]:
        import numpy as np

        order = np.arange(self._length)
        np.random.shuffle(order)
        return iter(order.tolist())

    def __len__(self) -> int:
        return self._length


class FilterSampler(Sampler):
    """The numbers of the samples for which fn(sample) is true; fn is called for all of them at once."""

    def __init__(self, fn: Callable[[Any], bool], dataset: Any) -> None:
        self._fn = fn
        self._dataset = dataset
        self._indices = [i for i in range(len(dataset)) if fn(dataset[i])]

    def __iter__(self) -> Iterator[int]:
        return iter(self._indices)

    def __len__(self) -> int:
        return len(self._indices)


class BatchSampler(Sampler):
    """Lists of `batch_size` numbers out of a sampler.

    `last_batch` says what becomes of numbers that do not fill a batch: "keep" makes a smaller one of them,
    "discard" drops them, "rollover" puts them in front of the next epoch.
    """

    def __init__(self, sampler: Sampler, batch_size: int, last_batch: str = "keep") -> None:
        if last_batch not in ("keep", "discard", "rollover"):
            raise ValueError(f"given last_batch {last_batch!r}, expected 'keep', 'discard' or 'rollover'")
        if isinstance(batch_size, str) or batch_size < 1 or batch_size != int(batch_size):
            raise ValueError(f"given batch_size {batch_size!r}, expected a whole number of at least 1")
        self._sampler = sampler
        self._batch_size = batch_size
        self._last_batch = last_batch
        self._prev: List[Any] = []

    def __iter__(self) -> Iterator[List[Any]]:
        batch, self._prev = self._prev, []
        for number in self._sampler:
            batch.append(number)
            if len(batch) == self._batch_size:
                yield batch
                batch = []
        if batch and self._last_batch == "keep":
            yield batch
        elif batch and self._last_batch == "rollover":
            self._prev = batch

    def __len__(self) -> int:
        if self._last_batch == "keep":
            return -(-len(self._sampler) // self._batch_size)
        return (len(self._sampler) + len(self._prev)) // self._batch_size
