# SPDX-License-Identifier: Apache-2.0
"""The array functions of the C ABI: what is made, asked, viewed, copied and shared.

Usage: tests/python/c_api/test_c_api_ndarray.py path/to/libmxnet.so
"""
import ctypes as C
import threading

from c_arrays import CPU, FLOAT32, GPU, INT32, PINNED, SHARED
from c_arrays import ArrayTest, Failure, Handle, main, mx, new, number, out_handle, save, shape, values


class Arrays(ArrayTest):
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

    def test_values_to_read_and_their_version(self):
        a, data, version, later = new((2, 3), range(6)), C.c_void_p(), C.c_uint64(), C.c_uint64()
        mx.MXNDArrayGetDataToRead(a, C.byref(data), C.byref(version))
        self.assertEqual(C.cast(data, C.POINTER(C.c_float))[4], 4.0)
        mx.MXNDArrayGetDataToRead(a, C.byref(data), C.byref(later))
        self.assertEqual(later.value, version.value)
        mx.MXNDArraySyncCopyFromCPU(a, (C.c_float * 6)(*range(6)), 6)
        mx.MXNDArrayGetDataToRead(a, C.byref(data), C.byref(later))
        self.assertGreater(later.value, version.value)
        mx.MXNDArrayFree(a)
        self.assert_fails("without data", mx.MXNDArrayGetDataToRead, out_handle("MXNDArrayCreateNone"), C.byref(data), C.byref(later))
        gpus = C.c_int()
        mx.MXGetGPUCount(C.byref(gpus))
        if gpus.value:
            b = new((3,), [1, 2, 3], device=GPU)
            self.assert_fails("expected one in host memory", mx.MXNDArrayGetDataToRead, b, C.byref(data), C.byref(later))

    def test_elements_of_another_type_and_order(self):
        doubles, overflows = (C.c_double * 6)(*range(6)), C.c_int(7)

        def copy(target, dtype=1, dims=2, strides=(8, 16), first=0):
            start = C.c_void_p(C.addressof(doubles) + first)
            mx.MXNDArraySyncCopyFromStrided(target, start, dtype, dims, (C.c_int64 * len(strides))(*strides), C.byref(overflows))

        a = new((2, 3), range(6))
        copy(a)  # a transpose
        self.assertEqual((values(a), overflows.value), ([0, 2, 4, 1, 3, 5], 0))
        copy(a, strides=(-24, 0), first=32)
        self.assertEqual(values(a), [4, 4, 4, 1, 1, 1])
        doubles[2] = 1e300
        copy(a)
        self.assertEqual((values(a)[1], overflows.value), (float("inf"), 1))
        copy(new((3, 2), range(6), dtype=INT32))
        self.assertEqual(overflows.value, 0)
        self.assert_fails("given 1 dimensions, expected those of shape", lambda: copy(a, dims=1))
        self.assert_fails("given 12 bytes between elements of dimension 1, expected a multiple of 8", lambda: copy(a, strides=(8, 12)))
        self.assert_fails("expected a multiple of 8 for float64", lambda: copy(a, first=4))
        self.assert_fails("given dtype 8", lambda: copy(a, dtype=8))
        self.assert_fails("strides", mx.MXNDArraySyncCopyFromStrided, a, doubles, 1, 2, None, None)
        gpus = C.c_int()
        mx.MXGetGPUCount(C.byref(gpus))
        if gpus.value:
            b = new((2, 3), range(6), device=GPU)
            doubles[2] = 2
            copy(b)
            self.assertEqual(values(b), [0, 2, 4, 1, 3, 5])

    def test_elements_for_an_array_that_nobody_uses(self):
        given, done, steps = (C.c_float * 6)(*range(6)), C.c_int(7), (C.c_int64 * 2)(4, 8)
        a, none = new((2, 3), range(6)), out_handle("MXNDArrayCreateNone")

        def copy(target, data, dims=2):
            mx.MXNDArrayCopyFromStridedIfFree(target, data, 0, dims, steps, C.byref(done))
            return done.value

        self.assertEqual((copy(a, given), values(a)), (1, [0, 2, 4, 1, 3, 5]))
        own = C.c_void_p()
        mx.MXNDArrayGetData(a, C.byref(own))
        self.assertEqual((copy(a, own), values(a)), (0, [0, 2, 4, 1, 3, 5]))
        self.assert_fails("given 1 dimensions", lambda: copy(a, given, dims=1))
        self.assert_fails("without data", lambda: copy(none, given))
        self.assert_fails("done", mx.MXNDArrayCopyFromStridedIfFree, a, given, 0, 2, steps, None)
        gpus = C.c_int()
        mx.MXGetGPUCount(C.byref(gpus))
        if gpus.value:
            self.assertEqual(copy(new((2, 3), range(6), device=GPU), given), 0)

    def test_every_dtype_of_the_abi(self):
        for dtype in (0, 1, 2, 3, 4, 5, 6, 7, 12):
            self.assertEqual(number("MXNDArrayGetDType", new((2,), dtype=dtype)), dtype)
        for dtype in (-1, 8, 11, 13):
            self.assert_fails("given dtype %d" % dtype, lambda: new((2,), dtype=dtype))

    def test_an_array_knows_its_device(self):
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

    def test_copies_of_another_count_are_errors(self):
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
        self.assert_fails("given 2147483647 dimensions", out_handle, "MXNDArrayReshape", flat, 2**31 - 1, (C.c_int * 1)(-1))
        self.assert_fails("given 2147483647 dimensions", out_handle, "MXNDArrayReshape64", flat, 2**31 - 1, (C.c_int64 * 1)(-1), C.c_bool(False))
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

    def test_arrays_over_one_shared_memory_see_the_same_values(self):
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


if __name__ == "__main__":
    main()


def test_handles_leave_most_of_few_addresses_to_the_process(run_python):
    """Where the shell has said `ulimit -v`, a kind of handles takes a part of what there is, and threads find room for stacks."""
    done = run_python(
        """
import resource
import threading

LIMIT = 6 << 30
resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
import mxnet as mx

arrays = [mx.nd.ones(1) for _ in range(100_000)]
store = mx.kv.create("local")
store.init("w", arrays[0])
executor = mx.sym.exp(mx.sym.Variable("x")).simple_bind(mx.cpu(), x=(2,))
executor.forward()
gate = threading.Barrier(20)
threads = [threading.Thread(target=gate.wait) for _ in range(20)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
mx.nd.waitall()
with open("/proc/self/statm") as statm:
    print(int(statm.read().split()[0]) * resource.getpagesize() < LIMIT / 2)
"""
    )
    assert done.stdout.split() == ["True"], done.stdout + done.stderr
