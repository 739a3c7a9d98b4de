# SPDX-License-Identifier: Apache-2.0
"""Metrics of classes and of their probabilities."""

from __future__ import annotations

import math
from typing import Any, Dict, Optional, Tuple

import numpy

from ..ndarray import NDArray, array
from ._base import EvalMetric, alias, check_label_shapes, numbers, of_numbers, register, summable

@register
@alias("acc")
class Accuracy(EvalMetric):
    """The part of the labels that is predicted. Scores, with one dimension more, are reduced along `axis`."""

    def __init__(self, axis: int = 1, name: str = "accuracy", output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names, label_names, axis=axis, has_global_stats=True)
        self.axis = axis

    def update(self, labels: Any, preds: Any) -> None:
        """Adds class numbers (N, ...) and predictions, either class numbers too or scores that have one axis
        more.
        """
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
        """What makes the same metric again, under the name without the number."""
        config = super().get_config()
        config["name"] = self.name[: -len(f"_{self.top_k}")]  # the constructor appends it
        return config

    def update(self, labels: Any, preds: Any) -> None:
        """Adds class numbers (N) and scores (N, classes). Raises ValueError for scores of more than two
        dimensions.
        """
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            if len(pred.shape) > 2:
                raise ValueError(f"given scores of shape {pred.shape}, expected at most 2 dimensions")
            label = numbers(label).astype("int32").ravel()
            check_label_shapes(label, pred)
            if len(pred.shape) == 1:
                hits = numpy.argsort(numbers(pred).astype("float32")) == label
            else:
                hits = (label >= 0) & (label < pred.shape[1])
                if self.top_k < pred.shape[1]:
                    hits &= _are_among_best(pred, label, self.top_k)
            self._add(int(hits.sum()), len(label))


_FEW_SCORES = 1024


def _are_among_best(pred: Any, label: numpy.ndarray, count: int) -> numpy.ndarray:
    """Whether each row's label is among its `count` best scores: counted on the device are those above and below the
    label's own. What that leaves open, as scores are equal or NaN, is decided by NumPy's order, as in 1.9.1, and so
    are few scores, of which that is the faster way.
    """
    if pred.size < _FEW_SCORES:
        return _ordered_best(numbers(pred).astype("float32"), label, count)
    scores = array(pred, dtype="float32") if not isinstance(pred, NDArray) else pred.as_nd_ndarray().astype("float32", copy=False)
    own = scores.pick(array(label, ctx=scores.context, dtype="int32"), axis=1, keepdims=True)
    above, below = (numbers(compared.sum(axis=1)) for compared in (scores > own, scores < own))
    among = scores.shape[1] - below <= count
    open_rows = numpy.flatnonzero(~among & (above < count))
    if len(open_rows):
        among[open_rows] = _ordered_best(numbers(scores)[open_rows], label[open_rows], count)
    return among


def _ordered_best(scores: numpy.ndarray, label: numpy.ndarray, count: int) -> numpy.ndarray:
    return (numpy.argpartition(scores, -count)[:, -count:] == label[:, None]).any(axis=1)


def _counted(kept: str, label: int, prediction: int) -> Any:
    return property(lambda self: int(getattr(self, kept)[label, prediction]))


def _ratio(kept: str, part: Tuple[int, int], other: Tuple[int, int]) -> Any:
    """The share of one count in two, 0 where both are."""

    def share(self: Any) -> float:
        counts = getattr(self, kept).tolist()
        hits, others = counts[part[0]][part[1]], counts[other[0]][other[1]]
        return hits / (hits + others) if hits + others else 0.0

    return property(share)


def _fscore(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


class _BinaryClassificationMetrics:
    """True and false positives and negatives of two classes, and what follows from them.

    Metrics of programs use it too, and read the counts of `F1().metrics` by these names.
    """

    true_negatives, false_positives = _counted("_local", 0, 0), _counted("_local", 0, 1)
    false_negatives, true_positives = _counted("_local", 1, 0), _counted("_local", 1, 1)
    global_true_negatives, global_false_positives = _counted("_all", 0, 0), _counted("_all", 0, 1)
    global_false_negatives, global_true_positives = _counted("_all", 1, 0), _counted("_all", 1, 1)
    precision, recall = _ratio("_local", (1, 1), (0, 1)), _ratio("_local", (1, 1), (1, 0))
    global_precision, global_recall = _ratio("_all", (1, 1), (0, 1)), _ratio("_all", (1, 1), (1, 0))
    fscore = property(lambda self: _fscore(self.precision, self.recall))
    global_fscore = property(lambda self: _fscore(self.global_precision, self.global_recall))
    total_examples = property(lambda self: int(self._local.sum()))
    global_total_examples = property(lambda self: int(self._all.sum()))

    def __init__(self) -> None:
        self.reset_stats()

    def update_binary_stats(self, label: Any, pred: Any) -> None:
        """Adds labels and scores of the two classes."""
        label, scores = numbers(label).astype("int32").ravel(), numbers(pred)
        chosen = numpy.argmax(scores, axis=1)
        check_label_shapes(label, scores)
        classes = numpy.unique(label)
        if len(classes) > 2:
            raise ValueError(f"given labels {classes}, expected two classes: 1, and another for what is not")
        found = numpy.bincount((label == 1) * 2 + (chosen == 1), minlength=4).reshape(2, 2)
        self._local += found
        self._all += found

    def matthewscc(self, use_global: bool = False) -> float:
        """Matthews' correlation of labels and predictions."""
        counts = self._all if use_global else self._local
        if not counts.sum():
            return 0.0
        (tn, fp), (fn, tp) = (map(float, row) for row in counts.tolist())
        product = 1.0
        for term in (tp + fp, tp + fn, tn + fp, tn + fn):
            product *= term if term else 1.0
        return (tp * tn - fp * fn) / math.sqrt(product)

    def local_reset_stats(self) -> None:
        """Counts from zero, except what the global values rest on."""
        self._local = numpy.zeros((2, 2), "int64")  # [label, prediction]

    def reset_stats(self) -> None:
        """Counts from zero."""
        self.local_reset_stats()
        self._all = numpy.zeros((2, 2), "int64")


class _BinaryMetric(EvalMetric):
    """"macro": the mean of the batches' values; "micro": the value of all examples together."""

    def __init__(self, name: str, output_names: Any, label_names: Any, average: str) -> None:
        if average not in ("macro", "micro"):
            raise ValueError(f"given average {average!r}, expected 'macro' or 'micro'")
        self.average = average
        self.metrics = _BinaryClassificationMetrics()
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def get_config(self) -> Dict[str, Any]:
        """What makes the same metric again."""
        return {**super().get_config(), "average": self.average}

    def _score(self, use_global: bool = False) -> float:
        raise NotImplementedError(f"{type(self).__name__} has no _score(use_global)")

    def update(self, labels: Any, preds: Any) -> None:
        """Adds labels (N), 1 for positive, and scores (N, 2). Raises ValueError for labels of more than two
        classes.
        """
        labels, preds = check_label_shapes(labels, preds, True)
        counts = self.metrics
        for label, pred in zip(labels, preds):
            counts.update_binary_stats(label, pred)
        if self.average == "macro":
            self._add(self._score(), 1)
            counts.reset_stats()  # the global mean is one of batches too
        else:
            self.sum_metric = self._score() * counts.total_examples
            self.num_inst = counts.total_examples
            self.global_sum_metric = self._score(True) * counts.global_total_examples
            self.global_num_inst = counts.global_total_examples

    def reset(self) -> None:
        """Forgets all that was added, and the counts."""
        super().reset()
        self.metrics.reset_stats()

    def reset_local(self) -> None:
        """Forgets what `get` returns, and its counts."""
        super().reset_local()
        self.metrics.local_reset_stats()


@register
class F1(_BinaryMetric):
    """The F1 score of two classes: the harmonic mean of precision and recall."""

    def __init__(self, name: str = "f1", output_names: Any = None, label_names: Any = None, average: str = "macro") -> None:
        super().__init__(name, output_names, label_names, average)

    def _score(self, use_global: bool = False) -> float:
        return self.metrics.global_fscore if use_global else self.metrics.fscore


@register
class MCC(_BinaryMetric):
    """Matthews' correlation of two classes: 1 for all right, 0 for chance, -1 for all wrong."""

    def __init__(self, name: str = "mcc", output_names: Any = None, label_names: Any = None, average: str = "macro") -> None:
        super().__init__(name, output_names, label_names, average)

    def _score(self, use_global: bool = False) -> float:
        return self.metrics.matthewscc(use_global)


def _probabilities(label: numpy.ndarray, pred: numpy.ndarray) -> numpy.ndarray:
    """What the prediction gives to each label."""
    label = label.ravel()
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
        """What makes the same metric again."""
        return {**super().get_config(), "axis": self.axis}

    def update(self, labels: Any, preds: Any) -> None:
        """Adds class numbers and probabilities, which have the classes along `axis`."""
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
        """Adds class numbers (N) and probabilities (N, classes)."""
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            found = of_numbers(_probabilities, label, pred)
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
        """Adds class numbers (N) and predictions, either class numbers too or scores (N, classes); further
        classes may appear.
        """
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            label = numbers(label).astype("int32", copy=False)
            pred = numbers(pred)
            if pred.shape != label.shape:
                pred = pred.argmax(axis=1)
            pred = pred.astype("int32", copy=False).ravel()
            label = label.ravel()
            check_label_shapes(label, pred)
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
        """Forgets all that was added."""
        self.global_num_inst = 0.0
        self.gcm = numpy.zeros((self.k, self.k))
        self.reset_local()

    def reset_local(self) -> None:
        """Forgets what `get` returns."""
        self.num_inst = 0.0
        self.lcm = numpy.zeros((self.k, self.k))
