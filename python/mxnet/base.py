# SPDX-License-Identifier: Apache-2.0
"""The start of the library, and its errors as Python exceptions.

An error text of the library is "TypeName: message"; TypeName chooses the class. Every class is an
MXNetError, and also the built-in of that name: both ways of catching work.
"""

from __future__ import annotations

import atexit
import importlib
import os
import sys
import threading
import warnings
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Type

from . import libinfo
from ._class_property import ClassPropertyMeta, _ClassProperty, classproperty, with_metaclass  # noqa: F401 (programs know them by this module)
from ._lazy import missing

_MXClassPropertyDescriptor, _MXClassPropertyMetaClass = _ClassProperty, ClassPropertyMeta  # by which GluonTS 0.4 patches the latter


def _is_main_interpreter() -> bool:
    """Whether this is no interpreter within one: there, whoever asks for the lock by thread waits for ever."""
    for name in ("_interpreters", "_xxsubinterpreters"):  # from Python 3.13 on, and before
        try:
            interpreters = importlib.import_module(name)
        except ImportError:
            continue
        return bool(interpreters.get_current() == interpreters.get_main())
    return True


if not _is_main_interpreter():
    raise ImportError("mxnet: given a sub-interpreter, expected the main one: callbacks of the library find no other")

_library_path = libinfo.library_from_environment()
if _library_path is not None:
    # The binding asks for "libmxnet.so" and gets the one that is loaded already.
    import ctypes

    ctypes.CDLL(_library_path)


def _load_binding() -> Any:
    """The native module, or the one on ctypes that stands in for it under the same name."""
    if libinfo.wants_native_binding():
        try:
            from . import _core as native

            return native
        except ImportError as error:
            if libinfo.enforces_native_binding():
                raise ImportError(f"MXNET_ENFORCE_CYTHON=1, but the native module does not load: {error}") from error
            warnings.warn(f"the slower binding on ctypes stands in for the native one: {error}", RuntimeWarning, stacklevel=3)
    from ._ctypes import core

    sys.modules[f"{__package__}._core"] = core
    setattr(sys.modules[__package__], "_core", core)
    return core


_core = _load_binding()  # after the library is chosen

__all__ = [
    "MXNetAttributeError",
    "MXNetError",
    "MXNetIndexError",
    "MXNetNotImplementedError",
    "MXNetTypeError",
    "MXNetValueError",
    "NotImplementedForSymbol",
    "NotSupportedForSparseNDArray",
    "c2pyerror",
    "error_types",
    "get_last_ffi_error",
    "integer_types",
    "numeric_types",
    "py_str",
    "register_error",
    "string_types",
]

string_types = (str,)


class MXNetError(RuntimeError):
    """The base of all errors of the library."""


class MXNetValueError(MXNetError, ValueError):
    """A value that is not allowed."""


class MXNetTypeError(MXNetError, TypeError):
    """An argument or array of the wrong type."""


class MXNetIndexError(MXNetError, IndexError):
    """An index out of range."""


class MXNetAttributeError(MXNetError, AttributeError):
    """A name that does not exist."""


class MXNetNotImplementedError(MXNetError, NotImplementedError):
    """Something that this build or device cannot do."""


class InternalError(MXNetError):
    """A fault of the library itself; mxnet.error shows it."""


# From the name that starts an error text to the class that is raised.
error_types: Dict[str, Type[BaseException]] = {
    "MXNetError": MXNetError,
    "ValueError": MXNetValueError,
    "TypeError": MXNetTypeError,
    "IndexError": MXNetIndexError,
    "AttributeError": MXNetAttributeError,
    "NotImplementedError": MXNetNotImplementedError,
    "InternalError": InternalError,
}


class _NotOfThisKind(MXNetError):
    """A method of arrays that was called on what cannot have it."""

    _reason = ""

    def __init__(self, function: Any, alias: Any, *args: Any) -> None:
        super().__init__()
        self.function = getattr(function, "__name__", str(function))
        self.alias = alias
        self.args = tuple(type(arg).__name__ for arg in args)

    def __str__(self) -> str:
        alias = f" ({self.alias})" if self.alias and self.alias != self.function else ""
        given = f", given {', '.join(self.args)}" if self.args else ""
        return f"{self.function}{alias} is not there{given}: {self._reason}"


class NotImplementedForSymbol(_NotOfThisKind):
    """A method of arrays that was called on a symbol."""

    _reason = (
        "a Symbol has no numbers; only an NDArray has. After hybridize() hybrid_forward is given Symbols: what depends "
        "on values is F.where or F.contrib.cond there, or a Block's forward"
    )


class NotSupportedForSparseNDArray(_NotOfThisKind):
    """A method of dense arrays that was called on a sparse one."""

    _reason = "a sparse array has no such view; see tostype('default')"


def register_error(func_name: Any = None, cls: Optional[Type[BaseException]] = None) -> Any:
    """Registers the class that is raised for texts that start with a name.

    Used as `register_error("Name", Class)`, `@register_error("Name")` or `@register_error`, which
    takes the name of the class.
    """
    if isinstance(func_name, type):
        return register_error(func_name.__name__, func_name)

    def register(registered: Type[BaseException]) -> Type[BaseException]:
        error_types[func_name or registered.__name__] = registered
        return registered

    return register if cls is None else register(cls)


def data_dir_default() -> str:
    """Where downloaded files go unless MXNET_HOME says otherwise."""
    if sys.platform == "win32":
        return os.path.join(os.path.expandvars("%APPDATA%"), "mxnet")
    return os.path.join(os.path.expanduser("~"), ".mxnet")


def data_dir() -> str:
    """Where downloaded files go."""
    return _core.getenv("MXNET_HOME") or data_dir_default()


def build_param_doc(arg_names: Sequence[str], arg_types: Sequence[str], arg_descs: Sequence[str], remove_dup: bool = True) -> str:
    """The section of a docstring that lists parameters; of a name that comes twice only the first."""
    lines: List[str] = ["Parameters", "----------"]
    seen = set()
    for name, kind, description in zip(arg_names, arg_types, arg_descs):
        if remove_dup and name in seen:
            continue
        seen.add(name)
        lines.append(f"{name} : {kind}")
        if description:
            lines.append(f"    {description}")
    return "\n".join(lines) + "\n"


def add_fileline_to_docstring(module: Any, incursive: bool = True) -> None:
    """Ends the docstrings of a module's functions, and of its classes' methods, with where they are defined."""
    import inspect

    if isinstance(module, str):
        module = sys.modules[module]
    file = getattr(module, "__file__", None)
    for _, found in inspect.getmembers(module):
        if inspect.isfunction(found) and found.__doc__ and "From:" not in found.__doc__:
            found.__doc__ += f"\n\nFrom:{found.__code__.co_filename}:{found.__code__.co_firstlineno}"
        elif incursive and inspect.isclass(found) and found.__module__ == getattr(module, "__name__", None) and file:
            add_fileline_to_docstring(found, incursive=False)


# Conversions for programs that call the C ABI through ctypes themselves.
_FROM_CTYPES = {
    "CachedOpHandle", "CudaKernelHandle", "CudaModuleHandle", "DLPackHandle", "DataIterCreatorHandle", "DataIterHandle",
    "ExecutorHandle", "FunctionHandle", "KVStoreHandle", "MXCallbackList", "NDArrayHandle", "OpHandle", "ProfileHandle",
    "RecordIOHandle", "RtcHandle", "SymbolHandle", "_LIB", "c_array", "c_array_buf", "c_handle_array", "c_str",
    "c_str_array", "check_call", "ctypes2buffer", "ctypes2numpy_shared", "mx_float", "mx_float_p", "mx_int", "mx_int64",
    "mx_real_t", "mx_uint",
}


def __getattr__(name: str) -> Any:
    if name in _FROM_CTYPES:
        from ._ctypes import lib

        return getattr(lib, name)
    if name in ("integer_types", "numeric_types"):  # with NumPy's, which is not loaded for less
        import numpy as np

        globals()["integer_types"] = (int, np.int32, np.int64)
        globals()["numeric_types"] = (float, int, np.generic)
        return globals()[name]
    if name in ("_Null", "_NullType"):
        from .ndarray import _generate

        return getattr(_generate, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> List[str]:
    return sorted({*globals(), *_FROM_CTYPES})


def show_ctypes_names(module_name: str) -> None:
    """Lets a module show the conversions, the handles and `ctypes` as well, which programs take from beside its classes."""
    module = sys.modules[module_name]
    own = getattr(module, "__getattr__", None)

    def find(name: str) -> Any:
        if name == "ctypes":
            return importlib.import_module(name)
        if name in _FROM_CTYPES or name == "py_str":
            return getattr(sys.modules[__name__], name)
        if own is not None:
            return own(name)
        raise missing(module_name, name)

    setattr(module, "__getattr__", find)


def _as_list(value: Any) -> List[Any]:
    """A list of one, unless there are several."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def py_str(x: Any) -> str:
    """A text that came from the library, whether as bytes or as str."""
    return x.decode("utf-8") if isinstance(x, bytes) else x


def c2pyerror(err_msg: str) -> Tuple[str, Optional[str]]:
    """Splits an error text into the message for Python and the name of its type, None without one.

    A stack trace of the library comes before the message and ends at the place of the failure, as
    Python shows its own.
    """
    message, _, trace = err_msg.partition("\nStack trace:\n")
    name, colon, rest = message.partition(": ")
    err_type = name if colon and name in error_types else None
    if err_type is not None:
        message = rest
    frames = [line for line in trace.splitlines() if line.strip()]
    if frames:
        listing = "\n".join(reversed(frames))
        message = f"Traceback of the library (most recent call last):\n{listing}\n{message}"
    return message, err_type


interrupts: List[KeyboardInterrupt] = []  # Ctrl-C in a callback of the library, which could not carry it to the main thread


def _make_exception(text: str) -> BaseException:
    if interrupts and threading.current_thread() is threading.main_thread():
        return interrupts.pop()
    message, err_type = c2pyerror(text)
    return error_types.get(err_type or "MXNetError", MXNetError)(message)


def reason_of(error: BaseException) -> bytes:
    """What a callback that has failed leaves with NNAPISetLastError, for the error of the call that ran it."""
    import traceback

    shown = traceback.TracebackException(type(error), error, None)
    shown.__notes__ = None  # type: ignore[attr-defined] # of Python 3.11: they would come last
    return [*shown.format_exception_only()][-1].strip().encode(errors="replace")


def get_last_ffi_error() -> BaseException:
    """The last failure of the library on this thread as an exception, to be raised."""
    return _make_exception(_core.last_error())


def _at_exit(shut_down: Callable[[bool], None] = _core.notify_shutdown) -> None:
    # A program that Ctrl-C has ended does not wait for what it has pushed. In a session it may be an earlier one.
    last = None if hasattr(sys, "ps1") else getattr(sys, "last_type", None)
    try:
        shut_down(last is not None and issubclass(last, KeyboardInterrupt))
    except (MXNetError, KeyboardInterrupt):
        pass  # a failure of work that nobody waited for, or Ctrl-C meanwhile; the program is over


_core.set_exception_maker(_make_exception)
_core.version()  # resolves the configuration: a bad value raises here
atexit.register(_at_exit)
