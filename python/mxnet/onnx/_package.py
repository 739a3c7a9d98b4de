# SPDX-License-Identifier: Apache-2.0
"""The package `onnx`, which is optional."""

from __future__ import annotations

from typing import Any

import numpy as np


def onnx() -> Any:
    """The module; says what to install where there is none."""
    try:
        import onnx as package
        import onnx.helper
        import onnx.numpy_helper
    except ImportError as error:
        raise ImportError(f"ONNX files need the package 'onnx' (given: {error}), expected after: pip install onnx") from error
    return package


def number_of_type(dtype: Any) -> int:
    """ONNX's number of a type, by an array of it: the function for that is not in the package before 1.13."""
    if dtype == "bfloat16":
        return int(onnx().TensorProto.BFLOAT16)
    return int(onnx().numpy_helper.from_array(np.empty(0, dtype)).data_type)


def type_of_number(number: int) -> np.dtype:
    """NumPy's type of ONNX's number."""
    dtype: np.dtype = onnx().numpy_helper.to_array(onnx().TensorProto(data_type=number, dims=[0])).dtype
    return dtype
