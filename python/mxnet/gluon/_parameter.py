# SPDX-License-Identifier: Apache-2.0
"""Parameters of blocks: arrays with a name, a gradient and a copy on each device.

A parameter whose shape is not known yet keeps its wishes (the deferred initialization) until the
first forward pass tells the shape.
"""

from __future__ import annotations

import warnings
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from .. import _turns, autograd, initializer, ndarray, symbol
from ..context import Context, cpu
from ..ndarray import NDArray
from ..util import is_np_array, is_np_shape
from ._device_copies import DeviceCopies
from ._devices import contexts_of
from ._errors import MismatchError
from ._gradients import zero_gradient
from ._replacements import Arrays
from .utils import shape_is_known

__all__ = ["Parameter", "tensor_types"]

tensor_types = (symbol.Symbol, NDArray)
_Arrays = Arrays  # the name that pickled parameters may have for it

_GRAD_REQS = ("write", "add", "null")
_STORAGE_TYPES = ("default", "row_sparse", "csr")


def _one_of(value: Any, allowed: Sequence[str], what: str) -> Any:
    if value not in allowed:
        raise MismatchError(f"given {what} {value!r}, expected one of {', '.join(allowed)}")
    return value


class Parameter(DeviceCopies):
    """An array of a block that is trained, with a copy on each of its devices."""

    def __init__(
        self,
        name: str,
        grad_req: str = "write",
        shape: Any = None,
        dtype: Any = np.float32,
        lr_mult: float = 1.0,
        wd_mult: float = 1.0,
        init: Any = None,
        allow_deferred_init: bool = False,
        differentiable: bool = True,
        stype: str = "default",
        grad_stype: str = "default",
    ) -> None:
        self._var: Any = None
        self._data = None
        self._grad = None
        self._ctx_list: Optional[List[Context]] = None
        self._deferred_init: Tuple[Any, ...] = ()
        self._trainer: Any = None
        self._differentiable = differentiable
        self._allow_deferred_init = allow_deferred_init
        self._shape = (shape,) if isinstance(shape, int) else shape
        self._dtype = dtype
        self._grad_req: str = "null"
        self._stype = _one_of(stype, _STORAGE_TYPES, "storage type")
        self._grad_stype = _one_of(grad_stype, _STORAGE_TYPES, "storage type of the gradient")
        self.name = name
        self.lr_mult = lr_mult
        self.wd_mult = wd_mult
        self.init = init
        self.grad_req = grad_req

    def __repr__(self) -> str:
        return f"{type(self).__name__} {self.name} (shape={self.shape}, dtype={self.dtype})"

    def __getstate__(self) -> Dict[str, Any]:
        return {**self.__dict__, "_trainer": None}  # a copy is trained by whoever asks for it

    def __setstate__(self, state: Dict[str, Any]) -> None:
        # Gradients are marks on arrays, which copies of arrays do not have.
        data = state["_data"]
        self.__dict__.update({**state, "_data": None})
        self._data = data
        if self._grad is not None:
            self._init_grad()

    def __deepcopy__(self, memo: Dict[int, Any]) -> Parameter:
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        state = self.__getstate__()
        if self._data is not None:
            state["_data"] = Arrays(array.copy() for array in self._data)
        made.__setstate__(state)
        return made

    # --- Facts

    @property
    def grad_req(self) -> str:
        """What backward does with the gradient: write, add or null."""
        return self._grad_req

    @grad_req.setter
    def grad_req(self, req: str) -> None:
        _one_of(req, _GRAD_REQS, "grad_req")
        if not self._differentiable:
            req = "null"
        if self._grad_req == req:
            return
        self._grad_req = req
        if self._data is None:
            return
        if req == "null":
            self._grad = None
            self._data = [array.detach() for array in self._data]
        else:
            self._init_grad()

    @property
    def dtype(self) -> Any:
        """The type of the elements, as it was given."""
        return self._dtype

    @dtype.setter
    def dtype(self, dtype: Any) -> None:
        self.cast(dtype)

    @property
    def stype(self) -> str:
        """The storage type of the array."""
        return self._stype

    @property
    def shape(self) -> Any:
        """The shape; unknown dimensions are 0, or -1 with NumPy's shapes; None if nothing is known."""
        if self._shape is None or not is_np_shape():
            return self._shape
        return tuple(dim if dim > 0 or self._data is not None else -1 for dim in self._shape)

    @shape.setter
    def shape(self, new_shape: Any) -> None:
        new_shape = (new_shape,) if isinstance(new_shape, int) else new_shape
        if self._shape is None:
            self._shape = new_shape
            return
        fits = len(self._shape) == len(new_shape) and all(
            old in (-1, 0, new) for old, new in zip(self._shape, new_shape)
        )
        if not fits:
            raise MismatchError(f"Parameter {self.name}: given shape {new_shape}, expected one like {self._shape}")
        self._shape = new_shape

    # --- Arrays

    def initialize(
        self, init: Any = None, ctx: Any = None, default_init: Any = initializer.Uniform(), force_reinit: bool = False
    ) -> None:
        """Makes the arrays on the given devices, now or as soon as the shape is known.

        `init` wins over the parameter's own initializer, and that over `default_init`.
        """
        if self._data is not None and not force_reinit:
            warnings.warn(
                f"Parameter {self.name} is already initialized; use force_reinit=True to do it again", stacklevel=2
            )
            return
        self._data = None
        self._grad = None
        contexts = contexts_of(ctx)
        if init is None:
            init = default_init if self.init is None else self.init
        self._deferred_init = (init, contexts, default_init, None)
        if shape_is_known(self.shape):
            self._finish_deferred_init()
        elif not self._allow_deferred_init:
            self._deferred_init = ()
            raise ValueError(f"Parameter {self.name}: given shape {self.shape}, expected one without unknown dimensions")

    def _finish_deferred_init(self) -> None:
        if not self._deferred_init:
            return
        if not shape_is_known(self.shape):
            raise ValueError(f"Parameter {self.name}: given shape {self.shape}, expected one without unknown dimensions")
        with _turns.parameters:
            if not self._deferred_init:  # another thread has done it meanwhile
                return
            try:
                self._init_deferred(*self._deferred_init)
            finally:  # not before: another thread would find neither arrays nor that they are to come
                self._deferred_init = ()

    def _init_deferred(self, init: Any, contexts: Sequence[Context], default_init: Any, data: Optional[NDArray]) -> None:
        with autograd.pause():
            if data is not None:
                self._init_impl(data, contexts)
            else:
                self._init_impl(self._made_by(init, default_init), contexts, own=True)

    def _made_by(self, init: Any, default_init: Any) -> NDArray:
        data = ndarray.zeros(self.shape, ctx=cpu(), dtype=self.dtype, stype=self._stype)
        if is_np_array():
            data = data.as_np_ndarray()
        description = initializer.InitDesc(self.name, {"__init__": init})
        initializer.create(default_init)(description, data)
        return data

    def _init_impl(self, data: NDArray, contexts: Sequence[Context], own: bool = False) -> None:
        """Takes values for all devices; `own`: nobody else has the array, which stays where it is on the first of them."""
        self._ctx_list = list(contexts)
        if is_np_array():  # what comes from a file does not know
            data = data.as_np_ndarray()
        stays = own and contexts and contexts[0] == data.context
        self._take([data if stays and i == 0 else data.copyto(context) for i, context in enumerate(contexts)])

    def _take(self, arrays: List[NDArray]) -> None:
        """Sets the arrays when they are leaves: another thread that finds one already may record with it."""
        self._grad = self._marked(arrays)
        self._data = arrays

    def _init_grad(self) -> None:
        self._grad = None if self._data is None else self._marked(self._data)

    def _marked(self, arrays: List[NDArray]) -> Optional[List[NDArray]]:
        """Makes arrays leaves, unless no gradient is wanted; their gradients."""
        if self.grad_req == "null":
            return None
        gradients = [self._zero_gradient(array) for array in arrays]
        autograd.mark_variables(arrays, gradients, self.grad_req)
        return gradients

    def _zero_gradient(self, array: NDArray) -> NDArray:
        made = ndarray.zeros(array.shape, array.context, array.dtype, self._grad_stype)
        return made.as_np_ndarray() if getattr(array, "_is_np", False) else made

    def _load_init(self, data: NDArray, ctx: Any, cast_dtype: bool = False, dtype_source: str = "current") -> None:
        """Takes a loaded array as value, on the given devices or on those the parameter has."""
        self._load(data, ctx, cast_dtype, dtype_source, own=False)

    def _load_own(self, data: NDArray, ctx: Any, cast_dtype: bool, dtype_source: str) -> None:
        """`_load_init` of an array that nobody else has; classes of programs may have that of 1.9.1 as their own."""
        if type(self)._load_init is Parameter._load_init:
            self._load(data, ctx, cast_dtype, dtype_source, own=True)
        else:
            self._load_init(data, ctx, cast_dtype=cast_dtype, dtype_source=dtype_source)

    def _load(self, data: NDArray, ctx: Any, cast_dtype: bool, dtype_source: str, own: bool) -> None:
        from ._parameter_loading import load_into

        _one_of(dtype_source, ("current", "saved"), "dtype_source")
        load_into(self, data, None if ctx is None else contexts_of(ctx), dtype_source if cast_dtype else None, own)

    def reset_ctx(self, ctx: Any) -> None:
        """Moves the arrays to other devices."""
        contexts = contexts_of(ctx)
        if self._data is not None:
            data = self._reduce()
            with autograd.pause():
                self._init_impl(data, contexts)
        elif self._deferred_init:
            init, _, default_init, data = self._deferred_init
            self._deferred_init = (init, contexts, default_init, data)
        else:
            raise ValueError(f"Parameter {self.name} was not initialized, so that it is on no device")

    def set_data(self, data: Any) -> None:
        """Sets the value on all devices."""
        self.shape = data.shape
        if self._data is None:
            if not self._deferred_init:
                raise MismatchError(f"Parameter {self.name} was not initialized")
            self._deferred_init = (*self._deferred_init[:3], data)
            return
        if self._trainer is not None and self._trainer._kv_initialized and self._trainer._update_on_kvstore:
            if self not in self._trainer._params_to_init:
                self._trainer._reset_kvstore()
        for array in self._data:
            array[...] = data

    def _reduce(self) -> NDArray:
        """The value on the CPU: the mean over devices."""
        if self._data is None:
            raise self._missing(None)
        arrays = self._data if self._stype == "default" else [self._all_rows()]
        on_cpu = [array.copyto(cpu()) for array in arrays]
        return on_cpu[0] if len(on_cpu) == 1 else ndarray.add_n(*on_cpu) / len(on_cpu)

    def _all_rows(self) -> NDArray:
        """All rows: a trainer's store has them, the devices' arrays only those that were pulled last."""
        if self._trainer is None:
            return self._data[0]  # type: ignore[index]
        rows = ndarray.arange(0, self.shape[0], dtype="int64", ctx=cpu())
        pulled = ndarray.zeros(self.shape, ctx=cpu(), dtype=self.dtype, stype=self._stype)
        self._trainer._row_sparse_pull(self, pulled, rows, full_idx=True)
        return pulled

    def zero_grad(self) -> None:
        """Fills the gradients with zeros."""
        for array in self._grad or ():
            zero_gradient(array)

    def var(self) -> symbol.Symbol:
        """The variable that stands for it in a network; always the same one."""
        if self._var is None:
            with _turns.parameters:
                if self._var is None:
                    self._var = self._made_variable()
        return self._var

    def _made_variable(self) -> symbol.Symbol:
        made = symbol.var(
            self.name,
            shape=self.shape,
            dtype=self.dtype,
            lr_mult=self.lr_mult,
            wd_mult=self.wd_mult,
            init=self.init,
            stype=self._stype,
        )
        return made.as_np_ndarray() if is_np_array() else made

    def cast(self, dtype: Any) -> None:
        """Converts value and gradient."""
        self._dtype = dtype
        self._var = None
        if self._data is None:
            return
        with autograd.pause():
            arrays = [array.astype(dtype) for array in self._data]
            if self._grad is not None:  # what was added up so far goes on being added to
                self._grad = [grad.astype(dtype) for grad in self._grad]
                autograd.mark_variables(arrays, self._grad, self.grad_req)
            self._data = arrays
