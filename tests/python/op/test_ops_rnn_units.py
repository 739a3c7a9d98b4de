# SPDX-License-Identifier: Apache-2.0
"""LSTM layers whose units are divided among threads, where a core's way to the third-level cache is narrow: with the numbers of the plain way,
which is taken where somebody records."""
import ctypes as C

import numpy as np
import pytest

from rnn_networks import large, setting, threads

SEED = 20261127


@pytest.fixture(autouse=True)
def without_other_products(mx):
    with setting(mx, b"MXNET_RNN_MATRIX_UNIT", b"0", b"1"), setting(mx, b"MXNET_RNN_STRASSEN", b"0", b"1"):
        yield


def results_of(mx, network, calls=1):
    """Of the last of so many calls; of the third and later ones the weights are kept."""
    arrays = [mx.array(a) for a in network.arrays("float32")]
    for _ in range(calls):
        outputs = mx.invoke("RNN", arrays, **network.attrs())
        results = [mx.numpy(o) for o in outputs]
        mx.free(*outputs)
    mx.free(*arrays)
    return results


def recorded(mx, network):
    flag = C.c_int()
    mx.call("MXAutogradSetIsRecording", 1, C.byref(flag))
    try:
        return results_of(mx, network)
    finally:
        mx.call("MXAutogradSetIsRecording", 0, C.byref(flag))


@pytest.mark.parametrize("variant", [dict(), dict(layers=3), dict(layers=2, bidirectional=True, steps=9), dict(batch=17, inputs=5, steps=23),
                                     dict(batch=150, steps=2), dict(clip=(-0.3, 0.5)), dict(hidden=288, steps=1)])
def test_units_divided_among_threads_give_the_numbers_of_the_plain_way(mx, rng, variant):
    network = large(rng, **{**dict(hidden=320), **variant})
    with threads(mx, 1):
        plain = recorded(mx, network)
    for got, want in zip(plain, network.run()):
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-5)
    for count in (1, 2, 3):
        with threads(mx, count):
            for got, want in zip(results_of(mx, network, calls=4), plain):
                np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("variant", [dict(steps=3), dict(layers=2, bidirectional=True, steps=2), dict(batch=17, steps=2), dict(clip=(-0.3, 0.5), steps=3),
                                     dict(batch=16, steps=5), dict(batch=150, steps=1)])
def test_cells_in_fewer_instructions_are_as_close(mx, rng, variant):
    """Which they are where MXNET_RNN_STRASSEN is not 0; so few rows are multiplied plainly."""
    network = large(rng, **{**dict(hidden=320), **variant})
    want = network.run()
    plain = results_of(mx, network)
    with setting(mx, b"MXNET_RNN_STRASSEN", b"1", b"0"):
        results = []
        for count in (1, 2, 3):
            with threads(mx, count):
                results.append(results_of(mx, network))
    for i, exact in enumerate(want):
        error, plain_error = (np.abs(a - exact).max() for a in (results[0][i], plain[i]))
        assert error <= 1.5 * plain_error + 1e-7
        for other in results[1:]:
            np.testing.assert_array_equal(other[i], results[0][i])


def test_what_is_no_number_stays_in_its_sample(mx, rng):
    network = large(rng, hidden=320, steps=3)
    network.states[0][0, 5, 7] = np.nan
    network.states[1][0, 20, 300] = np.inf
    with setting(mx, b"MXNET_RNN_STRASSEN", b"1", b"0"):
        y, state, cell = results_of(mx, network)
    assert np.isnan(y[:, 5]).all() and np.isinf(cell[0, 20, 300])
    others = np.delete(np.arange(y.shape[1]), 5)
    assert np.isfinite(y[:, others]).all() and np.isfinite(state[:, others]).all()
