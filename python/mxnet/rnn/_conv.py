# SPDX-License-Identifier: Apache-2.0
"""Recurrent cells whose matrices are convolutions."""

from __future__ import annotations

from functools import partial
from typing import Any, Dict, List, Optional, Tuple

from .. import symbol
from .._signatures import with_defaults
from ..symbol import _internal as _op
from ._cells import BaseRNNCell, RNNParams

__all__ = ["BaseConvRNNCell", "ConvGRUCell", "ConvLSTMCell", "ConvRNNCell"]

_leaky = partial(symbol.LeakyReLU, act_type="leaky", slope=0.2)


class BaseConvRNNCell(BaseRNNCell):
    """The base: shapes of states follow from the input's."""

    def __init__(
        self,
        input_shape: Any,
        num_hidden: int,
        h2h_kernel: Any,
        h2h_dilate: Any,
        i2h_kernel: Any,
        i2h_stride: Any,
        i2h_pad: Any,
        i2h_dilate: Any,
        i2h_weight_initializer: Any,
        h2h_weight_initializer: Any,
        i2h_bias_initializer: Any,
        h2h_bias_initializer: Any,
        activation: Any,
        prefix: str = "",
        params: Optional[RNNParams] = None,
        conv_layout: str = "NCHW",
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        if any(size % 2 != 1 for size in h2h_kernel):
            raise ValueError(f"given h2h_kernel {h2h_kernel}, expected odd sizes: the state keeps its shape")
        self._h2h_kernel = h2h_kernel
        self._h2h_dilate = h2h_dilate
        self._h2h_pad = tuple(dilate * (size - 1) // 2 for size, dilate in zip(h2h_kernel, h2h_dilate))
        self._i2h = {"kernel": i2h_kernel, "stride": i2h_stride, "pad": i2h_pad, "dilate": i2h_dilate}
        self._num_hidden = num_hidden
        self._input_shape = input_shape
        self._conv_layout = conv_layout
        self._activation = activation
        probe = symbol.Convolution(symbol.Variable("data"), num_filter=num_hidden, layout=conv_layout, **self._i2h)
        shape = probe.infer_shape(data=input_shape)[1][0]
        self._state_shape = (0, *shape[1:])
        self._iW = self.params.get("i2h_weight", init=i2h_weight_initializer)
        self._hW = self.params.get("h2h_weight", init=h2h_weight_initializer)
        self._iB = self.params.get("i2h_bias", init=i2h_bias_initializer)
        self._hB = self.params.get("h2h_bias", init=h2h_bias_initializer)

    @property
    def state_info(self) -> List[Dict[str, Any]]:
        """Shape and layout of each state; the batch is 0."""
        return [{"shape": self._state_shape, "__layout__": self._conv_layout}]

    def __call__(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        raise NotImplementedError(f"{type(self).__name__} has no __call__(inputs, states)")

    def _products(self, inputs: Any, states: Any, name: str) -> Tuple[Any, Any]:
        filters = self._num_hidden * len(self._gate_names)
        i2h = symbol.Convolution(
            name=f"{name}i2h", data=inputs, weight=self._iW, bias=self._iB, num_filter=filters, layout=self._conv_layout, **self._i2h
        )
        h2h = symbol.Convolution(
            name=f"{name}h2h",
            data=states[0],
            weight=self._hW,
            bias=self._hB,
            kernel=self._h2h_kernel,
            dilate=self._h2h_dilate,
            pad=self._h2h_pad,
            stride=(1,) * len(self._h2h_kernel),
            num_filter=filters,
            layout=self._conv_layout,
        )
        return i2h, h2h


# Of the arguments of cells that programs make.
_DEFAULTS = {
    "h2h_kernel": (3, 3),
    "h2h_dilate": (1, 1),
    "i2h_kernel": (3, 3),
    "i2h_stride": (1, 1),
    "i2h_pad": (1, 1),
    "i2h_dilate": (1, 1),
    "i2h_weight_initializer": None,
    "h2h_weight_initializer": None,
    "i2h_bias_initializer": "zeros",
    "h2h_bias_initializer": "zeros",
    "activation": _leaky,
}


@with_defaults(prefix="ConvRNN_", **_DEFAULTS)
class ConvRNNCell(BaseConvRNNCell):
    """act(W * x + R * h + b)."""

    @property
    def _gate_names(self) -> Tuple[str, ...]:
        return ("",)

    def __call__(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        name = self._step_name()
        i2h, h2h = self._products(inputs, states, name)
        output = self._get_activation(i2h + h2h, self._activation, name=f"{name}out")
        return output, [output]


@with_defaults(prefix="ConvLSTM_", **_DEFAULTS)
class ConvLSTMCell(BaseConvRNNCell):
    """Long short-term memory of images."""

    @property
    def state_info(self) -> List[Dict[str, Any]]:
        """Shape and layout of each state; the batch is 0."""
        return super().state_info * 2

    @property
    def _gate_names(self) -> Tuple[str, ...]:
        return ("_i", "_f", "_c", "_o")

    def __call__(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        name = self._step_name()
        i2h, h2h = self._products(inputs, states, name)
        parts = symbol.SliceChannel(i2h + h2h, num_outputs=4, axis=self._conv_layout.find("C"), name=f"{name}slice")
        in_gate = symbol.Activation(parts[0], act_type="sigmoid", name=f"{name}i")
        forget_gate = symbol.Activation(parts[1], act_type="sigmoid", name=f"{name}f")
        change = self._get_activation(parts[2], self._activation, name=f"{name}c")
        out_gate = symbol.Activation(parts[3], act_type="sigmoid", name=f"{name}o")
        memory = _op._plus(forget_gate * states[1], in_gate * change, name=f"{name}state")
        output = _op._mul(out_gate, self._get_activation(memory, self._activation), name=f"{name}out")
        return output, [output, memory]


@with_defaults(prefix="ConvGRU_", **_DEFAULTS)
class ConvGRUCell(BaseConvRNNCell):
    """Gated recurrent unit of images."""

    @property
    def _gate_names(self) -> Tuple[str, ...]:
        return ("_r", "_z", "_o")

    def __call__(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        name = self._step_name()
        i2h, h2h = self._products(inputs, states, name)
        inner = f"{name}_"  # with two underscores, as in the files of the release
        channels = self._conv_layout.find("C")
        options: Dict[str, Any] = {"num_outputs": 3, **({} if channels == 1 else {"axis": channels})}
        of_input = symbol.SliceChannel(i2h, name=f"{inner}i2h_slice", **options)
        of_state = symbol.SliceChannel(h2h, name=f"{inner}h2h_slice", **options)
        reset = symbol.Activation(of_input[0] + of_state[0], act_type="sigmoid", name=f"{inner}r_act")
        update = symbol.Activation(of_input[1] + of_state[1], act_type="sigmoid", name=f"{inner}z_act")
        new = self._get_activation(of_input[2] + reset * of_state[2], self._activation, name=f"{inner}h_act")
        output = _op._plus((1.0 - update) * new, update * states[0], name=f"{name}out")
        return output, [output]
