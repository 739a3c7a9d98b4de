# SPDX-License-Identifier: Apache-2.0
"""A network on one or several devices, with its parameters and their optimizer."""

from __future__ import annotations

import logging
import warnings
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from ..context import Context, cpu
from ..initializer import InitDesc, Uniform
from ..model import load_checkpoint, save_checkpoint
from ..symbol import Symbol
from ._optimized_module import OptimizedModule
from ._inputs import _check_input_names, _described, _parse_data_desc
from .executor_group import DataParallelExecutorGroup

__all__ = ["Module"]


class Module(OptimizedModule):
    """A network to be trained or run.

    `data_names` and `label_names` are its inputs; `state_names` are inputs that keep their values from
    batch to batch; all other arguments are parameters, of which `fixed_param_names` are not trained.
    """

    def __init__(
        self,
        symbol: Any,
        data_names: Optional[Sequence[str]] = ("data",),
        label_names: Optional[Sequence[str]] = ("softmax_label",),
        logger: Any = logging,
        context: Any = cpu(),  # noqa: B008
        work_load_list: Optional[List[float]] = None,
        fixed_param_names: Optional[Sequence[str]] = None,
        state_names: Optional[Sequence[str]] = None,
        group2ctxs: Any = None,
        compression_params: Optional[Dict[str, Any]] = None,
    ) -> None:
        super().__init__(logger=logger)
        if not isinstance(symbol, Symbol):
            raise TypeError(f"given {type(symbol).__name__}, expected a Symbol: the network")
        self._context = [context] if isinstance(context, Context) else list(context)
        self._work_load_list: List[float] = [1.0] * len(self._context) if work_load_list is None else work_load_list
        if len(self._work_load_list) != len(self._context):
            raise ValueError(f"given {len(self._work_load_list)} workloads, expected {len(self._context)} as contexts")
        self._group2ctxs = group2ctxs
        self._symbol = symbol
        self._data_names = list(data_names or [])
        self._label_names = list(label_names or [])
        self._state_names = list(state_names or [])
        self._fixed_param_names = list(fixed_param_names or [])
        _check_input_names(symbol, self._data_names, "data", True)
        _check_input_names(symbol, self._label_names, "label", False)
        _check_input_names(symbol, self._state_names, "state", True)
        _check_input_names(symbol, self._fixed_param_names, "fixed_param", True)
        inputs = {*self._data_names, *self._label_names, *self._state_names}
        self._param_names = [name for name in symbol.list_arguments() if name not in inputs]
        self._aux_names = symbol.list_auxiliary_states()
        self._output_names = symbol.list_outputs()
        self._arg_params: Any = None
        self._aux_params: Any = None
        self._params_dirty = False  # the devices hold newer values than the two dictionaries
        self._compression_params = compression_params
        self._grad_req: Any = None
        self._exec_group: Any = None
        self._data_shapes: Any = None
        self._label_shapes: Any = None

    @staticmethod
    def load(prefix: str, epoch: int, load_optimizer_states: bool = False, **kwargs: Any) -> Module:
        """Returns a module of what save_checkpoint has written under `prefix` for `epoch`; it is to be bound.

        `kwargs` are the constructor's, such as `data_names` and `context`. With `load_optimizer_states` init_optimizer
        will load PREFIX-0001.states.
        """
        symbol, arguments, states = load_checkpoint(prefix, epoch)
        module = Module(symbol=symbol, **kwargs)
        module._arg_params = arguments
        module._aux_params = states
        module.params_initialized = True
        if load_optimizer_states:
            module._preload_opt_states = f"{prefix}-{epoch:04d}.states"
        return module

    def save_checkpoint(
        self, prefix: str, epoch: int, save_optimizer_states: bool = False, remove_amp_cast: bool = True
    ) -> None:
        """Writes PREFIX-symbol.json, PREFIX-0001.params for epoch 1 and, if asked for, PREFIX-0001.states.

        `remove_amp_cast` leaves out the casts of mixed precision.
        """
        self._sync_params_from_devices()
        save_checkpoint(prefix, epoch, self._symbol, *self.get_params(), remove_amp_cast=remove_amp_cast)
        if save_optimizer_states:
            state_name = f"{prefix}-{epoch:04d}.states"
            self.save_optimizer_states(state_name)
            logging.info('Saved optimizer state to "%s"', state_name)

    # --- Names and shapes

    @property
    def data_names(self) -> List[str]:
        """Names of the inputs."""
        return self._data_names

    @property
    def label_names(self) -> List[str]:
        """Names of the labels."""
        return self._label_names

    @property
    def output_names(self) -> List[str]:
        """Names of the outputs."""
        return self._output_names

    @property
    def data_shapes(self) -> Any:
        """(name, shape) of the inputs."""
        self._bound()
        return self._data_shapes

    @property
    def label_shapes(self) -> Any:
        """(name, shape) of the labels."""
        self._bound()
        return self._label_shapes

    @property
    def output_shapes(self) -> List[Tuple[str, Tuple[int, ...]]]:
        """(name, shape) of the outputs."""
        self._bound()
        return self._exec_group.get_output_shapes()

    # --- Parameters

    def get_params(self) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """Arguments and auxiliary states by name: the module's own dictionaries, fetched from the devices if they
        are newer.
        """
        self._has_values()
        self._sync_params_from_devices()
        return self._arg_params, self._aux_params

    def init_params(
        self,
        initializer: Any = Uniform(0.01),  # noqa: B008
        arg_params: Optional[Dict[str, Any]] = None,
        aux_params: Optional[Dict[str, Any]] = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """First values of the parameters, on the CPU and on all devices; a given one must have the shape that was
        bound.
        """
        if self._keeps_values(force_init):
            return
        self._bound()
        self._allocate_params()
        attributes = self._symbol.attr_dict()
        for own, given in ((self._arg_params, arg_params), (self._aux_params, aux_params)):
            for name, array in sorted(own.items()):
                desc = InitDesc(name, attributes.get(name))
                self._init_one(desc, array, given, initializer, allow_missing)
        self.params_initialized = True
        self._params_dirty = False
        self._exec_group.set_params(self._arg_params, self._aux_params, allow_extra=allow_extra)

    def _allocate_params(self) -> None:
        from .. import ndarray as nd

        if self._arg_params is None:
            names = [name for name in self._exec_group.arg_names if name in self._param_names]
            self._arg_params = _like(names, self._exec_group.param_arrays, nd)
        if self._aux_params is None:
            self._aux_params = _like(self._aux_names, self._exec_group.aux_arrays, nd)

    def _init_one(self, desc: Any, array: Any, given: Any, initializer: Any, allow_missing: bool) -> None:
        if given is not None and desc in given:
            source = given[desc]
            if source is array:
                return
            if source.shape != array.shape:
                raise ValueError(f"parameter {desc}: given shape {source.shape}, expected {array.shape}")
            source.astype(array.dtype).copyto(array) if source.dtype != array.dtype else source.copyto(array)
        elif given is not None and not allow_missing:
            raise RuntimeError(f"{desc} is not presented: expected it among the given parameters, or allow_missing=True")
        elif initializer is not None:
            initializer(desc, array)

    def set_params(
        self,
        arg_params: Dict[str, Any],
        aux_params: Dict[str, Any],
        allow_missing: bool = False,
        force_init: bool = True,
        allow_extra: bool = False,
    ) -> None:
        """Sets parameters by name; with `allow_missing` on the devices only, from where `get_params` fetches
        them.
        """
        if not allow_missing:
            self.init_params(None, arg_params, aux_params, allow_missing, force_init, allow_extra)
            return
        if self._keeps_values(force_init):
            return
        self._bound()
        self._exec_group.set_params(arg_params, aux_params, allow_extra=allow_extra)
        self._params_dirty = True  # the given ones are on the devices only
        self.params_initialized = True

    def _sync_params_from_devices(self) -> None:
        if not self._params_dirty:
            return
        self._allocate_params()
        self._exec_group.get_params(self._arg_params, self._aux_params)
        if self._kvstore and self._update_on_kvstore:
            for name, array in sorted(self._arg_params.items()):
                if array.stype == "row_sparse":
                    rows = _all_rows(array)
                    self._kvstore.row_sparse_pull(name, array, row_ids=rows)
        self._params_dirty = False

    # --- Binding

    def _reset_bind(self) -> None:
        self.binded = False
        self._exec_group = None
        self._data_shapes = None
        self._label_shapes = None

    def bind(
        self,
        data_shapes: Any,
        label_shapes: Any = None,
        for_training: bool = True,
        inputs_need_grad: bool = False,
        force_rebind: bool = False,
        shared_module: Any = None,
        grad_req: Any = "write",
    ) -> None:
        """Makes an executor for each device, with its part of the batch; the arguments are those of BaseModule.bind.

        Parameters that were loaded or set before are copied to the devices. Raises ValueError for a `shared_module`
        that is not bound or has no parameters, and for gradients of inputs without `for_training`.
        """
        if self._stays_bound(force_rebind):
            return
        if force_rebind:
            if self.params_initialized and self._exec_group is not None:
                self._sync_params_from_devices()
            self._reset_bind()
        if inputs_need_grad and not for_training:
            raise ValueError("given inputs_need_grad=True, expected for_training=True with it")
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self._grad_req = grad_req
        self._data_shapes, self._label_shapes = _parse_data_desc(self._data_names, self._label_names, data_shapes, label_shapes)
        self._exec_group = self._made_group(None if shared_module is None else self._group_of(shared_module))
        self.binded = True
        self._copy_known_params(shared_module)
        if shared_module is not None and shared_module.optimizer_initialized:
            self.borrow_optimizer(shared_module)

    @staticmethod
    def _group_of(shared_module: Any) -> DataParallelExecutorGroup:
        """The executors whose memory another module uses."""
        if not (isinstance(shared_module, Module) and shared_module.binded and shared_module.params_initialized):
            raise ValueError("given a shared_module that is not ready, expected a Module that is bound and has parameters")
        return shared_module._exec_group

    def _made_group(self, shared_group: Optional[DataParallelExecutorGroup]) -> DataParallelExecutorGroup:
        return DataParallelExecutorGroup(
            self._symbol,
            self._context,
            self._work_load_list,
            self._data_shapes,
            self._label_shapes,
            self._param_names,
            self.for_training,
            self.inputs_need_grad,
            shared_group,
            logger=self.logger,
            fixed_param_names=self._fixed_param_names,
            grad_req=self._grad_req,
            state_names=self._state_names,
            group2ctxs=self._group2ctxs,
        )

    def _copy_known_params(self, shared_module: Any) -> None:
        """Values that are there before the executors: those of the other module, or the module's own."""
        if shared_module is not None:
            self.params_initialized = True
            self._arg_params = shared_module._arg_params
            self._aux_params = shared_module._aux_params
        elif self.params_initialized:
            self._exec_group.set_params(self._arg_params, self._aux_params)

    def reshape(self, data_shapes: Any, label_shapes: Any = None) -> None:
        """Goes on with inputs of other shapes, on the same parameters; `data_shapes` and `label_shapes` are those
        of `bind`.
        """
        self._bound()
        self._data_shapes, self._label_shapes = _parse_data_desc(self._data_names, self._label_names, data_shapes, label_shapes)
        self._exec_group.reshape(self._data_shapes, self._label_shapes)

    # --- Computing

    def forward(self, data_batch: Any, is_train: Optional[bool] = None) -> None:
        """Computes the outputs; where a batch has other shapes than bound, it is bound anew for them."""
        self._require()
        self._follow_shapes(data_batch)
        self._exec_group.forward(data_batch, is_train)

    def _follow_shapes(self, data_batch: Any) -> None:
        if isinstance(data_batch, list):
            return  # split by the caller, as bound
        bound = tuple(desc.shape for desc in self._data_shapes)
        if bound != tuple(array.shape for array in data_batch.data):
            self.reshape(*_described(data_batch, self._data_shapes, self._label_shapes))

    def backward(self, out_grads: Any = None) -> None:
        """Gradients on all devices; `out_grads` for the whole batch are split as the batch is."""
        self._require()
        self._exec_group.backward(out_grads=out_grads)

    def get_outputs(self, merge_multi_context: bool = True) -> Any:
        """The outputs of the last `forward`, of several devices joined along the batch's axis."""
        self._require()
        return self._exec_group.get_outputs(merge_multi_context=merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> Any:
        """The gradients of the inputs, of several devices joined along the batch's axis."""
        self._require(gradients=True)
        return self._exec_group.get_input_grads(merge_multi_context=merge_multi_context)

    def get_states(self, merge_multi_context: bool = True) -> Any:
        """The values of the inputs named in `state_names`, of several devices joined along the first axis."""
        self._require()
        return self._exec_group.get_states(merge_multi_context=merge_multi_context)

    def set_states(self, states: Any = None, value: Any = None) -> None:
        """Sets the inputs named in `state_names`: to arrays, to lists of each device's arrays, or all to a
        number.
        """
        self._require()
        self._exec_group.set_states(states, value)

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Adds each device's outputs to the metric with its part of the labels, by the names of outputs and
        labels.
        """
        self._exec_group.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon: Any) -> None:
        """Lets a Monitor see the values of all nodes on every device."""
        self._bound()
        self._exec_group.install_monitor(mon)

    def prepare(self, data_batch: Any, sparse_row_id_fn: Optional[Callable[[Any], Any]] = None) -> None:
        """Gets the rows of sparse parameters that a batch needs: sparse_row_id_fn(batch) gives them by name."""
        self._bound()
        if sparse_row_id_fn is None:
            return
        if not self._kvstore or not self._update_on_kvstore:
            warnings.warn("sparse_row_id_fn is not called: no store updates the parameters", stacklevel=2)
            return
        row_ids = sparse_row_id_fn(data_batch)
        if not isinstance(row_ids, dict):
            raise TypeError(f"given {type(row_ids).__name__} by sparse_row_id_fn, expected a dictionary of rows by parameter")
        for name, rows in row_ids.items():
            place = self._trained_names().index(name)
            arrays = self._exec_group.param_arrays[place]
            if arrays[0].stype != "row_sparse":
                warnings.warn(f"parameter {name} is not row_sparse: its rows are there already", stacklevel=2)
            else:
                self._kvstore.row_sparse_pull(name, arrays, row_ids=rows, priority=-place)


def _like(names: Sequence[str], arrays: Any, nd: Any) -> Dict[str, Any]:
    """An array on the CPU for each parameter."""
    return {
        name: nd.zeros(parts[0].shape, dtype=parts[0].dtype, stype=parts[0].stype, ctx=cpu())
        for name, parts in zip(names, arrays)
    }


def _all_rows(array: Any) -> Any:
    from .. import ndarray as nd

    return nd.arange(0, array.shape[0], dtype="int64")
