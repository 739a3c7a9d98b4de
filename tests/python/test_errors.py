# SPDX-License-Identifier: Apache-2.0
"""Errors of the library as Python exceptions."""

import ctypes
import pickle
import sys

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


def test_internal_error_is_known_before_its_module_is_loaded(run_python):
    assert type(base._make_exception("InternalError: x")) is mx.error.InternalError
    done = run_python(
        "import mxnet as mx\n"
        "try:\n    raise mx.base._make_exception('InternalError: x')\n"
        "except mx.error.InternalError as error:\n    print(error)"
    )
    assert done.stdout == "x\n", done.stderr


def test_symbols_that_own_nothing_end_without_a_complaint():
    with pytest.raises(mx.MXNetError):
        mx.config.get("MXNET_NO_SUCH_NAME")
    said = base._LIB.MXGetLastError
    said.restype = ctypes.c_char_p
    before = said()
    net = mx.sym.relu(mx.sym.var("x") + 1)[0]
    del net
    assert said() == before


def test_last_error_of_the_library_can_be_fetched():
    with pytest.raises(mx.MXNetError):
        mx.config.get("MXNET_NO_SUCH_NAME")
    assert isinstance(base.get_last_ffi_error(), ValueError)


@pytest.mark.parametrize(
    "hybridize, where, place",
    [
        (False, "FullyConnected", "\n  in block dense0, Dense(3 -> 4, linear), given float32 (2, 7)"),
        (True, "dense0_fwd(FullyConnected)", ""),
    ],
)
def test_error_of_a_layer_is_at_the_users_line_with_node_and_shapes(hybridize, where, place):
    with mx.name.NameManager():
        net = mx.gluon.nn.Dense(4, in_units=3, prefix="dense0_")
    net.initialize()
    if hybridize:
        net.hybridize()
    with pytest.raises(ValueError) as caught:
        net(mx.nd.ones((2, 7)))
    assert caught.traceback[0].path.name == "test_errors.py"
    assert str(caught.value) == f"[{where}] given 'weight' of shape (4,3) and type float32, expected 7 in dimension 1{place}"


A = "of shape (2,3) and type float32"
B = "of shape (4,5) and type float32"


def _a():
    return mx.nd.ones((2, 3))


def _b():
    return mx.nd.ones((4, 5))


@pytest.mark.parametrize(
    "call, message",
    [
        # Of two that differ the later one is named, with what the earlier one expects of it.
        (lambda: mx.nd.elemwise_add(_a(), _b()), f"[elemwise_add] given 'rhs' {B}, expected shape (2,3)"),
        (lambda: mx.nd.add_n(_a(), _a(), _b()), f"[add_n] given 'arg2' {B}, expected shape (2,3)"),
        (lambda: mx.nd.stack(_a(), _b()), f"[stack] given 'arg1' {B}, expected shape (2,3)"),
        (lambda: mx.nd.where(_a(), _a(), _b()), f"[where] given 'y' {B}, expected shape (2,3)"),
        (lambda: mx.nd.where(_a(), _a(), _a().astype("int32")), "[where] given 'y' of shape (2,3) and type int32, expected type float32"),
        (lambda: mx.nd.adam_update(_a(), _a(), _a(), _b(), lr=1), f"[adam_update] given 'var' {B}, expected shape (2,3)"),
        (lambda: mx.nd.relu(_a(), out=_b()), f"[relu] given output 0 {B}, expected shape (2,3)"),
        # Products name the argument as the operator's documentation does.
        (lambda: mx.nd.dot(_a(), _b()), f"[dot] given 'rhs' {B}, expected 3 in dimension 0"),
        (lambda: mx.nd.batch_dot(_a(), _a()), f"[batch_dot] given 'lhs' {A}, expected three dimensions or more"),
        (lambda: mx.nd.linalg.gemm2(_a(), _b()), f"[_linalg_gemm2] given 'B' {B}, expected 3 in dimension 0"),
        (
            lambda: mx.nd.linalg.gemm(_a(), _a(), _b(), transpose_b=True),
            f"[_linalg_gemm] given 'C' {B}, expected shape (2,2)",
        ),
        (
            lambda: mx.nd.linalg.gemm2(_a(), _a(), axis=1),
            "[_linalg_gemm2] given axis 1, expected one before the last, 1",
        ),
        (
            lambda: mx.np.tensordot(mx.np.ones((2, 3)), mx.np.ones((4, 5)), axes=1),
            f"[_npi_tensordot_int_axes] given 'b' {B}, expected 3 in dimension 0",
        ),
        (
            lambda: mx.np.einsum("ijk,jk", mx.np.ones((2, 3)), mx.np.ones((4, 5))),
            f"[_npi_einsum] given 'data0' {A}, expected 3 dimensions, as its subscripts in 'ijk,jk'",
        ),
        # Parameters; the words for a missing one are those that existing programs match.
        (lambda: mx.nd.sgd_update(_a(), _a()), "[sgd_update] Required parameter lr of float is not presented"),
        (lambda: mx.nd.sgd_update(_a(), _a(), lr="x"), "[sgd_update] given 'x' for parameter lr, expected float: not a number"),
        (lambda: mx.nd.norm(_a(), ord=7), "[norm] given '7' for parameter ord, expected 1 or 2"),
        (lambda: mx.nd.argmin(_a(), axis=3), "[argmin] given axis 3 for 2 dimensions, expected -2 <= axis < 2"),
        (lambda: mx.nd.tile(_a(), reps=(-1,)), "[tile] given reps [-1], expected none below 0"),
        (lambda: mx.nd.reshape(_a(), shape=(-1, -1)), "[reshape] given shape (-1,-1) for an array of shape (2,3), expected -1 no more than once"),
        (
            lambda: mx.nd.lamb_update_phase2(_a(), _a(), _b(), _b(), lr=1),
            f"[lamb_update_phase2] given 'r1' {B}, expected 1 in dimension 0",
        ),
        (
            lambda: mx.nd.random.uniform(shape=(-3,)),
            "[_random_uniform] given parameter 'shape' from which output 0 follows as float32 (-3), expected a type and dimensions of 0 or more",
        ),
        (lambda: mx.nd.random.uniform(2, 1, shape=(3,)), "[_random_uniform] given low 2 and high 1, expected low <= high"),
        # Too few arrays, and arrays of a type that there is no kernel for.
        (lambda: mx.nd.adam_update(_a(), _a(), lr=1), "[adam_update] given 2 inputs, expected 4: weight, grad, mean, var"),
        (
            lambda: mx.nd.contrib.fft(_a().astype("int32")),
            "[_contrib_fft] given 'data' of type int32, expected one of: float32, float64, float16, bfloat16",
        ),
    ],
)
def test_error_of_an_operator_names_argument_given_and_expected(call, message):
    with pytest.raises(mx.MXNetError) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "name, numbers, message",
    [
        ("normal", {"scale": -1}, "[_npi_normal] given scale = -1, expected a number not below 0"),
        ("gumbel", {"scale": -1}, "[_npi_gumbel] given scale = -1, expected a number not below 0"),
        ("logistic", {"scale": -1}, "[_npi_logistic] given scale = -1, expected a number not below 0"),
        ("exponential", {"scale": -1}, "[_npi_exponential] given scale = -1, expected a number not below 0"),
        ("rayleigh", {"scale": -1}, "[_npi_rayleigh] given scale = -1, expected a number not below 0"),
        ("pareto", {"a": 0}, "[_npi_pareto] given a = 0, expected a number above 0"),
        ("weibull", {"a": 0}, "[_npi_weibull] given a = 0, expected a number above 0"),
        ("power", {"a": 0}, "[_npi_powerd] given a = 0, expected a number above 0"),
        ("gamma", {"shape": -1}, "[_npi_gamma] given shape = -1, expected a number above 0"),
        ("gamma", {"shape": 1, "scale": 0}, "[_npi_gamma] given scale = 0, expected a number above 0"),
    ],
)
def test_numbers_that_are_no_parameters_of_a_distribution_are_refused(name, numbers, message):
    with pytest.raises(ValueError) as caught:
        getattr(mx.np.random, name)(size=(2,), **numbers)
    assert str(caught.value) == message


@pytest.mark.parametrize("name", ["normal", "gumbel", "logistic", "exponential", "rayleigh"])
def test_a_scale_of_zero_is_a_scale(name):
    assert mx.np.random.__dict__[name](scale=0, size=(2,)).asnumpy().tolist() == [0, 0]


def test_parts_of_an_array_are_equal_ones():
    assert [part.shape for part in mx.nd.split_v2(_a(), 3, axis=1)] == [(2, 1)] * 3
    with pytest.raises(ValueError, match="given 3 elements along axis 1, expected a multiple of 2"):
        mx.nd.split_v2(_a(), 2, axis=1)


@pytest.mark.skipif(sys.version_info < (3, 10), reason="names are suggested from Python 3.10 on")
@pytest.mark.parametrize("wrong, right", [("nd.softmaxx", "softmax"), ("sym.Convolutionn", "Convolution"), ("np.conctenate", "concatenate")])
def test_a_misspelt_operator_is_suggested(run_python, wrong, right):
    result = run_python(f"import mxnet as mx\nmx.{wrong}")
    assert f"Did you mean: '{right}'?" in result.stderr
    assert not hasattr(getattr(mx, wrong.split(".")[0]), wrong.split(".")[1])


OF_1_9_1 = {  # what a program for it may catch
    "float of several": (TypeError, lambda: float(mx.nd.ones((2, 3)))),
    "int of several": (TypeError, lambda: int(mx.nd.ones((2, 3)))),
    "index of several": (TypeError, lambda: range(5)[mx.nd.ones((2, 3), dtype="int32")]),
    "index by half of one, np": (TypeError, lambda: range(5)[mx.np.array(0.5)]),
    "index by truth, np": (TypeError, lambda: range(5)[mx.np.array(True, dtype="bool")]),
    "index of none, np": (TypeError, lambda: range(5)[mx.np.ones((0,), dtype="int32")]),
    "element of csr": (ValueError, lambda: mx.nd.ones((2, 3)).tostype("csr")[0, 1]),
    "name in csr": (ValueError, lambda: mx.nd.ones((2, 3)).tostype("csr")["x"]),
    "rows of row_sparse by a list": (ValueError, lambda: mx.nd.ones((2, 3)).tostype("row_sparse")[[0]]),
    "kernel of three": (AssertionError, lambda: mx.gluon.nn.Conv2D(3, (1, 2, 3))),
    "layout of a convolution": (AssertionError, lambda: mx.gluon.nn.Conv2D(3, 1, layout="XY")),
    "window of three": (AssertionError, lambda: mx.gluon.nn.MaxPool2D((1, 2, 3))),
    "layout of a recurrent layer": (AssertionError, lambda: mx.gluon.rnn.LSTM(3, layout="XY")),
    "steps of another number": (AssertionError, lambda: mx.gluon.rnn.LSTMCell(3).unroll(2, mx.nd.ones((2, 3, 4)))),
    "layout of a loss": (AssertionError, lambda: mx.gluon.loss.CTCLoss(layout="XY")),
    "layout of its labels": (AssertionError, lambda: mx.gluon.loss.CTCLoss(label_layout="XY")),
    "a function of no such name": (AssertionError, lambda: mx.gluon.nn.HybridLambda("no_such_function")),
    "a data set of nothing": (AssertionError, lambda: mx.gluon.data.ArrayDataset()),
    "lists of two lengths": (AssertionError, lambda: mx.gluon.data.ArrayDataset([1], [1, 2])),
    "a shard behind the last": (AssertionError, lambda: mx.gluon.data.SimpleDataset([1]).shard(2, 5)),
}


@pytest.mark.parametrize("what", OF_1_9_1)
def test_an_error_is_of_the_kind_that_programs_for_1_9_1_catch(what):
    kind, call = OF_1_9_1[what]
    assert callable(mx.nd.sparse.slice)  # once asked for it lies in the module, before what Python calls so
    with pytest.raises(kind):
        call()


def test_reshape_says_that_a_shape_is_missing():
    with pytest.raises(TypeError, match="expected a shape"):
        mx.nd.ones((2, 3)).reshape()
