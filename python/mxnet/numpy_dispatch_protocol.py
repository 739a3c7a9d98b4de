# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions called with mx.np arrays: by the mx.np function of the same name, else in NumPy.

There, large arrays are read in place where nobody can write to them meanwhile (_views.py), others are copied; results
are new arrays either way.
"""

from __future__ import annotations

import functools
import logging
from typing import Any, Callable, Dict, List, Tuple, TypeVar

import numpy as onp

from . import _core, _views
from ._core import NDArrayBase

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])

# NumPy's functions that mx.np has with the same meaning.
_NUMPY_ARRAY_FUNCTION_LIST: List[str] = """all any sometrue argmin argmax around round round_ argsort sort append
broadcast_arrays broadcast_to clip concatenate copy cumsum diag diagonal diagflat dot expand_dims fix flip flipud fliplr
inner insert max amax mean min amin nonzero ones_like atleast_1d atleast_2d atleast_3d prod product ravel repeat reshape
roll split array_split hsplit vsplit dsplit squeeze stack std sum swapaxes take tensordot tile transpose unique
unravel_index diag_indices_from delete var vdot vstack column_stack hstack dstack zeros_like linalg.norm linalg.cholesky
linalg.inv linalg.solve linalg.tensorinv linalg.tensorsolve linalg.pinv linalg.eigvals linalg.eig linalg.eigvalsh
linalg.eigh shape trace tril meshgrid outer einsum polyval shares_memory may_share_memory quantile percentile diff ediff1d
resize where isin full_like bincount empty_like nan_to_num isnan isfinite isposinf isneginf isinf pad""".split()

_NUMPY_ARRAY_UFUNC_LIST: List[str] = """abs fabs add arctan2 copysign degrees hypot lcm subtract multiply true_divide
negative power mod matmul absolute rint sign exp log log2 log10 expm1 sqrt square cbrt reciprocal invert bitwise_not
remainder sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh maximum minimum ceil trunc floor
bitwise_and bitwise_xor bitwise_or logical_not equal not_equal less less_equal greater greater_equal""".split()

_log = logging.getLogger(__name__)
_told: set = set()


def _lookup(module: Any, path: str) -> Any:
    for name in path.split("."):
        module = getattr(module, name, None)
    return module


@functools.lru_cache(maxsize=None)
def _functions() -> Dict[Any, Callable[..., Any]]:
    """The mx.np function of each function of NumPy's; what this NumPy does not have is left out."""
    from . import numpy as mx_np

    pairs = ((_lookup(onp, path), _lookup(mx_np, path)) for path in _NUMPY_ARRAY_FUNCTION_LIST)
    known = {theirs: ours for theirs, ours in pairs if theirs is not None and not isinstance(theirs, onp.ufunc)}
    return {**known, onp.ndim: _ndim, onp.size: _size, onp.argwhere: _argwhere, onp.flatnonzero: _flatnonzero}


def _ndim(a: Any) -> int:
    return a.ndim


def _size(a: Any, axis: Any = None) -> int:
    return a.size if axis is None else a.shape[axis]


def _argwhere(a: Any) -> Any:
    from . import numpy_extension as npx

    # A number has one place, whose index is empty.
    return npx.nonzero(a) if a.ndim else npx.nonzero(a.reshape(1))[:, :0]


def _flatnonzero(a: Any) -> Any:
    from . import numpy_extension as npx

    places = npx.nonzero(a.reshape((a.size,)))
    return places.reshape((places.shape[0],))


@functools.lru_cache(maxsize=None)
def _ufuncs() -> Dict[Any, Callable[..., Any]]:
    from . import numpy as mx_np

    names = [name for name in _NUMPY_ARRAY_FUNCTION_LIST if isinstance(getattr(onp, name, None), onp.ufunc)]
    return {getattr(onp, name): getattr(mx_np, name) for name in (*_NUMPY_ARRAY_UFUNC_LIST, *names)}


def _map(value: Any, change: Callable[[Any], Any]) -> Any:
    """A change to everything in nested sequences and dictionaries."""
    if isinstance(value, (tuple, list)):
        items = [_map(item, change) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {key: _map(item, change) for key, item in value.items()}
    return change(value)


def _to_numpy(value: Any) -> Any:
    return value._values() if isinstance(value, NDArrayBase) else value


def _from_numpy(value: Any) -> Any:
    return _array_function()(value) if isinstance(value, onp.ndarray) else value


@functools.lru_cache(maxsize=None)
def _array_function() -> Callable[..., Any]:
    from .numpy import array

    return array


def _on_views(func: Callable[..., Any], args: Any, kwargs: Any) -> Tuple[bool, Any]:
    """Whether the call has run on views of its arrays, and what it gave."""
    views = _views.ViewsOfOneCall()
    args, kwargs = _map(args, views.show), _map(kwargs, views.show)  # raises what failed in computing the arrays, once
    try:
        made = _map(func(*args, **kwargs), _from_numpy)
    except Exception as error:
        # A ValueError: it writes to an argument, as np.put, which copies allow; or is wrong, and will be with copies.
        if isinstance(error, ValueError) or not views.unchanged():
            return False, None
        raise
    return _views.all_plain(made) and views.unchanged(), made


def _fall_back(name: str, func: Callable[..., Any], args: Any, kwargs: Any, numpys: bool) -> Any:
    """Runs in NumPy, and says once for each function that it does. `numpys` says that it runs nobody else's code."""
    if _core.is_recording():
        raise ValueError(
            f"{name} runs in NumPy, which autograd cannot record; expected a call outside of autograd.record()"
        )
    if name not in _told:
        _told.add(name)
        _log.warning("np.%s has no operator in the library: it runs in NumPy", name)
    if numpys and _views.may_share((args, kwargs)):
        done, made = _on_views(func, args, kwargs)
        if done:
            return made
    return _map(func(*_map(args, _to_numpy), **_map(kwargs, _to_numpy)), _from_numpy)


def array_function(func: Any, types: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    """What ndarray.__array_function__ does."""
    for kind in types:
        if not issubclass(kind, (NDArrayBase, onp.ndarray)):
            return NotImplemented
    ours = _functions().get(func)
    if ours is None:
        numpys = (getattr(func, "__module__", None) or "").partition(".")[0] == "numpy"
        return _fall_back(getattr(func, "__name__", str(func)), func, args, kwargs, numpys)
    return ours(*_map(args, _from_numpy), **_map(kwargs, _from_numpy))


def array_ufunc(ufunc: Any, method: str, inputs: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    """What ndarray.__array_ufunc__ does."""
    if not kwargs and method == "__call__" and ufunc in _ufuncs():
        return _ufuncs()[ufunc](*map(_from_numpy, inputs))
    out = kwargs.pop("out", ())
    if any(not isinstance(array, NDArrayBase) for array in out if array is not None):
        raise TypeError(f"{ufunc.__name__}: given NumPy's array as out, expected an mx.np array")
    ours = _ufuncs().get(ufunc) if method == "__call__" else None
    if ours is not None:
        return ours(*(_from_numpy(value) for value in inputs), out=out[0] if out else None, **kwargs)
    name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    numpys = getattr(onp, ufunc.__name__, None) is ufunc  # those of np.frompyfunc run anything
    made = _fall_back(name, getattr(ufunc, method), inputs, kwargs, numpys)
    if not out:
        return made
    results = made if isinstance(made, tuple) else (made,)
    kept = tuple(result if array is None else result.copyto(array) for result, array in zip(results, out))
    return kept if isinstance(made, tuple) else kept[0]


def with_array_function_protocol(func: _Decorated) -> _Decorated:
    """Marks a function that needs __array_function__, which every supported version of NumPy has."""
    return func


def with_array_ufunc_protocol(func: _Decorated) -> _Decorated:
    """Marks a function that needs __array_ufunc__, which every supported version of NumPy has."""
    return func
