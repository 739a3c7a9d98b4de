# SPDX-License-Identifier: Apache-2.0
"""Variables of the library, facts about its devices, and the scopes of NumPy's semantics."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, Tuple, TypeVar, Union

from . import _core, _np_scopes
from ._np_scopes import (
    is_np_array,
    is_np_shape,
    np_array,
    np_shape,
    reset_np,
    set_np,
    set_np_shape,
    use_np,
    use_np_array,
    use_np_shape,
)

__all__ = [
    "environment", "get_cuda_compute_capability", "get_gpu_count", "get_gpu_memory", "getenv", "is_np_array",
    "is_np_shape", "np_array", "np_shape", "np_ufunc_legal_option", "reset_np", "set_module", "set_np", "set_np_shape",
    "setenv", "use_np", "use_np_array", "use_np_shape", "wrap_np_binary_func", "wrap_np_unary_func",
]

_NumpyShapeScope, _NumpyArrayScope = _np_scopes.NumpyShapeScope, _np_scopes.NumpyArrayScope
_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])

# Keywords of NumPy's ufuncs: what they may be, and the one value that is not refused.
_UFUNC_OPTIONS: Dict[str, Tuple[Callable[[Any], bool], Any]] = {
    "where": (lambda value: isinstance(value, bool), True),
    "casting": (lambda value: value in ("no", "equiv", "safe", "same_kind", "unsafe"), "same_kind"),
    "order": (lambda value: value in ("C", "F", "A", "K"), "K"),
    "dtype": (lambda value: _is_dtype(value), None),
    "subok": (lambda value: isinstance(value, bool), True),
}


def getenv(name: str) -> Optional[str]:
    """The text of a variable as the library sees it, None if it is not set."""
    return _core.getenv(name)


def setenv(name: str, value: Optional[str]) -> None:
    """Sets a variable for the library, None takes it back.

    The process's environment is not touched. A variable that is read once, when the library is first
    used, cannot be changed: that is an error.
    """
    _core.setenv(name, value)


@contextlib.contextmanager
def environment(*args: Union[str, None, Mapping[str, Optional[str]]]) -> Iterator[None]:
    """Variables that hold inside a `with` block: `environment(name, value)` or `environment({...})`.

    None takes a variable back. At the end of the block all are as they were.
    """
    wanted: Mapping[str, Optional[str]]
    if len(args) == 2 and isinstance(args[0], str):
        wanted = {args[0]: args[1]}  # type: ignore[dict-item]
    elif len(args) == 1 and isinstance(args[0], Mapping):
        wanted = args[0]
    else:
        raise TypeError("expected a name and a value, or a dictionary of them")
    before: Dict[str, Optional[str]] = {}
    try:
        for name, value in wanted.items():
            old = getenv(name)
            setenv(name, None if value is None else str(value))
            before[name] = old
        yield
    finally:
        for name, old in reversed(list(before.items())):
            setenv(name, old)


def get_gpu_count() -> int:
    """The number of usable GPUs, 0 without a driver."""
    return _core.gpu_count()


def get_gpu_memory(gpu_dev_id: int) -> Tuple[int, int]:
    """Free and total bytes of a GPU."""
    return _core.gpu_memory_info(gpu_dev_id)


def get_cuda_compute_capability(ctx: Any) -> int:
    """The compute capability of a GPU as one number, 90 for 9.0."""
    import ctypes

    if getattr(ctx, "device_type", None) != "gpu":
        raise ValueError(f"given {ctx!r}, expected a GPU's context")
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        raise OSError("given no NVIDIA driver, expected libcuda.so.1") from None
    device, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    calls = (
        ("cuInit", (0,)),
        ("cuDeviceGet", (ctypes.byref(device), ctx.device_id)),
        # 75 and 76: CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR.
        ("cuDeviceGetAttribute", (ctypes.byref(major), 75, device)),
        ("cuDeviceGetAttribute", (ctypes.byref(minor), 76, device)),
    )
    for name, args in calls:
        result = getattr(driver, name)(*args)
        if result != 0:
            raise RuntimeError(f"{name} failed with error {result} for {ctx!r}")
    return 10 * major.value + minor.value


def set_module(module: Optional[str]) -> Callable[[_Decorated], _Decorated]:
    """A decorator that says in which module a function or class is found."""

    def mark(func: _Decorated) -> _Decorated:
        if module is not None:
            func.__module__ = module
        return func

    return mark


def _is_dtype(value: Any) -> bool:
    import numpy

    try:
        return value is not None and numpy.dtype(value) is not None
    except TypeError:
        return False


def np_ufunc_legal_option(key: str, value: Any) -> bool:
    """Whether NumPy's ufuncs know a keyword with such a value."""
    return key in _UFUNC_OPTIONS and _UFUNC_OPTIONS[key][0](value)


def check_ufunc_options(name: str, options: Mapping[str, Any]) -> None:
    """Refuses keywords of a ufunc that are unknown or ask for what there is not."""
    for key, value in options.items():
        if key not in _UFUNC_OPTIONS:
            raise TypeError(f"{key} is an invalid keyword to function '{name}'")
        allowed = _UFUNC_OPTIONS[key][1]
        if value is allowed or (isinstance(value, str) and value == allowed):
            continue
        if key == "where" and getattr(value, "size", 0) == 1 and bool(value):  # an array that says True for all
            continue
        if np_ufunc_legal_option(key, value):
            raise NotImplementedError(f"{name}: given {key}={value}, expected {key}={allowed}: others are not supported")
        raise TypeError(f"{key}={value} not understood for operator {name}")


def wrap_np_unary_func(func: _Decorated) -> _Decorated:
    """A function of one array that checks the keywords of a ufunc and goes on without them."""
    import functools

    @functools.wraps(func)
    def checked(x: Any, out: Any = None, **kwargs: Any) -> Any:
        check_ufunc_options(func.__name__, kwargs)
        return func(x, out=out)

    return checked  # type: ignore[return-value]


def wrap_np_binary_func(func: _Decorated) -> _Decorated:
    """As wrap_np_unary_func, for functions of two arrays."""
    import functools

    @functools.wraps(func)
    def checked(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
        check_ufunc_options(func.__name__, kwargs)
        return func(x1, x2, out=out)

    return checked  # type: ignore[return-value]
