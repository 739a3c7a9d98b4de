# SPDX-License-Identifier: Apache-2.0
"""Networks as ONNX files. The package `onnx` is needed, and loaded by the first function that is called."""

from . import mx2onnx
from .mx2onnx import export_model, get_operator_support

__all__ = ["export_model", "get_operator_support", "mx2onnx"]
