# SPDX-License-Identifier: Apache-2.0
"""Arrays through the C ABI by ctypes, as any language binding makes and asks them: no package needed."""
import ctypes as C
import functools
import os
import sys
import tempfile
import unittest

CPU, GPU, PINNED, SHARED = 1, 2, 3, 5
FLOAT32, FLOAT64, INT32, INT64 = 0, 1, 4, 6
Handle = C.c_void_p


class Failure(Exception):
    """A call returned -1; the text is MXGetLastTypedError's."""


class Api:
    """The functions of the library at MXNET_LIBRARY_PATH, which is loaded when one is called first."""

    @functools.cached_property
    def lib(self):
        library = C.CDLL(os.environ["MXNET_LIBRARY_PATH"])
        library.MXGetLastTypedError.restype = C.c_char_p
        return library

    def __getattr__(self, name):
        function = getattr(self.lib, name)

        def call(*args):
            result = function(*args)
            if result != 0:
                raise Failure(self.lib.MXGetLastTypedError().decode())
        return call


mx = Api()


def new(shape, values=None, dtype=FLOAT32, device=CPU):
    out = Handle()
    mx.MXNDArrayCreateEx((C.c_uint * max(1, len(shape)))(*shape), C.c_uint(len(shape)), device, 0, 0, dtype, C.byref(out))
    if values is not None:
        buffer = (TYPES[dtype] * len(values))(*values)
        mx.MXNDArraySyncCopyFromCPU(out, buffer, C.c_size_t(len(values)))
    return out


TYPES = {FLOAT32: C.c_float, FLOAT64: C.c_double, INT32: C.c_int32, INT64: C.c_int64}


def shape(handle):
    ndim, dims = C.c_int(), C.POINTER(C.c_int)()
    mx.MXNDArrayGetShapeEx(handle, C.byref(ndim), C.byref(dims))
    return tuple(dims[i] for i in range(ndim.value)) if ndim.value >= 0 else None


def number(function, handle):
    out = C.c_int()
    getattr(mx, function)(handle, C.byref(out))
    return out.value


def values(handle):
    count = 1
    for dim in shape(handle):
        count *= dim
    buffer = (TYPES[number("MXNDArrayGetDType", handle)] * count)()
    mx.MXNDArraySyncCopyToCPU(handle, buffer, C.c_size_t(count))
    return list(buffer)


def out_handle(function, *args):
    out = Handle()
    getattr(mx, function)(*args, C.byref(out))
    return out


def load(path=None, data=None):
    count, arrays = C.c_uint(), C.POINTER(Handle)()
    name_count, names = C.c_uint(), C.POINTER(C.c_char_p)()
    tail = (C.byref(count), C.byref(arrays), C.byref(name_count), C.byref(names))
    if path is not None:
        mx.MXNDArrayLoad(path.encode(), *tail)
    else:
        mx.MXNDArrayLoadFromBuffer(data, C.c_size_t(len(data)), *tail)
    handles = [Handle(arrays[i]) for i in range(count.value)]
    return handles, [names[i].decode() for i in range(name_count.value)]


def save(path, handles, names=None):
    count = len(handles)
    keys = None if names is None else (C.c_char_p * count)(*[name.encode() for name in names])
    mx.MXNDArraySave(path.encode(), C.c_uint(count), (Handle * max(1, count))(*handles), keys)


def new_sparse(storage_type, full_shape, data, aux):
    out = Handle()
    shapes = [len(a) for a in aux]
    mx.MXNDArrayCreateSparseEx(
        storage_type, (C.c_uint * len(full_shape))(*full_shape), C.c_uint(len(full_shape)), CPU, 0, 0, FLOAT32,
        C.c_uint(len(aux)), (C.c_int * len(aux))(*[INT64] * len(aux)), (C.c_uint * len(aux))(*[1] * len(aux)),
        (C.c_uint * len(aux))(*shapes), C.byref(out))
    mx.MXNDArraySyncCopyFromNDArray(out, new(data[0], data[1]), C.c_int(-1))
    for i, indices in enumerate(aux):
        mx.MXNDArraySyncCopyFromNDArray(out, new((len(indices),), indices, INT64), C.c_int(i))
    return out


class ArrayTest(unittest.TestCase):
    """With a folder for files, and the reference's meaning of shapes where a test does not change it."""

    @classmethod
    def setUpClass(cls):
        if not os.environ.get("MXNET_LIBRARY_PATH"):
            raise unittest.SkipTest("no library: give its path or set MXNET_LIBRARY_PATH")

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        mx.MXSetIsNumpyShape(0, C.byref(C.c_int()))  # whatever ran before in this process

    def tearDown(self):
        previous = C.c_int()
        mx.MXSetIsNumpyShape(0, C.byref(previous))
        self.folder.cleanup()

    def path(self, name="a.params"):
        return os.path.join(self.folder.name, name)

    def numpy_shapes(self, mode):
        previous = C.c_int()
        mx.MXSetIsNumpyShape(mode, C.byref(previous))
        return previous.value

    def assert_fails(self, pattern, call, *args):
        with self.assertRaisesRegex(Failure, pattern):
            call(*args)


def main():
    """Of a program that is given the library's path."""
    os.environ["MXNET_SIM_GPUS"] = "1"  # here alone, for under pytest the process is others' too
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        os.environ["MXNET_LIBRARY_PATH"] = sys.argv.pop(1)
    unittest.main()
