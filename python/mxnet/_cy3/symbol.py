# SPDX-License-Identifier: Apache-2.0
"""The native base of symbols."""

from .._core import SymbolBase

__all__ = ["SymbolBase"]
