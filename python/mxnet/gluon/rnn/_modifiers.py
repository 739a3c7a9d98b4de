# SPDX-License-Identifier: Apache-2.0
"""Cells that change what another cell does, and the cell that runs two of them in both directions."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Dict, Iterator, List, Optional, Tuple

from ...util import is_np_array
from .._errors import MismatchError
from .._ops import op
from ..parameter import tensor_types
from ..utils import indented
from ._base_cell import HybridRecurrentCell, RecurrentCell, _zeros, begin_states, check_not_modified, opened, states_info
from ._sequence import concat, formatted, masked, reversed_steps


class DropoutCell(HybridRecurrentCell):
    """Dropout of what comes in; it has no state."""

    def __init__(self, rate: float, axes: Any = (), prefix: Optional[str] = None, params: Any = None) -> None:
        super().__init__(prefix, params)
        if not isinstance(rate, (int, float)):
            raise MismatchError(f"given rate {rate!r}, expected a number")
        self._rate = rate
        self._axes = axes

    def __repr__(self) -> str:
        return f"{type(self).__name__}(rate={self._rate}, axes={self._axes})"

    def state_info(self, batch_size: int = 0) -> List[Dict[str, Any]]:
        """[]: there are no states."""
        return []

    def _alias(self) -> str:
        return "dropout"

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Tuple[Any, Any]:
        """One step: (inputs, with zeros in training; states as they were)."""
        if self._rate > 0:
            inputs = op(F, "Dropout")(data=inputs, p=self._rate, axes=self._axes, name=f"t{self._counter}_fwd")
        return inputs, states

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: Optional[bool] = None,
        valid_length: Any = None,
    ) -> Tuple[Any, Any]:
        """Drops from the whole sequence at once if it is one array. Lengths change nothing: inputs are as they were given."""
        self.reset()
        inputs, _, F, _ = formatted(length, inputs, layout, merge_outputs)
        if isinstance(inputs, tensor_types):
            return self.hybrid_forward(F, inputs, begin_state or [])
        return super().unroll(length, inputs, begin_state, layout, merge_outputs)


class ModifierCell(HybridRecurrentCell):
    """A cell around another one, whose parameters it uses."""

    def __init__(self, base_cell: RecurrentCell) -> None:
        if not isinstance(base_cell, RecurrentCell):
            raise MismatchError(f"given {type(base_cell).__name__}, expected a recurrent cell")
        base_cell._modified = True
        super().__init__(prefix=base_cell.prefix + self._alias(), params=None)
        self.base_cell = base_cell

    @property
    def params(self) -> Any:
        """The base cell's parameters."""
        return self.base_cell.params

    def state_info(self, batch_size: int = 0) -> List[Dict[str, Any]]:
        """The base cell's states."""
        return self.base_cell.state_info(batch_size)

    def begin_state(self, func: Any = None, **kwargs: Any) -> List[Any]:  # type: ignore[override]
        """The base cell's first states."""
        check_not_modified(self)
        with self._opened() as base_cell:
            return base_cell.begin_state(func=_zeros() if func is None else func, **kwargs)

    @contextmanager
    def _opened(self) -> Iterator[RecurrentCell]:
        """The base cell, which for now answers this thread as if it were alone."""
        opened.cells.append(self.base_cell)
        try:
            yield self.base_cell
        finally:
            opened.cells.pop()

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Any:
        """One step, which a subclass gives."""
        raise NotImplementedError(f"{type(self).__name__} has no hybrid_forward")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_cell})"


class ZoneoutCell(ModifierCell):
    """In training, some outputs and states stay as they were in the step before."""

    def __init__(self, base_cell: Any, zoneout_outputs: float = 0.0, zoneout_states: float = 0.0) -> None:
        if isinstance(base_cell, BidirectionalCell):
            raise MismatchError("given a BidirectionalCell, which makes no single steps; put ZoneoutCell around its cells")
        super().__init__(base_cell)
        self.zoneout_outputs = zoneout_outputs
        self.zoneout_states = zoneout_states
        self._prev_output: Any = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p_out={self.zoneout_outputs}, p_state={self.zoneout_states}, {self.base_cell})"

    def _alias(self) -> str:
        return "zoneout"

    def reset(self) -> None:
        """Starts anew: the first step has no output before it."""
        super().reset()
        self._prev_output = None

    def _remembers(self) -> bool:
        return self.zoneout_outputs > 0 or super()._remembers()

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        """One step of the base cell; in training a share of its elements is as in the step before, or zero in the
        first.
        """
        next_output, next_states = self.base_cell(inputs, states)

        def mixed(rate: float, new: Any, old: Any) -> Any:
            if rate == 0.0:
                return new
            mask = op(F, "Dropout")(op(F, "ones_like")(new), p=rate)
            return op(F, "where")(mask, new, op(F, "zeros_like")(new) if old is None else old)

        output = mixed(self.zoneout_outputs, next_output, self._prev_output)
        made = [mixed(self.zoneout_states, new, old) for new, old in zip(next_states, states)]
        self._prev_output = output
        return output, made


def _sum(F: Any, output: Any, inputs: Any) -> Any:
    return output + inputs if is_np_array() else F.elemwise_add(output, inputs)


class ResidualCell(ModifierCell):
    """Adds the input to the output."""

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Tuple[Any, Any]:
        """One step: (the base cell's output + inputs, states); both have one shape."""
        output, states = self.base_cell(inputs, states)
        if is_np_array():
            return output + inputs, states
        return F.elemwise_add(output, inputs, name=f"t{self._counter}_fwd"), states

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: Optional[bool] = None,
        valid_length: Any = None,
    ) -> Tuple[Any, Any]:
        """Runs the base cell over the sequence, then adds."""
        self.reset()
        with self._opened() as base_cell:
            outputs, states = base_cell.unroll(length, inputs, begin_state, layout, merge_outputs, valid_length)
        merged = isinstance(outputs, tensor_types) if merge_outputs is None else merge_outputs
        inputs, axis, F, _ = formatted(length, inputs, layout, merged)
        if valid_length is not None:
            inputs = masked(F, inputs, valid_length, axis, length, merged)
        if merged:
            return _sum(F, outputs, inputs), states
        return [_sum(F, output, step) for output, step in zip(outputs, inputs)], states


class BidirectionalCell(HybridRecurrentCell):
    """One cell runs the sequence forwards, one backwards; outputs are put side by side."""

    def __init__(self, l_cell: RecurrentCell, r_cell: RecurrentCell, output_prefix: str = "bi_") -> None:
        super().__init__(prefix="", params=None)
        self.register_child(l_cell, "l_cell")  # type: ignore[arg-type]
        self.register_child(r_cell, "r_cell")  # type: ignore[arg-type]
        self._output_prefix = output_prefix

    def __call__(self, inputs: Any, states: Any) -> Any:
        raise NotImplementedError("a BidirectionalCell makes no single steps; use unroll")

    def __repr__(self) -> str:
        forward, backward = (indented(repr(cell)) for cell in self._children.values())
        return f"{type(self).__name__}(forward={forward}, backward={backward})"

    def state_info(self, batch_size: int = 0) -> List[Dict[str, Any]]:
        """The states of the forward cell, then those of the backward one."""
        return states_info(self._children.values(), batch_size)

    def begin_state(self, **kwargs: Any) -> List[Any]:  # type: ignore[override]
        """First states of both cells; the arguments are those of each cell's begin_state."""
        check_not_modified(self)
        return begin_states(self._children.values(), **kwargs)

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: Optional[bool] = None,
        valid_length: Any = None,
    ) -> Tuple[Any, List[Any]]:
        """Runs both cells over the sequence."""
        self.reset()
        steps, axis, F, batch_size = formatted(length, inputs, layout, False)
        begin_state = self._states_for(F, begin_state, steps, batch_size)
        cells: Any = self._children.values()
        l_cell, r_cell = cells
        count = len(l_cell.state_info(batch_size))
        backwards = reversed_steps(F, steps, valid_length)
        l_out, l_states = l_cell.unroll(length, steps, begin_state[:count], layout, merge_outputs, valid_length)
        r_out, r_states = r_cell.unroll(length, backwards, begin_state[count:], layout, False, valid_length)
        r_out = reversed_steps(F, list(r_out), valid_length)
        if merge_outputs is None:
            merge_outputs = isinstance(l_out, tensor_types)
        l_out = formatted(None, l_out, layout, merge_outputs)[0]
        r_out = formatted(None, r_out, layout, merge_outputs)[0]
        if merge_outputs:
            outputs = concat(F, (l_out, r_out), 2, self._output_prefix + "out")
        else:
            outputs = [
                concat(F, (l_step, r_step), 1, f"{self._output_prefix}t{i}")
                for i, (l_step, r_step) in enumerate(zip(l_out, r_out))
            ]
        if valid_length is not None:
            outputs = masked(F, outputs, valid_length, axis, length, merge_outputs)
        return outputs, l_states + r_states
