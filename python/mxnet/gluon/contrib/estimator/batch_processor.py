# SPDX-License-Identifier: Apache-2.0
"""What is done with one batch."""

from __future__ import annotations

from typing import Any, List, Tuple

from .... import autograd
from ...utils import split_and_load

__all__ = ["BatchProcessor"]


class BatchProcessor:
    """Runs the network on a batch of data and labels; subclass it for batches of another form."""

    def _get_data_and_label(self, batch: Any, ctx: Any, batch_axis: int = 0) -> Tuple[List[Any], List[Any]]:
        if not isinstance(batch, (list, tuple)) or len(batch) < 2:
            raise ValueError(f"given {type(batch).__name__} as a batch, expected data and labels, as gluon.data.DataLoader gives them")
        data = split_and_load(batch[0], ctx_list=ctx, batch_axis=batch_axis)
        label = split_and_load(batch[1], ctx_list=ctx, batch_axis=batch_axis)
        return data, label

    def evaluate_batch(self, estimator: Any, val_batch: Any, batch_axis: int = 0) -> Tuple[Any, Any, Any, Any]:
        """Data, labels, predictions and losses of a batch of validation, each a list with one entry per device."""
        data, label = self._get_data_and_label(val_batch, estimator.context, batch_axis)
        pred = [estimator.val_net(x) for x in data]
        loss = [estimator.val_loss(p, y) for p, y in zip(pred, label)]
        return data, label, pred, loss

    def fit_batch(self, estimator: Any, train_batch: Any, batch_axis: int = 0) -> Tuple[Any, Any, Any, Any]:
        """As evaluate_batch, for training, with gradients."""
        data, label = self._get_data_and_label(train_batch, estimator.context, batch_axis)
        with autograd.record():
            pred = [estimator.net(x) for x in data]
            loss = [estimator.loss(p, y) for p, y in zip(pred, label)]
        autograd.backward(loss)
        return data, label, pred, loss
