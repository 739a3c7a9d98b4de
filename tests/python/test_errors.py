# SPDX-License-Identifier: Apache-2.0
"""Errors of the library as Python exceptions."""

import pickle

import mxnet as mx
import pytest
from mxnet import base


def test_error_is_caught_as_both_classes():
    with pytest.raises(ValueError) as caught:
        mx.config.get("MXNET_NO_SUCH_NAME")
    assert isinstance(caught.value, mx.MXNetError)
    assert isinstance(caught.value, RuntimeError)
    assert "MXNET_NO_SUCH_NAME" in str(caught.value)


def test_message_has_no_class_name_in_front():
    with pytest.raises(mx.MXNetError) as caught:
        mx.context.Context("cpu").__class__  # a live object first: the failure below is the library's
        mx._core.empty_cache(77, 0)
    assert str(caught.value).startswith("[MXStorageEmptyCache] given device type 77")


@pytest.mark.parametrize("name", ["ValueError", "TypeError", "IndexError", "AttributeError", "NotImplementedError"])
def test_class_name_chooses_the_class(name):
    builtin = getattr(__import__("builtins"), name)
    error = base._make_exception(f"{name}: [op] text")
    assert isinstance(error, builtin) and isinstance(error, mx.MXNetError)
    assert str(error) == "[op] text"
    assert type(pickle.loads(pickle.dumps(error))) is type(error)


def test_text_without_a_known_class_stays_whole():
    error = base._make_exception("file.txt: no such thing")
    assert type(error) is mx.MXNetError
    assert str(error) == "file.txt: no such thing"


def test_stack_trace_is_turned_round():
    text = "TypeError: [op] bad\nStack trace:\n  [bt] (0) inner\n  [bt] (1) outer"
    message, name = base.c2pyerror(text)
    assert name == "TypeError"
    assert message.splitlines() == [
        "Traceback of the library (most recent call last):",
        "  [bt] (1) outer",
        "  [bt] (0) inner",
        "[op] bad",
    ]


def test_stack_trace_names_functions_of_the_library():
    with mx.util.environment("DMLC_LOG_STACK_TRACE_DEPTH", "10"):
        with pytest.raises(mx.MXNetError) as caught:
            mx.config.get("MXNET_NO_SUCH_NAME")
    text = str(caught.value)
    assert "libmxnet.so(mxnet::" in text
    assert 1 <= text.count("[bt]") <= 10


def test_registered_class_is_raised():
    @mx.error.register
    class OddError(mx.MXNetError):
        pass

    try:
        assert type(base._make_exception("OddError: text")) is OddError
        assert mx.error.register("EvenError", OddError) is OddError
        assert type(base._make_exception("EvenError: text")) is OddError
        assert mx.error.register("ThirdError")(OddError) is OddError
        assert base.error_types["ThirdError"] is OddError
    finally:
        for name in ("OddError", "EvenError", "ThirdError"):
            base.error_types.pop(name, None)


def test_internal_error_is_known():
    assert type(base._make_exception("InternalError: x")) is mx.error.InternalError


def test_last_error_of_the_library_can_be_fetched():
    with pytest.raises(mx.MXNetError):
        mx.config.get("MXNET_NO_SUCH_NAME")
    assert isinstance(base.get_last_ffi_error(), ValueError)


@pytest.mark.parametrize("hybridize, where", [(False, "FullyConnected"), (True, "dense0_fwd(FullyConnected)")])
def test_error_of_a_layer_is_at_the_users_line_with_node_and_shapes(hybridize, where):
    with mx.name.NameManager():
        net = mx.gluon.nn.Dense(4, in_units=3, prefix="dense0_")
    net.initialize()
    if hybridize:
        net.hybridize()
    with pytest.raises(ValueError) as caught:
        net(mx.nd.ones((2, 7)))
    assert caught.traceback[0].path.name == "test_errors.py"
    assert str(caught.value) == f"[{where}] given 'weight' of shape (4,3) and type float32, expected 7 in dimension 1"
