# SPDX-License-Identifier: Apache-2.0
"""Executors and modules beyond a fit: other shapes, shared arrays, several contexts, states, monitors."""
from registry import program


def classifier(mx, hidden=3):
    net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4, name="fc1")
    net = mx.sym.FullyConnected(mx.sym.Activation(net, act_type="tanh", name="act"), num_hidden=hidden, name="fc2")
    return mx.sym.SoftmaxOutput(net, name="softmax")


def filled(mx, np, arrays, seed=0):
    draws = np.random.RandomState(seed)
    for name in sorted(arrays):
        arrays[name][:] = mx.nd.array(draws.uniform(-1, 1, arrays[name].shape))


def batch(mx, np, rows, columns=5, seed=1):
    draws = np.random.RandomState(seed)
    return mx.io.DataBatch([mx.nd.array(draws.normal(size=(rows, columns)))], [mx.nd.array(draws.randint(0, 3, rows))])


@program()
def executors_of_other_shapes(mx, np):
    executor = classifier(mx).simple_bind(mx.cpu(), data=(4, 5), softmax_label=(4,))
    filled(mx, np, executor.arg_dict)
    smaller = executor.reshape(data=(2, 5), softmax_label=(2,))
    smaller.forward(is_train=True, data=mx.nd.ones((2, 5)))
    smaller.backward()
    larger = executor.reshape(allow_up_sizing=True, data=(6, 5), softmax_label=(6,))
    larger.arg_dict["data"][:] = 0.5
    larger.forward()
    return [smaller.outputs, smaller.grad_dict["fc1_weight"], larger.outputs, [array.shape for array in larger.arg_arrays]]


@program()
def executors_that_grow_without_leave_are_an_error(mx, np):
    executor = classifier(mx).simple_bind(mx.cpu(), data=(4, 5), softmax_label=(4,))
    executor.reshape(data=(6, 5), softmax_label=(6,))


@program()
def parameters_copied_into_executors(mx, np):
    executor = classifier(mx).simple_bind(mx.cpu(), data=(2, 5), softmax_label=(2,))
    executor.copy_params_from({"fc1_weight": mx.nd.ones((4, 5)), "nobody": mx.nd.ones(1)}, allow_extra_params=True)
    results = [executor.arg_dict["fc1_weight"].copy()]
    for given in ({"nobody": mx.nd.ones(1)}, {"fc1_weight": mx.nd.ones((4, 6))}):
        try:
            executor.copy_params_from(given)
            executor.arg_dict["fc1_weight"].wait_to_read()
            results.append("taken")
        except Exception:
            results.append("refused")
    return results + [sorted(executor.output_dict), executor.aux_dict]


@program()
def gradients_that_add_and_that_are_not_wanted(mx, np):
    x, y = mx.sym.var("x"), mx.sym.var("y")
    net = x * y + mx.sym.exp(x)
    arrays = {"x": mx.nd.array([0.5, 1]), "y": mx.nd.array([2, 3])}
    grads = {"x": mx.nd.ones(2), "y": mx.nd.ones(2)}
    executor = net.bind(mx.cpu(), arrays, grads, grad_req={"x": "add", "y": "null"})
    for _ in range(2):
        executor.forward(is_train=True)
        executor.backward(mx.nd.ones(2))
    listed = net.bind(mx.cpu(), [arrays["x"], arrays["y"]], [mx.nd.zeros(2), mx.nd.zeros(2)], ["write", "add"])
    listed.forward(is_train=True)
    listed.backward([mx.nd.array([1, 2])])
    return [grads, listed.grad_arrays, listed.outputs]


@program()
def executors_that_share_arrays(mx, np):
    net = classifier(mx)
    first = net.simple_bind(mx.cpu(), data=(4, 5), softmax_label=(4,))
    filled(mx, np, first.arg_dict)
    second = net.simple_bind(mx.cpu(), data=(2, 5), softmax_label=(2,), shared_exec=first, shared_buffer={},
                             shared_arg_names=["fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias"])
    second.arg_dict["data"][:] = 1
    second.forward()
    first.arg_dict["fc2_bias"][:] = 9
    return [second.outputs, second.arg_dict["fc2_bias"]]


@program()
def monitors_of_every_array(mx, np):
    executor = classifier(mx).simple_bind(mx.cpu(), data=(2, 5), softmax_label=(2,))
    filled(mx, np, executor.arg_dict)
    seen = []
    executor.set_monitor_callback(lambda name, array: seen.append(str(name).strip("b'")), monitor_all=True)
    executor.forward(is_train=True)
    return [name for name in seen if not name.startswith("act_")]  # whose input has a name of its own here


@program()
def monitors_in_modules(mx, np):
    module = mx.mod.Module(classifier(mx))
    module.bind([("data", (4, 5))], [("softmax_label", (4,))])
    module.init_params(mx.init.One())
    monitor = mx.mon.Monitor(2, stat_func=lambda array: array.max(), pattern=".*weight|fc.*output", sort=True)
    module.install_monitor(monitor)
    seen = []
    for _ in range(3):
        monitor.tic()
        module.forward_backward(batch(mx, np, 4))
        # Gradients that nobody asked for are shown there, with what the memory holds.
        seen.append([[row[1], round(float(row[2]), 3)] for row in monitor.toc() if row[1] != "fc1_backward_output0"])
    return seen


@program()
def monitors_of_gradients(mx, np):
    net = mx.sym.BatchNorm(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4, name="fc1"), fix_gamma=False, name="bn")
    net = mx.sym.elemwise_mul(mx.sym.tanh(net, name="tanh"), mx.sym.sigmoid(net, name="sigmoid"), name="product")
    net = mx.sym.softmax(mx.sym.dot(mx.sym.LayerNorm(net, name="ln"), mx.sym.var("w"), name="dot"), name="softmax")
    executor = net.simple_bind(mx.cpu(), data=(3, 5), w=(4, 2))
    filled(mx, np, executor.arg_dict)
    monitor = mx.mon.Monitor(1, stat_func=lambda array: array.square().sum(), pattern="(bn|ln)_(mean|var|std)$|.*_backward_output")
    monitor.install(executor)
    monitor.tic()
    executor.forward(is_train=True)
    executor.backward(mx.nd.array([[1, 2], [0, -1], [3, 1]]))
    return [[row[1], round(float(row[2]), 2)] for row in monitor.toc() if row[1] != "sum_grad_output"]


@program()
def hooks_of_gradients(mx, np):
    import warnings

    seen = []
    net = mx.gluon.nn.HybridSequential(prefix="net_")
    net.add(mx.gluon.nn.Dense(3, activation="relu", in_units=2, prefix="a_"), mx.gluon.nn.BatchNorm(in_channels=3, prefix="b_"),
            mx.gluon.nn.Dropout(0.5, prefix="c_"), mx.gluon.nn.Dense(2, in_units=3, prefix="d_"))
    net.initialize()
    net.hybridize()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        net.register_op_hook(lambda name, op, array: seen.append([str(name).strip("b'"), str(op).strip("b'")]))
    net(mx.nd.ones((4, 2)))
    with mx.autograd.record():
        out = net(mx.nd.ones((4, 2)))
    out.backward()
    mx.nd.waitall()
    return seen


@program()
def modules_that_share_parameters(mx, np):
    first = mx.mod.Module(classifier(mx))
    first.bind([("data", (4, 5))], [("softmax_label", (4,))])
    first.init_params(mx.init.Constant(0.25))
    first.init_optimizer(kvstore=None, optimizer="sgd", optimizer_params={"learning_rate": 0.5})
    second = mx.mod.Module(classifier(mx))
    second.bind([("data", (2, 5))], [("softmax_label", (2,))], shared_module=first)
    second.borrow_optimizer(first)
    for module, rows in ((first, 4), (second, 2), (first, 4)):
        module.forward_backward(batch(mx, np, rows))
        module.update()
    return [first.get_params()[0], second.get_params()[0], second.params_initialized, second.optimizer_initialized]


@program(1e-3)
def modules_on_two_contexts(mx, np):
    module = mx.mod.Module(classifier(mx), context=[mx.cpu(0), mx.cpu(1)], work_load_list=[1, 3])
    module.bind([("data", (8, 5))], [("softmax_label", (8,))], inputs_need_grad=True)
    module.init_params(mx.init.Uniform(0.1), arg_params={"fc1_weight": mx.nd.ones((4, 5)) * 0.1}, allow_missing=True)
    module.set_params({"fc2_weight": mx.nd.ones((3, 4)) * 0.2, "fc2_bias": mx.nd.zeros(3), "fc1_bias": mx.nd.zeros(4),
                       "fc1_weight": mx.nd.ones((4, 5)) * 0.1}, {})
    module.init_optimizer(kvstore="local", optimizer="adam", optimizer_params={"learning_rate": 0.1})
    for seed in range(3):
        module.forward_backward(batch(mx, np, 8, seed=seed))
        module.update()
    module.forward(batch(mx, np, 8), is_train=False)
    parts = module.get_outputs(merge_multi_context=False)
    module.forward_backward(batch(mx, np, 8))
    return [module.get_params()[0], module.get_outputs(), [[part.shape for part in group] for group in parts],
            module.get_input_grads()]


@program()
def modules_with_states(mx, np):
    state = mx.sym.var("state", shape=(2, 3))
    out = mx.sym.broadcast_add(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc"), state, name="next")
    module = mx.mod.Module(mx.sym.Group([mx.sym.BlockGrad(out), mx.sym.MakeLoss(mx.sym.sum(out))]), data_names=["data"],
                           label_names=None, state_names=["state"])
    module.bind([("data", (2, 5))], None)
    module.init_params(mx.init.One())
    module.set_states(value=0.5)
    results = []
    for _ in range(2):
        module.forward(mx.io.DataBatch([mx.nd.ones((2, 5))], None), is_train=False)
        outputs = module.get_outputs(merge_multi_context=False)
        results.append(module.get_outputs()[0])
        module.set_states(states=outputs[:1])
    return results + [module.get_states(merge_multi_context=False)]


@program()
def modules_with_fixed_parameters(mx, np):
    module = mx.mod.Module(classifier(mx), fixed_param_names=["fc1_weight", "fc1_bias"])
    module.bind([("data", (4, 5))], [("softmax_label", (4,))])
    module.init_params(mx.init.Constant(0.5))
    module.init_optimizer(kvstore=None, optimizer_params={"learning_rate": 1.0})
    module.forward_backward(batch(mx, np, 4))
    module.update()
    return module.get_params()[0]


@program()
def modules_with_saved_optimizers(mx, np):
    results = []
    for prefix in ("first", "second"):
        if prefix == "first":
            module = mx.mod.Module(classifier(mx))
        else:
            module = mx.mod.Module.load("first", 1, load_optimizer_states=True)
        module.bind([("data", (4, 5))], [("softmax_label", (4,))])
        module.init_params(mx.init.Constant(0.5))
        module.init_optimizer(kvstore=None, optimizer="sgd", optimizer_params={"learning_rate": 0.1, "momentum": 0.9})
        for seed in range(2):
            module.forward_backward(batch(mx, np, 4, seed=seed))
            module.update()
        module.save_checkpoint(prefix, 1, save_optimizer_states=True)
        results.append(module.get_params()[0])
    symbol, arguments, states = mx.model.load_checkpoint("second", 1)
    return results + [symbol, arguments, states]


@program()
def missing_and_extra_parameters_of_modules(mx, np):
    module = mx.mod.Module(classifier(mx))
    module.bind([("data", (4, 5))], [("softmax_label", (4,))])
    results = []
    for options in ({}, {"allow_missing": True}, {"allow_extra": True, "allow_missing": True}):
        try:
            module.init_params(mx.init.One(), arg_params={"fc1_bias": mx.nd.ones(4), "nobody": mx.nd.ones(1)},
                               force_init=True, **options)
            results.append(module.get_params()[0])
        except Exception:
            results.append("refused")
    return results


@program()
def modules_called_too_early_are_an_error(mx, np):
    mx.mod.Module(classifier(mx)).forward(batch(mx, np, 4))


@program()
def batches_of_another_size_in_modules(mx, np):
    module = mx.mod.Module(classifier(mx))
    module.bind([("data", (4, 5))], [("softmax_label", (4,))])
    module.init_params(mx.init.Constant(0.1))
    shapes = []
    for rows in (4, 2, 7):
        module.forward(batch(mx, np, rows), is_train=False)
        shapes.append([module.get_outputs()[0].copy(), module.data_shapes[0].shape])
    return shapes


@program()
def chains_of_modules(mx, np):
    chain = mx.mod.SequentialModule()
    first = mx.sym.Activation(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4, name="a"), act_type="relu", name="relu")
    second = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="b"), name="softmax")
    chain.add(mx.mod.Module(first, label_names=[])).add(mx.mod.Module(second), take_labels=True, auto_wiring=True)
    chain.bind([("data", (4, 5))], [("softmax_label", (4,))])
    chain.init_params(mx.init.Constant(0.3))
    chain.init_optimizer(kvstore=None, optimizer_params={"learning_rate": 0.2})
    metric = mx.metric.Accuracy()
    for seed in range(2):
        given = batch(mx, np, 4, seed=seed)
        chain.forward_backward(given)
        chain.update()
        chain.update_metric(metric, given.label)
    return [chain.get_params()[0], chain.get_outputs(), metric.get(), chain.output_shapes]
