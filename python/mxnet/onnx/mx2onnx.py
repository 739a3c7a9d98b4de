# SPDX-License-Identifier: Apache-2.0
"""Writing ONNX files: not there yet."""

from __future__ import annotations

from typing import Any, List, Optional

import numpy as np

from ..contrib.onnx import _not_there

__all__ = ["export_model", "get_operator_support"]


def export_model(
    sym: Any, params: Any, in_shapes: Any = None, in_types: Any = np.float32, onnx_file_path: str = "model.onnx",
    verbose: bool = False, dynamic: bool = False, dynamic_input_shapes: Any = None, run_shape_inference: bool = False,
    input_type: Any = None, input_shape: Any = None,
) -> str:  # fmt: skip
    """Writes a network as an ONNX file: not there yet."""
    _not_there("export_model")


def get_operator_support(opset_version: Optional[int] = None) -> List[str]:
    """The operators that can be written: none yet."""
    del opset_version
    return []
