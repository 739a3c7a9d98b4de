# SPDX-License-Identifier: Apache-2.0
"""A module whose gradients are corrected by those of all data at an earlier point: less noise, no falling rate."""

from __future__ import annotations

import logging
from typing import Any, Dict, List, Optional, Sequence

from ...context import cpu
from ...module import Module

__all__ = ["SVRGModule"]


class SVRGModule(Module):
    """Every `update_freq` epochs the parameters are copied and the mean gradient of all data is computed there.

    Each update then uses: gradient here - gradient of the same batch there + mean gradient there.
    """

    def __init__(
        self,
        symbol: Any,
        data_names: Optional[Sequence[str]] = ("data",),
        label_names: Optional[Sequence[str]] = ("softmax_label",),
        logger: Any = logging,
        context: Any = cpu(),  # noqa: B008
        work_load_list: Optional[List[float]] = None,
        fixed_param_names: Optional[Sequence[str]] = None,
        state_names: Optional[Sequence[str]] = None,
        group2ctxs: Any = None,
        compression_params: Optional[Dict[str, Any]] = None,
        update_freq: Optional[int] = None,
    ) -> None:
        options = {
            "data_names": data_names,
            "label_names": label_names,
            "logger": logger,
            "context": context,
            "work_load_list": work_load_list,
            "fixed_param_names": fixed_param_names,
            "state_names": state_names,
            "group2ctxs": group2ctxs,
            "compression_params": compression_params,
        }
        super().__init__(symbol, **options)
        if not isinstance(update_freq, int) or update_freq < 1:
            raise ValueError(f"given update_freq {update_freq!r}, expected a number of epochs of at least 1")
        self.update_freq = update_freq
        self._mod_aux = Module(symbol, **options)  # the earlier point
        self._means: List[List[Any]] = []  # mean gradients there, by parameter and device

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
        """Binds the module and, for training, the one that holds the earlier point."""
        super().bind(data_shapes, label_shapes, for_training, inputs_need_grad, force_rebind, shared_module, grad_req)
        if for_training:
            self._mod_aux.bind(data_shapes, label_shapes, for_training, inputs_need_grad, force_rebind, None, grad_req)

    def reshape(self, data_shapes: Any, label_shapes: Any = None) -> None:
        """Goes on with inputs of other shapes, at the earlier point too."""
        super().reshape(data_shapes, label_shapes)
        self._mod_aux.reshape(data_shapes, label_shapes)

    def update_full_grads(self, train_data: Any) -> None:
        """Copies the parameters to the earlier point, and computes the mean gradient of all data there."""
        self._mod_aux.init_params(None, *self.get_params(), force_init=True)
        grads = self._mod_aux._exec_group.grad_arrays
        sums: List[List[Any]] = [[None if grad is None else grad.zeros_like() for grad in row] for row in grads]
        train_data.reset()
        count = 0
        for batch in train_data:
            self._mod_aux.forward(batch, is_train=True)
            self._mod_aux.backward()
            grads = self._mod_aux._exec_group.grad_arrays
            for row, found in zip(sums, grads):
                for total, grad in zip(row, found):
                    if total is not None:
                        total += grad
            count += 1
        train_data.reset()
        if count == 0:
            raise ValueError("given no batches, expected data for the mean gradient")
        self._means = [[None if total is None else total / count for total in row] for row in sums]

    def forward(self, data_batch: Any, is_train: Optional[bool] = None) -> None:
        """Computes the outputs; in training those of the earlier point as well, for its gradient of the same
        batch.
        """
        super().forward(data_batch, is_train)
        if self._means and (self.for_training if is_train is None else is_train):
            self._mod_aux.forward(data_batch, is_train=True)

    def backward(self, out_grads: Any = None) -> None:
        """Computes the gradients, less those of the batch at the earlier point, plus the mean gradient there."""
        super().backward(out_grads)
        if not self._means:
            return
        self._mod_aux.backward(out_grads)
        rows = zip(self._exec_group.grad_arrays, self._mod_aux._exec_group.grad_arrays, self._means)
        for here, there, means in rows:
            for grad, other, mean in zip(here, there, means):
                if grad is not None:
                    grad[:] = grad - other + mean

    def _fit_epoch(self, fit: Dict[str, Any]) -> Any:
        if fit["epoch"] % self.update_freq == 0:
            self.update_full_grads(fit["train_data"])
        return super()._fit_epoch(fit)
