# SPDX-License-Identifier: Apache-2.0
"""Executors, cached ops and the predict API through the C ABI, as C programs use them."""
import ctypes as C
import threading

import numpy as np
import pytest
from op_calls import Library

H = C.c_void_p


@pytest.fixture(scope="module")
def lib():
    library = Library()
    yield library
    library.close()


def texts(values):
    return (C.c_char_p * max(1, len(values)))(*[v.encode() for v in values])


def handles(values):
    return (H * max(1, len(values)))(*values)


MLP = """{"nodes": [
 {"op": "null", "name": "data", "inputs": []},
 {"op": "null", "name": "w", "inputs": []},
 {"op": "null", "name": "b", "inputs": []},
 {"op": "FullyConnected", "name": "fc", "attrs": {"num_hidden": "3"}, "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0]]},
 {"op": "tanh", "name": "act", "inputs": [[3, 0, 0]]}],
 "arg_nodes": [0, 1, 2], "heads": [[4, 0, 0]]}"""


def mlp(lib):
    symbol = H()
    lib.call("MXSymbolCreateFromJSON", MLP.encode(), C.byref(symbol))
    return symbol


def values():
    random = np.random.default_rng(7)
    return [random.normal(size=s).astype(np.float32) for s in ((2, 4), (3, 4), (3,))]


def expected(data, w, b):
    return np.tanh(data @ w.T + b)


def outputs(lib, executor):
    count, out = C.c_uint32(), C.POINTER(H)()
    lib.call("MXExecutorOutputs", executor, C.byref(count), C.byref(out))
    return [lib.numpy(H(out[i])) for i in range(count.value)]


def simple_bind(lib, symbol, shapes, request=b"write", shared=None):
    names, data, index = list(shapes), [], [0]
    for shape in shapes.values():
        data += shape
        index.append(len(data))
    executor, num_args, num_aux = H(), C.c_uint32(), C.c_uint32()
    args, grads, aux = C.POINTER(H)(), C.POINTER(H)(), C.POINTER(H)()
    length = C.c_int(-1)
    lib.call("MXExecutorSimpleBindEx", symbol, 1, 0, 0, None, None, None, 0, None, (C.c_char_p * 1)(request),
             len(names), texts(names), (C.c_int * max(1, len(data)))(*data), (C.c_uint32 * len(index))(*index),
             0, None, None, 0, None, None, 0, None, C.byref(length), None, None, None, None,
             C.byref(num_args), C.byref(args), C.byref(grads), C.byref(num_aux), C.byref(aux), shared, C.byref(executor))
    return executor, [H(args[i]) for i in range(num_args.value)], [H(grads[i]) for i in range(num_args.value)]


def copy_in(lib, handle, array):
    lib.call("MXNDArraySyncCopyFromCPU", handle, array.ctypes.data_as(H), C.c_size_t(array.size))


def test_simple_bind_infers_makes_arrays_and_trains(lib):
    arrays = values()
    executor, args, grads = simple_bind(lib, mlp(lib), {"data": (2, 4)})
    for handle, array in zip(args, arrays):
        copy_in(lib, handle, array)
    lib.call("MXExecutorForward", executor, 1)
    want = expected(*arrays)
    np.testing.assert_allclose(outputs(lib, executor)[0], want, rtol=1e-5)
    lib.call("MXExecutorBackwardEx", executor, 0, None, 1)
    slope = 1 - want**2
    np.testing.assert_allclose(lib.numpy(grads[1]), slope.T @ arrays[0], rtol=1e-4, atol=1e-6)
    lib.call("MXExecutorFree", executor)


def test_reshape_shares_weights(lib):
    arrays = values()
    executor, args, _ = simple_bind(lib, mlp(lib), {"data": (2, 4)})
    for handle, array in zip(args, arrays):
        copy_in(lib, handle, array)
    smaller = H()
    num_args, num_aux = C.c_uint32(), C.c_uint32()
    out_args, out_grads, out_aux = C.POINTER(H)(), C.POINTER(H)(), C.POINTER(H)()

    def reshape(rows, up_sizing):
        lib.call("MXExecutorReshapeEx", 0, up_sizing, 1, 0, 0, None, None, None, 1, texts(["data"]), (C.c_int * 2)(rows, 4),
                 (C.c_uint32 * 2)(0, 2), C.byref(num_args), C.byref(out_args), C.byref(out_grads), C.byref(num_aux),
                 C.byref(out_aux), executor, C.byref(smaller))

    reshape(1, 0)
    lib.call("MXExecutorForward", smaller, 0)
    np.testing.assert_allclose(outputs(lib, smaller)[0], expected(arrays[0][:1], *arrays[1:]), rtol=1e-5)
    with pytest.raises(Exception, match="allow_up_sizing"):
        reshape(5, 0)
    reshape(5, 1)
    assert outputs(lib, smaller)[0].shape == (5, 3)


def cached_op(lib, flags=()):
    op = H()
    lib.call("MXCreateCachedOpEx", mlp(lib), len(flags), texts([k for k, _ in flags]), texts([v for _, v in flags]),
             C.byref(op))
    return op


def invoke(lib, op, inputs):
    count, out, types = C.c_int(0), C.POINTER(H)(), C.POINTER(C.c_int)()
    lib.call("MXInvokeCachedOpEx", op, len(inputs), handles(inputs), C.byref(count), C.byref(out), C.byref(types))
    assert [types[i] for i in range(count.value)] == [0] * count.value
    return [H(out[i]) for i in range(count.value)]


def test_cached_op_from_threads(lib):
    op = cached_op(lib, [("static_alloc", "True"), ("static_shape", "True")])
    arrays = values()
    weights = [lib.array(a) for a in arrays[1:]]
    failures = []

    def run(seed):
        data = np.random.default_rng(seed).normal(size=(2, 4)).astype(np.float32)
        handle = lib.array(data)
        for _ in range(50):
            got = lib.numpy(invoke(lib, op, [handle, *weights])[0])
            if not np.allclose(got, expected(data, *arrays[1:]), rtol=1e-5):
                failures.append(seed)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_unknown_flag_is_an_error(lib):
    with pytest.raises(Exception, match="static_alloc"):
        cached_op(lib, [("static_allok", "1")])


def params_bytes(lib, tmp_path, named):
    path = str(tmp_path / "model.params")
    arrays = [lib.array(a) for a in named.values()]
    lib.call("MXNDArraySave", path.encode(), len(arrays), handles(arrays), texts(list(named)))
    with open(path, "rb") as file:
        return file.read()


def test_a_predictor_answers_as_the_network(lib, tmp_path):
    data, w, b = values()
    blob = params_bytes(lib, tmp_path, {"arg:w": w, "arg:b": b})
    predictor = H()
    shape = (C.c_uint32 * 2)(2, 4)
    index = (C.c_uint32 * 2)(0, 2)
    lib.call("MXPredCreate", MLP.encode(), blob, len(blob), 1, 0, 1, texts(["data"]), index, shape, C.byref(predictor))
    flat = np.ascontiguousarray(data)

    def output(handle, shape):
        dims, ndim = C.POINTER(C.c_uint32)(), C.c_uint32()
        lib.call("MXPredGetOutputShape", handle, 0, C.byref(dims), C.byref(ndim))
        assert tuple(dims[i] for i in range(ndim.value)) == shape
        got = np.empty(shape, np.float32)
        lib.call("MXPredGetOutput", handle, 0, got.ctypes.data_as(C.POINTER(C.c_float)), got.size)
        return got

    def set_input(handle, array):
        lib.call("MXPredSetInput", handle, b"data", array.ctypes.data_as(C.POINTER(C.c_float)), array.size)

    set_input(predictor, flat)
    lib.call("MXPredForward", predictor)
    np.testing.assert_allclose(output(predictor, (2, 3)), expected(data, w, b), rtol=1e-5)

    step, left = 0, C.c_int(1)
    while left.value > 0:
        lib.call("MXPredPartialForward", predictor, step, C.byref(left))
        step += 1
    assert step == 2
    np.testing.assert_allclose(output(predictor, (2, 3)), expected(data, w, b), rtol=1e-5)

    part = H()
    lib.call("MXPredCreatePartialOut", MLP.encode(), blob, len(blob), 1, 0, 1, texts(["data"]), index, shape, 1,
             texts(["fc"]), C.byref(part))
    set_input(part, flat)
    lib.call("MXPredForward", part)
    np.testing.assert_allclose(output(part, (2, 3)), data @ w.T + b, rtol=1e-5)

    other = H()
    lib.call("MXPredReshape", 1, texts(["data"]), index, (C.c_uint32 * 2)(1, 4), predictor, C.byref(other))
    set_input(other, np.ascontiguousarray(data[:1]))
    lib.call("MXPredForward", other)
    np.testing.assert_allclose(output(other, (1, 3)), expected(data[:1], w, b), rtol=1e-5)
    with pytest.raises(Exception, match="expected one of the inputs data"):
        lib.call("MXPredSetInput", predictor, b"dat", flat.ctypes.data_as(C.POINTER(C.c_float)), flat.size)
    for handle in (predictor, part, other):
        lib.call("MXPredFree", handle)
