# SPDX-License-Identifier: Apache-2.0
"""Dropout with one mask for a whole sequence, LSTM with a projection, unrolling in one operator."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

from ....ndarray import NDArray
from ....util import is_np_array
from ..._errors import MismatchError
from ..._ops import op
from ...parameter import tensor_types
from ...rnn import BidirectionalCell, HybridRecurrentCell, ModifierCell, SequentialRNNCell
from ...rnn._base_cell import add, multiply, weights_of
from ...rnn._sequence import axes_of, formatted, kind_of
from ...rnn.rnn_cell import split

__all__ = ["LSTMPCell", "VariationalDropoutCell"]


class VariationalDropoutCell(ModifierCell):
    """Dropout of inputs, first states and outputs, with masks that stay the same until reset()."""

    def __init__(
        self, base_cell: Any, drop_inputs: float = 0.0, drop_states: float = 0.0, drop_outputs: float = 0.0
    ) -> None:
        if drop_states and isinstance(base_cell, BidirectionalCell):
            raise MismatchError("given a BidirectionalCell with drop_states, expected the cells inside to be wrapped")
        if drop_states and isinstance(base_cell, SequentialRNNCell) and any(
            isinstance(cell, BidirectionalCell) for cell in base_cell._children.values()
        ):
            raise MismatchError("given a stack with a BidirectionalCell and drop_states, expected its cells to be wrapped")
        super().__init__(base_cell)
        self.drop_inputs = drop_inputs
        self.drop_states = drop_states
        self.drop_outputs = drop_outputs
        self._masks: Dict[str, Any] = {}

    def _alias(self) -> str:
        return "vardrop"

    def reset(self) -> None:
        """Starts another sequence, for which other masks are drawn."""
        super().reset()
        self._masks = {}

    def _remembers(self) -> bool:
        return any((self.drop_inputs, self.drop_states, self.drop_outputs)) or super()._remembers()

    def _dropped(self, F: Any, x: Any, rate: float, what: str) -> Any:
        if not rate:
            return x
        if what not in self._masks:
            self._masks[what] = op(F, "Dropout")(op(F, "ones_like")(x), p=rate)
        return x * self._masks[what]

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Tuple[Any, Any]:
        """One step of the base cell, with the masks of this sequence on inputs, first state and output."""
        if self.drop_states:
            states = [self._dropped(F, states[0], self.drop_states, "states"), *states[1:]]
        inputs = self._dropped(F, inputs, self.drop_inputs, "inputs")
        output, states = self.base_cell(inputs, states)
        return self._dropped(F, output, self.drop_outputs, "outputs"), states

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p_out = {self.drop_outputs}, p_state = {self.drop_states})"

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: Optional[bool] = None,
        valid_length: Any = None,
    ) -> Tuple[Any, Any]:
        """Runs `length` steps. Without dropout of states whole sequences are dropped from at once."""
        if self.drop_states:
            return super().unroll(length, inputs, begin_state, layout, merge_outputs, valid_length)
        self.reset()
        inputs, axis, F, _ = formatted(length, inputs, layout, True)
        if self.drop_inputs:
            inputs = op(F, "Dropout")(inputs, p=self.drop_inputs, axes=(axis,))
        merge_inside = True if merge_outputs is None or self.drop_outputs else merge_outputs
        with self._opened() as base_cell:
            outputs, states = base_cell.unroll(length, inputs, begin_state, layout, merge_inside, valid_length)
        if self.drop_outputs:
            outputs = op(F, "Dropout")(outputs, p=self.drop_outputs, axes=(axis,))
        merge_outputs = isinstance(outputs, tensor_types) if merge_outputs is None else merge_outputs
        return formatted(length, outputs, layout, merge_outputs)[0], states


class LSTMPCell(HybridRecurrentCell):
    """LSTM whose output is projected to fewer numbers, which are fed back."""

    def __init__(
        self,
        hidden_size: int,
        projection_size: int,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        h2r_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        prefix: Optional[str] = None,
        params: Any = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self._hidden_size = hidden_size
        self._input_size = input_size
        self._projection_size = projection_size
        weights = weights_of(
            hidden_size, 4, input_size, i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer,
            h2h_bias_initializer,
        )
        weights["h2h_weight"] = ((4 * hidden_size, projection_size), h2h_weight_initializer)
        weights["h2r_weight"] = ((projection_size, hidden_size), h2r_weight_initializer)
        for name in ("i2h_weight", "h2h_weight", "h2r_weight", "i2h_bias", "h2h_bias"):
            shape, init = weights[name]
            setattr(self, name, self.params.get(name, shape=shape, init=init, allow_deferred_init=True))

    def state_info(self, batch_size: int = 0) -> List[Dict[str, Any]]:
        """Two states: the projected output, (batch_size, projection_size), and the memory, (batch_size,
        hidden_size).
        """
        return [
            {"shape": (batch_size, self._projection_size), "__layout__": "NC"},
            {"shape": (batch_size, self._hidden_size), "__layout__": "NC"},
        ]

    def _alias(self) -> str:
        return "lstmp"

    def __repr__(self) -> str:
        weights: Any = self
        shape = weights.i2h_weight.shape
        return f"{type(self).__name__}({shape[1] or None} -> {shape[0]} -> {weights.h2r_weight.shape[0]})"

    def hybrid_forward(
        self,
        F: Any,
        inputs: Any,
        states: Any,
        i2h_weight: Any,
        h2h_weight: Any,
        h2r_weight: Any,
        i2h_bias: Any,
        h2h_bias: Any,
    ) -> Tuple[Any, List[Any]]:
        """One step: (projected output, [projected output, memory]) of inputs (batch, size) and states."""
        prefix = f"t{self._counter}_"
        dense, activation, units = op(F, "FullyConnected"), op(F, "Activation"), 4 * self._hidden_size
        i2h = dense(data=inputs, weight=i2h_weight, bias=i2h_bias, num_hidden=units, name=prefix + "i2h")
        h2h = dense(data=states[0], weight=h2h_weight, bias=h2h_bias, num_hidden=units, name=prefix + "h2h")
        slices = split(F, i2h + h2h, 4, prefix + "slice")
        in_gate = activation(slices[0], act_type="sigmoid", name=prefix + "i")
        forget_gate = activation(slices[1], act_type="sigmoid", name=prefix + "f")
        candidate = activation(slices[2], act_type="tanh", name=prefix + "c")
        out_gate = activation(slices[3], act_type="sigmoid", name=prefix + "o")
        kept = forget_gate * states[1]
        cell = add(F, kept, in_gate * candidate, prefix + "state")
        hidden = multiply(F, out_gate, activation(cell, act_type="tanh"), prefix + "hidden")
        output = dense(
            data=hidden, weight=h2r_weight, num_hidden=self._projection_size, no_bias=True, name=prefix + "out"
        )
        return output, [output, cell]


def dynamic_unroll(
    cell: Any,
    inputs: Any,
    begin_state: Any,
    drop_inputs: float = 0,
    drop_outputs: float = 0,
    layout: str = "TNC",
    valid_length: Any = None,
) -> Tuple[Any, Any]:
    """Runs a cell over a sequence with the operator foreach: graphs stay small, lengths may differ."""
    time, _ = axes_of(layout)
    F = kind_of(inputs)
    if drop_inputs:
        inputs = op(F, "Dropout")(inputs, p=drop_inputs, axes=(time,))
    if time != 0:
        inputs = op(F, "swapaxes")(inputs, 0, time)
    contrib = F.npx if is_np_array() else F.contrib
    if valid_length is None:
        outputs, states = contrib.foreach(cell, inputs, begin_state)
    else:
        outputs, states = _masked_foreach(F, contrib, cell, inputs, begin_state, valid_length)
    if drop_outputs:
        outputs = op(F, "Dropout")(outputs, p=drop_outputs, axes=(0,))
    if time != 0:
        outputs = op(F, "swapaxes")(outputs, 0, time)
    return outputs, states


def _masked_foreach(F: Any, contrib: Any, cell: Any, inputs: Any, begin_state: Any, valid_length: Any) -> Tuple[Any, Any]:
    """As foreach; a sample whose end is reached keeps its states, and its outputs are zeros."""
    single = isinstance(begin_state, tensor_types)
    first = [begin_state] if single else list(begin_state)
    start = F.np.zeros((1,)) if is_np_array() else F.zeros((1,))
    if isinstance(inputs, NDArray):
        start = start.as_in_context(inputs.context)

    def step(row: Any, loop_states: Any) -> Tuple[Any, Any]:
        *states, at = loop_states
        output, made = cell(row, states[0] if single else states)
        going = _less(F, at, valid_length)
        made = [made] if single else made
        kept = [_where(F, going, new, old) for new, old in zip(made, states)]
        return _where(F, going, output, op(F, "zeros_like")(output)), [*kept, at + 1]

    outputs, states = contrib.foreach(step, inputs, [*first, start])
    return outputs, states[0] if single else list(states[:-1])


def _less(F: Any, at: Any, valid_length: Any) -> Any:
    return at < valid_length if is_np_array() else F.broadcast_lesser(at, valid_length)


def _where(F: Any, condition: Any, x: Any, y: Any) -> Any:
    """Rows of x where the condition of the sample holds, else of y."""
    if is_np_array():
        return F.np.where(F.np.expand_dims(condition, -1), x, y)
    return F.where(condition, x, y)
