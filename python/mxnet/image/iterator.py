# SPDX-License-Identifier: Apache-2.0
"""ImageIter: batches of images from a RecordIO file, a list or a folder, augmented in Python."""

from __future__ import annotations

import logging
import os
import random
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from .. import io, recordio
from .. import ndarray as nd
from .._files import rows_of
from ..ndarray import NDArray
from ._augmenters import CreateAugmenter
from ._functions import _for_user, _plain
from ._functions import imdecode as _imdecode


def _listed(fields: List[str]) -> Tuple[int, Tuple[np.ndarray, str]]:
    """Number, labels and path of an image, of the fields of a line."""
    number, *labels, path = fields
    if not labels or not path or "\0" in path:
        raise ValueError(f"{len(labels)} labels, path {path!r}")
    return int(number), (np.array(labels, dtype=np.float32), path)


class ImageIter(io.DataIter):
    """Batches of images with labels.

    Images come from `path_imgrec` (with `path_imgidx` in any order), from the list in the file
    `path_imglist` or from `imglist` ([label, path] each), both with paths from `path_root` on. `aug_list`
    are the augmenters; without it further arguments go to CreateAugmenter. `last_batch_handle` is "pad",
    "discard" or "roll_over".
    """

    def __init__(
        self,
        batch_size: int,
        data_shape: Sequence[int],
        label_width: int = 1,
        path_imgrec: Optional[str] = None,
        path_imglist: Optional[str] = None,
        path_root: Optional[str] = None,
        path_imgidx: Optional[str] = None,
        shuffle: bool = False,
        part_index: int = 0,
        num_parts: int = 1,
        aug_list: Any = None,
        imglist: Any = None,
        data_name: str = "data",
        label_name: str = "softmax_label",
        dtype: Any = "float32",
        last_batch_handle: str = "pad",
        **kwargs: Any,
    ) -> None:
        super().__init__(batch_size)
        if not (path_imgrec or path_imglist or isinstance(imglist, list)):
            raise ValueError("given none of path_imgrec, path_imglist and imglist, expected one of them")
        if last_batch_handle not in ("pad", "discard", "roll_over"):
            raise ValueError(f"given last_batch_handle {last_batch_handle!r}, expected 'pad', 'discard' or 'roll_over'")
        if not 0 <= part_index < num_parts:
            raise ValueError(f"given part_index {part_index} of num_parts {num_parts}, expected 0 to num_parts - 1")
        self.dtype = np.dtype(dtype)
        self.path_root = path_root
        self.shuffle = shuffle
        self.label_width = label_width
        self.last_batch_handle = last_batch_handle
        self.imgrec: Any = None
        self.imgidx: Optional[List[Any]] = None
        self.imglist: Any = None
        self.seq: Optional[List[Any]] = None
        self._open(path_imgrec, path_imgidx, path_imglist, imglist)
        if self.seq is None and (shuffle or num_parts > 1):
            raise ValueError("given shuffle or num_parts for a RecordIO file without index, expected path_imgidx")
        if self.seq is not None and num_parts > 1:
            size = len(self.seq) // num_parts
            self.seq = self.seq[part_index * size : (part_index + 1) * size]
        self.num_image = None if self.seq is None else len(self.seq)
        self.check_data_shape(data_shape)
        self.data_shape = tuple(data_shape)
        self.auglist = CreateAugmenter(data_shape, **kwargs) if aug_list is None else aug_list
        self.provide_data = [io.DataDesc(data_name, (batch_size, *self.data_shape), self.dtype)]
        self.provide_label = [io.DataDesc(label_name, (batch_size, label_width) if label_width > 1 else (batch_size,))]
        self._allow_read = True
        self._kept: List[Tuple[NDArray, Any]] = []  # samples that the last epoch left for this one
        self.cur = 0
        self.reset()

    def _open(self, rec: Optional[str], idx: Optional[str], listfile: Optional[str], listed: Any) -> None:
        if rec:
            idx = idx or os.path.splitext(rec)[0] + ".idx"
            if os.path.exists(idx):
                self.imgrec = recordio.MXIndexedRecordIO(idx, rec, "r")
                self.imgidx = list(self.imgrec.keys)
            else:
                self.imgrec = recordio.MXRecordIO(rec, "r")
        if listfile:
            self.imglist = {}
            with open(listfile) as file:
                self.imglist.update(rows_of(file, listfile, _listed, "a number, labels and a path"))
        elif isinstance(listed, list):
            self.imglist = {}
            for number, row in enumerate(listed):
                labels = row[0] if len(row) == 2 else row[:-1]
                self.imglist[number] = (np.array(labels, dtype=np.float32).reshape(-1), row[-1])
        if self.imgidx is not None:
            self.seq = self.imgidx if self.imglist is None else [key for key in self.imgidx if key in self.imglist]
        elif self.imglist is not None and self.imgrec is None:
            self.seq = list(self.imglist)

    def reset(self) -> None:
        """Starts the next epoch; samples that "roll_over" has kept come first."""
        if self.seq is not None and self.shuffle:
            random.shuffle(self.seq)
        if self.last_batch_handle != "roll_over":
            self._kept = []
        if self.imgrec is not None:
            self.imgrec.reset()
        self.cur = 0
        self._allow_read = True

    def hard_reset(self) -> None:
        """Starts the next epoch without samples of the last one."""
        self._kept = []
        self.reset()

    def next_sample(self) -> Tuple[Any, Any]:
        """Label and bytes of the next image; StopIteration at the end. Labels of lists are arrays of the library."""
        if not self._allow_read:
            raise StopIteration
        if self.seq is None:
            record = self.imgrec.read()
            if record is None:
                raise StopIteration
            header, content = recordio.unpack(record)
            if self.imglist is not None:
                return self._listed_label(header.id), content
            return header.label, content
        if self.cur >= len(self.seq):
            raise StopIteration
        key = self.seq[self.cur]
        self.cur += 1
        if self.imgrec is None:
            return self._listed_label(key), self.read_image(self.imglist[key][1])
        header, content = recordio.unpack(self.imgrec.read_idx(key))
        return (header.label if self.imglist is None else self._listed_label(key)), content

    def _listed_label(self, key: Any) -> NDArray:
        if key not in self.imglist:
            raise ValueError(f"given an image of number {key}, expected one of the {len(self.imglist)} that the list has")
        return _for_user(nd.array(self.imglist[key][0]))

    def _samples(self) -> Any:
        """Decoded and augmented samples; one that cannot be decoded is passed over with a warning."""
        while True:
            try:
                label, content = self.next_sample()
            except StopIteration:
                return
            try:
                picture = self.imdecode(content)
                self.check_valid_image([picture])
            except (RuntimeError, ValueError) as error:
                logging.warning("ImageIter: an image is passed over: %s", error)
                continue
            yield self._prepared(picture, label)

    def _prepared(self, picture: NDArray, label: Any) -> Tuple[NDArray, Any]:
        return self.postprocess_data(self.augmentation_transform(picture)), label

    def _label_row(self, label: Any) -> np.ndarray:
        row = np.asarray(label, dtype=np.float32).reshape(-1)
        if row.size != self.label_width:
            raise ValueError(f"given label_width {self.label_width}, and an image has {row.size} labels")
        return row

    def next(self) -> io.DataBatch:
        """The next batch; StopIteration at the end of the epoch."""
        samples, self._kept = self._kept, []
        source = self._samples()
        for sample in source:
            samples.append(sample)
            if len(samples) == self.batch_size:
                break
        if not samples:
            raise StopIteration
        pad = self.batch_size - len(samples)
        if pad:
            self._allow_read = False
            if self.last_batch_handle == "discard":
                raise StopIteration
            if self.last_batch_handle == "roll_over":
                self._kept = samples
                raise StopIteration
            samples = self._filled_up(samples)
            self._allow_read = False
        return self._batch(samples, pad)

    def _filled_up(self, samples: List[Any]) -> List[Any]:
        """From the start of the data, as often as it takes."""
        while len(samples) < self.batch_size:
            self.cur = 0
            self._allow_read = True
            if self.imgrec is not None:
                self.imgrec.reset()
            before = len(samples)
            for sample in self._samples():
                samples.append(sample)
                if len(samples) == self.batch_size:
                    break
            if len(samples) == before:
                break
        return samples

    def _batch(self, samples: List[Any], pad: int) -> io.DataBatch:
        data = nd.stack(*[_plain(picture) for picture, _ in samples])
        rows = np.stack([self._label_row(label) for _, label in samples])
        label = nd.array(rows if self.label_width > 1 else rows[:, 0])
        data = data if data.dtype == self.dtype else data.astype(self.dtype)
        return io.DataBatch([_for_user(data)], [_for_user(label)], pad=pad)

    def check_data_shape(self, data_shape: Sequence[int]) -> None:
        """Throws unless this is a shape of images in batches."""
        if len(data_shape) != 3 or data_shape[0] not in (1, 3):
            raise ValueError(f"given data_shape {tuple(data_shape)}, expected (3, height, width) or (1, height, width)")

    def check_valid_image(self, data: Sequence[NDArray]) -> None:
        """Throws for an image without pixels."""
        if len(data[0].shape) == 0 or data[0].size == 0:
            raise RuntimeError(f"given an image of shape {data[0].shape}, expected pixels")

    def imdecode(self, s: bytes) -> NDArray:
        """The image in the bytes of a file."""
        return _imdecode(s, flag=0 if getattr(self, "data_shape", (3,))[0] == 1 else 1)

    def read_image(self, fname: str) -> bytes:
        """The bytes of a file under `path_root`."""
        path = os.path.join(self.path_root, fname) if self.path_root else fname
        with open(path, "rb") as file:
            return file.read()

    def augmentation_transform(self, data: NDArray) -> NDArray:
        """An image after all augmenters."""
        for augmenter in self.auglist:
            data = augmenter(data)
        return data

    def postprocess_data(self, datum: NDArray) -> NDArray:
        """An image as it lies in a batch: (channels, height, width)."""
        datum = _plain(datum).transpose((2, 0, 1))
        if datum.shape != self.data_shape:
            raise ValueError(f"given data_shape {self.data_shape}, and an augmented image is {datum.shape}")
        return datum
