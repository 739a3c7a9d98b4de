# SPDX-License-Identifier: Apache-2.0
"""Shapes, order of axes, joining, splitting, gathering, padding."""

from __future__ import annotations

from typing import Any, List

import numpy as np

from .... import symbol as sym
from ._elementwise import expanded
from ._rows import reads

_MOST_PICKED = 1 << 14  # of one GatherElements


@reads("Reshape")
def _reshape(n: Any) -> Any:
    shape = n.ints(1, "shape")
    if n.attrs.get("allowzero", 0) and 0 in shape:
        raise n.refuse("allowzero with a size of zero", "zeros that keep a size")
    return sym.reshape(n.sym(), shape=tuple(shape))


@reads("Flatten")
def _flatten(n: Any) -> Any:
    axis = n.attrs.get("axis", 1)
    if axis == 1:
        return sym.Flatten(n.sym())
    shape = n.shape()
    return sym.reshape(n.sym(), shape=(int(np.prod(shape[: axis + len(shape) if axis < 0 else axis])), -1))


@reads("Transpose")
def _transpose(n: Any) -> Any:
    return sym.transpose(n.sym(), axes=tuple(n.attrs.get("perm", ())))


@reads("Squeeze")
def _squeeze(n: Any) -> Any:
    axes = n.ints(1, "axes")
    return sym.squeeze(n.sym()) if axes is None else sym.squeeze(n.sym(), axis=tuple(axes))


@reads("Unsqueeze")
def _unsqueeze(n: Any) -> Any:
    axes, made = n.ints(1, "axes"), n.sym()
    if any(axis < 0 for axis in axes):
        rank = n.rank() + len(axes)
        axes = [axis + rank if axis < 0 else axis for axis in axes]
    for axis in sorted(axes):
        made = sym.expand_dims(made, axis=axis)
    return made


@reads("Concat")
def _concat(n: Any) -> Any:
    return sym.concat(*(n.sym(i) for i in range(len(n.inputs))), dim=n.attrs.get("axis", 1))


@reads("Split")
def _split(n: Any) -> List[Any]:
    axis, sizes = n.attrs.get("axis", 0), n.ints(1, "split")
    count = len(n.outputs)
    if sizes is None:
        whole = n.shape()[axis]
        part = -(-whole // count)
        sizes = [part] * (count - 1) + [whole - part * (count - 1)]
    edges = np.cumsum([0, *sizes])
    return [sym.slice_axis(n.sym(), axis=axis, begin=int(a), end=int(b)) for a, b in zip(edges[:-1], edges[1:])]


@reads("Slice")
def _slice(n: Any) -> Any:
    begin, end = n.ints(1, "starts"), n.ints(2, "ends")
    axes = n.ints(3, "axes") or list(range(len(begin)))
    steps = n.ints(4, "steps") or [1] * len(begin)
    rank = n.rank()
    parts: List[Any] = [(None, None, None)] * rank
    for axis, first, last, step in zip(axes, begin, end, steps):
        parts[axis] = slice(first, last, step).indices(n.shape()[axis])
    begins, ends, strides = zip(*parts)
    ends = tuple(None if last is not None and last < 0 else last for last in ends)
    return sym.slice(n.sym(), begin=begins, end=ends, step=strides)


@reads("Gather")
def _gather(n: Any) -> Any:
    axis = n.attrs.get("axis", 0)
    made = sym.take(n.sym(0), n.sym(1), axis=axis, mode="wrap")
    single = isinstance(n.inputs[1], np.ndarray) and n.inputs[1].ndim == 0  # one place: its axis disappears
    return sym.squeeze(made, axis=axis) if single and n.rank() > 1 else made


@reads("GatherND")
def _gather_nd(n: Any) -> Any:
    if n.attrs.get("batch_dims", 0):
        raise n.refuse("batch_dims", "indices of whole arrays")
    rank = n.rank(1)
    return sym.gather_nd(n.sym(0), sym.transpose(n.sym(1), axes=(rank - 1, *range(rank - 1))))


@reads("GatherElements")
def _gather_elements(n: Any) -> Any:
    axis = n.axis(0, n.rank())
    index, size = n.shape(1), n.shape()[axis]
    if index[:axis] + index[axis + 1 :] != n.shape()[:axis] + n.shape()[axis + 1 :]:
        raise n.refuse(f"indices of shape {index}", f"one that differs from {n.shape()} along axis {axis} only")
    if index[axis] > _MOST_PICKED:
        raise n.refuse(f"{index[axis]} indices along axis {axis}", f"at most {_MOST_PICKED}: each is an operator")
    made = [
        sym.pick(n.sym(0), sym.slice_axis(n.sym(1), axis=axis, begin=i, end=i + 1), axis=axis, keepdims=True, mode="wrap")
        for i in range(index[axis])
    ]
    return made[0] if len(made) == 1 else sym.concat(*made, dim=axis) if size else made[0]


@reads("OneHot")
def _one_hot(n: Any) -> Any:
    off, on = (float(value) for value in n.known(2, "values"))
    rank = n.rank(0) + 1
    axis = n.axis(-1, rank)
    made = sym.one_hot(n.sym(0), depth=int(n.known(1, "depth")), on_value=on, off_value=off, dtype=n.dtype(2).name)
    return made if axis == rank - 1 else sym.transpose(made, axes=(*range(axis), rank - 1, *range(axis, rank - 1)))


@reads("Tile")
def _tile(n: Any) -> Any:
    return sym.tile(n.sym(), reps=tuple(n.ints(1, "repeats")))


@reads("Expand")
def _expand(n: Any) -> Any:
    own = n.shape()
    return expanded(n.sym(), own, np.broadcast_shapes(own, tuple(n.ints(1, "shape"))))


@reads("Pad")
def _pad(n: Any) -> Any:
    pads = n.ints(1, "pads", n.attrs.get("paddings"))
    rank = len(pads) // 2
    value = float(n.known(2, "value")) if n.has(2) else n.attrs.get("value", 0.0)
    width = [size for pair in zip(pads[:rank], pads[rank:]) for size in pair]
    mode = n.attrs.get("mode", "constant")
    more = (5 if rank == 5 else 4) - rank  # the operator knows four and five axes
    if more < 0 or (mode != "constant" and (more or any(width[:4]))):
        raise n.refuse(f"mode {mode} for {rank} axes, {pads}", "up to five axes; the last two or three in other modes than constant")
    if mode == "constant" and (more or any(width[:4])):
        return _constant_pad(n, pads[:rank], pads[rank:], value)
    return sym.Pad(n.sym(), mode=mode, pad_width=tuple(width), constant_value=value)


def _constant_pad(n: Any, before: List[int], behind: List[int], value: float) -> Any:
    """Constants joined to both sides of each axis; negative sizes cut."""
    made, shape = n.sym(), list(n.shape())
    for axis, (front, back) in enumerate(zip(before, behind)):
        made = sym.slice_axis(made, axis=axis, begin=max(-front, 0), end=shape[axis] - max(-back, 0))
        shape[axis] -= max(-front, 0) + max(-back, 0)
        parts = [
            n.constant(np.full(n.room([*shape[:axis], size, *shape[axis + 1 :]], n.dtype()), value, n.dtype())) if size > 0 else None
            for size in (front, back)
        ]
        joined = [part for part in (parts[0], made, parts[1]) if part is not None]
        made = joined[0] if len(joined) == 1 else sym.concat(*joined, dim=axis)
        shape[axis] += max(front, 0) + max(back, 0)
    return made


@reads("DepthToSpace")
def _depth_to_space(n: Any) -> Any:
    size = n.attrs["blocksize"]
    if n.attrs.get("mode", "DCR") == "DCR":
        return sym.depth_to_space(n.sym(), block_size=size)
    batch, channels, height, width = n.shape()
    apart = sym.reshape(n.sym(), shape=(0, channels // size**2, size, size, height, width))
    return sym.reshape(sym.transpose(apart, axes=(0, 1, 4, 2, 5, 3)), shape=(0, channels // size**2, height * size, width * size))


@reads("SpaceToDepth")
def _space_to_depth(n: Any) -> Any:
    return sym.space_to_depth(n.sym(), block_size=n.attrs["blocksize"])


@reads("Shape")
def _shape(n: Any) -> np.ndarray:
    """The shape, where the file tells it."""
    shape = n.shape()
    if 0 in shape:
        return sym.shape_array(n.sym())
    return np.array(shape[n.attrs.get("start", 0) : n.attrs.get("end")], np.int64)


@reads("Size")
def _size(n: Any) -> np.ndarray:
    return np.array(np.prod(n.shape()), np.int64)


@reads("ConstantOfShape")
def _constant_of_shape(n: Any) -> np.ndarray:
    value = n.attrs.get("value", np.zeros(1, np.float32))
    return np.full(n.room(n.known(0, "a shape").reshape(-1), value.dtype), value[0], value.dtype)


@reads("Range")
def _range(n: Any) -> np.ndarray:
    start, stop, step = (n.known(i, "limits").item() for i in range(3))
    n.room([max((stop - start) // step, 0)], n.dtype(0))
    return np.arange(start, stop, step, dtype=n.dtype(0))


@reads("ReverseSequence")
def _reverse_sequence(n: Any) -> Any:
    if n.attrs.get("time_axis", 0) != 0 or n.attrs.get("batch_axis", 1) != 1:
        raise n.refuse("another order of axes", "time first, batch second")
    lengths = sym.cast(n.sym(1), dtype="float32")
    return sym.SequenceReverse(n.sym(0), lengths, use_sequence_length=True)
