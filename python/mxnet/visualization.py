# SPDX-License-Identifier: Apache-2.0
"""Networks as a table of layers and as a drawing."""

from __future__ import annotations

import json
import math
from typing import Any, Dict, List, Optional, Sequence, Tuple

__all__ = ["plot_network", "print_summary"]

_PARAMETER_ENDINGS = (
    "weight", "bias", "beta", "gamma", "moving_var", "moving_mean", "running_var", "running_mean", "parameters", "alpha",
)  # fmt: skip


class _Network:
    """Nodes of a symbol, which of them are inputs and which parameters, and shapes where they are known."""

    def __init__(self, symbol: Any, shape: Optional[Dict[str, Any]]) -> None:
        from .symbol import Symbol

        if not isinstance(symbol, Symbol):
            raise TypeError(f"given {type(symbol).__name__}, expected a Symbol")
        graph = json.loads(symbol.tojson())
        self.nodes: List[Dict[str, Any]] = graph["nodes"]
        self.states = set(symbol.list_auxiliary_states())
        self.given = set(shape or {})
        self.shapes: Dict[str, Tuple[int, ...]] = {}
        if shape is not None:
            internals = symbol.get_internals()
            _, found, _ = internals.infer_shape(**shape)
            if found is None:
                raise ValueError(f"given shapes of {sorted(shape)}, expected enough to know all shapes")
            self.shapes = dict(zip(internals.list_outputs(), found))

    def is_variable(self, node: Dict[str, Any]) -> bool:
        """Whether a node is no operator."""
        return node["op"] == "null"

    def is_input(self, node: Dict[str, Any]) -> bool:
        """Whether a variable is data: by its name neither a parameter nor a state nor a label, and of a shape that was given,
        if any was."""
        name = node["name"]
        if not self.is_variable(node) or name in self.states or name.endswith((*_PARAMETER_ENDINGS, "label")):
            return False
        return not self.given or name in self.given

    def is_shown(self, node: Dict[str, Any]) -> bool:
        """Whether a node is a layer or data."""
        return not self.is_variable(node) or self.is_input(node)

    def shape_of(self, node: Dict[str, Any], output: int = 0) -> Tuple[int, ...]:
        """The shape of a value, () if it is not known."""
        name = node["name"]
        for key in (name,) if self.is_variable(node) else (f"{name}_output", f"{name}_output{output}"):
            if key in self.shapes:
                return self.shapes[key]
        own = [shape for key, shape in self.shapes.items() if key.startswith(f"{name}_")]
        return own[output] if len(own) > output else ()

    def inputs(self, node: Dict[str, Any]) -> List[Tuple[Dict[str, Any], int]]:
        """The nodes before a node, and which of their values it takes."""
        return [(self.nodes[item[0]], item[1]) for item in node["inputs"]]

    def parameters(self, node: Dict[str, Any]) -> Optional[int]:
        """The number of elements of a layer's parameters; None without shapes."""
        own = [before for before, _ in self.inputs(node) if self.is_variable(before) and not self.is_input(before)]
        own = [before for before in own if before["name"] not in self.states and not before["name"].endswith("label")]
        if own and not self.shapes:
            return None
        return sum(math.prod(self.shapes[before["name"]]) for before in own)


def print_summary(
    symbol: Any,
    shape: Optional[Dict[str, Any]] = None,
    line_length: int = 120,
    positions: Sequence[float] = [0.44, 0.64, 0.74, 1.0],  # noqa: B006  (only read)
) -> None:
    """Prints a table: layers, shapes of their outputs, numbers of parameters, and the layers before.

    Shapes and numbers need the shapes of the inputs in `shape`. Parameters that several layers share count once
    in the total.
    """
    network = _Network(symbol, shape)
    columns = [int(line_length * place) for place in positions] if positions[-1] <= 1 else [int(place) for place in positions]

    def row(fields: Sequence[Any]) -> None:
        line = ""
        for field, end in zip(fields, columns):
            line = f"{line}{field}"[:end].ljust(end)
        print(line)

    print("_" * line_length)
    row(["Layer (type)", "Output Shape", "Param #", "Previous Layer"])
    print("=" * line_length)
    shown = [node for node in network.nodes if network.is_shown(node)]
    for place, node in enumerate(shown):
        before = [item["name"] for item, _ in network.inputs(node) if network.is_shown(item)]
        count = network.parameters(node)
        output = "x".join(str(dim) for dim in network.shape_of(node)[1:])
        row([f"{node['name']}({node['op']})", output, "?" if count is None else count, before[0] if before else ""])
        for name in before[1:]:
            row(["", "", "", name])
        print(("=" if place == len(shown) - 1 else "_") * line_length)
    print(f"Total params: {_total(network)}")
    print("_" * line_length)


def _total(network: _Network) -> Any:
    if not network.shapes:
        return "?"
    counted = [
        node["name"]
        for node in network.nodes
        if network.is_variable(node) and not network.is_input(node)
        and node["name"] not in network.states and not node["name"].endswith("label")
    ]  # fmt: skip
    return sum(math.prod(network.shapes[name]) for name in counted)


# --- Drawings

_COLOURS = {
    "input": "#8dd3c7", "FullyConnected": "#fb8072", "Convolution": "#fb8072", "Deconvolution": "#fb8072",
    "Activation": "#ffffb3", "LeakyReLU": "#ffffb3", "BatchNorm": "#bebada", "Pooling": "#80b1d3", "Concat": "#fdb462",
    "Flatten": "#fdb462", "Reshape": "#fdb462", "other": "#fccde5",
}  # fmt: skip


def _dims(text: str) -> str:
    return "x".join(part.strip() for part in text.strip("()[]").split(",") if part.strip())


def _label(node: Dict[str, Any]) -> str:
    op, attrs = node["op"], node.get("attrs", {})
    if op in ("Convolution", "Deconvolution"):
        return f"{op}\n{_dims(attrs['kernel'])}/{_dims(attrs.get('stride', '')) or '1'}, {attrs['num_filter']}"
    if op == "FullyConnected":
        return f"{op}\n{attrs['num_hidden']}"
    if op in ("Activation", "LeakyReLU"):
        return f"{op}\n{attrs.get('act_type', 'leaky')}"
    if op == "Pooling":
        kind = attrs.get("pool_type", "max")
        return f"{op}\n{kind}, {_dims(attrs.get('kernel', '')) or 'global'}/{_dims(attrs.get('stride', '')) or '1'}"
    if op == "Custom":
        return attrs.get("op_type", op)
    return node["name"]


def plot_network(
    symbol: Any,
    title: str = "plot",
    save_format: str = "pdf",
    shape: Optional[Dict[str, Any]] = None,
    dtype: Any = None,
    node_attrs: Dict[str, str] = {},  # noqa: B006  (only read)
    hide_weights: bool = True,
) -> Any:
    """The network as a graphviz.Digraph, which notebooks show and `render()` writes to a file.

    With `shape`, the shapes of the inputs, edges carry shapes; with `dtype`, their types, the types of all values
    must follow. `node_attrs` are graphviz's attributes of nodes.
    """
    if dtype is not None and symbol.infer_type(**dtype)[1] is None:
        raise ValueError(f"given types of {sorted(dtype)}, expected enough to know all types")
    try:
        from graphviz import Digraph
    except ImportError:
        raise ImportError("plot_network needs the package graphviz") from None
    network = _Network(symbol, shape)
    style = {"shape": "box", "fixedsize": "true", "width": "1.3", "height": "0.8034", "style": "filled", **node_attrs}
    drawing = Digraph(name=title, format=save_format)
    hidden = set()
    for node in network.nodes:
        if hide_weights and network.is_variable(node) and not network.is_input(node) and not node["name"].endswith("label"):
            hidden.add(node["name"])
            continue
        kind = "input" if network.is_variable(node) else node["op"]
        look = {**style, "fillcolor": _COLOURS.get(kind, _COLOURS["other"])}
        if kind == "input":
            look["shape"] = "oval"
        drawing.node(name=node["name"], label=_label(node), **look)
    for node in network.nodes:
        for before, output in network.inputs(node):
            if before["name"] in hidden:
                continue
            dims = network.shape_of(before, output)
            label = "x".join(str(dim) for dim in dims[1:])
            drawing.edge(tail_name=node["name"], head_name=before["name"], dir="back", arrowtail="open", label=label)
    return drawing
