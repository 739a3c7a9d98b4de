# SPDX-License-Identifier: Apache-2.0
"""Checks of symbols: outputs and gradients against expected ones, numeric gradients, other devices and types."""

from __future__ import annotations

import time
from typing import Any, Dict, List, Optional, Sequence

import numpy as np

from .. import ndarray as nd
from .. import symbol as sym_module
from ..ndarray import NDArray
from ._compare import assert_almost_equal, default_context, default_numeric_eps


def same_symbol_structure(sym1: Any, sym2: Any) -> bool:
    """Whether two networks have the same operators with the same inputs, whatever the names."""
    import json

    first, second = (json.loads(sym.tojson()) for sym in (sym1, sym2))

    def shape(graph: Any) -> Any:
        return [(node["op"], node["inputs"]) for node in graph["nodes"]], graph["heads"]

    return shape(first) == shape(second)


def simple_forward(sym: Any, ctx: Any = None, is_train: bool = False, **inputs: Any) -> Any:
    """The outputs of a symbol for NumPy arrays, as NumPy arrays."""
    ctx = default_context() if ctx is None else ctx
    arrays = {name: nd.array(value, ctx=ctx) for name, value in inputs.items()}
    executor = sym.bind(ctx, args=arrays)
    outputs = [output.asnumpy() for output in executor.forward(is_train=is_train)]
    return outputs[0] if len(outputs) == 1 else outputs


def _array(value: Any, ctx: Any, dtype: Any) -> Any:
    if isinstance(value, NDArray):
        return value.as_in_context(ctx)
    return nd.array(value, ctx=ctx, dtype=value.dtype if dtype is None and hasattr(value, "dtype") else (dtype or np.float32))


def _by_name(what: str, values: Any, names: Sequence[str], ctx: Any, dtype: Any) -> Dict[str, Any]:
    """Arrays by name, given by name or in order."""
    if isinstance(values, dict):
        if set(values) != set(names):
            raise ValueError(f"{what}: given {sorted(values)}, expected {sorted(names)}")
        return {name: _array(values[name], ctx, dtype) for name in names}
    if len(values) != len(names):
        raise ValueError(f"{what}: given {len(values)} arrays, expected {len(names)}: {', '.join(names)}")
    return {name: _array(value, ctx, dtype) for name, value in zip(names, values)}


def _states(sym: Any, aux_states: Any, ctx: Any, dtype: Any) -> Optional[Dict[str, Any]]:
    if aux_states is None:
        return None
    return _by_name("aux_states", aux_states, sym.list_auxiliary_states(), ctx, dtype)


def numeric_grad(
    executor: Any, location: Dict[str, Any], aux_states: Any = None, eps: float = 1e-4, use_forward_train: bool = True, dtype: Any = np.float32
) -> Dict[str, np.ndarray]:
    """Gradients of the sum of the first output by central differences, for each argument in `location`."""
    values = {name: (array.asnumpy() if isinstance(array, NDArray) else np.array(array)).astype(dtype) for name, array in location.items()}

    def total() -> float:
        if aux_states is not None:
            for name, state in aux_states.items():
                executor.aux_dict[name][:] = state
        executor.forward(is_train=use_forward_train)
        return float(executor.outputs[0].asnumpy().astype(np.float64).sum())

    for name, array in values.items():
        executor.arg_dict[name][:] = array
    grads = {}
    for name, array in values.items():
        if np.dtype(dtype).kind != "f":
            raise TypeError(f"{name}: given type {dtype}, expected a floating type")
        flat, grad = array.reshape(-1), np.zeros(array.size, dtype)
        for i in range(flat.size):
            before = flat[i]
            sides = []
            for step in (eps / 2, -eps / 2):
                flat[i] = before + step
                executor.arg_dict[name][:] = array
                sides.append(total())
            grad[i] = (sides[0] - sides[1]) / eps
            flat[i] = before
        executor.arg_dict[name][:] = array
        grads[name] = grad.reshape(array.shape)
    return grads


def check_numeric_gradient(
    sym: Any,
    location: Any,
    aux_states: Any = None,
    numeric_eps: Optional[float] = None,
    rtol: Any = None,
    atol: Any = None,
    grad_nodes: Any = None,
    use_forward_train: bool = True,
    ctx: Any = None,
    grad_stype_dict: Optional[Dict[str, str]] = None,
    dtype: Any = np.float32,
) -> None:
    """Raises unless the gradients of a random projection of the output are the numeric ones."""
    if dtype not in (np.float16, np.float32, np.float64):
        raise TypeError(f"given type {dtype}, expected float16, float32 or float64")
    ctx = default_context() if ctx is None else ctx
    eps = default_numeric_eps()[np.dtype(dtype)] if numeric_eps is None else numeric_eps
    arguments = _by_name("location", location, sym.list_arguments(), ctx, dtype)
    states = _states(sym, aux_states, ctx, dtype)
    nodes = list(arguments) if grad_nodes is None else list(grad_nodes)
    requests = dict(grad_nodes) if isinstance(grad_nodes, dict) else dict.fromkeys(nodes, "write")

    shapes = {name: array.shape for name, array in arguments.items()}
    _, out_shapes, _ = sym.infer_shape(**shapes)
    projection = sym_module.Variable("__random_proj")
    loss = sym_module.MakeLoss(sym_module.sum(sym[0] * projection if len(sym) > 1 else sym * projection))
    weights = nd.array(np.random.rand(*out_shapes[0]) + 0.1, ctx=ctx, dtype=dtype)
    bound = {**arguments, "__random_proj": weights}
    # One for the projection too, which nobody reads: what a test draws after this is what it draws in 1.9.1.
    drawn = {name: np.random.normal(size=bound[name].shape) for name in (*nodes, "__random_proj")}
    grads = {name: nd.array(drawn[name], ctx=ctx, dtype=dtype) for name in nodes}
    for name, stype in (grad_stype_dict or {}).items():
        if name in grads and stype not in (None, "default"):
            grads[name] = grads[name].tostype(stype)
    before = {name: grad.asnumpy() for name, grad in grads.items()}
    executor = loss.bind(ctx, args=bound, args_grad=grads, grad_req={**requests, "__random_proj": "null"}, aux_states=states)
    executor.forward(is_train=True)
    executor.backward()
    symbolic = {name: executor.grad_dict[name].asnumpy() for name in nodes}

    saved = None if states is None else {name: state.asnumpy() for name, state in states.items()}
    numeric = numeric_grad(
        executor, {name: arguments[name] for name in nodes}, saved, eps=eps, use_forward_train=use_forward_train, dtype=dtype
    )
    for name in nodes:
        wanted = {"write": numeric[name], "add": numeric[name] + before[name], "null": before[name]}
        if requests[name] not in wanted:
            raise ValueError(f"given grad_req {requests[name]!r} for {name}, expected write, add or null")
        assert_almost_equal(
            wanted[requests[name]], symbolic[name], rtol, atol, (f"NUMERICAL_{name}", f"BACKWARD_{name}")
        )


def check_symbolic_forward(
    sym: Any,
    location: Any,
    expected: Any,
    rtol: Any = None,
    atol: Any = None,
    aux_states: Any = None,
    ctx: Any = None,
    equal_nan: bool = False,
    dtype: Any = np.float32,
) -> List[Any]:
    """Raises unless the outputs are the expected ones; returns them."""
    ctx = default_context() if ctx is None else ctx
    arguments = _by_name("location", location, sym.list_arguments(), ctx, dtype)
    names = sym.list_outputs()
    wanted = [expected[name] for name in names] if isinstance(expected, dict) else list(expected)
    grads = {name: nd.zeros(array.shape, ctx=ctx, dtype=array.dtype) for name, array in arguments.items()}
    executor = sym.bind(ctx, args=arguments, args_grad=grads, aux_states=_states(sym, aux_states, ctx, dtype))
    outputs = executor.forward(is_train=False)
    for name, want, output in zip(names, wanted, outputs):
        assert_almost_equal(want, output, rtol, atol, (f"EXPECTED_{name}", f"FORWARD_{name}"), equal_nan=equal_nan)
    return outputs


def check_symbolic_backward(
    sym: Any,
    location: Any,
    out_grads: Any,
    expected: Any,
    rtol: Any = None,
    atol: Any = None,
    aux_states: Any = None,
    grad_req: Any = "write",
    ctx: Any = None,
    grad_stypes: Optional[Dict[str, str]] = None,
    equal_nan: bool = False,
    dtype: Any = np.float32,
) -> Dict[str, Any]:
    """Raises unless the gradients are the expected ones; returns them by name."""
    ctx = default_context() if ctx is None else ctx
    names = sym.list_arguments()
    arguments = _by_name("location", location, names, ctx, dtype)
    wanted = dict(zip(names, expected)) if isinstance(expected, (list, tuple)) else dict(expected)
    before = {name: np.random.normal(size=np.shape(value)) for name, value in wanted.items()}
    grads = {}
    for name, value in before.items():
        grad = nd.array(value, ctx=ctx, dtype=dtype)
        stype = (grad_stypes or {}).get(name)
        grads[name] = grad.tostype(stype) if stype not in (None, "default") else grad
    if isinstance(grad_req, str):
        requests = dict.fromkeys(names, grad_req)
    else:
        requests = dict(grad_req) if isinstance(grad_req, dict) else dict(zip(names, grad_req))
    executor = sym.bind(
        ctx, args=arguments, args_grad=grads, grad_req=requests, aux_states=_states(sym, aux_states, ctx, dtype)
    )
    executor.forward(is_train=True)
    heads = out_grads
    if isinstance(out_grads, (tuple, list)):
        heads = [_array(value, ctx, dtype) for value in out_grads]
    elif isinstance(out_grads, dict):
        heads = {name: _array(value, ctx, dtype) for name, value in out_grads.items()}
    elif out_grads is not None:
        raise TypeError(f"given out_grads of type {type(out_grads).__name__}, expected a list or a dictionary")
    executor.backward(heads)
    found = {name: grad for name, grad in executor.grad_dict.items() if grad is not None}
    for name, value in wanted.items():
        request = requests.get(name, "null")
        target = {"write": value, "add": before[name] + np.asarray(value if not isinstance(value, NDArray) else value.asnumpy()), "null": before[name]}
        if request not in target:
            raise ValueError(f"given grad_req {request!r} for {name}, expected write, add or null")
        assert_almost_equal(
            target[request], found[name], rtol, atol, (f"EXPECTED_{name}", f"BACKWARD_{name}"), equal_nan=equal_nan
        )
    return found


def check_speed(sym: Any, location: Any = None, ctx: Any = None, N: int = 20, grad_req: Any = None, typ: str = "whole", **kwargs: Any) -> float:  # pylint: disable=invalid-name
    """Seconds for a forward ("forward") or for forward and backward ("whole"), the mean of `N`."""
    if typ not in ("whole", "forward"):
        raise ValueError(f"given typ {typ!r}, expected 'whole' or 'forward'")
    ctx = default_context() if ctx is None else ctx
    grad_req = "write" if grad_req is None else grad_req
    if location is None:
        executor = sym.simple_bind(grad_req=grad_req, ctx=ctx, **kwargs)
        location = {name: np.random.normal(size=array.shape, scale=1.0) for name, array in executor.arg_dict.items()}
    else:
        executor = sym.simple_bind(grad_req=grad_req, ctx=ctx, **{name: np.shape(value) for name, value in location.items()})
    for name, value in location.items():
        executor.arg_dict[name][:] = value if isinstance(value, NDArray) else np.asarray(value).astype(executor.arg_dict[name].dtype)

    def once() -> None:
        executor.forward(is_train=typ == "whole")
        if typ == "whole":
            executor.backward(out_grads=executor.outputs)

    once()
    nd.waitall()
    start = time.time()
    for _ in range(N):
        once()
    nd.waitall()
    return (time.time() - start) / N


def check_consistency(
    sym: Any,
    ctx_list: List[Dict[str, Any]],
    scale: float = 1.0,
    grad_req: Any = "write",
    arg_params: Optional[Dict[str, Any]] = None,
    aux_params: Optional[Dict[str, Any]] = None,
    rtol: Any = None,
    atol: Any = None,
    raise_on_err: bool = True,
    ground_truth: Optional[Dict[str, Any]] = None,
    equal_nan: bool = False,
    use_uniform: bool = False,
    rand_type: Any = np.float64,
) -> Any:
    """Raises unless a symbol gives the same outputs and gradients in all of `ctx_list`.

    An entry holds "ctx", the shapes of inputs by name, and optionally "type_dict". The entry with the finest
    type is the truth: its outputs by name and its gradients by the names of the arguments are returned, and may be
    the `ground_truth` of another call.
    """
    symbols = [sym] * len(ctx_list) if not isinstance(sym, list) else sym
    if len(symbols) < 1 or len(symbols) != len(ctx_list):
        raise ValueError(f"given {len(symbols)} symbols and {len(ctx_list)} contexts, expected as many of each")
    executors = [one.simple_bind(grad_req=grad_req, **where) for one, where in zip(symbols, ctx_list)]
    outputs = symbols[0].list_outputs()
    _fill_alike(executors, dict(arg_params or {}), dict(aux_params or {}), scale, use_uniform, rand_type)
    finest = int(np.argmin([_precision(executor.outputs[0].dtype) for executor in executors]))
    truth = dict(ground_truth) if ground_truth is not None else {}
    training = any(grad is not None for grad in executors[0].grad_arrays or [])
    for is_train in ([False, True] if training else [False]):
        results = [_results(executor, outputs, is_train) for executor in executors]
        reference = {**results[finest], **{key: value for key, value in truth.items() if key in results[finest]}}
        for place, found in enumerate(results):
            if place == finest and ground_truth is None:
                continue
            where = f"{'Train' if is_train else 'Predict'} Err: ctx {place} vs ctx {finest}"
            for name, value in found.items():
                wanted = np.asarray(reference[name]).astype(value.dtype)
                names = (f"{ctx_list[place]['ctx']}_{name}", name)
                try:
                    assert_almost_equal(value, wanted, rtol, atol, names, equal_nan=equal_nan)
                except AssertionError as error:
                    if raise_on_err:
                        raise
                    print(f"{where} at {name}\n{error}")
        if ground_truth is None:
            truth.update(reference)
    return {name: value if isinstance(value, NDArray) else nd.array(value, dtype=value.dtype) for name, value in truth.items()}


def _fill_alike(
    executors: List[Any], arg_params: Dict[str, Any], aux_params: Dict[str, Any], scale: float, use_uniform: bool, rand_type: Any
) -> None:
    """Gives all executors the same values: those of the dictionaries, else random arguments and states of zeros."""
    for name, array in executors[0].arg_dict.items():
        if name not in arg_params:
            size = array.shape
            drawn = np.random.uniform(-scale, scale, size) if use_uniform else np.random.normal(size=size, scale=scale)
            arg_params[name] = drawn.astype(rand_type)
    for name, array in executors[0].aux_dict.items():
        aux_params.setdefault(name, np.zeros(array.shape))
    for executor in executors:
        for name, array in executor.arg_dict.items():
            array[:] = np.asarray(arg_params[name]).astype(array.dtype)
        for name, array in executor.aux_dict.items():
            array[:] = np.asarray(aux_params[name]).astype(array.dtype)
        for grad in executor.grad_arrays or []:
            if grad is not None:
                grad[:] = 0


def _precision(dtype: Any) -> float:
    """The distance from 1 to the next number of a type; of integers, which are exact, 0."""
    return np.finfo(dtype).eps if np.dtype(dtype).kind == "f" else 0


def _results(executor: Any, outputs: List[str], is_train: bool) -> Dict[str, np.ndarray]:
    """Outputs of a run and, of a training step, gradients, by name."""
    executor.forward(is_train=is_train)
    if is_train:
        executor.backward([nd.ones(o.shape, ctx=o.context, dtype=o.dtype) for o in executor.outputs])
    found = dict(zip(outputs, [output.asnumpy() for output in executor.outputs]))
    if is_train:
        found.update({name: grad.asnumpy() for name, grad in executor.grad_dict.items() if grad is not None})
    return found


def check_gluon_hybridize_consistency(
    net_builder: Any, data_l: List[Any], numpy_func: Any = None, test_grad: bool = True, rtol: float = 1e-4, atol: float = 1e-4
) -> None:
    """Raises unless a block gives the same outputs and gradients as it is and hybridized, and as `numpy_func`."""
    from .. import autograd

    saved: Optional[Dict[str, Any]] = None
    first: Any = None
    for hybridize in (False, True):
        net = net_builder()
        net.initialize()
        params = {name[len(net.prefix) :] if name.startswith(net.prefix) else name: param for name, param in net.collect_params().items()}
        if hybridize:
            net.hybridize()
        inputs = [data.copy() for data in data_l]
        for data in inputs:
            data.attach_grad()
        with autograd.record(train_mode=test_grad):
            net(*inputs)  # shapes of parameters follow from the first call
        if saved is None:
            saved = {name: param.data().asnumpy() for name, param in params.items()}
        for name, param in params.items():
            param.set_data(nd.array(saved[name], dtype=saved[name].dtype))
        with autograd.record(train_mode=test_grad):
            output = net(*inputs)
        if test_grad:
            output.backward()
        found = [output.asnumpy()]
        if test_grad:
            found += [data.grad.asnumpy() for data in inputs]
            found += [params[name].grad().asnumpy() for name in sorted(params) if params[name].grad_req != "null"]
        if first is None:
            first = found
            if numpy_func is not None:
                assert_almost_equal(numpy_func(*[data.asnumpy() for data in data_l]), found[0], rtol=rtol, atol=atol)
        else:
            for one, other in zip(first, found):
                assert_almost_equal(one, other, rtol=rtol, atol=atol)
