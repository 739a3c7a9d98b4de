# SPDX-License-Identifier: Apache-2.0
"""Convolution, Deconvolution and FullyConnected against their definitions in NumPy, with oneDNN and on the plain
kernels; gradients against differences and, being adjoints, against the forward pass.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/op/test_ops_nn.py
"""
import ctypes
import itertools
import math
import os
import threading

import numpy as np
import pytest

from nn_checks import TOLERANCE, close, library, mx  # noqa: F401  (fixtures)
from op_calls import ADD, WRITE, Failure

SEED = 20240611
pytestmark = pytest.mark.skipif(not os.environ.get("MXNET_LIBRARY_PATH"), reason="MXNET_LIBRARY_PATH is not set")


# ---- Definitions ----

def taps(image, kernel, stride, dilate, places):
    """(position in the kernel, what it sees at all places) for each position; the image is padded already."""
    for at in itertools.product(*map(range, kernel)):
        begin = [a * d for a, d in zip(at, dilate)]
        yield at, image[(..., *(slice(b, b + (n - 1) * s + 1, s) for b, n, s in zip(begin, places, stride)))]


def convolve(x, w, b, kernel, stride, dilate, pad, groups):
    padded = np.pad(x.astype("float64"), [(0, 0), (0, 0), *((p, p) for p in pad)])
    places = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(padded.shape[2:], kernel, stride, dilate)]
    batch, filters = x.shape[0], w.shape[0]
    y = np.zeros((batch, groups, filters // groups, *places))
    w = w.astype("float64").reshape(groups, filters // groups, *w.shape[1:])
    for at, seen in taps(padded, kernel, stride, dilate, places):
        seen = seen.reshape(batch, groups, x.shape[1] // groups, *places)
        y += np.einsum("gfc,bgc...->bgf...", w[(..., *at)], seen)
    y = y.reshape(batch, filters, *places)
    return y if b is None else y + b.astype("float64").reshape(-1, *[1] * len(kernel))


def transposed(x, w, b, kernel, stride, dilate, pad, adj, groups):
    full = [s * (n - 1) + d * (k - 1) + 1 + a for n, k, s, d, a in zip(x.shape[2:], kernel, stride, dilate, adj)]
    batch, channels, filters = x.shape[0], x.shape[1], w.shape[1] * groups
    y = np.zeros((batch, filters, *full))
    w = w.astype("float64").reshape(groups, channels // groups, *w.shape[1:])
    parts = x.astype("float64").reshape(batch, groups, channels // groups, *x.shape[2:])
    for at, target in taps(y, kernel, stride, dilate, x.shape[2:]):
        target += np.einsum("gcf,bgc...->bgf...", w[(..., *at)], parts).reshape(target.shape)
    y = y[(..., *(slice(p, n - p) for p, n in zip(pad, full)))]
    return y if b is None else y + b.astype("float64").reshape(-1, *[1] * len(kernel))


# data, filters, kernel, stride, dilate, pad, groups
CONVOLUTIONS = [((2, 3, 9), 4, (3,), (1,), (1,), (0,), 1), ((2, 4, 11), 6, (4,), (2,), (2,), (3,), 2),
                ((3, 5, 6, 7), 8, (1, 1), (1, 1), (1, 1), (0, 0), 1), ((2, 3, 8, 9), 16, (3, 3), (1, 1), (1, 1), (1, 1), 1),
                ((2, 16, 9, 8), 32, (3, 3), (2, 2), (1, 1), (1, 1), 1), ((1, 6, 7, 7), 9, (5, 3), (2, 1), (1, 2), (2, 1), 3),
                ((2, 8, 10, 10), 8, (3, 3), (1, 1), (1, 1), (1, 1), 8), ((2, 4, 9, 9), 12, (3, 3), (2, 2), (2, 2), (2, 2), 4),
                ((1, 64, 13, 12), 40, (1, 1), (2, 2), (1, 1), (0, 0), 1), ((2, 3, 4, 5, 6), 5, (2, 3, 2), (1, 2, 1), (1, 1, 2), (1, 1, 1), 1),
                ((1, 4, 5, 4, 5), 4, (3, 3, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1), 4), ((1, 2, 30, 1), 3, (7, 1), (3, 1), (1, 1), (3, 0), 1),
                ((0, 3, 8, 8), 4, (3, 3), (1, 1), (1, 1), (0, 0), 1),
                # Channels that would leave much of their blocks empty.
                ((2, 20, 8, 9), 50, (5, 5), (1, 1), (1, 1), (2, 1), 1), ((3, 6, 11, 9), 16, (5, 5), (1, 2), (1, 1), (0, 2), 1),
                ((2, 24, 7, 9), 24, (3, 3), (1, 1), (2, 2), (1, 2), 1), ((2, 36, 6, 5), 70, (1, 1), (2, 1), (1, 1), (0, 0), 1),
                # products of the arrays as they lie, and their neighbours: full blocks, large weights, one channel
                ((3, 24, 7, 9), 24, (1, 1), (1, 1), (1, 1), (0, 0), 1), ((1, 20, 33, 31), 7, (1, 1), (1, 1), (1, 1), (0, 0), 1),
                ((2, 5, 130), 3, (1,), (1,), (1,), (0,), 1), ((2, 9, 3, 4, 5), 1, (1, 1, 1), (1, 1, 1), (1, 1, 1), (0, 0, 0), 1),
                ((1, 16, 5, 5), 32, (1, 1), (1, 1), (1, 1), (0, 0), 1), ((1, 200, 3, 3), 90, (1, 1), (1, 1), (1, 1), (0, 0), 1),
                ((2, 1, 6, 7), 12, (1, 1), (1, 1), (1, 1), (0, 0), 1), ((0, 12, 4, 4), 5, (1, 1), (1, 1), (1, 1), (0, 0), 1),
                # of one channel to many and of many to one, in planes of ragged lengths; groups of one channel
                ((2, 1, 41, 37), 17, (1, 1), (1, 1), (1, 1), (0, 0), 1), ((2, 48, 41, 37), 1, (1, 1), (1, 1), (1, 1), (0, 0), 1),
                ((2, 4, 5, 7), 12, (1, 1), (1, 1), (1, 1), (0, 0), 4), ((0, 1, 4, 4), 5, (1, 1), (1, 1), (1, 1), (0, 0), 1)]


def convolution_case(rng, case, dtype, bias):
    shape, filters, kernel, stride, dilate, pad, groups = case
    x = rng.normal(size=shape).astype(dtype)
    w = rng.normal(size=(filters, shape[1] // groups, *kernel)).astype(dtype)
    b = rng.normal(size=filters).astype(dtype) if bias else None
    attrs = {"kernel": kernel, "stride": stride, "dilate": dilate, "pad": pad, "num_filter": filters, "num_group": groups,
             "no_bias": not bias}
    return [a for a in (x, w, b) if a is not None], attrs


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolution_is_its_definition(mx, rng, case, bias, dtype):
    arrays, attrs = convolution_case(rng, case, dtype, bias)
    b = arrays[2] if bias else None
    want = convolve(*arrays[:2], b, *case[2:])
    close(mx.run("Convolution", *arrays, **attrs)[0], want, dtype, arrays[1][0].size)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_gradients_of_convolution_are_its_adjoints(mx, rng, case, dtype):
    """The layer is linear in each argument, so that <head, F(direction)> = <gradient, direction>."""
    arrays, attrs = convolution_case(rng, case, dtype, True)
    head = rng.normal(size=convolve(*arrays, *case[2:]).shape).astype(dtype)
    grads = mx.gradients("Convolution", arrays, [head], **attrs)
    zero = np.zeros_like(arrays[2])
    for i in range(3):
        for unit in rng.integers(0, max(arrays[i].size, 1), size=5 if arrays[i].size else 0):
            direction = np.zeros_like(arrays[i])
            direction.flat[unit] = 1
            x, w, b = [*arrays[:2], zero] if i < 2 else [np.zeros_like(arrays[0]), arrays[1], zero]
            x, w, b = [direction if j == i else a for j, a in enumerate((x, w, b))]
            terms = head.astype("float64") * convolve(x, w, b, *case[2:])
            got, want = float(grads[i].flat[unit]), terms.sum()
            assert abs(got - want) <= 4 * TOLERANCE[dtype] * (1 + np.abs(terms).sum())


@pytest.mark.parametrize("layout,axes", [("NHWC", (0, 2, 3, 1)), ("NDHWC", (0, 2, 3, 4, 1))])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("op", ["Convolution", "Deconvolution"])
def test_channels_may_come_last(mx, rng, op, layout, axes, groups):
    spatial = len(layout) - 2
    x = rng.normal(size=(2, 4, *[7, 6, 5][:spatial])).astype("float32")
    w = rng.normal(size=(6, 4 // groups, *[3] * spatial) if op == "Convolution" else (4, 6 // groups, *[3] * spatial)).astype("float32")
    b = rng.normal(size=6).astype("float32")
    attrs = {"kernel": (3,) * spatial, "stride": (2,) * spatial, "pad": (1,) * spatial, "num_filter": 6, "num_group": groups, "no_bias": False}
    want = mx.run(op, x, w, b, **attrs)[0]
    last = [x.transpose(axes), w.transpose(axes), b]
    close(mx.run(op, *last, layout=layout, **attrs)[0], want.transpose(axes), depth=36)
    head = rng.normal(size=want.shape).astype("float32")
    grads = mx.gradients(op, [x, w, b], [head], **attrs)
    got = mx.gradients(op, last, [head.transpose(axes)], layout=layout, **attrs)
    for g, want in zip(got, (grads[0].transpose(axes), grads[1].transpose(axes), grads[2])):
        close(g, want, depth=100)


# data, filters, kernel, stride, dilate, pad, adj, groups
DECONVOLUTIONS = [((2, 3, 5), 4, (3,), (2,), (1,), (1,), (1,), 1), ((2, 4, 4, 5), 6, (4, 4), (2, 2), (1, 1), (1, 1), (0, 0), 2),
                  ((1, 3, 4, 4), 5, (3, 2), (3, 2), (2, 1), (1, 0), (2, 1), 1), ((2, 6, 5, 5), 6, (4, 4), (2, 2), (1, 1), (1, 1), (0, 0), 6),
                  ((1, 8, 6, 6), 16, (1, 1), (1, 1), (1, 1), (0, 0), (0, 0), 1), ((1, 2, 3, 3, 3), 3, (2, 3, 2), (2, 1, 2), (1, 1, 1), (0, 1, 0), (0, 0, 1), 1),
                  ((0, 3, 4, 4), 5, (3, 3), (1, 1), (1, 1), (0, 0), (0, 0), 1)]


def deconvolution_case(rng, case, dtype):
    shape, filters, kernel, stride, dilate, pad, adj, groups = case
    arrays = [rng.normal(size=s).astype(dtype) for s in (shape, (shape[1], filters // groups, *kernel), (filters,))]
    return arrays, {"kernel": kernel, "stride": stride, "dilate": dilate, "pad": pad, "adj": adj, "num_filter": filters,
                    "num_group": groups, "no_bias": False}


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("case", DECONVOLUTIONS)
def test_deconvolution_is_its_definition_and_has_its_adjoints(mx, rng, case, dtype):
    arrays, attrs = deconvolution_case(rng, case, dtype)
    want = transposed(*arrays, *case[2:])
    close(mx.run("Deconvolution", *arrays, **attrs)[0], want, dtype, 16)
    if not want.size:
        return
    head = rng.normal(size=want.shape).astype(dtype)
    grads = mx.gradients("Deconvolution", arrays, [head], **attrs)
    zero = np.zeros_like(arrays[2])
    close(grads[0], convolve(head, arrays[1], None, *case[2:6], case[7]), dtype, 16)
    close(grads[2], head.astype("float64").sum(axis=tuple(i for i in range(head.ndim) if i != 1)), dtype, 16)
    direction = rng.normal(size=arrays[1].shape).astype(dtype)
    products = head.astype("float64") * transposed(arrays[0], direction, zero, *case[2:])
    got = (grads[1].astype("float64") * direction).sum()
    assert abs(got - products.sum()) <= 4 * TOLERANCE[dtype] * np.abs(products).sum()


@pytest.mark.parametrize("kind", [WRITE, ADD])
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("case", [((2, 4, 5, 1), 6, (3, 2), (1, 2), (2, 1), (0, 1), (0, 0), 2), ((1, 1, 1, 1), 1, (1, 1), (3, 3), (1, 1), (1, 1), (2, 1), 1),
                                  ((2, 3, 2), 4, (1,), (1,), (1,), (1,), (0,), 1), ((1, 3, 1, 3, 2), 2, (2, 2, 2), (2, 2, 2), (1, 1, 1), (1, 0, 0), (0, 0, 0), 1)])
def test_padding_may_leave_nothing_of_a_deconvolution(mx, rng, case, dtype, kind):
    arrays, attrs = deconvolution_case(rng, case, dtype)
    got = mx.run("Deconvolution", *arrays, **attrs)[0]
    assert got.shape == transposed(*arrays, *case[2:]).shape and got.size == 0
    for grad, array in zip(mx.gradients("Deconvolution", arrays, [got], request=kind, start=3, **attrs), arrays, strict=True):
        assert grad.shape == array.shape and (grad == (3 if kind == ADD else 0)).all()


@pytest.mark.parametrize("target", [(7, 8), (9, 9), (8, 0)])
def test_a_target_shape_cuts_the_deconvolution_at_both_ends(mx, rng, target):
    x, w = rng.normal(size=(1, 2, 4, 4)).astype("float32"), rng.normal(size=(2, 3, 4, 4)).astype("float32")
    full = transposed(x, w, None, (4, 4), (2, 2), (1, 1), (0, 0), (0, 0), 1)
    got = mx.run("Deconvolution", x, w, kernel=(4, 4), stride=(2, 2), target_shape=target, num_filter=3)[0]
    cut = tuple(slice((10 - t + 1) // 2, (10 - t + 1) // 2 + t) if t else slice(None) for t in target)
    close(got, full[(..., *cut)], depth=8)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("target", [(10, 10), (7, 8)])
def test_a_target_shape_takes_the_place_of_pad_and_adj(mx, rng, target, dtype):
    x, w, head = (rng.normal(size=s).astype(dtype) for s in ((1, 2, 4, 4), (2, 3, 4, 4), (1, 3, *target)))
    shared = {"kernel": (4, 4), "stride": (2, 2), "target_shape": target, "num_filter": 3}
    both = {**shared, "pad": (1, 0), "adj": (0, 1)}
    close(mx.run("Deconvolution", x, w, **both)[0], mx.run("Deconvolution", x, w, **shared)[0], dtype, depth=8)
    for got, wanted in zip(mx.gradients("Deconvolution", [x, w], [head], **both),
                           mx.gradients("Deconvolution", [x, w], [head], **shared), strict=True):
        close(got, wanted, dtype, depth=48)


# ---- FullyConnected ----

@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("flatten", [True, False])
@pytest.mark.parametrize("shape,hidden", [((5, 3), 4), ((1, 7), 1), ((3, 2, 4), 6), ((2, 3, 2, 5), 33), ((300, 65), 70), ((0, 4), 3), ((4, 37), 9), ((3, 1037), 25)])
def test_fully_connected_and_its_gradients(mx, rng, shape, hidden, flatten, dtype):
    x = rng.normal(size=shape).astype(dtype)
    rows = x.astype("float64").reshape(shape[0], math.prod(shape[1:])) if flatten else x.astype("float64").reshape(-1, shape[-1])
    w, b = (rng.normal(size=s).astype(dtype) for s in ((hidden, rows.shape[1]), (hidden,)))
    out_shape = (shape[0], hidden) if flatten else (*shape[:-1], hidden)
    want = (rows @ w.astype("float64").T + b).reshape(out_shape)
    attrs = {"num_hidden": hidden, "flatten": flatten}
    close(mx.run("FullyConnected", x, w, b, **attrs)[0], want, dtype, rows.shape[1])
    close(mx.run("FullyConnected", x, w, no_bias=True, **attrs)[0], want - b.astype("float64"), dtype, rows.shape[1])
    head = rng.normal(size=out_shape).astype(dtype)
    dy = head.astype("float64").reshape(-1, hidden)
    grads = mx.gradients("FullyConnected", [x, w, b], [head], **attrs)
    close(grads[0], (dy @ w).reshape(shape), dtype, hidden)
    close(grads[1], dy.T @ rows, dtype, len(rows) + 1)
    close(grads[2], dy.sum(axis=0), dtype, len(rows) + 1)


def test_gradients_add_up_where_that_is_asked_for(mx, rng):
    arrays = [rng.normal(size=s).astype("float32") for s in ((2, 3, 6, 6), (4, 3, 3, 3), (4,))]
    attrs = {"kernel": (3, 3), "num_filter": 4}
    head = rng.normal(size=(2, 4, 4, 4)).astype("float32")
    written = mx.gradients("Convolution", arrays, [head], **attrs)
    added = mx.gradients("Convolution", arrays, [head], request=ADD, start=2.0, **attrs)
    for i in range(3):
        np.testing.assert_allclose(added[i], written[i] + 2, rtol=1e-6, atol=1e-5)
        alone = mx.gradients("Convolution", arrays, [head], wanted=[i], **attrs)
        np.testing.assert_allclose(alone[i], written[i], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("op,shapes,out,attrs", [
    ("FullyConnected", ((3, 4), (2, 4), (2,)), (3, 2), {"num_hidden": 2}),
    ("Convolution", ((2, 4, 5, 5), (6, 2, 3, 3), (6,)), (2, 6, 3, 3), {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1), "num_filter": 6, "num_group": 2}),
    ("Deconvolution", ((2, 4, 3, 3), (4, 3, 3, 3), (6,)), (2, 6, 6, 6), {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1), "adj": (1, 1), "num_filter": 6, "num_group": 2, "no_bias": False})])
def test_gradients_can_be_differentiated_again(mx, rng, op, shapes, out, attrs):
    """Gradients are linear in the head h: d<u, dX> + <v, dW> + <c, dB> / dh = F(u, w) + F(x, v) + c."""
    x, w, b = (rng.normal(size=s) for s in shapes)
    u, v, c = (rng.normal(size=s) for s in shapes)
    zero = np.zeros_like(b)
    want = mx.run(op, u, w, zero, **attrs)[0] + mx.run(op, x, v, c, **attrs)[0]
    got = mx.adjoint_of_adjoint(op, [x, w, b], [rng.normal(size=out)], [u, v, c], **attrs)[0]
    np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)


# ---- Types, threads, errors ----

def bfloat16(values):
    """The nearest numbers with eight bits."""
    bits = np.asarray(values, "float32").view("uint32")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view("float32")


@pytest.mark.parametrize("op,shapes,attrs", [
    ("FullyConnected", ((4, 6), (3, 6), (3,)), {"num_hidden": 3}), ("Pooling", ((2, 3, 6, 6),), {"kernel": (2, 2), "pool_type": "avg"}),
    ("Convolution", ((2, 3, 6, 6), (4, 3, 3, 3), (4,)), {"kernel": (3, 3), "num_filter": 4}),
    ("Deconvolution", ((2, 3, 6, 6), (3, 4, 3, 3)), {"kernel": (3, 3), "num_filter": 4})])
def test_bfloat16_is_computed_in_float32(mx, rng, op, shapes, attrs):
    arrays = [bfloat16(rng.normal(size=s)) for s in shapes]
    want = mx.run(op, *arrays, **attrs)[0]
    got = mx.run_in_bfloat16(op, *arrays, **attrs)
    assert np.abs(got - want).max() <= 2 ** -8 * np.abs(want).max() * 1.01


def eighths(rng, shape):
    return rng.integers(-64, 64, size=shape) / 8


@pytest.mark.parametrize("attrs", [{}, {"stride": (2, 2), "pad": (1, 1)}, {"layout": "NHWC"}])
def test_a_deconvolution_with_a_bias_rounds_once(mx, rng, attrs):
    """Sums of eighths are exact in float32."""
    last = "layout" in attrs
    data = eighths(rng, (2, 7, 9, 16) if last else (2, 16, 7, 9))
    weight = eighths(rng, (16, 3, 3, 24) if last else (16, 24, 3, 3))
    arrays, attrs = [data, weight, rng.integers(-128, 128, size=24) / 1024], {"kernel": (3, 3), "num_filter": 24, "no_bias": False, **attrs}
    want = mx.run("Deconvolution", *(a.astype("float32") for a in arrays), **attrs)[0]
    np.testing.assert_array_equal(mx.run("Deconvolution", *(a.astype("float16") for a in arrays), **attrs)[0], want.astype("float16"))
    np.testing.assert_array_equal(mx.run_in_bfloat16("Deconvolution", *(a.astype("float32") for a in arrays), **attrs), bfloat16(want))


def test_results_do_not_depend_on_the_number_of_threads(library, rng):
    arrays = [rng.normal(size=s).astype("float32") for s in ((3, 20, 30, 30), (24, 20, 3, 3), (24,))]
    attrs = {"kernel": (3, 3), "pad": (1, 1), "num_filter": 24}
    head = rng.normal(size=(3, 24, 30, 30)).astype("float32")
    library.call("MXSetEnv", b"MXNET_ONEDNN_ENABLED", b"0")
    results = []
    for threads in (1, 2, 3):
        library.call("MXSetNumOMPThreads", ctypes.c_int(threads))
        results.append(library.run("Convolution", *arrays, **attrs) + library.gradients("Convolution", arrays, [head], **attrs))
    library.call("MXSetNumOMPThreads", ctypes.c_int(max(1, os.cpu_count() // 2)))
    library.call("MXSetEnv", b"MXNET_ONEDNN_ENABLED", b"1")
    for other in results[1:]:
        for a, b in zip(results[0], other):
            np.testing.assert_array_equal(a, b)


def test_threads_share_weights(mx, rng):
    """Primitives belong to one thread each; the arrays may be everybody's."""
    x, w, v = (rng.normal(size=s).astype("float32") for s in ((2, 8, 12, 12), (16, 8, 3, 3), (10, 16 * 100)))
    weights = [mx.array(w), mx.array(v)]

    def network(data):
        handle = mx.array(data)
        y = mx.invoke("Convolution", [handle, weights[0]], kernel=(3, 3), num_filter=16, no_bias=True)
        z = mx.invoke("FullyConnected", [y[0], weights[1]], num_hidden=10, no_bias=True)
        result = mx.numpy(z[0])
        mx.free(handle, *y, *z)
        return result

    want = [network(x[:n]) for n in (1, 2)]
    start, results = threading.Barrier(4), []

    def worker(n):
        start.wait()
        results.extend((n, network(x[:n])) for _ in range(20))

    threads = [threading.Thread(target=worker, args=(i % 2 + 1,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    mx.free(*weights)
    assert len(results) == 80
    for n, got in results:
        np.testing.assert_array_equal(got, want[n - 1])


X, W = (2, 4, 6, 6), (8, 4, 3, 3)
CONV = {"kernel": (3, 3), "num_filter": 8, "no_bias": True}


@pytest.mark.parametrize("op,shapes,attrs,words", [
    ("Convolution", (X, (8, 3, 3, 3)), CONV, "weight"), ("Convolution", (X, W), {**CONV, "stride": (0, 0)}, "stride"),
    ("Convolution", (X, W), {**CONV, "stride": (2,)}, "stride"), ("Convolution", (X, W), {**CONV, "dilate": (0, 1)}, "dilate"),
    ("Convolution", (X, W), {**CONV, "pad": (-1, 0)}, "pad"), ("Convolution", (X, W), {**CONV, "layout": "NCW"}, "layout"),
    ("Convolution", (X, W), {**CONV, "num_group": 3}, "num_group"), ("Convolution", (X, W), {**CONV, "num_group": 0}, "num_group"),
    ("Convolution", ((2, 3, 6, 6), W), {**CONV, "num_group": 2}, "num_group"), ("Convolution", (X, W), {**CONV, "kernel": (3, 3, 3)}, "data"),
    ("Convolution", (X, (8, 4, 9, 9)), {**CONV, "kernel": (9, 9)}, "kernel"), ("Convolution", (X, W), {**CONV, "kernel": (1, 1, 1, 1)}, "kernel"),
    ("Convolution_v1", (X, W), {**CONV, "layout": "NCW"}, "layout"), ("Deconvolution", (X, (4, 8, 3, 3)), {**CONV, "adj": (1, 0)}, "adj"),
    ("Deconvolution", (X, (4, 8, 3, 3)), {**CONV, "target_shape": (9, 9)}, "target_shape"), ("Deconvolution", (X, (4, 8, 3, 3)), {**CONV, "pad": (5, 4)}, "pad"),
    ("FullyConnected", ((2, 3), (4, 5)), {"num_hidden": 4, "no_bias": True}, "weight"), ("FullyConnected", ((), (4, 1)), {"num_hidden": 4, "no_bias": True}, "data"),
    ("FullyConnected", ((2, 3), (4, 3), (4, 1)), {"num_hidden": 4}, "bias"), ("FullyConnected", ((2, 3), (0, 3)), {"num_hidden": 0, "no_bias": True}, "num_hidden"),
    ("Pooling", (X,), {}, "kernel"), ("Pooling", (X,), {"kernel": (7, 7)}, "kernel"), ("Pooling", (X,), {"kernel": (2, 2), "pad": (2, 2)}, "pad"),
    ("Pooling", (X,), {"kernel": (2, 2), "pool_type": "lp"}, "p_value"), ("Pooling", (X,), {"kernel": (2, 2), "pool_type": "lp", "p_value": 4}, "p_value"),
    ("Pooling", (X,), {"kernel": (2, 2), "pooling_convention": "same", "pad": (1, 1)}, "same"), ("Pooling", ((2, 3),), {"kernel": (2,)}, "data"),
    ("Pooling", (X,), {"kernel": (2, 2), "layout": "NCDHW"}, "layout"), ("_contrib_AdaptiveAvgPooling2D", (X,), {"output_size": (1, 2, 3)}, "output_size"),
    ("_contrib_AdaptiveAvgPooling2D", ((3, 4, 4),), {"output_size": (2,)}, "data")])
def test_mistakes_are_errors_that_name_what_is_wrong(mx, op, shapes, attrs, words):
    with pytest.raises(Failure, match=words) as failure:
        mx.run(op, *[np.ones(s, "float32") for s in shapes], **attrs)
    assert op.split("_v1")[0] in str(failure.value)


@pytest.mark.parametrize("op,shapes,attrs", [("Convolution", (X, W), CONV), ("Pooling", (X,), {"kernel": (2, 2)}),
                                             ("FullyConnected", ((2, 3), (8, 3)), {"num_hidden": 8, "no_bias": True})])
def test_integers_are_refused(mx, op, shapes, attrs):
    with pytest.raises(Failure, match="int32"):
        mx.run(op, *[np.ones(s, "int32") for s in shapes], **attrs)
