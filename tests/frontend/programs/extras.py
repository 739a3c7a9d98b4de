# SPDX-License-Identifier: Apache-2.0
"""What programs add, and what they look at: operators of their own, control flow, profiles, settings."""
from registry import program


def register_scale(mx):
    @mx.operator.register("frontend_scale")
    class Description(mx.operator.CustomOpProp):
        def __init__(self, factor="2"):
            super().__init__(need_top_grad=True)
            self.factor = float(factor)

        def list_arguments(self):
            return ["data"]

        def list_outputs(self):
            return ["scaled", "negated"]

        def infer_shape(self, shapes):
            return shapes, [shapes[0], shapes[0]], []

        def create_operator(self, ctx, shapes, dtypes):
            factor = self.factor

            class Operator(mx.operator.CustomOp):
                def forward(self, is_train, req, in_data, out_data, aux):
                    self.assign(out_data[0], req[0], in_data[0] * factor)
                    self.assign(out_data[1], req[1], mx.nd.array(-in_data[0].asnumpy()))

                def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
                    self.assign(in_grad[0], req[0], out_grad[0] * factor - out_grad[1])

            return Operator()


@program()
def custom_operators(mx, np):
    register_scale(mx)
    x = mx.nd.array([1.0, 2.0])
    x.attach_grad()
    with mx.autograd.record():
        a, b = mx.nd.Custom(x, op_type="frontend_scale", factor=3)
        y = (a * a).sum() + b.sum()
    y.backward()
    return [a, b, x.grad]


@program()
def custom_operators_in_networks(mx, np):
    register_scale(mx)
    net = mx.sym.Custom(mx.sym.exp(mx.sym.var("x")), op_type="frontend_scale", name="c")
    executor = net.simple_bind(mx.cpu(), x=(2,))
    executor.arg_dict["x"][:] = mx.nd.array([0, 1])
    for _ in range(2):
        executor.forward(is_train=True)
        executor.backward([mx.nd.ones(2), mx.nd.ones(2)])
    return [net, net.infer_shape(x=(2, 3)), executor.outputs, executor.grad_dict, executor.aux_dict, net.tojson()]


@program()
def custom_operators_in_blocks(mx, np):
    @mx.operator.register("frontend_square")
    class Description(mx.operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            class Operator(mx.operator.CustomOp):
                def forward(self, is_train, req, in_data, out_data, aux):
                    self.assign(out_data[0], req[0], in_data[0] ** 2)

                def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
                    self.assign(in_grad[0], req[0], 2 * in_data[0] * out_grad[0])

            return Operator()

    class Block(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.Custom(F.Custom(x, op_type="frontend_square") + 1, op_type="frontend_square")

    results = []
    for hybrid in (False, True):
        net = Block()
        if hybrid:
            net.hybridize()
        x = mx.nd.array([1.0, 2.0])
        x.attach_grad()
        with mx.autograd.record():
            y = net(x)
        y.backward()
        results += [y, x.grad]
    return results


@program()
def failing_custom_operators_are_an_error(mx, np):
    @mx.operator.register("frontend_fails")
    class Description(mx.operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            class Operator(mx.operator.CustomOp):
                def forward(self, is_train, req, in_data, out_data, aux):
                    raise ValueError("on purpose")

            return Operator()

    return mx.nd.Custom(mx.nd.ones(2), op_type="frontend_fails").asnumpy()


@program()
def unknown_custom_operators_are_an_error(mx, np):
    return mx.nd.Custom(mx.nd.ones(2), op_type="nobody registered this")


@program()
def loops_over_arrays(mx, np):
    x, state = mx.nd.array([[1.0, 2], [3, 4], [5, 6]]), mx.nd.ones(2)
    x.attach_grad()
    with mx.autograd.record():
        out, last = mx.nd.contrib.foreach(lambda item, carry: (item * carry, carry + item), x, state)
        y = out.sum() + last.sum()
    y.backward()
    counted, final = mx.nd.contrib.while_loop(
        lambda i, s: i < 4, lambda i, s: (s, [i + 1, s * 2]), [mx.nd.array([0]), mx.nd.array([1])], max_iterations=6)
    chosen = mx.nd.contrib.cond(mx.nd.array([1]) > 0, lambda: mx.nd.ones(2), lambda: mx.nd.zeros(2))
    return [out, last, x.grad, counted[0][:4] if isinstance(counted, list) else counted[:4], final, chosen]


@program()
def loops_in_networks(mx, np):
    data, state, weight = mx.sym.var("data"), mx.sym.var("state"), mx.sym.var("weight")
    out, last = mx.sym.contrib.foreach(lambda x, s: (x * weight + s, x * s), data, state)
    net = mx.sym.Group([out, last])
    arrays = {"data": mx.nd.array([[1, 2], [3, 4], [5, 6]]), "state": mx.nd.array([1, 2]), "weight": mx.nd.array([2, 3])}
    grads = {name: mx.nd.zeros(item.shape) for name, item in arrays.items()}
    executor = net.bind(mx.cpu(), arrays, args_grad=grads)
    outputs = executor.forward(is_train=True)
    executor.backward([mx.nd.ones(item.shape) for item in outputs])
    again = mx.sym.load_json(net.tojson())
    return [outputs, grads, net.infer_shape(data=(3, 2), state=(2,)), again.bind(mx.cpu(), arrays).forward(),
            len(net.tojson())]


@program()
def while_loops_in_networks(mx, np):
    i, total = mx.sym.var("i"), mx.sym.var("total")
    out, last = mx.sym.contrib.while_loop(lambda i, t: i <= 4, lambda i, t: ([i * t], [i + 1, t + i]), [i, total],
                                          max_iterations=4)
    net = mx.sym.Group(list(out) + list(last))
    arrays = {"i": mx.nd.array([1]), "total": mx.nd.array([2])}
    grads = {name: mx.nd.zeros(1) for name in arrays}
    executor = net.bind(mx.cpu(), arrays, args_grad=grads)
    outputs = executor.forward(is_train=True)
    executor.backward([mx.nd.ones(item.shape) for item in outputs])
    return [outputs, grads]


@program()
def choices_in_networks(mx, np):
    a, b = mx.sym.var("a"), mx.sym.var("b")
    net = mx.sym.contrib.cond(a * b < 5, lambda: (a + 5) * (b + 5), lambda: (a - 5) * (b - 5))
    results = []
    for values in ((1, 2), (3, 4)):
        arrays = {"a": mx.nd.array([values[0]]), "b": mx.nd.array([values[1]])}
        grads = {name: mx.nd.zeros(1) for name in arrays}
        executor = net.bind(mx.cpu(), arrays, args_grad=grads)
        results.append(executor.forward(is_train=True))
        executor.backward(mx.nd.ones(1))
        results.append(grads)
    return results


@program()
def loops_in_blocks(mx, np):
    class Block(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.dense = mx.gluon.nn.Dense(2, in_units=2, flatten=False)

        def hybrid_forward(self, F, x, state):
            return F.contrib.foreach(lambda item, s: (self.dense(item) + s, s * 2), x, state)

    results = []
    for hybrid in (False, True):
        net = Block()
        net.initialize(mx.init.One())
        if hybrid:
            net.hybridize()
        x, state = mx.nd.arange(12).reshape((3, 2, 2)), mx.nd.ones((2, 2))
        x.attach_grad()
        with mx.autograd.record():
            out, last = net(x, state)
            y = (out * out).sum()
        y.backward()
        results += [out, last, x.grad, net.dense.weight.grad()]
    return results


@program()
def profiles(mx, np):
    import json

    mx.profiler.set_config(profile_all=True, filename="profile.json", aggregate_stats=True)
    mx.profiler.set_state("run")
    (mx.nd.ones((2, 2)) * 2).wait_to_read()
    domain = mx.profiler.Domain("mine")
    task = domain.new_task("task")
    task.start()
    domain.new_counter("count", 3).increment(2)
    task.stop()
    domain.new_marker("here").mark()
    mx.profiler.set_state("stop")
    table = mx.profiler.dumps(reset=True)
    mx.profiler.dump()
    with open("profile.json") as file:
        events = json.load(file)["traceEvents"]
    return [len(table) > 0, len(events) > 0]


@program()
def settings(mx, np):
    features = mx.runtime.Features()
    return [sorted(features.keys()), mx.util.is_np_shape(), mx.util.is_np_array(), isinstance(mx.__version__, str),
            mx.util.getenv("MXNET_NO_SUCH_NAME") is None, len(mx.runtime.feature_list())]


@program()
def checks(mx, np):
    t = mx.test_utils
    x = mx.sym.var("x")
    t.check_numeric_gradient(mx.sym.tanh(x), [np.array([[0.1, 0.2], [0.3, 0.4]])])
    t.check_symbolic_forward(x * 2, [np.ones((2, 2))], [np.ones((2, 2)) * 2])
    t.check_symbolic_backward(x * x, [np.ones(2)], [np.ones(2)], [np.ones(2) * 2])
    t.assert_almost_equal(mx.nd.ones(2), np.ones(2))
    return [t.same(np.ones(2), np.ones(2)), t.almost_equal(np.ones(2), np.ones(2) + 1e-9), t.rand_shape_2d(3, 3)[0] > 0,
            str(t.default_context()), t.list_gpus()]


@program()
def threads(mx, np):
    import threading

    results = [None] * 4

    def work(i):
        x = mx.nd.ones((8, 8)) * i
        x.attach_grad()
        with mx.autograd.record():
            y = (mx.nd.dot(x, x)).sum()
        y.backward()
        results[i] = x.grad.asnumpy()

    workers = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return results


@program()
def libraries_that_are_not_there_are_an_error(mx, np):
    mx.library.load("/no/such/library.so")
