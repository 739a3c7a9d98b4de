# SPDX-License-Identifier: Apache-2.0
"""Inception V3: Szegedy et al., "Rethinking the Inception Architecture for Computer Vision", 2015."""

from __future__ import annotations

from typing import Any, Callable, Optional, Tuple, Union

from ....context import cpu
from ... import nn
from ...block import HybridBlock
from ...contrib.nn import HybridConcurrent
from ._pretrained import with_weights

__all__ = ["Inception3", "inception_v3"]

# A convolution: channels, kernel, stride, padding.
_Conv = Tuple[int, Union[int, Tuple[int, int]], int, Union[int, Tuple[int, int]]]


def _conv(channels: int, kernel: Any, stride: Any = 1, padding: Any = 0) -> nn.HybridSequential:
    made = nn.HybridSequential(prefix="")
    made.add(nn.Conv2D(channels, kernel, stride, padding, use_bias=False))
    made.add(nn.BatchNorm(epsilon=0.001))
    made.add(nn.Activation("relu"))
    return made


def _branch(pool: Optional[str], *convs: _Conv) -> nn.HybridSequential:
    """Convolutions one after the other, behind a pooling if there is one."""
    made = nn.HybridSequential(prefix="")
    if pool == "avg":
        made.add(nn.AvgPool2D(pool_size=3, strides=1, padding=1))
    elif pool == "max":
        made.add(nn.MaxPool2D(pool_size=3, strides=2))
    for conv in convs:
        made.add(_conv(*conv))
    return made


def _sides(*convs: _Conv) -> HybridConcurrent:
    """Convolutions side by side."""
    made = HybridConcurrent(axis=1, prefix="")
    for conv in convs:
        made.add(_branch(None, conv))
    return made


def _then(first: nn.HybridSequential, second: HybridConcurrent) -> nn.HybridSequential:
    made = nn.HybridSequential(prefix="")
    made.add(first)
    made.add(second)
    return made


def _module_a(out: HybridConcurrent, pool_features: int) -> None:
    out.add(_branch(None, (64, 1, 1, 0)))
    out.add(_branch(None, (48, 1, 1, 0), (64, 5, 1, 2)))
    out.add(_branch(None, (64, 1, 1, 0), (96, 3, 1, 1), (96, 3, 1, 1)))
    out.add(_branch("avg", (pool_features, 1, 1, 0)))


def _module_b(out: HybridConcurrent) -> None:
    out.add(_branch(None, (384, 3, 2, 0)))
    out.add(_branch(None, (64, 1, 1, 0), (96, 3, 1, 1), (96, 3, 2, 0)))
    out.add(_branch("max"))


def _module_c(out: HybridConcurrent, channels: int) -> None:
    def wide(count: int) -> _Conv:
        return count, (1, 7), 1, (0, 3)

    def high(count: int) -> _Conv:
        return count, (7, 1), 1, (3, 0)

    narrow = (channels, 1, 1, 0)
    out.add(_branch(None, (192, 1, 1, 0)))
    out.add(_branch(None, narrow, wide(channels), high(192)))
    out.add(_branch(None, narrow, high(channels), wide(channels), high(channels), wide(192)))
    out.add(_branch("avg", (192, 1, 1, 0)))


def _module_d(out: HybridConcurrent) -> None:
    out.add(_branch(None, (192, 1, 1, 0), (320, 3, 2, 0)))
    out.add(_branch(None, (192, 1, 1, 0), (192, (1, 7), 1, (0, 3)), (192, (7, 1), 1, (3, 0)), (192, 3, 2, 0)))
    out.add(_branch("max"))


def _module_e(out: HybridConcurrent) -> None:
    def sides() -> HybridConcurrent:
        return _sides((384, (1, 3), 1, (0, 1)), (384, (3, 1), 1, (1, 0)))

    out.add(_branch(None, (320, 1, 1, 0)))
    out.add(_then(_branch(None, (384, 1, 1, 0)), sides()))
    out.add(_then(_branch(None, (448, 1, 1, 0), (384, 3, 1, 1)), sides()))
    out.add(_branch("avg", (192, 1, 1, 0)))


# The modules in order: prefix, what fills it, and its numbers.
_MODULES: Tuple[Tuple[str, Callable[..., None], Tuple[int, ...]], ...] = (
    ("A1_", _module_a, (32,)),
    ("A2_", _module_a, (64,)),
    ("A3_", _module_a, (64,)),
    ("B_", _module_b, ()),
    ("C1_", _module_c, (128,)),
    ("C2_", _module_c, (160,)),
    ("C3_", _module_c, (160,)),
    ("C4_", _module_c, (192,)),
    ("D_", _module_d, ()),
    ("E1_", _module_e, ()),
    ("E2_", _module_e, ()),
)


def make_aux(classes: int) -> nn.HybridSequential:
    """The head that helps to train from the middle of the network."""
    made = nn.HybridSequential(prefix="")
    made.add(nn.AvgPool2D(pool_size=5, strides=3))
    made.add(_conv(128, 1))
    made.add(_conv(768, 5))
    made.add(nn.Flatten())
    made.add(nn.Dense(classes))
    return made


class Inception3(HybridBlock):
    """Modules of convolutions side by side, for images of 299 x 299."""

    def __init__(self, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self.features.add(_conv(32, 3, 2))
            self.features.add(_conv(32, 3))
            self.features.add(_conv(64, 3, 1, 1))
            self.features.add(nn.MaxPool2D(pool_size=3, strides=2))
            self.features.add(_conv(80, 1))
            self.features.add(_conv(192, 3))
            self.features.add(nn.MaxPool2D(pool_size=3, strides=2))
            for prefix, fill, numbers in _MODULES:
                module = HybridConcurrent(axis=1, prefix=prefix)
                with module.name_scope():
                    fill(module, *numbers)
                self.features.add(module)
            self.features.add(nn.AvgPool2D(pool_size=8))
            self.features.add(nn.Dropout(0.5))
            self.output = nn.Dense(classes)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Returns scores (batch, classes) of images (batch, 3, 299, 299)."""
        return self.output(self.features(x))


def inception_v3(
    pretrained: bool = False, ctx: Any = cpu(), root: str = "~/.mxnet/models", **kwargs: Any
) -> Inception3:
    """Inception V3."""
    return with_weights(Inception3(**kwargs), "inceptionv3", pretrained, ctx, root)
