# SPDX-License-Identifier: Apache-2.0
"""The trainer: steps, stale gradients, several devices, states in files, and training as a whole."""

import json
import pathlib

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon
from mxnet.gluon import Trainer, nn

TWO = [mx.cpu(0), mx.cpu(1)]


def dense(ctx=mx.cpu(0)):
    net = nn.Dense(2, in_units=3, use_bias=False)
    net.initialize(init="one", ctx=ctx)
    return net


def backward(net, *contexts):
    with mx.autograd.record():
        losses = [net(mx.nd.ones((1, 3), ctx=context)).sum() for context in contexts or (mx.cpu(0),)]
    mx.autograd.backward(losses)


def test_step_divides_by_the_batch_size():
    net = dense()
    trainer = Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
    backward(net)
    trainer.step(2)
    np.testing.assert_allclose(net.weight.data().asnumpy(), np.full((2, 3), 1 - 0.5 / 2))


def test_parameters_of_a_dictionary_are_sorted_by_name():
    second, first = gluon.Parameter("b", shape=(1,)), gluon.Parameter("a", shape=(1,))
    for parameter in (first, second):
        parameter.initialize()
    assert [p.name for p in Trainer({"x": second, "a": first}, "sgd")._params] == ["a", "b"]
    assert [p.name for p in Trainer([second, first], "sgd")._params] == ["b", "a"]
    with pytest.raises(ValueError, match="expected a Parameter"):
        Trainer([1], "sgd")
    with pytest.raises(ValueError, match="expected a list or dictionary"):
        Trainer(1, "sgd")


def test_gradients_that_no_backward_has_written_are_stale():
    net = dense()
    other = dense()
    params = net.collect_params()
    params.update(other.collect_params())
    trainer = Trainer(params, "sgd", {"learning_rate": 1.0})
    backward(net)
    with pytest.raises(UserWarning, match="ignore_stale_grad"):
        trainer.step(1)
    trainer.step(1, ignore_stale_grad=True)
    assert (net.weight.data().asnumpy() == 0).all() and (other.weight.data().asnumpy() == 1).all()
    trainer.step(1, ignore_stale_grad=True)
    assert (net.weight.data().asnumpy() == 0).all()


def test_frozen_parameters_stay():
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=3), nn.Dense(1, in_units=2))
    net.initialize(init="one")
    net[0].collect_params().setattr("grad_req", "null")
    trainer = Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0})
    backward(net)
    trainer.step(1)
    assert (net[0].weight.data().asnumpy() == 1).all() and (net[1].weight.data().asnumpy() != 1).all()


def test_multipliers_of_parameters_count():
    net = nn.Dense(1, in_units=1)
    net.initialize(init="one")
    net.weight.lr_mult = 0.0
    net.bias.lr_mult = 2.0
    trainer = Trainer(net.collect_params(), "sgd", {"learning_rate": 0.25})
    with mx.autograd.record():
        loss = net(mx.nd.ones((1, 1)))
    loss.backward()
    trainer.step(1)
    assert net.weight.data().asscalar() == 1 and net.bias.data().asscalar() == -0.5


def test_lars_gives_every_parameter_of_a_trainer_its_own_rate():
    net = nn.Dense(3, in_units=6)
    net.initialize(mx.init.One())
    net.bias.set_data(mx.nd.array([1, 2, 3]))
    trainer = Trainer(net.collect_params(), "lars", {"learning_rate": 0.1, "wd": 0.1})
    draws = np.random.RandomState(0)
    x = mx.nd.array(draws.randn(8, 6))
    for _ in range(2):
        with mx.autograd.record():
            loss = (net(x) ** 2).mean()
        loss.backward()
        trainer.step(1)
    # As the 1.9.1 release gives.
    np.testing.assert_allclose(net.bias.data().asnumpy(), [0.99972427, 1.9995837, 2.9994433], rtol=1e-6)
    np.testing.assert_allclose(net.weight.data().asnumpy()[0, :3], [0.99972594, 1.0000198, 0.9998715], rtol=1e-6)


def test_learning_rate_and_schedule():
    net = dense()
    trainer = Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    assert trainer.learning_rate == 0.1
    trainer.set_learning_rate(0.01)
    assert trainer.learning_rate == 0.01 and trainer.optimizer.learning_rate == 0.01
    schedule = mx.lr_scheduler.FactorScheduler(step=1, factor=0.5, base_lr=1.0)
    trainer = Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0, "lr_scheduler": schedule})
    for _ in range(3):
        backward(net)
        trainer.step(1)
    assert trainer.learning_rate == 0.25
    with pytest.raises(AssertionError, match="only with a name"):
        Trainer(net.collect_params(), mx.optimizer.SGD(), {"learning_rate": 1})


@pytest.mark.parametrize("update_on_kvstore", [None, True, False])
def test_devices_train_as_one(update_on_kvstore):
    net = dense(TWO)
    trainer = Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5}, update_on_kvstore=update_on_kvstore)
    for _ in range(2):
        backward(net, *TWO)
        trainer.step(2)
    for context in TWO:
        np.testing.assert_allclose(net.weight.data(context).asnumpy(), np.zeros((2, 3)), atol=1e-6)


def test_sums_and_updates_can_be_two_calls():
    net = dense(TWO)
    trainer = Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0}, update_on_kvstore=False)
    backward(net, *TWO)
    trainer.allreduce_grads()
    assert (net.weight.grad(TWO[0]).asnumpy() == 2).all() and (net.weight.grad(TWO[1]).asnumpy() == 2).all()
    trainer.update(2)
    assert (net.weight.data(TWO[1]).asnumpy() == 0).all()
    stored = Trainer(dense(TWO).collect_params(), "sgd", update_on_kvstore=True)
    with pytest.raises(AssertionError, match="update_on_kvstore=False"):
        stored.allreduce_grads()
    with pytest.raises(AssertionError, match="update_on_kvstore=False"):
        stored.update(1)


# A store that updates refuses to be asked for sums alone.
@pytest.mark.parametrize("value, store_updates", [("1", True), ("0", False)])
def test_who_updates_follows_the_variable(value, store_updates):
    net = dense(TWO)
    with mx.util.environment("MXNET_UPDATE_ON_KVSTORE", value):
        trainer = Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0}, kvstore="device")
        backward(net, *TWO)
        if store_updates:
            with pytest.raises(AssertionError, match="update_on_kvstore=False"):
                trainer.allreduce_grads()
        else:
            trainer.allreduce_grads()
            assert (net.weight.grad(TWO[0]).asnumpy() == 2).all()


def test_devices_have_to_be_the_same():
    params = dense(TWO).collect_params()
    params.update(dense(mx.cpu(2)).collect_params())
    with pytest.raises(AssertionError, match=r"expected the devices of the parameters before"):
        Trainer(params, "sgd")


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_states_go_on_from_a_file(tmp_path, optimizer):
    path = str(tmp_path / "trainer.states")
    options = {"learning_rate": 0.1, "momentum": 0.9} if optimizer == "sgd" else {"learning_rate": 0.1}
    net = dense()
    trainer = Trainer(net.collect_params(), optimizer, options)
    for _ in range(3):
        backward(net)
        trainer.step(1)
    trainer.save_states(path)
    other = dense()
    other.weight.set_data(net.weight.data())
    resumed = Trainer(other.collect_params(), optimizer, {"learning_rate": 5.0})
    resumed.load_states(path)
    for one, its in ((net, trainer), (other, resumed)):
        backward(one)
        its.step(1)
    np.testing.assert_allclose(other.weight.data().asnumpy(), net.weight.data().asnumpy(), rtol=1e-6)


def test_sparse_embedding_pulls_and_updates_rows():
    net = gluon.contrib.nn.SparseEmbedding(5, 2)
    net.initialize(init="one")
    trainer = Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0})
    with mx.autograd.record():
        out = net(mx.nd.array([1, 3, 3]))
    assert (out.asnumpy() == 1).all()
    out.backward()
    trainer.step(1)
    rows = net.weight.row_sparse_data(mx.nd.array([0, 1, 3])).asnumpy()
    np.testing.assert_allclose(rows[[0, 1, 3], 0], [1, 0, -1])
    with pytest.raises(RuntimeError, match="has a Trainer already"):
        Trainer(net.collect_params(), "sgd")


def test_overflow_that_a_loss_scaler_has_seen_skips_the_step():
    class Scaler:
        def has_overflow(self, params):
            return True

    net = dense()
    trainer = Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0})
    trainer._amp_loss_scaler = Scaler()
    backward(net)
    trainer.step(1)
    assert (net.weight.data().asnumpy() == 1).all()


@pytest.mark.parametrize("hybridize", [False, True])
def test_seeded_training_gives_the_losses_of_the_reference(hybridize):
    """The curves were obtained by running this program on 1.9.1: initial weights, dropout masks and updates agree.

    Eager, the last layer is initialized after the first mask is drawn; hybridized, before.
    """
    facts = json.loads((pathlib.Path(__file__).parents[2] / "data" / "gluon" / "loss_curve.json").read_text())
    expected = facts["hybridized" if hybridize else "eager"]
    np.testing.assert_allclose(loss_curve(hybridize), expected, rtol=2e-3, atol=1e-4)


def loss_curve(hybridize):
    mx.random.seed(42)
    data = np.random.RandomState(0)
    images = mx.nd.array(data.uniform(size=(32, 1, 8, 8)))
    labels = mx.nd.array(data.randint(0, 4, 32))
    net = nn.HybridSequential()
    net.add(nn.Conv2D(6, 3, activation="relu"), nn.BatchNorm(), nn.MaxPool2D(), nn.Dense(16, activation="tanh"), nn.Dropout(0.3), nn.Dense(4))
    net.initialize(mx.init.Xavier())
    if hybridize:
        net.hybridize()
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    losses = []
    for _ in range(12):
        with mx.autograd.record():
            loss = loss_of(net(images), labels)
        loss.backward()
        trainer.step(32)
        losses.append(float(loss.mean().asscalar()))
    return losses


def several(count, **options):
    """A trainer of `count` parameters of different sizes, and a function that gives them gradients."""
    parameters = [gluon.Parameter(f"p{i}", shape=(i % 3 + 1, 4)) for i in range(count)]
    rng = np.random.RandomState(count)
    for parameter in parameters:
        parameter.initialize(mx.init.Zero())
        parameter.set_data(mx.nd.array(rng.randn(*parameter.shape)))

    def differentiate():
        with mx.autograd.record():
            loss = sum((parameter.data() ** 3).sum() for parameter in parameters)
        loss.backward()

    return parameters, Trainer(parameters, options.pop("optimizer", "sgd"), options), differentiate


def steps(parameters, trainer, differentiate, count=3):
    for _ in range(count):
        differentiate()
        trainer.step(2)
    return [parameter.data().asnumpy() for parameter in parameters]


class OneByOne(mx.optimizer.Adam):
    """Is given one weight at a time, since its class has nothing for all of them."""


class ByFour(mx.optimizer.SGD):
    """Is given lists of four."""

    def update_multi_precision(self, index, weight, grad, state):
        assert 1 <= len(index) <= 4
        super().update_multi_precision(index, weight, grad, state)


@pytest.mark.parametrize(
    "own, options",
    [(ByFour, {"momentum": 0.9, "wd": 0.1}), (ByFour, {"clip_gradient": 0.5}), (OneByOne, {"wd": 0.1}), (OneByOne, {"clip_gradient": 0.5})],
)
def test_a_step_over_all_weights_is_exactly_that_over_each(own, options):
    together = several(10, optimizer=own.__mro__[1](learning_rate=0.1, **options))
    apart = several(10, optimizer=own(learning_rate=0.1, **options))
    for trainer in (together[1], apart[1]):
        trainer._params[3].lr_mult, trainer._params[4].wd_mult = 0.5, 0.0
    for one, other in zip(steps(*together), steps(*apart)):
        np.testing.assert_array_equal(one, other)


def test_multipliers_and_rates_may_change_between_steps():
    parameters, trainer, differentiate = several(3, learning_rate=1.0)
    steps(parameters, trainer, differentiate, 1)
    before = [parameter.data().asnumpy() for parameter in parameters]
    parameters[1].lr_mult = 0.0
    trainer.set_learning_rate(0.5)
    after = steps(parameters, trainer, differentiate, 1)
    np.testing.assert_array_equal(before[1], after[1])
    np.testing.assert_allclose(after[0], before[0] - 0.5 * 3 * before[0] ** 2 / 2, rtol=1e-5)


def test_arrays_may_be_replaced_between_steps():
    parameters, trainer, differentiate = several(3, learning_rate=0.5)
    steps(parameters, trainer, differentiate, 1)
    parameters[0].initialize(mx.init.One(), force_reinit=True)
    parameters[1].grad_req = "null"
    frozen = parameters[1].data().asnumpy()
    after = steps(parameters, trainer, differentiate, 1)
    np.testing.assert_allclose(after[0], np.full_like(after[0], 1 - 0.5 * 3 / 2))
    np.testing.assert_array_equal(after[1], frozen)
    parameters[1].grad_req = "write"
    assert (steps(parameters, trainer, differentiate, 1)[1] != frozen).any()


def test_a_batch_of_nothing_is_refused():
    net = mx.gluon.nn.Dense(1, in_units=1)
    net.initialize()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd")
    for call in (trainer.step, trainer.update):
        with pytest.raises(ValueError, match="given batch_size 0"):
            call(0)


def test_nothing_is_updated_when_a_gradient_of_any_device_is_stale():
    net = dense(ctx=TWO)
    trainer = Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5}, update_on_kvstore=False)
    backward(net, TWO[0])
    with pytest.raises(UserWarning, match=r"on cpu\(1\)"):
        trainer.step(1)
    assert (net.weight.data(TWO[0]).asnumpy() == 1).all() and net.weight.data(TWO[0])._fresh_grad


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("steps", [0, 1, 2])
def test_files_of_row_sparse_parameters_have_the_rows_that_no_device_pulled_last(tmp_path, count, steps):
    contexts = [mx.cpu(i) for i in range(count)]
    parameter = gluon.Parameter("w", shape=(5, 2), stype="row_sparse", grad_stype="row_sparse")
    parameter.initialize(init="one", ctx=contexts)
    trainer = gluon.Trainer([parameter], "sgd", {"learning_rate": 1.0})
    expected = np.ones((5, 2))
    for step in range(steps):
        row = mx.nd.array([step + 1])
        with mx.autograd.record():
            one = [mx.nd.one_hot(row.as_in_context(ctx), 5).tostype("csr") for ctx in contexts]
            losses = [
                mx.nd.sparse.dot(left, parameter.row_sparse_data(row.as_in_context(ctx))).sum() for left, ctx in zip(one, contexts)
            ]
        mx.autograd.backward(losses)
        trainer.step(1)
        expected[step + 1] -= count
    parameters = gluon.ParameterDict()
    parameters.update({"w": parameter})
    parameters.save(str(tmp_path / "w"))
    np.testing.assert_array_equal(mx.nd.load(str(tmp_path / "w"))["w"].asnumpy(), expected)
