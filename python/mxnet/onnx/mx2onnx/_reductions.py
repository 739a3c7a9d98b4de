# SPDX-License-Identifier: Apache-2.0
"""Sums and their like along axes."""

from __future__ import annotations

from typing import Any, Callable, List, Optional

import numpy as np

from ._rows import writes


def _axes(n: Any) -> Optional[List[int]]:
    """The axes that disappear; None for all of them."""
    given = n.params.axis
    if given is None or given == ():
        return None
    axes = [n.axis(axis) for axis in given]
    if getattr(n.params, "exclude", False):
        return [axis for axis in range(n.rank) if axis not in axes]
    return axes


def reduce(g: Any, kind: str, value: str, axes: Optional[List[int]], keepdims: bool) -> str:
    """A reduction of ONNX; opset 13 takes the axes of a sum as an input, those of the others as an attribute."""
    if kind == "ReduceSum":
        return g.op(kind, value, *([] if axes is None else [g.ints(axes)]), keepdims=int(keepdims))
    return g.op(kind, value, axes=axes, keepdims=int(keepdims))


def _reduction(kind: str) -> Callable[..., str]:
    def write(g: Any, n: Any) -> str:
        value = n.inputs[0] if n.out_dtypes[0] == n.dtypes[0] else g.cast(n.inputs[0], n.out_dtypes[0])
        if _axes(n) == []:  # all are excluded, which in ONNX would be all that are reduced
            return g.op("Identity", value)
        made = reduce(g, kind, value, _axes(n), n.params.keepdims)
        return made if n.params.keepdims or n.out_shapes[0] != (1,) or _axes(n) is not None else g.reshape(made, [1])

    return write


for _name, _kind in {"sum": "ReduceSum", "mean": "ReduceMean", "max": "ReduceMax", "min": "ReduceMin", "prod": "ReduceProd"}.items():
    writes(_name)(_reduction(_kind))


@writes("norm")
def _norm(g: Any, n: Any) -> str:
    return _reduction("ReduceL1" if n.params.ord == 1 else "ReduceL2")(g, n)


def _argument(kind: str) -> Callable[..., str]:
    def write(g: Any, n: Any) -> str:
        value, axis = n.inputs[0], n.params.axis
        if axis is None:
            value, axis = g.reshape(value, [-1]), 0
        made = g.op(kind, value, axis=axis, keepdims=int(bool(n.params.keepdims) or n.params.axis is None))
        if n.params.axis is None and n.params.keepdims:
            made = g.reshape(made, [1] * n.rank)
        return g.cast(made, np.float32)

    return write


writes("argmax")(_argument("ArgMax"))
writes("argmin")(_argument("ArgMin"))


@writes("argmax_channel")
def _argmax_channel(g: Any, n: Any) -> str:
    return g.cast(g.op("ArgMax", n.inputs[0], axis=1, keepdims=0), np.float32)


@writes("shape_array")
def _shape_array(g: Any, n: Any) -> str:
    return g.op("Shape", n.inputs[0])


@writes("size_array")
def _size_array(g: Any, n: Any) -> str:
    return g.reshape(g.op("Size", n.inputs[0]), [1])
