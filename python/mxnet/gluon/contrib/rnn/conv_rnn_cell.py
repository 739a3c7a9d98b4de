# SPDX-License-Identifier: Apache-2.0
"""Recurrent cells whose matrices are convolutions, in one to three dimensions."""

from __future__ import annotations

from typing import Callable, TypeVar

from ...._signatures import with_defaults
from ....base import numeric_types  # noqa: F401  (programs find it here)
from ._conv_cell import _ConvGRUCell, _ConvLSTMCell, _ConvRNNCell

__all__ = [
    "Conv1DGRUCell", "Conv1DLSTMCell", "Conv1DRNNCell", "Conv2DGRUCell", "Conv2DLSTMCell", "Conv2DRNNCell", "Conv3DGRUCell",
    "Conv3DLSTMCell", "Conv3DRNNCell",
]

_Class = TypeVar("_Class", bound=type)


def _over(dims: int, layout: str) -> Callable[[_Class], _Class]:
    """Decorates a class of cells over so many dimensions, with defaults that fit them."""

    def decorate(cls: _Class) -> _Class:
        cls._dims = dims  # type: ignore[attr-defined]
        ones = (1,) * dims
        return with_defaults(i2h_pad=(0,) * dims, i2h_dilate=ones, h2h_dilate=ones, conv_layout=layout)(cls)

    return decorate


@_over(1, "NCW")
class Conv1DRNNCell(_ConvRNNCell):
    """Simple cell with convolutions over one dimension."""


@_over(2, "NCHW")
class Conv2DRNNCell(_ConvRNNCell):
    """Simple cell with convolutions over two dimensions."""


@_over(3, "NCDHW")
class Conv3DRNNCell(_ConvRNNCell):
    """Simple cell with convolutions over three dimensions."""


@_over(1, "NCW")
class Conv1DLSTMCell(_ConvLSTMCell):
    """LSTM cell with convolutions over one dimension."""


@_over(2, "NCHW")
class Conv2DLSTMCell(_ConvLSTMCell):
    """LSTM cell with convolutions over two dimensions."""


@_over(3, "NCDHW")
class Conv3DLSTMCell(_ConvLSTMCell):
    """LSTM cell with convolutions over three dimensions."""


@_over(1, "NCW")
class Conv1DGRUCell(_ConvGRUCell):
    """GRU cell with convolutions over one dimension."""


@_over(2, "NCHW")
class Conv2DGRUCell(_ConvGRUCell):
    """GRU cell with convolutions over two dimensions."""


@_over(3, "NCDHW")
class Conv3DGRUCell(_ConvGRUCell):
    """GRU cell with convolutions over three dimensions."""
