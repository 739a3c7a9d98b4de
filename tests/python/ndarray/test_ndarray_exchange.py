# SPDX-License-Identifier: Apache-2.0
"""Arrays from and to NumPy, buffers, DLPack, pickles and ctypes."""

import copy
import ctypes
import io
import pickle

import mxnet as mx
import numpy as np
import pytest

# A class in Python cannot export buffers on all supported versions.
needs_native = pytest.mark.skipif("_ctypes" in mx.nd.NDArray.__mro__[1].__module__, reason="needs the native binding")
TYPES = ["float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool"]


@needs_native
@pytest.mark.parametrize("dtype", TYPES)
def test_buffers_show_values_and_types(dtype):
    values = np.arange(6).reshape(2, 3).astype(dtype)
    array = mx.nd.array(values, dtype=dtype)
    view = memoryview(array)
    assert view.shape == (2, 3) and np.asarray(view).tolist() == values.tolist() and bytes(array) == values.tobytes()
    assert (np.asarray(array).shape, np.asarray(array).dtype) == (values.shape, values.dtype)
    np.testing.assert_array_equal(np.asarray(array), values)


def test_numpy_gets_values_of_its_own():
    array = mx.nd.ones(3)
    taken = np.asarray(array)
    array += 1
    taken[0] = 7
    assert taken.tolist() == [7, 1, 1] and array.asnumpy().tolist() == [2, 2, 2]


@needs_native
def test_who_asks_for_memory_to_write_to_gets_it():
    array = mx.nd.zeros(3)
    io.BytesIO(np.float32([1, 2, 3]).tobytes()).readinto(array)
    assert array.asnumpy().tolist() == [1, 2, 3]


@needs_native
def test_types_without_a_letter_and_sparse_arrays_have_no_buffer():
    with pytest.raises(BufferError, match="letter"):
        memoryview(mx.nd.ones(2).astype("bfloat16"))
    with pytest.raises(BufferError, match="sparse"):
        memoryview(mx.nd.zeros((2, 2), stype="csr"))


@pytest.mark.parametrize("dtype", TYPES)
def test_numpys_memory_can_be_shared(dtype):
    values = np.arange(4).astype(dtype)
    array = mx.nd.from_numpy(values)
    assert array.dtype == np.dtype(dtype).type and not values.flags.writeable
    array[0] = 1
    assert values[0] == 1
    assert mx.nd.from_numpy(values, zero_copy=False).asnumpy().tolist() == values.tolist()


def test_only_whole_memory_can_be_shared():
    with pytest.raises(ValueError, match="C-contiguous"):
        mx.nd.from_numpy(np.ones((2, 3)).T)
    with pytest.raises(TypeError, match="list"):
        mx.nd.from_numpy([1, 2])


def test_dlpack_shares_memory_both_ways():
    array = mx.nd.array([1, 2, 3])
    shown = np.from_dlpack(array)
    array[:] = 5
    array.wait_to_read()
    assert shown.tolist() == [5, 5, 5]
    assert mx.nd.from_dlpack(array.to_dlpack_for_write()).asnumpy().tolist() == [5, 5, 5]
    assert array.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError, match=r"\(2, 0\)"):
        array.__dlpack__(dl_device=(2, 0))


def test_dlpack_with_torch():
    torch = pytest.importorskip("torch")
    tensor = torch.from_dlpack(mx.nd.array([1.0, 2.0]))
    tensor[0] = 9
    assert mx.nd.from_dlpack(tensor).asnumpy().tolist() == [9, 2]


@pytest.mark.parametrize("clone", [lambda a: pickle.loads(pickle.dumps(a)), copy.copy, copy.deepcopy])
def test_clones_are_equal_and_independent(clone):
    for array in (mx.nd.array([[1, 2], [3, 4]]), mx.nd.array([[0, 2]]).tostype("csr")):
        same = clone(array)
        assert type(same) is type(array) and same.asnumpy().tolist() == array.asnumpy().tolist()
    first = mx.nd.zeros(2)
    second = clone(first)
    second[:] = 1
    assert first.asnumpy().tolist() == [0, 0]


def test_pickles_of_the_reference_are_read():
    # pickle.dumps(mx.nd.array([1, 2]), 2) of the reference 1.9.1: the class with None, then its state
    data = b"\xc9\xfa\x93\xf9\0\0\0\0\1\0\0\0\2\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\x80?\0\0\0@"
    array = mx.nd.NDArray(None)
    array.__setstate__({"handle": bytearray(data)})
    assert array.asnumpy().tolist() == [1, 2]


def test_handles_are_pointers_of_ctypes():
    array = mx.nd.array([1, 2])
    assert isinstance(array.handle, ctypes.c_void_p)
    ndim = mx.base.mx_uint()
    dims = ctypes.POINTER(mx.base.mx_uint)()
    mx.base.check_call(mx.base._LIB.MXNDArrayGetShape(array.handle, ctypes.byref(ndim), ctypes.byref(dims)))
    assert list(dims[: ndim.value]) == [2]
    made = mx.nd.NDArray(mx.nd.ndarray._new_empty_handle())
    assert made.shape is None or made.shape == ()


def test_views_in_place():
    array = mx.nd.zeros((2, 1, 3))
    for view in (array.expand_dims(0, inplace=True), array.flatten(inplace=True), array.squeeze(inplace=True)):
        view[:] = view + 1
    assert array.asnumpy().tolist() == [[[3, 3, 3]], [[3, 3, 3]]]
    with pytest.raises(ValueError, match="axis 0"):
        array.squeeze(0, inplace=True)


def test_files_of_safetensors(tmp_path):
    pytest.importorskip("safetensors")
    path = tmp_path / "arrays.safetensors"
    arrays = {"a": mx.nd.array([[1, 2]]), "b": mx.nd.array([3], dtype="int64")}
    mx.nd.save(path, arrays)
    loaded = mx.nd.load(path)
    assert {name: (array.dtype, array.asnumpy().tolist()) for name, array in loaded.items()} == {
        "a": (np.float32, [[1, 2]]), "b": (np.int64, [3])
    }
    with pytest.raises(ValueError, match="list"):
        mx.nd.save(path, [mx.nd.ones(1)])


def test_notebooks_show_arrays_as_tables():
    shown = mx.nd.array([[1, 2.5], [-3, 0]])._repr_html_()
    assert shown.startswith("<p>NDArray: 2 &times; 2, float32, cpu(0)</p><table>")
    assert "<tr><td><b>0</b></td><td>1</td><td>2.5</td></tr>" in shown
    assert "<tr><td><b>0</b></td><td>0</td><td>1</td><td>2</td></tr>" in mx.np.arange(3)._repr_html_()


def test_notebooks_show_the_ends_of_large_arrays_only():
    shown = mx.nd.arange(30 * 40).reshape((30, 40))._repr_html_()
    assert shown.count("<tr>") == 1 + 6 + 1 + 6
    assert "<b>5</b>" in shown and "<b>6</b>" not in shown and "<td>1199</td>" in shown and "&hellip;" in shown


@pytest.mark.parametrize(
    "make, expected",
    [
        (lambda: mx.nd.ones((2, 1, 2)), "NDArray: 2 &times; 1 &times; 2, float32, cpu(0)</p><pre>[[[1. 1.]]\n\n [[1. 1.]]]</pre>"),
        (lambda: mx.np.array(3, dtype="int32"), "ndarray: scalar, int32, cpu(0)</p><pre>3</pre>"),
        (lambda: mx.nd.full((2, 1, 1), 1.5, dtype="bfloat16"), "1, bfloat16, cpu(0)</p><pre>[[[1.5]]\n\n [[1.5]]]</pre>"),
        (lambda: mx.nd.zeros((2, 3), stype="csr"), "CSRNDArray: 2 &times; 3, float32, cpu(0), csr</p>"),
    ],
)
def test_notebooks_show_other_arrays_as_text(make, expected):
    assert expected in make()._repr_html_()
