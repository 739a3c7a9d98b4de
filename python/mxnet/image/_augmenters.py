# SPDX-License-Identifier: Apache-2.0
"""Augmenters: what is done to images, by chance, before they make a batch."""

from __future__ import annotations

import json
import math
import random
from typing import Any, List, Sequence, Tuple

import numpy as np

from .. import ndarray as nd
from ..ndarray import NDArray
from ._functions import (
    Size, _for_user, _plain, center_crop, color_normalize, imresize, random_crop, random_size_crop, resize_short,
)


class Augmenter:
    """The base of augmenters: called with an image, they give another one."""

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = dict(kwargs)
        for name, value in self._kwargs.items():
            if isinstance(value, NDArray):
                value = value.asnumpy()
            if isinstance(value, np.ndarray):
                self._kwargs[name] = value.tolist()

    def dumps(self) -> str:
        """Class and arguments as JSON."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src: NDArray) -> NDArray:
        raise NotImplementedError(f"{type(self).__name__} has no __call__()")


class SequentialAug(Augmenter):
    """Augmenters one after the other."""

    def __init__(self, ts: Sequence[Augmenter]) -> None:
        super().__init__()
        self.ts = ts

    def dumps(self) -> Any:
        """Class and arguments, those of the augmenters as JSON."""
        return [type(self).__name__.lower(), [t.dumps() for t in self.ts]]

    def __call__(self, src: NDArray) -> NDArray:
        for t in self.ts:
            src = t(src)
        return src


class RandomOrderAug(Augmenter):
    """Augmenters in an order of chance."""

    def __init__(self, ts: List[Augmenter]) -> None:
        super().__init__()
        self.ts = ts

    def dumps(self) -> Any:
        """Class and arguments, those of the augmenters as JSON."""
        return [type(self).__name__.lower(), [t.dumps() for t in self.ts]]

    def __call__(self, src: NDArray) -> NDArray:
        random.shuffle(self.ts)
        for t in self.ts:
            src = t(src)
        return src


class ResizeAug(Augmenter):
    """The shorter side gets a length."""

    def __init__(self, size: int, interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size = size
        self.interp = interp

    def __call__(self, src: NDArray) -> NDArray:
        return resize_short(src, self.size, self.interp)


class ForceResizeAug(Augmenter):
    """Another size (width, height), whatever becomes of the proportions."""

    def __init__(self, size: Size, interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size = size
        self.interp = interp

    def __call__(self, src: NDArray) -> NDArray:
        return imresize(src, *self.size, interp=self.interp)


class RandomCropAug(Augmenter):
    """random_crop."""

    def __init__(self, size: Size, interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size = size
        self.interp = interp

    def __call__(self, src: NDArray) -> NDArray:
        return random_crop(src, self.size, self.interp)[0]


class RandomSizedCropAug(Augmenter):
    """random_size_crop."""

    def __init__(self, size: Size, area: Any, ratio: Tuple[float, float], interp: int = 2, **kwargs: Any) -> None:
        super().__init__(size=size, area=area, ratio=ratio, interp=interp)
        self.size = size
        self.area = kwargs.pop("min_area") if "min_area" in kwargs else area
        if kwargs:
            raise TypeError(f"given unknown arguments {sorted(kwargs)}")
        self.ratio = ratio
        self.interp = interp

    def __call__(self, src: NDArray) -> NDArray:
        return random_size_crop(src, self.size, self.area, self.ratio, self.interp)[0]


class CenterCropAug(Augmenter):
    """center_crop."""

    def __init__(self, size: Size, interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size = size
        self.interp = interp

    def __call__(self, src: NDArray) -> NDArray:
        return center_crop(src, self.size, self.interp)[0]


_GREY = np.array([[[0.299, 0.587, 0.114]]], dtype=np.float32)


def _grey(src: NDArray) -> NDArray:
    weights = nd.array(_GREY, ctx=src.context)
    return src * (weights.as_np_ndarray() if getattr(src, "_is_np", False) else weights)


class BrightnessJitterAug(Augmenter):
    """All values by a factor out of [1 - brightness, 1 + brightness]."""

    def __init__(self, brightness: float) -> None:
        super().__init__(brightness=brightness)
        self.brightness = brightness

    def __call__(self, src: NDArray) -> NDArray:
        return src * (1.0 + random.uniform(-self.brightness, self.brightness))


class ContrastJitterAug(Augmenter):
    """Away from, or towards, the mean grey."""

    def __init__(self, contrast: float) -> None:
        super().__init__(contrast=contrast)
        self.contrast = contrast

    def __call__(self, src: NDArray) -> NDArray:
        alpha = 1.0 + random.uniform(-self.contrast, self.contrast)
        return src * alpha + _grey(src).sum() * (3.0 * (1.0 - alpha) / src.size)


class SaturationJitterAug(Augmenter):
    """Away from, or towards, each pixel's own grey."""

    def __init__(self, saturation: float) -> None:
        super().__init__(saturation=saturation)
        self.saturation = saturation

    def __call__(self, src: NDArray) -> NDArray:
        alpha = 1.0 + random.uniform(-self.saturation, self.saturation)
        return src * alpha + _grey(src).sum(axis=2, keepdims=True) * (1.0 - alpha)


class HueJitterAug(Augmenter):
    """Turns colours around the axis of grey by up to hue * 180 degrees."""

    # Red, green, blue into brightness and two axes of colour (YIQ), and back.
    _TO_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])
    _FROM_YIQ = np.array([[1.0, 0.956, 0.621], [1.0, -0.272, -0.647], [1.0, -1.107, 1.705]])

    def __init__(self, hue: float) -> None:
        super().__init__(hue=hue)
        self.hue = hue

    def __call__(self, src: NDArray) -> NDArray:
        angle = random.uniform(-self.hue, self.hue) * math.pi
        u, w = math.cos(angle), math.sin(angle)
        turn = np.array([[1.0, 0.0, 0.0], [0.0, u, -w], [0.0, w, u]])
        return _mixed(src, self._FROM_YIQ.dot(turn).dot(self._TO_YIQ).T)


def _mixed(src: NDArray, matrix: np.ndarray) -> NDArray:
    """Each pixel times a matrix."""
    return _for_user(nd.dot(_plain(src), nd.array(matrix, dtype=src.dtype, ctx=src.context)))


class ColorJitterAug(RandomOrderAug):
    """Brightness, contrast and saturation in an order of chance."""

    def __init__(self, brightness: float, contrast: float, saturation: float) -> None:
        ts: List[Augmenter] = []
        if brightness > 0:
            ts.append(BrightnessJitterAug(brightness))
        if contrast > 0:
            ts.append(ContrastJitterAug(contrast))
        if saturation > 0:
            ts.append(SaturationJitterAug(saturation))
        super().__init__(ts)


class LightingAug(Augmenter):
    """Noise along the principal axes of colours."""

    def __init__(self, alphastd: float, eigval: Any, eigvec: Any) -> None:
        super().__init__(alphastd=alphastd, eigval=eigval, eigvec=eigvec)
        self.alphastd = alphastd
        self.eigval = eigval
        self.eigvec = eigvec

    def __call__(self, src: NDArray) -> NDArray:
        alpha = np.random.normal(0, self.alphastd, size=(3,))
        rgb = np.dot(np.asarray(self.eigvec) * alpha, np.asarray(self.eigval))
        added = nd.array(rgb, ctx=src.context, dtype=src.dtype)
        return src + (added.as_np_ndarray() if getattr(src, "_is_np", False) else added)


class ColorNormalizeAug(Augmenter):
    """color_normalize."""

    def __init__(self, mean: Any, std: Any) -> None:
        super().__init__(mean=mean, std=std)
        self.mean, self.std = (
            value if value is None or isinstance(value, NDArray) else _for_user(nd.array(value)) for value in (mean, std)
        )

    def __call__(self, src: NDArray) -> NDArray:
        return color_normalize(src, self.mean, self.std)


class RandomGrayAug(Augmenter):
    """Grey with probability `p`."""

    _TO_GREY = np.array([[0.21, 0.21, 0.21], [0.72, 0.72, 0.72], [0.07, 0.07, 0.07]])

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p

    def __call__(self, src: NDArray) -> NDArray:
        return _mixed(src, self._TO_GREY) if random.random() < self.p else src


class HorizontalFlipAug(Augmenter):
    """Mirrors with probability `p`."""

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p

    def __call__(self, src: NDArray) -> NDArray:
        return _for_user(nd.flip(_plain(src), axis=1)) if random.random() < self.p else src


class CastAug(Augmenter):
    """Another element type."""

    def __init__(self, typ: str = "float32") -> None:
        super().__init__(type=typ)
        self.typ = typ

    def __call__(self, src: NDArray) -> NDArray:
        return src.astype(self.typ)


_EIGENVALUES = np.array([55.46, 4.794, 1.148])
_EIGENVECTORS = np.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]])


def channel_statistics(value: Any, standard: Sequence[float]) -> Any:
    """True stands for what photographs have; else None or 1 or 3 numbers."""
    if value is True:
        return np.array(standard)
    if value is not None and np.shape(value) not in ((1,), (3,)):
        raise ValueError(f"given {value!r} as mean or std, expected True, None, or 1 or 3 numbers")
    return value


MEAN, STD = (123.68, 116.28, 103.53), (58.395, 57.12, 57.375)


def colour_augmenters(
    brightness: float, contrast: float, saturation: float, hue: float, pca_noise: float, rand_gray: float
) -> List[Augmenter]:
    """The changes of colour that are asked for."""
    augmenters: List[Augmenter] = []
    if brightness or contrast or saturation:
        augmenters.append(ColorJitterAug(brightness, contrast, saturation))
    if hue:
        augmenters.append(HueJitterAug(hue))
    if pca_noise > 0:
        augmenters.append(LightingAug(pca_noise, _EIGENVALUES, _EIGENVECTORS))
    if rand_gray > 0:
        augmenters.append(RandomGrayAug(rand_gray))
    return augmenters


def CreateAugmenter(
    data_shape: Sequence[int],
    resize: int = 0,
    rand_crop: bool = False,
    rand_resize: bool = False,
    rand_mirror: bool = False,
    mean: Any = None,
    std: Any = None,
    brightness: float = 0,
    contrast: float = 0,
    saturation: float = 0,
    hue: float = 0,
    pca_noise: float = 0,
    rand_gray: float = 0,
    inter_method: int = 2,
) -> List[Augmenter]:
    """The augmenters of a training script, for images of `data_shape` (channels, height, width)."""
    augmenters: List[Augmenter] = []
    if resize > 0:
        augmenters.append(ResizeAug(resize, inter_method))
    size = (data_shape[2], data_shape[1])
    if rand_resize:
        if not rand_crop:
            raise ValueError("given rand_resize without rand_crop, expected both")
        augmenters.append(RandomSizedCropAug(size, 0.08, (3.0 / 4.0, 4.0 / 3.0), inter_method))
    elif rand_crop:
        augmenters.append(RandomCropAug(size, inter_method))
    else:
        augmenters.append(CenterCropAug(size, inter_method))
    if rand_mirror:
        augmenters.append(HorizontalFlipAug(0.5))
    augmenters.append(CastAug())
    augmenters += colour_augmenters(brightness, contrast, saturation, hue, pca_noise, rand_gray)
    mean, std = channel_statistics(mean, MEAN), channel_statistics(std, STD)
    if mean is not None or std is not None:
        single = (value if value is None else np.asarray(value, dtype=np.float32) for value in (mean, std))
        augmenters.append(ColorNormalizeAug(*single))
    return augmenters
