# SPDX-License-Identifier: Apache-2.0
"""The table of programs: each file of programs/ is full of functions marked @program()."""
import dataclasses
import importlib.util
from typing import Any, Callable, List

_PROGRAMS: List["Program"] = []


@dataclasses.dataclass
class Program:
    """One small use of the front end; `tolerance` is relative to the largest number."""

    name: str
    run: Callable[[Any, Any], Any]
    tolerance: float = 1e-4


def program(tolerance: float = 1e-4) -> Callable:
    def mark(function: Callable) -> Callable:
        part = function.__module__.rpartition("_")[2]
        _PROGRAMS.append(Program(f"{part}.{function.__name__}", function, tolerance))
        return function

    return mark


def load(folder: Any) -> List[Program]:
    """All programs of the folder's files, in order."""
    _PROGRAMS.clear()
    for path in sorted(folder.glob("*.py")):
        spec = importlib.util.spec_from_file_location(f"programs_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return list(_PROGRAMS)
