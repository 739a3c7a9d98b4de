# SPDX-License-Identifier: Apache-2.0
"""The next batch is made by a thread while the current one is in use."""

from __future__ import annotations

import threading
from queue import SimpleQueue
from typing import Any, Dict, List, Optional, Tuple

from .io import DataBatch, DataDesc, OfBatches

__all__ = ["PrefetchingIter"]


class _Fetcher(threading.Thread):
    """Takes one batch at a time from an iterator, ahead of who asks for it.

    The iterator is used by the thread alone while a batch is asked for, and by its owner otherwise. Ctrl-C may end any
    method at any place, which is why there is no lock: one whose `__exit__` is Python's might never be given back.
    """

    def __init__(self, iterator: Any) -> None:
        super().__init__(daemon=True, name="PrefetchingIter")
        self.iterator = iterator
        self._asked: SimpleQueue[Optional[int]] = SimpleQueue()  # numbers of batches, None to end; of one that comes again, the first
        self._news: SimpleQueue[None] = SimpleQueue()  # one more `_fetched`
        self._latest = -1  # number that was asked for
        self._fetched: Tuple[int, Any] = (-1, None)  # number and batch, None at the end, or what was raised
        self.start()

    def run(self) -> None:
        while True:
            number = self._asked.get()
            if number is None:
                return
            if number == self._fetched[0]:
                continue
            try:
                fetched = self.iterator.next()
            except StopIteration:
                fetched = None
            except BaseException as error:  # pylint: disable=broad-except  (raised where the batch is asked for)
                fetched = error
            self._fetched = number, fetched
            self._news.put(None)

    def fetch(self, number: int) -> None:
        """Starts on a batch, unless it has."""
        if number != self._latest:
            self._asked.put(number)
            self._latest = number

    def take(self, number: int) -> Any:
        """The batch that was asked for, None at the end."""
        while self._fetched[0] != number:
            self._news.get()
        return self._fetched[1]

    def stop(self) -> None:
        """Ends the thread, after the batch that it may be at."""
        self._asked.put(None)


class PrefetchingIter(OfBatches):
    """One or several iterators, each with a thread that makes the next batch ahead.

    Batches of several are joined into one; `rename_data` and `rename_label` (a dictionary for each
    iterator) keep their names apart.
    """

    def __init__(
        self,
        iters: Any,
        rename_data: Optional[List[Dict[str, str]]] = None,
        rename_label: Optional[List[Dict[str, str]]] = None,
    ) -> None:
        super().__init__()
        self.iters = iters if isinstance(iters, list) else [iters]
        self.n_iter = len(self.iters)
        if not self.iters:
            raise ValueError("given no iterators, expected at least one")
        self.rename_data = rename_data
        self.rename_label = rename_label
        self.batch_size = self.provide_data[0][1][0]
        self._fetchers = [_Fetcher(iterator) for iterator in self.iters]
        self._number = 0  # of the batch that comes next
        self._fetch()

    def __del__(self) -> None:
        for fetcher in getattr(self, "_fetchers", []):
            fetcher.stop()

    def _fetch(self) -> None:
        for fetcher in self._fetchers:
            fetcher.fetch(self._number)

    def _take(self) -> List[Any]:
        self._fetch()  # Ctrl-C may have ended it
        return [fetcher.take(self._number) for fetcher in self._fetchers]

    def _descriptions(self, which: str, names: Optional[List[Dict[str, str]]]) -> List[DataDesc]:
        found = []
        for i, iterator in enumerate(self.iters):
            for item in getattr(iterator, which):
                desc = item if isinstance(item, DataDesc) else DataDesc(*item)
                name = desc.name if names is None else names[i][desc.name]
                found.append(DataDesc(name, desc.shape, desc.dtype, desc.layout))
        return found

    @property
    def provide_data(self) -> List[DataDesc]:
        """Names and shapes of the data of a batch."""
        return self._descriptions("provide_data", self.rename_data)

    @property
    def provide_label(self) -> List[DataDesc]:
        """Names and shapes of the labels of a batch."""
        return self._descriptions("provide_label", self.rename_label)

    def reset(self) -> None:
        """Waits for the batches that are being made, then begins anew with all iterators."""
        self._take()
        for fetcher in self._fetchers:
            fetcher.iterator.reset()
        self._number += 1
        self._fetch()

    def iter_next(self) -> bool:
        """Takes the batch that was made ahead and starts on the next. Returns False at the end.

        What an iterator has raised is raised here. Raises RuntimeError where the iterators end apart, or differ in
        `pad`.
        """
        batches = self._take()
        for batch in batches:
            if isinstance(batch, BaseException):
                raise batch
        if any(batch is None for batch in batches):
            if not all(batch is None for batch in batches):
                raise RuntimeError("an iterator has ended before the others, expected as many batches of all")
            return False
        if any(batch.pad != batches[0].pad for batch in batches):
            raise RuntimeError(f"given pads {[batch.pad for batch in batches]}, expected the same of all iterators")
        self.current_batch = DataBatch(
            [array for batch in batches for array in batch.data],
            [array for batch in batches for array in batch.label or []],
            batches[0].pad,
            batches[0].index,
            provide_data=self.provide_data,
            provide_label=self.provide_label,
        )
        self._number += 1
        self._fetch()
        return True

    def next(self) -> DataBatch:
        """Returns the next DataBatch; raises StopIteration at the end."""
        if not self.iter_next():
            raise StopIteration
        return self.current_batch
