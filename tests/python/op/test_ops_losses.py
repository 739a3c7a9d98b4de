# SPDX-License-Identifier: Apache-2.0
"""Losses: against NumPy in float64; gradients against differences, labels of all kinds and errors.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/op/test_ops_losses.py
"""
import numpy as np
import pytest

from layer_checks import agree, check_gradients, normal, softmax
from op_calls import Failure

SEED = 20250117


def test_softmax_output_ignores_what_comes_from_above(mx, rng):
    x, label = normal(rng, (5, 4)), np.array([0.0, 3, 1, 2, 1])
    onehot = np.eye(4)[label.astype(int)]
    for head in (np.ones((5, 4)), normal(rng, (5, 4))):
        grad = mx.gradients("SoftmaxOutput", [x, label], [head], wanted=[0], grad_scale=3.0)[0]
        agree(grad, 3 * (softmax(x) - onehot))
    ignoring = mx.gradients("SoftmaxOutput", [x, label], [head], wanted=[0], use_ignore=True, ignore_label=1, normalization="valid")[0]
    agree(ignoring, (softmax(x) - onehot) * (label != 1)[:, None] / 3)
    # What is ignored has no gradient, whatever the numbers are.
    padded = np.where((label == 1)[:, None], np.nan, x)
    ignoring = mx.gradients("SoftmaxOutput", [padded, label], [head], wanted=[0], use_ignore=True, ignore_label=1)[0]
    agree(ignoring, np.where((label == 1)[:, None], 0, softmax(x) - onehot))
    for ignored in (1, 1.7):  # what is ignored is a class too, and classes need not be whole
        ignoring = mx.gradients("SoftmaxOutput", [x, label + 0.4], [head], wanted=[0], use_ignore=True, ignore_label=ignored, normalization="valid")[0]
        agree(ignoring, (softmax(x) - onehot) * (label != 1)[:, None] / 3)
    smooth = mx.gradients("SoftmaxOutput", [x, label], [head], wanted=[0], smooth_alpha=0.375)[0]
    agree(smooth, softmax(x) - onehot * 0.625 - (1 - onehot) * 0.125)
    outside = mx.gradients("SoftmaxOutput", [x, np.array([-1.0, 4, 1e30, np.nan, -np.inf])], [head], wanted=[0])[0]
    agree(outside, softmax(x))


def test_softmax_output_across_channels(mx, rng):
    x, label = normal(rng, (2, 3, 4, 5)), rng.integers(0, 3, (2, 4, 5)).astype("float64")
    want = softmax(x, 1) - np.moveaxis(np.eye(3)[label.astype(int)], -1, 1)
    for normalization, divisor in (("null", 20), ("batch", 40)):
        for shape in ((2, 4, 5), (2, 20), (2, 1, 4, 5)):
            grad = mx.gradients("SoftmaxOutput", [x, label.reshape(shape)], [x], wanted=[0], multi_output=True, normalization=normalization)[0]
            agree(grad, want / divisor)


def test_softmax_output_of_a_vector(mx, rng):
    x, want = normal(rng, (4,)), np.array([0.25, 0, 0.5, 1])
    agree(mx.run("SoftmaxOutput", x, want)[0], np.ones(4))  # each number is a row of one class
    agree(mx.gradients("SoftmaxOutput", [x, want], [x], wanted=[0])[0], 1 - want)
    agree(mx.run("SoftmaxOutput", x, want, preserve_shape=True)[0], softmax(x))
    agree(mx.gradients("SoftmaxOutput", [x, want], [x], wanted=[0], preserve_shape=True)[0], softmax(x) - want)
    agree(mx.gradients("SoftmaxOutput", [x, np.array(2.0)], [x], wanted=[0], preserve_shape=True)[0], softmax(x) - np.eye(4)[2])
    for label, attrs in ((2.0, {}), ([1.0], {}), ([1.0], {"preserve_shape": True}), (want, {"multi_output": True})):
        with pytest.raises(Failure, match="label|rank 2"):
            mx.run("SoftmaxOutput", x, np.array(label), **attrs)


def test_svm_output_of_a_vector(mx):
    x = np.array([1.0, 2, 3.5])
    agree(mx.run("SVMOutput", x, np.array(1.0))[0], x)
    agree(mx.gradients("SVMOutput", [x, np.array(1.0)], [x], wanted=[0])[0], np.array([4.0, 0, 9]))
    with pytest.raises(Failure, match="label"):
        mx.run("SVMOutput", x, x)


def test_softmax_cross_entropy(mx, rng):
    x, label = normal(rng, (6, 9)), rng.integers(0, 9, 6).astype("float64")
    want = -np.log(softmax(x)[np.arange(6), label.astype(int)]).sum()
    agree(mx.run("softmax_cross_entropy", x, label)[0], [want])
    check_gradients(mx, rng, "softmax_cross_entropy", [x, label], [0])


@pytest.mark.parametrize("rows", [1, 64, 65, 200])
@pytest.mark.parametrize("dtype,tolerance", [("float16", 1e-3), ("float32", 2e-7), ("float64", 1e-14)])
def test_softmax_cross_entropy_of_several_blocks_of_rows(mx, rng, rows, dtype, tolerance):
    x, label = normal(rng, (rows, 21)).astype(dtype), rng.integers(0, 21, rows).astype(dtype)
    want = -np.log(softmax(x.astype("float64"))[np.arange(rows), label.astype(int)]).sum()
    np.testing.assert_allclose(mx.run("softmax_cross_entropy", x, label)[0], [want], rtol=tolerance)
    label[-1] = 21
    with pytest.raises(Failure, match=f"label 21 in row {rows - 1}"):
        mx.run("softmax_cross_entropy", x, label)


@pytest.mark.parametrize("label", [9.0, -1.0, np.nan])
def test_cross_entropy_of_a_label_that_is_no_class_is_an_error(mx, rng, label):
    with pytest.raises(Failure, match="label"):
        mx.run("softmax_cross_entropy", normal(rng, (6, 9)), np.full(6, label))


@pytest.mark.parametrize("name,value,error", [
    ("LinearRegressionOutput", lambda x: x, lambda d: d), ("LogisticRegressionOutput", lambda x: 1 / (1 + np.exp(-x)), lambda d: d),
    ("MAERegressionOutput", lambda x: x, np.sign)])
def test_regression_outputs_predict_and_give_back_the_error(mx, rng, name, value, error):
    x, label = normal(rng, (4, 2, 3)), normal(rng, (4, 6))
    agree(mx.run(name, x, label)[0], value(x))
    grad = mx.gradients(name, [x, label], [x], wanted=[0], grad_scale=2.5)[0]
    agree(grad, error(value(x) - label.reshape(x.shape)) * 2.5 / 6)
    with pytest.raises(Failure, match="label"):
        mx.run(name, x, label[:, :5].copy())


@pytest.mark.parametrize("linear", [False, True])
def test_svm_output_pushes_scores_within_the_margin(mx, rng, linear):
    x, label = normal(rng, (5, 4)), np.array([0.0, 3, 1, 2, 7])
    sign = np.where(np.arange(4) == label[:, None], -1, 1)
    missing = np.maximum(0.5 + sign * x, 0)
    want = sign * 2 * (np.sign(missing) if linear else 2 * missing)
    attrs = {"margin": 0.5, "regularization_coefficient": 2.0, "use_linear": linear}
    agree(mx.gradients("SVMOutput", [x, label], [x], wanted=[0], **attrs)[0], want)


def ctc_by_enumeration(p, labels, blank):
    """Sum over all paths whose repetitions and blanks removed give the labels."""
    total = 0.0
    for path in np.ndindex(*[p.shape[1]] * p.shape[0]):
        spelt = [k for i, k in enumerate(path) if k != blank and (i == 0 or path[i - 1] != k)]
        if spelt == labels:
            total += np.prod([p[t, k] for t, k in enumerate(path)])
    return -np.log(total) if total else np.inf


@pytest.mark.parametrize("blank", ["first", "last"])
def test_ctc_loss_sums_over_all_paths(mx, rng, blank):
    x = normal(rng, (5, 4, 3))
    labels = [[1], [1, 1], [2, 1], []] if blank == "first" else [[0], [0, 0], [1, 0], []]
    padding = 0 if blank == "first" else -1
    label = np.array([row + [padding] * (3 - len(row)) for row in labels], "float64")
    times, counts = np.array([5.0, 4, 3, 5]), np.array([len(row) for row in labels], "float64")
    where = 0 if blank == "first" else 2
    lengths = {"use_data_lengths": True, "blank_label": blank}
    want = [ctc_by_enumeration(softmax(x[:int(times[n]), n]), labels[n], where) for n in range(4)]
    agree(mx.run("CTCLoss", x, label, times, **lengths)[0], want, scale=10)
    agree(mx.run("CTCLoss", x, label, times, counts, use_label_lengths=True, **lengths)[0], want, scale=10)
    agree(mx.run("CTCLoss", x, label.astype("int32"), times, **lengths)[0], want, scale=10)
    check_gradients(mx, rng, "CTCLoss", [x, label, times], [0], **lengths)


@pytest.mark.parametrize("steps, label", [(2, [1, 1]), (4, [1, 1, 1]), (3, [1, 1, 2])])
def test_ctc_labels_for_which_there_are_too_few_steps_have_neither_loss_nor_gradient(mx, rng, steps, label):
    x, label = normal(rng, (steps, 1, 3)), np.array([label, label], "float64")  # equal labels need a blank between them
    x = np.concatenate([x, x], axis=1)
    lengths = np.array([len(label[0]), 1.0])
    losses = mx.run("CTCLoss", x, label, lengths, use_label_lengths=True)[0]
    assert losses[0] == 0 and losses[1] > 0
    slope = mx.gradients("CTCLoss", [x, label, lengths], [np.ones(2)], wanted=[0], use_label_lengths=True)[0]
    assert not slope[:, 0].any() and slope[:, 1].all()


def test_a_ctc_loss_whose_only_paths_have_no_probability_is_infinite_and_has_no_gradient(mx, rng):
    x, label = normal(rng, (2, 1, 3)), np.array([[1.0]])
    x[:, 0, 1] = -np.inf
    assert np.isinf(mx.run("CTCLoss", x, label)[0]).all()
    assert not mx.gradients("CTCLoss", [x, label], [np.ones(1)], wanted=[0])[0].any()


def test_ctc_labels_are_the_nearest_classes(mx, rng):
    x = normal(rng, (6, 1, 5))
    want = mx.run("CTCLoss", x, np.array([[2.0, 3, 1]]))[0]
    agree(mx.run("CTCLoss", x, np.array([[1.5, 2.9999, 0.5]]))[0], want)


@pytest.mark.parametrize("label", [[[3.0, 0]], [[-2.0, 1]], [[0.4, 1]], [[np.nan, 1]]])
def test_ctc_labels_out_of_range_are_errors(mx, rng, label):
    with pytest.raises(Failure, match="label"):
        mx.run("CTCLoss", normal(rng, (4, 1, 3)), np.array(label))


@pytest.mark.parametrize("rest", [(), (2,), (7, 9)])
def test_sparsity_penalty_pulls_mean_activations_to_the_target(mx, rng, rest):
    shape = (5, 3, *rest)
    x, average, head = rng.uniform(0.1, 0.9, shape), np.array([0.2, 0.3, 0.4]), normal(rng, shape)
    after = []
    attrs = {"sparseness_target": 0.25, "penalty": 0.5, "momentum": 0.75}
    grad = mx.gradients("IdentityAttachKLSparseReg", [x, average], [head], wanted=[0], after=after, **attrs)[0]
    moved = 0.75 * average + 0.25 * x.mean((0, *range(2, x.ndim)))
    agree(after[1], moved)
    pull = 0.5 * ((0.75 / (1 - moved)) - 0.25 / moved)
    agree(grad, head + pull.reshape(3, *(1 for _ in rest)))


def ctc_by_logarithms(x, labels):
    """Loss and gradient of one example whose blank is class 0, by sums of logarithms of probabilities."""
    time, classes = x.shape
    with np.errstate(invalid="ignore"):
        log_p = x - np.logaddexp.reduce(x, axis=1, keepdims=True)
    states = [0, *(s for label in labels for s in (label, 0))]
    skips = [s > 1 and c not in (0, states[s - 2]) for s, c in enumerate(states)]
    alpha, beta = np.full((2, time, len(states)), -np.inf)
    alpha[0, :2] = log_p[0, states[:2]]
    beta[-1, -2:] = 0
    for t in range(1, time):
        for s, c in enumerate(states):
            before = alpha[t - 1, [s - i for i in range(3) if s >= i and (i < 2 or skips[s])]]
            alpha[t, s] = np.logaddexp.reduce(before) + log_p[t, c]
    for t in range(time - 2, -1, -1):
        for s in range(len(states)):
            behind = [s + i for i in range(3) if s + i < len(states) and (i < 2 or skips[s + i])]
            beta[t, s] = np.logaddexp.reduce(beta[t + 1, behind] + log_p[t + 1, [states[b] for b in behind]])
    log_all = np.logaddexp.reduce(alpha[-1, -2:])
    share = np.full((time, classes), -np.inf)
    for s, c in enumerate(states):
        share[:, c] = np.logaddexp(share[:, c], alpha[:, s] + beta[:, s])
    return -log_all, np.exp(log_p) - np.exp(share - log_all)


@pytest.mark.parametrize("scale", [0.1, 3, 40, 1000], ids=lambda scale: f"{scale} apart")
@pytest.mark.parametrize("time,count", [(1, 1), (7, 3), (40, 12), (300, 5)])
def test_ctc_of_likely_and_of_hardly_possible_labels(mx, rng, time, count, scale):
    """With scores far apart parts of the sums are too small for a double; all of it may be."""
    x = rng.normal(size=(time, 3, 6)) * scale
    labels = rng.integers(1, 6, size=(3, count)).astype("float64")
    labels[0] = np.arange(count) % 2 + 1  # no two are equal neighbours
    x[:, 1, 1:] -= 5 * scale  # blanks are said
    x[time // 2, 2, :] += 20 * scale * np.eye(6)[int(labels[2, 0]) - 1]
    losses = mx.run("CTCLoss", x, labels)[0]
    (grad, *_) = mx.gradients("CTCLoss", [x, labels], [np.ones(3)])
    for n in range(3):
        repeated = (np.diff(labels[n]) == 0).sum()
        if time < count + repeated:
            assert losses[n] == 0 and not grad[:, n].any()
            continue
        loss, wanted = ctc_by_logarithms(x[:, n], labels[n].astype(int))
        assert abs(losses[n] - loss) <= 1e-9 * max(1, loss)
        np.testing.assert_allclose(grad[:, n], wanted, atol=1e-9)
