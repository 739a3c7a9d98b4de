# SPDX-License-Identifier: Apache-2.0
"""The iterators that the library itself reads and decodes for: files of records, numbers and images.

There is one function for each iterator that the library lists; its parameters and their description come
from there.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Callable, List, Optional

from .. import _core
from .io import DataBatch, DataDesc, DataIter

__all__ = [
    "CSVIter", "ImageDetRecordIter", "ImageRecordInt8Iter", "ImageRecordIter", "ImageRecordIter_v1", "ImageRecordUInt8Iter",
    "ImageRecordUInt8Iter_v1", "LibSVMIter", "MNISTIter", "MXDataIter",
]


class MXDataIter(DataIter):
    """Batches of an iterator of the library. `data_name` and `label_name` are those in its descriptions."""

    def __init__(self, handle: Any, data_name: str = "data", label_name: str = "softmax_label", **given: Any) -> None:
        super().__init__()
        self.handle = handle
        self._data_name = data_name
        self._label_name = label_name
        self._repeats_first = False
        self._pid = os.getpid()
        self._turn = threading.Lock()  # of threads that fetch a batch, which takes several calls
        # Shapes are known from the first batch, which is then given out.
        first = self._fetch()
        if first is None:
            files = ", ".join(f"{name}={value!r}" for name, value in given.items() if isinstance(value, (str, os.PathLike)))
            raise ValueError(f"given data that make no batch ({files}), expected at least one batch of samples")
        self._current: Optional[DataBatch] = first
        self._ahead: Optional[DataBatch] = first
        self.provide_data = [DataDesc(data_name, first.data[0].shape, first.data[0].dtype)]
        self.provide_label = [DataDesc(label_name, first.label[0].shape, first.label[0].dtype)]
        self.batch_size = first.data[0].shape[0]

    def _fetch(self) -> Optional[DataBatch]:
        import numpy as np

        if not self.handle.next():
            return None
        index = np.array(self.handle.index(), dtype=np.uint64)
        return DataBatch([self.handle.data()], [self.handle.label()], self.handle.pad(), index)

    def debug_skip_load(self) -> None:
        """From now on every batch is the first one again: to measure what comes after loading."""
        self._repeats_first = True

    def reset(self) -> None:
        """Starts the next epoch."""
        self._ahead = None
        if not self._repeats_first:
            self.handle.before_first()

    def iter_next(self) -> bool:
        """Goes to the next batch; False at the end of the epoch."""
        if self._repeats_first and self._current is not None:
            return True
        batch, self._ahead = self._ahead, None
        self._current = self._fetch() if batch is None else batch
        return self._current is not None

    def next(self) -> DataBatch:
        """The next batch; StopIteration at the end of the epoch. Of threads that call it each batch goes to one."""
        if os.getpid() != self._pid:
            self.handle.next()  # is an error: the parent's threads keep the turn
        with self._turn:
            if not self.iter_next():
                raise StopIteration
            return self._batch()

    def _batch(self) -> DataBatch:
        if self._current is None:
            raise ValueError("given an iterator without a batch: next() or iter_next() comes first")
        return self._current

    def getdata(self) -> Any:
        """The data of the batch."""
        return self._batch().data[0]

    def getlabel(self) -> Any:
        """The labels of the batch."""
        return self._batch().label[0]

    def getindex(self) -> Any:
        """The samples' numbers in their source."""
        return self._batch().index

    def getpad(self) -> int:
        """How many samples at the end only fill the batch up."""
        return self._batch().pad or 0


def _made(name: str, doc: str, params: List[Any]) -> Callable[..., MXDataIter]:
    def create(*args: Any, **kwargs: Any) -> MXDataIter:
        if args:
            raise TypeError(f"{name}: given {len(args)} arguments by position, expected all by name")
        return MXDataIter(_core.DataIter(name, kwargs), **kwargs)

    create.__name__ = create.__qualname__ = name
    lines = "\n".join(f"    {param} : {kind}\n        {text}" for param, kind, text in params)
    create.__doc__ = f"{doc}\n\nParameters, all by name:\n{lines}\n"
    return create


for _name, _doc, _params in _core.data_iters():
    globals()[_name] = _made(_name, _doc, _params)
