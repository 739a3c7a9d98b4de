# SPDX-License-Identifier: Apache-2.0
"""Operators written in Python, on arrays and in networks."""

import itertools
import threading

import numpy as np
import pytest
from interrupted import is_interrupted
from which_binding import ON_CTYPES

import mxnet as mx


class Scaled(mx.operator.CustomOp):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] ** 2 * self.scale)
        aux[0][:] += 1

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], 2 * in_data[0] * out_grad[0] * self.scale)


@mx.operator.register("test_scaled_square")
class ScaledProp(mx.operator.CustomOpProp):
    def __init__(self, scale="1"):
        super().__init__(need_top_grad=True)
        self.scale = float(scale)

    def list_auxiliary_states(self):
        return ["calls"]

    def infer_shape(self, in_shape):
        return in_shape, [in_shape[0]], [(1,)]

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Scaled(self.scale)


def test_on_arrays_with_gradient_and_state():
    data, calls = mx.nd.array([[1, 2], [3, 4]]), mx.nd.zeros((1,))
    data.attach_grad()
    with mx.autograd.record():
        result = mx.nd.Custom(data, calls, op_type="test_scaled_square", scale=3)
    result.backward()
    np.testing.assert_array_equal(result.asnumpy(), [[3, 12], [27, 48]])
    np.testing.assert_array_equal(data.grad.asnumpy(), [[6, 12], [18, 24]])
    assert calls.asscalar() == 1


def test_an_operator_of_the_user_computes_and_trains_in_networks():
    made = mx.sym.Custom(mx.sym.Variable("data"), op_type="test_scaled_square", scale=2, name="op")
    assert made.list_arguments() == ["data"]
    assert made.list_auxiliary_states() == ["op_calls"]
    assert made.infer_shape(data=(2, 3))[1] == [(2, 3)]
    executor = made.simple_bind(mx.cpu(), data=(2,))
    executor.arg_dict["data"][:] = mx.nd.array([1, 3])
    np.testing.assert_array_equal(executor.forward(is_train=True)[0].asnumpy(), [2, 18])
    executor.backward(mx.nd.ones((2,)))
    np.testing.assert_array_equal(executor.grad_dict["data"].asnumpy(), [4, 12])


class Remembering(mx.operator.CustomOp):
    """Keeps in itself what its gradient needs."""

    made = 0

    def __init__(self):
        super().__init__()
        Remembering.made += 1

    def forward(self, is_train, req, in_data, out_data, aux):
        self.data = in_data[0].copy()
        self.assign(out_data[0], req[0], in_data[0] ** 2)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], 2 * self.data * out_grad[0])


@mx.operator.register("test_remembering")
class RememberingProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Remembering()


class TwoOfThem(mx.gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return F.Custom(x, op_type="test_remembering") + F.Custom(3 * x, op_type="test_remembering")


@pytest.fixture
def remembering():
    Remembering.made = 0
    return Remembering


@pytest.fixture(params=["array", "block", "compiled block"])
def square(request):
    """(function, its factor, objects that a call makes)"""
    if request.param == "array":
        return lambda x: mx.nd.Custom(x, op_type="test_remembering"), 1, 1
    net = TwoOfThem()
    if request.param == "compiled block":
        net.hybridize()
    return net, 10, 2


def test_each_call_has_an_object_of_its_own(square, remembering):
    function, factor, objects = square
    xs = [mx.nd.array([i + 1.0, 2.0]) for i in range(3)]
    for x in xs:
        x.attach_grad()
    with mx.autograd.record():
        total = sum(function(x) for x in xs)
    total.backward()
    for i, x in enumerate(xs):
        np.testing.assert_array_equal(x.grad.asnumpy(), [2 * factor * (i + 1.0), 4 * factor])
    assert remembering.made == 3 * objects


def test_nodes_of_an_executor_keep_theirs_from_run_to_run(remembering):
    x = mx.sym.Variable("x")
    graph = mx.sym.Custom(x, op_type="test_remembering") + mx.sym.Custom(3 * x, op_type="test_remembering")
    arrays = [mx.nd.array([1.0, 2.0]), mx.nd.array([5.0, 7.0])]
    executors = [graph.bind(mx.cpu(), {"x": array}, {"x": mx.nd.zeros(2)}) for array in arrays]
    for _ in range(3):
        for executor in executors:
            executor.forward(is_train=True)
        for executor in executors:
            executor.backward(mx.nd.ones(2))
    for executor, array in zip(executors, arrays):
        np.testing.assert_array_equal(executor.grad_dict["x"].asnumpy(), 20 * array.asnumpy())
    assert remembering.made == 4


def test_threads_that_call_one_operator_at_once_have_what_one_thread_has(remembering):
    count, errors, gradients = 6, [], {}
    for turn in range(20):  # each with parameters that no thread has used before
        begun = threading.Barrier(count)

        def train(i, begun=begun, scale=turn + 1):
            try:
                x, calls = mx.nd.full((i + 1, 2), i + 1.0), mx.nd.zeros((1,))
                x.attach_grad()
                begun.wait()
                with mx.autograd.record():
                    y = mx.nd.Custom(x, calls, op_type="test_scaled_square", scale=scale)
                    z = mx.nd.Custom(y, op_type="test_remembering")
                z.backward()
                gradients[i] = x.grad.asnumpy()
            except Exception as error:  # told below
                errors.append(error)

        threads = [threading.Thread(target=train, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors
        for i in range(count):
            np.testing.assert_array_equal(gradients[i], np.full((i + 1, 2), 4 * (turn + 1) ** 2 * (i + 1.0) ** 3))


def test_a_dimension_that_callbacks_cannot_have_is_an_error():
    """They have dimensions as int: 2^32 + 3 was 3 to them."""
    made = mx.sym.Custom(mx.sym.Variable("data"), op_type="test_scaled_square", name="op")
    with pytest.raises(mx.MXNetError, match=r"\(4294967299,?\).*below 2\^31"):
        made.infer_shape(data=(2**32 + 3,))


class Times7(mx.operator.NumpyOp):
    def forward(self, in_data, out_data):
        out_data[0][:] = in_data[0] * 7

    def backward(self, out_grad, in_data, out_data, in_grad):
        in_grad[0][:] = out_grad[0] * 7


def test_numpy_operators_of_the_first_versions():
    made = Times7()(data=mx.sym.Variable("data"), name="seven")
    assert made.list_outputs() == ["seven_output"]
    executor = made.simple_bind(mx.cpu(), data=(2,))
    executor.arg_dict["data"][:] = mx.nd.array([1, 3])
    np.testing.assert_array_equal(executor.forward(is_train=True)[0].asnumpy(), [7, 21])
    executor.backward(mx.nd.array([1, 2]))
    np.testing.assert_array_equal(executor.grad_dict["data"].asnumpy(), [7, 14])


class Broken(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        error = KeyError("in the operator")
        if hasattr(error, "add_note"):  # Python 3.11; what is said of the error is not the error
            error.add_note("of batch 3")
        raise error


@mx.operator.register("test_broken")
class BrokenProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Broken()


def test_a_failure_is_an_error_of_the_call(capsys):
    with pytest.raises(mx.MXNetError, match="test_broken.*forward has failed: KeyError: 'in the operator'"):
        mx.nd.Custom(mx.nd.ones((2,)), op_type="test_broken").asnumpy()
    assert "in the operator" in capsys.readouterr().err


def test_an_unknown_operator_is_named():
    with pytest.raises(mx.MXNetError, match="op_type 'not_there'"):
        mx.nd.Custom(mx.nd.ones((2,)), op_type="not_there")


def test_the_registry_can_be_asked():
    assert "Activation" in mx.operator.get_all_registered_operators()
    assert mx.operator.get_operator_arguments("Activation").names == ["data", "act_type"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ZeroDivisionError])
@pytest.mark.parametrize("where", ["forward", "infer_shape", "create_operator", "description"])
def test_whatever_is_raised_the_call_fails(run_python, error, where):
    """Ctrl-C arrives after the call; anything else is a failure of it."""
    done = run_python(
        """
import builtins
import signal
import sys

import mxnet as mx

signal.signal(signal.SIGINT, signal.default_int_handler)
error, where = getattr(builtins, sys.argv[1]), sys.argv[2]


def here(place):
    if place == where:
        raise error("on purpose")


class Op(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        here("forward")


@mx.operator.register("raises")
class Prop(mx.operator.CustomOpProp):
    def __init__(self):
        super().__init__()
        here("description")

    def infer_shape(self, in_shape):
        here("infer_shape")
        return in_shape, [in_shape[0]], []

    def create_operator(self, ctx, in_shapes, in_dtypes):
        here("create_operator")
        return Op()


try:
    mx.nd.Custom(mx.nd.ones(2), op_type="raises").asnumpy()
    for _ in range(100):
        pass
except KeyboardInterrupt:
    print("interrupted")
except mx.MXNetError as failure:
    print("failed", failure)
else:
    print("nothing happened")
""",
        error.__name__,
        where,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("interrupted" if error is KeyboardInterrupt else "failed"), done.stdout + done.stderr
    assert (f"{error.__name__}: on purpose" in done.stderr) == (error is not KeyboardInterrupt)


class Negated(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], -in_data[0])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], -out_grad[0])


@mx.operator.register("negated_for_interrupts")
class NegatedProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return Negated()


class Negation(mx.autograd.Function):
    def forward(self, x):
        return -x

    def backward(self, dy):
        return -dy


def negated():
    x = mx.nd.ones(2)
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.Custom(x, op_type="negated_for_interrupts")
    y.backward()
    assert x.grad.asnumpy().tolist() == [-1, -1]


def negation():
    x = mx.nd.ones(2)
    x.attach_grad()
    with mx.autograd.record():
        y = Negation()(x)
    y.backward()
    assert x.grad.asnumpy().tolist() == [-1, -1]


def interrupted_at_call(number, body):
    """Runs body with Ctrl-C on entry of its number-th call of a function in Python; that function, and whether it was raised."""
    count, where = 0, None

    def trace(frame, event, _):
        nonlocal count, where
        count += 1
        if count == number + 1:
            where = frame.f_code.co_name
            raise KeyboardInterrupt

    raised = is_interrupted(body, trace)
    return where, raised


@pytest.mark.skipif(ON_CTYPES, reason="there the outermost function is in Python")
@pytest.mark.parametrize(["body", "callbacks"], [(negated, {"call", "forward", "backward"}), (negation, {"gradient", "backward"})])
def test_ctrl_c_on_entry_of_a_callback_reaches_the_caller(body, callbacks, capfd):
    body()
    seen = set()
    for number in itertools.count():
        where, raised = interrupted_at_call(number, body)
        if where is None:
            break
        seen.add(where)
        assert raised, where
    assert seen >= callbacks
    assert not capfd.readouterr().err
