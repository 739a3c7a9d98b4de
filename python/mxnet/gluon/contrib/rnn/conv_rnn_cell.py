# SPDX-License-Identifier: Apache-2.0
"""Recurrent cells whose matrices are convolutions, in one to three dimensions."""

from __future__ import annotations

from typing import Any, Optional, Tuple

from ....base import numeric_types  # noqa: F401  (programs find it here)
from ._conv_cell import _ConvGRUCell, _ConvLSTMCell, _ConvRNNCell

__all__ = [
    "Conv1DGRUCell", "Conv1DLSTMCell", "Conv1DRNNCell", "Conv2DGRUCell", "Conv2DLSTMCell", "Conv2DRNNCell", "Conv3DGRUCell",
    "Conv3DLSTMCell", "Conv3DRNNCell",
]


class Conv1DRNNCell(_ConvRNNCell):
    """Simple cell with convolutions over one dimension."""

    def __init__(
        self,
        input_shape: Tuple[int, ...],
        hidden_channels: int,
        i2h_kernel: Any,
        h2h_kernel: Any,
        i2h_pad: Any = (0,),
        i2h_dilate: Any = (1,),
        h2h_dilate: Any = (1,),
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        conv_layout: str = "NCW",
        activation: Any = "tanh",
        prefix: Optional[str] = None,
        params: Any = None,
    ) -> None:
        super().__init__(
            input_shape, hidden_channels, i2h_kernel, h2h_kernel, i2h_pad, i2h_dilate, h2h_dilate, i2h_weight_initializer,
            h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, 1, conv_layout, activation, prefix, params,
        )


class Conv2DRNNCell(_ConvRNNCell):
    """Simple cell with convolutions over two dimensions."""

    def __init__(
        self,
        input_shape: Tuple[int, ...],
        hidden_channels: int,
        i2h_kernel: Any,
        h2h_kernel: Any,
        i2h_pad: Any = (0, 0),
        i2h_dilate: Any = (1, 1),
        h2h_dilate: Any = (1, 1),
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        conv_layout: str = "NCHW",
        activation: Any = "tanh",
        prefix: Optional[str] = None,
        params: Any = None,
    ) -> None:
        super().__init__(
            input_shape, hidden_channels, i2h_kernel, h2h_kernel, i2h_pad, i2h_dilate, h2h_dilate, i2h_weight_initializer,
            h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, 2, conv_layout, activation, prefix, params,
        )


class Conv3DRNNCell(_ConvRNNCell):
    """Simple cell with convolutions over three dimensions."""

    def __init__(
        self,
        input_shape: Tuple[int, ...],
        hidden_channels: int,
        i2h_kernel: Any,
        h2h_kernel: Any,
        i2h_pad: Any = (0, 0, 0),
        i2h_dilate: Any = (1, 1, 1),
        h2h_dilate: Any = (1, 1, 1),
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        conv_layout: str = "NCDHW",
        activation: Any = "tanh",
        prefix: Optional[str] = None,
        params: Any = None,
    ) -> None:
        super().__init__(
            input_shape, hidden_channels, i2h_kernel, h2h_kernel, i2h_pad, i2h_dilate, h2h_dilate, i2h_weight_initializer,
            h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, 3, conv_layout, activation, prefix, params,
        )


class Conv1DLSTMCell(_ConvLSTMCell):
    """LSTM cell with convolutions over one dimension."""

    def __init__(
        self,
        input_shape: Tuple[int, ...],
        hidden_channels: int,
        i2h_kernel: Any,
        h2h_kernel: Any,
        i2h_pad: Any = (0,),
        i2h_dilate: Any = (1,),
        h2h_dilate: Any = (1,),
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        conv_layout: str = "NCW",
        activation: Any = "tanh",
        prefix: Optional[str] = None,
        params: Any = None,
    ) -> None:
        super().__init__(
            input_shape, hidden_channels, i2h_kernel, h2h_kernel, i2h_pad, i2h_dilate, h2h_dilate, i2h_weight_initializer,
            h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, 1, conv_layout, activation, prefix, params,
        )


class Conv2DLSTMCell(_ConvLSTMCell):
    """LSTM cell with convolutions over two dimensions."""

    def __init__(
        self,
        input_shape: Tuple[int, ...],
        hidden_channels: int,
        i2h_kernel: Any,
        h2h_kernel: Any,
        i2h_pad: Any = (0, 0),
        i2h_dilate: Any = (1, 1),
        h2h_dilate: Any = (1, 1),
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        conv_layout: str = "NCHW",
        activation: Any = "tanh",
        prefix: Optional[str] = None,
        params: Any = None,
    ) -> None:
        super().__init__(
            input_shape, hidden_channels, i2h_kernel, h2h_kernel, i2h_pad, i2h_dilate, h2h_dilate, i2h_weight_initializer,
            h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, 2, conv_layout, activation, prefix, params,
        )


class Conv3DLSTMCell(_ConvLSTMCell):
    """LSTM cell with convolutions over three dimensions."""

    def __init__(
        self,
        input_shape: Tuple[int, ...],
        hidden_channels: int,
        i2h_kernel: Any,
        h2h_kernel: Any,
        i2h_pad: Any = (0, 0, 0),
        i2h_dilate: Any = (1, 1, 1),
        h2h_dilate: Any = (1, 1, 1),
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        conv_layout: str = "NCDHW",
        activation: Any = "tanh",
        prefix: Optional[str] = None,
        params: Any = None,
    ) -> None:
        super().__init__(
            input_shape, hidden_channels, i2h_kernel, h2h_kernel, i2h_pad, i2h_dilate, h2h_dilate, i2h_weight_initializer,
            h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, 3, conv_layout, activation, prefix, params,
        )


class Conv1DGRUCell(_ConvGRUCell):
    """GRU cell with convolutions over one dimension."""

    def __init__(
        self,
        input_shape: Tuple[int, ...],
        hidden_channels: int,
        i2h_kernel: Any,
        h2h_kernel: Any,
        i2h_pad: Any = (0,),
        i2h_dilate: Any = (1,),
        h2h_dilate: Any = (1,),
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        conv_layout: str = "NCW",
        activation: Any = "tanh",
        prefix: Optional[str] = None,
        params: Any = None,
    ) -> None:
        super().__init__(
            input_shape, hidden_channels, i2h_kernel, h2h_kernel, i2h_pad, i2h_dilate, h2h_dilate, i2h_weight_initializer,
            h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, 1, conv_layout, activation, prefix, params,
        )


class Conv2DGRUCell(_ConvGRUCell):
    """GRU cell with convolutions over two dimensions."""

    def __init__(
        self,
        input_shape: Tuple[int, ...],
        hidden_channels: int,
        i2h_kernel: Any,
        h2h_kernel: Any,
        i2h_pad: Any = (0, 0),
        i2h_dilate: Any = (1, 1),
        h2h_dilate: Any = (1, 1),
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        conv_layout: str = "NCHW",
        activation: Any = "tanh",
        prefix: Optional[str] = None,
        params: Any = None,
    ) -> None:
        super().__init__(
            input_shape, hidden_channels, i2h_kernel, h2h_kernel, i2h_pad, i2h_dilate, h2h_dilate, i2h_weight_initializer,
            h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, 2, conv_layout, activation, prefix, params,
        )


class Conv3DGRUCell(_ConvGRUCell):
    """GRU cell with convolutions over three dimensions."""

    def __init__(
        self,
        input_shape: Tuple[int, ...],
        hidden_channels: int,
        i2h_kernel: Any,
        h2h_kernel: Any,
        i2h_pad: Any = (0, 0, 0),
        i2h_dilate: Any = (1, 1, 1),
        h2h_dilate: Any = (1, 1, 1),
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        conv_layout: str = "NCDHW",
        activation: Any = "tanh",
        prefix: Optional[str] = None,
        params: Any = None,
    ) -> None:
        super().__init__(
            input_shape, hidden_channels, i2h_kernel, h2h_kernel, i2h_pad, i2h_dilate, h2h_dilate, i2h_weight_initializer,
            h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, 3, conv_layout, activation, prefix, params,
        )
