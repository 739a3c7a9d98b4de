# SPDX-License-Identifier: Apache-2.0
"""A Gluon DataLoader as an iterator for modules."""

from __future__ import annotations

from typing import Any, List, Optional

from .. import ndarray as nd
from ..io import DataDesc, DataIter

__all__ = ["DataLoaderIter"]


class DataLoaderIter(DataIter):
    """Batches (data, label) of a loader. A last batch that is too small is filled up with its first examples."""

    def __init__(self, loader: Any, data_name: str = "data", label_name: str = "softmax_label", dtype: str = "float32") -> None:
        super().__init__()
        self._loader = loader
        self._iter = iter(loader)
        data, label = next(self._iter)
        self.batch_size = data.shape[0]
        self.dtype = dtype
        self.provide_data = [DataDesc(data_name, data.shape, dtype)]
        self.provide_label = [DataDesc(label_name, label.shape, dtype)]
        self._current_batch: Any = None
        self.reset()

    def reset(self) -> None:
        """Begins anew with the loader."""
        self._iter = iter(self._loader)

    def iter_next(self) -> bool:
        """Goes to the loader's next batch. Returns False at the end."""
        self._current_batch = next(self._iter, None)
        return self._current_batch is not None

    def _whole(self, array: Any) -> List[Any]:
        array = array.astype(self.dtype)
        pad = self.getpad() or 0
        if pad:
            filled = nd.zeros((self.batch_size, *array.shape[1:]), dtype=self.dtype)
            filled[: array.shape[0]] = array
            for first in range(array.shape[0], self.batch_size, array.shape[0]):
                count = min(array.shape[0], self.batch_size - first)
                filled[first : first + count] = array[:count]
            array = filled
        return [array]

    def getdata(self) -> List[Any]:
        """[data] of the current batch in the iterator's type, filled up to `batch_size`."""
        return self._whole(self._current_batch[0])

    def getlabel(self) -> List[Any]:
        """[label] of the current batch in the iterator's type, filled up to `batch_size`."""
        return self._whole(self._current_batch[1])

    def getpad(self) -> Optional[int]:
        """How many examples only fill up the batch."""
        return self.batch_size - self._current_batch[0].shape[0]

    def getindex(self) -> Any:
        """None: a loader does not tell the numbers of its examples."""
        return None
