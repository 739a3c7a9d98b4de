# SPDX-License-Identifier: Apache-2.0
"""Metrics against NumPy, local and global values, and how they are made."""

import numpy as np
import pytest

import mxnet as mx

LABELS = [np.array([0, 1, 1, 2]), np.array([2, 0])]
SCORES = [
    np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.5, 0.3, 0.2], [0.1, 0.2, 0.7]]),
    np.array([[0.35, 0.4, 0.25], [0.9, 0.05, 0.05]]),
]
PICKED = np.concatenate([scores[np.arange(len(labels)), labels] for labels, scores in zip(LABELS, SCORES)])


def value(metric, labels=LABELS, preds=SCORES):
    for label, pred in zip(labels, preds):
        metric.update([mx.nd.array(label)], [mx.nd.array(pred)])
    return metric.get()[1]


def test_metrics_of_classes_are_their_formulas():
    assert value(mx.metric.Accuracy()) == pytest.approx(4 / 6)
    assert value(mx.metric.TopKAccuracy(top_k=2)) == pytest.approx(5 / 6)
    assert value(mx.metric.CrossEntropy()) == pytest.approx(-np.log(PICKED).mean(), rel=1e-5)
    assert value(mx.metric.NegativeLogLikelihood()) == pytest.approx(-np.log(PICKED).mean(), rel=1e-5)
    assert value(mx.metric.Perplexity(None)) == pytest.approx(np.exp(-np.log(PICKED).mean()), rel=1e-5)


def test_perplexity_leaves_the_ignored_label_out():
    kept = np.concatenate(LABELS) != 0
    assert value(mx.metric.Perplexity(0)) == pytest.approx(np.exp(-np.log(PICKED[kept]).mean()), rel=1e-5)


def test_f1_and_correlations_of_two_classes_are_their_formulas():
    labels = [np.array([1, 0, 1, 1, 0])]
    scores = [np.array([[0.2, 0.8], [0.4, 0.6], [0.9, 0.1], [0.3, 0.7], [0.8, 0.2]])]
    tp, fp, fn, tn = 2, 1, 1, 1
    assert value(mx.metric.F1(), labels, scores) == pytest.approx(2 * tp / (2 * tp + fp + fn))
    wanted = (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    assert value(mx.metric.MCC(), labels, scores) == pytest.approx(wanted)
    assert value(mx.metric.PCC(), labels, scores) == pytest.approx(wanted)


def test_correlations_of_other_numbers_of_labels_and_predictions_name_both():
    labels, scores = [np.array([0, 1, 1])], [np.array([[0.9, 0.1]])]
    for metric in (mx.metric.MCC(), mx.metric.PCC()):
        with pytest.raises(ValueError, match="number 3, expected 1"):
            metric.update(labels, scores)


def test_micro_averages_all_examples_together():
    labels = [np.array([1, 0]), np.array([1, 1])]
    scores = [np.array([[0.2, 0.8], [0.4, 0.6]]), np.array([[0.9, 0.1], [0.3, 0.7]])]
    assert value(mx.metric.F1(average="macro"), labels, scores) == pytest.approx((2 / 3 + 2 / 3) / 2)
    assert value(mx.metric.F1(average="micro"), labels, scores) == pytest.approx(4 / 6)


def test_metrics_of_regression_are_averages_over_batches():
    draws = np.random.RandomState(3)
    labels, preds = [draws.randn(5, 2)] * 2, [draws.randn(5, 2), draws.randn(5, 2)]
    gaps = [label - pred for label, pred in zip(labels, preds)]
    assert value(mx.metric.MAE(), labels, preds) == pytest.approx(np.mean([np.abs(gap).mean() for gap in gaps]), rel=1e-5)
    assert value(mx.metric.MSE(), labels, preds) == pytest.approx(np.mean([(gap**2).mean() for gap in gaps]), rel=1e-5)
    wanted = np.mean([np.sqrt((gap**2).mean()) for gap in gaps])
    assert value(mx.metric.RMSE(), labels, preds) == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("name", ["mae", "mse", "rmse", "ce", "nll_loss"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
def test_numbers_of_large_arrays_are_read_where_they_lie(name, dtype, monkeypatch):
    shape = (300, 200)
    scores = (np.arange(60000).reshape(shape) % 97 + 1).astype(dtype)
    few = name in ("ce", "nll_loss")
    labels = (np.arange(300) % 100 if few else np.arange(60000)[::-1].reshape(shape) % 89).astype(dtype)
    expected, found, copied = mx.metric.create(name), mx.metric.create(name), []
    expected.update([labels], [scores])
    label, pred = (mx.nd.array(numbers, mx.cpu(), dtype=dtype) for numbers in (labels, scores))  # of a GPU: copied
    copy = mx.nd.NDArray.asnumpy
    monkeypatch.setattr(mx.nd.NDArray, "asnumpy", lambda array: copied.append(array.shape) or copy(array))
    monkeypatch.setattr("mxnet._views._alone", lambda: True)  # whatever other tests have left running
    found.update([label], [pred])
    assert found.get() == expected.get()
    assert shape not in copied
    monkeypatch.setattr("mxnet._views.ViewsOfOneCall.unchanged", lambda self: False)  # as if a callback wrote meanwhile
    found.update([label], [pred])
    assert found.get() == expected.get()
    assert shape in copied


@pytest.mark.parametrize("name", ["mae", "mse", "rmse"])
def test_one_number_is_an_error_of_its_own(name):
    metric = mx.metric.create(name)
    metric.update([np.array(5.0)], [np.array(4.0)])
    assert metric.get()[1] == 1
    metric.update([np.array([3, 7])], [np.array([6, 4])])
    assert metric.get()[1] == (5 if name == "mse" else 2)


@pytest.mark.parametrize("name", ["mae", "rmse"])
def test_numbers_that_numpy_cannot_see_are_copied(name):
    values = np.arange(60000, dtype="float32").reshape(300, 200) % 128
    zeros = np.zeros((300, 200), "float32")
    expected = value(mx.metric.create(name), [zeros], [values])
    for hidden in (mx.nd.array(values).astype("bfloat16"), mx.nd.array(values).tostype("csr")):
        metric = mx.metric.create(name)
        metric.update([mx.nd.array(zeros)], [hidden])
        assert metric.get()[1] == expected
    metric = mx.metric.create(name)
    metric.update([zeros.tolist()], [mx.nd.array(values)])
    assert metric.get()[1] == pytest.approx(expected)


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_pearson_is_numpys_correlation(average):
    draws = np.random.RandomState(3)
    labels, preds = [draws.randn(6), draws.randn(9)], [draws.randn(6), draws.randn(9)]
    if average == "micro":
        wanted = np.corrcoef(np.concatenate(labels), np.concatenate(preds))[0, 1]
    else:
        wanted = np.mean([np.corrcoef(label, pred)[0, 1] for label, pred in zip(labels, preds)])
    assert value(mx.metric.PearsonCorrelation(average=average), labels, preds) == pytest.approx(wanted, rel=1e-4)


def test_batches_of_nothing_do_not_change_a_correlation_of_all():
    metric = mx.metric.PearsonCorrelation(average="micro")
    nothing = [mx.nd.array(np.zeros(0))]
    some = np.array([1.0, 2, 4]), np.array([1.0, 3, 4])
    metric.update(nothing, nothing)
    assert np.isnan(metric.get()[1])
    metric.update(*([mx.nd.array(part)] for part in some))
    metric.update(nothing, nothing)
    assert metric.get()[1] == pytest.approx(np.corrcoef(*some)[0, 1])


def test_global_values_outlive_a_local_reset():
    metric = mx.metric.Accuracy()
    value(metric, LABELS[:1], SCORES[:1])
    metric.reset_local()
    value(metric, LABELS[1:], SCORES[1:])
    assert metric.get() == ("accuracy", 0.5)
    assert metric.get_global()[1] == pytest.approx(4 / 6)
    metric.reset()
    assert np.isnan(metric.get()[1]) and np.isnan(metric.get_global()[1])


def test_composites_of_names_and_functions():
    metric = mx.metric.create(["acc", mx.metric.create("ce"), lambda label, pred: float(len(label))])
    value(metric)
    names, values = metric.get()
    assert names[:2] == ["accuracy", "cross-entropy"]
    assert values == pytest.approx([4 / 6, -np.log(PICKED).mean(), 3.0], rel=1e-5)
    assert str(metric).startswith("EvalMetric: {'accuracy'")


def test_values_print_as_plain_numbers():
    labels, scores = mx.nd.array([0, 1, 1, 0]), mx.nd.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.6, 0.4]])
    correlation, halves = mx.metric.PCC(), mx.metric.np(lambda label, pred: np.float32(0.5), name="halves")
    for metric in correlation, halves:
        metric.update([labels], [scores])
    assert str(halves) == "EvalMetric: {'halves': 0.5}"
    assert str(correlation) == f"EvalMetric: {{'pcc': {float(correlation.get()[1])!r}}}"
    assert repr(correlation.get()) == f"('pcc', {float(correlation.get()[1])!r})"


def test_a_function_may_return_sum_and_count():
    metric = mx.metric.np(lambda label, pred: (float((pred.argmax(1) == label).sum()), len(label)), name="mine")
    assert value(metric) == pytest.approx(4 / 6)
    assert metric.get()[0] == "mine"


def test_names_choose_outputs_and_labels():
    metric = mx.metric.Accuracy(output_names=["a"], label_names=["y"])
    good, bad = mx.nd.array([[0, 1], [1, 0]]), mx.nd.array([[1, 0], [1, 0]])
    metric.update_dict({"x": mx.nd.array([0, 0]), "y": mx.nd.array([1, 0])}, {"a": good, "b": bad})
    assert metric.get()[1] == 1.0


@pytest.mark.parametrize("name", ["acc", "ce", "mae", "f1", "pearsonr"])
def test_a_configuration_makes_the_same_metric(name):
    metric = mx.metric.create(name)
    assert mx.metric.create(metric.get_config()).get_config() == metric.get_config()


def test_errors_name_what_is_wrong():
    with pytest.raises(ValueError, match="given labels of number 3, expected 4"):
        mx.metric.check_label_shapes([1, 2, 3], [1, 2, 3, 4])
    with pytest.raises(ValueError, match="given metric 'foo', expected one of"):
        mx.metric.create("foo")
    with pytest.raises(ValueError, match="top_k"):
        mx.metric.TopKAccuracy(top_k=1)
    with pytest.raises(ValueError, match="two classes"):
        value(mx.metric.F1(), [np.array([0, 1, 2])], [np.ones((3, 2))])


def test_losses_are_averaged():
    assert value(mx.metric.Loss(), [np.zeros(2)], [np.array([1.0, 2.0])]) == 1.5


def test_top_k_of_all_classes_does_not_count_padding_labels():
    metric = mx.metric.TopKAccuracy(top_k=2)
    metric.update([mx.nd.array([-1, 0, 1, 2])], [mx.nd.array([[0.3, 0.7]] * 4)])
    assert metric.get()[1] == 0.5


@pytest.mark.parametrize("shape", [(5, 7), (90, 40)])
@pytest.mark.parametrize("special", ["none", "equal", "nan", "infinite"])
def test_top_k_is_decided_by_the_order_of_numpy(shape, special):
    """Also where scores are equal, infinite or NaN, and for labels of no class."""
    rng = np.random.default_rng(3)
    scores = rng.standard_normal(shape).astype("float32")
    if special == "equal":
        scores = np.round(scores)
    elif special != "none":
        scores[rng.random(shape) < 0.2] = np.nan if special == "nan" else np.inf
    labels = rng.integers(-1, shape[1] + 1, shape[0])
    expected = (np.argpartition(scores, -3)[:, -3:] == labels[:, None]).any(axis=1).mean()
    for given in ((labels, scores), (mx.nd.array(labels), mx.nd.array(scores)), (mx.np.array(labels), mx.np.array(scores))):
        metric = mx.metric.TopKAccuracy(top_k=3)
        metric.update([given[0]], [given[1]])
        assert metric.get()[1] == expected


def test_a_metric_that_gives_pairs_of_its_own_is_logged_by_fit_with_them(caplog):
    class TwoTasks(mx.metric.EvalMetric):
        def update(self, labels, preds):
            self.num_inst += 1

        def get(self):
            return zip(("first", 0.25), ("second", 0.5))

        def get_name_value(self):
            return [("first", 0.25), ("second", 0.5)]

    network = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2), name="softmax")
    batches = mx.io.NDArrayIter(np.ones((8, 3)), np.zeros(8), 4)
    with caplog.at_level("INFO"):
        mx.mod.Module(network, context=mx.cpu()).fit(batches, eval_metric=TwoTasks("tasks"), num_epoch=1)
    assert caplog.messages[:2] == ["Epoch[0] Train-first=0.250000", "Epoch[0] Train-second=0.500000"]


def test_pairs_over_all_batches_do_not_follow_a_replaced_get_name_value_where_they_are_kept():
    class Own(mx.metric.Accuracy):
        def get_name_value(self):
            return [("own", 7.0)]

    metric = Own()
    value(metric)
    assert metric.get_global_name_value() == [("accuracy", pytest.approx(4 / 6))]
