# SPDX-License-Identifier: Apache-2.0
"""Block.save and Block.load: the tree of blocks with the graphs of those that were hybridized.

PREFIX-model.json holds, for each block, under its name: the attribute paths and kinds of its children
and, where there is one, its graph; PREFIX-model.params holds the parameters.
"""

from __future__ import annotations

import json
from typing import Any, Dict

from .. import symbol
from .._files import replacing
from ..base import MXNetError
from ._block import Block
from ._cached_graph import Graph
from ._errors import MismatchError
from ._hybrid_block import HybridBlock


def save(block: Block, prefix: str) -> None:
    """Writes both files."""
    numbers = iter(range(1 << 31))
    model = {block.name: _described(block, numbers)}
    with replacing(f"{prefix}-model.json") as file:
        file.write(json.dumps(model).encode())
    block.save_parameters(f"{prefix}-model.params")


def _described(block: Block, numbers: Any) -> Dict[str, Any]:
    facts: Dict[str, Any] = {"orig_name": block.name}
    if isinstance(block, HybridBlock):
        graph = block._graph
        if graph is not None:
            facts["in_format"] = graph.in_format
            facts["out_format"] = graph.out_format
            facts["inputs"] = [variable.tojson() for variable in graph.inputs]
            facts["symbol"] = graph.output.tojson()
        facts["hybridized"] = graph is not None
    facts["children"] = {}
    for path, child in block._children.items():
        name = f"{type(child).__name__.lower()}{next(numbers)}"
        facts["children"][child.name] = path
        facts[name] = _described(child, numbers)
    return facts


def load(block: Block, prefix: str) -> None:
    """Reads both files into a block of the same structure."""
    name = f"{prefix}-model.json"
    with open(name, encoding="utf-8") as file:
        try:
            model = json.load(file)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"given {name!r}, which is no JSON ({error}), expected what Block.save has written") from error
    if not isinstance(model, dict) or len(model) != 1:
        raise MismatchError(f"{name} describes {len(model) if isinstance(model, dict) else 'no'} blocks, expected one")
    try:
        _restore(block, next(iter(model.values())), name)
    except MismatchError:  # which names it
        raise
    except MXNetError as error:  # of a graph
        raise MXNetError(f"{error} (in {name})") from error
    except (ValueError, TypeError, LookupError, AttributeError) as error:  # another program's JSON
        raise MismatchError(f"{name} lacks what Block.save writes ({type(error).__name__}: {error}), expected facts of each block") from error
    block.load_parameters(f"{prefix}-model.params")


def _restore(block: Block, facts: Dict[str, Any], file: str) -> None:
    described = [part for name, part in facts.items() if name not in _FACTS and isinstance(part, dict)]
    paths = facts["children"]
    if set(paths.values()) != set(block._children):
        raise MismatchError(
            f"{file} has children {sorted(paths.values())} of {facts['orig_name']}, expected {sorted(block._children)}"
        )
    if facts.get("hybridized") and isinstance(block, HybridBlock):
        inputs = [symbol.load_json(text) for text in facts["inputs"]]
        output = _renamed(block, facts)
        block._active = True
        block.__dict__["_graph"] = Graph(inputs, output, facts["in_format"], facts["out_format"])
    for part in described:
        path = paths[part["orig_name"]]
        _restore(block._children[path], part, file)


_FACTS = ("orig_name", "in_format", "out_format", "inputs", "symbol", "hybridized", "children")


def _renamed(block: HybridBlock, facts: Dict[str, Any]) -> Any:
    """The saved graph with the names that the parameters have in this process."""
    graph = json.loads(facts["symbol"])
    names = _names_by_path(block, facts)
    for node in graph["nodes"]:
        if node["op"] == "null":
            node["name"] = names.get(node["name"], node["name"])
    return symbol.load_json(json.dumps(graph))


def _names_by_path(block: Block, facts: Dict[str, Any]) -> Dict[str, str]:
    """From names of parameters in the file to those of this block's parameters at the same place."""
    saved = facts["orig_name"]
    found: Dict[str, str] = {}
    for parameter in block.params.values():
        local = parameter.name[len(block.prefix) :] if parameter.name.startswith(block.prefix) else parameter.name
        found[f"{saved}_{local}" if saved else local] = parameter.name
    paths = facts["children"]
    for name, part in facts.items():
        if name not in _FACTS and isinstance(part, dict):
            found.update(_names_by_path(block._children[paths[part["orig_name"]]], part))
    return found
