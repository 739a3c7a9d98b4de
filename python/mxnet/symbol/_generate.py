# SPDX-License-Identifier: Apache-2.0
"""Operator functions on symbols, made from the registry when they are first asked for."""

from __future__ import annotations

from typing import Any, Callable, Dict, Tuple

from .. import _core, attribute, name
from .._core import SymbolBase
from .._initializer_base import Initializer
from ..ndarray._dtypes import dtype_name, text_of
from ..ndarray._generate import _NUMPY_PREFIXES, _Null, fill as _fill, names_in, operator

__all__ = ["compose", "fill", "function", "names_in", "numpy_class", "replace"]

_made: Dict[Tuple[str, str], Callable[..., Any]] = {}


def numpy_class() -> Any:
    """The class of symbols that come out of mx.np's operators."""
    from .numpy import _Symbol

    return _Symbol


def _text(key: str, value: Any) -> str:
    if key == "dtype" and not isinstance(value, str) and value is not None:
        return dtype_name(value)
    return text_of(value)


def _attribute_text(value: Any) -> str:
    """Programs give numbers and initializers too, although attributes are texts."""
    return value.dumps() if isinstance(value, Initializer) else str(value)


def compose(op_name: str, inputs: Any, params: Dict[str, Any], node_name: Any, attr: Any, hint: str = "") -> Any:
    """A node of an operator. Inputs: symbols by place, or a dictionary of them by name."""
    from .symbol import Symbol

    texts = {key: _text(key, value) for key, value in params.items() if value is not _Null}
    named = isinstance(inputs, dict)
    symbols = list(inputs.values()) if named else list(inputs)
    for symbol in symbols:
        if not isinstance(symbol, SymbolBase):
            raise TypeError(f"{op_name}: given {type(symbol).__name__}, expected a Symbol")
    *_, arguments, counted = _core.op_info(op_name)
    if counted and counted not in texts:
        texts[counted] = str(len(symbols))
    scope = attribute.current().get(attr)
    if scope:
        # Attributes go through the parser of an operator that has parameters, which passes keys of this form.
        parsed = bool(counted) or any("NDArray" not in kind for _, kind, _ in arguments)
        plain = {key: key if key.startswith("__") or not parsed else f"__{key}__" for key in scope}
        texts.update({plain[key]: _attribute_text(value) for key, value in scope.items()})
    unique = name.current().get(node_name, hint or op_name.lower())
    made = (numpy_class() if op_name.startswith(_NUMPY_PREFIXES) else Symbol)(
        _core.symbol_atomic(op_name, list(texts), list(texts.values()))
    )
    made._compose(unique, list(inputs) if named else [], symbols)
    return made


def function(op_name: str, shown: str = "", module: str = "mxnet.symbol.op") -> Callable[..., Any]:
    """The function of an operator, by its name in the registry; nodes without a name are named after `shown`."""
    shown = shown or op_name
    made = _made.get((op_name, shown))
    if made is None:
        made = _made[op_name, shown] = _function(op_name, shown, module)
    return made


def replace(op_name: str, made: Callable[..., Any]) -> None:
    """Has `made` take the place of the function that function(op_name) gives."""
    _made[op_name, op_name] = made


def _function(op_name: str, shown: str, module: str) -> Callable[..., Any]:
    described = operator(op_name)
    listed = described.arguments
    array_names = {key for key, is_array in listed if is_array}
    hint = shown.lower()

    def call(*args: Any, name: Any = None, attr: Any = None, **kwargs: Any) -> Any:  # pylint: disable=redefined-outer-name
        kwargs.pop("out", None)
        if not described.variadic and len(args) > len(listed) and _numbers(args, listed, array_names):
            args, name, attr = _named(op_name, args, len(listed), name, attr)
        if described.variadic:
            arrays = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
            params = {k: v for k, v in kwargs.items() if not isinstance(v, SymbolBase)}
            given = {k: v for k, v in kwargs.items() if isinstance(v, SymbolBase)}
            if given and arrays:
                raise TypeError(f"{op_name}: given inputs by place and by name, expected one of the two")
            return compose(op_name, given or arrays, params, name, attr, hint)
        if not array_names:  # the registry shows none of its inputs, or there are none
            return compose(op_name, *_by_kind(listed, args, kwargs, op_name), name, attr, hint)
        if len(args) > len(listed):
            raise TypeError(f"{op_name}: given {len(args)} positional arguments, expected at most {len(listed)}")
        values = {key: value for (key, _), value in zip(listed, args)}
        twice = values.keys() & kwargs.keys()
        if twice:
            raise TypeError(f"{op_name}: given two values for {', '.join(sorted(twice))}, expected one")
        values.update(kwargs)
        inputs = {k: v for k, v in values.items() if k in array_names and v is not None}
        params = {k: v for k, v in values.items() if k not in array_names}
        return compose(op_name, inputs, params, name, attr, hint)

    call.__name__ = call.__qualname__ = shown
    call.__module__ = module
    call.__doc__ = described.__doc__
    call.__signature__ = _signature(described)  # type: ignore[attr-defined]
    return call


def _numbers(args: Any, listed: Any, array_names: Any) -> bool:
    """Whether values by place are those that are listed, rather than inputs that the registry does not show."""
    return bool(array_names) or (bool(listed) and not isinstance(args[0], SymbolBase))


def _named(op_name: str, args: Any, known: int, name: Any, attr: Any) -> Tuple[Any, Any, Any]:
    """Arguments without those behind the operator's own: name, attr and out, which is not used."""
    more = dict(zip(("name", "attr", "out"), args[known:]))
    if len(args) > known + 3:
        raise TypeError(f"{op_name}: given {len(args)} positional arguments, expected at most {known + 3}")
    for key, value in (("name", name), ("attr", attr)):
        if value is not None and key in more:
            raise TypeError(f"{op_name}: given two values for {key}, expected one")
    return args[:known], more.get("name", name), more.get("attr", attr)


def _signature(described: Any) -> Any:
    """That of an operator on arrays, with name, attr and out in the order that functions of symbols have."""
    from inspect import Parameter

    signature = described.__signature__
    *own, rest = (value for key, value in signature.parameters.items() if key not in ("name", "out"))
    kind = Parameter.KEYWORD_ONLY if described.variadic else Parameter.POSITIONAL_OR_KEYWORD
    common = [Parameter(key, kind, default=None) for key in ("name", "attr", "out")]
    return signature.replace(parameters=[*own, *common, rest])


def _by_kind(listed: Any, args: Any, kwargs: Dict[str, Any], op_name: str) -> Tuple[list, Dict[str, Any]]:
    """Symbols that come first, and parameters by place and name."""
    inputs = [arg for arg in args if isinstance(arg, SymbolBase)]
    numbers = args[len(inputs) :]
    if any(isinstance(value, SymbolBase) for value in numbers) or len(numbers) > len(listed):
        raise TypeError(f"{op_name}: given {len(args)} positional arguments, expected symbols, then at most {len(listed)}")
    params = {key: value for (key, _), value in zip(listed, numbers)}
    inputs += [value for value in kwargs.values() if isinstance(value, SymbolBase)]
    params.update({key: value for key, value in kwargs.items() if not isinstance(value, SymbolBase)})
    return inputs, params


def fill(module_name: str, prefix: str) -> Callable[[str], Any]:
    """The __getattr__ of a module: makes its functions when they are asked for."""
    return _fill(module_name, prefix, lambda op_name, module, shown: function(op_name, shown, module))
