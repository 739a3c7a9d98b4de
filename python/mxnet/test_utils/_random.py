# SPDX-License-Identifier: Apache-2.0
"""Random shapes and arrays, dense and sparse, by NumPy's generator."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Tuple

import numpy as np

from .. import ndarray as nd
from ..ndarray.sparse import csr_matrix, row_sparse_array
from ._compare import default_context, default_dtype


def random_arrays(*shapes: Any) -> Any:
    """Normal draws of the given shapes: one array, or a list of several."""
    arrays = [np.array(np.random.randn(), default_dtype()) if len(s) == 0 else np.random.randn(*s).astype(default_dtype()) for s in shapes]
    return arrays[0] if len(arrays) == 1 else arrays


def random_uniform_arrays(*shapes: Any, **kwargs: Any) -> List[np.ndarray]:
    """Even draws from `low` to `high` of the given shapes, of type `dtype`."""
    low, high = kwargs.pop("low", 0.0), kwargs.pop("high", 1.0)
    dtype = kwargs.pop("dtype", default_dtype())
    if kwargs:
        raise TypeError(f"given {', '.join(kwargs)}, expected low, high and dtype")
    return [np.random.uniform(low, high, size=shape).astype(dtype) for shape in shapes]


def random_sample(population: Any, k: int) -> list:
    """`k` elements, the first of a shuffled copy."""
    shuffled = list(population)
    np.random.shuffle(shuffled)
    return shuffled[:k]


def rand_shape_2d(dim0: int = 10, dim1: int = 10, allow_zero_size: bool = False) -> Tuple[int, int]:
    """A shape with dimensions up to the given ones."""
    low = 0 if allow_zero_size else 1
    return int(np.random.randint(low, dim0 + 1)), int(np.random.randint(low, dim1 + 1))


def rand_shape_3d(dim0: int = 10, dim1: int = 10, dim2: int = 10, allow_zero_size: bool = False) -> Tuple[int, int, int]:
    """A shape with dimensions up to the given ones."""
    low = 0 if allow_zero_size else 1
    return tuple(int(np.random.randint(low, dim + 1)) for dim in (dim0, dim1, dim2))  # type: ignore[return-value]


def rand_shape_nd(num_dim: int, dim: int = 10, allow_zero_size: bool = False) -> Tuple[int, ...]:
    """A shape of so many dimensions, each up to `dim`."""
    return tuple(int(one) for one in np.random.randint(0 if allow_zero_size else 1, dim + 1, size=num_dim))


def rand_coord_2d(x_low: int, x_high: int, y_low: int, y_high: int) -> Tuple[Any, Any]:
    """A point, with coordinates from `low` to before `high`."""
    return np.random.randint(x_low, x_high, dtype=np.int64), np.random.randint(y_low, y_high, dtype=np.int64)


def _csr_matrix_powerlaw(shape: Tuple[int, int], density: float, dtype: Any) -> Any:
    """Rows that hold 2, 4, 8 ... elements, as long as the density allows."""
    rows, columns = shape
    left = int(rows * columns * density)
    if left < 2 * rows:
        raise ValueError(f"given density {density} for shape {shape}, expected rows * columns * density of at least 2 * rows")
    values = np.zeros(shape, dtype)
    width = 2
    for row in range(rows):
        # One is kept for every row that follows.
        count = min(width, columns, left - (rows - row - 1))
        values[row, :count] = np.random.uniform(0.001, 2, size=count)
        left -= count
        width *= 2
    return nd.array(values, dtype=dtype).tostype("csr")


def shuffle_csr_column_indices(csr: Any) -> None:
    """Shuffles the columns within each row of a matrix of SciPy, together with their values' places."""
    for row in range(len(csr.indptr) - 1):
        np.random.shuffle(csr.indices[csr.indptr[row] : csr.indptr[row + 1]])


def rand_sparse_ndarray(
    shape: Any,
    stype: str,
    density: Optional[float] = None,
    dtype: Any = None,
    distribution: Optional[str] = None,
    data_init: Optional[float] = None,
    rsp_indices: Any = None,
    modifier_func: Optional[Callable[[float], float]] = None,
    shuffle_csr_indices: bool = False,
    ctx: Any = None,
) -> Tuple[Any, Tuple[Any, ...]]:
    """A random sparse array, and its parts: (values, rows) or (indptr, columns, values)."""
    ctx = default_context() if ctx is None else ctx
    density = np.random.rand() if density is None else density
    dtype = default_dtype() if dtype is None else dtype
    distribution = "uniform" if distribution is None else distribution
    if stype == "row_sparse":
        if distribution != "uniform":
            raise ValueError(f"given distribution {distribution!r}, expected 'uniform' for row_sparse")
        return _row_sparse(shape, density, dtype, data_init, rsp_indices, modifier_func, ctx)
    if stype != "csr":
        raise ValueError(f"given storage type {stype!r}, expected 'row_sparse' or 'csr'")
    if len(shape) != 2:
        raise ValueError(f"given shape {shape}, expected 2 dimensions for csr")
    if distribution == "powerlaw":
        csr = _csr_matrix_powerlaw(shape, density, dtype)
    elif distribution == "uniform":
        csr = _csr_uniform(shape, density, dtype, data_init, shuffle_csr_indices)
    else:
        raise ValueError(f"given distribution {distribution!r}, expected 'uniform' or 'powerlaw'")
    if modifier_func is not None:
        values = assign_each(csr.data.asnumpy(), modifier_func)
        csr = csr_matrix((values, csr.indices, csr.indptr), shape=shape, dtype=dtype)
    csr = csr.as_in_context(ctx)
    return csr, (csr.indptr, csr.indices, csr.data)


def _row_sparse(shape: Any, density: float, dtype: Any, data_init: Any, rsp_indices: Any, modifier_func: Any, ctx: Any) -> Any:
    if rsp_indices is None:
        rows = np.argwhere(np.random.rand(shape[0]) < density).flatten()
    else:
        rows = np.asarray(rsp_indices)
        if len(rows) > shape[0]:
            raise ValueError(f"given {len(rows)} rows, expected at most {shape[0]}")
    if rows.shape[0] == 0:
        made = nd.zeros(shape, stype="row_sparse", dtype=dtype, ctx=ctx)
        return made, (np.array([], dtype=dtype), np.array([]))
    values = np.random.rand(rows.shape[0], *shape[1:]).astype(dtype)
    if data_init is not None:
        values.fill(data_init)
    if modifier_func is not None:
        values = assign_each(values, modifier_func)
    return row_sparse_array((values, rows), shape=shape, dtype=dtype, ctx=ctx), (values, rows)


def _csr_uniform(shape: Any, density: float, dtype: Any, data_init: Any, shuffle: bool) -> Any:
    import scipy.sparse

    made = scipy.sparse.rand(*shape, density=density, dtype=dtype if np.dtype(dtype).kind == "f" else "float64", format="csr")
    if data_init is not None:
        made.data.fill(data_init)
    if shuffle:
        shuffle_csr_column_indices(made)
    return csr_matrix((made.data, made.indices, made.indptr), shape=tuple(shape), dtype=dtype)


def rand_ndarray(
    shape: Any,
    stype: str = "default",
    density: Optional[float] = None,
    dtype: Any = None,
    modifier_func: Optional[Callable[[float], float]] = None,
    shuffle_csr_indices: bool = False,
    distribution: Optional[str] = None,
    ctx: Any = None,
) -> Any:
    """A random array of a storage type."""
    ctx = default_context() if ctx is None else ctx
    if stype == "default":
        return nd.array(random_arrays(shape), dtype=dtype, ctx=ctx)
    return rand_sparse_ndarray(
        shape,
        stype,
        density=density,
        dtype=dtype,
        modifier_func=modifier_func,
        shuffle_csr_indices=shuffle_csr_indices,
        distribution=distribution,
        ctx=ctx,
    )[0]


def create_sparse_array(
    shape: Any,
    stype: str,
    data_init: Optional[float] = None,
    rsp_indices: Any = None,
    dtype: Any = None,
    modifier_func: Optional[Callable[[float], float]] = None,
    density: float = 0.5,
    shuffle_csr_indices: bool = False,
) -> Any:
    """A sparse array: with all values `data_init`, in the given rows."""
    return rand_sparse_ndarray(
        shape,
        stype,
        density=density,
        dtype=dtype,
        data_init=data_init,
        rsp_indices=rsp_indices,
        modifier_func=modifier_func,
        shuffle_csr_indices=shuffle_csr_indices,
    )[0]


def create_sparse_array_zd(
    shape: Any,
    stype: str,
    density: float,
    data_init: Optional[float] = None,
    rsp_indices: Any = None,
    dtype: Any = None,
    modifier_func: Optional[Callable[[float], float]] = None,
    shuffle_csr_indices: bool = False,
) -> Any:
    """As create_sparse_array; row_sparse arrays, for which the density counts for nothing, are empty but for the given rows."""
    if stype == "row_sparse":
        density = 0.0
    return create_sparse_array(shape, stype, data_init, rsp_indices, dtype, modifier_func, density, shuffle_csr_indices)


def assign_each(the_input: Any, function: Optional[Callable[[Any], Any]]) -> np.ndarray:
    """function(element) for each element."""
    values = np.asarray(the_input)
    if function is None:
        return values.copy()
    return np.array([function(item) for item in values.ravel()], values.dtype).reshape(values.shape)


def assign_each2(input1: Any, input2: Any, function: Optional[Callable[[Any, Any], Any]]) -> np.ndarray:
    """function(element, other's element) for each element."""
    first, second = np.asarray(input1), np.asarray(input2)
    if function is None:
        return first.copy()
    return np.array([function(a, b) for a, b in zip(first.ravel(), second.ravel())], first.dtype).reshape(first.shape)


def create_2d_tensor(rows: int, columns: int, dtype: Any = np.int64) -> Any:
    """Rows that hold their own number."""
    return nd.arange(0, rows, dtype=dtype).reshape((rows, 1)).broadcast_to((rows, columns))


def create_vector(size: int, dtype: Any = np.int64) -> Any:
    """0, 1, 2 ..."""
    return nd.arange(0, size, dtype=dtype)


def np_reduce(dat: np.ndarray, axis: Any, keepdims: Any, numpy_reduce_func: Callable[..., Any]) -> np.ndarray:
    """A reduction of NumPy's along several axes."""
    axes = tuple(range(dat.ndim)) if axis is None else ((axis,) if isinstance(axis, int) else tuple(axis))
    made = dat
    for one in sorted((axis % dat.ndim for axis in axes), reverse=True):
        made = numpy_reduce_func(made, axis=one)
    if keepdims:
        made = np.asarray(made).reshape([1 if i in {axis % dat.ndim for axis in axes} else dim for i, dim in enumerate(dat.shape)])
    return made


def collapse_sum_like(a: np.ndarray, shape: Tuple[int, ...]) -> np.ndarray:
    """The gradient of broadcasting: sums along the axes in which `shape` was repeated."""
    lead = a.ndim - len(shape)
    made = a.sum(axis=tuple(range(lead))) if lead > 0 else a
    repeated = tuple(i for i, (have, want) in enumerate(zip(made.shape, shape)) if want == 1 and have != 1)
    return made.sum(axis=repeated, keepdims=True) if repeated else made


def get_identity_mat(size: int) -> Any:
    """The identity."""
    return nd.array(np.identity(size))


def get_identity_mat_batch(size: int) -> Any:
    """Two of them."""
    return nd.array(np.stack([np.identity(size)] * 2))


def new_orthonormal_matrix_2d(n: int) -> np.ndarray:
    """A random orthonormal matrix."""
    return np.linalg.qr(np.random.randn(n, n))[0]


def new_matrix_with_real_eigvals_2d(n: int) -> np.ndarray:
    """A random matrix with real eigenvalues that differ."""
    while True:
        basis = np.random.uniform(-1.0, 1.0, (n, n))
        if np.linalg.cond(basis) < 1e3:
            values = np.sort(np.random.uniform(-1.0, 1.0, n)) + np.arange(n)
            return (basis * values) @ np.linalg.inv(basis)


def new_sym_matrix_with_real_eigvals_2d(n: int) -> np.ndarray:
    """A random symmetric matrix."""
    basis = new_orthonormal_matrix_2d(n)
    made = (basis * (np.sort(np.random.uniform(-1.0, 1.0, n)) + np.arange(n))) @ basis.T
    return (made + made.T) / 2


def new_matrix_with_real_eigvals_nd(shape: Any) -> np.ndarray:
    """Random matrices with real eigenvalues, along the last two axes."""
    return _matrices(new_matrix_with_real_eigvals_2d, shape)


def new_sym_matrix_with_real_eigvals_nd(shape: Any) -> np.ndarray:
    """Random symmetric matrices, along the last two axes."""
    return _matrices(new_sym_matrix_with_real_eigvals_2d, shape)


def _matrices(make: Callable[[int], np.ndarray], shape: Any) -> np.ndarray:
    count = int(np.prod(shape[:-2]))
    return np.stack([make(shape[-1]) for _ in range(count)]).reshape(shape)
