# SPDX-License-Identifier: Apache-2.0
"""Networks with 8-bit integers: what collects their ranges. The conversion itself is not there yet.

The quantized operators (mx.nd.contrib.quantize_v2, quantized_conv ...) are; a network that holds them runs.
"""

from __future__ import annotations

import logging
from typing import Any, NoReturn, Tuple

import numpy as np

from ..base import MXNetNotImplementedError
from ..context import cpu

__all__ = [
    "calib_graph", "combine_histogram", "quantize_graph", "quantize_model", "quantize_model_mkldnn", "quantize_net",
    "quantize_net_v2",
]  # fmt: skip


def _not_there(what: str) -> NoReturn:
    raise MXNetNotImplementedError(
        f"{what}: given a network to quantize, expected a quantized one: the conversion of networks is not part of this "
        "version. Networks that were quantized before can be loaded and run."
    )


def combine_histogram(old_hist: Any, arr: Any, new_min: float, new_max: float, new_th: float) -> Tuple[Any, Any, float, float, float]:
    """A histogram over [-threshold, threshold], with more values: widened by whole bins where they need it."""
    hist, edges, old_min, old_max, old_th = old_hist
    arr = np.asarray(arr.asnumpy() if hasattr(arr, "asnumpy") else arr)
    low, high = min(old_min, new_min), max(old_max, new_max)
    if new_th <= old_th:
        more, _ = np.histogram(arr, bins=len(hist), range=(-old_th, old_th))
        return hist + more, edges, low, high, old_th
    step = 2 * old_th / len(hist)
    extra = int((new_th - old_th) // step + 1)
    threshold = extra * step + old_th
    more, edges = np.histogram(arr, bins=len(hist) + 2 * extra, range=(-threshold, threshold))
    more[extra : extra + len(hist)] += hist
    return more, edges, low, high, threshold


def quantize_model(
    sym: Any, arg_params: Any, aux_params: Any, data_names: Any = ("data",), label_names: Any = ("softmax_label",),
    ctx: Any = cpu(), excluded_sym_names: Any = None, excluded_op_names: Any = None, calib_mode: str = "entropy",  # noqa: B008
    calib_data: Any = None, num_calib_examples: Any = None, quantized_dtype: str = "int8", quantize_mode: str = "smart",
    quantize_granularity: str = "tensor-wise", logger: Any = None,
) -> Any:  # fmt: skip
    """A network in 8-bit integers and its parameters: not there yet."""
    _not_there("quantize_model")


def quantize_model_mkldnn(
    sym: Any, arg_params: Any, aux_params: Any, data_names: Any = ("data",), label_names: Any = ("softmax_label",),
    ctx: Any = cpu(), excluded_sym_names: Any = None, excluded_op_names: Any = None, calib_mode: str = "entropy",  # noqa: B008
    calib_data: Any = None, num_calib_examples: Any = None, quantized_dtype: str = "int8", quantize_mode: str = "smart",
    quantize_granularity: str = "tensor-wise", logger: Any = None,
) -> Any:  # fmt: skip
    """As quantize_model, with the CPU's fusions: not there yet."""
    _not_there("quantize_model_mkldnn")


def quantize_graph(
    sym: Any, arg_params: Any, aux_params: Any, ctx: Any = cpu(), excluded_sym_names: Any = None,  # noqa: B008
    excluded_op_names: Any = None, calib_mode: str = "entropy", quantized_dtype: str = "int8", quantize_mode: str = "full",
    quantize_granularity: str = "tensor-wise", LayerOutputCollector: Any = None, logger: Any = None,
) -> Any:  # fmt: skip
    """A network in 8-bit integers, still to be calibrated: not there yet."""
    _not_there("quantize_graph")


def calib_graph(
    qsym: Any, arg_params: Any, aux_params: Any, collector: Any, calib_mode: str = "entropy", quantized_dtype: str = "int8",
    logger: Any = logging,
) -> Any:  # fmt: skip
    """A quantized network with the ranges that a collector has found: not there yet."""
    _not_there("calib_graph")


def quantize_net_v2(
    network: Any, quantized_dtype: str = "auto", quantize_mode: str = "full", quantize_granularity: str = "tensor-wise",
    exclude_layers: Any = None, exclude_layers_match: Any = None, exclude_operators: Any = None, calib_data: Any = None,
    data_shapes: Any = None, calib_mode: str = "none", num_calib_examples: Any = None, ctx: Any = cpu(),  # noqa: B008
    LayerOutputCollector: Any = None, logger: Any = None,
) -> Any:  # fmt: skip
    """A block in 8-bit integers: not there yet."""
    _not_there("quantize_net_v2")


def quantize_net(
    network: Any, quantized_dtype: str = "auto", quantize_mode: str = "full", exclude_layers: Any = None,
    exclude_layers_match: Any = None, exclude_operators: Any = None, calib_data: Any = None, data_shapes: Any = None,
    calib_mode: str = "none", num_calib_examples: Any = None, ctx: Any = cpu(), logger: Any = None,  # noqa: B008
) -> Any:  # fmt: skip
    """A block in 8-bit integers: not there yet."""
    _not_there("quantize_net")
