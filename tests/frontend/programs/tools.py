# SPDX-License-Identifier: Apache-2.0
"""Looking into programs: inference of types and shapes from a part, monitors and custom operators within Module, the profiler's table,
precision, plots of networks, callbacks."""
import logging

from registry import program


@program()
def types_and_shapes_from_a_part(mx, np):
    a, b = mx.sym.var("a"), mx.sym.var("b")
    net = mx.sym.FullyConnected(a, num_hidden=3, name="fc") + b
    return [net.infer_type_partial(a="float64"), net.infer_type_partial(), net.infer_type_partial(b="float16"),
            mx.sym.Cast(a, dtype="int32").infer_type_partial(), net.infer_shape_partial(a=(2, 4)), (a * b).infer_shape_partial(a=(0, 3), b=(2, 0)), (a * b).infer_type_partial(a="int8")]


@program()
def types_that_do_not_fit_errors(mx, np):
    return (mx.sym.var("a") + mx.sym.var("b")).infer_type(a="float32", b="float64")


@program()
def attributes_reach_optimizers(mx, np):
    weight = mx.sym.var("weight", lr_mult=2.0, wd_mult=0.0)
    with mx.AttrScope(__lr_mult__="0.5"):
        net = mx.sym.FullyConnected(mx.sym.var("data"), weight=weight, num_hidden=2, name="fc")
    net = mx.sym.LinearRegressionOutput(net, name="out")
    module = mx.mod.Module(net, label_names=["out_label"])
    module.bind([("data", (2, 3))], [("out_label", (2, 2))])
    module.init_params(mx.init.Constant(0.5))
    module.init_optimizer(optimizer_params={"learning_rate": 0.1, "wd": 0.2})
    module.forward_backward(mx.io.DataBatch([mx.nd.ones((2, 3))], [mx.nd.zeros((2, 2))]))
    module.update()
    arguments, _ = module.get_params()
    return [arguments["weight"], arguments["fc_bias"], sorted(net.attr_dict().items())]


@program()
def custom_operators_in_modules(mx, np):
    class Loss(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            aux[0][:] += 1
            self.assign(out_data[0], req[0], mx.nd.softmax(in_data[0]))

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            hot = mx.nd.one_hot(in_data[1], depth=in_data[0].shape[1])
            self.assign(in_grad[0], req[0], (out_data[0] - hot) * self.scale)
            self.assign(in_grad[1], req[1], mx.nd.zeros_like(in_data[1]))

    class Description(mx.operator.CustomOpProp):
        def __init__(self, scale="1"):
            super().__init__(need_top_grad=False)
            self.scale = float(scale)

        def list_arguments(self):
            return ["data", "label"]

        def list_auxiliary_states(self):
            return ["calls"]

        def infer_shape(self, shapes):
            return [shapes[0], (shapes[0][0],)], [shapes[0]], [(1,)]

        def infer_type(self, types):
            return [types[0], types[0]], [types[0]], [np.float32]

        def create_operator(self, ctx, shapes, dtypes):
            made = Loss()
            made.scale = self.scale
            return made

    mx.operator.register("frontend_loss")(Description)
    net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    net = mx.sym.Custom(net, mx.sym.var("softmax_label"), op_type="frontend_loss", scale=0.5, name="softmax")
    data = mx.io.NDArrayIter(np.arange(24).reshape(8, 3) / 10.0, np.arange(8) % 3, 4)
    module = mx.mod.Module(net)
    module.fit(data, num_epoch=2, initializer=mx.init.Constant(0.1), optimizer_params={"learning_rate": 0.3},
               aux_params={"softmax_calls": mx.nd.zeros(1)}, allow_missing=True)
    arguments, states = module.get_params()
    return [arguments, states, module.score(data, "acc"), net.list_auxiliary_states()]


@program()
def tables_of_the_profiler(mx, np):
    """Names and how often they ran; times are the machine's."""
    mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename="profile.json")
    mx.profiler.set_state("run")
    x = mx.nd.ones((4, 4))
    for _ in range(3):
        y = mx.nd.dot(x, x)
        y.wait_to_read()
    mx.nd.waitall()
    mx.profiler.set_state("stop")
    import json

    table = json.loads(mx.profiler.dumps(reset=True, format="json"))
    text = mx.profiler.dumps(reset=True)
    operators = table["Time"].get("operator", table["Time"].get("Operator", {}))
    return [{"Memory", "Time", "Unit"} <= set(table), sorted(table["Unit"].items()), operators["dot"]["Count"], sorted(operators["dot"]), isinstance(text, str)]


@program()
def scopes_of_the_profiler(mx, np):
    domain = mx.profiler.Domain("domain")
    task, frame, event = domain.new_task("task"), domain.new_frame("frame"), mx.profiler.Event("event")
    counter, marker = domain.new_counter("counter", 5), domain.new_marker("marker")
    mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename="profile.json")
    mx.profiler.set_state("run")
    for timed in (task, frame, event):
        timed.start()
        timed.stop()
    counter += 3
    counter -= 1
    counter.set_value(20)
    marker.mark("process")
    mx.profiler.pause()
    mx.profiler.resume()
    mx.profiler.set_state("stop")
    text = mx.profiler.dumps(reset=True)
    mx.profiler.dump()
    return [str(domain), str(task), str(frame), str(event), str(counter), [word in text for word in ("task", "frame", "counter")]]


@program(tolerance=1e-2)
def networks_in_half_precision(mx, np):
    from mxnet.contrib import amp

    net = mx.sym.softmax(mx.sym.FullyConnected(mx.sym.Convolution(mx.sym.var("data"), kernel=(3, 3), num_filter=2, name="c"), num_hidden=3,
                                               name="fc"))
    shapes, _, _ = net.infer_shape(data=(1, 1, 4, 4))
    arguments = {name: mx.nd.arange(int(np.prod(shape))).reshape(shape) / 20 for name, shape in zip(net.list_arguments(), shapes)}
    data = arguments.pop("data")
    low, converted, states = amp.convert_model(net, arguments, {}, target_dtype="float16")
    kinds = sorted({node for node in low.get_internals().list_outputs() if "amp_cast" in node})
    return [net.eval(data=data, **arguments), len(kinds) > 0, sorted(converted), states]


@program()
def pictures_of_networks(mx, np):
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Activation(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4, name="one"),
                                                                       act_type="relu", name="relu"), num_hidden=2, name="two"), name="softmax")
    import contextlib
    import io

    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        mx.viz.print_summary(net, shape={"data": (1, 3)})
    return text.getvalue()


@program()
def what_callbacks_say(mx, np):
    said = []

    class Keep(logging.Handler):
        def emit(self, record):
            said.append(record.getMessage())

    logger, handler = logging.getLogger(), Keep()
    disabled, level = logging.root.manager.disable, logger.level
    logging.disable(logging.NOTSET)
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        metric = mx.metric.Accuracy()
        metric.update([mx.nd.array([0, 1])], [mx.nd.array([[0.9, 0.1], [0.8, 0.2]])])
        parameters = mx.callback.LogValidationMetricsCallback()
        parameters(mx.model.BatchEndParam(epoch=1, nbatch=3, eval_metric=metric, locals=None))
        mx.callback.log_train_metric(2)(mx.model.BatchEndParam(epoch=1, nbatch=2, eval_metric=metric, locals=None))
        mx.callback.ProgressBar(10, 20)(mx.model.BatchEndParam(epoch=1, nbatch=5, eval_metric=metric, locals=None))
        mx.callback.do_checkpoint("kept", 2)(1, mx.sym.var("data"), {"w": mx.nd.ones(2)}, {})
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logging.disable(disabled)
    return [[line for line in said if "Saved" not in line], mx.nd.load("kept-0002.params")]


@program()
def images_in_npx(mx, np):
    image = mx.np.array(np.arange(4 * 6 * 3).reshape(4, 6, 3) % 250, dtype="uint8")
    npx = mx.npx.image
    batch = mx.np.stack([image, image + 1])
    return [npx.to_tensor(image), npx.to_tensor(batch), npx.normalize(npx.to_tensor(image), mean=(0.1, 0.2, 0.3), std=(0.5, 0.4, 0.3)),
            npx.crop(image, 1, 0, 3, 2), npx.crop(batch, 1, 0, 3, 2), npx.resize(image, (3, 2)), npx.resize(batch, (12, 8), interp=0),
            npx.flip_left_right(image), npx.flip_top_bottom(image), npx.random_brightness(image, 1.0, 1.0), npx.random_contrast(image, 1.0, 1.0),
            npx.random_saturation(image, 1.0, 1.0), npx.adjust_lighting(image.astype("float32"), (0.0, 0.0, 0.0))]


@program()
def gradients_of_images(mx, np):
    x = mx.nd.arange(48).reshape((4, 4, 3))
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.image.to_tensor(x.astype("uint8").astype("float32"))
        z = mx.nd.image.normalize(mx.nd.transpose(x, (2, 0, 1)), mean=(1, 2, 3), std=(2, 4, 8))
        loss = (z * z).sum()
    loss.backward()
    return [y, z, x.grad]


@program(tolerance=1e-2)
def networks_of_whole_numbers(mx, np):
    from mxnet.contrib import quantization

    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Conv2D(4, 3, activation="relu"), mx.gluon.nn.MaxPool2D(2), mx.gluon.nn.Flatten(), mx.gluon.nn.Dense(3))
    net.initialize(mx.init.Constant(0.05))
    data = mx.nd.arange(2 * 64).reshape((2, 1, 8, 8)) / 64 - 1
    plain = net(data)
    loader = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(data, mx.nd.zeros(2)), batch_size=1)
    results = [plain]
    for mode in ("naive", "none"):
        given = {"calib_data": loader, "num_calib_examples": 2} if mode != "none" else {}
        low = quantization.quantize_net(net, quantized_dtype="int8", calib_mode=mode, data_shapes=[mx.io.DataDesc("data", (2, 1, 8, 8))] if mode == "none" else None, **given)
        out = low(data)
        results.append(bool(mx.nd.max(mx.nd.abs(out - plain)).asscalar() < 0.1))
    return results


@program()
def gradients_are_checked(mx, np):
    x, w = mx.sym.var("x"), mx.sym.var("w")
    net = mx.sym.tanh(mx.sym.dot(x, w))
    place = {"x": mx.nd.array([[0.1, 0.2], [0.3, -0.4]]), "w": mx.nd.array([[0.5, -0.6], [0.7, 0.8]])}
    tools = mx.test_utils
    tools.check_numeric_gradient(net, place, numeric_eps=1e-2, rtol=5e-2, atol=1e-3)
    forward = tools.check_symbolic_forward(net, place, [np.tanh(place["x"].asnumpy() @ place["w"].asnumpy())], rtol=1e-4)
    tools.check_consistency(mx.sym.FullyConnected(x, num_hidden=2, name="fc"), [{"ctx": mx.cpu(), "x": (2, 3), "type_dict": {"x": kind}}
                                                                                for kind in ("float32", "float64")])
    return [list(forward), tools.almost_equal(np.ones(2), np.ones(2) + 1e-9), tools.same(np.ones(2), np.ones(2))]


@program()
def gradients_that_are_wrong_errors(mx, np):
    class Wrong(mx.autograd.Function):
        def forward(self, x):
            return x * x

        def backward(self, dy):
            return dy

    x = mx.nd.array([1.0, 2.0])
    x.attach_grad()
    with mx.autograd.record():
        y = Wrong()(x)
    y.backward()
    mx.test_utils.assert_almost_equal(x.grad, 2 * x)
