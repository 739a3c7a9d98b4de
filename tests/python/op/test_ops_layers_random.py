# SPDX-License-Identifier: Apache-2.0
"""Layers of shapes that nobody chose: float32, with oneDNN and on the plain kernels, against float64, which has kernels of
its own for each of them; results and gradients. Other layers: MXNET_TEST_SEED.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/op/test_ops_layers_random.py
"""
import os
import random

import numpy as np
import pytest

from op_calls import Library

pytestmark = pytest.mark.skipif(not os.environ.get("MXNET_LIBRARY_PATH"), reason="MXNET_LIBRARY_PATH is not set")

SEED = int(os.environ.get("MXNET_TEST_SEED", "20261121"))
LAYERS_OF_EACH = 25
TOLERANCE = 3e-5  # of the largest number of an array: sums of a few hundred float32 numbers


@pytest.fixture(scope="module")
def library():
    library = Library()
    yield library
    library.close()


@pytest.fixture(params=["1", "0"], ids=["onednn", "plain"])
def mx(request, library):
    library.call("MXSetEnv", b"MXNET_ONEDNN_ENABLED", request.param.encode())
    yield library
    library.call("MXSetEnv", b"MXNET_ONEDNN_ENABLED", b"1")


def numbers(draw, count, low, high):
    return tuple(draw.randint(low, high) for _ in range(count))


def windows(draw):
    """Number of dimensions, kernel, stride, dilation, padding and an image that has at least one window."""
    spatial = draw.choice([1, 2, 2, 2, 3])
    kernel = draw.choice([(3,) * spatial, (1,) * spatial, numbers(draw, spatial, 1, 5 if spatial < 3 else 3)])
    stride, dilate = numbers(draw, spatial, 1, 3), draw.choice([(1,) * spatial, numbers(draw, spatial, 1, 3)])
    pad = draw.choice([tuple(k // 2 for k in kernel), numbers(draw, spatial, 0, 3)])
    image = tuple(max(1, d * (k - 1) + 1 - 2 * p) + draw.randint(0, 9 if spatial < 3 else 4)
                  for k, d, p in zip(kernel, dilate, pad))
    return kernel, stride, dilate, pad, image


def convolution(draw):
    kernel, stride, dilate, pad, image = windows(draw)
    groups = draw.choice([1, 1, 2, 3, 8, 17])
    channels, filters = groups * draw.choice([1, 2, 3, 8]), groups * draw.choice([1, 2, 5, 16])
    shapes = [(draw.choice([1, 2, 3]), channels, *image), (filters, channels // groups, *kernel), (filters,)]
    return "Convolution", shapes, {"kernel": kernel, "stride": stride, "dilate": dilate, "pad": pad, "num_filter": filters,
                                   "num_group": groups}


def deconvolution(draw):
    kernel, stride, dilate, _, image = windows(draw)
    image = tuple(min(n, 6) for n in image)
    pad = tuple(draw.randint(0, min(2, s * (n - 1) + d * (k - 1)) // 2) for k, s, d, n in zip(kernel, stride, dilate, image))
    groups = draw.choice([1, 1, 2, 3, 4])
    channels, filters = groups * draw.choice([1, 2, 3, 8]), groups * draw.choice([1, 2, 4])
    shapes = [(draw.choice([1, 2]), channels, *image), (channels, filters // groups, *kernel), (filters,)]
    return "Deconvolution", shapes, {"kernel": kernel, "stride": stride, "dilate": dilate, "pad": pad, "num_filter": filters,
                                     "num_group": groups, "adj": tuple(draw.randint(0, s - 1) for s in stride), "no_bias": False}


def pooling(draw):
    kernel, stride, _, _, image = windows(draw)
    image = tuple(max(n, k) for n, k in zip(image, kernel))
    attrs = {"kernel": kernel, "stride": stride, "pad": tuple(draw.randint(0, k // 2) for k in kernel),
             "pool_type": draw.choice(["max", "avg", "sum"]), "pooling_convention": draw.choice(["valid", "full"]),
             "count_include_pad": draw.random() < 0.5}
    if draw.random() < 0.2:
        attrs["global_pool"] = True
    shape = (draw.choice([1, 2, 3]), draw.choice([1, 3, 8, 17, 32]), *image)
    if draw.random() < 0.3:
        attrs["layout"] = {1: "NWC", 2: "NHWC", 3: "NDHWC"}[len(kernel)]
        shape = (shape[0], *image, shape[1])
    return "Pooling", [shape], attrs


def recurrent(draw):
    gates = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}
    mode = draw.choice(list(gates))
    layers, directions, steps, batch = draw.randint(1, 3), draw.randint(1, 2), draw.randint(1, 7), draw.randint(1, 9)
    size, state = draw.choice([1, 3, 8, 20]), draw.choice([1, 4, 7, 16, 33])
    projection = draw.choice([None, max(1, state // 2)]) if mode == "lstm" else None
    out = projection or state
    parameters = 0
    for layer in range(layers):
        inputs = size if layer == 0 else out * directions
        of_one = gates[mode] * state * (inputs + out + 2) + (projection or 0) * state
        parameters += directions * of_one
    shapes = [(steps, batch, size), (parameters,), (layers * directions, batch, out)]
    if mode == "lstm":
        shapes.append((layers * directions, batch, state))
    attrs = {"mode": mode, "state_size": state, "num_layers": layers, "bidirectional": directions == 2, "state_outputs": True}
    if projection:
        attrs["projection_size"] = projection
    return "RNN", shapes, attrs


def layers():
    for kind in (convolution, deconvolution, pooling, recurrent):
        for number in range(LAYERS_OF_EACH):
            draw = random.Random(f"{SEED} {kind.__name__} {number}")
            yield pytest.param(*kind(draw), id=f"{kind.__name__}-{number}")


@pytest.mark.parametrize("op, shapes, attrs", list(layers()))
def test_results_and_gradients_are_those_of_float64(mx, rng, op, shapes, attrs):
    narrow = [(rng.normal(size=shape) * (0.3 if len(shape) == 1 else 1)).astype("float32") for shape in shapes]
    wide = [array.astype("float64") for array in narrow]
    want = mx.run(op, *wide, **attrs)
    got = mx.run(op, *narrow, **attrs)
    heads = [rng.normal(size=array.shape).astype("float32") for array in want]
    want += mx.gradients(op, wide, [head.astype("float64") for head in heads], **attrs)
    got += mx.gradients(op, narrow, heads, **attrs)
    assert len(got) == len(want)
    for number, (a, b) in enumerate(zip(got, want)):
        assert a.shape == b.shape and a.dtype == np.float32
        # A window that sees nothing is the lowest number of its type.
        seen = b > np.finfo("float64").min
        error = np.abs(np.where(seen, a - b, 0)).max(initial=0)
        assert error <= TOLERANCE * (np.abs(b[seen]).max(initial=0) + 0.1), f"array {number}"
