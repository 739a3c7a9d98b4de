# SPDX-License-Identifier: Apache-2.0
"""Learning rates as functions of the number of updates."""

from __future__ import annotations

import logging
from math import cos, pi
from typing import List

__all__ = ["CosineScheduler", "FactorScheduler", "LRScheduler", "MultiFactorScheduler", "PolyScheduler"]


class LRScheduler:
    """The base of schedules: a rise from `warmup_begin_lr` to `base_lr` in the first `warmup_steps`
    updates ("linear", or "constant" until then); what follows is up to the subclass."""

    def __init__(
        self, base_lr: float = 0.01, warmup_steps: int = 0, warmup_begin_lr: float = 0, warmup_mode: str = "linear"
    ) -> None:
        if not isinstance(warmup_steps, int) or warmup_steps < 0:
            raise ValueError(f"given warmup_steps {warmup_steps!r}, expected an integer that is not negative")
        if warmup_begin_lr > base_lr:
            raise ValueError(f"given warmup_begin_lr {warmup_begin_lr} above base_lr {base_lr}")
        if warmup_mode not in ("linear", "constant"):
            raise ValueError(f"given warmup_mode {warmup_mode!r}, expected 'linear' or 'constant'")
        self.base_lr = base_lr
        self.warmup_steps = warmup_steps
        self.warmup_final_lr = base_lr
        self.warmup_begin_lr = warmup_begin_lr
        self.warmup_mode = warmup_mode

    def get_warmup_lr(self, num_update: int) -> float:
        """The rate at an update before `warmup_steps`."""
        if not num_update < self.warmup_steps:
            raise ValueError(f"given update {num_update}, expected one below warmup_steps {self.warmup_steps}")
        if self.warmup_mode == "constant":
            return self.warmup_begin_lr
        rise = self.warmup_final_lr - self.warmup_begin_lr
        return self.warmup_begin_lr + rise * float(num_update) / float(self.warmup_steps)

    def __call__(self, num_update: int) -> float:
        """The rate after so many updates."""
        raise NotImplementedError(f"{type(self).__name__} has no __call__(num_update)")


def _log_change(num_update: int, rate: float) -> None:
    logging.info("Update[%d]: Change learning rate to %0.5e", num_update, rate)


class FactorScheduler(LRScheduler):
    """Multiplies the rate by `factor` after each `step` updates, down to `stop_factor_lr`."""

    def __init__(
        self,
        step: int,
        factor: float = 1,
        stop_factor_lr: float = 1e-8,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if step < 1:
            raise ValueError(f"given step {step}, expected at least 1")
        if factor > 1.0:
            raise ValueError(f"given factor {factor}, expected at most 1: the rate must not rise")
        self.step = step
        self.factor = factor
        self.stop_factor_lr = stop_factor_lr
        self.count = 0

    def __call__(self, num_update: int) -> float:
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        while num_update > self.count + self.step:
            self.count += self.step
            rate = max(self.base_lr * self.factor, self.stop_factor_lr)
            if rate != self.base_lr:
                _log_change(num_update, rate)
            self.base_lr = rate
        return self.base_lr


class MultiFactorScheduler(LRScheduler):
    """Multiplies the rate by `factor` after each of the given numbers of updates."""

    def __init__(
        self,
        step: List[int],
        factor: float = 1,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if not isinstance(step, list) or not step:
            raise ValueError(f"given step {step!r}, expected a list of numbers of updates")
        if step[0] < 1 or any(later <= earlier for earlier, later in zip(step, step[1:])):
            raise ValueError(f"given step {step}, expected rising numbers from 1 on")
        if factor > 1.0:
            raise ValueError(f"given factor {factor}, expected at most 1: the rate must not rise")
        self.step = step
        self.cur_step_ind = 0
        self.factor = factor
        self.count = 0

    def __call__(self, num_update: int) -> float:
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        while self.cur_step_ind < len(self.step) and num_update > self.step[self.cur_step_ind]:
            self.count = self.step[self.cur_step_ind]
            self.cur_step_ind += 1
            self.base_lr *= self.factor
            _log_change(num_update, self.base_lr)
        return self.base_lr


class _Falling(LRScheduler):
    """From `base_lr` at the end of the warm-up to `final_lr` at `max_update`, along a curve."""

    def __init__(
        self,
        max_update: int,
        base_lr: float = 0.01,
        final_lr: float = 0,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if not isinstance(max_update, int) or max_update < 1:
            raise ValueError(f"given max_update {max_update!r}, expected an integer of at least 1")
        self.base_lr_orig = base_lr
        self.max_update = max_update
        self.final_lr = final_lr
        self.max_steps = max_update - warmup_steps

    def _height(self, passed: float) -> float:
        """How much is left, 1 to 0, when a part of the way, 0 to 1, has passed."""
        raise NotImplementedError(f"{type(self).__name__} has no _height(passed)")

    def __call__(self, num_update: int) -> float:
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        if num_update <= self.max_update:
            passed = float(num_update - self.warmup_steps) / float(self.max_steps)
            self.base_lr = self.final_lr + (self.base_lr_orig - self.final_lr) * self._height(passed)
        return self.base_lr


class PolyScheduler(_Falling):
    """Falls as the power `pwr` of the way that is left."""

    def __init__(
        self,
        max_update: int,
        base_lr: float = 0.01,
        pwr: float = 2,
        final_lr: float = 0,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        self.power = pwr

    def _height(self, passed: float) -> float:
        return pow(1 - passed, self.power)


class CosineScheduler(_Falling):
    """Falls as half a wave of the cosine."""

    def _height(self, passed: float) -> float:
        return (1 + cos(pi * passed)) / 2
