# SPDX-License-Identifier: Apache-2.0
"""The switches of NumPy's semantics: by thread, nested, as decorators."""

import threading

import pytest

import mxnet as mx
from mxnet import util


@pytest.fixture(autouse=True)
def legacy_semantics(numpy_semantics):
    util.reset_np()
    yield
    util.reset_np()


def semantics():
    return util.is_np_shape(), util.is_np_array()


def on_a_new_thread(function):
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def test_both_are_off_at_first_and_on_after_set_np():
    assert semantics() == (False, False)
    assert util.set_np() is None
    assert semantics() == (True, True)
    util.reset_np()
    assert semantics() == (False, False)


def test_the_switch_is_the_threads_own():
    util.set_np()
    assert on_a_new_thread(semantics) == (False, False)


def test_two_switches_shapes_for_all_threads():
    assert util.set_np_shape(2) is False
    try:
        assert on_a_new_thread(util.is_np_shape) is True
    finally:
        util.set_np_shape(False)
    assert on_a_new_thread(util.is_np_shape) is False


def test_setting_shapes_returns_what_it_was():
    assert [util.set_np_shape(value) for value in (True, True, False, False)] == [False, True, True, False]


def test_arrays_need_shapes():
    with pytest.raises(ValueError, match="array semantics without shape semantics"):
        util.set_np(shape=False)
    util.set_np()
    with pytest.raises(ValueError, match="set_np_shape"):
        util.set_np_shape(False)
    with pytest.raises(ValueError, match="set_np_shape"), util.np_shape(False):
        pass
    assert semantics() == (True, True)


@pytest.mark.parametrize("value", [None, "on", 1.5])
def test_shapes_take_nothing_but_integers(value):
    with pytest.raises(TypeError):
        util.set_np_shape(value)


def test_scopes_nest_and_end_with_an_exception():
    scope = util.np_shape()
    with pytest.raises(RuntimeError), scope, scope, util.np_array():
        assert semantics() == (True, True)
        raise RuntimeError
    assert semantics() == (False, False)


def test_decorated_functions_keep_name_and_result():
    @util.use_np
    def named(value):
        """What it says."""
        return value, semantics()

    assert named(3) == (3, (True, True))
    assert (named.__name__, named.__doc__) == ("named", "What it says.")
    assert semantics() == (False, False)
    assert util.use_np_shape(semantics)() == (True, False)
    assert util.use_np_array(semantics)() == (False, True)


def test_decorated_classes_run_every_member_inside():
    @util.use_np
    class Decorated:
        def __init__(self):
            self.seen = [semantics()]

        def __call__(self):
            return semantics()

        @property
        def value(self):
            return semantics()

        @value.setter
        def value(self, _):
            self.seen.append(semantics())

        @staticmethod
        def static():
            return semantics()

        @classmethod
        def of_class(cls):
            return cls.__name__, semantics()

    made = Decorated()
    made.value = 1
    assert made.seen == [(True, True)] * 2
    assert made() == made.value == made.static() == (True, True)
    assert Decorated.of_class() == ("Decorated", (True, True))
    assert semantics() == (False, False)


@pytest.mark.parametrize("decorator", [util.use_np, util.use_np_shape, util.use_np_array])
def test_what_is_not_callable_cannot_be_decorated(decorator):
    with pytest.raises(TypeError, match="expected a class or a function"):
        decorator(3)


@pytest.mark.parametrize(
    "key, value, legal",
    [("where", False, True), ("where", 1.5, False), ("casting", "no", True), ("casting", "never", False),
     ("order", "F", True), ("order", "X", False), ("dtype", "float32", True), ("dtype", None, False),
     ("dtype", "number", False), ("subok", False, True), ("subok", "no", False), ("axis", 0, False)],
)
def test_legal_options_of_ufuncs(key, value, legal):
    assert util.np_ufunc_legal_option(key, value) is legal


def test_wrapped_functions_refuse_what_is_not_there():
    @util.wrap_np_unary_func
    def unary(x, out=None, **kwargs):
        return x, out, kwargs

    @util.wrap_np_binary_func
    def binary(x1, x2, out=None, **kwargs):
        return x1, x2, out, kwargs

    assert unary(1, where=True, order="K", subok=True, casting="same_kind", dtype=None) == (1, None, {})
    assert binary(1, 2, out=3, where=True) == (1, 2, 3, {})
    with pytest.raises(TypeError, match="invalid keyword to function 'unary'"):
        unary(1, axis=0)
    with pytest.raises(NotImplementedError, match="where=False"):
        binary(1, 2, where=False)
    with pytest.raises(TypeError, match="not understood"):
        unary(1, order="X")


def test_modules_are_set_by_a_decorator():
    @util.set_module("mxnet.elsewhere")
    def moved():
        return 1

    assert moved.__module__ == "mxnet.elsewhere" and moved() == 1


def test_a_cpu_has_no_compute_capability():
    with pytest.raises(ValueError, match="expected a GPU's context"):
        util.get_cuda_compute_capability(mx.cpu())
