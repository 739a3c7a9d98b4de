# SPDX-License-Identifier: Apache-2.0
"""The class Estimator: trains and evaluates a network, and tells handlers of it."""

from __future__ import annotations

import copy
import logging
import sys
import warnings
from typing import Any, List, Optional

from .... import context as _context
from .... import metric as _metric
from ....context import Context
from ...loss import Loss, SoftmaxCrossEntropyLoss
from ...trainer import Trainer
from .batch_processor import BatchProcessor
from .event_handler import (
    BatchBegin,
    BatchEnd,
    EpochBegin,
    EpochEnd,
    EventHandler,
    GradientUpdateHandler,
    LoggingHandler,
    MetricHandler,
    StoppingHandler,
    TrainBegin,
    TrainEnd,
    ValidationHandler,
    _metrics,
)

__all__ = ["Estimator"]


class Estimator:
    """Trains a network with a loss.

    What is not given has a default: SGD with rate 0.001, accuracy for SoftmaxCrossEntropyLoss and the loss itself
    as metrics, the first GPU or the CPU.
    """

    logger: Any = None

    def __init__(
        self,
        net: Any,
        loss: Loss,
        train_metrics: Any = None,
        val_metrics: Any = None,
        initializer: Any = None,
        trainer: Optional[Trainer] = None,
        context: Any = None,
        val_net: Any = None,
        val_loss: Optional[Loss] = None,
        batch_processor: Optional[BatchProcessor] = None,
    ) -> None:
        self.net = net
        self.loss = _checked_loss(loss)
        self.val_net = net if val_net is None else val_net
        self.val_loss = self.loss if val_loss is None else _checked_loss(val_loss)
        self._train_metrics = _metrics(train_metrics)
        self._val_metrics = _metrics(val_metrics)
        self._name_metrics()
        self.logger = logging.Logger("Estimator", logging.INFO)
        self.logger.addHandler(logging.StreamHandler(sys.stdout))
        self.context = _checked_context(context)
        self._initialize(initializer)
        self.trainer = self._checked_trainer(trainer)
        if batch_processor is not None and not all(hasattr(batch_processor, name) for name in ("fit_batch", "evaluate_batch")):
            raise ValueError(f"given batch_processor {batch_processor!r}, expected one with fit_batch() and evaluate_batch()")
        self.batch_processor = BatchProcessor() if batch_processor is None else batch_processor
        self.max_epoch: Optional[int] = None
        self.max_batch: Optional[int] = None
        self.batch_axis = 0

    @property
    def train_metrics(self) -> List[Any]:
        """Metrics of training."""
        return self._train_metrics

    @property
    def val_metrics(self) -> List[Any]:
        """Metrics of validation."""
        return self._val_metrics

    def _name_metrics(self) -> None:
        if not self._train_metrics:
            if isinstance(self.loss, SoftmaxCrossEntropyLoss):
                self._train_metrics = [_metric.Accuracy()]
            self._train_metrics.append(_metric.Loss(self.loss.name.rstrip("0123456789")))
        if not self._val_metrics:
            self._val_metrics = [copy.deepcopy(metric) for metric in self._train_metrics]
        for metrics, purpose in ((self._train_metrics, "training"), (self._val_metrics, "validation")):
            for metric in metrics:
                if not metric.name.startswith(purpose):
                    metric.name = f"{purpose} {metric.name}"

    def _initialize(self, initializer: Any) -> None:
        missing = [p for p in self.net.collect_params().values() if p._data is None and not p._deferred_init]
        if missing:
            options = {} if initializer is None else {"default_init": initializer}
            for parameter in missing:
                parameter.initialize(ctx=self.context, **options)
        elif initializer is not None:
            warnings.warn("the network is initialized already; the given initializer is not used", stacklevel=3)

    def _checked_trainer(self, trainer: Any) -> Trainer:
        if trainer is None:
            warnings.warn("no trainer is given: SGD with learning rate 0.001 is used", stacklevel=3)
            return Trainer(self.net.collect_params(), "sgd", {"learning_rate": 0.001})
        if not isinstance(trainer, Trainer):
            raise ValueError(f"given trainer {trainer!r}, expected a gluon.Trainer")
        return trainer

    # --- Running

    def evaluate(self, val_data: Any, batch_axis: int = 0, event_handlers: Any = None) -> None:
        """Computes the metrics of validation."""
        handlers = _listed(event_handlers)
        if not any(isinstance(handler, MetricHandler) for handler in handlers):
            handlers.append(MetricHandler(metrics=self.val_metrics))
        if not any(isinstance(handler, LoggingHandler) for handler in handlers):
            handlers.append(LoggingHandler(metrics=self.val_metrics))
        events = _Events(self, handlers)
        events.tell(EpochBegin, "epoch_begin")
        for batch in val_data:
            events.tell(BatchBegin, "batch_begin", batch=batch)
            _, label, pred, loss = self.batch_processor.evaluate_batch(self, batch, batch_axis)
            events.tell(BatchEnd, "batch_end", batch=batch, pred=pred, label=label, loss=loss)
        events.tell(EpochEnd, "epoch_end")

    def fit(
        self,
        train_data: Any,
        val_data: Any = None,
        epochs: Optional[int] = None,
        event_handlers: Any = None,
        batches: Optional[int] = None,
        batch_axis: int = 0,
    ) -> None:
        """Trains for so many epochs, or for so many batches."""
        if (epochs is None) == (batches is None):
            raise ValueError(f"given epochs {epochs} and batches {batches}, expected exactly one of them")
        self.max_epoch = epochs
        self.max_batch = batches
        self.batch_axis = batch_axis
        events = _Events(self, self._with_defaults(val_data, _listed(event_handlers)))
        events.tell(TrainBegin, "train_begin")
        stop = False
        while not stop:
            events.tell(EpochBegin, "epoch_begin")
            for batch in train_data:
                events.tell(BatchBegin, "batch_begin", batch=batch)
                _, label, pred, loss = self.batch_processor.fit_batch(self, batch, batch_axis)
                if events.tell(BatchEnd, "batch_end", batch=batch, pred=pred, label=label, loss=loss):
                    break
            stop = events.tell(EpochEnd, "epoch_end")
        events.tell(TrainEnd, "train_end")

    def _with_defaults(self, val_data: Any, handlers: List[Any]) -> List[Any]:
        def has(kind: Any) -> bool:
            return any(isinstance(handler, kind) for handler in handlers)

        made: List[Any] = [StoppingHandler(self.max_epoch, self.max_batch)]
        if not has(GradientUpdateHandler):
            made.append(GradientUpdateHandler())
        if not has(MetricHandler):
            made.append(MetricHandler(metrics=self.train_metrics))
        if val_data is not None and not has(ValidationHandler):
            made.append(ValidationHandler(val_data=val_data, eval_fn=self.evaluate))
        if not has(LoggingHandler):
            made.append(LoggingHandler(metrics=self.train_metrics))
        return [*handlers, *made]


class _Events:
    """Tells handlers of events, in the order of their priorities."""

    def __init__(self, estimator: Estimator, handlers: List[Any]) -> None:
        self._estimator = estimator
        self._handlers = sorted(handlers, key=lambda handler: getattr(handler, "priority", 0))

    def tell(self, kind: Any, event: str, **facts: Any) -> bool:
        """Whether one of the handlers wants to stop."""
        heard = [handler for handler in self._handlers if isinstance(handler, kind)]
        return any([getattr(handler, event)(self._estimator, **facts) for handler in heard])


def _listed(handlers: Any) -> List[Any]:
    listed = list(handlers) if isinstance(handlers, (list, tuple)) else [] if handlers is None else [handlers]
    for handler in listed:
        if not isinstance(handler, EventHandler):
            raise ValueError(f"given handler {handler!r}, expected an EventHandler")
    return listed


def _checked_loss(loss: Any) -> Loss:
    if not isinstance(loss, Loss):
        raise ValueError(f"given loss {loss!r}, expected a gluon.loss.Loss")
    return loss


def _checked_context(context: Any) -> List[Context]:
    if context is None:
        return [_context.gpu(0)] if _context.num_gpus() > 0 else [_context.cpu()]
    listed = list(context) if isinstance(context, (list, tuple)) else [context]
    if not listed or not all(isinstance(one, Context) for one in listed):
        raise ValueError(f"given context {context!r}, expected a Context or a list of them")
    return listed
