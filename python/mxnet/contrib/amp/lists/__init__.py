# SPDX-License-Identifier: Apache-2.0
"""Which operators run in which precision, for each type of 16 bits."""

from . import symbol_bf16, symbol_fp16

__all__ = ["symbol_bf16", "symbol_fp16"]
