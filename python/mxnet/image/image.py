# SPDX-License-Identifier: Apache-2.0
"""Images as arrays (height, width, channels), and what is done to them before they make a batch."""

from __future__ import annotations

import json
import math
import random
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from .. import ndarray as nd
from ..ndarray import NDArray
from ..ndarray import _internal
from ..util import is_np_array

numeric_types = (float, int, np.generic)

__all__ = [
    "Augmenter", "BrightnessJitterAug", "CastAug", "CenterCropAug", "ColorJitterAug", "ColorNormalizeAug", "ContrastJitterAug",
    "CreateAugmenter", "ForceResizeAug", "HorizontalFlipAug", "HueJitterAug", "ImageIter", "LightingAug", "RandomCropAug",
    "RandomGrayAug", "RandomOrderAug", "RandomSizedCropAug", "ResizeAug", "SaturationJitterAug", "SequentialAug", "center_crop",
    "color_normalize", "copyMakeBorder", "fixed_crop", "imdecode", "imread", "imresize", "imrotate", "numeric_types",
    "random_crop", "random_rotate", "random_size_crop", "resize_short", "scale_down",
]

Size = Tuple[int, int]


def _for_user(image: NDArray) -> NDArray:
    return image.as_np_ndarray() if is_np_array() and not getattr(image, "_is_np", False) else image


def _plain(image: NDArray) -> NDArray:
    return image.as_nd_ndarray() if getattr(image, "_is_np", False) else image


def _named(args: Tuple[Any, ...], kwargs: Dict[str, Any], names: Sequence[str]) -> Dict[str, Any]:
    """Further arguments, given by position or by name."""
    if len(args) > len(names):
        raise TypeError(f"given {len(args)} further arguments, expected at most {', '.join(names)}")
    return {**dict(zip(names, args)), **kwargs}


def imread(filename: str, *args: Any, **kwargs: Any) -> NDArray:
    """The image in a JPEG or PNG file; flag=0 makes it grey, to_rgb=False blue, green, red."""
    return _for_user(_internal._cvimread(filename=filename, **_named(args, kwargs, ("flag", "to_rgb"))))


def imresize(src: NDArray, w: int, h: int, *args: Any, **kwargs: Any) -> NDArray:
    """An image in another size; interp: 0 nearest, 1 linear, 2 cubic, 3 area, 4 Lanczos, 9 what suits, 10 random."""
    kwargs = _named(args, kwargs, ("interp",))
    if "interp" in kwargs:
        kwargs["interp"] = _method(kwargs["interp"], (src.shape[0], src.shape[1], h, w))
    return _for_user(_internal._cvimresize(_plain(src), w=w, h=h, **kwargs))


def imdecode(buf: Any, *args: Any, **kwargs: Any) -> NDArray:
    """The image in the bytes of a JPEG or PNG file; arguments as of imread."""
    if not isinstance(buf, NDArray):
        if not isinstance(buf, (bytes, bytearray, memoryview, np.ndarray)):
            raise TypeError(f"given {type(buf).__name__}, expected bytes or an array of bytes")
        buf = nd.array(np.frombuffer(buf, dtype=np.uint8), dtype=np.uint8)
    if buf.size == 0:
        raise ValueError("given no bytes, expected a JPEG or PNG image")
    return _for_user(_internal._cvimdecode(_plain(buf), **_named(args, kwargs, ("flag", "to_rgb"))))


def copyMakeBorder(src: NDArray, top: int, bot: int, left: int, right: int, *args: Any, **kwargs: Any) -> NDArray:
    """An image with a border; type: 0 of `value` or `values`, 1 to 4 of the image itself."""
    kwargs = _named(args, kwargs, ("type", "value", "values"))
    return _for_user(_internal._cvcopyMakeBorder(_plain(src), top=top, bot=bot, left=left, right=right, **kwargs))


def _method(interp: int, sizes: Tuple[int, ...] = ()) -> int:
    """9 chooses by sizes (old height, old width, new height, new width), 10 at random."""
    if interp == 9:
        if not sizes:
            return 2
        old_height, old_width, new_height, new_width = sizes
        if new_height > old_height and new_width > old_width:
            return 2
        return 3 if new_height < old_height and new_width < old_width else 1
    if interp == 10:
        return random.randint(0, 4)
    if interp not in (0, 1, 2, 3, 4):
        raise ValueError(f"given interp {interp}, expected 0 to 4, 9 or 10")
    return interp


def scale_down(src_size: Size, size: Size) -> Size:
    """`size` (width, height) made smaller, in its proportions, until it fits into `src_size`."""
    width, height = size
    src_width, src_height = src_size
    if src_height < height:
        width, height = width * src_height / height, src_height
    if src_width < width:
        width, height = src_width, height * src_width / width
    return int(width), int(height)


def resize_short(src: NDArray, size: int, interp: int = 2) -> NDArray:
    """An image whose shorter side has this length."""
    height, width = src.shape[:2]
    if height > width:
        new_height, new_width = size * height // width, size
    else:
        new_height, new_width = size, size * width // height
    return imresize(src, new_width, new_height, interp=interp)


def fixed_crop(src: NDArray, x0: int, y0: int, w: int, h: int, size: Optional[Size] = None, interp: int = 2) -> NDArray:
    """The part at (x0, y0), perhaps in another size (width, height)."""
    out = src[y0 : y0 + h, x0 : x0 + w]
    if size is not None and (w, h) != tuple(size):
        out = imresize(out, *size, interp=interp)
    return out


def random_crop(src: NDArray, size: Size, interp: int = 2) -> Tuple[NDArray, Tuple[int, int, int, int]]:
    """A part of this size somewhere, and where; of a smaller image, as much as there is, enlarged."""
    height, width = src.shape[:2]
    new_width, new_height = scale_down((width, height), size)
    x0 = random.randint(0, width - new_width)
    y0 = random.randint(0, height - new_height)
    return fixed_crop(src, x0, y0, new_width, new_height, size, interp), (x0, y0, new_width, new_height)


def center_crop(src: NDArray, size: Size, interp: int = 2) -> Tuple[NDArray, Tuple[int, int, int, int]]:
    """The part of this size in the middle, and where; of a smaller image, as much as there is, enlarged."""
    height, width = src.shape[:2]
    new_width, new_height = scale_down((width, height), size)
    x0 = (width - new_width) // 2
    y0 = (height - new_height) // 2
    return fixed_crop(src, x0, y0, new_width, new_height, size, interp), (x0, y0, new_width, new_height)


def random_size_crop(
    src: NDArray, size: Size, area: Any, ratio: Tuple[float, float], interp: int = 2, **kwargs: Any
) -> Tuple[NDArray, Tuple[int, int, int, int]]:
    """A part of random area (relative) and aspect ratio in a given size, and where it was."""
    height, width = src.shape[:2]
    if "min_area" in kwargs:  # the older name
        area = kwargs.pop("min_area")
    if kwargs:
        raise TypeError(f"given unknown arguments {sorted(kwargs)}")
    if isinstance(area, numeric_types):
        area = (area, 1.0)
    for _ in range(10):
        target = random.uniform(area[0], area[1]) * height * width
        aspect = math.exp(random.uniform(math.log(ratio[0]), math.log(ratio[1])))
        new_width = int(round(math.sqrt(target * aspect)))
        new_height = int(round(math.sqrt(target / aspect)))
        if new_width <= width and new_height <= height:
            x0 = random.randint(0, width - new_width)
            y0 = random.randint(0, height - new_height)
            return fixed_crop(src, x0, y0, new_width, new_height, size, interp), (x0, y0, new_width, new_height)
    return center_crop(src, size, interp)


def color_normalize(src: NDArray, mean: Any, std: Any = None) -> NDArray:
    """(src - mean) / std; either may be None."""
    if mean is not None:
        src = src - mean
    if std is not None:
        src = src / std
    return src


def imrotate(src: NDArray, rotation_degrees: Any, zoom_in: bool = False, zoom_out: bool = False) -> NDArray:
    """Turns float32 images (channels, height, width), or a batch of them by one angle or one each.

    What comes from outside is 0. `zoom_in` enlarges until nothing of it is seen, `zoom_out` reduces until
    all of the image is.
    """
    if zoom_in and zoom_out:
        raise ValueError("given zoom_in and zoom_out, expected one of them")
    if src.dtype != np.float32:
        raise TypeError(f"given {np.dtype(src.dtype).name}, expected float32 images")
    if src.ndim not in (3, 4):
        raise ValueError(f"given shape {src.shape}, expected (channels, height, width) or a batch of such")
    batch = _plain(src) if src.ndim == 4 else _plain(src).expand_dims(0)
    count, _, height, width = batch.shape
    if isinstance(rotation_degrees, numeric_types):
        degrees = np.full(count, rotation_degrees, np.float32)
    else:
        degrees = rotation_degrees.asnumpy() if isinstance(rotation_degrees, NDArray) else np.asarray(rotation_degrees)
        if src.ndim == 3 or len(degrees) != count:
            raise ValueError(f"given {len(degrees)} angles for shape {src.shape}, expected one an image")
    angles = np.deg2rad(degrees).astype(np.float64)
    sine, cosine = np.sin(angles), np.cos(angles)
    half_width, half_height = (width - 1) / 2, (height - 1) / 2
    factor = np.ones(count)
    if zoom_in or zoom_out:
        # How much larger the upright box around the turned image is, at most.
        c, s = np.abs(cosine), np.abs(sine)
        larger = np.maximum((width * c + height * s) / width, (width * s + height * c) / height)
        factor = larger if zoom_out else 1 / larger
    # From places of the new image to the old one's, both from -1 to 1 along each axis.
    matrix = np.zeros((count, 6), np.float32)
    matrix[:, 0] = cosine * factor
    matrix[:, 1] = -sine * factor * half_height / half_width
    matrix[:, 3] = sine * factor * half_width / half_height
    matrix[:, 4] = cosine * factor
    grid = nd.GridGenerator(nd.array(matrix, ctx=batch.context), transform_type="affine", target_shape=(height, width))
    turned = nd.BilinearSampler(batch, grid)
    return _for_user(turned if src.ndim == 4 else turned[0])


def random_rotate(src: NDArray, angle_limits: Tuple[float, float], zoom_in: bool = False, zoom_out: bool = False) -> NDArray:
    """As imrotate, by an angle between two limits, of a batch by one each."""
    degrees = np.random.uniform(*angle_limits) if src.ndim == 3 else np.random.uniform(*angle_limits, size=src.shape[0])
    return imrotate(src, float(degrees) if src.ndim == 3 else degrees.astype(np.float32), zoom_in, zoom_out)


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


from .iterator import ImageIter  # noqa: E402  (it is built on what is above)
