# SPDX-License-Identifier: Apache-2.0
"""Data sets of images: well-known ones as files in a folder, the user's own as folders and records."""

from __future__ import annotations

import gzip
import math
import os
import struct
import tarfile
import warnings
import zlib
from typing import Any, Callable, List, Optional, Sequence, Tuple

import numpy as np

from .... import image, ndarray, recordio
from ...._files import rows_of
from ..dataset import Dataset, RecordFileDataset, _DownloadedDataset

__all__ = [
    "CIFAR10", "CIFAR100", "FashionMNIST", "ImageFolderDataset", "ImageListDataset", "ImageRecordDataset", "MNIST",
]

Transform = Optional[Callable[[Any, Any], Any]]


def _read_idx(path: str, ndim: int) -> np.ndarray:
    """The array of an idx file, compressed with gzip or not."""
    with open(path, "rb") as file:
        content = file.read()
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except (EOFError, OSError, zlib.error) as error:
            raise ValueError(f"given {path!r}, which cannot be unpacked ({error}), expected an idx file compressed with gzip") from error
    head = 4 * (1 + ndim)
    if len(content) < head or struct.unpack(">I", content[:4])[0] != 0x800 + ndim:
        raise ValueError(f"given {path!r}, expected an idx file of bytes with {ndim} dimensions")
    shape = struct.unpack(f">{ndim}I", content[4:head])
    count = math.prod(shape)  # of Python's integers, which do not wrap
    if len(content) < head + count:
        raise ValueError(f"given {path!r} with {len(content)} bytes, expected {head + count}: it is cut off")
    return np.frombuffer(content, np.uint8, count, head).reshape(shape)


class MNIST(_DownloadedDataset):
    """Handwritten digits: images (28, 28, 1) uint8 and labels int32.

    `root` holds the four files of the set (train-images-idx3-ubyte, ...), with or without .gz.
    """

    _folder = "mnist"

    def __init__(
        self,
        root: Any = os.path.join("~", ".mxnet", "datasets", "mnist"),
        train: bool = True,
        transform: Transform = None,
    ) -> None:
        self._train = train
        super().__init__(root, transform)

    def _get_data(self) -> None:
        part = "train" if self._train else "t10k"
        paths = []
        for kind in ("images-idx3", "labels-idx1"):
            name = f"{part}-{kind}-ubyte"
            paths.append(self._file(self._folder, f"{name}.gz", others=(name,)))
        images, labels = _read_idx(paths[0], 3), _read_idx(paths[1], 1)
        if len(images) != len(labels):
            raise ValueError(f"given {len(images)} images in {paths[0]!r} and {len(labels)} labels in {paths[1]!r}")
        self._data = ndarray.array(images[..., None], dtype=np.uint8)
        self._label = labels.astype(np.int32)


class FashionMNIST(MNIST):
    """Pictures of clothes, in the form of MNIST."""

    _folder = "fashion-mnist"

    def __init__(
        self,
        root: Any = os.path.join("~", ".mxnet", "datasets", "fashion-mnist"),
        train: bool = True,
        transform: Transform = None,
    ) -> None:
        super().__init__(root, train, transform)


class CIFAR10(_DownloadedDataset):
    """Small photographs of ten kinds of things: images (32, 32, 3) uint8 and labels int32.

    `root` holds the set's files data_batch_1.bin ... or the archive they come in.
    """

    _archive = "cifar-10-binary.tar.gz"
    _folder = "cifar10"
    _label_bytes = 1

    def __init__(
        self,
        root: Any = os.path.join("~", ".mxnet", "datasets", "cifar10"),
        train: bool = True,
        transform: Transform = None,
    ) -> None:
        self._train = train
        super().__init__(root, transform)

    def _names(self) -> List[str]:
        return [f"data_batch_{i}.bin" for i in range(1, 6)] if self._train else ["test_batch.bin"]

    def _find(self, name: str) -> Optional[str]:
        for folder, _, files in os.walk(self._root):
            if name in files:
                return os.path.join(folder, name)
        return None

    def _read_batch(self, path: str) -> Tuple[np.ndarray, np.ndarray]:
        row = self._label_bytes + 3 * 32 * 32
        content = np.fromfile(path, np.uint8)
        if content.size == 0 or content.size % row != 0:
            raise ValueError(f"given {path!r} with {content.size} bytes, expected a multiple of {row}")
        rows = content.reshape(-1, row)
        images = rows[:, self._label_bytes :].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        return images, self._labels(rows).astype(np.int32)

    def _labels(self, rows: np.ndarray) -> np.ndarray:
        return rows[:, 0]

    def _unpack(self) -> None:
        """The archive's plain files, only by their last name: it may not write elsewhere."""
        with tarfile.open(self._file(self._folder, self._archive)) as archive:
            for member in archive.getmembers():
                source = archive.extractfile(member) if member.isfile() else None
                if source is None:
                    continue
                with open(os.path.join(self._root, os.path.basename(member.name)), "wb") as target:
                    target.write(source.read())

    def _get_data(self) -> None:
        if any(self._find(name) is None for name in self._names()):
            self._unpack()
        batches = []
        for name in self._names():
            path = self._find(name)
            if path is None:
                raise ValueError(f"given {self._root!r} with {self._archive}, which has no {name}")
            batches.append(self._read_batch(path))
        self._data = ndarray.array(np.concatenate([images for images, _ in batches]), dtype=np.uint8)
        self._label = np.concatenate([labels for _, labels in batches])


class CIFAR100(CIFAR10):
    """Small photographs of a hundred kinds of things, or of the twenty groups that they form."""

    _archive = "cifar-100-binary.tar.gz"
    _folder = "cifar100"
    _label_bytes = 2

    def __init__(
        self,
        root: Any = os.path.join("~", ".mxnet", "datasets", "cifar100"),
        fine_label: bool = False,
        train: bool = True,
        transform: Transform = None,
    ) -> None:
        self._fine_label = fine_label
        super().__init__(root, train, transform)

    def _names(self) -> List[str]:
        return ["train.bin" if self._train else "test.bin"]

    def _labels(self, rows: np.ndarray) -> np.ndarray:
        return rows[:, 1 if self._fine_label else 0]


class ImageRecordDataset(RecordFileDataset):
    """Images and labels in a RecordIO file with an index. `flag`: 1 colours, 0 grey."""

    def __init__(self, filename: str, flag: int = 1, transform: Transform = None) -> None:
        super().__init__(filename)
        self._flag = flag
        self._transform = transform

    def __getitem__(self, idx: int) -> Any:
        header, content = recordio.unpack(super().__getitem__(idx))
        picture = image.imdecode(content, self._flag)
        if self._transform is not None:
            return self._transform(picture, header.label)
        return picture, header.label


class ImageFolderDataset(Dataset):
    """Images in folders: root/class/name.jpg. `synsets` are the classes; their numbers are the labels."""

    def __init__(self, root: Any, flag: int = 1, transform: Transform = None) -> None:
        self._root = os.path.expanduser(root)
        self._flag = flag
        self._transform = transform
        self._exts = [".jpg", ".jpeg", ".png"]
        self.synsets: List[str] = []
        self.items: List[Tuple[str, int]] = []
        for folder in sorted(os.listdir(self._root)):
            path = os.path.join(self._root, folder)
            if not os.path.isdir(path):
                warnings.warn(f"Ignoring {path}, which is not a directory.", stacklevel=3)
                continue
            label = len(self.synsets)
            self.synsets.append(folder)
            for name in sorted(os.listdir(path)):
                if os.path.splitext(name)[1].lower() not in self._exts:
                    warnings.warn(f"Ignoring {os.path.join(path, name)}: its ending is none of {self._exts}.", stacklevel=3)
                    continue
                self.items.append((os.path.join(path, name), label))

    def __getitem__(self, idx: int) -> Any:
        path, label = self.items[idx]
        picture = image.imread(path, self._flag)
        if self._transform is not None:
            return self._transform(picture, label)
        return picture, label

    def __len__(self) -> int:
        return len(self.items)


def _item(row: Sequence[Any]) -> Tuple[str, Any]:
    """Path and labels of a row of a list."""
    if len(row) < 2:
        raise ValueError(f"given a row {row!r} of a list, expected labels and a path")
    labels = np.array(row[0] if len(row) == 2 else row[:-1], dtype=np.float32)
    return row[-1], float(labels) if labels.ndim == 0 else labels


class ImageListDataset(Dataset):
    """Images and labels that a list names.

    `imglist` is a file (number, labels, path between tabs) or a list of [label, ..., path]; paths start at `root`.
    """

    def __init__(self, root: Any = ".", imglist: Any = None, flag: int = 1) -> None:
        self._root = os.path.expanduser(root)
        self._flag = flag
        if isinstance(imglist, (str, os.PathLike)):
            path = os.path.join(self._root, imglist)
            with open(path) as file:
                listed = rows_of(file, path, lambda fields: _item(fields[1:]) if any(map(str.strip, fields)) else None, "a number, labels, a path")
                self.items = [item for item in listed if item]
        elif isinstance(imglist, list):
            self.items = [_item(row) for row in imglist]
        else:
            raise TypeError(f"given {type(imglist).__name__} as imglist, expected the name of a file or a list")

    def __getitem__(self, idx: int) -> Any:
        path, label = self.items[idx]
        return image.imread(os.path.join(self._root, path), self._flag), label

    def __len__(self) -> int:
        return len(self.items)
