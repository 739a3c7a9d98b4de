# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks whose products are made by Strassen's rule: where that is chosen, and that nothing else changes."""
import ctypes as C

import numpy as np
import pytest

from rnn_networks import large, setting, threads

SEED = 20261121
EVERYWHERE = b"2"  # also where plain products take less time


@pytest.fixture(autouse=True)
def without_a_matrix_unit(mx):
    """Which would be taken first, on processors that have one."""
    with setting(mx, b"MXNET_RNN_MATRIX_UNIT", b"0", b"1"), setting(mx, b"MXNET_RNN_STRASSEN", EVERYWHERE, b"1"):
        yield


def by_strassen_and_plainly(mx, network, count=1):
    results = []
    for row in (EVERYWHERE, b"0"):
        with threads(mx, count), setting(mx, b"MXNET_RNN_STRASSEN", row, EVERYWHERE):
            results.append(mx.run("RNN", *network.arrays("float32"), **network.attrs()))
    return results


@pytest.mark.parametrize("variant", [dict(), dict(steps=17, bidirectional=True), dict(steps=33, batch=16), dict(batch=48, layers=2),
                                     dict(clip=(-0.3, 0.5), inputs=320), dict(lengths=[16, 0, 3, 1] * 8, layers=2)])
def test_strassen_is_used_where_it_is_chosen(mx, rng, variant):
    network = large(rng, **variant)
    for got, plain, want in zip(*by_strassen_and_plainly(mx, network), network.run()):
        error, plain_error = (np.abs(a - want).max() for a in (got, plain))
        assert not np.array_equal(got, plain)
        assert error < 5 * plain_error and error < 1e-5 * np.abs(want).max()


@pytest.mark.parametrize("begins", ["zeros", "zeros below none", "zeros in one half"])
def test_strassen_leaves_out_the_products_of_states_of_zeros(mx, rng, begins):
    """Which is decided by each thread for its samples, in each layer."""
    network = large(rng, layers=2, bidirectional=True)
    for state in network.states:
        if begins == "zeros":
            state[:] = 0
        else:
            state[0 if begins == "zeros below none" else slice(None), :16] = 0
    for got, plain, want in zip(*by_strassen_and_plainly(mx, network, 2), network.run()):
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


def of_calls(mx, network, count, more=()):
    """The results of so many calls; from the third one on a thread takes its samples through all layers whose sums are kept."""
    arrays, results = [mx.array(a) for a in network.arrays("float32")], []
    for _ in range(count):
        outputs = mx.invoke("RNN", arrays, **network.attrs(**dict(more)))
        results.append([mx.numpy(o) for o in outputs])
        mx.free(*outputs)
    mx.free(*arrays)
    return results


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("variant", [dict(layers=3), dict(bidirectional=True), dict(batch=64, steps=9), dict(inputs=320),
                                     dict(lengths=[16, 0, 3, 1] * 8, bidirectional=True), dict(clip=(-0.3, 0.5)), dict(batch=96)])
def test_layers_that_threads_run_one_after_the_other_give_the_same_numbers(mx, rng, variant, count):
    network = large(rng, **{**dict(layers=2), **variant})
    with threads(mx, count), setting(mx, b"MXNET_RNN_STRASSEN", b"0", EVERYWHERE):
        plain = of_calls(mx, network, 1)[0]
    with threads(mx, count):
        first, *others = of_calls(mx, network, 4)
    assert not np.array_equal(first[0], plain[0])
    for other in others:
        for a, b in zip(first, other):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("plain_layer", [0, 1, 2])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_layers_wait_for_a_plain_one_between_them(mx, rng, plain_layer, bidirectional):
    """Whose weights are too large for sums."""
    network = large(rng, layers=3, bidirectional=bidirectional)
    network.weights[plain_layer * network.directions][0] *= 100
    with threads(mx, 2):
        first, *others = of_calls(mx, network, 4)
    for other in others:
        for a, b in zip(first, other):
            np.testing.assert_array_equal(a, b)
    for got, want in zip(first, network.run()):
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-4)


@pytest.mark.parametrize("where", ["data", "state", "state of the other direction", "bias of the other direction"])
def test_what_is_not_finite_stays_in_its_sample_where_layers_do_not_meet(mx, rng, where):
    """What a layer hands up is seen wherever it may be no number: it makes the next one's products plain."""
    network = large(rng, layers=2, bidirectional=True)
    if where == "bias of the other direction":
        network.biases[1][0][7] = np.nan
    else:
        place = {"data": network.x, "state": network.states[0], "state of the other direction": network.states[0][1:]}[where]
        place[0, 4, 2] = np.nan
    want = network.run()
    others = np.arange(32) != 4
    with threads(mx, 2):
        for results in of_calls(mx, network, 4):
            for got, wanted in zip(results, want):
                np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))
                np.testing.assert_allclose(got[:, others], wanted[:, others], rtol=0, atol=1e-5)


@pytest.mark.parametrize("recording", [0, 1])
def test_layers_drop_nothing_outside_of_training(mx, rng, recording):
    network = large(rng, layers=2)
    flag = C.c_int()
    mx.call("MXAutogradSetIsRecording", recording, C.byref(flag))
    try:
        with threads(mx, 2):
            dropping, keeping = (of_calls(mx, network, 3, [("p", p)])[-1] for p in (0.5, 0.0))
    finally:
        mx.call("MXAutogradSetIsRecording", 0, C.byref(flag))
    for a, b in zip(dropping, keeping):
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


@pytest.mark.parametrize("where", ["data", "state", "input weights"])
def test_numbers_whose_sums_are_infinite_are_not_mixed(mx, rng, where):
    """Times zero they are zero, which their sums are not."""
    network = large(rng)
    data, states, (weights, state_weights) = network.x, network.states[0], network.weights[0]
    huge, zeros = {"data": (data, weights), "state": (states, state_weights), "input weights": (weights, data)}[where]
    huge[:], zeros[:] = 3e38, 0
    for got, want in zip(by_strassen_and_plainly(mx, network)[0], network.run()):
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-5)


def test_strassen_keeps_a_bias_that_is_no_number_in_its_unit(mx, rng):
    """Of samples that have ended, backward: their states are numbers until they begin."""
    network = large(rng, lengths=[16, 3] * 16, bidirectional=True)
    network.biases[1][0][7] = np.nan
    for got, want in zip(by_strassen_and_plainly(mx, network)[0], network.run()):
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
