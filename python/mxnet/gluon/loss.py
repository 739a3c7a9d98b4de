# SPDX-License-Identifier: Apache-2.0
"""Losses: blocks that give one number for each sample.

All take `weight`, a constant factor, and most `sample_weight`, an array that is multiplied in and has
the samples' shape or one that broadcasts to it.
"""

from __future__ import annotations

import math
from typing import Any, Optional

import numpy as np

from ..base import numeric_types  # noqa: F401  (a name of this module in 1.x)
from ..util import is_np_array
from ._errors import MismatchError
from ._loss_base import Loss, apply_weighting as _apply_weighting, difference as _difference, logistic as _logistic, reshape_like as _reshape_like
from ._ops import op

__all__ = [
    "CTCLoss", "CosineEmbeddingLoss", "HingeLoss", "HuberLoss", "KLDivLoss", "L1Loss", "L2Loss", "LogisticLoss", "Loss",
    "PoissonNLLLoss", "SDMLLoss", "SigmoidBCELoss", "SigmoidBinaryCrossEntropyLoss", "SoftmaxCELoss",
    "SoftmaxCrossEntropyLoss", "SquaredHingeLoss", "TripletLoss",
]

Loss.__module__ = __name__  # pickles of other versions look for it here

_TINY = 1e-12  # keeps logarithms and quotients finite


class L2Loss(Loss):
    """Half the squared difference."""

    def __init__(self, weight: float = 1.0, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """Returns weight / 2 * (label - pred)^2, the mean of each sample: (batch,). The label takes the shape of
        `pred`.
        """
        loss = op(F, "square")(_difference(F, pred, label))
        return self._weighted(F, loss, sample_weight, self._weight / 2)  # type: ignore[operator]


class L1Loss(Loss):
    """The absolute difference."""

    def __init__(self, weight: Optional[float] = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """Returns |label - pred|, the mean of each sample: (batch,). The label takes the shape of `pred`."""
        loss = op(F, "abs")(_difference(F, pred, label))
        return self._weighted(F, loss, sample_weight, self._weight)


class SigmoidBinaryCrossEntropyLoss(Loss):
    """Cross entropy of two classes; `pred` is before the sigmoid, unless `from_sigmoid`.

    `pos_weight` multiplies the part of positive labels.
    """

    def __init__(
        self, from_sigmoid: bool = False, weight: Optional[float] = None, batch_axis: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_sigmoid = from_sigmoid

    def hybrid_forward(
        self, F: Any, pred: Any, label: Any, sample_weight: Any = None, pos_weight: Any = None
    ) -> Any:
        """Returns the mean of each sample, (batch,), from labels of 0 to 1 that have as many elements as `pred`.

        `pos_weight` broadcasts to the labels.
        """
        label = _reshape_like(F, label, pred)
        if self._from_sigmoid:
            loss = self._of_probabilities(F, pred, label, pos_weight)
        else:
            loss = _logistic(F, pred, label, pos_weight)
        return self._weighted(F, loss, sample_weight, self._weight)

    @staticmethod
    def _of_probabilities(F: Any, pred: Any, label: Any, pos_weight: Any) -> Any:
        positive = op(F, "log")(pred + _TINY) * label
        if pos_weight is not None:
            positive = op(F, "broadcast_mul")(positive, pos_weight)
        return -(positive + op(F, "log")(1.0 - pred + _TINY) * (1.0 - label))


SigmoidBCELoss = SigmoidBinaryCrossEntropyLoss


class SoftmaxCrossEntropyLoss(Loss):
    """Cross entropy of several classes; labels are class numbers, or with sparse_label=False distributions."""

    def __init__(
        self,
        axis: int = -1,
        sparse_label: bool = True,
        from_logits: bool = False,
        weight: Optional[float] = None,
        batch_axis: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._axis = axis
        self._sparse_label = sparse_label
        self._from_logits = from_logits

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """Returns the mean of each sample: (batch,).

        `pred` has the classes along `axis`. The label has class numbers and lacks this axis, or with
        `sparse_label=False` it is a distribution of as many elements as `pred`.

            loss = gluon.loss.SoftmaxCrossEntropyLoss()(scores, classes)  # (32, 10) and (32,) give (32,)
        """
        if not self._from_logits:
            pred = op(F, "log_softmax")(pred, axis=self._axis)
        if self._sparse_label:
            loss = -op(F, "pick")(pred, label, axis=self._axis, keepdims=True)
        else:
            loss = -op(F, "sum")(pred * _reshape_like(F, label, pred), axis=self._axis, keepdims=True)
        return self._weighted(F, loss, sample_weight, self._weight)


SoftmaxCELoss = SoftmaxCrossEntropyLoss


class KLDivLoss(Loss):
    """The Kullback-Leibler divergence of `label` from `pred`, which holds logarithms if `from_logits`."""

    def __init__(
        self, from_logits: bool = True, axis: int = -1, weight: Optional[float] = None, batch_axis: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits = from_logits
        self._axis = axis

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """Returns label * (log(label) - pred), the sum of each sample: (batch,); label and `pred` have one shape."""
        if not self._from_logits:
            pred = op(F, "log_softmax")(pred, axis=self._axis)
        loss = label * (op(F, "log")(label + _TINY) - pred)
        return self._weighted(F, loss, sample_weight, self._weight, "sum")


class CTCLoss(Loss):
    """Connectionist temporal classification; the blank is the last class."""

    def __init__(
        self, layout: str = "NTC", label_layout: str = "NT", weight: Optional[float] = None, **kwargs: Any
    ) -> None:
        if layout not in ("NTC", "TNC"):
            raise MismatchError(f"given layout {layout!r}, expected NTC or TNC")
        if label_layout not in ("NT", "TN"):
            raise MismatchError(f"given label_layout {label_layout!r}, expected NT or TN")
        super().__init__(weight, label_layout.find("N"), **kwargs)
        self._layout = layout
        self._label_layout = label_layout

    def hybrid_forward(
        self, F: Any, pred: Any, label: Any, pred_lengths: Any = None, label_lengths: Any = None, sample_weight: Any = None
    ) -> Any:
        """Returns the loss of each sequence: (batch,).

        `pred` are scores before the softmax, (batch, steps, classes) for layout "NTC"; `label` has the class numbers,
        (batch, longest) for "NT", filled up with -1 unless there are `label_lengths`. `pred_lengths` and
        `label_lengths` are arrays (batch,).
        """
        if self._layout == "NTC":
            pred = op(F, "swapaxes")(pred, 0, 1)
        if self._batch_axis == 1:
            label = op(F, "swapaxes")(label, 0, 1)
        lengths = {"data_lengths": pred_lengths, "label_lengths": label_lengths}
        loss = op(F, "CTCLoss")(
            pred,
            label,
            use_data_lengths=pred_lengths is not None,
            use_label_lengths=label_lengths is not None,
            blank_label="last",
            **{name: length for name, length in lengths.items() if length is not None},
        )
        return _apply_weighting(F, loss, self._weight, sample_weight)


class HuberLoss(Loss):
    """Quadratic where the difference is at most rho, linear beyond it."""

    def __init__(self, rho: float = 1, weight: Optional[float] = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._rho = rho

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """Returns the mean of each sample: (batch,). The label takes the shape of `pred`."""
        difference = _difference(F, pred, label)
        if self._rho == 1:
            loss = op(F, "smooth_l1")(difference, scalar=1.0)  # the same numbers, by one operator
        else:
            distance = op(F, "abs")(difference)
            square = op(F, "square")(distance) * (0.5 / self._rho)
            loss = op(F, "where")(distance > self._rho, distance - 0.5 * self._rho, square)
        return self._weighted(F, loss, sample_weight, self._weight)


class HingeLoss(Loss):
    """How far pred * label is below the margin; labels are -1 and 1."""

    def __init__(self, margin: float = 1, weight: Optional[float] = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def _hinge(self, F: Any, pred: Any, label: Any) -> Any:
        return op(F, "relu")(self._margin - pred * _reshape_like(F, label, pred))

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """Returns max(0, margin - pred * label), the mean of each sample: (batch,)."""
        loss = self._hinge(F, pred, label)
        return self._weighted(F, loss, sample_weight, self._weight)


class SquaredHingeLoss(HingeLoss):
    """The square of HingeLoss."""

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """Returns max(0, margin - pred * label)^2, the mean of each sample: (batch,)."""
        loss = op(F, "square")(self._hinge(F, pred, label))
        return self._weighted(F, loss, sample_weight, self._weight)


class LogisticLoss(Loss):
    """log(1 + exp(-pred * label)); labels are -1 and 1 (signed), or 0 and 1 (binary)."""

    def __init__(
        self, weight: Optional[float] = None, batch_axis: int = 0, label_format: str = "signed", **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        if label_format not in ("signed", "binary"):
            raise ValueError(f"given label_format {label_format!r}, expected signed or binary")
        self._label_format = label_format

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """Returns the mean of each sample, (batch,), of scores before the sigmoid and labels."""
        label = _reshape_like(F, label, pred)
        if self._label_format == "signed":
            label = (label + 1.0) / 2.0
        loss = _logistic(F, pred, label)
        return self._weighted(F, loss, sample_weight, self._weight)


class TripletLoss(Loss):
    """How much closer than by the margin `pred` should be to `positive` than to `negative`."""

    def __init__(self, margin: float = 1, weight: Optional[float] = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F: Any, pred: Any, positive: Any, negative: Any, sample_weight: Any = None) -> Any:
        """Returns max(0, sum((positive - pred)^2 - (negative - pred)^2) + margin) of each sample: (batch,)."""
        to_positive = op(F, "square")(_difference(F, pred, positive))
        to_negative = op(F, "square")(_difference(F, pred, negative))
        loss = op(F, "relu")(self._per_sample(F, to_positive - to_negative, "sum") + self._margin)
        return _apply_weighting(F, loss, self._weight, sample_weight)


class PoissonNLLLoss(Loss):
    """The negative logarithm of Poisson's likelihood, with Stirling's formula for what only labels tell
    if `compute_full`. The mean of all elements."""

    def __init__(
        self,
        weight: Optional[float] = None,
        from_logits: bool = True,
        batch_axis: int = 0,
        compute_full: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits = from_logits
        self._compute_full = compute_full

    def hybrid_forward(
        self, F: Any, pred: Any, target: Any, sample_weight: Any = None, epsilon: float = 1e-8
    ) -> Any:
        """Returns the mean of all elements, one number; `epsilon` keeps the logarithm finite without
        `from_logits`.
        """
        target = _reshape_like(F, target, pred)
        if self._from_logits:
            loss = op(F, "exp")(pred) - target * pred
        else:
            loss = pred - target * op(F, "log")(pred + epsilon)
        if self._compute_full:
            stirling = target * op(F, "log")(target) - target + 0.5 * op(F, "log")(2 * target * math.pi)
            # Of targets up to 1 it is worse than nothing, and of 0 not a number.
            loss = loss + op(F, "where")(target > 1, stirling, op(F, "zeros_like")(target))
        loss = _apply_weighting(F, loss, self._weight, sample_weight)
        return op(F, "mean")(loss)


class CosineEmbeddingLoss(Loss):
    """1 - cos of the angle of two vectors for label 1; cos above the margin for label -1."""

    def __init__(self, weight: Optional[float] = None, batch_axis: int = 0, margin: float = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F: Any, input1: Any, input2: Any, label: Any, sample_weight: Any = None) -> Any:
        """Returns the loss of each pair of rows, (batch, 1), from vectors (batch, size) and labels of 1 and -1."""
        input1 = _reshape_like(F, input1, input2)
        label = label.reshape((-1, 1))
        cosine = self._cosine(F, input1, input2)
        below = op(F, "relu")(cosine - self._margin)
        loss = (1 - cosine) * (label == 1) + below * (label == -1)
        return _apply_weighting(F, loss, self._weight, sample_weight)

    @staticmethod
    def _cosine(F: Any, x: Any, y: Any) -> Any:
        def length(z: Any) -> Any:  # by norm: of tiny vectors squares vanish, and the root of 0 has no slope
            return op(F, "norm")(z, axis=-1).reshape((-1, 1))

        dot = op(F, "sum")(x * y, axis=-1).reshape((-1, 1))
        lengths = length(x) * length(y)
        divisor = op(F, "relu")(lengths - _TINY) + _TINY  # at least _TINY, which is nothing in float16
        return dot / (divisor + (divisor == 0))


class SDMLLoss(Loss):
    """Smoothed deep metric learning: row i of x1 belongs to row i of x2, and to no other row of the batch."""

    def __init__(
        self, smoothing_parameter: float = 0.3, weight: float = 1.0, batch_axis: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self.kl_loss = KLDivLoss(from_logits=True)
        self.smoothing_parameter = smoothing_parameter

    @staticmethod
    def _distances(F: Any, x1: Any, x2: Any) -> Any:
        """The squared distance of each row of x1 from each of x2."""
        left = op(F, "expand_dims")(x1, axis=1)
        right = op(F, "expand_dims")(x2, axis=0)
        difference = left - right if is_np_array() else F.broadcast_sub(left, right)
        return op(F, "sum")(op(F, "square")(difference), axis=2)

    def _smoothed_labels(self, F: Any, like: Any) -> Any:
        size = like.shape[0]
        if size < 2:
            raise ValueError(f"given a batch of {size}, expected at least 2: the others are what a row is compared with")
        own = 1 - self.smoothing_parameter
        others = self.smoothing_parameter / (size - 1)
        values = np.full((size, size), others, dtype=np.float32)
        np.fill_diagonal(values, own)
        made = F.array(values, ctx=like.context, dtype=like.dtype)
        return made.as_np_ndarray() if is_np_array() else made

    def hybrid_forward(self, F: Any, x1: Any, x2: Any) -> Any:
        """Returns the loss of each row, (batch,), from two arrays (batch, size).

        Raises ValueError for a batch of one, and NotImplementedError in a graph, which does not know the size of a
        batch.
        """
        if not hasattr(x1, "asnumpy"):
            raise NotImplementedError("SDMLLoss needs the size of the batch, which a graph does not know: do not hybridize it")
        distances = self._distances(F, x1, x2)
        predicted = op(F, "log_softmax")(-distances, axis=1)
        return self.kl_loss(predicted, self._smoothed_labels(F, distances))
