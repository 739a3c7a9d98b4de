# SPDX-License-Identifier: Apache-2.0
"""Operators on ctypes: takes apart the arguments of a call as the operator's description says."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any, Callable, Dict, List, Sequence, Tuple

from .lib import _LIB, OpHandle, c_str, c_str_array, check_call
from .ndarray import NDArrayBase, invoke

__all__ = ["ElementwiseFunction", "Operator", "PlainFunction", "PlainMethod", "op_info", "op_names", "set_not_given", "set_text_maker"]

_text_maker: List[Callable[[Any], str]] = []
_not_given: List[Any] = [object()]


def set_text_maker(maker: Callable[[Any], str]) -> None:
    """Leaves the function that makes a parameter's text of an unusual value."""
    _text_maker[:] = [maker]


def set_not_given(value: Any) -> None:
    """Leaves the object that stands for a parameter that is not given."""
    _not_given[:] = [value]


def _text_of(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, (tuple, list)):
        return "(" + ", ".join(_text_of(item) for item in value) + ("," if len(value) == 1 else "") + ")"
    return _text_maker[0](value)


def op_names() -> List[str]:
    """The names of all operators."""
    count, names = ctypes.c_uint(), ctypes.POINTER(ctypes.c_char_p)()
    check_call(_LIB.MXListAllOpNames(ctypes.byref(count), ctypes.byref(names)))
    return [names[i].decode() for i in range(count.value)]


@lru_cache(maxsize=None)  # a graph asks for each of its nodes; operators stay
def _handle(name: str) -> OpHandle:
    handle = OpHandle()
    check_call(_LIB.NNGetOpHandle(c_str(name), ctypes.byref(handle)))
    return handle


@lru_cache(maxsize=None)
def op_info(name: str) -> Tuple[str, str, List[Tuple[str, str, str]], str]:
    """Real name, description, (name, type, description) of arguments, counted."""
    real, text, counted, returned = (ctypes.c_char_p() for _ in range(4))
    count = ctypes.c_uint()
    lists = [ctypes.POINTER(ctypes.c_char_p)() for _ in range(3)]
    check_call(_LIB.MXSymbolGetAtomicSymbolInfo(
        _handle(name), ctypes.byref(real), ctypes.byref(text), ctypes.byref(count),
        *(ctypes.byref(each) for each in lists), ctypes.byref(counted), ctypes.byref(returned),
    ))
    arguments = [tuple(each[i].decode() for each in lists) for i in range(count.value)]
    return real.value.decode(), text.value.decode(), arguments, (counted.value or b"").decode()  # type: ignore


class Operator:
    """An operator of the registry as a function of arrays."""

    def __init__(self, name: str, numpy: bool = False) -> None:
        _, self._doc, described, counted = op_info(name)
        self.op_name, self._numpy, self._op = name, bool(numpy), _handle(name)
        self.arguments = [(key, kind.startswith(("NDArray", "Symbol"))) for key, kind, _ in described]
        self.variadic = bool(counted) or any(kind.startswith("NDArray-or-Symbol[]") for _, kind, _ in described)
        self._undescribed = not any(is_array for _, is_array in self.arguments)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return lambda *args, **kwargs: self(instance, *args, **kwargs)

    def _sorted(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Tuple[List[Any], Dict[str, Any], Any]:
        """Arrays in the operator's order, parameters, and `out` by position."""
        leading: List[Any] = []
        while self._undescribed and args and isinstance(args[0], NDArrayBase):
            leading, args = [*leading, args[0]], args[1:]
        known = [key for key, _ in self.arguments]
        if len(args) > len(known) + 2:  # out and name, which arrays do not have, follow the operator's own
            raise TypeError(f"{self.op_name}: given {len(args)} positional arguments, expected at most {len(known) + 2}")
        values = dict(zip(known, args))
        for key in values.keys() & kwargs.keys():
            raise TypeError(f"{self.op_name}: given two values for {key}, expected one")
        values.update(kwargs)
        values = {key: value for key, value in values.items() if key not in known or value is not _not_given[0]}
        arrays = {key for key, is_array in self.arguments if is_array}
        inputs = leading + [values[key] for key in known if key in arrays and values.get(key) is not None]
        params = {key: values[key] for key in (*known, *kwargs) if key in values and key not in arrays}
        return inputs, params, args[len(known)] if len(args) > len(known) else None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        kwargs.pop("name", None)
        kwargs.pop("attr", None)
        if self.variadic:
            inputs = list(args[0]) if len(args) == 1 and isinstance(args[0], (list, tuple)) else list(args)
            params = {key: value for key, value in kwargs.items() if value is not _not_given[0]}
        else:
            inputs, params, last = self._sorted(args, kwargs)
            out = last if out is None else out
        for value in inputs:
            if not isinstance(value, NDArrayBase) or (self._numpy and not value._is_np):
                expected = "mx.np array; NDArray.as_np_ndarray() makes one" if self._numpy else "NDArray"
                raise TypeError(f"{self.op_name}: given {type(value).__name__}, expected an {expected}")
        numpy = self._numpy or any(value._is_np for value in inputs)
        keys, texts = list(params), [_text_of(value) for value in params.values()]
        return invoke(_LIB.MXImperativeInvokeEx, (self._op,), inputs, out, numpy, (len(keys), c_str_array(keys), c_str_array(texts)))


def update_weights(operator: Operator, size: int, columns: Sequence[List[Any]], rates: Dict[str, List[float]], params: Dict[str, Any]) -> None:
    """Runs an operator for each weight, or with a size above 0 for so many at once."""
    if not isinstance(operator, Operator):
        raise TypeError("update_weights: expected an Operator")
    each, count = max(size, 1), len(columns[0])
    for column in columns:
        if len(column) != count:
            raise ValueError(f"given {len(column)} arrays, expected {count}, one for each weight")
    for name, values in rates.items():
        if len(values) != count:
            raise ValueError(f"{name}: expected one value for each of {count} weights")
    for first in range(0, count, each):
        parts = [column[first : first + each] for column in columns]
        own = {name: tuple(values[first : first + each]) if size else values[first] for name, values in rates.items()}
        counted = {"num_weights": len(parts[0])} if size else {}
        out = parts[0] if size else parts[0][0]
        operator(*(array for group in zip(*parts) for array in group), out=out, **own, **counted, **params)


def all_dense(columns: Sequence[Sequence[Any]]) -> bool:
    """Whether no array is sparse."""
    return not any(array._storage_type_id for column in columns for array in column)


def ElementwiseFunction(fallback: Callable[..., Any], *operators: Operator) -> Callable[..., Any]:  # pylint: disable=invalid-name
    """A function of mx.np arrays. The native binding goes past it where a call is plain: that is speed alone."""
    del operators
    return fallback


def PlainFunction(fallback: Callable[..., Any], *_table: Any) -> Callable[..., Any]:  # pylint: disable=invalid-name
    """A function or a method of mx.np arrays, as above."""
    return fallback


PlainMethod = PlainFunction
