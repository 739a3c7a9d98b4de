# SPDX-License-Identifier: Apache-2.0
"""What losses are made of: the block that all derive from, weights, labels in the shape of predictions. loss.py shows it."""

from __future__ import annotations

from typing import Any, Optional

from ..base import numeric_types
from ..ndarray import NDArray
from ..util import is_np_array
from ._ops import op
from .block import HybridBlock


def apply_weighting(F: Any, loss: Any, weight: Optional[float], sample_weight: Any) -> Any:
    """The loss times a constant and an array, where they are given."""
    if sample_weight is not None:
        loss = op(F, "broadcast_mul")(loss, sample_weight)
    if weight is not None:
        if not isinstance(weight, numeric_types):
            raise ValueError(f"given weight of type {type(weight).__name__}, expected a number")
        loss = loss * weight
    return loss


def reshape_like(F: Any, x: Any, y: Any) -> Any:
    """x in the shape of y; no call where it is known to have it."""
    return x if isinstance(x, NDArray) and x.shape == y.shape else op(F, "reshape_like")(x, y)


def difference(F: Any, pred: Any, label: Any) -> Any:
    """pred - label, for losses to which its sign does not matter: so the gradient of `pred` is that of the difference."""
    return pred - reshape_like(F, label, pred)


def logistic(F: Any, pred: Any, label: Any, pos_weight: Any = None) -> Any:
    """label * log(1 + exp(-pred)) + (1 - label) * log(1 + exp(pred)), the first part times `pos_weight`.

    No part of its gradient is taken from another of nearly the same size, nor has it a kink at 0, as forms of |pred| have.
    """
    positive = _softplus(F, -pred) * label
    if pos_weight is not None:
        positive = op(F, "broadcast_mul")(positive, pos_weight)
    return positive + _softplus(F, pred) * (1 - label)


def _softplus(F: Any, x: Any) -> Any:
    return op(F, "Activation")(x, act_type="softrelu")


class Loss(HybridBlock):
    """What all losses have in common: subclass it and give hybrid_forward."""

    def __init__(self, weight: Optional[float], batch_axis: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._weight = weight
        self._batch_axis = batch_axis

    def __repr__(self) -> str:
        return f"{type(self).__name__}(batch_axis={self._batch_axis}, w={self._weight})"

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Returns the loss of each sample, (batch,), from predictions and labels; a subclass gives it."""
        raise NotImplementedError(f"{type(self).__name__} has no hybrid_forward")

    def _weighted(self, F: Any, loss: Any, sample_weight: Any, weight: Optional[float], how: str = "mean") -> Any:
        """The mean or sum of each sample, with weights. The constant one comes last: a product for each sample instead
        of one for each element, and the same for gradients.
        """
        return apply_weighting(F, self._per_sample(F, apply_weighting(F, loss, None, sample_weight), how), weight, None)

    def _per_sample(self, F: Any, loss: Any, how: str = "mean") -> Any:
        """The mean or sum over all axes but that of the batch."""
        if not is_np_array():
            return getattr(F, how)(loss, axis=self._batch_axis, exclude=True)
        if self._batch_axis != 0:
            loss = F.np.swapaxes(loss, 0, self._batch_axis)
        flat = isinstance(loss, NDArray) and len(loss.shape) == 2
        return getattr(F.np, how)(loss if flat else F.npx.batch_flatten(loss), axis=1)
