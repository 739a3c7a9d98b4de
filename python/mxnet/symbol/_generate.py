# SPDX-License-Identifier: Apache-2.0
"""Operator functions on symbols, made from the registry when they are first asked for."""

from __future__ import annotations

import sys
from typing import Any, Callable, Dict

from .. import _core, attribute, name
from ..ndarray._dtypes import dtype_name, text_of
from ..ndarray._generate import _names, _Null, names_in, operator

__all__ = ["fill", "function", "names_in"]

_made: Dict[str, Callable[..., Any]] = {}


def _text(key: str, value: Any) -> str:
    if key == "dtype" and not isinstance(value, str) and value is not None:
        return dtype_name(value)
    return text_of(value)


def compose(op_name: str, inputs: Any, params: Dict[str, Any], node_name: Any, attr: Any) -> Any:
    """A node of an operator. Inputs: symbols by place, or a dictionary of them by name."""
    from .symbol import Symbol

    texts = {key: _text(key, value) for key, value in params.items() if value is not _Null}
    named = isinstance(inputs, dict)
    symbols = list(inputs.values()) if named else list(inputs)
    for symbol in symbols:
        if not isinstance(symbol, Symbol):
            raise TypeError(f"{op_name}: given {type(symbol).__name__}, expected a Symbol")
    counted = _core.op_info(op_name)[3]
    if counted and counted not in texts:
        texts[counted] = str(len(symbols))
    # Attributes go through the operator's parser, which passes keys of this form.
    scope = attribute.current().get(attr)
    texts.update({key if key.startswith("__") else f"__{key}__": value for key, value in scope.items()})
    made = Symbol()
    made._take(_core.symbol_atomic(op_name, list(texts), list(texts.values())))
    hint = op_name.lower()
    made._compose(name.current().get(node_name, hint), list(inputs) if named else [], symbols)
    return made


def function(op_name: str) -> Callable[..., Any]:
    """The function of an operator, by its name in the registry."""
    if op_name in _made:
        return _made[op_name]
    described = operator(op_name)
    listed = described.arguments

    def call(*args: Any, name: Any = None, attr: Any = None, **kwargs: Any) -> Any:  # pylint: disable=redefined-outer-name
        from .symbol import Symbol

        kwargs.pop("out", None)
        if described.variadic:
            arrays = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
            params = {k: v for k, v in kwargs.items() if not isinstance(v, Symbol)}
            given = {k: v for k, v in kwargs.items() if isinstance(v, Symbol)}
            if given and arrays:
                raise TypeError(f"{op_name}: given inputs by place and by name, expected one of the two")
            return compose(op_name, given or arrays, params, name, attr)
        if not any(is_array for _, is_array in listed):  # the registry shows none of its inputs
            return compose(op_name, args, kwargs, name, attr)
        if len(args) > len(listed):
            raise TypeError(f"{op_name}: given {len(args)} positional arguments, expected at most {len(listed)}")
        values = {key: value for (key, _), value in zip(listed, args)}
        twice = values.keys() & kwargs.keys()
        if twice:
            raise TypeError(f"{op_name}: given two values for {', '.join(sorted(twice))}")
        values.update(kwargs)
        array_names = {key for key, is_array in listed if is_array}
        inputs = {k: v for k, v in values.items() if k in array_names and v is not None}
        params = {k: v for k, v in values.items() if k not in array_names}
        return compose(op_name, inputs, params, name, attr)

    call.__name__ = call.__qualname__ = op_name
    call.__doc__ = described.__doc__
    _made[op_name] = call
    return call


def fill(module_name: str, prefix: str) -> Callable[[str], Any]:
    """The __getattr__ of a module: makes its operators when they are asked for."""
    module = sys.modules[module_name]

    def __getattr__(asked: str) -> Any:
        full = asked if prefix in ("", "_") else prefix + asked
        if full in _names():
            made = function(full)
            setattr(module, asked, made)
            return made
        raise AttributeError(f"module {module_name!r} has no attribute {asked!r}")

    return __getattr__
