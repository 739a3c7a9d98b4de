# SPDX-License-Identifier: Apache-2.0
"""Types and constants under NumPy's names."""

from __future__ import annotations

from typing import Any, Dict

import numpy as onp

__all__ = [
    "NAN", "NINF", "NZERO", "NaN", "PINF", "PZERO", "_STR_2_DTYPE_", "bool", "bool_", "e", "finfo", "float16", "float32",
    "float64", "inf", "int32", "int64", "int8", "nan", "newaxis", "pi", "uint8",
]

float16, float32, float64 = onp.float16, onp.float32, onp.float64
uint8, int8, int32, int64 = onp.uint8, onp.int8, onp.int32, onp.int64
bool_ = onp.bool_
bool = bool  # pylint: disable=redefined-builtin,self-assigning-variable
finfo = onp.finfo

pi, e = onp.pi, onp.e
inf = PINF = float("inf")
NINF = -inf
nan = NAN = NaN = float("nan")
PZERO, NZERO = 0.0, -0.0
newaxis = None

_STR_2_DTYPE_: Dict[str, Any] = {
    **{dtype.__name__: dtype for dtype in (float16, float32, float64, uint8, int8, int32, int64)},
    "float": float64,
    "int": int64,
    "bool": bool,
    "bool_": bool_,
    "None": None,
}
