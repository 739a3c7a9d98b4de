# SPDX-License-Identifier: Apache-2.0
"""SqueezeNet: Iandola et al., "AlexNet-level accuracy with 50x fewer parameters", 2016."""

from __future__ import annotations

from typing import Any, Dict, List, Tuple, Union

from ....context import cpu
from ... import nn
from ...block import HybridBlock
from ...contrib.nn import HybridConcurrent
from ._pretrained import spec_of, with_weights

__all__ = ["SqueezeNet", "get_squeezenet", "squeezenet1_0", "squeezenet1_1"]

# By version: channels and kernel of the first convolution, and then for each step the channels that
# a fire module squeezes to, or "pool".
_SPEC: Dict[str, Tuple[int, int, List[Union[int, str]]]] = {
    "1.0": (96, 7, ["pool", 16, 16, 32, "pool", 32, 48, 48, 64, "pool", 64]),
    "1.1": (64, 3, ["pool", 16, 16, "pool", 32, 32, "pool", 48, 48, 64, 64]),
}


def _fire(squeezed: int) -> nn.HybridSequential:
    """1 x 1 convolution to few channels, then 1 x 1 and 3 x 3 ones side by side to four times as many each."""
    made = nn.HybridSequential(prefix="")
    made.add(_conv(squeezed, 1))
    sides = HybridConcurrent(axis=1, prefix="")
    sides.add(_conv(squeezed * 4, 1))
    sides.add(_conv(squeezed * 4, 3, 1))
    made.add(sides)
    return made


def _conv(channels: int, kernel: int, padding: int = 0) -> nn.HybridSequential:
    made = nn.HybridSequential(prefix="")
    made.add(nn.Conv2D(channels, kernel, padding=padding))
    made.add(nn.Activation("relu"))
    return made


class SqueezeNet(HybridBlock):
    """Fire modules with pooling between them; the last convolution has a channel per class."""

    def __init__(self, version: str, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        channels, kernel, steps = spec_of(_SPEC, version, "version")
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self.features.add(nn.Conv2D(channels, kernel_size=kernel, strides=2))
            self.features.add(nn.Activation("relu"))
            for step in steps:
                pool = step == "pool"
                self.features.add(nn.MaxPool2D(pool_size=3, strides=2, ceil_mode=True) if pool else _fire(int(step)))
            self.features.add(nn.Dropout(0.5))
            self.output = nn.HybridSequential(prefix="")
            self.output.add(nn.Conv2D(classes, kernel_size=1))
            self.output.add(nn.Activation("relu"))
            self.output.add(nn.AvgPool2D(13))
            self.output.add(nn.Flatten())

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns scores (batch, classes) of images (batch, 3, height, width)."""
        return self.output(self.features(x))


def get_squeezenet(
    version: str, pretrained: bool = False, ctx: Any = cpu(), root: str = "~/.mxnet/models", **kwargs: Any
) -> SqueezeNet:
    """SqueezeNet of version 1.0 or 1.1."""
    return with_weights(SqueezeNet(version, **kwargs), f"squeezenet{version}", pretrained, ctx, root)


def squeezenet1_0(**kwargs: Any) -> SqueezeNet:
    """SqueezeNet 1.0."""
    return get_squeezenet("1.0", **kwargs)


def squeezenet1_1(**kwargs: Any) -> SqueezeNet:
    """SqueezeNet 1.1, which needs less than half the work of 1.0."""
    return get_squeezenet("1.1", **kwargs)
