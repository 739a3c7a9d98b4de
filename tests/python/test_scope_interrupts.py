# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C anywhere in or beside a `with` block of the package leaves what the thread has at hand as it was."""

import contextlib

import pytest
from test_autograd_interrupts import interrupted_at

import mxnet as mx


def at_hand():
    bulk = mx.engine.set_bulk_size(7)
    mx.engine.set_bulk_size(bulk)
    scope = mx.gluon.block._BlockScope._current.value
    return mx.current_context(), mx.util.is_np_shape(), mx.util.is_np_array(), bulk, mx.name.current(), mx.attribute.current(), scope


def nothing():
    """A line, and a call, at which to be interrupted."""


def in_contexts():
    with mx.cpu(1):
        with mx.Context("cpu", 2):
            nothing()


def in_numpy():
    with mx.util.np_shape(), mx.util.np_array():
        with mx.util.np_array(False), mx.util.np_shape(False):
            nothing()


def in_bulks():
    with mx.engine.bulk(9):
        nothing()


def in_names():
    with mx.name.Prefix("a_"), mx.AttrScope(x="1"):
        with mx.name.NameManager(), mx.AttrScope(y="2"):
            nothing()


def in_blocks():
    block, plain = mx.gluon.nn.Dense(1), mx.gluon.nn.HybridSequential(prefix="")
    with block.name_scope():
        with plain.name_scope():
            nothing()


@pytest.mark.parametrize("body", [in_contexts, in_numpy, in_bulks, in_names, in_blocks])
def test_an_interrupt_leaves_what_was_at_hand(body):
    body()
    before, step = at_hand(), 0
    while interrupted_at(step, body):
        assert at_hand() == before, step
        step += 1
    assert step > 4


def test_a_scope_may_be_entered_by_a_stack_of_exits():
    before = at_hand()
    with contextlib.ExitStack() as stack:
        stack.enter_context(mx.cpu(1))
        stack.enter_context(mx.util.np_array())
        assert mx.current_context() == mx.cpu(1) and mx.util.is_np_array()
    assert at_hand() == before


def test_scopes_say_what_they_cannot_do():
    with pytest.raises(IndexError, match="pop from empty list"):
        mx.util.np_array().__exit__(None, None, None)
    with pytest.raises(ValueError, match="array semantics is on"):
        with mx.util.np_array(), mx.util.np_shape(False):
            pass
    assert not mx.util.is_np_array()
    with pytest.raises(TypeError):
        mx.util.np_shape("x")
