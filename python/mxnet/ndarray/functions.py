# SPDX-License-Identifier: Apache-2.0
"""Functions on arrays whose arguments differ from those of the operators behind them."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from .. import _core
from .._core import NDArrayBase
from . import _generate
from ._integers import ints
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
    order = np.moveaxis(np.empty((0,) * tensor.ndim), source, destination).ndim  # checks the axes
    places = list(range(order))
    sources = [axis % order for axis in ints(source)]
    rest = [axis for axis in places if axis not in sources]
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
        return [part.astype("float32") for part in histogram(a, bins, (a.min().asscalar(), a.max().asscalar()))]
    return _op("_histogram")(a, bin_cnt=int(bins), range=(float(range[0]), float(range[1])))


def onehot_encode(indices: NDArray, out: NDArray) -> NDArray:
    """Rows of zeros with a one at the index."""
    return _op("_onehot_encode")(indices, out, out=out)


def imdecode(str_img: bytes, clip_rect: Any = (0, 0, 0, 0), out: Any = None, index: int = 0, channels: int = 3, mean: Any = None) -> NDArray:
    """An encoded image as an array of (1, channels, height, width), a part of it, or one row of `out`."""
    given = {} if mean is None else {"mean": mean}
    x0, y0, x1, y1 = clip_rect
    return _op("_imdecode")(
        *given.values(), index, x0, y0, x1, y1, channels, len(str_img), str_img=str_img, out=out
    )


def waitall() -> None:
    """Waits for all work; the first failure that nobody has seen raises here."""
    _core.wait_all()
