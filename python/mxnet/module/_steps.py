# SPDX-License-Identifier: Apache-2.0
"""The steps of a module, which each kind of module defines, and how far one is with them."""

from __future__ import annotations

import logging
import warnings
from typing import Any, Callable, Dict, List, Optional, Tuple

from ..initializer import Uniform
from ..model import split_params


class ModuleSteps:
    """What can be done with a module, a step at a time; what a kind of module does not define raises
    NotImplementedError.
    """

    def __init__(self, logger: Any = logging) -> None:
        self.logger = logger
        self.binded = False
        self.for_training = False
        self.inputs_need_grad = False
        self.params_initialized = False
        self.optimizer_initialized = False
        self._symbol: Any = None
        self._total_exec_bytes = 0

    # --- Names and shapes

    @property
    def symbol(self) -> Any:
        """The network."""
        return self._symbol

    @property
    def data_names(self) -> Any:
        """Names of the inputs."""
        raise self._missing("data_names")

    @property
    def output_names(self) -> Any:
        """Names of the outputs."""
        raise self._missing("output_names")

    @property
    def data_shapes(self) -> Any:
        """(name, shape) of the inputs."""
        raise self._missing("data_shapes")

    @property
    def label_shapes(self) -> Any:
        """(name, shape) of the labels."""
        raise self._missing("label_shapes")

    @property
    def output_shapes(self) -> Any:
        """(name, shape) of the outputs."""
        raise self._missing("output_shapes")

    # --- Parameters

    def get_params(self) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """Returns two dictionaries on the CPU, arguments and auxiliary states by name, up to date with the devices.

        Of several devices it is the mean. Raises RuntimeError before `init_params`.
        """
        raise self._missing("get_params()")

    def init_params(
        self,
        initializer: Any = Uniform(0.01),  # noqa: B008
        arg_params: Optional[Dict[str, Any]] = None,
        aux_params: Optional[Dict[str, Any]] = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """Gives parameters their first values: `arg_params` and `aux_params` by name, and by `initializer` what is
        missing.

        A dictionary that is given must have all of them, unless `allow_missing`, and no others, unless `allow_extra`. A
        module that has values keeps them, unless `force_init`. Raises RuntimeError before `bind`.
        """
        raise self._missing("init_params()")

    def set_params(
        self,
        arg_params: Dict[str, Any],
        aux_params: Dict[str, Any],
        allow_missing: bool = False,
        force_init: bool = True,
        allow_extra: bool = False,
    ) -> None:
        """Sets arguments and auxiliary states by name, on all devices.

        With `allow_missing` what is not given stays as it is, with `allow_extra` names that the network does not have
        are left out. `force_init=False` leaves a module that has values as it is.
        """
        self.init_params(
            initializer=None,
            arg_params=arg_params,
            aux_params=aux_params,
            allow_missing=allow_missing,
            force_init=force_init,
            allow_extra=allow_extra,
        )

    def save_params(self, fname: str) -> None:
        """Writes arguments and states to a `.params` file, under the names `arg:NAME` and `aux:NAME`."""
        from .. import ndarray as nd

        arguments, states = self.get_params()
        named = {f"arg:{name}": array for name, array in arguments.items()}
        named.update({f"aux:{name}": array for name, array in states.items()})
        nd.save(fname, named)

    def load_params(self, fname: str) -> None:
        """Reads a file that `save_params` or `save_checkpoint` has written, and sets its values as `set_params`
        does.
        """
        from .. import ndarray as nd

        self.set_params(*split_params(nd.load(fname)))

    def get_states(self, merge_multi_context: bool = True) -> List[Any]:
        """Returns the inputs named in `state_names`, which keep their values between batches: [] for a module without
        them.

        With `merge_multi_context=False` there is a list of the devices' arrays for each.
        """
        self._require()
        del merge_multi_context  # there are none
        return []

    def set_states(self, states: Any = None, value: Any = None) -> None:
        """Sets the states, either from `states` (what get_states or get_outputs has returned) or all to the number
        `value`.

        Raises ValueError unless just one of the two is given, or if the module has no states.
        """
        self._require()
        if states or value:
            raise ValueError(f"given states, but {type(self).__name__} has none")

    def install_monitor(self, mon: Any) -> None:
        """Lets a Monitor see the values of all nodes in the batches that follow; to be called after `bind`."""
        raise self._missing("install_monitor()")

    # --- Computing

    def prepare(self, data_batch: Any, sparse_row_id_fn: Optional[Callable[[Any], Any]] = None) -> None:
        """Gets ready for a batch before `forward`: gets the rows of sparse parameters that it needs.

        `sparse_row_id_fn(data_batch)` returns a dictionary of row numbers by the parameter's name. A module without
        sparse parameters warns and does not call it.
        """
        if sparse_row_id_fn is not None:
            self.logger.warning("%s has no sparse parameters: sparse_row_id_fn is not called", type(self).__name__)

    def forward(self, data_batch: Any, is_train: Optional[bool] = None) -> None:
        """Computes the outputs of a DataBatch; `get_outputs` returns them.

        `is_train` says whether dropout and batch normalization act as in training; by default as the module was bound.
        """
        raise self._missing("forward()")

    def backward(self, out_grads: Any = None) -> None:
        """Computes the gradients of the parameters, and of the inputs where `bind` was asked for them.

        `out_grads` are the gradients of the outputs, an array or a list of them; a loss needs none.
        """
        raise self._missing("backward()")

    def get_outputs(self, merge_multi_context: bool = True) -> List[Any]:
        """Returns the outputs of the last `forward`, a list of arrays.

        Of several devices the parts of the batch are joined, or with `merge_multi_context=False` are a list for each
        output.
        """
        raise self._missing("get_outputs()")

    def get_input_grads(self, merge_multi_context: bool = True) -> List[Any]:
        """Returns the gradients of the inputs after `backward`, in the order of `data_names`.

        `merge_multi_context` is that of `get_outputs`. Raises RuntimeError unless bound with `inputs_need_grad=True`.
        """
        raise self._missing("get_input_grads()")

    def update(self) -> None:
        """Lets the optimizer change the parameters by the gradients of the last `backward`."""
        raise self._missing("update()")

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Adds the outputs of the last `forward` and these labels to a metric.

        `labels` is the batch's list of arrays, or with `pre_sliced` a list of such lists, one for each device.
        """
        raise self._missing("update_metric()")

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
        """Makes the arrays for inputs of these shapes: to be called before all that computes.

        `data_shapes` and `label_shapes` are lists of DataDesc or (name, shape), such as an iterator's `provide_data`
        and `provide_label`. `for_training=False` makes no gradients, `inputs_need_grad` those of the inputs too. A
        bound module warns and stays as it is, unless `force_rebind`. `shared_module` is a ready one whose parameters
        and memory are used. `grad_req` is "write", "add" or "null", or a list or dictionary of these for each argument.

            module.bind([("data", (32, 1, 28, 28))], [("softmax_label", (32,))])
        """
        raise self._missing("bind()")

    def init_optimizer(
        self, kvstore: Any = "local", optimizer: Any = "sgd", optimizer_params: Any = (("learning_rate", 0.01),), force_init: bool = False
    ) -> None:
        """Makes the optimizer, and the store through which several devices or processes share gradients.

        `kvstore` is a store, its name or None; `optimizer` an Optimizer, or a name with `optimizer_params`, pairs or a
        dictionary, where `rescale_grad` is 1 / batch size unless given. A module that has an optimizer warns and keeps
        it, unless `force_init`. Raises RuntimeError before `bind` and `init_params`.
        """
        raise self._missing("init_optimizer()")

    # --- For kinds of modules

    def _missing(self, what: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} has no {what}")

    def _bound(self) -> None:
        """Raises unless bind was called."""
        if not self.binded:
            raise RuntimeError("the module is not ready: bind() was not called")

    def _stays_bound(self, force_rebind: bool) -> bool:
        """Whether the arrays stay as they are, as `force_rebind=False` asks where there are some; warns if so."""
        stays = self.binded and not force_rebind
        if stays:
            self.logger.warning("Already bound, ignoring bind()")
        return stays

    def _has_values(self) -> None:
        """Raises unless the parameters have values."""
        if not self.params_initialized:
            raise RuntimeError("the module is not ready: init_params() was not called")

    def _keeps_values(self, force_init: bool) -> bool:
        """Whether the parameters stay as they are, as `force_init=False` asks where they have values; warns if so."""
        kept = self.params_initialized and not force_init
        if kept:
            warnings.warn("the parameters have values already, and force_init=False leaves them", stacklevel=3)
        return kept

    def _require(self, optimizer: bool = False, gradients: bool = False) -> None:
        """Raises unless the module is as far as a call needs."""
        self._bound()
        self._has_values()
        if optimizer and not self.optimizer_initialized:
            raise RuntimeError("the module is not ready: init_optimizer() was not called")
        if gradients and not self.inputs_need_grad:
            raise RuntimeError("gradients of inputs are not there: bind was called without inputs_need_grad=True")
