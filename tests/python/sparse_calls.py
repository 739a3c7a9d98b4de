# SPDX-License-Identifier: Apache-2.0
"""Sparse arrays through the C ABI, beside op_calls: what they store from and to NumPy."""
import ctypes as C

import numpy as np

from op_calls import DEVICE, DTYPES, NAMES, Library

STYPES = {"default": 0, "row_sparse": 1, "csr": 2}


class Sparse:
    """What an array stores: values and index arrays ([rows], or [indptr, columns])."""

    def __init__(self, stype, shape, data, aux):
        self.stype, self.shape, self.data, self.aux = stype, tuple(shape), data, [np.asarray(a) for a in aux]

    @property
    def dtype(self):
        return self.data.dtype

    def dense(self):
        result = np.zeros(self.shape, self.data.dtype)
        if self.stype == "row_sparse":
            result[self.aux[0]] = self.data
            return result
        indptr, columns = self.aux
        for row in range(self.shape[0]):
            part = slice(int(indptr[row]), int(indptr[row + 1]))
            result[row, columns[part]] = self.data[part]
        return result


def row_sparse(dense):
    rows = np.flatnonzero(dense.reshape(len(dense), -1).any(axis=1))
    return Sparse("row_sparse", dense.shape, dense[rows], [rows.astype("int64")])


def csr(dense):
    indptr = np.concatenate([[0], np.cumsum((dense != 0).sum(axis=1))]).astype("int64")
    return Sparse("csr", dense.shape, dense[dense != 0], [indptr, np.nonzero(dense)[1].astype("int64")])


def dense_of(array):
    return array.dense() if isinstance(array, Sparse) else array


class SparseLibrary(Library):
    """Arrays in and out are NumPy's or Sparse."""

    def empty(self, stype, shape, dtype):
        handle, dims = C.c_void_p(), (C.c_uint * len(shape))(*shape)
        count = 1 if stype == "row_sparse" else 2
        types, ndims, aux_shapes = (C.c_int * count)(*[6] * count), (C.c_uint * count)(*[1] * count), (C.c_uint * count)()
        self.call("MXNDArrayCreateSparseEx", STYPES[stype], dims, C.c_uint(len(shape)), DEVICE, 0, 1, DTYPES[np.dtype(dtype).name],
                  C.c_uint(count), types, ndims, aux_shapes, C.byref(handle))
        return handle

    def array(self, values):
        if not isinstance(values, Sparse):
            return super().array(values)
        handle = self.empty(values.stype, values.shape, values.dtype)
        for part, source in enumerate([values.data, *values.aux], -1):
            given = super().array(source)
            self.call("MXNDArraySyncCopyFromNDArray", handle, given, C.c_int(part))
            self.free(given)
        return handle

    def stype(self, handle):
        number = C.c_int()
        self.call("MXNDArrayGetStorageType", handle, C.byref(number))
        return next(name for name, n in STYPES.items() if n == number.value)

    def numpy(self, handle):
        stype = self.stype(handle)
        if stype == "default":
            return super().numpy(handle)
        self.call("MXNDArrayWaitToRead", handle)
        ndim, dims, part = C.c_int(), C.POINTER(C.c_int64)(), C.c_void_p()
        self.call("MXNDArrayGetShapeEx64", handle, C.byref(ndim), C.byref(dims))
        shape = tuple(dims[: ndim.value])
        self.call("MXNDArrayGetDataNDArray", handle, C.byref(part))
        data, aux = super().numpy(part), []
        self.free(part)
        for i in range(1 if stype == "row_sparse" else 2):
            part = C.c_void_p()
            self.call("MXNDArrayGetAuxNDArray", handle, C.c_uint(i), C.byref(part))
            aux.append(super().numpy(part))
            self.free(part)
        if stype == "csr" and aux[0].size == 0:
            aux[0] = np.zeros(shape[0] + 1, "int64")
        return Sparse(stype, shape, data, aux)

    def check_format(self, handle):
        self.call("MXNDArraySyncCheckFormat", handle, C.c_bool(True))

    def gradient(self, name, arrays, head, wanted, buffer, request=1, **attrs):
        """Of sum(output * head) with respect to array number `wanted`, into `buffer` (an array as above)."""
        inputs = [self.array(a) for a in arrays]
        grad = self.array(buffer) if not isinstance(buffer, str) else self.empty(buffer, arrays[wanted].shape, arrays[wanted].dtype)
        self.call("MXAutogradMarkVariables", 1, (C.c_void_p * 1)(inputs[wanted]), (C.c_uint * 1)(request), (C.c_void_p * 1)(grad))
        before = C.c_int()
        self.call("MXAutogradSetIsRecording", 1, C.byref(before))
        self.call("MXAutogradSetIsTraining", 1, C.byref(before))
        try:
            outputs = self.invoke(name, inputs, **attrs)
        finally:
            self.call("MXAutogradSetIsTraining", 0, C.byref(before))
            self.call("MXAutogradSetIsRecording", 0, C.byref(before))
        head = self.array(head)
        self.call("MXAutogradBackward", 1, (C.c_void_p * 1)(outputs[0]), (C.c_void_p * 1)(head), 0)
        result = self.numpy(grad)
        self.free(*inputs, *outputs, head, grad)
        return result


__all__ = ["NAMES", "Sparse", "SparseLibrary", "csr", "dense_of", "row_sparse"]
