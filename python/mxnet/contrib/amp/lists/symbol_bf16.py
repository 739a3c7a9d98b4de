# SPDX-License-Identifier: Apache-2.0
"""Which operators run in which precision with bfloat16."""

from . import _kinds

BF16_FUNCS = list(_kinds.PRODUCTS)
BF16_FP32_FUNCS = _kinds.either()
FP32_FUNCS = _kinds.delicate()
CONDITIONAL_FP32_FUNCS = list(_kinds.CONDITIONAL)
WIDEST_TYPE_CASTS = _kinds.widest()
LOSS_OUTPUT_FUNCTIONS = _kinds.losses()
# Parameters that stay in float32, by operator: none, the operators take them in the type of their data.
BF16_USE_FP32_PARAMS: dict = {}
