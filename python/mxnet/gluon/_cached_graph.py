# SPDX-License-Identifier: Apache-2.0
"""What a hybridized block keeps: the graph made of it, and the operator that runs the graph."""

from __future__ import annotations

import warnings
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from .. import ndarray, symbol
from ..ndarray import NDArray
from ..util import is_np_array
from ._structure import flatten, regroup
from ._parameter import Parameter
from ._replacements import Kept, replacements


class Graph(NamedTuple):
    """The graph of a block, for inputs of one structure."""

    inputs: List[symbol.Symbol]
    output: symbol.Symbol
    in_format: Any
    out_format: Any

    def optimized(self, block: Any, backend: str, options: Dict[str, Any], args: Any) -> Graph:
        """The graph partitioned by a backend, for inputs and parameters of the given shapes."""
        flat, _ = flatten(args, "input")
        arrays = {variable.name: array for variable, array in zip(self.inputs, (a for a in flat if a is not None))}
        known = {name: parameter for name, parameter in block.collect_params().items() if parameter._data is not None}
        if known:
            arrays.update((name, parameter.data()) for name, parameter in known.items())
        arguments = {name: arrays[name] for name in self.output.list_arguments() if name in arrays}
        states = {name: arrays[name] for name in self.output.list_auxiliary_states() if name in arrays}
        made = self.output.optimize_for(backend, arguments, states, **options)
        return self._replace(output=made)


def trace(block: Any, args: Sequence[Any]) -> Graph:
    """Runs a block on symbols: `data`, or `data0`, `data1` and so on for several inputs."""
    flat, in_format = flatten(args, "input")
    count = sum(array is not None for array in flat)
    names = iter(["data"] if count == 1 else [f"data{i}" for i in range(count)])
    variables = [None if array is None else _variable(next(names)) for array in flat]
    inputs = [variable for variable in variables if variable is not None]
    outputs = block._forward_symbols(*regroup(variables, in_format))
    listed, out_format = flatten(outputs, "output")
    output = listed[0] if len(listed) == 1 else symbol.Group(listed)
    return Graph(inputs, output.as_np_ndarray() if is_np_array() else output, in_format, out_format)


def _variable(name: str) -> Any:
    made = symbol.var(name)
    return made.as_np_ndarray() if is_np_array() else made


class CachedGraph:
    """A graph ready to run, with the parameters that it takes.

    Invariant: `_arrays[device]` is the call's list of arrays, with holes for the inputs, as of `_replacement`;
    once any parameter anywhere got other arrays it is made anew.
    """

    def __init__(self, graph: Graph, op: Any, slots: List[Tuple[bool, Any]]) -> None:
        self.op = op
        self.in_format = graph.in_format
        self.out_format = graph.out_format
        self.parameters: List[Parameter] = [what for is_input, what in slots if not is_input]
        self._slots = slots
        place_of = {what: place for place, (is_input, what) in enumerate(slots) if is_input}
        # Plain inputs that all take part, and the outputs of one symbol: such a call needs nothing but a list.
        self.direct = graph.in_format == [0] * len(place_of) and isinstance(graph.out_format, int) and graph.out_format >= 0
        self._places = [place_of[i] for i in range(len(place_of))] if self.direct else []
        self._arrays = Kept()
        self._replacement = -1

    def gather(self, inputs: List[NDArray]) -> List[NDArray]:
        """The arrays of a call, in the order of the graph's inputs."""
        context = inputs[0].context
        return [inputs[what] if is_input else what.data(context) for is_input, what in self._slots]

    def arrays_for(self, args: Tuple[Any, ...]) -> Optional[List[Any]]:
        """As gather, from memory; None where the usual way has to be gone. REQUIRES: direct."""
        places = self._places
        if len(args) != len(places):
            return None
        try:  # only arrays have a device
            device = args[0]._device
        except AttributeError:
            return None
        kept = self._arrays.get(device) if self._replacement == replacements[0] else None
        if kept is None:
            kept = self._keep(args)
            if kept is None:
                return None
        arrays = kept.copy()
        if len(places) == 1:
            arrays[places[0]] = args[0]
            return arrays
        for place, array in zip(places, args):
            if not isinstance(array, NDArray):
                return None
            arrays[place] = array
        return arrays

    def _keep(self, args: Tuple[Any, ...]) -> Optional[List[Any]]:
        """The list for a device, as of now; None if there are no values yet."""
        version = replacements[0]
        if self._replacement != version:
            self._arrays = Kept()
            self._replacement = version
        arrays = self._arrays  # as of `version`, whatever other threads do
        if any(parameter._data is None for parameter in self.parameters):
            return None
        kept: Any = self.gather(list(args))
        for place in self._places:
            kept[place] = None  # a call's inputs are not kept alive
        arrays[args[0]._device] = kept
        return kept


def build_cached_graph(block: Any, graph: Graph, flags: List[Tuple[str, Any]]) -> CachedGraph:
    """The operator of a graph. Its inputs are found by name: the block's inputs, or parameters."""
    inputs = {variable.name: i for i, variable in enumerate(graph.inputs)}
    parameters = dict(block.collect_params().items())
    names = graph.output.list_inputs()
    for name in inputs.keys() - set(names):
        warnings.warn(f"{block.name}: input {name} has no part in the outputs", stacklevel=4)
    for name in parameters.keys() - set(names):
        warnings.warn(f"Parameter {name} is not used by any computation. Is this intended?", stacklevel=4)
    unknown = [name for name in names if name not in inputs and name not in parameters]
    if unknown:
        raise ValueError(
            f"{block.name}: the graph takes {', '.join(unknown)}, which are neither inputs nor parameters of the block; "
            "register the parameters as attributes, or the blocks that have them as children"
        )
    slots = [(True, inputs[name]) if name in inputs else (False, parameters[name]) for name in names]
    places = [i for i, (is_input, _) in enumerate(slots) if is_input]
    rest = [i for i, (is_input, _) in enumerate(slots) if not is_input]
    options = [("data_indices", places), ("param_indices", rest), *flags]
    return CachedGraph(graph, ndarray.CachedOp(graph.output, options), slots)
