# SPDX-License-Identifier: Apache-2.0
"""The base of metrics, several of them as one, and how they are made by name."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy

from .. import _views, registry
from ..ndarray import NDArray
from ..ndarray._dtypes import is_half

__all__ = ["CompositeEvalMetric", "EvalMetric", "alias", "check_label_shapes", "create", "register"]


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


def numbers(array: Any) -> numpy.ndarray:
    """Labels or predictions as a NumPy array."""
    return array._values() if isinstance(array, NDArray) else array.asnumpy() if hasattr(array, "asnumpy") else numpy.asarray(array)


def of_numbers(function: Callable[..., Any], *arrays: Any) -> Any:
    """What a function gives of the `numbers` of arrays, which it only reads: a copy takes about as long as a metric."""
    if _views.may_share(arrays):
        views = _views.ViewsOfOneCall()
        made = function(*(numbers(views.show(array)) for array in arrays))
        if views.unchanged():
            return made
    return function(*map(numbers, arrays))


def summable(array: Any) -> Any:
    """Predictions in a type that holds their sum: 16 bits round it, and end at 65504."""
    return array.astype("float32") if is_half(array.dtype) else array


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
        # A program's own metric may sum NumPy's numbers, which print as calls in a dict.
        values = {name: value.item() if isinstance(value, numpy.generic) else value for name, value in self.get_name_value()}
        return f"EvalMetric: {values}"

    def get_config(self) -> Dict[str, Any]:
        """What makes the same metric again: create(**config)."""
        config = self._kwargs.copy()
        config.update(
            metric=type(self).__name__, name=self.name, output_names=self.output_names, label_names=self.label_names
        )
        return config

    def update_dict(self, label: Dict[str, Any], pred: Dict[str, Any]) -> None:
        """Calls `update` with labels and predictions given by name: those of `label_names` and `output_names`, else all
        in order.

        Raises KeyError where one of these names is missing.
        """
        preds = list(pred.values()) if self.output_names is None else [pred[name] for name in self.output_names]
        labels = list(label.values()) if self.label_names is None else [label[name] for name in self.label_names]
        self.update(labels, preds)

    def update(self, labels: Any, preds: Any) -> None:
        """Adds a batch: lists of labels and of predictions, arrays of the library or of NumPy; a subclass defines
        it.
        """
        raise NotImplementedError(f"{type(self).__name__} has no update(labels, preds)")

    def _add(self, total: Any, count: Any) -> None:
        self.sum_metric += total
        self.global_sum_metric += total
        self.num_inst += count
        self.global_num_inst += count

    def reset(self) -> None:
        """Forgets all that was added."""
        self.num_inst: Any = 0
        self.sum_metric: Any = 0.0
        self.global_num_inst: Any = 0
        self.global_sum_metric: Any = 0.0

    def reset_local(self) -> None:
        """Forgets what `get` returns, and keeps what `get_global` returns."""
        self.num_inst = 0
        self.sum_metric = 0.0

    def _value(self, total: Any, count: Any) -> Any:
        return total / count

    def get(self) -> Tuple[Any, Any]:
        """Returns (name, value) since the last reset; the value is NaN where nothing was added."""
        if self.num_inst == 0:
            return self.name, float("nan")
        return self.name, self._value(self.sum_metric, self.num_inst)

    def get_global(self) -> Tuple[Any, Any]:
        """Returns (name, value) over all since `reset`, whatever `reset_local` has forgotten; as `get` where that
        is not kept.
        """
        if not self._has_global_stats:
            return self.get()
        if self.global_num_inst == 0:
            return self.name, float("nan")
        return self.name, self._value(self.global_sum_metric, self.global_num_inst)

    def get_name_value(self) -> List[Tuple[str, Any]]:
        """Returns what `get` does as a list of (name, value), of one metric or of several."""
        return _pairs(*self.get())

    def get_global_name_value(self) -> List[Tuple[str, Any]]:
        """What `get_global` returns as pairs; `get_name_value`, which subclasses replace, where that is not kept."""
        return _pairs(*self.get_global()) if self._has_global_stats else self.get_name_value()


def _pairs(name: Any, value: Any) -> List[Tuple[str, Any]]:
    return list(zip(name if isinstance(name, list) else [name], value if isinstance(value, list) else [value]))


register = registry.get_register_func(EvalMetric, "metric")
alias = registry.get_alias_func(EvalMetric, "metric")
_create = registry.get_create_func(EvalMetric, "metric")


def create(metric: Any, *args: Any, **kwargs: Any) -> EvalMetric:
    """Returns a metric: by its name, of a function of label and prediction, of a list of these, or the given one
    itself.

    Further arguments go to the metric's constructor. Raises ValueError for an unknown name.

        mx.metric.create("top_k_accuracy", top_k=5)
        mx.metric.create(["acc", "ce"])
    """
    if callable(metric) and not isinstance(metric, EvalMetric):
        from ._other import CustomMetric

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
        """Hands labels and predictions to each metric; of those given, only `label_names` and `output_names`
        where these are set.
        """
        if self.label_names is not None:
            labels = OrderedDict(item for item in labels.items() if item[0] in self.label_names)
        if self.output_names is not None:
            preds = OrderedDict(item for item in preds.items() if item[0] in self.output_names)
        for metric in self.metrics:
            metric.update_dict(labels, preds)

    def update(self, labels: Any, preds: Any) -> None:
        """Adds a batch to each metric."""
        for metric in self.metrics:
            metric.update(labels, preds)

    def reset(self) -> None:
        """Resets each metric."""
        for metric in self.metrics:
            metric.reset()

    def reset_local(self) -> None:
        """Resets the local values of each metric."""
        for metric in self.metrics:
            metric.reset_local()

    def _gather(self, found: Any) -> Tuple[List[str], List[Any]]:
        pairs = [pair for name, value in found for pair in _pairs(name, value)]
        return [name for name, _ in pairs], [value for _, value in pairs]

    def get(self) -> Tuple[List[str], List[Any]]:
        """Returns (names, values) of all metrics, two lists."""
        return self._gather(metric.get() for metric in self.metrics)

    def get_global(self) -> Tuple[List[str], List[Any]]:
        """Returns (names, values) over all since `reset`, two lists."""
        return self._gather(metric.get_global() for metric in self.metrics)

    def get_config(self) -> Dict[str, Any]:
        """What makes the same metric again, with the configurations of its metrics."""
        config = super().get_config()
        config["metrics"] = [metric.get_config() for metric in self.metrics]
        return config
