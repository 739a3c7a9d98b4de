# SPDX-License-Identifier: Apache-2.0
"""The factor that keeps small gradients above the smallest number of 16 bits."""

from __future__ import annotations

import logging
from typing import Any, List

from ...ndarray import multi_all_finite

__all__ = ["LossScaler"]


class LossScaler:
    """Half of it when a gradient is infinite or not a number, twice after 2000 steps without that.

    A change counts from the step after the next, as in 1.9.1; Sockeye keeps and restores the three numbers of it.
    """

    def __init__(self) -> None:
        self._loss_scale = self._next_loss_scale = 2.0**16
        self._max_loss_scale = 2.0**24
        self._scale_seq_len = 2000
        self._unskipped = 0

    @property
    def loss_scale(self) -> float:
        """The factor for the next loss."""
        return self._loss_scale

    def has_overflow(self, params: List[Any]) -> bool:
        """Whether a gradient is infinite or not a number; the factor follows."""
        self._loss_scale = self._next_loss_scale
        # On all devices: each has its own gradients until they are added up.
        by_device: dict = {}
        for param in params:
            if getattr(param, "grad_req", "write") == "null":
                continue
            for grad in param.list_grad():
                dense = grad if grad.stype == "default" else grad.data
                by_device.setdefault(dense.context, []).append(dense)
        finite = [multi_all_finite(*grads, num_arrays=len(grads), init_output=True) for grads in by_device.values()]
        overflow = any(result.asscalar() == 0 for result in finite)
        if overflow:
            self._next_loss_scale = max(self._loss_scale / 2.0, 1.0)
            self._unskipped = 0
            logging.info("AMP: a gradient has overflowed, the loss scale falls to %f", self._next_loss_scale)
        else:
            self._unskipped += 1
        if self._unskipped == self._scale_seq_len:
            self._unskipped = 0
            self._next_loss_scale = min(self._max_loss_scale, self._loss_scale * 2.0)
        return overflow
