# SPDX-License-Identifier: Apache-2.0
"""import_model: an ONNX file as a symbol and its parameters."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import Any, Dict, Iterator, List, Tuple

from ....base import MXNetError
from ....onnx._package import onnx
from .import_onnx import GraphProto

__all__ = ["get_model_metadata", "import_model"]


@contextmanager
def reading(model_file: Any) -> Iterator[Tuple[Any, int]]:
    """The graph of a file, and the opset that its nodes are written in; what is wrong with them is an error that names the file."""
    path = os.fspath(model_file)
    package = onnx()
    try:
        model = package.load_model(path)
        opsets = [entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")]
        yield model.graph, max(opsets, default=1)
    except OSError:  # which names it
        raise
    except MXNetError as error:
        raise MXNetError(f"{error} (in {path!r})") from error
    except Exception as error:  # a file may hold anything
        raise MXNetError(f"import_model: given {path!r}, {type(error).__name__}: {error}, expected a model of ONNX") from error


def import_model(model_file: Any) -> Tuple[Any, Dict[str, Any], Dict[str, Any]]:
    """Symbol, parameters and states of an ONNX file."""
    with reading(model_file) as (graph, opset):
        return GraphProto().from_onnx(graph, opset_version=opset)


def get_model_metadata(model_file: Any) -> Dict[str, List[Tuple[Any, ...]]]:
    """What an ONNX file takes and gives.

    'input_tensor_data' lists names, shapes and ONNX's numbers of types, 'output_tensor_data' names and shapes.
    """
    with reading(model_file) as (graph, _):
        return GraphProto().get_graph_metadata(graph)
