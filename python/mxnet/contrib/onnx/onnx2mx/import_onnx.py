# SPDX-License-Identifier: Apache-2.0
"""The graph of an ONNX file: each node becomes operators of this library, or a constant where all it reads is known."""

from __future__ import annotations

import math
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from ....base import MXNetError
from ....onnx._package import onnx, type_of_number
from ....symbol import Symbol
from . import _elementwise, _layers, _layout, _recurrent, _reductions  # noqa: F401  (fill the table)
from ._rows import convert_map

__all__ = ["GraphProto", "convert_map", "string_types"]

string_types = (str,)
Value = Union[np.ndarray, Any]  # a constant, or a symbol
# Bytes of a constant that the file tells the shape of instead of holding it: a few bytes may ask for any number.
_LARGEST_MADE = 1 << 31


class Node:
    """A node of the file: its attributes, and its inputs as constants or symbols."""

    def __init__(self, graph: "GraphProto", proto: Any, inputs: List[Optional[Value]]) -> None:
        self._graph = graph
        self.op = proto.op_type
        self.outputs = list(proto.output)
        self.name = proto.name or (proto.output[0] if proto.output else "")
        self.opset = graph.opset
        self.inputs = inputs
        self.attrs = _Attributes(self)
        for attribute in proto.attribute:
            try:
                self.attrs[attribute.name] = _attribute(attribute)
            except Exception as error:
                raise self.refuse(f"an attribute {attribute.name!r} that cannot be read ({error})", "one of ONNX's types") from error

    def has(self, place: int) -> bool:
        """Whether this input is given; the last ones may be absent, others have an empty name."""
        return place < len(self.inputs) and self.inputs[place] is not None

    def sym(self, place: int = 0) -> Any:
        """An input as a symbol."""
        return self._graph.symbol(self._given(place))

    def known(self, place: int, what: str) -> np.ndarray:
        """An input as a constant."""
        value = self._given(place)
        if not isinstance(value, np.ndarray):
            raise self.refuse(f"{what} that the network computes", "constants")
        return value

    def ints(self, place: int, attribute: str, default: Any = None) -> Any:
        """Whole numbers that older opsets have as an attribute and newer ones as an input."""
        if self.has(place):
            return [int(value) for value in self.known(place, attribute).reshape(-1)]
        return self.attrs.get(attribute, default)

    def shape(self, place: int = 0) -> Tuple[int, ...]:
        """The shape of an input, as far as it can be known from that of the graph's inputs."""
        value = self._given(place)
        return value.shape if isinstance(value, np.ndarray) else self._graph.shape_of(value, self)

    def rank(self, place: int = 0) -> int:
        """How many axes an input has."""
        return len(self.shape(place))

    def dtype(self, place: int = 0) -> Any:
        """The type of an input."""
        value = self._given(place)
        return value.dtype if isinstance(value, np.ndarray) else self._graph.dtype_of(value)

    def auxiliary(self, place: int) -> Any:
        """A constant that becomes a state of an operator rather than a parameter."""
        return self._graph.symbol(self.known(place, "statistics"), state=True)

    def constant(self, value: Any) -> Any:
        """A symbol for a new constant."""
        return self._graph.symbol(np.asarray(value))

    def room(self, shape: Any, dtype: Any) -> Tuple[int, ...]:
        """A shape that a constant may be made of."""
        sizes = tuple(int(size) for size in shape)
        if min(sizes, default=0) < 0 or math.prod(sizes) * np.dtype(dtype).itemsize > _LARGEST_MADE:
            raise self.refuse(f"a constant of shape {sizes}", f"sizes from 0 on, and at most {_LARGEST_MADE} bytes")
        return sizes

    def axis(self, default: int, rank: int) -> int:
        """The attribute of that name, counted from the front."""
        axis = self.attrs.get("axis", default)
        if not -rank <= axis < rank:
            raise self.refuse(f"axis {axis}", f"{-rank} to {rank - 1}")
        return int(axis % rank)

    def refuse(self, given: str, expected: str) -> MXNetError:
        """The error for what cannot be read."""
        return MXNetError(f"import_model: {self.op} {self.name!r}: given {given}, expected {expected}")

    def _given(self, place: int) -> Value:
        if not self.has(place):
            raise self.refuse(f"{len(self.inputs)} inputs", f"one at place {place}")
        return self.inputs[place]


class _Attributes(Dict[str, Any]):
    """Attributes of a node by name; one that is missing and needed is an error that names it."""

    def __init__(self, node: Node) -> None:
        super().__init__()
        self._node = node

    def __missing__(self, name: str) -> Any:
        raise self._node.refuse(f"attributes {', '.join(self) or 'of no name'}", f"one named {name}")


def _attribute(proto: Any) -> Any:
    value = onnx().helper.get_attribute_value(proto)
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], bytes):
        return [part.decode() for part in value]
    return onnx().numpy_helper.to_array(value) if isinstance(value, onnx().TensorProto) else value


class GraphProto:
    """Reads the graph of an ONNX model."""

    def __init__(self) -> None:
        self.opset = 1
        self._values: Dict[str, Value] = {}
        self._params: Dict[str, np.ndarray] = {}
        self._states: Dict[str, np.ndarray] = {}
        self._names: Dict[int, str] = {}  # of constants, by the identity of their arrays, which _values keeps
        self._symbols: Dict[str, Any] = {}  # of constants
        self._shapes: Dict[str, Tuple[int, ...]] = {}
        self._types: Dict[str, Any] = {}

    def from_onnx(self, graph: Any, opset_version: int) -> Tuple[Any, Dict[str, Any], Dict[str, Any]]:
        """Symbol, parameters and states of a graph."""
        from .... import ndarray, symbol

        self.opset = opset_version
        for tensor in graph.initializer:
            try:
                self._constant(tensor.name, onnx().numpy_helper.to_array(tensor))
            except Exception as error:
                raise MXNetError(f"import_model: constant {tensor.name!r}: given {error}, expected a tensor of its type and shape") from error
        for name, shape in _tensors(graph.input):
            if name not in self._values:
                self._shapes[name] = tuple(max(size, 0) for size in shape)
                self._values[name] = symbol.Variable(name)
        for given in graph.input:
            if given.name in self._shapes:
                number = given.type.tensor_type.elem_type
                try:
                    self._types[given.name] = type_of_number(number)
                except Exception as error:
                    raise MXNetError(f"import_model: input {given.name!r}: given type {number}, expected a type of tensors") from error
        for node in graph.node:
            self._convert(node)
        unknown = [output.name for output in graph.output if output.name not in self._values]
        if unknown or not graph.output:
            raise MXNetError(f"import_model: given outputs {unknown} that no node makes, expected one or more that are made")
        outputs = [self.symbol(self._values[output.name]) for output in graph.output]
        made = symbol.Group(outputs) if len(outputs) > 1 else outputs[0]
        arguments, states = set(made.list_arguments()), set(made.list_auxiliary_states())
        parameters = {name: ndarray.array(value, dtype=value.dtype) for name, value in self._params.items() if name in arguments}
        kept = {name: ndarray.array(value, dtype=value.dtype) for name, value in self._states.items() if name in states}
        return made, parameters, kept

    def get_graph_metadata(self, graph: Any) -> Dict[str, List[Tuple[Any, ...]]]:
        """Names and shapes of a graph's inputs and outputs, of inputs ONNX's number of the type too."""
        constants = {tensor.name for tensor in graph.initializer}
        types = {value.name: value.type.tensor_type.elem_type for value in graph.input}
        inputs = [(name, shape, types[name]) for name, shape in _tensors(graph.input) if name not in constants]
        return {"input_tensor_data": inputs, "output_tensor_data": _tensors(graph.output)}

    def graph_to_gluon(self, graph: Any, ctx: Any, opset_version: int) -> Any:
        """A graph as a SymbolBlock."""
        return self.block(graph, ctx, *self.from_onnx(graph, opset_version))

    def block(self, graph: Any, ctx: Any, made: Any, parameters: Dict[str, Any], states: Dict[str, Any]) -> Any:
        """What from_onnx has made of a graph, as a SymbolBlock."""
        from .... import initializer, symbol
        from ....gluon import SymbolBlock

        names = [name for name, *_ in self.get_graph_metadata(graph)["input_tensor_data"]]
        block = SymbolBlock(outputs=made, inputs=[symbol.var(name) for name in names])
        for name, parameter in block.collect_params().items():
            value: Any = parameters.get(name, states.get(name))
            parameter.shape = value.shape
            parameter.dtype = value.dtype
            whole = np.dtype(value.dtype).kind in "iub"  # of which none can be drawn
            parameter.initialize(init=initializer.Zero() if whole else None, ctx=ctx)
            parameter.set_data(value)
        return block

    # --- For nodes

    def symbol(self, value: Value, state: bool = False) -> Any:
        """A value as a symbol; a constant becomes a parameter, or a state."""
        from .... import symbol

        if not isinstance(value, np.ndarray):
            return value
        name = self._names.get(id(value))
        if name is None:
            name = f"const_{len(self._names)}"
            self._constant(name, value)
        mine, others = (self._states, self._params) if state else (self._params, self._states)
        if name in others:  # one constant of the file as both: two of them here
            name = f"{name}_{'state' if state else 'parameter'}"
        if name not in mine:
            mine[name] = value.reshape(1) if value.ndim == 0 else value  # () stands for an unknown shape
            self._symbols[name] = symbol.Variable(name, shape=mine[name].shape, dtype=value.dtype)
        return self._symbols[name]

    def shape_of(self, value: Any, node: Node) -> Tuple[int, ...]:
        """The shape of a symbol; 0 stands for a size that follows from one that the file leaves open."""
        guesses = []
        for free in (2, 3):  # what differs between two tries is not fixed
            known = {name: tuple(size or free for size in shape) for name, shape in self._shapes.items()}
            found = value.infer_shape_partial(**self._of_inputs(value, known))[1]
            if not found or not found[0] or 0 in found[0]:
                raise node.refuse("an input of unknown shape", "shapes of the file's inputs that tell it")
            guesses.append(found[0])
        return tuple(size if size == other else 0 for size, other in zip(*guesses))

    def dtype_of(self, value: Any) -> Any:
        """The type of a symbol."""
        found = value.infer_type_partial(**self._of_inputs(value, self._types))[1][0]
        return np.dtype(np.float32 if found is None else found)

    @staticmethod
    def _of_inputs(value: Any, known: Dict[str, Any]) -> Dict[str, Any]:
        listed = set(value.list_arguments())
        return {name: of for name, of in known.items() if name in listed}

    # --- Nodes

    def _constant(self, name: str, value: np.ndarray) -> None:
        value = np.asarray(value)
        self._values[name] = value
        self._names[id(value)] = name

    def _convert(self, proto: Any) -> None:
        convert = convert_map.get(proto.op_type)
        if convert is None or proto.domain not in ("", "ai.onnx"):
            raise MXNetError(
                f"import_model: given operator {proto.domain or 'ai.onnx'}.{proto.op_type} (node {proto.name!r}), expected one of "
                + ", ".join(sorted(convert_map))
            )
        node = Node(self, proto, [self._values.get(name) if name else None for name in proto.input])
        unknown = [name for name in proto.input if name and name not in self._values]
        if unknown:
            raise node.refuse(f"inputs {unknown} that no node before makes", "names of known values")
        if not proto.output:
            raise node.refuse("no outputs", "one or more")
        try:
            made: Union[Value, Sequence[Value]] = convert(node)
            for name, value in zip(proto.output, made if isinstance(made, (list, tuple)) else [made]):
                self._keep(name, value, node)
        except Exception as error:  # a file may hold anything: what does not fit is found where it is used
            if isinstance(error, MXNetError) and str(error).startswith("import_model"):
                raise
            attributes = ", ".join(f"{name}={value!r:.40}" for name, value in node.attrs.items()) or "none"
            text = str(error).strip() or "no more is known"
            raise MXNetError(f"import_model: {node.op} {node.name!r}, attributes: {attributes}: {type(error).__name__}: {text}") from error

    def _keep(self, name: str, value: Value, node: Node) -> None:
        constant = node.inputs and all(isinstance(given, np.ndarray) for given in node.inputs if given is not None)
        if constant and not isinstance(value, np.ndarray):
            value = self._computed(value, node)
        if isinstance(value, np.ndarray):
            self._constant(name, value)
        elif isinstance(value, Symbol):
            self._values[name] = value
        else:
            raise node.refuse(f"a value of type {type(value).__name__}", "tensors")

    def _computed(self, value: Any, node: Node) -> np.ndarray:
        """A symbol that reads constants only, computed here and now."""
        from .... import ndarray

        node.room(value.infer_shape_partial()[1][0], np.float64)
        needed = {name: self._params[name] for name in value.list_arguments()}
        given = {name: ndarray.array(array, dtype=array.dtype) for name, array in needed.items()}
        return value.eval(**given)[0].asnumpy()


def _tensors(values: Any) -> List[Tuple[str, Tuple[int, ...]]]:
    """Names and shapes; 0 stands for a size that is not fixed."""
    return [(value.name, tuple(size.dim_value for size in value.type.tensor_type.shape.dim)) for value in values]
