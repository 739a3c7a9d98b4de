# SPDX-License-Identifier: Apache-2.0
"""The native base of arrays, and networks that are called like one operator."""

from .._core import CachedOp, NDArrayBase

__all__ = ["CachedOp", "NDArrayBase"]
