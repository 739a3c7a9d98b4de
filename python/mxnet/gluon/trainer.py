# SPDX-License-Identifier: Apache-2.0
"""The class Trainer: updates parameters from their gradients, on one or several devices."""

from __future__ import annotations

import os
import warnings
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from .. import optimizer as opt
from .._core import stale_gradients, use_gradients
from .._files import replacing
from ..context import Context
from ..ndarray import NDArray
from ..optimizer._saved_states import set_states_of_file
from ._errors import MismatchError
from ._replacements import replacements
from .parameter import Parameter, ParameterDict

__all__ = ["Trainer"]

# A local store updates arrays up to this many elements itself; of larger ones one copy would be slow.
_MOST_ON_LOCAL_STORE = 16 * 1024 * 1024


class Trainer:
    """Applies an optimizer to parameters: `step` after each backward.

    With several devices, or with machines, gradients are summed through a key-value store, which may
    also run the optimizer (`update_on_kvstore`).
    """

    def __init__(
        self,
        params: Any,
        optimizer: Any,
        optimizer_params: Optional[Dict[str, Any]] = None,
        kvstore: Any = "device",
        compression_params: Optional[Dict[str, Any]] = None,
        update_on_kvstore: Optional[bool] = None,
    ) -> None:
        self._params: List[Parameter] = _listed(params)
        self._param2idx = {parameter.name: i for i, parameter in enumerate(self._params)}
        self._contains_sparse_weight = any(parameter._stype != "default" for parameter in self._params)
        self._contains_sparse_grad = any(parameter._grad_stype != "default" for parameter in self._params)
        for parameter in self._params:
            if parameter._stype != "default" and parameter._trainer not in (None, self):
                raise RuntimeError(f"Parameter {parameter.name} is {parameter._stype} and has a Trainer already")
            parameter._trainer = self
        self._compression_params = compression_params
        self._contexts = self._check_contexts()
        self._init_optimizer(optimizer, dict(optimizer_params or {}))
        self._scale = self._optimizer.rescale_grad
        self._version: Optional[int] = None  # of the arrays in _batches
        self._batches: List[Tuple[Any, ...]] = []
        self._kvstore_params = {"kvstore": kvstore, "update_on_kvstore": update_on_kvstore}
        self._reset_kvstore()

    def _check_contexts(self) -> List[Context]:
        contexts: Optional[List[Context]] = None
        for parameter in self._params:
            found = parameter.list_ctx()
            if contexts is not None and contexts != found:
                raise MismatchError(
                    f"Parameter {parameter.name} is on {found}, expected the devices of the parameters before: {contexts}"
                )
            contexts = found
        return list(contexts or [])

    def _init_optimizer(self, optimizer: Any, options: Dict[str, Any]) -> None:
        numbered = dict(enumerate(self._params))
        if isinstance(optimizer, opt.Optimizer):
            if options:
                raise MismatchError("given optimizer_params with an Optimizer, expected them only with a name")
            self._optimizer = optimizer
            self._optimizer.param_dict = numbered
        else:
            self._optimizer = opt.create(optimizer, param_dict=numbered, **options)
        self._updaters = [opt.get_updater(self._optimizer) for _ in self._contexts]

    # --- The store

    def _reset_kvstore(self) -> None:
        if getattr(self, "_kvstore", None) is not None and "dist" in self._kvstore.type:
            raise RuntimeError("a distributed store cannot be started again")
        self._kv_initialized = False
        self._kvstore: Any = None
        self._distributed: Optional[bool] = None
        self._update_on_kvstore: Optional[bool] = None
        self._params_to_init = list(self._params)

    def _init_kvstore(self) -> None:
        store = self._choose_store()
        self._kvstore = store
        self._distributed = store is not None and "dist" in store.type
        self._update_on_kvstore = store is not None and self._choose_update(store)
        if store is not None:
            if self._compression_params:
                store.set_gradient_compression(self._compression_params)
            if self._update_on_kvstore:
                store.set_optimizer(self._optimizer)
        self._kv_initialized = True

    def _choose_store(self) -> Any:
        asked = self._kvstore_params["kvstore"]
        if asked is None or not isinstance(asked, str):
            if asked is None and self._contains_sparse_weight:
                raise ValueError("given kvstore None, expected one: rows of row_sparse parameters come from it")
            return asked
        if len(self._contexts) == 1 and "dist" not in asked and not self._contains_sparse_weight:
            return None
        from .. import kvstore

        return kvstore.create(asked)

    def _choose_update(self, store: Any) -> bool:
        asked = self._kvstore_params["update_on_kvstore"]
        capable = store.is_capable("optimizer") if hasattr(store, "is_capable") else True
        if self._contains_sparse_weight:
            if asked is False:
                raise ValueError("given update_on_kvstore=False, expected True: a parameter is row_sparse")
            return True
        if asked is not None:
            if "async" in store.type and not asked:
                raise ValueError("given update_on_kvstore=False, expected True: an asynchronous store updates")
            if asked and not capable:
                raise ValueError(f"given update_on_kvstore=True, expected False: store {store.type} runs no optimizer")
            return bool(asked)
        if not capable:
            return False
        from .. import config

        largest = max((int(np.prod(parameter.shape)) for parameter in self._params), default=0)
        if store.type == "local" and largest > _MOST_ON_LOCAL_STORE:
            return False
        return config.get("MXNET_UPDATE_ON_KVSTORE") == "1" or "async" in store.type

    def _init_params(self) -> None:
        """Puts those parameters into the store whose arrays are there by now."""
        later = []
        for parameter in self._params_to_init:
            if parameter._deferred_init:
                later.append(parameter)
                continue
            if self._kvstore is None:
                continue
            index = self._param2idx[parameter.name]
            arrays = parameter._data or []
            if parameter._stype == "default" and hasattr(self._kvstore, "broadcast"):
                self._kvstore.broadcast(index, arrays[0], arrays)
            else:
                self._kvstore.init(index, arrays[0])
        self._params_to_init = later

    def _ready(self) -> None:
        if not self._kv_initialized:
            self._init_kvstore()
        if self._params_to_init:
            self._init_params()

    def _row_sparse_pull(self, parameter: Parameter, out: Any, row_id: NDArray, full_idx: bool = False) -> None:
        self._ready()
        index = self._param2idx[parameter.name]
        if full_idx and "dist" not in self._kvstore.type:
            self._kvstore.pull(index, out=out, priority=-index, ignore_sparse=False)
        else:
            self._kvstore.row_sparse_pull(index, out=out, row_ids=row_id, priority=-index)

    # --- The optimizer

    @property
    def learning_rate(self) -> float:
        """The optimizer's learning rate, as of now."""
        return self._optimizer.learning_rate

    @property
    def optimizer(self) -> Any:
        """The optimizer."""
        return self._optimizer

    def set_learning_rate(self, lr: float) -> None:
        """Sets the learning rate; an optimizer with a scheduler refuses. Servers that update keep theirs."""
        self._optimizer.set_learning_rate(lr)
        store = getattr(self._kvstore, "handle", None)  # of a class of the program's own, none
        if self._update_on_kvstore and store is not None and store.num_servers > 0:
            warnings.warn(
                f"given learning rate {lr} when the servers have the optimizer already: they go on with theirs; expected a "
                "lr_scheduler, or update_on_kvstore=False",
                stacklevel=2,
            )

    def _rescale(self, batch_size: float) -> None:
        if not batch_size:
            raise ValueError(f"given batch_size {batch_size}, expected a number other than 0: gradients are divided by it")
        self._check_and_rescale_grad(self._scale / batch_size)

    def _check_and_rescale_grad(self, factor: float) -> None:
        """Trainers derived from this one call it by this name."""
        if self._optimizer.rescale_grad == factor:
            return
        if self._update_on_kvstore and self._distributed and self._kv_initialized:
            raise UserWarning(
                f"given another batch size: gradients would be scaled by {factor} instead of {self._optimizer.rescale_grad}, "
                "but the optimizer was sent to the servers already. Use update_on_kvstore=False"
            )
        self._optimizer.rescale_grad = factor

    def step(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """Sums gradients over devices, divides by the batch size and updates the parameters.

        Parameters whose gradient no backward has written since the last step are an error, or are left
        alone with `ignore_stale_grad`.
        """
        self._rescale(batch_size)
        self._ready()
        self._allreduce_grads()
        self._update(ignore_stale_grad)

    def allreduce_grads(self) -> None:
        """Sums gradients over devices only; `update` comes later."""
        self._ready()
        if self._update_on_kvstore:
            raise MismatchError("allreduce_grads() needs update_on_kvstore=False: the store updates at once")
        self._allreduce_grads()

    def update(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """Divides by the batch size and updates, after allreduce_grads."""
        self._ready()
        if self._update_on_kvstore:
            raise MismatchError("update() needs update_on_kvstore=False: the store updates with the gradients")
        self._rescale(batch_size)
        self._update(ignore_stale_grad)

    def _allreduce_grads(self) -> None:
        if self._kvstore is None:
            return
        for i, parameter in enumerate(self._params):
            if parameter.grad_req == "null":
                continue
            grads = parameter.list_grad()
            if self._update_on_kvstore:
                if parameter._stype != "default":
                    self._kvstore.push(i, grads, priority=-i)
                else:
                    self._kvstore.pushpull(i, grads, out=parameter.list_data(), priority=-i)
            elif parameter._grad_stype == "default":
                self._kvstore.pushpull(i, grads, priority=-i)
            else:
                self._kvstore.push(i, grads, priority=-i)
                self._kvstore.pull(i, grads, priority=-i, ignore_sparse=False)

    def _update(self, ignore_stale_grad: bool) -> None:
        scaler = getattr(self, "_amp_loss_scaler", None)
        if scaler is not None and scaler.has_overflow(self._params):
            return  # this step's gradients are infinite; the scaler has lowered its scale
        if self._version != replacements[0]:
            self._collect(ignore_stale_grad)
        batches = self._batches
        stale = [stale_gradients(arrays) for _, _, arrays in batches]
        if any(stale):
            batches = self._fresh_parts(stale, ignore_stale_grad)
        for updater, (indices, grads, arrays) in zip(self._updaters, batches):
            use_gradients(arrays)
            if arrays and not self._update_on_kvstore:
                updater(indices, grads, arrays)

    def _collect(self, ignore_missing: bool) -> None:
        """For each device the numbers, gradients and arrays of what is trained, kept until an array is replaced."""
        version, complete = replacements[0], True
        batches: List[List[Any]] = [[] for _ in self._updaters]
        for i, parameter in enumerate(self._params):
            if parameter._grad_req == "null":
                continue
            if parameter._data is None:
                if not ignore_missing:
                    raise parameter._missing(None)
                complete = False
                continue
            for batch, grad, array in zip(batches, parameter._grad or (), parameter._data):
                batch.append((i, grad, array))
        self._batches = [tuple(zip(*batch)) if batch else ((), (), ()) for batch in batches]
        self._version = version if complete else None

    def _fresh_parts(self, stale: List[List[int]], ignore: bool) -> List[Tuple[Any, ...]]:
        """Of what is trained that which has a new gradient; an error unless the rest is to be ignored."""
        parts = []
        for places, batch in zip(stale, self._batches):
            if places and not ignore:
                indices, _, arrays = batch
                raise self._stale(self._params[indices[places[0]]], arrays[places[0]])
            fresh = sorted(set(range(len(batch[0]))).difference(places))
            parts.append(tuple(tuple(those[i] for i in fresh) for those in batch))
        return parts

    def _stale(self, parameter: Parameter, array: NDArray) -> UserWarning:
        return UserWarning(
            f"no backward has written the gradient of Parameter {parameter.name} on {array.context} since the "
            "last step. If only a part of the parameters takes part in this one, use "
            "step(ignore_stale_grad=True)"
        )

    # --- Files

    def save_states(self, fname: Any) -> None:
        """Writes the optimizer and its states, momenta for example."""
        self._ready()
        if self._update_on_kvstore:
            if self._params_to_init:
                raise MismatchError("some parameters are not initialized yet, so that they have no states to save")
            self._kvstore.save_optimizer_states(os.fspath(fname), dump_optimizer=True)
        else:
            with replacing(fname) as file:
                file.write(self._updaters[0].get_states(dump_optimizer=True))

    def load_states(self, fname: Any) -> None:
        """Reads what save_states has written."""
        self._ready()
        if self._update_on_kvstore:
            self._kvstore.load_optimizer_states(os.fspath(fname))
            self._optimizer = self._kvstore._updater.optimizer
        else:
            set_states_of_file(self._updaters, fname)
            for updater in self._updaters:
                updater.optimizer = self._updaters[0].optimizer
            self._optimizer = self._updaters[0].optimizer
        self._optimizer.param_dict = dict(enumerate(self._params))


def _listed(params: Any) -> List[Parameter]:
    if isinstance(params, (dict, ParameterDict)):
        params = [params[name] for name in sorted(params.keys())]
    if not isinstance(params, (list, tuple)):
        raise ValueError(f"given {type(params).__name__}, expected a list or dictionary of Parameters")
    for parameter in params:
        if not isinstance(parameter, Parameter):
            raise ValueError(f"given {type(parameter).__name__} in the list of parameters, expected a Parameter")
    return list(params)
