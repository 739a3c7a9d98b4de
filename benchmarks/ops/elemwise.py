# SPDX-License-Identifier: Apache-2.0
"""Elementwise operators beside NumPy on 1e6 float32 elements and on broadcasts with short rows, one thread each.

Usage: OMP_NUM_THREADS=1 MXNET_LIBRARY_PATH=path/to/libmxnet.so python elemwise.py
"""
import ctypes
import os
import time

import numpy as np

LIB = ctypes.CDLL(os.environ["MXNET_LIBRARY_PATH"])
LIB.MXGetLastError.restype = ctypes.c_char_p
REPEATS = 30


def check(code):
    if code != 0:
        raise RuntimeError(LIB.MXGetLastError().decode())


def array(values):
    """A float32 array of the library with these values."""
    handle = ctypes.c_void_p()
    shape = (ctypes.c_uint * values.ndim)(*values.shape)
    check(LIB.MXNDArrayCreateEx(shape, values.ndim, 1, 0, 0, 0, ctypes.byref(handle)))
    data = np.ascontiguousarray(values, np.float32)
    check(LIB.MXNDArraySyncCopyFromCPU(handle, data.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(data.size)))
    return handle


def caller(name, inputs, out):
    """A function that runs the operator once and waits for the result."""
    op = ctypes.c_void_p()
    check(LIB.NNGetOpHandle(name.encode(), ctypes.byref(op)))
    ins = (ctypes.c_void_p * len(inputs))(*[i.value for i in inputs])
    outs = (ctypes.c_void_p * 1)(out.value)
    outs_at = ctypes.cast(outs, ctypes.POINTER(ctypes.c_void_p))
    count = ctypes.c_int(1)

    def call():
        check(LIB.MXImperativeInvoke(op, len(inputs), ins, ctypes.byref(count), ctypes.byref(outs_at), 0, None, None))
        check(LIB.MXNDArrayWaitToRead(out))

    return call


def best(call):
    """Shortest time of a call in microseconds."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times) * 1e6


def compare(name, numpy_function, *shapes):
    rng = np.random.default_rng(7)
    inputs = [rng.uniform(0.1, 4, shape).astype(np.float32) for shape in shapes]
    result = numpy_function(*inputs)
    out = array(np.zeros_like(result))
    ours = best(caller(name, [array(x) for x in inputs], out))
    peer = best(lambda: numpy_function(*inputs, out=result))
    print(f"{name:14} {' '.join(map(str, shapes)):28} {ours:9.1f} us  NumPy {peer:9.1f} us  {peer / ours:5.2f} x")


if __name__ == "__main__":
    million = (1000000,)
    for op in ("exp", "log", "tanh", "expm1", "log1p", "sqrt"):
        compare(op, getattr(np, op), million)
    compare("sigmoid", lambda x, out=None: np.reciprocal(1 + np.exp(-x), out=out), million)
    compare("elemwise_add", np.add, million, million)
    compare("elemwise_mul", np.multiply, million, million)
    compare("broadcast_add", np.add, (1000, 1000), (1, 1000))
    compare("broadcast_add", np.add, (1000, 1000), (1000, 1))
    compare("broadcast_mul", np.multiply, (250000, 4), (1, 4))
    compare("broadcast_mul", np.multiply, (250000, 4), (250000, 1))
