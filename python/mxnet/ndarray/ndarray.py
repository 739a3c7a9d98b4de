# SPDX-License-Identifier: Apache-2.0
"""The class NDArray and the functions that make arrays of other things."""

from __future__ import annotations

from math import prod
from typing import Any, List, Optional, Tuple, Union

import numpy as np

from .. import _core
from .._core import NDArrayBase
from ..base import integer_types, numeric_types, show_ctypes_names
from ..context import Context, of_devices
from . import _generate, _indexing, _plain
from ._dtypes import (  # noqa: F401  (of storage types: what programs take from here)
    _DTYPE_MX_TO_NP,
    _DTYPE_NP_TO_MX,
    _STORAGE_TYPE_CSR,
    _STORAGE_TYPE_DEFAULT,
    _STORAGE_TYPE_ID_TO_STR,
    _STORAGE_TYPE_ROW_SPARSE,
    _STORAGE_TYPE_STR_TO_ID,
    _STORAGE_TYPE_UNDEFINED,
    bfloat16,
    dtype_name,
    dtype_number,
    text_of,
)
from ._integers import ints
from ._methods import METHODS
from ._python_values import PythonValues

_core.set_text_maker(text_of)
_op = _generate.operator

_GRAD_REQ_MAP = {"null": 0, "write": 1, "add": 3}


class NDArray(PythonValues):
    """An array on a device. Work on it runs asynchronously; reading it waits."""

    __slots__ = ()
    _is_np = False  # whether results are arrays of mx.np
    __array_priority__ = 1000.0  # NumPy leaves `ndarray + NDArray` to this class

    # --- Facts

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def stype(self) -> str:
        """The storage type: default, row_sparse or csr."""
        return _STORAGE_TYPE_ID_TO_STR[self._storage_type_id]

    @property
    def context(self) -> Context:
        """The device."""
        return of_devices[self._device]

    ctx = context
    device = context

    @property
    def T(self) -> NDArray:
        """The array with its axes reversed."""
        return self if len(self.shape) < 2 else _op("transpose")(self)

    # --- Indexing

    def _get(self, key: Any) -> Any:
        """array[key] of keys that the binding leaves to Python."""
        return _indexing.get(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        if not self.writable:
            raise ValueError("given a read-only array, expected a writable one")
        if not _core.basic_fill(self, key, value):
            _indexing.put(self, key, value)

    def _allows_empty(self) -> bool:
        return _core.is_np_shape() != 0

    def _index_array(self, values: np.ndarray, dtype: Any = np.int64) -> NDArray:
        if dtype is bfloat16:
            return _from_numpy(values, self.context, dtype, type(self))
        return _core.create_of(np.asarray(values, dtype, "C"), *self._device, dtype_number(dtype), self._is_np)

    def _of_shape(self, picked: Any, shape: Tuple[int, ...]) -> Any:
        if not shape and not self._allows_empty():
            shape = (1,)
        return picked if picked.shape == shape else picked._view(shape, False)

    # --- Copies and views

    def _sync_copyfrom(self, source_array: Any) -> None:
        """Copies from a NumPy array of the same shape, in this array's type: what `x[...] = values` does, by its old name."""
        values = np.asarray(source_array)
        if values.shape != self.shape:
            raise ValueError(f"given shape {values.shape}, expected {self.shape}")
        self[...] = values

    def copy(self) -> NDArray:
        """A copy on the same device."""
        return _op("_copyto")(self)

    def copyto(self, other: Union[NDArray, Context]) -> NDArray:
        """Copies into another array, or onto another device."""
        if isinstance(other, Context):
            other = _empty_like(self, other)
        elif not isinstance(other, NDArrayBase):
            raise TypeError(f"given {type(other).__name__}, expected an NDArray or a Context")
        elif other is self:
            return other
        return _op("_copyto")(self, out=other)

    def as_in_context(self, context: Context) -> NDArray:
        """The array itself if it is there, else a copy."""
        return self if self.context == context else self.copyto(context)

    to_device = as_in_context

    def as_in_ctx(self, ctx: Context) -> NDArray:
        """The name of `as_in_context` for mx.np arrays, and of its argument."""
        return self.as_in_context(ctx)

    def _to_shared_mem(self) -> Any:
        """Process, descriptor, shape and type of an array in shared memory: loaders that programs have copied send them."""
        return (*_core.shared_handle(self), self.shape, self.dtype)

    def as_nd_ndarray(self) -> NDArray:
        """The same memory as an mx.nd array."""
        return self

    def as_np_ndarray(self) -> Any:
        """The same memory as an mx.np array."""
        from .. import numpy as _  # noqa: F401  (leaves its class with the binding)

        return self._as_kind(True)

    def astype(self, dtype: Any, copy: bool = True) -> NDArray:
        """The elements as another type."""
        if not copy and dtype_number(dtype) == self._dtype_id:
            return self
        return _op("cast")(self, dtype_name(dtype))

    def tostype(self, stype: str) -> NDArray:
        """The array in another storage type."""
        return _op("cast_storage")(self, stype=stype)

    def detach(self) -> NDArray:
        """The same memory, of which autograd knows nothing."""
        return self._detach()

    def reshape(self, *shape: Any, **kwargs: Any) -> NDArray:
        """Another shape on the same memory; 0, -1, -2, -3 and -4 as the operator reshape has them."""
        reverse = False
        if kwargs or not shape:
            if not shape and "shape" not in kwargs:
                raise TypeError("reshape: given nothing, expected a shape")
            shape = shape or (kwargs.pop("shape"),)
            reverse = bool(kwargs.pop("reverse", False))
            if kwargs:
                raise TypeError(f"reshape: given {', '.join(kwargs)}, expected shape and reverse")
        return self._view(ints(shape[0] if len(shape) == 1 else shape, "reshape"), reverse)

    def transpose(self, *axes: Any, **kwargs: Any) -> NDArray:
        """The array with its axes in another order, reversed by default."""
        if "axes" in kwargs and not axes:
            axes = (kwargs.pop("axes"),)
        if kwargs:
            raise TypeError(f"transpose: given {', '.join(kwargs)}, expected axes")
        if len(axes) == 1 and not isinstance(axes[0], (int, np.integer)):
            axes = () if axes[0] is None else tuple(axes[0])
        return _op("transpose")(self, axes=tuple(axes)) if axes else _op("transpose")(self)

    def expand_dims(self, axis: int, inplace: bool = False) -> NDArray:
        """A dimension of one more; `inplace` on the same memory."""
        if not inplace:
            return _op("expand_dims")(self, axis=axis)
        if not -self.ndim <= axis <= self.ndim:
            raise ValueError(f"expand_dims: given axis {axis}, expected one from {-self.ndim} to {self.ndim}")
        at = axis + (self.ndim + 1 if axis < 0 else 0)
        return self._view((*self.shape[:at], 1, *self.shape[at:]), False)

    def flatten(self, inplace: bool = False) -> NDArray:
        """All dimensions but the first made one; `inplace` on the same memory."""
        return self._view((self.shape[0], -1), False) if inplace else _op("Flatten")(self)

    def squeeze(self, axis: Any = None, inplace: bool = False) -> NDArray:
        """Without dimensions of one, all or those given; `inplace` on the same memory."""
        if not inplace:
            return _op("squeeze")(self) if axis is None else _op("squeeze")(self, axis=axis)
        axes = range(self.ndim) if axis is None else [axis] if isinstance(axis, integer_types) else list(axis)
        if axis is not None and not all(-self.ndim <= a < self.ndim and self.shape[a] == 1 for a in axes):
            raise ValueError(f"squeeze: given axis {axis} of shape {self.shape}, expected dimensions of one")
        chosen = {int(a) % self.ndim for a in axes}
        kept = [dim for i, dim in enumerate(self.shape) if not (i in chosen and dim == 1)]
        return self._view(tuple(kept) or self.shape[:1], False)  # of nothing but ones one stays

    def broadcast_like(self, other: NDArray, **kwargs: Any) -> NDArray:
        """Repeated to the shape of another array, also along new dimensions at the front."""
        source = self if "lhs_axes" in kwargs else self._with_lead(other.ndim)  # named axes are those of this array
        return _op("broadcast_like")(source, other, **kwargs)

    def mean(self, *args: Any, dtype: Any = None, **kwargs: Any) -> NDArray:
        """See mx.nd.mean. numpy.mean() calls it with a type, that of the sum, or with None."""
        return _op("mean")(self if dtype is None else self.astype(dtype), *args, **kwargs)

    def diag(self, k: int = 0, **kwargs: Any) -> NDArray:
        """See mx.nd.diag."""
        return _op("diag")(self, k=k, **kwargs)

    def reshape_like(self, *args: Any, **kwargs: Any) -> NDArray:
        """See mx.nd.reshape_like."""
        return _op("reshape_like")(self, *args, **kwargs)

    def broadcast_to(self, shape: Any) -> NDArray:
        """Repeated along dimensions of one, and new ones at the front."""
        wanted = ints(shape, "broadcast_to")
        return _op("broadcast_to")(self._with_lead(len(wanted)), shape=wanted)

    def _with_lead(self, ndim: int) -> NDArray:
        lead = ndim - self.ndim
        return self._view((1,) * lead + self.shape, False) if lead > 0 else self

    def split_v2(self, *args: Any, **kwargs: Any) -> Any:
        """See mx.nd.split_v2."""
        from .functions import split_v2

        return split_v2(self, *args, **kwargs)

    def slice_assign(self, rhs: NDArray, begin: Any, end: Any, step: Any = ()) -> NDArray:
        """A copy with a slice replaced by values."""
        return _op("_slice_assign")(self, rhs, begin=begin, end=end, step=step)

    def slice_assign_scalar(self, value: float, begin: Any, end: Any, step: Any = ()) -> NDArray:
        """A copy with a slice replaced by a number."""
        return _op("_slice_assign_scalar")(self, scalar=value, begin=begin, end=end, step=step)

    # --- Autograd

    def attach_grad(self, grad_req: str = "write", stype: Optional[str] = None) -> None:
        """Makes it a leaf whose gradient autograd.backward leaves in `grad`."""
        if grad_req not in _GRAD_REQ_MAP:
            raise ValueError(f"given grad_req {grad_req!r}, expected one of {', '.join(_GRAD_REQ_MAP)}")
        if stype is None or stype == self.stype:
            grad = _op("zeros_like")(self)
        else:
            from . import sparse  # which is built on this module

            grad = sparse.zeros(stype, self.shape, ctx=self.ctx, dtype=self.dtype)
        _core.mark_variable(self, grad, _GRAD_REQ_MAP[grad_req])

    def backward(
        self, out_grad: Optional[NDArray] = None, retain_graph: bool = False, train_mode: bool = True
    ) -> None:
        """Gradients of this with respect to all leaves behind it."""
        grads = None if out_grad is None else [out_grad]
        _core.backward([self], grads, [], retain_graph, False, train_mode, False)


_core.set_dtypes(False, _DTYPE_MX_TO_NP)
_core.set_scalars(
    {
        number: (dtype, np.ones(1, dtype).tobytes(), dtype(1))
        for number, dtype in _DTYPE_MX_TO_NP.items()
        if isinstance(dtype, type)
    }
)
_plain.set_methods(NDArray)
for _name in METHODS:
    if not hasattr(NDArray, _name):
        setattr(NDArray, _name, _op(_name))


def _new_from_shared_mem(shared_pid: int, shared_id: int, shape: Any, dtype: Any) -> Any:
    """What NDArray() makes an array of, from what _to_shared_mem says; the descriptor is taken over."""
    return _core.array_from_shared(shared_pid, shared_id, list(shape), dtype_number(dtype), False)


def _new_empty_handle() -> Any:
    """A handle of an array without memory."""
    import ctypes

    from ..base import _LIB, check_call

    handle = ctypes.c_void_p()
    check_call(_LIB.MXNDArrayCreateNone(ctypes.byref(handle)))
    return handle


def _empty_like(array: Any, context: Context) -> Any:
    if array.stype != "default":
        return array._empty_on(context)
    return _core.create(
        array.shape,
        context.device_typeid,
        context.device_id,
        True,
        array._dtype_id,
        type(array) is not NDArray,  # of mx.np
    )


from .arithmetic import *  # noqa: E402,F403  (known as members of this module)
from .creation import *  # noqa: E402,F403
from .creation import _from_numpy  # noqa: E402,F401
from .exchange import *  # noqa: E402,F403
from .functions import *  # noqa: E402,F403
from . import arithmetic as _arithmetic, creation as _creation, exchange as _exchange, functions as _functions  # noqa: E402

__all__: List[str] = ["NDArray", *_arithmetic.__all__, *_creation.__all__, *_exchange.__all__, *_functions.__all__]  # type: ignore[has-type]
show_ctypes_names(__name__)
