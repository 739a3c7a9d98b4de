# SPDX-License-Identifier: Apache-2.0
"""Loops and branches in networks: what a function computes is cut out of the network and becomes the graph of one node."""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from ..attribute import AttrScope
from .._nests import flatten, unflatten
from . import _generate

__all__ = ["cond", "foreach", "while_loop"]

_counts: Dict[str, Iterator[int]] = defaultdict(itertools.count)


class _Body:
    """A graph for a node: what functions compute from new variables, and what they read of the network around them."""

    def __init__(self, name: str, outer: Sequence[Any]) -> None:
        """Makes a variable for each outer value, which the functions are to be called with."""
        self._name = f"{name}{next(_counts[name])}"
        self._scope = AttrScope(__subgraph_name__=self._name)
        with self._scope:
            self.variables = [_variable(f"{value.name or 'value'}-{i}") for i, value in enumerate(outer)]
        self._places = {variable.name: i for i, variable in enumerate(self.variables)}
        self.graph: Any = None
        self.inputs: List[Any] = []  # in the graph's order: a place among the outer values, or a symbol

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Runs a function whose operators become part of the body."""
        with self._scope:
            return function(*args)

    def close(self, outputs: Sequence[Any], needed: bool) -> int:
        """Makes the graph of these outputs.

        Where all variables are `needed` as inputs, those that the outputs do not depend on come out as
        well, in front of the others; returns how many.
        """
        from .symbol import Group

        unused = []
        if needed:
            read = set(Group(list(outputs)).list_inputs()) if outputs else set()
            unused = [variable for variable in self.variables if variable.name not in read]
        with self._scope:
            self.graph = Group([self._own(output) for output in (*unused, *outputs)])
        captured = {value.list_outputs()[0]: value for value in self.graph._cut_subgraph()}
        # Variables that the functions made themselves, such as parameters of layers, are read as they are.
        made = zip(self.graph.list_inputs(), self.graph.get_inputs())
        self.inputs = [self._places.get(name, captured.get(name, variable)) for name, variable in made]
        return len(unused)

    def _own(self, output: Any) -> Any:
        """The output as a node of the body: what is a variable, or computed elsewhere, goes through one."""
        is_own = output.attr("__subgraph_name__") == self._name and output.get_children() is not None
        return output if is_own else _generate.function("_copy", "identity")(output)

    def place(self, variable: int) -> int:
        """Which of the graph's inputs a variable is."""
        return next(i for i, source in enumerate(self.inputs) if isinstance(source, int) and source == variable)

    def captured(self) -> List[int]:
        """Which of the graph's inputs come from the network around it."""
        return [i for i, source in enumerate(self.inputs) if not isinstance(source, int)]


def _variable(name: str) -> Any:
    from .symbol import var

    return var(name)


def _node(op: str, graphs: Sequence[Any], inputs: Sequence[Any], name: Optional[str], **params: Any) -> Any:
    texts = {key: list(value) if isinstance(value, (list, tuple)) else value for key, value in params.items()}
    return _generate.compose(op, [*graphs, *inputs], texts, name, None)


def _results(node: Any, begin: int, count: int, structure: Any) -> Any:
    """Some outputs of a node, nested as the function gave them."""
    return unflatten([node[begin + i] for i in range(count)], structure)


def foreach(body: Callable[[Any, Any], Tuple[Any, Any]], data: Any, init_states: Any, name: str = "foreach") -> Tuple[Any, Any]:
    """Runs body(slice, states) -> (outputs, states) for each slice of `data` along axis 0.

    Gives the outputs stacked and the last states. Data, states and outputs may be nested lists.
    """
    sequences, data_structure = flatten(data, "foreach: data")
    states, states_structure = flatten(init_states, "foreach: init_states")
    if not sequences:
        raise ValueError("foreach: given no data, expected at least one")
    made = _Body(name, [*sequences, *states])
    slices, carried = made.variables[: len(sequences)], made.variables[len(sequences) :]
    result = made.call(body, unflatten(list(slices), data_structure), unflatten(list(carried), states_structure))
    if not isinstance(result, (list, tuple)) or len(result) != 2:
        raise ValueError("foreach: given a body that returns no pair, expected (outputs, states)")
    outputs, outputs_structure = flatten(result[0], "foreach: outputs of body")
    new_states, _ = flatten(result[1], "foreach: states of body")
    if len(new_states) != len(states):
        raise ValueError(f"foreach: given {len(new_states)} new states, expected {len(states)}")
    extra = made.close([*outputs, *new_states], needed=True)
    remaining = made.captured()
    count = extra + len(outputs)
    node = _node(
        "_foreach", [made.graph], [*sequences, *states, *(made.inputs[i] for i in remaining)], None,
        num_outputs=count + len(states), num_out_data=count, remain_locs=remaining,
        in_data_locs=[made.place(i) for i in range(len(sequences))],
        in_state_locs=[made.place(len(sequences) + i) for i in range(len(states))],
    )  # fmt: skip
    return _results(node, extra, len(outputs), outputs_structure), _results(node, count, len(states), states_structure)


def while_loop(
    cond: Callable[..., Any],  # pylint: disable=redefined-outer-name
    func: Callable[..., Tuple[Any, Any]],
    loop_vars: Any,
    max_iterations: Any = None,
    name: str = "while_loop",
) -> Tuple[Any, Any]:
    """While cond(*loop_vars): outputs, loop_vars = func(*loop_vars), at most `max_iterations` times.

    Gives the outputs stacked, with zeros for iterations that were not run, and the last variables.
    """
    if max_iterations is None:
        raise ValueError("while_loop: given no max_iterations, expected a number")
    if int(max_iterations) <= 0:
        raise ValueError(f"while_loop: given max_iterations {max_iterations}, expected 1 or more")
    variables, structure = flatten(loop_vars, "while_loop: loop_vars")
    if not variables:
        raise ValueError("while_loop: given no loop_vars, expected at least one")

    def arguments(body: _Body) -> Any:
        nest = unflatten(list(body.variables), structure)
        return nest if isinstance(nest, list) else [nest]

    decides, runs = _Body(f"{name}_cond", variables), _Body(f"{name}_func", variables)
    decides.close([decides.call(cond, *arguments(decides))], needed=False)
    outputs, new = runs.call(func, *arguments(runs))
    listed, outputs_structure = flatten([] if outputs is None else outputs, "while_loop: outputs of func")
    new_variables, _ = flatten([] if new is None else new, "while_loop: loop_vars of func")
    if len(new_variables) != len(variables):
        raise ValueError(f"while_loop: given {len(new_variables)} new loop_vars, expected {len(variables)}")
    extra = runs.close([*listed, *new_variables], needed=True)
    inputs, locations = _shared(variables, [decides, runs])
    count = extra + len(listed)
    node = _node(
        "_while_loop", [decides.graph, runs.graph], inputs, None, max_iterations=int(max_iterations),
        num_outputs=count + len(variables), num_out_data=count, cond_input_locs=locations[0], func_input_locs=locations[1],
        func_var_locs=[runs.place(i) for i in range(len(variables))],
    )  # fmt: skip
    return _results(node, extra, len(listed), outputs_structure), _results(node, count, len(variables), structure)


def cond(pred: Any, then_func: Callable[[], Any], else_func: Callable[[], Any], name: str = "cond") -> Any:
    """then_func() or else_func(), as the one element of `pred` says."""
    decides, then, otherwise = (_Body(f"{name}_{part}", []) for part in ("pred", "then", "else"))
    decides.close([pred], needed=False)
    results, structure = flatten(then.call(then_func), "cond: outputs of then_func")
    others, _ = flatten(otherwise.call(else_func), "cond: outputs of else_func")
    if len(results) != len(others):
        raise ValueError(f"cond: given {len(results)} outputs of then_func and {len(others)} of else_func, expected as many")
    then.close(results, needed=False)
    otherwise.close(others, needed=False)
    inputs, locations = _shared([], [decides, then, otherwise])
    node = _node(
        "_cond", [decides.graph, then.graph, otherwise.graph], inputs, None, num_outputs=len(results),
        cond_input_locs=locations[0], then_input_locs=locations[1], else_input_locs=locations[2],
    )  # fmt: skip
    return _results(node, 0, len(results), structure)


def _shared(outer: Sequence[Any], bodies: Sequence[_Body]) -> Tuple[List[Any], List[List[int]]]:
    """The inputs of a node with several graphs: outer values, then each captured one once; and which of them each graph takes."""
    inputs, places = list(outer), {}
    locations = []
    for body in bodies:
        taken = []
        for source in body.inputs:
            if not isinstance(source, int):
                key = source.list_outputs()[0]
                if key not in places:
                    places[key] = len(inputs)
                    inputs.append(source)
                source = places[key]
            taken.append(source)
        locations.append(taken)
    return inputs, locations
