# SPDX-License-Identifier: Apache-2.0
"""Loops and branches on arrays: Python runs them, autograd sees what they compute."""

from __future__ import annotations

from typing import Any, Callable, List, Tuple

from .._core import NDArrayBase
from .._nests import Structure, flatten, unflatten
from . import _generate

__all__ = ["cond", "foreach", "while_loop"]

def _stack(arrays: Any) -> Any:
    return _generate.operator("stack")(*arrays, axis=0)


def foreach(body: Callable[[Any, Any], Tuple[Any, Any]], data: Any, init_states: Any) -> Tuple[Any, Any]:
    """Runs body(slice, states) -> (outputs, states) for each slice of `data` along axis 0.

    Gives the outputs stacked and the last states. Data, states and outputs may be nested lists.
    """
    sequences, structure = flatten(data, "foreach: data")
    flatten(init_states, "foreach: init_states")
    if not sequences or sequences[0].shape[0] == 0:
        raise ValueError("foreach: given no data, expected at least one slice")
    states, steps = init_states, []
    for i in range(sequences[0].shape[0]):
        outputs, states = body(unflatten([sequence[i] for sequence in sequences], structure), states)
        listed, shape = flatten(outputs, "foreach: outputs of body")
        steps.append(listed)
    return unflatten([_stack(parts) for parts in zip(*steps)], shape), states


def _flag(value: Any, what: str) -> bool:
    if isinstance(value, NDArrayBase):
        return bool(value.asscalar())
    if isinstance(value, (bool, int, float)):
        return bool(value)
    raise TypeError(f"{what}: given {type(value).__name__}, expected an array of one element")


def while_loop(cond: Callable[..., Any], func: Callable[..., Tuple[Any, Any]], loop_vars: Any, max_iterations: Any = None) -> Tuple[Any, Any]:  # pylint: disable=redefined-outer-name
    """While cond(*loop_vars): outputs, loop_vars = func(*loop_vars), at most `max_iterations` times.

    Gives the outputs stacked, with zeros for iterations that were not run, and the last variables.
    """
    if max_iterations is None:
        raise ValueError("while_loop: given no max_iterations, expected a number")
    if int(max_iterations) < 0:
        raise ValueError(f"while_loop: given max_iterations {max_iterations}, expected 0 or more")
    variables, structure = flatten(loop_vars, "while_loop: loop_vars")
    if not variables:
        raise ValueError("while_loop: given no loop_vars, expected at least one")
    steps: List[List[Any]] = []
    outputs_structure: Structure = []

    def arguments() -> Any:
        nest = unflatten(list(variables), structure)
        return nest if isinstance(nest, list) else [nest]

    while len(steps) < max_iterations and _flag(cond(*arguments()), "while_loop: cond"):
        outputs, new = func(*arguments())
        listed, outputs_structure = flatten([] if outputs is None else outputs, "while_loop: outputs of func")
        new_variables, _ = flatten([] if new is None else new, "while_loop: loop_vars of func")
        if len(new_variables) != len(variables):
            raise ValueError(f"while_loop: given {len(new_variables)} new loop_vars, expected {len(variables)}")
        if steps and len(listed) != len(steps[0]):
            raise ValueError(f"while_loop: given {len(listed)} outputs, expected {len(steps[0])} as in the first step")
        variables = new_variables
        steps.append(listed)
    missing = int(max_iterations) - len(steps)
    stacked = []
    for parts in zip(*steps):
        zeros = [_generate.operator("zeros_like")(parts[0])] * missing
        stacked.append(_stack([*parts, *zeros]))
    return unflatten(stacked, outputs_structure), unflatten(list(variables), structure)


def cond(pred: Any, then_func: Callable[[], Any], else_func: Callable[[], Any]) -> Any:
    """then_func() or else_func(), as the one element of `pred` says."""
    return then_func() if _flag(pred, "cond: pred") else else_func()
