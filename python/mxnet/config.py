# SPDX-License-Identifier: Apache-2.0
"""The configuration: every variable, its value and where that comes from.

`python -m mxnet.config` prints the table. The table itself is part of the library; this module only
shows it.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import signal
import sys
import textwrap
from typing import Any, Dict, List, Optional, Sequence, Union

from . import _core

__all__ = ["get", "rows", "set", "show"]

Value = Union[None, bool, int, float, str]


def rows() -> List[Dict[str, Any]]:
    """All rows, each a dictionary: name, value, default, source, allowed, doc and more."""
    return json.loads(_core.config_to_json())


def get(name: str) -> str:
    """The value of a variable as text. An unknown name is an error with the nearest known one."""
    return _core.config_get(name)


def set(name: str, value: Value) -> None:  # pylint: disable=redefined-builtin
    """Changes a live variable for the whole process; None goes back to the default."""
    if isinstance(value, bool):
        value = int(value)
    _core.config_set(name, None if value is None else str(value))


def _matches(row: Dict[str, Any], pattern: Optional[str]) -> bool:
    if pattern is None:
        return True
    names = [row["name"], row["section"], *row["aliases"]]
    return any(fnmatch.fnmatchcase(n.upper(), f"*{pattern.upper()}*") for n in names)


def _selected(pattern: Optional[str], pending: bool) -> List[Dict[str, Any]]:
    return [r for r in rows() if _matches(r, pattern) and (not pending or r["effect"] == "pending")]


def _table(chosen: Sequence[Dict[str, Any]], columns: Sequence[str]) -> str:
    lines = [list(columns)]
    for row in chosen:
        cells = (str(row[column]) for column in columns)
        lines.append([textwrap.shorten(cell, 60, placeholder="...") or "-" for cell in cells])
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip() for line in lines)


def show(pattern: Optional[str] = None, pending: bool = False, file: Any = None) -> None:
    """Prints name, value, default and source of the variables whose name or section has `pattern` in it.

    With `pending` those that have no effect yet, and what they wait for.
    """
    chosen = _selected(pattern, pending)
    columns = ("name", "value", "default", "note" if pending else "source")
    print(_table(chosen, columns), file=file if file is not None else sys.stdout)


def _main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m mxnet.config", description=show.__doc__)
    parser.add_argument("pattern", nargs="?", help="part of a name or section; * and ? stand for anything")
    parser.add_argument("--pending", action="store_true", help="only variables that have no effect yet")
    parser.add_argument("--json", action="store_true", help="whole rows as JSON")
    options = parser.parse_args(arguments)
    if options.json:
        print(json.dumps(_selected(options.pattern, options.pending), indent=1))
    else:
        show(options.pattern, options.pending)
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # who reads may end first, as `head` does
    sys.exit(_main())
