# SPDX-License-Identifier: Apache-2.0
"""Modules that are loaded when they are first asked for."""

from __future__ import annotations

import importlib
from typing import Any


def module(package: str, name: str) -> Any:
    """The module of this name in a package; AttributeError where there is none."""
    full = f"{package}.{name}"
    try:
        return importlib.import_module(full)
    except ModuleNotFoundError as error:
        if error.name != full:
            raise
        raise AttributeError(f"module {package!r} has no attribute {name!r}") from None
