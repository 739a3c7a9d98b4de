# SPDX-License-Identifier: Apache-2.0
"""Handlers that watch a metric: checkpoints, of which the best may be kept, and early stopping."""

from __future__ import annotations

import os
import re
import warnings
from typing import Any, List, Optional, Tuple

from ....metric import EvalMetric
from ..._errors import MismatchError
from ...block import HybridBlock
from ._events import BatchEnd, EpochEnd, TrainBegin, TrainEnd

# Metrics of which more is better, by parts of their names.
_MORE_IS_BETTER = ("acc", "f1", "corr", "mcc")


class _Best:
    """The best value of a metric so far; `mode` is min, max or auto, which goes by the metric's name."""

    def __init__(self, monitor: Optional[EvalMetric], mode: str, min_delta: float = 0.0) -> None:
        if monitor is not None and not isinstance(monitor, EvalMetric):
            raise ValueError(f"given monitor {monitor!r}, expected one of the estimator's metrics")
        if mode not in ("auto", "min", "max"):
            warnings.warn(f"given mode {mode!r}, expected auto, min or max; auto is used", stacklevel=4)
            mode = "auto"
        if mode == "auto":
            name = "" if monitor is None else str(monitor.get()[0]).lower()
            mode = "max" if any(part in name for part in _MORE_IS_BETTER) else "min"
        self.more = mode == "max"
        self.min_delta = abs(min_delta)
        self.value = float("-inf") if self.more else float("inf")

    def is_better(self, value: float) -> bool:
        """Whether a value is better than the best by more than min_delta."""
        return value > self.value + self.min_delta if self.more else value < self.value - self.min_delta


class CheckpointHandler(TrainBegin, BatchEnd, EpochEnd):
    """Saves parameters and the trainer's states every so many epochs or batches, and the best ones.

    The last `max_checkpoints` are kept. `resume_from_checkpoint` goes on from the last one in the folder. A file's name
    tells the epoch and, at its end, how many batches there were in all; between, the number of the last one from 0.
    """

    def __init__(
        self,
        model_dir: str,
        model_prefix: str = "model",
        monitor: Optional[EvalMetric] = None,
        verbose: int = 0,
        save_best: bool = False,
        mode: str = "auto",
        epoch_period: Optional[int] = 1,
        batch_period: Optional[int] = None,
        max_checkpoints: int = 5,
        resume_from_checkpoint: bool = False,
    ) -> None:
        if save_best and monitor is None:
            raise ValueError("given save_best without monitor, expected the metric that says what is best")
        self.monitor = monitor
        self.verbose = verbose
        self.model_dir = model_dir
        self.model_prefix = model_prefix
        self.save_best = save_best
        self.epoch_period = epoch_period
        self.batch_period = batch_period
        self.max_checkpoints = max_checkpoints
        self.resume_from_checkpoint = resume_from_checkpoint
        self.current_batch = 0
        self.current_epoch = 0
        self.trained_epoch = -1
        self.trained_batch = -1
        self._has_no_network = False
        self.saved_checkpoints: List[str] = []
        self._best = _Best(monitor, mode)
        os.makedirs(model_dir, exist_ok=True)

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Counts from zero or, with `resume_from_checkpoint`, loads the latest checkpoint of the folder and goes
        on from there.
        """
        self.current_batch = 0
        self.current_epoch = 0
        self.trained_epoch = self.trained_batch = -1
        self._has_no_network = False
        if self.resume_from_checkpoint:
            self._resume(estimator)

    def _path(self, name: str) -> str:
        return os.path.join(self.model_dir, f"{self.model_prefix}-{name}")

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Saves after every `batch_period`th batch."""
        self.current_batch += 1
        if self.batch_period and self.current_batch % self.batch_period == 0:
            self._save_checkpoint(estimator, self._epochs(), self._batches() - 1)

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Saves after every `epoch_period`th epoch."""
        if self.epoch_period and (self.current_epoch + 1) % self.epoch_period == 0:
            self._save_checkpoint(estimator, self._epochs(), self._batches())
        self.current_epoch += 1

    def _epochs(self) -> int:
        return self.current_epoch + self.trained_epoch + 1

    def _batches(self) -> int:
        return self.current_batch + self.trained_batch + 1

    def _save_checkpoint(self, estimator: Any, epoch: int, batch: int) -> None:
        self._save_network(estimator)
        prefix = f"epoch{epoch}batch{batch}"
        if self.verbose > 0:
            estimator.logger.info(
                "[Epoch %d] CheckpointHandler: trained total %d batches, saving model at %s with prefix: %s-%s",
                self.current_epoch, self._batches(), self.model_dir, self.model_prefix, prefix,
            )  # fmt: skip
        self._save(estimator, prefix)
        if prefix in self.saved_checkpoints:
            self.saved_checkpoints.remove(prefix)
        self.saved_checkpoints.append(prefix)
        while len(self.saved_checkpoints) > self.max_checkpoints:
            self._remove(self.saved_checkpoints.pop(0))
        if self.save_best:
            self._save_if_best(estimator)

    def _save_network(self, estimator: Any) -> None:
        """Once: the network does not change. Nor does one that cannot be saved, which is said once for each training."""
        symbol_file = self._path("symbol.json")
        if os.path.exists(symbol_file) or self._has_no_network:
            return
        if isinstance(estimator.net, HybridBlock) and estimator.net._graph is not None:
            estimator.net._graph.output.save(symbol_file)
        else:
            self._has_no_network = True
            estimator.logger.info("Model architecture(symbol file) is not saved: %s needs a hybridized HybridBlock", symbol_file)

    def _save(self, estimator: Any, name: str) -> None:
        estimator.net.save_parameters(self._path(f"{name}.params"))
        estimator.trainer.save_states(self._path(f"{name}.states"))

    def _remove(self, name: str) -> None:
        for ending in ("params", "states"):
            path = self._path(f"{name}.{ending}")
            if os.path.exists(path):
                os.remove(path)

    def _save_if_best(self, estimator: Any) -> None:
        name, value = self.monitor.get()  # type: ignore[union-attr]
        better = self._best.is_better(value)
        if self.verbose > 0:
            place = f"[Epoch {self.current_epoch}] CheckpointHandler: {name}"
            if better:
                best = f"updating best model at {self.model_dir} with prefix: {self.model_prefix}-best"
                estimator.logger.info(f"{place} improved from {self._best.value:.5f} to {value:.5f}, {best}")
            else:
                estimator.logger.info(f"{place} did not improve from {self._best.value:.5f}, skipping updating best model")
        if better:
            self._best.value = value
            self._save(estimator, "best")

    def _resume(self, estimator: Any) -> None:
        unit, other, period = ("epochs", "batch_period", self.batch_period) if estimator.max_epoch else ("batches", "epoch_period", self.epoch_period)
        if period:
            raise MismatchError(f"given {other} {period} to go on from a checkpoint for so many {unit}, expected None: numbers of files mean {unit} then")
        found = self._checkpoints()
        if not found:
            whole = estimator.max_epoch or estimator.max_batch
            estimator.logger.info("CheckpointHandler: No checkpoint found, training from scratch for %d %s", whole, unit)
            return
        self.trained_epoch, self.trained_batch, name = found[-1]
        self.saved_checkpoints = [name for _, _, name in found]
        estimator.net.load_parameters(self._path(f"{name}.params"), ctx=estimator.context)
        estimator.trainer.load_states(self._path(f"{name}.states"))
        if estimator.max_epoch:
            self.trained_batch -= 1  # the name tells how many
            left = estimator.max_epoch - self.trained_epoch - 1
            if left > 0:
                estimator.max_epoch = left
        else:
            left = estimator.max_batch - self.trained_batch - 1
            if left > 0:
                estimator.max_batch = left
        if left <= 0:
            raise MismatchError(f"given {name} to go on from, expected more {unit} than it has")
        epoch, batch, _ = found[-1]
        estimator.logger.warning(
            "CheckpointHandler: Checkpoint resumed from epoch %d batch %d, continue to train for %d %s ", epoch, batch, left, unit
        )

    def _checkpoints(self) -> List[Tuple[int, int, str]]:
        """Those in the folder, in order."""
        pattern = re.compile(re.escape(self.model_prefix) + r"-(epoch(\d+)batch(\d+))\.params\Z")
        matches = (pattern.match(file) for file in os.listdir(self.model_dir))
        found = [(int(match[2]), int(match[3]), match[1]) for match in matches if match]
        return sorted(entry for entry in found if os.path.exists(self._path(f"{entry[2]}.states")))


class EarlyStoppingHandler(TrainBegin, EpochEnd, TrainEnd):
    """Stops when a metric has not become better by `min_delta` for `patience` epochs, at least one."""

    def __init__(
        self,
        monitor: EvalMetric,
        min_delta: float = 0,
        patience: int = 0,
        mode: str = "auto",
        baseline: Optional[float] = None,
    ) -> None:
        if monitor is None:
            raise ValueError("given no monitor, expected one of the estimator's metrics")
        self._new_best = lambda: _Best(monitor, mode, min_delta)
        self._best = self._new_best()
        self.monitor = monitor
        self.baseline = baseline
        self.patience = patience
        self.min_delta = min_delta
        self.wait = 0
        self.stopped_epoch = 0
        self.current_epoch = 0
        self.stop_training = False

    @property
    def best(self) -> float:
        """The best value so far."""
        return self._best.value

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Forgets the best value and counts from zero."""
        self.wait = 0
        self.stopped_epoch = 0
        self.current_epoch = 0
        self.stop_training = False
        self._best = self._new_best()
        if self.baseline is not None:
            self._best.value = self.baseline

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Looks at the metric; returns whether training is to stop."""
        _, value = self.monitor.get()
        if value != value:  # pylint: disable=comparison-with-itself
            warnings.warn(f"{self.monitor.get()[0]} is not a number; is it updated with each batch?", RuntimeWarning, stacklevel=2)
        elif self._best.is_better(value):
            self._best.value = value
            self.wait = 0
        else:
            self.wait += 1
            if self.wait >= self.patience:
                self.stopped_epoch = self.current_epoch
                self.stop_training = True
        self.current_epoch += 1
        return self.stop_training

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Logs that training was stopped, if it was."""
        if self.stop_training:
            estimator.logger.info("[Epoch %d] EarlyStoppingHanlder: early stopping due to %s not improving", self.stopped_epoch, self.monitor.get()[0])
