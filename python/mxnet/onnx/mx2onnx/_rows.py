# SPDX-License-Identifier: Apache-2.0
"""The table of what can be written: a function for each operator, by its name in the registry."""

from __future__ import annotations

import importlib
from typing import Any, Callable, Dict, List, Sequence, Union

from ... import _core

# A writer gets the graph and the node, adds ONNX nodes, and returns the names of the node's outputs.
Writer = Callable[[Any, Any], Union[str, Sequence[str]]]

_FAMILIES = ("_elementwise", "_layers", "_norms", "_pooling", "_layout", "_indexing", "_reductions", "_matrix", "_recurrent", "_made", "_boxes")
_rows: Dict[str, Writer] = {}

# What only the gradient is for: the input of this place is left out of the file.
LABELS = {
    "SoftmaxOutput": 1,
    "LinearRegressionOutput": 1,
    "LogisticRegressionOutput": 1,
    "MAERegressionOutput": 1,
    "SVMOutput": 1,
}


def writes(*names: str) -> Callable[[Writer], Writer]:
    """Declares a function as the writer of these operators."""

    def add(writer: Writer) -> Writer:
        for name in names:
            _rows[_core.op_info(name)[0]] = writer
        return writer

    return add


def rows() -> Dict[str, Writer]:
    """The whole table; its families are loaded when it is first asked for."""
    for family in _FAMILIES:
        importlib.import_module(f"{__package__}.{family}")
    return _rows


def supported() -> List[str]:
    """Names of the operators that can be written, aliases included."""
    known = rows()
    return sorted(name for name in _core.op_names() if _core.op_info(name)[0] in known)
