# SPDX-License-Identifier: Apache-2.0
"""Layers that normalize: over the batch, over a sample, over a channel or over groups of channels."""

from __future__ import annotations

from typing import Any, Dict, Optional

from ...ndarray._dtypes import is_half
from ...util import is_np_array
from .._ops import op
from ..block import HybridBlock


class _Normalization(HybridBlock):
    """A layer with a trained scale (gamma) and shift (beta); `center` and `scale` say which are trained."""

    gamma: Any
    beta: Any

    def _make(
        self, size: int, center: bool, scale: bool, beta_initializer: Any, gamma_initializer: Any, differentiable: bool
    ) -> None:
        for name, trained, init in (("gamma", scale, gamma_initializer), ("beta", center, beta_initializer)):
            parameter = self.params.get(
                name,
                grad_req="write" if trained else "null",
                shape=(size,),
                init=init,
                allow_deferred_init=True,
                **({} if differentiable else {"differentiable": trained}),
            )
            setattr(self, name, parameter)

    def _shown(self, **facts: Any) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in facts.items())})"


class _BatchNorm(_Normalization):
    """Normalizes each channel with the batch's mean and variance, or in inference with moving ones."""

    _operator = "BatchNorm"

    def __init__(
        self,
        axis: int = 1,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        use_global_stats: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        running_mean_initializer: Any = "zeros",
        running_variance_initializer: Any = "ones",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._kwargs: Dict[str, Any] = {
            "axis": axis,
            "eps": epsilon,
            "momentum": momentum,
            "fix_gamma": not scale,
            "use_global_stats": use_global_stats,
        }
        self._axis = axis
        self._make(in_channels, center, scale, beta_initializer, gamma_initializer, differentiable=False)
        for name, init in (
            ("running_mean", running_mean_initializer),
            ("running_var", running_variance_initializer),
        ):
            state = self.params.get(
                name, grad_req="null", shape=(in_channels,), init=init, allow_deferred_init=True, differentiable=False
            )
            setattr(self, name, state)

    def cast(self, dtype: Any) -> None:
        """Converts the parameters, but keeps single precision where the type has less."""
        super().cast("float32" if is_half(dtype) else dtype)

    def hybrid_forward(self, F: Any, x: Any, gamma: Any, beta: Any, running_mean: Any, running_var: Any) -> Any:
        """Returns an array as `x`; in training the moving mean and variance are updated."""
        return self._run(F)(x, gamma, beta, running_mean, running_var, name="fwd", **self._kwargs)

    def _run(self, F: Any) -> Any:
        return op(F, "BatchNorm")

    def __repr__(self) -> str:
        channels = self.gamma.shape[0] or None
        return self._shown(**self._kwargs, in_channels=channels)


class BatchNorm(_BatchNorm):
    """Normalizes each channel with the batch's mean and variance, or in inference with moving ones."""


class BatchNormReLU(_BatchNorm):
    """BatchNorm, and zeros for what is negative, in one operator."""

    def _run(self, F: Any) -> Any:
        return F.npx.batch_norm_with_relu if is_np_array() else F.contrib.BatchNormWithReLU


class InstanceNorm(_Normalization):
    """Normalizes each channel of each sample to mean 0 and variance 1, times gamma (where `scale`) plus beta (where
    `center`) of the channel."""

    def __init__(
        self,
        axis: int = 1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._kwargs: Dict[str, Any] = {"eps": epsilon, "axis": axis, "center": center, "scale": scale}
        self._axis = axis
        self._epsilon = epsilon
        self._make(in_channels, center, scale, beta_initializer, gamma_initializer, differentiable=True)

    def hybrid_forward(self, F: Any, x: Any, gamma: Any, beta: Any) -> Any:
        """Returns an array as `x`, (batch, channels, ...) for axis 1."""
        run = op(F, "InstanceNorm")
        if self._axis == 1:
            return run(x, gamma, beta, name="fwd", eps=self._epsilon)
        made = run(x.swapaxes(1, self._axis), gamma, beta, name="fwd", eps=self._epsilon)
        return made.swapaxes(1, self._axis)

    def __repr__(self) -> str:
        return self._shown(**self._kwargs, in_channels=self.gamma.shape[0])


class LayerNorm(_Normalization):
    """Normalizes along one axis, the last by default, to mean 0 and variance 1, times gamma (where `scale`) plus beta
    (where `center`) of each place on it."""

    def __init__(
        self,
        axis: int = -1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        in_channels: int = 0,
        prefix: Optional[str] = None,
        params: Any = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self._kwargs: Dict[str, Any] = {"eps": epsilon, "axis": axis, "center": center, "scale": scale}
        self._axis = axis
        self._epsilon = epsilon
        self._center = center
        self._scale = scale
        self._make(in_channels, center, scale, beta_initializer, gamma_initializer, differentiable=True)

    def hybrid_forward(self, F: Any, data: Any, gamma: Any, beta: Any) -> Any:
        """Returns an array as `data`."""
        return op(F, "LayerNorm")(data, gamma=gamma, beta=beta, axis=self._axis, eps=self._epsilon)

    def __repr__(self) -> str:
        return self._shown(**self._kwargs, in_channels=self.gamma.shape[0])


class GroupNorm(_Normalization):
    """Normalizes groups of channels of each sample to mean 0 and variance 1, times gamma (where `scale`) plus beta
    (where `center`) of the group."""

    def __init__(
        self,
        num_groups: int = 1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        prefix: Optional[str] = None,
        params: Any = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self._kwargs: Dict[str, Any] = {"eps": epsilon, "num_groups": num_groups, "center": center, "scale": scale}
        self._num_groups = num_groups
        self._epsilon = epsilon
        self._center = center
        self._scale = scale
        self._make(num_groups, center, scale, beta_initializer, gamma_initializer, differentiable=True)

    def hybrid_forward(self, F: Any, data: Any, gamma: Any, beta: Any) -> Any:
        """Returns an array as `data`, (batch, channels, ...), whose channels `num_groups` divides."""
        run = op(F, "GroupNorm")
        return run(data, gamma=gamma, beta=beta, num_groups=self._num_groups, eps=self._epsilon)

    def __repr__(self) -> str:
        return self._shown(**self._kwargs)
