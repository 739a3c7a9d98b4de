# SPDX-License-Identifier: Apache-2.0
"""Pooling against its definition in NumPy, with oneDNN and on the plain kernels; gradients against differences.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/op/test_ops_pooling.py
"""
import itertools
import math
import os

import numpy as np
import pytest

from nn_checks import TOLERANCE, close, library, mx  # noqa: F401  (fixtures)
from op_calls import Failure

SEED = 20240611

pytestmark = pytest.mark.skipif(not os.environ.get("MXNET_LIBRARY_PATH"), reason="MXNET_LIBRARY_PATH is not set")


def pool(x, how, kernel, stride, pad, convention, include, p):
    """The definition, window by window."""
    size = x.shape[2:]
    if convention == "same":
        places = [-(-n // s) for n, s in zip(size, stride)]
        lack = [max((m - 1) * s + k - n, 0) for n, k, s, m in zip(size, kernel, stride, places)]
        before, behind = [m // 2 for m in lack], [m - m // 2 for m in lack]
    else:
        rooms = [n + 2 * p_ - k for n, k, p_ in zip(size, kernel, pad)]
        places = [(-(-r // s) if convention == "full" else r // s) + 1 for r, s in zip(rooms, stride)]
        before = behind = list(pad)
    y = np.zeros((*x.shape[:2], *places))
    for at in itertools.product(*map(range, places)):
        begin = [a * s - p_ for a, s, p_ in zip(at, stride, before)]
        counted = math.prod(min(b + k, n + e) - b for b, k, n, e in zip(begin, kernel, size, behind))
        seen = x[(..., *(slice(max(b, 0), max(min(b + k, n), 0)) for b, k, n in zip(begin, kernel, size)))].astype("float64")
        pixels = math.prod(seen.shape[2:])
        axes = tuple(range(2, x.ndim))
        if how == "max":
            value = seen.max(axis=axes) if pixels else np.finfo(x.dtype).min
        elif how == "lp":
            total = (seen ** p).sum(axis=axes)
            value = np.sqrt(total) if p == 2 else np.cbrt(total) if p == 3 else total
        else:
            value = seen.sum(axis=axes)
            if how == "avg":
                value = value / max(counted if include else pixels, 1)
        y[(..., *at)] = value
    return y


WINDOWS = [((2, 3, 9), (3,), (2,), (1,)), ((2, 3, 7, 8), (2, 2), (2, 2), (0, 0)), ((2, 3, 7, 8), (3, 3), (2, 2), (1, 1)),
           ((1, 5, 9, 9), (3, 2), (1, 3), (1, 0)), ((2, 16, 8, 8), (3, 3), (1, 1), (1, 1)), ((1, 2, 5, 6, 7), (2, 3, 2), (2, 1, 3), (0, 1, 1)),
           ((1, 2, 5, 5), (2, 2), (3, 3), (1, 1)), ((0, 2, 5, 5), (2, 2), (2, 2), (0, 0))]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("convention", ["valid", "full", "same"])
@pytest.mark.parametrize("how,include,p", [("max", True, 1), ("avg", True, 1), ("avg", False, 1), ("sum", True, 1), ("lp", True, 1), ("lp", True, 2), ("lp", True, 3)])
@pytest.mark.parametrize("shape,kernel,stride,pad", WINDOWS)
def test_pooling_is_its_definition(mx, rng, shape, kernel, stride, pad, how, include, p, convention, dtype):
    x = rng.normal(size=shape).astype(dtype)
    pad = tuple(0 for _ in pad) if convention == "same" else pad
    attrs = {"kernel": kernel, "stride": stride, "pad": pad, "pool_type": how, "pooling_convention": convention, "p_value": p,
             "count_include_pad": include}
    want = pool(x, how, kernel, stride, pad, convention, include, p)
    got = mx.run("Pooling", x, **attrs)[0]
    seen = want > np.finfo(dtype).min  # windows of padding alone have the lowest number
    close(got[seen], want[seen], dtype, 8)
    assert (got[~seen] == want[~seen]).all()
    if dtype == "float32":
        axes = (0, *range(2, len(shape)), 1)
        last = mx.run("Pooling", x.transpose(axes), layout={3: "NWC", 4: "NHWC", 5: "NDHWC"}[len(shape)], **attrs)[0]
        np.testing.assert_allclose(last, got.transpose(axes), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("channels", [7, 8, 33])
@pytest.mark.parametrize("convention", ["valid", "full"])
@pytest.mark.parametrize("kernel, stride, pad", [((2, 2), (2, 2), (0, 0)), ((3, 2), (1, 3), (1, 1)), ((2, 2), (3, 4), (1, 1)), ((7, 7), (1, 1), (3, 3)),
                                                 ((11, 13), (1, 1), (0, 0))])
@pytest.mark.parametrize("zero_padding", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_maxima_of_channels_that_lie_last_are_those_of_the_other_layout(mx, rng, channels, convention, kernel, stride, pad, zero_padding, dtype):
    x = (rng.normal(size=(2, channels, 11, 13)) - 3).astype(dtype)  # below the zeros of padding
    x[0, 0, 2:6, 3:7] = np.nan
    x[1, 1] = -np.inf
    attrs = {"kernel": kernel, "stride": stride, "pad": pad, "pool_type": "max", "pooling_convention": convention, "zero_padding": zero_padding}
    want = mx.run("Pooling", x, **attrs)[0]
    got = mx.run("Pooling", np.ascontiguousarray(x.transpose(0, 2, 3, 1)), layout="NHWC", **attrs)[0]
    np.testing.assert_array_equal(got.transpose(0, 3, 1, 2), want)


@pytest.mark.parametrize("channels", [8, 16, 17, 31, 48, 128])
@pytest.mark.parametrize("kernel, stride, pad", [((2, 2), (2, 2), (0, 0)), ((3, 3), (2, 2), (1, 1)), ((3, 2), (1, 3), (1, 1)), ((2, 2), (3, 4), (1, 1)),
                                                 ((11, 13), (1, 1), (0, 0))])
@pytest.mark.parametrize("zero_padding", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_gradients_of_maxima_of_channels_that_lie_last_are_those_of_the_other_layout(mx, rng, channels, kernel, stride, pad, zero_padding, dtype):
    x = rng.integers(-9, 3, (2, channels, 11, 13)).astype(dtype)  # with equals in a window
    x[0, 0, 2:6, 3:7] = np.nan
    x[1, 1] = -np.inf
    attrs = {"kernel": kernel, "stride": stride, "pad": pad, "pool_type": "max", "zero_padding": zero_padding}
    dy = rng.integers(-9, 10, mx.run("Pooling", x, **attrs)[0].shape).astype(dtype)  # whose sums are exact
    want = mx.run("_backward_Pooling_max", dy, x, **attrs)[0]
    last = [np.ascontiguousarray(a.transpose(0, 2, 3, 1)) for a in (dy, x)]
    got = mx.run("_backward_Pooling_max", *last, layout="NHWC", **attrs)[0]
    np.testing.assert_array_equal(got.transpose(0, 3, 1, 2), want)
    one = mx.run("_backward_Pooling_max", *(a[1:] for a in last), layout="NHWC", **attrs)[0]  # whose channels threads share
    np.testing.assert_array_equal(one, got[1:])


@pytest.mark.parametrize("layout", ["first", "last"])
@pytest.mark.parametrize("channels", [3, 8, 33])
@pytest.mark.parametrize("shape", [(9,), (7, 9), (5, 6, 7)])
@pytest.mark.parametrize("zero_padding", [False, True])  # with which the plain kernels run
@pytest.mark.parametrize("kernel, stride", [(2, 2), (3, 1)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_the_maximum_of_a_window_of_nan_and_minus_infinity_is_the_lowest_number(mx, shape, channels, layout, kernel, stride, zero_padding, dtype):
    """Whichever kernel finds it, as in 1.9.1; a padding of zeros is 0."""
    is_bfloat16 = dtype == "bfloat16"
    lowest, dtype = (-float.fromhex("0x1.fep127"), "float32") if is_bfloat16 else (np.finfo(dtype).min, dtype)
    x = np.full((2, channels, *shape), np.nan, dtype)
    x[1] = -np.inf
    x[:, 1, ..., ::2] = -np.inf
    x[0, 0, ..., -1] = 3
    n = len(shape)
    pad = 1 if zero_padding else 0
    attrs = {"kernel": (kernel,) * n, "stride": (stride,) * n, "pad": (pad,) * n, "pool_type": "max", "zero_padding": zero_padding}
    if layout == "last":
        x = np.ascontiguousarray(np.moveaxis(x, 1, -1))
        attrs["layout"] = {1: "NWC", 2: "NHWC", 3: "NDHWC"}[n]
    got = mx.run_in_bfloat16("Pooling", x, **attrs) if is_bfloat16 else mx.run("Pooling", x, **attrs)[0]
    got = np.moveaxis(got, -1, 1) if layout == "last" else got
    places = [(size + 2 * pad - kernel) // stride + 1 for size in shape]
    begins = np.meshgrid(*(np.arange(m) * stride - pad for m in places), indexing="ij")
    in_padding = np.any([(b < 0) | (b + kernel > size) for b, size in zip(begins, shape)], axis=0)
    want = np.broadcast_to(np.where(in_padding, 0, lowest).astype(dtype), got.shape).copy()
    want[0, 0][begins[-1] + kernel >= shape[-1]] = 3
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("text, counted", [(" 1 ", 9), ("\ttrue", 9), ("None", 9), ("none ", 9), ("NONE", 9), ("0", 4), (" False\n", 4)])
def test_optional_truth_values_are_read_in_any_case_and_between_blanks(mx, text, counted):
    """The mean of a corner's window is of its nine places or of the four that are not padding."""
    ones = np.ones((1, 1, 3, 3), "float32")
    corner = mx.run("Pooling", ones, kernel=(3, 3), pad=(1, 1), pool_type="avg", count_include_pad=text)[0][0, 0, 0, 0]
    np.testing.assert_allclose(corner, 4 / counted, rtol=1e-6)


@pytest.mark.parametrize("text", ["", "maybe", "1.0", "2", "No ne"])
def test_other_texts_are_no_optional_truth_values(mx, text):
    with pytest.raises(Failure, match=f"given '{text}' for parameter count_include_pad, expected boolean or None"):
        mx.run("Pooling", np.ones((1, 1, 3, 3), "float32"), kernel=(3, 3), count_include_pad=text)


@pytest.mark.parametrize("convention", ["valid", "full", "same"])
@pytest.mark.parametrize("how,include,p", [("max", True, 1), ("avg", True, 1), ("avg", False, 1), ("sum", True, 1), ("lp", True, 1), ("lp", True, 2), ("lp", True, 3)])
@pytest.mark.parametrize("shape,kernel,stride,pad", WINDOWS[:-1])
def test_gradients_of_pooling_are_those_of_differences(mx, rng, shape, kernel, stride, pad, how, include, p, convention):
    x = rng.permutation(math.prod(shape)).reshape(shape) / 7 + 1  # no ties, no zeros
    pad = tuple(0 for _ in pad) if convention == "same" else pad
    window = (how, kernel, stride, pad, convention, include, p)
    attrs = {"kernel": kernel, "stride": stride, "pad": pad, "pool_type": how, "pooling_convention": convention, "p_value": p,
             "count_include_pad": include}
    y = pool(x, *window)
    head = rng.normal(size=y.shape)
    grad = mx.gradients("Pooling", [x], [head], **attrs)[0]
    narrow = mx.gradients("Pooling", [x.astype("float32")], [head.astype("float32")], **attrs)[0]
    np.testing.assert_allclose(narrow, grad, rtol=1e-4, atol=1e-4)
    step = 1e-4
    for unit in rng.integers(0, x.size, size=6):
        moved = x.copy()
        moved.flat[unit] += step
        with np.errstate(over="ignore"):
            change = pool(moved, *window) - y
        assert abs((head * change).sum() / step - grad.flat[unit]) <= 1e-3 * (1 + abs(grad.flat[unit]))


def test_the_first_of_equal_maxima_gets_the_gradient(mx):
    x, head = np.ones((1, 1, 3, 3), "float32"), np.array([[[[1, 2], [4, 8]]]], "float32")
    grad = mx.gradients("Pooling", [x], [head], kernel=(2, 2))[0]
    np.testing.assert_array_equal(grad[0, 0], [[1, 2, 0], [4, 8, 0], [0, 0, 0]])


@pytest.mark.parametrize("how", ["max", "avg", "sum"])
def test_gradients_of_pooling_can_be_differentiated_again(mx, rng, how):
    x = rng.normal(size=(2, 3, 6, 7))
    attrs = {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1), "pool_type": how}
    head, u = rng.normal(size=(2, 3, 3, 4)), rng.normal(size=x.shape)
    got = mx.adjoint_of_adjoint("Pooling", [x], [head], [u], **attrs)[0]
    if how != "max":
        want = mx.run("Pooling", u, **attrs)[0]
    else:  # the derivative of maxima in direction u
        step = 1e-6
        want = (mx.run("Pooling", x + step * u, **attrs)[0] - mx.run("Pooling", x, **attrs)[0]) / step
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("how", ["max", "avg", "sum"])
def test_global_pooling_takes_the_whole_image(mx, rng, how):
    x = rng.normal(size=(2, 5, 7, 6)).astype("float32")
    want = {"max": x.max, "avg": x.mean, "sum": x.sum}[how](axis=(2, 3), keepdims=True)
    close(mx.run("Pooling", x, global_pool=True, pool_type=how, kernel=(3, 3), stride=(2, 2), pad=(1, 1))[0], want, depth=42)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("layout", ["NCW", "NWC", "NCHW", "NHWC", "NCDHW", "NDHWC"])
@pytest.mark.parametrize("how", ["avg", "sum"])
@pytest.mark.parametrize("globally", [False, True])
def test_a_window_that_is_the_image_sums_it(mx, rng, dtype, layout, how, globally):
    sizes = {"N": 3, "C": 19, "D": 2, "H": 5, "W": 7}
    x = rng.normal(size=[sizes[axis] for axis in layout]).astype(dtype)
    spatial = tuple(i for i, axis in enumerate(layout) if axis not in "NC")
    attrs = {"global_pool": True, "kernel": (1,) * len(spatial)} if globally else {"kernel": [x.shape[i] for i in spatial]}
    want = {"avg": np.mean, "sum": np.sum}[how](x.astype("float64"), axis=spatial, keepdims=True).astype(dtype)
    got = mx.run("Pooling", x, pool_type=how, layout=layout, **attrs)[0]
    assert got.dtype == dtype and got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=2e-3 if dtype == "float16" else 1e-6, atol=1e-6 if dtype != "float16" else 2e-3)


def test_pooling_v1_sees_padding_as_zeros(mx):
    x = -np.ones((1, 1, 3, 3), "float32")
    attrs = {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1)}
    assert (mx.run("Pooling_v1", x, **attrs)[0] == 0).all() and (mx.run("Pooling", x, **attrs)[0] == -1).all()
    assert (mx.gradients("Pooling_v1", [x], [np.ones((1, 1, 2, 2), "float32")], **attrs)[0] == 0).all()


@pytest.mark.parametrize("layout", [None, "NHWC"])
@pytest.mark.parametrize("stride", [4, 12])  # the last windows begin where the padded image ends, and further behind
def test_windows_behind_the_padded_image_see_no_zeros(mx, layout, stride):
    x = -np.ones((1, 16, 6, 10), "float32")
    attrs = {"kernel": (3, 3), "stride": (stride, stride), "pad": (1, 1), "pool_type": "max", "pooling_convention": "full", "zero_padding": True}
    if layout:
        x, attrs["layout"] = np.ascontiguousarray(x.transpose(0, 2, 3, 1)), layout
    got = mx.run("Pooling", x, **attrs)[0]
    got = got.transpose(0, 3, 1, 2) if layout else got
    y, x = np.meshgrid(*(np.arange(n) * stride - 1 for n in got.shape[2:]), indexing="ij")
    behind, inside = (y >= 7) | (x >= 11), (y >= 0) & (y <= 3) & (x >= 0) & (x <= 7)
    assert behind.any()
    np.testing.assert_array_equal(got, np.broadcast_to(np.where(behind, np.finfo("float32").min, np.where(inside, -1, 0)), got.shape))


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("size", [(), 1, (3,), (3, 4), (9, 2), (7, 6)])
def test_adaptive_averages_cover_the_image_evenly(mx, rng, size, dtype):
    x = rng.normal(size=(2, 3, 7, 6)).astype(dtype)
    rows, columns = (1, 1) if size == () else (size, size) if isinstance(size, int) else (size[0], size[-1])
    weights = []
    for n, count in ((7, rows), (6, columns)):
        m = np.zeros((count, n))
        for i in range(count):
            begin, end = i * n // count, -(-(i + 1) * n // count)
            m[i, begin:end] = 1 / (end - begin)
        weights.append(m)
    want = np.einsum("rh,bchw,sw->bcrs", weights[0], x.astype("float64"), weights[1])
    attrs = {} if size == () else {"output_size": size}
    close(mx.run("_contrib_AdaptiveAvgPooling2D", x, **attrs)[0], want, dtype)
    head = rng.normal(size=want.shape).astype(dtype)
    grad = mx.gradients("_contrib_AdaptiveAvgPooling2D", [x], [head], **attrs)[0]
    close(grad, np.einsum("rh,bcrs,sw->bchw", weights[0], head.astype("float64"), weights[1]), dtype, 4)
