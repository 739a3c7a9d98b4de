# SPDX-License-Identifier: Apache-2.0
"""Metrics of classes and of their probabilities."""

from __future__ import annotations

import math
from typing import Any, Dict, Optional

import numpy

from ._base import EvalMetric, alias, check_label_shapes, numbers, register, summable

@register
@alias("acc")
class Accuracy(EvalMetric):
    """The part of the labels that is predicted. Scores, with one dimension more, are reduced along `axis`."""

    def __init__(self, axis: int = 1, name: str = "accuracy", output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names, label_names, axis=axis, has_global_stats=True)
        self.axis = axis

    def update(self, labels: Any, preds: Any) -> None:
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            if pred.shape != label.shape:
                pred = pred.argmax(axis=self.axis)  # on the device: the scores stay there
            label, pred = numbers(label).astype("int32").ravel(), numbers(pred).astype("int32").ravel()
            check_label_shapes(label, pred)
            self._add(int((pred == label).sum()), len(pred))


@register
@alias("top_k_accuracy", "top_k_acc")
class TopKAccuracy(EvalMetric):
    """The part of the labels that is among the `top_k` best scores."""

    def __init__(
        self, top_k: int = 1, name: str = "top_k_accuracy", output_names: Any = None, label_names: Any = None
    ) -> None:
        if top_k <= 1:
            raise ValueError(f"given top_k {top_k}, expected at least 2; Accuracy is for 1")
        super().__init__(f"{name}_{top_k}", output_names, label_names, top_k=top_k, has_global_stats=True)
        self._kwargs["top_k"] = top_k
        self.top_k = top_k

    def get_config(self) -> Dict[str, Any]:
        config = super().get_config()
        config["name"] = self.name[: -len(f"_{self.top_k}")]  # the constructor appends it
        return config

    def update(self, labels: Any, preds: Any) -> None:
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            if len(pred.shape) > 2:
                raise ValueError(f"given scores of shape {pred.shape}, expected at most 2 dimensions")
            label = numbers(label).astype("int32").ravel()
            scores = numbers(pred).astype("float32")
            check_label_shapes(label, scores)
            best: Optional[numpy.ndarray]
            if scores.ndim == 1:
                best = numpy.argsort(scores)[:, None]
            else:
                count = min(scores.shape[1], self.top_k)
                best = numpy.argpartition(scores, -count)[:, -count:] if count < scores.shape[1] else None
            in_range = (label >= 0) & (label < scores.shape[-1])
            hits = (best == label[:, None]).any(axis=1) if best is not None else in_range
            self._add(int(hits.sum()), len(label))


class _BinaryCounts:
    """True and false positives and negatives of two classes, and what follows from them."""

    def __init__(self) -> None:
        self.counts = numpy.zeros((2, 2), "int64")  # [label, prediction]

    def update(self, label: Any, pred: Any) -> numpy.ndarray:
        """Adds labels and scores; the counts of these alone."""
        label, scores = numbers(label).astype("int32").ravel(), numbers(pred)
        chosen = numpy.argmax(scores, axis=1)
        check_label_shapes(label, scores)
        classes = numpy.unique(label)
        if len(classes) > 2:
            raise ValueError(f"given labels {classes}, expected two classes: 1, and another for what is not")
        found = numpy.bincount((label == 1) * 2 + (chosen == 1), minlength=4).reshape(2, 2)
        self.counts += found
        return found

    @property
    def total(self) -> int:
        """The number of examples."""
        return int(self.counts.sum())

    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        (_, wrong), (missed, right) = self.counts.tolist()
        precision = right / (right + wrong) if right + wrong else 0.0
        recall = right / (right + missed) if right + missed else 0.0
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0

    def matthews(self) -> float:
        """Matthews' correlation of labels and predictions."""
        if not self.total:
            return 0.0
        (tn, fp), (fn, tp) = (map(float, row) for row in self.counts.tolist())
        product = 1.0
        for term in (tp + fp, tp + fn, tn + fp, tn + fn):
            product *= term if term else 1.0
        return (tp * tn - fp * fn) / math.sqrt(product)


class _BinaryMetric(EvalMetric):
    """"macro": the mean of the batches' values; "micro": the value of all examples together."""

    _local: _BinaryCounts
    _all: _BinaryCounts

    def __init__(self, name: str, output_names: Any, label_names: Any, average: str) -> None:
        if average not in ("macro", "micro"):
            raise ValueError(f"given average {average!r}, expected 'macro' or 'micro'")
        self.average = average
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def get_config(self) -> Dict[str, Any]:
        return {**super().get_config(), "average": self.average}

    def _score(self, counts: _BinaryCounts) -> float:
        raise NotImplementedError(f"{type(self).__name__} has no _score(counts)")

    def update(self, labels: Any, preds: Any) -> None:
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            self._all.counts += self._local.update(label, pred)
        if self.average == "macro":
            # The global mean is one of batches too: the local counts are of this batch alone.
            self._add(self._score(self._local), 1)
            self._local, self._all = _BinaryCounts(), _BinaryCounts()
        else:
            self.sum_metric = self._score(self._local) * self._local.total
            self.num_inst = self._local.total
            self.global_sum_metric = self._score(self._all) * self._all.total
            self.global_num_inst = self._all.total

    def reset(self) -> None:
        super().reset()
        self._local, self._all = _BinaryCounts(), _BinaryCounts()

    def reset_local(self) -> None:
        super().reset_local()
        self._local = _BinaryCounts()


@register
class F1(_BinaryMetric):
    """The F1 score of two classes: the harmonic mean of precision and recall."""

    def __init__(self, name: str = "f1", output_names: Any = None, label_names: Any = None, average: str = "macro") -> None:
        super().__init__(name, output_names, label_names, average)

    def _score(self, counts: _BinaryCounts) -> float:
        return counts.f1()


@register
class MCC(_BinaryMetric):
    """Matthews' correlation of two classes: 1 for all right, 0 for chance, -1 for all wrong."""

    def __init__(self, name: str = "mcc", output_names: Any = None, label_names: Any = None, average: str = "macro") -> None:
        super().__init__(name, output_names, label_names, average)

    def _score(self, counts: _BinaryCounts) -> float:
        return counts.matthews()


def _probabilities(label: Any, pred: Any) -> numpy.ndarray:
    """What the prediction gives to each label."""
    label, pred = numbers(label).ravel(), numbers(pred)
    if label.shape[0] != pred.shape[0]:
        raise ValueError(f"given {label.shape[0]} labels, expected {pred.shape[0]} as of the predictions")
    return pred[numpy.arange(label.shape[0]), label.astype("int64")]


@register
class Perplexity(EvalMetric):
    """The exponential of the mean of -log(probability of the label). Labels of `ignore_label` do not count."""

    def __init__(
        self, ignore_label: Optional[int], axis: int = -1, name: str = "perplexity", output_names: Any = None, label_names: Any = None
    ) -> None:
        super().__init__(name, output_names, label_names, ignore_label=ignore_label, has_global_stats=True)
        self.ignore_label = ignore_label
        self.axis = axis

    def get_config(self) -> Dict[str, Any]:
        return {**super().get_config(), "axis": self.axis}

    def update(self, labels: Any, preds: Any) -> None:
        labels, preds = check_label_shapes(labels, preds)
        loss, count = 0.0, 0
        for label, pred in zip(labels, preds):
            if label.size * pred.shape[self.axis] != pred.size:
                raise ValueError(f"given labels of shape {label.shape}, expected one for each prediction of {pred.shape}")
            label = label.as_in_context(pred.context).reshape((label.size,))
            scores = pred if self.axis in (-1, pred.ndim - 1) else pred.swapaxes(self.axis, pred.ndim - 1)
            picked = summable(scores.reshape((-1, scores.shape[-1])).pick(label.astype(dtype="int32"), axis=-1))
            if self.ignore_label is not None:
                ignored = (label == self.ignore_label).astype(picked.dtype)
                count -= int(ignored.sum().asscalar())
                picked = picked * (1 - ignored) + ignored
            loss -= float(picked.maximum(1e-10).log().sum().asscalar()) if hasattr(picked, "maximum") else _log_sum(picked)
            count += picked.size
        self._add(loss, count)

    def _value(self, total: Any, count: Any) -> float:
        return math.exp(total / count)


def _log_sum(array: Any) -> float:
    from .. import ndarray as nd

    return float(nd.sum(nd.log(nd.maximum(1e-10, array.as_nd_ndarray()))).asscalar())


class _LogLikelihood(EvalMetric):
    def __init__(self, eps: float, name: str, output_names: Any, label_names: Any) -> None:
        super().__init__(name, output_names, label_names, eps=eps, has_global_stats=True)
        self.eps = eps

    def update(self, labels: Any, preds: Any) -> None:
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            found = _probabilities(label, pred)
            self._add(float((-numpy.log(found + self.eps)).sum()), found.shape[0])


@register
@alias("ce")
class CrossEntropy(_LogLikelihood):
    """The mean of -log(probability of the label + eps)."""

    def __init__(self, eps: float = 1e-12, name: str = "cross-entropy", output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(eps, name, output_names, label_names)


@register
@alias("nll_loss")
class NegativeLogLikelihood(_LogLikelihood):
    """The same as CrossEntropy, under another name."""

    def __init__(self, eps: float = 1e-12, name: str = "nll-loss", output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(eps, name, output_names, label_names)


@register
class PCC(EvalMetric):
    """The correlation of labels and predictions of any number of classes, from their confusion matrix."""

    lcm: Any
    gcm: Any

    def __init__(
        self, name: str = "pcc", output_names: Any = None, label_names: Any = None, has_global_stats: bool = True
    ) -> None:
        self.k = 2
        super().__init__(name, output_names, label_names, has_global_stats=has_global_stats)

    def _grow(self, more: int) -> None:
        self.lcm = numpy.pad(self.lcm, ((0, more), (0, more)), "constant")
        self.gcm = numpy.pad(self.gcm, ((0, more), (0, more)), "constant")
        self.k += more

    @staticmethod
    def _correlation(matrix: numpy.ndarray) -> float:
        total = matrix.sum()
        across, down = matrix.sum(axis=1), matrix.sum(axis=0)
        product = numpy.sum(across * (total - across)) * numpy.sum(down * (total - down))
        if product == 0:
            return float("nan")
        return float((matrix.trace() * total - numpy.sum(across * down)) / product**0.5)

    def update(self, labels: Any, preds: Any) -> None:
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            label = numbers(label).astype("int32", copy=False)
            pred = numbers(pred)
            if pred.shape != label.shape:
                pred = pred.argmax(axis=1)
            pred = pred.astype("int32", copy=False).ravel()
            label = label.ravel()
            classes = int(max(pred.max(), label.max())) + 1
            if classes > self.k:
                self._grow(classes - self.k)
            found = numpy.zeros((self.k, self.k))
            numpy.add.at(found, (pred, label), 1)
            self.lcm += found
            self.gcm += found
        self.num_inst += 1
        self.global_num_inst += 1

    @property
    def sum_metric(self) -> Any:  # type: ignore[override]
        """The local value times the number of batches, so that get() divides it back."""
        return self._correlation(self.lcm) * self.num_inst

    @property
    def global_sum_metric(self) -> Any:  # type: ignore[override]
        """The global value times the number of batches."""
        return self._correlation(self.gcm) * self.global_num_inst

    def reset(self) -> None:
        self.global_num_inst = 0.0
        self.gcm = numpy.zeros((self.k, self.k))
        self.reset_local()

    def reset_local(self) -> None:
        self.num_inst = 0.0
        self.lcm = numpy.zeros((self.k, self.k))
