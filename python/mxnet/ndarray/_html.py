# SPDX-License-Identifier: Apache-2.0
"""How notebooks show an array: its type, shape and device, and a table of its values."""

from __future__ import annotations

from html import escape
from typing import Any, List, Sequence

import numpy as np

from ._dtypes import dtype_name

_MOST = 12  # rows or columns that are all shown; of more, so many halves from both ends
_GAP = "&hellip;"


def _ends(length: int) -> List[int]:
    """Which of so many rows are shown; -1 stands for those that are left out."""
    if length <= _MOST:
        return list(range(length))
    half = _MOST // 2
    return [*range(half), -1, *range(length - half, length)]


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else escape(str(value))


def _row(cells: Sequence[str], tag: str = "td") -> str:
    return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"


def _table(values: np.ndarray) -> str:
    rows, columns = _ends(values.shape[0]), _ends(values.shape[1])
    lines = [_row(["", *(_GAP if column < 0 else str(column) for column in columns)], "th")]
    for row in rows:
        cells = [_GAP if min(row, column) < 0 else _text(values[row, column]) for column in columns]
        lines.append(_row([f"<b>{_GAP if row < 0 else row}</b>", *cells]))
    return "<table>" + "".join(lines) + "</table>"


def as_html(array: Any) -> str:
    """A line about the array, then its values: one or two dimensions as a table, more as NumPy prints them."""
    shape = " &times; ".join(map(str, array.shape)) or "scalar"
    title = f"{type(array).__name__}: {shape}, {dtype_name(array.dtype)}, {escape(str(array.context))}"
    if array.stype != "default":
        return f"<p>{title}, {array.stype}</p>"
    values = array._values()
    if values.ndim in (1, 2) and values.size:
        shown = _table(np.atleast_2d(values))
    else:
        shown = f"<pre>{escape(str(values))}</pre>"
    return f"<p>{title}</p>{shown}"
