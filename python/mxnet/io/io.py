# SPDX-License-Identifier: Apache-2.0
"""Batches of data and what gives them: the base class, and iterators that are written in Python."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from ..base import show_ctypes_names
from .utils import _getdata_by_idx, _has_instance, _init_data, RowNumbers, joined, rows  # noqa: F401  (programs take them from here)

__all__ = ["DataBatch", "DataDesc", "DataIter", "NDArrayIter", "PrefetchingIter", "ResizeIter"]


class DataDesc(namedtuple("DataDesc", ["name", "shape"])):
    """Name, shape, type and layout of an input. As a tuple it is (name, shape)."""

    dtype: Any
    layout: str

    def __new__(cls, name: str, shape: Sequence[int], dtype: Any = np.float32, layout: str = "NCHW") -> DataDesc:
        made = super().__new__(cls, name, shape)
        made.dtype = dtype
        made.layout = layout
        return made

    def __getnewargs__(self) -> Tuple[Any, ...]:  # type: ignore[override]
        return (self.name, self.shape, self.dtype, self.layout)

    def __repr__(self) -> str:
        return f"DataDesc[{self.name},{self.shape},{self.dtype},{self.layout}]"

    @staticmethod
    def get_batch_axis(layout: Optional[str]) -> int:
        """The axis along which the examples of a batch lie: where the layout has its N."""
        return 0 if layout is None else layout.find("N")

    @staticmethod
    def get_list(shapes: Any, types: Any) -> List[DataDesc]:
        """Descriptions from lists of (name, shape) and of (name, type)."""
        if types is None:
            return [DataDesc(name, shape) for name, shape in shapes]
        by_name = dict(types)
        return [DataDesc(name, shape, by_name[name]) for name, shape in shapes]


class DataBatch:
    """The arrays of a batch. `pad` of the last examples are there only to fill it up.

    `provide_data` and `provide_label` describe them where shapes or order change from batch to batch, and
    `bucket_key` says which network they are for.
    """

    def __init__(
        self,
        data: Any,
        label: Any = None,
        pad: Optional[int] = None,
        index: Any = None,
        bucket_key: Any = None,
        provide_data: Any = None,
        provide_label: Any = None,
    ) -> None:
        for what, given in (("data", data), ("label", label)):
            if given is not None and not isinstance(given, (list, tuple)):
                raise TypeError(f"{what}: given {type(given).__name__}, expected a list of arrays")
        self.data = data
        self.label = label
        self.pad = pad
        self.index = index
        self.bucket_key = bucket_key
        self.provide_data = provide_data
        self.provide_label = provide_label

    def __str__(self) -> str:
        data = [array.shape for array in self.data]
        label = [array.shape for array in self.label] if self.label else None
        return f"{type(self).__name__}: data shapes: {data} label shapes: {label}"


class DataIter:
    """The base of iterators over batches.

    A subclass defines `provide_data`, `provide_label`, `reset`, and either `next` or `iter_next` with `getdata`, and
    `getlabel` and `getpad` where it has labels and batches that are filled up.
    """

    def __init__(self, batch_size: int = 0) -> None:
        self.batch_size = batch_size

    def __iter__(self) -> Iterator[DataBatch]:
        return self

    def reset(self) -> None:
        """Goes back to the first batch, for the next epoch; the base has nothing to reset."""

    def next(self) -> DataBatch:
        """Returns the next DataBatch; raises StopIteration at the end. `for batch in iterator` calls it."""
        if not self.iter_next():
            raise StopIteration
        return DataBatch(data=self.getdata(), label=self.getlabel(), pad=self.getpad(), index=self.getindex())

    def __next__(self) -> DataBatch:
        return self.next()

    def iter_next(self) -> bool:
        """Goes to the next batch, which getdata and the others then return. Returns False at the end."""
        raise NotImplementedError(f"{type(self).__name__} has no iter_next()")

    def getdata(self) -> Any:
        """Returns the data of the current batch, a list of arrays."""
        raise NotImplementedError(f"{type(self).__name__} has no getdata()")

    def getlabel(self) -> Any:
        """Returns the labels of the current batch, a list of arrays, or None where there are none."""
        return None

    def getindex(self) -> Any:
        """Returns the numbers of the current batch's examples, or None if they are not known."""
        return None

    def getpad(self) -> Optional[int]:
        """Returns how many examples at the end only fill up the current batch, or None where there are no such."""
        return None


class OfBatches(DataIter):
    """The base of iterators whose iter_next leaves a whole batch: that of another iterator, or a joined one."""

    current_batch: Any = None

    def getdata(self) -> Any:
        """The data of the current batch, a list of arrays."""
        return self.current_batch.data

    def getlabel(self) -> Any:
        """The labels of the current batch, a list of arrays."""
        return self.current_batch.label

    def getindex(self) -> Any:
        """The numbers of the current batch's examples, None if they are not known."""
        return self.current_batch.index

    def getpad(self) -> Optional[int]:
        """How many examples at the end only fill up the current batch."""
        return self.current_batch.pad


class NDArrayIter(DataIter):
    """Batches of arrays: of the library's, NumPy's, or data sets of h5py.

    The last batch, when too few rows are left: "pad" fills it up from the beginning, "discard" leaves it
    out, "roll_over" keeps the rows for the first batch of the next epoch.
    """

    def __init__(
        self,
        data: Any,
        label: Any = None,
        batch_size: int = 1,
        shuffle: bool = False,
        last_batch_handle: str = "pad",
        data_name: str = "data",
        label_name: str = "softmax_label",
        layout: str = "NCHW",
    ) -> None:
        super().__init__(batch_size)
        if batch_size < 1:
            raise ValueError(f"given batch_size {batch_size}, expected at least 1")
        if last_batch_handle not in ("pad", "discard", "roll_over"):
            raise ValueError(f"given last_batch_handle {last_batch_handle!r}, expected 'pad', 'discard' or 'roll_over'")
        self.data = _init_data(data, False, data_name)
        self.label = _init_data(label, True, label_name)
        self.num_data = self.data[0][1].shape[0]
        for name, source in self.data + self.label:
            if source.shape[0] != self.num_data:
                raise ValueError(f"{name}: given {source.shape[0]} rows, expected {self.num_data} as in {self.data[0][0]}")
        self.idx = np.arange(self.num_data)  # the last shuffle
        self._order = self.idx.copy()  # all shuffles after each other, as seeded programs of before had them
        self.shuffle = shuffle
        self.last_batch_handle = last_batch_handle
        self.layout = layout
        self.data_list = [source for _, source in self.data + self.label]
        self.num_source = len(self.data_list)
        self.cursor = -batch_size
        self._carried: Optional[Dict[str, Any]] = None
        self._asked: Optional[Tuple[int, RowNumbers]] = None  # the cursor, and the rows it stands at
        self._epoch: Optional[RowNumbers] = None  # all rows, in the order of the epoch
        self.reset()

    def _descriptions(self, sources: List[Tuple[str, Any]]) -> List[DataDesc]:
        return [
            DataDesc(name, (self.batch_size, *source.shape[1:]), source.dtype, self.layout) for name, source in sources
        ]

    @property
    def provide_data(self) -> List[DataDesc]:
        """Names and shapes of the data of a batch."""
        return self._descriptions(self.data)

    @property
    def provide_label(self) -> List[DataDesc]:
        """Names and shapes of the labels of a batch."""
        return self._descriptions(self.label)

    def hard_reset(self) -> None:
        """Back to the first batch, whatever was to be rolled over."""
        if self.shuffle:
            np.random.shuffle(self.idx)
            self._order = self._order[self.idx]
        self._carried = self._asked = self._epoch = None
        self.cursor = -self.batch_size

    def reset(self) -> None:
        """Back to the first batch: of another order with `shuffle`, after what is rolled over."""
        left = self.num_data - self.cursor
        carried = None
        if self.last_batch_handle == "roll_over" and 0 < left < self.batch_size:
            carried = {name: rows(source, self._order[self.cursor :]) for name, source in self.data + self.label}
            if self._carried is not None and self.cursor < 0:  # not even one batch came of all rows
                carried = {name: joined(self._carried[name], kept) for name, kept in carried.items()}
        self.hard_reset()
        if carried is not None:
            self._carried = carried
            self.cursor -= left

    def iter_next(self) -> bool:
        """Goes to the next `batch_size` rows. Returns False behind the last, with "discard" also where a whole
        batch is not left.
        """
        self.cursor += self.batch_size
        if self.last_batch_handle == "discard":
            return self.cursor + self.batch_size <= self.num_data
        return self.cursor < self.num_data

    def next(self) -> DataBatch:
        """Returns the next DataBatch; raises StopIteration at the end, with "roll_over" also before rows that
        `reset` carries over.
        """
        if not self.iter_next():
            raise StopIteration
        if self.last_batch_handle == "roll_over" and self.cursor + self.batch_size > self.num_data:
            raise StopIteration  # reset carries the rows over
        return DataBatch(data=self.getdata(), label=self.getlabel(), pad=self.getpad(), index=None)

    def _batch(self, sources: List[Tuple[str, Any]]) -> List[Any]:
        if not self.cursor < self.num_data:
            raise StopIteration("there is no batch after the last; reset() goes back to the first")
        end = self.cursor + self.batch_size
        if self.cursor < 0 and self._carried is not None:
            if end == 0:
                return [self._carried[name] for name, _ in sources]
            return [joined(self._carried[name], rows(source, self._order[:end])) for name, source in sources]
        numbers = self._numbers(end)
        return [rows(source, numbers) for _, source in sources]

    def _numbers(self, end: int) -> RowNumbers:
        """The rows of the current batch: data and labels ask for the same."""
        if self._asked is None or self._asked[0] != self.cursor:
            if end <= self.num_data or self.last_batch_handle != "pad":
                if self._epoch is None:
                    self._epoch = RowNumbers(self._order)
                numbers = RowNumbers(self._order[self.cursor : end], self._epoch, self.cursor)
            else:
                numbers = RowNumbers(self._order[np.arange(self.cursor, end) % self.num_data])
            self._asked = self.cursor, numbers
        return self._asked[1]

    def getdata(self) -> List[Any]:
        """The rows of the current batch, an array for each source of data."""
        return self._batch(self.data)

    def getlabel(self) -> List[Any]:
        """The labels of the current batch, an array for each source of labels."""
        return self._batch(self.label)

    def getpad(self) -> int:
        """How many rows only fill up the batch ("pad"), or were carried over into it ("roll_over"); 0 else."""
        if self.last_batch_handle == "pad" and self.cursor + self.batch_size > self.num_data:
            return self.cursor + self.batch_size - self.num_data
        if self.last_batch_handle == "roll_over" and -self.batch_size < self.cursor < 0:
            return -self.cursor
        return 0


class ResizeIter(OfBatches):
    """Another iterator with `size` batches per epoch: it is started anew where it ends too early.

    `reset_internal` says whether reset() resets it as well.
    """

    def __init__(self, data_iter: DataIter, size: int, reset_internal: bool = True) -> None:
        super().__init__()
        self.data_iter = data_iter
        self.size = size
        self.reset_internal = reset_internal
        self.cur = 0
        self.provide_data = data_iter.provide_data  # type: ignore[attr-defined]
        self.provide_label = data_iter.provide_label  # type: ignore[attr-defined]
        self.batch_size = data_iter.batch_size
        if hasattr(data_iter, "default_bucket_key"):
            self.default_bucket_key = data_iter.default_bucket_key

    def reset(self) -> None:
        """Begins an epoch of `size` batches; with `reset_internal` the other iterator begins anew too."""
        self.cur = 0
        if self.reset_internal:
            self.data_iter.reset()

    def iter_next(self) -> bool:
        """Goes to the other iterator's next batch, its first one where it has ended. Returns False after `size`
        batches.
        """
        if self.cur == self.size:
            return False
        try:
            self.current_batch = self.data_iter.next()
        except StopIteration:
            self.data_iter.reset()
            self.current_batch = self.data_iter.next()
        self.cur += 1
        return True


from .prefetch import PrefetchingIter  # noqa: E402  (needs OfBatches)


def __getattr__(name: str) -> Any:
    """Iterators of the library itself, and two operators, which programs import from here too."""
    from .. import ndarray
    from . import record

    if name in record.__all__:
        return getattr(record, name)
    if name in ("concat", "tile"):
        return getattr(ndarray, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


show_ctypes_names(__name__)
