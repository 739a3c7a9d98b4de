# SPDX-License-Identifier: Apache-2.0
"""Giving a symbol its arrays: the methods bind, simple_bind and eval."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

from .. import _core
from .._core import NDArrayBase
from ..base import MXNetError
from ..context import Context, current_context
from ..executor import Executor, Requests, group_devices
from ..ndarray._dtypes import _STORAGE_TYPE_STR_TO_ID, dtype_number

_REQUESTS = {"null": 0, "write": 1, "add": 3}


def _in_order(what: str, arrays: Any, names: List[str], allow_missing: bool) -> List[Any]:
    """Arrays given in order or by name, in order."""
    if isinstance(arrays, dict):
        missing = [name for name in names if name not in arrays]
        if missing and not allow_missing:
            raise ValueError(f"bind: given no {', '.join(missing)} in {what}, expected {', '.join(names)}")
        ordered = [arrays.get(name) for name in names]
    else:
        ordered = list(arrays)
        if len(ordered) != len(names):
            raise ValueError(f"bind: given {len(ordered)} arrays in {what}, expected {len(names)}: {', '.join(names)}")
    for array in ordered:
        if not isinstance(array, NDArrayBase) and not (array is None and allow_missing):
            raise TypeError(f"bind: given {type(array).__name__} in {what}, expected NDArrays")
    return ordered


def _request_numbers(grad_req: Requests, names: List[str]) -> List[int]:
    if isinstance(grad_req, str):
        words: Sequence[str] = [grad_req] * len(names)
    elif isinstance(grad_req, dict):
        words = [grad_req.get(name, "null") for name in names]
    else:
        words = list(grad_req)
    for word in words:
        if word not in _REQUESTS:
            raise ValueError(f"given grad_req {word!r}, expected one of {', '.join(_REQUESTS)}")
    if len(words) != len(names):
        raise ValueError(f"given {len(words)} gradient requests, expected {len(names)}")
    return [_REQUESTS[word] for word in words]


class Binding:
    """The part of Symbol that makes executors."""

    def bind(
        self,
        ctx: Context,
        args: Any,
        args_grad: Any = None,
        grad_req: Requests = "write",
        aux_states: Any = None,
        group2ctx: Optional[Dict[str, Context]] = None,
        shared_exec: Optional[Executor] = None,
    ) -> Executor:
        """An executor on given arrays: lists in the order of list_arguments(), or dictionaries.

        Without `args_grad` there are no gradients, whatever is requested.
        """
        names = self.list_arguments()  # type: ignore[attr-defined]
        states = self.list_auxiliary_states()  # type: ignore[attr-defined]
        arguments = _in_order("args", args, names, False)
        grads = [None] * len(names) if args_grad is None else _in_order("args_grad", args_grad, names, True)
        aux = _in_order("aux_states", [] if aux_states is None else aux_states, states, False)
        base = _core.bind(
            self, (ctx.device_typeid, ctx.device_id), group_devices(group2ctx), arguments, grads,
            _request_numbers(grad_req, names), aux, None if shared_exec is None else shared_exec._base,
        )
        made = Executor(base, self, ctx, grad_req, group2ctx)
        return made._with_arrays(arguments, None if args_grad is None else grads, aux)

    def simple_bind(
        self,
        ctx: Context,
        grad_req: Requests = "write",
        type_dict: Optional[Dict[str, Any]] = None,
        stype_dict: Optional[Dict[str, str]] = None,
        group2ctx: Optional[Dict[str, Context]] = None,
        shared_arg_names: Optional[Sequence[str]] = None,
        shared_exec: Optional[Executor] = None,
        shared_buffer: Optional[Dict[str, Any]] = None,
        **kwargs: Any,
    ) -> Executor:
        """An executor that makes its arrays, from the shapes of some arguments as keywords."""
        if isinstance(grad_req, str) or not isinstance(grad_req, dict):
            _request_numbers(grad_req, self.list_arguments())  # type: ignore[attr-defined]
        requests = grad_req if isinstance(grad_req, (str, dict)) else list(grad_req)
        shapes = {name: _shape(name, shape) for name, shape in kwargs.items()}
        types = {name: dtype_number(dtype) for name, dtype in (type_dict or {}).items() if dtype is not None}
        storage = {name: _STORAGE_TYPE_STR_TO_ID[stype] for name, stype in (stype_dict or {}).items()}
        try:
            base, args, grads, aux = _core.simple_bind(
                self, (ctx.device_typeid, ctx.device_id), group_devices(group2ctx), requests, shapes, types, storage,
                list(shared_arg_names or []), shared_buffer, None if shared_exec is None else shared_exec._base,
            )
        except MXNetError as error:
            given = "".join(f"\n{name}: {shape}" for name, shape in shapes.items())
            raise type(error)(f"simple_bind: {error}\nGiven shapes:{given or ' none'}") from None
        return Executor(base, self, ctx, grad_req, group2ctx)._with_arrays(args, grads, aux)

    _bind = bind
    _simple_bind = simple_bind

    def eval(self, ctx: Optional[Context] = None, **kwargs: Any) -> List[Any]:
        """The outputs for arrays given by the names of all arguments."""
        return self.bind(current_context() if ctx is None else ctx, kwargs).forward()


def _shape(name: str, shape: Any) -> Tuple[int, ...]:
    try:
        return tuple(int(dim) for dim in shape)
    except TypeError:
        raise TypeError(f"simple_bind: given {shape!r} for {name}, expected its shape, a tuple of integers") from None
