# SPDX-License-Identifier: Apache-2.0
"""Callbacks of fit: a bar on a terminal and in a log, speeds, metrics of an evaluation."""

import logging
import math
import sys
import types

import pytest

import mxnet as mx


def after(batch, epoch=0, metric=None):
    """What fit hands over after a batch."""
    return mx.model.BatchEndParam(epoch=epoch, nbatch=batch, eval_metric=metric, locals=None)


def terminal(monkeypatch, yes):
    monkeypatch.setattr("sys.stderr", types.SimpleNamespace(isatty=lambda: yes, write=lambda text: None, flush=lambda: None))


def test_a_bar_in_a_log_is_a_line_for_each_call(monkeypatch, caplog):
    terminal(monkeypatch, False)
    bar = mx.callback.ProgressBar(total=4, length=8)
    with caplog.at_level(logging.INFO):
        for batch in (1, 4):
            bar(after(batch))
    assert [record.getMessage() for record in caplog.records] == ["[==------] 25%\r", "[========] 100%\r"]


def test_a_bar_does_not_round_up_what_is_whole(monkeypatch, caplog):
    terminal(monkeypatch, False)
    with caplog.at_level(logging.INFO):
        mx.callback.ProgressBar(total=20, length=20)(after(11))
    assert caplog.records[0].getMessage() == "[===========---------] 55%\r"


def test_a_bar_on_a_terminal_is_drawn_by_tqdm_once_for_each_epoch(monkeypatch, caplog):
    pytest.importorskip("tqdm")
    terminal(monkeypatch, True)
    drawn = []

    class Bar:
        def __init__(self, total, ncols):
            self.total, self.n, self.closed = total, 0, False
            drawn.append(self)

        def update(self, count):
            self.n += count

        def close(self):
            self.closed = True

    monkeypatch.setattr("tqdm.tqdm", Bar)
    bar = mx.callback.ProgressBar(total=3)
    for epoch in range(2):
        for batch in range(1, 4):
            bar(after(batch, epoch))
    assert [(one.total, one.n, one.closed) for one in drawn] == [(3, 3, True), (3, 3, True)]
    assert not caplog.records


def test_fit_calls_the_bar_after_each_batch(monkeypatch, caplog):
    terminal(monkeypatch, False)
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2), name="softmax")
    data = mx.io.NDArrayIter(mx.nd.ones((6, 3)), mx.nd.zeros(6), batch_size=2)
    with caplog.at_level(logging.INFO):
        mx.mod.Module(net).fit(data, num_epoch=1, batch_end_callback=mx.callback.ProgressBar(total=2, length=2))
    assert [text for text in caplog.messages if text.startswith("[")] == ["[--] 0%\r", "[=-] 50%\r", "[==] 100%\r"]


def test_speed_is_logged_every_so_many_batches_with_the_metric_since_then(caplog):
    metric = mx.metric.Accuracy()
    speed = mx.callback.Speedometer(batch_size=4, frequent=2)
    with caplog.at_level(logging.INFO):
        for batch in range(5):
            metric.update([mx.nd.array([1])], [mx.nd.array([[0, 1]])])
            speed(after(batch, epoch=3, metric=metric))
    assert [text.split("\t")[0] for text in caplog.messages] == ["Epoch[3] Batch [0-2]", "Epoch[3] Batch [2-4]"]
    assert all("samples/sec\taccuracy=1.000000" in text for text in caplog.messages)
    assert math.isnan(metric.get()[1])  # nothing was counted since the last line


def test_a_metric_that_is_not_reset_is_of_all_batches(caplog):
    metric = mx.metric.Accuracy()
    speed = mx.callback.Speedometer(batch_size=4, frequent=2, auto_reset=False)
    with caplog.at_level(logging.INFO):
        for batch in range(5):
            metric.update([mx.nd.array([batch % 2])], [mx.nd.array([[0, 1]])])
            speed(after(batch, epoch=1, metric=metric))
    assert [text.split("\t")[0] for text in caplog.messages] == ["Epoch[1] Batch [0-2]", "Epoch[1] Batch [0-4]"]
    assert [text.split("\t")[2] for text in caplog.messages] == ["accuracy=0.333333", "accuracy=0.400000"]


def test_metrics_of_an_evaluation_are_a_line_each(caplog):
    metric = mx.metric.create(["accuracy", "mse"])
    with caplog.at_level(logging.INFO):
        mx.callback.LogValidationMetricsCallback()(after(0, epoch=2, metric=metric))
    assert caplog.messages == ["Epoch[2] Validation-accuracy=nan", "Epoch[2] Validation-mse=nan"]


def test_metrics_for_tensorboard_need_a_package_which_the_error_names(monkeypatch, tmp_path):
    for name in ("mxboard", "tensorboardX", "torch.utils.tensorboard"):
        monkeypatch.setitem(sys.modules, name, None)  # not installed
    with pytest.raises(ImportError, match="pip install mxboard"):
        mx.contrib.tensorboard.LogMetricsCallback(str(tmp_path))


def test_metrics_for_tensorboard_are_numbered_by_calls(monkeypatch):
    written = []
    writer = types.SimpleNamespace(add_scalar=lambda tag, value, global_step: written.append((tag, value, global_step)))
    monkeypatch.setitem(sys.modules, "mxboard", types.SimpleNamespace(SummaryWriter=lambda logdir: writer))
    callback = mx.contrib.tensorboard.LogMetricsCallback("folder", prefix="train")
    metric = mx.metric.create("acc")
    metric.update([mx.nd.array([1])], [mx.nd.array([[0, 1]])])
    for _ in range(2):
        callback(types.SimpleNamespace(eval_metric=metric))
    callback(types.SimpleNamespace(eval_metric=None))
    assert written == [("train-accuracy", 1.0, 1), ("train-accuracy", 1.0, 2)]


def test_what_fit_hands_over_is_printed_under_the_name_of_1_9_1():
    assert repr(after(3, epoch=2)) == "BatchEndParams(epoch=2, nbatch=3, eval_metric=None, locals=None)"
