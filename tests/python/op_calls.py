# SPDX-License-Identifier: Apache-2.0
"""Operator calls through the C ABI, from and to NumPy arrays: what tests of operators need, without the package."""
import ctypes as C
import os

import numpy as np

DTYPES = {"float32": 0, "float64": 1, "float16": 2, "uint8": 3, "int32": 4, "int8": 5, "int64": 6, "bool": 7}
NAMES = {number: name for name, number in DTYPES.items()}
NULL, WRITE, ADD = 0, 1, 3
# Where arrays are made: MXNET_TEST_DEVICE=gpu with the library of tests/plugin/emulated runs the GPU's kernels.
DEVICE = {"cpu": 1, "gpu": 2}[os.environ.get("MXNET_TEST_DEVICE", "cpu")]
# Arrays that are views so many elements into their memory: kernels may not count on its alignment.
AHEAD = int(os.environ.get("MXNET_TEST_AHEAD", "0"))


class Failure(Exception):
    """A call returned -1; the text is MXGetLastError's."""


class Library:
    """One loaded libmxnet.so, with NumPy's meaning of shapes from here to close() unless a caller switches it off."""

    def __init__(self, path=None):
        self.lib = C.CDLL(path or os.environ["MXNET_LIBRARY_PATH"])
        self.lib.MXGetLastError.restype = C.c_char_p
        self.ops = {}
        self.shape_mode_before = self.numpy_shape(True)

    def close(self):
        """The process is the next test's: its meaning of shapes is as it was found."""
        self.numpy_shape(self.shape_mode_before)

    def call(self, name, *args):
        if getattr(self.lib, name)(*args) != 0:
            raise Failure(self.lib.MXGetLastError().decode())

    def numpy_shape(self, on):
        before = C.c_int()
        self.call("MXSetIsNumpyShape", int(on), C.byref(before))
        return before.value

    def array(self, values):
        values = np.ascontiguousarray(values).reshape(np.shape(values))
        if AHEAD and values.ndim and values.size:
            return self.view(values)
        return self.whole_array(values)

    def view(self, values):
        """Behind elements of 7, which are nobody's."""
        memory = self.whole_array(np.concatenate([np.full(AHEAD, 7, values.dtype), values.reshape(-1)]))
        rest, view = C.c_void_p(), C.c_void_p()
        self.call("MXNDArraySlice", memory, C.c_uint(AHEAD), C.c_uint(AHEAD + values.size), C.byref(rest))
        shape = (C.c_int64 * values.ndim)(*values.shape)
        self.call("MXNDArrayReshape64", rest, values.ndim, shape, C.c_bool(False), C.byref(view))
        self.free(memory, rest)
        return view

    def whole_array(self, values):
        handle = C.c_void_p()
        shape = (C.c_uint * max(1, values.ndim))(*values.shape)
        dtype = DTYPES[values.dtype.name]
        self.call("MXNDArrayCreateEx", shape, C.c_uint(values.ndim), DEVICE, 0, 0, dtype, C.byref(handle))
        data = values.ctypes.data_as(C.c_void_p)
        if values.size:
            self.call("MXNDArraySyncCopyFromCPU", handle, data, C.c_size_t(values.size))
        return handle

    def numpy(self, handle):
        ndim, dims, dtype = C.c_int(), C.POINTER(C.c_int)(), C.c_int()
        self.call("MXNDArrayGetShapeEx", handle, C.byref(ndim), C.byref(dims))
        self.call("MXNDArrayGetDType", handle, C.byref(dtype))
        result = np.empty(tuple(dims[: ndim.value]), NAMES[dtype.value])
        if result.size:
            data = result.ctypes.data_as(C.c_void_p)
            self.call("MXNDArraySyncCopyToCPU", handle, data, C.c_size_t(result.size))
        return result

    def free(self, *handles):
        for handle in handles:
            self.call("MXNDArrayFree", handle)

    def op(self, name):
        if name not in self.ops:
            handle = C.c_void_p()
            self.call("NNGetOpHandle", name.encode(), C.byref(handle))
            self.ops[name] = handle
        return self.ops[name]

    def invoke(self, name, inputs, out=None, **attrs):
        """Handles in, handles out."""
        pointers = (C.c_void_p * max(1, len(inputs)))(*inputs)
        count, outputs = C.c_int(0), C.POINTER(C.c_void_p)()
        if out:
            given = (C.c_void_p * len(out))(*out)
            count, outputs = C.c_int(len(out)), C.cast(given, C.POINTER(C.c_void_p))
        keys = (C.c_char_p * len(attrs))(*[key.encode() for key in attrs])
        values = (C.c_char_p * len(attrs))(*[str(value).encode() for value in attrs.values()])
        stypes = C.POINTER(C.c_int)()
        self.call("MXImperativeInvokeEx", self.op(name), len(inputs), pointers, C.byref(count),
                  C.byref(outputs), len(attrs), keys, values, C.byref(stypes))
        return out or [C.c_void_p(outputs[i]) for i in range(count.value)]

    def run(self, name, *arrays, **attrs):
        """Arrays in, a list of arrays out."""
        inputs = [self.array(a) for a in arrays]
        outputs = self.invoke(name, inputs, **attrs)
        results = [self.numpy(o) for o in outputs]
        self.free(*inputs, *outputs)
        return results

    def run_in_bfloat16(self, name, *arrays, **attrs):
        """The first result of arrays that are made narrow, as float32."""
        handles = [self.array(a) for a in arrays]
        narrow = [self.invoke("amp_cast", [h], dtype="bfloat16")[0] for h in handles]
        result = self.invoke(name, narrow, **attrs)
        wide = self.invoke("Cast", result[:1], dtype="float32")
        got = self.numpy(wide[0])
        self.free(*handles, *narrow, *result, *wide)
        return got

    def training(self, on):
        """Whether operators behave as while training; returns what was set before."""
        before = C.c_int()
        self.call("MXAutogradSetIsTraining", int(on), C.byref(before))
        return bool(before.value)

    def gradients(self, name, arrays, heads, /, request=WRITE, start=0.0, wanted=None, after=None, **attrs):
        """Gradients of sum(outputs * heads) with respect to `arrays` (or only those whose positions are `wanted`, in
        their places); ADD adds to `start`. A head of None: that output takes no part. The list `after` gets the arrays
        as they are then."""
        inputs = [self.array(a) for a in arrays]
        grads = [self.array(np.full_like(a, start)) for a in arrays]
        wanted = range(len(arrays)) if wanted is None else wanted
        requests = (C.c_uint * len(arrays))(*[request if i in wanted else NULL for i in range(len(arrays))])
        self.call("MXAutogradMarkVariables", len(arrays), (C.c_void_p * len(inputs))(*inputs), requests,
                  (C.c_void_p * len(grads))(*grads))
        before = C.c_int()
        self.call("MXAutogradSetIsRecording", 1, C.byref(before))
        try:
            outputs = self.invoke(name, inputs, **attrs)
        finally:
            self.call("MXAutogradSetIsRecording", 0, C.byref(before))
        used = [i for i, head in enumerate(heads) if head is not None]
        head_arrays = [self.array(heads[i]) for i in used]
        self.call("MXAutogradBackward", len(used), (C.c_void_p * len(used))(*[outputs[i] for i in used]),
                  (C.c_void_p * len(used))(*head_arrays), 0)
        results = [self.numpy(g) for g in grads]
        if after is not None:
            after += [self.numpy(i) for i in inputs]
        self.free(*inputs, *grads, *outputs, *head_arrays)
        return results

    def first_gradients(self, name, arrays, heads, create_graph, /, **attrs):
        """Gradients of sum(outputs * heads) with respect to the floating arrays, with training and the same seed each time; with
        `create_graph` such as can be differentiated again. A head of None: that output takes no part."""
        used = [i for i, head in enumerate(heads) if head is not None]
        inputs, head_arrays = [self.array(a) for a in arrays], [self.array(heads[i]) for i in used]
        marked = [i for i, a in enumerate(arrays) if a.dtype.kind == "f"]
        differentiated, grads = [inputs[i] for i in marked], [self.array(np.zeros_like(arrays[i])) for i in marked]
        count, pointers = len(marked), (C.c_void_p * len(marked))(*differentiated)
        self.call("MXAutogradMarkVariables", count, pointers, (C.c_uint * count)(*[WRITE] * count), (C.c_void_p * count)(*grads))
        self.call("MXRandomSeed", 1)
        before, trained = C.c_int(), self.training(True)
        self.call("MXAutogradSetIsRecording", 1, C.byref(before))
        first, stypes, outputs = C.POINTER(C.c_void_p)(), C.POINTER(C.c_int)(), []
        try:
            outputs = self.invoke(name, inputs, **attrs)
            self.call("MXAutogradBackwardEx", len(used), (C.c_void_p * len(used))(*[outputs[i] for i in used]),
                      (C.c_void_p * len(used))(*head_arrays), count, pointers, 1, int(create_graph), 1, C.byref(first), C.byref(stypes))
            made = [C.c_void_p(first[i]) for i in range(count)]
        finally:
            self.call("MXAutogradSetIsRecording", 0, C.byref(before))
            self.training(trained)
        results = [self.numpy(m) for m in made]
        self.free(*inputs, *head_arrays, *grads, *outputs, *made)
        return results

    def second_gradients(self, name, arrays, heads, directions, wanted=None, **attrs):
        """Gradients of <directions, gradients of sum(outputs * heads)> with respect to the arrays and to the heads, as two lists.
        The inner gradients are those of the arrays at `wanted` (all of them), a direction each. A head of None: that output takes no part."""
        wanted = list(range(len(arrays)) if wanted is None else wanted)
        used = [i for i, head in enumerate(heads) if head is not None]
        inputs, head_arrays = [self.array(a) for a in arrays], [self.array(heads[i]) for i in used]
        differentiated, marked = [inputs[i] for i in wanted], [inputs[i] for i in wanted] + head_arrays
        grads = [self.array(np.zeros_like(a)) for a in [*(arrays[i] for i in wanted), *(heads[i] for i in used)]]
        requests = (C.c_uint * len(marked))(*[WRITE] * len(marked))
        pointers = (C.c_void_p * len(marked))(*marked)
        self.call("MXAutogradMarkVariables", len(marked), pointers, requests, (C.c_void_p * len(grads))(*grads))
        before = C.c_int()
        self.call("MXAutogradSetIsRecording", 1, C.byref(before))
        first, stypes = C.POINTER(C.c_void_p)(), C.POINTER(C.c_int)()
        try:
            outputs = self.invoke(name, inputs, **attrs)
            self.call("MXAutogradBackwardEx", len(used), (C.c_void_p * len(used))(*[outputs[i] for i in used]),
                      (C.c_void_p * len(used))(*head_arrays), len(wanted), (C.c_void_p * len(wanted))(*differentiated),
                      1, 1, 1, C.byref(first), C.byref(stypes))
            firsts = [C.c_void_p(first[i]) for i in range(len(wanted))]
        finally:
            self.call("MXAutogradSetIsRecording", 0, C.byref(before))
        along = [self.array(d) for d in directions]
        self.call("MXAutogradBackward", len(firsts), (C.c_void_p * len(firsts))(*firsts), (C.c_void_p * len(along))(*along), 0)
        results = [self.numpy(g) for g in grads]
        self.free(*inputs, *head_arrays, *grads, *outputs, *firsts, *along)
        return results[:len(wanted)], results[len(wanted):]

    def adjoint_of_adjoint(self, name, arrays, heads, directions, **attrs):
        """For y = A x: the gradient of <directions, A' heads> with respect to `heads`, which is A directions."""
        return self.second_gradients(name, arrays, heads, directions, **attrs)[1]
