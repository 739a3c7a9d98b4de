# SPDX-License-Identifier: Apache-2.0
"""Convolutions, transposed convolutions and padding, in one to three dimensions; pooling, by the module of 1.x."""

from __future__ import annotations

from typing import Any, Callable, Dict, Tuple, TypeVar

from ..._signatures import with_defaults
from ...base import numeric_types  # noqa: F401  (a name of this module in 1.x)
from .._ops import op
from ..block import HybridBlock
from ._pooling import (
    AvgPool1D, AvgPool2D, AvgPool3D, GlobalAvgPool1D, GlobalAvgPool2D, GlobalAvgPool3D, GlobalMaxPool1D, GlobalMaxPool2D,
    GlobalMaxPool3D, MaxPool1D, MaxPool2D, MaxPool3D,
)  # fmt: skip
from ._windows import one_of_layouts, per_dimension
from .activations import Activation

__all__ = [
    "AvgPool1D", "AvgPool2D", "AvgPool3D", "Conv1D", "Conv1DTranspose", "Conv2D", "Conv2DTranspose", "Conv3D",
    "Conv3DTranspose", "GlobalAvgPool1D", "GlobalAvgPool2D", "GlobalAvgPool3D", "GlobalMaxPool1D", "GlobalMaxPool2D",
    "GlobalMaxPool3D", "MaxPool1D", "MaxPool2D", "MaxPool3D", "ReflectionPad2D",
]

for _name in __all__:
    if _name in globals():  # those of _pooling
        globals()[_name].__module__ = __name__  # pickles of other versions look for it here


def shown_convolution(layer: Any, facts: Dict[str, Any], weight: Any, bias: Any) -> str:
    """What a convolution with these attributes of its operator is printed as."""
    shape, dims = weight.shape, len(facts["kernel"])
    shown = [f"{shape[1] or None} -> {shape[0]}", f"kernel_size={facts['kernel']}", f"stride={facts['stride']}"]
    for name, key, usual in (("padding", "pad", 0), ("dilation", "dilate", 1)):
        if facts.get(key, (usual,) * dims) != (usual,) * dims:
            shown.append(f"{name}={facts[key]}")
    if facts["num_group"] != 1:
        shown.append(f"groups={facts['num_group']}")
    if bias is None:
        shown.append("bias=False")
    if layer.act is not None:
        shown.append(str(layer.act))
    return f"{type(layer).__name__}({', '.join(shown)})"


def _infer_weight_shape(op_name: str, data_shape: Any, kwargs: Dict[str, Any]) -> Any:
    """The shapes of an operator's inputs as the first one's and its parameters tell; convolutions of packages ask so."""
    from ... import symbol

    made = op(symbol, op_name)(symbol.var("data", shape=data_shape), **kwargs)
    return made.infer_shape_partial()[0]


class _Conv(HybridBlock):
    """What all convolutions have in common; weight shapes that depend on the input are found by the operator."""

    def __init__(
        self,
        channels: int,
        kernel_size: Tuple[int, ...],
        strides: Any,
        padding: Any,
        dilation: Any,
        groups: int,
        layout: str,
        in_channels: int = 0,
        activation: Any = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        op_name: str = "Convolution",
        adj: Any = None,
        prefix: Any = None,
        params: Any = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        dims = len(kernel_size)
        with self.name_scope():
            self._channels = channels
            self._in_channels = in_channels
            self._op_name = op_name
            self._kwargs: Dict[str, Any] = {
                "kernel": kernel_size,
                "stride": per_dimension(strides, dims),
                "dilate": per_dimension(dilation, dims),
                "pad": per_dimension(padding, dims),
                "num_filter": channels,
                "num_group": groups,
                "no_bias": not use_bias,
                "layout": layout,
            }
            if adj is not None:
                self._kwargs["adj"] = per_dimension(adj, dims)
            self.weight = self.params.get(
                "weight", shape=self._weight_shape(), init=weight_initializer, allow_deferred_init=True
            )
            self.bias = None
            if use_bias:
                self.bias = self.params.get("bias", shape=(channels,), init=bias_initializer, allow_deferred_init=True)
            self.act = None if activation is None else Activation(activation, prefix=activation + "_")

    def _weight_shape(self) -> Tuple[int, ...]:
        """Outputs and inputs (the other way round for transposed ones), and the kernel where the layout has the space."""
        groups, outer, inner = self._kwargs["num_group"], self._channels, self._in_channels
        if self._op_name == "Deconvolution":
            outer, inner = inner, outer
        inner //= groups
        kernel = self._kwargs["kernel"]
        return (outer, inner, *kernel) if self._kwargs["layout"].startswith("NC") else (outer, *kernel, inner)

    def _alias(self) -> str:
        return "conv"

    def hybrid_forward(self, F: Any, x: Any, weight: Any, bias: Any = None) -> Any:
        """Returns the convolution of an array in the layer's layout, with the activation if there is one."""
        inputs = (x, weight) if bias is None else (x, weight, bias)
        made = op(F, self._op_name)(*inputs, name="fwd", **self._kwargs)
        return made if self.act is None else self.act(made)

    def __repr__(self) -> str:
        return shown_convolution(self, self._kwargs, self.weight, self.bias)


class _Convolution(_Conv):
    """A convolution as programs make it; those over other than two dimensions differ in defaults alone."""

    _dims = 2
    _layouts: Tuple[str, ...] = ()

    def __init__(
        self,
        channels: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: Any = (0, 0),
        dilation: Any = (1, 1),
        groups: int = 1,
        layout: str = "NCHW",
        activation: Any = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            channels, per_dimension(kernel_size, self._dims), strides, padding, dilation, groups,
            one_of_layouts(layout, *self._layouts), in_channels, activation, use_bias, weight_initializer, bias_initializer, **kwargs,
        )


class _Transposed(_Conv):
    """A transposed convolution as programs make it."""

    _dims = 2
    _layouts: Tuple[str, ...] = ()

    def __init__(
        self,
        channels: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: Any = (0, 0),
        output_padding: Any = (0, 0),
        dilation: Any = (1, 1),
        groups: int = 1,
        layout: str = "NCHW",
        activation: Any = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            channels, per_dimension(kernel_size, self._dims), strides, padding, dilation, groups,
            one_of_layouts(layout, *self._layouts), in_channels, activation, use_bias, weight_initializer, bias_initializer, op_name="Deconvolution",
            adj=output_padding, **kwargs,
        )
        self.outpad = per_dimension(output_padding, self._dims)


_Class = TypeVar("_Class", bound=type)


def _over(dims: int, *layouts: str) -> Callable[[_Class], _Class]:
    """Decorates a class of convolutions over so many dimensions, with defaults that fit them."""

    def decorate(cls: _Class) -> _Class:
        cls._dims, cls._layouts = dims, layouts  # type: ignore[attr-defined]
        ones, zeros = (1, 0) if dims == 1 else ((1,) * dims, (0,) * dims)
        outside = {"output_padding": zeros} if issubclass(cls, _Transposed) else {}
        return with_defaults(strides=ones, padding=zeros, dilation=ones, layout=layouts[0], **outside)(cls)

    return decorate


@_over(1, "NCW")
class Conv1D(_Convolution):
    """Convolution over one dimension: `channels` filters of `kernel_size` over (batch, in_channels, width), which come
    out as (batch, channels, width). `groups` of channels do not mix; with `in_channels` of 0 the first call says how
    many there are. `activation` is a name, as of Activation."""


@_over(2, "NCHW", "NHWC")
class Conv2D(_Convolution):
    """Convolution over two dimensions: `channels` filters of `kernel_size` over (batch, in_channels, height, width),
    which come out as (batch, channels, height, width). `groups` of channels do not mix; with `in_channels` of 0 the
    first call says how many there are. `activation` is a name, as of Activation."""


@_over(3, "NCDHW", "NDHWC")
class Conv3D(_Convolution):
    """Convolution over three dimensions: `channels` filters of `kernel_size` over (batch, in_channels, depth, height,
    width), which come out as (batch, channels, depth, height, width). `groups` of channels do not mix; with
    `in_channels` of 0 the first call says how many there are. `activation` is a name, as of Activation."""


@_over(1, "NCW")
class Conv1DTranspose(_Transposed):
    """Transposed convolution over one dimension, the gradient of a convolution by its input: `strides` is how many
    times as large the result is, `padding` what is taken off its borders, `output_padding` what is added at its end."""


@_over(2, "NCHW", "NHWC")
class Conv2DTranspose(_Transposed):
    """Transposed convolution over two dimensions, the gradient of a convolution by its input: `strides` is how many
    times as large the result is, `padding` what is taken off its borders, `output_padding` what is added at its end."""


@_over(3, "NCDHW", "NDHWC")
class Conv3DTranspose(_Transposed):
    """Transposed convolution over three dimensions, the gradient of a convolution by its input: `strides` is how many
    times as large the result is, `padding` what is taken off its borders, `output_padding` what is added at its end."""


class ReflectionPad2D(HybridBlock):
    """Each image with its own border mirrored around it."""

    def __init__(self, padding: Any = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._padding = (0, 0, 0, 0, *(padding,) * 4) if isinstance(padding, int) else tuple(padding)
        if len(self._padding) != 8:
            raise ValueError(f"given padding {padding}, expected a number or 8 of them, two for each axis")

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns (batch, channels, height, width), larger by the padding."""
        return op(F, "pad")(x, mode="reflect", pad_width=self._padding)
