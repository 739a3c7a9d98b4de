# SPDX-License-Identifier: Apache-2.0
"""What all recurrent cells have in common: states, counters of steps, unrolling."""

from __future__ import annotations

import threading
from typing import Any, Callable, Dict, List, Optional, Tuple

from ... import ndarray
from ...util import is_np_array
from .._errors import MismatchError
from .._ops import op
from ..block import Block, HybridBlock
from ..nn.activations import LeakyReLU
from ..parameter import tensor_types
from ._sequence import formatted, masked, stack

_FUNCTIONS = ("tanh", "relu", "sigmoid", "softsign")


def activate(F: Any, x: Any, activation: Any, **kwargs: Any) -> Any:
    """An activation by name, as a LeakyReLU layer or as a function, applied."""
    if isinstance(activation, str):
        if activation in _FUNCTIONS and not (is_np_array() and activation == "softsign"):
            return op(F, activation)(x, **({} if is_np_array() else kwargs))
        return op(F, "Activation")(x, act_type=activation, **kwargs)
    if isinstance(activation, LeakyReLU):
        return op(F, "LeakyReLU")(x, act_type="leaky", slope=activation._alpha, **kwargs)
    return activation(x, **kwargs)


def add(F: Any, x: Any, y: Any, name: str) -> Any:
    """x + y, as a node of the given name."""
    return x + y if is_np_array() else F.elemwise_add(x, y, name=name)


def multiply(F: Any, x: Any, y: Any, name: str) -> Any:
    """x * y, as a node of the given name."""
    return x * y if is_np_array() else F.elemwise_mul(x, y, name=name)


def states_info(cells: Any, batch_size: int) -> List[Dict[str, Any]]:
    """The states of several cells, one after the other."""
    return [info for cell in cells for info in cell.state_info(batch_size)]


def begin_states(cells: Any, **kwargs: Any) -> List[Any]:
    """First states of several cells, one after the other."""
    return [state for cell in cells for state in cell.begin_state(**kwargs)]


class _Opened(threading.local):
    """The cells that modifier cells of each thread use at the moment: for these they are as if they were alone."""

    def __init__(self) -> None:
        self.cells: List[Any] = []


opened = _Opened()


def check_not_modified(cell: Any) -> None:
    """Raises MismatchError for a cell inside a modifier cell."""
    if cell._modified:
        raise MismatchError(f"{cell.name} is inside a modifier cell: call that one")


class RecurrentCell(Block):
    """A step of a recurrent network: outputs and next states from inputs and states."""

    def __init__(self, prefix: Optional[str] = None, params: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self._modified = False
        self.reset()

    @property
    def _modified(self) -> bool:
        """Whether it is inside a modifier cell, which is not at work on it on this thread."""
        return self.__dict__["_modified"] and not any(cell is self for cell in opened.cells)

    @_modified.setter
    def _modified(self, modified: bool) -> None:
        self.__dict__["_modified"] = modified

    def reset(self) -> None:
        """Starts to count steps anew; to be called before another sequence or graph."""
        self._init_counter = -1
        self._counter = -1
        for cell in self._children.values():
            if isinstance(cell, RecurrentCell):
                cell.reset()

    def state_info(self, batch_size: int = 0) -> List[Dict[str, Any]]:
        """Returns a dictionary for each state, with its "shape" for a batch of this size and its "__layout__"."""
        raise NotImplementedError(f"{type(self).__name__} has no state_info")

    def begin_state(self, batch_size: int = 0, func: Optional[Callable[..., Any]] = None, **kwargs: Any) -> List[Any]:
        """Returns the first states, a list: zeros, or what `func(shape=..., **kwargs)` makes, such as `mx.nd.ones`.

        Raises MismatchError for a cell inside a modifier cell: call that one.

            states = cell.begin_state(batch_size=32, ctx=mx.cpu())
        """
        check_not_modified(self)
        func = _zeros() if func is None else func
        states = []
        for info in self.state_info(batch_size):
            self._init_counter += 1
            options = {**(info or {}), **kwargs}
            if is_np_array():
                options.pop("__layout__", None)
            else:
                options["name"] = f"{self._prefix}begin_state_{self._init_counter}"
            states.append(func(**options))
        return states

    def _states_for(self, F: Any, begin_state: Any, inputs: Any, batch_size: int) -> Any:
        if begin_state is not None:
            return begin_state
        if F is not ndarray:
            return self.begin_state(func=F.np.zeros if is_np_array() else F.zeros, batch_size=batch_size)
        with (inputs if isinstance(inputs, tensor_types) else inputs[0]).context:
            return self.begin_state(batch_size=batch_size)

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: Optional[bool] = None,
        valid_length: Any = None,
    ) -> Tuple[Any, Any]:
        """Runs `length` steps and returns (outputs, states behind the last step).

        `inputs` is one array, with the steps along the T of `layout` ("NTC" or "TNC"), or a list of an array for each
        step. Outputs are one array with `merge_outputs=True`, a list with False, and by default what suits the cell.
        `begin_state` are zeros unless given. With `valid_length`, (batch,), outputs behind the end of a sample are
        zeros, and its states those at its end.

            outputs, states = cell.unroll(20, inputs, merge_outputs=True)  # (32, 20, 8) gives (32, 20, 64)
        """
        self.reset()
        steps, axis, F, batch_size = formatted(length, inputs, layout, False)
        states = self._states_for(F, begin_state, steps, batch_size)
        outputs, history = [], []
        for step in steps:
            output, states = self(step, states)
            outputs.append(output)
            if valid_length is not None:
                history.append(states)
        if valid_length is None:
            return formatted(length, outputs, layout, merge_outputs)[0], states
        last = op(F, "SequenceLast")
        states = [
            last(stack(F, all_steps, 0), sequence_length=valid_length, use_sequence_length=True, axis=0)
            for all_steps in zip(*history)
        ]
        return masked(F, outputs, valid_length, axis, length, merge_outputs), states

    def _get_activation(self, F: Any, inputs: Any, activation: Any, **kwargs: Any) -> Any:
        """What cells of programs apply their activation with."""
        return activate(F, inputs, activation, **kwargs)

    def forward(self, inputs: Any, states: Any) -> Any:
        """One step: (output, next states) of inputs (batch, size) and of the states from begin_state or the step
        before.
        """
        self._counter += 1
        return super().forward(inputs, states)


def _zeros() -> Callable[..., Any]:
    if not is_np_array():
        return ndarray.zeros
    from ... import numpy

    return numpy.zeros


class HybridRecurrentCell(RecurrentCell, HybridBlock):
    """A recurrent cell whose step works on arrays and on symbols alike."""

    def _remembers(self) -> bool:
        """Whether a step needs what an earlier one made beside the states: a graph of one step cannot know it."""
        return any(isinstance(child, HybridRecurrentCell) and child._remembers() for child in self._children.values())

    def hybridize(self, active: bool = True, *args: Any, **kwargs: Any) -> None:
        """As of other blocks; where a cell remembers, only those inside it that do not become graphs."""
        super().hybridize(active, *args, **kwargs)
        self._active = active and not self._remembers()

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        """One step, which a subclass gives: (output, next states) of inputs, states and parameters."""
        raise NotImplementedError(f"{type(self).__name__} has no hybrid_forward")


class GatedCell(HybridRecurrentCell):
    """A cell with a matrix for inputs and one for the previous output, for `gates` gates each."""

    def __init__(
        self,
        hidden_size: int,
        gates: int,
        input_size: int,
        weights: Dict[str, Tuple[Tuple[int, ...], Any]],
        prefix: Optional[str],
        params: Any,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self._hidden_size = hidden_size
        self._input_size = input_size
        self._gates = gates
        for name, (shape, init) in weights.items():
            setattr(self, name, self.params.get(name, shape=shape, init=init, allow_deferred_init=True))

    def _projected(self, F: Any, inputs: Any, states: Any, weights: Any, prefix: str) -> Tuple[Any, Any]:
        """Inputs and the previous output, each through its matrix."""
        i2h_weight, h2h_weight, i2h_bias, h2h_bias = weights
        units = self._hidden_size * self._gates
        dense = op(F, "FullyConnected")
        i2h = dense(data=inputs, weight=i2h_weight, bias=i2h_bias, num_hidden=units, name=prefix + "i2h")
        h2h = dense(data=states[0], weight=h2h_weight, bias=h2h_bias, num_hidden=units, name=prefix + "h2h")
        return i2h, h2h

    def __repr__(self) -> str:
        shape = self.i2h_weight.shape  # type: ignore[attr-defined]
        return f"{type(self).__name__}({shape[1] or None} -> {shape[0]})"


def weights_of(hidden: int, gates: int, inputs: int, i2h: Any, h2h: Any, i2h_bias: Any, h2h_bias: Any) -> Dict[str, Any]:
    """The parameters of a gated cell: shapes and initializers by name."""
    units = hidden * gates
    return {
        "i2h_weight": ((units, inputs), i2h),
        "h2h_weight": ((units, hidden), h2h),
        "i2h_bias": ((units,), i2h_bias),
        "h2h_bias": ((units,), h2h_bias),
    }
