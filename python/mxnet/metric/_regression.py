# SPDX-License-Identifier: Apache-2.0
"""Metrics of numbers: errors and correlation."""

from __future__ import annotations

import math
from typing import Any, Dict, Tuple

import numpy

from ._base import EvalMetric, alias, check_label_shapes, numbers, of_numbers, register


class _Regression(EvalMetric):
    """The mean over batches of a mean over elements."""

    def _error(self, difference: numpy.ndarray) -> float:
        """The mean of an array that it may use for what it computes."""
        raise NotImplementedError(f"{type(self).__name__} has no _error(difference)")

    def update(self, labels: Any, preds: Any) -> None:
        """Adds labels and predictions of one shape, or which broadcast: the value is a mean over batches."""
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            self._add(of_numbers(self._mean_error, label, pred), 1)

    def _mean_error(self, label: numpy.ndarray, pred: numpy.ndarray) -> float:
        label = label.reshape(-1, 1) if label.ndim == 1 else label
        pred = pred.reshape(-1, 1) if pred.ndim == 1 else pred
        return float(self._error(numpy.asarray(label - pred)))  # of arrays without dimensions it is a number


def _squares(difference: numpy.ndarray) -> numpy.ndarray:
    return numpy.square(difference, out=difference) if difference.dtype.kind == "f" else difference**2.0


@register
class MAE(_Regression):
    """The mean of |label - prediction|."""

    def __init__(self, name: str = "mae", output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def _error(self, difference: numpy.ndarray) -> float:
        return numpy.abs(difference, out=difference).mean()


@register
class MSE(_Regression):
    """The mean of (label - prediction)^2."""

    def __init__(self, name: str = "mse", output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def _error(self, difference: numpy.ndarray) -> float:
        return _squares(difference).mean()


@register
class RMSE(_Regression):
    """The root of the mean of (label - prediction)^2."""

    def __init__(self, name: str = "rmse", output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def _error(self, difference: numpy.ndarray) -> float:
        return numpy.sqrt(_squares(difference).mean())


class _Moments:
    """Counts, means and sums of products of pairs that come in batches."""

    def __init__(self) -> None:
        self.count = 0
        self.means = numpy.zeros(2)
        self.products = numpy.zeros((2, 2))

    def update(self, label: numpy.ndarray, pred: numpy.ndarray) -> None:
        """Adds a batch (Chan's update, exact for any split into batches)."""
        values = numpy.stack([label.ravel(), pred.ravel()]).astype("float64")
        count = values.shape[1]
        if count == 0:
            return  # nothing has no mean
        means = values.mean(axis=1)
        inner = values - means[:, None]
        apart = means - self.means
        total = self.count + count
        self.products += inner @ inner.T + numpy.outer(apart, apart) * (self.count * count / total)
        self.means += apart * (count / total)
        self.count = total

    def correlation(self) -> float:
        """Pearson's; NaN of numbers that are all the same, and of none."""
        with numpy.errstate(invalid="ignore"):
            return float(self.products[0, 1] / math.sqrt(self.products[0, 0] * self.products[1, 1]))


@register
@alias("pearsonr")
class PearsonCorrelation(EvalMetric):
    """Pearson's correlation: the mean of the batches' values ("macro") or of all elements together ("micro")."""

    def __init__(self, name: str = "pearsonr", output_names: Any = None, label_names: Any = None, average: str = "macro") -> None:
        if average not in ("macro", "micro"):
            raise ValueError(f"given average {average!r}, expected 'macro' or 'micro'")
        self.average = average
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def get_config(self) -> Dict[str, Any]:
        """What makes the same metric again."""
        return {**super().get_config(), "average": self.average}

    def reset(self) -> None:
        """Forgets all that was added."""
        super().reset()
        self.reset_micro()

    def reset_micro(self) -> None:
        """Forgets what "micro" has gathered."""
        self._moments = _Moments()

    def update_variance(self, new_values: Any, *aggregate: Any) -> Tuple[float, float, float]:
        """Count, mean and sum of squared distances from it, with more values: for programs that call it."""
        count, mean, squares = aggregate
        values = numpy.asarray(new_values, "float64").ravel()
        total = count + values.size
        apart = values - mean
        new_mean = mean + apart.sum() / total
        return total, new_mean, squares + (apart * (values - new_mean)).sum()

    def update_cov(self, label: Any, pred: Any) -> None:
        """Adds a batch to what "micro" has gathered."""
        self._moments.update(numpy.asarray(label), numpy.asarray(pred))

    def update(self, labels: Any, preds: Any) -> None:
        """Adds labels and predictions of one shape. Raises ValueError where the shapes differ."""
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            check_label_shapes(label, pred, False, True)
            label, pred = numbers(label), numbers(pred)
            if self.average == "macro":
                self._add(float(numpy.corrcoef(pred.ravel(), label.ravel())[0, 1]), 1)
            else:
                self.update_cov(label, pred)
                self.num_inst = self.global_num_inst = 1
                self.sum_metric = self.global_sum_metric = self._moments.correlation()
