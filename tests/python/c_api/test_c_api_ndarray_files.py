# SPDX-License-Identifier: Apache-2.0
"""The array functions of the C ABI: sparse arrays, and files.

Usage: tests/python/c_api/test_c_api_ndarray_files.py path/to/libmxnet.so
"""
import ctypes as C
import os
import pathlib
import re
import struct

from c_arrays import INT64, ArrayTest, load, main, mx, new, new_sparse, number, out_handle, save, shape, values

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"


class SparseArraysAndFiles(ArrayTest):
    # -- sparse

    def test_csr_arrays_have_their_parts_and_can_be_written(self):
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
        for aux in (2, -1):
            self.assert_fails(f"index array {aux}", out_handle, "MXNDArrayGetAuxNDArray64", csr, C.c_int64(aux))
            self.assert_fails(f"index array {aux}", mx.MXNDArrayGetAuxType64, csr, C.c_int64(aux), C.byref(kind))
        self.assert_fails("index array 0 of a default", mx.MXNDArrayGetAuxType, data, C.c_uint(0), C.byref(kind))
        self.assert_fails("given a csr array", out_handle, "MXNDArraySlice", csr, C.c_uint(0), C.c_uint(1))
        bad = new_sparse(2, (2, 3), ((2,), [1, 2]), [[0, 1, 2], [0, 5]])
        mx.MXNDArraySyncCheckFormat(bad, C.c_bool(False))
        self.assert_fails(r"indices\[1\] is 5", mx.MXNDArraySyncCheckFormat, bad, C.c_bool(True))

    def test_row_sparse_arrays_have_their_parts_and_come_back_from_files(self):
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


if __name__ == "__main__":
    main()
