# SPDX-License-Identifier: Apache-2.0
"""Shape operators against a plain copy and NumPy, side by side in one run.

Usage: OMP_NUM_THREADS=1 python benchmarks/ops/shape.py path/to/libmxnet.so
Columns: operator, result shape, ours in us, NumPy in us, ratio, and ours as a share of copy bandwidth.
"""
import os
import sys
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "python"))
from op_calls import Library  # noqa: E402


def best(function, seconds=0.25):
    function()
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times) * 1e6


def main():
    mx = Library(sys.argv[1])
    rng = np.random.default_rng(0)

    def case(label, name, arrays, peer, **attrs):
        inputs = [mx.array(a) for a in arrays]
        outputs = mx.invoke(name, inputs, **attrs)
        mx.call("MXNDArrayWaitAll")

        def ours():
            mx.invoke(name, inputs, out=outputs, **attrs)
            mx.call("MXNDArrayWaitAll")

        result = mx.numpy(outputs[0])
        target = np.empty_like(result)
        expected = peer(*arrays)
        np.testing.assert_array_equal(result, expected[0] if isinstance(expected, (list, tuple)) else expected)
        # The same bytes in and out as one contiguous copy.
        total = sum(mx.numpy(o).nbytes for o in outputs)
        source, sink = np.zeros(total, "uint8"), np.ones(total, "uint8")
        copied = best(lambda: np.copyto(sink, source))
        mine, theirs = best(ours), best(lambda: peer(*arrays, out=target))
        print(f"{label:34s} {str(result.shape):20s} {mine:10.1f} {theirs:10.1f} {theirs / mine:6.2f}x {copied / mine:6.0%}", flush=True)
        mx.free(*inputs, *outputs)

    def copying(view):
        def peer(*arrays, out=None):
            if out is None:
                return np.ascontiguousarray(view(*arrays))
            np.copyto(out, view(*arrays))
            return out
        return peer

    def f32(*shape):
        return rng.standard_normal(shape).astype("float32")

    for dtype in ("float32", "float64", "float16", "uint8"):
        a = (rng.standard_normal((2048, 2048)) * 50).astype(dtype)
        case(f"transpose {dtype}", "transpose", [a], copying(lambda x: x.T))
    case("transpose ragged", "transpose", [f32(1999, 2051)], copying(lambda x: x.T))
    case("transpose small", "transpose", [f32(64, 64)], copying(lambda x: x.T))
    case("NCHW to NHWC", "transpose", [f32(16, 64, 56, 56)], copying(lambda x: x.transpose(0, 2, 3, 1)), axes="(0,2,3,1)")
    case("NHWC to NCHW", "transpose", [f32(16, 56, 56, 64)], copying(lambda x: x.transpose(0, 3, 1, 2)), axes="(0,3,1,2)")
    case("HWC to CHW, 3 channels", "transpose", [f32(512, 512, 3)], copying(lambda x: x.transpose(2, 0, 1)), axes="(2,0,1)")
    case("CHW to HWC, 3 channels", "transpose", [f32(3, 512, 512)], copying(lambda x: x.transpose(1, 2, 0)), axes="(1,2,0)")
    case("heads (0,2,1,3)", "transpose", [f32(8, 128, 16, 64)], copying(lambda x: x.transpose(0, 2, 1, 3)), axes="(0,2,1,3)")
    case("reversed 4-d", "transpose", [f32(32, 48, 40, 36)], copying(lambda x: x.T))
    case("SwapAxis 0 2", "SwapAxis", [f32(96, 96, 96)], copying(lambda x: x.swapaxes(0, 2)), dim1=0, dim2=2)
    case("reshape", "Reshape", [f32(2048, 2048)], copying(lambda x: x.reshape(-1)), shape="(-1,)")
    case("broadcast rows", "broadcast_to", [f32(1, 2048)], copying(lambda x: np.broadcast_to(x, (2048, 2048))), shape="(2048,2048)")
    case("broadcast columns", "broadcast_to", [f32(2048, 1)], copying(lambda x: np.broadcast_to(x, (2048, 2048))), shape="(2048,2048)")
    case("broadcast middle", "broadcast_axis", [f32(256, 1, 64)], copying(lambda x: np.broadcast_to(x, (256, 128, 64))), axis="1", size="128")
    case("tile", "tile", [f32(512, 512)], lambda x, out=None: np.tile(x, (4, 4)), reps="(4,4)")
    case("repeat last", "repeat", [f32(1024, 1024)], lambda x, out=None: np.repeat(x, 2, -1), repeats=2, axis=-1)
    case("repeat first", "repeat", [f32(1024, 1024)], lambda x, out=None: np.repeat(x, 4, 0), repeats=4, axis=0)
    case("flip last", "reverse", [f32(2048, 2048)], copying(lambda x: x[:, ::-1]), axis="(1,)")
    case("flip first", "reverse", [f32(2048, 2048)], copying(lambda x: x[::-1]), axis="(0,)")
    case("rot90", "_npi_rot90", [f32(2048, 2048)], copying(np.rot90), k=1, axes="(0,1)")
    case("roll", "_np_roll", [f32(2048, 2048)], lambda x, out=None: np.roll(x, 3, 1), shift="3", axis="1")
    case("concat 0", "Concat", [f32(1024, 1024)] * 4, lambda *x, out=None: np.concatenate(x, 0, out=out), num_args=4, dim=0)
    case("concat 1", "Concat", [f32(1024, 1024)] * 4, lambda *x, out=None: np.concatenate(x, 1, out=out), num_args=4, dim=1)
    case("concat 1, narrow", "Concat", [f32(65536, 3)] * 8, lambda *x, out=None: np.concatenate(x, 1, out=out), num_args=8, dim=1)
    case("stack last", "stack", [f32(262144)] * 8, lambda *x, out=None: np.stack(x, -1, out=out), num_args=8, axis=-1)
    case("split 1", "SliceChannel", [f32(2048, 2048)], lambda x, out=None: [np.ascontiguousarray(p) for p in np.split(x, 4, 1)], num_outputs=4, axis=1)
    case("pad constant", "Pad", [f32(16, 64, 56, 56)], lambda x, out=None: np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), mode="constant", pad_width="(0,0,0,0,1,1,1,1)")
    case("pad reflect", "Pad", [f32(16, 64, 56, 56)], lambda x, out=None: np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), "reflect"), mode="reflect", pad_width="(0,0,0,0,1,1,1,1)")
    case("tril", "_npi_tril", [f32(2048, 2048)], lambda x, out=None: np.tril(x))
    case("diagonal", "_np_diagonal", [f32(2048, 2048)], copying(lambda x: np.diagonal(x)))


main()
