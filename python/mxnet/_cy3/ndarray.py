# SPDX-License-Identifier: Apache-2.0
"""The native base of arrays."""

from .._core import NDArrayBase

__all__ = ["NDArrayBase"]
