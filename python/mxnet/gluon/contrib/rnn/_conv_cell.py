# SPDX-License-Identifier: Apache-2.0
"""What recurrent cells with convolutions have in common, and the steps of the three kinds."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

from ....base import numeric_types
from ..._errors import MismatchError
from ..._ops import op
from ...rnn import HybridRecurrentCell
from ...rnn._base_cell import activate, add, multiply
from ...rnn.rnn_cell import split


def _tuple(value: Any, dims: int) -> Tuple[int, ...]:
    made = (int(value),) * dims if isinstance(value, numeric_types) else tuple(value)
    if len(made) != dims:
        raise MismatchError(f"given {value}, expected a number or {dims} of them")
    return made


class _ConvCell(HybridRecurrentCell):
    """What all of them have in common: two convolutions whose outputs have the state's size."""

    _gates = 1
    _states = 1
    _dims = 2

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
        super().__init__(prefix=prefix, params=params)
        dims = self._dims
        self._hidden_channels = hidden_channels
        self._input_shape = input_shape
        self._conv_layout = conv_layout
        self._activation = activation
        self._i2h_kernel = _tuple(i2h_kernel, dims)
        self._h2h_kernel = _tuple(h2h_kernel, dims)
        if any(size % 2 == 0 for size in self._h2h_kernel):
            raise MismatchError(f"given h2h_kernel {h2h_kernel}, expected odd sizes: the state keeps its own")
        self._i2h_pad = _tuple(i2h_pad, dims)
        self._i2h_dilate = _tuple(i2h_dilate, dims)
        self._h2h_dilate = _tuple(h2h_dilate, dims)
        self._h2h_pad = tuple(d * (k - 1) // 2 for d, k in zip(self._h2h_dilate, self._h2h_kernel))
        self._stride = (1,) * dims
        channels, space = self._parts(input_shape)
        out = hidden_channels * self._gates
        sizes = [
            (size + 2 * pad - dilate * (kernel - 1) - 1) + 1
            for size, pad, dilate, kernel in zip(space, self._i2h_pad, self._i2h_dilate, self._i2h_kernel)
        ]
        self._state_shape = self._joined(hidden_channels, tuple(sizes))
        shapes = {
            "i2h_weight": ((out, *self._joined(channels, self._i2h_kernel)), i2h_weight_initializer),
            "h2h_weight": ((out, *self._joined(hidden_channels, self._h2h_kernel)), h2h_weight_initializer),
            "i2h_bias": ((out,), i2h_bias_initializer),
            "h2h_bias": ((out,), h2h_bias_initializer),
        }
        for name, (shape, init) in shapes.items():
            setattr(self, name, self.params.get(name, shape=shape, init=init, allow_deferred_init=True))

    def _parts(self, shape: Tuple[int, ...]) -> Tuple[int, Tuple[int, ...]]:
        """Channels and space of a shape without the batch."""
        at = self._conv_layout.find("C") - 1
        if len(shape) != len(self._conv_layout) - 1:
            raise MismatchError(f"given input_shape {shape}, expected one for layout {self._conv_layout} without the batch")
        return shape[at], (*shape[:at], *shape[at + 1 :])

    def _joined(self, channels: int, space: Tuple[int, ...]) -> Tuple[int, ...]:
        at = self._conv_layout.find("C") - 1
        return (*space[:at], channels, *space[at:])

    def __repr__(self) -> str:
        weight = self.i2h_weight.shape  # type: ignore[attr-defined]
        channels, _ = self._parts(self._input_shape)
        return f"{type(self).__name__}({channels} -> {weight[0]}, {self._activation}, {self._conv_layout})"

    def state_info(self, batch_size: int = 0) -> List[Dict[str, Any]]:
        """The states, as many as the cell has, each (batch_size, hidden channels, spatial axes)."""
        return [{"shape": (batch_size, *self._state_shape), "__layout__": self._conv_layout} for _ in range(self._states)]

    def _conv_forward(
        self, F: Any, inputs: Any, states: Any, i2h_weight: Any, h2h_weight: Any, i2h_bias: Any, h2h_bias: Any, prefix: str
    ) -> Tuple[Any, Any]:
        shared = {
            "num_filter": self._hidden_channels * self._gates,
            "stride": self._stride,
            "layout": self._conv_layout,
        }
        run = op(F, "Convolution")
        i2h = run(
            data=inputs, weight=i2h_weight, bias=i2h_bias, kernel=self._i2h_kernel, pad=self._i2h_pad,
            dilate=self._i2h_dilate, name=prefix + "i2h", **shared,
        )
        h2h = run(
            data=states[0], weight=h2h_weight, bias=h2h_bias, kernel=self._h2h_kernel, pad=self._h2h_pad,
            dilate=self._h2h_dilate, name=prefix + "h2h", **shared,
        )
        return i2h, h2h

    def _slices(self, F: Any, x: Any, name: str) -> Any:
        return split(F, x, self._gates, name, axis=self._conv_layout.find("C"))


class _ConvRNNCell(_ConvCell):
    """h' = activation(conv(x) + conv(h))."""

    def _alias(self) -> str:
        return "conv_rnn"

    def hybrid_forward(
        self, F: Any, inputs: Any, states: Any, i2h_weight: Any, h2h_weight: Any, i2h_bias: Any, h2h_bias: Any
    ) -> Tuple[Any, List[Any]]:
        """One step: (output, [output]) of inputs with channels and spatial axes, and states."""
        prefix = f"t{self._counter}_"
        i2h, h2h = self._conv_forward(F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias, prefix)
        output = activate(F, i2h + h2h, self._activation, name=prefix + "out")
        return output, [output]


class _ConvLSTMCell(_ConvCell):
    """LSTM with convolutions."""

    _gates = 4
    _states = 2

    def _alias(self) -> str:
        return "conv_lstm"

    def hybrid_forward(
        self, F: Any, inputs: Any, states: Any, i2h_weight: Any, h2h_weight: Any, i2h_bias: Any, h2h_bias: Any
    ) -> Tuple[Any, List[Any]]:
        """One step: (output, [output, memory]) of inputs with channels and spatial axes, and states."""
        prefix = f"t{self._counter}_"
        i2h, h2h = self._conv_forward(F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias, prefix)
        slices = self._slices(F, i2h + h2h, prefix + "slice")
        sigmoid = op(F, "Activation")
        in_gate = sigmoid(slices[0], act_type="sigmoid", name=prefix + "i")
        forget_gate = sigmoid(slices[1], act_type="sigmoid", name=prefix + "f")
        candidate = activate(F, slices[2], self._activation, name=prefix + "c")
        out_gate = sigmoid(slices[3], act_type="sigmoid", name=prefix + "o")
        kept = forget_gate * states[1]
        cell = add(F, kept, in_gate * candidate, prefix + "state")
        output = multiply(F, out_gate, activate(F, cell, self._activation), prefix + "out")
        return output, [output, cell]


class _ConvGRUCell(_ConvCell):
    """GRU with convolutions."""

    _gates = 3

    def _alias(self) -> str:
        return "conv_gru"

    def hybrid_forward(
        self, F: Any, inputs: Any, states: Any, i2h_weight: Any, h2h_weight: Any, i2h_bias: Any, h2h_bias: Any
    ) -> Tuple[Any, List[Any]]:
        """One step: (output, [output]) of inputs with channels and spatial axes, and states."""
        prefix = f"t{self._counter}_"
        i2h, h2h = self._conv_forward(F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias, prefix)
        i2h_r, i2h_z, i2h_n = self._slices(F, i2h, prefix + "i2h_slice")
        h2h_r, h2h_z, h2h_n = self._slices(F, h2h, prefix + "h2h_slice")
        sigmoid = op(F, "Activation")
        reset_gate = sigmoid(i2h_r + h2h_r, act_type="sigmoid", name=prefix + "r_act")
        update_gate = sigmoid(i2h_z + h2h_z, act_type="sigmoid", name=prefix + "z_act")
        candidate = activate(F, i2h_n + reset_gate * h2h_n, self._activation, name=prefix + "h_act")
        output = add(F, (1.0 - update_gate) * candidate, update_gate * states[0], prefix + "out")
        return output, [output]
