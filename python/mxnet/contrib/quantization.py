# SPDX-License-Identifier: Apache-2.0
"""Networks with 8-bit integers: conversion of symbols and blocks, and calibration with examples.

    qsym, qarg, qaux = quantize_model(sym, arg_params, aux_params, calib_mode="naive", calib_data=batches)
    qnet = quantize_net_v2(net, calib_mode="entropy", calib_data=loader)
"""

from __future__ import annotations

import ctypes
import inspect
import logging
import os
import tempfile
import warnings
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

from .. import ndarray as nd
from .._ctypes.lib import _LIB, SymbolHandle, c_array, c_str, c_str_array, check_call
from ..context import Context, cpu
from ..io import DataDesc, DataIter
from ..ndarray import NDArray
from ._calibration import (
    Range, _BatchIter, _get_optimal_thresholds, _LayerHistogramCollector, _LayerOutputMinMaxCollector, combine_histogram, in_input_names,
    input_names, run_examples,
)  # fmt: skip

__all__ = [
    "calib_graph", "combine_histogram", "quantize_graph", "quantize_model", "quantize_model_mkldnn", "quantize_net",
    "quantize_net_v2",
]  # fmt: skip

_FUSED = "MKLDNN_QUANTIZE"  # the backend that fuses layers for quantization
Params = Dict[str, NDArray]


# --- The calls of the core


def _names(argument: str, names: Any) -> List[str]:
    if names is None:
        return []
    if not isinstance(names, (list, tuple, set)):
        raise ValueError(f"{argument}: given {names!r} of {type(names).__name__}, expected a list of names")
    return [str(name) for name in names]


def _one_of(argument: str, given: Any, words: Sequence[str]) -> Any:
    if given not in words:
        raise ValueError(f"{argument}: given {given!r}, expected one of: {', '.join(words)}")
    return given


def _quantize_symbol(
    sym: Any, ctx: Context, excluded_symbols: Optional[Iterable[str]] = None, excluded_operators: Optional[Iterable[str]] = None,
    offline_params: Optional[Iterable[str]] = None, quantized_dtype: str = "int8", quantize_mode: str = "smart",
    quantize_granularity: str = "tensor-wise",
) -> Tuple[Any, List[str]]:  # fmt: skip
    """The quantized symbol, and the names of the values whose ranges it can be calibrated with."""
    made, count, names = SymbolHandle(), ctypes.c_uint(), ctypes.POINTER(ctypes.c_char_p)()
    columns = []
    for given in (excluded_symbols, excluded_operators, offline_params):
        column = list(given or ())
        columns += [ctypes.c_uint(len(column)), c_str_array(column)]
    device = ctypes.c_int(ctx.device_typeid)
    check_call(_LIB.MXQuantizeSymbol(
        sym.handle, ctypes.byref(made), ctypes.byref(device), *columns, c_str(quantized_dtype), ctypes.c_bool(True),
        c_str(quantize_mode), c_str(quantize_granularity), ctypes.byref(count), ctypes.byref(names),
    ))  # fmt: skip
    return type(sym)(made), [names[i].decode() for i in range(count.value)]


def _with_ranges(qsym: Any, ranges: Dict[str, Range]) -> Any:
    if not ranges:
        return qsym
    made = SymbolHandle()
    check_call(_LIB.MXSetCalibTableToQuantizedSymbol(
        qsym.handle, ctypes.c_uint(len(ranges)), c_str_array(ranges),
        c_array(ctypes.c_float, [low for low, _ in ranges.values()]),
        c_array(ctypes.c_float, [high for _, high in ranges.values()]), ctypes.byref(made),
    ))  # fmt: skip
    return type(qsym)(made)


def _quantize_params(qsym: Any, params: Params) -> Params:
    """Parameters as the quantized symbol wants them: NAME_quantize in bytes with its ends, all others as they are."""
    quantized: Params = {}
    for name in qsym.list_arguments():
        if name.endswith("_quantize"):
            original = params[name[: -len("_quantize")]]
            low, high = nd.min(original), nd.max(original)
            in_bytes = nd.contrib.quantize(original, low, high, out_type="int8")
            for suffix, array in zip(("", "_min", "_max"), in_bytes):
                quantized[name + suffix] = array
        elif name in params:
            quantized[name] = params[name]
    return quantized


# --- Symbols


def _checked_context(ctx: Any) -> Context:
    if not isinstance(ctx, Context):
        raise ValueError(f"ctx: given {type(ctx).__name__}, expected one context")
    return ctx


def _collector(calib_mode: str, quantized_dtype: str, layers: List[str], custom: Any, logger: Any) -> Any:
    if calib_mode == "none":
        return None
    if calib_mode == "naive":
        return _LayerOutputMinMaxCollector(quantized_dtype, include_layer=layers, logger=logger)
    if calib_mode == "entropy":
        return _LayerHistogramCollector(include_layer=layers, logger=logger)
    if custom is None:
        raise ValueError("LayerOutputCollector: given None, expected a collector for calib_mode customize")
    if getattr(custom, "include_layer", None) is None:
        custom.include_layer = layers
    return custom


def quantize_graph(
    sym: Any, arg_params: Params, aux_params: Params, ctx: Any = cpu(), excluded_sym_names: Any = None,  # noqa: B008
    excluded_op_names: Any = None, calib_mode: str = "entropy", quantized_dtype: str = "int8", quantize_mode: str = "full",
    quantize_granularity: str = "tensor-wise", LayerOutputCollector: Any = None, logger: Any = None,
) -> Tuple[Any, Params, Params, Any]:  # fmt: skip
    """The quantized symbol, its parameters and states, and a collector: its `collect` is for set_monitor_callback of an
    executor of the original network. calib_graph then takes what it has seen. `calib_mode` is one of none, naive (least
    and greatest number), entropy (histograms), customize (`LayerOutputCollector`, with collect(name, array) and, in the
    end, min_max_dict)."""
    ctx = _checked_context(ctx)
    _one_of("calib_mode", calib_mode, ("none", "naive", "entropy", "customize"))
    _one_of("quantized_dtype", quantized_dtype, ("int8", "uint8", "auto"))
    if calib_mode == "none" and quantized_dtype == "uint8":
        quantized_dtype = "auto"  # nobody has seen that a value is never below zero, which uint8 would make zero
    _one_of("quantize_granularity", quantize_granularity, ("tensor-wise", "channel-wise"))
    if logger:
        logger.info("Quantizing the network")
    operators = _names("excluded_op_names", excluded_op_names)
    if calib_mode == "none":  # its form in bytes has no other way to the range of its result
        operators.append("BatchNorm")
    qsym, layers = _quantize_symbol(
        sym, ctx, _names("excluded_sym_names", excluded_sym_names), operators, arg_params, quantized_dtype, quantize_mode,
        quantize_granularity,
    )  # fmt: skip
    collector = _collector(calib_mode, quantized_dtype, layers, LayerOutputCollector, logger)
    return qsym, _quantize_params(qsym, arg_params), aux_params, collector


def calib_graph(
    qsym: Any, arg_params: Params, aux_params: Params, collector: Any, calib_mode: str = "entropy",
    quantized_dtype: str = "int8", logger: Any = logging,
) -> Tuple[Any, Params, Params]:  # fmt: skip
    """The quantized symbol with the ranges that a collector has found. `arg_params` are those of the original network."""
    _one_of("calib_mode", calib_mode, ("none", "naive", "entropy", "customize"))
    _one_of("quantized_dtype", quantized_dtype, ("int8", "uint8", "auto"))
    if calib_mode != "none":
        if calib_mode == "entropy":
            ranges = _get_optimal_thresholds(collector.hist_dict, quantized_dtype, logger=logger)
        else:
            ranges = dict(collector.min_max_dict)
        if logger:
            logger.info("Calibrating %d values", len(ranges))
        qsym = _with_ranges(qsym, ranges)
    return qsym, _quantize_params(qsym, arg_params), aux_params


def quantize_model(
    sym: Any, arg_params: Params, aux_params: Params, data_names: Any = ("data",), label_names: Any = ("softmax_label",),
    ctx: Any = cpu(), excluded_sym_names: Any = None, excluded_op_names: Any = None, calib_mode: str = "entropy",  # noqa: B008
    calib_data: Any = None, num_calib_examples: Optional[int] = None, quantized_dtype: str = "int8",
    quantize_mode: str = "smart", quantize_granularity: str = "tensor-wise", logger: Any = None,
) -> Tuple[Any, Params, Params]:  # fmt: skip
    """A network in 8-bit integers with its parameters and states. `calib_data` is a DataIter that gives `data_names`;
    labels are not needed. `quantize_mode` full quantizes whatever can be, smart leaves pooling, relu and the like alone
    unless they lie between layers that gain by it."""
    ctx = _checked_context(ctx)
    _one_of("calib_mode", calib_mode, ("none", "naive", "entropy"))
    if calib_mode != "none":
        if calib_data is None:
            raise ValueError(f"calib_data: given None, expected a DataIter for calib_mode {calib_mode}")
        if not isinstance(calib_data, DataIter):
            raise ValueError(f"calib_data: given {type(calib_data).__name__}, expected a DataIter")
        described: Any = calib_data
        unknown = [each[0] for each in described.provide_data if each[0] not in data_names]
        if unknown:
            raise ValueError(f"calib_data: given {', '.join(unknown)}, expected the data_names {', '.join(data_names)}")
    qsym, qarg_params, qaux_params, collector = quantize_graph(
        sym, arg_params, aux_params, ctx, excluded_sym_names, excluded_op_names, calib_mode, quantized_dtype, quantize_mode,
        quantize_granularity, logger=logger,
    )  # fmt: skip
    if collector is None:
        return qsym, qarg_params, qaux_params
    seen = run_examples(sym, arg_params, aux_params, calib_data, collector, ctx, num_calib_examples)
    if logger:
        logger.info("Collected ranges from %d examples", seen)
    return calib_graph(qsym, arg_params, aux_params, collector, calib_mode, quantized_dtype, logger)


def quantize_model_mkldnn(
    sym: Any, arg_params: Params, aux_params: Params, data_names: Any = ("data",), label_names: Any = ("softmax_label",),
    ctx: Any = cpu(), excluded_sym_names: Any = None, excluded_op_names: Any = None, calib_mode: str = "entropy",  # noqa: B008
    calib_data: Any = None, num_calib_examples: Optional[int] = None, quantized_dtype: str = "int8",
    quantize_mode: str = "smart", quantize_granularity: str = "tensor-wise", logger: Any = None,
) -> Tuple[Any, Params, Params]:  # fmt: skip
    """As quantize_model, after convolutions and fully connected layers have taken over what follows them."""
    if _checked_context(ctx) != cpu():
        raise ValueError(f"ctx: given {ctx}, expected cpu(): only there layers are fused for quantization")
    qsym, qarg_params, qaux_params = quantize_model(
        sym.get_backend_symbol(_FUSED), arg_params, aux_params, data_names, label_names, ctx, excluded_sym_names,
        excluded_op_names, calib_mode, calib_data, num_calib_examples, quantized_dtype, quantize_mode, quantize_granularity,
        logger,
    )  # fmt: skip
    return qsym.get_backend_symbol(_FUSED), qarg_params, qaux_params


# --- Blocks


def _described(data_shapes: Any) -> Optional[List[DataDesc]]:
    if data_shapes is None:
        return None
    shapes = list(data_shapes) if isinstance(data_shapes, (list, tuple)) else [data_shapes]
    return [DataDesc(name, tuple(getattr(shape, "shape", shape))) for name, shape in zip(input_names(len(shapes)), shapes)]


def _input_count(network: Any) -> int:
    """How many arrays a block takes at least."""
    taken = list(inspect.signature(network.hybrid_forward).parameters.values())[1:]
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    own = network._reg_params
    return max(1, sum(each.kind in by_place and each.default is each.empty and each.name not in own for each in taken))


def _checked_network(network: Any) -> Any:
    from ..gluon import HybridBlock

    if not isinstance(network, HybridBlock):
        raise ValueError(f"network: given {type(network).__name__}, expected a HybridBlock")
    return network


def _exported(network: Any, shapes: List[DataDesc], ctx: Context) -> Tuple[Any, Params, Params]:
    """The block as a symbol with parameters and states."""
    from ..model import load_checkpoint

    _checked_network(network).hybridize(static_alloc=False, static_shape=False)
    network(*[nd.zeros(each.shape, ctx=ctx, dtype=getattr(each, "dtype", "float32")) for each in shapes])
    with tempfile.TemporaryDirectory() as folder:
        prefix = os.path.join(folder, "network")
        network.export(prefix, epoch=0)
        return load_checkpoint(prefix, 0)


def _as_block(qsym: Any, qarg_params: Params, qaux_params: Params, names: List[str], ctx: Context) -> Any:
    from .. import symbol
    from ..gluon import SymbolBlock

    block = SymbolBlock(qsym, [symbol.var(name) for name in names])
    parameters = block.collect_params()
    for arrays in (qarg_params, qaux_params):
        for name, array in arrays.items():
            if name in parameters:
                parameters[name].grad_req = "null"
                parameters[name]._load_init(array, ctx, cast_dtype=True, dtype_source="saved")
    return block


def quantize_net_v2(
    network: Any, quantized_dtype: str = "auto", quantize_mode: str = "full", quantize_granularity: str = "tensor-wise",
    exclude_layers: Any = None, exclude_layers_match: Any = None, exclude_operators: Any = None, calib_data: Any = None,
    data_shapes: Any = None, calib_mode: str = "none", num_calib_examples: Optional[int] = None, ctx: Any = cpu(),  # noqa: B008
    LayerOutputCollector: Any = None, logger: Any = None,
) -> Any:  # fmt: skip
    """A HybridBlock as a SymbolBlock in 8-bit integers. `calib_data` is a DataIter, or gives lists of arrays as a
    DataLoader does, of which those behind the data are left out; `data_shapes` (tuples or DataDesc, in the order of the
    block's inputs) are taken from it where they are not given; a DataIter names its arrays data0, data1 and so on in the order of the
    inputs, or gives them in that order. Layers whose names contain one of `exclude_layers_match`
    stay real."""
    ctx = _checked_context(ctx)
    _one_of("calib_mode", calib_mode, ("none", "naive", "entropy", "customize"))
    if calib_mode != "none" and calib_data is None:
        raise ValueError(f"calib_data: given None, expected batches for calib_mode {calib_mode}")
    shapes = _described(data_shapes)
    batches: Any = calib_data
    if calib_data is not None and not isinstance(calib_data, DataIter):
        batches = _BatchIter(calib_data, shapes, _input_count(_checked_network(network)))
    if shapes is None:
        if batches is None:
            raise ValueError("data_shapes: given None, expected the shapes of the block's inputs, or calib_data")
        found = {each.name: each for each in in_input_names(batches.provide_data)}
        shapes = [found[name] for name in input_names(len(found))]
    sym, arg_params, aux_params = _exported(network, shapes, ctx)
    excluded = _names("exclude_layers", exclude_layers)
    layers = [name[: -len("_output")] for name in sym.get_internals().list_outputs() if name.endswith("_output")]
    for part in _names("exclude_layers_match", exclude_layers_match):
        excluded += [name for name in layers if part in name and name not in excluded]
    if logger:
        logger.info("Layers that stay real: %s", excluded)
    fused = ctx == cpu()
    if fused:
        sym = sym.get_backend_symbol(_FUSED)
    qsym, qarg_params, qaux_params, collector = quantize_graph(
        sym, arg_params, aux_params, ctx, excluded, exclude_operators, calib_mode, quantized_dtype, quantize_mode,
        quantize_granularity, LayerOutputCollector, logger,
    )  # fmt: skip
    if collector is not None:
        described = in_input_names(batches.provide_data)
        seen = run_examples(sym, arg_params, aux_params, batches, collector, ctx, num_calib_examples, described)
        if logger:
            logger.info("Collected ranges from %d examples", seen)
        qsym, qarg_params, qaux_params = calib_graph(
            qsym, arg_params, aux_params, collector, calib_mode, quantized_dtype, logger
        )
    if fused:
        qsym = qsym.get_backend_symbol(_FUSED)
    return _as_block(qsym, qarg_params, qaux_params, [each[0] for each in shapes], ctx)


def quantize_net(
    network: Any, quantized_dtype: str = "auto", quantize_mode: str = "full", exclude_layers: Any = None,
    exclude_layers_match: Any = None, exclude_operators: Any = None, calib_data: Any = None, data_shapes: Any = None,
    calib_mode: str = "none", num_calib_examples: Optional[int] = None, ctx: Any = cpu(), logger: Any = None,  # noqa: B008
) -> Any:  # fmt: skip
    """quantize_net_v2 with one range for each weight."""
    warnings.warn("quantize_net is an older form of quantize_net_v2", DeprecationWarning, stacklevel=2)
    return quantize_net_v2(
        network, quantized_dtype, quantize_mode, "tensor-wise", exclude_layers, exclude_layers_match, exclude_operators,
        calib_data, data_shapes, calib_mode, num_calib_examples, ctx, None, logger,
    )  # fmt: skip
