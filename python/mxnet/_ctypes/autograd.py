# SPDX-License-Identifier: Apache-2.0
"""Recording and differentiation on the binding on ctypes."""

from __future__ import annotations

import ctypes
from typing import Any, Callable, Dict, List, Optional, Sequence

from .functions import _value, exchanged
from .lib import _LIB, MXCallbackList, NDArrayHandle, c_array, check_call
from .ndarray import handles_of, wrap_all
from .scopes import NestedScope, Step


def set_recording(on: bool) -> bool:
    """Switches recording; gives what it was."""
    return exchanged(_LIB.MXAutogradSetIsRecording, int(bool(on))) != 0


def set_training(on: bool) -> bool:
    """Switches the training mode; gives what it was."""
    return exchanged(_LIB.MXAutogradSetIsTraining, int(bool(on))) != 0


def is_recording() -> bool:
    """Whether it records."""
    return _value(ctypes.c_bool, _LIB.MXAutogradIsRecording)


def is_training() -> bool:
    """Whether it is the training mode."""
    return _value(ctypes.c_bool, _LIB.MXAutogradIsTraining)


class RecordingScope(NestedScope):
    """Switches of this thread inside a `with` block; None leaves one alone. May be nested."""

    __slots__ = ("_before", "_switches")

    def __init__(self, *switches: Any) -> None:
        if len(switches) != 2:
            raise TypeError("RecordingScope: expected recording and training")
        self._switches = [(setter, bool(on)) for setter, on in zip((set_recording, set_training), switches) if on is not None]
        self._before: List[List[Step]] = []

    def _begin(self) -> None:
        self._before.append([])
        for setter, on in self._switches:
            self._before[-1].append((setter, setter(on)))

    def _ways_back(self) -> List[Step]:
        if not self._before:
            raise IndexError("the scope has been left already")
        return [*self._before[-1], (self._before.__delitem__, slice(len(self._before) - 1, None))]


def mark_variables(variables: Sequence[Any], gradients: Sequence[Any], requests: Sequence[int]) -> None:
    """Makes arrays leaves."""
    if not len(variables) == len(gradients) == len(requests):
        raise ValueError("expected as many gradients and requests as variables")
    numbers = c_array(ctypes.c_uint, list(requests))
    check_call(_LIB.MXAutogradMarkVariables(len(variables), handles_of(variables), numbers, handles_of(gradients)))


def mark_variable(variable: Any, gradient: Any, request: int) -> None:
    """One of mark_variables."""
    mark_variables([variable], [gradient], [request])


def stale_gradients(variables: Sequence[Any]) -> List[int]:
    """Places of variables whose gradients no backward has written since they were last used."""
    return [place for place, variable in enumerate(variables) if not variable._fresh_grad]


def use_gradients(variables: Sequence[Any]) -> None:
    """Notes that the gradients of variables were used."""
    for variable in variables:
        variable._fresh_grad = False


def backward(heads: Sequence[Any], head_grads: Optional[Sequence[Any]], variables: Sequence[Any], retain_graph: bool, create_graph: bool, train_mode: bool, numpy: bool) -> Optional[List[Any]]:
    """Fills buffers, or with variables returns their gradients."""
    if head_grads is not None and len(head_grads) != len(heads):
        raise ValueError(f"given {len(head_grads)} head gradients, expected {len(heads)}, one per head")
    made, types = ctypes.POINTER(NDArrayHandle)(), ctypes.POINTER(ctypes.c_int)()
    check_call(_LIB.MXAutogradBackwardEx(
        len(heads), handles_of(heads), None if head_grads is None else handles_of(head_grads), len(variables),
        handles_of(variables) if variables else None, int(retain_graph), int(create_graph), int(train_mode),
        ctypes.byref(made), ctypes.byref(types),
    ))
    return wrap_all(len(variables), made, numpy) if variables else None


_BACKWARD = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_int), ctypes.c_int,
    ctypes.c_void_p,
)
_DROP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_kept: Dict[int, Any] = {}  # what the library may still call, by a number of its own


def record_function(inputs: Sequence[Any], outputs: Sequence[Any], gradient: Callable[..., None]) -> None:
    """Puts a function with a gradient in Python onto the tape."""
    held = [gradient]

    def call(num_ograds: int, num_igrads: int, handles: Any, requests: Any, is_train: int, _: Any) -> int:
        import sys

        from ..base import interrupts, reason_of

        arrays = wrap_all(num_ograds + num_igrads, handles)
        try:
            held[0](arrays[:num_ograds], arrays[num_ograds:], requests[:num_igrads], is_train != 0)
            return 1
        except BaseException as error:  # pylint: disable=broad-except  (the caller of backward() gets an error of the library)
            if isinstance(error, KeyboardInterrupt):
                interrupts.append(error)  # raised instead of the failure of backward()
            else:
                sys.excepthook(*sys.exc_info())
            _LIB.NNAPISetLastError(reason_of(error))
            return 0

    def drop(_: Any) -> int:
        held.clear()  # with its arrays; ctypes' functions are parts of cycles, which are collected some time
        _kept.pop(number, None)
        return 1

    functions = (_BACKWARD(call), _DROP(drop))
    plain = ctypes.CFUNCTYPE(ctypes.c_int)
    pointers = (plain * 2)(*(ctypes.cast(function, plain) for function in functions))
    callbacks = MXCallbackList(2, pointers, (ctypes.c_void_p * 2)())
    number = id(functions)
    _kept[number] = (functions, pointers, callbacks)
    check_call(_LIB.MXCustomFunctionRecord(len(inputs), handles_of(inputs), len(outputs), handles_of(outputs), ctypes.byref(callbacks)))
