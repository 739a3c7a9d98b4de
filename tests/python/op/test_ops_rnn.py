# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks and attention against NumPy, step by step, and their gradients against differences."""
import contextlib
import copy
import ctypes as C
import os

import numpy as np
import pytest

from op_calls import ADD, Failure

SEED = 20261121
GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}
MODES = list(GATES)


@pytest.fixture(params=["1", "0"], ids=["packed", "plain"])
def kernel(mx, request):
    """The test runs on packed weights, and once more on the plain kernel."""
    mx.call("MXSetEnv", b"MXNET_USE_ONEDNN_RNN", request.param.encode())
    yield request.param
    mx.call("MXSetEnv", b"MXNET_USE_ONEDNN_RNN", b"1")


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Network:
    """A network of random weights and what NumPy makes of it."""

    def __init__(self, rng, mode, steps=5, batch=3, inputs=4, hidden=6, layers=1, bidirectional=False, projection=None,
                 lengths=None, clip=None, scale=0.5):
        self.mode, self.steps, self.batch, self.hidden, self.layers = mode, steps, batch, hidden, layers
        self.directions, self.clip, self.lengths, self.projection = 2 if bidirectional else 1, clip, lengths, projection
        self.out = projection or hidden
        rows = GATES[mode] * hidden
        self.weights, self.biases = [], []
        for layer in range(layers):
            size = inputs if layer == 0 else self.out * self.directions
            for _ in range(self.directions):
                shapes = [(rows, size), (rows, self.out)] + ([(self.out, hidden)] if projection else [])
                self.weights.append([rng.standard_normal(s) * scale for s in shapes])
                self.biases.append([rng.standard_normal(rows) * scale for _ in range(2)])
        self.x = rng.standard_normal((steps, batch, inputs))
        places = layers * self.directions
        self.states = [rng.standard_normal((places, batch, self.out)) * scale]
        if mode == "lstm":
            self.states.append(rng.standard_normal((places, batch, hidden)) * scale)

    def params(self):
        return np.concatenate([w.ravel() for part in (self.weights, self.biases) for ws in part for w in ws])

    def arrays(self, dtype="float64"):
        arrays = [a.astype(dtype) for a in (self.x, self.params(), *self.states)]
        return arrays + ([np.array(self.lengths, "int32")] if self.lengths is not None else [])

    def attrs(self, **more):
        attrs = dict(mode=self.mode, state_size=self.hidden, num_layers=self.layers, state_outputs=True,
                     bidirectional=self.directions == 2, **more)
        if self.projection:
            attrs["projection_size"] = self.projection
        if self.lengths is not None:
            attrs["use_sequence_length"] = True
        if self.clip:
            attrs.update(lstm_state_clip_min=self.clip[0], lstm_state_clip_max=self.clip[1])
        return attrs

    def cell(self, x, h, c, weights, biases):
        n = self.hidden
        a, b = x @ weights[0].T + biases[0], h @ weights[1].T + biases[1]
        if self.mode == "rnn_relu":
            return np.maximum(a + b, 0), c
        if self.mode == "rnn_tanh":
            return np.tanh(a + b), c
        if self.mode == "gru":
            r, z = sigmoid(a[:, :n] + b[:, :n]), sigmoid(a[:, n:2 * n] + b[:, n:2 * n])
            candidate = np.tanh(a[:, 2 * n:] + r * b[:, 2 * n:])
            return (1 - z) * candidate + z * h, c
        i, f, g, o = (part for part in np.split(a + b, 4, axis=1))
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        if self.clip:
            c = np.clip(c, *self.clip)
        h = sigmoid(o) * np.tanh(c)
        return (h @ weights[2].T if self.projection else h), c

    def run(self):
        x, finals = self.x, [[], []]
        for layer in range(self.layers):
            outs = []
            for d in range(self.directions):
                at = layer * self.directions + d
                h = self.states[0][at]
                c = self.states[1][at] if self.mode == "lstm" else None
                y = np.zeros((self.steps, self.batch, self.out))
                for t in range(self.steps)[:: -1 if d else 1]:
                    next_h, next_c = self.cell(x[t], h, c, self.weights[at], self.biases[at])
                    active = np.array([self.lengths is None or t < self.lengths[i] for i in range(self.batch)])[:, None]
                    y[t] = np.where(active, next_h, 0)
                    h = np.where(active, next_h, h)
                    c = c if c is None else np.where(active, next_c, c)
                outs.append(y)
                finals[0].append(h)
                finals[1].append(c)
            x = np.concatenate(outs, axis=2)
        return [x, np.stack(finals[0])] + ([np.stack(finals[1])] if self.mode == "lstm" else [])


def check(mx, network, dtype="float64", tolerance=1e-9):
    for got, want in zip(mx.run("RNN", *network.arrays(dtype), **network.attrs()), network.run()):
        assert got.dtype == dtype
        np.testing.assert_allclose(got.astype("float64"), want, rtol=tolerance, atol=tolerance)


VARIANTS = [dict(), dict(layers=3), dict(bidirectional=True), dict(layers=2, bidirectional=True),
            dict(lengths=[5, 1, 3]), dict(layers=2, bidirectional=True, lengths=[0, 5, 2]), dict(batch=1, steps=1, hidden=1)]
LSTM_VARIANTS = [dict(projection=2), dict(projection=4, layers=2, bidirectional=True, lengths=[4, 5, 1]),
                 dict(clip=(-0.1, 0.2)), dict(clip=(-0.1, 0.2), projection=3, layers=2)]


@pytest.mark.parametrize("mode, variant", [(m, v) for m in MODES for v in VARIANTS] + [("lstm", v) for v in LSTM_VARIANTS])
def test_forward(mx, rng, kernel, mode, variant):
    check(mx, Network(rng, mode, **variant))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype, tolerance", [("float32", 2e-5), ("float16", 2e-2)])
def test_types(mx, rng, kernel, mode, dtype, tolerance):
    check(mx, Network(rng, mode, layers=2, bidirectional=True, scale=0.3), dtype, tolerance)


def in_bfloat16(mx, network):
    """The network's outputs, and those of the same numbers, rounded to bfloat16, in float32."""
    handles = [mx.array(a) for a in network.arrays("float32")]
    count = len(handles) - (network.lengths is not None)
    narrow = [mx.invoke("amp_cast", [h], dtype="bfloat16")[0] for h in handles[:count]]
    rounded = [mx.invoke("amp_cast", [h], dtype="float32")[0] for h in narrow]
    results = []
    for inputs in (narrow, rounded):
        outputs = mx.invoke("RNN", inputs + handles[count:], **network.attrs())
        wide = [mx.invoke("amp_cast", [o], dtype="float32")[0] for o in outputs]
        results.append([mx.numpy(h) for h in wide])
        mx.free(*outputs, *wide)
    mx.free(*handles, *narrow, *rounded)
    return zip(*results)


# Odd sizes are computed in float32; the others in bfloat16 where the processor has it.
@pytest.mark.parametrize("mode, variant", [(m, v) for m in MODES for v in VARIANTS] + [("lstm", v) for v in LSTM_VARIANTS])
@pytest.mark.parametrize("sizes", [dict(), dict(hidden=70, inputs=34), dict(inputs=5)])
def test_bfloat16_rounds_inputs_and_states_only(mx, rng, mode, variant, sizes):
    network = Network(rng, mode, **{"scale": 0.1, **sizes, **variant})
    for got, want in in_bfloat16(mx, network):
        # A state is rounded at each step, an output once more.
        np.testing.assert_allclose(got, want, rtol=2.0**-6, atol=2.0**-6)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("hidden, batch, steps", [(67, 33, 20), (130, 5, 9), (64, 1, 40), (200, 40, 3)])
def test_larger_than_a_tile(mx, rng, kernel, mode, hidden, batch, steps):
    check(mx, Network(rng, mode, hidden=hidden, batch=batch, steps=steps, inputs=50, scale=0.1), "float32", 2e-4)


@pytest.mark.parametrize("mode, variant", [(m, v) for m in MODES for v in VARIANTS] + [("lstm", v) for v in LSTM_VARIANTS])
def test_gradients(mx, rng, kernel, mode, variant):
    network = Network(rng, mode, **variant)
    arrays, attrs = network.arrays(), network.attrs()
    heads = [rng.standard_normal(o.shape) for o in network.run()]
    wanted = [i for i, a in enumerate(arrays) if a.dtype == "float64"]
    got = mx.gradients("RNN", arrays, heads, wanted=wanted, **attrs)

    def loss(changed):
        return sum((o * h).sum() for o, h in zip(mx.run("RNN", *changed, **attrs), heads))

    for i in wanted:
        direction, step = rng.standard_normal(arrays[i].shape), 1e-6
        ends = [loss([a + s * step * direction if j == i else a for j, a in enumerate(arrays)]) for s in (1, -1)]
        assert (got[i] * direction).sum() == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=2e-5, abs=1e-7)


def test_gradients_of_some_inputs_are_those_of_all(mx, rng, kernel):
    network = Network(rng, "lstm", layers=2, bidirectional=True)
    heads = [rng.standard_normal(o.shape) for o in network.run()]
    everything = mx.gradients("RNN", network.arrays(), heads, **network.attrs())
    for i in range(4):
        alone = mx.gradients("RNN", network.arrays(), heads, wanted=[i], **network.attrs())
        np.testing.assert_array_equal(alone[i], everything[i])
    added = mx.gradients("RNN", network.arrays(), heads, request=ADD, start=0.5, **network.attrs())
    for a, b in zip(added, everything):
        np.testing.assert_allclose(a, b + 0.5, rtol=1e-12)


def test_dropout_acts_between_layers_in_training_only(mx, rng):
    network = Network(rng, "rnn_tanh", layers=2, hidden=64, batch=16, inputs=8)
    plain = mx.run("RNN", *network.arrays(), **network.attrs())[0]
    np.testing.assert_array_equal(mx.run("RNN", *network.arrays(), **network.attrs(p=0.5))[0], plain)
    before = C.c_int()
    mx.call("MXAutogradSetIsTraining", 1, C.byref(before))
    try:
        mx.call("MXRandomSeed", 7)
        first = mx.run("RNN", *network.arrays(), **network.attrs(p=0.5))[0]
        mx.call("MXRandomSeed", 7)
        again = mx.run("RNN", *network.arrays(), **network.attrs(p=0.5))[0]
        all_dropped = mx.run("RNN", *network.arrays(), **network.attrs(p=1))[0]
    finally:
        mx.call("MXAutogradSetIsTraining", 0, C.byref(before))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - plain).max() > 1e-3
    without_input = copy.deepcopy(network)
    without_input.weights[1][0][:] = 0  # the second layer sees nothing of the first
    np.testing.assert_allclose(all_dropped, without_input.run()[0], rtol=1e-9)


def test_nan_in_the_cell_is_clipped_when_asked(mx, rng, kernel):
    network = Network(rng, "lstm", clip=(-0.5, 0.5))
    network.states[1][0, 0, 0] = np.nan
    assert np.isnan(mx.run("RNN", *network.arrays(), **network.attrs())[2]).any()
    assert not np.isnan(mx.run("RNN", *network.arrays(), **network.attrs(lstm_state_clip_nan=True))[2]).any()


def test_what_is_not_finite_stays_in_its_sample_in_bfloat16(mx, rng):
    network = Network(rng, "lstm", hidden=40, batch=9, layers=2)
    network.x[1, 4, 2], network.x[2, 7, 1] = np.nan, np.inf
    for got, want in in_bfloat16(mx, network):
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want))


@pytest.mark.parametrize("sizes", [dict(), dict(hidden=70, inputs=34, batch=40), dict(inputs=5)])
def test_the_plain_kernel_computes_bfloat16_in_float32(mx, rng, sizes):
    network = Network(rng, "lstm", scale=0.1, **sizes)
    mx.call("MXSetEnv", b"MXNET_USE_ONEDNN_RNN", b"0")
    try:
        for got, want in in_bfloat16(mx, network):  # outputs are rounded once, and nothing before them
            np.testing.assert_allclose(got, want, rtol=2.0**-8, atol=1e-30)
    finally:
        mx.call("MXSetEnv", b"MXNET_USE_ONEDNN_RNN", b"1")


@pytest.mark.parametrize("variant", [dict(), dict(layers=2, bidirectional=True, projection=3)])
def test_inputs_of_no_features(mx, rng, kernel, variant):
    check(mx, Network(rng, "lstm", inputs=0, **variant))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("packs", [True, False])
def test_kept_weights_do_not_see_changes(mx, rng, dtype, packs):
    """Those that are packed; the plain kernel keeps none."""
    network = Network(rng, "lstm")
    handles = [mx.array(a) for a in network.arrays(dtype)]

    def run():
        outputs = mx.invoke("RNN", handles, **network.attrs())
        result = mx.numpy(outputs[0])
        mx.free(*outputs)
        return result

    def change_weights(factor):
        values = np.ascontiguousarray(network.arrays(dtype)[1] * np.asarray(factor, dtype))
        count = sum(w.size for ws in network.weights for w in ws)
        values[count:] = network.arrays(dtype)[1][count:]  # biases are read at each call
        mx.call("MXNDArraySyncCopyFromCPU", handles[1], values.ctypes.data_as(C.c_void_p), C.c_size_t(values.size))

    try:
        mx.call("MXSetEnv", b"MXNET_RNN_USE_WEIGHT_CACHE", b"1")
        mx.call("MXSetEnv", b"MXNET_USE_ONEDNN_RNN", b"1" if packs else b"0")
        before = run()
        change_weights(2)
        assert np.array_equal(run(), before) == packs
    finally:
        mx.call("MXSetEnv", b"MXNET_RNN_USE_WEIGHT_CACHE", b"0")
        mx.call("MXSetEnv", b"MXNET_USE_ONEDNN_RNN", b"1")
    assert np.abs(run() - before).max() > 1e-3
    mx.free(*handles)


def test_no_steps_and_no_samples(mx, rng, kernel):
    network = Network(rng, "lstm", steps=0, layers=2)
    out, h, c = mx.run("RNN", *network.arrays(), **network.attrs())
    assert out.shape == (0, 3, 6)
    np.testing.assert_array_equal(h, network.states[0])
    np.testing.assert_array_equal(c, network.states[1])
    network = Network(rng, "gru", batch=0)
    heads = [np.zeros(o.shape) for o in network.run()]
    assert not mx.gradients("RNN", network.arrays(), heads, **network.attrs())[1].any()


@pytest.mark.parametrize("change, text", [
    (dict(mode="gru", projection_size=2), "projection_size"), (dict(mode="gru", lstm_state_clip_min=0), "lstm_state_clip"),
    (dict(num_layers=0), "num_layers"), (dict(p=2), "probability"), (dict(state_size=7), "given .state. of shape")])
def test_what_does_not_fit_is_refused(mx, rng, change, text):
    network = Network(rng, change.get("mode", "lstm"))
    with pytest.raises(Failure, match=text):
        mx.run("RNN", *network.arrays(), **{**network.attrs(), **change})


def test_lengths_beyond_the_steps_are_refused(mx, rng):
    with pytest.raises(Failure, match="sequence_length"):
        network = Network(rng, "lstm", lengths=[6, 1, 1])
        mx.run("RNN", *network.arrays(), **network.attrs())


# Attention: NumPy on heads taken apart.
def heads_of(x, heads, parts):
    """(time, batch, heads * parts * size) -> parts of (batch * heads, time, size)."""
    time, batch, _ = x.shape
    split = x.reshape(time, batch, heads, parts, -1).transpose(3, 1, 2, 0, 4)
    return split.reshape(parts, batch * heads, time, -1)


def joined(x, batch):
    heads, time, size = x.shape[0] // batch, *x.shape[1:]
    return x.reshape(batch, heads, time, size).transpose(2, 0, 1, 3).reshape(time, batch, -1)


ATTENTION = [(5, 7, 2, 3, 4), (1, 1, 1, 1, 1), (70, 33, 3, 2, 17), (16, 20, 1, 4, 64)]


@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-10), ("float32", 1e-4), ("float16", 2e-2)])
@pytest.mark.parametrize("queries, keys, batch, heads, size", ATTENTION)
def test_attention(mx, rng, queries, keys, batch, heads, size, dtype, tolerance):
    def compare(got, want):
        assert got.dtype == dtype
        np.testing.assert_allclose(got.astype("float64"), want, rtol=tolerance, atol=tolerance * np.abs(want).max())

    qkv = rng.standard_normal((queries, batch, heads * 3 * size)).astype(dtype)
    q, k, v = heads_of(qkv.astype("float64"), heads, 3)
    compare(mx.run("_contrib_interleaved_matmul_selfatt_qk", qkv, heads=heads)[0], q @ k.swapaxes(1, 2) / np.sqrt(size))
    weights = rng.random((batch * heads, queries, queries)).astype(dtype)
    compare(mx.run("_contrib_interleaved_matmul_selfatt_valatt", qkv, weights, heads=heads)[0],
            joined(weights.astype("float64") @ v, batch))
    kv = rng.standard_normal((keys, batch, heads * 2 * size)).astype(dtype)
    apart = rng.standard_normal((queries, batch, heads * size)).astype(dtype)
    k, v = heads_of(kv.astype("float64"), heads, 2)
    q = heads_of(apart.astype("float64"), heads, 1)[0]
    compare(mx.run("_contrib_interleaved_matmul_encdec_qk", apart, kv, heads=heads)[0],
            q @ k.swapaxes(1, 2) / np.sqrt(size))
    weights = rng.random((batch * heads, queries, keys)).astype(dtype)
    compare(mx.run("_contrib_interleaved_matmul_encdec_valatt", kv, weights, heads=heads)[0],
            joined(weights.astype("float64") @ v, batch))


@pytest.mark.parametrize("op, shapes", [
    ("selfatt_qk", [(6, 2, 18)]), ("selfatt_valatt", [(6, 2, 18), (4, 6, 6)]),
    ("encdec_qk", [(6, 2, 6), (5, 2, 12)]), ("encdec_valatt", [(5, 2, 12), (4, 6, 5)])])
def test_attention_gradients(mx, rng, op, shapes):
    name = "_contrib_interleaved_matmul_" + op
    arrays = [rng.standard_normal(s) for s in shapes]
    head = rng.standard_normal(mx.run(name, *arrays, heads=2)[0].shape)
    for i, got in enumerate(mx.gradients(name, arrays, [head], heads=2)):
        direction = rng.standard_normal(shapes[i])
        ends = [(mx.run(name, *[a + s * direction if j == i else a for j, a in enumerate(arrays)], heads=2)[0] * head).sum()
                for s in (0.5, -0.5)]  # quadratic in each input at most
        assert (got * direction).sum() == pytest.approx(ends[0] - ends[1], rel=1e-9)


def test_heads_that_do_not_divide_are_refused(mx):
    with pytest.raises(Failure, match="heads"):
        mx.run("_contrib_interleaved_matmul_selfatt_qk", np.zeros((2, 2, 10)), heads=2)


@contextlib.contextmanager
def threads(mx, count):
    mx.call("MXSetNumOMPThreads", C.c_int(count))
    try:
        yield
    finally:
        mx.call("MXSetNumOMPThreads", C.c_int(max(1, os.cpu_count() // 2)))


@contextlib.contextmanager
def setting(mx, name, value, usual):
    mx.call("MXSetEnv", name, value)
    try:
        yield
    finally:
        mx.call("MXSetEnv", name, usual)


def by_strassen_and_plainly(mx, network, count=1):
    results = []
    for row in (b"1", b"0"):
        with threads(mx, count), setting(mx, b"MXNET_RNN_STRASSEN", row, b"1"):
            results.append(mx.run("RNN", *network.arrays("float32"), **network.attrs()))
    return results


def large(rng, **variant):
    return Network(rng, "lstm", **{**dict(steps=16, batch=32, inputs=256, hidden=256, scale=0.04), **variant})


@pytest.mark.parametrize("variant", [dict(), dict(steps=17, bidirectional=True), dict(steps=33, batch=16), dict(batch=48, layers=2),
                                     dict(clip=(-0.3, 0.5), inputs=320), dict(lengths=[16, 0, 3, 1] * 8, layers=2)])
def test_strassen_is_used_where_it_is_chosen(mx, rng, variant):
    network = large(rng, **variant)
    for got, plain, want in zip(*by_strassen_and_plainly(mx, network), network.run()):
        error, plain_error = (np.abs(a - want).max() for a in (got, plain))
        assert not np.array_equal(got, plain)
        assert error < 5 * plain_error and error < 1e-5 * np.abs(want).max()


@pytest.mark.parametrize("counts, variant", [((1, 2), dict()), ((1, 2, 4), dict(batch=128, steps=5)),
                                             ((1, 3), dict(batch=48, layers=2, bidirectional=True))])
def test_strassen_gives_the_same_numbers_whatever_the_number_of_threads(mx, rng, counts, variant):
    """Those among which samples can be shared evenly."""
    network = large(rng, **variant)
    results = []
    for count in counts:
        with threads(mx, count):
            results.append(mx.run("RNN", *network.arrays("float32"), **network.attrs()))
    for other in results[1:]:
        for a, b in zip(results[0], other):
            np.testing.assert_array_equal(a, b)


def test_strassen_with_kept_sums_gives_the_same_numbers(mx, rng):
    network = large(rng, hidden=320, layers=2)
    arrays, attrs = [mx.array(a) for a in network.arrays("float32")], network.attrs()
    results = []
    try:
        for keeps in (b"0", b"1"):
            mx.call("MXSetEnv", b"MXNET_RNN_USE_WEIGHT_CACHE", keeps)
            for _ in range(2):  # making the sums, and finding them
                outputs = mx.invoke("RNN", arrays, **attrs)
                results.append([mx.numpy(o) for o in outputs])
                mx.free(*outputs)
    finally:
        mx.call("MXSetEnv", b"MXNET_RNN_USE_WEIGHT_CACHE", b"0")
        mx.free(*arrays)
    for other in results[1:]:
        for a, b in zip(results[0], other):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("sizes", [dict(batch=24, steps=32), dict(hidden=100), dict(inputs=100), dict(scale=3), dict(steps=15)])
def test_strassen_is_not_used_where_sizes_or_numbers_forbid_it(mx, rng, sizes):
    for got, plain in zip(*by_strassen_and_plainly(mx, large(rng, **sizes))):
        np.testing.assert_array_equal(got, plain)


@pytest.mark.parametrize("count, batch", [(2, 16), (2, 48), (4, 32)])
def test_strassen_is_not_used_where_threads_would_wait(mx, rng, count, batch):
    """Samples are shared by sixteen."""
    for got, plain in zip(*by_strassen_and_plainly(mx, large(rng, batch=batch, steps=512 // 16), count)):
        np.testing.assert_array_equal(got, plain)


def test_strassen_is_not_used_where_determinism_is_asked_for(mx, rng):
    """With other numbers of threads the last bits could be others."""
    network = large(rng)
    plain = by_strassen_and_plainly(mx, network)[1]
    with threads(mx, 1), setting(mx, b"MXNET_ENFORCE_DETERMINISM", b"1", b"0"):
        for got, want in zip(mx.run("RNN", *network.arrays("float32"), **network.attrs()), plain):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("where", ["data", "state", "cell", "large data"])
def test_strassen_keeps_what_is_not_finite_or_large_in_its_sample(mx, rng, where):
    network = large(rng, layers=2)
    if where == "large data":
        network.x[:, 4, 2] = 1e6
    else:
        {"data": network.x, "state": network.states[0], "cell": network.states[1]}[where][0, 4, 2] = np.nan
    others = np.arange(32) != 4
    for got, want in zip(by_strassen_and_plainly(mx, network)[0], network.run()):
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
        np.testing.assert_allclose(got[:, others], want[:, others], rtol=0, atol=1e-5)


def test_strassen_keeps_a_bias_that_is_no_number_in_its_unit(mx, rng):
    """Of samples that have ended, backward: their states are numbers until they begin."""
    network = large(rng, lengths=[16, 3] * 16, bidirectional=True)
    network.biases[1][0][7] = np.nan
    for got, want in zip(by_strassen_and_plainly(mx, network)[0], network.run()):
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
