# SPDX-License-Identifier: Apache-2.0
"""Blocks of the package are left in all the ways in which Python leaves others: by hand, from a stack of them, by a subclass that
asks its base, however it finds that.
"""

import contextlib

import pytest

import mxnet as mx


class Keeping(mx.AttrScope):
    """Calls the base's methods by its name, and keeps what was raised inside."""

    def __enter__(self):
        return mx.AttrScope.__enter__(self)

    def __exit__(self, kind, error, trace):
        mx.AttrScope.__exit__(self, kind, error, trace)
        return kind is KeyError


class Noting(mx.name.Prefix):
    """Asks the next class in line."""

    left = 0

    def __exit__(self, *exception):
        super().__exit__(*exception)
        self.left += 1


def test_a_subclass_leaves_by_its_base():
    with Keeping(x="1"):
        assert mx.sym.var("a").attr("x") == "1"
        raise KeyError
    assert mx.sym.var("a").attr("x") is None
    with pytest.raises(IndexError):
        with Keeping(x="2"):
            raise IndexError
    scope = Noting("p_")
    for times in (1, 2):
        with scope:
            assert (mx.sym.var("a") + 1).name.startswith("p_")
        assert scope.left == times
        assert not (mx.sym.var("a") + 1).name.startswith("p_")


@pytest.mark.parametrize("exception", [(), (None, None, None), (KeyError, KeyError(1), None)])
@pytest.mark.parametrize("by_class", [False, True])
def test_by_hand(exception, by_class):
    for scope, at_hand in ((mx.autograd.record(), mx.autograd.is_recording), (mx.cpu(1), mx.current_context), (mx.util.np_shape(), mx.util.is_np_shape)):
        before = at_hand()
        scope.__enter__()
        inside = at_hand()
        assert not (type(scope).__exit__(scope, *exception) if by_class else scope.__exit__(*exception))
        assert at_hand() == before != inside


def test_from_a_stack():
    before = mx.current_context()
    with contextlib.ExitStack() as stack:
        stack.enter_context(mx.cpu(1))
        stack.enter_context(Keeping(x="1"))
        assert mx.current_context() == mx.cpu(1)
        assert mx.sym.var("a").attr("x") == "1"
        raise KeyError
    assert mx.current_context() == before
    assert mx.sym.var("a").attr("x") is None
