# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers that run whole sequences, several layers and both directions in one operator."""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, List, Optional, Tuple

from ... import symbol
from ...ndarray import NDArray
from ...ndarray._dtypes import dtype_name
from ...util import is_np_array
from .._errors import MismatchError
from ..block import HybridBlock
from ..parameter import Parameter, tensor_types
from . import rnn_cell
from ._base_cell import _zeros

__all__ = ["GRU", "LSTM", "RNN"]

_GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}
_PARAMETER = re.compile(r"(l|r)(\d+)_(i2h|h2h|h2r)_(weight|bias)\Z")


class _RNNLayer(HybridBlock):
    """What RNN, LSTM and GRU have in common."""

    def __init__(
        self,
        hidden_size: int,
        num_layers: int,
        layout: str,
        dropout: float,
        bidirectional: bool,
        input_size: int,
        i2h_weight_initializer: Any,
        h2h_weight_initializer: Any,
        i2h_bias_initializer: Any,
        h2h_bias_initializer: Any,
        mode: str,
        projection_size: Optional[int] = None,
        h2r_weight_initializer: Any = None,
        state_clip_min: Optional[float] = None,
        state_clip_max: Optional[float] = None,
        state_clip_nan: bool = False,
        dtype: Any = "float32",
        use_sequence_length: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if layout not in ("TNC", "NTC"):
            raise MismatchError(f"given layout {layout!r}, expected TNC or NTC")
        self._hidden_size = hidden_size
        self._projection_size = projection_size
        self._num_layers = num_layers
        self._mode = mode
        self._layout = layout
        self._dropout = dropout
        self._dir = 2 if bidirectional else 1
        self._input_size = input_size
        self._state_clip = (state_clip_min, state_clip_max, state_clip_nan)
        self._dtype = dtype
        self._use_sequence_length = use_sequence_length
        self._gates = _GATES[mode]
        self._make_parameters(
            {
                "i2h_weight": i2h_weight_initializer,
                "h2h_weight": h2h_weight_initializer,
                "i2h_bias": i2h_bias_initializer,
                "h2h_bias": h2h_bias_initializer,
                "h2r_weight": h2r_weight_initializer,
            }
        )

    def _make_parameters(self, inits: Dict[str, Any]) -> None:
        units = self._gates * self._hidden_size
        out = self._projection_size or self._hidden_size
        inputs = self._input_size
        for layer in range(self._num_layers):
            shapes = {
                "i2h_weight": (units, inputs),
                "h2h_weight": (units, out),
                "i2h_bias": (units,),
                "h2h_bias": (units,),
            }
            if self._projection_size:
                shapes["h2r_weight"] = (self._projection_size, self._hidden_size)
            for direction in "lr"[: self._dir]:
                for name, shape in shapes.items():
                    full = f"{direction}{layer}_{name}"
                    made = self.params.get(
                        full, shape=shape, init=inits[name], allow_deferred_init=True, dtype=self._dtype
                    )
                    setattr(self, full, made)
            inputs = out * self._dir

    def __repr__(self) -> str:
        shape = self._reg_params["l0_i2h_weight"].shape
        facts = [f"{shape[1] or None} -> {shape[0] // self._gates}", self._layout]
        if self._num_layers != 1:
            facts.append(f"num_layers={self._num_layers}")
        if self._dropout != 0:
            facts.append(f"dropout={self._dropout}")
        if self._dir == 2:
            facts.append("bidirectional")
        return f"{type(self).__name__}({', '.join(facts)})"

    def _collect_params_with_prefix(self, prefix: str = "") -> Dict[str, Parameter]:
        """Files name the parameters as those of the layer's cells."""
        if prefix:
            prefix += "."

        def as_cell(match: Any) -> str:
            direction, layer, matrix, kind = match.groups()
            cell = f"{direction}_cell." if self._dir == 2 else ""
            return f"_unfused.{layer}.{cell}{matrix}_{kind}"

        found = {prefix + _PARAMETER.sub(as_cell, name): parameter for name, parameter in self._reg_params.items()}
        for name, child in self._children.items():
            found.update(child._collect_params_with_prefix(prefix + name))
        return found

    def state_info(self, batch_size: int = 0) -> List[Dict[str, Any]]:
        """Shape and layout of each state."""
        raise NotImplementedError(f"{type(self).__name__} has no state_info")

    def _state(self, batch_size: int, size: int) -> Dict[str, Any]:
        return {"shape": (self._num_layers * self._dir, batch_size, size), "__layout__": "LNC", "dtype": self._dtype}

    def cast(self, dtype: Any) -> None:
        """Converts all parameters, and what begin_state makes."""
        super().cast(dtype)
        self._dtype = dtype

    def begin_state(self, batch_size: int = 0, func: Optional[Callable[..., Any]] = None, **kwargs: Any) -> List[Any]:
        """First states, zeros unless `func` makes others."""
        func = _zeros() if func is None else func
        states = []
        for i, info in enumerate(self.state_info(batch_size)):
            options = {**info, **kwargs}
            if is_np_array():
                options.pop("__layout__")
            else:
                options["name"] = f"{self.prefix}h0_{i}"
            states.append(func(**options))
        return states

    def _unfuse(self) -> Any:
        """The same layers as cells, on the same parameters."""
        stack = rnn_cell.HybridSequentialRNNCell(prefix=self.prefix, params=self.params)
        size = self._input_size
        with stack.name_scope():
            for layer in range(self._num_layers):
                cells = [self._cell(size, f"{direction}{layer}_") for direction in "lr"[: self._dir]]
                stack.add(cells[0] if self._dir == 1 else rnn_cell.BidirectionalCell(*cells))
                if self._dropout > 0 and layer != self._num_layers - 1:
                    stack.add(rnn_cell.DropoutCell(self._dropout))
                size = self._hidden_size * self._dir
        return stack

    def _cell(self, input_size: int, prefix: str) -> Any:
        if self._projection_size or any(self._state_clip):
            raise NotImplementedError(f"{type(self).__name__}: there are no cells with a projection or clipped states")
        options: Dict[str, Any] = {"input_size": input_size, "prefix": prefix, "params": None}
        if self._mode == "lstm":
            return rnn_cell.LSTMCell(self._hidden_size, **options)
        if self._mode == "gru":
            return rnn_cell.GRUCell(self._hidden_size, **options)
        return rnn_cell.RNNCell(self._hidden_size, activation=self._mode[4:], **options)

    def __call__(  # type: ignore[override]
        self, inputs: Any, states: Any = None, sequence_length: Any = None, **kwargs: Any
    ) -> Any:
        """The outputs; with given states the next states too."""
        if isinstance(inputs, NDArray):
            self._check_input(inputs)
        no_states = states is None
        if no_states:
            states = self._first_states(inputs)
        elif isinstance(states, tensor_types):
            states = [states]
        if isinstance(inputs, NDArray):
            self._check_states(inputs, states)
        if self._use_sequence_length:
            made = super().__call__(inputs, states, sequence_length, **kwargs)
        else:
            made = super().__call__(inputs, states, **kwargs)
        return made[0] if no_states else made

    def _first_states(self, inputs: Any) -> List[Any]:
        if not isinstance(inputs, NDArray):
            F: Any = symbol
            return self.begin_state(0, func=F.np.zeros if is_np_array() else F.zeros)
        batch_size = inputs.shape[self._layout.find("N")]
        return self.begin_state(batch_size, ctx=inputs.context, dtype=inputs.dtype)

    def _check_input(self, inputs: Any) -> None:
        width = self._reg_params["l0_i2h_weight"].shape[1]
        if len(inputs.shape) != 3 or (width > 0 and inputs.shape[2] != width):
            raise ValueError(
                f"{self.name}: {self!r}, given {dtype_name(inputs.dtype)} {inputs.shape}, expected three dimensions, {self._layout}"
                + (f" with C of {width}" if width > 0 else "")
            )

    def _check_states(self, inputs: Any, states: Any) -> None:
        expected = self.state_info(inputs.shape[self._layout.find("N")])
        if len(states) != len(expected):
            raise ValueError(f"{self.name}: given {len(states)} states, expected {len(expected)}")
        for state, info in zip(states, expected):
            if state.shape != info["shape"]:
                raise ValueError(f"{self.name}: given a state of shape {state.shape}, expected {info['shape']}")

    def hybrid_forward(  # type: ignore[override]
        self, F: Any, inputs: Any, states: Any, sequence_length: Any = None, **kwargs: Any
    ) -> Tuple[Any, List[Any]]:
        """(outputs, states) of a whole sequence, in the layer's layout."""
        if self._layout == "NTC":
            inputs = _swapped(F, inputs)
        weights = self._packed(F, kwargs)
        run = F.npx.rnn if is_np_array() else F.RNN
        # By its name: only an LSTM has an array before it, the states of cells.
        lengths = {"sequence_length": sequence_length} if self._use_sequence_length else {}
        if self._use_sequence_length and sequence_length is None:
            raise ValueError(f"{self.name}: given no sequence_length, expected one: use_sequence_length is True")
        low, high, no_nan = self._state_clip
        made = run(
            inputs,
            weights,
            *states,
            **lengths,
            use_sequence_length=self._use_sequence_length,
            state_size=self._hidden_size,
            projection_size=self._projection_size,
            num_layers=self._num_layers,
            bidirectional=self._dir == 2,
            p=self._dropout,
            state_outputs=True,
            mode=self._mode,
            lstm_state_clip_min=low,
            lstm_state_clip_max=high,
            lstm_state_clip_nan=no_nan,
        )
        outputs = _swapped(F, made[0]) if self._layout == "NTC" else made[0]
        return outputs, [made[1], made[2]] if self._mode == "lstm" else [made[1]]

    def _packed(self, F: Any, parameters: Dict[str, Any]) -> Any:
        """All weights, then all biases, as one vector."""
        matrices = ("i2h", "h2h", "h2r") if self._projection_size else ("i2h", "h2h")
        names = [
            f"{direction}{layer}_{matrix}_{kind}"
            for kind in ("weight", "bias")
            for layer in range(self._num_layers)
            for direction in "lr"[: self._dir]
            for matrix in matrices
            if (matrix, kind) != ("h2r", "bias")
        ]
        flat = [parameters[name].reshape(-1) for name in names]
        if is_np_array():
            return F.np._internal.rnn_param_concat(*flat, dim=0)
        return F._internal._rnn_param_concat(*flat, dim=0)


def _swapped(F: Any, x: Any) -> Any:
    return F.np.swapaxes(x, 0, 1) if is_np_array() else F.swapaxes(x, dim1=0, dim2=1)


class RNN(_RNNLayer):
    """Layers of simple cells, with relu or tanh. Data is (steps, batch, features), with layout "NTC" (batch, steps,
    features); without states the call returns outputs alone, else outputs and the last states. `dropout` is between
    layers."""

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        activation: str = "relu",
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        if activation not in ("relu", "tanh"):
            raise KeyError(f"given activation {activation!r}, expected relu or tanh")
        super().__init__(
            hidden_size, num_layers, layout, dropout, bidirectional, input_size, i2h_weight_initializer,
            h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, "rnn_" + activation, dtype=dtype, **kwargs,
        )

    def state_info(self, batch_size: int = 0) -> List[Dict[str, Any]]:
        """One state, (layers * directions, batch_size, hidden_size)."""
        return [self._state(batch_size, self._hidden_size)]


class LSTM(_RNNLayer):
    """Layers of long short-term memory; `projection_size` makes outputs smaller than the memory. Data is (steps, batch,
    features), with layout "NTC" (batch, steps, features); without states the call returns outputs alone, else outputs
    and the last states. `dropout` is between layers."""

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        input_size: int = 0,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        projection_size: Optional[int] = None,
        h2r_weight_initializer: Any = None,
        state_clip_min: Optional[float] = None,
        state_clip_max: Optional[float] = None,
        state_clip_nan: bool = False,
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            hidden_size, num_layers, layout, dropout, bidirectional, input_size, i2h_weight_initializer,
            h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, "lstm", projection_size,
            h2r_weight_initializer, state_clip_min, state_clip_max, state_clip_nan, dtype, **kwargs,
        )

    def state_info(self, batch_size: int = 0) -> List[Dict[str, Any]]:
        """Two states: the output, whose last axis is `projection_size` if that is set, and the memory."""
        hidden = self._projection_size or self._hidden_size
        return [self._state(batch_size, hidden), self._state(batch_size, self._hidden_size)]


class GRU(_RNNLayer):
    """Layers of gated recurrent units. Data is (steps, batch, features), with layout "NTC" (batch, steps, features);
    without states the call returns outputs alone, else outputs and the last states. `dropout` is between layers."""

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        input_size: int = 0,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        dtype: Any = "float32",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            hidden_size, num_layers, layout, dropout, bidirectional, input_size, i2h_weight_initializer,
            h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer, "gru", dtype=dtype, **kwargs,
        )

    def state_info(self, batch_size: int = 0) -> List[Dict[str, Any]]:
        """One state, (layers * directions, batch_size, hidden_size)."""
        return [self._state(batch_size, self._hidden_size)]
