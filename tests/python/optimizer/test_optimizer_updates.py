# SPDX-License-Identifier: Apache-2.0
"""Optimizers: their formulas, aggregation, half precision, multipliers, and states in files."""

import pickle

import numpy as np
import pytest

import mxnet as mx

SHAPES = [(4, 3), (3,), (2, 3, 2)]
NAMES = {0: "fc_weight", 1: "fc_bias", 2: "bn_gamma"}


def train(optimizer, dtype="float32", steps=4, lists=False):
    """Weights after some steps with fixed random gradients."""
    draws = np.random.RandomState(11)
    weights = [mx.nd.array(draws.randn(*shape), dtype=dtype) for shape in SHAPES]
    update = mx.optimizer.get_updater(optimizer)
    for _ in range(steps):
        grads = [mx.nd.array(draws.randn(*shape), dtype=dtype) for shape in SHAPES]
        if lists:
            update(list(range(len(weights))), grads, weights)
        else:
            for i, (grad, weight) in enumerate(zip(grads, weights)):
                update(i, grad, weight)
    return [weight.asnumpy() for weight in weights]


def expected(step, state=lambda w: None, steps=4):
    """The same in NumPy: step(weight, grad, state, t) changes weight and state in place."""
    draws = np.random.RandomState(11)
    weights = [draws.randn(*shape) for shape in SHAPES]
    states = [state(w) for w in weights]
    for t in range(1, steps + 1):
        for w, s, shape in zip(weights, states, SHAPES):
            step(w, draws.randn(*shape), s, t)
    return weights


def assert_close(found, wanted, rtol=1e-4, atol=1e-5):
    for one, other in zip(found, wanted):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=atol)


def test_sgd_with_momentum_and_weight_decay():
    def step(w, g, m, t):
        m *= 0.9
        m -= 0.1 * (np.clip(g * 0.5, -0.4, 0.4) + 0.01 * w)
        w += m

    made = mx.optimizer.SGD(learning_rate=0.1, momentum=0.9, wd=0.01, rescale_grad=0.5, clip_gradient=0.4)
    assert_close(train(made), expected(step, np.zeros_like))


def test_adam_corrects_its_means():
    def step(w, g, state, t):
        mean, var = state
        mean[:] = 0.9 * mean + 0.1 * g
        var[:] = 0.999 * var + 0.001 * g * g
        rate = 0.1 * np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        w -= rate * mean / (np.sqrt(var) + 1e-8)

    made = mx.optimizer.Adam(learning_rate=0.1)
    assert_close(train(made), expected(step, lambda w: (np.zeros_like(w), np.zeros_like(w))))


def test_adagrad_and_adadelta_and_adamax():
    def adagrad(w, g, h, t):
        h += g * g
        w -= 0.1 * (g / np.sqrt(h + 1e-7) + 0.01 * w)

    assert_close(train(mx.optimizer.AdaGrad(learning_rate=0.1, wd=0.01)), expected(adagrad, np.zeros_like))

    def adadelta(w, g, state, t):
        squares, steps = state
        squares[:] = 0.9 * squares + 0.1 * g * g
        change = np.sqrt(steps + 1e-5) / np.sqrt(squares + 1e-5) * g
        steps[:] = 0.9 * steps + 0.1 * change * change
        w -= change

    assert_close(train(mx.optimizer.AdaDelta()), expected(adadelta, lambda w: (np.zeros_like(w), np.zeros_like(w))))

    def adamax(w, g, state, t):
        mean, top = state
        mean[:] = 0.9 * mean + 0.1 * g
        top[:] = np.maximum(0.999 * top, np.abs(g))
        w -= 0.1 / (1 - 0.9**t) * mean / top

    made = mx.optimizer.Adamax(learning_rate=0.1)
    assert_close(train(made), expected(adamax, lambda w: (np.zeros_like(w), np.zeros_like(w))))


@pytest.mark.parametrize("name, still", [("adadelta", True), ("adagrad", True), ("nadam", True), ("adam", False), ("sgd", False)])
def test_what_a_bound_of_zero_does_to_gradients(name, still):
    """As in the release: nothing is left of them, or they are not clipped."""
    clipped, free = (train(mx.optimizer.create(name, clip_gradient=bound), steps=1) for bound in (0.0, None))
    start = train(mx.optimizer.create("sgd", learning_rate=0.0), steps=1)
    assert_close(clipped, start if still else free, rtol=0, atol=0)


@pytest.mark.parametrize("name", sorted(set(mx.optimizer.Optimizer.opt_registry)))
def test_a_negative_bound_clips_no_gradients(name):
    results = []
    for bound in (-1.0, None):
        mx.random.seed(5)  # SGLD draws
        update = mx.optimizer.get_updater(mx.optimizer.create(name, clip_gradient=bound, learning_rate=0.1))
        weight = mx.nd.array([[1, -2], [3, 0.5]])
        for _ in range(2):
            update(0, mx.nd.array([[2, -0.3], [0.1, -4]]), weight)
        results.append(weight.asnumpy())
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("name, count", [("lamb", 2), ("lbsgd", 1)])
def test_states_are_stored_as_the_weight_is(name, count):
    made = mx.optimizer.create(name, learning_rate=0.1, **({"momentum": 0.9} if name == "lbsgd" else {}))
    values = np.array([[1, -2], [3, 4]], "f")
    weights = [mx.nd.array(values), mx.nd.array(values).tostype("row_sparse")]
    for index, weight in enumerate(weights):
        states = made.create_state_multi_precision(index, weight)
        kept = states if isinstance(states, tuple) else (states,)
        assert [state.stype for state in kept] == [weight.stype] * count
        for _ in range(2):
            made.update_multi_precision(index, weight, mx.nd.array([[1, 1], [0, 2]]).tostype(weight.stype), states)
    assert_close([weights[1].asnumpy()], [weights[0].asnumpy()])


@pytest.mark.parametrize("name", ["sgd", "lamb", "lars"])
@pytest.mark.parametrize("half", [False, True])
def test_several_weights_at_once_are_as_one_by_one(name, half):
    options = {"learning_rate": 0.1, "wd": 0.01, "multi_precision": half}
    if name != "lamb":
        options["momentum"] = 0.9
    dtype = "float16" if half else "float32"
    single, many = (mx.optimizer.create(name, param_idx2name=NAMES, **options) for _ in range(2))
    tolerance = 2e-3 if half else 1e-5
    assert_close(train(single, dtype), train(many, dtype, lists=True), tolerance, tolerance)


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize(
    "name, options",
    [
        ("adadelta", {}),
        ("adagrad", {}),
        ("adam", {}),
        ("adamax", {}),
        ("ftml", {}),
        ("ftrl", {}),
        ("nadam", {}),
        ("nag", {}),
        ("nag", {"momentum": 0.9}),
        ("rmsprop", {}),
        ("rmsprop", {"centered": True, "gamma2": 0.8, "clip_weights": 1.0}),
        ("signum", {"momentum": 0.0}),
        ("signum", {"momentum": 0.9, "wd_lh": 0.01}),
    ],
)
def test_one_call_for_many_weights_is_as_one_by_one(name, options, half):
    options = {"learning_rate": 0.1, "wd": 0.01, "clip_gradient": 0.5, "multi_precision": half, **options}
    dtype = "float16" if half else "float32"
    single, many = (mx.optimizer.create(name, param_idx2name=NAMES, **options) for _ in range(2))
    for one, other in zip(train(single, dtype), train(many, dtype, lists=True)):
        np.testing.assert_array_equal(one, other)


HALF = "adadelta adagrad adam adamax ftml ftrl lamb lars lbsgd nadam nag rmsprop sgd signum".split()


@pytest.mark.filterwarnings("ignore:.*accumulates in")
@pytest.mark.parametrize("lists", [False, True])
@pytest.mark.parametrize("name", HALF)
def test_half_precision_alone_follows_single_precision(name, lists):
    half, single = (mx.optimizer.create(name, learning_rate=0.1) for _ in range(2))
    found, wanted = train(half, "float16", lists=lists), train(single)
    assert {one.dtype for one in found} == {np.dtype("float16")}
    assert_close(found, wanted, 1e-2, 1e-2)  # eleven bits, rounded in each of four steps


def test_weights_with_different_counts_get_the_corrections_of_their_own():
    weights = [[mx.nd.ones(3) for _ in range(2)] for _ in range(2)]
    grads = [mx.nd.array([1, 2, 3]), mx.nd.array([3, 2, 1])]
    apart, together = (mx.optimizer.get_updater(mx.optimizer.Adam(learning_rate=0.1)) for _ in range(2))
    for update, (first, second) in zip((apart, together), weights):
        update(0, grads[0], first)  # the second weight is one update behind from here on
        if update is together:
            update([0, 1], grads, [first, second])
        else:
            update(0, grads[0], first)
            update(1, grads[1], second)
    for one, other in zip(*weights):
        np.testing.assert_array_equal(one.asnumpy(), other.asnumpy())


def test_a_subclass_with_another_update_is_called_for_each_weight():
    class Recorded(mx.optimizer.Adam):
        seen: list = []

        def update(self, index, weight, grad, state):
            self.seen.append(index)
            super().update(index, weight, grad, state)

    made = Recorded()
    mx.optimizer.get_updater(made)([0, 1], [mx.nd.ones(2)] * 2, [mx.nd.ones(2), mx.nd.ones(2)])
    assert made.seen == [0, 1]


@pytest.mark.parametrize("name", ["sgd", "adam", "adamax", "rmsprop"])
def test_a_subclass_may_say_the_rate_of_a_weight(name):
    class Own(type(mx.optimizer.create(name))):
        def _get_lr(self, index):
            return 0.5**index

    plain = [mx.optimizer.create(name, learning_rate=0.5**i) for i in range(3)]
    updater, weights = mx.optimizer.get_updater(Own()), [mx.nd.ones(2) for _ in plain]
    updater(list(range(3)), [mx.nd.ones(2)] * 3, weights)
    for i, (one, weight) in enumerate(zip(plain, weights)):
        wanted = mx.nd.ones(2)
        mx.optimizer.get_updater(one)(i, mx.nd.ones(2), wanted)
        assert weight.asnumpy().tolist() == wanted.asnumpy().tolist() != [1, 1]


def test_aggregation_size_comes_from_its_variable(run_python):
    code = "import mxnet as mx; print(mx.optimizer.SGD().aggregate_num, mx.optimizer.LAMB().aggregate_num)"
    assert run_python(code).stdout.split() == ["4", "45"]
    assert run_python(code, env={"MXNET_OPTIMIZER_AGGREGATION_SIZE": "7"}).stdout.split() == ["7", "7"]
    assert run_python(code, env={"MXNET_OPTIMIZER_AGGREGATION_SIZE": ""}).stdout.split() == ["4", "45"]  # unset


@pytest.mark.parametrize("size, calls", [(None, [4, 4, 2]), (3, [3, 3, 3, 1]), (10, [10])])
def test_one_operator_updates_as_many_weights_as_aggregate_num_says(size, calls, tmp_path):
    made = mx.optimizer.SGD(learning_rate=0.5)
    made.aggregate_num = size or made.aggregate_num
    weights, grads = ([mx.nd.full((2,), float(i)) for i in range(10)] for _ in range(2))
    update = mx.optimizer.get_updater(made)
    update(list(range(10)), grads, weights)
    mx.nd.waitall()  # the profiler is to see the second one alone
    mx.profiler.set_config(profile_imperative=True, filename=str(tmp_path / "profile.json"), aggregate_stats=True)
    mx.profiler.set_state("run")
    update(list(range(10)), grads, weights)
    mx.nd.waitall()
    mx.profiler.set_state("stop")
    row = next(line for line in mx.profiler.dumps(reset=True).splitlines() if line.startswith("multi_sgd_update"))
    assert int(row.split()[1]) == len(calls)
    np.testing.assert_array_equal(np.stack([w.asnumpy() for w in weights])[:, 0], np.zeros(10))


def test_numbers_of_arrays_that_do_not_fit_are_an_error():
    from mxnet._core import update_weights

    update = mx.optimizer._base._op("sgd_update")
    with pytest.raises(ValueError, match="given 1 arrays, expected 2"):
        update_weights(update, 0, [[mx.nd.ones(1)] * 2, [mx.nd.ones(1)]], {"lr": [0.1, 0.1]}, {})
    with pytest.raises(ValueError, match="lr: expected one value for each of 2"):
        update_weights(update, 0, [[mx.nd.ones(1)] * 2, [mx.nd.ones(1)] * 2], {"lr": [0.1]}, {})
    with pytest.raises(TypeError, match="Operator"):
        update_weights(None, 0, [[], []], {}, {})


@pytest.mark.parametrize("name", ["sgd", "nag", "adam", "rmsprop"])
def test_half_precision_keeps_a_copy_in_full(name):
    made = mx.optimizer.create(name, learning_rate=1e-3, multi_precision=True)
    full = mx.optimizer.create(name, learning_rate=1e-3)
    assert_close(train(made, "float16"), [w.astype("float16") for w in train(full)], 5e-3, 5e-3)
    weight = mx.nd.ones((2, 2), dtype="float16")
    state = made.create_state_multi_precision(0, weight)
    masters = [part for part in state if isinstance(part, mx.nd.NDArray) and part.dtype == np.float32]
    assert masters and masters[0].shape == (2, 2)


def test_weight_decay_is_for_weights_and_gammas():
    made = mx.optimizer.SGD(wd=0.1, param_idx2name=NAMES)
    assert made._get_wds([0, 1, 2]) == [0.1, 0.0, 0.1]
    made.set_wd_mult({"fc_bias": 0.5})
    made.set_lr_mult({0: 3.0})
    assert made._get_wd(1) == 0.05
    assert made._get_lr(0) == pytest.approx(0.03)


def test_multipliers_come_from_the_symbol():
    weight = mx.sym.Variable("w_weight", lr_mult=2.0, wd_mult=0.25)
    made = mx.optimizer.SGD(learning_rate=0.1, wd=0.1, sym=weight * 1, param_idx2name={0: "w_weight"})
    assert (made._get_lr(0), made._get_wd(0)) == (pytest.approx(0.2), pytest.approx(0.025))


def test_a_scheduler_says_the_rate():
    made = mx.optimizer.SGD(lr_scheduler=mx.lr_scheduler.FactorScheduler(step=1, factor=0.5, base_lr=1.0))
    made._update_count(0)
    made._update_count(0)
    assert made.learning_rate == 0.5
    with pytest.raises(UserWarning):
        made.set_learning_rate(1.0)


@pytest.mark.parametrize("dump_optimizer", [False, True])
def test_states_go_on_where_they_were(dump_optimizer):
    first = mx.optimizer.get_updater(mx.optimizer.Adam(learning_rate=0.1))
    weight, grad = mx.nd.ones((3,)), mx.nd.array([1, 2, 3])
    first(0, grad, weight)
    second = mx.optimizer.get_updater(mx.optimizer.Adam(learning_rate=0.1))
    second.set_states(first.get_states(dump_optimizer))
    if not dump_optimizer:
        second.optimizer._index_update_count[0] = 1
    other = weight.copy()
    first(0, grad, weight)
    second(0, grad, other)
    np.testing.assert_array_equal(weight.asnumpy(), other.asnumpy())


def test_pickles_name_the_module_that_other_versions_have():
    saved = pickle.dumps(mx.optimizer.SGD(momentum=0.9))
    assert b"mxnet.optimizer.optimizer" in saved
    assert pickle.loads(saved).momentum == 0.9


def test_lbsgd_keeps_only_gradients_that_wait():
    """The release adds a gradient to whatever it finds in a file."""
    made = mx.optimizer.LBSGD(learning_rate=1.0, batch_scale=2, warmup_epochs=0)
    weight, grad = mx.nd.zeros(2), mx.nd.ones(2)
    for waiting, after in ((1, 0), (0, -2), (1, -2), (0, -4)):
        made.update(0, weight, grad, None)
        kept = made.cumgrads[0]["cum_grad"]
        assert waiting == (kept if isinstance(kept, int) else kept.asnumpy()[0])
        assert weight.asnumpy().tolist() == [after, after]


@pytest.mark.parametrize("name", ["lamb", "lars", "sgd"])
def test_a_network_of_more_weights_than_a_shape_has_dimensions(name):
    """They are updated at once, up to 45 of them, and each has its own number of updates."""

    def trained(together):
        made = mx.optimizer.create(name, learning_rate=0.1)
        update = mx.optimizer.get_updater(made)
        weights = [mx.nd.full((2, 2), 1 + i) for i in range(40)]
        grads = [mx.nd.array([[1, i], [2, -1]]) for i in range(40)]
        update(3, grads[3], weights[3])
        for _ in range(2):
            if together:
                update(list(range(40)), grads, weights)
            else:
                for i in range(40):
                    update(i, grads[i], weights[i])
        return np.stack([weight.asnumpy() for weight in weights])

    np.testing.assert_allclose(trained(True), trained(False), rtol=1e-5)


def test_an_unknown_optimizer_is_named():
    with pytest.raises(ValueError, match="given optimizer 'sgdd', expected one of .*sgd"):
        mx.optimizer.create("sgdd")


def test_rows_without_gradient_stay_with_lazy_updates():
    weight = mx.nd.ones((4, 2)).tostype("row_sparse")
    grad = mx.nd.sparse.row_sparse_array((np.ones((1, 2), "f"), [2]), shape=(4, 2))
    made = mx.optimizer.SGD(learning_rate=0.5)
    made.update(0, weight, grad, made.create_state(0, weight))
    np.testing.assert_allclose(weight.asnumpy(), [[1, 1], [1, 1], [0.5, 0.5], [1, 1]])


@pytest.mark.parametrize("name", sorted(set(mx.optimizer.Optimizer.opt_registry)))
def test_arrays_of_np_are_updated_as_those_of_nd(name):
    results = []
    for kind in (mx.nd, mx.np):
        mx.random.seed(1)
        update = mx.optimizer.get_updater(mx.optimizer.create(name, learning_rate=0.1))
        weight = kind.array(np.arange(1, 7, dtype="float32").reshape(2, 3))
        for _ in range(2):
            update(0, kind.array(np.full((2, 3), 0.5, "float32")), weight)
        results.append(weight.asnumpy())
    np.testing.assert_allclose(*results, rtol=1e-6)


class _WithFactors:
    lr_mult, wd_mult = 1.0, 1.0


def test_rates_follow_what_changes_between_steps():
    """Parameters come before factors by index, these before factors by name; a count begins where it is told to."""
    parameters = {0: _WithFactors(), 2: _WithFactors()}
    made = mx.optimizer.SGD(learning_rate=0.5, param_idx2name={1: "by_name"}, param_dict=parameters, begin_num_update=7)
    made.set_lr_mult({0: 9.0, 1: 3.0, "by_name": 5.0})
    assert made._get_lrs((0, 1, 2, 3)) == [0.5, 1.5, 0.5, 0.5]
    parameters[2].lr_mult = 4
    del made.lr_mult[1]
    made.set_learning_rate(2)
    rates = made._get_lrs([0, 1, 2, 3])
    assert rates == [2.0, 10.0, 8, 2.0] and [type(rate) for rate in rates] == [float, float, int, float]
    made._update_count([0, 1])
    made._update_count(0)
    assert made._counts((0, 1)) == [9, 8] and made.num_update == 9


def test_rates_of_parameters_in_a_dictionary_of_gluon():
    parameters = mx.gluon.ParameterDict()
    parameters.get("w", shape=(1,), lr_mult=3.0)
    made = mx.optimizer.SGD(learning_rate=0.5, param_dict=parameters)
    assert made._get_lrs(["w", "v"]) == [1.5, 0.5]


def test_a_factor_that_cannot_be_had_is_its_own_error():
    made = mx.optimizer.SGD(learning_rate=0.5, param_dict={0: object()})
    with pytest.raises(AttributeError, match="lr_mult"):
        made._get_lrs([0])


@pytest.mark.parametrize("name", ["sgd_update", "multi_sgd_update", "preloaded_multi_sgd_update"])
@pytest.mark.parametrize("decay", [0.0, 1e-5, 1e-4, 1e-2, 500.0])
def test_sgd_takes_off_what_a_small_decay_says(name, decay):
    """1 - lr * wd next to 1 is a multiple of 6e-8, which is more than small decays take off; masks stay infinite."""
    rate, steps = 1e-3, 50
    draws = np.random.RandomState(3)
    start = draws.uniform(1, 2, 5000).astype("float32")
    weight, still, exact = mx.nd.array(start), mx.nd.array([np.inf, -np.inf]), start.astype("float64")
    no_step = mx.nd.zeros(2)
    for _ in range(steps):
        grad = (draws.randn(5000) / 100).astype("float32")
        exact -= rate * (grad + decay * exact)
        for w, g in ((weight, mx.nd.array(grad)), (still, no_step)):
            if name == "sgd_update":
                mx.nd.sgd_update(w, g, lr=rate, wd=decay, out=w)
            elif name == "multi_sgd_update":
                mx.nd.multi_sgd_update(w, g, lrs=(rate,), wds=(decay,), num_weights=1, out=w)
            else:
                numbers = mx.nd.array([rate]), mx.nd.array([decay])
                mx.nd.preloaded_multi_sgd_update(w, g, *numbers, num_weights=1, out=w)
    error = (weight.asnumpy() - exact).mean()
    assert abs(error) < 2e-8 + 1e-3 * steps * rate * decay * exact.mean()
    np.testing.assert_array_equal(still.asnumpy(), [np.inf, -np.inf])


@pytest.mark.parametrize("name, decay", [("signsgd_update", "wd"), ("signum_update", "wd_lh")])
@pytest.mark.parametrize("value", [1e-4, 1e-2])
def test_steps_by_sign_take_off_what_a_small_decay_says(name, decay, value):
    steps = 50
    draws = np.random.RandomState(3)
    weight, still = mx.nd.array(draws.uniform(1, 2, 5000)), mx.nd.array([np.inf, -np.inf])
    exact = weight.asnumpy().astype("float64")
    states = [[], []] if name == "signsgd_update" else [[mx.nd.zeros(5000)], [mx.nd.zeros(2)]]
    for rate in draws.uniform(0.5e-3, 1.5e-3, steps):  # of one length, all steps would be rounded alike
        grad = draws.choice([-1.0, 1.0], 5000)
        exact -= rate * (grad + value * exact)
        getattr(mx.nd, name)(weight, mx.nd.array(grad), *states[0], lr=rate, out=weight, **{decay: value})
        getattr(mx.nd, name)(still, mx.nd.ones(2), *states[1], lr=rate, out=still, **{decay: value})
    error = (weight.asnumpy() - exact).mean()
    assert abs(error) < 5e-8 + 1e-3 * steps * 1e-3 * value * exact.mean()
    np.testing.assert_array_equal(still.asnumpy(), [np.inf, -np.inf])


@pytest.mark.parametrize("size", [1.0, 1e3])
def test_centered_rmsprop_of_constant_gradients_stays_finite(size):
    """Their variance is 0, and rounding makes it negative: of its root weights became NaN."""
    weight, *states = mx.nd.ones(1000), mx.nd.zeros(1000), mx.nd.zeros(1000), mx.nd.zeros(1000)
    grad = mx.nd.array(np.random.RandomState(0).standard_normal(1000) * size)
    for _ in range(200):
        mx.nd.rmspropalex_update(weight, grad, *states, lr=1e-3, gamma1=0.9, out=weight)
    assert np.isfinite(weight.asnumpy()).all()


def test_ftrl_follows_double_precision():
    """The weight is made anew of the state in each step: what one rounds the next ones keep."""
    rate, decay, bound = 1e-3, 1e-4, 1e-3
    draws = np.random.RandomState(3)
    grad = (draws.standard_normal(4000) / 100).astype("float32")
    weight, *states = mx.nd.array(draws.uniform(1, 2, 4000)), mx.nd.zeros(4000), mx.nd.zeros(4000)
    exact, (z, n) = weight.asnumpy().astype("float64"), np.zeros((2, 4000))
    for _ in range(60):
        mx.nd.ftrl_update(weight, mx.nd.array(grad), *states, lr=rate, wd=decay, lamda1=bound, out=weight)
        before, n = np.sqrt(n), n + grad.astype("float64") ** 2
        z += grad - (np.sqrt(n) - before) * exact / rate
        exact = np.where(abs(z) <= bound, 0, (np.sign(z) * bound - z) / ((1 + np.sqrt(n)) / rate + decay))
    assert abs(weight.asnumpy() - exact).max() < 1e-6 * abs(exact).max()


@pytest.mark.parametrize("factor", [1.0, 0.5, 0.0, -1.0])
def test_rates_of_layers_follow_the_norms_whatever_the_factor_of_the_gradients(factor):
    """A layer of zeros keeps its rate, and one without gradient; a factor makes no gradient vanish."""
    rates, weights, gradients, decays = ([0.1, 0.2, 0.3, 0.4], [4.0, 0.0, 9.0, 1.0], [1.0, 4.0, 0.0, 4.0], [0.5, 0.25, 0.5, 8.0])
    got = mx.nd.multi_lars(*map(mx.nd.array, (rates, weights, gradients, decays)), eta=0.5, eps=1e-3, rescale_grad=factor)
    want = [lr * 0.5 * w**0.5 / (g**0.5 * factor + wd * w**0.5 + 1e-3) if w > 0 and g > 0 else lr
            for lr, w, g, wd in zip(rates, weights, gradients, decays)]
    np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-4)
