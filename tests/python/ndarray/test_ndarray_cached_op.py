# SPDX-License-Identifier: Apache-2.0
"""CachedOp: a symbol that is called like one operator."""

import ctypes
import gc
import weakref

import mxnet as mx
import numpy as np
import pytest

FLAGS = [(), (("static_alloc", True), ("static_shape", True)), (("inline_limit", 0),)]


@pytest.mark.parametrize("flags", FLAGS)
def test_runs_and_differentiates(flags):
    x, w = mx.sym.var("x"), mx.sym.var("w")
    op = mx.nd.CachedOp(mx.sym.tanh(x * w + w), flags)
    a, b = mx.nd.array([0.1, 0.2]), mx.nd.array([0.5, -0.5])
    b.attach_grad()
    with mx.autograd.record():
        y = op(a, b)
    y.backward()
    value = np.tanh(a.asnumpy() * b.asnumpy() + b.asnumpy())
    np.testing.assert_allclose(y.asnumpy(), value, rtol=1e-6)
    np.testing.assert_allclose(b.grad.asnumpy(), (1 - value**2) * (a.asnumpy() + 1), rtol=1e-5)


def test_one_output_is_an_array_and_several_are_a_list():
    x = mx.sym.var("x")
    assert isinstance(mx.nd.CachedOp(x + 1)(mx.nd.ones(2)), mx.nd.NDArray)
    outputs = mx.nd.CachedOp(mx.sym.Group([x + 1, x * 5]))(mx.nd.ones(2))
    assert [out.asnumpy().tolist() for out in outputs] == [[2, 2], [5, 5]]


def test_given_outputs_are_filled_and_returned():
    op = mx.nd.CachedOp(mx.sym.var("x") * 3)
    out = mx.nd.zeros(2)
    assert op(mx.nd.ones(2), out=out) is out and out.asnumpy().tolist() == [3, 3]
    listed = [mx.nd.zeros(2)]
    assert op(mx.nd.ones(2), out=listed) is listed and listed[0].asnumpy().tolist() == [3, 3]


def test_without_inputs_the_device_is_given():
    op = mx.nd.CachedOp(mx.sym.arange(3))
    assert op(default_ctx=mx.cpu(0)).asnumpy().tolist() == [0, 1, 2]
    assert op().context == mx.cpu(0)


def test_shapes_may_change_between_calls():
    op = mx.nd.CachedOp(mx.sym.sum(mx.sym.var("x"), axis=0))
    for rows in (1, 3, 2, 3):
        np.testing.assert_allclose(op(mx.nd.ones((rows, 2))).asnumpy(), [rows, rows])


def test_a_hook_sees_values():
    op = mx.nd.CachedOp(mx.sym.exp(mx.sym.var("x"), name="e"))
    seen = []
    op._register_op_hook(lambda name, kind, array: seen.append((name, kind, array.shape)))
    op(mx.nd.ones((2, 3))).wait_to_read()
    assert ("e_output", "exp", (2, 3)) in seen
    op._register_op_hook(None)
    count = len(seen)
    op(mx.nd.ones((2, 3))).wait_to_read()
    assert len(seen) == count


def test_its_hook_ends_with_it():
    def hook(*_):
        """Does nothing."""

    op, kept = mx.nd.CachedOp(mx.sym.var("x") + 1), weakref.ref(hook)
    op._register_op_hook(hook)
    del hook, op
    gc.collect()
    assert kept() is None


def test_gradients_tell_its_hook_of_theirs_when_it_is_gone():
    op, seen, x = mx.nd.CachedOp(mx.sym.exp(mx.sym.var("x"), name="e")), [], mx.nd.ones(2)
    op._register_op_hook(lambda name, kind, array: seen.append((name, kind)))
    x.attach_grad()
    with mx.autograd.record():
        y = op(x)
    del op
    gc.collect()
    others = [ctypes.CFUNCTYPE(None)(str) for _ in range(200)]  # lie where a function was that nobody held
    y.backward()
    assert others and seen == [("e_output", "exp"), ("e_backward_0", "_backward_exp")]


def test_what_is_wrong_is_said():
    op = mx.nd.CachedOp(mx.sym.var("x") + mx.sym.var("y"))
    with pytest.raises(TypeError, match="list as input 1"):
        op(mx.nd.ones(1), [1])
    with pytest.raises(TypeError, match="into"):
        op(mx.nd.ones(1), mx.nd.ones(1), into=None)
    with pytest.raises(mx.MXNetError, match="1.*expected 2|expected 2"):
        op(mx.nd.ones(1))
    with pytest.raises(TypeError, match="int"):
        mx.nd.CachedOp(3)
    with pytest.raises(mx.MXNetError, match="no_such_flag"):
        mx.nd.CachedOp(mx.sym.var("x") + 1, (("no_such_flag", 1),))


def test_its_class_is_where_programs_look_for_it():
    from mxnet._cy3.ndarray import CachedOp

    assert CachedOp is mx.nd.CachedOp


@pytest.mark.parametrize("flags", FLAGS)
def test_a_state_that_is_given_under_two_names_is_one(flags):
    x, state = mx.sym.var("x"), mx.sym.var("m")
    step = mx.sym.sgd_mom_update(weight=mx.sym.var("w"), grad=mx.sym.var("g"), mom=state, lr=1, momentum=0.5)
    op = mx.nd.CachedOp(mx.sym.var("again") * 2 * x + step, flags)
    momentum = mx.nd.full(3, 0.2)
    given = {"again": momentum, "x": mx.nd.ones(3), "w": mx.nd.zeros(3), "g": mx.nd.full(3, 0.1), "m": momentum}
    given["x"].attach_grad()
    with mx.autograd.record():
        out = op(*(given[name] for name in ("again", "x", "w", "g", "m")))
    np.testing.assert_allclose(out.asnumpy(), [0.4] * 3, atol=1e-6)  # as it was, and the step of 0
    np.testing.assert_allclose(momentum.asnumpy(), [0] * 3, atol=1e-7)
