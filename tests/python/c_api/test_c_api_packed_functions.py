# SPDX-License-Identifier: Apache-2.0
"""Functions by name on typed values, and entry points that need what is not there: kernels of TVM, GPUs."""
import ctypes as C

import pytest
from c_library import Library, library_path

# Kinds of values, as mxnet/runtime/c_runtime_api.h numbers them.
INT, NULL, OBJECT, TEXT, ARRAY = 0, 4, 8, 11, 14


class Value(C.Union):
    _fields_ = [("v_int64", C.c_int64), ("v_float64", C.c_double), ("v_handle", C.c_void_p), ("v_str", C.c_char_p)]


@pytest.fixture(scope="module")
def lib():
    return Library(library_path())


def call(lib, name, *arguments):
    """The value and the kind that a function gives for (kind, value) pairs."""
    fields = {INT: "v_int64", OBJECT: "v_handle", TEXT: "v_str", ARRAY: "v_handle", NULL: "v_handle"}
    values = (Value * len(arguments))(*(Value(**{fields[kind]: value}) for kind, value in arguments))
    kinds = (C.c_int * len(arguments))(*(kind for kind, _ in arguments))
    result, kind = Value(), C.c_int()
    lib.MXNetFuncCall(lib.new("MXNetFuncGetGlobal", name), values, kinds, len(arguments), C.byref(result), C.byref(kind))
    return result, kind.value


def tuple_of(lib, *numbers):
    result, kind = call(lib, b"_ADT", *((INT, number) for number in numbers))
    assert kind == OBJECT
    return OBJECT, result.v_handle


def array_of(lib, shape, values):
    return ARRAY, lib.array_of(shape, values).value


def test_listed_names_are_functions_and_others_are_null(lib):
    count, names = C.c_int(), C.POINTER(C.c_char_p)()
    lib.MXNetFuncListGlobalNames(C.byref(count), C.byref(names))
    listed = [names[i] for i in range(count.value)]
    assert {b"_ADT", b"_Integer", b"_npi.tensordot", b"_npi.zeros"} <= set(listed)
    for name in listed:
        function = lib.new("MXNetFuncGetGlobal", name)
        assert function.value
        lib.MXNetFuncFree(function)
    assert lib.new("MXNetFuncGetGlobal", b"no such function").value is None


def test_zeros_take_a_tuple_of_numbers(lib):
    shape = tuple_of(lib, 2, 3)
    result, kind = call(lib, b"_npi.zeros", shape, (TEXT, b"float32"), (NULL, None))
    assert kind == ARRAY
    assert lib.numbers(C.c_void_p(result.v_handle), 6) == [0] * 6
    lib.MXNDArrayFree(C.c_void_p(result.v_handle))
    lib.MXNetObjectFree(C.c_void_p(shape[1]))


def test_tensordot_takes_a_number_of_axes_or_pairs(lib):
    a, b = array_of(lib, (2, 2), [1, 2, 3, 4]), array_of(lib, (2, 2), [5, 6, 7, 8])
    result, _ = call(lib, b"_npi.tensordot", a, b, (INT, 1))
    assert lib.numbers(C.c_void_p(result.v_handle), 4) == [19, 22, 43, 50]
    axes, _ = call(lib, b"_ADT", tuple_of(lib, 0), tuple_of(lib, 1))
    result, _ = call(lib, b"_npi.tensordot", a, b, (OBJECT, axes.v_handle))
    assert lib.numbers(C.c_void_p(result.v_handle), 4) == [23, 31, 34, 46]


@pytest.mark.parametrize(("name", "arguments", "message"), [
    (b"_npi.zeros", [(INT, 2)], "given 1 arguments, expected 3"),
    (b"_npi.zeros", [(TEXT, b"2"), (NULL, None), (NULL, None)], "kind 11 as argument 0, expected an integer or an object"),
    (b"_npi.tensordot", [(INT, 1), (INT, 1), (INT, 1)], "kind 0 as argument 0, expected an array"),
    (b"_Integer", [(TEXT, b"2")], "kind 11 as argument 0, expected an integer"),
])
def test_wrong_values_are_named(lib, name, arguments, message):
    with pytest.raises(RuntimeError, match=message):
        call(lib, name, *arguments)


def test_an_object_is_freed_once(lib):
    _, handle = tuple_of(lib, 1)
    lib.MXNetObjectFree(C.c_void_p(handle))
    with pytest.raises(RuntimeError, match="MXNetObjectFree"):
        lib.MXNetObjectFree(C.c_void_p(handle))


def test_tvm_is_refused(lib):
    with pytest.raises(RuntimeError, match=r"\[MXTVMBridge\] given TVM's registry, expected none"):
        lib.MXTVMBridge(C.c_char_p(b"registry"))


def test_kernels_from_source_need_a_gpu(lib):
    gpus = C.c_int()
    lib.MXGetGPUCount(C.byref(gpus))
    if gpus.value > 0:
        pytest.skip("there is a GPU")
    with pytest.raises(RuntimeError, match="NVIDIA driver|GPU"):
        lib.new("MXRtcCudaModuleCreate", b"__global__ void f() {}", 0, None, 0, None)


def test_the_interface_before_modules_names_its_successor(lib):
    with pytest.raises(RuntimeError, match=r"\[MXRtcCreate\] .* expected one of MXRtcCudaModuleCreate"):
        lib.new("MXRtcCreate", b"f", 0, 0, None, None, None, None, b"source")
