# SPDX-License-Identifier: Apache-2.0
"""The array functions of the C ABI through ctypes, as any language binding calls them: no package needed.

Usage: tests/python/c_api/test_c_api_ndarray.py path/to/libmxnet.so
"""
import ctypes as C
import os
import re
import struct
import sys
import tempfile
import threading
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
DATA = os.path.join(ROOT, "tests", "data")
LIBRARY = os.environ.get("MXNET_LIBRARY_PATH", "")

CPU, GPU, PINNED, SHARED = 1, 2, 3, 5
FLOAT32, FLOAT64, INT32, INT64 = 0, 1, 4, 6
Handle = C.c_void_p


class Failure(Exception):
    """A call returned -1; the text is MXGetLastTypedError's."""


class Api:
    def __init__(self, path):
        self.lib = C.CDLL(path)
        self.lib.MXGetLastTypedError.restype = C.c_char_p

    def __getattr__(self, name):
        function = getattr(self.lib, name)

        def call(*args):
            result = function(*args)
            if result != 0:
                raise Failure(self.lib.MXGetLastTypedError().decode())
        return call


mx = None


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


class Arrays(unittest.TestCase):
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

    # -- making and asking

    def test_create_copy_and_ask(self):
        a = new((2, 3), range(6))
        self.assertEqual(shape(a), (2, 3))
        self.assertEqual(values(a), [0, 1, 2, 3, 4, 5])
        self.assertEqual(number("MXNDArrayGetStorageType", a), 0)
        dims, pointer = C.c_uint(), C.POINTER(C.c_uint)()
        mx.MXNDArrayGetShape(a, C.byref(dims), C.byref(pointer))
        self.assertEqual(pointer[: dims.value], [2, 3])
        ndim, wide = C.c_int(), C.POINTER(C.c_int64)()
        mx.MXNDArrayGetShapeEx64(a, C.byref(ndim), C.byref(wide))
        self.assertEqual(wide[: ndim.value], [2, 3])
        data = C.c_void_p()
        mx.MXNDArrayGetData(a, C.byref(data))
        self.assertEqual(C.cast(data, C.POINTER(C.c_float))[4], 4.0)
        mx.MXNDArrayFree(a)

    def test_every_dtype_of_the_abi(self):
        for dtype in (0, 1, 2, 3, 4, 5, 6, 7, 12):
            self.assertEqual(number("MXNDArrayGetDType", new((2,), dtype=dtype)), dtype)
        for dtype in (-1, 8, 11, 13):
            self.assert_fails("given dtype %d" % dtype, lambda: new((2,), dtype=dtype))

    def test_contexts(self):
        gpus = C.c_int()
        mx.MXGetGPUCount(C.byref(gpus))
        for device in (CPU, PINNED, SHARED) + (GPU,) * min(gpus.value, 1):
            a = new((3,), [1, 2, 3], device=device)
            kind, index = C.c_int(), C.c_int()
            mx.MXNDArrayGetContext(a, C.byref(kind), C.byref(index))
            self.assertEqual((kind.value, index.value), (device, 0))
            self.assertEqual(values(a), [1, 2, 3])
        self.assert_fails("given device type 4", lambda: new((1,), device=4))
        wide = out_handle("MXNDArrayCreateEx64", (C.c_int64 * 1)(2), 1, CPU, 7, 1, FLOAT32)
        kind, index = C.c_int(), C.c_int()
        mx.MXNDArrayGetContext(wide, C.byref(kind), C.byref(index))
        self.assertEqual((kind.value, index.value), (CPU, 7))

    def test_an_array_without_data(self):
        none = out_handle("MXNDArrayCreateNone")
        self.assertEqual(shape(none), ())
        self.assertEqual(number("MXNDArrayGetDType", none), -1)
        self.assertEqual(number("MXNDArrayGetStorageType", none), -1)
        self.numpy_shapes(1)
        self.assertIsNone(shape(none))
        mx.MXNDArrayWaitToRead(none)
        data = C.c_void_p()
        self.assert_fails("without data", mx.MXNDArrayGetData, none, C.byref(data))
        self.assert_fails("without data", lambda: save(self.path(), [none]))

    def test_zero_size_and_scalar(self):
        self.numpy_shapes(1)
        self.assertEqual(shape(new((0, 2))), (0, 2))
        self.assertEqual(values(new((0, 2))), [])
        self.assertEqual(values(new((), [2.5])), [2.5])

    def test_shapes_above_32_bits_need_the_64_bit_function(self):
        big = out_handle("MXNDArrayCreateEx64", (C.c_int64 * 1)(1 << 33), 1, CPU, 0, 1, FLOAT32)
        ndim, wide = C.c_int(), C.POINTER(C.c_int64)()
        mx.MXNDArrayGetShapeEx64(big, C.byref(ndim), C.byref(wide))
        self.assertEqual(wide[0], 1 << 33)
        self.assert_fails("use MXNDArrayGetShapeEx64", shape, big)
        negative = (C.c_int64 * 1)(-3)
        self.assert_fails("given dimension -3", out_handle, "MXNDArrayCreateEx64", negative, 1, CPU, 0, 1, FLOAT32)
        self.assert_fails("given 33 dimensions", out_handle, "MXNDArrayCreateEx64", (C.c_int64 * 33)(), 33, CPU, 0, 1, FLOAT32)

    def test_wrong_counts(self):
        a = new((2, 3), range(6))
        buffer = (C.c_float * 8)()
        self.assert_fails("given 5 elements, expected 6", mx.MXNDArraySyncCopyFromCPU, a, buffer, C.c_size_t(5))
        self.assert_fails("given 8 elements, expected 6", mx.MXNDArraySyncCopyToCPU, a, buffer, C.c_size_t(8))

    # -- handles

    def test_misused_handles_are_errors(self):
        a = new((2,), [1, 2])
        freed = new((2,), [3, 4])
        mx.MXNDArrayFree(freed)
        out = C.c_int()
        self.assert_fails("given null", mx.MXNDArrayGetDType, None, C.byref(out))
        self.assert_fails("given a freed handle", mx.MXNDArrayGetDType, freed, C.byref(out))
        self.assert_fails("given a freed handle", mx.MXNDArrayFree, freed)
        for wrong in (Handle(5), Handle((1 << 64) - 1), C.cast(C.byref(out), Handle), C.cast(C.c_char_p(b"x" * 64), Handle)):
            self.assert_fails("another kind", mx.MXNDArrayGetDType, wrong, C.byref(out))
            self.assert_fails("another kind", mx.MXNDArrayFree, wrong)
        reused = [new((2,), [i, i]) for i in range(20)]
        self.assert_fails("given a freed handle", mx.MXNDArrayGetDType, freed, C.byref(out))
        self.assertEqual(values(a), [1, 2])
        for handle in reused:
            mx.MXNDArrayFree(handle)
        mx.MXNDArrayFree(None)
        self.assert_fails("null for out", mx.MXNDArrayCreateNone, None)
        self.assert_fails("null for out_dtype", mx.MXNDArrayGetDType, a, None)

    def test_many_handles_from_many_threads(self):
        failures = []

        def work(seed):
            try:
                for i in range(200):
                    a = new((2,), [seed, i])
                    b = out_handle("MXShallowCopyNDArray", a)
                    mx.MXNDArrayFree(a)
                    if values(b) != [seed, i]:
                        failures.append((seed, i))
                    mx.MXNDArrayFree(b)
            except Failure as error:
                failures.append(error)
        threads = [threading.Thread(target=work, args=(t,)) for t in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    # -- views

    def test_slice_at_and_reshape_share_memory(self):
        a = new((4, 3), range(12))
        rows = out_handle("MXNDArraySlice", a, C.c_uint(1), C.c_uint(3))
        self.assertEqual((shape(rows), values(rows)), ((2, 3), [3, 4, 5, 6, 7, 8]))
        row = out_handle("MXNDArrayAt64", a, C.c_int64(2))
        mx.MXNDArraySyncCopyFromCPU(row, (C.c_float * 3)(-1, -2, -3), C.c_size_t(3))
        self.assertEqual(values(a)[6:9], [-1, -2, -3])
        flat = out_handle("MXNDArrayReshape64", a, 1, (C.c_int64 * 1)(-1), C.c_bool(False))
        mx.MXNDArrayFree(a)
        self.assertEqual(len(values(flat)), 12)
        self.assertEqual(shape(out_handle("MXNDArrayReshape", flat, 2, (C.c_int * 2)(2, -1))), (2, 6))
        self.assert_fails(r"IndexError.*\[3, 13\) of 12 rows", out_handle, "MXNDArraySlice64", flat, C.c_int64(3), C.c_int64(13))
        self.assert_fails("IndexError", out_handle, "MXNDArrayAt", flat, C.c_uint(12))
        self.assert_fails("below -1", out_handle, "MXNDArrayReshape", flat, 1, (C.c_int * 1)(-2))

    def test_modes_of_shapes_in_views(self):
        a = new((3,), range(3))
        self.assertEqual(shape(out_handle("MXNDArrayAt", a, C.c_uint(1))), (1,))
        self.assertEqual(values(out_handle("MXNDArrayReshape64", a, 1, (C.c_int64 * 1)(2), C.c_bool(False))), [0, 1])
        self.assertEqual(self.numpy_shapes(1), 0)
        mode = C.c_int()
        mx.MXIsNumpyShape(C.byref(mode))
        self.assertEqual(mode.value, 1)
        self.assertEqual(shape(out_handle("MXNDArrayAt", a, C.c_uint(1))), ())
        self.assert_fails("expected 3 elements", out_handle, "MXNDArrayReshape64", a, 1, (C.c_int64 * 1)(2), C.c_bool(False))
        self.assert_fails("given mode 7", self.numpy_shapes, 7)

    # -- sparse

    def test_csr(self):
        csr = new_sparse(2, (2, 3), ((3,), [1, 2, 3]), [[0, 1, 3], [1, 0, 2]])
        self.assertEqual(number("MXNDArrayGetStorageType", csr), 2)
        self.assertEqual(shape(csr), (2, 3))
        mx.MXNDArraySyncCheckFormat(csr, C.c_bool(True))
        data = out_handle("MXNDArrayGetDataNDArray", csr)
        self.assertEqual(values(data), [1, 2, 3])
        mx.MXNDArraySyncCopyFromCPU(data, (C.c_float * 3)(9, 9, 9), C.c_size_t(3))
        self.assertEqual(values(out_handle("MXNDArrayGetDataNDArray", csr)), [1, 2, 3])
        self.assertEqual(values(out_handle("MXNDArrayGetAuxNDArray", csr, C.c_uint(0))), [0, 1, 3])
        self.assertEqual(values(out_handle("MXNDArrayGetAuxNDArray64", csr, C.c_int64(1))), [1, 0, 2])
        kind = C.c_int()
        mx.MXNDArrayGetAuxType(csr, C.c_uint(1), C.byref(kind))
        self.assertEqual(kind.value, INT64)
        self.assert_fails("given part 2|index array 2", out_handle, "MXNDArrayGetAuxNDArray", csr, C.c_uint(2))
        self.assert_fails("index array 0 of a default", mx.MXNDArrayGetAuxType, data, C.c_uint(0), C.byref(kind))
        self.assert_fails("given a csr array", out_handle, "MXNDArraySlice", csr, C.c_uint(0), C.c_uint(1))
        bad = new_sparse(2, (2, 3), ((2,), [1, 2]), [[0, 1, 2], [0, 5]])
        mx.MXNDArraySyncCheckFormat(bad, C.c_bool(False))
        self.assert_fails(r"indices\[1\] is 5", mx.MXNDArraySyncCheckFormat, bad, C.c_bool(True))

    def test_row_sparse(self):
        rows = new_sparse(1, (4, 2), ((2, 2), [1, 2, 3, 4]), [[1, 3]])
        mx.MXNDArraySyncCheckFormat(rows, C.c_bool(True))
        self.assertEqual(shape(out_handle("MXNDArrayGetDataNDArray", rows)), (2, 2))
        self.assertEqual(values(out_handle("MXNDArrayGetAuxNDArray", rows, C.c_uint(0))), [1, 3])
        save(self.path(), [rows], ["r"])
        (again,), names = load(self.path())
        self.assertEqual(names, ["r"])
        self.assertEqual(number("MXNDArrayGetStorageType", again), 1)
        self.assertEqual(values(out_handle("MXNDArrayGetDataNDArray", again)), [1, 2, 3, 4])

    # -- files

    def test_samples_of_the_reference_are_written_alike(self):
        for name in ("gluon.params", "dict_dtypes.params", "csr.params", "row_sparse.params", "list_unnamed.ndarray"):
            source = os.path.join(DATA, "params", name)
            handles, names = load(source)
            save(self.path(), handles, names or None)
            with open(source, "rb") as a, open(self.path(), "rb") as b:
                self.assertEqual(a.read(), b.read(), name)

    def test_buffers_and_raw_bytes(self):
        with open(os.path.join(DATA, "params", "dict_bool.params"), "rb") as file:
            data = file.read()
        handles, names = load(data=data)
        self.assertEqual(names, ["b"])
        size, pointer = C.c_size_t(), C.POINTER(C.c_char)()
        a = new((2, 3), range(6))
        mx.MXNDArraySaveRawBytes(a, C.byref(size), C.byref(pointer))
        raw = pointer[: size.value]
        with open(os.path.join(DATA, "params", "rawbytes.bin"), "rb") as file:
            self.assertEqual(raw, file.read())
        self.assertEqual(values(out_handle("MXNDArrayLoadFromRawBytes", raw, C.c_size_t(len(raw)))), [0, 1, 2, 3, 4, 5])
        self.assert_fails("at byte", out_handle, "MXNDArrayLoadFromRawBytes", raw, C.c_size_t(len(raw) - 1))

    def test_broken_files_name_path_and_byte(self):
        with open(self.path(), "wb") as file:
            file.write(struct.pack("<QQQ", 0x112, 0, 1 << 60))
        self.assert_fails(re.escape(self.path()) + ".*byte 16", load, self.path())
        self.assert_fails("No such file", load, self.path("missing"))

    def test_numpy_shapes_in_files(self):
        v3 = os.path.join(DATA, "params", "npshape_v3.params")
        self.assert_fails("turn them on", load, v3)
        self.numpy_shapes(1)
        handles, names = load(v3)
        self.assertEqual([shape(h) for h in handles], [(), (0, 3), (2, 3)])
        save(self.path(), handles, names)
        with open(v3, "rb") as a, open(self.path(), "rb") as b:
            self.assertEqual(a.read(), b.read())

    # -- other frameworks and processes

    def test_dlpack_round_trip_shares_memory(self):
        a = new((2, 2), range(4))
        tensor = Handle()
        mx.MXNDArrayToDLPack(a, C.byref(tensor))
        b = out_handle("MXNDArrayFromDLPack", tensor)
        mx.MXNDArraySyncCopyFromCPU(b, (C.c_float * 4)(9, 8, 7, 6), C.c_size_t(4))
        self.assertEqual(values(a), [9, 8, 7, 6])
        mx.MXNDArrayFree(a)
        self.assertEqual(values(b), [9, 8, 7, 6])
        mx.MXNDArrayToDLPack(b, C.byref(tensor))
        mx.MXNDArrayCallDLPackDeleter(tensor)

    def test_shared_memory(self):
        a = new((4,), [1, 2, 3, 4], device=SHARED)
        pid, index = C.c_int(), C.c_int()
        mx.MXNDArrayGetSharedMemHandle(a, C.byref(pid), C.byref(index))
        b = out_handle("MXNDArrayCreateFromSharedMemEx", pid, index, (C.c_int * 1)(4), 1, FLOAT32)
        c = out_handle("MXNDArrayCreateFromSharedMem", pid, index, (C.c_uint * 2)(2, 2), C.c_uint(2), FLOAT32)
        mx.MXNDArraySyncCopyFromCPU(b, (C.c_float * 4)(4, 3, 2, 1), C.c_size_t(4))
        self.assertEqual(values(a), [4, 3, 2, 1])
        self.assertEqual(values(c), [4, 3, 2, 1])
        self.assert_fails("cpu_shared", mx.MXNDArrayGetSharedMemHandle, new((1,)), C.byref(pid), C.byref(index))

    # -- copies, waits, gradients

    def test_copies_between_arrays_convert(self):
        a = new((2,), [0, 0], dtype=INT32)
        mx.MXNDArraySyncCopyFromNDArray(a, new((2,), [1.5, -2.5]), C.c_int(-1))
        self.assertEqual(values(a), [1, -2])
        mx.MXNDArrayWaitToRead(a)
        mx.MXNDArrayWaitToWrite(a)
        mx.MXNDArrayWaitAll()

    def test_an_unmarked_array_has_no_gradient(self):
        a = new((2,), [1, 2])
        out = Handle(1)
        mx.MXNDArrayGetGrad(a, C.byref(out))
        self.assertIsNone(out.value)
        self.assertEqual(number("MXNDArrayGetGradState", a), 0)
        self.assert_fails("not marked for gradients", mx.MXNDArraySetGradState, a, 1)
        self.assertEqual(values(out_handle("MXNDArrayDetach", a)), [1, 2])


def setUpModule():
    """Under pytest the library comes from MXNET_LIBRARY_PATH."""
    global mx
    if not LIBRARY:
        raise unittest.SkipTest("no library: give its path or set MXNET_LIBRARY_PATH")
    mx = Api(LIBRARY)


if __name__ == "__main__":
    os.environ["MXNET_SIM_GPUS"] = "1"  # here alone, for under pytest the process is others' too
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        LIBRARY = sys.argv.pop(1)
    unittest.main()
