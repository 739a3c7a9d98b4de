# SPDX-License-Identifier: Apache-2.0
"""Products of matrices, and attention made of them."""

from __future__ import annotations

import math
from typing import Any, List, Sequence

import numpy as np

from ._rows import writes


def _turned(g: Any, value: str, rank: int, transposed: bool) -> str:
    return g.transpose(value, [*range(rank - 2), rank - 1, rank - 2]) if transposed else value


def _product(g: Any, n: Any, values: Sequence[str] = ()) -> str:
    """Of the node's inputs, or of these in their place."""
    left, right = (
        _turned(g, value, len(shape), transposed)
        for value, shape, transposed in zip(values or n.inputs, n.shapes, (n.params.transpose_a, n.params.transpose_b))
    )
    return g.op("MatMul", left, right)


writes("batch_dot")(_product)


@writes("_linalg_gemm2")
def _gemm2(g: Any, n: Any) -> str:
    order = list(range(n.rank))
    order.insert(n.rank - 2, order.pop(n.axis(n.params.axis)))  # rows next to columns
    made = _product(g, n, [g.transpose(value, order) for value in n.inputs])
    made = g.transpose(made, list(np.argsort(order)))
    return made if n.params.alpha == 1 else g.op("Mul", made, g.const(n.params.alpha, n.dtypes[0]))


@writes("dot")
def _dot(g: Any, n: Any) -> str:
    """The last axis of the left and the first of the right disappear, or the other way round where transposed."""
    (left, right), (a, b) = n.inputs, n.shapes
    if n.params.transpose_a:
        left, a = g.transpose(left, [*range(1, len(a)), 0]), (*a[1:], a[0])
    if n.params.transpose_b:
        right, b = g.transpose(right, [len(b) - 1, *range(len(b) - 1)]), (b[-1], *b[:-1])
    if len(b) > 2:
        right = g.reshape(right, [b[0], -1])
    made = g.op("MatMul", left, right)
    if len(a) == len(b) == 1:
        return g.reshape(made, [1])
    return g.reshape(made, [*([0] * (len(a) - 1)), *b[1:]]) if len(b) > 2 else made


def _heads(g: Any, n: Any, place: int, parts: int) -> List[str]:
    """What stands interleaved in time x batch x (heads, part, size): each part as (batch*heads) x time x size."""
    time, batch, width = n.shapes[place]
    heads = n.params.heads
    size = width // heads // parts
    apart = g.reshape(n.inputs[place], [0, -1, parts, size])  # time, batch*heads, part, size
    made = g.op("Split", apart, outputs=parts, axis=2) if parts > 1 else [apart]
    return [g.transpose(g.squeeze(value, 2), [1, 0, 2]) for value in made]


def _scores(g: Any, n: Any, query: str, key: str, size: int) -> str:
    scaled = g.op("Mul", query, g.const(1 / math.sqrt(size), n.dtypes[0]))
    return g.op("MatMul", scaled, g.transpose(key, [0, 2, 1]))


def _mixed(g: Any, n: Any, weights: str, value: str, heads: int, width: int) -> str:
    """Weighted values, back as time x batch x (heads, size)."""
    made = g.transpose(g.op("MatMul", weights, value), [1, 0, 2])
    return g.reshape(made, [0, -1, width])


@writes("_contrib_interleaved_matmul_selfatt_qk")
def _selfatt_qk(g: Any, n: Any) -> str:
    query, key, _ = _heads(g, n, 0, 3)
    return _scores(g, n, query, key, n.shapes[0][2] // n.params.heads // 3)


@writes("_contrib_interleaved_matmul_selfatt_valatt")
def _selfatt_valatt(g: Any, n: Any) -> str:
    return _mixed(g, n, n.inputs[1], _heads(g, n, 0, 3)[2], n.params.heads, n.shapes[0][2] // 3)


@writes("_contrib_interleaved_matmul_encdec_qk")
def _encdec_qk(g: Any, n: Any) -> str:
    return _scores(g, n, _heads(g, n, 0, 1)[0], _heads(g, n, 1, 2)[0], n.shapes[0][2] // n.params.heads)


@writes("_contrib_interleaved_matmul_encdec_valatt")
def _encdec_valatt(g: Any, n: Any) -> str:
    return _mixed(g, n, n.inputs[1], _heads(g, n, 0, 2)[1], n.params.heads, n.shapes[0][2] // 2)
