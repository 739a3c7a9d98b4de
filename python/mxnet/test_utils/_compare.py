# SPDX-License-Identifier: Apache-2.0
"""Comparison of arrays within tolerances that belong to types."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple, Type

import numpy as np

from ..context import Context, current_context
from ..ndarray import NDArray
from ..ndarray._dtypes import bfloat16

_INTEGERS = ("bool", "int8", "uint8", "int32", "uint32", "int64", "uint64")


def _by_dtype(half: float, single: float, double: float, exact: Optional[float]) -> Dict[Any, float]:
    table: Dict[Any, float] = {np.dtype("float16"): half, np.dtype("float32"): single, np.dtype("float64"): double}
    if exact is not None:
        table.update({np.dtype(name): exact for name in _INTEGERS})
    return table


def default_rtols() -> Dict[Any, float]:
    """Relative tolerances by type."""
    return _by_dtype(1e-2, 1e-4, 1e-5, 0)


def default_atols() -> Dict[Any, float]:
    """Absolute tolerances by type."""
    return _by_dtype(1e-1, 1e-3, 1e-20, 0)


def default_numeric_eps() -> Dict[Any, float]:
    """Steps of numeric gradients by type: powers of two, so that adding them is exact."""
    return _by_dtype(2.0**-6, 2.0**-9, 2.0**-14, None)


def default_context() -> Context:
    """The context that tests use."""
    return _default[0] if _default else current_context()


_default: list = []


def set_default_context(ctx: Context) -> None:
    """Makes a context the one that tests use, and the current one of this thread."""
    _default[:] = [ctx]
    ctx.__enter__()


def default_dtype() -> Any:
    """The type that tests use."""
    return np.float32


def effective_dtype(dat: Any) -> Any:
    """The type whose tolerances hold for an array."""
    dtype = np.dtype(dat.dtype if hasattr(dat, "dtype") else type(dat))
    return np.dtype(np.float16) if dtype == bfloat16 else dtype


def get_atol(atol: Optional[float] = None, dtype: Any = np.dtype(np.float64)) -> float:  # noqa: B008
    """The given absolute tolerance, or that of a type."""
    return default_atols()[np.dtype(dtype)] if atol is None else atol


def get_rtol(rtol: Optional[float] = None, dtype: Any = np.dtype(np.float64)) -> float:  # noqa: B008
    """The given relative tolerance, or that of a type."""
    return default_rtols()[np.dtype(dtype)] if rtol is None else rtol


def get_etol(etol: Optional[float] = None) -> float:
    """The given part of elements that may differ, or none."""
    return 0 if etol is None else etol


def get_tolerance(dat: Any, tol: Any, default_tol: Dict[Any, float]) -> float:
    """A tolerance for an array: a number, one of a table by type, or the default."""
    if isinstance(tol, (int, float)):
        return tol
    dtype = effective_dtype(dat)
    table = default_tol if tol is None else tol
    if dtype not in table:
        raise ValueError(f"given an array of {dtype}, expected one of {', '.join(str(known) for known in table)}")
    return table[dtype]


def get_tols(x: Any, y: Any, rtol: Any, atol: Any) -> Tuple[float, float]:
    """Relative and absolute tolerance for two arrays: those of the coarser type."""
    x = x if hasattr(x, "dtype") else np.asarray(x)
    y = y if hasattr(y, "dtype") else np.asarray(y)
    relative = max(get_tolerance(x, rtol, default_rtols()), get_tolerance(y, rtol, default_rtols()))
    absolute = max(get_tolerance(x, atol, default_atols()), get_tolerance(y, atol, default_atols()))
    return relative, absolute


def _numpy(array: Any) -> np.ndarray:
    if isinstance(array, NDArray):
        return array._values()
    return array.asnumpy() if hasattr(array, "asnumpy") else np.asarray(array)


def same(a: Any, b: Any) -> bool:
    """Whether two arrays are equal, element by element."""
    return np.array_equal(_numpy(a), _numpy(b))


def checkShapes(a: Any, b: Any) -> None:  # pylint: disable=invalid-name
    """Raises unless two arrays are of one shape."""
    if a.shape != b.shape:
        raise AssertionError(
            f"\nItems are not equal: a.shape = {a.shape} and b.shape = {b.shape} are not equal"
            f"\n ACTUAL: {np.array2string(a)}\n DESIRED: {np.array2string(b)}"
        )


def almost_equal(a: Any, b: Any, rtol: Any = None, atol: Any = None, equal_nan: bool = False, use_broadcast: bool = True) -> bool:
    """Whether two arrays are equal within tolerances."""
    rtol, atol = get_tols(a, b, rtol, atol)
    a, b = _numpy(a), _numpy(b)
    if not use_broadcast:
        checkShapes(a, b)
    return np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


def locationError(a: Any, b: Any, index: Any, names: Tuple[str, str], maxError: bool = False) -> str:  # pylint: disable=invalid-name
    """Text on the elements at an index."""
    which = "maximum " if maxError else ""
    return f"Location of {which}error: {tuple(int(i) for i in index)}, {names[0]}={a[index]:.8f}, {names[1]}={b[index]:.8f}"


def _violations(a: np.ndarray, b: np.ndarray, rtol: float, atol: float, equal_nan: bool) -> np.ndarray:
    """How often the tolerance goes into the difference of each element."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        violation = np.abs(a - b) / (atol + rtol * np.abs(b))
    violation[a == b] = 0
    both = np.isnan(a) & np.isnan(b)
    violation[both] = 0 if equal_nan else np.nan
    return violation


def assert_almost_equal(
    a: Any,
    b: Any,
    rtol: Any = None,
    atol: Any = None,
    names: Tuple[str, str] = ("a", "b"),
    equal_nan: bool = False,
    use_broadcast: bool = True,
    mismatches: Tuple[int, int] = (10, 10),
) -> None:
    """Raises, with the worst elements, unless two arrays are equal within tolerances.

    `mismatches`: up to so many elements are printed, and in the error.
    """
    _compare(a, b, rtol, atol, names, equal_nan, use_broadcast, mismatches, 0.0)


def assert_almost_equal_with_err(
    a: Any,
    b: Any,
    rtol: Any = None,
    atol: Any = None,
    etol: Optional[float] = None,
    names: Tuple[str, str] = ("a", "b"),
    equal_nan: bool = False,
    mismatches: Tuple[int, int] = (10, 10),
) -> None:
    """As assert_almost_equal, but a part `etol` of the elements may differ."""
    _compare(a, b, rtol, atol, names, equal_nan, True, mismatches, get_etol(etol))


def _compare(
    a: Any, b: Any, rtol: Any, atol: Any, names: Any, equal_nan: bool, use_broadcast: bool, mismatches: Any, etol: float
) -> None:
    rtol, atol = get_tols(a, b, rtol, atol)
    a, b = _numpy(a), _numpy(b)
    if not use_broadcast:
        checkShapes(a, b)
    if np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan):
        return
    whole_a, whole_b = (np.atleast_1d(array) for array in np.broadcast_arrays(a, b))
    violation = _violations(whole_a, whole_b, rtol, atol, equal_nan)
    wrong = int((~(violation <= 1)).sum())
    part = wrong / violation.size
    if etol and part <= etol:
        return
    order = np.argsort(np.where(np.isnan(violation), np.inf, violation), axis=None, kind="stable")[::-1]
    order = order[: max(mismatches[0], 1)]
    places = [np.unravel_index(place, violation.shape) for place in sorted(order, key=lambda at: (-np.nan_to_num(violation.flat[at], nan=np.inf), at))]
    if mismatches[0] > 0:
        print(f"\n*** Maximum errors for vector of size {violation.size}:  rtol={rtol}, atol={atol}\n")
        for number, place in enumerate(places, 1):
            if not violation[place] <= 1:
                print(f"{number:3d}: Error {violation[place]:f}  {locationError(whole_a, whole_b, place, names)}")
    worst = places[0]
    with np.printoptions(threshold=max(mismatches[1], 0), edgeitems=3, suppress=True):
        shown = f"\n ACTUAL: {np.array2string(whole_a)}\n DESIRED: {np.array2string(whole_b)}"
    raise AssertionError(
        f"\nItems are not equal:\nError {violation[worst]:f} exceeds tolerance rtol={rtol:e}, atol={atol:e} "
        f"(mismatch {100 * part:f}%).\n{locationError(whole_a, whole_b, worst, names, maxError=True)}{shown}"
    )


def assert_allclose(a: Any, b: Any, rtol: float = 1e-7, atol: float = 0, equal_nan: bool = True) -> None:
    """Raises unless two arrays are equal within tolerances; NaN equals NaN."""
    assert_almost_equal(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


def assert_almost_equal_ignore_nan(a: Any, b: Any, rtol: Any = None, atol: Any = None, names: Tuple[str, str] = ("a", "b")) -> None:
    """As assert_almost_equal, for the elements that are numbers in both."""
    a, b = _numpy(a).copy(), _numpy(b).copy()
    unknown = np.isnan(a) | np.isnan(b)
    a[unknown] = 0
    b[unknown] = 0
    assert_almost_equal(a, b, rtol, atol, names)


def assert_exception(f: Any, exception_type: Type[BaseException], *args: Any, **kwargs: Any) -> None:
    """Raises unless a call raises an exception of that type."""
    try:
        f(*args, **kwargs)
    except exception_type:
        return
    raise AssertionError(f"expected {exception_type.__name__}, nothing was raised")


def same_array(array1: Any, array2: Any) -> bool:
    """Whether two arrays are on the same memory: whether a change of one is seen in the other."""
    array1[:] += 1
    try:
        if not same(array1.asnumpy(), array2.asnumpy()):
            return False
        array1[:] -= 2
        equal = same(array1.asnumpy(), array2.asnumpy())
        array1[:] += 2
        return equal
    finally:
        array1[:] -= 1


def compare_ndarray_tuple(t1: Any, t2: Any, rtol: Any = None, atol: Any = None) -> None:
    """Raises unless two arrays, or tuples of them (and of tuples and None), are equal within tolerances."""
    if t1 is None and t2 is None:
        return
    if isinstance(t1, tuple):
        if len(t1) != len(t2):
            raise AssertionError(f"given tuples of {len(t1)} and {len(t2)} arrays, expected the same number")
        for one, other in zip(t1, t2):
            compare_ndarray_tuple(one, other, rtol, atol)
    else:
        assert_almost_equal(t1, t2, rtol=rtol, atol=atol)


def compare_optimizer(
    opt1: Any,
    opt2: Any,
    shape: Any,
    dtype: Any,
    w_stype: str = "default",
    g_stype: str = "default",
    rtol: float = 1e-4,
    atol: float = 1e-5,
    compare_states: bool = True,
    ntensors: int = 1,
) -> None:
    """Raises unless two optimizers do the same to the same random weights and gradients."""
    from .. import ndarray as nd
    from ._random import rand_ndarray

    shapes = shape if isinstance(shape, list) else [shape] * ntensors
    many = isinstance(shape, list) or ntensors > 1

    def values(stype: str) -> list:
        if stype == "default":
            return [nd.random.uniform(shape=one, ctx=default_context(), dtype=dtype) for one in shapes]
        return [rand_ndarray(one, stype, density=1 if stype == "row_sparse" else 0.5, dtype=dtype) for one in shapes]

    weights, grads = values(w_stype), values(g_stype)
    first, second = [w.copy() for w in weights], [w.copy() for w in weights]
    states = []
    for optimizer, own in ((opt1, first), (opt2, second)):
        made = [optimizer.create_state_multi_precision(i, w) for i, w in enumerate(own)]
        states.append(made)
        slopes = [g.copy() for g in grads]
        if many and optimizer.aggregate_num > 0:
            optimizer.update_multi_precision(list(range(len(own))), own, slopes, made)
        else:
            for i, w in enumerate(own):
                optimizer.update_multi_precision(i, w, slopes[i], made[i])
    if compare_states:
        for one, other in zip(*states):
            compare_ndarray_tuple(one, other, rtol=rtol, atol=atol)
    for one, other in zip(first, second):
        assert_almost_equal(one, other, rtol=rtol, atol=atol)
