# SPDX-License-Identifier: Apache-2.0
"""Images with boxes: batches of them, and the augmenters by the names that programs use.

A label is an array (objects, numbers): class, left, top, right, bottom and what follows, coordinates
relative to the image.
"""

from __future__ import annotations

import logging
import random
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from .. import io
from .. import ndarray as nd
from ..ndarray import NDArray
from . import _det_augmenters
from ._augmenters import MEAN, STD, ForceResizeAug, channel_statistics
from ._det_augmenters import *  # noqa: F403  (known as members of this module)
from ._det_augmenters import CreateDetAugmenter, DetBorrowAug
from ._functions import _for_user, _plain, copyMakeBorder, numeric_types  # noqa: F401  (public here)
from .iterator import ImageIter

__all__: List[str] = [*_det_augmenters.__all__, "ImageDetIter"]


class ImageDetIter(ImageIter):
    """Batches of images with boxes: labels are (batch, most objects, numbers), filled up with -1.

    Sources are those of ImageIter; a label there is [header width, object width, ..., objects].
    """

    def __init__(
        self,
        batch_size: int,
        data_shape: Sequence[int],
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
        label_name: str = "label",
        last_batch_handle: str = "pad",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            batch_size, data_shape, path_imgrec=path_imgrec, path_imglist=path_imglist, path_root=path_root,
            path_imgidx=path_imgidx, shuffle=shuffle, part_index=part_index, num_parts=num_parts, aug_list=[],
            imglist=imglist, data_name=data_name, label_name=label_name, last_batch_handle=last_batch_handle,
        )
        self.auglist = CreateDetAugmenter(data_shape, **kwargs) if aug_list is None else aug_list
        self.label_shape = self._estimate_label_shape()
        self.provide_label = [io.DataDesc(label_name, (batch_size, *self.label_shape))]

    def _estimate_label_shape(self) -> Tuple[int, int]:
        """The most objects of an image, and the numbers of one; reads all labels."""
        self.reset()  # once more: batches come in the release's order where `random` has a seed
        most, width = 0, 5
        try:
            while True:
                label, _ = self.next_sample()
                objects = self._parse_label(label)
                most, width = max(most, objects.shape[0]), objects.shape[1]
        except StopIteration:
            pass
        self.reset()
        return most, width

    def _parse_label(self, label: Any) -> np.ndarray:
        """The objects of a label; those without area are left out."""
        raw = np.asarray(label.asnumpy() if isinstance(label, NDArray) else label, dtype=np.float32).ravel()
        if raw.size < 7:
            raise RuntimeError(f"given a label of {raw.size} numbers, expected at least 7: a header and an object")
        header, width = int(raw[0]), int(raw[1])
        if header < 2 or width < 5 or (raw.size - header) % width != 0:
            raise RuntimeError(f"given a label of {raw.size} numbers with header {header} and objects of {width}")
        objects = raw[header:].reshape(-1, width)
        valid = objects[(objects[:, 3] > objects[:, 1]) & (objects[:, 4] > objects[:, 2])]
        if len(valid) < 1:
            raise RuntimeError("given a label without an object whose box has an area")
        return valid

    def augmentation_transform(self, data: NDArray, label: Any = None) -> Any:
        """An image and its objects after all augmenters."""
        augmenters: Sequence[Any] = self.auglist
        for augmenter in augmenters:
            data, label = augmenter(data, label)
        return data, label

    def _prepared(self, picture: NDArray, label: Any) -> Tuple[NDArray, Any]:
        picture, objects = self.augmentation_transform(picture, self._parse_label(label))
        return self.postprocess_data(picture), objects

    def _batch(self, samples: List[Any], pad: int) -> io.DataBatch:
        data = nd.stack(*[_plain(picture) for picture, _ in samples])
        labels = np.full((len(samples), *self.label_shape), -1, dtype=np.float32)
        for row, (_, objects) in zip(labels, samples):
            if len(objects) > len(row):
                raise ValueError(f"given label_shape {self.label_shape}, and an image has {len(objects)} objects: reshape() it")
            row[: len(objects)] = objects
        return io.DataBatch([_for_user(data)], [_for_user(nd.array(labels))], pad=pad)

    def check_label_shape(self, label_shape: Sequence[int]) -> None:
        """Throws unless labels fit into this shape."""
        if len(label_shape) != 2 or label_shape[0] < self.label_shape[0] or label_shape[1] != self.label_shape[1]:
            raise ValueError(f"given label_shape {tuple(label_shape)}, expected at least {self.label_shape[0]} objects of "
                             f"{self.label_shape[1]} numbers")

    def reshape(self, data_shape: Optional[Sequence[int]] = None, label_shape: Optional[Sequence[int]] = None) -> None:
        """Other shapes of images or labels; resizing augmenters follow."""
        if data_shape is not None:
            self.check_data_shape(data_shape)
            self.provide_data = [io.DataDesc(self.provide_data[0].name, (self.batch_size, *data_shape), self.dtype)]
            self.data_shape = tuple(data_shape)
            for augmenter in self.auglist:
                if isinstance(augmenter, DetBorrowAug) and isinstance(augmenter.augmenter, ForceResizeAug):
                    augmenter.augmenter.size = (data_shape[2], data_shape[1])
        if label_shape is not None:
            self.check_label_shape(label_shape)
            self.label_shape = (label_shape[0], label_shape[1])
            self.provide_label = [io.DataDesc(self.provide_label[0].name, (self.batch_size, *label_shape))]

    def sync_label_shape(self, it: ImageDetIter, verbose: bool = False) -> ImageDetIter:
        """Gives two iterators, of training and validation, the larger of their label shapes."""
        if not isinstance(it, ImageDetIter):
            raise TypeError(f"given {type(it).__name__}, expected ImageDetIter")
        if self.label_shape[1] != it.label_shape[1]:
            raise ValueError(f"given objects of {it.label_shape[1]} numbers, expected {self.label_shape[1]}")
        most = max(self.label_shape[0], it.label_shape[0])
        for each in (self, it):
            if each.label_shape[0] != most:
                each.reshape(None, (most, each.label_shape[1]))
        if verbose:
            logging.info("Label shapes are both %s", self.label_shape)
        return it

    def draw_next(
        self,
        color: Any = None,
        thickness: int = 2,
        mean: Any = None,
        std: Any = None,
        clip: bool = True,
        waitKey: Any = None,
        window_name: str = "draw_next",
        id2labels: Any = None,
    ) -> Any:
        """Images, as they are augmented, with their boxes drawn in: NumPy arrays of blue, green, red."""
        if waitKey is not None or id2labels is not None:
            raise NotImplementedError(
                f"given waitKey {waitKey!r} and id2labels {id2labels!r} for window {window_name!r}: windows and texts need "
                f"OpenCV; without them the images are given to the caller"
            )
        mean, std = channel_statistics(mean, MEAN), channel_statistics(std, STD)
        for picture, objects in self._samples():
            pixels = picture.transpose((1, 2, 0)).asnumpy().astype(np.float32)
            pixels = pixels * (1 if std is None else np.asarray(std)) + (0 if mean is None else np.asarray(mean))
            pixels = np.clip(pixels, 0, 255) if clip else pixels
            pixels = np.ascontiguousarray(pixels[:, :, ::-1]).astype(np.uint8)
            for box in objects[:, 1:5]:
                _draw(pixels, box, color or [random.randint(0, 255) for _ in range(3)], thickness)
            yield pixels


def _draw(pixels: np.ndarray, box: np.ndarray, color: Any, thickness: int) -> None:
    height, width = pixels.shape[:2]
    left, right = (int(v * (width - 1)) for v in (box[0], box[2]))
    top, bottom = (int(v * (height - 1)) for v in (box[1], box[3]))
    for inset in range(thickness):
        l, r, t, b = left + inset, right - inset, top + inset, bottom - inset
        if l > r or t > b:
            return
        pixels[t, l : r + 1] = pixels[b, l : r + 1] = color
        pixels[t : b + 1, l] = pixels[t : b + 1, r] = color
