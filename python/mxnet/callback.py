# SPDX-License-Identifier: Apache-2.0
"""What training calls after a batch or an epoch: checkpoints, speed, progress, logs of metrics."""

from __future__ import annotations

import logging
import math
import sys
import time
from typing import Any, Callable

__all__ = [
    "LogValidationMetricsCallback", "ProgressBar", "Speedometer", "do_checkpoint", "log_train_metric", "module_checkpoint",
]  # fmt: skip


def module_checkpoint(mod: Any, prefix: str, period: int = 1, save_optimizer_states: bool = False) -> Callable[..., None]:
    """After every `period` epochs, a checkpoint of a module."""
    period = max(1, int(period))

    def save(iter_no: int, sym: Any = None, arg: Any = None, aux: Any = None) -> None:
        if (iter_no + 1) % period == 0:
            mod.save_checkpoint(prefix, iter_no + 1, save_optimizer_states)

    return save


def do_checkpoint(prefix: str, period: int = 1) -> Callable[..., None]:
    """After every `period` epochs, a checkpoint of the network and its parameters."""
    period = max(1, int(period))

    def save(iter_no: int, sym: Any, arg: Any, aux: Any) -> None:
        from .model import save_checkpoint

        if (iter_no + 1) % period == 0:
            save_checkpoint(prefix, iter_no + 1, sym, arg, aux)

    return save


def log_train_metric(period: int, auto_reset: bool = False) -> Callable[..., None]:
    """After every `period` batches, a line of the log with the metric."""

    def log(param: Any) -> None:
        if param.nbatch % period == 0 and param.eval_metric is not None:
            for name, value in param.eval_metric.get_name_value():
                logging.info("Iter[%d] Batch[%d] Train-%s=%f", param.epoch, param.nbatch, name, value)
            if auto_reset:
                param.eval_metric.reset_local()

    return log


class Speedometer:
    """After every `frequent` batches, a line of the log with examples per second and the metric.

    `auto_reset`: the metric is of the batches since the last line.
    """

    def __init__(self, batch_size: int, frequent: int = 50, auto_reset: bool = True) -> None:
        self.batch_size = batch_size
        self.frequent = frequent
        self.init = False
        self.tic = 0.0
        self.last_count = 0
        self.auto_reset = auto_reset

    def __call__(self, param: Any) -> None:
        """After a batch."""
        count = param.nbatch
        if self.last_count > count:
            self.init = False
        self.last_count = count
        if not self.init:
            self.init = True
            self.tic = time.time()
            return
        if count % self.frequent != 0:
            return
        passed = time.time() - self.tic
        speed = self.frequent * self.batch_size / passed if passed > 0 else float("inf")
        if param.eval_metric is None:
            logging.info("Iter[%d] Batch [%d]\tSpeed: %.2f samples/sec", param.epoch, count, speed)
        else:
            values = param.eval_metric.get_name_value()
            first = 0
            if self.auto_reset:
                param.eval_metric.reset_local()
                first = count - self.frequent
            shown = "".join(f"\t{name}={value:f}" for name, value in values)
            logging.info("Epoch[%d] Batch [%d-%d]\tSpeed: %.2f samples/sec%s", param.epoch, first, count, speed, shown)
        self.tic = time.time()


class ProgressBar:
    """A bar of `length` characters for `total` batches: on a terminal drawn in place (by tqdm, if it is
    there), else as lines of the log."""

    def __init__(self, total: int, length: int = 80) -> None:
        self.bar_len = length
        self.total = total
        self._bar: Any = None

    def __call__(self, param: Any) -> None:
        """After a batch."""
        count = param.nbatch
        if sys.stderr.isatty() and self._draw(count):
            return
        done = min(count, self.total)
        filled = round(self.bar_len * done / float(self.total))
        percent = math.ceil(100.0 * done / float(self.total))
        logging.info("[%s] %s%s\r", "=" * filled + "-" * (self.bar_len - filled), percent, "%")

    def _draw(self, count: int) -> bool:
        try:
            from tqdm import tqdm
        except ImportError:
            return False
        if self._bar is None or count < self._bar.n:
            self._bar = tqdm(total=self.total, ncols=self.bar_len)
        self._bar.update(count - self._bar.n)
        if count >= self.total:
            self._bar.close()
        return True


class LogValidationMetricsCallback:
    """After an evaluation, a line of the log for each metric."""

    def __call__(self, param: Any) -> None:
        """After an evaluation."""
        if not param.eval_metric:
            return
        for name, value in param.eval_metric.get_name_value():
            logging.info("Epoch[%d] Validation-%s=%f", param.epoch, name, value)
