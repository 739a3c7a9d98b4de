# SPDX-License-Identifier: Apache-2.0
"""import_to_gluon: an ONNX file as a block."""

from __future__ import annotations

from typing import Any

from .import_model import reading
from .import_onnx import GraphProto

__all__ = ["import_to_gluon"]


def import_to_gluon(model_file: Any, ctx: Any) -> Any:
    """An ONNX file as a SymbolBlock whose parameters lie on a context, or on each of a list of them."""
    with reading(model_file) as (graph, opset):
        reader = GraphProto()
        parts = reader.from_onnx(graph, opset)
    return reader.block(graph, ctx, *parts)
