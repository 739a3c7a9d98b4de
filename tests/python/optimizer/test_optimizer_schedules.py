# SPDX-License-Identifier: Apache-2.0
"""Learning rates over updates."""

import logging
import pickle

import pytest

import mxnet as mx


def rates(schedule, last):
    return [schedule(i) for i in range(last + 1)]


def test_factor_falls_after_each_step_and_stops():
    made = mx.lr_scheduler.FactorScheduler(step=2, factor=0.5, stop_factor_lr=0.2, base_lr=1.0)
    assert rates(made, 7) == [1.0, 1.0, 1.0, 0.5, 0.5, 0.25, 0.25, 0.2]


def test_a_change_of_the_rate_is_logged_once(caplog):
    caplog.set_level(logging.INFO)
    rates(mx.lr_scheduler.FactorScheduler(step=2, factor=0.5, stop_factor_lr=0.3, base_lr=1.0), 9)
    rates(mx.lr_scheduler.MultiFactorScheduler(step=[2], factor=0.5, base_lr=1.0), 9)
    assert [(record.name, record.getMessage()) for record in caplog.records] == [
        ("root", f"Update[{update}]: Change learning rate to {rate}")
        for update, rate in ((3, "5.00000e-01"), (5, "3.00000e-01"), (3, "5.00000e-01"))
    ]


def test_multi_factor_falls_at_the_given_updates():
    made = mx.lr_scheduler.MultiFactorScheduler(step=[1, 4], factor=0.5, base_lr=1.0)
    assert rates(made, 5) == [1.0, 1.0, 0.5, 0.5, 0.5, 0.25]


def test_poly_and_cosine_end_at_the_final_rate():
    poly = mx.lr_scheduler.PolyScheduler(max_update=4, base_lr=1.0, pwr=2, final_lr=0.0)
    assert rates(poly, 5) == [1.0, 0.5625, 0.25, 0.0625, 0.0, 0.0]
    cosine = mx.lr_scheduler.CosineScheduler(max_update=4, base_lr=1.0, final_lr=0.5)
    assert rates(cosine, 5) == pytest.approx([1.0, 0.926777, 0.75, 0.573223, 0.5, 0.5], abs=1e-6)


def test_warm_up_rises_or_waits():
    made = mx.lr_scheduler.CosineScheduler(max_update=10, base_lr=1.0, warmup_steps=4, warmup_begin_lr=0.2)
    assert rates(made, 4) == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    waits = mx.lr_scheduler.FactorScheduler(step=9, base_lr=1.0, warmup_steps=2, warmup_begin_lr=0.1, warmup_mode="constant")
    assert rates(waits, 2) == [0.1, 0.1, 1.0]


def test_a_schedule_survives_pickling():
    made = mx.lr_scheduler.FactorScheduler(step=1, factor=0.5, base_lr=1.0)
    made(3)
    assert pickle.loads(pickle.dumps(made))(4) == made(4)


@pytest.mark.parametrize(
    "make",
    [
        lambda: mx.lr_scheduler.FactorScheduler(step=0),
        lambda: mx.lr_scheduler.FactorScheduler(step=1, factor=1.5),
        lambda: mx.lr_scheduler.MultiFactorScheduler(step=[3, 2]),
        lambda: mx.lr_scheduler.PolyScheduler(max_update=0),
        lambda: mx.lr_scheduler.CosineScheduler(max_update=2, warmup_mode="fast"),
    ],
)
def test_a_schedule_that_cannot_be_is_refused(make):
    with pytest.raises(ValueError, match="given .*"):
        make()


@pytest.mark.parametrize("rule, rate", [("ftrl", 0.05), ("adagrad", 0.3), ("sgd", 0.3)])
@pytest.mark.filterwarnings("ignore:the scheduler's base_lr")
def test_whose_rate_it_is_where_both_say_one(rule, rate):
    made = mx.optimizer.create(rule, learning_rate=0.3, lr_scheduler=mx.lr_scheduler.FactorScheduler(step=9, base_lr=0.05))
    assert made.learning_rate == rate
    assert mx.optimizer.create(rule, learning_rate=0.3).learning_rate == 0.3
