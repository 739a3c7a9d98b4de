# SPDX-License-Identifier: Apache-2.0
"""Properties that classes have themselves, such as `AttrScope.current`; `mxnet.base` shows them."""

from __future__ import annotations

from typing import Any, Callable, Optional


class _ClassProperty:
    """A property of the class itself; set through ClassPropertyMeta."""

    def __init__(self, getter: Callable[[Any], Any], setter: Optional[Callable[[Any, Any], None]] = None) -> None:
        self._get, self._set = getter, setter
        self.__doc__ = getter.__doc__

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self._get(type(instance) if owner is None else owner)

    def __set__(self, target: Any, value: Any) -> None:
        owner = target if isinstance(target, type) else type(target)
        if self._set is None:
            raise AttributeError(f"given a value for a property of {owner.__name__} that can only be read")
        self._set(owner, value)

    def setter(self, function: Callable[[Any, Any], None]) -> _ClassProperty:
        """The same property with a setter."""
        return _ClassProperty(self._get, function)


class ClassPropertyMeta(type):
    """The type of classes whose class properties can be set."""

    def __setattr__(cls, key: str, value: Any) -> None:
        for base in cls.__mro__:
            found = base.__dict__.get(key)
            if isinstance(found, _ClassProperty):
                found.__set__(cls, value)
                return
        super().__setattr__(key, value)


def classproperty(func: Callable[[Any], Any]) -> Any:
    """A property that classes have, not their instances alone."""
    return _ClassProperty(func)


class Innermost:
    """What 1.x keeps as `_current` of a class: `value` is this thread's innermost object, which most may set."""

    def __init__(self, get: Callable[[], Any], assign: Optional[Callable[[Any], None]] = None) -> None:
        self._get, self._assign = get, assign

    @property
    def value(self) -> Any:
        """The innermost one."""
        return self._get()

    @value.setter
    def value(self, value: Any) -> None:
        if self._assign is None:
            raise AttributeError("given a value for what only `with` blocks change, expected to be entered instead")
        self._assign(value)


def with_metaclass(meta: Any, *bases: Any) -> Any:
    """A base class that makes its subclasses with a metaclass."""

    class _Maker(type):
        def __new__(mcs, name: str, _: Any, namespace: Any) -> Any:
            return meta(name, bases, namespace)

    return type.__new__(_Maker, "with_metaclass", (), {})
