# SPDX-License-Identifier: Apache-2.0
"""Means of losses, and metrics that are functions of the user."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional

import numpy

from ._base import EvalMetric, check_label_shapes, numbers, register, summable

@register
class Loss(EvalMetric):
    """The mean of the predictions: of outputs that are losses."""

    def __init__(self, name: str = "loss", output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def update(self, _: Any, preds: Any) -> None:
        """Adds the sum of the predictions, an array or a list of them, and their number; the labels are not
        looked at.
        """
        for pred in preds if isinstance(preds, (list, tuple)) else [preds]:
            self._add(float(summable(pred).sum().asscalar()), pred.size)


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
        """Raises NotImplementedError: a function cannot be saved."""
        raise NotImplementedError("a function cannot be saved, and a CustomMetric has one")

    def update(self, labels: Any, preds: Any) -> None:
        """Calls the function for each pair of label and prediction, and adds what it returns: a value, or (sum,
        count).
        """
        if not self._allow_extra_outputs:
            labels, preds = check_label_shapes(labels, preds, True)
        for pred, label in zip(preds, labels):
            value = self._feval(numbers(label), numbers(pred))
            self._add(*(value if isinstance(value, tuple) else (value, 1)))


def np(numpy_feval: Callable[..., Any], name: Optional[str] = None, allow_extra_outputs: bool = False) -> CustomMetric:
    """Makes a metric of `numpy_feval(label, pred)`, a function of NumPy arrays that returns a value or (sum, count).

    `name` is the function's unless given; `allow_extra_outputs` permits more predictions than labels.

        metric = mx.metric.np(lambda label, pred: abs(label - pred).max(), name="worst")
    """

    def feval(label: numpy.ndarray, pred: numpy.ndarray) -> Any:
        return numpy_feval(label, pred)

    feval.__name__ = numpy_feval.__name__
    return CustomMetric(feval, name, allow_extra_outputs)
