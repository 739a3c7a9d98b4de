# SPDX-License-Identifier: Apache-2.0
"""Optimizers for large batches: the learning rate of a layer follows from the norms of its weight and gradient."""

from __future__ import annotations

import math
from typing import Any, Dict, List, Optional

import numpy as np

from .._core import all_dense
from ._base import AtOnce, Optimizer, _op, aggregation_size, interleaved, register, zeros_like
from ._sgd import _WithMaster


@register
class LARS(_WithMaster, AtOnce):
    """SGD whose rate for a layer is `eta` * |weight| / (|grad| + wd * |weight| + eps).

    gamma, beta and bias keep the plain rate. `momentum_correction` scales the momentum when a schedule
    changes the rate.
    """

    def __init__(
        self,
        momentum: float = 0.0,
        lazy_update: bool = True,
        eta: float = 0.001,
        eps: float = 0,
        momentum_correction: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.momentum = momentum
        self.momentum_correction = momentum_correction
        self.lazy_update = lazy_update
        self.aggregate_num = aggregation_size(4)
        self.eta = eta
        self.eps = eps
        self.skip = 0
        self.last_lr: Optional[float] = None
        self.cur_lr: Optional[float] = None

    def _decays(self, name: str) -> bool:
        return name.endswith("_weight")

    def create_state(self, index: Any, weight: Any) -> Any:
        """The momentum, None without; with `lazy_update` of the weight's storage type."""
        if self.momentum == 0.0:
            return None
        return zeros_like(weight, stype=weight.stype if self.lazy_update else "default")

    def _get_lrs(self, indices: Any) -> List[float]:
        """Those of the base; remembers the rate of this step and of the one before."""
        now = self.learning_rate
        if self.cur_lr is None:
            self.last_lr = now
        elif self.cur_lr != now or self.last_lr is None:
            self.last_lr = self.cur_lr
        else:
            self.last_lr = now
        self.cur_lr = now
        return super()._get_lrs(indices)

    def _is_plain(self, index: Any) -> bool:
        # Under gluon.Trainer indices have no names, and every parameter has its own rate, as in 1.x.
        return self.idx2name.get(index, "").endswith(("gamma", "beta", "bias"))

    def _trust(self, weight: Any, grad: Any, wd: float) -> float:
        size = float(weight.astype(np.float32).norm().asscalar())
        slope = float(grad.astype(np.float32).norm().asscalar()) * self.rescale_grad
        if size > 0.0 and slope > 0.0:
            return self.eta * size / (slope + wd * size + self.eps)
        return 1.0

    def _momentum_now(self) -> float:
        if self.momentum_correction and self.last_lr and self.cur_lr is not None:
            return self.momentum * (self.cur_lr / self.last_lr)
        return self.momentum

    def _update_impl(self, index: Any, weight: Any, grad: Any, state: Any, multi_precision: bool = False) -> None:
        master = multi_precision
        if not isinstance(index, (list, tuple)):
            index, weight, grad, state = [index], [weight], [grad], [state]
        self._update_count(index)
        lrs, wds = self._lrs(index), self._wds(index)
        if len(index) > 1 and all_dense((weight, grad)):
            self._update_many(index, weight, grad, state, master, lrs, wds)
            return
        for i, own, slope, memory, lr, wd in zip(index, weight, grad, state, lrs, wds):
            rate = lr if self._is_plain(i) else lr * self._trust(own, slope, wd)
            self._update_one(own, slope, memory, rate, wd, master)

    def _update_one(self, weight: Any, grad: Any, state: Any, lr: float, wd: float, master: bool) -> None:
        given: Dict[str, Any] = {"lr": lr, "wd": wd, **self._scaling()}
        momentum = state[0] if master else state
        inputs = [] if momentum is None else [momentum]
        if momentum is not None:
            given["momentum"] = self._momentum_now()
        if master:
            inputs.append(state[1])
        else:
            given["lazy_update"] = self.lazy_update
        name = f"{'mp_' if master else ''}sgd_{'' if momentum is None else 'mom_'}update"
        _op(name)(weight, grad, *inputs, out=weight, **given)

    def _update_many(self, index: Any, weight: Any, grad: Any, state: Any, master: bool, lrs: Any, wds: Any) -> None:
        """Norms, rates and updates of all weights in a few operators, without a wait."""
        from ..ndarray import array

        context = weight[0].context
        order = sorted(range(len(index)), key=lambda i: self._is_plain(index[i]))  # plain ones come last
        scaled = sum(not self._is_plain(i) for i in index)
        index, weight, grad, state, lrs, wds = ([part[i] for i in order] for part in (index, weight, grad, state, lrs, wds))
        rates, decays = array(lrs, context, "float32"), array(wds, context, "float32")
        if scaled:
            norms = [_op("multi_sum_sq")(*arrays[:scaled], num_arrays=scaled) for arrays in (weight, grad)]
            first = rates[:scaled]
            new = _op("multi_lars")(
                first, *norms, decays[:scaled], eta=self.eta, eps=self.eps, rescale_grad=self.rescale_grad
            )
            rates[:scaled] = new
        given: Dict[str, Any] = {**self._scaling(), "num_weights": len(weight)}
        lists = [weight, grad]
        if self.momentum > 0:
            given["momentum"] = self._momentum_now()
            lists.append([own[0] for own in state] if master else state)
        if master:
            lists.append([own[1] for own in state])
        name = f"preloaded_multi_{'mp_' if master else ''}sgd_{'mom_' if self.momentum > 0 else ''}update"
        _op(name)(*interleaved(*lists), rates, decays, out=list(weight), **given)


@register
class LAMB(AtOnce):
    """Adam's step, scaled to the size of each layer's weight."""

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        lower_bound: Optional[float] = None,
        upper_bound: Optional[float] = None,
        bias_correction: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        self.bias_correction = bias_correction
        self.aggregate_num = aggregation_size(45)

    def create_state(self, index: Any, weight: Any) -> Any:
        """(mean, mean of squares) of the gradient."""
        return zeros_like(weight), zeros_like(weight)

    def _update_impl(self, index: Any, weight: Any, grad: Any, state: Any, multi_precision: bool = False) -> None:
        master = multi_precision
        self._update_count(index)
        given: Dict[str, Any] = {
            "beta1": self.beta1,
            "beta2": self.beta2,
            "epsilon": self.epsilon,
            "bias_correction": self.bias_correction,
            **self._scaling(),
        }
        bounds = {"lower_bound": self.lower_bound, "upper_bound": self.upper_bound}
        bounds = {name: bound for name, bound in bounds.items() if bound}
        if isinstance(index, (list, tuple)):
            self._update_many(index, weight, grad, state, master, {**given, **bounds})
        else:
            self._update_one(index, weight, grad, state, master, given, bounds)

    def _update_one(self, index: Any, weight: Any, grad: Any, state: Any, master: bool, given: Any, bounds: Any) -> None:
        full, (mean, var) = state if master else (weight, state)
        prefix = "mp_" if master else ""
        given = {**given, "t": self._index_update_count[index], "wd": self._get_wd(index)}
        inputs = [weight, grad, mean, var] + ([full] if master else [])
        step = _op(f"{prefix}lamb_update_phase1")(*inputs, **given)
        norms = full.as_nd_ndarray().norm(), step.norm()
        inputs = [weight, step, *norms] + ([full] if master else [])
        _op(f"{prefix}lamb_update_phase2")(*inputs, out=weight, lr=self._get_lr(index), **bounds)

    def _update_many(self, index: Any, weight: Any, grad: Any, state: Any, master: bool, given: Any) -> None:
        pairs = [own[1] for own in state] if master else state
        lists = [weight, grad, [pair[0] for pair in pairs], [pair[1] for pair in pairs]]
        if master:
            lists.append([own[0] for own in state])
        _op("_multi_mp_lamb_update" if master else "_multi_lamb_update")(
            *interleaved(*lists),
            out=list(weight),
            num_tensors=len(weight),
            learning_rates=self._lrs(index),
            wds=self._wds(index),
            step_count=[self._index_update_count[i] for i in index],
            **given,
        )


@register
class LBSGD(Optimizer):
    """SGD for batches that are `batch_scale` times as large: gradients of so many calls are added up, and
    the rate rises to `batch_scale` times the given one during the first epochs."""

    def __init__(
        self,
        momentum: float = 0.0,
        multi_precision: bool = False,
        warmup_strategy: str = "linear",
        warmup_epochs: int = 5,
        batch_scale: int = 1,
        updates_per_epoch: int = 32,
        begin_epoch: int = 0,
        num_epochs: int = 60,
        **kwargs: Any,
    ) -> None:
        super().__init__(multi_precision=multi_precision, **kwargs)
        self.momentum = momentum
        self.warmup_strategy = warmup_strategy
        self.warmup_epochs = warmup_epochs
        self.batch_scale = batch_scale
        self.updates_per_epoch = updates_per_epoch
        self.init_updates = begin_epoch * updates_per_epoch
        self.num_epochs = num_epochs
        self.lbmult: float = 1
        self.cumgrads: Dict[Any, Dict[str, Any]] = {}
        self.adaptive = False
        self.admult: float = 1

    def create_state(self, index: Any, weight: Any) -> Any:
        """The momentum, None without."""
        return None if self.momentum == 0.0 else zeros_like(weight)

    def _rise(self, count: int) -> float:
        """The factor of the rate after so many calls."""
        whole = self.warmup_epochs * self.updates_per_epoch
        if count >= whole:
            return float(self.batch_scale)
        if whole <= 1:
            return 1.0
        passed = count / whole
        shapes = {"linear": passed, "power2": passed * passed, "sqrt": math.sqrt(passed)}
        return 1.0 + (self.batch_scale - 1) * shapes.get(self.warmup_strategy, 0.0)

    def _adapted(self, weight: Any, grad: Any, wd: float) -> float:
        """The factor of "lars": how large the weight is beside its gradient, within 0.01 and 100."""
        size = float((weight * weight).sum().asscalar())
        slope = float((grad * grad).sum().asscalar())
        return min(max(math.sqrt(size / (slope + wd * size + 1e-18)), 0.01), 100.0)

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Adds up gradients, and changes the weight by their mean in every `batch_scale`th call."""
        lr, wd = self._get_lr(index), self._get_wd(index)
        self._update_count(index)  # after the rate: a schedule sees the count before this update
        weight = weight.as_nd_ndarray()
        gathered = self.cumgrads.get(index, {"cum_grad": 0, "num_cums": self.init_updates})
        total = gathered["cum_grad"]
        total = grad.copy() if isinstance(total, int) else total + grad
        count = gathered["num_cums"] + 1
        applied = count % self.batch_scale == 0
        # Of a sum that is applied nothing is kept: files with the optimizer are read by the release, which adds to what it finds.
        self.cumgrads[index] = {"cum_grad": 0 if applied else total, "num_cums": count}
        given = {"wd": wd, **self._scaling()}
        if applied:
            grad = total / self.batch_scale
            if self.warmup_strategy == "lars":
                self.lbmult = self._adapted(weight, grad, wd)
            else:
                self.lbmult = self._rise(count)
            given["lr"] = lr * self.lbmult
            if state is not None:
                _op("sgd_mom_update")(weight, grad, state, out=weight, momentum=self.momentum, **given)
            else:
                _op("sgd_update")(weight, grad, out=weight, **given)
