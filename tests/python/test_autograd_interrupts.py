# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C anywhere in or beside a recorded block leaves the thread's switches as they were."""

import pytest
from interrupted import is_interrupted

import mxnet as mx
from mxnet import autograd


def switches():
    return autograd.is_recording(), autograd.is_training()


def recorded():
    with autograd.record():
        with autograd.pause():
            mx.nd.ones(1)
        with autograd.predict_mode():
            mx.nd.ones(1)


class Doubled(autograd.Function):
    def forward(self, x):
        return x * 2

    def backward(self, dy):
        return dy * 2


def called():
    Doubled()(mx.nd.ones(1))


def interrupted_at(step, body):
    """Runs body with an interrupt before its step-th line or call of Python; whether it has so many."""
    count, met = 0, set()

    def trace(frame, event, _):
        nonlocal count
        # Lines and calls, not opcodes: between a `with` and the enter it calls CPython runs no handler. Nor does it between
        # the end of a block and the exit, where the line of the `with` is met again.
        leaves = event == "line" and (frame, frame.f_lineno) in met
        met.add((frame, frame.f_lineno))
        if event in ("call", "line") and not leaves:
            if count == step:
                raise KeyboardInterrupt
            count += 1
        return trace

    return is_interrupted(body, trace)


@pytest.mark.parametrize("body", [recorded, called])
def test_an_interrupt_leaves_the_switches(body):
    assert switches() == (False, False)
    step = 0
    while interrupted_at(step, body):
        assert switches() == (False, False), step
        step += 1
    assert step > 5


def test_a_scope_is_left_as_often_as_entered():
    scope = autograd.record()
    with scope, scope:
        assert switches() == (True, True)
    assert switches() == (False, False)
    with pytest.raises(IndexError, match="left already"):
        scope.__exit__(None, None, None)
    with pytest.raises(TypeError, match="expected recording and training"):
        autograd._RecordingStateScope(True)
