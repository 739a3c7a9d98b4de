# SPDX-License-Identifier: Apache-2.0
"""Writing ONNX files: a table of operators (`_rows` and its neighbours) over a graph of nodes (`_graph`)."""

from ._export import export_model, get_operator_support

__all__ = ["export_model", "get_operator_support"]
