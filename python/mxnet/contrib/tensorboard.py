# SPDX-License-Identifier: Apache-2.0
"""Metrics for TensorBoard."""

from __future__ import annotations

from typing import Any, Optional

__all__ = ["LogMetricsCallback"]


class LogMetricsCallback:
    """After a batch or an evaluation, writes the metrics to a folder that TensorBoard shows.

    Needs one of the packages mxboard, tensorboardX and torch (its torch.utils.tensorboard).
    """

    def __init__(self, logging_dir: str, prefix: Optional[str] = None) -> None:
        self.prefix = prefix
        self.summary_writer = _writer(logging_dir)
        self._step = 0

    def __call__(self, param: Any) -> None:
        """After a batch or an evaluation."""
        if param.eval_metric is None:
            return
        self._step += 1
        for name, value in param.eval_metric.get_name_value():
            tag = name if self.prefix is None else f"{self.prefix}-{name}"
            self.summary_writer.add_scalar(tag, value, global_step=self._step)


def _writer(logging_dir: str) -> Any:
    import importlib

    for module in ("mxboard", "tensorboardX", "torch.utils.tensorboard"):
        try:
            return importlib.import_module(module).SummaryWriter(logdir=logging_dir)
        except ImportError:
            continue
        except TypeError:  # the last one's argument has another name
            return importlib.import_module(module).SummaryWriter(logging_dir)
    raise ImportError("LogMetricsCallback needs one of the packages mxboard (`pip install mxboard`), tensorboardX and torch with tensorboard")
