# SPDX-License-Identifier: Apache-2.0
"""Mixed precision: matrix products in 16 bits, what is delicate in 32."""

from . import amp, lists, loss_scaler
from .amp import (
    convert_bucketing_module,
    convert_hybrid_block,
    convert_model,
    convert_symbol,
    init,
    init_trainer,
    list_conditional_fp32_ops,
    list_fp32_ops,
    list_loss_output_functions,
    list_lp16_fp32_ops,
    list_lp16_ops,
    list_lp16_use_fp32_params,
    list_widest_type_cast,
    scale_loss,
    unscale,
)

__all__ = [
    "amp", "convert_bucketing_module", "convert_hybrid_block", "convert_model", "convert_symbol", "init", "init_trainer",
    "list_conditional_fp32_ops", "list_fp32_ops", "list_loss_output_functions", "list_lp16_fp32_ops", "list_lp16_ops",
    "list_lp16_use_fp32_params", "list_widest_type_cast", "lists", "loss_scaler", "scale_loss", "unscale",
]  # fmt: skip
