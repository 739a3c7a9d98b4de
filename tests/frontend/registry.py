# SPDX-License-Identifier: Apache-2.0
"""The table of programs: each file of programs/ is full of functions marked @program()."""
import dataclasses
import importlib.util
import pathlib
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


def numpy_program(tolerance: float = 1e-4) -> Callable:
    """One with NumPy's semantics on, which is given mx.np too."""

    def mark(function: Callable) -> Callable:
        def run(mx: Any, np: Any) -> Any:
            mx.npx.set_np()
            try:
                return function(mx, mx.np, np)
            finally:
                mx.npx.reset_np()

        run.__name__, run.__module__ = function.__name__, function.__module__
        return program(tolerance)(run)

    return mark


def load(folder: Any) -> List[Program]:
    """All programs of the folder's files, in order."""
    _PROGRAMS.clear()
    for path in sorted(folder.glob("*.py")):
        spec = importlib.util.spec_from_file_location(f"programs_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return list(_PROGRAMS)


def settle(value: Any) -> None:
    """Waits for arrays: what fails in them comes out here."""
    if hasattr(value, "wait_to_read"):
        value.wait_to_read()
    elif isinstance(value, (list, tuple)):
        for item in value:
            settle(item)


def lines(text: str, **names: Any) -> List[Any]:
    """The value of each line of an expression per line; "raises" where it does."""
    results = []
    for line in text.strip().splitlines():
        try:
            value = eval(line, dict(names))  # the text is this table's own
            settle(value)
            results.append(value)
        except Exception:  # compared as a result
            results.append(f"raises: {line.strip()}")
    return results


def public_names(part: str) -> List[str]:
    """The public names below mxnet.PART that are made from operators or written by hand."""
    path = pathlib.Path(__file__).resolve().parent.parent / "data" / "public_names.txt"
    start = f"mxnet.{part}."
    return [name[len(start):] for name in path.read_text().split() if name.startswith(start)]
