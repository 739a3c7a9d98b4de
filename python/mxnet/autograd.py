# SPDX-License-Identifier: Apache-2.0
"""Recording what is computed, and differentiating it."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple, Union

from . import _core
from ._core import NDArrayBase
from .base import string_types
from .ndarray import ndarray as _arrays

__all__ = [
    "Function", "backward", "get_symbol", "grad", "is_recording", "is_training", "mark_variables", "pause", "predict_mode",
    "record", "set_recording", "set_training", "string_types", "train_mode",
]

is_recording = _core.is_recording
is_training = _core.is_training


def set_recording(is_recording: bool) -> bool:  # pylint: disable=redefined-outer-name
    """Switches recording for this thread; returns what it was."""
    return _core.set_recording(bool(is_recording))


def set_training(train_mode: bool) -> bool:  # pylint: disable=redefined-outer-name
    """Switches the mode of operators that behave differently in training; returns what it was."""
    return _core.set_training(bool(train_mode))


_RecordingStateScope = _core.RecordingScope  # None leaves a switch alone; may be nested


def record(train_mode: bool = True) -> _RecordingStateScope:  # pylint: disable=redefined-outer-name
    """`with record():` what is computed inside can be differentiated."""
    return _RecordingStateScope(True, train_mode)


def pause(train_mode: bool = False) -> _RecordingStateScope:  # pylint: disable=redefined-outer-name
    """What is computed inside is no part of what is recorded."""
    return _RecordingStateScope(False, train_mode)


def train_mode() -> _RecordingStateScope:
    """Operators behave as in training, recorded or not."""
    return _RecordingStateScope(None, True)


def predict_mode() -> _RecordingStateScope:
    """Operators behave as in inference, recorded or not."""
    return _RecordingStateScope(None, False)


def _listed(arrays: Any) -> list:
    return [arrays] if isinstance(arrays, NDArrayBase) else list(arrays)


def mark_variables(variables: Any, gradients: Any, grad_reqs: Union[str, Sequence[str]] = "write") -> None:
    """Makes arrays leaves whose gradients go into the given arrays."""
    variables, gradients = _listed(variables), _listed(gradients)
    reqs = [grad_reqs] * len(variables) if isinstance(grad_reqs, str) else list(grad_reqs)
    _core.mark_variables(variables, gradients, [_arrays._GRAD_REQ_MAP[req] for req in reqs])


def _heads(heads: Any, head_grads: Any) -> Tuple[list, Optional[list]]:
    return _listed(heads), None if head_grads is None else _listed(head_grads)


def backward(heads: Any, head_grads: Any = None, retain_graph: bool = False, train_mode: bool = True) -> None:  # pylint: disable=redefined-outer-name
    """Gradients of the heads with respect to all leaves behind them, into the leaves' `grad`."""
    outputs, grads = _heads(heads, head_grads)
    _core.backward(outputs, grads, [], retain_graph, False, train_mode, False)


def grad(heads: Any, variables: Any, head_grads: Any = None, retain_graph: Optional[bool] = None, create_graph: bool = False, train_mode: bool = True) -> Any:  # pylint: disable=redefined-outer-name
    """A list of the gradients with respect to `variables`, new arrays; with create_graph they are recorded themselves."""
    outputs, grads = _heads(heads, head_grads)
    wanted = _listed(variables)
    if not wanted:
        raise ValueError("given no variables, expected at least one")
    retain = create_graph if retain_graph is None else retain_graph
    numpy = getattr(type(wanted[0]), "_is_np", False)
    return _core.backward(outputs, grads, wanted, retain, create_graph, train_mode, numpy)


def get_symbol(x: Any) -> Any:
    """What was recorded to compute an array, as a symbol of its leaves."""
    from .symbol import Symbol

    if not isinstance(x, NDArrayBase):
        raise TypeError(f"given {type(x).__name__}, expected an NDArray")
    return Symbol(_core.recorded_symbol(x))


class Function:
    """A function whose gradient the user gives: subclass it with forward and backward.

    An object is called once; backward gets a gradient per output and returns one per input.
    """

    def __init__(self) -> None:
        self._used = False
        self.saved_tensors: Tuple[Any, ...] = ()

    def save_for_backward(self, *args: Any) -> None:
        """Keeps arrays for backward, as saved_tensors."""
        self.saved_tensors = args

    def forward(self, *inputs: Any) -> Any:
        """Computes the outputs."""
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def backward(self, *output_grads: Any) -> Any:
        """Computes the gradients of the inputs."""
        raise NotImplementedError(f"{type(self).__name__} has no backward")

    def __call__(self, *inputs: Any) -> Any:
        if getattr(self, "_used", False):
            raise RuntimeError("each Function object may be called once; make another one")
        self._used = True
        recording = is_recording()
        with _RecordingStateScope(False, None):
            outputs = self.forward(*inputs)
        if not recording:
            return outputs
        # What is handed out holds this object by its history, where Python's collector does not look. What forward() has made does
        # not: it may be held here (save_for_backward of a result).
        listed = [array.detach() if isinstance(array, NDArrayBase) else array for array in _listed(outputs)]
        numpy = getattr(type(listed[0]), "_is_np", False)

        def gradient(output_grads: list, input_grads: list, requests: list, is_train: bool) -> None:
            shown = [array._as_kind(True) for array in output_grads] if numpy else output_grads
            with _RecordingStateScope(None, is_train):
                results = self.backward(*shown)
            if isinstance(results, str) or not hasattr(results, "__iter__"):
                raise TypeError(f"{type(self).__name__}.backward returned {type(results).__name__}, expected arrays")
            results = _listed(results)
            if len(results) != len(input_grads):
                raise ValueError(
                    f"{type(self).__name__}.backward returned {len(results)} gradients, expected {len(input_grads)}"
                )
            for target, value, request in zip(input_grads, results, requests):
                if not isinstance(value, NDArrayBase):
                    raise TypeError(f"{type(self).__name__}.backward returned {type(value).__name__}, expected arrays")
                if request != 0:
                    value.copyto(target)

        _core.record_function(list(inputs), listed, gradient)
        if isinstance(outputs, NDArrayBase):
            return listed[0]
        return getattr(outputs, "_make", tuple)(listed) if isinstance(outputs, tuple) else listed
