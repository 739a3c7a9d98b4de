# SPDX-License-Identifier: Apache-2.0
"""Layers with weights, normalisations, pooling, resizing."""

from __future__ import annotations

from typing import Any, List, Tuple

import numpy as np

from .... import symbol
from ._rows import reads

sym: Any = symbol  # whose operators get inputs as lists here


def _padding(n: Any, kernel: List[int], stride: List[int], dilate: List[int], first: int = 2) -> Tuple[List[int], List[int]]:
    """Padding before and behind each spatial dimension."""
    rank, automatic = len(kernel), n.attrs.get("auto_pad", "NOTSET")
    if automatic in ("NOTSET", ""):
        pads = n.attrs.get("pads", [0] * (2 * rank))
        return list(pads[:rank]), list(pads[rank:])
    if automatic == "VALID":
        return [0] * rank, [0] * rank
    before, behind = [], []
    for size, k, s, d in zip(n.shape()[first:], kernel, stride, dilate):
        total = max((-(-size // s) - 1) * s + (k - 1) * d + 1 - size, 0)
        less, more = total // 2, total - total // 2
        before.append(less if automatic == "SAME_UPPER" else more)
        behind.append(more if automatic == "SAME_UPPER" else less)
    return before, behind


def _padded(data: Any, before: List[int], behind: List[int], value: float = 0.0) -> Any:
    """Spatial dimensions made larger by an operator of its own, for padding that differs between the sides."""
    width = [0, 0, 0, 0]
    for pair in zip(before, behind):
        width += pair
    if len(before) == 1:  # padding knows images: a second spatial dimension of size one
        wide = sym.Pad(sym.expand_dims(data, axis=3), mode="constant", pad_width=(*width, 0, 0), constant_value=value)
        return sym.squeeze(wide, axis=3)
    return sym.Pad(data, mode="constant", pad_width=tuple(width), constant_value=value)


@reads("Conv")
def _conv(n: Any) -> Any:
    weight = n.shape(1)
    rank = len(weight) - 2
    kernel = n.attrs.get("kernel_shape", list(weight[2:]))
    stride, dilate = n.attrs.get("strides", [1] * rank), n.attrs.get("dilations", [1] * rank)
    before, behind = _padding(n, kernel, stride, dilate)
    data = n.sym()
    if before != behind:
        data, before = _padded(data, before, behind), [0] * rank
    inputs = [n.sym(i) for i in range(1, 3) if n.has(i)]
    return sym.Convolution(
        data, *inputs, kernel=kernel, stride=stride, dilate=dilate, pad=before, num_filter=weight[0],
        num_group=n.attrs.get("group", 1), no_bias=not n.has(2),
    )  # fmt: skip


@reads("ConvTranspose")
def _conv_transpose(n: Any) -> Any:
    weight, groups = n.shape(1), n.attrs.get("group", 1)
    rank = len(weight) - 2
    kernel = n.attrs.get("kernel_shape", list(weight[2:]))
    stride, dilate = n.attrs.get("strides", [1] * rank), n.attrs.get("dilations", [1] * rank)
    adjust = list(n.attrs.get("output_padding", [0] * rank))
    before, behind = _transposed_padding(n, kernel, stride, dilate, adjust)
    # All that comes out without padding, of which the sides are cut where they differ.
    same = before == behind and all(p >= 0 for p in before) and all(a < s for a, s in zip(adjust, stride))
    made = sym.Deconvolution(
        n.sym(), *(n.sym(i) for i in range(1, 3) if n.has(i)), kernel=kernel, stride=stride, dilate=dilate,
        pad=before if same else [0] * rank, adj=adjust if same else [0] * rank, num_filter=weight[1] * groups,
        num_group=groups, no_bias=not n.has(2),
    )  # fmt: skip
    if same:
        return made
    for i in range(rank):
        cut = behind[i] - adjust[i]
        if cut < 0:
            raise n.refuse(f"output_padding {adjust} with pads {before + behind}", "no more of it than of padding")
        made = sym.slice_axis(made, axis=2 + i, begin=before[i], end=-cut if cut else None)
    return made


def _transposed_padding(n: Any, kernel: Any, stride: Any, dilate: Any, adjust: Any) -> Tuple[List[int], List[int]]:
    rank, automatic = len(kernel), n.attrs.get("auto_pad", "NOTSET")
    sizes = n.attrs.get("output_shape")
    if sizes is None and automatic in ("NOTSET", "", "VALID"):
        return _padding(n, kernel, stride, dilate)
    sizes = sizes[-rank:] if sizes else [size * s for size, s in zip(n.shape()[2:], stride)]
    full = [s * (size - 1) + a + (k - 1) * d + 1 for size, s, a, k, d in zip(n.shape()[2:], stride, adjust, kernel, dilate)]
    totals = [whole - wanted for whole, wanted in zip(full, sizes)]
    less = [total // 2 for total in totals]
    more = [total - half for total, half in zip(totals, less)]
    return (more, less) if automatic == "SAME_UPPER" else (less, more)


@reads("Gemm")
def _gemm(n: Any) -> Any:
    alpha, beta = n.attrs.get("alpha", 1.0), n.attrs.get("beta", 1.0)
    plain = not n.attrs.get("transA") and alpha == 1 and n.attrs.get("transB")
    if plain and not n.has(2):
        return sym.FullyConnected(n.sym(0), n.sym(1), num_hidden=n.shape(1)[0], no_bias=True)
    if plain and beta == 1 and n.shape(2) == (n.shape(1)[0],):
        return sym.FullyConnected(n.sym(0), n.sym(1), n.sym(2), num_hidden=n.shape(1)[0])
    made = sym.dot(n.sym(0), n.sym(1), transpose_a=bool(n.attrs.get("transA", 0)), transpose_b=bool(n.attrs.get("transB", 0)))
    made = made if alpha == 1 else made * alpha
    if not n.has(2):
        return made
    return sym.broadcast_add(made, n.sym(2) if beta == 1 else n.sym(2) * beta)


@reads("FC")
def _fc(n: Any) -> Any:
    return sym.FullyConnected(*(n.sym(i) for i in range(3)), num_hidden=n.shape(1)[0])


@reads("MatMul")
def _matmul(n: Any) -> Any:
    left, right = n.rank(0), n.rank(1)
    if left == right == 2:
        return sym.dot(n.sym(0), n.sym(1))
    if right <= 2:
        return sym.dot(n.sym(0), n.sym(1))
    return _stacked_product(n, left)


def _stacked_product(n: Any, left: int) -> Any:
    """Products of stacks of matrices, whose leading sizes follow NumPy's rules."""
    a, b = n.shape(0), n.shape(1)
    first, second = n.sym(0), n.sym(1)
    if left == 1:
        first, a = sym.reshape(first, shape=(1, -1)), (1, *a)
    stack = np.broadcast_shapes(a[:-2], b[:-2])
    if a[:-2] != stack:
        first = sym.broadcast_to(sym.reshape(first, shape=(*[1] * (len(stack) - len(a) + 2), *a)), shape=(*stack, *a[-2:]))
    if b[:-2] != stack:
        second = sym.broadcast_to(sym.reshape(second, shape=(*[1] * (len(stack) - len(b) + 2), *b)), shape=(*stack, *b[-2:]))
    made = sym.linalg.gemm2(first, second)
    return sym.squeeze(made, axis=len(stack)) if left == 1 else made


@reads("BatchNormalization", "SpatialBN")
def _batch_norm(n: Any) -> Any:
    made = sym.BatchNorm(
        *(n.sym(i) for i in range(3)), n.auxiliary(3), n.auxiliary(4), eps=n.attrs.get("epsilon", 1e-5),
        momentum=n.attrs.get("momentum", 0.9), fix_gamma=False,
    )  # fmt: skip
    return made[0] if len(made) > 1 else made


@reads("InstanceNormalization")
def _instance_norm(n: Any) -> Any:
    return sym.InstanceNorm(*(n.sym(i) for i in range(3)), eps=n.attrs.get("epsilon", 1e-5))


@reads("LayerNormalization")
def _layer_norm(n: Any) -> Any:
    rank, eps = n.rank(), n.attrs.get("epsilon", 1e-5)
    axis = n.axis(-1, rank)
    if axis == rank - 1:
        beta = n.sym(2) if n.has(2) else n.constant(np.zeros(n.room(n.shape(1), n.dtype(1)), n.dtype(1)))
        made = sym.LayerNorm(n.sym(0), n.sym(1), beta, axis=-1, eps=eps)
        return made[0] if len(made) > 1 else made
    axes = tuple(range(axis, rank))
    apart = sym.broadcast_sub(n.sym(), sym.mean(n.sym(), axis=axes, keepdims=True))
    scaled = sym.broadcast_div(apart, sym.sqrt(sym.mean(sym.square(apart), axis=axes, keepdims=True) + eps))
    made = sym.broadcast_mul(scaled, n.sym(1))
    return sym.broadcast_add(made, n.sym(2)) if n.has(2) else made


@reads("GroupNormalization")
def _group_norm(n: Any) -> Any:
    """Scale and bias are those of groups before opset 21, of channels since then."""
    groups, shape = n.attrs["num_groups"], n.shape()
    flat = sym.reshape(n.sym(), shape=(0, groups, -1))
    apart = sym.broadcast_sub(flat, sym.mean(flat, axis=2, keepdims=True))
    scaled = sym.broadcast_div(apart, sym.sqrt(sym.mean(sym.square(apart), axis=2, keepdims=True) + n.attrs.get("epsilon", 1e-5)))
    per_channel = n.shape(1)[0] == shape[1]
    made = sym.reshape_like(scaled, n.sym()) if per_channel else scaled
    wide = (1, -1, *[1] * (len(shape) - 2)) if per_channel else (1, -1, 1)
    made = sym.broadcast_add(sym.broadcast_mul(made, sym.reshape(n.sym(1), shape=wide)), sym.reshape(n.sym(2), shape=wide))
    return made if per_channel else sym.reshape_like(made, n.sym())


@reads("LRN")
def _lrn(n: Any) -> Any:
    a = n.attrs
    return sym.LRN(n.sym(), alpha=a.get("alpha", 1e-4), beta=a.get("beta", 0.75), knorm=a.get("bias", 1.0), nsize=a["size"])


@reads("LpNormalization")
def _lp_normalization(n: Any) -> Any:
    axis = n.attrs.get("axis", -1)
    return sym.broadcast_div(n.sym(), sym.norm(n.sym(), ord=n.attrs.get("p", 2), axis=axis, keepdims=True))


def _pool(n: Any, kind: str, **more: Any) -> Any:
    kernel = n.attrs["kernel_shape"]
    rank = len(kernel)
    stride, dilate = n.attrs.get("strides", [1] * rank), n.attrs.get("dilations", [1] * rank)
    if any(size != 1 for size in dilate):
        raise n.refuse(f"dilations {dilate}", "windows without holes")
    before, behind = _padding(n, kernel, stride, dilate)
    data, convention = n.sym(), "full" if n.attrs.get("ceil_mode", 0) else "valid"
    if before != behind and kind == "avg" and not more["count_include_pad"]:
        return _average_inside(data, before, behind, convention, kernel=kernel, stride=stride)
    if before != behind:
        data, before = _padded(data, before, behind, -np.inf if kind == "max" else 0.0), [0] * rank
    return sym.Pooling(data, pool_type=kind, kernel=kernel, stride=stride, pad=before, pooling_convention=convention, **more)


def _average_inside(data: Any, before: Any, behind: Any, convention: str, **window: Any) -> Any:
    """Averages that leave out padding which differs between the sides: sums, divided by sums of ones."""
    sums = [
        sym.Pooling(_padded(value, before, behind), pool_type="sum", pooling_convention=convention, **window)
        for value in (data, sym.ones_like(data))
    ]
    return sums[0] / sums[1]


@reads("MaxPool")
def _max_pool(n: Any) -> Any:
    return _pool(n, "max")


@reads("AveragePool")
def _average_pool(n: Any) -> Any:
    return _pool(n, "avg", count_include_pad=bool(n.attrs.get("count_include_pad", 0)))


@reads("LpPool")
def _lp_pool(n: Any) -> Any:
    return _pool(n, "lp", p_value=n.attrs.get("p", 2))


def _global(n: Any, kind: str, **more: Any) -> Any:
    return sym.Pooling(n.sym(), pool_type=kind, global_pool=True, **more)


@reads("GlobalMaxPool")
def _global_max(n: Any) -> Any:
    return _global(n, "max")


@reads("GlobalAveragePool")
def _global_average(n: Any) -> Any:
    return _global(n, "avg")


@reads("GlobalLpPool")
def _global_lp(n: Any) -> Any:
    return _global(n, "lp", p_value=n.attrs.get("p", 2))


@reads("MaxRoiPool")
def _max_roi_pool(n: Any) -> Any:
    return sym.ROIPooling(n.sym(0), n.sym(1), pooled_size=n.attrs["pooled_shape"], spatial_scale=n.attrs.get("spatial_scale", 1.0))


@reads("RoiAlign")
def _roi_align(n: Any) -> Any:
    a = n.attrs
    if a.get("mode", "avg") != "avg":
        raise n.refuse("mode max", "avg")
    half = a.get("coordinate_transformation_mode", "half_pixel" if n.opset >= 16 else "output_half_pixel") == "half_pixel"
    boxes = sym.concat(sym.cast(sym.expand_dims(n.sym(2), axis=1), dtype=n.dtype(1).name), n.sym(1), dim=1)
    return sym.contrib.ROIAlign(
        n.sym(0), boxes, pooled_size=(a.get("output_height", 1), a.get("output_width", 1)),
        spatial_scale=a.get("spatial_scale", 1.0), sample_ratio=a.get("sampling_ratio", 0), aligned=half,
    )  # fmt: skip


@reads("Upsample", "Resize")
def _resize(n: Any) -> Any:
    shape = n.shape()
    mode = n.attrs.get("mode", "nearest")
    factors = _factors(n, shape)
    rule = n.attrs.get("coordinate_transformation_mode", "half_pixel" if n.op == "Resize" and n.opset >= 11 else "asymmetric")
    if len(shape) != 4 or factors[0] != 1 or factors[1] != 1:
        raise n.refuse(f"factors {factors}", "images, of which height and width change")
    whole = factors[2] == factors[3] and float(factors[2]).is_integer()
    if mode == "nearest" and whole:
        return sym.UpSampling(n.sym(), scale=int(factors[2]), sample_type="nearest", num_args=1)
    if mode in ("linear", "bilinear") and rule in ("align_corners", "half_pixel", "pytorch_half_pixel"):
        height, width = (int(np.floor(size * factor + 1e-6)) for size, factor in zip(shape[2:], factors[2:]))
        return sym.contrib.BilinearResize2D(n.sym(), height=height, width=width, align_corners=rule == "align_corners")
    raise n.refuse(f"mode {mode}, {rule}, factors {factors}", "nearest by one whole factor, or linear with align_corners or half_pixel")


def _factors(n: Any, shape: Any) -> List[float]:
    """How many times larger each dimension becomes."""
    if n.has(3):
        return [float(size) / own for size, own in zip(n.known(3, "sizes"), shape)]
    place = 2 if n.op == "Resize" and n.opset >= 11 else 1
    return [float(value) for value in (n.known(place, "scales") if n.has(place) else n.attrs["scales"])]
