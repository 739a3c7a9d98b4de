# SPDX-License-Identifier: Apache-2.0
"""The estimator: epochs and batches, metrics, validation, checkpoints, early stopping, and handlers of one's own."""

import logging
import os
import re

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon
from mxnet.gluon.contrib import estimator as est
from mxnet.gluon.contrib.estimator import Estimator


def batches(count=4, size=5):
    state = np.random.RandomState(1)
    x = state.uniform(size=(count, size, 4)).astype(np.float32)
    y = (x.sum(-1) > 2).astype(np.float32)
    return [(mx.nd.array(a), mx.nd.array(b)) for a, b in zip(x, y)]


@pytest.fixture
def made():
    mx.random.seed(0)
    net = gluon.nn.Dense(2)
    net.initialize(mx.init.Xavier())
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
    estimator = Estimator(net, gluon.loss.SoftmaxCrossEntropyLoss(), trainer=trainer)
    estimator.logger.handlers = []
    estimator.lines = []
    handler = logging.Handler()
    handler.emit = lambda record: estimator.lines.append(record.getMessage())
    estimator.logger.addHandler(handler)
    return estimator


def test_training_makes_it_better(made):
    made.fit(batches(), epochs=1)
    first = made.train_metrics[1].get()[1]
    made.fit(batches(), epochs=20)
    assert made.train_metrics[1].get()[1] < first
    assert [metric.name for metric in made.train_metrics] == ["training accuracy", "training softmaxcrossentropyloss"]
    assert [metric.name for metric in made.val_metrics] == ["validation accuracy", "validation softmaxcrossentropyloss"]


class Recorder(est.TrainBegin, est.TrainEnd, est.EpochBegin, est.EpochEnd, est.BatchBegin, est.BatchEnd):
    def __init__(self):
        self.seen = []

    def train_begin(self, estimator, *args, **kwargs):
        self.seen.append("train begin")

    def train_end(self, estimator, *args, **kwargs):
        self.seen.append("train end")

    def epoch_begin(self, estimator, *args, **kwargs):
        self.seen.append("epoch begin")

    def epoch_end(self, estimator, *args, **kwargs):
        self.seen.append("epoch end")

    def batch_begin(self, estimator, *args, **kwargs):
        self.seen.append(sorted(kwargs))

    def batch_end(self, estimator, *args, **kwargs):
        self.seen.append(sorted(kwargs))


def test_events_come_in_order(made):
    recorder = Recorder()
    made.fit(batches(), batches=2, event_handlers=recorder)
    batch = [["batch"], ["batch", "label", "loss", "pred"]]
    assert recorder.seen == ["train begin", "epoch begin", *batch, *batch, "epoch end", "train end"]


@pytest.mark.parametrize("limits, epochs", [({"epochs": 3}, 3), ({"batches": 6}, 2), ({"batches": 4}, 1)])
def test_epochs_or_batches_say_when_to_stop(made, limits, epochs):
    recorder = Recorder()
    made.fit(batches(), event_handlers=[recorder], **limits)
    assert recorder.seen.count("epoch begin") == epochs
    with pytest.raises(ValueError, match="exactly one"):
        made.fit(batches(), epochs=1, batches=1)
    with pytest.raises(ValueError, match="exactly one"):
        made.fit(batches())


def test_validation_runs_after_epochs_and_logs(made):
    made.fit(batches(), val_data=batches(2), epochs=2)
    assert sum(line == "Validation Begin" for line in made.lines) == 2
    assert sum("validation accuracy" in line for line in made.lines) == 2
    assert made.val_metrics[0].num_inst == 10
    made.lines.clear()
    made.evaluate(batches(3))
    assert made.val_metrics[0].num_inst == 15


def test_log_every_few_batches(made):
    made.fit(batches(), epochs=1, event_handlers=est.LoggingHandler(log_interval=2, metrics=made.train_metrics))
    assert [line.split(" time")[0] for line in made.lines if "Batch" in line] == [
        "[Epoch 0][Batch 0][Samples 5]", "[Epoch 0][Batch 2][Samples 15]",
    ]


def lines_of(estimator):
    """What was logged, without times and the numbers of metrics."""
    lines = [re.sub(r"\d+\.\d{3}s", "TIME", line) for line in estimator.lines]
    return [re.sub(r": \d\.\d{4}(, .*)?$", "", line) for line in lines]


def test_what_is_logged_is_in_the_words_of_the_release(made):
    made.fit(batches(), val_data=batches(2), epochs=1)
    assert lines_of(made) == [
        "Training begin: using optimizer SGD with current learning rate 0.5000 ",
        "Train for 1 epochs.",
        "[Epoch 0] Begin, current learning rate",
        "Validation Begin",
        "[Epoch 0] Finished in TIME, validation accuracy",
        "[Epoch 0] Finished in TIME, training accuracy",
        "Train finished using total 0s with 1 epochs. training accuracy",
    ]


def test_a_log_without_metrics_has_times_alone(made):
    made.fit(batches(), epochs=1, event_handlers=est.LoggingHandler(log_interval=3))
    batch, epoch = (next(line for line in lines_of(made) if text in line) for text in ("[Batch 3]", "Finished in"))
    assert (batch, epoch) == ("[Epoch 0][Batch 3][Samples 20] time/interval: TIME", "[Epoch 0] Finished in TIME")


def test_checkpoints_are_told_of_in_the_words_of_the_release(made, tmp_path):
    best = {"monitor": made.train_metrics[1], "save_best": True, "mode": "max", "verbose": 1}
    made.fit(batches(), epochs=2, event_handlers=[est.CheckpointHandler(str(tmp_path), **best)])
    told = [re.sub(r"(from|to) (-inf|[\d.]+)", r"\1 X", line) for line in made.lines if "CheckpointHandler" in line]
    name = "CheckpointHandler: training softmaxcrossentropyloss"
    assert told == [
        f"[Epoch 0] CheckpointHandler: trained total 4 batches, saving model at {tmp_path} with prefix: model-epoch0batch4",
        f"[Epoch 0] {name} improved from X to X, updating best model at {tmp_path} with prefix: model-best",
        f"[Epoch 1] CheckpointHandler: trained total 8 batches, saving model at {tmp_path} with prefix: model-epoch1batch8",
        f"[Epoch 1] {name} did not improve from X, skipping updating best model",
    ]
    made.lines.clear()
    made.fit(batches(), epochs=3, event_handlers=[est.CheckpointHandler(str(tmp_path), resume_from_checkpoint=True)])
    assert made.lines[0] == "CheckpointHandler: Checkpoint resumed from epoch 1 batch 8, continue to train for 1 epochs "


def test_checkpoints_are_kept_and_gone_on_from(made, tmp_path):
    folder = str(tmp_path / "checkpoints")
    handler = est.CheckpointHandler(folder, model_prefix="m", monitor=made.train_metrics[1], save_best=True, max_checkpoints=2)
    made.fit(batches(), epochs=4, event_handlers=[handler])
    assert sorted(file for file in os.listdir(folder) if file.endswith("params")) == [
        "m-best.params", "m-epoch2batch12.params", "m-epoch3batch16.params",
    ]
    again = est.CheckpointHandler(folder, model_prefix="m", resume_from_checkpoint=True)
    recorder = Recorder()
    made.fit(batches(), epochs=6, event_handlers=[again, recorder])
    assert recorder.seen.count("epoch begin") == 2 and again.trained_epoch == 3
    assert os.path.exists(os.path.join(folder, "m-epoch5batch24.params"))
    with pytest.raises(ValueError, match="expected more epochs"):
        made.fit(batches(), epochs=2, event_handlers=[est.CheckpointHandler(folder, "m", resume_from_checkpoint=True)])
    with pytest.raises(ValueError, match="without monitor"):
        est.CheckpointHandler(folder, save_best=True)


def test_names_of_checkpoints_are_those_of_the_release(made, tmp_path):
    handler = est.CheckpointHandler(str(tmp_path), model_prefix="m", batch_period=3, max_checkpoints=20)
    made.fit(batches(), batches=6, event_handlers=[handler])
    assert sorted(file for file in os.listdir(tmp_path) if file.endswith("params")) == [
        "m-epoch0batch2.params", "m-epoch0batch4.params", "m-epoch1batch5.params", "m-epoch1batch6.params",
    ]
    handler = est.CheckpointHandler(str(tmp_path), model_prefix="m", batch_period=3, resume_from_checkpoint=True)
    with pytest.raises(ValueError, match="given epoch_period 1 .* for so many batches, expected None"):
        made.fit(batches(), batches=9, event_handlers=[handler])


def test_that_a_network_has_no_symbol_is_told_of_once(made, tmp_path):
    layer, made.net = made.net, gluon.nn.Sequential()  # no HybridBlock
    made.net.add(layer)
    for _ in range(2):  # trainings
        made.lines.clear()
        made.fit(batches(), epochs=3, event_handlers=[est.CheckpointHandler(str(tmp_path))])
        assert sum("symbol file) is not saved" in line for line in made.lines) == 1


def test_training_stops_after_epochs_without_improvement(made):
    handler = est.EarlyStoppingHandler(made.train_metrics[1], min_delta=100, patience=2)
    recorder = Recorder()
    made.fit(batches(), epochs=50, event_handlers=[handler, recorder])
    # The first epoch is better than nothing at all only beyond min_delta; then two epochs of patience.
    assert recorder.seen.count("epoch begin") in (2, 3) and any("EarlyStoppingHanlder: early stopping due to" in line for line in made.lines)


def test_defaults_and_errors():
    net = gluon.nn.Dense(2)
    with pytest.warns(UserWarning, match="learning rate 0.001"):
        made = Estimator(net, gluon.loss.L2Loss(), initializer=mx.init.One())
    assert [metric.name for metric in made.train_metrics] == ["training l2loss"]
    made.evaluate([(mx.nd.ones((1, 3)), mx.nd.ones((1, 2)))])
    assert (net.weight.data().asnumpy() == 1).all()
    for options, text in (
        ({"loss": 3}, "given loss 3"),
        ({"loss": gluon.loss.L2Loss(), "train_metrics": [3]}, "given metric 3"),
        ({"loss": gluon.loss.L2Loss(), "context": 3}, "given context 3"),
        ({"loss": gluon.loss.L2Loss(), "trainer": 3}, "given trainer 3"),
        ({"loss": gluon.loss.L2Loss(), "train_metrics": "acc"}, "given metric 'acc'"),
        ({"loss": gluon.loss.L2Loss(), "batch_processor": 3}, r"expected one with fit_batch\(\) and evaluate_batch\(\)"),
    ):
        with pytest.raises(ValueError, match=text):
            Estimator(net, **options)
    with pytest.raises(ValueError, match="given int as a batch, expected data and labels"):
        made.evaluate([1, 2])
    with pytest.raises(ValueError, match="log_interval"):
        est.LoggingHandler(log_interval="batch")
