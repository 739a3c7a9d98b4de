# SPDX-License-Identifier: Apache-2.0
"""Constructors that differ from their base's in nothing but defaults."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, TypeVar

_Class = TypeVar("_Class", bound=type)


def with_defaults(**defaults: Any) -> Callable[[_Class], _Class]:
    """Decorates a class: it has its base's constructor, with these defaults, which help() and inspect show too."""

    def decorate(cls: _Class) -> _Class:
        inherited = cls.__init__  # type: ignore[misc]
        signature = inspect.signature(inherited)
        place = {name: i for i, name in enumerate(signature.parameters)}
        changed = [p.replace(default=defaults.get(name, p.default)) for name, p in signature.parameters.items()]

        @functools.wraps(inherited)
        def constructor(self: Any, *args: Any, **kwargs: Any) -> None:
            for name, value in defaults.items():
                if place[name] > len(args):
                    kwargs.setdefault(name, value)
            inherited(self, *args, **kwargs)

        constructor.__signature__ = signature.replace(parameters=changed)  # type: ignore[attr-defined]
        cls.__init__ = constructor  # type: ignore[misc]
        return cls

    return decorate
