# SPDX-License-Identifier: Apache-2.0
"""The events of a training loop: a handler subclasses those that it wants to hear of."""

from __future__ import annotations

from typing import Any


class EventHandler:
    """The base of all handlers."""


class TrainBegin(EventHandler):
    """Hears when training begins."""

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
        """Called once, before the first epoch."""


class TrainEnd(EventHandler):
    """Hears when training ends."""

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
        """Called once, after the last epoch."""


class EpochBegin(EventHandler):
    """Hears when an epoch begins."""

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
        """Called before the first batch of each epoch."""


class EpochEnd(EventHandler):
    """Hears when an epoch ends."""

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
        """Called after the last batch of each epoch; True stops training."""
        return False


class BatchBegin(EventHandler):
    """Hears when a batch begins."""

    def batch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
        """Called before each batch, with `batch`."""


class BatchEnd(EventHandler):
    """Hears when a batch ends."""

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
        """Called after each batch, with `batch`, `pred`, `label` and `loss`; True stops training."""
        return False
