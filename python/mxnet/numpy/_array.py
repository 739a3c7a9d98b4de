# SPDX-License-Identifier: Apache-2.0
"""The class mx.np.ndarray."""

from __future__ import annotations

from typing import Any, Tuple

import numpy as onp

from .. import _core, numpy_dispatch_protocol
from .._numpy import plain
from .._numpy.arrays import arrays as F
from .._numpy.frontend import only_c
from .._numpy.methods import Methods
from ..ndarray._dtypes import _DTYPE_MX_TO_NP, bfloat16, dtype_name, dtype_number
from ..ndarray.ndarray import _GRAD_REQ_MAP, NDArray


# By the library's number.
_DTYPES = {number: onp.dtype(dtype) for number, dtype in _DTYPE_MX_TO_NP.items() if dtype is not None}


class ndarray(Methods, NDArray):  # type: ignore[misc]  # pylint: disable=invalid-name
    """An array on a device with NumPy's semantics. Work on it runs asynchronously; reading it waits."""

    __slots__ = ()
    _is_np = True
    _F = F

    # --- Protocols of NumPy

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return numpy_dispatch_protocol.array_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return numpy_dispatch_protocol.array_function(func, types, args, kwargs)

    # --- As Python's

    def __repr__(self) -> str:
        text = repr(self._values())
        if self.dtype is bfloat16:
            text = text.replace("dtype=float32", "dtype=bfloat16")
        if self.dtype == onp.float32:  # the default, which NumPy would name
            text = text.replace(", dtype=float32)", ")").replace(",\n" + " " * 6 + "dtype=float32)", ")")
        elif self.dtype in (onp.float64, onp.int64) and "dtype=" not in text:  # NumPy's defaults are not ours
            text = f"{text[:-1]}, dtype={onp.dtype(self.dtype).name})"
        if self.context.device_type == "cpu":
            return text
        return f"{text[:-1]}, ctx={self.context})"

    def __str__(self) -> str:
        return str(self._values())

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec and self.size == 1 else format(str(self), spec)

    def __pos__(self) -> ndarray:
        return self.copy()

    def __round__(self, ndigits: Any = None) -> ndarray:
        return F.around(self, ndigits or 0)

    def __floor__(self) -> ndarray:
        return F.floor(self)

    def __ceil__(self) -> ndarray:
        return F.ceil(self)

    def __trunc__(self) -> ndarray:
        return F.trunc(self)

    def __bool__(self) -> bool:
        number = self._number()
        if number is not None:
            return bool(number)
        if self.size > 1:
            raise ValueError("The truth value of an ndarray with multiple elements is ambiguous.")
        return self.size == 1 and bool(self.item())

    def __len__(self) -> int:
        shape = self.shape
        if not shape:
            raise TypeError("len() of unsized object")
        return shape[0]

    def _item(self, *places: Any) -> Any:
        """What item() leaves to NumPy: an element by its place in the flattened array or by one place per axis."""
        return self._values().item(*places)

    def _single(self) -> Any:
        number = self._number()
        if number is not None:
            return number
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

    def copy(self, order: str = "C") -> ndarray:
        """A copy on the same device."""
        only_c(order, "copy")
        return F.op("_np_copy")(self)

    def astype(  # type: ignore[override]
        self, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
    ) -> ndarray:
        """The elements as another type; the array itself if `copy` is false and it has that type."""
        if order != "K" and order not in ("C", None):
            raise ValueError(f"astype: given order={order!r}, expected 'K' or 'C'")
        if casting != "unsafe":
            raise ValueError(f"astype: given casting={casting!r}, expected 'unsafe'")
        if not subok:
            raise ValueError("astype: given subok=False, expected True")
        if dtype is None:
            dtype = onp.float32
        if not copy and dtype_number(dtype) == self._dtype_id:
            return self
        return F.op("_npi_cast")(self, dtype_name(dtype))

    def attach_grad(self, grad_req: str = "write") -> None:  # type: ignore[override]
        """Makes it a leaf whose gradient autograd.backward leaves in `grad`."""
        _core.mark_variable(self, F.op("zeros_like")(self), _GRAD_REQ_MAP[grad_req])

    def _of_shape(self, picked: Any, shape: Tuple[int, ...]) -> Any:
        if 0 in shape and picked.shape != shape:  # views read a zero as "as it was"
            return F.reshape(picked, shape)
        return super()._of_shape(picked, shape)

    # --- Where arrays and symbols differ

    def reshape_view(self, *shape: Any, **kwargs: Any) -> Any:
        """Another shape on the same memory; 0, -1, -2, -3 and -4 as mx.nd.reshape has them."""
        return NDArray.reshape(self, *shape, **kwargs)  # type: ignore[return-value]

    def sort(self, axis: Any = -1, kind: Any = None, order: Any = None) -> None:
        """Puts the array's own elements in ascending order."""
        self._F.sort(self, axis, kind, order).copyto(self)

    def broadcast_like(self, other: Any) -> Any:  # type: ignore[override]
        """Repeated to another array's shape."""
        return self._F.broadcast_to(self, other.shape)


ndarray.__module__ = "mxnet.numpy"
plain.set_methods(ndarray)
_core.set_numpy_class(ndarray)
_core.set_dtypes(True, _DTYPES)

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
