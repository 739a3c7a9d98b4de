# SPDX-License-Identifier: Apache-2.0
"""Which operators run in which precision with float16."""

from . import _kinds

FP16_FUNCS = list(_kinds.PRODUCTS)
FP16_FP32_FUNCS = _kinds.either()
FP32_FUNCS = _kinds.delicate()
CONDITIONAL_FP32_FUNCS = list(_kinds.CONDITIONAL)
WIDEST_TYPE_CASTS = _kinds.widest()
LOSS_OUTPUT_FUNCTIONS = _kinds.losses()
