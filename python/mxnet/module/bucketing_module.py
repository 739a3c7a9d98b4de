# SPDX-License-Identifier: Apache-2.0
"""Networks for inputs of several lengths: a module for each, on the same parameters."""

from __future__ import annotations

import logging
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from .. import ndarray as nd
from ..context import cpu
from ..initializer import Uniform
from ..model import load_params
from ..name import NameManager
from ._inputs import _check_input_names
from .base_module import BaseModule
from .module import Module

__all__ = ["BucketingModule"]


class BucketingModule(BaseModule):
    """`sym_gen(bucket_key)` gives (network, names of data, names of labels) for inputs of that length.

    The default bucket should be the largest: the others use its memory.
    """

    def __init__(
        self,
        sym_gen: Callable[[Any], Tuple[Any, Any, Any]],
        default_bucket_key: Any = None,
        logger: Any = logging,
        context: Any = cpu(),  # noqa: B008
        work_load_list: Optional[List[float]] = None,
        fixed_param_names: Optional[Sequence[str]] = None,
        state_names: Optional[Sequence[str]] = None,
        group2ctxs: Any = None,
        compression_params: Optional[Dict[str, Any]] = None,
    ) -> None:
        super().__init__(logger=logger)
        if default_bucket_key is None:
            raise ValueError("given no default_bucket_key, expected the key of the largest bucket")
        self._default_bucket_key = default_bucket_key
        self._sym_gen = sym_gen
        symbol, data_names, label_names = self._network(default_bucket_key)
        for names, what, throw in (
            (data_names, "data", True),
            (label_names, "label", False),
            (state_names, "state", True),
            (fixed_param_names, "fixed_param", True),
        ):
            _check_input_names(symbol, list(names or []), what, throw)
        self._fixed_param_names = list(fixed_param_names or [])
        self._state_names = list(state_names or [])
        self._context = context
        self._work_load_list = work_load_list
        self._group2ctxs = group2ctxs
        self._compression_params = compression_params
        self._buckets: Dict[Any, Module] = {}
        self._curr_module: Any = None
        self._curr_bucket_key: Any = None
        self._params_dirty = False
        self._monitor: Any = None
        self._grad_req: Any = None

    @staticmethod
    def load(prefix: str, epoch: int, sym_gen: Any = None, default_bucket_key: Any = None, **kwargs: Any) -> BucketingModule:
        """The parameters that save_checkpoint has written, for networks of `sym_gen`."""
        if sym_gen is None or default_bucket_key is None:
            raise ValueError("expected sym_gen and default_bucket_key")
        module = BucketingModule(sym_gen, default_bucket_key=default_bucket_key, **kwargs)
        module._take(*load_params(prefix, epoch))
        return module

    @staticmethod
    def load_dict(
        sym_dict: Optional[Dict[Any, Any]] = None,
        sym_gen: Any = None,
        default_bucket_key: Any = None,
        arg_params: Optional[Dict[str, Any]] = None,
        aux_params: Optional[Dict[str, Any]] = None,
        **kwargs: Any,
    ) -> BucketingModule:
        """Networks by bucket, or a function that gives them, together with their parameters; the function where both are given."""
        if sym_dict is None and sym_gen is None:
            raise ValueError("load_dict: given neither sym_dict nor sym_gen, expected one of them")
        if default_bucket_key is None:
            raise ValueError("given no default_bucket_key, expected the key of the largest bucket")
        if arg_params is None or aux_params is None:
            raise ValueError("expected arg_params and aux_params")
        if sym_gen is None:
            networks = dict(sym_dict or {})

            def sym_gen(key: Any) -> Any:
                return networks[key]

        module = BucketingModule(sym_gen, default_bucket_key=default_bucket_key, **kwargs)
        module._take(arg_params, aux_params)
        return module

    def _take(self, arg_params: Dict[str, Any], aux_params: Dict[str, Any]) -> None:
        """Parameters for when the module is bound."""
        made = self._make(self._default_bucket_key)
        made._arg_params, made._aux_params = arg_params, aux_params
        made.params_initialized = True
        self._buckets[self._default_bucket_key] = made
        self._curr_module = made
        self._curr_bucket_key = self._default_bucket_key
        self.params_initialized = True

    def save_checkpoint(self, prefix: str, epoch: int, remove_amp_cast: bool = False) -> None:
        """Writes the parameters, a network per bucket (PREFIX-BUCKET-symbol.json) and, for releases, the keys of the buckets
        (PREFIX.buckets) where they are integers."""
        from ..model import _save_symbol, save_checkpoint

        self._require()
        save_checkpoint(prefix, epoch, None, *self.get_params(), remove_amp_cast=remove_amp_cast)
        for key, module in self._buckets.items():
            _save_symbol(module.symbol, f"{prefix}-{key}-symbol.json", remove_amp_cast)
        keys = np.asarray(list(self._buckets), dtype=object)  # tuples of several lengths stay tuples
        if all(isinstance(key, (int, np.integer)) for key in keys.flat):
            nd.save(f"{prefix}.buckets", nd.array(keys.astype(np.int32), dtype=np.int32))

    def _network(self, bucket_key: Any) -> Tuple[Any, Any, Any]:
        """What `sym_gen` gives. Names are counted from 0 for each bucket, so that layers without a name of their own, too,
        find the parameters of the same layers of other buckets."""
        with NameManager():
            return self._sym_gen(bucket_key)

    def _make(self, bucket_key: Any) -> Module:
        symbol, data_names, label_names = self._network(bucket_key)
        return Module(
            symbol,
            data_names,
            label_names,
            logger=self.logger,
            context=self._context,
            work_load_list=self._work_load_list,
            fixed_param_names=self._fixed_param_names,
            state_names=self._state_names,
            group2ctxs=self._group2ctxs,
            compression_params=self._compression_params,
        )

    # --- Names and shapes

    @property
    def data_names(self) -> Any:
        """Names of the current bucket's inputs; of the default bucket's before `bind`."""
        if self.binded:
            return self._curr_module.data_names
        return self._network(self._default_bucket_key)[1]

    @property
    def output_names(self) -> Any:
        """Names of the current bucket's outputs; of the default bucket's before `bind`."""
        if self.binded:
            return self._curr_module.output_names
        return self._network(self._default_bucket_key)[0].list_outputs()

    def _current(self) -> Any:
        self._bound()
        return self._curr_module

    @property
    def data_shapes(self) -> Any:
        """(name, shape) of the current bucket's inputs."""
        return self._current().data_shapes

    @property
    def label_shapes(self) -> Any:
        """(name, shape) of the current bucket's labels."""
        return self._current().label_shapes

    @property
    def output_shapes(self) -> Any:
        """(name, shape) of the current bucket's outputs."""
        return self._current().output_shapes

    @property
    def symbol(self) -> Any:
        """The network of the current bucket."""
        return self._current().symbol

    # --- Parameters

    def get_params(self) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """Arguments and auxiliary states by name; all buckets have the same."""
        self._has_values()
        self._curr_module._params_dirty = self._params_dirty
        params = self._curr_module.get_params()
        self._params_dirty = False
        return params

    def init_params(
        self,
        initializer: Any = Uniform(0.01),  # noqa: B008
        arg_params: Optional[Dict[str, Any]] = None,
        aux_params: Optional[Dict[str, Any]] = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """First values of the parameters that all buckets share; the arguments are those of
        BaseModule.init_params.
        """
        if self.params_initialized and not force_init:
            return
        self._current().init_params(initializer, arg_params, aux_params, allow_missing, force_init, allow_extra)
        self._params_dirty = False
        self.params_initialized = True

    def set_params(
        self,
        arg_params: Dict[str, Any],
        aux_params: Dict[str, Any],
        allow_missing: bool = False,
        force_init: bool = True,
        allow_extra: bool = False,
    ) -> None:
        """Sets the parameters that all buckets share; the arguments are those of BaseModule.set_params."""
        if not allow_missing:
            self.init_params(None, arg_params, aux_params, allow_missing, force_init, allow_extra)
            return
        if self._keeps_values(force_init):
            return
        self._current().set_params(arg_params, aux_params, allow_missing, force_init, allow_extra)
        self._params_dirty = True
        self.params_initialized = True

    def get_states(self, merge_multi_context: bool = True) -> Any:
        """The values of the current bucket's states."""
        self._require()
        return self._curr_module.get_states(merge_multi_context=merge_multi_context)

    def set_states(self, states: Any = None, value: Any = None) -> None:
        """Sets the current bucket's states: by arrays, or all to a number."""
        self._require()
        self._curr_module.set_states(states, value)

    # --- Binding

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
        """Binds the default bucket; the others follow when they are first used."""
        if shared_module is not None:
            raise NotImplementedError("a shared_module is not there for BucketingModule")
        if self._stays_bound(force_rebind):
            return
        kept = self._buckets.get(self._default_bucket_key)
        if self.params_initialized and self.binded:
            params: Any = self.get_params()
        else:
            params = kept.get_params() if kept is not None and kept.params_initialized else None
        if force_rebind:
            self.binded = False
            self._buckets = {}
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self._grad_req = grad_req
        module = self._make(self._default_bucket_key)
        module.bind(
            data_shapes,
            label_shapes,
            for_training,
            inputs_need_grad,
            force_rebind=False,
            shared_module=None,
            grad_req=grad_req,
        )
        self._curr_module = module
        self._curr_bucket_key = self._default_bucket_key
        self._buckets = {self._default_bucket_key: module}
        self.binded = True
        if self.params_initialized and params is not None:
            self.set_params(*params)

    def switch_bucket(self, bucket_key: Any, data_shapes: Any, label_shapes: Any = None) -> None:
        """Makes a bucket the current one; the first time with inputs of these shapes."""
        self._current()
        if bucket_key not in self._buckets:
            module = self._make(bucket_key)
            module.bind(
                data_shapes,
                label_shapes,
                self._curr_module.for_training,
                self._curr_module.inputs_need_grad,
                force_rebind=False,
                shared_module=self._buckets[self._default_bucket_key],
                grad_req=self._grad_req,
            )
            if self._monitor is not None:
                module.install_monitor(self._monitor)
            self._buckets[bucket_key] = module
        self._curr_module = self._buckets[bucket_key]
        self._curr_bucket_key = bucket_key

    def init_optimizer(
        self, kvstore: Any = "local", optimizer: Any = "sgd", optimizer_params: Any = (("learning_rate", 0.01),), force_init: bool = False
    ) -> None:
        """Makes one optimizer for all buckets; those that are bound later borrow it."""
        self._require()
        if self.optimizer_initialized and not force_init:
            self.logger.warning("optimizer already initialized, ignoring.")
            return
        self._curr_module.init_optimizer(kvstore, optimizer, optimizer_params, force_init=force_init)
        for module in self._buckets.values():
            if module is not self._curr_module:
                module.borrow_optimizer(self._curr_module)
        self.optimizer_initialized = True

    # --- Computing

    def prepare(self, data_batch: Any, sparse_row_id_fn: Optional[Callable[[Any], Any]] = None) -> None:
        """Binds the batch's bucket if it is new, without leaving the current one."""
        self._require()
        current = self._curr_bucket_key
        self.switch_bucket(data_batch.bucket_key, data_batch.provide_data, data_batch.provide_label)
        self._curr_module.prepare(data_batch, sparse_row_id_fn=sparse_row_id_fn)
        self.switch_bucket(current, None, None)

    def forward(self, data_batch: Any, is_train: Optional[bool] = None) -> None:
        """Computes the outputs in the bucket of `data_batch.bucket_key`, which is bound if it is new and stays
        the current one.
        """
        self._require()
        self.switch_bucket(data_batch.bucket_key, data_batch.provide_data, data_batch.provide_label)
        if self.optimizer_initialized and not self._curr_module.optimizer_initialized:
            self._curr_module.borrow_optimizer(self._buckets[self._default_bucket_key])
        self._curr_module.forward(data_batch, is_train=is_train)

    def backward(self, out_grads: Any = None) -> None:
        """Computes the gradients of the current bucket, that of the last `forward`."""
        self._require()
        self._curr_module.backward(out_grads=out_grads)

    def update(self) -> None:
        """Updates the parameters by the gradients of the current bucket."""
        self._require(optimizer=True)
        self._params_dirty = True
        self._curr_module.update()

    def get_outputs(self, merge_multi_context: bool = True) -> Any:
        """The current bucket's outputs."""
        self._require()
        return self._curr_module.get_outputs(merge_multi_context=merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> Any:
        """The gradients of the current bucket's inputs."""
        self._require(gradients=True)
        return self._curr_module.get_input_grads(merge_multi_context=merge_multi_context)

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Adds the current bucket's outputs to a metric."""
        self._require()
        self._curr_module.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon: Any) -> None:
        """Lets a Monitor see the nodes of all buckets, also of those that are bound later."""
        self._current()
        self._monitor = mon
        for module in self._buckets.values():
            module.install_monitor(mon)
