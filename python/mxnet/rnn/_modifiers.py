# SPDX-License-Identifier: Apache-2.0
"""Cells made of cells: stacks, both directions, dropout, zoneout, residual connections."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

from .. import symbol
from ._cells import BaseRNNCell, RNNParams, as_one, as_steps
from ._packages import _cells_begin_state, _cells_pack_weights, _cells_state_info, _cells_unpack_weights

__all__ = ["BidirectionalCell", "DropoutCell", "ModifierCell", "ResidualCell", "SequentialRNNCell", "ZoneoutCell"]


class _Group(BaseRNNCell):
    """Several cells with their states one after the other."""

    _cells: List[Any]

    @property
    def state_info(self) -> List[Dict[str, Any]]:
        """The states of all cells."""
        return _cells_state_info(self._cells)

    def begin_state(self, **kwargs: Any) -> List[Any]:  # type: ignore[override]
        """First states of all cells."""
        if self._modified:
            raise RuntimeError("the cell is inside of another one: call begin_state of that")
        return _cells_begin_state(self._cells, **kwargs)

    def unpack_weights(self, args: Dict[str, Any]) -> Dict[str, Any]:
        """Returns the arguments with those of each gate apart, of all cells."""
        return _cells_unpack_weights(self._cells, args)

    def pack_weights(self, args: Dict[str, Any]) -> Dict[str, Any]:
        """Returns the arguments with those of the gates joined, of all cells."""
        return _cells_pack_weights(self._cells, args)


class SequentialRNNCell(_Group):
    """Cells on top of each other."""

    def __init__(self, params: Optional[RNNParams] = None) -> None:
        self._cells = []
        super().__init__(prefix="", params=params)
        self._override_cell_params = params is not None

    def add(self, cell: BaseRNNCell) -> None:
        """One more cell on top."""
        self._cells.append(cell)
        if self._override_cell_params:
            if not cell._own_params:
                raise ValueError("given params for the stack and for the cell, expected them for one of the two")
            cell.params._params.update(self.params._params)
        self.params._params.update(cell.params._params)

    def __call__(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        self._counter += 1
        new_states: List[Any] = []
        place = 0
        for cell in self._cells:
            count = len(cell.state_info)
            inputs, own = cell(inputs, states[place : place + count])
            place += count
            new_states.extend(own)
        return inputs, new_states

    def unroll(
        self, length: int, inputs: Any, begin_state: Any = None, layout: str = "NTC", merge_outputs: Optional[bool] = None
    ) -> Tuple[Any, List[Any]]:
        """Runs the cells one after the other, each over the whole sequence."""
        self.reset()
        states = self.begin_state() if begin_state is None else begin_state
        new_states: List[Any] = []
        place = 0
        for i, cell in enumerate(self._cells):
            count = len(cell.state_info)
            inputs, own = cell.unroll(
                length,
                inputs=inputs,
                begin_state=states[place : place + count],
                layout=layout,
                merge_outputs=None if i < len(self._cells) - 1 else merge_outputs,
            )
            place += count
            new_states.extend(own)
        return inputs, new_states


class BidirectionalCell(_Group):
    """A cell from the first step to the last and one from the last to the first, side by side."""

    def __init__(self, l_cell: BaseRNNCell, r_cell: BaseRNNCell, params: Optional[RNNParams] = None, output_prefix: str = "bi_") -> None:
        self._cells = [l_cell, r_cell]
        super().__init__("", params=params)
        self._output_prefix = output_prefix
        self._override_cell_params = params is not None
        for cell in self._cells:
            if self._override_cell_params:
                if not cell._own_params:
                    raise ValueError("given params for both cells and for one, expected them for one of the two")
                cell.params._params.update(self.params._params)
            self.params._params.update(cell.params._params)

    def __call__(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        raise NotImplementedError("a BidirectionalCell has no single steps, expected unroll()")

    def unroll(
        self, length: int, inputs: Any, begin_state: Any = None, layout: str = "NTC", merge_outputs: Optional[bool] = None
    ) -> Tuple[Any, List[Any]]:
        """Runs one cell over the sequence and the other over it backwards, and joins their outputs."""
        self.reset()
        steps, axis = as_steps(length, inputs, layout)
        states = self.begin_state() if begin_state is None else begin_state
        left, right = self._cells
        count = len(left.state_info)
        forward, l_states = left.unroll(length, steps, states[:count], layout, merge_outputs)
        backward, r_states = right.unroll(length, steps[::-1], states[count:], layout, merge_outputs)
        if merge_outputs is None:
            merge_outputs = isinstance(forward, symbol.Symbol) and isinstance(backward, symbol.Symbol)
        if merge_outputs:
            forward, backward = as_one(forward, axis), as_one(backward, axis)
            turned = symbol.reverse(backward, axis=axis)
            return symbol.Concat(forward, turned, dim=2, name=f"{self._output_prefix}out"), [l_states, r_states]
        forward = as_steps(length, forward, layout)[0]
        backward = as_steps(length, backward, layout)[0]
        outputs = [
            symbol.Concat(one, other, dim=1, name=f"{self._output_prefix}t{i}")
            for i, (one, other) in enumerate(zip(forward, reversed(backward)))
        ]
        return outputs, [l_states, r_states]


class DropoutCell(BaseRNNCell):
    """Dropout of the input."""

    def __init__(self, dropout: float, prefix: str = "dropout_", params: Optional[RNNParams] = None) -> None:
        super().__init__(prefix, params)
        if not isinstance(dropout, (int, float)):
            raise TypeError(f"given dropout of type {type(dropout).__name__}, expected a number")
        self.dropout = dropout

    @property
    def state_info(self) -> List[Dict[str, Any]]:
        """[]: there are no states."""
        return []

    def __call__(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        return (symbol.Dropout(data=inputs, p=self.dropout) if self.dropout > 0 else inputs), states

    def unroll(
        self, length: int, inputs: Any, begin_state: Any = None, layout: str = "NTC", merge_outputs: Optional[bool] = None
    ) -> Tuple[Any, List[Any]]:
        """Drops from the whole sequence at once if it is one array."""
        self.reset()
        if isinstance(inputs, symbol.Symbol) and merge_outputs is not False:
            return self(inputs, [])  # all steps at once
        if merge_outputs and not isinstance(inputs, symbol.Symbol):
            return self(as_one(inputs, layout.find("T")), [])
        return super().unroll(length, inputs, begin_state=begin_state, layout=layout, merge_outputs=merge_outputs)


class ModifierCell(BaseRNNCell):
    """The base of cells that change what another one does. Parameters and states are those of that one."""

    def __init__(self, base_cell: BaseRNNCell) -> None:
        base_cell._modified = True
        self.base_cell = base_cell
        super().__init__()

    @property
    def params(self) -> RNNParams:
        """The base cell's parameters."""
        self._own_params = False
        return self.base_cell.params

    @property
    def state_info(self) -> List[Dict[str, Any]]:
        """The base cell's states."""
        return self.base_cell.state_info

    def begin_state(self, init_sym: Any = symbol.zeros, **kwargs: Any) -> List[Any]:  # type: ignore[override]
        """The base cell's first states."""
        if self._modified:
            raise RuntimeError("the cell is inside of another one: call begin_state of that")
        func = kwargs.pop("func", init_sym)
        self.base_cell._modified = False
        try:
            return self.base_cell.begin_state(func=func, **kwargs)
        finally:
            self.base_cell._modified = True

    def reset(self) -> None:
        """Starts another graph, with the base cell too."""
        super().reset()
        self.base_cell.reset()

    def unpack_weights(self, args: Dict[str, Any]) -> Dict[str, Any]:
        """Returns the arguments with those of each gate apart, as the base cell does it."""
        return self.base_cell.unpack_weights(args)

    def pack_weights(self, args: Dict[str, Any]) -> Dict[str, Any]:
        """Returns the arguments with those of the gates joined, as the base cell does it."""
        return self.base_cell.pack_weights(args)


class ZoneoutCell(ModifierCell):
    """Keeps, at random, elements of outputs and states as they were one step before."""

    def __init__(self, base_cell: BaseRNNCell, zoneout_outputs: float = 0.0, zoneout_states: float = 0.0) -> None:
        if type(base_cell).__name__ == "FusedRNNCell":
            raise TypeError("given a FusedRNNCell, expected single cells: unfuse() gives them")
        if isinstance(base_cell, BidirectionalCell):
            raise TypeError("given a BidirectionalCell, expected zoneout on the cells inside of it")
        self.prev_output: Any = None
        super().__init__(base_cell)
        self.zoneout_outputs = zoneout_outputs
        self.zoneout_states = zoneout_states

    def reset(self) -> None:
        """Starts another graph: the first step has no output before it."""
        super().reset()
        self.prev_output = None

    def __call__(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        next_output, next_states = self.base_cell(inputs, states)

        def mask(p: float, like: Any) -> Any:
            return symbol.Dropout(symbol.ones_like(like), p=p)

        before = self.prev_output if self.prev_output is not None else symbol.zeros((0, 0))
        output = next_output
        if self.zoneout_outputs != 0.0:
            output = symbol.where(mask(self.zoneout_outputs, next_output), next_output, before)
        if self.zoneout_states != 0.0:
            next_states = [symbol.where(mask(self.zoneout_states, new), new, old) for new, old in zip(next_states, states)]
        self.prev_output = output
        return output, next_states


def _with_residual(output: Any, inputs: Any) -> Any:
    return symbol.elemwise_add(output, inputs, name=f"{output.name}_plus_residual")


class ResidualCell(ModifierCell):
    """Adds the input to the output."""

    def __init__(self, base_cell: BaseRNNCell) -> None:
        super().__init__(base_cell)

    def __call__(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        output, states = self.base_cell(inputs, states)
        return _with_residual(output, inputs), states

    def unroll(
        self, length: int, inputs: Any, begin_state: Any = None, layout: str = "NTC", merge_outputs: Optional[bool] = None
    ) -> Tuple[Any, List[Any]]:
        """Runs the base cell over the sequence, then adds the inputs."""
        self.reset()
        states = self.begin_state() if begin_state is None else begin_state
        outputs, states = self.base_cell.unroll(length, inputs, states, layout, merge_outputs)
        if isinstance(outputs, symbol.Symbol) if merge_outputs is None else merge_outputs:
            whole = as_one(inputs, layout.find("T"))
            return _with_residual(outputs, whole), states
        steps = as_steps(length, inputs, layout)[0]
        return [_with_residual(output, step) for output, step in zip(outputs, steps)], states
