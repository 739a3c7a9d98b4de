# SPDX-License-Identifier: Apache-2.0
"""ResNet: He et al., "Deep Residual Learning", 2015 (V1), and "Identity Mappings", 2016 (V2)."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Sequence, Tuple

from ....context import cpu
from ... import nn
from ..._errors import MismatchError
from ..._ops import op
from ...block import HybridBlock
from ._pretrained import spec_of, with_weights

__all__ = [
    "BasicBlockV1", "BasicBlockV2", "BottleneckV1", "BottleneckV2", "ResNetV1", "ResNetV2", "get_resnet", "resnet101_v1",
    "resnet101_v2", "resnet152_v1", "resnet152_v2", "resnet18_v1", "resnet18_v2", "resnet34_v1", "resnet34_v2",
    "resnet50_v1", "resnet50_v2",
]


def _conv3x3(channels: int, stride: int, in_channels: int) -> nn.Conv2D:
    return nn.Conv2D(channels, kernel_size=3, strides=stride, padding=1, use_bias=False, in_channels=in_channels)


def _relu(F: Any, x: Any) -> Any:
    return op(F, "Activation")(x, act_type="relu")


class _BlockV1(HybridBlock):
    """relu(body(x) + x), or with `downsample` + convolution(x)."""

    def __init__(self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.body = nn.HybridSequential(prefix="")
        self._fill(channels, stride, in_channels)
        self.downsample = None
        if downsample:
            self.downsample = nn.HybridSequential(prefix="")
            self.downsample.add(
                nn.Conv2D(channels, kernel_size=1, strides=stride, use_bias=False, in_channels=in_channels)
            )
            self.downsample.add(nn.BatchNorm())

    def _fill(self, channels: int, stride: int, in_channels: int) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no _fill(channels, stride, in_channels)")

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns relu(layers of `x` + `x`, itself or through a convolution)."""
        body = self.body(x)
        residual = x if self.downsample is None else self.downsample(x)
        return _relu(F, self._sum(body, residual))

    @staticmethod
    def _sum(body: Any, residual: Any) -> Any:
        return body + residual


class BasicBlockV1(_BlockV1):
    """Two 3 x 3 convolutions beside a shortcut."""

    def _fill(self, channels: int, stride: int, in_channels: int) -> None:
        self.body.add(_conv3x3(channels, stride, in_channels))
        self.body.add(nn.BatchNorm())
        self.body.add(nn.Activation("relu"))
        self.body.add(_conv3x3(channels, 1, channels))
        self.body.add(nn.BatchNorm())

    @staticmethod
    def _sum(body: Any, residual: Any) -> Any:
        return residual + body  # the order of nodes in files


class BottleneckV1(_BlockV1):
    """A 3 x 3 convolution of a quarter of the channels between two 1 x 1 ones, beside a shortcut."""

    def _fill(self, channels: int, stride: int, in_channels: int) -> None:
        self.body.add(nn.Conv2D(channels // 4, kernel_size=1, strides=stride))
        self.body.add(nn.BatchNorm())
        self.body.add(nn.Activation("relu"))
        self.body.add(_conv3x3(channels // 4, 1, channels // 4))
        self.body.add(nn.BatchNorm())
        self.body.add(nn.Activation("relu"))
        self.body.add(nn.Conv2D(channels, kernel_size=1, strides=1))
        self.body.add(nn.BatchNorm())


def _shortcut(channels: int, stride: int, in_channels: int) -> nn.Conv2D:
    return nn.Conv2D(channels, 1, stride, use_bias=False, in_channels=in_channels)


class BasicBlockV2(HybridBlock):
    """Normalization and ReLU before each of two 3 x 3 convolutions, beside a shortcut."""

    def __init__(self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.bn1 = nn.BatchNorm()
        self.conv1 = _conv3x3(channels, stride, in_channels)
        self.bn2 = nn.BatchNorm()
        self.conv2 = _conv3x3(channels, 1, channels)
        self.downsample = _shortcut(channels, stride, in_channels) if downsample else None

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns the layers of the normalized `x` + a shortcut: `x` itself, or a convolution of what is
        normalized.
        """
        residual = x
        x = _relu(F, self.bn1(x))
        if self.downsample is not None:
            residual = self.downsample(x)
        x = _relu(F, self.bn2(self.conv1(x)))
        return self.conv2(x) + residual


class BottleneckV2(HybridBlock):
    """Normalization and ReLU before each of three convolutions (1 x 1, 3 x 3, 1 x 1), beside a shortcut."""

    def __init__(self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.bn1 = nn.BatchNorm()
        self.conv1 = nn.Conv2D(channels // 4, kernel_size=1, strides=1, use_bias=False)
        self.bn2 = nn.BatchNorm()
        self.conv2 = _conv3x3(channels // 4, stride, channels // 4)
        self.bn3 = nn.BatchNorm()
        self.conv3 = nn.Conv2D(channels, kernel_size=1, strides=1, use_bias=False)
        self.downsample = _shortcut(channels, stride, in_channels) if downsample else None

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns the layers of the normalized `x` + a shortcut: `x` itself, or a convolution of what is
        normalized.
        """
        residual = x
        x = _relu(F, self.bn1(x))
        if self.downsample is not None:
            residual = self.downsample(x)
        x = _relu(F, self.bn2(self.conv1(x)))
        x = _relu(F, self.bn3(self.conv2(x)))
        return self.conv3(x) + residual


class _ResNet(HybridBlock):
    """What both versions have in common: the first layers and the stages."""

    features: nn.HybridSequential
    output: nn.Dense

    def _add_stem(self, channels: int, thumbnail: bool) -> None:
        if thumbnail:
            self.features.add(_conv3x3(channels, 1, 0))
            return
        self.features.add(nn.Conv2D(channels, 7, 2, 3, use_bias=False))
        self.features.add(nn.BatchNorm())
        self.features.add(nn.Activation("relu"))
        self.features.add(nn.MaxPool2D(3, 2, 1))

    def _add_stages(self, block: Any, layers: Sequence[int], channels: Sequence[int]) -> None:
        if len(layers) != len(channels) - 1:
            raise MismatchError(f"given {len(layers)} stages and channels {channels}, expected one number more than stages")
        for i, count in enumerate(layers):
            stride = 1 if i == 0 else 2
            self.features.add(self._make_layer(block, count, channels[i + 1], stride, i + 1, channels[i]))

    def _make_layer(
        self, block: Any, layers: int, channels: int, stride: int, stage_index: int, in_channels: int = 0
    ) -> nn.HybridSequential:
        """Blocks of one size; the first one may change size and channels. Networks derived from these make theirs."""
        made = nn.HybridSequential(prefix=f"stage{stage_index}_")
        with made.name_scope():
            made.add(block(channels, stride, channels != in_channels, in_channels=in_channels, prefix=""))
            for _ in range(layers - 1):
                made.add(block(channels, 1, False, in_channels=channels, prefix=""))
        return made

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns scores (batch, classes) of images (batch, 3, height, width)."""
        return self.output(self.features(x))


class ResNetV1(_ResNet):
    """Residual network; with `thumbnail` for small images."""

    def __init__(
        self,
        block: Any,
        layers: Sequence[int],
        channels: Sequence[int],
        classes: int = 1000,
        thumbnail: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self._add_stem(channels[0], thumbnail)
            self._add_stages(block, layers, channels)
            self.features.add(nn.GlobalAvgPool2D())
            self.output = nn.Dense(classes, in_units=channels[-1])


class ResNetV2(_ResNet):
    """Residual network whose shortcuts nothing interrupts; with `thumbnail` for small images."""

    def __init__(
        self,
        block: Any,
        layers: Sequence[int],
        channels: Sequence[int],
        classes: int = 1000,
        thumbnail: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self.features.add(nn.BatchNorm(scale=False, center=False))
            self._add_stem(channels[0], thumbnail)
            self._add_stages(block, layers, channels)
            self.features.add(nn.BatchNorm())
            self.features.add(nn.Activation("relu"))
            self.features.add(nn.GlobalAvgPool2D())
            self.features.add(nn.Flatten())
            self.output = nn.Dense(classes, in_units=channels[-1])


# By number of layers with weights: kind of block, blocks of each stage, channels of the first layer and the stages.
resnet_spec: Dict[int, Tuple[str, List[int], List[int]]] = {
    18: ("basic_block", [2, 2, 2, 2], [64, 64, 128, 256, 512]),
    34: ("basic_block", [3, 4, 6, 3], [64, 64, 128, 256, 512]),
    50: ("bottle_neck", [3, 4, 6, 3], [64, 256, 512, 1024, 2048]),
    101: ("bottle_neck", [3, 4, 23, 3], [64, 256, 512, 1024, 2048]),
    152: ("bottle_neck", [3, 8, 36, 3], [64, 256, 512, 1024, 2048]),
}
resnet_net_versions = [ResNetV1, ResNetV2]
resnet_block_versions: List[Dict[str, Any]] = [
    {"basic_block": BasicBlockV1, "bottle_neck": BottleneckV1},
    {"basic_block": BasicBlockV2, "bottle_neck": BottleneckV2},
]


def get_resnet(
    version: int, num_layers: int, pretrained: bool = False, ctx: Any = cpu(), root: str = "~/.mxnet/models", **kwargs: Any
) -> HybridBlock:
    """ResNet of version 1 or 2 and of 18, 34, 50, 101 or 152 layers."""
    kind, layers, channels = spec_of(resnet_spec, num_layers, "num_layers")
    if version not in (1, 2):
        raise MismatchError(f"given version {version}, expected 1 or 2")
    block = resnet_block_versions[version - 1][kind]
    net = resnet_net_versions[version - 1](block, layers, channels, **kwargs)
    return with_weights(net, f"resnet{num_layers}_v{version}", pretrained, ctx, root)


def _named(version: int, num_layers: int) -> Callable[..., HybridBlock]:
    def make(**kwargs: Any) -> HybridBlock:
        return get_resnet(version, num_layers, **kwargs)

    make.__name__ = make.__qualname__ = f"resnet{num_layers}_v{version}"
    make.__doc__ = f"ResNet of version {version} and {num_layers} layers."
    return make


resnet18_v1, resnet18_v2 = _named(1, 18), _named(2, 18)
resnet34_v1, resnet34_v2 = _named(1, 34), _named(2, 34)
resnet50_v1, resnet50_v2 = _named(1, 50), _named(2, 50)
resnet101_v1, resnet101_v2 = _named(1, 101), _named(2, 101)
resnet152_v1, resnet152_v2 = _named(1, 152), _named(2, 152)
