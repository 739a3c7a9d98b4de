# SPDX-License-Identifier: Apache-2.0
"""Operators of contrib, loops and branches, and updates whose gradient scale is a symbol."""

from __future__ import annotations

import math
from typing import Any, Tuple

from .._core import SymbolBase
from . import _generate
from ._control_flow import cond, foreach, while_loop

_operators = _generate.fill(__name__, "_contrib_")
_fn = _generate.function


def __getattr__(name: str) -> Any:
    return _operators(name)


def __dir__() -> list:
    return sorted({*globals(), *_generate.names_in("_contrib_")})


def rand_zipfian(true_classes: Any, num_sampled: int, range_max: int) -> Tuple[Any, Any, Any]:
    """Classes drawn from a nearly Zipfian distribution, and how often the true and the drawn ones are expected."""
    from .random import uniform

    span = math.log(range_max + 1)
    drawn = uniform(0, span, shape=(num_sampled,), dtype="float64")
    sampled = (drawn.exp() - 1).astype("int64") % range_max

    def expected(classes: Any) -> Any:
        number = classes.astype("float64")
        return ((number + 2.0) / (number + 1.0)).log() / span * num_sampled

    return sampled, expected(true_classes), expected(sampled)


def _scale(rescale_grad: Any) -> Any:
    """The factor of gradients as the value that the operator looks at: it may turn out to be infinite."""
    if isinstance(rescale_grad, SymbolBase):
        return rescale_grad
    from .functions import full

    return full((1,), rescale_grad)


def adamw_update(weight: Any, grad: Any, mean: Any, var: Any, rescale_grad: Any, lr: float, eta: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, wd: float = 0, clip_gradient: float = -1, out: Any = None, name: Any = None, **kwargs: Any) -> Any:
    """A step of Adam with decoupled weight decay."""
    return _fn("_adamw_update")(
        weight, grad, mean, var, _scale(rescale_grad), lr=lr, eta=eta, beta1=beta1, beta2=beta2, epsilon=epsilon, wd=wd,
        clip_gradient=clip_gradient, out=out, name=name, **kwargs
    )


def mp_adamw_update(weight: Any, grad: Any, mean: Any, var: Any, weight32: Any, rescale_grad: Any, lr: float, eta: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, wd: float = 0, clip_gradient: float = -1, out: Any = None, name: Any = None, **kwargs: Any) -> Any:
    """As adamw_update, with a copy of the weight in float32."""
    return _fn("_mp_adamw_update")(
        weight, grad, mean, var, weight32, _scale(rescale_grad), lr=lr, eta=eta, beta1=beta1, beta2=beta2, epsilon=epsilon,
        wd=wd, clip_gradient=clip_gradient, out=out, name=name, **kwargs
    )
