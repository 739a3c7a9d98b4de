# SPDX-License-Identifier: Apache-2.0
"""Operators of contrib, control flow, and updates whose gradient scale is an array."""

from __future__ import annotations

import math
from typing import Any, Sequence, Tuple

from .._core import NDArrayBase
from ..context import current_context
from . import _generate
from ._control_flow import cond, foreach, while_loop

_operators = _generate.fill(__name__, "_contrib_")
_op = _generate.operator


def __getattr__(name: str) -> Any:
    return _operators(name)


def __dir__() -> list:
    return sorted({*globals(), *_generate.names_in("_contrib_")})


def isfinite(data: Any) -> Any:
    """Ones where an element is a finite number."""
    return (data - data) == 0  # of infinities and what is not a number it is not a number


def isnan(data: Any) -> Any:
    """Ones where an element is not a number."""
    return data != data  # pylint: disable=comparison-with-itself


def isinf(data: Any) -> Any:
    """Ones where an element is infinite."""
    return data.abs() == float("inf")


def rand_zipfian(true_classes: Any, num_sampled: int, range_max: int, ctx: Any = None) -> Tuple[Any, Any, Any]:
    """Classes drawn from a nearly Zipfian distribution, and how often the true and the drawn ones are expected."""
    from .random import uniform

    span = math.log(range_max + 1)
    drawn = uniform(0, span, shape=(num_sampled,), dtype="float64", ctx=current_context() if ctx is None else ctx)
    sampled = (drawn.exp() - 1).astype("int64") % range_max

    def expected(classes: Any) -> Any:
        number = classes.astype("float64")
        return ((number + 2.0) / (number + 1.0)).log() / span * num_sampled

    return sampled, expected(true_classes), expected(sampled)


def _scale(rescale_grad: Any, like: Any) -> Any:
    """The factor of gradients as the array that the operator looks at: it may turn out to be infinite."""
    if isinstance(rescale_grad, NDArrayBase):
        return rescale_grad.as_in_context(like.context)
    from .creation import full

    return full((1,), rescale_grad, ctx=like.context)


def adamw_update(weight: Any, grad: Any, mean: Any, var: Any, rescale_grad: Any, lr: float, eta: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, wd: float = 0, clip_gradient: float = -1, out: Any = None, name: Any = None, **kwargs: Any) -> Any:
    """A step of Adam with decoupled weight decay."""
    return _op("_adamw_update")(
        weight, grad, mean, var, _scale(rescale_grad, weight), lr=lr, eta=eta, beta1=beta1, beta2=beta2,
        epsilon=epsilon, wd=wd, clip_gradient=clip_gradient, out=out, name=name, **kwargs
    )


def mp_adamw_update(weight: Any, grad: Any, mean: Any, var: Any, weight32: Any, rescale_grad: Any, lr: float, eta: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, wd: float = 0, clip_gradient: float = -1, out: Any = None, name: Any = None, **kwargs: Any) -> Any:
    """As adamw_update, with a copy of the weight in float32."""
    return _op("_mp_adamw_update")(
        weight, grad, mean, var, weight32, _scale(rescale_grad, weight), lr=lr, eta=eta, beta1=beta1, beta2=beta2,
        epsilon=epsilon, wd=wd, clip_gradient=clip_gradient, out=out, name=name, **kwargs
    )


def _interleaved(*lists: Sequence[Any]) -> list:
    """Arrays of the first weight, then of the second, ..."""
    return [array for group in zip(*lists) for array in group]


def multi_adamw_update(weights: Any, grads: Any, mean: Any, var: Any, rescale_grad: Any, lrs: Any, wds: Any, etas: Any, out: Any = None, name: Any = None, size: int = 0, **kwargs: Any) -> Any:
    """adamw_update of several weights at once."""
    count = size or len(weights)
    arrays = [*_interleaved(weights, grads, mean, var), _scale(rescale_grad, weights[0])]
    return _op("_multi_adamw_update")(
        *arrays, lrs=tuple(lrs), wds=tuple(wds), etas=tuple(etas), num_weights=count, out=out, name=name, **kwargs
    )


def multi_mp_adamw_update(weights: Any, grads: Any, mean: Any, var: Any, weights32: Any, rescale_grad: Any, lrs: Any, wds: Any, etas: Any, out: Any = None, name: Any = None, size: int = 0, **kwargs: Any) -> Any:
    """mp_adamw_update of several weights at once."""
    count = size or len(weights)
    arrays = [*_interleaved(weights, grads, mean, var, weights32), _scale(rescale_grad, weights[0])]
    return _op("_multi_mp_adamw_update")(
        *arrays, lrs=tuple(lrs), wds=tuple(wds), etas=tuple(etas), num_weights=count, out=out, name=name, **kwargs
    )


def multi_lamb_update(weights: Any, grads: Any, mean: Any, var: Any, step_count: Any, lrs: Any, wds: Any, out: Any = None, num_tensors: int = 0, **kwargs: Any) -> Any:
    """A step of LAMB on several weights at once."""
    return _op("_multi_lamb_update")(
        *_interleaved(weights, grads, mean, var), learning_rates=tuple(lrs), wds=tuple(wds), out=out,
        step_count=tuple(step_count), num_tensors=num_tensors or len(weights), **kwargs
    )


def multi_mp_lamb_update(weights: Any, grads: Any, mean: Any, var: Any, weights32: Any, step_count: Any, lrs: Any, wds: Any, out: Any = None, num_tensors: int = 0, **kwargs: Any) -> Any:
    """As multi_lamb_update, with copies of the weights in float32."""
    return _op("_multi_mp_lamb_update")(
        *_interleaved(weights, grads, mean, var, weights32), learning_rates=tuple(lrs), wds=tuple(wds), out=out,
        step_count=tuple(step_count), num_tensors=num_tensors or len(weights), **kwargs
    )
