# SPDX-License-Identifier: Apache-2.0
"""VGG: Simonyan and Zisserman, "Very Deep Convolutional Networks for Large-Scale Image Recognition", 2014."""

from __future__ import annotations

from typing import Any, Dict, List, Sequence, Tuple

from ....context import cpu
from ....initializer import Xavier
from ... import nn
from ..._errors import MismatchError
from ...block import HybridBlock
from ._pretrained import spec_of, with_weights

__all__ = [
    "VGG", "get_vgg", "vgg11", "vgg11_bn", "vgg13", "vgg13_bn", "vgg16", "vgg16_bn", "vgg19", "vgg19_bn",
]

# By number of layers with weights: convolutions of each stage, and their channels.
vgg_spec: Dict[int, Tuple[List[int], List[int]]] = {
    11: ([1, 1, 2, 2, 2], [64, 128, 256, 512, 512]),
    13: ([2, 2, 2, 2, 2], [64, 128, 256, 512, 512]),
    16: ([2, 2, 3, 3, 3], [64, 128, 256, 512, 512]),
    19: ([2, 2, 4, 4, 4], [64, 128, 256, 512, 512]),
}


class VGG(HybridBlock):
    """Stages of 3 x 3 convolutions, each ended by pooling, and three dense layers."""

    def __init__(
        self, layers: Sequence[int], filters: Sequence[int], classes: int = 1000, batch_norm: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        if len(layers) != len(filters):
            raise MismatchError(f"given {len(layers)} stages and channels of {len(filters)}, expected as many")
        with self.name_scope():
            self.features = self._make_features(layers, filters, batch_norm)
            for _ in range(2):
                self.features.add(nn.Dense(4096, activation="relu", weight_initializer="normal"))
                self.features.add(nn.Dropout(rate=0.5))
            self.output = nn.Dense(classes, weight_initializer="normal")

    def _make_features(self, layers: Sequence[int], filters: Sequence[int], batch_norm: bool) -> nn.HybridSequential:
        made = nn.HybridSequential(prefix="")
        for count, channels in zip(layers, filters):
            for _ in range(count):
                init = Xavier(rnd_type="gaussian", factor_type="out", magnitude=2)
                made.add(nn.Conv2D(channels, kernel_size=3, padding=1, weight_initializer=init))
                if batch_norm:
                    made.add(nn.BatchNorm())
                made.add(nn.Activation("relu"))
            made.add(nn.MaxPool2D(strides=2))
        return made

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns scores (batch, classes) of images (batch, 3, height, width)."""
        return self.output(self.features(x))


def get_vgg(
    num_layers: int, pretrained: bool = False, ctx: Any = cpu(), root: str = "~/.mxnet/models", **kwargs: Any
) -> VGG:
    """VGG of 11, 13, 16 or 19 layers, with batch_norm=True if asked for."""
    layers, filters = spec_of(vgg_spec, num_layers, "num_layers")
    suffix = "_bn" if kwargs.get("batch_norm") else ""
    return with_weights(VGG(layers, filters, **kwargs), f"vgg{num_layers}{suffix}", pretrained, ctx, root)


def vgg11(**kwargs: Any) -> VGG:
    """VGG of 11 layers."""
    return get_vgg(11, **kwargs)


def vgg13(**kwargs: Any) -> VGG:
    """VGG of 13 layers."""
    return get_vgg(13, **kwargs)


def vgg16(**kwargs: Any) -> VGG:
    """VGG of 16 layers."""
    return get_vgg(16, **kwargs)


def vgg19(**kwargs: Any) -> VGG:
    """VGG of 19 layers."""
    return get_vgg(19, **kwargs)


def vgg11_bn(**kwargs: Any) -> VGG:
    """VGG of 11 layers with batch normalization."""
    return get_vgg(11, **{**kwargs, "batch_norm": True})


def vgg13_bn(**kwargs: Any) -> VGG:
    """VGG of 13 layers with batch normalization."""
    return get_vgg(13, **{**kwargs, "batch_norm": True})


def vgg16_bn(**kwargs: Any) -> VGG:
    """VGG of 16 layers with batch normalization."""
    return get_vgg(16, **{**kwargs, "batch_norm": True})


def vgg19_bn(**kwargs: Any) -> VGG:
    """VGG of 19 layers with batch normalization."""
    return get_vgg(19, **{**kwargs, "batch_norm": True})
