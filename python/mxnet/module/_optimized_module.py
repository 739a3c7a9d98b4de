# SPDX-License-Identifier: Apache-2.0
"""The part of a module that has an optimizer: which one, where it runs, its states in files, its updates."""

from __future__ import annotations

import warnings
from typing import Any, Dict, List, Optional

from .. import optimizer as _optimizer
from .._files import replacing
from ..model import _create_kvstore, _initialize_kvstore, _update_params, _update_params_on_kvstore
from ..optimizer._saved_states import set_states_of_file
from .base_module import BaseModule


class OptimizedModule(BaseModule):
    """A module whose parameters, on one or several devices, an optimizer updates here or on a store.

    A subclass binds it: it sets what is only declared here.
    """

    _context: List[Any]
    _exec_group: Any
    _param_names: List[str]
    _arg_params: Any
    _params_dirty: bool
    _compression_params: Optional[Dict[str, Any]]

    def __init__(self, logger: Any) -> None:
        super().__init__(logger=logger)
        self._optimizer: Any = None
        self._kvstore: Any = None
        self._update_on_kvstore: Optional[bool] = None
        self._updater: Any = None
        self._preload_opt_states: Optional[str] = None

    def _sync_params_from_devices(self) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no _sync_params_from_devices()")

    def init_optimizer(
        self, kvstore: Any = "local", optimizer: Any = "sgd", optimizer_params: Any = (("learning_rate", 0.01),), force_init: bool = False
    ) -> None:
        """Makes the optimizer, here or on the store: with several devices or a distributed store, gradients go through
        `kvstore`.

        `rescale_grad` is 1 / batch size unless given, of all workers together where a distributed store waits for them.
        """
        self._require()
        if self.optimizer_initialized and not force_init:
            self.logger.warning("optimizer already initialized, ignoring...")
            return
        self._sync_params_from_devices()
        store, on_store = _create_kvstore(kvstore, len(self._context), self._arg_params)
        batch_size = self._exec_group.batch_size
        if store and "dist" in store.type and "_sync" in store.type:
            batch_size *= store.num_workers
        self._optimizer = self._made_optimizer(optimizer, optimizer_params, 1.0 / batch_size, on_store)
        self._kvstore = store
        self._update_on_kvstore = on_store
        self._updater = None
        if store:
            if self._compression_params:
                store.set_gradient_compression(self._compression_params)
            if on_store:
                store.set_optimizer(self._optimizer)
            _initialize_kvstore(store, self._exec_group.param_arrays, self._arg_params, self._trained_names(), on_store)
        if not on_store:
            self._updater = _optimizer.get_updater(self._optimizer)
        self.optimizer_initialized = True
        if self._preload_opt_states is not None:
            self.load_optimizer_states(self._preload_opt_states)
            self._preload_opt_states = None

    def _made_optimizer(self, optimizer: Any, params: Any, rescale_grad: float, on_store: bool) -> Any:
        names = self._trained_names()
        count = len(self._context)
        if on_store:
            by_index: Dict[Any, str] = {name: name for name in names}
        else:  # each device updates its own copy
            by_index = {i * count + k: name for i, name in enumerate(names) for k in range(count)}
        if isinstance(optimizer, str):
            given = dict(params)
            given.setdefault("rescale_grad", rescale_grad)
            return _optimizer.create(optimizer, sym=self.symbol, param_idx2name=by_index, **given)
        if not isinstance(optimizer, _optimizer.Optimizer):
            raise TypeError(f"given an optimizer of type {type(optimizer).__name__}, expected its name or an Optimizer")
        if optimizer.rescale_grad != rescale_grad:
            warnings.warn(
                f"the optimizer's rescale_grad is {optimizer.rescale_grad}, not 1 / batch size = {rescale_grad}; is this meant?",
                stacklevel=3,
            )
        if not optimizer.idx2name:
            optimizer.idx2name = by_index.copy()
        return optimizer

    def borrow_optimizer(self, shared_module: Any) -> None:
        """Uses the optimizer of another module: of a network for another bucket."""
        if not shared_module.optimizer_initialized:
            raise RuntimeError("the other module is not ready: init_optimizer() was not called")
        self._optimizer = shared_module._optimizer
        self._kvstore = shared_module._kvstore
        self._update_on_kvstore = shared_module._update_on_kvstore
        self._updater = shared_module._updater
        self.optimizer_initialized = True

    def save_optimizer_states(self, fname: str) -> None:
        """Writes the optimizer's states to a file."""
        self._require(optimizer=True)
        if self._update_on_kvstore:
            self._kvstore.save_optimizer_states(fname)
        else:
            with replacing(fname) as file:
                file.write(self._updater.get_states())

    def load_optimizer_states(self, fname: str) -> None:
        """Takes what save_optimizer_states has written."""
        self._require(optimizer=True)
        if self._update_on_kvstore:
            self._kvstore.load_optimizer_states(fname)
            return
        set_states_of_file([self._updater], fname)

    def update(self) -> None:
        """Updates the parameters of all devices by their gradients, on the store if it has the optimizer."""
        self._require(optimizer=True)
        self._params_dirty = True
        group = self._exec_group
        if self._update_on_kvstore:
            _update_params_on_kvstore(group.param_arrays, group.grad_arrays, self._kvstore, self._trained_names())
        else:
            _update_params(
                group.param_arrays,
                group.grad_arrays,
                updater=self._updater,
                num_device=len(self._context),
                kvstore=self._kvstore,
                param_names=self._trained_names(),
            )

    def _trained_names(self) -> List[str]:
        return [name for name in self._exec_group.arg_names if name in self._param_names]
