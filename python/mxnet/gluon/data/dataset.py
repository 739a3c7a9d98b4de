# SPDX-License-Identifier: Apache-2.0
"""Data sets: samples by number, and what can be made of them."""

from __future__ import annotations

import os
from typing import Any, Callable, Iterable, List, Optional, Sequence

from ... import recordio
from ...ndarray import NDArray
from .._errors import MismatchError

__all__ = ["ArrayDataset", "Dataset", "RecordFileDataset", "SimpleDataset"]


class Dataset:
    """The base of data sets: a subclass defines __getitem__(number) and __len__()."""

    def __getitem__(self, idx: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no __getitem__()")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} has no __len__()")

    def filter(self, fn: Callable[[Any], bool]) -> Dataset:
        """The samples for which fn(sample) is true; fn is called for all of them at once."""
        return _Selected(self, [i for i in range(len(self)) if fn(self[i])])

    def shard(self, num_shards: int, index: int) -> Dataset:
        """Part `index` of `num_shards` parts in order; the first ones are longer by one where it does not divide."""
        if not 0 <= index < num_shards:
            raise MismatchError(f"given index {index} of {num_shards} shards, expected 0 to num_shards - 1")
        size, longer = divmod(len(self), num_shards)
        start = size * index + min(index, longer)
        return _Selected(self, range(start, start + size + (index < longer)))

    def take(self, count: Optional[int]) -> Dataset:
        """The first `count` samples; all of them for None."""
        if count is not None and count < 0:
            raise ValueError(f"given count {count}, expected 0 or more")
        return _Selected(self, range(len(self) if count is None else min(count, len(self))))

    def sample(self, sampler: Any) -> Dataset:
        """The samples that a sampler chooses, in its order of now."""
        from .sampler import Sampler

        if not isinstance(sampler, Sampler):
            raise TypeError(f"given {type(sampler).__name__}, expected a Sampler")
        return _Selected(self, list(sampler))

    def transform(self, fn: Callable[..., Any], lazy: bool = True) -> Dataset:
        """fn(*sample) of each sample (fn(sample) of one that is no tuple): when it is asked for, or now."""
        lazily = _LazyTransformDataset(self, fn)
        return lazily if lazy else SimpleDataset([lazily[i] for i in range(len(lazily))])

    def transform_first(self, fn: Callable[[Any], Any], lazy: bool = True) -> Dataset:
        """As transform, but only of the first item of each sample: of the data and not of the label."""
        return self.transform(_TransformFirstClosure(fn), lazy)


class SimpleDataset(Dataset):
    """The items of a list."""

    def __init__(self, data: Sequence[Any]) -> None:
        self._data = data

    def __getitem__(self, idx: int) -> Any:
        return self._data[idx]

    def __len__(self) -> int:
        return len(self._data)


class _Selected(Dataset):
    """Some samples of another data set, in some order."""

    def __init__(self, dataset: Dataset, numbers: Sequence[int]) -> None:
        self._dataset = dataset
        self._numbers = numbers

    def __getitem__(self, idx: int) -> Any:
        return self._dataset[self._numbers[idx]]

    def __len__(self) -> int:
        return len(self._numbers)


class _LazyTransformDataset(Dataset):
    """What transform() gives; programs that want the samples as they were take `_data`, as of 1.x."""

    def __init__(self, data: Dataset, fn: Callable[..., Any]) -> None:
        self._data = data
        self._fn = fn

    def __getitem__(self, idx: int) -> Any:
        item = self._data[idx]
        return self._fn(*item) if isinstance(item, tuple) else self._fn(item)

    def __len__(self) -> int:
        return len(self._data)


class _TransformFirstClosure:
    """A class, not a closure: it travels to worker processes."""

    def __init__(self, fn: Callable[[Any], Any]) -> None:
        self._fn = fn

    def __call__(self, first: Any, *others: Any) -> Any:
        return (self._fn(first), *others) if others else self._fn(first)


class ArrayDataset(Dataset):
    """Several arrays or lists of one length, side by side: sample i is (first[i], second[i], ...)."""

    def __init__(self, *args: Any) -> None:
        if not args:
            raise MismatchError("given nothing, expected at least one array or list")
        self._length = len(args[0])
        self._data: List[Any] = []
        for i, data in enumerate(args):
            if len(data) != self._length:
                raise MismatchError(f"given {len(data)} items in argument {i} and {self._length} in the first, expected as many")
            # One row of a vector of the library is an array again; as NumPy it is a number.
            self._data.append(data._values() if isinstance(data, NDArray) and data.ndim == 1 else data)

    def __getitem__(self, idx: int) -> Any:
        if len(self._data) == 1:
            return self._data[0][idx]
        return tuple(data[idx] for data in self._data)

    def __len__(self) -> int:
        return self._length


class RecordFileDataset(Dataset):
    """The records of a RecordIO file that has an index file of the same name, ending in .idx."""

    def __init__(self, filename: str) -> None:
        self.filename = os.fspath(filename)
        self.idx_file = os.path.splitext(self.filename)[0] + ".idx"
        # A copy in another process, or after a fork, opens the file anew.
        self._record = recordio.MXIndexedRecordIO(self.idx_file, self.filename, "r")

    def __getitem__(self, idx: int) -> Any:
        return self._record.read_idx(self._record.keys[idx])

    def __len__(self) -> int:
        return len(self._record.keys)


class _DownloadedDataset(Dataset):
    """The base of data sets that are files in a folder of the user, and may be downloaded into it."""

    def __init__(self, root: Any, transform: Optional[Callable[..., Any]]) -> None:
        from ..utils import data_home

        root = os.fspath(root)
        standard = os.path.join("~", ".mxnet", "")
        if root.startswith(standard):  # the default, which MXNET_HOME moves
            root = os.path.join(data_home(), root[len(standard) :])
        self._transform = transform
        self._data: Any = None
        self._label: Any = None
        self._root = os.path.expanduser(root)
        os.makedirs(self._root, exist_ok=True)
        self._get_data()

    def __getitem__(self, idx: int) -> Any:
        if self._transform is not None:
            return self._transform(self._data[idx], self._label[idx])
        return self._data[idx], self._label[idx]

    def __len__(self) -> int:
        return len(self._label)

    def _get_data(self) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no _get_data()")

    def _file(self, folder: str, name: str, sha1: Optional[str] = None, others: Iterable[str] = ()) -> str:
        """A file of the set: as it lies in the folder, under this name or one of the others, else downloaded."""
        from ..utils import _get_repo_file_url, download

        for there in (name, *others):
            path = os.path.join(self._root, there)
            if os.path.exists(path):
                return path
        url = _get_repo_file_url(f"gluon/dataset/{folder}", name)
        try:
            return download(url, path=os.path.join(self._root, name), sha1_hash=sha1)
        except Exception as error:
            raise RuntimeError(
                f"{type(self).__name__}: no {name} in {self._root!r}, and {url} cannot be downloaded ({error}): put the file "
                f"there, or let MXNET_GLUON_REPO name a place that has it"
            ) from error
