# SPDX-License-Identifier: Apache-2.0
"""Optimizers that are experiments."""

from __future__ import annotations

from typing import Any

from ..ndarray import clip, mean, sqrt, square  # noqa: F401  (public here)
from ._base import Optimizer, _op, register

__all__ = ["GroupAdaGrad"]


@register
class GroupAdaGrad(Optimizer):
    """AdaGrad with one history for each row; for embeddings. There is no weight decay."""

    def __init__(self, eps: float = 1e-5, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.float_stable_eps = eps

    def create_state(self, index: Any, weight: Any) -> Any:
        """A history for each row, (rows, 1), zeros. Raises ValueError for a weight that is no matrix."""
        if len(weight.shape) != 2:
            raise ValueError(f"given a weight of shape {weight.shape}, expected 2 dimensions")
        from ..ndarray import zeros

        return zeros((weight.shape[0], 1), weight.context, stype=weight.stype)

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Changes a weight by its gradient, row by row. Raises ValueError for weight decay."""
        lr, wd = self._begin(index)
        if wd != 0:
            raise ValueError(f"given weight decay {wd}, expected 0: GroupAdaGrad has none")
        if grad.stype == "row_sparse":
            given = {"lr": lr, "epsilon": self.float_stable_eps, **self._scaling()}
            _op("_contrib_group_adagrad_update")(weight, grad, state, out=weight, **given)
            return
        weight = weight.as_nd_ndarray()
        grad = self._scaled(grad)
        state[:] += grad.square().mean(axis=1, keepdims=True)
        weight[:] -= lr * grad / (state + self.float_stable_eps).sqrt()
