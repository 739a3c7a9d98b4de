# SPDX-License-Identifier: Apache-2.0
"""MobileNet: Howard et al., 2017, and MobileNetV2: Sandler et al., "Inverted Residuals", 2018."""

from __future__ import annotations

from typing import Any

from ....context import cpu
from ... import nn
from ..._ops import op
from ...block import HybridBlock
from ._pretrained import with_weights

__all__ = [
    "MobileNet", "MobileNetV2", "get_mobilenet", "get_mobilenet_v2", "mobilenet0_25", "mobilenet0_5", "mobilenet0_75",
    "mobilenet1_0", "mobilenet_v2_0_25", "mobilenet_v2_0_5", "mobilenet_v2_0_75", "mobilenet_v2_1_0",
]


class RELU6(HybridBlock):
    """ReLU with 6 as the largest output."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns `x` within 0 and 6."""
        return op(F, "clip")(x, 0, 6, name="relu6")


def _add_conv(
    out: nn.HybridSequential,
    channels: int,
    kernel: int = 1,
    stride: int = 1,
    pad: int = 0,
    groups: int = 1,
    active: bool = True,
    relu6: bool = False,
) -> None:
    out.add(nn.Conv2D(channels, kernel, stride, pad, groups=groups, use_bias=False))
    out.add(nn.BatchNorm(scale=True))
    if active:
        out.add(RELU6() if relu6 else nn.Activation("relu"))


def _add_conv_dw(out: nn.HybridSequential, dw_channels: int, channels: int, stride: int, relu6: bool = False) -> None:
    """A convolution of each channel by itself, then one across channels."""
    _add_conv(out, dw_channels, kernel=3, stride=stride, pad=1, groups=dw_channels, relu6=relu6)
    _add_conv(out, channels, relu6=relu6)


class LinearBottleneck(HybridBlock):
    """Expands to t times the channels, convolves each by itself, and narrows without a function at the end."""

    def __init__(self, in_channels: int, channels: int, t: int, stride: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.use_shortcut = stride == 1 and in_channels == channels
        with self.name_scope():
            self.out = nn.HybridSequential()
            _add_conv(self.out, in_channels * t, relu6=True)
            _add_conv(self.out, in_channels * t, kernel=3, stride=stride, pad=1, groups=in_channels * t, relu6=True)
            _add_conv(self.out, channels, active=False, relu6=True)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns what the layers make of `x`, plus `x` where both have one shape."""
        out = self.out(x)
        return _sum(F, out, x) if self.use_shortcut else out


def _sum(F: Any, x: Any, y: Any) -> Any:
    from ....util import is_np_array

    return x + y if is_np_array() else F.elemwise_add(x, y)


class MobileNet(HybridBlock):
    """Separable convolutions; `multiplier` scales the number of channels."""

    def __init__(self, multiplier: float = 1.0, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        depthwise = [32, 64] + [128] * 2 + [256] * 2 + [512] * 6 + [1024]
        channels = [64] + [128] * 2 + [256] * 2 + [512] * 6 + [1024] * 2
        strides = [1, 2] * 3 + [1] * 5 + [2, 1]
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            with self.features.name_scope():
                _add_conv(self.features, int(32 * multiplier), kernel=3, pad=1, stride=2)
                for own, made, stride in zip(depthwise, channels, strides):
                    _add_conv_dw(self.features, int(own * multiplier), int(made * multiplier), stride)
                self.features.add(nn.GlobalAvgPool2D())
                self.features.add(nn.Flatten())
            self.output = nn.Dense(classes)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns scores (batch, classes) of images (batch, 3, height, width)."""
        return self.output(self.features(x))


class MobileNetV2(HybridBlock):
    """Linear bottlenecks; `multiplier` scales the number of channels."""

    def __init__(self, multiplier: float = 1.0, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="features_")
            with self.features.name_scope():
                _add_conv(self.features, int(32 * multiplier), kernel=3, stride=2, pad=1, relu6=True)
                inputs = [32] + [16] + [24] * 2 + [32] * 3 + [64] * 4 + [96] * 3 + [160] * 3
                channels = [16] + [24] * 2 + [32] * 3 + [64] * 4 + [96] * 3 + [160] * 3 + [320]
                expansions = [1] + [6] * 16
                strides = [1, 2] * 2 + [1, 1, 2] + [1] * 6 + [2] + [1] * 3
                for first, last, t, stride in zip(inputs, channels, expansions, strides):
                    self.features.add(LinearBottleneck(int(first * multiplier), int(last * multiplier), t, stride))
                # Fewer than 1280 features would cost accuracy and save little.
                _add_conv(self.features, int(1280 * multiplier) if multiplier > 1.0 else 1280, relu6=True)
                self.features.add(nn.GlobalAvgPool2D())
            self.output = nn.HybridSequential(prefix="output_")
            with self.output.name_scope():
                self.output.add(nn.Conv2D(classes, 1, use_bias=False, prefix="pred_"))
                self.output.add(nn.Flatten())

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns scores (batch, classes) of images (batch, 3, height, width)."""
        return self.output(self.features(x))


def _suffix(multiplier: float) -> str:
    """As the files name it: 0.25, 0.5, 0.75, 1.0."""
    text = f"{multiplier:.2f}"
    return text[:-1] if text in ("1.00", "0.50") else text


def get_mobilenet(
    multiplier: float, pretrained: bool = False, ctx: Any = cpu(), root: str = "~/.mxnet/models", **kwargs: Any
) -> MobileNet:
    """MobileNet; there are trained parameters for 0.25, 0.5, 0.75 and 1."""
    return with_weights(MobileNet(multiplier, **kwargs), f"mobilenet{_suffix(multiplier)}", pretrained, ctx, root)


def get_mobilenet_v2(
    multiplier: float, pretrained: bool = False, ctx: Any = cpu(), root: str = "~/.mxnet/models", **kwargs: Any
) -> MobileNetV2:
    """MobileNetV2; there are trained parameters for 0.25, 0.5, 0.75 and 1."""
    return with_weights(MobileNetV2(multiplier, **kwargs), f"mobilenetv2_{_suffix(multiplier)}", pretrained, ctx, root)


def mobilenet1_0(**kwargs: Any) -> MobileNet:
    """MobileNet with all channels."""
    return get_mobilenet(1.0, **kwargs)


def mobilenet0_75(**kwargs: Any) -> MobileNet:
    """MobileNet with three quarters of the channels."""
    return get_mobilenet(0.75, **kwargs)


def mobilenet0_5(**kwargs: Any) -> MobileNet:
    """MobileNet with half of the channels."""
    return get_mobilenet(0.5, **kwargs)


def mobilenet0_25(**kwargs: Any) -> MobileNet:
    """MobileNet with a quarter of the channels."""
    return get_mobilenet(0.25, **kwargs)


def mobilenet_v2_1_0(**kwargs: Any) -> MobileNetV2:
    """MobileNetV2 with all channels."""
    return get_mobilenet_v2(1.0, **kwargs)


def mobilenet_v2_0_75(**kwargs: Any) -> MobileNetV2:
    """MobileNetV2 with three quarters of the channels."""
    return get_mobilenet_v2(0.75, **kwargs)


def mobilenet_v2_0_5(**kwargs: Any) -> MobileNetV2:
    """MobileNetV2 with half of the channels."""
    return get_mobilenet_v2(0.5, **kwargs)


def mobilenet_v2_0_25(**kwargs: Any) -> MobileNetV2:
    """MobileNetV2 with a quarter of the channels."""
    return get_mobilenet_v2(0.25, **kwargs)
