# SPDX-License-Identifier: Apache-2.0
"""Layers with weights, and activations."""

from __future__ import annotations

import math
from typing import Any, Callable, List, Optional

import numpy as np

from ._graph import pairs
from ._rows import writes

_ACTIVATIONS = {"relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "softrelu": "Softplus", "softsign": "Softsign"}


def channels_first(g: Any, n: Any, value: str) -> str:
    """Images with their channels second, whatever the node's layout."""
    layout = getattr(n.params, "layout", None)
    if layout and layout.endswith("C"):
        return g.transpose(value, [0, n.rank - 1, *range(1, n.rank - 1)])
    return value


def as_before(g: Any, n: Any, value: str) -> str:
    """The result in the node's layout."""
    layout = getattr(n.params, "layout", None)
    if layout and layout.endswith("C"):
        return g.transpose(value, [0, *range(2, n.rank), 1])
    return value


def _layered(write: Callable[..., str]) -> Callable[..., str]:
    """A writer for channels that come second, made one for every layout."""

    def written(g: Any, n: Any) -> str:
        inputs = [channels_first(g, n, value) for value in n.inputs[:2]] + n.inputs[2:]
        return as_before(g, n, write(g, n, inputs, pairs(n.params.stride, n.rank - 2, 1)))

    return written


@writes("Convolution")
@_layered
def _convolution(g: Any, n: Any, inputs: List[str], stride: List[int]) -> str:
    pad = pairs(n.params.pad, n.rank - 2, 0)
    return g.op(
        "Conv", *inputs[: 2 if n.params.no_bias else 3], kernel_shape=list(n.params.kernel), strides=stride,
        pads=pad + pad, dilations=pairs(n.params.dilate, n.rank - 2, 1), group=n.params.num_group,
    )  # fmt: skip


@writes("Deconvolution")
@_layered
def _deconvolution(g: Any, n: Any, inputs: List[str], stride: List[int]) -> str:
    rank = n.rank - 2
    pad, adjust = pairs(n.params.pad, rank, 0), pairs(n.params.adj, rank, 0)
    dilate = pairs(n.params.dilate, rank, 1)
    if n.params.target_shape and any(n.params.target_shape):
        first = 2 if not (n.params.layout or "").endswith("C") else 1
        for i, (size, wanted) in enumerate(zip(n.shapes[0][first:], n.params.target_shape)):
            if wanted == 0:  # pad and adj say it
                continue
            surplus = stride[i] * (size - 1) + dilate[i] * (n.params.kernel[i] - 1) + 1 - wanted
            adjust[i], pad[i] = surplus % 2, (surplus + 1) // 2
    return g.op(
        "ConvTranspose", *inputs[: 2 if n.params.no_bias else 3], kernel_shape=list(n.params.kernel), strides=stride,
        pads=pad + pad, dilations=dilate, output_padding=adjust, group=n.params.num_group,
    )  # fmt: skip


@writes("FullyConnected")
def _fully_connected(g: Any, n: Any) -> str:
    bias = [] if n.params.no_bias else [n.inputs[2]]
    if n.params.flatten or n.rank == 2:
        data = n.inputs[0] if n.rank == 2 else g.op("Flatten", n.inputs[0], axis=1)
        return g.op("Gemm", data, n.inputs[1], *bias, transB=1)
    made = g.op("MatMul", n.inputs[0], g.transpose(n.inputs[1], [1, 0]))
    return g.op("Add", made, bias[0]) if bias else made


@writes("Activation")
def _activation(g: Any, n: Any) -> str:
    kind = n.params.act_type
    if kind == "log_sigmoid":
        return g.op("Log", g.op("Sigmoid", n.inputs[0]))
    if kind == "mish":
        return g.op("Mul", n.inputs[0], g.op("Tanh", g.op("Softplus", n.inputs[0])))
    if kind not in _ACTIVATIONS:
        raise n.refuse(f"act_type {kind}", f"one of {', '.join(_ACTIVATIONS)}")
    return g.op(_ACTIVATIONS[kind], n.inputs[0])


@writes("LeakyReLU")
def _leaky_relu(g: Any, n: Any) -> str:
    kind, x, slope = n.params.act_type, n.inputs[0], n.params.slope
    if kind == "leaky":
        return g.op("LeakyRelu", x, alpha=slope)
    if kind == "rrelu":  # in inference the slope is the middle of its range
        return g.op("LeakyRelu", x, alpha=(n.params.lower_bound + n.params.upper_bound) / 2)
    if kind == "elu":
        return g.op("Elu", x, alpha=slope)
    if kind == "selu":
        return g.op("Selu", x)
    if kind == "gelu":
        return gelu(g, x, n.dtypes[0])
    shape = n.shapes[1]
    gamma = n.inputs[1] if len(shape) != 1 or n.rank < 3 else g.reshape(n.inputs[1], [-1, *[1] * (n.rank - 2)])
    return g.op("PRelu", x, gamma)


def gelu(g: Any, x: str, dtype: Any) -> str:
    """x * P(a normal number < x)."""
    share = g.op("Add", g.op("Erf", g.op("Mul", x, g.const(math.sqrt(0.5), dtype))), g.const(1, dtype))
    return g.op("Mul", g.op("Mul", x, g.const(0.5, dtype)), share)


@writes("Dropout")
def _dropout(g: Any, n: Any) -> str:
    if n.params.mode == "always":
        raise n.refuse("mode 'always'", "dropout in training only")
    return g.op("Dropout", n.inputs[0], g.const(n.params.p, np.float32))


@writes("Embedding")
def _embedding(g: Any, n: Any) -> str:
    last = n.shapes[1][0] - 1
    places = g.op("Clip", g.cast(n.inputs[0], np.int64), g.const(0, np.int64), g.const(last, np.int64))
    return g.op("Gather", n.inputs[1], places, axis=0)


@writes("UpSampling")
def _upsampling(g: Any, n: Any) -> str:
    scale = n.params.scale
    if n.params.sample_type == "bilinear":
        channels = n.shapes[0][1]
        kernel, pad = 2 * scale - scale % 2, math.ceil((scale - 1) / 2)
        return g.op(
            "ConvTranspose", *n.inputs[:2], kernel_shape=[kernel] * 2, strides=[scale] * 2, pads=[pad] * 4, group=channels
        )
    largest = n.shapes[0][2] * scale
    made = [_nearest(g, value, largest // shape[2]) for value, shape in zip(n.inputs, n.shapes)]
    if len(made) == 1:
        return made[0]
    return g.op("Sum", *made) if n.params.multi_input_mode == "sum" else g.op("Concat", *made, axis=1)


def _nearest(g: Any, value: str, scale: int) -> str:
    scales = g.const(np.array([1, 1, scale, scale], np.float32))
    return resize(g, value, "nearest", "asymmetric", scales=scales, nearest_mode="floor")


def resize(g: Any, value: str, mode: str, rule: str, scales: str = "", sizes: Optional[str] = None, **more: Any) -> str:
    """Resize by factors or to sizes."""
    sized = [scales] if sizes is None else ["", sizes]
    return g.op("Resize", value, "", *sized, mode=mode, coordinate_transformation_mode=rule, **more)


@writes("_contrib_BilinearResize2D")
def _bilinear_resize(g: Any, n: Any) -> str:
    rule = "align_corners" if n.params.align_corners else "half_pixel"
    height, width = n.out_shapes[0][2:]
    both = g.slice(g.op("Shape", n.inputs[0]), [0], [2], [0])
    return resize(g, n.inputs[0], "linear", rule, sizes=g.op("Concat", both, g.ints([height, width]), axis=0))
