# SPDX-License-Identifier: Apache-2.0
"""The class SymbolBlock: a graph from a file or made by hand, as a block."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Optional, Sequence, Set, Union

from .. import symbol
from ..ndarray import NDArray
from ..ndarray._dtypes import _DTYPE_MX_TO_NP, dtype_name, is_half
from ..symbol import Symbol
from ..util import is_np_array
from ._cached_graph import Graph
from ._errors import MismatchError
from ._hybrid_block import HybridBlock
from ._parameter_loading import named_arrays
from ._structure import flatten, regroup
from .parameter import ParameterDict
from .utils import indented


_BATCH_NORMS = ("BatchNorm", "BatchNorm_v1", "_contrib_BatchNormWithReLU", "_contrib_SyncBatchNorm")


def _of_batch_norms(output: Symbol) -> Set[str]:
    """Names of what goes into normalisations of batches beside their data."""
    nodes = json.loads(output.tojson())["nodes"]
    return {nodes[entry[0]]["name"] for node in nodes if node["op"] in _BATCH_NORMS for entry in node["inputs"][1:]}


# Arrays that a graph makes of nothing, as the states with which cells of a recurrent network begin.
_CONSTANTS = ("_zeros", "_ones", "_full", "_npi_zeros", "_npi_ones", "_npi_full")
_REAL = ("float16", "bfloat16", "float32", "float64")


def _with_constants_in(dtype: str, output: Symbol) -> Symbol:
    """The graph with its constants of real types in this one, but for those that normalisations of batches take."""
    text = output.tojson()
    if not any(f'"{op}"' in text for op in _CONSTANTS):
        return output
    graph = json.loads(text)
    fixed = _of_batch_norms(output)
    changed = False
    for node in graph["nodes"]:
        if node["op"] not in _CONSTANTS or node["name"] in fixed:
            continue
        attributes = node.setdefault("attrs", {})
        before = attributes.get("dtype", "float32")
        if before in _REAL and before != dtype:
            attributes["dtype"] = dtype
            changed = True
    return type(output)(symbol.load_json(json.dumps(graph))._shared()) if changed else output


class SymbolBlock(HybridBlock):
    """A block that runs a given graph; all its variables but the inputs are parameters."""

    def __init__(self, outputs: Any, inputs: Any, params: Optional[ParameterDict] = None) -> None:
        super().__init__(prefix=None, params=None)
        self._prefix = ""
        self._params = ParameterDict("", params)
        variables, in_format = flatten(inputs, "input")
        listed, out_format = flatten([outputs] if isinstance(outputs, Symbol) else outputs, "output")
        output = listed[0] if len(listed) == 1 else symbol.Group(listed)
        output = output.as_np_ndarray() if is_np_array() else output
        if isinstance(inputs, Symbol):
            in_format = [0]
        if len(listed) == 1:
            out_format = 0 if len(output) == 1 else [0] * len(output)
        for variable in variables:
            if len(variable.get_internals()) != 1 or variable.list_arguments() != variable.list_outputs():
                raise MismatchError(f"given input {variable}, expected a variable: this one is computed")
        self._graph = self._symbol_graph = Graph(variables, output, in_format, out_format)
        self._make_parameters(output, {variable.name for variable in variables})

    def _make_parameters(self, output: Symbol, inputs: Any) -> None:
        attributes = output.attr_dict()
        for names, grad_req in ((output.list_arguments(), "write"), (output.list_auxiliary_states(), "null")):
            for name in names:
                if name in inputs:
                    continue
                options: Dict[str, Any] = {"allow_deferred_init": True, "grad_req": grad_req}
                dtype = attributes.get(name, {}).get("__dtype__")
                if dtype is not None and dtype != "-1":
                    options["dtype"] = _DTYPE_MX_TO_NP[int(dtype)]
                self.params.get(name, **options)
        cut = len(os.path.commonprefix(list(self.params.keys())))  # letters, not words: these names stand in files
        for name, parameter in self.params.items():
            self._reg_params[name[cut:]] = parameter

    @staticmethod
    def imports(
        symbol_file: Any,
        input_names: Union[str, Sequence[str]],
        param_file: Any = None,
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
    ) -> SymbolBlock:
        """A block of what HybridBlock.export or Module has written."""
        output = symbol.load(symbol_file)
        names = [input_names] if isinstance(input_names, str) else list(input_names)
        inputs: List[Symbol] = [symbol.var(name) for name in names]
        loaded = None if param_file is None else named_arrays(os.fspath(param_file))
        made = SymbolBlock(output, inputs)
        if loaded is None:
            return made
        for name, array in loaded.items():
            plain = name[4:] if name.startswith(("arg:", "aux:")) else name
            if plain in made.params:
                made.params[plain]._dtype = array.dtype  # the file says what the graph need not
        made.params._take(loaded, ctx, allow_missing, ignore_extra, "", os.fspath(param_file), True, "saved")
        return made

    def __repr__(self) -> str:
        graph = self._symbol_graph
        return f"{type(self).__name__}(\n{indented(repr(graph.output))} : {len(graph.inputs)} -> {len(graph.output)}\n)"

    def _clear_cached_op(self) -> None:
        super()._clear_cached_op()
        self.__dict__["_graph"] = self.__dict__.get("_symbol_graph")

    def cast(self, dtype: Any) -> None:
        """Converts all parameters, the types that the graph's variables are declared with, and constants of the graph, such as
        states that begin as zeros. As in a BatchNorm block, what normalises batches keeps single precision where the type
        has less."""
        super().cast(dtype)
        if is_half(dtype):
            for name in _of_batch_norms(self._symbol_graph.output) & set(self.params.keys()):
                self.params[name].cast("float32")
        if dtype_name(dtype) in _REAL:
            graph = self._symbol_graph
            self._symbol_graph = graph._replace(output=_with_constants_in(dtype_name(dtype), graph.output))
        self._clear_cached_op()

    def reset_ctx(self, ctx: Any) -> None:
        """Moves all parameters to other devices."""
        for parameter in self.collect_params().values():
            parameter.reset_ctx(ctx)

    def forward(self, x: Any, *args: Any) -> Any:
        """Runs the graph on arrays, or puts symbols in place of its inputs."""
        if isinstance(x, NDArray):
            return self._call_cached_op(x, *args)
        graph = self._symbol_graph
        flat, structure = flatten((x, *args), "input")
        if structure not in (graph.in_format, [graph.in_format]):
            raise ValueError(f"given inputs of structure {structure}, expected {graph.in_format}")
        given: Dict[str, Any] = {str(variable.name): value for variable, value in zip(graph.inputs, flat)}
        made = graph.output(**given)
        return regroup([made] if graph.out_format == 0 else list(made), graph.out_format)

    def _forward_symbols(self, x: Any, *args: Any) -> Any:
        return self.forward(x, *args)

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Not used: the graph is given."""
        raise NotImplementedError("SymbolBlock runs its graph, it has no hybrid_forward")
