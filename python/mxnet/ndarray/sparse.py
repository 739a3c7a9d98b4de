# SPDX-License-Identifier: Apache-2.0
"""Arrays of which most elements are zero, and operators on them."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np

from .. import _core
from .._core import NDArrayBase
from ..context import Context, cpu, current_context
from ..base import NotSupportedForSparseNDArray, integer_types, numeric_types
from . import _generate
from . import arithmetic as _dense_arithmetic
from ._dtypes import dtype_number
from ._integers import ints as _ints
from .ndarray import _STORAGE_TYPE_STR_TO_ID, NDArray, _from_numpy
from .ndarray import array as _dense_array
from .ndarray import zeros as _dense_zeros

_operators = _generate.fill(__name__, "_sparse_")

_INT64 = 6
_slice = slice  # the module has an operator of that name, too
_NUM_AUX = {"row_sparse": 1, "csr": 2}


def __getattr__(name: str) -> Any:
    if name == "gs_retain":
        return _generate.operator("_sparse_retain")
    found = _operators(name)
    # A star leaves the array() and zeros() of mx.nd alone, as in 1.x.
    return sorted({*found} - {"NDArray", "array", "empty", "zeros"}) if name == "__all__" else found


def __dir__() -> list:
    return sorted({*globals(), *_generate.names_in("_sparse_"), "gs_retain"})


def _ndarray_cls(handle: Any, writable: bool = True, stype: int = -1) -> Any:
    """An array of the class that belongs to a storage type, around a handle that it takes over."""
    if stype == -1:
        base = NDArrayBase(handle, writable)
        stype, handle = base._storage_type_id, base
    return {0: NDArray, 1: RowSparseNDArray, 2: CSRNDArray}[stype](handle, writable)


# Which functions keep sparse arrays sparse: they take arrays of one shape.
_ELEMENTWISE = {"add": "elemwise_add", "subtract": "elemwise_sub", "multiply": "elemwise_mul", "divide": "elemwise_div"}


def _arithmetic(name: str, lhs: Any, rhs: Any) -> Any:
    both = isinstance(lhs, NDArray) and isinstance(rhs, NDArray)
    # The quotient of a csr matrix and a dense array is one of what is stored: broadcast_div has it.
    of_stored = both and name == "divide" and lhs.stype == "csr" and rhs.stype == "default"
    if both and not of_stored and lhs.shape == rhs.shape and (lhs.stype != "default" or rhs.stype != "default"):
        return _generate.operator(_ELEMENTWISE[name])(lhs, rhs)
    return _dense_result(name, lhs, rhs)


def _dense_result(name: str, lhs: Any, rhs: Any) -> Any:
    return getattr(_dense_arithmetic, name)(lhs, rhs)


def add(lhs: Any, rhs: Any) -> Any:
    """lhs + rhs; the sum of two sparse arrays of one kind is of that kind."""
    return _arithmetic("add", lhs, rhs)


def subtract(lhs: Any, rhs: Any) -> Any:
    """lhs - rhs; the difference of two sparse arrays of one kind is of that kind."""
    return _arithmetic("subtract", lhs, rhs)


def multiply(lhs: Any, rhs: Any) -> Any:
    """lhs * rhs; of a sparse array and a number, or two sparse arrays of one kind, a sparse array."""
    return _arithmetic("multiply", lhs, rhs)


def divide(lhs: Any, rhs: Any) -> Any:
    """lhs / rhs; of a sparse array and a number a sparse array."""
    return _arithmetic("divide", lhs, rhs)


class BaseSparseNDArray(NDArray):
    """What the two kinds of sparse arrays have in common."""

    __slots__ = ()

    def __repr__(self) -> str:
        shape = "x".join(str(dim) for dim in self.shape)
        return f"\n<{type(self).__name__} {shape} @{self.context}>"

    def asnumpy(self) -> np.ndarray:
        """A dense copy as a NumPy array."""
        self.wait_to_read()  # its own failure is raised here, once, not that of each copy
        here = self.as_in_context(cpu()) if self.context.device_type == "gpu" else self
        return here.tostype("default").asnumpy()

    @property
    def data(self) -> NDArray:
        """A copy of the stored values."""
        self.wait_to_read()
        return _core.sparse_data(self)

    def _aux(self, i: int) -> NDArray:
        self.wait_to_read()
        return _core.sparse_aux(self, i)

    def _empty_on(self, context: Context) -> Any:
        return _create(self.stype, self.shape, context, self.dtype)

    def check_format(self, full_check: bool = True) -> None:
        """Raises where the index arrays do not fit together."""
        _core.check_format(self, full_check)

    @property
    def size(self) -> int:
        """Sparse arrays do not say: see `shape` for all elements and `data` for those stored."""
        raise NotImplementedError(f"size is not there for {type(self).__name__}: given data.size or shape instead")

    def __bool__(self) -> bool:
        """As of dense arrays, which ask for their size: several elements are a ValueError, one is no number."""
        if max(self.shape) > 1 and 0 not in self.shape:
            raise ValueError(f"The truth value of a {type(self).__name__} with multiple elements is ambiguous.")
        return 0 not in self.shape and bool(self.asscalar())

    def _single(self) -> Any:
        """What Python converts: a sparse array is no number, as in 1.x."""
        raise TypeError(f"given a {type(self).__name__}, expected a number: see tostype('default')")

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """The stored values as another type."""
        if not copy and dtype_number(dtype) == self._dtype_id:
            return self
        aux = [self._aux(i) for i in range(_NUM_AUX[self.stype])]
        made = _create(self.stype, self.shape, self.context, dtype, [part.shape for part in aux])
        _core.sync_copy(made, self.data.astype(dtype), -1)
        for i, part in enumerate(aux):
            _core.sync_copy(made, part, i)
        return made

    def copyto(self, other: Any) -> Any:
        """Copies into another array, or onto another device; into a dense array as one."""
        if isinstance(other, NDArray) and other.stype == "default":
            return super().tostype("default").copyto(other)
        return super().copyto(other)

    def __add__(self, other: Any) -> Any:
        return add(self, other) if _is_operand(other) else _refused("add", other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return subtract(self, other) if _is_operand(other) else _refused("subtract", other)

    def __rsub__(self, other: Any) -> Any:
        return subtract(other, self) if _is_operand(other) else _refused("subtract", other)

    def __mul__(self, other: Any) -> Any:
        return multiply(self, other) if _is_operand(other) else _refused("multiply", other)

    def __rmul__(self, other: Any) -> Any:
        # Python asks the subclass first; a dense array on the left makes the product dense, as it does in sums.
        return _dense_result("multiply", other, self) if isinstance(other, NDArray) else self.__mul__(other)

    def __truediv__(self, other: Any) -> Any:
        return divide(self, other) if _is_operand(other) else _refused("divide", other)

    def __rtruediv__(self, other: Any) -> Any:
        return divide(other, self) if _is_operand(other) else _refused("divide", other)

    def reshape(self, *shape: Any, **kwargs: Any) -> NDArray:
        """Sparse arrays have no views."""
        raise NotSupportedForSparseNDArray(self.reshape, None, *shape)

    def __getitem__(self, key: Any) -> Any:
        kind = NotImplementedError if isinstance(key, (int, np.integer, _slice)) else ValueError
        taken = "a row or rows that follow each other" if self.stype == "csr" else "[:]"
        raise kind(f"given index {key!r}; {type(self).__name__} takes {taken} only")

    def __setitem__(self, key: Any, value: Any) -> None:
        if key is not Ellipsis and key != _slice(None):
            raise ValueError(f"given index {key!r}, expected [:]")
        if not isinstance(value, NDArray):
            value = _dense_array(np.broadcast_to(np.asarray(value, self.dtype), self.shape), self.context, self.dtype)
        (value if value.stype == self.stype else value.tostype(self.stype)).copyto(self)


def _is_operand(value: Any) -> bool:
    return isinstance(value, (NDArray, *numeric_types))


def _refused(name: str, other: Any) -> Any:
    """What a sparse array and something else give: left to that, but for an array of NumPy, which would ask for each element."""
    if type(other) is np.ndarray:
        raise TypeError(f"{name}: given a sparse array and a numpy.ndarray, expected two arrays of one kind; mx.nd.array() makes one")
    return NotImplemented


class CSRNDArray(BaseSparseNDArray):
    """A matrix of which each row stores its columns that are not zero."""

    __slots__ = ()

    @property
    def indptr(self) -> NDArray:
        """Where each row's values begin."""
        return self._aux(0)

    @property
    def indices(self) -> NDArray:
        """The column of each value."""
        return self._aux(1)

    def __getitem__(self, key: Any) -> CSRNDArray:
        if isinstance(key, int):
            key = _slice(key, key + 1 if key != -1 else None)
        if isinstance(key, _slice):
            begin, end, step = key.indices(self.shape[0])
            if step != 1:
                raise ValueError(f"given step {step}, expected 1")
            if (begin, end) == (0, self.shape[0]):
                return self
            return _generate.operator("slice")(self, begin=(begin,), end=(end,))
        return super().__getitem__(key)

    def asscipy(self) -> Any:
        """The same as a matrix of SciPy."""
        import scipy.sparse

        parts = (self.data.asnumpy(), self.indices.asnumpy(), self.indptr.asnumpy())
        return scipy.sparse.csr_matrix(parts, shape=self.shape, dtype=self.dtype)


class RowSparseNDArray(BaseSparseNDArray):
    """An array that stores only some of its rows."""

    __slots__ = ()

    @property
    def indices(self) -> NDArray:
        """The rows that are stored."""
        return self._aux(0)

    def __getitem__(self, key: Any) -> RowSparseNDArray:
        if isinstance(key, _slice) and key == _slice(None):
            return self
        return super().__getitem__(key)

    def retain(self, indices: NDArray) -> RowSparseNDArray:
        """Only the given rows of those stored."""
        return _generate.operator("_sparse_retain")(self, indices)


def _create(stype: str, shape: Any, ctx: Any, dtype: Any, aux_shapes: Optional[List[Tuple[int, ...]]] = None) -> Any:
    context = current_context() if ctx is None else ctx
    number = dtype_number(np.float32 if dtype is None else dtype)
    aux = _NUM_AUX[stype]
    shapes = [(0,)] * aux if aux_shapes is None else aux_shapes
    kind = _STORAGE_TYPE_STR_TO_ID[stype]
    return _core.create_sparse(kind, _ints(shape), context.device_typeid, context.device_id, True, number, [_INT64] * aux, shapes)


def _as_numpy(data: Any) -> np.ndarray:
    return data.asnumpy() if isinstance(data, NDArray) else np.asarray(data)


def _dtype_of(data: Any) -> Any:
    """Arrays keep their type; lists of numbers are float32."""
    return getattr(data, "dtype", np.float32)


def _dense(arg: Any, ctx: Any, dtype: Any) -> Any:
    return arg if isinstance(arg, NDArray) else _dense_array(arg, ctx, _dtype_of(arg) if dtype is None else dtype)


def _rows_of_places(data: np.ndarray, row: np.ndarray, col: np.ndarray, shape: Any) -> Tuple[Any, List[np.ndarray]]:
    """Shape, and data, pointers and columns by rows, of elements at places, of which equal ones add up."""
    if shape is None:
        shape = (int(row.max()) + 1, int(col.max()) + 1) if row.size else (0, 0)
    order = np.lexsort((col, row))
    data, row, col = data[order], row[order], col[order]
    first = np.flatnonzero(np.concatenate(([True], (np.diff(row) != 0) | (np.diff(col) != 0)))) if row.size else row[:0]
    if row.size:
        data = np.add.reduceat(data, first, dtype=data.dtype)
    counts = np.bincount(row[first], minlength=shape[0])
    return shape, [data, np.concatenate(([0], np.cumsum(counts))), col[first]]


def _filled(stype: str, shape: Any, ctx: Any, dtype: Any, data: Any, aux: List[Any]) -> Any:
    dtype = _dtype_of(data) if dtype is None else dtype
    data = _as_numpy(data)
    aux = [_as_numpy(part).astype(np.int64) for part in aux]
    made = _create(stype, shape, ctx, dtype, [part.shape for part in aux])
    _core.sync_copy(made, _from_numpy(data, made.context, dtype), -1)
    for i, part in enumerate(aux):
        _core.sync_copy(made, _from_numpy(part, made.context, np.int64), i)
    return made


def _is_tuple(arg: Any, *lengths: int) -> bool:
    return isinstance(arg, tuple) and len(arg) in lengths


def csr_matrix(arg1: Any, shape: Any = None, ctx: Any = None, dtype: Any = None) -> CSRNDArray:
    """From (data, indices, indptr), (data, (row, col)), a shape, a matrix of SciPy or an array."""
    if _is_tuple(arg1, 3):
        data, indices, indptr = arg1
        indices_np = _as_numpy(indices)
        if shape is None:
            rows = len(indptr) - 1
            shape = (rows, int(indices_np.max()) + 1 if indices_np.size else 0)
        return _filled("csr", shape, ctx, dtype, data, [indptr, indices_np])
    if _is_tuple(arg1, 2) and isinstance(arg1[1], (tuple, list)):
        data, (row, col) = arg1
        # Of SciPy, which 1.x hands these to: numbers in a list are float64 or int64.
        dtype = (data if isinstance(data, NDArray) else np.asarray(data)).dtype if dtype is None else dtype
        row, col = _as_numpy(row).astype(np.int64), _as_numpy(col).astype(np.int64)
        shape, (data, indptr, indices) = _rows_of_places(_as_numpy(data), row, col, shape)
        return _filled("csr", shape, ctx, dtype, data, [indptr, indices])
    if _is_tuple(arg1, 2):
        return zeros("csr", arg1, ctx, dtype)
    if hasattr(arg1, "tocsr"):
        matrix = arg1.tocsr()
        matrix.sort_indices()
        return _filled("csr", matrix.shape, ctx, matrix.dtype if dtype is None else dtype, matrix.data, [matrix.indptr, matrix.indices])
    return _dense(arg1, ctx, dtype).tostype("csr")


def row_sparse_array(arg1: Any, shape: Any = None, ctx: Any = None, dtype: Any = None) -> RowSparseNDArray:
    """From (data, indices), a shape, or an array."""
    if _is_tuple(arg1, 2) and not all(isinstance(part, (int, np.integer)) for part in arg1):
        data, rows = arg1
        rows = _as_numpy(rows).astype(np.int64)
        if shape is None:
            shape = (int(rows.max()) + 1 if rows.size else 0, *np.shape(data)[1:])
        return _filled("row_sparse", shape, ctx, dtype, data, [rows])
    if isinstance(arg1, tuple):
        return zeros("row_sparse", arg1, ctx, dtype)
    return _dense(arg1, ctx, dtype).tostype("row_sparse")


def empty(stype: str, shape: Any, ctx: Any = None, dtype: Any = None) -> Any:
    """An array that stores nothing."""
    if stype == "default":
        return _dense_zeros(shape, ctx, dtype)
    if stype not in _NUM_AUX:
        raise ValueError(f"given storage type {stype!r}, expected one of default, {', '.join(_NUM_AUX)}")
    made = _create(stype, shape, ctx, dtype)
    if stype != "csr":
        return made
    # What reads the parts finds one pointer more than there are rows, as of any csr array.
    return _filled("csr", made.shape, made.context, made.dtype, np.zeros(0), [np.zeros(made.shape[0] + 1), np.zeros(0)])


def zeros(stype: str, shape: Any, ctx: Any = None, dtype: Any = None, **kwargs: Any) -> Any:
    """An array that stores nothing; of further arguments there is only the name, which arrays do not have."""
    unknown = sorted(kwargs.keys() - {"name"})
    if unknown:
        raise TypeError(f"zeros: given {', '.join(unknown)}, expected stype, shape, ctx and dtype")
    return empty(stype, shape, ctx, dtype)


def array(source_array: Any, ctx: Any = None, dtype: Any = None) -> Any:
    """A sparse copy of a sparse array or of a matrix of SciPy."""
    if isinstance(source_array, NDArray):
        context = current_context() if ctx is None else ctx
        made = source_array.copyto(context)
        return made if dtype is None else made.astype(dtype)
    return csr_matrix(source_array, None, ctx, dtype)


_core.set_array_classes(NDArray, RowSparseNDArray, CSRNDArray, np.generic)
