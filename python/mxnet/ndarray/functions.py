# SPDX-License-Identifier: Apache-2.0
"""Functions on arrays whose arguments differ from those of the operators behind them."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from .. import _core
from .._core import NDArrayBase
from . import _generate
from ._integers import ints
from .creation import _from_numpy
from .ndarray import NDArray

__all__ = ["concatenate", "histogram", "imdecode", "moveaxis", "onehot_encode", "split_v2", "waitall"]

_op = _generate.operator


def concatenate(arrays: Sequence[NDArray], axis: int = 0, always_copy: bool = True) -> NDArray:
    """Arrays one after the other."""
    if isinstance(axis, NDArrayBase):
        raise TypeError("concatenate: axis: given an NDArray, expected an integer; arrays to join are one list, the first argument")
    if len(arrays) == 1 and not always_copy:
        return arrays[0]
    return _op("concat")(*arrays, dim=axis)


def moveaxis(tensor: NDArray, source: Any, destination: Any) -> NDArray:
    """Axes at other places, the others in their order."""
    order = len(tensor.shape)
    if type(source) is int and type(destination) is int and -order <= source < order and -order <= destination < order:
        axes = list(range(order))
        axes.insert(destination % order, axes.pop(source))
        return _op("transpose")(tensor, axes=tuple(axes))
    np.moveaxis(np.empty((0,) * order), source, destination)  # checks the axes
    sources = [axis % order for axis in ints(source)]
    rest = [axis for axis in range(order) if axis not in sources]
    for to, axis in sorted(zip((axis % order for axis in ints(destination)), sources)):
        rest.insert(to, axis)
    return _op("transpose")(tensor, axes=tuple(rest))


def split_v2(ary: NDArray, indices_or_sections: Any, axis: int = 0, squeeze_axis: bool = False) -> Any:
    """Parts of an array: so many equal ones, or between the given places."""
    if isinstance(indices_or_sections, int):
        if indices_or_sections > 0 and ary.shape[axis] % indices_or_sections:
            raise ValueError(
                f"split_v2: array split does not result in an equal division: given {ary.shape[axis]} elements along axis "
                f"{axis}, expected a multiple of {indices_or_sections}"
            )
        return _op("_split_v2")(ary, indices=(), axis=axis, squeeze_axis=squeeze_axis, sections=indices_or_sections)
    places = (0, *ints(indices_or_sections))
    return _op("_split_v2")(ary, indices=places, axis=axis, squeeze_axis=squeeze_axis, sections=0)


def histogram(a: NDArray, bins: Any = 10, range: Any = None) -> Any:  # pylint: disable=redefined-builtin
    """Counts of elements in bins, and the bins' edges."""
    if isinstance(bins, NDArrayBase):
        return _op("_histogram")(a, bins)
    if range is None:  # the whole of it: counts come in float32 then, as they do from the release
        return tuple(part.astype("float32") for part in histogram(a, bins, (a.min().asscalar(), a.max().asscalar())))
    return _op("_histogram")(a, bin_cnt=int(bins), range=(float(range[0]), float(range[1])))


def onehot_encode(indices: NDArray, out: NDArray) -> NDArray:
    """Rows of zeros with a one at the index."""
    return _op("_onehot_encode")(indices, out, out=out)


def imdecode(str_img: bytes, clip_rect: Any = (0, 0, 0, 0), out: Any = None, index: int = 0, channels: int = 3, mean: Any = None) -> NDArray:
    """An encoded image as float32 of (1, channels, height, width), or in `out`: one of (channels, height, width), or row
    `index` of several. `clip_rect` is the left, top, right and bottom of the part to keep, all zeros for the whole;
    `mean`, of the part's shape, is subtracted."""
    if channels not in (1, 3):
        raise ValueError(f"imdecode: channels: given {channels}, expected 1 or 3")
    given = _from_numpy(np.frombuffer(str_img, dtype=np.uint8), None, np.uint8)
    image = _op("_cvimdecode")(given, flag=int(channels == 3), to_rgb=True)
    height, width = image.shape[:2]
    x0, y0, x1, y1 = clip_rect if any(clip_rect) else (0, 0, width, height)
    if not (0 <= x0 < x1 <= width and 0 <= y0 < y1 <= height):
        raise ValueError(f"imdecode: clip_rect: given {tuple(clip_rect)}, expected a part of an image {width} wide and {height} high")
    part = image[y0:y1, x0:x1].transpose((2, 0, 1)).astype("float32")
    if mean is not None:
        if mean.shape != part.shape:
            raise ValueError(f"imdecode: mean: given shape {mean.shape}, expected that of the part, {part.shape}")
        part = part - mean
    if out is None:
        return part.expand_dims(0)
    if out.shape == part.shape:
        out[:] = part
        return out
    if out.ndim != 4 or out.shape[1:] != part.shape or not 0 <= index < out.shape[0]:
        raise ValueError(f"imdecode: out, index: given shape {out.shape} and {index}, expected {part.shape} or a row of such")
    out[index] = part
    return out


def waitall() -> None:
    """Waits for all work; the first failure that nobody has seen raises here."""
    _core.wait_all()
