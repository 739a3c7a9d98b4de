# SPDX-License-Identifier: Apache-2.0
"""Handlers of events of a training loop. Those with lower `priority` run first.

What a handler's batch_end or epoch_end returns says whether training is to stop.
"""

from __future__ import annotations

import time
from typing import Any, List, Optional, Union

from ....metric import CompositeEvalMetric, EvalMetric
from ....metric import Loss as _LossMetric
from ..._errors import MismatchError
from ._events import BatchBegin, BatchEnd, EpochBegin, EpochEnd, EventHandler, TrainBegin, TrainEnd
from ._monitors import CheckpointHandler, EarlyStoppingHandler

__all__ = [
    "BatchBegin", "BatchEnd", "CheckpointHandler", "EarlyStoppingHandler", "EpochBegin", "EpochEnd", "EventHandler",
    "GradientUpdateHandler", "LoggingHandler", "MetricHandler", "StoppingHandler", "TrainBegin", "TrainEnd",
    "ValidationHandler",
]

for _class in (BatchBegin, BatchEnd, CheckpointHandler, EarlyStoppingHandler, EpochBegin, EpochEnd, EventHandler, TrainBegin, TrainEnd):
    _class.__module__ = __name__  # pickles of other versions look for it here


def _metrics(metrics: Any) -> List[EvalMetric]:
    """Metrics as a flat list."""
    if isinstance(metrics, CompositeEvalMetric):
        return [one for metric in metrics.metrics for one in _metrics(metric)]
    if isinstance(metrics, EvalMetric):
        return [metrics]
    metrics = [metrics] if isinstance(metrics, str) else list(metrics or [])
    for metric in metrics:
        if not isinstance(metric, EvalMetric):
            raise ValueError(f"given metric {metric!r}, expected an EvalMetric or a list of them")
    return metrics


class StoppingHandler(TrainBegin, BatchEnd, EpochEnd):
    """Stops after so many epochs or batches."""

    def __init__(self, max_epoch: Optional[int] = None, max_batch: Optional[int] = None) -> None:
        self.max_epoch = max_epoch
        self.max_batch = max_batch
        self.current_batch = 0
        self.current_epoch = 0
        self.stop_training = False

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Takes `max_epoch` and `max_batch` from the estimator, and counts from zero."""
        self.max_epoch = estimator.max_epoch
        self.max_batch = estimator.max_batch
        self.current_batch = 0
        self.current_epoch = 0
        self.stop_training = False

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Counts a batch; returns whether it was the last one."""
        self.current_batch += 1
        self.stop_training |= self.current_batch == self.max_batch
        return self.stop_training

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Counts an epoch; returns whether it was the last one."""
        self.current_epoch += 1
        self.stop_training |= self.current_epoch == self.max_epoch
        return self.stop_training


class MetricHandler(EpochBegin, BatchEnd):
    """Updates metrics with each batch; they start anew with each epoch."""

    def __init__(self, metrics: Any, priority: float = -1000) -> None:
        self.metrics = _metrics(metrics)
        self.priority = priority

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Resets the metrics."""
        for metric in self.metrics:
            metric.reset()

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Updates the metrics with `label` and `pred` of the event; those that are `metric.Loss` with its `loss`."""
        for metric in self.metrics:
            if isinstance(metric, _LossMetric):
                metric.update(0, kwargs["loss"])
            else:
                metric.update(kwargs["label"], kwargs["pred"])


class ValidationHandler(TrainBegin, BatchEnd, EpochEnd):
    """Runs `eval_fn(val_data=..., ...)` every so many epochs or batches."""

    def __init__(
        self,
        val_data: Any,
        eval_fn: Any,
        epoch_period: Optional[int] = 1,
        batch_period: Optional[int] = None,
        priority: float = -1000,
        event_handlers: Any = None,
    ) -> None:
        self.val_data = val_data
        self.eval_fn = eval_fn
        self.epoch_period = epoch_period
        self.batch_period = batch_period
        self.priority = priority
        self.event_handlers = event_handlers
        self.current_batch = 0
        self.current_epoch = 0

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Counts from zero."""
        self.current_batch = 0
        self.current_epoch = 0

    def _run(self, estimator: Any) -> None:
        self.eval_fn(val_data=self.val_data, batch_axis=estimator.batch_axis, event_handlers=self.event_handlers)

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Validates after every `batch_period`th batch."""
        self.current_batch += 1
        if self.batch_period and self.current_batch % self.batch_period == 0:
            self._run(estimator)

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Validates after every `epoch_period`th epoch."""
        self.current_epoch += 1
        if self.epoch_period and self.current_epoch % self.epoch_period == 0:
            self._run(estimator)


class LoggingHandler(TrainBegin, TrainEnd, EpochBegin, EpochEnd, BatchBegin, BatchEnd):
    """Logs times and metrics, at the end of epochs and every so many batches, in the words that programs look for in logs."""

    def __init__(
        self, log_interval: Union[str, int] = "epoch", metrics: Any = None, priority: float = float("inf")
    ) -> None:
        if log_interval != "epoch" and not isinstance(log_interval, int):
            raise ValueError(f"given log_interval {log_interval!r}, expected 'epoch' or a number of batches")
        self.log_interval = log_interval
        self.metrics = _metrics(metrics)
        self.priority = priority
        self.batch_index = 0
        self.current_epoch = 0
        self.processed_samples = 0
        self.log_interval_time = 0.0

    def _shown(self) -> str:
        facts = (metric.get() for metric in self.metrics)
        return ", ".join(f"{name}: {value:.4f}" for name, value in facts)

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Logs the optimizer, its learning rate and how long training is to be; counts from zero."""
        self.train_start = time.time()
        optimizer, rate = type(estimator.trainer.optimizer).__name__, estimator.trainer.learning_rate
        estimator.logger.info("Training begin: using optimizer %s with current learning rate %.4f ", optimizer, rate)
        if estimator.max_epoch:
            estimator.logger.info("Train for %d epochs.", estimator.max_epoch)
        else:
            estimator.logger.info("Train for %d batches.", estimator.max_batch)
        self.current_epoch = 0
        self.batch_index = 0
        self.processed_samples = 0
        self.log_interval_time = 0.0

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Logs the time of the training and the metrics."""
        took = time.time() - self.train_start
        text = f"Train finished using total {took:.0f}s with {self.current_epoch} epochs. {self._shown()}"
        estimator.logger.info(text.rstrip())

    def batch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Starts to measure the batch's time, where batches are logged."""
        if isinstance(self.log_interval, int):
            self.batch_start = time.time()

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Logs time and metrics in every `log_interval`th batch, where batches are logged."""
        if not isinstance(self.log_interval, int):
            return
        self.log_interval_time += time.time() - self.batch_start
        batch = kwargs["batch"]
        self.processed_samples += batch[0].shape[0] if hasattr(batch[0], "shape") else len(batch[0])
        if self.batch_index % self.log_interval == 0:
            place = f"[Epoch {self.current_epoch}][Batch {self.batch_index}][Samples {self.processed_samples}]"
            estimator.logger.info(f"{place} time/interval: {self.log_interval_time:.3f}s {self._shown()}".rstrip())
            self.log_interval_time = 0.0
        self.batch_index += 1

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Logs that an epoch, or a validation, begins."""
        if any(metric.name.startswith("training") for metric in self.metrics):
            rate = estimator.trainer.learning_rate
            estimator.logger.info("[Epoch %d] Begin, current learning rate: %.4f", self.current_epoch, rate)
        else:
            estimator.logger.info("Validation Begin")
        self.epoch_start = time.time()

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Logs the epoch's time and the metrics."""
        took = time.time() - self.epoch_start
        estimator.logger.info(f"[Epoch {self.current_epoch}] Finished in {took:.3f}s, {self._shown()}".rstrip(", "))
        self.current_epoch += 1
        self.batch_index = 0


class GradientUpdateHandler(BatchEnd):
    """Lets the trainer make its step."""

    def __init__(self, priority: float = -2000) -> None:
        self.priority = priority

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Calls the trainer's `step` with the number of samples in the event's `loss`, an array or a list of
        them.
        """
        losses = kwargs["loss"]
        losses = losses if isinstance(losses, list) else [losses]
        size = sum(loss.shape[0] for loss in losses)
        if size == 0:
            raise MismatchError("given losses of no samples, expected at least one")
        estimator.trainer.step(size)
