# SPDX-License-Identifier: Apache-2.0
"""Shapes, order of axes, joining, splitting, repeating, padding."""

from __future__ import annotations

from typing import Any, List

import numpy as np

from ._rows import writes


@writes("Flatten")
def _flatten(g: Any, n: Any) -> str:
    return g.op("Flatten", n.inputs[0], axis=1)


@writes("Reshape")
def _reshape(g: Any, n: Any) -> str:
    wanted = n.params.shape
    if wanted and not n.params.reverse and all(size >= -1 for size in wanted):
        return g.reshape(n.inputs[0], wanted)
    return g.reshape(n.inputs[0], _kept(n))  # codes that ONNX does not know


def _kept(n: Any) -> List[int]:
    """The shape that comes out, with the first size as it comes in where it does not change."""
    out = list(n.out_shapes[0])
    if out and n.rank and out[0] == n.shapes[0][0]:
        out[0] = 0
    return out


@writes("reshape_like")
def _reshape_like(g: Any, n: Any) -> str:
    p, (left, right) = n.params, (len(shape) for shape in n.shapes)
    shapes = [g.op("Shape", value) for value in n.inputs[:2]]
    given = (p.lhs_begin, p.lhs_end, p.rhs_begin, p.rhs_end)
    if given == (None,) * 4:
        return g.op("Reshape", n.inputs[0], shapes[1])
    first, behind, begin, end = (
        default if place is None else n.axis(place, rank)
        for place, default, rank in zip(given, (0, left, 0, right), (left, left, right, right))
    )
    parts = [(0, 0, first), (1, begin, end), (0, behind, left)]
    sizes = [g.slice(shapes[i], [start], [stop], [0]) for i, start, stop in parts if start < stop]
    return g.op("Reshape", n.inputs[0], sizes[0] if len(sizes) == 1 else g.op("Concat", *sizes, axis=0))


@writes("transpose")
def _transpose(g: Any, n: Any) -> str:
    return g.op("Transpose", n.inputs[0], perm=list(n.params.axes or reversed(range(n.rank))))


@writes("SwapAxis")
def _swap_axis(g: Any, n: Any) -> str:
    order = list(range(n.rank))
    first, second = n.axis(n.params.dim1), n.axis(n.params.dim2)
    order[first], order[second] = order[second], order[first]
    return g.op("Transpose", n.inputs[0], perm=order)


@writes("expand_dims")
def _expand_dims(g: Any, n: Any) -> str:
    return g.unsqueeze(n.inputs[0], n.params.axis)


@writes("squeeze")
def _squeeze(g: Any, n: Any) -> str:
    return g.op("Squeeze", n.inputs[0]) if n.params.axis is None else g.squeeze(n.inputs[0], *n.params.axis)


@writes("Concat")
def _concat(g: Any, n: Any) -> str:
    return g.op("Concat", *n.inputs, axis=n.params.dim)


@writes("stack")
def _stack(g: Any, n: Any) -> str:
    axis = n.axis(n.params.axis, n.rank + 1)
    return g.op("Concat", *(g.unsqueeze(value, axis) for value in n.inputs), axis=axis)


@writes("SliceChannel")
def _slice_channel(g: Any, n: Any) -> List[str]:
    return _parts(g, n, n.params.num_outputs, [])


@writes("_split_v2")
def _split_v2(g: Any, n: Any) -> List[str]:
    if n.params.sections:
        return _parts(g, n, n.params.sections, [])
    edges = [*n.params.indices, n.shapes[0][n.axis(n.params.axis)]]
    edges = edges if edges[0] == 0 else [0, *edges]
    return _parts(g, n, len(edges) - 1, [g.ints(np.diff(edges))])


def _parts(g: Any, n: Any, count: int, sizes: List[str]) -> List[str]:
    axis = n.axis(n.params.axis)
    made = g.op("Split", n.inputs[0], *sizes, outputs=count, axis=axis)
    made = [made] if count == 1 else made
    return [g.squeeze(value, axis) for value in made] if n.params.squeeze_axis else made


@writes("tile")
def _tile(g: Any, n: Any) -> str:
    reps, value = list(n.params.reps), n.inputs[0]
    if len(reps) > n.rank:
        value = g.unsqueeze(value, *range(len(reps) - n.rank))
    return g.op("Tile", value, g.ints([1] * (n.rank - len(reps)) + reps))


@writes("repeat")
def _repeat(g: Any, n: Any) -> str:
    if n.params.axis is None:
        column = g.reshape(n.inputs[0], [-1, 1])
        return g.reshape(g.op("Tile", column, g.ints([1, n.params.repeats])), [-1])
    axis = n.axis(n.params.axis)
    wide = g.op("Tile", g.unsqueeze(n.inputs[0], axis + 1), g.ints([1] * (axis + 1) + [n.params.repeats] + [1] * (n.rank - axis - 1)))
    shape = list(n.out_shapes[0])
    return g.reshape(wide, [-1 if i == axis else 0 if i < axis else size for i, size in enumerate(shape)])


@writes("reverse")
def _reverse(g: Any, n: Any) -> str:
    count, axes = len(n.params.axis), n.params.axis
    return g.slice(n.inputs[0], [-1] * count, [np.iinfo(np.int64).min] * count, axes, [-1] * count)


@writes("Pad")
def _pad(g: Any, n: Any) -> str:
    begin, end = n.params.pad_width[::2], n.params.pad_width[1::2]
    filled = [g.const(n.params.constant_value, n.dtypes[0])] if n.params.mode == "constant" else []
    return g.op("Pad", n.inputs[0], g.ints([*begin, *end]), *filled, mode=n.params.mode)


@writes("depth_to_space")
def _depth_to_space(g: Any, n: Any) -> str:
    return g.op("DepthToSpace", n.inputs[0], blocksize=n.params.block_size, mode="DCR")


@writes("space_to_depth")
def _space_to_depth(g: Any, n: Any) -> str:
    return g.op("SpaceToDepth", n.inputs[0], blocksize=n.params.block_size)


@writes("broadcast_to")
def _broadcast_to(g: Any, n: Any) -> str:
    return g.op("Expand", n.inputs[0], g.ints([size or 1 for size in n.params.shape]))


@writes("broadcast_axis")
def _broadcast_axis(g: Any, n: Any) -> str:
    shape = [1] * n.rank
    for axis, size in zip(n.params.axis, n.params.size):
        shape[axis] = size
    return g.op("Expand", n.inputs[0], g.ints(shape))


@writes("broadcast_like")
def _broadcast_like(g: Any, n: Any) -> str:
    if n.params.lhs_axes is None:
        return g.op("Expand", n.inputs[0], g.op("Shape", n.inputs[1]))
    shape = [1] * n.rank
    for to, source in zip(n.params.lhs_axes, n.params.rhs_axes):
        shape[to] = n.shapes[1][source]
    return g.op("Expand", n.inputs[0], g.ints(shape))
