# SPDX-License-Identifier: Apache-2.0
"""Optimizers with a learning rate for each element, from the history of its gradients."""

from __future__ import annotations

import math
from operator import mul
from typing import Any, Dict, List, Optional, Sequence

from ._base import ByOperator, register, zeros_like


@register
class Adam(ByOperator):
    """Running means of the gradient and of its square, both corrected for starting at zero."""

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        lazy_update: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.lazy_update = lazy_update

    def create_state(self, index: Any, weight: Any) -> Any:
        """(mean, mean of squares) of the gradient; with `lazy_update` of the weight's storage type."""
        stype = weight.stype if self.lazy_update else "default"
        return zeros_like(weight, stype=stype), zeros_like(weight, stype=stype)

    def _operator(self, state: Any) -> str:
        return "adam_update"

    def _parameters(self, state: Any) -> Dict[str, Any]:
        given = {"beta1": self.beta1, "beta2": self.beta2, "epsilon": self.epsilon, "lazy_update": self.lazy_update}
        return {**given, **self._scaling()}

    def _rates(self, index: Sequence[Any]) -> Dict[str, List[Any]]:
        counts = self._counts(index)
        corrections = {t: self._correction(t) for t in set(counts)}
        lrs = list(map(mul, self._lrs(index), map(corrections.__getitem__, counts)))
        return {"lr": lrs, "wd": self._wds(index)}

    def _correction(self, t: int) -> float:
        return math.sqrt(1.0 - self.beta2**t) / (1.0 - self.beta1**t)


@register
class AdaGrad(ByOperator):
    """Divides by the root of the sum of all squares."""

    def __init__(self, eps: float = 1e-7, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.float_stable_eps = eps

    def create_state(self, index: Any, weight: Any) -> Any:
        """The sum of squares, of the weight's storage type."""
        return zeros_like(weight)

    def _operator(self, state: Any) -> str:
        return "_sparse_adagrad_update"

    def _parameters(self, state: Any) -> Dict[str, Any]:
        return {"epsilon": self.float_stable_eps, **self._scaling(clips_at_zero=True)}


@register
class RMSProp(ByOperator):
    """Divides by the root of a running mean of squares; `centered`: of their variance, with momentum `gamma2`."""

    def __init__(
        self,
        learning_rate: float = 0.001,
        gamma1: float = 0.9,
        gamma2: float = 0.9,
        epsilon: float = 1e-8,
        centered: bool = False,
        clip_weights: Optional[float] = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.gamma1 = gamma1
        self.gamma2 = gamma2
        self.centered = centered
        self.epsilon = epsilon
        self.clip_weights = clip_weights

    def create_state(self, index: Any, weight: Any) -> Any:
        """(mean of squares,), or if `centered` (mean of squares, mean, step) of the gradient."""
        return tuple(zeros_like(weight) for _ in range(3 if self.centered else 1))

    def _operator(self, state: Any) -> str:
        return "rmspropalex_update" if self.centered else "rmsprop_update"

    def _parameters(self, state: Any) -> Dict[str, Any]:
        given = {"gamma1": self.gamma1, "epsilon": self.epsilon, **self._scaling()}
        if self.clip_weights:
            given["clip_weights"] = self.clip_weights
        if self.centered:
            given["gamma2"] = self.gamma2
        return given


@register
class AdaDelta(ByOperator):
    """Steps as large as recent steps were, relative to recent gradients; there is no learning rate."""

    _states = 2

    def __init__(self, rho: float = 0.90, epsilon: float = 1e-5, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rho = rho
        self.epsilon = epsilon

    def _operator(self, state: Any) -> str:
        return "_adadelta_update"

    def _parameters(self, state: Any) -> Dict[str, Any]:
        return {"rho": self.rho, "epsilon": self.epsilon, **self._scaling(clips_at_zero=True)}

    def _rates(self, index: Sequence[Any]) -> Dict[str, List[Any]]:
        return {"wd": self._wds(index)}


@register
class Adamax(ByOperator):
    """Adam with the largest recent gradient in place of the mean of squares."""

    _states = 2

    def __init__(self, learning_rate: float = 0.002, beta1: float = 0.9, beta2: float = 0.999, **kwargs: Any) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2

    def _operator(self, state: Any) -> str:
        return "_adamax_update"

    def _parameters(self, state: Any) -> Dict[str, Any]:
        return {"beta1": self.beta1, "beta2": self.beta2, **self._scaling(clips_at_zero=True)}

    def _rates(self, index: Sequence[Any]) -> Dict[str, List[Any]]:
        counts = self._counts(index)
        lrs = [lr / (1.0 - self.beta1**t) for lr, t in zip(self._lrs(index), counts)]
        return {"lr": lrs, "wd": self._wds(index)}


@register
class Nadam(ByOperator):
    """Adam with Nesterov's momentum, on a schedule."""

    _states = 2

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        schedule_decay: float = 0.004,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.schedule_decay = schedule_decay
        self.m_schedule = 1.0

    def _operator(self, state: Any) -> str:
        return "_nadam_update"

    def _parameters(self, state: Any) -> Dict[str, Any]:
        return {"beta1": self.beta1, "beta2": self.beta2, "epsilon": self.epsilon, **self._scaling(clips_at_zero=True)}

    def _momentum(self, t: int) -> float:
        return self.beta1 * (1.0 - 0.5 * pow(0.96, t * self.schedule_decay))

    def _rates(self, index: Sequence[Any]) -> Dict[str, List[Any]]:
        counts = self._counts(index)
        rates: Dict[str, List[Any]] = {**super()._rates(index), "t": counts, "grad_share": [], "mean_share": []}
        for t in counts:  # the schedule goes on with each weight, not with each step
            now, following = self._momentum(t), self._momentum(t + 1)
            self.m_schedule *= now
            rates["grad_share"].append((1.0 - now) / (1.0 - self.m_schedule))
            rates["mean_share"].append(following / (1.0 - self.m_schedule * following))
        return rates


@register
class Ftrl(ByOperator):
    """Follow the regularized leader: `lamda1` makes weights that do not matter exactly zero."""

    def __init__(self, lamda1: float = 0.01, learning_rate: float = 0.1, beta: float = 1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.lr = learning_rate  # a scheduler keeps its own, as in 1.9.1: in all other rules it would get this one
        self.lamda1 = lamda1
        self.beta = beta

    def create_state(self, index: Any, weight: Any) -> Any:
        """The two sums that the weight follows from, of the weight's storage type."""
        return zeros_like(weight), zeros_like(weight)

    def _operator(self, state: Any) -> str:
        return "ftrl_update"

    def _parameters(self, state: Any) -> Dict[str, Any]:
        return {"lamda1": self.lamda1, "beta": self.beta, **self._scaling()}


@register
class FTML(ByOperator):
    """Follow the moving leader."""

    _states = 3

    def __init__(self, beta1: float = 0.6, beta2: float = 0.999, epsilon: float = 1e-8, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon

    def _operator(self, state: Any) -> str:
        return "ftml_update"

    def _parameters(self, state: Any) -> Dict[str, Any]:
        given = {"beta1": self.beta1, "beta2": self.beta2, "epsilon": self.epsilon, "rescale_grad": self.rescale_grad}
        if self.clip_gradient:
            given["clip_grad"] = self.clip_gradient
        return given

    def _rates(self, index: Sequence[Any]) -> Dict[str, List[Any]]:
        return {**super()._rates(index), "t": self._counts(index)}
