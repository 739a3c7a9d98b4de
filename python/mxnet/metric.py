# SPDX-License-Identifier: Apache-2.0
"""Measures of a model: sums over examples, kept for a part of the data (local) and for all of it (global)."""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy

from . import registry
from .base import numeric_types, string_types  # noqa: F401  (public here)

__all__ = [
    "Accuracy", "Caffe", "CompositeEvalMetric", "CrossEntropy", "CustomMetric", "EvalMetric", "F1", "Loss", "MAE", "MCC",
    "MSE", "NegativeLogLikelihood", "PCC", "PearsonCorrelation", "Perplexity", "RMSE", "TopKAccuracy", "Torch", "alias",
    "check_label_shapes", "create", "np", "register",
]  # fmt: skip


def check_label_shapes(labels: Any, preds: Any, wrap: bool = False, shape: bool = False) -> Tuple[Any, Any]:
    """Raises unless there are as many labels as predictions, or with `shape` if their shapes differ.

    Returns both, with `wrap` as lists.
    """
    given, expected = (labels.shape, preds.shape) if shape else (len(labels), len(preds))
    if given != expected:
        what = "shape" if shape else "number"
        raise ValueError(f"given labels of {what} {given}, expected {expected} as of the predictions")
    if wrap:
        labels = labels if isinstance(labels, (list, tuple)) else [labels]
        preds = preds if isinstance(preds, (list, tuple)) else [preds]
    return labels, preds


def _numbers(array: Any) -> numpy.ndarray:
    return array.asnumpy() if hasattr(array, "asnumpy") else numpy.asarray(array)


class EvalMetric:
    """The base. A subclass defines `update(labels, preds)`, which calls `_add(sum, count)`.

    `output_names` and `label_names` choose what `update_dict` hands on.
    """

    def __init__(
        self, name: str, output_names: Optional[List[str]] = None, label_names: Optional[List[str]] = None, **kwargs: Any
    ) -> None:
        self.name = str(name)
        self.output_names = output_names
        self.label_names = label_names
        self._has_global_stats = kwargs.pop("has_global_stats", False)
        self._kwargs = kwargs
        self.reset()

    def __str__(self) -> str:
        return f"EvalMetric: {dict(self.get_name_value())}"

    def get_config(self) -> Dict[str, Any]:
        """What makes the same metric again: create(**config)."""
        config = self._kwargs.copy()
        config.update(
            metric=type(self).__name__, name=self.name, output_names=self.output_names, label_names=self.label_names
        )
        return config

    def update_dict(self, label: Dict[str, Any], pred: Dict[str, Any]) -> None:
        """Adds labels and predictions given by name."""
        preds = list(pred.values()) if self.output_names is None else [pred[name] for name in self.output_names]
        labels = list(label.values()) if self.label_names is None else [label[name] for name in self.label_names]
        self.update(labels, preds)

    def update(self, labels: Any, preds: Any) -> None:
        """Adds lists of labels and predictions."""
        raise NotImplementedError(f"{type(self).__name__} has no update(labels, preds)")

    def _add(self, total: Any, count: Any) -> None:
        self.sum_metric += total
        self.global_sum_metric += total
        self.num_inst += count
        self.global_num_inst += count

    def reset(self) -> None:
        """Starts anew."""
        self.num_inst: Any = 0
        self.sum_metric: Any = 0.0
        self.global_num_inst: Any = 0
        self.global_sum_metric: Any = 0.0

    def reset_local(self) -> None:
        """Starts the local sums anew."""
        self.num_inst = 0
        self.sum_metric = 0.0

    def _value(self, total: Any, count: Any) -> Any:
        return total / count

    def get(self) -> Tuple[Any, Any]:
        """The name, and the value since the last reset."""
        if self.num_inst == 0:
            return self.name, float("nan")
        return self.name, self._value(self.sum_metric, self.num_inst)

    def get_global(self) -> Tuple[Any, Any]:
        """The name, and the value over all, whatever reset_local has forgotten."""
        if not self._has_global_stats:
            return self.get()
        if self.global_num_inst == 0:
            return self.name, float("nan")
        return self.name, self._value(self.global_sum_metric, self.global_num_inst)

    def get_name_value(self) -> List[Tuple[str, Any]]:
        """What `get` returns as pairs."""
        return _pairs(*self.get())

    def get_global_name_value(self) -> List[Tuple[str, Any]]:
        """What `get_global` returns as pairs."""
        return _pairs(*(self.get_global() if self._has_global_stats else self.get()))


def _pairs(name: Any, value: Any) -> List[Tuple[str, Any]]:
    return list(zip(name if isinstance(name, list) else [name], value if isinstance(value, list) else [value]))


register = registry.get_register_func(EvalMetric, "metric")
alias = registry.get_alias_func(EvalMetric, "metric")
_create = registry.get_create_func(EvalMetric, "metric")


def create(metric: Any, *args: Any, **kwargs: Any) -> EvalMetric:
    """A metric by name, of a function of label and prediction, of a list of these, or the given one itself."""
    if callable(metric) and not isinstance(metric, EvalMetric):
        return CustomMetric(metric, *args, **kwargs)
    if isinstance(metric, list):
        made = CompositeEvalMetric()
        for one in metric:
            made.add(create(one, *args, **kwargs))
        return made
    return _create(metric, *args, **kwargs)


@register
@alias("composite")
class CompositeEvalMetric(EvalMetric):
    """Several metrics as one, of the same labels and predictions."""

    def __init__(self, metrics: Any = None, name: str = "composite", output_names: Any = None, label_names: Any = None) -> None:
        self.metrics = [create(metric) for metric in metrics or []]
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def add(self, metric: Any) -> None:
        """One more metric."""
        self.metrics.append(create(metric))

    def get_metric(self, index: int) -> Any:
        """The metric of that number."""
        if not -len(self.metrics) <= index < len(self.metrics):
            raise ValueError(f"given metric {index}, expected one of {len(self.metrics)}")
        return self.metrics[index]

    def update_dict(self, labels: Dict[str, Any], preds: Dict[str, Any]) -> None:  # pylint: disable=arguments-renamed
        if self.label_names is not None:
            labels = OrderedDict(item for item in labels.items() if item[0] in self.label_names)
        if self.output_names is not None:
            preds = OrderedDict(item for item in preds.items() if item[0] in self.output_names)
        for metric in self.metrics:
            metric.update_dict(labels, preds)

    def update(self, labels: Any, preds: Any) -> None:
        for metric in self.metrics:
            metric.update(labels, preds)

    def reset(self) -> None:
        for metric in self.metrics:
            metric.reset()

    def reset_local(self) -> None:
        for metric in self.metrics:
            metric.reset_local()

    def _gather(self, found: Any) -> Tuple[List[str], List[Any]]:
        pairs = [pair for name, value in found for pair in _pairs(name, value)]
        return [name for name, _ in pairs], [value for _, value in pairs]

    def get(self) -> Tuple[List[str], List[Any]]:
        return self._gather(metric.get() for metric in self.metrics)

    def get_global(self) -> Tuple[List[str], List[Any]]:
        return self._gather(metric.get_global() for metric in self.metrics)

    def get_config(self) -> Dict[str, Any]:
        config = super().get_config()
        config["metrics"] = [metric.get_config() for metric in self.metrics]
        return config


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
            label, pred = _numbers(label).astype("int32").ravel(), _numbers(pred).astype("int32").ravel()
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
            label = _numbers(label).astype("int32").ravel()
            scores = _numbers(pred).astype("float32")
            check_label_shapes(label, scores)
            if scores.ndim == 1:
                best = numpy.argsort(scores)[:, None]
            else:
                count = min(scores.shape[1], self.top_k)
                best = numpy.argpartition(scores, -count)[:, -count:] if count < scores.shape[1] else None
            hits = (best == label[:, None]).any(axis=1) if best is not None else label < scores.shape[1]
            self._add(int(hits.sum()), len(label))


class _BinaryCounts:
    """True and false positives and negatives of two classes, and what follows from them."""

    def __init__(self) -> None:
        self.counts = numpy.zeros((2, 2), "int64")  # [label, prediction]

    def update(self, label: Any, pred: Any) -> numpy.ndarray:
        """Adds labels and scores; the counts of these alone."""
        label, scores = _numbers(label).astype("int32").ravel(), _numbers(pred)
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

    def __init__(self, name: str, output_names: Any, label_names: Any, average: str) -> None:
        if average not in ("macro", "micro"):
            raise ValueError(f"given average {average!r}, expected 'macro' or 'micro'")
        self.average = average
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def get_config(self) -> Dict[str, Any]:
        return {**super().get_config(), "average": self.average}

    def _score(self, counts: _BinaryCounts) -> float:
        raise NotImplementedError

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
    label, pred = _numbers(label).ravel(), _numbers(pred)
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
            picked = scores.reshape((-1, scores.shape[-1])).pick(label.astype(dtype="int32"), axis=-1)
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
    from . import ndarray as nd

    return float(nd.sum(nd.log(nd.maximum(1e-10, array.as_nd_ndarray()))).asscalar())


class _Regression(EvalMetric):
    """The mean over batches of a mean over elements."""

    def _error(self, difference: numpy.ndarray) -> float:
        raise NotImplementedError

    def update(self, labels: Any, preds: Any) -> None:
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            label, pred = _numbers(label), _numbers(pred)
            label = label.reshape(-1, 1) if label.ndim == 1 else label
            pred = pred.reshape(-1, 1) if pred.ndim == 1 else pred
            self._add(float(self._error(label - pred)), 1)


@register
class MAE(_Regression):
    """The mean of |label - prediction|."""

    def __init__(self, name: str = "mae", output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def _error(self, difference: numpy.ndarray) -> float:
        return numpy.abs(difference).mean()


@register
class MSE(_Regression):
    """The mean of (label - prediction)^2."""

    def __init__(self, name: str = "mse", output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def _error(self, difference: numpy.ndarray) -> float:
        return (difference**2.0).mean()


@register
class RMSE(_Regression):
    """The root of the mean of (label - prediction)^2."""

    def __init__(self, name: str = "rmse", output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def _error(self, difference: numpy.ndarray) -> float:
        return numpy.sqrt((difference**2.0).mean())


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
        means = values.mean(axis=1)
        inner = values - means[:, None]
        apart = means - self.means
        total = self.count + count
        self.products += inner @ inner.T + numpy.outer(apart, apart) * (self.count * count / total)
        self.means += apart * (count / total)
        self.count = total

    def correlation(self) -> float:
        """Pearson's."""
        return self.products[0, 1] / math.sqrt(self.products[0, 0] * self.products[1, 1])


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
        return {**super().get_config(), "average": self.average}

    def reset(self) -> None:
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
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            check_label_shapes(label, pred, False, True)
            label, pred = _numbers(label), _numbers(pred)
            if self.average == "macro":
                self._add(float(numpy.corrcoef(pred.ravel(), label.ravel())[0, 1]), 1)
            else:
                self.update_cov(label, pred)
                self.num_inst = self.global_num_inst = 1
                self.sum_metric = self.global_sum_metric = self._moments.correlation()


@register
class PCC(EvalMetric):
    """The correlation of labels and predictions of any number of classes, from their confusion matrix."""

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
        return (matrix.trace() * total - numpy.sum(across * down)) / product**0.5

    def update(self, labels: Any, preds: Any) -> None:
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            label = _numbers(label).astype("int32", copy=False)
            pred = _numbers(pred)
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


@register
class Loss(EvalMetric):
    """The mean of the predictions: of outputs that are losses."""

    def __init__(self, name: str = "loss", output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def update(self, _: Any, preds: Any) -> None:
        for pred in preds if isinstance(preds, (list, tuple)) else [preds]:
            self._add(float(pred.sum().asscalar()), pred.size)


@register
class Torch(Loss):
    """Is Loss; for criterions that came from Torch."""

    def __init__(self, name: str = "torch", output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names, label_names)


@register
class Caffe(Loss):
    """Is Loss; for criterions that came from Caffe."""

    def __init__(self, name: str = "caffe", output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names, label_names)


@register
class CustomMetric(EvalMetric):
    """A function of label and prediction as NumPy arrays, which returns a value or (sum, count)."""

    def __init__(
        self,
        feval: Callable[..., Any],
        name: Optional[str] = None,
        allow_extra_outputs: bool = False,
        output_names: Any = None,
        label_names: Any = None,
    ) -> None:
        if name is None:
            name = feval.__name__
            if "<" in name:
                name = f"custom({name})"
        super().__init__(
            name, output_names, label_names, feval=feval, allow_extra_outputs=allow_extra_outputs, has_global_stats=True
        )
        self._feval = feval
        self._allow_extra_outputs = allow_extra_outputs

    def get_config(self) -> Dict[str, Any]:
        raise NotImplementedError("a function cannot be saved, and a CustomMetric has one")

    def update(self, labels: Any, preds: Any) -> None:
        if not self._allow_extra_outputs:
            labels, preds = check_label_shapes(labels, preds, True)
        for pred, label in zip(preds, labels):
            value = self._feval(_numbers(label), _numbers(pred))
            self._add(*(value if isinstance(value, tuple) else (value, 1)))


def np(numpy_feval: Callable[..., Any], name: Optional[str] = None, allow_extra_outputs: bool = False) -> CustomMetric:
    """A metric of a function of label and prediction as NumPy arrays."""

    def feval(label: numpy.ndarray, pred: numpy.ndarray) -> Any:
        return numpy_feval(label, pred)

    feval.__name__ = numpy_feval.__name__
    return CustomMetric(feval, name, allow_extra_outputs)
