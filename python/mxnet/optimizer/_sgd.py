# SPDX-License-Identifier: Apache-2.0
"""Gradient descent: plain, with momentum (also Nesterov's), by sign, and with noise or delay."""

from __future__ import annotations

import math
from typing import Any, Dict, Optional

import numpy as np

from .._core import all_dense, update_weights
from ._base import AtOnce, ByOperator, Optimizer, _op, aggregation_size, has_master, register, zeros_like


class _WithMaster(Optimizer):
    """For optimizers with operators for weights of 16 bits: their state is (state, copy in float32)."""

    def create_state_multi_precision(self, index: Any, weight: Any) -> Any:
        """(state, copy in float32) for weights of 16 bits with `multi_precision`, else as create_state."""
        if self.multi_precision and has_master(weight):
            master = weight.astype(np.float32)
            return self.create_state(index, master), master
        return super().create_state_multi_precision(index, weight)


@register
class SGD(_WithMaster, AtOnce):
    """weight -= lr * (grad + wd * weight), or with momentum.

    `lazy_update` leaves rows of the weight alone for which a row_sparse gradient has no row. One operator
    updates up to `aggregate_num` weights.
    """

    def __init__(self, momentum: float = 0.0, lazy_update: bool = True, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.momentum = momentum
        self.lazy_update = lazy_update
        self.aggregate_num = aggregation_size(4)

    def create_state(self, index: Any, weight: Any) -> Any:
        """The momentum, None without; with `lazy_update` of the weight's storage type."""
        if self.momentum == 0.0:
            return None
        return zeros_like(weight, stype=weight.stype if self.lazy_update else "default")

    _update_all = AtOnce.update_multi_precision

    def _update_impl(self, index: Any, weight: Any, grad: Any, state: Any, multi_precision: bool = False) -> None:
        if not isinstance(index, (list, tuple)):
            index, weight, grad, state = [index], [weight], [grad], [state]
        self._update_count(index)
        lrs, wds = self._lrs(index), self._wds(index)
        if len(index) > 1 and all_dense((weight, grad)):
            self._update_many(weight, grad, state, multi_precision, lrs, wds)
            return
        for one in zip(weight, grad, state, lrs, wds):
            self._update_one(*one, master=multi_precision)

    def _update_one(self, weight: Any, grad: Any, state: Any, lr: float, wd: float, master: bool) -> None:
        given = self._scaling()
        if self.momentum > 0:
            given["momentum"] = self.momentum
        if not master:
            given["lazy_update"] = self.lazy_update
            name, inputs = ("sgd_mom_update", (state,)) if state is not None else ("sgd_update", ())
        elif state[0] is not None:
            name, inputs = "mp_sgd_mom_update", tuple(state)
        else:
            name, inputs = "mp_sgd_update", (state[1],)
        if state is None or (master and state[0] is None):
            given.pop("momentum", None)
        _op(name)(weight, grad, *inputs, out=weight, lr=lr, wd=wd, **given)

    def _update_many(self, weight: Any, grad: Any, state: Any, master: bool, lrs: Any, wds: Any) -> None:
        given = self._scaling()
        columns = [weight, grad]
        if self.momentum > 0:
            given["momentum"] = self.momentum
            columns.append([own[0] for own in state] if master else state)
        if master:
            columns.append([own[1] for own in state])
        operator = _op(_MANY[master, self.momentum > 0])
        update_weights(operator, self.aggregate_num or len(weight), columns, {"lrs": lrs, "wds": wds}, given)


_MANY = {
    (False, False): "multi_sgd_update",
    (False, True): "multi_sgd_mom_update",
    (True, False): "multi_mp_sgd_update",
    (True, True): "multi_mp_sgd_mom_update",
}  # by whether there are masters and momenta


@register
class ccSGD(SGD):  # pylint: disable=invalid-name
    """Is SGD; old programs name it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)


@register
class NAG(_WithMaster, ByOperator):
    """Nesterov's accelerated gradient."""

    def __init__(self, momentum: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.momentum = momentum

    def create_state(self, index: Any, weight: Any) -> Any:
        """The momentum, None without."""
        return None if self.momentum == 0.0 else zeros_like(weight, stype="default")

    _update_all = ByOperator._update_all

    def _operator(self, state: Any) -> str:
        return "sgd_update" if state is None else "nag_mom_update"

    def _parameters(self, state: Any) -> Dict[str, Any]:
        given = self._scaling()
        return given if state is None else {"momentum": self.momentum, **given}

    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """As update; with `multi_precision`, on the copy in float32."""
        if not (self.multi_precision and has_master(weight)):
            self.update(index, weight, grad, state)
            return
        lr, wd = self._begin(index)
        given = {"lr": lr, "wd": wd, **self._scaling()}
        momentum, master = state
        if momentum is None:
            _op("mp_sgd_update")(weight, grad, master, out=weight, **given)
        else:
            _op("mp_nag_mom_update")(weight, grad, momentum, master, out=weight, momentum=self.momentum, **given)


@register
class Signum(ByOperator):
    """Steps of one length, in the direction of the sign of the gradient or of its momentum."""

    def __init__(self, learning_rate: float = 0.01, momentum: float = 0.9, wd_lh: float = 0.0, **kwargs: Any) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.momentum = momentum
        self.wd_lh = wd_lh

    def create_state(self, index: Any, weight: Any) -> Any:
        """The momentum, None without."""
        return None if self.momentum == 0.0 else zeros_like(weight)

    def _operator(self, state: Any) -> str:
        return "signsgd_update" if state is None else "signum_update"

    def _parameters(self, state: Any) -> Dict[str, Any]:
        given = self._scaling()
        if state is not None and self.momentum > 0:
            given["momentum"] = self.momentum
        if state is not None and self.wd_lh:
            given["wd_lh"] = self.wd_lh
        return given


@register
class SGLD(Optimizer):
    """Half a step of descent, and noise as large as the root of the learning rate: samples of a posterior."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Changes a weight by half a step and by noise from `mx.nd.random`, of which `mx.random.seed` sets the
        start.
        """
        lr, wd = self._begin(index)
        from ..ndarray import random

        weight = weight.as_nd_ndarray()
        step = self._scaled(grad) + wd * weight
        noise = random.normal(0, math.sqrt(lr), shape=weight.shape, dtype=weight.dtype, ctx=weight.context)
        weight[:] += -lr / 2 * step + noise


@register
class DCASGD(Optimizer):
    """Descent for workers that are late: the gradient is corrected for what has changed since."""

    def __init__(self, momentum: float = 0.0, lamda: float = 0.04, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.momentum = momentum
        self.weight_previous: dict = {}
        self.lamda = lamda

    def create_state(self, index: Any, weight: Any) -> Any:
        """(momentum, None without; the weight as it was at the last update)."""
        return (None if self.momentum == 0.0 else zeros_like(weight, stype="default")), weight.as_nd_ndarray().copy()

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Changes a weight by the corrected gradient."""
        lr, wd = self._begin(index)
        weight = weight.as_nd_ndarray()
        momentum, before = state
        grad = self._scaled(grad)
        step = -lr * (grad + wd * weight + self.lamda * grad * grad * (weight - before))
        if momentum is not None:
            momentum[:] *= self.momentum
            momentum[:] += step
            step = momentum
        before[:] = weight
        weight[:] += step


@register
class Test(Optimizer):
    """Adds the scaled gradient, and keeps a copy of the weight: for tests of what calls optimizers."""

    __test__ = False  # not a test case of pytest

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def create_state(self, index: Any, weight: Any) -> Any:
        """A copy of the weight, zeros before the first update."""
        return zeros_like(weight, stype="default")

    def update(self, index: Any, weight: Any, grad: Any, state: Optional[Any]) -> None:
        """Adds the scaled gradient."""
        weight[:] += grad * self.rescale_grad
        state[...] = weight  # type: ignore[index]
