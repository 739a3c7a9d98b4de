# SPDX-License-Identifier: Apache-2.0
"""Parameters: values per device, gradients, deferred shapes, sharing, and files of them."""

import copy
import pickle

import numpy as np
import pytest

import mxnet as mx
from mxnet import gluon
from mxnet.gluon import Constant, DeferredInitializationError, Parameter, ParameterDict

TWO = [mx.cpu(0), mx.cpu(1)]


def made(name="w", shape=(2, 3), **options):
    parameter = Parameter(name, shape=shape, **options)
    parameter.initialize(init="one", ctx=TWO)
    return parameter


def test_values_and_gradients_are_on_each_device():
    parameter = made()
    assert parameter.list_ctx() == TWO
    assert [array.context for array in parameter.list_data()] == TWO
    assert parameter.data(mx.cpu(1)).context == mx.cpu(1)
    assert (parameter.grad(mx.cpu(1)).asnumpy() == 0).all()
    with pytest.raises(RuntimeError, match=r"cpu\(2\)"):
        parameter.data(mx.cpu(2))


def test_without_initialization_there_is_nothing_to_see():
    parameter = Parameter("w", shape=(2, 3))
    for ask in (parameter.data, parameter.grad, parameter.list_ctx, parameter.list_data, parameter.list_grad):
        with pytest.raises(RuntimeError, match="w was not initialized"):
            ask()
    parameter.zero_grad()  # nothing to fill


def test_second_initialization_needs_force():
    parameter = made()
    with pytest.warns(UserWarning, match="already initialized"):
        parameter.initialize(init="zeros")
    assert (parameter.data(mx.cpu(0)).asnumpy() == 1).all()
    parameter.initialize(init="zeros", force_reinit=True)
    assert (parameter.data().asnumpy() == 0).all()


def test_unknown_shape_defers_the_values():
    parameter = Parameter("w", shape=(2, 0), allow_deferred_init=True)
    parameter.initialize()
    with pytest.raises(DeferredInitializationError):
        parameter.data()
    assert parameter.list_ctx() == [mx.cpu(0)]
    parameter.shape = (2, 4)
    parameter._finish_deferred_init()
    assert parameter.data().shape == (2, 4)
    with pytest.raises(ValueError, match="without unknown"):
        Parameter("w", shape=(2, 0)).initialize()


def test_value_given_before_the_shape_is_known_is_kept():
    parameter = Parameter("w", shape=(2, 0), allow_deferred_init=True)
    parameter.initialize()
    parameter.set_data(mx.nd.full((2, 4), 7))
    parameter._finish_deferred_init()
    assert (parameter.data().asnumpy() == 7).all()


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 1)])
def test_another_shape_does_not_fit(shape):
    parameter = made()
    with pytest.raises(AssertionError):  # as programs for 1.x catch it
        parameter.shape = shape
    with pytest.raises(ValueError, match="expected one like"):
        parameter.set_data(mx.nd.ones(shape))


def test_set_data_and_zero_grad_reach_all_devices():
    parameter = made()
    parameter.set_data(mx.nd.full((2, 3), 5))
    assert all((array.asnumpy() == 5).all() for array in parameter.list_data())
    for context in TWO:
        with mx.autograd.record():
            loss = (parameter.data(context) * 2).sum()
        loss.backward()
    assert all((grad.asnumpy() == 2).all() for grad in parameter.list_grad())
    parameter.zero_grad()
    assert all((grad.asnumpy() == 0).all() for grad in parameter.list_grad())


def test_zero_grad_of_a_dictionary_fills_all_gradients():
    class Own(Parameter):
        def zero_grad(self):
            self.asked = True

    kinds = {"a": {}, "half": {"dtype": "float16"}, "rows": {"grad_stype": "row_sparse"}, "still": {"grad_req": "null"}}
    parameters = ParameterDict()
    parameters.update({name: made(name, **options) for name, options in kinds.items()})
    own = Own("own", shape=(2, 3))
    own.initialize()
    later = Parameter("later", shape=(0, 3), allow_deferred_init=True)
    later.initialize()
    parameters.update({"own": own, "later": later})
    for name in ("a", "half", "own"):
        for grad in parameters[name].list_grad():
            grad[:] = 3
    for grad in parameters["rows"].list_grad():
        mx.nd.ones((2, 3), ctx=grad.context).tostype("row_sparse").copyto(grad)
    parameters.zero_grad()
    for name in ("a", "half", "rows"):
        assert [grad.asnumpy().any() for grad in parameters[name].list_grad()] == [False, False]
    assert own.asked and (own.grad().asnumpy() == 3).all()


def test_zero_grad_refuses_what_was_recorded():
    parameter = Parameter("w", shape=(2,))
    parameter.initialize(init="one")
    with mx.autograd.record():
        (parameter.data() * 3).sum().backward()
        parameter.zero_grad()
    assert not parameter.grad().asnumpy().any()
    with mx.autograd.record():
        loss = (parameter.data() * parameter.grad()).sum()
        with pytest.raises(ValueError, match="recorded graph"):
            parameter.zero_grad()
    assert loss.asscalar() == 0


def test_gradient_request_can_change():
    parameter = made()
    parameter.grad_req = "add"
    for _ in range(3):
        with mx.autograd.record():
            loss = parameter.data(mx.cpu(0)).sum()
        loss.backward()
    assert (parameter.grad(mx.cpu(0)).asnumpy() == 3).all()
    parameter.grad_req = "null"
    with pytest.raises(RuntimeError, match="no gradient"):
        parameter.grad()
    parameter.grad_req = "write"
    assert (parameter.grad(mx.cpu(0)).asnumpy() == 0).all()
    with pytest.raises(ValueError, match="expected one of write, add, null"):
        parameter.grad_req = "subtract"


def test_cast_converts_value_and_gradient():
    parameter = made()
    parameter.cast("float16")
    assert parameter.dtype == "float16"
    assert parameter.data(mx.cpu(0)).dtype == np.float16 and parameter.grad(mx.cpu(0)).dtype == np.float16


@pytest.mark.parametrize("grad_stype", ["default", "row_sparse"])
def test_what_gradients_were_added_up_to_outlives_a_cast(grad_stype):
    parameter = mx.gluon.Parameter("weight", shape=(3, 2), grad_req="add", grad_stype=grad_stype)
    parameter.initialize(mx.init.One())

    def add_gradients_of_row_1(dtype):
        with mx.autograd.record():
            row = mx.nd.Embedding(mx.nd.array([1]), parameter.data(), 3, 2, dtype, grad_stype == "row_sparse")
        row.backward()

    add_gradients_of_row_1("float32")
    parameter.cast("float64")
    assert (parameter.grad().dtype, parameter.grad().stype) == (np.float64, grad_stype)
    assert parameter.grad().asnumpy().tolist() == [[0, 0], [1, 1], [0, 0]]
    add_gradients_of_row_1("float64")
    assert parameter.grad().asnumpy().tolist() == [[0, 0], [2, 2], [0, 0]]


def test_other_devices_get_the_mean():
    parameter = made()
    parameter.data(mx.cpu(1))[:] = 3
    parameter.reset_ctx(mx.cpu(2))
    assert parameter.list_ctx() == [mx.cpu(2)]
    assert (parameter.data().asnumpy() == 2).all()
    with pytest.raises(ValueError, match="not initialized"):
        Parameter("w", shape=(1,)).reset_ctx(mx.cpu(0))


def test_variable_carries_the_facts():
    parameter = made(lr_mult=2.0, wd_mult=0.5, init="ones")
    variable = parameter.var()
    assert variable is parameter.var() and variable.name == "w"
    attributes = variable.list_attr()
    assert attributes["__shape__"] == "(2, 3)" and attributes["__dtype__"] == "0"
    assert attributes["__lr_mult__"] == "2.0" and attributes["__wd_mult__"] == "0.5" and attributes["__init__"] == "ones"


def test_row_sparse_parameters_are_not_for_data():
    parameter = Parameter("w", shape=(4, 2), stype="row_sparse", grad_stype="row_sparse")
    parameter.initialize()
    with pytest.raises(RuntimeError, match="row_sparse_data"):
        parameter.data()
    with pytest.raises(RuntimeError, match="no Trainer"):
        parameter.row_sparse_data(mx.nd.array([1]))
    with pytest.raises(RuntimeError, match=r"use data\(\)"):
        made().row_sparse_data(mx.nd.array([1]))
    with pytest.raises(ValueError, match="expected one of default, row_sparse, csr"):
        Parameter("w", stype="dense")


def test_constant_stays_as_it_is():
    constant = Constant("c", [[1, 2], [3, 4]])
    constant.initialize(ctx=TWO)
    assert constant.grad_req == "null" and constant.shape == (2, 2)
    np.testing.assert_array_equal(constant.data(mx.cpu(1)).asnumpy(), [[1, 2], [3, 4]])
    with pytest.warns(UserWarning, match="stays null"):
        constant.grad_req = "write"
    with pytest.raises(RuntimeError):
        constant.grad()


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_copies_are_trained_by_themselves(clone):
    parameter = made()
    gluon.Trainer([parameter], "sgd")
    copied = clone(parameter)
    assert copied._trainer is None
    with mx.autograd.record():
        loss = (copied.data(mx.cpu(0)) * 3).sum()
    loss.backward()
    assert (copied.grad(mx.cpu(0)).asnumpy() == 3).all()
    assert (parameter.grad(mx.cpu(0)).asnumpy() == 0).all()
    copied.set_data(mx.nd.zeros((2, 3)))
    assert (parameter.data(mx.cpu(0)).asnumpy() == 1).all()


# --- Dictionaries


def test_get_makes_once_and_merges_shapes():
    params = ParameterDict("p_")
    first = params.get("a", shape=(2, 0))
    assert first.name == "p_a" and params.get("a", shape=(0, 3)) is first and first.shape == (2, 3)
    assert list(params) == ["p_a"] and "p_a" in params and params["p_a"] is first
    with pytest.raises(AssertionError):
        params.get("a", shape=(4, 3))
    with pytest.raises(ValueError, match="dtype"):
        params.get("a", dtype="float64")
    assert params.get("a", dtype="float32") is first
    with pytest.raises(KeyError):
        params["missing"]


def test_shared_dictionary_gives_its_parameters():
    params = ParameterDict("p_")
    shared = params.get("a", shape=(2, 3))
    other = ParameterDict("p_", shared=params)
    assert other.get("a") is shared and list(other) == ["p_a"]
    stranger = ParameterDict("p_")
    stranger.get("a")
    with pytest.raises(ValueError, match="two different parameters"):
        other.update(stranger)
    other.update({"tied": shared})
    assert other["tied"] is shared and list(other) == ["p_a", "tied"]


def test_constants_are_checked_against_each_other():
    params = ParameterDict("p_")
    constant = params.get_constant("k", [1, 2])
    assert params.get_constant("k") is constant and params.get_constant("k", [1, 2]) is constant
    with pytest.raises(ValueError, match="another value"):
        params.get_constant("k", [1, 3])
    with pytest.raises(KeyError, match="needs a value"):
        params.get_constant("unknown")


def test_repr_lists_the_parameters():
    params = ParameterDict("p_")
    params.get("a", shape=(2, 3))
    assert repr(params) == "p_ (\n  Parameter p_a (shape=(2, 3), dtype=<class 'numpy.float32'>)\n)"


def saved(tmp_path, **options):
    params = ParameterDict("p_")
    params.get("a", shape=(2, 3), init="ones")
    params.get("b", shape=(4,), init="zeros")
    params.initialize()
    path = tmp_path / "some.params"
    params.save(path, **options)
    return params, path


def test_file_holds_names_without_the_prefix(tmp_path):
    params, path = saved(tmp_path, strip_prefix="p_")
    assert sorted(mx.nd.load(str(path))) == ["a", "b"]
    with pytest.raises(AssertionError, match="missing"):
        params.load(path)
    params["p_a"].set_data(mx.nd.zeros((2, 3)))
    params.load(path, restore_prefix="p_")
    assert (params["p_a"].data().asnumpy() == 1).all()
    with pytest.raises(ValueError, match="given prefix 'x_'"):
        params.save(path, strip_prefix="x_")


def test_missing_and_extra_parameters_are_errors_unless_allowed(tmp_path):
    _, path = saved(tmp_path)
    other = ParameterDict("p_")
    other.get("a", shape=(2, 3))
    other.get("n", shape=(1,))
    with pytest.raises(ValueError, match="p_n is missing"):
        other.load(path)
    with pytest.raises(ValueError, match="ignore_extra"):
        other.load(path, allow_missing=True)
    other.load(path, allow_missing=True, ignore_extra=True)
    assert (other["p_a"].data().asnumpy() == 1).all()


def test_type_in_the_file_converts_only_when_asked(tmp_path):
    _, path = saved(tmp_path)
    other = ParameterDict("p_")
    other.get("a", shape=(2, 3), dtype="float64")
    options = {"allow_missing": True, "ignore_extra": True}
    with pytest.raises(ValueError, match="cast_dtype"):
        other.load(path, **options)
    other.load(path, cast_dtype=True, **options)
    assert other["p_a"].data().dtype == np.float64
    other.load(path, cast_dtype=True, dtype_source="saved", **options)
    assert other["p_a"].data().dtype == np.float32


@pytest.mark.parametrize("init", ["ones", "zeros", "normal", "uniform", mx.init.Constant(3)], ids=lambda init: getattr(init, "value", init))
def test_a_parameter_without_dimensions(init):
    with mx.util.np_shape(), mx.util.np_array():
        parameter = Parameter("scale", shape=(), init=init)
        parameter.initialize()
        trainer = gluon.Trainer({"scale": parameter}, "sgd", {"learning_rate": 0.5})
        before = float(parameter.data())
        with mx.autograd.record():
            loss = (parameter.data() * mx.np.ones((3,))).sum()
        loss.backward()
        assert float(parameter.grad()) == 3
        trainer.step(1)
        assert float(parameter.data()) == np.float32(before) - np.float32(1.5)
        parameter.zero_grad()
        assert float(parameter.grad()) == 0
        parameter.set_data(mx.np.array(4.0))
        assert parameter.data().shape == () and float(parameter.data()) == 4
        parameter.data()._sync_copyfrom(np.array(7, np.float32))
        assert float(parameter.data()) == 7


def test_an_empty_shape_is_unknown_to_a_file_unless_numpys_rules_hold():
    parameters = ParameterDict("net_")
    parameter = parameters.get("w", shape=())
    parameters.load_dict({"arg:net_w": mx.nd.array([1, 2])}, ctx=mx.cpu())
    assert parameter.shape == (2,) and parameter.data().asnumpy().tolist() == [1, 2]
    with mx.util.np_shape():
        other = ParameterDict("net_")
        other.get("w", shape=())
        with pytest.raises(AssertionError, match=r"given shape \(2,\) in the file, expected \(\)"):
            other.load_dict({"arg:net_w": mx.nd.array([1, 2])}, ctx=mx.cpu())


def test_parameters_share_no_array_with_each_other_or_with_a_given_dictionary(tmp_path):
    first, second = (mx.gluon.nn.Dense(2, use_bias=False, in_units=2) for _ in range(2))
    path = str(tmp_path / "one.params")
    mx.nd.save(path, {"weight": mx.nd.ones((2, 2))})
    for net in (first, second):
        net.load_parameters(path)
    first.weight.set_data(mx.nd.zeros((2, 2)))
    assert (second.weight.data().asnumpy() == 1).all()
    # One parameter that a file has twice: the later values hold.
    tied = mx.gluon.nn.Sequential()
    tied.add(mx.gluon.nn.Dense(2, use_bias=False, in_units=2))
    tied.add(mx.gluon.nn.Dense(2, use_bias=False, in_units=2, params=tied[0].params))
    mx.nd.save(path, {"0.weight": mx.nd.ones((2, 2)), "1.weight": mx.nd.full((2, 2), 3)})
    tied.load_parameters(path)
    assert tied[0].weight is tied[1].weight and (tied[0].weight.data().asnumpy() == 3).all()
    given = {"p_a": mx.nd.ones((2, 3))}
    params = ParameterDict("p_")
    parameter = params.get("a", shape=(2, 3))
    params.load_dict(given, ctx=mx.cpu())
    given["p_a"][:] = 7
    assert (parameter.data().asnumpy() == 1).all()


def test_a_dictionary_sets_all_its_parameters_at_once(tmp_path):
    params, _ = saved(tmp_path)
    params.setattr("lr_mult", 3)
    assert params["p_a"].lr_mult == 3 and params["p_b"].lr_mult == 3
    params.reset_ctx(mx.cpu(1))
    assert params.list_ctx() == [mx.cpu(1)]
    assert gluon.ParameterDict is ParameterDict and len(params.items()) == 2


@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize("kind", ["cpu_pinned", "cpu_shared"])
def test_batches_in_pinned_and_shared_memory_meet_the_parameters_of_the_cpu(kind, hybrid):
    net = mx.gluon.nn.Dense(2, in_units=3)
    net.initialize("ones", ctx=mx.cpu())
    net.hybridize(hybrid)
    batch = mx.nd.ones((4, 3)).as_in_context(mx.Context(kind, 0))
    with mx.autograd.record():
        out = net(batch)
    out.backward()
    assert (batch.context.device_type, out.context) == (kind, mx.cpu(0))  # results are in plain memory
    assert out.asnumpy().tolist() == [[3, 3]] * 4 and net.weight.grad(batch.context).asnumpy().tolist() == [[4] * 3] * 2
    assert (batch + 1).context == mx.nd.concat(batch, batch).context == mx.cpu(0) and batch[1:].context == batch.context
    with pytest.raises(RuntimeError, match=r"asked for on cpu_pinned\(1\)"):
        net.weight.data(mx.cpu_pinned(1))


def test_initialization_leaves_one_array_and_gradients_that_nobody_has_touched():
    """What an initializer fills is the parameter itself on the first device; others get copies."""

    class Keeps(mx.init.Initializer):
        def _init_weight(self, _, arr):
            arr[:] = 1
            self.filled = arr

    keeps = Keeps()
    parameter = Parameter("w_weight", shape=(2, 3))
    parameter.initialize(init=keeps, ctx=TWO)
    parameter.data(TWO[0])[:] = 2
    assert (keeps.filled.asnumpy() == 2).all()
    assert (parameter.data(TWO[1]).asnumpy() == 1).all()
    assert (parameter.grad(TWO[0]).asnumpy() == 0).all()


def test_a_value_that_was_given_is_copied():
    given = mx.nd.ones((2, 3))
    parameter = Parameter("w", shape=(2, 3))
    parameter._load_init(given, TWO)
    given[:] = 5
    assert (parameter.data(TWO[0]).asnumpy() == 1).all()


class Watched(Parameter):
    """Loads as 1.9.1 has it, as the classes of programs do."""

    def _load_init(self, data, ctx, cast_dtype=False, dtype_source="current"):
        super()._load_init(data * 2, ctx, cast_dtype, dtype_source)


def test_a_parameter_with_a_way_to_load_of_its_own_is_asked(tmp_path):
    path = str(tmp_path / "net.params")
    mx.nd.save(path, {"weight": mx.nd.ones((2, 3))})
    params = ParameterDict()
    params._params["weight"] = watched = Watched("weight", shape=(2, 3))
    params.load(path, ctx=mx.cpu())
    assert (watched.data().asnumpy() == 2).all()


@pytest.mark.parametrize("hybrid", [False, True])
def test_arrays_that_a_script_puts_into_a_parameter_are_used(hybrid):
    """1.x programs assign `_data` and its elements."""
    layer = mx.gluon.nn.Dense(1, in_units=2, use_bias=False)
    layer.initialize(mx.init.One())
    if hybrid:
        layer.hybridize()
    x = mx.nd.ones((1, 2))
    assert layer(x).asscalar() == 2
    layer.weight._data = [mx.nd.array([[3, 4]])]
    assert layer(x).asscalar() == 7
    layer.weight._data[0] = mx.nd.array([[5, 6]])
    assert layer(x).asscalar() == 11


def test_a_gradient_that_a_script_puts_into_a_parameter_is_used():
    layer = mx.gluon.nn.Dense(1, in_units=1, use_bias=False)
    layer.initialize(mx.init.One())
    trainer = mx.gluon.Trainer(layer.collect_params(), "sgd", {"learning_rate": 1})
    x = mx.nd.ones((1, 1))
    for gradient in (1, 10):
        with mx.autograd.record():
            y = layer(x)
        y.backward()
        if gradient != 1:
            layer.weight._grad[0] = mx.nd.array([[gradient]])
        before = layer.weight.data().asscalar()
        trainer.step(1)
        assert before - layer.weight.data().asscalar() == gradient
