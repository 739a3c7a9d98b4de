# SPDX-License-Identifier: Apache-2.0
"""Pooling, by windows, over everything, and to a given size; regions of interest."""

from __future__ import annotations

from typing import Any, List

import numpy as np

from ._graph import pairs
from ._layers import as_before, channels_first
from ._rows import writes

_GLOBAL = {"max": "GlobalMaxPool", "avg": "GlobalAveragePool", "lp": "GlobalLpPool"}


@writes("Pooling")
def _pooling(g: Any, n: Any) -> str:
    data = channels_first(g, n, n.inputs[0])
    return as_before(g, n, _global(g, n, data) if n.params.global_pool else _windows(g, n, data))


def _global(g: Any, n: Any, data: str) -> str:
    kind = n.params.pool_type
    if kind == "sum":
        return g.op("ReduceSum", data, g.ints(range(2, n.rank)))
    return g.op(_GLOBAL[kind], data, p=(n.params.p_value or 2) if kind == "lp" else None)


def _windows(g: Any, n: Any, data: str) -> str:
    rank, kind = n.rank - 2, n.params.pool_type
    kernel, stride = list(n.params.kernel), pairs(n.params.stride, rank, 1)
    pad = pairs(n.params.pad, rank, 0)
    last = n.params.layout is not None and n.params.layout.endswith("C")
    spatial = slice(1, -1) if last else slice(2, None)
    # What the convention adds behind the image, so that the last windows fit.
    wanted = [(out - 1) * s + k for out, s, k in zip(n.out_shapes[0][spatial], stride, kernel)]
    same = n.params.pooling_convention == "same"
    if same:  # there is no other padding, and half of what is missing goes in front
        pad = [max(w - size, 0) // 2 for w, size in zip(wanted, n.shapes[0][spatial])]
    behind = [max(w - size - p, 0) for w, size, p in zip(wanted, n.shapes[0][spatial], pad)]
    shared = {"kernel_shape": kernel, "strides": stride}
    if any(b >= k for b, k in zip(behind, kernel)):  # more than ONNX takes for padding
        if kind == "avg":
            raise n.refuse(f"windows of {tuple(kernel)} that see nothing of the image", "each to see a part")
        nothing = float(np.finfo(n.dtypes[0]).min) if kind == "max" else 0
        data = g.op("Pad", data, g.ints([0, 0, *pad, 0, 0, *behind]), g.const(nothing, n.dtypes[0]))
        pad = behind = [0] * rank
    if kind == "max":
        return g.op("MaxPool", data, pads=pad + behind, **shared)
    if kind == "lp":
        return g.op("LpPool", data, pads=pad + behind, p=n.params.p_value or 2, **shared)
    counted = n.params.count_include_pad is not False
    if kind == "sum":
        made = g.op("AveragePool", data, pads=pad + behind, count_include_pad=1, **shared)
        return g.op("Mul", made, g.const(np.prod(kernel), n.dtypes[0]))
    if same:
        return g.op("AveragePool", data, pads=pad + behind, count_include_pad=int(counted), **shared)
    if counted and any(pad) and behind != pad:
        # Padding counts, what the convention adds does not: the padding becomes part of the image.
        surplus = [max(b - p, 0) for b, p in zip(behind, pad)]
        data = g.op("Pad", data, g.ints([0, 0, *pad, 0, 0, *pad]))
        return g.op("AveragePool", data, pads=[0] * rank + surplus, **shared)
    return g.op("AveragePool", data, pads=pad + behind, count_include_pad=int(counted and any(pad)), **shared)


@writes("_contrib_AdaptiveAvgPooling2D")
def _adaptive(g: Any, n: Any) -> str:
    height, width = n.out_shapes[0][2:]
    if height == width == 1:
        return g.op("GlobalAveragePool", n.inputs[0])
    rows, columns = (
        _averages(size, out).astype(n.dtypes[0]) for size, out in zip(n.shapes[0][2:], (height, width))
    )
    return g.op("MatMul", g.op("MatMul", g.const(rows), n.inputs[0]), g.const(columns.T))


def _averages(size: int, out: int) -> np.ndarray:
    """The matrix that averages a line of `size` numbers into `out`, in parts that may share a number."""
    matrix = np.zeros((out, size))
    for i in range(out):
        begin, end = i * size // out, -(-(i + 1) * size // out)
        matrix[i, begin:end] = 1 / (end - begin)
    return matrix


@writes("ROIPooling")
def _roi_pooling(g: Any, n: Any) -> str:
    p = n.params
    return g.op("MaxRoiPool", *n.inputs, pooled_shape=list(p.pooled_size), spatial_scale=p.spatial_scale)


@writes("_contrib_ROIAlign")
def _roi_align(g: Any, n: Any) -> str:
    p = n.params
    if p.position_sensitive or p.aligned:
        raise n.refuse("position_sensitive or aligned", "neither")
    batch = g.cast(g.squeeze(g.slice(n.inputs[1], [0], [1], [1]), 1), np.int64)
    boxes: List[str] = [g.slice(n.inputs[1], [1], [5], [1])]
    height, width = p.pooled_size
    return g.op(
        "RoiAlign", n.inputs[0], *boxes, batch, mode="avg", output_height=height, output_width=width,
        sampling_ratio=max(p.sample_ratio, 0), spatial_scale=p.spatial_scale,
    )  # fmt: skip
