# SPDX-License-Identifier: Apache-2.0
"""Augmenters of images with boxes, which keep both in step. Labels are as in detection.py."""

from __future__ import annotations

import json
import logging
import random
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from .. import ndarray as nd
from ..ndarray import NDArray
from ._augmenters import (
    MEAN, STD, Augmenter, CastAug, ColorNormalizeAug, ForceResizeAug, ResizeAug, channel_statistics, colour_augmenters,
)
from ._functions import _for_user, _plain, copyMakeBorder, fixed_crop, numeric_types

__all__ = [
    "CreateDetAugmenter", "CreateMultiRandCropAugmenter", "DetAugmenter", "DetBorrowAug", "DetHorizontalFlipAug",
    "DetRandomCropAug", "DetRandomPadAug", "DetRandomSelectAug",
]

class DetAugmenter:
    """The base: called with an image and a label, they give both anew."""

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = dict(kwargs)
        for name, value in self._kwargs.items():
            value = value.asnumpy() if isinstance(value, NDArray) else value
            self._kwargs[name] = value.tolist() if isinstance(value, np.ndarray) else value

    def dumps(self) -> Any:
        """Class and arguments as JSON."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src: NDArray, label: np.ndarray) -> Tuple[NDArray, np.ndarray]:
        raise NotImplementedError(f"{type(self).__name__} has no __call__()")


class DetBorrowAug(DetAugmenter):
    """An augmenter of images that moves no pixel: the label stays."""

    def __init__(self, augmenter: Augmenter) -> None:
        if not isinstance(augmenter, Augmenter):
            raise TypeError(f"given {type(augmenter).__name__}, expected an Augmenter")
        super().__init__(augmenter=augmenter.dumps())
        self.augmenter = augmenter

    def dumps(self) -> Any:
        """Class and the augmenter."""
        return [type(self).__name__.lower(), self.augmenter.dumps()]

    def __call__(self, src: NDArray, label: np.ndarray) -> Tuple[NDArray, np.ndarray]:
        return self.augmenter(src), label


class DetRandomSelectAug(DetAugmenter):
    """One augmenter of several, or with probability `skip_prob` none."""

    def __init__(self, aug_list: Any, skip_prob: float = 0) -> None:
        super().__init__(skip_prob=skip_prob)
        aug_list = aug_list if isinstance(aug_list, (list, tuple)) else [aug_list]
        for augmenter in aug_list:
            if not isinstance(augmenter, DetAugmenter):
                raise TypeError(f"given {type(augmenter).__name__}, expected DetAugmenter")
        self.aug_list = list(aug_list)
        self.skip_prob = skip_prob if self.aug_list else 1

    def dumps(self) -> Any:
        """Class and the augmenters."""
        return [type(self).__name__.lower(), [augmenter.dumps() for augmenter in self.aug_list]]

    def __call__(self, src: NDArray, label: np.ndarray) -> Tuple[NDArray, np.ndarray]:
        if random.random() < self.skip_prob:
            return src, label
        random.shuffle(self.aug_list)  # not choice(), for the same draws after a seed as in 1.x
        return self.aug_list[0](src, label)


class DetHorizontalFlipAug(DetAugmenter):
    """Mirrors with probability `p`."""

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p

    def __call__(self, src: NDArray, label: np.ndarray) -> Tuple[NDArray, np.ndarray]:
        if random.random() >= self.p:
            return src, label
        label = label.copy()
        label[:, 1], label[:, 3] = 1.0 - label[:, 3], 1.0 - label[:, 1].copy()
        return _for_user(nd.flip(_plain(src), axis=1)), label


def _areas(boxes: np.ndarray) -> np.ndarray:
    return np.maximum(0, boxes[:, 2] - boxes[:, 0]) * np.maximum(0, boxes[:, 3] - boxes[:, 1])


def _common(boxes: np.ndarray, left: float, top: float, right: float, bottom: float) -> np.ndarray:
    """The parts of boxes inside of a window."""
    return np.stack(
        [np.maximum(boxes[:, 0], left), np.maximum(boxes[:, 1], top), np.minimum(boxes[:, 2], right),
         np.minimum(boxes[:, 3], bottom)], axis=1,
    )


def _moved(label: np.ndarray, left: float, top: float, width: float, height: float) -> np.ndarray:
    """A label whose image is a window of the old one."""
    out = label.copy()
    out[:, (1, 3)] = (out[:, (1, 3)] - left) / width
    out[:, (2, 4)] = (out[:, (2, 4)] - top) / height
    return out


_TINY = 2  # pixels; what is not larger does not count among the objects that a part has to cover
_ALMOST_HALF = 0.4999999  # a whole number that rounding takes for the next one


def _heights(area_range: Tuple[float, float], area: int, aspect: float) -> Tuple[int, int]:
    """The heights, in pixels, of the smallest and the largest window of an aspect ratio."""
    low, high = (int(round((share * area / aspect) ** 0.5)) for share in area_range)
    return low, high


class DetRandomCropAug(DetAugmenter):
    """A part of which all objects in it are covered by at least `min_object_covered`.

    Objects of which less than `min_eject_coverage` is left go. Without such a part in `max_attempts`
    nothing is cut.
    """

    def __init__(
        self,
        min_object_covered: float = 0.1,
        aspect_ratio_range: Tuple[float, float] = (0.75, 1.33),
        area_range: Tuple[float, float] = (0.05, 1.0),
        min_eject_coverage: float = 0.3,
        max_attempts: int = 50,
    ) -> None:
        if isinstance(aspect_ratio_range, numeric_types):
            aspect_ratio_range = (aspect_ratio_range, aspect_ratio_range)
        if isinstance(area_range, numeric_types):
            area_range = (area_range, area_range)
        super().__init__(
            min_object_covered=min_object_covered, aspect_ratio_range=aspect_ratio_range, area_range=area_range,
            min_eject_coverage=min_eject_coverage, max_attempts=max_attempts,
        )
        self.min_object_covered = min_object_covered
        self.aspect_ratio_range = aspect_ratio_range
        self.area_range = area_range
        self.min_eject_coverage = min_eject_coverage
        self.max_attempts = max_attempts
        self.enabled = (
            0 < area_range[0] <= area_range[1] and 0 < aspect_ratio_range[0] <= aspect_ratio_range[1]
        )
        if not self.enabled:
            logging.warning("DetRandomCropAug: ranges that hold nothing: %s, %s; it does nothing", area_range, aspect_ratio_range)

    def __call__(self, src: NDArray, label: np.ndarray) -> Tuple[NDArray, np.ndarray]:
        height, width = src.shape[:2]
        found = self._find(label, height, width)
        if found is None:
            return src, label
        x, y, w, h, label = found
        return fixed_crop(src, x, y, w, h), label

    def _find(self, label: np.ndarray, height: int, width: int) -> Any:
        if not self.enabled or height <= 0 or width <= 0:
            return None
        for _ in range(self.max_attempts):
            aspect = random.uniform(*self.aspect_ratio_range)
            least, most = _heights(self.area_range, height * width, aspect)
            most = min(height, int((width + _ALMOST_HALF) / aspect) if round(most * aspect) > width else most)
            h = random.randint(least, most) if least < most else most
            w = int(round(h * aspect))
            smallest, largest = (share * height * width for share in self.area_range)
            if not smallest <= w * h <= largest:  # by rounding: a line more or less
                h += 1 if w * h < smallest else -1
                w = int(round(h * aspect))
            if not (smallest <= w * h <= largest and 0 < h <= height and 0 < w <= width):
                continue
            y, x = random.randint(0, height - h), random.randint(0, width - w)
            kept = self._kept(label, x / width, y / height, w / width, h / height, _TINY / (width * height))
            if kept is not None:
                return x, y, w, h, kept
        return None

    def _kept(
        self, label: np.ndarray, x: float, y: float, w: float, h: float, tiny: float
    ) -> Optional[np.ndarray]:
        boxes = label[:, 1:5]
        areas = _areas(boxes)
        shares = np.where(areas > 0, _areas(_common(boxes, x, y, x + w, y + h)) / np.maximum(areas, 1e-12), 0)
        inside = shares[(shares > 0) & (areas > tiny)]
        if inside.size == 0 or inside.min() <= self.min_object_covered:
            return None
        moved = _moved(label, x, y, w, h)
        moved[:, 1:5] = np.clip(moved[:, 1:5], 0, 1)  # boxes are cut at the window's edges
        kept = moved[(shares > self.min_eject_coverage) & (_areas(moved[:, 1:5]) > 0)]
        return kept if len(kept) else None


class DetRandomPadAug(DetAugmenter):
    """A border of `pad_val` around the image, which becomes `area_range` times as large."""

    def __init__(
        self,
        aspect_ratio_range: Tuple[float, float] = (0.75, 1.33),
        area_range: Tuple[float, float] = (1.0, 3.0),
        max_attempts: int = 50,
        pad_val: Any = (128, 128, 128),
    ) -> None:
        pad_val = pad_val if isinstance(pad_val, (list, tuple)) else (pad_val,)
        if isinstance(aspect_ratio_range, numeric_types):
            aspect_ratio_range = (aspect_ratio_range, aspect_ratio_range)
        if isinstance(area_range, numeric_types):
            area_range = (area_range, area_range)
        super().__init__(
            aspect_ratio_range=aspect_ratio_range, area_range=area_range, max_attempts=max_attempts, pad_val=pad_val
        )
        self.pad_val = pad_val
        self.aspect_ratio_range = aspect_ratio_range
        self.area_range = area_range
        self.max_attempts = max_attempts
        self.enabled = area_range[1] > 1.0 and area_range[0] <= area_range[1] and 0 < aspect_ratio_range[0] <= aspect_ratio_range[1]
        if not self.enabled:
            logging.warning("DetRandomPadAug: ranges that hold nothing: %s, %s; it does nothing", area_range, aspect_ratio_range)

    def __call__(self, src: NDArray, label: np.ndarray) -> Tuple[NDArray, np.ndarray]:
        height, width = src.shape[:2]
        if not self.enabled or height <= 0 or width <= 0:
            return src, label
        for _ in range(self.max_attempts):
            aspect = random.uniform(*self.aspect_ratio_range)
            least, most = _heights(self.area_range, height * width, aspect)
            least = max(height, int((width + _ALMOST_HALF) / aspect) if round(least * aspect) < width else least)
            h = random.randint(least, most) if least < most else most
            w = int(round(h * aspect))
            if h - height < 2 or w - width < 2:  # less than a pixel on each side is no border
                continue
            y, x = random.randint(0, h - height), random.randint(0, w - width)
            src = copyMakeBorder(src, y, h - height - y, x, w - width - x, 0, values=self._values(src.shape[2]))
            return src, _moved(label, -x / width, -y / height, w / width, h / height)
        return src, label

    def _values(self, channels: int) -> Tuple[float, ...]:
        return tuple(self.pad_val) if len(self.pad_val) > 1 else tuple(self.pad_val) * channels


def CreateMultiRandCropAugmenter(
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = (0.75, 1.33),
    area_range: Any = (0.05, 1.0),
    min_eject_coverage: Any = 0.3,
    max_attempts: Any = 50,
    skip_prob: float = 0,
) -> DetRandomSelectAug:
    """One of several DetRandomCropAug: arguments that are lists have a value for each."""
    arguments = [min_object_covered, aspect_ratio_range, area_range, min_eject_coverage, max_attempts]
    count = max(len(argument) if isinstance(argument, list) else 1 for argument in arguments)
    columns = []
    for argument in arguments:
        column = argument if isinstance(argument, list) else [argument]
        if len(column) not in (1, count):
            raise ValueError(f"given a list of {len(column)} values, expected 1 or {count} as in the longest one")
        columns.append(column * count if len(column) == 1 else column)
    return DetRandomSelectAug([DetRandomCropAug(*row) for row in zip(*columns)], skip_prob=skip_prob)


def CreateDetAugmenter(
    data_shape: Sequence[int],
    resize: int = 0,
    rand_crop: float = 0,
    rand_pad: float = 0,
    rand_gray: float = 0,
    rand_mirror: bool = False,
    mean: Any = None,
    std: Any = None,
    brightness: float = 0,
    contrast: float = 0,
    saturation: float = 0,
    pca_noise: float = 0,
    hue: float = 0,
    inter_method: int = 2,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = (0.75, 1.33),
    area_range: Any = (0.05, 3.0),
    min_eject_coverage: Any = 0.3,
    max_attempts: Any = 50,
    pad_val: Any = (127, 127, 127),
) -> List[DetAugmenter]:
    """The augmenters of a training script; `rand_crop` and `rand_pad` are probabilities."""
    augmenters: List[DetAugmenter] = []
    if resize > 0:
        augmenters.append(DetBorrowAug(ResizeAug(resize, inter_method)))
    if rand_crop > 0:
        augmenters.append(
            CreateMultiRandCropAugmenter(
                min_object_covered, aspect_ratio_range, area_range, min_eject_coverage, max_attempts, skip_prob=1 - rand_crop
            )
        )
    if rand_mirror:
        augmenters.append(DetHorizontalFlipAug(0.5))
    if rand_pad > 0:
        ratio = aspect_ratio_range[0] if isinstance(aspect_ratio_range, list) else aspect_ratio_range
        area = area_range[0] if isinstance(area_range, list) else area_range
        attempts = max_attempts[0] if isinstance(max_attempts, list) else max_attempts
        pad = DetRandomPadAug(ratio, (1.0, area[1]), attempts, pad_val)
        augmenters.append(DetRandomSelectAug([pad], 1 - rand_pad))
    augmenters.append(DetBorrowAug(ForceResizeAug((data_shape[2], data_shape[1]), inter_method)))
    augmenters.append(DetBorrowAug(CastAug()))
    colours = colour_augmenters(brightness, contrast, saturation, hue, pca_noise, rand_gray)
    augmenters += [DetBorrowAug(augmenter) for augmenter in colours]
    mean, std = channel_statistics(mean, MEAN), channel_statistics(std, STD)
    if mean is not None or std is not None:
        augmenters.append(DetBorrowAug(ColorNormalizeAug(mean, std)))
    return augmenters
