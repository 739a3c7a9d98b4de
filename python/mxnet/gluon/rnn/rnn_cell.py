# SPDX-License-Identifier: Apache-2.0
"""Recurrent cells: simple, LSTM and GRU ones, stacks of them, and cells that modify others."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

from ... import ndarray
from ...base import numeric_types, string_types  # noqa: F401  (programs find them here)
from ...util import is_np_array
from .._errors import MismatchError
from .._ops import op
from ..parameter import tensor_types  # noqa: F401
from ..utils import indented
from ._base_cell import (
    GatedCell,
    HybridRecurrentCell,
    RecurrentCell,
    activate,
    add,
    begin_states,
    check_not_modified,
    multiply,
    states_info,
    weights_of,
)
from ._modifiers import BidirectionalCell, DropoutCell, ModifierCell, ResidualCell, ZoneoutCell
from ._packages import (  # noqa: F401  (packages take them from here)
    _cells_begin_state,
    _cells_state_info,
    _format_sequence,
    _get_begin_state,
    _mask_sequence_variable_length,
    _reverse_sequences,
)
from ._sequence import formatted

__all__ = [
    "BidirectionalCell", "DropoutCell", "GRUCell", "HybridRecurrentCell", "HybridSequentialRNNCell", "LSTMCell", "ModifierCell",
    "RNNCell", "RecurrentCell", "ResidualCell", "SequentialRNNCell", "ZoneoutCell",
]

for _class in (BidirectionalCell, DropoutCell, HybridRecurrentCell, ModifierCell, RecurrentCell, ResidualCell, ZoneoutCell):
    _class.__module__ = __name__  # pickles of other versions look for it here


class RNNCell(GatedCell):
    """h' = activation(W x + b + R h + c)."""

    def __init__(
        self,
        hidden_size: int,
        activation: Any = "tanh",
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        prefix: Optional[str] = None,
        params: Any = None,
    ) -> None:
        weights = weights_of(
            hidden_size, 1, input_size, i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer,
            h2h_bias_initializer,
        )
        super().__init__(hidden_size, 1, input_size, weights, prefix, params)
        self._activation = activation

    def state_info(self, batch_size: int = 0) -> List[Dict[str, Any]]:
        """One state, the output: (batch_size, hidden_size)."""
        return [{"shape": (batch_size, self._hidden_size), "__layout__": "NC"}]

    def _alias(self) -> str:
        return "rnn"

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, {self._activation})"

    def hybrid_forward(
        self, F: Any, inputs: Any, states: Any, i2h_weight: Any, h2h_weight: Any, i2h_bias: Any, h2h_bias: Any
    ) -> Tuple[Any, List[Any]]:
        """One step: (output, [output]) of inputs (batch, size) and states."""
        prefix = f"t{self._counter}_"
        i2h, h2h = self._projected(F, inputs, states, (i2h_weight, h2h_weight, i2h_bias, h2h_bias), prefix)
        output = activate(F, add(F, i2h, h2h, prefix + "plus0"), self._activation, name=prefix + "out")
        return output, [output]


class LSTMCell(GatedCell):
    """Long short-term memory: gates for input, forgetting, candidate and output, in this order."""

    def __init__(
        self,
        hidden_size: int,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        prefix: Optional[str] = None,
        params: Any = None,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
    ) -> None:
        weights = weights_of(
            hidden_size, 4, input_size, i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer,
            h2h_bias_initializer,
        )
        super().__init__(hidden_size, 4, input_size, weights, prefix, params)
        self._activation = activation
        self._recurrent_activation = recurrent_activation

    def state_info(self, batch_size: int = 0) -> List[Dict[str, Any]]:
        """Two states of (batch_size, hidden_size): the output and the memory."""
        state = {"shape": (batch_size, self._hidden_size), "__layout__": "NC"}
        return [state, dict(state)]

    def _alias(self) -> str:
        return "lstm"

    def hybrid_forward(
        self, F: Any, inputs: Any, states: Any, i2h_weight: Any, h2h_weight: Any, i2h_bias: Any, h2h_bias: Any
    ) -> Tuple[Any, List[Any]]:
        """One step: (output, [output, memory]) of inputs (batch, size) and states."""
        prefix = f"t{self._counter}_"
        i2h, h2h = self._projected(F, inputs, states, (i2h_weight, h2h_weight, i2h_bias, h2h_bias), prefix)
        slices = split(F, add(F, i2h, h2h, prefix + "plus0"), 4, prefix + "slice")
        in_gate = activate(F, slices[0], self._recurrent_activation, name=prefix + "i")
        forget_gate = activate(F, slices[1], self._recurrent_activation, name=prefix + "f")
        candidate = activate(F, slices[2], self._activation, name=prefix + "c")
        out_gate = activate(F, slices[3], self._recurrent_activation, name=prefix + "o")
        kept = multiply(F, forget_gate, states[1], prefix + "mul0")
        cell = add(F, kept, multiply(F, in_gate, candidate, prefix + "mul1"), prefix + "state")
        if isinstance(self._activation, str):
            squashed = op(F, "Activation")(cell, act_type=self._activation, name=prefix + "activation0")
        else:
            squashed = activate(F, cell, self._activation)
        output = multiply(F, out_gate, squashed, prefix + "out")
        return output, [output, cell]


class GRUCell(GatedCell):
    """Gated recurrent unit: gates for reset, update and candidate, in this order (cuDNN's variant)."""

    def __init__(
        self,
        hidden_size: int,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        prefix: Optional[str] = None,
        params: Any = None,
    ) -> None:
        weights = weights_of(
            hidden_size, 3, input_size, i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer,
            h2h_bias_initializer,
        )
        super().__init__(hidden_size, 3, input_size, weights, prefix, params)

    def state_info(self, batch_size: int = 0) -> List[Dict[str, Any]]:
        """One state, the output: (batch_size, hidden_size)."""
        return [{"shape": (batch_size, self._hidden_size), "__layout__": "NC"}]

    def _alias(self) -> str:
        return "gru"

    def hybrid_forward(
        self, F: Any, inputs: Any, states: Any, i2h_weight: Any, h2h_weight: Any, i2h_bias: Any, h2h_bias: Any
    ) -> Tuple[Any, List[Any]]:
        """One step: (output, [output]) of inputs (batch, size) and states."""
        prefix = f"t{self._counter}_"
        i2h, h2h = self._projected(F, inputs, states, (i2h_weight, h2h_weight, i2h_bias, h2h_bias), prefix)
        i2h_r, i2h_z, i2h_n = split(F, i2h, 3, prefix + "i2h_slice")
        h2h_r, h2h_z, h2h_n = split(F, h2h, 3, prefix + "h2h_slice")
        sigmoid = op(F, "Activation")
        reset_gate = sigmoid(add(F, i2h_r, h2h_r, prefix + "plus0"), act_type="sigmoid", name=prefix + "r_act")
        update_gate = sigmoid(add(F, i2h_z, h2h_z, prefix + "plus1"), act_type="sigmoid", name=prefix + "z_act")
        remembered = multiply(F, reset_gate, h2h_n, prefix + "mul0")
        candidate = op(F, "Activation")(add(F, i2h_n, remembered, prefix + "plus2"), act_type="tanh", name=prefix + "h_act")
        new = multiply(F, complement(F, update_gate, prefix), candidate, prefix + "mul1")
        output = add(F, new, multiply(F, update_gate, states[0], prefix + "mul20"), prefix + "out")
        return output, [output]


def complement(F: Any, x: Any, prefix: str) -> Any:
    """1 - x; in a graph by the nodes that files of the release have."""
    if F is ndarray or is_np_array():
        return 1.0 - x
    return F.elemwise_sub(F.ones_like(x, name=prefix + "ones_like0"), x, name=prefix + "minus0")


def split(F: Any, x: Any, parts: int, name: str, **axis: int) -> Any:
    """Equal parts of an array along an axis, 1 unless another is given."""
    if is_np_array():
        return F.np.split(x, parts, **{"axis": 1, **axis})
    return F.SliceChannel(x, num_outputs=parts, name=name, **axis)


class _Stack:
    """What SequentialRNNCell and HybridSequentialRNNCell have in common."""

    _children: Any
    _counter: int
    _modified: bool

    def __repr__(self) -> str:
        lines = "\n".join(f"({name}): {indented(repr(cell))}" for name, cell in self._children.items())
        return f"{type(self).__name__}(\n{lines}\n)"

    def add(self, cell: Any) -> None:
        """Puts a cell on top."""
        self.register_child(cell)  # type: ignore[attr-defined]

    def state_info(self, batch_size: int = 0) -> List[Dict[str, Any]]:
        """The states of all cells."""
        return states_info(self._children.values(), batch_size)

    def begin_state(self, **kwargs: Any) -> List[Any]:
        """First states of all cells."""
        check_not_modified(self)
        return begin_states(self._children.values(), **kwargs)

    def __call__(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        self._counter += 1
        return self._step(inputs, states)

    def _step(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        next_states: List[Any] = []
        at = 0
        for cell in self._children.values():
            count = len(cell.state_info())
            inputs, made = cell(inputs, states[at : at + count])
            at += count
            next_states += made
        return inputs, next_states

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: Optional[bool] = None,
        valid_length: Any = None,
    ) -> Tuple[Any, List[Any]]:
        """Runs the cells one after the other, each over the whole sequence."""
        self.reset()  # type: ignore[attr-defined]
        inputs, _, F, batch_size = formatted(length, inputs, layout, None)
        begin_state = self._states_for(F, begin_state, inputs, batch_size)  # type: ignore[attr-defined]
        states: List[Any] = []
        at = 0
        cells = list(self._children.values())
        for i, cell in enumerate(cells):
            count = len(cell.state_info())
            merge = merge_outputs if i == len(cells) - 1 else None
            inputs, made = cell.unroll(
                length, inputs, begin_state[at : at + count], layout, merge_outputs=merge, valid_length=valid_length
            )
            at += count
            states += made
        return inputs, states

    def __getitem__(self, i: int) -> Any:
        return list(self._children.values())[i]

    def __len__(self) -> int:
        return len(self._children)


class SequentialRNNCell(_Stack, RecurrentCell):  # type: ignore[misc]
    """Cells on top of each other."""

    def hybrid_forward(self, *args: Any, **kwargs: Any) -> Any:
        """Not used: SequentialRNNCell is no HybridBlock."""
        raise NotImplementedError("SequentialRNNCell is no HybridBlock; HybridSequentialRNNCell is")


class HybridSequentialRNNCell(_Stack, HybridRecurrentCell):  # type: ignore[misc]
    """Cells on top of each other; hybridized they are one graph."""

    def __call__(self, inputs: Any, states: Any) -> Any:
        self._counter += 1
        return HybridRecurrentCell.__call__(self, inputs, states)

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Any:
        """One step of each cell, on the output of the one below: (output, states of all cells)."""
        return self._step(inputs, states)
