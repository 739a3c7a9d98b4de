# SPDX-License-Identifier: Apache-2.0
"""Transforms of images, as blocks: those that only call operators can be hybridized."""

from __future__ import annotations

import random
from typing import Any, Sequence, Tuple, Union

import numpy as np

from .... import image
from ....ndarray import NDArray
from ....util import is_np_array
from ...block import Block, HybridBlock
from ...nn import HybridSequential, Sequential

__all__ = [
    "Cast", "CenterCrop", "Compose", "CropResize", "Normalize", "RandomApply", "RandomBrightness", "RandomColorJitter",
    "RandomContrast", "RandomFlipLeftRight", "RandomFlipTopBottom", "RandomHue", "RandomLighting", "RandomResizedCrop",
    "RandomRotation", "RandomSaturation", "Resize", "Rotate", "ToTensor",
]

numeric_types = (float, int, np.generic)

Size = Union[int, Sequence[int]]


def _ops(F: Any) -> Any:
    """The operators on images of mx.nd, mx.sym or, with mx.np arrays, npx."""
    return F.npx.image if is_np_array() else F.image


def _pair(size: Size) -> Tuple[int, int]:
    if isinstance(size, numeric_types):
        return size, size
    width, height = size
    return width, height


class Compose(Sequential):
    """Transforms one after the other. Neighbours that can be hybridized become one graph."""

    def __init__(self, transforms: Sequence[Any]) -> None:
        super().__init__()
        run: list = []
        for transform in [*transforms, None]:
            if isinstance(transform, HybridBlock):
                run.append(transform)
                continue
            if len(run) > 1:
                together = HybridSequential()
                together.add(*run)
                together.hybridize()
                self.add(together)
            elif run:
                run[0].hybridize()
                self.add(run[0])
            run = []
            if transform is not None:
                self.add(transform)


class Cast(HybridBlock):
    """Another element type."""

    def __init__(self, dtype: Any = "float32") -> None:
        super().__init__()
        self._dtype = dtype

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns the array in the type."""
        if is_np_array():
            return x.astype(self._dtype)
        return F.cast(x, self._dtype)


class RandomApply(Sequential):
    """With probability `p` a transform, else nothing."""

    def __init__(self, transforms: Any, p: float = 0.5) -> None:
        super().__init__()
        self.transforms = transforms
        self.p = p

    def forward(self, x: Any) -> Any:
        """Returns the image, transformed or as it is."""
        return x if self.p < random.random() else self.transforms(x)


class ToTensor(HybridBlock):
    """(height, width, channels) of 0 to 255 into float32 (channels, height, width) of 0 to 1; batches too."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns (channels, height, width) of 0 to 1 in float32, for an image (height, width, channels) of 0 to
        255.
        """
        return _ops(F).to_tensor(x)


class Normalize(HybridBlock):
    """(x - mean) / std by channel, of (channels, height, width)."""

    def __init__(self, mean: Any = 0.0, std: Any = 1.0) -> None:
        super().__init__()
        self._mean = mean
        self._std = std

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns (image - mean) / std of an image (channels, height, width)."""
        return _ops(F).normalize(x, self._mean, self._std)


class RandomResizedCrop(Block):
    """A part of random area (`scale`, relative) and aspect ratio, in a given size (width, height)."""

    def __init__(
        self,
        size: Size,
        scale: Tuple[float, float] = (0.08, 1.0),
        ratio: Tuple[float, float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: int = 1,
    ) -> None:
        super().__init__()
        self._args = (_pair(size), scale, ratio, interpolation)

    def forward(self, x: Any) -> Any:
        """Returns another random part of the image (height, width, channels) in each call."""
        return image.random_size_crop(x, *self._args)[0]


class CropResize(HybridBlock):
    """The part at (x, y) of a width and height, then perhaps in another size."""

    def __init__(
        self, x: int, y: int, width: int, height: int, size: Any = None, interpolation: Any = None
    ) -> None:
        super().__init__()
        self._x, self._y, self._width, self._height = x, y, width, height
        self._size = size
        self._interpolation = interpolation

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns the part of an image (height, width, channels), or of a batch of them."""
        ops = _ops(F)
        out = ops.crop(x, self._x, self._y, self._width, self._height)
        if self._size:
            out = ops.resize(out, size=self._size, interp=1 if self._interpolation is None else self._interpolation)
        return out


class CenterCrop(Block):
    """The middle in a size (width, height); a smaller image is enlarged."""

    def __init__(self, size: Size, interpolation: int = 1) -> None:
        super().__init__()
        self._args = (_pair(size), interpolation)

    def forward(self, x: Any) -> Any:
        """Returns the middle of an image (height, width, channels)."""
        return image.center_crop(x, *self._args)[0]


class Resize(HybridBlock):
    """Another size: (width, height), or a number for both, with `keep_ratio` for the shorter side."""

    def __init__(self, size: Size, keep_ratio: bool = False, interpolation: int = 1) -> None:
        super().__init__()
        self._keep = keep_ratio
        self._size = size
        self._interp = interpolation

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns an image (height, width, channels), or a batch of them, in the size."""
        return _ops(F).resize(x, size=self._size, keep_ratio=self._keep, interp=self._interp)


class RandomFlipLeftRight(HybridBlock):
    """Mirrors one image in two."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns the image, mirrored or as it is."""
        return _ops(F).random_flip_left_right(x)


class RandomFlipTopBottom(HybridBlock):
    """Turns one image in two upside down."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns the image, mirrored or as it is."""
        return _ops(F).random_flip_top_bottom(x)


class _RandomFactor(HybridBlock):
    """The base of changes by a factor out of [1 - amount, 1 + amount], never below 0."""

    _operator = ""

    def __init__(self, amount: float) -> None:
        super().__init__()
        if amount < 0:
            raise ValueError(f"{type(self).__name__}: given {amount}, expected 0 or more")
        self._args = (max(0, 1 - amount), 1 + amount)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns an image (height, width, channels) with other colours in each call."""
        return getattr(_ops(F), self._operator)(x, *self._args)


class RandomBrightness(_RandomFactor):
    """Random brightness."""

    _operator = "random_brightness"

    def __init__(self, brightness: float) -> None:
        super().__init__(brightness)


class RandomContrast(_RandomFactor):
    """Random contrast."""

    _operator = "random_contrast"

    def __init__(self, contrast: float) -> None:
        super().__init__(contrast)


class RandomSaturation(_RandomFactor):
    """Random saturation."""

    _operator = "random_saturation"

    def __init__(self, saturation: float) -> None:
        super().__init__(saturation)


class RandomHue(_RandomFactor):
    """Random hue."""

    _operator = "random_hue"

    def __init__(self, hue: float) -> None:
        super().__init__(hue)


class RandomColorJitter(HybridBlock):
    """Random brightness, contrast, saturation and hue, in a random order."""

    def __init__(self, brightness: float = 0, contrast: float = 0, saturation: float = 0, hue: float = 0) -> None:
        super().__init__()
        self._args = (brightness, contrast, saturation, hue)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns an image (height, width, channels) with other colours in each call."""
        return _ops(F).random_color_jitter(x, *self._args)


class RandomLighting(HybridBlock):
    """Noise along the principal axes of colours, of deviation `alpha`."""

    def __init__(self, alpha: float) -> None:
        super().__init__()
        self._alpha = alpha

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns an image (height, width, channels) with other colours in each call."""
        return _ops(F).random_lighting(x, self._alpha)


def _expect_float(what: str, x: Any) -> None:
    if not isinstance(x, NDArray) or x.dtype != np.float32:
        raise TypeError(f"{what}: given {getattr(x, 'dtype', type(x).__name__)}, expected a float32 array: ToTensor comes before")


class Rotate(Block):
    """Turns (channels, height, width) images counter-clockwise, as image.imrotate does."""

    def __init__(self, rotation_degrees: float, zoom_in: bool = False, zoom_out: bool = False) -> None:
        super().__init__()
        self._args = (rotation_degrees, zoom_in, zoom_out)

    def forward(self, x: Any) -> Any:
        """Returns an image (channels, height, width) in float32, or a batch of them, turned by the angle."""
        _expect_float("Rotate", x)
        return image.imrotate(x, *self._args)


class RandomRotation(Block):
    """With probability `rotate_with_proba` turns images by an angle between two limits."""

    def __init__(
        self,
        angle_limits: Tuple[float, float],
        zoom_in: bool = False,
        zoom_out: bool = False,
        rotate_with_proba: float = 1.0,
    ) -> None:
        super().__init__()
        lower, upper = angle_limits
        if lower >= upper:
            raise ValueError(f"given angle_limits {angle_limits}, expected the lower one first")
        if not 0 <= rotate_with_proba <= 1:
            raise ValueError(f"given rotate_with_proba {rotate_with_proba}, expected 0 to 1")
        self._args = (angle_limits, zoom_in, zoom_out)
        self._rotate_with_proba = rotate_with_proba

    def forward(self, x: Any) -> Any:
        """Returns the image turned by another angle in each call, or as it is."""
        _expect_float("RandomRotation", x)
        if np.random.random() > self._rotate_with_proba:
            return x
        return image.random_rotate(x, *self._args)
