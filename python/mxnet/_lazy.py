# SPDX-License-Identifier: Apache-2.0
"""Modules that are loaded when they are first asked for, and what modules with such names list."""

from __future__ import annotations

import importlib
import sys
import typing
from typing import Any, Dict, Iterable, List


def missing(owner: str, name: str, text: str = "") -> AttributeError:
    """The error for a name that a module lacks. Python looks for similar names in it, if it ever shows the error."""
    error = AttributeError(text or f"module {owner!r} has no attribute {name!r}")
    error.name, error.obj = name, sys.modules.get(owner)  # type: ignore[attr-defined] # for Python 3.10 and newer
    return error


def module(package: str, name: str) -> Any:
    """The module of this name in a package; AttributeError where there is none."""
    full = f"{package}.{name}"
    try:
        return importlib.import_module(full)
    except ModuleNotFoundError as error:
        if error.name != full:
            raise
        raise missing(package, name) from None


def listed(names: Dict[str, Any], *more: Iterable[str]) -> List[str]:
    """What dir() of a module shows: its names, less those that only its annotations need, and what it loads when asked for."""
    hidden = {"annotations": annotations, **{name: value for name, value in vars(typing).items() if name in typing.__all__}}
    found = {**names}.items()  # another thread may have something loaded meanwhile
    own = (name for name, value in found if name not in hidden or value is not hidden[name])
    return sorted({*own, *(name for group in more for name in group)})
