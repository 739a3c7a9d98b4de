# SPDX-License-Identifier: Apache-2.0
"""Things of each kind are made, used and freed a thousand times through the C ABI: the process does not grow."""
import ctypes as C

import pytest
from c_library import CPU, ROOT, Library, library_path
from extension_examples import COMPILER, example
from process_memory import resident

MODEL = ROOT / "tests" / "data" / "models"
ROUNDS = 1000
# What is lost in each round grows every thousand of them; a thread that wakes for the first time grows one.
THOUSANDS = 4
ALLOWED_BYTES = 64 * ROUNDS


def texts(*values):
    return (C.c_char_p * len(values))(*(value.encode() for value in values))


@pytest.fixture(scope="module")
def lib():
    return Library(library_path())


def array_round(lib, _):
    array = lib.array(3, 4)
    view = lib.new("MXNDArraySlice", array, 0, 2)
    lib.MXNDArrayFree(view)
    lib.MXNDArrayFree(array)


def shared_array_round(lib, _):
    shape = (C.c_uint * 1)(8)
    array = lib.new("MXNDArrayCreate", shape, 1, 5, 0, 0)
    process, number = C.c_int(), C.c_int()
    lib.MXNDArrayGetSharedMemHandle(array, C.byref(process), C.byref(number))
    other = lib.new("MXNDArrayCreateFromSharedMem", process, number, (C.c_int * 1)(8), 1, 0)
    lib.MXNDArrayFree(other)
    lib.MXNDArrayFree(array)


def array_file_round(lib, folder):
    path = str(folder / "a.params").encode()
    array = lib.array(3, 4)
    lib.MXNDArraySave(path, 1, (C.c_void_p * 1)(array), texts("a"))
    lib.MXNDArrayFree(array)
    count, arrays, names_count, names = C.c_uint(), C.POINTER(C.c_void_p)(), C.c_uint(), C.POINTER(C.c_char_p)()
    lib.MXNDArrayLoad(path, C.byref(count), C.byref(arrays), C.byref(names_count), C.byref(names))
    assert (count.value, names[0]) == (1, b"a")
    lib.MXNDArrayFree(C.c_void_p(arrays[0]))


def symbol_round(lib, _):
    net = lib.network()
    text = C.c_char_p()
    lib.MXSymbolSaveToJSON(net, C.byref(text))
    again = lib.new("MXSymbolCreateFromJSON", text)
    lib.MXSymbolFree(again)
    lib.MXSymbolFree(net)


def executor_round(lib, _):
    net, array = lib.network(), lib.array(3, 4)
    arrays, no_gradients, no_requests = (C.c_void_p * 1)(array), (C.c_void_p * 1)(None), (C.c_uint * 1)(0)
    executor = lib.new("MXExecutorBind", net, CPU, 0, 1, arrays, no_gradients, no_requests, 0, None)
    lib.MXExecutorForward(executor, 0)
    count, outputs = C.c_uint(), C.POINTER(C.c_void_p)()
    lib.MXExecutorOutputs(executor, C.byref(count), C.byref(outputs))
    lib.MXNDArrayWaitToRead(C.c_void_p(outputs[0]))
    lib.MXNDArrayFree(C.c_void_p(outputs[0]))
    lib.MXExecutorFree(executor)
    lib.MXNDArrayFree(array)
    lib.MXSymbolFree(net)


def cached_op_round(lib, _):
    net, array = lib.network(), lib.array(3, 4)
    op = lib.new("MXCreateCachedOp", net)
    count, outputs, layouts = C.c_int(0), C.POINTER(C.c_void_p)(), C.POINTER(C.c_int)()
    lib.MXInvokeCachedOpEx(op, 1, (C.c_void_p * 1)(array), C.byref(count), C.byref(outputs), C.byref(layouts))
    lib.MXNDArrayWaitToRead(C.c_void_p(outputs[0]))
    lib.MXNDArrayFree(C.c_void_p(outputs[0]))
    lib.MXFreeCachedOp(op)
    lib.MXNDArrayFree(array)
    lib.MXSymbolFree(net)


def predictor_round(lib, _):
    graph, params = (MODEL / "tiny-symbol.json").read_bytes(), (MODEL / "tiny-0000.params").read_bytes()
    shape = (C.c_uint * 4)(1, 3, 8, 8)
    predictor = lib.new("MXPredCreate", graph, params, len(params), CPU, 0, 1, texts("data"), (C.c_uint * 2)(0, 4), shape)
    lib.MXPredForward(predictor)
    lib.MXPredFree(predictor)


def record_round(lib, folder):
    path = str(folder / "a.rec").encode()
    writer = lib.new("MXRecordIOWriterCreate", path)
    lib.MXRecordIOWriterWriteRecord(writer, b"record", C.c_size_t(6))
    lib.MXRecordIOWriterFree(writer)
    reader = lib.new("MXRecordIOReaderCreate", path)
    content, size = C.c_void_p(), C.c_size_t()
    lib.MXRecordIOReaderReadRecord(reader, C.byref(content), C.byref(size))
    assert C.string_at(content, size.value) == b"record"
    lib.MXRecordIOReaderFree(reader)


def data_iterator_round(lib, folder):
    path = folder / "a.csv"
    if not path.exists():
        path.write_text("1,2\n3,4\n")
    count, creators = C.c_uint(), C.POINTER(C.c_void_p)()
    lib.MXListDataIters(C.byref(count), C.byref(creators))
    name, doc, number = C.c_char_p(), C.c_char_p(), C.c_uint()
    lists = [C.POINTER(C.c_char_p)() for _ in range(3)]
    for i in range(count.value):
        lib.MXDataIterGetIterInfo(C.c_void_p(creators[i]), C.byref(name), C.byref(doc), C.byref(number), *map(C.byref, lists))
        if name.value == b"CSVIter":
            break
    keys, values = texts("data_csv", "data_shape", "batch_size"), texts(str(path), "(2,)", "2")
    iterator = lib.new("MXDataIterCreateIter", C.c_void_p(creators[i]), 3, keys, values)
    more = C.c_int()
    lib.MXDataIterNext(iterator, C.byref(more))
    assert more.value == 1
    lib.MXNDArrayFree(lib.new("MXDataIterGetData", iterator))
    lib.MXDataIterFree(iterator)


def kvstore_round(lib, _):
    store, array = lib.new("MXKVStoreCreate", b"local"), lib.array(3, 4)
    keys, arrays = (C.c_int * 1)(7), (C.c_void_p * 1)(array)
    lib.MXKVStoreInit(store, 1, keys, arrays)
    lib.MXKVStorePush(store, 1, keys, arrays, 0)
    lib.MXKVStorePull(store, 1, keys, arrays, 0)
    lib.MXNDArrayWaitToRead(array)
    lib.MXNDArrayFree(array)
    lib.MXKVStoreFree(store)


def extension_round(lib, _):
    """The example, compiled as users do, is loaded again, which changes nothing (there is no unloading), and used."""
    if COMPILER is None:
        pytest.skip("needs a C++ compiler")
    lib.MXLoadLib(example("operators").encode(), 0)
    arrays = lib.array_of((2, 2), [1, 2, 3, 4]), lib.array_of((2, 2), [5, 6, 7, 8])
    count, outputs = C.c_int(0), C.POINTER(C.c_void_p)()
    lib.MXImperativeInvoke(lib.creator("example_gemm"), 2, (C.c_void_p * 2)(*arrays), C.byref(count), C.byref(outputs), 0, None, None)
    result = C.c_void_p(outputs[0])
    assert lib.numbers(result, 4) == [19, 22, 43, 50]
    for array in (*arrays, result):
        lib.MXNDArrayFree(array)


def profiler_round(lib, _):
    domain = lib.new("MXProfileCreateDomain", b"growth")
    task = lib.new("MXProfileCreateTask", domain, b"task")
    lib.MXProfileDestroyHandle(task)
    lib.MXProfileDestroyHandle(domain)


def error_round(lib, _):
    with pytest.raises(RuntimeError, match="no_such_operator"):
        lib.creator("no_such_operator")


@pytest.mark.parametrize("one_round", [
    array_round, shared_array_round, array_file_round, symbol_round, executor_round, cached_op_round, predictor_round,
    record_round, data_iterator_round, kvstore_round, extension_round, profiler_round, error_round,
], ids=lambda function: function.__name__.removesuffix("_round"))
def test_a_thousand_rounds_leave_the_process_as_it_was(lib, tmp_path, one_round):
    grown = []
    for _ in range(THOUSANDS):
        before = resident()
        for _ in range(ROUNDS):
            one_round(lib, tmp_path)
        lib.MXNDArrayWaitAll()
        grown.append(resident() - before)
        if grown[-1] < ALLOWED_BYTES:
            return
    pytest.fail(f"{grown} bytes more after each {ROUNDS} rounds")
