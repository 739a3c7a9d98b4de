# SPDX-License-Identifier: Apache-2.0
"""Sums and their like along axes, sorting, random numbers."""

from __future__ import annotations

from typing import Any, Callable, List

from .... import symbol as sym
from ._rows import reads


def _reduction(before: Any, kind: Any, behind: Any = None, **more: Any) -> Callable[[Any], Any]:
    """A function of each number, a reduction, a function of its result; None for none."""

    def read(n: Any) -> Any:
        axes, keepdims = n.ints(1, "axes"), bool(n.attrs.get("keepdims", 1))
        if axes == [] or (axes is None and n.attrs.get("noop_with_empty_axes")):
            return sym.identity(n.sym())
        axis = tuple(range(n.rank())) if axes is None else tuple(axes)
        value = n.sym() if before is None else before(n.sym())
        made = kind(value, axis=axis, keepdims=keepdims, **more)
        return made if behind is None else behind(made)

    return read


_KINDS = {
    "ReduceSum": (None, sym.sum, None),
    "ReduceMean": (None, sym.mean, None),
    "ReduceMax": (None, sym.max, None),
    "ReduceMin": (None, sym.min, None),
    "ReduceProd": (None, sym.prod, None),
    "ReduceL1": (sym.abs, sym.sum, None),
    "ReduceL2": (sym.square, sym.sum, sym.sqrt),
    "ReduceSumSquare": (sym.square, sym.sum, None),
    "ReduceLogSum": (None, sym.sum, sym.log),
}
for _name, _parts in _KINDS.items():
    reads(_name)(_reduction(*_parts))


@reads("ReduceLogSumExp")
def _log_sum_exp(n: Any) -> Any:
    """The largest number is taken out first, so that no exponential overflows."""
    axes = n.ints(1, "axes")
    axis = tuple(range(n.rank())) if axes is None else tuple(axes)
    largest = sym.max(n.sym(), axis=axis, keepdims=True)
    made = sym.log(sym.sum(sym.exp(sym.broadcast_sub(n.sym(), largest)), axis=axis, keepdims=True)) + largest
    return made if n.attrs.get("keepdims", 1) else sym.squeeze(made, axis=axis)


def _argument(kind: Any) -> Callable[[Any], Any]:
    def read(n: Any) -> Any:
        made = kind(n.sym(), axis=n.attrs.get("axis", 0), keepdims=bool(n.attrs.get("keepdims", 1)))
        return sym.cast(made, dtype="int64")

    return read


reads("ArgMax")(_argument(sym.argmax))
reads("ArgMin")(_argument(sym.argmin))


@reads("TopK")
def _topk(n: Any) -> List[Any]:
    count = n.ints(1, "k")
    count = count[0] if isinstance(count, list) else count
    made = sym.topk(
        n.sym(), axis=n.attrs.get("axis", -1), k=count, ret_typ="both", is_ascend=not n.attrs.get("largest", 1), dtype="int64"
    )
    return [made[0], made[1]]


@reads("CumSum")
def _cumsum(n: Any) -> Any:
    if n.attrs.get("exclusive") or n.attrs.get("reverse"):
        raise n.refuse("exclusive or reverse", "neither")
    return sym.cumsum(n.sym(), axis=int(n.known(1, "axis")))


@reads("RandomUniform")
def _uniform(n: Any) -> Any:
    return sym.random.uniform(n.attrs.get("low", 0.0), n.attrs.get("high", 1.0), shape=tuple(n.attrs["shape"]))


@reads("RandomNormal")
def _normal(n: Any) -> Any:
    return sym.random.normal(n.attrs.get("mean", 0.0), n.attrs.get("scale", 1.0), shape=tuple(n.attrs["shape"]))


@reads("RandomUniformLike")
def _uniform_like(n: Any) -> Any:
    return sym.random.uniform_like(n.sym(), low=n.attrs.get("low", 0.0), high=n.attrs.get("high", 1.0))


@reads("RandomNormalLike")
def _normal_like(n: Any) -> Any:
    return sym.random.normal_like(n.sym(), loc=n.attrs.get("mean", 0.0), scale=n.attrs.get("scale", 1.0))


@reads("Multinomial")
def _multinomial(n: Any) -> Any:
    return sym.random.multinomial(sym.softmax(n.sym(), axis=-1), shape=n.attrs.get("sample_size", 1))
