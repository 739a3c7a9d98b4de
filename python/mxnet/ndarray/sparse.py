# SPDX-License-Identifier: Apache-2.0
"""Arrays of which most elements are zero, and operators on them."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np

from .. import _core
from ..context import Context, current_context
from . import _generate
from ._dtypes import dtype_number
from .ndarray import _STORAGE_TYPE_IDS, NDArray, _from_numpy, _ints
from .ndarray import array as _dense_array
from .ndarray import zeros as _dense_zeros

__getattr__ = _generate.fill(__name__, "_sparse_")

_INT64 = 6
_NUM_AUX = {"row_sparse": 1, "csr": 2}


def __dir__() -> list:
    return sorted({*globals(), *_generate.names_in("_sparse_")})


class BaseSparseNDArray(NDArray):
    """What the two kinds of sparse arrays have in common."""

    __slots__ = ()

    def __repr__(self) -> str:
        shape = "x".join(str(dim) for dim in self.shape)
        return f"\n<{type(self).__name__} {shape} @{self.context}>"

    def asnumpy(self) -> np.ndarray:
        """A dense copy as a NumPy array."""
        return self.tostype("default").asnumpy()

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

    def reshape(self, *shape: Any, **kwargs: Any) -> NDArray:
        """Sparse arrays have no views."""
        raise NotImplementedError(f"reshape is not there for {type(self).__name__}; use tostype('default')")

    def __getitem__(self, key: Any) -> Any:
        raise NotImplementedError(f"given index {key!r}; {type(self).__name__} takes [:] only")

    def __setitem__(self, key: Any, value: Any) -> None:
        if key != slice(None):
            raise ValueError(f"given index {key!r}, expected [:]")
        if not isinstance(value, NDArray):
            value = _dense_array(np.broadcast_to(np.asarray(value, self.dtype), self.shape), self.context, self.dtype)
        (value if value.stype == self.stype else value.tostype(self.stype)).copyto(self)


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
            key = slice(key, key + 1 if key != -1 else None)
        if isinstance(key, slice):
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
        if isinstance(key, slice) and key == slice(None):
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
    kind = _STORAGE_TYPE_IDS[stype]
    return _core.create_sparse(kind, _ints(shape), context.device_typeid, context.device_id, True, number, [_INT64] * aux, shapes)


def _filled(stype: str, shape: Any, ctx: Any, dtype: Any, data: Any, aux: List[Any]) -> Any:
    data = data.asnumpy() if isinstance(data, NDArray) else np.asarray(data)
    dtype = (data.dtype if data.dtype != np.float64 else np.float32) if dtype is None else dtype
    aux = [np.asarray(part.asnumpy() if isinstance(part, NDArray) else part, np.int64) for part in aux]
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
        indices_np = np.asarray(indices.asnumpy() if isinstance(indices, NDArray) else indices)
        if shape is None:
            rows = len(indptr) - 1
            shape = (rows, int(indices_np.max()) + 1 if indices_np.size else 0)
        return _filled("csr", shape, ctx, dtype, data, [indptr, indices_np])
    if _is_tuple(arg1, 2) and isinstance(arg1[1], (tuple, list)):
        import scipy.sparse

        data, places = arg1
        parts = [part.asnumpy() if isinstance(part, NDArray) else np.asarray(part) for part in (data, *places)]
        matrix = scipy.sparse.coo_matrix((parts[0], (parts[1], parts[2])), shape=shape).tocsr()
        return csr_matrix(matrix, None, ctx, dtype or parts[0].dtype)
    if _is_tuple(arg1, 2):
        return zeros("csr", arg1, ctx, dtype)
    if hasattr(arg1, "tocsr"):
        matrix = arg1.tocsr()
        matrix.sort_indices()
        return _filled("csr", matrix.shape, ctx, matrix.dtype if dtype is None else dtype, matrix.data, [matrix.indptr, matrix.indices])
    dense = arg1 if isinstance(arg1, NDArray) else _dense_array(arg1, ctx, dtype)
    return dense.tostype("csr")


def row_sparse_array(arg1: Any, shape: Any = None, ctx: Any = None, dtype: Any = None) -> RowSparseNDArray:
    """From (data, indices), a shape, or an array."""
    if _is_tuple(arg1, 2) and not all(isinstance(part, (int, np.integer)) for part in arg1):
        data, rows = arg1
        rows = np.asarray(rows.asnumpy() if isinstance(rows, NDArray) else rows, np.int64)
        data = data.asnumpy() if isinstance(data, NDArray) else np.asarray(data)
        if shape is None:
            shape = (int(rows.max()) + 1 if rows.size else 0, *data.shape[1:])
        return _filled("row_sparse", shape, ctx, dtype, data, [rows])
    if isinstance(arg1, tuple):
        return zeros("row_sparse", arg1, ctx, dtype)
    dense = arg1 if isinstance(arg1, NDArray) else _dense_array(arg1, ctx, dtype)
    return dense.tostype("row_sparse")


def zeros(stype: str, shape: Any, ctx: Any = None, dtype: Any = None, **_: Any) -> Any:
    """An array that stores nothing."""
    if stype == "default":
        return _dense_zeros(shape, ctx, dtype)
    return _create(stype, shape, ctx, dtype)


empty = zeros


def array(source_array: Any, ctx: Any = None, dtype: Any = None) -> Any:
    """A sparse copy of a sparse array or of a matrix of SciPy."""
    if isinstance(source_array, NDArray):
        context = current_context() if ctx is None else ctx
        made = source_array.copyto(context)
        return made if dtype is None else made.astype(dtype)
    return csr_matrix(source_array, None, ctx, dtype)


_core.set_array_classes(NDArray, RowSparseNDArray, CSRNDArray, np.generic)
