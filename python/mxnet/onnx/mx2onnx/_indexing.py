# SPDX-License-Identifier: Apache-2.0
"""Parts of arrays, gathering, sequences, sorting."""

from __future__ import annotations

from typing import Any, List, Union

import numpy as np

from ._rows import writes

_END = np.iinfo(np.int64).max


@writes("slice")
def _slice(g: Any, n: Any) -> str:
    steps = list(n.params.step or ()) + [None] * len(n.params.begin)
    begin, end, step = [], [], []
    for first, last, stride in zip(n.params.begin, n.params.end, steps):
        stride = stride or 1
        begin.append(first if first is not None else 0 if stride > 0 else _END)
        end.append(last if last is not None else _END if stride > 0 else -_END)
        step.append(stride)
    return g.slice(n.inputs[0], begin, end, range(len(begin)), step)


@writes("slice_axis")
def _slice_axis(g: Any, n: Any) -> str:
    p = n.params
    return g.slice(n.inputs[0], [p.begin], [_END if p.end is None else p.end], [p.axis])


@writes("slice_like")
def _slice_like(g: Any, n: Any) -> str:
    axes = [n.axis(axis) for axis in n.params.axes] or list(range(n.rank))
    ends = g.op("Gather", g.op("Shape", n.inputs[1]), g.ints(axes), axis=0)
    return g.op("Slice", n.inputs[0], g.ints([0] * len(axes)), ends, g.ints(axes))


@writes("Crop")
def _crop(g: Any, n: Any) -> str:
    height, width = n.out_shapes[0][2:]
    top, left = n.params.offset or (0, 0)
    if n.params.center_crop:
        top, left = (n.shapes[0][2] - height) // 2, (n.shapes[0][3] - width) // 2
    return g.slice(n.inputs[0], [top, left], [top + height, left + width], [2, 3])


@writes("take")
def _take(g: Any, n: Any) -> str:
    axis, places = n.axis(n.params.axis), g.cast(n.inputs[1], np.int64)
    size = n.shapes[0][axis]
    if n.params.mode == "clip":
        places = g.op("Clip", places, g.const(0, np.int64), g.const(size - 1, np.int64))
    elif n.params.mode == "wrap":
        places = g.op("Mod", places, g.const(size, np.int64))
    return g.op("Gather", n.inputs[0], places, axis=axis)


@writes("gather_nd")
def _gather_nd(g: Any, n: Any) -> str:
    rank = len(n.shapes[1])
    return g.op("GatherND", n.inputs[0], g.transpose(g.cast(n.inputs[1], np.int64), [*range(1, rank), 0]))


@writes("pick")
def _pick(g: Any, n: Any) -> str:
    axis = n.axis(n.params.axis)
    size = n.shapes[0][axis]
    places = g.cast(n.inputs[1], np.int64)
    places = g.op("Clip", places, g.const(0, np.int64), g.const(size - 1, np.int64)) if n.params.mode == "clip" else g.op(
        "Mod", places, g.const(size, np.int64)
    )
    if len(n.shapes[1]) < n.rank:
        places = g.unsqueeze(places, axis)
    made = g.op("GatherElements", n.inputs[0], places, axis=axis)
    return made if n.params.keepdims else g.squeeze(made, axis)


@writes("one_hot")
def _one_hot(g: Any, n: Any) -> str:
    # Numbers below 0 are nobody's place; ONNX would count them from the end.
    places, depth = g.cast(n.inputs[0], np.int64), g.const(n.params.depth, np.int64)
    places = g.op("Where", g.op("Less", places, g.const(0, np.int64)), depth, places)
    wanted = np.dtype(n.params.dtype)
    dtype = np.int64 if wanted.kind in "iu" else np.float32  # of others ONNX Runtime has no kernel
    made = g.op("OneHot", places, depth, g.const(np.array([n.params.off_value, n.params.on_value]), dtype), axis=-1)
    return made if wanted == dtype else g.cast(made, wanted)


def _lengths(g: Any, n: Any) -> str:
    return g.cast(n.inputs[1], np.int64)


@writes("SequenceMask")
def _sequence_mask(g: Any, n: Any) -> str:
    if not n.params.use_sequence_length:
        return g.op("Identity", n.inputs[0])
    time = n.shapes[0][n.params.axis]
    places = g.const(np.arange(time, dtype=np.int64).reshape((time, 1) if n.params.axis == 0 else (1, time)))
    inside = g.op("Less", places, g.unsqueeze(_lengths(g, n), n.params.axis))
    if n.rank > 2:
        inside = g.unsqueeze(inside, *range(2, n.rank))
    return g.op("Where", inside, n.inputs[0], g.const(n.params.value, n.dtypes[0]))


@writes("SequenceReverse")
def _sequence_reverse(g: Any, n: Any) -> str:
    if not n.params.use_sequence_length:
        return g.slice(n.inputs[0], [-1], [np.iinfo(np.int64).min], [0], [-1])
    return g.op("ReverseSequence", n.inputs[0], _lengths(g, n), time_axis=0, batch_axis=1)


@writes("SequenceLast")
def _sequence_last(g: Any, n: Any) -> str:
    time = n.params.axis
    if not n.params.use_sequence_length:
        return g.squeeze(g.slice(n.inputs[0], [-1], [_END], [time]), time)
    reversed_ = g.op("ReverseSequence", n.inputs[0], _lengths(g, n), time_axis=time, batch_axis=1 - time)
    return g.squeeze(g.slice(reversed_, [0], [1], [time]), time)


@writes("topk")
def _topk(g: Any, n: Any) -> Union[str, List[str]]:
    p, value = n.params, n.inputs[0]
    shape, axis = n.shapes[0], p.axis
    if axis is None:
        value, shape, axis = g.reshape(value, [-1]), (int(np.prod(n.shapes[0])),), 0
    count = p.k if p.k > 0 else shape[axis]
    values, places = g.op("TopK", value, g.ints([count]), outputs=2, axis=axis, largest=int(not p.is_ascend))
    if p.ret_typ == "value":
        return values
    if p.ret_typ == "mask":
        raise n.refuse("ret_typ 'mask'", "'value', 'indices' or 'both'")
    indices = g.cast(places, p.dtype)
    return [values, indices] if p.ret_typ == "both" else indices


@writes("argsort", "sort")
def _sorted(g: Any, n: Any) -> str:
    value, shape, axis = n.inputs[0], n.shapes[0], n.params.axis
    if axis is None:
        value, shape, axis = g.reshape(value, [-1]), (int(np.prod(shape)),), 0
    values, places = g.op("TopK", value, g.ints([shape[axis]]), outputs=2, axis=axis, largest=int(not n.params.is_ascend))
    return values if n.op == "sort" else g.cast(places, n.params.dtype)
