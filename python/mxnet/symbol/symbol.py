# SPDX-License-Identifier: Apache-2.0
"""The class Symbol: some values of a network, and what can be known of it without arrays."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

import numpy as np

from .. import _core, attribute
from .. import name as _name
from .._core import SymbolBase
from ..ndarray._dtypes import _DTYPE_MX_TO_NP, dtype_name, dtype_number
from . import _generate

_fn = _generate.function


class Symbol(SymbolBase):
    """Some values of a network. Operators on symbols make new ones."""

    __array_priority__ = 1000.0

    @property
    def name(self) -> Optional[str]:
        """The node's name; None for several nodes."""
        return self._name()

    def __repr__(self) -> str:
        shown = self.name or ", ".join(self.list_outputs())
        return f"<{type(self).__name__} {'group [' + shown + ']' if self.name is None else shown}>"

    def __len__(self) -> int:
        return self._num_outputs()

    @property
    def num_outputs(self) -> int:
        """The number of values."""
        return self._num_outputs()

    def __iter__(self) -> Iterator[Symbol]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Union[int, str, slice]) -> Symbol:
        if isinstance(index, slice):
            return Group([self[i] for i in range(*index.indices(len(self)))])
        if isinstance(index, str):
            names = self.list_outputs()
            if names.count(index) != 1:
                raise ValueError(f"given output {index!r}, expected one of {', '.join(names)}")
            index = names.index(index)
        if not 0 <= index < len(self):
            raise IndexError(f"given output {index}, expected one of {len(self)}")
        return _owned(self._output(index))

    def __bool__(self) -> bool:
        raise NotImplementedError("a Symbol has no truth value: it has no numbers yet")

    def __copy__(self) -> Symbol:
        return _owned(self._copy())

    def __deepcopy__(self, _: Any) -> Symbol:
        return _owned(self._copy())

    def __reduce__(self) -> Tuple[Any, ...]:
        return load_json, (self.tojson(),)

    def as_nd_ndarray(self) -> Symbol:
        """The symbol itself."""
        return self

    def as_np_ndarray(self) -> Any:
        """The same values as a symbol with NumPy's operators."""
        from .numpy._symbol import as_numpy_symbol

        return as_numpy_symbol(self)

    def __call__(self, *args: Symbol, name: str = "", **kwargs: Symbol) -> Symbol:
        """A copy with variables replaced by other symbols, by place or by name."""
        if args and kwargs:
            raise TypeError("given inputs by place and by name, expected one of the two")
        made = self.__copy__()
        made._compose(name, list(kwargs), list(args) or list(kwargs.values()))
        return made

    # --- What is known of it

    def list_inputs(self) -> List[str]:
        """Names of all variables."""
        return [node for node in self.get_internals().list_outputs() if node in {*self.list_arguments(), *self.list_auxiliary_states()}]

    def get_internals(self) -> Symbol:
        """Every value of the network as an output."""
        return _owned(self._internals())

    def get_children(self) -> Optional[Symbol]:
        """The inputs of the outputs' nodes, None without any."""
        children = self._children()
        return None if children is None else _owned(children)

    def list_attr(self) -> Dict[str, str]:
        """The outputs' own attributes."""
        return self._attributes(False)

    def attr_dict(self) -> Dict[str, Dict[str, str]]:
        """The attributes of all nodes by name."""
        nodes: Dict[str, Dict[str, str]] = {}
        for key, value in self._attributes(True).items():
            node, _, attr = key.partition("$")
            nodes.setdefault(node, {})[attr] = value
        return nodes

    def _set_attributes(self, **attributes: str) -> None:
        for key, value in attributes.items():
            if not isinstance(value, str):
                raise ValueError(f"given an attribute of type {type(value).__name__}, expected str")
            self._set_attr(key, value)

    def _shapes(self, args: Any, kwargs: Any, partial: bool) -> Tuple[list, list, list, bool]:
        if args and kwargs:
            raise ValueError("given shapes by place and by name, expected one of the two")
        given = dict(kwargs) if kwargs else dict(zip(self.list_arguments(), args))
        known = {key: tuple(shape) for key, shape in given.items() if shape is not None}
        return self._infer_shape(list(known), list(known.values()), partial)

    def infer_shape(self, *args: Any, **kwargs: Any) -> Tuple[Any, Any, Any]:
        """Shapes of arguments, outputs and states; three times None if not all are known."""
        arguments, outputs, states, complete = self._shapes(args, kwargs, False)
        return (arguments, outputs, states) if complete else (None, None, None)

    def infer_shape_partial(self, *args: Any, **kwargs: Any) -> Tuple[Any, Any, Any]:
        """As infer_shape, with what is known."""
        unknown = () if not _core.is_np_shape() else None
        found = self._shapes(args, kwargs, True)[:3]
        return tuple([unknown if shape is None else shape for shape in part] for part in found)  # type: ignore[return-value]

    def infer_type(self, *args: Any, **kwargs: Any) -> Tuple[Any, Any, Any]:
        """Types of arguments, outputs and states; three times None if not all are known."""
        given = dict(kwargs) if kwargs else dict(zip(self.list_arguments(), args))
        known = {key: dtype_number(dtype) for key, dtype in given.items() if dtype is not None}
        *parts, complete = self._infer_type(list(known), list(known.values()), False)
        if not complete:
            return None, None, None
        return tuple([_DTYPE_MX_TO_NP[number] for number in part] for part in parts)  # type: ignore[return-value]

    def save(self, fname: Union[str, os.PathLike]) -> None:
        """Writes the network as JSON."""
        with open(fname, "w", encoding="utf-8") as file:
            file.write(self.tojson())

    # --- Arithmetic

    def _arithmetic(self, other: Any, arrays: str, scalar: str) -> Any:
        if isinstance(other, Symbol):
            return _fn(arrays)(self, other)
        if isinstance(other, (int, float, np.generic)):
            return _fn(scalar)(self, scalar=other)
        return NotImplemented

    def __neg__(self) -> Symbol:
        return _fn("_mul_scalar")(self, scalar=-1.0)

    def __abs__(self) -> Symbol:
        return _fn("abs")(self)

    def __hash__(self) -> int:
        return id(self) >> 4

    def __getattr__(self, asked: str) -> Any:
        """Operators are methods too."""
        if asked.startswith("_"):
            raise AttributeError(f"Symbol has no attribute {asked!r}")
        try:
            made = getattr(_generate.sys.modules["mxnet.symbol"], asked)
        except AttributeError:
            raise AttributeError(f"Symbol has no attribute {asked!r}") from None
        return lambda *args, **kwargs: made(self, *args, **kwargs)


# Python's name: (of two symbols, symbol OP number, number OP symbol or None for comparisons).
_ARITHMETIC = {
    "add": ("_Plus", "_PlusScalar", "_PlusScalar"),
    "sub": ("_Minus", "_MinusScalar", "_RMinusScalar"),
    "mul": ("_Mul", "_MulScalar", "_MulScalar"),
    "truediv": ("_Div", "_DivScalar", "_RDivScalar"),
    "mod": ("_Mod", "_ModScalar", "_RModScalar"),
    "pow": ("_Power", "_PowerScalar", "_RPowerScalar"),
    "eq": ("_equal", "_equal_scalar", None),
    "ne": ("_not_equal", "_not_equal_scalar", None),
    "gt": ("_greater", "_greater_scalar", None),
    "ge": ("_greater_equal", "_greater_equal_scalar", None),
    "lt": ("_lesser", "_lesser_scalar", None),
    "le": ("_lesser_equal", "_lesser_equal_scalar", None),
}


def _define(python: str, arrays: str, scalar: str, reversed_scalar: Optional[str]) -> None:
    setattr(Symbol, f"__{python}__", lambda self, other: self._arithmetic(other, arrays, scalar))
    if reversed_scalar is not None:
        setattr(Symbol, f"__r{python}__", lambda self, other: self._arithmetic(other, arrays, reversed_scalar))


for _python, _row in _ARITHMETIC.items():
    _define(_python, *_row)


def _owned(base: SymbolBase) -> Symbol:
    made = Symbol()
    made._take(base)
    return made


def var(
    name: str,
    attr: Optional[Dict[str, str]] = None,
    shape: Any = None,
    lr_mult: Optional[float] = None,
    wd_mult: Optional[float] = None,
    dtype: Any = None,
    init: Any = None,
    stype: Any = None,
    **kwargs: str,
) -> Symbol:
    """A variable: an argument of the network."""
    if not isinstance(name, str):
        raise TypeError(f"given a name of type {type(name).__name__}, expected str")
    made = _owned(_core.symbol_variable(name))
    texts = attribute.current().get(attr)
    given = {"__shape__": shape, "__lr_mult__": lr_mult, "__wd_mult__": wd_mult}
    texts.update({key: str(value) for key, value in given.items() if value is not None})
    if dtype is not None:
        texts["__dtype__"] = str(dtype_number(dtype))
    if init is not None:
        texts["__init__"] = init if isinstance(init, str) else init.dumps()
    if stype is not None:
        texts["__storage_type__"] = str({"default": 0, "row_sparse": 1, "csr": 2}[stype])
    for key, value in kwargs.items():
        if not (key.startswith("__") and key.endswith("__")):
            raise ValueError(f"given attribute {key}, expected a name of the form __{key}__")
        texts[key] = value
    made._set_attributes(**texts)
    return made


Variable = var


def Group(symbols: Any) -> Symbol:  # pylint: disable=invalid-name
    """All values of several symbols."""
    symbols = list(symbols)
    if not symbols or not all(isinstance(symbol, Symbol) for symbol in symbols):
        raise TypeError("expected at least one symbol, and nothing but symbols")
    return _owned(_core.symbol_group(symbols))


def load_json(json_str: str) -> Symbol:
    """A network from its JSON."""
    return _owned(_core.symbol_from_json(json_str))


fromjson = load_json


def load(fname: Union[str, os.PathLike]) -> Symbol:
    """A network from a file."""
    with open(fname, encoding="utf-8") as file:
        return load_json(file.read())


def zeros(shape: Any, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Zeros."""
    return _fn("_zeros")(shape=shape, dtype=dtype_name(np.float32 if dtype is None else dtype), **kwargs)


def ones(shape: Any, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Ones."""
    return _fn("_ones")(shape=shape, dtype=dtype_name(np.float32 if dtype is None else dtype), **kwargs)
