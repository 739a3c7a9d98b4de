# SPDX-License-Identifier: Apache-2.0
"""import_model: an ONNX file as a symbol and its parameters."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Tuple

from ....onnx._package import onnx
from .import_onnx import GraphProto

__all__ = ["get_model_metadata", "import_model"]


def load(model_file: Any) -> Tuple[Any, int]:
    """The graph of a file, and the opset that its nodes are written in."""
    model = onnx().load_model(os.fspath(model_file))
    opsets = [entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")]
    return model.graph, max(opsets, default=1)


def import_model(model_file: Any) -> Tuple[Any, Dict[str, Any], Dict[str, Any]]:
    """Symbol, parameters and states of an ONNX file."""
    graph, opset = load(model_file)
    return GraphProto().from_onnx(graph, opset_version=opset)


def get_model_metadata(model_file: Any) -> Dict[str, List[Tuple[Any, ...]]]:
    """What an ONNX file takes and gives.

    'input_tensor_data' lists names, shapes and ONNX's numbers of types, 'output_tensor_data' names and shapes.
    """
    return GraphProto().get_graph_metadata(load(model_file)[0])
