# SPDX-License-Identifier: Apache-2.0
"""Networks as ONNX files: not there yet."""

from . import mx2onnx
from .mx2onnx import export_model, get_operator_support

__all__ = ["export_model", "get_operator_support", "mx2onnx"]
