# SPDX-License-Identifier: Apache-2.0
"""ExecutorBase, bind and simple_bind on ctypes: the same as their native namesakes."""

from __future__ import annotations

import ctypes
from typing import Any, Dict, List, Optional, Tuple

from .columns import devices, numbers, shapes_and_starts
from .interrupts import kept, raise_kept
from .lib import _LIB, ExecutorHandle, NDArrayHandle, SymbolHandle, c_array, c_str_array, check_call
from .ndarray import handles_of, wrap, wrap_all
from .symbol import SymbolBase, owned

__all__ = ["ExecutorBase", "bind", "simple_bind"]


class _Monitor:
    """What the library calls as long as the executor lives: the newest callback, whichever the library was told last."""

    def __init__(self) -> None:
        self.newest: Any = None

        # It must not keep the executor, whose end frees what calls it.
        @ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p)
        def call(name: bytes, array: int, _: Any) -> None:
            value, callback = wrap(NDArrayHandle(array)), self.newest
            if callback is not None:
                kept(callback, name.decode(), value)

        self.call = call


class ExecutorBase:
    """Owns an executor of the library."""

    def __init__(self, handle: ExecutorHandle) -> None:
        self.handle = handle
        self._monitor = _Monitor()

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            _LIB.MXExecutorFree(self.handle)

    def forward(self, is_train: bool) -> None:
        """Computes the outputs."""
        check_call(_LIB.MXExecutorForward(self.handle, int(is_train)))
        raise_kept()

    def backward(self, head_grads: List[Any], is_train: bool) -> None:
        """Computes the gradients."""
        check_call(_LIB.MXExecutorBackwardEx(self.handle, len(head_grads), handles_of(head_grads), int(is_train)))
        raise_kept()

    def outputs(self) -> List[Any]:
        """The outputs."""
        count, handles = ctypes.c_uint(), ctypes.POINTER(NDArrayHandle)()
        check_call(_LIB.MXExecutorOutputs(self.handle, ctypes.byref(count), ctypes.byref(handles)))
        return wrap_all(count.value, handles)

    def text(self) -> str:
        """The compiled graph."""
        text = ctypes.c_char_p()
        check_call(_LIB.MXExecutorPrint(self.handle, ctypes.byref(text)))
        return (text.value or b"").decode()

    def optimized_symbol(self) -> SymbolBase:
        """The symbol as it runs."""
        made = SymbolHandle()
        check_call(_LIB.MXExecutorGetOptimizedSymbol(self.handle, ctypes.byref(made)))
        return owned(made)

    def set_monitor(self, callback: Any, every: bool) -> None:
        """callback(name, array) sees values; None ends it."""
        self._monitor.newest = callback
        given = None if callback is None else self._monitor.call
        check_call(_LIB.MXExecutorSetMonitorCallbackEX(self.handle, given, None, ctypes.c_bool(every)))

    def reshape(self, partial_shaping: bool, allow_up_sizing: bool, device: Tuple[int, int], groups: Dict[str, Any], shapes: Dict[str, Any]) -> Tuple[Any, ...]:
        """The executor for other shapes, its arguments, gradients and states."""
        dims, starts = shapes_and_starts(shapes.values())
        made = _Made()
        check_call(_LIB.MXExecutorReshapeEx(
            int(partial_shaping), int(allow_up_sizing), *device, *devices(groups), len(shapes), c_str_array(shapes),
            c_array(ctypes.c_int, dims), c_array(ctypes.c_uint, starts), *made.outputs(), self.handle,
            ctypes.byref(made.handle),
        ))
        return made.unpacked()


class _Made:
    """What simple_bind and reshape give out."""

    def __init__(self) -> None:
        self.handle = ExecutorHandle()
        self._num_args, self._num_aux = ctypes.c_uint(), ctypes.c_uint()
        self._args, self._grads, self._aux = (ctypes.POINTER(NDArrayHandle)() for _ in range(3))

    def outputs(self) -> List[Any]:
        """Where a call puts them."""
        return [ctypes.byref(part) for part in (self._num_args, self._args, self._grads, self._num_aux, self._aux)]

    def unpacked(self) -> Tuple[Any, ...]:
        """The executor, arguments, gradients (None where there is none) and states."""
        lists = ((self._num_args, self._args), (self._num_args, self._grads), (self._num_aux, self._aux))
        owned_handles = [[handles[i] for i in range(count.value)] for count, handles in lists]
        return (ExecutorBase(self.handle), *(wrap_all(len(handles), handles) for handles in owned_handles))


def bind(symbol: SymbolBase, device: Tuple[int, int], groups: Dict[str, Any], args: List[Any], grads: List[Any], requests: List[int], aux: List[Any], shared: Optional[ExecutorBase]) -> ExecutorBase:
    """An executor on given arrays."""
    handle = ExecutorHandle()
    check_call(_LIB.MXExecutorBindEX(
        symbol.handle, *device, *devices(groups), len(args), handles_of(args), handles_of(grads),
        c_array(ctypes.c_uint, requests), len(aux), handles_of(aux), None if shared is None else shared.handle,
        ctypes.byref(handle),
    ))
    return ExecutorBase(handle)


def simple_bind(symbol: SymbolBase, device: Tuple[int, int], groups: Dict[str, Any], requests: Any, shapes: Dict[str, Any], dtypes: Dict[str, int], storage_types: Dict[str, int], shared_args: List[str], buffer: Optional[Dict[str, Any]], shared: Optional[ExecutorBase]) -> Tuple[Any, ...]:
    """An executor on arrays that it makes; those for others to use are added to `buffer`."""
    dims, starts = shapes_and_starts(shapes.values())
    words = [requests] if isinstance(requests, str) else list(requests.values()) if isinstance(requests, dict) else requests
    names = c_str_array(requests) if isinstance(requests, dict) else None
    length = ctypes.c_int(-1 if buffer is None else len(buffer))
    updated_names, updated = ctypes.POINTER(ctypes.c_char_p)(), ctypes.POINTER(NDArrayHandle)()
    made = _Made()
    check_call(_LIB.MXExecutorSimpleBindEx64(
        symbol.handle, *device, *devices(groups), 0 if isinstance(requests, str) else len(words), names,
        c_str_array(words), len(shapes), c_str_array(shapes), c_array(ctypes.c_int64, dims),
        c_array(ctypes.c_uint, starts), *numbers(dtypes), *numbers(storage_types), len(shared_args),
        c_str_array(shared_args), ctypes.byref(length), c_str_array(buffer or {}), handles_of((buffer or {}).values()),
        ctypes.byref(updated_names), ctypes.byref(updated), *made.outputs(), None if shared is None else shared.handle,
        ctypes.byref(made.handle),
    ))
    if buffer is not None:
        count = length.value
        texts, handles = [updated_names[i].decode() for i in range(count)], [updated[i] for i in range(count)]
        result = made.unpacked()
        buffer.update(zip(texts, wrap_all(count, handles)))
        return result
    return made.unpacked()
