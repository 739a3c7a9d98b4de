# SPDX-License-Identifier: Apache-2.0
"""Modules after one another: the outputs of one are the data of the next."""

from __future__ import annotations

import logging
from typing import Any, Dict, List, Optional, Tuple

from ..initializer import Uniform
from ..io import DataBatch, DataDesc
from .base_module import BaseModule

__all__ = ["SequentialModule"]


class SequentialModule(BaseModule):
    """A chain of modules.

    `add(module, take_labels=True)` hands the labels to that module; `auto_wiring=True` gives the outputs of
    the one before the names that it expects.
    """

    META_TAKE_LABELS = "take_labels"
    META_AUTO_WIRING = "auto_wiring"

    def __init__(self, logger: Any = logging) -> None:
        super().__init__(logger=logger)
        self._modules: List[Any] = []
        self._metas: List[Dict[str, Any]] = []
        self._label_shapes: Any = None
        self._data_shapes: Any = None

    def add(self, module: Any, **kwargs: Any) -> SequentialModule:
        """One more module at the end; the chain itself is returned."""
        known = (self.META_TAKE_LABELS, self.META_AUTO_WIRING)
        for key in kwargs:
            if key not in known:
                raise ValueError(f"given {key!r}, expected one of {', '.join(known)}")
        self._modules.append(module)
        self._metas.append(kwargs)
        self.binded = False  # the new one has nothing yet
        self.params_initialized = False
        self.optimizer_initialized = False
        return self

    def _takes_labels(self, place: int) -> bool:
        return bool(self._metas[place].get(self.META_TAKE_LABELS))

    # --- Names and shapes

    @property
    def data_names(self) -> List[str]:
        """Names of the first module's inputs."""
        return self._modules[0].data_names if self._modules else []

    @property
    def output_names(self) -> List[str]:
        """Names of the last module's outputs."""
        return self._modules[-1].output_names if self._modules else []

    @property
    def data_shapes(self) -> Any:
        """(name, shape) of the first module's inputs."""
        self._bound()
        return self._modules[0].data_shapes

    @property
    def label_shapes(self) -> Any:
        """(name, shape) of the labels, None where no module takes them."""
        self._bound()
        return self._label_shapes

    @property
    def output_shapes(self) -> Any:
        """(name, shape) of the last module's outputs."""
        self._bound()
        return self._modules[-1].output_shapes

    # --- Parameters

    def get_params(self) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """Arguments and auxiliary states of all modules, by name."""
        self._require()
        arguments: Dict[str, Any] = {}
        states: Dict[str, Any] = {}
        for module in self._modules:
            own_arguments, own_states = module.get_params()
            arguments.update(own_arguments)
            states.update(own_states)
        return arguments, states

    def init_params(
        self,
        initializer: Any = Uniform(0.01),  # noqa: B008
        arg_params: Optional[Dict[str, Any]] = None,
        aux_params: Optional[Dict[str, Any]] = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """First values of all modules' parameters; the arguments are those of BaseModule.init_params.

        Raises ValueError where two modules have a parameter of one name.
        """
        if self.params_initialized and not force_init:
            return
        self._bound()
        for module in self._modules:
            # What belongs to the other modules is extra for each.
            module.init_params(
                initializer=initializer,
                arg_params=arg_params,
                aux_params=aux_params,
                allow_missing=allow_missing,
                force_init=force_init,
                allow_extra=True,
            )
        owners: Dict[str, int] = {}
        for place, module in enumerate(self._modules):
            for name in (name for part in module.get_params() for name in part):
                if name in owners:
                    raise ValueError(f"parameter {name} is in modules {owners[name]} and {place}, expected different names")
                owners[name] = place
        extra = {*(arg_params or {}), *(aux_params or {})} - set(owners)
        if extra and not allow_extra:
            raise ValueError(f"given parameters {sorted(extra)}, expected those of the modules, or allow_extra=True")
        self.params_initialized = True

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
        """Binds the modules one after the other, each for the shapes of the outputs before it.

        All but the first compute the gradients of their inputs, if it is for training. Raises RuntimeError if there are
        no modules, NotImplementedError for a `shared_module`.
        """
        if self._stays_bound(force_rebind):
            return
        if inputs_need_grad and not for_training:
            raise ValueError("given inputs_need_grad=True, expected for_training=True with it")
        if shared_module is not None:
            raise NotImplementedError("a shared_module is not there for SequentialModule")
        if not self._modules:
            raise RuntimeError("expected at least one module: add() was not called")
        self.binded = True
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self._label_shapes = label_shapes if any(self._takes_labels(i) for i in range(len(self._modules))) else None
        shapes = data_shapes
        for place, module in enumerate(self._modules):
            if self._metas[place].get(self.META_AUTO_WIRING):
                names = module.data_names
                if len(names) != len(shapes):
                    raise ValueError(f"module {place}: given {len(shapes)} inputs, expected {len(names)}: {names}")
                shapes = [(name, shape) for name, (_, shape) in zip(names, [tuple(desc[:2]) for desc in shapes])]
            module.bind(
                data_shapes=shapes,
                label_shapes=label_shapes if self._takes_labels(place) else None,
                for_training=for_training,
                inputs_need_grad=inputs_need_grad or (for_training and place > 0),
                force_rebind=force_rebind,
                shared_module=None,
                grad_req=grad_req,
            )
            shapes = module.output_shapes

    def init_optimizer(
        self, kvstore: Any = "local", optimizer: Any = "sgd", optimizer_params: Any = (("learning_rate", 0.01),), force_init: bool = False
    ) -> None:
        """Makes an optimizer for each module, of the same arguments."""
        self._require()
        if self.optimizer_initialized and not force_init:
            self.logger.warning("optimizer already initialized, ignoring.")
            return
        for module in self._modules:
            module.init_optimizer(kvstore=kvstore, optimizer=optimizer, optimizer_params=optimizer_params, force_init=force_init)
        self.optimizer_initialized = True

    # --- Computing

    def forward(self, data_batch: Any, is_train: Optional[bool] = None) -> None:
        """Computes the modules in order: the outputs of each are the data of the next."""
        self._require()
        given = ("label", "pad", "index", "bucket_key", "provide_data", "provide_label")  # or not: a program's class has what it needs
        batch = DataBatch(data_batch.data, **{name: getattr(data_batch, name, None) for name in given})
        for place, module in enumerate(self._modules):
            module.forward(batch, is_train=is_train)
            if place + 1 < len(self._modules):
                batch.data = module.get_outputs()
                names = self._modules[place + 1].data_names
                batch.provide_data = [DataDesc(name, array.shape) for name, array in zip(names, batch.data)]

    def backward(self, out_grads: Any = None) -> None:
        """Computes the gradients from the last module to the first; `out_grads` are those of the last one's
        outputs.
        """
        self._require()
        for place in reversed(range(len(self._modules))):
            self._modules[place].backward(out_grads=out_grads)
            if place > 0:
                out_grads = self._modules[place].get_input_grads()

    def update(self) -> None:
        """Updates the parameters of all modules."""
        self._require(optimizer=True)
        for module in self._modules:
            module.update()

    def get_outputs(self, merge_multi_context: bool = True) -> Any:
        """The last module's outputs."""
        self._require()
        return self._modules[-1].get_outputs(merge_multi_context=merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> Any:
        """The gradients of the first module's inputs."""
        self._require(gradients=True)
        return self._modules[0].get_input_grads(merge_multi_context=merge_multi_context)

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Adds the outputs of the modules that take labels to a metric."""
        self._require()
        for place, module in enumerate(self._modules):
            if self._takes_labels(place):
                module.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon: Any) -> None:
        """Lets a Monitor see the nodes of all modules."""
        self._bound()
        for module in self._modules:
            module.install_monitor(mon)
