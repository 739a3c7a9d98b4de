# SPDX-License-Identifier: Apache-2.0
"""Batches of a data set, made here or ahead by workers."""

from __future__ import annotations

import multiprocessing.context
import multiprocessing.queues
import os
import weakref
from collections import deque
from multiprocessing.reduction import DupFd, ForkingPickler
from typing import Any, Callable, Deque, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from ... import ndarray
from ...context import Context, cpu_pinned
from ...ndarray import NDArray
from ...util import is_np_array
from . import sampler as _sampler
from ._pool_batches import _MultiWorkerIter  # noqa: F401  (packages take it from here)
from ._transport import describe, rebuild, shared
from ._workers import ProcessWorkers, ThreadWorkers, WorkerError

__all__ = ["DataLoader"]


def _array(values: Any, ctx: Optional[Context] = None) -> NDArray:
    values = np.asarray(values)
    if is_np_array():
        from ... import numpy

        return numpy.array(values, dtype=values.dtype, ctx=ctx)
    return ndarray.array(values, dtype=values.dtype, ctx=ctx)


def _check_shapes(samples: Sequence[Any]) -> None:
    shape = samples[0].shape
    for i, item in enumerate(samples):
        found = item.shape if hasattr(item, "shape") else np.shape(item)
        if found != shape:
            raise ValueError(
                f"given samples of shapes {shape} and {found} (number {i}), expected one shape: give a batchify_fn, as "
                "gluon.data.batchify.Pad"
            )


def _is_row(sample: Any) -> bool:
    """Whether the items of a sample go into batches of their own; lists of numbers are arrays."""
    if isinstance(sample, list):
        return not all(isinstance(item, (int, float, np.generic, list)) for item in sample)
    return isinstance(sample, tuple)


def _batch(data: Sequence[Any], ctx: Optional[Context]) -> Any:
    first = data[0]
    if isinstance(first, (NDArray, np.ndarray)):
        _check_shapes(data)
    if isinstance(first, NDArray):
        if is_np_array():
            from ... import numpy

            stacked = numpy.stack(list(data))
        else:
            stacked = ndarray.stack(*data)
        return stacked if ctx is None else stacked.as_in_context(ctx)
    if _is_row(first):
        return [_batch(items, ctx) for items in zip(*data)]
    if isinstance(first, dict):
        return {key: _batch([item[key] for item in data], ctx) for key in first}
    return _array(data, ctx)


def default_batchify_fn(data: Sequence[Any]) -> Any:
    """Samples along a new first axis; of samples that are tuples, a list of such for each item."""
    return _batch(data, None)


def default_mp_batchify_fn(data: Sequence[Any]) -> Any:
    """As default_batchify_fn, in memory that other processes can map."""
    return _batch(data, Context("cpu_shared", 0))


def _as_in_context(batch: Any, ctx: Context) -> Any:
    if isinstance(batch, NDArray):
        return batch.as_in_context(ctx)
    if isinstance(batch, (list, tuple)):
        return [_as_in_context(item, ctx) for item in batch]
    if isinstance(batch, dict):
        return {key: _as_in_context(item, ctx) for key, item in batch.items()}
    return batch


class DataLoader:
    """Batches of a data set.

    Samples come in the order of `sampler` (`shuffle` chooses one) in batches of `batch_size`, or as
    `batch_sampler` says; `last_batch` is "keep", "discard" or "rollover". `batchify_fn` makes a batch out of
    a list of samples.

    With `num_workers` batches are made ahead, `prefetch` of them (twice as many as workers by default), by
    processes that hand arrays over in shared memory, or with `thread_pool` by threads. Processes are
    started as multiprocessing.set_start_method says; the data set is pickled unless they are forked. A
    worker that ends, or takes more than `timeout` seconds, is an error that names it. `auto_reload` begins
    the next epoch as soon as one ends.

    `pin_memory` copies batches to where GPU `pin_device_id` reads them fastest.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: Optional[int] = None,
        shuffle: bool = False,
        sampler: Optional[_sampler.Sampler] = None,
        last_batch: Optional[str] = None,
        batch_sampler: Optional[_sampler.Sampler] = None,
        batchify_fn: Optional[Callable[[List[Any]], Any]] = None,
        num_workers: int = 0,
        pin_memory: bool = False,
        pin_device_id: int = 0,
        prefetch: Optional[int] = None,
        thread_pool: bool = False,
        timeout: int = 120,
        auto_reload: bool = False,
    ) -> None:
        if timeout <= 0:
            raise ValueError(f"given timeout {timeout}, expected seconds above 0")
        self._dataset = dataset
        self._pin_memory = pin_memory
        self._pin_device_id = pin_device_id
        self._batch_sampler = _chosen_batches(dataset, batch_size, shuffle, sampler, last_batch, batch_sampler)
        self._num_workers = max(num_workers, 0)
        self._prefetch = max(0, 2 * self._num_workers if prefetch is None else prefetch)
        self._auto_reload = auto_reload
        if batchify_fn is None:
            in_processes = self._num_workers > 0 and not thread_pool
            batchify_fn = default_mp_batchify_fn if in_processes else default_batchify_fn
        self._batchify_fn = batchify_fn
        self._workers: Any = None
        if self._num_workers > 0:
            kind = ThreadWorkers if thread_pool else ProcessWorkers
            self._workers = kind(dataset, batchify_fn, self._num_workers, timeout)
        self._begun: Optional[_Epoch] = None
        if auto_reload:
            self.refresh()

    def __iter__(self) -> Iterator[Any]:
        if self._workers is None:
            return (self._pinned(self._made(numbers)) for numbers in self._batch_sampler)
        epoch, self._begun = self._begun or _Epoch(self), None
        return epoch

    def _made(self, numbers: Sequence[int]) -> Any:
        return self._batchify_fn([self._dataset[i] for i in numbers])

    def _pinned(self, batch: Any) -> Any:
        return _as_in_context(batch, cpu_pinned(self._pin_device_id)) if self._pin_memory else batch

    def __len__(self) -> int:
        return len(self._batch_sampler)

    def refresh(self) -> None:
        """Begins the next epoch now: workers make its first batches before anybody asks for them."""
        self.clean()
        if self._workers is not None:
            self._begun = _Epoch(self)

    def clean(self) -> None:
        """Forgets an epoch that refresh() has begun."""
        if self._begun is not None:
            self._begun.close()
            self._begun = None

    def __del__(self) -> None:
        workers = getattr(self, "_workers", None)
        if workers is not None:
            workers.close()


class _Epoch:
    """One pass over the batches, made by workers, in the sampler's order."""

    def __init__(self, loader: DataLoader) -> None:
        self._loader = loader  # lives as long as its batches are wanted
        self._workers = loader._workers
        self._numbers = iter(loader._batch_sampler)
        self._keys: Deque[int] = deque()
        self._given = 0
        for _ in range(max(loader._prefetch, 1)):
            self._submit()

    def _submit(self) -> None:
        numbers = next(self._numbers, None)
        if numbers is not None:
            self._keys.append(self._workers.submit(numbers))

    def __iter__(self) -> _Epoch:
        return self

    def __next__(self) -> Any:
        if not self._keys:
            if self._loader._auto_reload and self._given and self._loader._begun is None:
                self._given = 0
                self._loader.refresh()
            raise StopIteration
        self._workers.wait(self._keys[0])  # if Ctrl-C ends it, the batch is the next one still
        batch = self._workers.result(self._keys.popleft())
        self._submit()
        self._given += 1
        return self._loader._pinned(batch)

    next = __next__

    def __len__(self) -> int:
        return len(self._loader)

    def close(self) -> None:
        """Drops the batches that are being made."""
        while self._keys:
            self._workers.drop(self._keys.popleft())

    def __del__(self) -> None:
        self.close()


def _chosen_batches(
    dataset: Any,
    batch_size: Optional[int],
    shuffle: bool,
    sampler: Optional[_sampler.Sampler],
    last_batch: Optional[str],
    batch_sampler: Optional[_sampler.Sampler],
) -> _sampler.Sampler:
    if batch_sampler is not None:
        if batch_size is not None or shuffle or sampler is not None or last_batch is not None:
            raise ValueError("given batch_sampler, expected none of batch_size, shuffle, sampler and last_batch with it")
        return batch_sampler
    if batch_size is None:
        raise ValueError("given neither batch_size nor batch_sampler, expected one of them")
    if sampler is None:
        sampler = _sampler.RandomSampler(len(dataset)) if shuffle else _sampler.SequentialSampler(len(dataset))
    elif shuffle:
        raise ValueError("given shuffle and sampler, expected one of them")
    return _sampler.BatchSampler(sampler, batch_size, last_batch or "keep")


# --- What programs use that send arrays through queues and pipes of their own.


def rebuild_ndarray(pid: int, fd: Any, shape: Tuple[int, ...], dtype: int) -> NDArray:
    """An array that reduce_ndarray took apart in another process."""
    return rebuild(pid, fd.detach() if hasattr(fd, "detach") else fd, shape, dtype, False)


def _descriptor_of(data: Any) -> Tuple[Any, ...]:
    in_shared = shared(data)  # lives until its descriptor is copied
    process, descriptor, shape, dtype, _ = describe(in_shared)
    beginning = multiprocessing.context.get_spawning_popen()
    if beginning is not None:  # an argument of a process, which inherits the number: one of its own, open until it has begun
        descriptor = os.dup(descriptor)
        weakref.finalize(beginning, os.close, descriptor)
    return process, DupFd(descriptor), shape, dtype


def reduce_ndarray(data: NDArray) -> Any:
    """How an array goes through multiprocessing: as a descriptor of shared memory."""
    return rebuild_ndarray, _descriptor_of(data)


def rebuild_np_ndarray(pid: int, fd: Any, shape: Tuple[int, ...], dtype: int) -> Any:
    """An mx.np array that reduce_np_ndarray took apart in another process."""
    return rebuild(pid, fd.detach() if hasattr(fd, "detach") else fd, shape, dtype, True)


def reduce_np_ndarray(data: Any) -> Any:
    """How an mx.np array goes through multiprocessing."""
    return rebuild_np_ndarray, _descriptor_of(data)


ForkingPickler.register(NDArray, reduce_ndarray)


class ConnectionWrapper:
    """A connection of multiprocessing, through which arrays go in shared memory."""

    def __init__(self, conn: Any) -> None:
        self._conn = conn

    def send(self, obj: Any) -> None:
        """Sends an object."""
        self._conn.send_bytes(ForkingPickler.dumps(obj))

    def recv(self) -> Any:
        """Receives an object."""
        return ForkingPickler.loads(self._conn.recv_bytes())

    def __getattr__(self, name: str) -> Any:
        if name == "_conn":
            raise AttributeError(name)
        return getattr(self._conn, name)


class Queue(multiprocessing.queues.Queue):
    """A queue of multiprocessing, through which arrays go in shared memory."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("ctx", multiprocessing.get_context())
        super().__init__(*args, **kwargs)


class SimpleQueue(multiprocessing.queues.SimpleQueue):
    """A simple queue of multiprocessing, through which arrays go in shared memory."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("ctx", multiprocessing.get_context())
        super().__init__(*args, **kwargs)


def worker_loop_v1(dataset: Any, key_queue: Any, data_queue: Any, batchify_fn: Callable[[List[Any]], Any]) -> None:
    """Makes batches of (key, numbers of samples) from one queue for another, until a key is None."""
    while True:
        key, numbers = key_queue.get()
        if key is None:
            return
        data_queue.put((key, batchify_fn([dataset[i] for i in numbers])))


def fetcher_loop_v1(
    data_queue: Any, data_buffer: Any, pin_memory: bool = False, pin_device_id: int = 0, data_buffer_lock: Any = None
) -> None:
    """Moves (key, batch) from a queue into a dictionary, until a key is None."""
    ctx = cpu_pinned(pin_device_id) if pin_memory else Context("cpu", 0)
    while True:
        key, batch = data_queue.get()
        if key is None:
            return
        batch = _as_in_context(batch, ctx)
        if data_buffer_lock is None:
            data_buffer[key] = batch
        else:
            with data_buffer_lock:
                data_buffer[key] = batch


class DataLoaderV1(DataLoader):
    """The loader under its older name, with fewer arguments."""

    def __init__(
        self,
        dataset: Any,
        batch_size: Optional[int] = None,
        shuffle: bool = False,
        sampler: Optional[_sampler.Sampler] = None,
        last_batch: Optional[str] = None,
        batch_sampler: Optional[_sampler.Sampler] = None,
        batchify_fn: Optional[Callable[[List[Any]], Any]] = None,
        num_workers: int = 0,
        pin_memory: bool = False,
        pin_device_id: int = 0,
    ) -> None:
        super().__init__(
            dataset, batch_size, shuffle, sampler, last_batch, batch_sampler, batchify_fn, num_workers, pin_memory, pin_device_id
        )
