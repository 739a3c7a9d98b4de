# SPDX-License-Identifier: Apache-2.0
"""Classes by name: what stands behind `create("sgd")`, and aliases, for any base class."""

from __future__ import annotations

import json
import warnings
from typing import Any, Callable, Dict, Type

from .base import string_types  # noqa: F401  (public here)

__all__ = ["get_alias_func", "get_create_func", "get_register_func", "get_registry"]

_registries: Dict[type, Dict[str, type]] = {}


def _registry(base_class: type) -> Dict[str, type]:
    return _registries.setdefault(base_class, {})


def get_registry(base_class: type) -> Dict[str, type]:
    """A copy of the classes registered under a base class, by lower-case name."""
    return dict(_registry(base_class))


def _a(nickname: str) -> str:
    return f"{'an' if nickname[0] in 'aeiou' else 'a'} {nickname}"


def get_register_func(base_class: type, nickname: str) -> Callable[..., type]:
    """The function that registers a class under its name, or under a given one."""
    known = _registry(base_class)

    def register(klass: Type, name: Any = None) -> Type:
        if not (isinstance(klass, type) and issubclass(klass, base_class)):
            raise TypeError(f"given {klass!r}, expected a subclass of {base_class.__name__}")
        key = (klass.__name__ if name is None else name).lower()
        if known.get(key, klass) is not klass:
            old = known[key]
            warnings.warn(
                f"{nickname} {key!r} was {old.__module__}.{old.__name__} and is now {klass.__module__}.{klass.__name__}",
                UserWarning,
                stacklevel=2,
            )
        known[key] = klass
        return klass

    register.__doc__ = f"Makes {_a(nickname)} class known to `create` by its lower-case name."
    return register


def get_alias_func(base_class: type, nickname: str) -> Callable[..., Any]:
    """The decorator that registers a class under more names."""
    register = get_register_func(base_class, nickname)

    def alias(*aliases: str) -> Callable[[Type], Type]:
        def decorate(klass: Type) -> Type:
            for name in aliases:
                register(klass, name)
            return klass

        return decorate

    alias.__doc__ = f"Makes {_a(nickname)} class known to `create` by more names."
    return alias


def get_create_func(base_class: type, nickname: str) -> Callable[..., Any]:
    """The function that makes an instance from a name, a JSON text, a dictionary or an instance."""
    known = _registry(base_class)

    def create(*args: Any, **kwargs: Any) -> Any:
        if args:
            name, args = args[0], args[1:]
        elif nickname in kwargs:
            name = kwargs.pop(nickname)
        else:
            raise ValueError(f"expected the name of {_a(nickname)}")
        if isinstance(name, base_class):
            if args or kwargs:
                raise ValueError(f"given {_a(nickname)} that is made already and arguments for it, expected only the first")
            return name
        if isinstance(name, dict):
            return create(**name)
        if not isinstance(name, str):
            raise TypeError(f"given {type(name).__name__}, expected the name of {_a(nickname)}")
        if name.startswith("["):
            if args or kwargs:
                raise ValueError(f"given the JSON of {_a(nickname)} and arguments for it, expected only the first")
            name, params = json.loads(name)
            return create(name, **params)
        if name.startswith("{"):
            if args or kwargs:
                raise ValueError(f"given the JSON of {_a(nickname)} and arguments for it, expected only the first")
            return create(**json.loads(name))
        if name.lower() not in known:
            raise ValueError(f"given {nickname} {name!r}, expected one of {', '.join(sorted(known))}")
        return known[name.lower()](*args, **kwargs)

    create.__doc__ = f"Returns {_a(nickname)}: by its name, with its arguments; from its JSON; or the given instance itself."
    return create
