# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks against NumPy, step by step, and their gradients against differences."""
import copy
import ctypes as C

import numpy as np
import pytest

from op_calls import ADD, Failure
from rnn_networks import LSTM_VARIANTS, MODES, VARIANTS, Network, setting, threads

SEED = 20261121


@pytest.fixture(params=["1", "0"], ids=["packed", "plain"])
def kernel(mx, request):
    """The test runs on packed weights, and once more on the plain kernel."""
    mx.call("MXSetEnv", b"MXNET_USE_ONEDNN_RNN", request.param.encode())
    yield request.param
    mx.call("MXSetEnv", b"MXNET_USE_ONEDNN_RNN", b"1")


def check(mx, network, dtype="float64", tolerance=1e-9):
    for got, want in zip(mx.run("RNN", *network.arrays(dtype), **network.attrs()), network.run()):
        assert got.dtype == dtype
        np.testing.assert_allclose(got.astype("float64"), want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("mode, variant", [(m, v) for m in MODES for v in VARIANTS] + [("lstm", v) for v in LSTM_VARIANTS])
def test_outputs_and_states_are_those_of_the_equations(mx, rng, kernel, mode, variant):
    check(mx, Network(rng, mode, **variant))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype, tolerance", [("float32", 2e-5), ("float16", 2e-2)])
def test_other_types_are_as_close_as_their_precision(mx, rng, kernel, mode, dtype, tolerance):
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


# Enough work for two threads, few enough samples that each takes a direction.
@pytest.mark.parametrize("mode, variant", [(m, {}) for m in MODES] + [("lstm", v) for v in LSTM_VARIANTS])
@pytest.mark.parametrize("hidden, batch, steps", [(128, 8, 20), (96, 1, 60), (67, 3, 30)])
def test_both_directions_beside_each_other(mx, rng, kernel, mode, variant, hidden, batch, steps):
    sizes = dict(hidden=hidden, batch=batch, steps=steps, inputs=50, layers=2, scale=0.1)
    if "lengths" in variant:
        variant = {**variant, "lengths": rng.integers(0, steps + 1, batch).tolist()}
    check(mx, Network(rng, mode, **{**sizes, **variant, "bidirectional": True}), "float32", 2e-4)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("inputs, hidden, batch, steps", [(640, 100, 80, 3), (40, 640, 40, 3), (1030, 64, 9, 8)])
def test_the_number_of_threads_decides_about_no_digit(mx, rng, mode, inputs, hidden, batch, steps):
    """However they share samples, units and what is summed over many numbers. LSTM layers are multiplied in fewer
    multiplications where threads can share them, unless this is forbidden."""
    network = Network(rng, mode, inputs=inputs, hidden=hidden, batch=batch, steps=steps, bidirectional=True, scale=0.04)
    arrays, attrs = network.arrays("float32"), network.attrs()
    heads = [rng.standard_normal(o.shape).astype("float32") for o in network.run()]
    results = []
    for count in (1, 2, 3, 4):
        with threads(mx, count), setting(mx, b"MXNET_ENFORCE_DETERMINISM", b"1", b"0"):
            results.append([*mx.run("RNN", *arrays, **attrs), *mx.gradients("RNN", arrays, heads, **attrs)])
    for others in results[1:]:
        for got, want in zip(others, results[0], strict=True):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("mode, variant", [(m, v) for m in MODES for v in VARIANTS] + [("lstm", v) for v in LSTM_VARIANTS])
def test_gradients_are_those_of_finite_differences(mx, rng, kernel, mode, variant):
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
        run()
        before = run()  # the second call keeps them
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
