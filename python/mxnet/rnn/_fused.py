# SPDX-License-Identifier: Apache-2.0
"""All layers and steps of a recurrent network as one operator, with one vector of parameters."""

from __future__ import annotations

import itertools
from typing import Any, Dict, Iterator, List, Optional, Tuple

from .. import symbol
from ..initializer import FusedRNN
from ._cells import BaseRNNCell, GRUCell, LSTMCell, RNNCell, RNNParams, as_one, as_steps
from ._modifiers import BidirectionalCell, DropoutCell, SequentialRNNCell

__all__ = ["FusedRNNCell"]

_GATES = {
    "rnn_relu": ("",),
    "rnn_tanh": ("",),
    "lstm": ("_i", "_f", "_c", "_o"),
    "gru": ("_r", "_z", "_o"),
}


class FusedRNNCell(BaseRNNCell):
    """The operator RNN as a cell that can only be unrolled; `unfuse` gives the same as single cells."""

    def __init__(
        self,
        num_hidden: int,
        num_layers: int = 1,
        mode: str = "lstm",
        bidirectional: bool = False,
        dropout: float = 0.0,
        get_next_state: bool = False,
        forget_bias: float = 1.0,
        prefix: Optional[str] = None,
        params: Optional[RNNParams] = None,
    ) -> None:
        if mode not in _GATES:
            raise ValueError(f"given mode {mode!r}, expected one of {', '.join(_GATES)}")
        super().__init__(prefix=f"{mode}_" if prefix is None else prefix, params=params)
        self._num_hidden = num_hidden
        self._num_layers = num_layers
        self._mode = mode
        self._bidirectional = bidirectional
        self._dropout = dropout
        self._get_next_state = get_next_state
        self._directions = ["l", "r"] if bidirectional else ["l"]
        init = FusedRNN(None, num_hidden, num_layers, mode, bidirectional, forget_bias)
        self._parameter = self.params.get("parameters", init=init)

    @property
    def state_info(self) -> List[Dict[str, Any]]:
        """Shape and layout of each state, of all layers and directions together."""
        layers = self._num_layers * len(self._directions)
        return [{"shape": (layers, 0, self._num_hidden), "__layout__": "LNC"} for _ in range(2 if self._mode == "lstm" else 1)]

    @property
    def _gate_names(self) -> Tuple[str, ...]:
        return _GATES[self._mode]

    @property
    def _num_gates(self) -> int:
        return len(self._gate_names)

    def _parts(self, num_input: int) -> Iterator[Tuple[str, Tuple[int, ...]]]:
        """Names and shapes of what the vector holds, in order: all weights, then all biases."""
        size, many = self._num_hidden, len(self._directions)
        order = (("weight", "bias"), range(self._num_layers), self._directions, ("i2h", "h2h"), self._gate_names)
        for kind, layer, direction, half, gate in itertools.product(*order):
            columns = size if half == "h2h" else num_input if layer == 0 else many * size
            yield f"{self._prefix}{direction}{layer}_{half}{gate}_{kind}", ((size, columns) if kind == "weight" else (size,))

    def _num_input(self, total: int) -> int:
        size, many, gates = self._num_hidden, len(self._directions), self._num_gates
        # total = many * gates * size * (num_input + size + 2 + (layers - 1) * ((many + 1) * size + 2))
        rest = total // (many * gates * size) - (self._num_layers - 1) * ((many + 1) * size + 2) - size - 2
        return rest

    def unpack_weights(self, args: Dict[str, Any]) -> Dict[str, Any]:
        """Returns the arguments with a matrix and a bias for each gate in place of the one vector."""
        args = args.copy()
        vector = args.pop(f"{self._prefix}parameters")
        begin = 0
        for name, shape in self._parts(self._num_input(vector.size)):
            count = shape[0] * (shape[1] if len(shape) > 1 else 1)
            args[name] = vector[begin : begin + count].reshape(shape).copy()
            begin += count
        if begin != vector.size:
            raise ValueError(f"given {vector.size} parameters, expected {begin} for this cell")
        return args

    def pack_weights(self, args: Dict[str, Any]) -> Dict[str, Any]:
        """Returns the arguments with one vector in place of the gates' matrices and biases."""
        from .. import ndarray as nd

        args = args.copy()
        first = args[f"{self._prefix}l0_i2h{self._gate_names[0]}_weight"]
        values = [args.pop(name).reshape((-1,)) for name, _ in self._parts(first.shape[1])]
        args[f"{self._prefix}parameters"] = nd.concatenate(values)
        return args

    def __call__(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        raise NotImplementedError("a FusedRNNCell has no single steps, expected unroll(), or unfuse() before")

    def unroll(
        self, length: int, inputs: Any, begin_state: Any = None, layout: str = "NTC", merge_outputs: Optional[bool] = None
    ) -> Tuple[Any, List[Any]]:
        """Runs the whole sequence by one operator; the arguments are those of BaseRNNCell.unroll."""
        self.reset()
        axis = layout.find("T")
        if axis not in (0, 1):
            raise ValueError(f"given layout {layout!r}, expected NTC or TNC")
        data = as_one(inputs, axis)
        if axis == 1:
            data = symbol.swapaxes(data, dim1=0, dim2=1)
        states = self.begin_state() if begin_state is None else begin_state
        named = {"state": states[0]}
        if self._mode == "lstm":
            named["state_cell"] = states[1]
        made = symbol.RNN(
            data=data,
            parameters=self._parameter,
            state_size=self._num_hidden,
            num_layers=self._num_layers,
            bidirectional=self._bidirectional,
            p=self._dropout,
            state_outputs=self._get_next_state,
            mode=self._mode,
            name=f"{self._prefix}rnn",
            **named,
        )
        if self._get_next_state:
            made._set_attr(__layout__="LNC")
        outputs: Any = made[0] if self._get_next_state else made
        new_states = [made[i] for i in range(1, len(made))] if self._get_next_state else []
        if axis == 1:
            outputs = symbol.swapaxes(outputs, dim1=0, dim2=1)
        if merge_outputs is False:
            outputs, _ = as_steps(length, outputs, layout)
        return outputs, new_states

    def unfuse(self) -> SequentialRNNCell:
        """The same as single cells; their weights are those of unpack_weights."""
        made = {
            "rnn_relu": lambda prefix: RNNCell(self._num_hidden, activation="relu", prefix=prefix),
            "rnn_tanh": lambda prefix: RNNCell(self._num_hidden, activation="tanh", prefix=prefix),
            "lstm": lambda prefix: LSTMCell(self._num_hidden, prefix=prefix),
            "gru": lambda prefix: GRUCell(self._num_hidden, prefix=prefix),
        }[self._mode]
        stack = SequentialRNNCell()
        for layer in range(self._num_layers):
            forward = made(f"{self._prefix}l{layer}_")
            if self._bidirectional:
                backward = made(f"{self._prefix}r{layer}_")
                stack.add(BidirectionalCell(forward, backward, output_prefix=f"{self._prefix}bi_l{layer}_"))
            else:
                stack.add(forward)
            if self._dropout > 0 and layer != self._num_layers - 1:
                stack.add(DropoutCell(self._dropout, prefix=f"{self._prefix}_dropout{layer}_"))
        return stack
