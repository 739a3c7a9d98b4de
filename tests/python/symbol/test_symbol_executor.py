# SPDX-License-Identifier: Apache-2.0
"""Executors: binding, running, differentiating and reshaping a symbol."""

import gc
import json
import re

import mxnet as mx
import numpy as np
import pytest
from mxnet.executor import Executor
from small_symbol import expected, network, parameters
from which_binding import ON_CTYPES


def test_bind_takes_lists_and_dictionaries():
    net, values = network(), parameters()
    for args in (values, [values[name] for name in net.list_arguments()]):
        executor = net.bind(mx.cpu(), args)
        assert isinstance(executor, Executor)
        np.testing.assert_allclose(executor.forward()[0].asnumpy(), expected(values), rtol=1e-6)
    assert executor.arg_dict["fc_bias"] is values["fc_bias"] and executor.grad_arrays is None


def test_gradients_are_written_or_added():
    net, values = network(), parameters()
    grads = {name: mx.nd.ones(array.shape) for name, array in values.items()}
    executor = net.bind(mx.cpu(), values, grads, grad_req={"fc_weight": "write", "fc_bias": "add", "data": "null"})
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones((4, 3)))
    np.testing.assert_allclose(grads["fc_weight"].asnumpy(), np.tile(values["data"].asnumpy().sum(0), (3, 1)), rtol=1e-5)
    np.testing.assert_allclose(grads["fc_bias"].asnumpy(), [5, 5, 5])
    np.testing.assert_allclose(grads["data"].asnumpy(), np.ones((4, 2)))
    assert executor.grad_dict["fc_bias"] is grads["fc_bias"]


@pytest.mark.parametrize("watched", [False, True])
def test_inference_can_be_differentiated(watched):
    rng = np.random.default_rng(7)
    x, mean, variance = rng.normal(size=(4, 3)), rng.normal(size=3), rng.uniform(1, 2, 3)
    layer = mx.sym.BatchNorm(mx.sym.Dropout(mx.sym.var("x"), p=0.5), fix_gamma=False, eps=0, name="bn")
    executor = layer.simple_bind(mx.cpu(), x=(4, 3))
    if watched:
        executor.set_monitor_callback(lambda name, value: None)
    for name, value in {"x": x, "bn_gamma": np.full(3, 2.0), "bn_beta": np.zeros(3)}.items():
        executor.arg_dict[name][:] = value
    executor.aux_dict["bn_moving_mean"][:], executor.aux_dict["bn_moving_var"][:] = mean, variance
    head = rng.normal(size=(4, 3))
    executor.forward(is_train=False)
    for _ in range(2):
        executor.backward(mx.nd.array(head))
        np.testing.assert_allclose(executor.grad_dict["x"].asnumpy(), head * 2 / np.sqrt(variance), rtol=1e-5)
    np.testing.assert_allclose(executor.outputs[0].asnumpy(), (x - mean) * 2 / np.sqrt(variance), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(executor.aux_dict["bn_moving_mean"].asnumpy(), mean, rtol=1e-6)


@pytest.mark.parametrize("form", [lambda g: g, lambda g: [g], lambda g: {"act_output": g}])
def test_head_gradients_in_every_form(form):
    executor = network().simple_bind(mx.cpu(), data=(4, 2))
    executor.copy_params_from(parameters())
    executor.forward(is_train=True)
    executor.backward(form(2 * mx.nd.ones((4, 3))))
    np.testing.assert_allclose(executor.grad_dict["fc_bias"].asnumpy(), [8, 8, 8])


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("given", ["float16", "float32", "float64", "int32"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_head_gradients_become_the_type_of_the_output(dtype, given, watched):
    executor = (mx.sym.var("x") * 3).simple_bind(mx.cpu(), x=(2,), type_dict={"x": dtype})
    if watched:
        executor.set_monitor_callback(lambda name, array: None)
    executor.forward(is_train=True)
    executor.backward(mx.nd.array([2, 4], dtype=given))
    gradient = executor.grad_dict["x"]
    assert gradient.dtype == np.dtype(dtype) and gradient.asnumpy().tolist() == [6, 12]


@pytest.mark.parametrize("watched", [False, True])
def test_head_gradients_of_another_shape_are_an_error(watched):
    executor = (mx.sym.var("x") * 3).simple_bind(mx.cpu(), x=(2,))
    if watched:
        executor.set_monitor_callback(lambda name, array: None)
    executor.forward(is_train=True)
    with pytest.raises(mx.base.MXNetError, match=r"head gradient 0 of shape \(3,\), expected \(2,\) as the output"):
        executor.backward(mx.nd.ones(3))


@pytest.mark.parametrize("group", [mx.cpu(0), mx.cpu(1)])
def test_an_executor_of_groups_on_the_processor_takes_other_shapes(group):
    with mx.AttrScope(ctx_group="half"):
        net = network()
    executor = net.simple_bind(mx.cpu(), group2ctx={"half": group}, data=(4, 2))
    assert executor.reshape(data=(3, 2)).forward()[0].shape == (3, 3)


def test_what_lies_where_with_groups_on_several_processors():
    """Device numbers of processors change nothing but what arrays say, and programs ask them."""
    with mx.AttrScope(ctx_group="first"):
        doubled = mx.sym.var("a") * 2
    with mx.AttrScope(ctx_group="second"):
        total = doubled + mx.sym.var("b")
    groups, outputs = {"first": mx.cpu(1), "second": mx.cpu(2)}, mx.sym.Group([total, doubled, doubled.exp()])
    executor = outputs.simple_bind(mx.cpu(), group2ctx=groups, a=(2,), b=(2,))
    executor.copy_params_from({"a": mx.nd.array([1, 2]), "b": mx.nd.array([3, 4])})
    results = executor.forward(is_train=True)
    assert [result.context for result in results] == [mx.cpu(2), mx.cpu(1), mx.cpu(0)]
    assert results[0].asnumpy().tolist() == [5, 8]
    executor.backward([mx.nd.ones(2, ctx=result.context) for result in results[:2]] + [mx.nd.zeros(2)])
    assert executor.grad_dict["a"].context == mx.cpu(1) and executor.grad_dict["a"].asnumpy().tolist() == [4, 4]
    assert executor.grad_dict["b"].context == mx.cpu(2)


def test_simple_bind_makes_arrays_of_given_types():
    executor = network().simple_bind(mx.cpu(), grad_req="null", type_dict={"data": "float64"}, data=(4, 2))
    assert [array.shape for array in executor.arg_arrays] == [(4, 2), (3, 2), (3,)]
    assert executor.grad_arrays == [None] * 3
    assert executor.outputs[0].dtype == np.float64
    assert executor.aux_arrays == [] and list(executor.output_dict) == ["act_output"]


@pytest.mark.parametrize("stype", ["default", "row_sparse", "csr"])
def test_a_gradient_that_nothing_flows_to_is_stored_as_its_variable(stype):
    blocked, other = mx.sym.var("blocked", stype=stype), mx.sym.var("other")
    executor = mx.sym.Group([mx.sym.BlockGrad(blocked), other * 2]).simple_bind(mx.cpu(), blocked=(3, 4), other=(3, 4))
    gradient = executor.grad_dict["blocked"]
    assert gradient.stype == stype and executor.grad_dict["other"].stype == "default"
    mx.nd.array(np.eye(3, 4)).tostype(stype).copyto(gradient)
    executor.forward(is_train=True)
    executor.backward([executor.outputs[0], mx.nd.ones((3, 4))])
    np.testing.assert_array_equal(gradient.asnumpy(), np.zeros((3, 4)))


def test_simple_bind_knows_the_shapes_that_variables_tell_unless_others_are_given():
    net = mx.sym.var("own", shape=(2, 3)) + 1
    assert net.simple_bind(mx.cpu()).arg_dict["own"].shape == (2, 3)
    assert net.simple_bind(mx.cpu(), own=(4,)).arg_dict["own"].shape == (4,)


def test_forward_copies_arguments_by_name():
    executor, values = network().simple_bind(mx.cpu(), data=(4, 2)), parameters()
    executor.copy_params_from(values)
    doubled = values["data"].asnumpy() * 2
    outputs = executor.forward(data=doubled)
    np.testing.assert_allclose(outputs[0].asnumpy(), expected({**values, "data": mx.nd.array(doubled)}), rtol=1e-5)
    with pytest.raises(TypeError, match="nothing.*fc_weight"):
        executor.forward(nothing=doubled)
    with pytest.raises(ValueError, match=r"\(1, 2\).*\(4, 2\)"):
        executor.forward(data=doubled[:1])
    with pytest.raises(ValueError, match="list"):
        executor.forward(data=[1, 2])


def test_states_are_kept():
    net = mx.sym.BatchNorm(mx.sym.var("data"), name="bn", momentum=0.5, fix_gamma=False)
    executor = net.simple_bind(mx.cpu(), data=(8, 2))
    executor.copy_params_from({"bn_gamma": mx.nd.ones(2)}, {"bn_moving_var": mx.nd.ones(2)})
    executor.forward(is_train=True, data=np.full((8, 2), 4.0))
    executor.backward()  # as in the reference, moments move when the gradient is taken
    np.testing.assert_allclose(executor.aux_dict["bn_moving_mean"].asnumpy(), [2, 2])


def test_reshape_shares_parameters():
    executor = network().simple_bind(mx.cpu(), data=(4, 2))
    executor.copy_params_from(parameters())
    smaller = executor.reshape(data=(1, 2))
    out = smaller.forward(data=np.ones((1, 2)))[0]
    assert out.shape == (1, 3) and smaller.arg_dict["data"].shape == (1, 2)
    executor.arg_dict["fc_bias"][:] = 7
    np.testing.assert_allclose(smaller.arg_dict["fc_bias"].asnumpy(), [7, 7, 7])
    with pytest.raises(mx.MXNetError):
        executor.reshape(data=(9, 2))
    assert executor.reshape(allow_up_sizing=True, data=(9, 2)).forward()[0].shape == (9, 3)


def test_reshape_takes_no_more_of_an_array_than_was_bound():
    data, grad = mx.nd.zeros((8, 3)), mx.nd.zeros((8, 3))
    executor = (mx.sym.var("x") * 2).bind(mx.cpu(), {"x": data[:2]}, args_grad={"x": grad[:2]})
    with pytest.raises(mx.MXNetError, match="allow_up_sizing"):
        executor.reshape(x=(4, 3))
    larger = executor.reshape(allow_up_sizing=True, x=(4, 3))
    larger.arg_dict["x"][:] = 1
    larger.forward(is_train=True)
    larger.backward([mx.nd.ones((4, 3))])
    np.testing.assert_array_equal(larger.grad_dict["x"].asnumpy(), np.full((4, 3), 2))
    assert data.sum().asscalar() == 0 and grad.sum().asscalar() == 0
    smaller = larger.reshape(x=(1, 3))
    with pytest.raises(mx.MXNetError, match="allow_up_sizing"):
        smaller.reshape(x=(4, 3))


def test_shared_buffer_lends_no_more_than_it_holds():
    data = mx.nd.zeros((8, 2))
    executor = network().simple_bind(mx.cpu(), shared_buffer={"data": data[:2]}, data=(4, 2))
    executor.arg_dict["data"][:] = 1
    assert data.sum().asscalar() == 0


def test_shared_buffer_is_filled_and_used():
    buffer = {}
    first = network().simple_bind(mx.cpu(), shared_buffer=buffer, data=(4, 2))
    assert "data" in buffer
    second = network().simple_bind(mx.cpu(), shared_buffer=buffer, data=(2, 2))
    first.arg_dict["data"][:] = 3
    np.testing.assert_allclose(second.arg_dict["data"].asnumpy(), np.full((2, 2), 3))


@pytest.mark.skipif(ON_CTYPES,
                    reason="collections of garbage come between the statements of a binding in Python")
def test_shared_buffer_has_its_own_arrays_when_something_else_binds_meanwhile():
    buffer, binding = {}, []

    def bind_another(phase, _info):  # as what ends in a collection of garbage may
        if phase == "start" and not binding:
            binding.append(True)
            network().simple_bind(mx.cpu(), shared_buffer={"other": mx.nd.zeros((3,))}, data=(2, 2))
            binding.clear()

    thresholds = gc.get_threshold()
    gc.callbacks.append(bind_another)
    gc.set_threshold(1, 1, 1)
    try:
        executor = network().simple_bind(mx.cpu(), shared_buffer=buffer, data=(4, 2))
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(bind_another)
    assert "data" in buffer and "other" not in buffer
    executor.arg_dict["data"][:] = 3
    np.testing.assert_allclose(buffer["data"].asnumpy(), np.full((4, 2), 3))


def test_what_is_wrong_is_said():
    net, values = network(), parameters()
    with pytest.raises(ValueError, match="2 arrays.*expected 3"):
        net.bind(mx.cpu(), [values["data"], values["fc_bias"]])
    with pytest.raises(ValueError, match="fc_bias"):
        net.bind(mx.cpu(), {"data": values["data"], "fc_weight": values["fc_weight"]})
    with pytest.raises(ValueError, match="'sum'"):
        net.bind(mx.cpu(), values, grad_req="sum")
    with pytest.raises(mx.MXNetError, match="simple_bind"):
        net.simple_bind(mx.cpu(), fc_bias=(3,))
    with pytest.raises(ValueError, match="'extra'"):
        net.simple_bind(mx.cpu(), data=(4, 2)).copy_params_from({"extra": mx.nd.ones(1)})


def test_eval_needs_no_executor():
    x = mx.sym.var("x")
    np.testing.assert_allclose((x * 2 + 1).eval(x=mx.nd.array([1, 2]))[0].asnumpy(), [3, 5])


def test_the_compiled_graph_can_be_read():
    executor = network().simple_bind(mx.cpu(), data=(4, 2))
    assert "fc" in executor.debug_str()
    assert "data" in executor.get_optimized_symbol().list_arguments()


def test_the_compiled_graph_is_that_of_the_backend():
    layer = mx.sym.Convolution(mx.sym.var("data"), kernel=(1, 1), num_filter=2, name="c")
    net = mx.sym.Activation(mx.sym.BatchNorm(layer, name="bn"), act_type="relu", name="r")

    def operators(grad_req):
        executor = net.simple_bind(mx.cpu(), data=(1, 2, 4, 4), grad_req=grad_req)
        made = executor.get_optimized_symbol()
        assert made.list_arguments() == net.list_arguments()
        assert made.list_auxiliary_states() == net.list_auxiliary_states()
        return [node["op"] for node in json.loads(made.tojson())["nodes"] if node["op"] != "null"]

    assert operators("null") == ["_sg_mkldnn_conv"]
    assert operators("write") == ["Convolution", "BatchNorm", "Activation"]
    with mx.util.environment("MXNET_SUBGRAPH_BACKEND", "NONE"):
        assert operators("null") == ["Convolution", "BatchNorm", "Activation"]
    with mx.util.environment("MXNET_SUBGRAPH_BACKEND", "nosuch"):
        with pytest.raises(mx.MXNetError, match="given nosuch, expected one of: ONEDNN"):
            net.simple_bind(mx.cpu(), data=(1, 2, 4, 4)).forward()


def test_equal_calls_are_one_in_the_compiled_graph():
    x = mx.sym.var("x")
    executor = (mx.sym.exp(x) + mx.sym.exp(x)).simple_bind(mx.cpu(), x=(2,))
    assert executor.get_optimized_symbol().tojson().count('"exp"') == 1


def test_options_that_no_backend_knows_are_errors():
    net = network()
    assert net.optimize_for("MKLDNN", dedup_subgraph=True).list_arguments() == net.list_arguments()
    with pytest.raises(mx.MXNetError, match="given option 'colour' for the backend MKLDNN"):
        net.optimize_for("MKLDNN", colour="red")


def convolutions_computed_twice(budget):
    """Of six, in a training step whose plan is to stay below so many bytes; and the plan's bytes."""
    x = mx.sym.var("data")
    for i, filters in enumerate((8, 8, 16, 16, 32, 32)):
        x = mx.sym.Convolution(x, num_filter=filters, kernel=(3, 3), pad=(1, 1), name=f"c{i}")
        x = mx.sym.Activation(x, act_type="relu")
        if i % 2 == 1:
            x = mx.sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max")
    with mx.util.environment("MXNET_BACKWARD_MIRROR_BUDGET", str(budget)):
        executor = x.simple_bind(mx.cpu(), data=(4, 3, 32, 32))
        executor.forward(is_train=True)
        text = executor.debug_str()
    return len(set(re.findall(r"c\d_mirror", text))), int(re.search(r"planned bytes: (\d+)", text)[1])


def test_what_fits_into_a_budget_is_not_computed_again():
    again, plain = convolutions_computed_twice(0)
    assert again == 0
    for part in (0.9, 0.8, 0.7):
        again, planned = convolutions_computed_twice(int(part * plain))
        assert planned <= part * plain and again <= 2


def test_arguments_on_another_device_are_copied_and_states_there_are_an_error(run_python):
    code = """if True:
        import mxnet as mx
        x, w = mx.nd.full((2,), 3, ctx=mx.gpu(0)), mx.nd.full((2,), 5)
        grads = {"x": mx.nd.zeros((2,), ctx=mx.gpu(0)), "w": mx.nd.zeros((2,))}
        bound = (mx.sym.var("x") * mx.sym.var("w")).bind(mx.cpu(), {"x": x, "w": w}, grads)
        product = bound.forward(is_train=True)[0]
        bound.backward(mx.nd.ones((2,), ctx=mx.gpu(0)))
        print(product.context, product.asnumpy()[0], grads["x"].asnumpy()[0], grads["w"].asnumpy()[0])
        norm = mx.sym.BatchNorm(mx.sym.var("x"), name="bn")
        ones = {name: mx.nd.ones((2, 3) if name == "x" else (3,)) for name in norm.list_arguments()}
        try:
            norm.bind(mx.cpu(), ones, aux_states=[mx.nd.ones(3, ctx=mx.gpu(0)) for _ in range(2)])
        except mx.base.MXNetError as error:
            print(error)
    """
    lines = run_python(code, env={"MXNET_SIM_GPUS": "1"}).stdout.splitlines()
    assert lines[0] == "cpu(0) 15.0 5.0 3.0"
    assert "'bn_moving_mean' on gpu(0), expected it on cpu(0)" in lines[1]


def test_an_operator_has_more_outputs_than_a_short_number_holds():
    parts = mx.sym.split(mx.sym.var("x"), num_outputs=65537, axis=0)
    bound = (parts[65536] * 2 + parts[0]).bind(mx.context.current_context(), {"x": mx.nd.arange(3, 65540)})
    assert bound.forward()[0].asnumpy().tolist() == [2 * 65539 + 3]


@pytest.mark.parametrize("count", [-1, 2**21, 2**31 - 1])
def test_more_outputs_than_anything_has_are_an_error(count):
    with pytest.raises(mx.base.MXNetError, match="output"):
        mx.sym.split(mx.sym.var("x"), num_outputs=count)
    with pytest.raises(mx.base.MXNetError, match="output"):
        mx.nd.split(mx.nd.ones((2, 2)), num_outputs=count)


@pytest.mark.parametrize("axis", [0, 1])
def test_gradients_of_sums_of_squares_of_rows_are_row_sparse(axis, capfd):
    """As the weights of factorization machines are: updates are lazy then."""
    x = mx.sym.var("x", stype="row_sparse")
    executor = mx.sym._internal._square_sum(x, axis=axis).simple_bind(mx.cpu(), x=(4, 2))
    executor.arg_dict["x"][:] = mx.nd.sparse.row_sparse_array(([[1, 2], [3, 4]], [0, 2]), shape=(4, 2))
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones(4 if axis else 2))
    grad = executor.grad_dict["x"]
    assert grad.stype == "row_sparse" and grad.indices.asnumpy().tolist() == [0, 2]
    assert grad.data.asnumpy().tolist() == [[2, 4], [6, 8]]
    assert "fallback" not in capfd.readouterr().err


@pytest.mark.parametrize("state", ["d", "v", "z"])
def test_a_state_that_is_stored_sparse_is_read_and_written(state):
    names = ["weight", "grad", "d", "v", "z"]
    variables = {name: mx.sym.var(name, stype="row_sparse" if name == state else None, shape=(5, 2), dtype="float32") for name in names}
    executor = mx.sym.ftml_update(**variables, lr=0.1, t=3).simple_bind(mx.cpu(), grad_req="null")
    assert executor.aux_dict[state].stype == "row_sparse"
    arrays = [mx.nd.ones((5, 2)), mx.nd.ones((5, 2)), *(mx.nd.zeros((5, 2)) for _ in range(3))]
    for array in executor.arg_arrays:
        array[:] = 1
    for _ in range(2):
        wanted = mx.nd.ftml_update(*arrays, lr=0.1, t=3)
        np.testing.assert_array_equal(executor.forward()[0].asnumpy(), wanted.asnumpy())
        for name, array in zip(names[2:], arrays[2:]):
            np.testing.assert_array_equal(executor.aux_dict[name].asnumpy(), array.asnumpy())


@pytest.mark.parametrize("training", [False, True])
def test_moving_averages_that_are_stored_sparse(training):
    data = np.random.default_rng(3).normal(size=(4, 3)).astype(np.float32)
    results = []
    for stype in ("row_sparse", None):
        moving = mx.sym.var("moving", stype=stype, shape=(3,))
        layer = mx.sym.BatchNorm(mx.sym.var("x", shape=(4, 3)), moving_mean=moving, fix_gamma=False, name="norm")
        executor = layer.simple_bind(mx.cpu(), grad_req="null")
        executor.arg_dict["x"][:] = data
        executor.arg_dict["norm_gamma"][:] = 2
        results.append([executor.forward(is_train=training)[0].asnumpy(), executor.aux_dict["moving"].asnumpy()])
    for sparse, dense in zip(*results):
        np.testing.assert_array_equal(sparse, dense)


@pytest.mark.parametrize("shared_arg_names, buffer, shared", [
    (None, False, []), ([], False, []), (["fc_weight"], False, ["bn_moving_mean", "bn_moving_var", "fc_weight"]),
    (None, True, ["bn_beta", "bn_gamma", "bn_moving_mean", "bn_moving_var", "fc_bias", "fc_weight"])])
def test_states_are_shared_with_an_executor_where_anything_is(shared_arg_names, buffer, shared):
    net = mx.sym.BatchNorm(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4, name="fc"), name="bn")
    options = {"shared_buffer": {}} if buffer else {}
    first = net.simple_bind(mx.cpu(), data=(5, 3), **options)
    second = net.simple_bind(mx.cpu(), data=(2, 3), shared_exec=first, shared_arg_names=shared_arg_names, **options)

    def arrays(executor):
        return {**executor.arg_dict, **executor.aux_dict}

    for array in arrays(first).values():
        array[:] = 1
    for array in arrays(second).values():
        array[:] = 2
    seen = {name: array.asnumpy() for name, array in arrays(first).items() if name != "data"}
    assert sorted(name for name, numbers in seen.items() if (numbers == 2).all()) == shared


@pytest.mark.parametrize("layer, shape", [("fully connected", (2, 3)), ("convolution", (2, 3, 1, 1))])
def test_a_module_of_inference_follows_the_weights_that_are_set_between_its_runs(layer, shape):
    data = mx.sym.var("data")
    if layer == "convolution":
        network = mx.sym.Convolution(data, num_filter=2, kernel=(1, 1), name="layer")
    else:
        network = mx.sym.FullyConnected(data, num_hidden=2, name="layer")
    module = mx.mod.Module(network, label_names=None, context=mx.cpu())
    module.bind([("data", shape)], for_training=False)
    for value in (1, 2, 3):
        module.set_params({"layer_weight": mx.nd.full(shape, value, mx.cpu()), "layer_bias": mx.nd.full((2,), value, mx.cpu())}, {})
        module.forward(mx.io.DataBatch([mx.nd.ones(shape, mx.cpu())]), is_train=False)
        assert (module.get_outputs()[0].asnumpy() == 4 * value).all()
