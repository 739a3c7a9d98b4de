# SPDX-License-Identifier: Apache-2.0
"""Sources of data as lists of (name, array), and rows of them in any order."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from ..ndarray import NDArray, array, concatenate
from ..ndarray.sparse import CSRNDArray, csr_matrix

try:
    import h5py
except ImportError:
    h5py = None  # without it nothing can be one of its data sets


def _init_data(data: Any, allow_empty: bool, default_name: str) -> List[Tuple[str, Any]]:
    """Data given as an array, a list or a dictionary of arrays: names, those of a dictionary sorted, and arrays.

    What is neither of the library's arrays nor a data set of h5py becomes an array of the library. Iterators of
    programs call it by this name.
    """
    if data is None:
        if not allow_empty:
            raise ValueError("given no data, expected an array, a list or a dictionary of arrays")
        return []
    if _is_array(data):
        data = [data]
    if isinstance(data, dict):
        data = dict(sorted(data.items()))
    if isinstance(data, (list, tuple)):
        if not data and not allow_empty:
            raise ValueError("given an empty list, expected at least one array")
        many = len(data) > 1
        data = {f"_{i}_{default_name}" if many else default_name: item for i, item in enumerate(data)}
    if not isinstance(data, dict):
        raise TypeError(f"given {type(data).__name__}, expected an array, a list or a dictionary of arrays")
    if not data and not allow_empty:
        raise ValueError("given an empty dictionary, expected at least one array")
    return [(name, _source(name, item)) for name, item in data.items()]


def _is_array(data: Any) -> bool:
    return isinstance(data, (np.ndarray, NDArray)) or _is_lazy(data)


def _is_lazy(data: Any) -> bool:
    return h5py is not None and isinstance(data, h5py.Dataset)


def _source(name: str, item: Any) -> Any:
    if isinstance(item, NDArray) or _is_lazy(item):
        return item
    try:
        return array(item)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: given {type(item).__name__}, expected what becomes an array: {error}") from None


class RowNumbers:
    """Numbers of rows of several sources, which ask the same of them: whether they lie together, and as an array."""

    def __init__(self, order: np.ndarray, whole: Optional[RowNumbers] = None, begin: int = 0) -> None:
        """`whole`: numbers of which these are a part, from `begin` on, whose array on a device serves all parts."""
        if len(order) == 0:
            raise ValueError("given no rows, expected at least one")
        self.order = order
        self._whole = whole
        self._begin = begin
        self.first = int(order[0])
        self.end = self.first + len(order)
        self.are_together: bool = (whole is not None and whole.are_together) or self._lie_together()
        self._indices: Dict[Any, NDArray] = {}

    def _lie_together(self) -> bool:
        if self.order.dtype != np.int64:
            return bool((np.diff(self.order) == 1).all())
        # Asked for each batch, and bytes are compared in a fifth of the time.
        last = int(self.order[-1])
        return last == self.end - 1 and self.order.tobytes() == np.arange(self.first, self.end, dtype=np.int64).tobytes()

    def indices(self, context: Any) -> NDArray:
        """The numbers as an array there."""
        if self._whole is not None:
            return self._whole.indices(context)[self._begin : self._begin + len(self.order)]
        if context not in self._indices:
            self._indices[context] = array(self.order, ctx=context, dtype="int64")
        return self._indices[context]


def rows(source: Any, numbers: Union[np.ndarray, RowNumbers]) -> Any:
    """Rows of a source as one array: a view where they lie in order."""
    if not isinstance(numbers, RowNumbers):
        numbers = RowNumbers(numbers)
    if _is_lazy(source):
        if numbers.are_together:
            return array(source[numbers.first : numbers.end])
        rising, places = np.unique(numbers.order, return_inverse=True)  # h5py reads rising indices only
        return array(source[rising][places])
    if numbers.are_together:
        return source[numbers.first : numbers.end]
    if isinstance(source, CSRNDArray):
        return _csr_rows(source, numbers.order)
    return source.take(numbers.indices(source.context))


def _csr_rows(source: CSRNDArray, order: np.ndarray) -> CSRNDArray:
    starts = source.indptr.asnumpy()
    counts = starts[order + 1] - starts[order]
    indptr = np.concatenate(([0], np.cumsum(counts)))
    places = np.repeat(starts[order] - indptr[:-1], counts) + np.arange(indptr[-1])
    parts = (source.data.asnumpy()[places], source.indices.asnumpy()[places], indptr)
    return csr_matrix(parts, shape=(len(order), *source.shape[1:]), dtype=source.dtype)


def joined(first: Any, second: Any) -> Any:
    """Rows of both, one after the other."""
    if isinstance(first, CSRNDArray):
        indptr = np.concatenate((first.indptr.asnumpy(), second.indptr.asnumpy()[1:] + first.data.shape[0]))
        parts = [np.concatenate((getattr(first, part).asnumpy(), getattr(second, part).asnumpy())) for part in ("data", "indices")]
        shape = (first.shape[0] + second.shape[0], *first.shape[1:])
        return csr_matrix((*parts, indptr), shape=shape, dtype=first.dtype)
    return concatenate([first, second])


def _has_instance(data: Sequence[Tuple[str, Any]], dtype: Any) -> bool:
    """Whether one of the named arrays is of that class. Iterators of programs ask."""
    return any(isinstance(array, dtype) for _, array in data)


def _getdata_by_idx(data: Sequence[Tuple[str, Any]], idx: Any) -> List[Tuple[str, Any]]:
    """The rows of these numbers of all named arrays, as arrays of the library. Iterators of programs shuffle with it."""
    numbers = RowNumbers(np.asarray(idx))
    return [(name, rows(source, numbers)) for name, source in data]
