# SPDX-License-Identifier: Apache-2.0
"""import_to_gluon: an ONNX file as a block."""

from __future__ import annotations

from typing import Any

from .import_model import load
from .import_onnx import GraphProto

__all__ = ["import_to_gluon"]


def import_to_gluon(model_file: Any, ctx: Any) -> Any:
    """An ONNX file as a SymbolBlock whose parameters lie on a context, or on each of a list of them."""
    graph, opset = load(model_file)
    return GraphProto().graph_to_gluon(graph, ctx, opset)
