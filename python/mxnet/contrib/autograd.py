# SPDX-License-Identifier: Apache-2.0
"""The interface of automatic differentiation from before mxnet.autograd, which it uses."""

from __future__ import annotations

import functools
from typing import Any, Callable, List, Optional, Tuple

from .. import autograd as _autograd
from .. import ndarray as nd
from ..base import string_types  # noqa: F401  (public here)
from ..ndarray import zeros_like

__all__ = [
    "TrainingStateScope", "backward", "compute_gradient", "grad", "grad_and_loss", "mark_variables", "set_is_training",
    "test_section", "train_section",
]  # fmt: skip


def set_is_training(is_train: bool) -> bool:
    """Starts or ends recording for training; what it was before."""
    before = _autograd.set_training(is_train)
    _autograd.set_recording(is_train)
    return before


class TrainingStateScope:
    """Recording for training, or none, inside of a `with` block."""

    def __init__(self, enter_state: bool) -> None:
        self._enter_state = enter_state
        self._prev: Optional[bool] = None

    def __enter__(self) -> None:
        self._prev = set_is_training(self._enter_state)

    def __exit__(self, ptype: Any, value: Any, trace: Any) -> None:
        if self._prev != self._enter_state:
            set_is_training(bool(self._prev))


def train_section() -> TrainingStateScope:
    """Inside the block, operators are recorded for training."""
    return TrainingStateScope(True)


def test_section() -> TrainingStateScope:
    """Inside the block, nothing is recorded."""
    return TrainingStateScope(False)


test_section.__test__ = False  # type: ignore[attr-defined]  # not a test case of pytest


def mark_variables(variables: Any, gradients: Any, grad_reqs: Any = "write") -> None:
    """Makes arrays leaves, with arrays for their gradients."""
    _autograd.mark_variables(variables, gradients, grad_reqs)


def backward(outputs: List[Any], out_grads: Any = None, retain_graph: bool = False) -> None:
    """Gradients of outputs with respect to all leaves."""
    if not isinstance(outputs, (list, tuple)):
        raise TypeError(f"given outputs of type {type(outputs).__name__}, expected a list of arrays")
    _autograd.backward(outputs, out_grads, retain_graph)


def compute_gradient(outputs: List[Any]) -> None:
    """Is backward."""
    backward(outputs)


def grad_and_loss(func: Callable[..., Any], argnum: Any = None) -> Callable[..., Tuple[List[Any], Any]]:
    """A function that gives the gradients of its arguments (of those in `argnum`), and its value."""

    @functools.wraps(func)
    def wrapped(*args: Any) -> Tuple[List[Any], Any]:
        variables = list(args)
        if argnum is not None:
            variables = [args[i] for i in ([argnum] if isinstance(argnum, int) else argnum)]
        for variable in variables:
            if not isinstance(variable, nd.NDArray):
                raise TypeError(f"given {type(variable).__name__}, expected NDArrays")
        gradients = [zeros_like(variable) for variable in variables]
        mark_variables(variables, gradients)
        with train_section():
            outputs = func(*args)
        compute_gradient([outputs] if isinstance(outputs, nd.NDArray) else list(outputs))
        return gradients, outputs

    return wrapped


def grad(func: Callable[..., Any], argnum: Any = None) -> Callable[..., List[Any]]:
    """A function that gives the gradients of its arguments."""
    both = grad_and_loss(func, argnum)

    @functools.wraps(func)
    def wrapped(*args: Any) -> List[Any]:
        return both(*args)[0]

    return wrapped
