# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks whose products are made in digits, by the processor's unit for bytes or by loops: where that is chosen."""
import numpy as np
import pytest

from rnn_networks import Network, large, setting, threads

SEED = 20261124
# 2: by loops where the processor has no unit, with the same numbers.
EVERYWHERE = b"2"
SIZES = [dict(), dict(steps=7, batch=48, inputs=70, hidden=45, layers=2, bidirectional=True),
         dict(steps=3, batch=16, inputs=5, hidden=3, lengths=[1, 3, 0, 2] * 4), dict(steps=4, batch=128, inputs=64, hidden=96)]


def by_digits_and_plainly(mx, network, count=2):
    results = []
    for row in (EVERYWHERE, b"0"):
        with threads(mx, count), setting(mx, b"MXNET_RNN_MATRIX_UNIT", row, b"1"), setting(mx, b"MXNET_RNN_STRASSEN", b"0", b"1"):
            results.append(mx.run("RNN", *network.arrays("float32"), **network.attrs()))
    return results


@pytest.mark.parametrize("mode", ["lstm", "gru", "rnn_tanh"])
@pytest.mark.parametrize("sizes", SIZES)
def test_the_matrix_unit_is_used_where_it_is_chosen(mx, rng, mode, sizes):
    network = Network(rng, mode, **{**dict(steps=9, batch=32, inputs=128, hidden=128, scale=0.05), **sizes})
    for got, plain, want in zip(*by_digits_and_plainly(mx, network), network.run()):
        error, plain_error = (np.abs(a - want).max() for a in (got, plain))
        assert not np.array_equal(got, plain)
        assert error < 4 * plain_error + 1e-7 and error < 3e-6 * np.abs(want).max()


@pytest.mark.parametrize("mode", ["lstm", "gru"])
@pytest.mark.parametrize("sizes", SIZES)
def test_digits_give_the_same_numbers_whatever_the_number_of_threads(mx, rng, mode, sizes):
    network = Network(rng, mode, **{**dict(steps=9, batch=32, inputs=128, hidden=128, scale=0.05), **sizes})
    one, *others = [by_digits_and_plainly(mx, network, count)[0] for count in (1, 2, 3)]
    for other in others:
        for a, b in zip(one, other):
            np.testing.assert_array_equal(a, b)


def test_digits_of_kept_weights_give_the_same_numbers(mx, rng):
    network = large(rng, layers=2)
    arrays, results = [mx.array(a) for a in network.arrays("float32")], []
    with setting(mx, b"MXNET_RNN_MATRIX_UNIT", EVERYWHERE, b"1"):
        for _ in range(3):  # once without a place, then making them, and finding them
            outputs = mx.invoke("RNN", arrays, **network.attrs())
            results.append([mx.numpy(o) for o in outputs])
            mx.free(*outputs)
    mx.free(*arrays)
    for other in results[1:]:
        for a, b in zip(results[0], other):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("mode, sizes", [("lstm", dict(batch=24)), ("lstm", dict(scale=3)), ("lstm", dict(projection=64)),
                                         ("rnn_relu", dict())])
def test_digits_are_not_used_where_sizes_or_numbers_forbid_it(mx, rng, mode, sizes):
    network = Network(rng, mode, **{**dict(steps=3, batch=32, inputs=128, hidden=128, scale=0.05), **sizes})
    for got, plain in zip(*by_digits_and_plainly(mx, network)):
        np.testing.assert_array_equal(got, plain)


@pytest.mark.parametrize("where", ["data", "state", "cell", "large data", "infinite data"])
def test_digits_keep_what_is_not_finite_or_large_in_its_sample(mx, rng, where):
    network = large(rng, layers=2)
    if where == "large data":
        network.x[:, 4, 2] = 1e6
    elif where == "infinite data":
        network.x[3, 4, 2] = np.inf
    else:
        {"data": network.x, "state": network.states[0], "cell": network.states[1]}[where][0, 4, 2] = np.nan
    others = np.arange(32) != 4
    with np.errstate(invalid="ignore", over="ignore"):
        wanted = network.run()
    for got, want in zip(by_digits_and_plainly(mx, network)[0], wanted):
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
        np.testing.assert_allclose(got[:, others], want[:, others], rtol=0, atol=1e-5)


def test_digits_keep_a_weight_that_is_no_number_in_its_units(mx, rng):
    network = large(rng)
    network.weights[0][0][3, 7] = np.nan
    for got, want in zip(by_digits_and_plainly(mx, network)[0], network.run()):
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want))


def gradients(mx, network, heads, row, dtype="float32", count=2):
    with threads(mx, count), setting(mx, b"MXNET_RNN_MATRIX_UNIT", row, b"1"):
        return mx.gradients("RNN", network.arrays(dtype), [h.astype(dtype) for h in heads], **network.attrs())


@pytest.mark.parametrize("mode", ["lstm", "gru"])
@pytest.mark.parametrize("sizes", [dict(), dict(steps=7, batch=20, inputs=70, hidden=45, layers=2, bidirectional=True)])
def test_gradients_by_digits_are_those_of_float64(mx, rng, mode, sizes):
    network = Network(rng, mode, **{**dict(steps=9, batch=32, inputs=96, hidden=64, scale=0.1), **sizes})
    heads = [rng.standard_normal(y.shape) for y in network.run()]
    digits, one, plain, exact = (gradients(mx, network, heads, row, dtype, count) for row, dtype, count in (
        (EVERYWHERE, "float32", 2), (EVERYWHERE, "float32", 1), (b"0", "float32", 2), (b"0", "float64", 2)))
    assert not np.array_equal(digits[1], plain[1])  # those of the weights
    for got, alone, usual, want in zip(digits, one, plain, exact):
        np.testing.assert_array_equal(got, alone)
        error, plain_error = (np.sqrt(np.mean((a - want) ** 2)) for a in (got, usual))
        assert error < 4 * plain_error and error < 3e-6 * np.sqrt(np.mean(want ** 2))


@pytest.mark.parametrize("what", [np.nan, np.inf, 1e6])
def test_gradients_that_are_not_finite_or_far_larger_than_others_are_multiplied_plainly(mx, rng, what):
    """Gradients of the weights and of the input, in one sample each; those of others are what they are without it."""
    network = Network(rng, "lstm", steps=3, batch=32, inputs=96, hidden=64, scale=0.1)
    heads = [rng.standard_normal(y.shape) for y in network.run()]
    heads[0][2, 5, 7] = what
    got, plain = (gradients(mx, network, heads, row) for row in (EVERYWHERE, b"0"))
    others = np.arange(32) != 5
    np.testing.assert_array_equal(np.isnan(got[1]), np.isnan(plain[1]))
    np.testing.assert_allclose(got[0][:, others], plain[0][:, others], rtol=1e-5, atol=1e-6)
