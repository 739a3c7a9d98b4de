# SPDX-License-Identifier: Apache-2.0
"""Recurrent cells on symbols: one step, many steps, and their weights by gate."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

from .. import symbol
from ..initializer import LSTMBias
from ..symbol import _internal as _op

__all__ = ["BaseRNNCell", "GRUCell", "LSTMCell", "RNNCell", "RNNParams"]


class RNNParams:
    """Variables by name, made when they are first asked for: cells that have one object share weights."""

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self._params: Dict[str, Any] = {}

    def get(self, name: str, **kwargs: Any) -> Any:
        """The variable of that name, behind the prefix."""
        name = self._prefix + name
        if name not in self._params:
            self._params[name] = symbol.Variable(name, **kwargs)
        return self._params[name]


def as_steps(length: int, inputs: Any, layout: str) -> Tuple[List[Any], int]:
    """Inputs as a list with one per step, and the axis of time."""
    axis = layout.find("T")
    if isinstance(inputs, symbol.Symbol):
        if len(inputs) != 1:
            raise ValueError(f"given a symbol of {len(inputs)} outputs, expected one, or a list of steps")
        squeeze: Any = 1  # the number, not True: as it stands in files of the release
        return list(symbol.split(inputs, axis=axis, num_outputs=length, squeeze_axis=squeeze)), axis
    if len(inputs) != length:
        raise ValueError(f"given {len(inputs)} inputs, expected {length}, one for each step")
    return list(inputs), axis


def as_one(inputs: Any, axis: int) -> Any:
    """Steps as one symbol, along the axis of time."""
    if isinstance(inputs, symbol.Symbol):
        return inputs
    return symbol.Concat(*[symbol.expand_dims(step, axis=axis) for step in inputs], dim=axis)


class BaseRNNCell:
    """The base. A cell is called with (input, states) and gives (output, new states)."""

    def __init__(self, prefix: str = "", params: Optional[RNNParams] = None) -> None:
        self._own_params = params is None
        self._prefix = prefix
        self._params = RNNParams(prefix) if params is None else params
        self._modified = False
        self.reset()

    def reset(self) -> None:
        """Before another sequence of steps is built: names start anew."""
        self._init_counter = -1
        self._counter = -1
        for cell in getattr(self, "_cells", []):
            cell.reset()

    def __call__(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        """One step."""
        raise NotImplementedError(f"{type(self).__name__} has no __call__(inputs, states)")

    @property
    def params(self) -> RNNParams:
        """The variables, to be shared with other cells."""
        self._own_params = False
        return self._params

    @property
    def state_info(self) -> List[Dict[str, Any]]:
        """Shape and layout of each state."""
        raise NotImplementedError(f"{type(self).__name__} has no state_info")

    @property
    def state_shape(self) -> List[Any]:
        """The shape of each state."""
        return [info["shape"] for info in self.state_info]

    @property
    def _gate_names(self) -> Tuple[str, ...]:
        return ()

    def begin_state(self, func: Any = symbol.zeros, **kwargs: Any) -> List[Any]:
        """States for the first step, made by `func(name=..., shape=...)`."""
        if self._modified:
            raise RuntimeError("the cell is inside of another one: call begin_state of that")
        states = []
        for info in self.state_info:
            self._init_counter += 1
            given = {**(info or {}), **kwargs}
            states.append(func(name=f"{self._prefix}begin_state_{self._init_counter}", **given))
        return states

    def _halves(self) -> Tuple[str, str]:
        return f"{self._prefix}i2h", f"{self._prefix}h2h"

    def unpack_weights(self, args: Dict[str, Any]) -> Dict[str, Any]:
        """Weights by gate, from those of all gates together."""
        args = args.copy()
        if not self._gate_names:
            return args
        size = self._num_hidden  # type: ignore[attr-defined]
        for half in self._halves():
            weight, bias = args.pop(f"{half}_weight"), args.pop(f"{half}_bias")
            for i, gate in enumerate(self._gate_names):
                args[f"{half}{gate}_weight"] = weight[i * size : (i + 1) * size].copy()
                args[f"{half}{gate}_bias"] = bias[i * size : (i + 1) * size].copy()
        return args

    def pack_weights(self, args: Dict[str, Any]) -> Dict[str, Any]:
        """Weights of all gates together, from those by gate."""
        from .. import ndarray as nd

        args = args.copy()
        if not self._gate_names:
            return args
        for half in self._halves():
            weights = [args.pop(f"{half}{gate}_weight") for gate in self._gate_names]
            biases = [args.pop(f"{half}{gate}_bias") for gate in self._gate_names]
            args[f"{half}_weight"] = nd.concatenate(weights)
            args[f"{half}_bias"] = nd.concatenate(biases)
        return args

    def unroll(
        self, length: int, inputs: Any, begin_state: Any = None, layout: str = "NTC", merge_outputs: Optional[bool] = None
    ) -> Tuple[Any, List[Any]]:
        """Outputs and states of `length` steps. `merge_outputs`: outputs as one symbol (None: as it comes)."""
        self.reset()
        steps, axis = as_steps(length, inputs, layout)
        states = self.begin_state() if begin_state is None else begin_state
        outputs = []
        for step in steps:
            output, states = self(step, states)
            outputs.append(output)
        return (as_one(outputs, axis) if merge_outputs else outputs), states

    def _get_activation(self, inputs: Any, activation: Any, **kwargs: Any) -> Any:
        if isinstance(activation, str):
            return symbol.Activation(inputs, act_type=activation, **kwargs)
        return activation(inputs, **kwargs)

    def _step_name(self) -> str:
        self._counter += 1
        return f"{self._prefix}t{self._counter}_"


class _DenseCell(BaseRNNCell):
    """A cell with two matrices: of the input and of the state before."""

    def __init__(self, num_hidden: int, prefix: str, params: Optional[RNNParams], bias_init: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self._num_hidden = num_hidden
        self._iW = self.params.get("i2h_weight")
        self._iB = self.params.get("i2h_bias", **({} if bias_init is None else {"init": bias_init}))
        self._hW = self.params.get("h2h_weight")
        self._hB = self.params.get("h2h_bias")

    @property
    def state_info(self) -> List[Dict[str, Any]]:
        """Shape and layout of each state; the batch is 0."""
        return [{"shape": (0, self._num_hidden), "__layout__": "NC"}]

    def _products(self, inputs: Any, state: Any, name: str) -> Tuple[Any, Any]:
        size = self._num_hidden * max(len(self._gate_names), 1)
        i2h = symbol.FullyConnected(data=inputs, weight=self._iW, bias=self._iB, num_hidden=size, name=f"{name}i2h")
        h2h = symbol.FullyConnected(data=state, weight=self._hW, bias=self._hB, num_hidden=size, name=f"{name}h2h")
        return i2h, h2h


class RNNCell(_DenseCell):
    """act(W x + R h + b)."""

    def __init__(self, num_hidden: int, activation: Any = "tanh", prefix: str = "rnn_", params: Optional[RNNParams] = None) -> None:
        super().__init__(num_hidden, prefix, params)
        self._activation = activation

    @property
    def _gate_names(self) -> Tuple[str, ...]:
        return ("",)

    def __call__(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        name = self._step_name()
        i2h, h2h = self._products(inputs, states[0], name)
        output = self._get_activation(i2h + h2h, self._activation, name=f"{name}out")
        return output, [output]


class LSTMCell(_DenseCell):
    """Long short-term memory; the bias of the forget gate starts at `forget_bias`."""

    def __init__(self, num_hidden: int, prefix: str = "lstm_", params: Optional[RNNParams] = None, forget_bias: float = 1.0) -> None:
        super().__init__(num_hidden, prefix, params, bias_init=LSTMBias(forget_bias=forget_bias))

    @property
    def state_info(self) -> List[Dict[str, Any]]:
        """Shape and layout of each state; the batch is 0."""
        return super().state_info * 2

    @property
    def _gate_names(self) -> Tuple[str, ...]:
        return ("_i", "_f", "_c", "_o")

    def __call__(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        name = self._step_name()
        i2h, h2h = self._products(inputs, states[0], name)
        parts = symbol.SliceChannel(i2h + h2h, num_outputs=4, name=f"{name}slice")
        in_gate = symbol.Activation(parts[0], act_type="sigmoid", name=f"{name}i")
        forget_gate = symbol.Activation(parts[1], act_type="sigmoid", name=f"{name}f")
        change = symbol.Activation(parts[2], act_type="tanh", name=f"{name}c")
        out_gate = symbol.Activation(parts[3], act_type="sigmoid", name=f"{name}o")
        memory = _op._plus(forget_gate * states[1], in_gate * change, name=f"{name}state")
        output = _op._mul(out_gate, symbol.Activation(memory, act_type="tanh"), name=f"{name}out")
        return output, [output, memory]


class GRUCell(_DenseCell):
    """Gated recurrent unit."""

    def __init__(self, num_hidden: int, prefix: str = "gru_", params: Optional[RNNParams] = None) -> None:
        super().__init__(num_hidden, prefix, params)

    @property
    def _gate_names(self) -> Tuple[str, ...]:
        return ("_r", "_z", "_o")

    def __call__(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        name = self._step_name()
        inner = f"{name}_"  # with two underscores, as in the files of the release
        before = states[0]
        i2h, h2h = self._products(inputs, before, inner)
        of_input = symbol.SliceChannel(i2h, num_outputs=3, name=f"{inner}i2h_slice")
        of_state = symbol.SliceChannel(h2h, num_outputs=3, name=f"{inner}h2h_slice")
        reset = symbol.Activation(of_input[0] + of_state[0], act_type="sigmoid", name=f"{inner}r_act")
        update = symbol.Activation(of_input[1] + of_state[1], act_type="sigmoid", name=f"{inner}z_act")
        new = symbol.Activation(of_input[2] + reset * of_state[2], act_type="tanh", name=f"{inner}h_act")
        output = _op._plus((1.0 - update) * new, update * before, name=f"{name}out")
        return output, [output]
