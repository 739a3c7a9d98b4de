# SPDX-License-Identifier: Apache-2.0
"""The class mx.np.ndarray."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple, Union

import numpy as onp

from .. import _core, numpy_dispatch_protocol
from .._numpy.arrays import arrays as F
from .._numpy.frontend import ints, only_c
from ..context import Context
from ..ndarray._dtypes import dtype_number
from ..ndarray.ndarray import _GRAD_REQ_MAP, NDArray

# Methods that are functions of the array.
_FUNCTIONS = """abs arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh degrees exp expm1 fix floor log log10
log1p log2 radians reciprocal rint sign sin sinh sqrt square tan tanh trunc expand_dims flip pad split tile
zeros_like ones_like diag""".split()


class ndarray(NDArray):  # pylint: disable=invalid-name
    """An array on a device with NumPy's semantics. Work on it runs asynchronously; reading it waits."""

    __slots__ = ()
    _is_np = True

    # --- Protocols of NumPy

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return numpy_dispatch_protocol.array_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return numpy_dispatch_protocol.array_function(func, types, args, kwargs)

    # --- As Python's

    def __repr__(self) -> str:
        text = repr(self.asnumpy())
        if self.dtype == onp.float32:  # the default, which NumPy would name
            text = text.replace(", dtype=float32)", ")").replace(",\n" + " " * 6 + "dtype=float32)", ")")
        elif self.dtype in (onp.float64, onp.int64) and "dtype=" not in text:  # NumPy's defaults are not ours
            text = f"{text[:-1]}, dtype={onp.dtype(self.dtype).name})"
        if self.context.device_type == "cpu":
            return text
        return f"{text[:-1]}, ctx={self.context})"

    def __str__(self) -> str:
        return str(self.asnumpy())

    def __bool__(self) -> bool:
        if self.size > 1:
            raise ValueError("The truth value of an ndarray with multiple elements is ambiguous.")
        return self.size == 1 and bool(self.item())

    def __len__(self) -> int:
        shape = self.shape
        if not shape:
            raise TypeError("len() of unsized object")
        return shape[0]

    def item(self, *args: Any) -> Any:
        """An element as Python's number, by its place in the flattened array or by one place per axis."""
        return self.asnumpy().item(*args)

    def asscalar(self) -> Any:
        """The one element as a NumPy scalar."""
        if self.size != 1:
            raise ValueError(f"given an array of shape {self.shape}, expected one element")
        return self.asnumpy()[()] if self.shape == () else self.asnumpy().reshape(-1)[0]

    def __int__(self) -> int:
        return int(self._single())

    def __float__(self) -> float:
        return float(self._single())

    def _single(self) -> Any:
        if self.size != 1:
            raise TypeError("only size-1 arrays can be converted to Python scalars")
        return self.item()

    def as_nd_ndarray(self) -> NDArray:
        """The same memory as an mx.nd array."""
        return self._as_kind(False)

    def as_np_ndarray(self) -> ndarray:
        """The array itself."""
        return self

    # --- Copies and other types

    @property
    def dtype(self) -> Any:
        """The type of the elements, as numpy.dtype."""
        return onp.dtype(NDArray.dtype.fget(self))  # type: ignore[attr-defined]

    def copy(self, order: str = "C") -> ndarray:
        """A copy on the same device."""
        only_c(order, "copy")
        return F.op("_np_copy")(self)

    def astype(  # type: ignore[override]
        self, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
    ) -> ndarray:
        """The elements as another type; the array itself if `copy` is false and it has that type."""
        if order not in ("K", "C", None):
            raise ValueError(f"astype: given order={order!r}, expected 'K' or 'C'")
        if casting != "unsafe":
            raise ValueError(f"astype: given casting={casting!r}, expected 'unsafe'")
        if not subok:
            raise ValueError("astype: given subok=False, expected True")
        if dtype is None:
            dtype = onp.float32
        if not copy and dtype_number(dtype) == self._dtype_id:
            return self
        return F.op("_npi_cast")(self, dtype=onp.dtype(dtype).name if dtype != "bfloat16" else dtype)

    def attach_grad(self, grad_req: str = "write") -> None:  # type: ignore[override]
        """Makes it a leaf whose gradient autograd.backward leaves in `grad`."""
        _core.mark_variables([self], [F.zeros_like(self)], [_GRAD_REQ_MAP[grad_req]])

    # --- Another shape or order

    @property
    def T(self) -> ndarray:
        """The array with its axes reversed."""
        return self.transpose()

    def reshape(self, *args: Any, **kwargs: Any) -> ndarray:
        """Another shape, as one tuple or as several integers; one dimension may be -1."""
        order = kwargs.pop("order", "C")
        if "newshape" in kwargs and not args:
            args = (kwargs.pop("newshape"),)
        if kwargs:
            raise TypeError(f"reshape: given {', '.join(kwargs)}, expected order")
        if not args:
            raise TypeError("reshape: given no shape, expected one")
        return F.reshape(self, args[0] if len(args) == 1 else args, order)

    def reshape_view(self, *shape: Any, **kwargs: Any) -> ndarray:
        """Another shape on the same memory; 0, -1, -2, -3 and -4 as mx.nd.reshape has them."""
        return NDArray.reshape(self, *shape, **kwargs)  # type: ignore[return-value]

    def flatten(self, order: str = "C") -> ndarray:
        """A copy in one dimension."""
        return F.ravel(self, order)

    def ravel(self, order: str = "C") -> ndarray:
        """All elements in one dimension."""
        return F.ravel(self, order)

    def transpose(self, *axes: Any) -> ndarray:
        """The axes in another order, reversed by default."""
        if len(axes) == 1 and not isinstance(axes[0], (int, onp.integer)):
            axes = axes[0] or ()
        return F.transpose(self, axes or None)

    def swapaxes(self, axis1: int, axis2: int) -> ndarray:
        """Two axes in each other's place."""
        return F.swapaxes(self, axis1, axis2)

    def squeeze(self, axis: Any = None) -> ndarray:
        """Without dimensions of one."""
        return F.squeeze(self, axis)

    def broadcast_to(self, shape: Any) -> ndarray:
        """Repeated along dimensions of one, and new ones at the front."""
        return F.broadcast_to(self, ints(shape))

    def broadcast_like(self, other: ndarray) -> ndarray:
        """Repeated to another array's shape."""
        return F.broadcast_to(self, other.shape)

    def repeat(self, repeats: Any, axis: Any = None) -> ndarray:
        """See mx.np.repeat."""
        return F.repeat(self, repeats, axis)

    # --- Elements by place, order and value

    def argmax(self, axis: Any = None, out: Any = None) -> ndarray:
        """See mx.np.argmax."""
        return F.argmax(self, axis, out)

    def argmin(self, axis: Any = None, out: Any = None) -> ndarray:
        """See mx.np.argmin."""
        return F.argmin(self, axis, out)

    def argsort(self, axis: Any = -1, kind: Any = None, order: Any = None) -> ndarray:
        """See mx.np.argsort."""
        return F.argsort(self, axis, kind, order)

    def sort(self, axis: Any = -1, kind: Any = None, order: Any = None) -> None:
        """Puts the array's own elements in ascending order."""
        F.sort(self, axis, kind, order).copyto(self)

    def take(self, indices: Any, axis: Any = None, mode: str = "raise") -> ndarray:
        """See mx.np.take."""
        return F.take(self, indices, axis, mode)

    def nonzero(self) -> Tuple[ndarray, ...]:
        """See mx.np.nonzero."""
        return F.nonzero(self)

    def clip(self, min: Any = None, max: Any = None, out: Any = None) -> ndarray:  # pylint: disable=redefined-builtin
        """See mx.np.clip."""
        return F.clip(self, min, max, out)

    def round(self, decimals: int = 0, out: Any = None, **kwargs: Any) -> ndarray:
        """See mx.np.around."""
        return F.around(self, decimals, out, **kwargs)

    # --- Reductions

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> ndarray:
        """See mx.np.sum."""
        return F.sum(self, axis, dtype, keepdims, None, out)

    def prod(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> ndarray:
        """See mx.np.prod."""
        return F.prod(self, axis, dtype, out, keepdims)

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> ndarray:
        """See mx.np.mean."""
        return F.mean(self, axis, dtype, out, keepdims)

    def std(self, axis: Any = None, dtype: Any = None, out: Any = None, ddof: int = 0, keepdims: bool = False) -> ndarray:
        """See mx.np.std."""
        return F.std(self, axis, dtype, out, ddof, keepdims)

    def var(self, axis: Any = None, dtype: Any = None, out: Any = None, ddof: int = 0, keepdims: bool = False) -> ndarray:
        """See mx.np.var."""
        return F.var(self, axis, dtype, out, ddof, keepdims)

    def cumsum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> ndarray:
        """See mx.np.cumsum."""
        return F.cumsum(self, axis, dtype, out)

    def max(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> ndarray:
        """See mx.np.max."""
        return F.max(self, axis, keepdims, out)

    def min(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> ndarray:
        """See mx.np.min."""
        return F.min(self, axis, keepdims, out)

    def all(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> ndarray:
        """See mx.np.all."""
        return F.all(self, axis, keepdims, out)

    def any(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> ndarray:
        """See mx.np.any."""
        return F.any(self, axis, keepdims, out)

    def dot(self, b: Any, out: Any = None) -> ndarray:
        """See mx.np.dot."""
        return F.dot(self, b, out)


def _method(name: str) -> Any:
    function = F.names[name]

    def call(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    call.__name__, call.__qualname__ = name, f"ndarray.{name}"
    call.__doc__ = f"See mx.np.{name}."
    return call


for _name in _FUNCTIONS:
    setattr(ndarray, _name, _method(_name))

ndarray.__module__ = "mxnet.numpy"
_core.set_numpy_class(ndarray)

# Python's names of arithmetic where NumPy's differ.
_ARITHMETIC = {
    "add": "add", "subtract": "subtract", "multiply": "multiply", "divide": "true_divide", "modulo": "mod",
    "power": "power", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "less": "less",
    "less_equal": "less_equal", "equal": "equal", "not_equal": "not_equal", "greater": "greater",
    "greater_equal": "greater_equal",
}


def _set_arithmetic() -> None:
    from .._numpy.elementwise import BINARY

    rows = {python: BINARY[name] for python, name in _ARITHMETIC.items()}
    _core.set_arithmetic(
        True,
        {
            **{python: (F.op(row.arrays), F.op(row.scalar), F.op(row.reversed)) for python, row in rows.items()},
            "matmul": (F.op("_npi_matmul"), None, None),
            "negative": F.op("_npi_negative"),
            "absolute": F.op("_npi_absolute"),
            "invert": F.op("_npi_bitwise_not"),
        },
    )


_set_arithmetic()
