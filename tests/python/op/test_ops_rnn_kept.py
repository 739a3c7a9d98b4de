# SPDX-License-Identifier: Apache-2.0
"""What the fused recurrent operator makes of its parameters outlives calls: until somebody may have changed them, in whatever way."""
import ctypes as C

import numpy as np
import pytest

from rnn_networks import Network, large, setting

SEED = 20261122
NETWORKS = {"packed": lambda rng: Network(rng, "gru", layers=2, bidirectional=True), "sums": lambda rng: large(rng, layers=2),
            "digits": lambda rng: large(rng, layers=2, hidden=64)}


@pytest.fixture(autouse=True)
def matrix_unit(request, mx):
    """By loops where the processor has none; it would be taken before sums are."""
    digits = "digits" in getattr(request.node, "callspec", request.node).__dict__.get("params", {}).values()
    with setting(mx, b"MXNET_RNN_MATRIX_UNIT", b"2" if digits else b"0", b"1"):
        yield


def pointer(array):
    return array.ctypes.data_as(C.c_void_p)


class Kept:
    """A network's arrays, whose parameters were read often enough to keep something made of them."""

    def __init__(self, mx, network, dtype="float32", calls=3):
        self.mx, self.attrs = mx, network.attrs()
        self.values = network.arrays(dtype)
        self.handles = [mx.array(a) for a in self.values]
        self.first = [self.run() for _ in range(calls)]

    def run(self):
        outputs = self.mx.invoke("RNN", self.handles, **self.attrs)
        results = [self.mx.numpy(o) for o in outputs]
        self.mx.free(*outputs)
        return results

    def check(self, params, times=1):
        """As with arrays that nobody has seen before, which come when the change has been met."""
        x, _, *states = self.values
        first, wanted = self.run(), self.mx.run("RNN", x, params, *states, **self.attrs)
        for results in [first, *(self.run() for _ in range(times - 1))]:
            for got, want in zip(results, wanted):
                np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
@pytest.mark.parametrize("network", NETWORKS)
def test_calls_agree_whether_they_find_something_or_make_it(mx, rng, network, dtype):
    first, *others = Kept(mx, NETWORKS[network](rng), dtype).first
    for other in others:
        for a, b in zip(first, other):
            np.testing.assert_array_equal(a, b)


def copied_in(mx, handle, values):
    mx.call("MXNDArraySyncCopyFromCPU", handle, pointer(values), C.c_size_t(values.size))


def operator(mx, handle, values):
    source = mx.array(values)
    mx.invoke("_copy", [source], out=[handle])
    mx.free(source)


def optimizer(mx, handle, values):
    gradient = mx.array(mx.numpy(handle) - values)
    mx.invoke("sgd_update", [handle, gradient], out=[handle], lr=1, wd=0)
    mx.free(gradient)


def through_a_view(mx, handle, values):
    view = C.c_void_p()
    mx.call("MXNDArraySlice", handle, C.c_uint(0), C.c_uint(values.size), C.byref(view))
    copied_in(mx, view, values)
    mx.free(view)


def pulled(mx, handle, values):
    store, key, source = C.c_void_p(), (C.c_char_p * 1)(b"weights"), mx.array(values)
    mx.call("MXKVStoreCreate", b"local", C.byref(store))
    mx.call("MXKVStoreInitEx", store, C.c_uint(1), key, (C.c_void_p * 1)(source))
    mx.call("MXKVStorePullEx", store, C.c_uint(1), key, (C.c_void_p * 1)(handle), 0)
    mx.call("MXNDArrayWaitToRead", handle)
    mx.call("MXKVStoreFree", store)
    mx.free(source)


def to_the_address(mx, handle, values):
    data = C.c_void_p()
    mx.call("MXNDArrayWaitToWrite", handle)
    mx.call("MXNDArrayGetData", handle, C.byref(data))
    C.memmove(data, pointer(values), values.nbytes)


def through_dlpack(mx, handle, values):
    tensor, other = C.c_void_p(), C.c_void_p()
    mx.call("MXNDArrayToDLPack", handle, C.byref(tensor))
    mx.call("MXNDArrayFromDLPack", tensor, C.byref(other))
    copied_in(mx, other, values)
    mx.free(other)


@pytest.mark.parametrize("change", [copied_in, operator, optimizer, through_a_view, pulled, to_the_address, through_dlpack])
@pytest.mark.parametrize("network", NETWORKS)
def test_changes_are_seen(mx, rng, network, change):
    kept = Kept(mx, NETWORKS[network](rng))
    for factor in (0.5, 0.25, 0.125):
        values = np.float32(factor) * kept.values[1]
        change(mx, kept.handles[1], values)
        values = mx.numpy(kept.handles[1])
        assert np.abs(values - factor * kept.values[1]).max() < 1e-6
        kept.check(values, times=3)


@pytest.mark.parametrize("network", NETWORKS)
def test_an_address_that_was_handed_out_is_watched_for_ever(mx, rng, network):
    """Nobody says when somebody writes there."""
    kept, data = Kept(mx, NETWORKS[network](rng)), C.c_void_p()
    mx.call("MXNDArrayGetData", kept.handles[1], C.byref(data))
    for factor in (1, 0.5, 0.5, 0.25):
        values = np.float32(factor) * kept.values[1]
        mx.call("MXNDArrayWaitToRead", kept.handles[1])
        C.memmove(data, pointer(values), values.nbytes)
        kept.check(values)


def test_numbers_that_are_not_finite_are_seen_after_others(mx, rng):
    """How large the weights are is kept, too."""
    kept = Kept(mx, large(rng))
    values = kept.values[1].copy()
    values[5] = np.inf
    for _ in range(3):
        copied_in(mx, kept.handles[1], values)
        kept.check(values)
    copied_in(mx, kept.handles[1], kept.values[1])
    kept.check(kept.values[1], times=3)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("network", NETWORKS)
def test_gradients_after_calls_that_nobody_recorded(mx, rng, network, training):
    """Calls that are not recorded leave nothing to the backward one; the next one that is recorded does."""
    kept = Kept(mx, NETWORKS[network](rng))
    gradient, flag = mx.array(np.zeros_like(kept.values[1])), C.c_int()
    mx.call("MXAutogradMarkVariables", 1, (C.c_void_p * 1)(kept.handles[1]), (C.c_uint * 1)(1), (C.c_void_p * 1)(gradient))
    before = mx.training(training)
    mx.call("MXAutogradSetIsRecording", 1, C.byref(flag))
    try:
        outputs = mx.invoke("RNN", kept.handles, **kept.attrs)
    finally:
        mx.call("MXAutogradSetIsRecording", 0, C.byref(flag))
        mx.training(before)
    kept.run()
    mx.call("MXAutogradBackward", 1, (C.c_void_p * 1)(outputs[0]), None, 0)
    got = mx.numpy(gradient)
    mx.free(*outputs, gradient)
    with setting(mx, b"MXNET_RNN_STRASSEN", b"0", b"1"):
        heads = [np.ones(kept.first[0][0].shape, "float32")] + [None] * (len(kept.values) - 2)
        want = mx.gradients("RNN", kept.values, heads, **kept.attrs)[1]
    np.testing.assert_allclose(got, want, rtol=0, atol=2e-5 * np.abs(want).max())


def test_a_caller_who_names_the_hidden_output_gets_it(mx, rng):
    """Gates and cells of each step, whatever else they are for."""
    kept = Kept(mx, large(rng, layers=1))
    x, _, state, cell = kept.values
    places = x.shape[0] * x.shape[1]
    results = []
    for row in (b"1", b"0"):
        out = [mx.array(np.zeros_like(a)) for a in (kept.first[0][0], state, cell)] + [mx.array(np.zeros(places * 5 * 256, "float32"))]
        with setting(mx, b"MXNET_RNN_STRASSEN", row, b"1"):
            mx.invoke("RNN", kept.handles, out=out, **kept.attrs)
        results.append(mx.numpy(out[3]))
        mx.free(*out)
    assert np.abs(results[0]).reshape(-1, 256).max(axis=1).min() > 0
    np.testing.assert_allclose(*results, rtol=0, atol=1e-5)


class Plan:
    """The operator as a graph of its own, run by a CachedOp."""

    def __init__(self, mx, attrs, count):
        self.mx, self.symbols, self.cached = mx, [C.c_void_p() for _ in range(count + 1)], C.c_void_p()
        symbol, *variables = self.symbols
        keys = (C.c_char_p * len(attrs))(*[key.encode() for key in attrs])
        values = (C.c_char_p * len(attrs))(*[str(value).encode() for value in attrs.values()])
        mx.call("MXSymbolCreateAtomicSymbol", mx.op("RNN"), C.c_uint(len(attrs)), keys, values, C.byref(symbol))
        for i, variable in enumerate(variables):
            mx.call("MXSymbolCreateVariable", b"in%d" % i, C.byref(variable))
        mx.call("MXSymbolCompose", symbol, b"node", count, None, (C.c_void_p * count)(*variables))
        flags = [(b"static_alloc", b"true"), (b"static_shape", b"true")]
        names, texts = ((C.c_char_p * 2)(*part) for part in zip(*flags))
        mx.call("MXCreateCachedOpEx", symbol, 2, names, texts, C.byref(self.cached))

    def run(self, inputs):
        count, outputs, stypes = C.c_int(0), C.POINTER(C.c_void_p)(), C.POINTER(C.c_int)()
        self.mx.call("MXInvokeCachedOpEx", self.cached, len(inputs), (C.c_void_p * len(inputs))(*inputs), C.byref(count),
                     C.byref(outputs), C.byref(stypes))
        handles = [C.c_void_p(outputs[i]) for i in range(count.value)]
        results = [self.mx.numpy(handle) for handle in handles]
        self.mx.free(*handles)
        return results

    def close(self):
        self.mx.call("MXFreeCachedOp", self.cached)
        for symbol in self.symbols:
            self.mx.call("MXSymbolFree", symbol)


@pytest.mark.parametrize("network", NETWORKS)
def test_plans_see_changes(mx, rng, network):
    kept = Kept(mx, NETWORKS[network](rng))
    plan = Plan(mx, kept.attrs, len(kept.handles))
    x, params, *states = kept.values
    for factor in (1, 0.5, 0.25):
        values = np.float32(factor) * params
        copied_in(mx, kept.handles[1], values)
        want = mx.run("RNN", x, values, *states, **kept.attrs)
        for _ in range(3):
            for got, one in zip(plan.run(kept.handles), want):
                np.testing.assert_array_equal(got, one)
    plan.close()
