# SPDX-License-Identifier: Apache-2.0
"""ONNX files in both directions. The package `onnx` is needed, and loaded by the first function that is called."""

from ...onnx import export_model
from .onnx2mx.import_model import get_model_metadata, import_model
from .onnx2mx.import_to_gluon import import_to_gluon

# The same, as the package of 1.x has them too.
export_model_, get_model_metadata_ = export_model, get_model_metadata
import_model_, import_to_gluon_ = import_model, import_to_gluon

__all__ = ["export_model", "get_model_metadata", "import_model", "import_to_gluon"]
