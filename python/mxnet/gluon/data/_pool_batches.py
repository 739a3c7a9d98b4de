# SPDX-License-Identifier: Apache-2.0
"""Batches out of a multiprocessing pool that somebody else has made, for packages whose loaders send work of their own to it."""

from __future__ import annotations

import pickle
from typing import Any, Callable, Dict, Iterator, List, Optional

from ...context import cpu_pinned


class _MultiWorkerIter:
    """The batches of `batch_sampler` in its order, `prefetch` of them ahead.

    `worker_fn(numbers, batchify_fn)` makes a batch in a worker and gives it pickled, or with a `dataset`, for pools of
    threads, `worker_fn(numbers, batchify_fn, dataset)` as it is. A subclass may send other work in `_push_next`.
    """

    def __init__(
        self, worker_pool: Any, batchify_fn: Callable[[List[Any]], Any], batch_sampler: Any, pin_memory: bool = False,
        pin_device_id: int = 0, worker_fn: Optional[Callable[..., Any]] = None, prefetch: int = 0, dataset: Any = None,
        data_loader: Any = None, timeout: float = 120,
    ) -> None:  # fmt: skip
        self._worker_pool = worker_pool
        self._batchify_fn = batchify_fn
        self._batch_sampler = batch_sampler
        self._worker_fn = worker_fn
        self._pin_memory = pin_memory
        self._pin_device_id = pin_device_id
        self._dataset = dataset
        self._data_loader = data_loader  # lives as long as its batches are wanted
        self._timeout = timeout
        self._data_buffer: Dict[int, Any] = {}  # what was sent, by its place
        self._sent_idx = 0
        self._rcvd_idx = 0
        self._iter: Iterator[Any] = iter(batch_sampler)
        for _ in range(prefetch):
            self._push_next()

    def __len__(self) -> int:
        return len(self._batch_sampler)

    def __iter__(self) -> _MultiWorkerIter:
        return self

    def _push_next(self) -> None:
        """Sends the work for one more batch."""
        numbers = next(self._iter, None)
        if numbers is None:
            return
        given = (numbers, self._batchify_fn) if self._dataset is None else (numbers, self._batchify_fn, self._dataset)
        self._data_buffer[self._sent_idx] = self._worker_pool.apply_async(self._worker_fn, given)
        self._sent_idx += 1

    def __next__(self) -> Any:
        self._push_next()
        if self._rcvd_idx == self._sent_idx:
            raise StopIteration
        made = self._data_buffer[self._rcvd_idx].get(self._timeout)  # if Ctrl-C ends it, the batch is the next one still
        del self._data_buffer[self._rcvd_idx]
        self._rcvd_idx += 1
        batch = pickle.loads(made) if self._dataset is None else made
        if not self._pin_memory:
            return batch
        from .dataloader import _as_in_context

        return _as_in_context(batch, cpu_pinned(self._pin_device_id))

    next = __next__
