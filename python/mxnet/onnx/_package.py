# SPDX-License-Identifier: Apache-2.0
"""The package `onnx`, which is optional."""

from __future__ import annotations

from typing import Any


def onnx() -> Any:
    """The module; says what to install where there is none."""
    try:
        import onnx as package
        import onnx.helper
        import onnx.numpy_helper
    except ImportError as error:
        raise ImportError(f"ONNX files need the package 'onnx' (given: {error}), expected after: pip install onnx") from error
    return package
