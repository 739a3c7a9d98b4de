# SPDX-License-Identifier: Apache-2.0
"""The ONNX graph while it is made: nodes, constants, unique names."""

from __future__ import annotations

import ast
from types import SimpleNamespace
from typing import Any, Dict, List, Sequence, Tuple, Union

import numpy as np

from ... import _core
from .._package import number_of_type, onnx

OPSET = 13


def _value(kind: str, text: Any) -> Any:
    """An attribute as a Python value, by the kind that the registry states."""
    text = str(text).strip("'\"")
    if text in ("None", ""):
        return None if text else ""
    if kind.startswith(("boolean", "bool")):
        return text in ("1", "True", "true")
    if kind.startswith(("string", "{")):
        return text
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):  # numbers such as 'inf' or '1L'
        value = float(text) if not text.endswith("L") else int(text[:-1])
    if kind.startswith(("float", "double")):
        return float(value)
    if kind.startswith("Shape") and not isinstance(value, tuple):
        value = tuple(value) if isinstance(value, list) else (value,)
    return value


def parameters(op_name: str, given: Dict[str, str]) -> SimpleNamespace:
    """All parameters of an operator: those given in the file, the registry's defaults for the others."""
    values = {}
    for name, kind, _ in _core.op_info(op_name)[2]:
        if name in given:
            values[name] = _value(kind, given[name])
        elif "default=" in kind:
            values[name] = _value(kind, kind.split("default=", 1)[1])
        elif "required" not in kind:
            continue  # an input
        else:
            values[name] = None
    return SimpleNamespace(**values)


class Node:
    """A node of the symbol: its parameters, and names, shapes and types of what goes in and comes out."""

    def __init__(self, op: str, name: str, given: Dict[str, str]) -> None:
        self.op = op
        self.name = name
        self.params = parameters(op, given)
        self.inputs: List[str] = []
        self.shapes: List[Tuple[int, ...]] = []
        self.dtypes: List[np.dtype] = []
        self.out_shapes: List[Tuple[int, ...]] = []
        self.out_dtypes: List[np.dtype] = []

    @property
    def rank(self) -> int:
        """Of the first input."""
        return len(self.shapes[0])

    def axis(self, axis: int, rank: int = -1) -> int:
        """An axis counted from the front."""
        rank = self.rank if rank < 0 else rank
        return axis + rank if axis < 0 else axis

    def refuse(self, given: str, expected: str) -> Exception:
        """The error for what ONNX, or its opset, has no words for."""
        from ...base import MXNetError

        return MXNetError(f"export_model: {self.op} {self.name!r}: given {given}, expected {expected}")


class Graph:
    """Adds nodes and constants, and gives each value a name of its own."""

    def __init__(self, values: Dict[str, np.ndarray], dynamic: bool) -> None:
        self.values = values  # constants of the network, by name
        self.dynamic = dynamic  # whether sizes of inputs may differ from those given
        self.nodes: List[Any] = []
        self.constants: Dict[str, Any] = {}
        self._by_content: Dict[Tuple[Any, ...], str] = {}
        self._names: Dict[str, int] = {}
        self.scope = ""

    def unique(self, name: str) -> str:
        """This name, or it with a number behind it."""
        count = self._names.get(name, -1) + 1
        self._names[name] = count
        return name if count == 0 else self.unique(f"{name}_{count}")

    def op(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        """Adds a node and returns its output's name, or a list of them."""
        made = [self.unique(f"{self.scope}_{kind.lower()}") for _ in range(outputs)]
        given = {key: value for key, value in attributes.items() if value is not None}
        self.nodes.append(onnx().helper.make_node(kind, list(inputs), made, name=self.unique(f"{self.scope}/{kind}"), **given))
        return made[0] if outputs == 1 else made

    def const(self, value: Any, dtype: Any = None) -> str:
        """A constant; equal ones are stored once."""
        array = np.ascontiguousarray(value, dtype) if np.ndim(value) else np.array(value, dtype)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._by_content:
            name = self._by_content[key] = self.unique("const")
            self.constants[name] = onnx().numpy_helper.from_array(array, name)
        return self._by_content[key]

    def ints(self, values: Sequence[int]) -> str:
        """A list of whole numbers as ONNX wants shapes and axes."""
        return self.const(np.array(values, np.int64))

    def parameter(self, name: str) -> None:
        """Keeps a constant of the network under its own name."""
        if name not in self.constants:
            self.constants[name] = onnx().numpy_helper.from_array(np.ascontiguousarray(self.values[name]), name)

    def value(self, node: Node, place: int, what: str) -> np.ndarray:
        """The constant at an input, which has to be one."""
        name = node.inputs[place]
        if name not in self.values:
            raise node.refuse(f"{what} that the network computes", "constants")
        return self.values[name]

    def cast(self, value: str, dtype: Any) -> str:
        """The value in another type."""
        return self.op("Cast", value, to=number_of_type(dtype))

    def squeeze(self, value: str, *axes: int) -> str:
        """Without these axes of size one."""
        return self.op("Squeeze", value, self.ints(axes))

    def unsqueeze(self, value: str, *axes: int) -> str:
        """With new axes of size one at these places."""
        return self.op("Unsqueeze", value, self.ints(axes))

    def transpose(self, value: str, axes: Sequence[int]) -> str:
        """With the axes in this order; nothing is added where that is theirs already."""
        return value if list(axes) == list(range(len(axes))) else self.op("Transpose", value, perm=list(axes))

    def reshape(self, value: str, shape: Sequence[int]) -> str:
        """With another shape: 0 keeps a size, -1 is what is left."""
        return self.op("Reshape", value, self.ints(shape))

    def slice(self, value: str, begin: Sequence[int], end: Sequence[int], axes: Sequence[int], step: Any = None) -> str:
        """A part of the value."""
        steps = [self.ints(step)] if step is not None else []
        return self.op("Slice", value, self.ints(begin), self.ints(end), self.ints(axes), *steps)


def pairs(values: Union[Sequence[int], None], rank: int, default: int) -> List[int]:
    """A number for each spatial dimension."""
    return list(values) if values else [default] * rank
