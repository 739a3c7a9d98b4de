# SPDX-License-Identifier: Apache-2.0
"""Boxes: anchors, boxes that are written as shifts of them, and suppression of those that overlap."""

from __future__ import annotations

from typing import Any, Tuple

import numpy as np

from ._rows import writes


@writes("_contrib_MultiBoxPrior")
def _multibox_prior(g: Any, n: Any) -> str:
    """Anchors depend on the shape of the input alone."""
    from ... import ndarray

    image = ndarray.zeros(n.shapes[0])
    return g.const(ndarray.contrib.MultiBoxPrior(image, **vars(n.params)).asnumpy())


def _columns(g: Any, value: str, first: int, count: int) -> str:
    """Some numbers of each row of batch x rows x numbers."""
    return g.slice(value, [first], [first + count], [2])


def _corners(g: Any, boxes: str, dtype: Any, format: str) -> Tuple[str, str]:  # pylint: disable=redefined-builtin
    """The two corners of boxes."""
    first, second = _columns(g, boxes, 0, 2), _columns(g, boxes, 2, 2)
    if format == "corner":
        return first, second
    half = g.op("Mul", second, g.const(0.5, dtype))
    return g.op("Sub", first, half), g.op("Add", first, half)


def _center_and_size(g: Any, boxes: str, dtype: Any, format: str) -> Tuple[str, str]:  # pylint: disable=redefined-builtin
    first, second = _columns(g, boxes, 0, 2), _columns(g, boxes, 2, 2)
    if format == "center":
        return first, second
    size = g.op("Sub", second, first)
    return g.op("Add", first, g.op("Mul", size, g.const(0.5, dtype))), size


@writes("_contrib_box_decode")
def _box_decode(g: Any, n: Any) -> str:
    p, dtype = n.params, n.dtypes[0]
    deltas = g.op("Mul", n.inputs[0], g.const(np.array([p.std0, p.std1, p.std2, p.std3]), dtype))
    center, size = _center_and_size(g, n.inputs[1], dtype, p.format)
    shift, growth = _columns(g, deltas, 0, 2), _columns(g, deltas, 2, 2)
    if p.clip > 0:
        growth = g.op("Min", growth, g.const(p.clip, dtype))
    center = g.op("Add", g.op("Mul", shift, size), center)
    half = g.op("Mul", g.op("Mul", g.op("Exp", growth), size), g.const(0.5, dtype))
    return g.op("Concat", g.op("Sub", center, half), g.op("Add", center, half), axis=2)


@writes("_contrib_box_nms")
def _box_nms(g: Any, n: Any) -> str:
    """The rows are sorted by score, the best `topk` of them go through ONNX's suppression, and those that stay move up."""
    p, dtype, (count, width) = n.params, n.dtypes[0], n.shapes[0][-2:]
    if p.topk == 0:
        return g.op("Identity", n.inputs[0])
    if p.overlap_thresh < 0:
        raise n.refuse(f"overlap_thresh {p.overlap_thresh}", "at least 0")
    rows = n.inputs[0] if n.rank == 3 else g.reshape(n.inputs[0], [-1, count, width])
    taking = _taking_part(g, p, dtype, rows)
    score = g.squeeze(_columns(g, rows, p.score_index, 1), 2)
    size = min(p.topk, count) if p.topk > 0 else count
    order = g.op("TopK", g.op("Where", taking, score, g.const(-np.inf, dtype)), g.ints([size]), outputs=2, axis=1)[1]
    rows, taking = _in_order(g, rows, order), g.op("GatherElements", taking, order, axis=1)

    # Scores are only an order here, so that equal ones stay in theirs; 0 does not take part.
    falling = g.const(np.arange(size, 0, -1, dtype=np.float32)[None])
    rank = g.op("Where", taking, falling, g.const(0, np.float32))
    picked = _picked(g, p, dtype, rows, taking, rank, size)
    kept = g.op("Expand", g.const(0, np.float32), g.op("Shape", order))
    kept = g.op("ScatterND", kept, picked, g.op("Expand", g.const(1, np.float32), g.slice(g.op("Shape", picked), [0], [1], [0])))
    places, order = g.op("TopK", g.op("Mul", kept, falling), g.ints([size]), outputs=2, axis=1)
    rows = _in_order(g, _in_format(g, p, dtype, rows, width), order)
    rows = g.op("Where", g.unsqueeze(g.op("Greater", places, g.const(0, np.float32)), 2), rows, g.const(-1, dtype))
    if size < count:
        rows = g.op("Pad", rows, g.ints([0, 0, 0, 0, count - size, 0]), g.const(-1, dtype))
    return rows if n.rank == 3 else g.op("Reshape", rows, g.op("Shape", n.inputs[0]))


def _taking_part(g: Any, p: Any, dtype: Any, rows: str) -> str:
    """Whether each row is a box good enough, and not background."""
    score = g.squeeze(_columns(g, rows, p.score_index, 1), 2)
    good = g.op("Greater", score, g.const(p.valid_thresh, dtype))
    if p.id_index < 0:
        return good
    background = g.op("Equal", g.squeeze(_columns(g, rows, p.id_index, 1), 2), g.const(p.background_id, dtype))
    return g.op("And", good, g.op("Not", background))


def _in_order(g: Any, rows: str, order: str) -> str:
    """The rows of each batch at these places."""
    return g.op("GatherND", rows, g.unsqueeze(order, 2), batch_dims=1)


def _picked(g: Any, p: Any, dtype: Any, rows: str, taking: str, rank: str, size: int) -> str:
    """Batch and row of each box that stays."""
    low, high = _corners(g, _columns(g, rows, p.coord_start, 4), dtype, p.in_format)
    boxes = g.op("Concat", low, g.op("Max", low, high), axis=2)  # ONNX would turn a box whose corners are exchanged
    ranks = g.unsqueeze(rank, 1)
    if p.id_index >= 0 and not p.force_suppress:  # a row of scores for each class, from the least one on
        zero, one = g.const(0, np.int64), g.const(1, np.int64)
        numbers = g.cast(g.squeeze(_columns(g, rows, p.id_index, 1), 2), np.int64)
        numbers = g.op("Where", taking, numbers, zero)
        least, most = g.op("ReduceMin", numbers, keepdims=0), g.op("ReduceMax", numbers, keepdims=0)
        classes = g.reshape(g.op("Range", least, g.op("Add", most, one), one), [1, -1, 1])
        ranks = g.op("Where", g.op("Equal", g.unsqueeze(numbers, 1), classes), ranks, g.const(0, np.float32))
    found = g.op(
        "NonMaxSuppression", g.cast(boxes, np.float32), ranks, g.const([size], np.int64),
        g.const([min(p.overlap_thresh, 1)], np.float32), g.const([0.5], np.float32),
    )  # fmt: skip
    return g.op("Gather", found, g.ints([0, 2]), axis=1)


def _in_format(g: Any, p: Any, dtype: Any, rows: str, width: int) -> str:
    """The rows with their boxes as they are wanted."""
    if p.in_format == p.out_format:
        return rows
    make = _corners if p.out_format == "corner" else _center_and_size
    behind = p.coord_start + 4
    parts = [_columns(g, rows, 0, p.coord_start)] if p.coord_start else []
    parts += make(g, _columns(g, rows, p.coord_start, 4), dtype, p.in_format)
    return g.op("Concat", *parts, *([_columns(g, rows, behind, width - behind)] if behind < width else []), axis=2)
