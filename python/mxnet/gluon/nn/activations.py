# SPDX-License-Identifier: Apache-2.0
"""Layers that apply a function to each element."""

from __future__ import annotations

from typing import Any

from ... import initializer
from .._ops import op
from ..block import HybridBlock

__all__ = ["ELU", "GELU", "Activation", "LeakyReLU", "PReLU", "SELU", "Swish"]


class Activation(HybridBlock):
    """One of relu, sigmoid, tanh, softrelu and softsign."""

    def __init__(self, activation: str, **kwargs: Any) -> None:
        self._act_type = activation
        super().__init__(**kwargs)

    def _alias(self) -> str:
        return self._act_type

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns an array as `x`."""
        return op(F, "Activation")(x, act_type=self._act_type, name="fwd")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._act_type})"


class LeakyReLU(HybridBlock):
    """x where it is positive, else alpha * x."""

    def __init__(self, alpha: float, **kwargs: Any) -> None:
        if alpha < 0:
            raise ValueError(f"given alpha {alpha}, expected at least 0")
        super().__init__(**kwargs)
        self._alpha = alpha

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns an array as `x`."""
        return op(F, "LeakyReLU")(x, act_type="leaky", slope=self._alpha, name="fwd")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._alpha})"


class PReLU(HybridBlock):
    """x where it is positive, else alpha * x with a trained alpha, one for all channels or one for each."""

    def __init__(
        self, alpha_initializer: Any = initializer.Constant(0.25), in_channels: int = 1, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.alpha = self.params.get("alpha", shape=(in_channels,), init=alpha_initializer)

    def hybrid_forward(self, F: Any, x: Any, alpha: Any) -> Any:
        """Returns an array as `x`; with several alphas the channels are its second axis."""
        return op(F, "LeakyReLU")(x, gamma=alpha, act_type="prelu", name="fwd")


class ELU(HybridBlock):
    """x where it is positive, else alpha * (exp(x) - 1)."""

    def __init__(self, alpha: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._alpha = alpha

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns an array as `x`."""
        return op(F, "LeakyReLU")(x, act_type="elu", slope=self._alpha)


class SELU(HybridBlock):
    """ELU with the scale and alpha that keep mean and variance."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns an array as `x`."""
        return op(F, "LeakyReLU")(x, act_type="selu", name="fwd")


class GELU(HybridBlock):
    """x times the normal distribution's function of x."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns an array as `x`."""
        return op(F, "LeakyReLU")(x, act_type="gelu", name="fwd")


class Swish(HybridBlock):
    """x * sigmoid(beta * x)."""

    def __init__(self, beta: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._beta = beta

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns an array as `x`."""
        return x * op(F, "sigmoid")(self._beta * x, name="fwd")
