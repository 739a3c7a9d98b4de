# SPDX-License-Identifier: Apache-2.0
"""What all modules have in common: training, scoring and prediction over an iterator, and parameters in files.

A module goes through bind (arrays), init_params (their values), init_optimizer, then forward, backward
and update, batch by batch.
"""

from __future__ import annotations

import logging
import time
import warnings
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from .. import metric as _metric
from ..initializer import Uniform
from ..io import DataBatch
from ..model import BatchEndParam, split_params
from ._inputs import (
    _as_list, _check_input_names, _check_names_match, _parse_data_desc, call_all,  # noqa: F401  (packages take them from here)
)

__all__ = ["BaseModule", "BatchEndParam"]


class BaseModule:
    """The base of modules. A subclass defines the methods that raise NotImplementedError here."""

    def __init__(self, logger: Any = logging) -> None:
        self.logger = logger
        self.binded = False
        self.for_training = False
        self.inputs_need_grad = False
        self.params_initialized = False
        self.optimizer_initialized = False
        self._symbol: Any = None
        self._total_exec_bytes = 0

    def _missing(self, what: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} has no {what}")

    def _bound(self) -> None:
        """Raises unless bind was called."""
        if not self.binded:
            raise RuntimeError("the module is not ready: bind() was not called")

    def _keeps_values(self, force_init: bool) -> bool:
        """Whether the parameters stay as they are, as `force_init=False` asks where they have values; warns if so."""
        kept = self.params_initialized and not force_init
        if kept:
            warnings.warn("the parameters have values already, and force_init=False leaves them", stacklevel=3)
        return kept

    def _require(self, optimizer: bool = False, gradients: bool = False) -> None:
        """Raises unless the module is as far as a call needs."""
        steps = [("bind", self.binded), ("init_params", self.params_initialized)]
        if optimizer:
            steps.append(("init_optimizer", self.optimizer_initialized))
        for name, done in steps:
            if not done:
                raise RuntimeError(f"the module is not ready: {name}() was not called")
        if gradients and not self.inputs_need_grad:
            raise RuntimeError("gradients of inputs are not there: bind was called without inputs_need_grad=True")

    # --- Over a batch or an iterator

    def forward_backward(self, data_batch: Any) -> None:
        """Runs `forward` for training and then `backward` on a DataBatch; the gradients are ready for `update`."""
        self.forward(data_batch, is_train=True)
        self.backward()

    def score(
        self,
        eval_data: Any,
        eval_metric: Any,
        num_batch: Optional[int] = None,
        batch_end_callback: Any = None,
        score_end_callback: Any = None,
        reset: bool = True,
        epoch: int = 0,
        sparse_row_id_fn: Optional[Callable[[Any], Any]] = None,
    ) -> List[Tuple[str, Any]]:
        """Runs the network over `eval_data`, without training, and returns the metric's values as [(name, value)].

        `eval_data` is a DataIter, `eval_metric` an EvalMetric or what `metric.create` takes, such as "acc". Only the
        first `num_batch` batches count if that is given. `reset` starts the iterator anew before. `batch_end_callback`
        is called with a BatchEndParam after each batch, `score_end_callback` once at the end; `epoch` is the number
        that they see. Raises RuntimeError before `bind` and `init_params`.

            module.score(test_batches, "acc")  # [('accuracy', 0.98)]
        """
        self._require()
        if reset:
            eval_data.reset()
        eval_metric = _metric.create(eval_metric)
        eval_metric.reset()
        seen = 0
        for nbatch, eval_batch in enumerate(eval_data):
            if nbatch == num_batch:
                break
            self.prepare(eval_batch, sparse_row_id_fn=sparse_row_id_fn)
            self.forward(eval_batch, is_train=False)
            self._update_metric_of(eval_metric, eval_batch)
            call_all(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
            seen += 1
        if score_end_callback is not None:
            call_all(score_end_callback, BatchEndParam(epoch, seen, eval_metric, locals()))
        return eval_metric.get_name_value()

    def _update_metric_of(self, eval_metric: Any, batch: Any) -> None:
        if isinstance(batch, list):
            self.update_metric(eval_metric, [part.label for part in batch], pre_sliced=True)
        else:
            self.update_metric(eval_metric, batch.label)

    def iter_predict(
        self,
        eval_data: Any,
        num_batch: Optional[int] = None,
        reset: bool = True,
        sparse_row_id_fn: Optional[Callable[[Any], Any]] = None,
    ) -> Iterator[Tuple[List[Any], int, Any]]:
        """Yields (outputs, number of the batch, batch) for each batch of a DataIter.

        `outputs` is a list of arrays without the examples that only fill up the batch. They belong to the module and
        hold until the next step: copy what is to be kept. `num_batch` and `reset` are those of `score`.
        """
        self._require()
        if reset:
            eval_data.reset()
        for nbatch, batch in enumerate(eval_data):
            if nbatch == num_batch:
                break
            yield self._outputs_of(batch, sparse_row_id_fn), nbatch, batch

    def _outputs_of(self, batch: Any, sparse_row_id_fn: Any) -> List[Any]:
        self.prepare(batch, sparse_row_id_fn=sparse_row_id_fn)
        self.forward(batch, is_train=False)
        pad = batch.pad or 0
        return [output[0 : output.shape[0] - pad] for output in self.get_outputs()]

    def predict(
        self,
        eval_data: Any,
        num_batch: Optional[int] = None,
        merge_batches: bool = True,
        reset: bool = True,
        always_output_list: bool = False,
        sparse_row_id_fn: Optional[Callable[[Any], Any]] = None,
    ) -> Any:
        """Returns the outputs for a DataIter, or for an array of one batch (NDArray or NumPy).

        Of an iterator the batches are joined along their first axis, without the examples that only fill them up: an
        array, or a list of them where the network has several outputs or `always_output_list` is set. With
        `merge_batches=False` it is a list with the list of outputs of each batch. Of an array it is the first output.
        `num_batch` and `reset` are those of `score`. Raises TypeError for what is neither, ValueError if batches differ
        in their number of outputs.

            scores = module.predict(NDArrayIter(images, batch_size=32))  # one row for each image
        """
        import numpy as np

        from .. import ndarray as nd

        self._require()
        if isinstance(eval_data, (nd.NDArray, np.ndarray)):
            data = nd.array(eval_data) if isinstance(eval_data, np.ndarray) else eval_data
            self.forward(DataBatch([data]), is_train=False)
            return self.get_outputs()[0]
        if not hasattr(eval_data, "__iter__"):
            raise TypeError(f"given {type(eval_data).__name__}, expected an iterator or an array")
        if reset:
            eval_data.reset()
        batches = []
        for nbatch, batch in enumerate(eval_data):
            if nbatch == num_batch:
                break
            batches.append([output.copy() for output in self._outputs_of(batch, sparse_row_id_fn)])
        if not batches or not merge_batches:
            return batches
        if any(len(outputs) != len(batches[0]) for outputs in batches):
            raise ValueError("batches differ in their number of outputs, expected merge_batches=False")
        merged = [nd.concatenate([outputs[i] for outputs in batches]) for i in range(len(batches[0]))]
        return merged[0] if len(merged) == 1 and not always_output_list else merged

    def fit(
        self,
        train_data: Any,
        eval_data: Any = None,
        eval_metric: Any = "acc",
        epoch_end_callback: Any = None,
        batch_end_callback: Any = None,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: Any = (("learning_rate", 0.01),),
        eval_end_callback: Any = None,
        eval_batch_end_callback: Any = None,
        initializer: Any = Uniform(0.01),  # noqa: B008
        arg_params: Optional[Dict[str, Any]] = None,
        aux_params: Optional[Dict[str, Any]] = None,
        allow_missing: bool = False,
        force_rebind: bool = False,
        force_init: bool = False,
        begin_epoch: int = 0,
        num_epoch: Optional[int] = None,
        validation_metric: Any = None,
        monitor: Any = None,
        sparse_row_id_fn: Optional[Callable[[Any], Any]] = None,
    ) -> None:
        """Trains from `begin_epoch` to before `num_epoch`, and scores on `eval_data` after each epoch.

        Binds for the shapes of `train_data`, a DataIter, sets first values and makes the optimizer where that was not
        done before; `force_rebind` and `force_init` do it again. `optimizer` is a name or an Optimizer,
        `optimizer_params` are its arguments; by default SGD with a rate of 0.01. `arg_params` and `aux_params` are
        first values by name, and `initializer` makes those that are missing from them, which `allow_missing` permits.
        `batch_end_callback` gets a BatchEndParam, `epoch_end_callback` (epoch, symbol, arguments, states); both may be
        lists. Metrics are logged at the end of each epoch; `validation_metric` is `eval_metric` unless given. Raises
        ValueError without `num_epoch`.

            module.fit(train_batches, test_batches, optimizer="adam", num_epoch=5)
        """
        if num_epoch is None:
            raise ValueError("given no num_epoch, expected the number of epochs")
        self.bind(train_data.provide_data, train_data.provide_label, for_training=True, force_rebind=force_rebind)
        if monitor is not None:
            self.install_monitor(monitor)
        self.init_params(initializer, arg_params, aux_params, allow_missing=allow_missing, force_init=force_init)
        self.init_optimizer(kvstore=kvstore, optimizer=optimizer, optimizer_params=optimizer_params)
        eval_metric = _metric.create(eval_metric)
        validation_metric = eval_metric if validation_metric is None else validation_metric
        for epoch in range(begin_epoch, num_epoch):
            tic = time.time()
            eval_metric.reset()
            values = self._fit_epoch(locals())
            for name, value in values:
                self.logger.info("Epoch[%d] Train-%s=%f", epoch, name, value)
            self.logger.info("Epoch[%d] Time cost=%.3f", epoch, time.time() - tic)
            # The devices' copies, averaged: where training goes on, and what the callbacks save.
            trained, states = self.get_params()
            self.set_params(trained, states)
            call_all(epoch_end_callback, epoch, self.symbol, trained, states)
            if eval_data is not None:
                scores = self.score(
                    eval_data,
                    validation_metric,
                    score_end_callback=eval_end_callback,
                    batch_end_callback=eval_batch_end_callback,
                    epoch=epoch,
                )
                for name, value in scores:
                    self.logger.info("Epoch[%d] Validation-%s=%f", epoch, name, value)
            train_data.reset()

    def _fit_epoch(self, fit: Dict[str, Any]) -> List[Tuple[str, Any]]:
        """Trains on all batches; the next one is fetched while the devices work on the current one. `fit` are the variables
        of fit(), which callbacks find in `locals`."""
        epoch, eval_metric, monitor, sparse_row_id_fn = (fit[name] for name in ("epoch", "eval_metric", "monitor", "sparse_row_id_fn"))
        values: List[Tuple[str, Any]] = []
        data_iter = iter(fit["train_data"])
        data_batch = next(data_iter, None)
        nbatch = 0
        while data_batch is not None:
            if monitor is not None:
                monitor.tic()
            self.forward_backward(data_batch)
            self.update()
            self._update_metric_of(eval_metric, data_batch)
            next_data_batch = next(data_iter, None)
            end_of_batch = next_data_batch is None
            if not end_of_batch:
                self.prepare(next_data_batch, sparse_row_id_fn=sparse_row_id_fn)
            if monitor is not None:
                monitor.toc_print()
            if end_of_batch:
                values = eval_metric.get_global_name_value()
            if fit["batch_end_callback"] is not None:
                call_all(fit["batch_end_callback"], BatchEndParam(epoch, nbatch, eval_metric, {**fit, **locals()}))
            data_batch = next_data_batch
            nbatch += 1
        return values

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
