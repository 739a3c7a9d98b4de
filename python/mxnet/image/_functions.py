# SPDX-License-Identifier: Apache-2.0
"""Images as arrays (height, width, channels): reading them, their size, parts of them, their colours, turning them."""

from __future__ import annotations

import math
import random
from typing import Any, Dict, Optional, Sequence, Tuple

import numpy as np

from .. import ndarray as nd
from ..base import MXNetValueError
from ..ndarray import NDArray, _internal
from ..util import is_np_array

numeric_types = (float, int, np.generic)

Size = Tuple[int, int]


def _for_user(image: NDArray) -> NDArray:
    return image.as_np_ndarray() if is_np_array() and not getattr(image, "_is_np", False) else image


def _plain(image: NDArray) -> NDArray:
    return image.as_nd_ndarray() if getattr(image, "_is_np", False) else image


def _named(args: Tuple[Any, ...], kwargs: Dict[str, Any], names: Sequence[str]) -> Dict[str, Any]:
    """Further arguments, given by position or by name; behind an operator's own are `out` and `name`, as of all."""
    names = (*names, "out", "name")
    if len(args) > len(names):
        raise TypeError(f"given {len(args)} further arguments, expected at most {', '.join(names)}")
    return {**dict(zip(names, args)), **kwargs}


def imread(filename: str, *args: Any, **kwargs: Any) -> NDArray:
    """The image in a JPEG, PNG or BMP file; flag=0 makes it grey, to_rgb=False blue, green, red."""
    return _for_user(_internal._cvimread(filename=filename, **_named(args, kwargs, ("flag", "to_rgb"))))


def imresize(src: NDArray, w: int, h: int, *args: Any, **kwargs: Any) -> NDArray:
    """An image in another size; interp: 0 nearest, 1 linear, 2 cubic, 3 area, 4 Lanczos, 9 what suits, 10 random."""
    kwargs = _named(args, kwargs, ("interp",))
    if "interp" in kwargs:
        kwargs["interp"] = _get_interp_method(kwargs["interp"], (src.shape[0], src.shape[1], h, w))
    return _for_user(_internal._cvimresize(_plain(src), w=w, h=h, **kwargs))


def imdecode(buf: Any, *args: Any, **kwargs: Any) -> NDArray:
    """The image in the bytes of a JPEG, PNG or BMP file; arguments as of imread."""
    if not isinstance(buf, NDArray):
        if not isinstance(buf, (bytes, bytearray, memoryview, np.ndarray)):
            raise ValueError(f"given {type(buf).__name__}, expected bytes or an array of bytes")
        buf = nd.array(np.frombuffer(buf, dtype=np.uint8), dtype=np.uint8)
    if buf.size == 0:
        raise MXNetValueError("given no bytes, expected a JPEG, PNG or BMP image")
    return _for_user(_internal._cvimdecode(_plain(buf), **_named(args, kwargs, ("flag", "to_rgb"))))


def copyMakeBorder(src: NDArray, top: int, bot: int, left: int, right: int, *args: Any, **kwargs: Any) -> NDArray:
    """An image with a border; type: 0 of `value` or `values`, 1 to 4 of the image itself."""
    kwargs = _named(args, kwargs, ("type", "value", "values"))
    return _for_user(_internal._cvcopyMakeBorder(_plain(src), top=top, bot=bot, left=left, right=right, **kwargs))


def _get_interp_method(interp: int, sizes: Tuple[int, ...] = ()) -> int:
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
    width, height = map(float, size)
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
    height, width = src.shape[:2]
    if x0 >= width or y0 >= height:
        raise ValueError(f"given a part of {w} x {h} at ({x0}, {y0}), expected one inside of the image's {width} x {height}")
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
    factor = np.ones(count)
    if zoom_in or zoom_out:
        # How much larger the upright box around the turned image is, at most.
        c, s = np.abs(cosine), np.abs(sine)
        larger = np.maximum((width * c + height * s) / width, (width * s + height * c) / height)
        factor = larger if zoom_out else 1 / larger
    narrow = min(width, height) == 1  # between its ends lies nothing: with what is around it, something does
    if narrow:
        batch = batch.pad(mode="constant", pad_width=(0, 0, 0, 0, 1, 1, 1, 1))
        width, height = width + 2, height + 2
    half_width, half_height = (width - 1) / 2, (height - 1) / 2
    # From places of the new image to the old one's, both from -1 to 1 along each axis.
    matrix = np.zeros((count, 6), np.float32)
    matrix[:, 0] = cosine * factor
    matrix[:, 1] = -sine * factor * half_height / half_width
    matrix[:, 3] = sine * factor * half_width / half_height
    matrix[:, 4] = cosine * factor
    grid = nd.GridGenerator(nd.array(matrix, ctx=batch.context), transform_type="affine", target_shape=(height, width))
    turned = nd.BilinearSampler(batch, grid)
    if narrow:
        turned = turned[:, :, 1:-1, 1:-1]
    return _for_user(turned if src.ndim == 4 else turned[0])


def random_rotate(src: NDArray, angle_limits: Tuple[float, float], zoom_in: bool = False, zoom_out: bool = False) -> NDArray:
    """As imrotate, by an angle between two limits, of a batch by one each."""
    degrees: Any = np.random.uniform(*angle_limits) if src.ndim == 3 else np.random.uniform(*angle_limits, size=src.shape[0])
    return imrotate(src, float(degrees) if src.ndim == 3 else degrees.astype(np.float32), zoom_in, zoom_out)
