# SPDX-License-Identifier: Apache-2.0
"""A finished network with casts where operators ask for another precision."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Sequence, Set, Tuple

_HALF, _FULL = "half", "full"


class Converter:
    """Rebuilds the nodes of a network in their order, with amp_cast and amp_multicast between them.

    The precision of a value follows from what computes it: variables are in float32 unless their type says
    otherwise; operators that run in either precision pass on that of their inputs.
    """

    def __init__(
        self,
        target_dtype: str,
        target_ops: Sequence[str],
        fp32_ops: Sequence[str],
        widest_ops: Sequence[str],
        conditional_ops: Sequence[Tuple[str, str, Sequence[str]]],
        excluded: Sequence[str],
    ) -> None:
        self._target = target_dtype
        self._target_ops = set(target_ops)
        self._fp32_ops = set(fp32_ops)
        self._widest_ops = set(widest_ops)
        self._conditional: Dict[str, List[Tuple[str, Sequence[str]]]] = {}
        for op, parameter, values in conditional_ops:
            self._conditional.setdefault(op, []).append((parameter, values))
        self._excluded = set(excluded)

    def _is_delicate(self, node: Dict[str, Any]) -> bool:
        attrs = node.get("attrs", {})
        if node["name"] in self._excluded or node["op"] in self._fp32_ops:
            return True
        return any(attrs.get(key) in values for key, values in self._conditional.get(node["op"], []))

    def convert(self, symbol: Any, casted: Set[str]) -> Any:
        """The network; the variables in `casted` are in the target type already."""
        from ... import symbol as sym_module

        graph = json.loads(symbol.tojson())
        states = set(symbol.list_auxiliary_states())
        nodes: List[Dict[str, Any]] = []
        places: Dict[Tuple[int, int], Tuple[int, int]] = {}  # a value's old and new place
        kinds: Dict[Tuple[int, int], str] = {}  # by new place
        casts: Dict[Tuple[Tuple[int, int], str], Tuple[int, int]] = {}

        def cast(value: Tuple[int, int], kind: str) -> Tuple[int, int]:
            source = nodes[value[0]]
            if kinds[value] == kind or source["name"] in states:
                return value
            if (value, kind) not in casts:
                dtype = self._target if kind == _HALF else "float32"
                name = f"{source['name']}_{value[1]}_amp_cast_{dtype}"
                nodes.append({"op": "amp_cast", "name": name, "attrs": {"dtype": dtype}, "inputs": [[*value, 0]]})
                made = (len(nodes) - 1, 0)
                kinds[made] = kind
                casts[value, kind] = made
            return casts[value, kind]

        for old, node in enumerate(graph["nodes"]):
            inputs = [places[item[0], item[1]] for item in node["inputs"]]
            kind = _FULL
            if node["op"] == "null":
                kind = _HALF if node["name"] in casted else _FULL
            elif self._is_delicate(node):
                inputs = [cast(value, _FULL) for value in inputs]
            elif node["op"] in self._target_ops:
                inputs = [cast(value, _HALF) for value in inputs]
                kind = _HALF
            elif node["op"] in self._widest_ops and len({kinds[value] for value in inputs}) > 1:
                inputs = [cast(value, _FULL) for value in inputs]
            elif inputs:
                kind = kinds[inputs[0]]  # normalisations take their parameters in float32
            nodes.append({**node, "inputs": [[*value, 0] for value in inputs]})
            new = len(nodes) - 1
            for output in range(_outputs(graph, old)):
                places[old, output] = (new, output)
                kinds[new, output] = kind
        heads = [[*cast(places[item[0], item[1]], _FULL), 0] for item in graph["heads"]]
        made = {
            "nodes": nodes,
            "arg_nodes": [i for i, node in enumerate(nodes) if node["op"] == "null"],
            "heads": heads,
            "attrs": graph["attrs"],
        }
        return sym_module.load_json(json.dumps(made))


def _outputs(graph: Dict[str, Any], node: int) -> int:
    rows = graph["node_row_ptr"]
    return max(rows[node + 1] - rows[node], 1)
