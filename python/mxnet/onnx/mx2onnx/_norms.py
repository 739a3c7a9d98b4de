# SPDX-License-Identifier: Apache-2.0
"""Normalisations."""

from __future__ import annotations

from typing import Any, List

import numpy as np

from ._rows import writes


def _along(axis: int, rank: int) -> List[int]:
    """The shape that lets a vector act along an axis."""
    return [-1 if i == axis else 1 for i in range(rank)]


@writes("BatchNorm")
def _batch_norm(g: Any, n: Any) -> List[str]:
    axis, order = n.axis(n.params.axis), list(range(n.rank))
    order.insert(1, order.pop(axis))
    data = g.transpose(n.inputs[0], order)
    gamma = g.const(np.ones(n.shapes[1]), n.dtypes[1]) if n.params.fix_gamma else n.inputs[1]
    made = g.op("BatchNormalization", data, gamma, *n.inputs[2:5], epsilon=n.params.eps)
    return [g.transpose(made, list(np.argsort(order)))]


def standardised(g: Any, value: str, axes: List[int], eps: float, dtype: Any) -> str:
    """Zero mean and unit variance along some axes."""
    apart = g.op("Sub", value, g.op("ReduceMean", value, axes=axes))
    variance = g.op("ReduceMean", g.op("Mul", apart, apart), axes=axes)
    return g.op("Div", apart, g.op("Sqrt", g.op("Add", variance, g.const(eps, dtype))))


@writes("LayerNorm")
def _layer_norm(g: Any, n: Any) -> List[str]:
    axis = n.axis(n.params.axis)
    gamma, beta = n.inputs[1:3]
    if axis != n.rank - 1:
        gamma, beta = (g.reshape(value, _along(axis, n.rank)) for value in (gamma, beta))
    made = standardised(g, n.inputs[0], [axis], n.params.eps, n.dtypes[0])
    return [g.op("Add", g.op("Mul", made, gamma), beta)]


@writes("InstanceNorm")
def _instance_norm(g: Any, n: Any) -> List[str]:
    return [g.op("InstanceNormalization", *n.inputs[:3], epsilon=n.params.eps)]


@writes("GroupNorm")
def _group_norm(g: Any, n: Any) -> List[str]:
    groups = n.params.num_groups
    apart = standardised(g, g.reshape(n.inputs[0], [0, groups, -1]), [2], n.params.eps, n.dtypes[0])
    made = g.op("Reshape", apart, g.op("Shape", n.inputs[0]))
    gamma, beta = (_per_channel(g, n, place) for place in (1, 2))
    return [g.op("Add", g.op("Mul", made, gamma), beta)]


def _per_channel(g: Any, n: Any, place: int) -> str:
    """Numbers of groups or channels as those of channels."""
    channels, given = n.shapes[0][1], n.shapes[place][0]
    value = n.inputs[place]
    if given != channels:
        wide = g.op("Expand", g.reshape(value, [-1, 1]), g.ints([given, channels // given]))
        return g.reshape(wide, [channels, *[1] * (n.rank - 2)])
    return g.reshape(value, [-1, *[1] * (n.rank - 2)])


@writes("L2Normalization")
def _l2_normalization(g: Any, n: Any) -> str:
    every = list(range(1, n.rank))
    axes = {"instance": every, "channel": [1], "spatial": every[1:]}[n.params.mode]
    square = g.op("ReduceSum", g.op("Mul", n.inputs[0], n.inputs[0]), g.ints(axes))
    return g.op("Div", n.inputs[0], g.op("Sqrt", g.op("Add", square, g.const(n.params.eps, n.dtypes[0]))))


@writes("LRN")
def _lrn(g: Any, n: Any) -> List[str]:
    p = n.params
    size = (p.nsize - 1) // 2 * 2 + 1  # an even one takes as many channels as the odd one below, but divides by itself
    return [g.op("LRN", n.inputs[0], alpha=p.alpha * size / p.nsize, beta=p.beta, bias=p.knorm, size=size)]
