# SPDX-License-Identifier: Apache-2.0
"""Switches of NumPy's semantics, by thread: of shapes (arrays without elements or dimensions) and of
arrays (Gluon makes and expects mx.np arrays). Names are public in mxnet.util.
"""

from __future__ import annotations

import functools
import operator
from typing import Any, Callable, TypeVar

from . import _core

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])


def is_np_shape() -> bool:
    """Whether a dimension of zero, and no dimension at all, mean what they mean in NumPy."""
    return _core.is_np_shape() != 0


def is_np_array() -> bool:
    """Whether Gluon makes and expects mx.np arrays on this thread."""
    return _core.is_np_array()


def set_np_shape(active: Any) -> bool:
    """Switches the semantics of shapes for this thread (2: for all threads); returns what it was."""
    wanted = operator.index(active)
    _check_shape(wanted)
    return _core.set_np_shape(wanted) != 0


def _check_shape(active: Any) -> None:
    if not active and is_np_array():
        raise ValueError(
            "given set_np_shape(False) while array semantics is on, which needs shape semantics; "
            "npx.reset_np() turns both off"
        )


class NumpyShapeScope(_core.SetterScope):
    """`with np_shape():` the semantics of shapes; may be nested, also inside itself."""

    __slots__ = ()

    def __new__(cls, active: Any) -> NumpyShapeScope:
        return super().__new__(cls, _core.set_np_shape, operator.index(active), _check_shape)


class NumpyArrayScope(_core.SetterScope):
    """`with np_array():` the semantics of arrays; may be nested, also inside itself."""

    __slots__ = ()

    def __new__(cls, active: Any) -> NumpyArrayScope:
        return super().__new__(cls, _core.set_np_array, bool(active))


SAVED_WITH_SHAPES = b"\xca\xfa\x93\xf9"  # how the bytes of an array begin that was saved with NumPy's shapes


def called_with_shapes(wanted: bool, function: Callable[..., Any], *args: Any) -> Any:
    """Calls a function with the semantics of shapes on or off. Pickles need it: they go from threads that have NumPy's shapes to
    those that have not, as workers, and back, while files are to say what they are."""
    if is_np_shape() == wanted:
        return function(*args)
    before = _core.set_np_shape(int(wanted))
    try:
        return function(*args)
    finally:
        _core.set_np_shape(before)


def np_shape(active: bool = True) -> NumpyShapeScope:
    """NumPy's semantics of shapes, or the legacy one, inside a `with` block."""
    return NumpyShapeScope(active)


def np_array(active: bool = True) -> NumpyArrayScope:
    """NumPy's semantics of arrays, or the legacy one, inside a `with` block."""
    return NumpyArrayScope(active)


def set_np(shape: bool = True, array: bool = True) -> None:
    """Switches this thread to NumPy's semantics of shapes and arrays; arrays need shapes."""
    if array and not shape:
        raise ValueError("given array semantics without shape semantics, expected both or shapes alone")
    _core.set_np_array(array)
    set_np_shape(shape)


def reset_np() -> None:
    """Back to the legacy semantics of shapes and arrays."""
    set_np(shape=False, array=False)


def _inside(scope: Callable[[], Any], func: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        with scope():
            return func(*args, **kwargs)

    return call


def _inside_member(scope: Callable[[], Any], member: Any) -> Any:
    """A class's method or property with its code inside a scope; other members as they are."""
    if isinstance(member, (staticmethod, classmethod)):
        return type(member)(_inside(scope, member.__func__))
    if isinstance(member, property):
        get, put, drop = (part and _inside(scope, part) for part in (member.fget, member.fset, member.fdel))
        return property(get, put, drop, member.__doc__)
    return _inside(scope, member) if isinstance(member, type(_inside)) else member


def _decorate(name: str, scope: Callable[[], Any], func: Any) -> Any:
    if isinstance(func, type):
        for key, member in list(vars(func).items()):
            inside = _inside_member(scope, member)
            if inside is not member:
                setattr(func, key, inside)
        return func
    if not callable(func):
        raise TypeError(f"{name}: given {type(func).__name__}, expected a class or a function")
    return _inside(scope, func)


def use_np_shape(func: _Decorated) -> _Decorated:
    """Decorates a function, or a class whose methods are meant, to run under np_shape()."""
    return _decorate("use_np_shape", np_shape, func)


def use_np_array(func: _Decorated) -> _Decorated:
    """Decorates a function, or a class whose methods are meant, to run under np_array()."""
    return _decorate("use_np_array", np_array, func)


def use_np(func: _Decorated) -> _Decorated:
    """use_np_shape and use_np_array."""
    return use_np_shape(use_np_array(func))
