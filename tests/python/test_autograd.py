# SPDX-License-Identifier: Apache-2.0
"""Recording, gradients, and functions with gradients of their own."""

import gc
import sys
import threading
import weakref
from collections import namedtuple

import mxnet as mx
import numpy as np
import pytest
from mxnet import autograd


def leaf(values, **kwargs):
    x = mx.nd.array(values)
    x.attach_grad(**kwargs)
    return x


@pytest.mark.parametrize("stype", ["default", "row_sparse", "csr"])
@pytest.mark.parametrize("of", ["default", "row_sparse", "csr"])
def test_a_gradient_has_the_layout_that_is_asked_for(of, stype):
    values = np.array([[0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 0, 0]], "float32")
    weight = mx.nd.array(np.arange(1, 9).reshape(4, 2))
    x = mx.nd.array(values).tostype(of)
    x.attach_grad(stype=stype)
    assert x.grad.stype == stype and x.grad.dtype == np.float32 and not x.grad.asnumpy().any()
    for function, slope in ((lambda a: mx.nd.dot(a, weight), [[3, 7, 11, 15]] * 3), (mx.nd.square, 2 * values)):
        with autograd.record():
            result = function(x)
        result.backward()
        assert x.grad.stype == stype
        np.testing.assert_array_equal(x.grad.asnumpy(), slope)


def test_switches_of_the_scopes():
    def state():
        return autograd.is_recording(), autograd.is_training()

    assert state() == (False, False)
    with autograd.record():
        assert state() == (True, True)
        with autograd.pause():
            assert state() == (False, False)
        with autograd.predict_mode():
            assert state() == (True, False)
    with autograd.record(train_mode=False), autograd.train_mode():
        assert state() == (True, True)
    assert state() == (False, False)


def test_switches_come_back_after_an_error_and_belong_to_the_thread():
    seen = []
    with pytest.raises(KeyError), autograd.record():
        thread = threading.Thread(target=lambda: seen.append(autograd.is_recording()))
        thread.start()
        thread.join()
        raise KeyError
    assert seen == [False] and not autograd.is_recording()


def test_backward_writes_and_adds():
    x, added = leaf([1.0, 2.0]), leaf([1.0, 2.0], grad_req="add")
    for _ in range(2):
        with autograd.record():
            y = x * x + added * added
        y.backward()
    assert x.grad.asnumpy().tolist() == [2, 4] and added.grad.asnumpy().tolist() == [4, 8]


@pytest.mark.parametrize("hybridized", [False, True])
def test_a_pass_that_is_refused_leaves_the_gradients_as_they_were(hybridized):
    class Shuffled(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.random.shuffle(x * 2)

    block = Shuffled()
    if hybridized:
        block.hybridize()  # not compiled, as it is small
    x, added = leaf([1.0, 2.0], grad_req="add"), leaf([4.0, 5.0], grad_req="add")
    written = leaf([6.0, 7.0])
    with autograd.record():
        y = block(x) * added * written
    for _ in range(2):
        with pytest.raises(mx.MXNetError, match="this one has no gradient"):
            y.backward(retain_graph=True)
        assert [of.grad.asnumpy().tolist() for of in (x, added, written)] == [[0, 0]] * 3


def test_what_has_no_gradient_stops_none_that_goes_around_it():
    x = leaf([3.0, 1.0], grad_req="add")
    with autograd.record():
        y = x * x + mx.nd.BlockGrad(mx.nd.random.shuffle(x))
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.asnumpy().tolist() == [12, 4]


def test_head_gradients_weigh_the_outputs():
    x = leaf([1.0, 2.0])
    with autograd.record():
        y = x * 3
    y.backward(mx.nd.array([10, 1]))
    assert x.grad.asnumpy().tolist() == [30, 3]
    with autograd.record():
        y, z = x * 2, x * x
    autograd.backward([y, z], [None, mx.nd.array([1, 0])])
    assert x.grad.asnumpy().tolist() == [4, 2]


@pytest.mark.parametrize("heads", [list, tuple])
def test_one_array_is_the_gradient_of_one_head_that_stands_in_a_list(heads):
    x, weights = leaf([[1.0, 2.0], [3.0, 4.0]]), mx.nd.array([[1, 2], [3, 4]])
    with autograd.record():
        y = heads([x * 2])
    autograd.backward(y, weights, retain_graph=True)
    assert x.grad.asnumpy().tolist() == [[2, 4], [6, 8]]
    assert autograd.grad(y, [x], head_grads=weights)[0].asnumpy().tolist() == [[2, 4], [6, 8]]


def test_one_array_is_not_taken_apart_for_several_heads():
    x = leaf([1.0, 2.0])
    with autograd.record():
        heads = [x * 2, x * 3]
    with pytest.raises(ValueError, match="given 1 head gradients, expected 2"):
        autograd.backward(heads, mx.nd.array([[1, 2], [3, 4]]))


def test_the_graph_is_freed_unless_it_is_retained():
    x = leaf([3.0])
    with autograd.record():
        y = x * x
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(mx.MXNetError):
        y.backward()


def test_a_gradient_has_a_gradient():
    x = leaf([2.0])
    with autograd.record():
        (first,) = autograd.grad(x**3, [x], create_graph=True)
        z = first * first
    z.backward()
    np.testing.assert_allclose(first.asnumpy(), [12])
    np.testing.assert_allclose(x.grad.asnumpy(), [2 * 12 * 12])


def test_grad_gives_a_list_for_one_variable_too():
    x = leaf([1.0, 2.0])
    with autograd.record():
        y = x * x
    made = autograd.grad(y, x)
    assert isinstance(made, list) and made[0].asnumpy().tolist() == [2, 4]


def test_detach_and_pause_stop_gradients():
    x = leaf([2.0])
    with autograd.record():
        y = x * x.detach()
        with autograd.pause():
            constant = x * 100
        z = y + constant
    z.backward()
    assert x.grad.asnumpy().tolist() == [2]


def test_gradients_are_added_to_the_buffer_that_a_variable_is_marked_with():
    x, grad = mx.nd.array([1.0]), mx.nd.array([7.0])
    autograd.mark_variables(x, grad, "add")
    with autograd.record():
        y = 5 * x
    y.backward()
    assert grad.asnumpy().tolist() == [12]


class Sigmoid(autograd.Function):
    def forward(self, x):
        y = 1 / (1 + mx.nd.exp(-x))
        self.save_for_backward(y)
        return y

    def backward(self, dy):
        (y,) = self.saved_tensors
        return dy * y * (1 - y)


def test_a_function_of_the_user_has_its_own_gradient():
    x = leaf([0.5, -1.0])
    with autograd.record():
        y = Sigmoid()(x) * 2
    y.backward()
    value = 1 / (1 + np.exp(-x.asnumpy()))
    np.testing.assert_allclose(x.grad.asnumpy(), 2 * value * (1 - value), rtol=1e-6)


class Custom(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] ** 3)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], 3 * in_data[0] ** 2 * out_grad[0])


@mx.operator.register("autograd_cube")
class Cube(mx.operator.CustomOpProp):
    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Custom()


@pytest.mark.parametrize("call", [lambda x: Sigmoid()(x), lambda x: mx.nd.Custom(x, op_type="autograd_cube")], ids=["Function", "CustomOp"])
@pytest.mark.parametrize("behind", [False, True])
def test_a_second_gradient_of_a_function_of_the_user_is_refused(call, behind):
    """What its backward computes is on no tape; as constants the second gradient would lack it without a word."""
    x = leaf([0.5, -1.0])
    with autograd.record():
        y = call(x * 1) * x if behind else call(x)
        (first,) = autograd.grad(y, [x], create_graph=True)
        z = first * first
    assert np.isfinite(first.asnumpy()).all()
    with pytest.raises(mx.MXNetError, match="given the gradient of a gradient that a user's function computes"):
        z.backward()


def test_a_gradient_of_a_gradient_beside_a_function_of_the_user():
    x, other = leaf([0.5, -1.0]), leaf([2.0, 3.0])
    with autograd.record():
        y = Sigmoid()(x) + other**3
        (first,) = autograd.grad(y, [other], create_graph=True)
    first.backward()
    assert other.grad.asnumpy().tolist() == [12, 18]


def test_function_with_several_inputs_and_outputs():
    class Both(autograd.Function):
        def forward(self, a, b):
            return a * 2, b * 3

        def backward(self, da, db):
            return da * 20, db * 30

    a, b = leaf([1.0]), leaf([1.0])
    with autograd.record():
        x, y = Both()(a, b)
        z = x + 2 * y
    z.backward()
    assert (a.grad.asscalar(), b.grad.asscalar()) == (20, 60)


class Holder(autograd.Function):
    """Holds its results and a large array, in one of the ways in which programs do."""

    def __init__(self, keep):
        super().__init__()
        self._keep = keep

    def forward(self, x):
        y = x * 2
        self._keep(self, y)
        return y

    def backward(self, dy):
        return dy * 2


KEEPERS = [
    lambda function, result: function.save_for_backward(result),
    lambda function, result: setattr(function, "result", result),
    lambda function, result: setattr(function, "results", {"y": [result]}),
]


@pytest.mark.parametrize("keep", KEEPERS)
def test_a_function_that_holds_its_result_goes_with_what_was_recorded(keep, collector_off):
    def called(backward):
        function = Holder(keep)
        x = leaf([1.0])
        with autograd.record():
            y = function(x)
        if backward:
            y.backward()
            assert x.grad.asscalar() == 2
        return weakref.ref(function), y

    for backward in (False, True):
        kept, y = called(backward)
        assert (kept() is None) == backward  # the gradient may yet be asked for
        del y
        gc.collect()
        assert kept() is None


def test_results_of_a_function_are_what_forward_gives_in_the_same_memory():
    class Several(autograd.Function):
        def forward(self, x):
            self.made = [x * 2, x]
            return self.of(self.made)

        def backward(self, *grads):
            return grads[0]

    for of in (list, tuple, namedtuple("Pair", ["double", "same"])._make):
        function, x = Several(), leaf([3.0])
        function.of = of
        with autograd.record():
            results = function(x)
        assert type(results) is type(of([1, 2]))
        results[0][:] = 5
        assert function.made[0].asscalar() == 5
        results[0].backward()
        assert x.grad.asscalar() == 1  # the input that is a result stays what it was


def test_a_function_is_called_once():
    function = Sigmoid()
    function(mx.nd.ones(1))
    with pytest.raises(RuntimeError, match="once"):
        function(mx.nd.ones(1))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_gradient_that_fails_fails_backward():
    class Broken(autograd.Function):
        def forward(self, x):
            return x * 1

        def backward(self, dy):
            raise RuntimeError("on purpose")

    x = leaf([1.0])
    with autograd.record():
        y = Broken()(x)
    with pytest.raises(mx.MXNetError, match="backward has failed: RuntimeError: on purpose"):
        y.backward()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("given, said", [(None, "returned NoneType, expected arrays"), ("text", "returned str, expected arrays"),
                                         ([1.0], "returned float, expected arrays"), ((), "returned 0 gradients, expected 1")])
def test_what_is_no_gradient_is_named(given, said):
    class Strange(autograd.Function):
        def forward(self, x):
            return x * 1

        def backward(self, dy):
            return given

    x = leaf([1.0])
    with autograd.record():
        y = Strange()(x)
    with pytest.raises(mx.MXNetError, match=f"Strange.backward {said}"):
        y.backward()


def test_writing_into_what_is_recorded_is_an_error():
    x = leaf([1.0])
    with pytest.raises(mx.MXNetError), autograd.record():
        x += 1


@pytest.mark.parametrize("activation", ["tanh", "sigmoid", "relu", "softsign"])
def test_a_penalty_on_a_networks_slope_has_the_gradient_of_finite_differences(activation):
    random = np.random.RandomState(1)
    first, second = (leaf(random.normal(size=shape)) for shape in ((8, 3), (1, 8)))
    points = leaf(random.normal(size=(6, 3)))

    def penalty():
        with autograd.record():
            hidden = getattr(mx.nd, activation)(mx.nd.FullyConnected(points, first, num_hidden=8, no_bias=True))
            out = mx.nd.FullyConnected(hidden, second, num_hidden=1, no_bias=True)
            (slope,) = autograd.grad(out, [points], create_graph=True, retain_graph=True)
            return ((slope.square().sum(axis=1) + 1e-12).sqrt() - 1).square().sum()

    penalty().backward()
    step = 1e-2
    for weights in (first, second):
        found = weights.grad.asnumpy()
        for place in [(0, 0), (0, 2)]:
            value = weights[place].asscalar()
            values = []
            for moved in (value + step, value - step):
                weights[place] = moved
                values.append(penalty().asscalar())
            weights[place] = value
            assert found[place] == pytest.approx((values[0] - values[1]) / (2 * step), rel=0.02, abs=0.01)


INVERSES = {
    "arcsin": (-1, 1, lambda x: ((1 - x) * (1 + x)) ** -0.5, lambda x: x * ((1 - x) * (1 + x)) ** -1.5),
    "arccos": (-1, 1, lambda x: -(((1 - x) * (1 + x)) ** -0.5), lambda x: -x * ((1 - x) * (1 + x)) ** -1.5),
    "arccosh": (1, 9, lambda x: ((x - 1) * (x + 1)) ** -0.5, lambda x: -x * ((x - 1) * (x + 1)) ** -1.5),
    "arcsinh": (-9, 9, lambda x: (x * x + 1) ** -0.5, lambda x: -x * (x * x + 1) ** -1.5),
    "arctan": (-9, 9, lambda x: 1 / (x * x + 1), lambda x: -2 * x / (x * x + 1) ** 2),
    "arctanh": (-1, 1, lambda x: 1 / ((1 - x) * (1 + x)), lambda x: 2 * x / ((1 - x) * (1 + x)) ** 2),
}


@pytest.mark.parametrize("name", INVERSES)
@pytest.mark.parametrize("dtype, near, near_twice", [("float16", 5e-4, 2e-3), ("float32", 3e-7, 6e-7), ("float64", 1e-14, 1e-14)])
def test_gradients_of_inverse_functions_keep_their_digits_near_the_ends(name, dtype, near, near_twice):
    """However often they are asked for, and with whatever instructions: 1 - x^2 is not rounded before its root is taken."""
    low, high, slope, slope_of_slope = INVERSES[name]
    random = np.random.RandomState(6601)
    close = 2.0 ** -random.uniform(1, 9 if dtype == "float16" else 20, 1000)
    points = np.concatenate([random.uniform(low, high, 1000), high - close if high == 1 else low + close]).astype(dtype)
    points = points[(points != low) & (points != high)]
    exact = points.astype("longdouble")
    x = mx.nd.array(points, dtype=dtype)
    x.attach_grad()
    with autograd.record():
        (first,) = autograd.grad(getattr(mx.nd, name)(x), [x], create_graph=True, retain_graph=True)
    first.backward()
    for got, want, far in ((first, slope(exact), near), (x.grad, slope_of_slope(exact), near_twice)):
        large = (abs(want) > 1e-3) & (abs(want) < 6e4)
        assert (abs(got.asnumpy() - want) / abs(want))[large].max() < far


@pytest.mark.parametrize("name", INVERSES)
def test_third_derivatives_of_inverse_functions_are_those_of_differences(name):
    low, high, _, slope_of_slope = INVERSES[name]
    points = np.linspace(low, high, 23)[1:-1]
    x = mx.nd.array(points, dtype="float64")
    x.attach_grad()
    with autograd.record():
        y = getattr(mx.nd, name)(x)
        for _ in range(2):
            (y,) = autograd.grad(y, [x], create_graph=True, retain_graph=True)
    y.backward()
    step = 1e-5
    want = (slope_of_slope(points + step) - slope_of_slope(points - step)) / (2 * step)
    np.testing.assert_allclose(x.grad.asnumpy(), want, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("error, expected", [(KeyboardInterrupt, KeyboardInterrupt), (ValueError, mx.MXNetError)])
def test_ctrl_c_in_a_gradient_arrives(error, expected, capsys, monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)  # pytest takes what is printed there for a mistake

    class Interrupted(autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, gradient):
            raise error("on purpose")

    x = mx.nd.ones(2)
    x.attach_grad()
    with autograd.record():
        y = Interrupted()(x)
    with pytest.raises(expected):
        y.backward()
        x.grad.wait_to_read()
    with pytest.raises(mx.MXNetError):  # what comes later is a failure again
        mx.nd.ones(2) + mx.nd.ones(3)


@pytest.mark.parametrize("hybridized", [False, True])
def test_of_gradients_that_are_written_to_one_array_one_is_there_as_a_whole(hybridized):
    class Sum(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x, y):
            return x * y * y * x + x * 3 + y * 7

    net = Sum()
    if hybridized:
        net.hybridize()
    x, y, one = mx.nd.array([1, 2]), mx.nd.array([3, 5]), mx.nd.zeros(2)
    of_x, of_y = [21, 103], [13, 47]
    mx.autograd.mark_variables([x, y], [one, one], "write")
    with mx.autograd.record():
        z = net(x, y)
    z.backward()
    assert one.asnumpy().tolist() in (of_x, of_y)
    mx.autograd.mark_variables([x, y], [one, one], "add")
    one[:] = 1
    with mx.autograd.record():
        z = net(x, y)
    z.backward()
    assert one.asnumpy().tolist() == [1 + 21 + 13, 1 + 103 + 47]
    # Places of one array that do not overlap are as good as arrays.
    rows = mx.nd.zeros(4)
    mx.autograd.mark_variables([x, y], [rows[2:], rows[:2]], "write")
    with mx.autograd.record():
        z = net(x, y)
    z.backward()
    assert rows.asnumpy().tolist() == of_y + of_x


def test_threads_train_networks_of_their_own_with_the_same_data():
    x, y = mx.nd.array(np.arange(12).reshape(4, 3) / 12), mx.nd.array([0, 1, 1, 0])

    def trained():
        net = mx.gluon.nn.Sequential()
        net.add(mx.gluon.nn.Dense(5, activation="tanh", in_units=3), mx.gluon.nn.Dense(2, in_units=5))
        net.initialize(mx.init.Constant(0.1))
        net[0].weight.set_data(mx.nd.array(np.arange(15).reshape(5, 3) / 15))
        loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
        trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
        for _ in range(30):
            with autograd.record():
                loss = loss_of(net(x), y)
            loss.backward()
            trainer.step(4)
        return [parameter.data().asnumpy() for parameter in net.collect_params().values()]

    alone, together = trained(), [None] * 4

    def run(place):
        with x.context:  # each thread has a default of its own
            together[place] = trained()

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(together))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for found in together:
        assert all((a == b).all() for a, b in zip(alone, found))


@pytest.mark.parametrize("name", ["ceil", "fix", "floor", "rint", "round", "trunc"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_steps_have_a_gradient_of_zero_whatever_comes_from_above(name, dtype):
    """ASoftmax raises -1 to a rounded angle: of the exponent there is no gradient but NaN."""
    x, head = mx.nd.array([-1.5, 0, 2.3, 4], dtype=dtype), mx.nd.array([np.nan, np.inf, -np.inf, 2], dtype=dtype)
    for request, expected in (("write", 0), ("add", 1)):
        x.attach_grad(request)
        x.grad[:] = 1
        with autograd.record():
            y = getattr(mx.nd, name)(x)
        y.backward(head)
        assert (x.grad.asnumpy() == expected).all()
    symbol = mx.sym.var("base") ** getattr(mx.sym, name)(mx.sym.var("x"))
    grads = {"x": mx.nd.ones(4, dtype=dtype)}
    executor = symbol.bind(mx.cpu(), {"x": x, "base": -mx.nd.ones(4, dtype=dtype)}, grads, {"x": "write", "base": "null"})
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones(4, dtype=dtype))
    assert (grads["x"].asnumpy() == 0).all()


@pytest.mark.parametrize("name", ["ceil", "fix", "floor", "rint", "trunc"])
def test_steps_of_numpy_have_a_gradient_of_zero(name):
    x = mx.np.array([-1.5, 0.25, 2.3])
    x.attach_grad()
    with autograd.record():
        y = (-mx.np.ones(3)) ** getattr(mx.np, name)(x) + x
    y.backward()
    assert x.grad.asnumpy().tolist() == [1, 1, 1]
