# SPDX-License-Identifier: Apache-2.0
"""mx.sym: networks and executors."""
from registry import program


def mlp(mx):
    data = mx.sym.var("data")
    hidden = mx.sym.Activation(mx.sym.FullyConnected(data, num_hidden=4, name="fc1"), act_type="relu", name="relu1")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(hidden, num_hidden=3, name="fc2"), name="softmax")


@program()
def names(mx, np):
    net = mlp(mx)
    internals = net.get_internals()
    return [net, net.name, internals.list_outputs(), internals["fc1_output"], net.get_children(), net.list_inputs(),
            [item.name for item in internals], repr(net), len(mx.sym.Group([net, internals["relu1_output"]]))]


@program()
def automatic_names(mx, np):
    with mx.name.NameManager():
        a = mx.sym.var("a")
        b = a + a * 2 - mx.sym.exp(a) / a
    with mx.name.Prefix("pre_"):
        c = mx.sym.FullyConnected(a, num_hidden=2)
        d = mx.sym.FullyConnected(a, num_hidden=2, name="own")
    return [b.get_internals().list_outputs(), c, d]


@program()
def attributes(mx, np):
    with mx.AttrScope(ctx_group="dev1", lr_mult="0.5"):
        a = mx.sym.var("a", shape=(2, 3), lr_mult=2.0, init=mx.init.Zero())
        fc = mx.sym.FullyConnected(a, num_hidden=2, name="fc", attr={"__tag__": "x"})
    fc._set_attr(__mood__="so so")
    return [a.attr("__shape__"), a.attr("lr_mult"), fc.attr("ctx_group"), fc.attr_dict(), fc.list_attr(),
            fc.attr("__mood__"), a.attr("missing")]


@program()
def json(mx, np):
    net = mlp(mx)
    text = net.tojson()
    again = mx.sym.load_json(text)
    net.save("net.json")
    return [text, again.tojson() == text, mx.sym.load("net.json"), mx.sym.fromjson(text)
            if hasattr(mx.sym, "fromjson") else 0]


@program()
def shapes(mx, np):
    net = mlp(mx)
    x = mx.sym.var("x", shape=(0, 3))
    return [net.infer_shape(data=(5, 7)), net.infer_shape_partial(data=(0, 7)),
            mx.sym.Convolution(mx.sym.var("d"), kernel=(3, 3), num_filter=4, name="c").infer_shape(d=(1, 2, 8, 8)),
            (x + mx.sym.var("y")).infer_shape(y=(4, 3)), net.infer_shape()]


@program()
def types(mx, np):
    net = mlp(mx)
    return [[[str(item) for item in part] for part in net.infer_type(data="float32")],
            [[str(item) for item in part] for part in net.infer_type(data=np.float64)], net.infer_type_partial()]


@program()
def conflicting_shapes_are_an_error(mx, np):
    return mlp(mx).infer_shape(data=(5, 7), fc1_weight=(4, 9))


@program()
def composition(mx, np):
    x = mx.sym.var("x")
    block = mx.sym.FullyConnected(mx.sym.var("in"), num_hidden=3, name="inner")
    composed = block(**{"in": mx.sym.exp(x, name="e"), "name": "outer"})
    return [composed.list_arguments(), composed.list_outputs(), (x + 1)(x=mx.sym.var("z")).list_arguments()]


@program()
def arithmetic(mx, np):
    a, b = mx.sym.var("a"), mx.sym.var("b")
    given = {"a": mx.nd.array([1, 2, 3]), "b": mx.nd.array([2, 2, 2])}
    forms = [a + b, a - b, a * b, a / b, a ** b, a % b, -a, abs(-a), a + 1, 1 - a, 2 / a, 2 ** a, 5 % a, a == b, a != b,
             a > b, a >= 2, a < b, a <= 2, mx.sym.maximum(a, b), mx.sym.minimum(a, 2), mx.sym.hypot(a, b),
             mx.sym.pow(a, 2)]
    return [form.eval(**{key: item for key, item in given.items() if key in form.list_arguments()}) for form in forms]


@program()
def creation(mx, np):
    sym = mx.sym
    return [item.eval() for item in (sym.zeros((2, 2)), sym.ones(3), sym.full((2,), 5), sym.arange(4), sym.eye(3),
                                     sym.linspace(0, 1, 5))]


@program()
def executors(mx, np):
    net = mlp(mx)
    executor = net.simple_bind(mx.cpu(), data=(2, 5), softmax_label=(2,))
    for i, name in enumerate(net.list_arguments()):
        executor.arg_dict[name][:] = mx.nd.array(
            np.random.RandomState(i).uniform(-1, 1, executor.arg_dict[name].shape))
    executor.arg_dict["softmax_label"][:] = mx.nd.array([0, 2])
    out = executor.forward(is_train=True)
    executor.backward()
    other = executor.reshape(data=(4, 5), softmax_label=(4,), allow_up_sizing=True)
    again = other.forward(is_train=False, data=mx.nd.ones((4, 5)))
    executor.copy_params_from({"fc2_bias": mx.nd.ones(3)}, allow_extra_params=True)
    return [out, executor.grad_dict, again, executor.outputs, sorted(executor.output_dict), executor.arg_dict["fc2_bias"]]


@program()
def requests(mx, np):
    a, b = mx.sym.var("a"), mx.sym.var("b")
    arrays = {"a": mx.nd.array([1, 2]), "b": mx.nd.array([3, 4])}
    grads = {"a": mx.nd.ones(2), "b": mx.nd.ones(2)}
    executor = (a * b).bind(mx.cpu(), arrays, args_grad=grads, grad_req={"a": "add", "b": "null"})
    for _ in range(2):
        executor.forward(is_train=True)
        executor.backward(mx.nd.ones(2))
    return [grads, executor.outputs]


@program()
def monitors(mx, np):
    seen = []
    executor = mlp(mx).simple_bind(mx.cpu(), data=(2, 5))
    executor.set_monitor_callback(lambda name, array: seen.append(name))
    executor.forward()
    return seen


@program()
def auxiliary_states(mx, np):
    net = mx.sym.BatchNorm(mx.sym.var("data"), fix_gamma=False, name="bn")
    executor = net.simple_bind(mx.cpu(), data=(4, 3))
    executor.arg_dict["data"][:] = mx.nd.array(np.arange(12).reshape(4, 3))
    executor.arg_dict["bn_gamma"][:] = 1
    executor.aux_dict["bn_moving_var"][:] = 1
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones((4, 3)))
    return [net, executor.aux_dict, executor.outputs]


@program()
def slices_of_networks(mx, np):
    split = mx.sym.split(mx.sym.var("x"), num_outputs=3, axis=1, name="s")
    group = mx.sym.Group([split[2], split[0]])
    return [split, group, group.eval(x=mx.nd.array([[1, 2, 3]])), [item.name for item in split]]


@program()
def fluent_methods(mx, np):
    x = mx.sym.var("x")
    given = mx.nd.array(np.arange(1, 7).reshape(2, 3) / 7)
    names = ("sum mean max min prod norm abs sign round floor ceil exp log sqrt square sin cos tanh sigmoid relu "
             "flatten argmax argmin sort softmax log_softmax zeros_like ones_like").split()
    return {name: getattr(x, name)().eval(x=given) for name in names}


@program()
def infers_backwards(mx, np):
    w = mx.sym.var("w")
    fc = mx.sym.FullyConnected(mx.sym.var("x"), w, num_hidden=4, no_bias=True)
    return fc.infer_shape(w=(4, 6), x=(3, 6))


@program()
def random_networks(mx, np):
    mx.random.seed(1)
    return [mx.sym.random.uniform(0, 1, shape=(2, 3)).eval(), mx.sym.random.normal(0, 1, shape=(2,)).eval()[0].shape,
            mx.sym.random.randint(0, 10, shape=(4,)).eval()]


@program()
def sparse_networks(mx, np):
    x = mx.sym.var("x", stype="csr")
    w = mx.sym.var("w")
    executor = mx.sym.sparse.dot(x, w).bind(mx.cpu(), {"x": mx.nd.array(np.eye(3)).tostype("csr"),
                                                       "w": mx.nd.ones((3, 2))})
    return executor.forward()


@program()
def visualization(mx, np):
    import contextlib
    import io

    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        mx.viz.print_summary(mlp(mx), shape={"data": (1, 8)})
    return text.getvalue()


@program()
def subgraph_partition(mx, np):
    net = mlp(mx)
    x = mx.nd.ones((2, 5))
    arguments = {name: mx.nd.ones(shape) for name, shape in zip(net.list_arguments(), net.infer_shape(data=(2, 5))[0])}
    best = net.optimize_for("MKLDNN", args=arguments)
    return [best.list_outputs(), net.bind(mx.cpu(), arguments).forward(data=x)]
