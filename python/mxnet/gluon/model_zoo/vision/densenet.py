# SPDX-License-Identifier: Apache-2.0
"""DenseNet: Huang et al., "Densely Connected Convolutional Networks", 2016."""

from __future__ import annotations

from typing import Any, Dict, List, Sequence, Tuple

from ....context import cpu
from ... import nn
from ...block import HybridBlock
from ...contrib.nn import HybridConcurrent, Identity
from ._pretrained import spec_of, with_weights

__all__ = ["DenseNet", "densenet121", "densenet161", "densenet169", "densenet201"]

# By number of layers with weights: channels of the first convolution, growth, layers of each block.
densenet_spec: Dict[int, Tuple[int, int, List[int]]] = {
    121: (64, 32, [6, 12, 24, 16]),
    161: (96, 48, [6, 12, 36, 24]),
    169: (64, 32, [6, 12, 32, 32]),
    201: (64, 32, [6, 12, 48, 32]),
}


def _make_dense_layer(growth_rate: int, bn_size: int, dropout: float) -> HybridConcurrent:
    """What comes in, and beside it `growth_rate` new channels."""
    new = nn.HybridSequential(prefix="")
    new.add(nn.BatchNorm())
    new.add(nn.Activation("relu"))
    new.add(nn.Conv2D(bn_size * growth_rate, kernel_size=1, use_bias=False))
    new.add(nn.BatchNorm())
    new.add(nn.Activation("relu"))
    new.add(nn.Conv2D(growth_rate, kernel_size=3, padding=1, use_bias=False))
    if dropout:
        new.add(nn.Dropout(dropout))
    made = HybridConcurrent(axis=1, prefix="")
    made.add(Identity())
    made.add(new)
    return made


def _make_dense_block(layers: int, bn_size: int, growth_rate: int, dropout: float, stage: int) -> nn.HybridSequential:
    made = nn.HybridSequential(prefix=f"stage{stage}_")
    with made.name_scope():
        for _ in range(layers):
            made.add(_make_dense_layer(growth_rate, bn_size, dropout))
    return made


def _make_transition(channels: int) -> nn.HybridSequential:
    """Half the channels and half the size."""
    made = nn.HybridSequential(prefix="")
    made.add(nn.BatchNorm())
    made.add(nn.Activation("relu"))
    made.add(nn.Conv2D(channels, kernel_size=1, use_bias=False))
    made.add(nn.AvgPool2D(pool_size=2, strides=2))
    return made


class DenseNet(HybridBlock):
    """Blocks in which each layer sees the outputs of all layers before it."""

    def __init__(
        self,
        num_init_features: int,
        growth_rate: int,
        block_config: Sequence[int],
        bn_size: int = 4,
        dropout: float = 0,
        classes: int = 1000,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self.features.add(nn.Conv2D(num_init_features, kernel_size=7, strides=2, padding=3, use_bias=False))
            self.features.add(nn.BatchNorm())
            self.features.add(nn.Activation("relu"))
            self.features.add(nn.MaxPool2D(pool_size=3, strides=2, padding=1))
            channels = num_init_features
            for i, layers in enumerate(block_config):
                self.features.add(_make_dense_block(layers, bn_size, growth_rate, dropout, i + 1))
                channels += layers * growth_rate
                if i != len(block_config) - 1:
                    channels //= 2
                    self.features.add(_make_transition(channels))
            self.features.add(nn.BatchNorm())
            self.features.add(nn.Activation("relu"))
            self.features.add(nn.AvgPool2D(pool_size=7))
            self.features.add(nn.Flatten())
            self.output = nn.Dense(classes)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns scores (batch, classes) of images (batch, 3, height, width)."""
        return self.output(self.features(x))


def get_densenet(
    num_layers: int, pretrained: bool = False, ctx: Any = cpu(), root: str = "~/.mxnet/models", **kwargs: Any
) -> DenseNet:
    """DenseNet of 121, 161, 169 or 201 layers."""
    first, growth_rate, blocks = spec_of(densenet_spec, num_layers, "num_layers")
    return with_weights(DenseNet(first, growth_rate, blocks, **kwargs), f"densenet{num_layers}", pretrained, ctx, root)


def densenet121(**kwargs: Any) -> DenseNet:
    """DenseNet of 121 layers."""
    return get_densenet(121, **kwargs)


def densenet161(**kwargs: Any) -> DenseNet:
    """DenseNet of 161 layers."""
    return get_densenet(161, **kwargs)


def densenet169(**kwargs: Any) -> DenseNet:
    """DenseNet of 169 layers."""
    return get_densenet(169, **kwargs)


def densenet201(**kwargs: Any) -> DenseNet:
    """DenseNet of 201 layers."""
    return get_densenet(201, **kwargs)
