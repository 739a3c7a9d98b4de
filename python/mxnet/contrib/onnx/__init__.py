# SPDX-License-Identifier: Apache-2.0
"""ONNX files in both directions. The package `onnx` is needed, and loaded by the first function that is called."""

from ...onnx import export_model
from .onnx2mx.import_model import get_model_metadata, import_model
from .onnx2mx.import_to_gluon import import_to_gluon

__all__ = ["export_model", "get_model_metadata", "import_model", "import_to_gluon"]
