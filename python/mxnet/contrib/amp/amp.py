# SPDX-License-Identifier: Apache-2.0
"""Mixed precision: for programs (init, init_trainer, scale_loss) and for finished networks (convert_...)."""

from __future__ import annotations

import contextlib
import functools
import importlib
import logging
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from ... import _core
from ...context import cpu, gpu, num_gpus
from ... import ndarray as _ndarray  # noqa: F401  (whole, before what lies in it)
from ...ndarray._dtypes import bfloat16, dtype_number
from . import _arithmetic
from .loss_scaler import LossScaler

__all__ = [
    "bfloat16", "convert_bucketing_module", "convert_hybrid_block", "convert_model", "convert_symbol", "init", "init_trainer",
    "list_conditional_fp32_ops", "list_fp32_ops", "list_loss_output_functions", "list_lp16_fp32_ops", "list_lp16_ops",
    "list_lp16_use_fp32_params", "list_widest_type_cast", "scale_loss", "unscale",
]  # fmt: skip

_amp_initialized: Optional[str] = None  # the type; attention of GluonNLP looks whether there is one


def _dtype_name(target_dtype: Any) -> str:
    if target_dtype in ("float16", "bfloat16"):
        return target_dtype
    if target_dtype is bfloat16 or (isinstance(target_dtype, np.dtype) and target_dtype == bfloat16):
        return "bfloat16"
    if target_dtype is not None and not isinstance(target_dtype, str) and np.dtype(target_dtype) == np.float16:
        return "float16"
    raise ValueError(f"given target_dtype {target_dtype!r}, expected 'float16' or 'bfloat16'")


def _lists(target_dtype: Any) -> Tuple[Any, str]:
    short = "fp16" if _dtype_name(target_dtype) == "float16" else "bf16"
    return importlib.import_module(f"{__package__}.lists.symbol_{short}"), short.upper()


def list_lp16_ops(target_dtype: Any) -> List[str]:
    """Operators that run in 16 bits."""
    module, prefix = _lists(target_dtype)
    return getattr(module, f"{prefix}_FUNCS")


def list_fp32_ops(target_dtype: Any) -> List[str]:
    """Operators that run in float32."""
    return _lists(target_dtype)[0].FP32_FUNCS


def list_lp16_fp32_ops(target_dtype: Any) -> List[str]:
    """Operators that run in the type of their input."""
    module, prefix = _lists(target_dtype)
    return getattr(module, f"{prefix}_FP32_FUNCS")


def list_conditional_fp32_ops(target_dtype: Any) -> List[Tuple[str, str, List[str]]]:
    """(operator, parameter, values) with which it runs in float32."""
    return _lists(target_dtype)[0].CONDITIONAL_FP32_FUNCS


def list_widest_type_cast(target_dtype: Any) -> List[str]:
    """Operators whose inputs become of the widest type among them."""
    return _lists(target_dtype)[0].WIDEST_TYPE_CASTS


def list_loss_output_functions(target_dtype: Any) -> List[str]:
    """Output layers that are losses: they run in float32."""
    return _lists(target_dtype)[0].LOSS_OUTPUT_FUNCTIONS


def list_lp16_use_fp32_params(target_dtype: Any) -> Optional[Dict[str, List[str]]]:
    """Parameters that stay in float32, by operator; None for float16."""
    module, _ = _lists(target_dtype)
    return getattr(module, "BF16_USE_FP32_PARAMS", None)


# --- Programs


def _is_floating(value: Any) -> bool:
    return value.dtype in (np.float16, np.float32) or value.dtype is bfloat16


def _wrapped(function: Callable[..., Any], cast: Callable[[List[Any]], List[Any]], kind: type) -> Callable[..., Any]:
    """The operator with its arrays (or symbols) cast before."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        args_list = list(args)
        spots: List[Tuple[Any, Any]] = [(args_list, i) for i, value in enumerate(args_list) if isinstance(value, kind)]
        spots += [(kwargs, key) for key, value in kwargs.items() if isinstance(value, kind) and key != "out"]
        for (where, key), value in zip(spots, cast([where[key] for where, key in spots])):
            where[key] = value
        return function(*args_list, **kwargs)

    return call


def _with_made_inputs(function: Callable[..., Any], cast: Callable[[List[Any]], List[Any]]) -> Callable[..., Any]:
    """The operator of symbols; variables that it makes for parameters that were not given are cast too."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        node = function(*args, **kwargs)
        states = set(node.list_auxiliary_states())
        children = node.get_children()
        made = [one for one in ([] if children is None else children) if one.list_outputs() == one.list_inputs()]
        made = [one for one in made if one.name not in states]
        node._compose("", [one.name for one in made], cast(made))
        return node

    return call


def _to(namespace: Any, dtype: str, arrays: bool) -> Callable[[List[Any]], List[Any]]:
    amp_cast = namespace.amp_cast

    def cast(values: List[Any]) -> List[Any]:
        return [amp_cast(value, dtype=dtype) if not arrays or _is_floating(value) else value for value in values]

    return cast


def _to_widest(namespace: Any, arrays: bool) -> Callable[[List[Any]], List[Any]]:
    amp_multicast = namespace.amp_multicast

    def cast(values: List[Any]) -> List[Any]:
        if len(values) < 2 or (arrays and len({str(value.dtype) for value in values}) == 1):
            return values
        if arrays and not all(_is_floating(value) for value in values):
            return values
        return list(amp_multicast(*values, num_outputs=len(values)))

    return cast


_NAMESPACES = ("contrib", "linalg", "sparse", "image")  # an operator `_linalg_gemm` is `linalg.gemm` of mx.nd and mx.sym


def _places(module: Any, name: str) -> List[Tuple[Any, str]]:
    """Where mx.nd or mx.sym has an operator, and as what. Those that begin with a line are no program's to call."""
    if not name.startswith("_"):
        return [(module, name), (module.op, name)] if hasattr(module, name) else []
    for namespace in _NAMESPACES:
        short = name[len(f"_{namespace}_") :]
        if name.startswith(f"_{namespace}_") and hasattr(getattr(module, namespace), short):
            return [(getattr(module, namespace), short)]
    return []


def _patch(name: str, make: Callable[[Any, bool], Callable[[List[Any]], List[Any]]], condition: Any = None) -> None:
    """Replaces an operator in mx.nd and mx.sym by one that casts."""
    from ... import ndarray, symbol

    for module, kind, arrays in ((ndarray, ndarray.NDArray, True), (symbol, symbol.Symbol, False)):
        for namespace, short in _places(module, name):
            plain = getattr(namespace, short)
            cast = make(module, arrays)
            made = _wrapped(plain if arrays or make is _to_widest else _with_made_inputs(plain, cast), cast, kind)
            setattr(namespace, short, made if condition is None else _if(condition, made, plain))


def _if(condition: Tuple[str, Sequence[str]], made: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    key, values = condition

    @functools.wraps(plain)
    def call(*args: Any, **kwargs: Any) -> Any:
        return (made if kwargs.get(key) in values else plain)(*args, **kwargs)

    return call


def init(
    target_dtype: Any = "float16",
    target_precision_ops: Optional[List[str]] = None,
    conditional_fp32_ops: Optional[List[Tuple[str, str, List[str]]]] = None,
    fp32_ops: Optional[List[str]] = None,
) -> None:
    """From now on operators of mx.nd and mx.sym cast their inputs to the precision that suits them.

    Call it before networks are made. The lists add to the library's own.
    """
    global _amp_initialized  # pylint: disable=global-statement
    dtype = _dtype_name(target_dtype)
    if _amp_initialized is not None:
        if _amp_initialized != dtype:
            raise RuntimeError(f"given {dtype}, but mixed precision was started with {_amp_initialized} already")
        return
    logging.info("Using AMP")
    _amp_initialized = dtype
    target = {*list_lp16_ops(dtype), *(target_precision_ops or [])}
    delicate = ({*list_fp32_ops(dtype), *list_loss_output_functions(dtype)} - target) | set(fp32_ops or [])
    makes: Dict[str, Any] = dict.fromkeys({*list_widest_type_cast(dtype)} - target - delicate, _to_widest)
    makes.update(dict.fromkeys(target - set(fp32_ops or []), lambda module, arrays: _to(module, dtype, arrays)))
    makes.update(dict.fromkeys(delicate, lambda module, arrays: _to(module, "float32", arrays)))
    for name in sorted(makes):
        _patch(name, makes[name])
    for name, key, values in [*list_conditional_fp32_ops(dtype), *(conditional_fp32_ops or [])]:
        _patch(name, lambda module, arrays: _to(module, "float32", arrays), (key, values))
    _arithmetic.patch(makes, _wrapped)


def init_trainer(optimizer_or_trainer: Any) -> None:
    """Gives a Gluon Trainer a loss scale: steps whose gradients overflow are left out."""
    from ...gluon import Trainer

    if _amp_initialized is None:
        raise RuntimeError("mixed precision is not started: amp.init() was not called")
    if not isinstance(optimizer_or_trainer, Trainer):
        raise TypeError(f"given {type(optimizer_or_trainer).__name__}, expected a Gluon Trainer")
    trainer: Any = optimizer_or_trainer
    trainer._amp_loss_scaler = LossScaler()
    trainer._amp_original_scale = trainer._scale


def _scaler(trainer: Any) -> LossScaler:
    scaler = getattr(trainer, "_amp_loss_scaler", None)
    if scaler is None:
        raise RuntimeError("the trainer has no loss scale: amp.init_trainer() was not called")
    return scaler


@contextlib.contextmanager
def scale_loss(loss: Any, optimizer_or_trainer: Any) -> Iterator[Any]:
    """The loss (or losses) times the scale; the trainer's next step divides by it."""
    scale = _scaler(optimizer_or_trainer).loss_scale
    optimizer_or_trainer._scale = optimizer_or_trainer._amp_original_scale / scale
    yield [one * scale for one in loss] if isinstance(loss, (list, tuple)) else loss * scale


def unscale(optimizer_or_trainer: Any) -> None:
    """Divides the gradients by the scale now: to look at them, or to clip them."""
    scale = _scaler(optimizer_or_trainer).loss_scale
    for param in optimizer_or_trainer._params:
        if param.grad_req != "null":
            for grad in param.list_grad():
                grad[:] = grad / scale
    optimizer_or_trainer._scale = optimizer_or_trainer._amp_original_scale


# --- Finished networks


def convert_symbol(
    sym: Any,
    target_dtype: Any = "float16",
    target_dtype_ops: Optional[List[str]] = None,
    fp32_ops: Optional[List[str]] = None,
    conditional_fp32_ops: Optional[List[Tuple[str, str, List[str]]]] = None,
    excluded_sym_names: Optional[List[str]] = None,
    data_names: Optional[List[str]] = None,
    cast_optional_params: bool = False,
) -> Any:
    """A network with casts. Lists that are given replace the library's own; `excluded_sym_names` stay in float32.

    With `data_names` all other inputs count as parameters, and say their type; with `cast_optional_params` those that
    only operators in 16 bits read are of 16 bits. Else they are cast when the network runs.
    """
    from ...symbol import Symbol

    if not isinstance(sym, Symbol):
        raise TypeError(f"given {type(sym).__name__}, expected a Symbol")
    unknown = set(data_names or []) - set(sym.list_arguments())
    if unknown:
        raise ValueError(f"given data_names {sorted(unknown)}, expected arguments of the network")
    parameters = [] if data_names is None else [name for name in sym.list_inputs() if name not in data_names]
    return _reduced(
        sym, parameters, target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names,
        cast_optional_params,
    )  # fmt: skip


def _operators(argument: str, names: Any) -> Sequence[str]:
    """A program's own list: a misspelt operator would run in a type that nobody chose."""
    from ...operator import get_all_registered_operators

    unknown = [names] if isinstance(names, str) else sorted(set(names) - set(get_all_registered_operators()))
    if unknown:
        raise ValueError(f"given {argument} with {unknown}, expected a list of operators")
    return names  # type: ignore[no-any-return]


def _reduced(
    sym: Any, parameters: Sequence[str], target_dtype: Any, target_ops: Any, fp32_ops: Any, conditional_ops: Any,
    excluded: Any, cast_optional_params: bool,
) -> Any:  # fmt: skip
    """The network with casts; `parameters` are told their types (__dtype__)."""
    dtype = _dtype_name(target_dtype)
    if isinstance(excluded, str):  # its letters are no names
        raise ValueError(f"given excluded_sym_names {excluded!r}, expected a list of names")
    target = list_lp16_ops(dtype) if target_ops is None else _operators("target_dtype_ops", target_ops)
    full = list_fp32_ops(dtype) if fp32_ops is None else _operators("fp32_ops", fp32_ops)
    both = set(target) & set(full)
    if both:
        raise ValueError(f"given {sorted(both)} in target_dtype_ops and in fp32_ops, expected each in one of the two")
    conditional = list_conditional_fp32_ops(dtype) if conditional_ops is None else conditional_ops
    full = [name for name in [*full, *list_loss_output_functions(dtype)] if name not in set(target)]
    made = _core.reduce_precision(
        sym, dtype_number(dtype), list(target), full, list_widest_type_cast(dtype),
        [(op, parameter, list(values)) for op, parameter, values in conditional], list(excluded or []), list(parameters),
        bool(cast_optional_params),
    )  # fmt: skip
    return sym._of(made)


def convert_model(
    sym: Any,
    arg_params: Dict[str, Any],
    aux_params: Dict[str, Any],
    target_dtype: Any = "float16",
    target_dtype_ops: Optional[List[str]] = None,
    fp32_ops: Optional[List[str]] = None,
    conditional_fp32_ops: Optional[List[Tuple[str, str, List[str]]]] = None,
    excluded_sym_names: Optional[List[str]] = None,
    cast_optional_params: bool = False,
) -> Tuple[Any, Dict[str, Any], Dict[str, Any]]:
    """Network, arguments and states with casts; with `cast_optional_params` parameters are stored in 16 bits."""
    for what, params in (("arg_params", arg_params), ("aux_params", aux_params)):
        if not isinstance(params, dict):
            raise TypeError(f"given {what} of type {type(params).__name__}, expected a dictionary")
    converted = _reduced(
        sym, [*arg_params, *aux_params], target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names,
        cast_optional_params,
    )  # fmt: skip
    dtype = _dtype_name(target_dtype)
    types = converted.attr_dict()
    half = str(dtype_number(dtype))
    made = {
        name: array.astype(dtype) if types.get(name, {}).get("__dtype__") == half else array
        for name, array in arg_params.items()
    }
    return converted, made, dict(aux_params)


def convert_hybrid_block(
    block: Any,
    target_dtype: Any = "float16",
    target_dtype_ops: Optional[List[str]] = None,
    fp32_ops: Optional[List[str]] = None,
    conditional_fp32_ops: Optional[List[Tuple[str, str, List[str]]]] = None,
    excluded_sym_names: Optional[List[str]] = None,
    ctx: Any = None,
    cast_optional_params: bool = False,
) -> Any:
    """A hybridized block that has run once, as a SymbolBlock with casts, on `ctx`: a GPU by itself, if there is one."""
    from ... import symbol
    from ...gluon import HybridBlock, SymbolBlock

    if not isinstance(block, HybridBlock):
        raise TypeError(f"given {type(block).__name__}, expected a HybridBlock")
    inputs, sym = _traced(block)
    params = {param.name: param for param in block.collect_params().values()}
    arguments = {name: params[name]._reduce() for name in sym.list_arguments() if name in params}
    states = {name: params[name]._reduce() for name in sym.list_auxiliary_states() if name in params}
    converted, arguments, states = convert_model(
        sym, arguments, states, target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names,
        cast_optional_params,
    )  # fmt: skip
    device = ctx or (gpu(0) if num_gpus() else cpu())
    made = SymbolBlock(converted, [symbol.var(name) for name in inputs])
    for name, param in made.collect_params().items():
        values: Any = arguments.get(name, states.get(name))
        param.cast(values.dtype)
        param._load_init(values, device)
    return made


def _traced(block: Any) -> Tuple[List[str], Any]:
    graph = block._graph
    if graph is None:
        raise RuntimeError("the block has no network yet, expected hybridize() and one call before")
    return [one.name for one in graph.inputs], graph.output


def convert_bucketing_module(
    bucketing_mod: Any,
    target_dtype: Any = "float16",
    target_dtype_ops: Optional[List[str]] = None,
    fp32_ops: Optional[List[str]] = None,
    conditional_fp32_ops: Optional[List[Tuple[str, str, List[str]]]] = None,
    excluded_sym_names: Optional[List[str]] = None,
    cast_optional_params: bool = False,
) -> Any:
    """A BucketingModule with casts in the networks of all its buckets."""
    from ...module import BucketingModule

    if not isinstance(bucketing_mod, BucketingModule):
        raise TypeError(f"given {type(bucketing_mod).__name__}, expected a BucketingModule")
    arguments, states = bucketing_mod.get_params()
    generate = bucketing_mod._sym_gen
    options = (target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names, cast_optional_params)

    def sym_gen(key: Any) -> Any:
        sym, data_names, label_names = generate(key)
        return convert_model(sym, arguments, states, *options)[0], data_names, label_names

    first = generate(bucketing_mod._default_bucket_key)[0]
    _, made, made_states = convert_model(first, arguments, states, *options)
    return BucketingModule.load_dict(
        sym_gen=sym_gen,
        default_bucket_key=bucketing_mod._default_bucket_key,
        arg_params=made,
        aux_params=made_states,
        context=bucketing_mod._context,
    )
