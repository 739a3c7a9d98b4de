# SPDX-License-Identifier: Apache-2.0
"""A symbol bound to arrays: what Symbol.bind and Symbol.simple_bind give."""

from __future__ import annotations

import weakref
from functools import partial
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from ._core import NDArrayBase
from .base import py_str, show_ctypes_names
from .context import Context

__all__ = ["Executor", "py_str"]
show_ctypes_names(__name__)

Requests = Union[str, Sequence[str], Dict[str, str]]


class Executor:
    """Runs a symbol on its arrays. One thread at a time.

    `arg_arrays`, `grad_arrays` (None where no gradient is asked for) and `aux_arrays` are in the
    order of the symbol's arguments and states; the dictionaries hold the same arrays by name.
    """

    def __init__(self, handle: Any, symbol: Any, ctx: Context, grad_req: Requests, group2ctx: Optional[Dict[str, Context]]) -> None:
        self._base = handle
        self._symbol = symbol
        self._ctx = Context(ctx)
        self._grad_req = grad_req
        self._group2ctx = dict(group2ctx) if group2ctx else None
        self._outputs: Optional[List[Any]] = None
        self._monitor: Optional[Tuple[Callable[[str, Any], None], bool]] = None
        self.arg_arrays: List[Any] = []
        self.grad_arrays: Optional[List[Any]] = None
        self.aux_arrays: List[Any] = []

    def _with_arrays(self, args: List[Any], grads: Optional[List[Any]], aux: List[Any]) -> Executor:
        self.arg_arrays, self.grad_arrays, self.aux_arrays = args, grads, aux
        return self

    @property
    def handle(self) -> Any:
        """The handle of the C ABI, a ctypes.c_void_p."""
        return self._base.handle

    # --- Arrays by name

    @staticmethod
    def _by_name(names: List[str], arrays: Optional[List[Any]]) -> Dict[str, Any]:
        twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) != len(names) else []
        if twice:
            raise ValueError(f"the name {', '.join(twice)} is there more than once, expected different names")
        return dict(zip(names, [None] * len(names) if arrays is None else arrays))

    @property
    def arg_dict(self) -> Dict[str, Any]:
        """The arguments by name."""
        return self._by_name(self._symbol.list_arguments(), self.arg_arrays)

    @property
    def grad_dict(self) -> Dict[str, Any]:
        """The gradients by the name of their argument."""
        return self._by_name(self._symbol.list_arguments(), self.grad_arrays)

    @property
    def aux_dict(self) -> Dict[str, Any]:
        """The states by name."""
        return self._by_name(self._symbol.list_auxiliary_states(), self.aux_arrays)

    @property
    def output_dict(self) -> Dict[str, Any]:
        """The outputs by name."""
        return self._by_name(self._symbol.list_outputs(), self.outputs)

    @property
    def outputs(self) -> List[Any]:
        """The values that the last forward has computed."""
        if self._outputs is None:
            self._outputs = self._base.outputs()
        return self._outputs

    # --- Running

    def forward(self, is_train: bool = False, **kwargs: Any) -> List[Any]:
        """Computes the outputs and returns them. Arrays by name are copied into the arguments first."""
        if kwargs:
            arguments = self.arg_dict
            for name, value in kwargs.items():
                self._assign(arguments, name, value)
        self._base.forward(bool(is_train))
        self._outputs = None  # their shapes may be others now
        return self.outputs

    @staticmethod
    def _assign(arguments: Dict[str, Any], name: str, value: Any) -> None:
        if not isinstance(value, (NDArrayBase, np.ndarray)):
            raise ValueError(f"forward: given {type(value).__name__} for {name}, expected an NDArray or a numpy.ndarray")
        if name not in arguments:
            raise TypeError(f"forward: given argument {name!r}, expected one of {', '.join(arguments)}")
        target = arguments[name]
        if tuple(value.shape) != target.shape:
            raise ValueError(f"forward: given {name} of shape {tuple(value.shape)}, expected {target.shape}")
        if isinstance(value, NDArrayBase) and value.stype == target.stype:
            value.copyto(target)
        else:
            target[:] = value

    def backward(self, out_grads: Any = None, is_train: bool = True) -> None:
        """Gradients of the arguments from those of the outputs: a list, a dictionary by name, or none for ones."""
        if out_grads is None:
            grads: List[Any] = []
        elif isinstance(out_grads, NDArrayBase):
            grads = [out_grads]
        elif isinstance(out_grads, dict):
            names = self._symbol.list_outputs()
            missing = [name for name in names if name not in out_grads]
            if missing:
                raise ValueError(f"backward: given no gradient for {', '.join(missing)}, expected one for each output")
            grads = [out_grads[name] for name in names]
        else:
            grads = list(out_grads)
        for grad in grads:
            if not isinstance(grad, NDArrayBase):
                raise TypeError(f"backward: given {type(grad).__name__}, expected NDArrays as gradients of outputs")
        self._base.backward(grads, bool(is_train))

    def set_monitor_callback(self, callback: Optional[Callable[[str, Any], None]], monitor_all: bool = False) -> None:
        """callback(name, array) sees every output of a node in forward, with `monitor_all` inputs too; None ends it."""
        self._monitor = None if callback is None else (callback, monitor_all)
        self._base.set_monitor(None if callback is None else partial(_show, weakref.ref(self)), bool(monitor_all))

    # --- Parameters

    def copy_params_from(self, arg_params: Dict[str, Any], aux_params: Optional[Dict[str, Any]] = None, allow_extra_params: bool = False) -> None:
        """Copies arrays by name into arguments and states. Unknown names are an error unless extra ones are allowed."""
        for kind, given, mine in (("arguments", arg_params, self.arg_dict), ("states", aux_params or {}, self.aux_dict)):
            for name, array in given.items():
                if name in mine:
                    target = mine[name]
                    array.astype(target.dtype).copyto(target)
                elif not allow_extra_params:
                    raise ValueError(f"given the parameter {name!r}, expected one of the {kind} {', '.join(mine)}")

    def reshape(self, partial_shaping: bool = False, allow_up_sizing: bool = False, **kwargs: Any) -> Executor:
        """An executor for other input shapes, on the same memory where that suffices."""
        shapes = {name: tuple(shape) for name, shape in kwargs.items()}
        base, args, grads, aux = self._base.reshape(
            bool(partial_shaping), bool(allow_up_sizing), (self._ctx.device_typeid, self._ctx.device_id),
            group_devices(self._group2ctx), shapes
        )
        made = Executor(base, self._symbol, self._ctx, self._grad_req, self._group2ctx)._with_arrays(args, grads, aux)
        if self._monitor is not None:
            made.set_monitor_callback(*self._monitor)
        return made

    # --- What was compiled

    def debug_str(self) -> str:
        """The compiled graph as text, with its memory."""
        return self._base.text()

    def get_optimized_symbol(self) -> Any:
        """The symbol as it runs, after all passes."""
        return self._symbol._of(self._base.optimized_symbol())


def group_devices(group2ctx: Optional[Dict[str, Context]]) -> Dict[str, Any]:
    """Devices of groups of nodes as the binding takes them."""
    return {name: (context.device_typeid, context.device_id) for name, context in (group2ctx or {}).items()}


def _show(executor: weakref.ref[Executor], name: str, array: Any) -> None:
    """Shows a value to an executor's monitor. The library owns what it calls where Python's collector does not look: it must not
    hold the executor, which its monitor often does."""
    owner = executor()
    if owner is not None and owner._monitor is not None:
        owner._monitor[0](name, array)
