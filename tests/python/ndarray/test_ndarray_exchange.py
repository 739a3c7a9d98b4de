# SPDX-License-Identifier: Apache-2.0
"""Arrays from and to NumPy, buffers, DLPack, pickles and ctypes."""

import copy
import ctypes
import io
import pickle

import mxnet as mx
import numpy as np
import pytest
from which_binding import ON_CTYPES

# A class in Python cannot export buffers on all supported versions.
needs_native = pytest.mark.skipif(ON_CTYPES, reason="needs the native binding")
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


def test_arrays_of_np_come_from_dlpack_too():
    array = mx.np.from_dlpack(np.arange(3.0))
    assert type(array) is mx.np.ndarray and array.dtype == np.float64
    assert (array + 1).tolist() == [1, 2, 3]


def test_dlpack_with_torch():
    torch = pytest.importorskip("torch")
    tensor = torch.from_dlpack(mx.nd.array([1.0, 2.0]))
    tensor[0] = 9
    assert mx.nd.from_dlpack(tensor).asnumpy().tolist() == [9, 2]


def test_dlpack_with_jax():
    jax = pytest.importorskip("jax")
    given = jax.dlpack.from_dlpack(mx.nd.array([[1.0, 2.0], [3.0, 4.0]]))
    np.testing.assert_array_equal(np.asarray(given), [[1, 2], [3, 4]])
    np.testing.assert_array_equal(mx.nd.from_dlpack(given * 2).asnumpy(), [[2, 4], [6, 8]])
    np.testing.assert_array_equal(mx.np.from_dlpack(given).asnumpy(), [[1, 2], [3, 4]])


def test_a_capsule_is_taken_once():
    capsule = mx.nd.ones(3).to_dlpack_for_read()
    assert mx.nd.from_dlpack(capsule).sum().asscalar() == 3
    with pytest.raises(ValueError, match="taken already"):
        mx.nd.from_dlpack(capsule)


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


SAFE_TYPES = ("float32", "float64", "float16", "int8", "uint8", "int32", "int64", "bool")


def test_files_of_safetensors(tmp_path):
    path = tmp_path / "arrays.safetensors"
    arrays = {dtype: mx.nd.array([[1, 0, 2]], dtype=dtype) for dtype in SAFE_TYPES}
    arrays.update(ü=mx.nd.zeros((0, 3)), big=mx.nd.array([2**40], dtype="int64"), view=mx.nd.arange(6).reshape((3, 2))[1:])
    mx.nd.save(path, arrays)
    loaded = mx.nd.load(path)
    assert loaded.keys() == arrays.keys()
    for name, array in arrays.items():
        assert (loaded[name].dtype, loaded[name].shape) == (array.dtype, array.shape), name
        np.testing.assert_array_equal(loaded[name].asnumpy(), array.asnumpy())
    assert [file.name for file in tmp_path.iterdir()] == ["arrays.safetensors"]


def test_bfloat16_in_files_of_safetensors(tmp_path):
    path = tmp_path / "arrays.safetensors"
    header = b'{"__metadata__":{"format":"pt"},"w":{"dtype":"BF16","shape":[2,2],"data_offsets":[0,8]}}  '
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes.fromhex("803f 2040 0080 807f"))
    loaded = mx.nd.load(path)["w"]
    assert loaded.dtype is mx.nd.ndarray.bfloat16
    np.testing.assert_array_equal(loaded.astype("float32").asnumpy(), [[1, 2.5], [-0.0, np.inf]])
    net, other = mx.gluon.nn.Dense(2, in_units=2), mx.gluon.nn.Dense(2, in_units=2)
    net.initialize()
    net.cast("bfloat16")
    net.weight.set_data(loaded)
    net.save_parameters(path)
    other.load_parameters(path, cast_dtype=True, dtype_source="saved")
    assert other.weight.data().asnumpy().tobytes() == loaded.asnumpy().tobytes() == bytes.fromhex("803f 2040 0080 807f")


def test_files_of_safetensors_are_those_of_its_package(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    path = tmp_path / "arrays.safetensors"
    arrays = {dtype: np.array([[1, 0, 2]], dtype=dtype) for dtype in SAFE_TYPES}
    arrays.update(none=np.zeros((0, 3), np.float32), scalar=np.array(3.5))
    mx.nd.save(path, {name: mx.nd.array(values, dtype=values.dtype) for name, values in arrays.items()})
    there = safetensors.load_file(path)
    for name, values in arrays.items():
        assert there[name].dtype == values.dtype
        np.testing.assert_array_equal(there[name].reshape(values.shape), values)
    safetensors.save_file(arrays, path, metadata={"what": "a test"})
    loaded = mx.nd.load(path)
    assert loaded.keys() == arrays.keys()
    for name, values in arrays.items():
        np.testing.assert_array_equal(loaded[name].asnumpy().reshape(values.shape), values)


def test_what_is_no_file_of_safetensors_is_refused(tmp_path):
    path = tmp_path / "arrays.safetensors"
    for given, error in (([mx.nd.ones(1)], ValueError), ({"a": 1}, TypeError), ({"a": mx.nd.zeros((2, 2)).tostype("csr")}, TypeError)):
        with pytest.raises(error, match="expected"):
            mx.nd.save(path, given)
    assert not any(tmp_path.iterdir())

    def with_header(text, data=b"\0" * 8):
        return len(text).to_bytes(8, "little") + text.encode() + data

    entry = '{"a":{"dtype":"%s","shape":%s,"data_offsets":%s}}'
    for content in (
        b"", b"abc", with_header("[" * 100_000), (1 << 62).to_bytes(8, "little") + b"{}", with_header("[]"), with_header("{"), with_header('{"a":{"shape":[1]}}'),
        with_header(entry % ("F32", "[3]", "[0,8]")), with_header(entry % ("F32", "[2]", "[8,0]")), with_header(entry % ("F32", "[2]", "[4,12]")),
        with_header(entry % ("F32", "[-1,-2]", "[0,8]")), with_header(entry % ("F32", "[2]", "[-8,0]")), with_header(entry % ("F32", "[2]", '["a",8]')),
    ):  # fmt: skip
        path.write_bytes(content)
        with pytest.raises(ValueError, match="arrays.safetensors"):
            mx.nd.load(path)
    path.write_bytes(with_header(entry % ("U64", "[1]", "[0,8]")))
    with pytest.raises(TypeError, match="given a of type U64 .*expected one of"):
        mx.nd.load(path)
    path.write_bytes(with_header(entry % ("BOOL", "[3]", "[0,3]"), b"\0\1\x82"))  # what is no bool becomes one
    assert bytes(mx.nd.load(path)["a"].asnumpy()) == b"\0\1\1"


def test_numpy_takes_the_mean_of_arrays():
    array = mx.nd.array([[1, 2], [3, 6]])
    assert np.mean(array).asscalar() == 3 and np.mean(array, axis=0).asnumpy().tolist() == [2, 4]
    assert np.mean(array, dtype="float64").dtype == np.float64 and array.mean(1, True).shape == (2, 1)


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


@pytest.mark.parametrize("numpy", [False, True])
def test_a_file_with_a_name_that_is_no_text_names_itself_and_the_place(tmp_path, numpy):
    path = tmp_path / "names.params"
    mx.nd.save(path, {"first": mx.nd.ones((2,), ctx=mx.cpu()), "second": mx.nd.zeros((3,), ctx=mx.cpu())})
    content = path.read_bytes()
    place = content.index(b"second")
    path.write_bytes(content[:place] + b"s\xffcond" + content[place + 6:])
    with pytest.raises(ValueError, match=f"names.params', invalid NDArray file format at byte {place}: the name .*is not UTF-8"):
        (mx.npx if numpy else mx.nd).load(str(path))
