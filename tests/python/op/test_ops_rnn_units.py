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
