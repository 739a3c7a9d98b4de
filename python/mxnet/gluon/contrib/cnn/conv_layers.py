# SPDX-License-Identifier: Apache-2.0
"""Convolutions that look where another convolution of the same input tells them to."""

from __future__ import annotations

from typing import Any, Dict, Tuple

from ....base import numeric_types
from ....util import is_np_array
from ..._errors import MismatchError
from ..._ops import op
from ...block import HybridBlock
from ...nn import Activation
from ...nn.conv_layers import shown_convolution

__all__ = ["DeformableConvolution", "ModulatedDeformableConvolution"]


def _pair(value: Any) -> Tuple[int, ...]:
    made = (int(value),) * 2 if isinstance(value, numeric_types) else tuple(value)
    if len(made) != 2:
        raise MismatchError(f"given {value}, expected a number or two of them")
    return made


class _Deformable(HybridBlock):
    """What both have in common. `_per_place` numbers are computed for each element of the kernel."""

    _operator = "DeformableConvolution"
    _per_place = 2
    _offset_first = True

    def __init__(
        self,
        channels: int,
        kernel_size: Any = (1, 1),
        strides: Any = (1, 1),
        padding: Any = (0, 0),
        dilation: Any = (1, 1),
        groups: int = 1,
        num_deformable_group: int = 1,
        layout: str = "NCHW",
        use_bias: bool = True,
        in_channels: int = 0,
        activation: Any = None,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        offset_weight_initializer: Any = "zeros",
        offset_bias_initializer: Any = "zeros",
        offset_use_bias: bool = True,
        op_name: Any = None,
        adj: Any = None,
        prefix: Any = None,
        params: Any = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        if layout not in ("NCHW", "NHWC"):
            raise MismatchError(f"given layout {layout!r}, expected NCHW or NHWC")
        kernel = _pair(kernel_size)
        with self.name_scope():
            self._channels = channels
            self._in_channels = in_channels
            self._op_name = op_name or self._operator
            shared: Dict[str, Any] = {
                "kernel": kernel,
                "stride": _pair(strides),
                "dilate": _pair(dilation),
                "pad": _pair(padding),
                "num_group": groups,
                "layout": layout,
            }
            offsets = self._per_place * kernel[0] * kernel[1] * num_deformable_group
            self._kwargs_offset = {**shared, "num_filter": offsets, "no_bias": not offset_use_bias, "cudnn_off": True}
            self._kwargs_deform = {
                **shared,
                "num_filter": channels,
                "num_deformable_group": num_deformable_group,
                "no_bias": not use_bias,
            }
            if adj is not None:
                self._kwargs_offset["adj"] = self._kwargs_deform["adj"] = _pair(adj)
            inits = {
                "offset": (offsets, offset_weight_initializer, offset_bias_initializer, offset_use_bias),
                "deformable_conv": (channels, weight_initializer, bias_initializer, use_bias),
            }
            order = list(inits) if self._offset_first else list(reversed(list(inits)))
            for name in order:
                self._make(name, kernel, groups, layout, *inits[name])
            self.act = None if activation is None else Activation(activation, prefix=activation + "_")

    def _make(
        self, name: str, kernel: Any, groups: int, layout: str, channels: int, init: Any, bias_init: Any, bias: bool
    ) -> None:
        inputs = self._in_channels // groups
        shape = (channels, inputs, *kernel) if layout == "NCHW" else (channels, *kernel, inputs)
        weight = self.params.get(f"{name}_weight", shape=shape, init=init, allow_deferred_init=True)
        setattr(self, f"{name}_weight", weight)
        made = None
        if bias:
            made = self.params.get(f"{name}_bias", shape=(channels,), init=bias_init, allow_deferred_init=True)
        setattr(self, f"{name}_bias", made)

    def _offsets(self, F: Any, x: Any, weight: Any, bias: Any) -> Any:
        inputs = (x, weight) if bias is None else (x, weight, bias)
        return op(F, "Convolution")(*inputs, **self._kwargs_offset)

    def _run(self, F: Any, *inputs: Any) -> Any:
        if is_np_array():
            name = {"DeformableConvolution": "deformable_convolution"}.get(self._op_name, "modulated_deformable_convolution")
            made = getattr(F.npx, name)(*inputs, name="fwd", **self._kwargs_deform)
        else:
            made = getattr(F.contrib, self._op_name)(*inputs, name="fwd", **self._kwargs_deform)
        return made if self.act is None else self.act(made)


class DeformableConvolution(_Deformable):
    """A convolution whose kernel elements are moved by computed offsets."""

    deformable_conv_weight: Any
    deformable_conv_bias: Any

    def hybrid_forward(
        self,
        F: Any,
        x: Any,
        offset_weight: Any,
        deformable_conv_weight: Any,
        offset_bias: Any = None,
        deformable_conv_bias: Any = None,
    ) -> Any:
        """Returns the convolution of (batch, channels, height, width) at places that a convolution of the same
        input shifts.
        """
        offsets = self._offsets(F, x, offset_weight, offset_bias)
        biases = () if deformable_conv_bias is None else (deformable_conv_bias,)
        return self._run(F, x, offsets, deformable_conv_weight, *biases)

    def _alias(self) -> str:
        return "deformable_conv"

    def __repr__(self) -> str:
        return shown_convolution(self, self._kwargs_deform, self.deformable_conv_weight, self.deformable_conv_bias)


class ModulatedDeformableConvolution(_Deformable):
    """A convolution whose kernel elements are moved by computed offsets and weighted by computed factors."""

    _operator = "ModulatedDeformableConvolution"
    _per_place = 3
    _offset_first = False

    def hybrid_forward(
        self,
        F: Any,
        x: Any,
        offset_weight: Any,
        deformable_conv_weight: Any,
        offset_bias: Any = None,
        deformable_conv_bias: Any = None,
    ) -> Any:
        """Returns the convolution of (batch, channels, height, width) at shifted places, each with a factor of
        its own.
        """
        made = self._offsets(F, x, offset_weight, offset_bias)
        cut = self._kwargs_offset["num_filter"] * 2 // 3
        part = F.npx.slice_axis if is_np_array() and hasattr(F.npx, "slice_axis") else F.slice_axis
        offsets = part(made, axis=1, begin=0, end=cut)
        factors = op(F, "sigmoid")(part(made, axis=1, begin=cut, end=None)) * 2
        biases = () if deformable_conv_bias is None else (deformable_conv_bias,)
        return self._run(F, x, offsets, factors, deformable_conv_weight, *biases)

    def _alias(self) -> str:
        return "modulated_deformable_conv"
