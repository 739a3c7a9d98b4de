# SPDX-License-Identifier: Apache-2.0
"""The class HybridBlock: a block that can become a graph, which then runs as one operator."""

from __future__ import annotations

import inspect
import os
import warnings
import weakref
from functools import partial
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from .. import ndarray, symbol
from ..autograd import is_recording
from ..base import MXNetError
from ..context import _current
from ..ndarray import NDArray
from ..symbol import Symbol
from ._block import Block
from ._cached_graph import CachedGraph, Graph, build_cached_graph, trace
from ._errors import add_place
from ._replacements import Kept, replacements
from ._structure import arrays_in, flatten, regroup
from .parameter import DeferredInitializationError, Parameter
from .parameter_dict import some_of


class _Own(NamedTuple):
    """A block's own parameters on a device: their arrays as hybrid_forward gets them."""

    parameters: Dict[str, Parameter]
    arrays: Dict[str, NDArray]
    context: Any


_data = Parameter.data


def _show(block: weakref.ref[HybridBlock], name: str, operator: str, array: NDArray) -> None:
    """Shows a value to a block's hook."""
    owner = block()
    if owner is not None:
        owner._op_hooks[-1][0](name, operator, array)


# No methods: subclasses of users have names of their own.


def _hand_over_hook(block: HybridBlock, cached: CachedGraph) -> None:
    """What is called by the library, which owns it where Python's collector does not look: it must not hold the block, as hooks
    often do."""
    cached.direct = False
    cached.op._register_op_hook(partial(_show, weakref.ref(block)), block._op_hooks[-1][1])


def _run(block: HybridBlock, cached: CachedGraph, arrays: List[NDArray]) -> Any:
    if not block._op_hooks or not is_recording():
        return cached.op(*arrays)
    # Gradients of this call are shown when the block is gone, too: until then what is recorded holds the hook itself.
    cached.op._register_op_hook(*block._op_hooks[-1])
    try:
        return cached.op(*arrays)
    finally:
        _hand_over_hook(block, cached)


class HybridBlock(Block):
    """A block whose hybrid_forward works on arrays and on symbols alike.

    After hybridize() the first call makes a graph of it, and all later calls run that graph.
    """

    _own_containers = Block._own_containers | {"_own_arrays", "_flags", "_backend", "_op_hooks", "_graph"}
    # By device, and as of how many replacements.
    _own_arrays: Tuple[int, Dict[Any, _Own]] = (-1, {})

    def __init__(self, prefix: Optional[str] = None, params: Any = None) -> None:
        super().__init__(prefix, params)
        self._active = False
        self._flags: List[Tuple[str, Any]] = []
        self._backend: Tuple[Optional[str], Dict[str, Any]] = (None, {})
        self._op_hooks: List[Tuple[Callable[..., Any], bool]] = []
        self._graph: Optional[Graph] = None
        self._cached: Optional[CachedGraph] = None

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if isinstance(value, HybridBlock):
            self._clear_cached_op()

    def __getstate__(self) -> Dict[str, Any]:
        return {**self.__dict__, "_cached": None, "_own_arrays": (-1, {})}  # made again at the next call

    def register_child(self, block: Block, name: Optional[str] = None) -> None:
        """Makes a block a child of this one; it has to be a HybridBlock too."""
        if not isinstance(block, HybridBlock):
            raise ValueError(
                f"given child {block} of type {type(block).__name__}, expected a HybridBlock; a Block "
                "(nn.Sequential) may have other blocks as children"
            )
        super().register_child(block, name)
        self._clear_cached_op()

    def register_op_hook(self, callback: Callable[[str, str, Any], None], monitor_all: bool = False) -> None:
        """callback(name, operator, array) sees outputs, or all arrays, of the graph's operators."""
        self._op_hooks.append((callback, monitor_all))
        if self._cached is not None:
            _hand_over_hook(self, self._cached)
        super().register_op_hook(callback, monitor_all)

    def cast(self, dtype: Any) -> None:
        """Converts all parameters."""
        self._clear_cached_op()
        super().cast(dtype)

    # --- From block to graph

    def hybridize(
        self,
        active: bool = True,
        backend: Optional[str] = None,
        clear: bool = True,
        static_alloc: bool = False,
        static_shape: bool = False,
        inline_limit: int = 2,
        forward_bulk_size: Optional[int] = None,
        backward_bulk_size: Optional[int] = None,
        **kwargs: Any,
    ) -> None:
        """Runs this block as a graph from the next call on, or no longer.

        `static_alloc` keeps memory between calls, `static_shape` trusts that shapes stay as they are;
        `backend` and its options partition the graph; the bulk sizes say how many operators run as one.
        """
        self._active = active
        self._backend = (backend, kwargs)
        self._flags = [("static_alloc", static_alloc), ("static_shape", static_shape), ("inline_limit", inline_limit)]
        if forward_bulk_size is not None:
            self._flags.append(("forward_bulk_size", forward_bulk_size))
        if backward_bulk_size is not None:
            self._flags.append(("backward_bulk_size", backward_bulk_size))
        if clear:
            self._clear_cached_op()
        # The graph of this block holds its children: they get no backend of their own.
        for child in self._children.values():
            child.hybridize(
                active,
                static_alloc=static_alloc,
                static_shape=static_shape,
                inline_limit=inline_limit,
                forward_bulk_size=forward_bulk_size,
                backward_bulk_size=backward_bulk_size,
                **({} if isinstance(child, HybridBlock) else kwargs),
            )

    def optimize_for(
        self,
        x: Any,
        *args: Any,
        backend: Optional[str] = None,
        clear: bool = False,
        static_alloc: bool = False,
        static_shape: bool = False,
        inline_limit: int = 2,
        forward_bulk_size: Optional[int] = None,
        backward_bulk_size: Optional[int] = None,
        **kwargs: Any,
    ) -> None:
        """Hybridizes with a backend and partitions the graph now, for inputs like the given ones."""
        self.hybridize(
            True, backend, clear, static_alloc, static_shape, inline_limit, forward_bulk_size, backward_bulk_size, **kwargs
        )
        self._cached = None
        self._build_cache(x, *args)

    def _clear_cached_op(self) -> None:
        # Before HybridBlock.__init__ has run there is nothing to forget.
        self.__dict__["_graph"] = None
        self.__dict__["_cached"] = None

    def _traced(self, *args: Any) -> Graph:
        if self._graph is None:
            self._graph = trace(self, args)
        return self._graph

    # Libraries for 1.x read graphs by these names: inputs and output.

    def _get_graph(self, *args: Any) -> Tuple[Any, Any]:
        return self._traced(*args)[:2]

    @property
    def _cached_graph(self) -> Tuple[Any, ...]:
        return () if self._graph is None else self._graph[:2]

    def _build_cache(self, *args: Any) -> CachedGraph:
        graph = self._traced(*args)
        backend, options = self._backend
        if backend is not None:
            self._finish_deferred(graph, *args)  # a backend is told shapes and values of the parameters
            graph = graph.optimized(self, backend, options, args)
            self._graph = graph
        self._cached = build_cached_graph(self, graph, self._flags)
        if self._op_hooks:
            _hand_over_hook(self, self._cached)
        return self._cached

    def infer_shape(self, *args: Any) -> None:
        """Finds unknown shapes of parameters from inputs."""
        self._infer_attrs("infer_shape", "shape", *args)

    def infer_type(self, *args: Any) -> None:
        """Finds types of parameters from inputs."""
        self._infer_attrs("infer_type", "dtype", *args)

    def _infer_attrs(self, function: str, attribute: str, *args: Any) -> None:
        graph = self._traced(*args)
        flat, _ = flatten(args, "input")
        arrays = [array for array in flat if array is not None]
        known: Dict[str, Any] = {str(variable.name): getattr(array, attribute) for variable, array in zip(graph.inputs, arrays)}
        arguments, _, states = getattr(graph.output, function)(**known)
        if arguments is None:
            raise ValueError(f"{self.name}: inputs of {attribute} {list(known.values())} leave parameters unknown")
        found = dict(zip(graph.output.list_arguments(), arguments))
        found.update(zip(graph.output.list_auxiliary_states(), states))
        for parameter in self.collect_params().values():
            if parameter.name in found:
                setattr(parameter, attribute, found[parameter.name])

    def _deferred_infer_shape(self, *args: Any) -> None:
        try:
            self.infer_shape(*args)
        except Exception as error:
            raise ValueError(
                f"{self.name}: the shapes of parameters could not be found from the inputs, and the deferred "
                f"initialization needs them: {error}"
            ) from error

    def _finish_deferred(self, graph: Graph, *args: Any) -> None:
        params = self.collect_params()
        deferred = [params[name] for name in graph.output.list_inputs() if name in params and params[name]._deferred_init]
        if deferred:
            self._deferred_infer_shape(*args)
            for parameter in deferred:
                parameter._finish_deferred_init()

    # --- Files

    def export(self, path: str, epoch: int = 0, remove_amp_cast: bool = True) -> None:
        """Writes PATH-symbol.json and PATH-EPOCH.params, for SymbolBlock.imports, Module or C programs."""
        if self._graph is None:
            raise RuntimeError(f"{self.name} has no graph yet; call hybridize() and run it once before export")
        output = self._graph.output
        output.save(f"{path}-symbol.json", remove_amp_cast=remove_amp_cast)
        states, params = set(output.list_auxiliary_states()), self.collect_params()
        names = [name for name in output.list_inputs() if name in params]  # in the order of the graph, as releases write them
        arrays = {f"{'aux' if name in states else 'arg'}:{name}": params[name]._reduce() for name in names}
        for name in params:
            if f"arg:{name}" not in arrays and f"aux:{name}" not in arrays:
                warnings.warn(f"Parameter {name} has no place in the graph and is not exported", stacklevel=2)
        ndarray.save(f"{os.fspath(path)}-{epoch:04d}.params", arrays)

    # --- Computing

    def __call__(self, *args: Any) -> Any:
        cached = self._cached
        if cached is not None and cached.direct and self._active and not (self._forward_hooks or self._forward_pre_hooks):
            arrays = cached.arrays_for(args)
            if arrays is not None:
                return cached.op(*arrays)
        return super().__call__(*args)

    def _call_cached_op(self, *args: Any) -> Any:
        cached = self._cached or self._build_cache(*args)
        flat, structure = flatten(args, "input")
        if structure != cached.in_format:
            raise ValueError(
                f"{self.name}: given inputs of structure {structure}, expected {cached.in_format} as in the first call "
                "after hybridize()"
            )
        inputs = [array for array in flat if array is not None]
        try:
            arrays = cached.gather(inputs)
        except DeferredInitializationError:
            self._deferred_infer_shape(*args)
            for parameter in cached.parameters:
                parameter._finish_deferred_init()
            arrays = cached.gather(inputs)
        outputs = _run(self, cached, arrays)
        return regroup([outputs] if isinstance(outputs, NDArray) else list(outputs), cached.out_format)

    def forward(self, x: Any, *args: Any) -> Any:
        """Runs hybrid_forward on arrays, on symbols, or the graph made of it."""
        beside = x
        if not isinstance(x, NDArray):
            beside = self._first_of(x, *args)
            if isinstance(beside, Symbol):
                return self._forward_symbols(x, *args)
        if self._active:
            return self._call_cached_op(x, *args)
        version, kept = self._own_arrays
        own = kept.get(beside._device) if version == replacements[0] else None
        if own is None or own[0] != self._reg_params:
            own = self._gather(beside, x, *args)
        _, arrays, context = own
        stack = _current.stack  # as `with context`, which would be two calls more
        stack.append(context)
        try:
            return self.hybrid_forward(ndarray, x, *args, **arrays) if args or arrays else self.hybrid_forward(ndarray, x)
        except MXNetError as error:
            add_place(error, self, arrays_in((x, *args)))
            raise
        except TypeError as error:
            self._check_inputs((x, *args), arrays, error)
            raise
        finally:
            stack.pop()

    def _first_of(self, *args: Any) -> Any:
        found = arrays_in(args)
        if found:
            return found[0]
        raise ValueError(
            f"{self.name}: given {some_of(type(item).__name__ for item in args)}, with no array and no symbol in it, "
            "expected at least one; mx.nd.array() makes an array"
        )

    def _gather(self, beside: NDArray, *args: Any) -> _Own:
        """Its own parameters on the device of an array, which are kept until any parameter gets other arrays."""
        context, version = beside.context, replacements[0]
        with context:
            try:
                arrays = {name: parameter.data(context) for name, parameter in self._reg_params.items()}
            except DeferredInitializationError:
                self._deferred_infer_shape(*args)
                for parameter in self.params.values():
                    parameter._finish_deferred_init()
                version = replacements[0]
                arrays = {name: parameter.data(context) for name, parameter in self._reg_params.items()}
        own = _Own(dict(self._reg_params), arrays, context)
        # What the user has put in the place of data() may give other arrays each time.
        if all(getattr(parameter.data, "__func__", None) is _data for parameter in own.parameters.values()):
            before, kept = self._own_arrays
            if before != version:
                kept = Kept()
                self._own_arrays = version, kept
            kept[beside._device] = own
        return own

    def _forward_symbols(self, x: Any, *args: Any) -> Any:
        params = {name: parameter.var() for name, parameter in self._reg_params.items()}
        with self.name_scope():
            try:
                return self.hybrid_forward(symbol, x, *args, **params)
            except TypeError as error:
                self._check_inputs((x, *args), params, error)
                raise

    def _check_inputs(self, inputs: Tuple[Any, ...], params: Dict[str, Any], error: TypeError) -> None:
        """Says it in the user's words if `error` came from a call with too many or too few inputs."""
        signature = inspect.signature(self.hybrid_forward)
        takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in signature.parameters.values())
        if not takes_any and not params.keys() <= signature.parameters.keys():
            return  # it is about a parameter
        try:
            signature.bind(None, *inputs, **params)
        except TypeError:
            names = [name for name in list(signature.parameters)[1:] if name not in params]
            raise TypeError(f"{self.name}: given {len(inputs)} inputs, expected {', '.join(names)}") from error

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Computes outputs; F is mx.nd or mx.sym, parameters come by keyword. To be overridden."""
        raise NotImplementedError(f"{type(self).__name__} has no hybrid_forward")
