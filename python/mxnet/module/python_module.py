# SPDX-License-Identifier: Apache-2.0
"""Modules that are written in Python: parts of a chain that are no network."""

from __future__ import annotations

import logging
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from ..initializer import Uniform
from ._inputs import descriptions
from .base_module import BaseModule

__all__ = ["PythonLossModule", "PythonModule"]


class PythonModule(BaseModule):
    """The base of modules without parameters. A subclass defines forward, backward, get_outputs,
    get_input_grads and `_compute_output_shapes`."""

    def __init__(
        self, data_names: Sequence[str], label_names: Optional[Sequence[str]], output_names: Sequence[str], logger: Any = logging
    ) -> None:
        super().__init__(logger=logger)
        self._data_names = list(data_names)
        self._label_names = None if label_names is None else list(label_names)
        self._output_names = list(output_names)
        self._data_shapes: Any = None
        self._label_shapes: Any = None
        self._output_shapes: Any = None

    @property
    def data_names(self) -> List[str]:
        """Names of the inputs, as the constructor was given them."""
        return self._data_names

    @property
    def output_names(self) -> List[str]:
        """Names of the outputs, as the constructor was given them."""
        return self._output_names

    @property
    def data_shapes(self) -> Any:
        """DataDesc of the inputs; None before `bind`."""
        return self._data_shapes

    @property
    def label_shapes(self) -> Any:
        """DataDesc of the labels; None before `bind`, or without them."""
        return self._label_shapes

    @property
    def output_shapes(self) -> Any:
        """(name, shape) of the outputs; None before `bind`."""
        return self._output_shapes

    def get_params(self) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """Two empty dictionaries: there are no parameters."""
        return {}, {}

    def init_params(
        self,
        initializer: Any = Uniform(0.01),  # noqa: B008
        arg_params: Optional[Dict[str, Any]] = None,
        aux_params: Optional[Dict[str, Any]] = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """There are none."""
        self.params_initialized = True

    def update(self) -> None:
        """There is nothing to change."""

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Adds the outputs to a metric, if this module has labels."""
        if self._label_shapes is None:
            return
        if pre_sliced:
            raise ValueError("given labels by device, expected those of the whole batch")
        eval_metric.update_dict(dict(zip(self._label_names or [], labels or [])), dict(zip(self._output_names, self.get_outputs())))

    def bind(
        self,
        data_shapes: Any,
        label_shapes: Any = None,
        for_training: bool = True,
        inputs_need_grad: bool = False,
        force_rebind: bool = False,
        shared_module: Any = None,
        grad_req: Any = "write",
    ) -> None:
        """Takes the shapes of inputs and labels, whose names must be those of the constructor, and asks for those of
        the outputs.

        Raises ValueError for other names, or a `grad_req` other than "write".
        """
        if self._stays_bound(force_rebind):
            return
        if grad_req != "write":
            raise ValueError(f"given grad_req {grad_req!r}, expected 'write'")
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        data = descriptions(data_shapes)
        label = None if label_shapes is None else descriptions(label_shapes)
        for what, shapes, names in (("data", data, self._data_names), ("label", label, self._label_names)):
            if shapes is not None and names is not None and [desc.name for desc in shapes] != list(names):
                raise ValueError(f"given {what}_shapes of {[desc.name for desc in shapes]}, expected {list(names)}")
        self._data_shapes = data
        self._label_shapes = label
        self._output_shapes = self._compute_output_shapes()
        self.binded = True

    def _compute_output_shapes(self) -> List[Any]:
        """(name, shape) of the outputs, from `_data_shapes` and `_label_shapes`."""
        raise self._missing("_compute_output_shapes()")

    def init_optimizer(
        self, kvstore: Any = "local", optimizer: Any = "sgd", optimizer_params: Any = (("learning_rate", 0.01),), force_init: bool = False
    ) -> None:
        """There is nothing to optimize."""
        self.optimizer_initialized = True


class PythonLossModule(PythonModule):
    """A loss at the end of a chain: its output is its data, and `grad_func(scores, labels)` the gradient."""

    def __init__(
        self,
        name: str = "pyloss",
        data_names: Sequence[str] = ("data",),
        label_names: Sequence[str] = ("softmax_label",),
        logger: Any = logging,
        grad_func: Optional[Callable[[Any, Any], Any]] = None,
    ) -> None:
        super().__init__(data_names, label_names, [f"{name}_output"], logger=logger)
        if len(self._data_names) != 1 or len(self._label_names or []) != 1:
            raise ValueError(f"given data {data_names} and labels {label_names}, expected one of each")
        if grad_func is not None and not callable(grad_func):
            raise TypeError(f"given a grad_func of type {type(grad_func).__name__}, expected a function")
        self._name = name
        self._scores: Any = None
        self._labels: Any = None
        self._scores_grad: Any = None
        self._grad_func = grad_func

    def _compute_output_shapes(self) -> List[Any]:
        return [(f"{self._name}_output", self._data_shapes[0][1])]

    def forward(self, data_batch: Any, is_train: Optional[bool] = None) -> None:
        """Keeps the scores, and the labels if there is a gradient to compute."""
        self._scores = data_batch.data[0]
        if self.for_training if is_train is None else is_train:
            self._labels = data_batch.label[0]

    def get_outputs(self, merge_multi_context: bool = True) -> List[Any]:
        """[scores]: what `forward` was given."""
        _one_device(merge_multi_context)
        return [self._scores]

    def backward(self, out_grads: Any = None) -> None:
        """Computes the gradient of the scores by `grad_func`. Raises ValueError if given `out_grads`: a loss is
        the end of a chain.
        """
        if out_grads is not None:
            raise ValueError("given gradients of the outputs, expected none: a loss is the end of a chain")
        if not self.for_training:
            raise RuntimeError("backward: the module was bound with for_training=False")
        self._backward_impl()

    def _backward_impl(self) -> None:
        """Computes the gradient; a subclass may define it instead of giving a `grad_func`."""
        if self._grad_func is None:
            raise NotImplementedError("the loss has no grad_func, expected it, or a subclass with _backward_impl()")
        from .. import ndarray as nd

        grad = self._grad_func(self._scores, self._labels)
        self._scores_grad = grad if isinstance(grad, nd.NDArray) else nd.array(grad)

    def get_input_grads(self, merge_multi_context: bool = True) -> List[Any]:
        """[gradient of the scores], as `backward` has computed it."""
        _one_device(merge_multi_context)
        return [self._scores_grad]

    def install_monitor(self, mon: Any) -> None:
        """Raises NotImplementedError: there are no nodes to see."""
        raise NotImplementedError("a loss in Python has no nodes for a monitor to see")


def _one_device(merge_multi_context: bool) -> None:
    if not merge_multi_context:
        raise ValueError("given merge_multi_context=False, expected True: a module in Python has one device")
