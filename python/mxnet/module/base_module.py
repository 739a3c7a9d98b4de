# SPDX-License-Identifier: Apache-2.0
"""What all modules have in common: training, scoring and prediction over an iterator.

A module goes through bind (arrays), init_params (their values), init_optimizer, then forward, backward
and update, batch by batch.
"""

from __future__ import annotations

import time
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from .. import metric as _metric
from ..initializer import Uniform
from ..io import DataBatch
from ..model import BatchEndParam
from ._inputs import (
    _as_list, _check_input_names, _check_names_match, _parse_data_desc, call_all,  # noqa: F401  (packages take them from here)
)
from ._steps import ModuleSteps

__all__ = ["BaseModule", "BatchEndParam"]


class BaseModule(ModuleSteps):
    """The base of modules. A subclass defines the steps: the methods that raise NotImplementedError here."""

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
        eval_metric = _metric.create(eval_metric)
        eval_metric.reset()
        seen = 0
        for nbatch, eval_batch in _batches(eval_data, num_batch, reset):
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
        for nbatch, batch in _batches(eval_data, num_batch, reset):
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
        batches = [
            [output.copy() for output in self._outputs_of(batch, sparse_row_id_fn)]
            for _, batch in _batches(eval_data, num_batch, reset)
        ]
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
        if nbatch == 0:  # may be right: a small epoch is read ahead together with the one before
            self.logger.warning("Epoch[%d] has no batches: train_data is at its end, expected it at its beginning (reset())", epoch)
        return values


def _batches(data: Any, num_batch: Optional[int], reset: bool) -> Iterator[Tuple[int, Any]]:
    """The first `num_batch` batches of an iterator, or all, with their numbers; `reset` starts it anew."""
    if reset:
        data.reset()
    for nbatch, batch in enumerate(data):
        if nbatch == num_batch:
            break
        yield nbatch, batch
