# SPDX-License-Identifier: Apache-2.0
"""Stores as programs in other languages use them: every function of the C ABI on a store of one process, with its numbers."""
import ctypes as C
import os
import subprocess
import sys

import pytest
from c_library import CPU, Library, library_path

ROW_SPARSE = 1
INT64 = 6
INTEGER_UPDATER = C.CFUNCTYPE(None, C.c_int, C.c_void_p, C.c_void_p, C.c_void_p)
TEXT_UPDATER = C.CFUNCTYPE(None, C.c_char_p, C.c_void_p, C.c_void_p, C.c_void_p)
CONTROLLER = C.CFUNCTYPE(None, C.c_int, C.c_char_p, C.c_void_p)


@pytest.fixture(scope="module")
def lib():
    return Library(library_path())


@pytest.fixture
def store(lib):
    handle = lib.new("MXKVStoreCreate", b"local")
    yield handle
    lib.MXKVStoreFree(handle)


def handles(*arrays):
    return (C.c_void_p * len(arrays))(*arrays)


class IntegerKeys:
    """The functions without Ex."""

    ending = ""

    @staticmethod
    def keys(*numbers):
        return (C.c_int * len(numbers))(*numbers)


class TextKeys:
    """The functions with Ex."""

    ending = "Ex"

    @staticmethod
    def keys(*numbers):
        return (C.c_char_p * len(numbers))(*(b"weight %d" % number for number in numbers))


both_kinds_of_keys = pytest.mark.parametrize("kind", [IntegerKeys, TextKeys])


def call(lib, name, kind, *values):
    return getattr(lib, f"MXKVStore{name}{kind.ending}")(*values)


@both_kinds_of_keys
def test_what_is_pushed_is_summed_and_pulled(lib, store, kind):
    one, two = lib.array_of((2,), [1, 2]), lib.array_of((2,), [10, 20])
    out, other = lib.array(2), lib.array(2)
    call(lib, "Init", kind, store, 2, kind.keys(3, 5), handles(one, two))
    call(lib, "Pull", kind, store, 2, kind.keys(5, 3), handles(out, other), 0)
    assert (lib.numbers(out, 2), lib.numbers(other, 2)) == ([10, 20], [1, 2])
    call(lib, "Push", kind, store, 2, kind.keys(3, 3), handles(one, two), 0)  # one key twice: two devices
    call(lib, "Pull", kind, store, 2, kind.keys(3, 3), handles(out, other), -1)
    assert lib.numbers(out, 2) == lib.numbers(other, 2) == [11, 22]


@both_kinds_of_keys
def test_a_broadcast_is_an_init_and_a_pull(lib, store, kind):
    value, outs = lib.array_of((3,), [1, 2, 3]), [lib.array(3), lib.array(3)]
    call(lib, "Broadcast", kind, store, 1, kind.keys(0), 2, kind.keys(0, 0), handles(value), handles(*outs), 0)
    assert [lib.numbers(out, 3) for out in outs] == [[1, 2, 3]] * 2
    with pytest.raises(RuntimeError, match="0"):
        call(lib, "Broadcast", kind, store, 1, kind.keys(0), 1, kind.keys(0), handles(value), handles(outs[0]), 0)


@both_kinds_of_keys
def test_a_push_and_pull_gives_the_sum(lib, store, kind):
    values, out = [lib.array_of((2,), [1, 2]), lib.array_of((2,), [3, 5])], lib.array(2)
    call(lib, "Init", kind, store, 1, kind.keys(7), handles(values[0]))
    call(lib, "PushPull", kind, store, 2, kind.keys(7, 7), 1, kind.keys(7), handles(*values), handles(out), 0)
    assert lib.numbers(out, 2) == [4, 7]
    twice = handles(*values), kind.keys(7, 7)
    call(lib, "PushPull", kind, store, 2, twice[1], 2, twice[1], twice[0], twice[0], 0)  # in place
    assert [lib.numbers(value, 2) for value in values] == [[4, 7]] * 2


def rows(lib, shape, numbers, data):
    """A row_sparse array with these rows."""
    kinds, no_dims = (C.c_int * 1)(INT64), (C.c_int * 1)(1)
    aux_shape, dims = (C.c_int64 * 1)(len(numbers)), (C.c_int64 * len(shape))(*shape)
    array = lib.new("MXNDArrayCreateSparseEx64", ROW_SPARSE, dims, len(shape), CPU, 0, 0, 0, 1, kinds, no_dims, aux_shape)
    index_type = C.c_int()
    lib.MXNDArrayGetAuxType64(array, C.c_int64(0), C.byref(index_type))
    assert index_type.value == INT64
    if numbers:
        values = lib.array_of((len(numbers), *shape[1:]), data)
        lib.MXNDArraySyncCopyFromNDArray(array, values, -1)
        lib.MXNDArraySyncCopyFromNDArray(array, row_numbers(lib, *numbers), 0)
    return array


def row_numbers(lib, *numbers):
    array = lib.new("MXNDArrayCreateEx", (C.c_uint * 1)(len(numbers)), 1, CPU, 0, 0, INT64)
    lib.MXNDArraySyncCopyFromCPU(array, (C.c_int64 * len(numbers))(*numbers), C.c_size_t(len(numbers)))
    return array


def stored_rows(lib, array, count, width):
    """The rows that an array holds, by number."""
    data, index = lib.new("MXNDArrayGetDataNDArray", array), C.c_void_p()
    lib.MXNDArrayGetAuxNDArray64(array, C.c_int64(0), C.byref(index))
    numbers = (C.c_int64 * count)()
    lib.MXNDArraySyncCopyToCPU(index, numbers, C.c_size_t(count))
    values = lib.numbers(data, count * width)
    return {number: values[i * width:(i + 1) * width] for i, number in enumerate(numbers)}


@both_kinds_of_keys
def test_rows_are_pulled_by_their_numbers(lib, store, kind):
    call(lib, "Init", kind, store, 1, kind.keys(1), handles(rows(lib, (4, 2), [0, 1, 3], [1, 2, 3, 4, 5, 6])))
    out = rows(lib, (4, 2), [], [])
    call(lib, "PullRowSparse", kind, store, 1, kind.keys(1), handles(out), handles(row_numbers(lib, 3, 0, 3)), 0)
    assert stored_rows(lib, out, 2, 2) == {0: [1, 2], 3: [5, 6]}


@both_kinds_of_keys
def test_sparse_arrays_are_pulled_only_where_that_is_asked_for(lib, store, kind):
    call(lib, "Init", kind, store, 1, kind.keys(1), handles(rows(lib, (4, 2), [1, 3], [3, 4, 5, 6])))
    out = rows(lib, (4, 2), [2], [8, 9])
    call(lib, "PullWithSparse", kind, store, 1, kind.keys(1), handles(out), 0, C.c_bool(True))
    lib.MXNDArrayWaitToRead(out)
    assert stored_rows(lib, out, 1, 2) == {2: [8, 9]}
    call(lib, "PullWithSparse", kind, store, 1, kind.keys(1), handles(out), 0, C.c_bool(False))
    lib.MXNDArrayWaitToRead(out)
    assert stored_rows(lib, out, 2, 2) == {1: [3, 4], 3: [5, 6]}


def add_one(lib, seen):
    """The body of an updater: what is stored becomes what was pushed, and one."""

    def update(key, pushed, stored, context):
        pushed, stored = C.c_void_p(pushed), C.c_void_p(stored)
        seen.append((key, context))
        values = [value + 1 for value in lib.numbers(pushed, 2)]
        lib.MXNDArraySyncCopyFromCPU(stored, (C.c_float * 2)(*values), C.c_size_t(2))
        lib.MXNDArrayFree(pushed)
        lib.MXNDArrayFree(stored)

    return update


@pytest.mark.parametrize("kind", [IntegerKeys, TextKeys])
def test_updaters_get_the_key_and_what_they_were_given(lib, store, kind):
    seen, value, out = [], lib.array_of((2,), [1, 2]), lib.array(2)
    by_number, by_text = INTEGER_UPDATER(add_one(lib, seen)), TEXT_UPDATER(add_one(lib, seen))
    lib.MXKVStoreSetUpdaterEx(store, by_number, by_text, C.c_void_p(42))
    call(lib, "Init", kind, store, 1, kind.keys(3), handles(value))
    call(lib, "Push", kind, store, 2, kind.keys(3, 3), handles(value, value), 0)
    call(lib, "Pull", kind, store, 1, kind.keys(3), handles(out), 0)
    assert lib.numbers(out, 2) == [3, 5]
    assert seen == [(kind.keys(3)[0], 42)]


def test_an_updater_of_numbers_alone(lib, store):
    seen, value, out = [], lib.array_of((2,), [1, 2]), lib.array(2)
    updater = INTEGER_UPDATER(add_one(lib, seen))
    lib.MXKVStoreSetUpdater(store, updater, None)
    lib.MXKVStoreInit(store, 1, IntegerKeys.keys(3), handles(value))
    lib.MXKVStorePush(store, 1, IntegerKeys.keys(3), handles(value), 0)
    lib.MXKVStorePull(store, 1, IntegerKeys.keys(3), handles(out), 0)
    assert lib.numbers(out, 2) == [2, 3]
    assert seen == [(3, None)]


def test_an_updater_of_numbers_alone_gets_those_of_texts_in_the_order_of_init(lib, store):
    seen, value, out = [], lib.array_of((2,), [1, 2]), lib.array(2)
    updater = INTEGER_UPDATER(add_one(lib, seen))
    lib.MXKVStoreSetUpdater(store, updater, None)
    lib.MXKVStoreInitEx(store, 2, TextKeys.keys(7, 3), handles(value, value))
    lib.MXKVStoreInitEx(store, 1, TextKeys.keys(5), handles(value))
    lib.MXKVStorePushEx(store, 1, TextKeys.keys(5), handles(value), 0)
    lib.MXKVStorePushEx(store, 2, TextKeys.keys(3, 7), handles(value, value), 0)
    lib.MXKVStorePullEx(store, 1, TextKeys.keys(5), handles(out), 0)
    assert lib.numbers(out, 2) == [2, 3]
    assert [key for key, _ in seen] == [2, 0, 1]


def test_an_updater_of_texts_alone_takes_no_numbers(lib, store):
    value, updater = lib.array_of((2,), [1, 2]), TEXT_UPDATER(add_one(lib, []))
    lib.MXKVStoreSetUpdaterEx(store, None, updater, None)
    lib.MXKVStoreInit(store, 1, IntegerKeys.keys(3), handles(value))
    with pytest.raises(RuntimeError, match="no updater for integer keys"):
        lib.MXKVStorePush(store, 1, IntegerKeys.keys(3), handles(value), 0)


@both_kinds_of_keys
def test_a_pushpull_may_pull_other_keys_than_it_pushes(lib, store, kind):
    value, out = lib.array_of((2,), [1, 2]), lib.array(2)
    call(lib, "Init", kind, store, 2, kind.keys(3, 5), handles(value, value))
    pushed = lib.array_of((2,), [10, 20])
    call(lib, "PushPull", kind, store, 2, kind.keys(3, 5), 1, kind.keys(5), handles(value, pushed), handles(out), 0)
    assert lib.numbers(out, 2) == [10, 20]
    call(lib, "PushPull", kind, store, 1, kind.keys(3), 1, kind.keys(5), handles(pushed), handles(out), 0)
    assert lib.numbers(out, 2) == [10, 20]
    call(lib, "Pull", kind, store, 1, kind.keys(3), handles(out), 0)
    assert lib.numbers(out, 2) == [10, 20]


def test_a_process_on_its_own_is_worker_0_of_1(lib, store):
    def number(name, *values):
        result = C.c_int(-1)
        getattr(lib, name)(*values, C.byref(result))
        return result.value

    assert [number(f"MXKVStoreIs{role}Node") for role in ("Worker", "Server", "Scheduler")] == [1, 0, 0]
    assert (number("MXKVStoreGetRank", store), number("MXKVStoreGetGroupSize", store)) == (0, 1)
    dead = C.c_int(-1)
    lib.MXKVStoreGetNumDeadNode(store, 7, C.byref(dead), 1)
    assert dead.value == 0
    name = C.c_char_p()
    lib.MXKVStoreGetType(store, C.byref(name))
    assert name.value == b"local"


def test_a_barrier_of_one_is_passed(lib, store):
    calls = lib.functions
    assert calls.MXKVStoreBarrier(store) == 0
    assert calls.MXKVStoreSetBarrierBeforeExit(store, 0) == 0
    assert calls.MXKVStoreBarrier(store) == 0


def test_a_role_may_be_given_by_the_program():
    program = ("import ctypes as C, sys; from c_library import Library; lib = Library(sys.argv[1]); result = C.c_int();"
               "lib.MXInitPSEnv(1, (C.c_char_p * 1)(b'DMLC_ROLE'), (C.c_char_p * 1)(b'server'));"
               "lib.MXKVStoreIsServerNode(C.byref(result)); print(result.value);"
               "lib.MXKVStoreIsWorkerNode(C.byref(result)); print(result.value)")
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run([sys.executable, "-c", program, library_path()], cwd=here, capture_output=True, text=True, timeout=300)
    assert done.stdout.split() == ["1", "0"], done.stderr


def test_a_local_store_has_no_servers(lib, store):
    called = []
    controller = CONTROLLER(lambda head, body, context: called.append(head))
    with pytest.raises(RuntimeError, match="given a store of type 'local', expected a distributed one"):
        lib.MXKVStoreRunServer(store, controller, None)
    lib.MXKVStoreSendCommmandToServers(store, 1, b"body")  # to all of them, of which there are none
    assert not called


def test_compression_is_for_stores_of_devices(lib, store):
    device = lib.new("MXKVStoreCreate", b"device")
    names, values = (C.c_char_p * 2)(b"type", b"threshold"), (C.c_char_p * 2)(b"2bit", b"0.5")
    lib.MXKVStoreSetGradientCompression(device, 2, names, values)
    value, out = lib.array_of((4,), [0.75, -0.75, 0.25, 0]), lib.array(4)
    lib.MXKVStoreInit(device, 1, IntegerKeys.keys(1), handles(lib.array_of((4,), [0, 0, 0, 0])))
    for expected in ([1, -1, 0, 0], [1, -1, 1, 0]):  # of two devices: what was not sent is kept for the next push
        lib.MXKVStorePush(device, 2, IntegerKeys.keys(1, 1), handles(value, value), 0)
        lib.MXKVStorePull(device, 1, IntegerKeys.keys(1), handles(out), 0)
        assert lib.numbers(out, 4) == expected
    lib.MXKVStoreFree(device)
    with pytest.raises(RuntimeError, match="3bit"):
        lib.MXKVStoreSetGradientCompression(store, 1, names, (C.c_char_p * 1)(b"3bit"))
