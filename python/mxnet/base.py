# SPDX-License-Identifier: Apache-2.0
"""The start of the library, and its errors as Python exceptions.

An error text of the library is "TypeName: message"; TypeName chooses the class. Every class is an
MXNetError, and also the built-in of that name: both ways of catching work.
"""

from __future__ import annotations

import atexit
from typing import Any, Callable, Dict, Optional, Tuple, Type

from . import libinfo

_library_path = libinfo.library_from_environment()
if _library_path is not None:
    # The binding asks for "libmxnet.so" and gets the one that is loaded already.
    import ctypes

    ctypes.CDLL(_library_path)

from . import _core  # noqa: E402  (after the library is chosen)

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
integer_types = (int,)
numeric_types = (float, int)


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


# From the name that starts an error text to the class that is raised.
error_types: Dict[str, Type[BaseException]] = {
    "MXNetError": MXNetError,
    "ValueError": MXNetValueError,
    "TypeError": MXNetTypeError,
    "IndexError": MXNetIndexError,
    "AttributeError": MXNetAttributeError,
    "NotImplementedError": MXNetNotImplementedError,
}


class NotImplementedForSymbol(MXNetError):
    """A method of arrays that was called on a symbol."""

    def __init__(self, function: Any, alias: Any, *args: Any) -> None:
        super().__init__()
        self.function = getattr(function, "__name__", str(function))
        self.alias = alias
        self.args = tuple(type(arg).__name__ for arg in args)

    def __str__(self) -> str:
        return _not_implemented(self, "a Symbol has no numbers; only an NDArray has")


class NotSupportedForSparseNDArray(MXNetError):
    """A method of dense arrays that was called on a sparse one."""

    def __init__(self, function: Any, alias: Any, *args: Any) -> None:
        super().__init__()
        self.function = getattr(function, "__name__", str(function))
        self.alias = alias
        self.args = tuple(type(arg).__name__ for arg in args)

    def __str__(self) -> str:
        return _not_implemented(self, "a sparse array has no such view; see tostype('default')")


def _not_implemented(error: Any, reason: str) -> str:
    alias = f" ({error.alias})" if error.alias and error.alias != error.function else ""
    given = f", given {', '.join(error.args)}" if error.args else ""
    return f"{error.function}{alias} is not there{given}: {reason}"


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


def _make_exception(text: str) -> BaseException:
    message, err_type = c2pyerror(text)
    return error_types.get(err_type or "MXNetError", MXNetError)(message)


def get_last_ffi_error() -> BaseException:
    """The last failure of the library on this thread as an exception, to be raised."""
    return _make_exception(_core.last_error())


def _at_exit(shut_down: Callable[[], None] = _core.notify_shutdown) -> None:
    try:
        shut_down()
    except MXNetError:
        pass  # a failure of work that nobody waited for; the program is over


_core.set_exception_maker(_make_exception)
_core.version()  # resolves the configuration: a bad value raises here
atexit.register(_at_exit)
