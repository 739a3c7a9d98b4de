# SPDX-License-Identifier: Apache-2.0
"""Softmax, normalisation and activation beside PyTorch, forward and backward, float32, in one run.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so python norm.py [threads]   (PyTorch and NumPy in the environment)
A line: operator, shape, milliseconds here and there, and how many times faster this library is.
"""
import ctypes as C
import os
import sys
import time

THREADS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
os.environ["OMP_NUM_THREADS"] = str(THREADS)

import numpy as np  # noqa: E402  (after the number of threads)
import torch  # noqa: E402

torch.set_num_threads(THREADS)
LIB = C.CDLL(os.environ["MXNET_LIBRARY_PATH"])
LIB.MXGetLastError.restype = C.c_char_p
SECONDS = 0.2  # per measurement, and at least 3 calls


def check(code):
    if code != 0:
        raise RuntimeError(LIB.MXGetLastError().decode())


def array(values):
    handle, values = C.c_void_p(), np.ascontiguousarray(values)
    shape = (C.c_uint * values.ndim)(*values.shape)
    check(LIB.MXNDArrayCreateEx(shape, values.ndim, 1, 0, 0, {"float32": 0, "uint8": 3}[values.dtype.name], C.byref(handle)))
    check(LIB.MXNDArraySyncCopyFromCPU(handle, values.ctypes.data_as(C.c_void_p), C.c_size_t(values.size)))
    return handle


def caller(name, inputs, outputs, **attrs):
    """Runs the operator once, into `outputs`, and waits."""
    op = C.c_void_p()
    check(LIB.NNGetOpHandle(name.encode(), C.byref(op)))
    ins = (C.c_void_p * len(inputs))(*inputs)
    outs = (C.c_void_p * len(outputs))(*outputs)
    outs_at, count = C.cast(outs, C.POINTER(C.c_void_p)), C.c_int(len(outputs))
    keys = (C.c_char_p * len(attrs))(*[k.encode() for k in attrs])
    values = (C.c_char_p * len(attrs))(*[str(v).encode() for v in attrs.values()])

    def call():
        check(LIB.MXImperativeInvoke(op, len(inputs), ins, C.byref(count), C.byref(outs_at), len(attrs), keys, values))
        check(LIB.MXNDArrayWaitToRead(outputs[0]))

    return call


def best(call):
    call()
    times, end = [], time.perf_counter() + SECONDS
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def compare(label, ours, theirs):
    a, b = best(ours), best(theirs)
    print(f"{label:44} {a:9.3f} ms   PyTorch {b:9.3f} ms   {b / a:5.2f} x", flush=True)


def random(*shape):
    return np.random.default_rng(7).normal(size=shape).astype(np.float32)


def backward(y, inputs, dy):
    return lambda: torch.autograd.grad(y, inputs, dy, retain_graph=True)


def elementwise(name, peer, shape, arg_is_result, **attrs):
    x, dy = random(*shape), random(*shape)
    t = torch.tensor(x)
    data, out = array(x), array(np.zeros_like(x))
    compare(f"{name} {attrs.get('act_type', '')} {shape} forward", caller(name, [data], [out], **attrs), lambda: peer(t))
    t.requires_grad_()
    compare(f"{name} {attrs.get('act_type', '')} {shape} backward",
            caller("_backward_" + name, [array(dy), out if arg_is_result else data], [array(np.zeros_like(x))], **attrs),
            backward(peer(t), [t], torch.tensor(dy)))


def softmax(name, peer, shape, axis):
    x, dy = random(*shape), random(*shape)
    t = torch.tensor(x)
    data, out = array(x), array(np.zeros_like(x))
    compare(f"{name} {shape} axis {axis} forward", caller(name, [data], [out], axis=axis), lambda: peer(t, axis))
    t.requires_grad_()
    compare(f"{name} {shape} axis {axis} backward",
            caller("_backward_" + name, [array(dy), out, data], [array(np.zeros_like(x))], axis=axis),
            backward(peer(t, axis), [t], torch.tensor(dy)))


def layer_norm(rows, length):
    x, dy, gamma, beta = random(rows, length), random(rows, length), random(length), random(length)
    t, g, b = (torch.tensor(a, requires_grad=True) for a in (x, gamma, beta))
    peer = torch.nn.functional.layer_norm
    mean, std = array(np.zeros((rows, 1), np.float32)), array(np.zeros((rows, 1), np.float32))
    data, out = array(x), array(np.zeros_like(x))
    with torch.no_grad():
        compare(f"LayerNorm {x.shape} forward", caller("LayerNorm", [data, array(gamma), array(beta)], [out, mean, std]),
                lambda: peer(t, [length], g, b))
    outs = [array(np.zeros_like(a)) for a in (x, gamma, beta)]
    compare(f"LayerNorm {x.shape} backward",
            caller("_backward_LayerNorm", [array(dy), data, array(gamma), mean, std], outs),
            backward(peer(t, [length], g, b), [t, g, b], torch.tensor(dy)))


def batch_norm(shape, axis):
    x, dy = random(*shape), random(*shape)
    gamma, beta, mean, var = random(shape[axis]), random(shape[axis]), random(shape[axis]), np.ones(shape[axis], np.float32)

    def torch_data(values):  # PyTorch's channels are axis 1; NHWC is a matter of strides there
        return torch.tensor(values) if axis == 1 else torch.tensor(values).permute(0, 3, 1, 2)

    t, g, b = torch_data(x).requires_grad_(), torch.tensor(gamma, requires_grad=True), torch.tensor(beta, requires_grad=True)
    m, v = torch.tensor(mean), torch.tensor(var)

    def peer(training):
        return torch.nn.functional.batch_norm(t, m, v, g, b, training=training)

    states = [array(a) for a in (gamma, beta, mean, var)]
    data, out, saved = array(x), array(np.zeros_like(x)), [array(mean), array(var)]
    before = C.c_int()
    attrs = {"axis": axis, "fix_gamma": False, "eps": 1e-5}
    with torch.no_grad():
        compare(f"BatchNorm {shape} axis {axis} inference", caller("BatchNorm", [data, *states], [out, *saved], **attrs),
                lambda: peer(False))
        check(LIB.MXAutogradSetIsTraining(1, C.byref(before)))
        compare(f"BatchNorm {shape} axis {axis} training", caller("BatchNorm", [data, *states], [out, *saved], **attrs),
                lambda: peer(True))
    outs = [array(np.zeros_like(a)) for a in (x, gamma, beta)]
    compare(f"BatchNorm {shape} axis {axis} backward",
            caller("_backward_BatchNorm", [array(dy), data, states[0], *saved, *states[2:]], outs, **attrs),
            backward(peer(True), [t, g, b], torch_data(dy)))
    check(LIB.MXAutogradSetIsTraining(0, C.byref(before)))


if __name__ == "__main__":
    print(f"{THREADS} threads, PyTorch {torch.__version__}")
    functional = torch.nn.functional
    softmax("softmax", torch.softmax, (1000, 1000), -1)
    softmax("softmax", torch.softmax, (100, 131072), -1)
    softmax("log_softmax", torch.log_softmax, (1000, 1000), -1)
    softmax("softmax", torch.softmax, (8, 21, 128, 128), 1)
    layer_norm(4096, 768)
    batch_norm((32, 64, 112, 112), 1)
    batch_norm((32, 256, 14, 14), 1)
    batch_norm((32, 56, 56, 64), 3)
    elementwise("Activation", torch.relu, (4096, 768), True, act_type="relu")
    elementwise("Activation", torch.tanh, (4096, 768), True, act_type="tanh")
    elementwise("LeakyReLU", functional.gelu, (4096, 768), False, act_type="gelu")
