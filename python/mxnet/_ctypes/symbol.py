# SPDX-License-Identifier: Apache-2.0
"""SymbolBase and functions on symbols on ctypes: the same as their native namesakes."""

from __future__ import annotations

import ctypes
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .columns import numbers, shapes_and_starts
from .lib import _LIB, NDArrayHandle, SymbolHandle, c_array, c_handle_array, c_str, c_str_array, check_call
from .ndarray import handles_of, wrap
from .operator import _handle

__all__ = [
    "SymbolBase", "backend_symbol", "optimize_for", "recorded_symbol", "symbol_atomic", "symbol_from_json",
    "symbol_group", "symbol_variable",
]

Texts = Sequence[str]


class SymbolBase:
    """Owns a symbol of the library."""

    def __init__(self) -> None:
        self.handle = SymbolHandle()

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            _LIB.NNSymbolFree(self.handle)

    def _take(self, other: SymbolBase) -> None:
        self._take_handle(other.handle)
        other.handle = SymbolHandle()

    def _take_handle(self, handle: Any) -> None:
        SymbolBase.__del__(self)
        self.handle = SymbolHandle(handle) if isinstance(handle, int) else handle

    def _derived(self, function: Any, *arguments: Any) -> Any:
        made = SymbolHandle()
        check_call(function(self.handle, *arguments, ctypes.byref(made)))
        return owned(made) if made else None

    def _compose(self, name: str, keys: Texts, inputs: Sequence[SymbolBase]) -> None:
        given = c_str_array(keys) if keys else None
        check_call(_LIB.NNSymbolCompose(self.handle, c_str(name), len(inputs), given, c_handle_array(inputs)))

    def _copy(self) -> Any:
        return self._derived(_LIB.MXSymbolCopy)

    def _shared(self) -> Any:
        return self._derived(_LIB.MXShallowCopySymbol)

    def _without_amp_cast(self) -> Any:
        return self._derived(_LIB.MXSymbolRemoveAmpCast)

    def _internals(self) -> Any:
        return self._derived(_LIB.MXSymbolGetInternals)

    def _children(self) -> Any:
        return self._derived(_LIB.MXSymbolGetChildren)

    def _cut_subgraph(self) -> List[Any]:
        handles, count = ctypes.POINTER(SymbolHandle)(), ctypes.c_int()
        check_call(_LIB.MXSymbolCutSubgraph(self.handle, ctypes.byref(handles), ctypes.byref(count)))
        return [owned(SymbolHandle(handles[i])) for i in range(count.value)]

    def _output(self, index: int) -> Any:
        return self._derived(_LIB.MXSymbolGetOutput, index)

    def _gradient(self, wrt: Texts) -> Any:
        return self._derived(_LIB.MXSymbolGrad, len(wrt), c_str_array(wrt))

    def _num_outputs(self) -> int:
        count = ctypes.c_uint()
        check_call(_LIB.MXSymbolGetNumOutputs(self.handle, ctypes.byref(count)))
        return count.value

    def _listed(self, function: Any, *arguments: Any) -> List[str]:
        count, texts = ctypes.c_uint(), ctypes.POINTER(ctypes.c_char_p)()
        check_call(function(self.handle, *arguments, ctypes.byref(count), ctypes.byref(texts)))
        return [texts[i].decode() for i in range(count.value)]

    def list_arguments(self) -> List[str]:
        """Names of all arguments in order."""
        return self._listed(_LIB.MXSymbolListArguments)

    def list_outputs(self) -> List[str]:
        """Names of all outputs."""
        return self._listed(_LIB.MXSymbolListOutputs)

    def list_auxiliary_states(self) -> List[str]:
        """Names of all states that operators keep."""
        return self._listed(_LIB.MXSymbolListAuxiliaryStates)

    def list_inputs(self) -> List[str]:
        """Names of all variables in order."""
        return self._listed(_LIB.NNSymbolListInputNames, 0)

    def _text(self, function: Any, *arguments: Any) -> Optional[str]:
        text, found = ctypes.c_char_p(), ctypes.c_int()
        check_call(function(self.handle, *arguments, ctypes.byref(text), ctypes.byref(found)))
        return text.value.decode() if found.value and text.value is not None else None

    def _name(self) -> Optional[str]:
        return self._text(_LIB.MXSymbolGetName)

    def attr(self, key: str) -> Optional[str]:
        """An attribute of the node, None without it."""
        return self._text(_LIB.MXSymbolGetAttr, c_str(key))

    def _set_attr(self, key: str, value: str) -> None:
        check_call(_LIB.MXSymbolSetAttr(self.handle, c_str(key), c_str(value)))

    def _attributes(self, every: bool) -> Dict[str, str]:
        count, texts = ctypes.c_uint(), ctypes.POINTER(ctypes.c_char_p)()
        function = _LIB.MXSymbolListAttr if every else _LIB.MXSymbolListAttrShallow
        check_call(function(self.handle, ctypes.byref(count), ctypes.byref(texts)))
        return {texts[2 * i].decode(): texts[2 * i + 1].decode() for i in range(count.value)}

    def _infer_shape(self, keys: Texts, shapes: Sequence[Tuple[int, ...]], partial: bool) -> Tuple[list, list, list, bool]:
        dims, starts = shapes_and_starts(shapes)
        counts = [ctypes.c_size_t() for _ in range(3)]
        ndims = [ctypes.POINTER(ctypes.c_int)() for _ in range(3)]
        found = [ctypes.POINTER(ctypes.POINTER(ctypes.c_int64))() for _ in range(3)]
        complete = ctypes.c_int()
        outputs = [ctypes.byref(part) for triple in zip(counts, ndims, found) for part in triple]
        function = _LIB.MXSymbolInferShapePartialEx64 if partial else _LIB.MXSymbolInferShapeEx64
        check_call(function(
            self.handle, len(shapes), c_str_array(keys) if keys else None, c_array(ctypes.c_int64, starts),
            c_array(ctypes.c_int64, dims), *outputs, ctypes.byref(complete),
        ))
        parts = [
            [None if n[i] < 0 else tuple(data[i][: n[i]]) for i in range(count.value)]
            for count, n, data in zip(counts, ndims, found)
        ]
        return parts[0], parts[1], parts[2], complete.value != 0

    def _infer_type(self, keys: Texts, types: Sequence[int], partial: bool) -> Tuple[list, list, list, bool]:
        counts = [ctypes.c_uint() for _ in range(3)]
        found = [ctypes.POINTER(ctypes.c_int)() for _ in range(3)]
        complete = ctypes.c_int()
        outputs = [ctypes.byref(part) for pair in zip(counts, found) for part in pair]
        function = _LIB.MXSymbolInferTypePartial if partial else _LIB.MXSymbolInferType
        check_call(function(
            self.handle, len(types), c_str_array(keys) if keys else None, c_array(ctypes.c_int, list(types)), *outputs,
            ctypes.byref(complete),
        ))
        parts = [data[: count.value] for count, data in zip(counts, found)]
        return parts[0], parts[1], parts[2], complete.value != 0

    def _own_text(self, function: Any) -> str:
        text = ctypes.c_char_p()
        check_call(function(self.handle, ctypes.byref(text)))
        return (text.value or b"").decode()

    def _json(self) -> str:
        return self._own_text(_LIB.MXSymbolSaveToJSON)

    def debug_str(self) -> str:
        """The network as text."""
        return self._own_text(_LIB.MXSymbolPrint)


def owned(handle: SymbolHandle) -> SymbolBase:
    """A symbol around a handle that it takes over."""
    made = SymbolBase()
    made.handle = handle
    return made


def _made(function: Any, *arguments: Any) -> SymbolBase:
    handle = SymbolHandle()
    check_call(function(*arguments, ctypes.byref(handle)))
    return owned(handle)


def symbol_atomic(op: str, keys: Texts, values: Texts) -> SymbolBase:
    """An operator without name and inputs."""
    return _made(_LIB.MXSymbolCreateAtomicSymbol, _handle(op), len(keys), c_str_array(keys), c_str_array(values))


def symbol_group(symbols: Sequence[SymbolBase]) -> SymbolBase:
    """All outputs of several symbols."""
    return _made(_LIB.MXSymbolCreateGroup, len(symbols), c_handle_array(symbols))


def symbol_variable(name: str) -> SymbolBase:
    """A variable."""
    return _made(_LIB.MXSymbolCreateVariable, c_str(name))


def symbol_from_json(json: str) -> SymbolBase:
    """A network from its JSON."""
    return _made(_LIB.MXSymbolCreateFromJSON, c_str(json))


def backend_symbol(symbol: SymbolBase, backend: str) -> SymbolBase:
    """The symbol as a backend partitions it."""
    return _made(_LIB.MXGenBackendSubgraph, symbol.handle, c_str(backend))


def recorded_symbol(array: Any) -> SymbolBase:
    """What was recorded to compute an array."""
    return _made(_LIB.MXAutogradGetSymbol, array.handle)


def optimize_for(symbol: SymbolBase, backend: str, dev_type: int, args: Any, aux: Any, options: Dict[str, str], shapes: Dict[str, Any], dtypes: Dict[str, int], storage_types: Dict[str, int], skip_infer: bool) -> Tuple[Any, Dict[str, Any], Dict[str, Any]]:
    """The symbol as a backend rewrites it, and the arguments and states that it has added."""
    dims, starts = shapes_and_starts(shapes.values())
    made = SymbolHandle()
    added = [(ctypes.c_int(), ctypes.POINTER(NDArrayHandle)(), ctypes.POINTER(ctypes.c_char_p)()) for _ in range(2)]
    check_call(_LIB.MXOptimizeForBackend(
        symbol.handle, c_str(backend), dev_type, ctypes.byref(made), len(args), handles_of(args), len(aux),
        handles_of(aux), len(options), c_str_array(options), c_str_array(options.values()), len(shapes),
        c_str_array(shapes), c_array(ctypes.c_int64, dims), c_array(ctypes.c_uint, starts), *numbers(dtypes),
        *numbers(storage_types), ctypes.c_bool(skip_infer), *(ctypes.byref(part) for each in added for part in each),
    ))
    arrays = [
        {names[i].decode(): wrap(NDArrayHandle(handles[i])) for i in range(count.value)} for count, handles, names in added
    ]
    return owned(made), arrays[0], arrays[1]
