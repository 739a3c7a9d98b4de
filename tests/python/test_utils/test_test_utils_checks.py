# SPDX-License-Identifier: Apache-2.0
"""The helpers for tests that programs import: what they accept and what they refuse."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import test_utils as tu

X, Y = mx.sym.Variable("x"), mx.sym.Variable("y")


def test_comparisons_know_the_type():
    tu.assert_almost_equal(np.ones(3, "float16"), np.ones(3, "float16") * 1.005)
    with pytest.raises(AssertionError, match=r"Location of maximum error: \(1,\), a=1.0+, b=2.0+"):
        tu.assert_almost_equal(np.ones(3), np.array([1, 2, 1.0]))
    tu.assert_almost_equal_with_err(np.ones(10), np.r_[np.ones(9), 2], etol=0.2)
    with pytest.raises(AssertionError):
        tu.assert_almost_equal(np.array([np.nan]), np.array([np.nan]))
    tu.assert_almost_equal(mx.nd.array([np.nan]), np.array([np.nan]), equal_nan=True)


def test_gradients_are_checked():
    tu.check_numeric_gradient(X * Y + mx.sym.sin(X), [np.random.RandomState(1).randn(2, 3), np.ones((2, 3))])
    tu.check_symbolic_forward(X * Y, [np.ones(2), np.full(2, 3)], [np.full(2, 3)])
    found = tu.check_symbolic_backward(X * Y, {"x": np.ones(2), "y": np.full(2, 3)}, [np.ones(2)], {"x": np.full(2, 3)})
    assert found["x"].asnumpy().tolist() == [3, 3]


def test_a_wrong_gradient_is_found():
    wrong = mx.sym.BlockGrad(X) + 0 * X
    with pytest.raises(AssertionError, match="BACKWARD_x"):
        tu.check_numeric_gradient(wrong, [np.ones((2, 2))])
    with pytest.raises(AssertionError, match="BACKWARD_x"):
        tu.check_symbolic_backward(X * Y, [np.ones(2), np.ones(2)], [np.ones(2)], [np.full(2, 9), np.ones(2)])


def test_gradients_must_agree_to_four_digits_of_float32_and_five_of_float64():
    squared = X * X
    slope = mx.sym.BlockGrad(2 * X) * X
    off = slope * (1 - 2e-3) + mx.sym.BlockGrad(squared - slope * (1 - 2e-3))  # x * x, whose gradient is two thousandths short
    where = [np.array([[1.0, 2.0], [3.0, 4.0]])]
    for dtype, shown in ((np.float32, r"rtol=1\.0+e-04, atol=1\.0+e-03"), (np.float64, r"rtol=1\.0+e-05, atol=1\.0+e-20")):
        tu.check_numeric_gradient(squared, where, dtype=dtype)
        with pytest.raises(AssertionError, match=shown):
            tu.check_numeric_gradient(off, where, dtype=dtype)
        tu.check_numeric_gradient(off, where, dtype=dtype, rtol=1e-2)


def test_types_are_compared():
    sym = mx.sym.FullyConnected(num_hidden=3, name="fc")
    tu.check_consistency(sym, [{"ctx": mx.cpu(), "fc_data": (2, 4), "type_dict": {"fc_data": t}} for t in (np.float32, np.float64)])


def test_the_truth_of_a_comparison_is_that_of_another():
    """Outputs and gradients are arrays by name, of the finest type."""
    sym = mx.sym.FullyConnected(num_hidden=3, name="fc")
    places = [{"ctx": mx.cpu(), "fc_data": (2, 4), "type_dict": {"fc_data": t}} for t in (np.float32, np.float64)]
    values = {name: np.ones(shape) for name, shape in (("fc_data", (2, 4)), ("fc_weight", (3, 4)), ("fc_bias", 3))}
    truth = tu.check_consistency(sym, places, arg_params=values)
    assert {(name, type(array), array.dtype) for name, array in truth.items()} == {
        (name, mx.nd.NDArray, np.float64) for name in ("fc_output", "fc_data", "fc_weight", "fc_bias")
    }
    assert truth["fc_output"].asnumpy().tolist() == [[5] * 3] * 2 and truth["fc_bias"].asnumpy().tolist() == [2] * 3
    tu.check_consistency(sym, places, arg_params=values, ground_truth=truth)
    truth["fc_weight"] += 1
    with pytest.raises(AssertionError, match="fc_weight"):
        tu.check_consistency(sym, places, arg_params=values, ground_truth=truth)


@pytest.mark.parametrize("stype", ["default", "row_sparse", "csr"])
def test_random_arrays_have_the_asked_kind(stype):
    np.random.seed(4)
    made = tu.rand_ndarray((6, 5), stype, density=0.5)
    assert (made.stype, made.shape) == (stype, (6, 5))


def test_optimizers_and_memory_are_compared():
    tu.compare_optimizer(mx.optimizer.SGD(momentum=0.9), mx.optimizer.SGD(momentum=0.9), (3, 4), "float32", ntensors=3)
    with pytest.raises(AssertionError):
        tu.compare_optimizer(mx.optimizer.SGD(learning_rate=0.1), mx.optimizer.SGD(learning_rate=0.2), (3, 4), "float32")
    array = mx.nd.ones((4,))
    assert tu.same_array(array, array.reshape((2, 2)).reshape((4,)))
    assert not tu.same_array(array, array.copy())


def test_generators_are_tested():
    draws = np.random.RandomState(3)
    buckets, probs = tu.gen_buckets_probs_with_ppf(lambda q: q, 4)
    assert len(tu.verify_generator(lambda n: draws.rand(n), buckets, probs, 2000, nrepeat=3)) == 3
    with pytest.raises(AssertionError, match="chi-square tests passed"):
        tu.verify_generator(lambda n: draws.rand(n) ** 2, buckets, probs, 2000, nrepeat=3)


def test_retries_and_expected_errors():
    left = [2]

    @tu.retry(3)
    def sometimes():
        left[0] -= 1
        assert left[0] <= 0

    sometimes()
    tu.assert_exception(lambda: 1 / 0, ZeroDivisionError)


def test_a_summary_counts_parameters(capsys):
    layer = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")
    mx.viz.print_summary(layer, shape={"data": (2, 4)})
    shown = capsys.readouterr().out
    assert "fc(FullyConnected)" in shown and "Total params: 15" in shown


def test_a_summary_shows_the_data_and_counts_parameters_of_any_name(capsys):
    layer = mx.sym.FullyConnected(mx.sym.Variable("data"), mx.sym.Variable("w"), num_hidden=3, no_bias=True, name="fc")
    network = mx.sym.SoftmaxOutput(layer, mx.sym.Variable("softmax_label"), name="softmax")
    mx.viz.print_summary(network, shape={"data": (2, 4), "softmax_label": (2,)})
    shown = capsys.readouterr().out
    layers = [line.split("(")[0] for line in shown.splitlines() if "(" in line][1:]
    assert layers == ["data", "fc", "softmax"]
    assert "Total params: 12" in shown


def test_a_random_sample_follows_the_seed_as_in_the_release():
    np.random.seed(7)
    population = [1, 2, 3, 4]
    assert mx.test_utils.random_sample(population, 2) == [3, 2]  # of 1.9.1
    assert population == [1, 2, 3, 4]
