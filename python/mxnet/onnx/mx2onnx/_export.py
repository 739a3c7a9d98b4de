# SPDX-License-Identifier: Apache-2.0
"""export_model: a symbol and its parameters, as objects or files, become an ONNX file."""

from __future__ import annotations

import json
import logging
import os
from typing import Any, Dict, List, Optional, Set, Tuple

import numpy as np

from ...base import MXNetError
from .._package import number_of_type, onnx
from ._graph import OPSET, Graph, Node
from ._rows import LABELS, rows, supported

__all__ = ["export_model", "get_operator_support"]

# With 3, constants are inputs of the graph too, which the release needs to read a file, and they stay constants: from 4 on
# inputs with a value may be given another one, and ONNX Runtime would leave them out of its optimizations.
IR_VERSION = 3


def get_operator_support(opset_version: Optional[int] = None) -> List[str]:
    """The operators that can be written, with opset 13 or a later one."""
    if opset_version is not None and opset_version < OPSET:
        raise AttributeError(f"given opset {opset_version}, expected {OPSET} or later")
    return supported()


def export_model(
    sym: Any, params: Any, in_shapes: Any = None, in_types: Any = np.float32, onnx_file_path: str = "model.onnx",
    verbose: bool = False, dynamic: bool = False, dynamic_input_shapes: Any = None, run_shape_inference: bool = False,
    input_type: Any = None, input_shape: Any = None,
) -> str:  # fmt: skip
    """Writes a network as an ONNX file (opset 13) and returns the file's path.

    `sym` and `params` are a Symbol and a dictionary of arrays, or the paths of the files that hold them. `in_shapes`
    has a shape for each input that is no parameter; with `dynamic`, the sizes for which `dynamic_input_shapes`
    has a name or None, by default the first of each input, may be others when the file is used.
    """
    package = onnx()
    shapes = in_shapes if in_shapes is not None else input_shape
    types = in_types if input_type is None else input_type
    if shapes is None:
        raise ValueError("export_model: given no in_shapes, expected a list with a shape for each input")
    symbol, values = _network(sym, params)
    if dynamic_input_shapes is not None and not dynamic:
        raise ValueError("export_model: given dynamic_input_shapes, expected dynamic=True with them")
    inputs = _inputs(symbol, values, list(shapes), types)
    free = _free_sizes(inputs, dynamic_input_shapes) if dynamic else {}
    graph = Graph(values, dynamic)
    outputs = _write(symbol, inputs, graph)

    info = package.helper.make_tensor_value_info
    proto = package.helper.make_graph(
        graph.nodes,
        "mxnet",
        [
            *(info(name, number_of_type(dtype), free.get(name, shape)) for name, (shape, dtype) in inputs.items()),
            *(info(name, tensor.data_type, list(tensor.dims)) for name, tensor in graph.constants.items()),
        ],
        [info(name, number_of_type(dtype), [None] * len(shape) if dynamic else shape) for name, shape, dtype in outputs],
        list(graph.constants.values()),
    )
    model = package.helper.make_model(
        proto, producer_name="mxnet", opset_imports=[package.helper.make_opsetid("", OPSET)], ir_version=IR_VERSION
    )
    if run_shape_inference:
        model = package.shape_inference.infer_shapes(model)
    package.checker.check_model(model)
    if verbose:
        logging.getLogger(__name__).info("%d nodes, %d constants: %s", len(graph.nodes), len(graph.constants), onnx_file_path)
    package.save_model(model, os.fspath(onnx_file_path))
    return onnx_file_path


def _network(sym: Any, params: Any) -> Tuple[Any, Dict[str, np.ndarray]]:
    """The symbol, and constants by name without the 'arg:' and 'aux:' of files."""
    from ... import ndarray, symbol

    if isinstance(sym, (str, os.PathLike)):
        sym = symbol.load(os.fspath(sym))
    if isinstance(params, (str, os.PathLike)):
        params = ndarray.load(os.fspath(params))
    if isinstance(params, (list, tuple)):
        params = {name: value for part in params for name, value in part.items()}
    bare = {name.split(":", 1)[1] if name.startswith(("arg:", "aux:")) else name: value for name, value in params.items()}
    return sym, {name: _numbers(value) for name, value in bare.items()}


def _numbers(value: Any) -> np.ndarray:
    return value.asnumpy() if hasattr(value, "asnumpy") else np.asarray(value)


def _inputs(symbol: Any, values: Dict[str, Any], shapes: List[Any], types: Any) -> Dict[str, Tuple[Tuple[int, ...], Any]]:
    """Shape and type of each input that is neither a parameter nor a label, in order."""
    loaded = json.loads(symbol.tojson())
    nodes = loaded["nodes"]
    needed = _needed(nodes, {head[0] for head in loaded["heads"]})
    names = [nodes[i]["name"] for i in needed if nodes[i]["op"] == "null" and nodes[i]["name"] not in values]
    if len(shapes) != len(names):
        raise ValueError(f"export_model: given {len(shapes)} shapes, expected one for each of {', '.join(names)}")
    kinds = list(types) if isinstance(types, (list, tuple)) else [types] * len(names)
    if len(kinds) != len(names):
        raise ValueError(f"export_model: given {len(kinds)} types, expected one, or one for each of {', '.join(names)}")
    return {name: (tuple(shape), np.dtype(kind)) for name, shape, kind in zip(names, shapes, kinds)}


def _needed(nodes: List[Any], heads: Set[int]) -> List[int]:
    """The nodes that inference needs, inputs before what uses them: those behind labels are left out."""
    needed = set(heads)
    for i in range(len(nodes) - 1, -1, -1):
        if i in needed:
            label = LABELS.get(nodes[i]["op"])
            needed.update(source for place, (source, *_) in enumerate(nodes[i]["inputs"]) if place != label)
    return sorted(needed)


def _free_sizes(inputs: Dict[str, Any], given: Any) -> Dict[str, List[Any]]:
    """The inputs' shapes with names in place of the sizes that are not fixed."""
    if given is None:
        given = [("batch", *shape[1:]) if shape else () for shape, _ in inputs.values()]
    if len(given) != len(inputs) or any(len(g) != len(shape) for g, (shape, _) in zip(given, inputs.values())):
        raise ValueError(f"export_model: given dynamic_input_shapes {given}, expected the ranks of {inputs}")
    return {
        name: [size if isinstance(size, (int, str)) and size != -1 else f"{name}_{i}" for i, size in enumerate(sizes)]
        for name, sizes in zip(inputs, given)
    }


def _write(symbol: Any, inputs: Dict[str, Any], graph: Graph) -> List[Tuple[str, Tuple[int, ...], Any]]:
    """Adds the nodes that the outputs need; returns name, shape and type of each output."""
    internals = symbol.get_internals()
    loaded = json.loads(internals.tojson())
    nodes, heads = loaded["nodes"], [tuple(head[:2]) for head in loaded["heads"]]
    shapes, dtypes = _known(internals, inputs, graph.values)
    shape_of, dtype_of = dict(zip(heads, shapes)), dict(zip(heads, dtypes))
    place_of = dict(zip(internals.list_outputs(), heads))
    wanted = [place_of[name] for name in symbol.list_outputs()]

    needed = _needed(nodes, {node for node, _ in wanted})
    names: Dict[Tuple[int, int], str] = {}
    for i in needed:
        described = nodes[i]
        if described["op"] == "null":
            names[i, 0] = described["name"]
            graph.unique(described["name"])
    for i in needed:
        described = nodes[i]
        if described["op"] != "null":
            label = LABELS.get(described["op"])
            sources = [tuple(s[:2]) for place, s in enumerate(described["inputs"]) if place != label]
            node = Node(described["op"], described["name"], described.get("attrs", {}))
            node.inputs = [names[source] for source in sources]
            node.shapes = [shape_of[source] for source in sources]
            if any(not shape or 0 in shape for shape in node.shapes):
                shown = ", ".join(f"{name} {shape}" for name, (shape, _) in inputs.items())
                raise node.refuse(f"inputs of shapes {node.shapes}, after {shown}", "in_shapes and parameters that tell them")
            node.dtypes = [dtype_of[source] for source in sources]
            made = [head for head in heads if head[0] == i]
            node.out_shapes, node.out_dtypes = [shape_of[m] for m in made], [dtype_of[m] for m in made]
            names.update(((i, k), name) for k, name in enumerate(_written(graph, node)))
    _keep_used(graph, [names[place] for place in wanted if place in names])
    outputs = []
    for listed, place in zip(symbol.list_outputs(), wanted):
        shown = _shown(nodes[place[0]]["name"], place[1], listed)
        if place not in names:
            raise MXNetError(f"export_model: given output {shown!r}, expected one that ONNX has too: choose others with sym[i]")
        final = graph.unique(shown)
        graph.nodes.append(onnx().helper.make_node("Identity", [names[place]], [final], name=graph.unique(f"{shown}/out")))
        outputs.append((final, shape_of[place], dtype_of[place]))
    return outputs


def _shown(node: str, index: int, listed: str) -> str:
    """What a file calls an output, by which programs of other runtimes ask for it.

    By its node and its number; the first one of those that list_outputs() does not number has none.
    """
    return node if index == 0 and listed != f"{node}_output0" else f"{node}{index}"


def _known(internals: Any, inputs: Dict[str, Any], values: Dict[str, np.ndarray]) -> Tuple[List[Any], List[Any]]:
    """Shapes and types of all values of the network."""
    listed = {*internals.list_arguments(), *internals.list_auxiliary_states()}
    given = {name: shape for name, (shape, _) in inputs.items()}
    given.update({name: value.shape for name, value in values.items() if name in listed})
    shapes = internals.infer_shape_partial(**{k: v for k, v in given.items() if k in internals.list_arguments()})[1]
    kinds = {name: dtype for name, (_, dtype) in inputs.items()}
    kinds.update({name: value.dtype for name, value in values.items() if name in internals.list_arguments()})
    types = internals.infer_type_partial(**kinds)[1]
    return shapes, [np.dtype(np.float32 if kind is None else kind) for kind in types]


def _written(graph: Graph, node: Node) -> List[str]:
    from ... import _core

    writer = rows().get(_core.op_info(node.op)[0])
    if writer is None:
        raise MXNetError(
            f"export_model: given operator {node.op} (node {node.name!r}), expected one of mx.onnx.get_operator_support(); "
            "an output before it can be chosen with sym.get_internals()"
        )
    graph.scope = node.name
    for name in node.inputs:
        if name in graph.values:
            graph.parameter(name)
    made = writer(graph, node)
    return [made] if isinstance(made, str) else list(made)


def _keep_used(graph: Graph, outputs: List[str]) -> None:
    """Drops constants that were looked at but are read by no node."""
    used = {name for node in graph.nodes for name in node.input} | set(outputs)
    graph.constants = {name: tensor for name, tensor in graph.constants.items() if name in used}
