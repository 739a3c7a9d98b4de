# SPDX-License-Identifier: Apache-2.0
"""Learning-rate schedules of the first versions; mxnet.lr_scheduler has those of today."""

from __future__ import annotations

import logging

__all__ = ["FactorScheduler", "LearningRateScheduler"]


class LearningRateScheduler:
    """The base: `base_lr` is set by who uses it."""

    def __init__(self) -> None:
        self.base_lr = 0.01

    def __call__(self, iteration: int) -> float:
        """The rate at an iteration."""
        raise NotImplementedError(f"{type(self).__name__} has no __call__(iteration)")


class FactorScheduler(LearningRateScheduler):
    """Multiplies the rate by `factor` after each `step` iterations."""

    def __init__(self, step: int, factor: float = 0.1) -> None:
        super().__init__()
        if step < 1:
            raise ValueError(f"given step {step}, expected at least 1")
        if factor >= 1.0:
            raise ValueError(f"given factor {factor}, expected less than 1")
        self.step = step
        self.factor = factor
        self.old_lr = self.base_lr
        self.init = False

    def __call__(self, iteration: int) -> float:
        if not self.init:
            self.init = True
            self.old_lr = self.base_lr
        rate = self.base_lr * self.factor ** int(iteration / self.step)
        if rate != self.old_lr:
            self.old_lr = rate
            logging.info("Iteration [%d]: the learning rate is now %.5f", iteration, rate)
        return rate
