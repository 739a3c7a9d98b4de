# SPDX-License-Identifier: Apache-2.0
"""Tapes, control flow and operators in Python: functions with several results, states, gradients of gradients."""
from registry import program


@program()
def functions_of_several_arrays(mx, np):
    class Rotate(mx.autograd.Function):
        def __init__(self, angle):
            super().__init__()
            self.angle = angle

        def forward(self, x, y):
            self.save_for_backward(x, y)
            c, s = np.cos(self.angle), np.sin(self.angle)
            return x * c - y * s, x * s + y * c

        def backward(self, dx, dy):
            c, s = np.cos(self.angle), np.sin(self.angle)
            return dx * c + dy * s, dy * c - dx * s

    x, y = mx.nd.array([1.0, 2]), mx.nd.array([3.0, 4])
    for array in (x, y):
        array.attach_grad()
    with mx.autograd.record():
        a, b = Rotate(0.5)(x, y)
        loss = (a * a + 2 * b).sum()
    loss.backward()
    return [a, b, x.grad, y.grad]


@program()
def functions_with_too_few_gradients_are_an_error(mx, np):
    class Pair(mx.autograd.Function):
        def forward(self, x, y):
            return x + y

        def backward(self, dz):
            return dz

    x, y = mx.nd.ones(2), mx.nd.ones(2)
    x.attach_grad()
    y.attach_grad()
    with mx.autograd.record():
        z = Pair()(x, y)
    z.backward()
    return x.grad


@program()
def gradients_of_gradients(mx, np):
    results = {}
    cases = {"exp": mx.nd.exp, "log": mx.nd.log, "sigmoid": mx.nd.sigmoid, "tanh": mx.nd.tanh, "sqrt": mx.nd.sqrt,
             "square": mx.nd.square, "reciprocal": mx.nd.reciprocal, "cos": mx.nd.cos, "arctan": mx.nd.arctan,
             "relu": mx.nd.relu, "abs": mx.nd.abs, "sinh": mx.nd.sinh, "log1p": mx.nd.log1p, "expm1": mx.nd.expm1,
             "cbrt": mx.nd.cbrt, "rsqrt": mx.nd.rsqrt, "power": lambda x: x ** 3}
    for name, function in cases.items():
        x = mx.nd.array([0.3, 0.7, 1.4])
        x.attach_grad()
        try:
            with mx.autograd.record():
                y = function(x)
                first = mx.autograd.grad(y, x, head_grads=mx.nd.array([1.0, 2, 3]), create_graph=True, retain_graph=True)[0]
                loss = (first * first).sum()
            loss.backward()
            results[name] = [first, x.grad]
        except Exception:
            results[name] = "raises"
    return results


@program()
def requests_of_gradients(mx, np):
    results = []
    for request in ("write", "add", "null"):
        x = mx.nd.array([1.0, 2.0])
        x.attach_grad(grad_req=request)
        for _ in range(3):
            with mx.autograd.record():
                y = (x * x).sum() + x[0]
            if request != "null":
                y.backward()
        results.append(x.grad)
    z = mx.nd.ones(2)
    z.attach_grad()
    with mx.autograd.record():
        y = z * 2
        detached = y.detach() * z
        stopped = mx.nd.BlockGrad(y) * z
    detached.backward(retain_graph=True)
    results.append(z.grad.copy())
    stopped.backward()
    return results + [z.grad]


@program()
def gradients_with_respect_to_middle_values(mx, np):
    x = mx.nd.array([1.0, 2.0])
    x.attach_grad()
    with mx.autograd.record():
        middle = x * 3
        middle.attach_grad()
        y = (middle ** 2).sum()
    y.backward()
    w = mx.nd.array([0.5, 0.25])
    w.attach_grad()
    with mx.autograd.record():
        loss = (w * x).sum()
    found = mx.autograd.grad([loss], [w], retain_graph=False, train_mode=False)
    return [middle.grad, x.grad, found, w.grad]


@program()
def loops_with_many_parts(mx, np):
    data = [mx.nd.array(np.arange(6).reshape(3, 2)), mx.nd.array(np.ones((3, 1)))]
    states = [mx.nd.zeros(2), mx.nd.ones(1)]
    weight = mx.nd.array([0.5, 2.0])
    weight.attach_grad()
    with mx.autograd.record():
        outputs, last = mx.nd.contrib.foreach(
            lambda items, carry: ([items[0] * weight + carry[0], items[1] + carry[1]],
                                  [carry[0] + items[0] * weight, carry[1] * 2]), data, states)
        loss = outputs[0].sum() + last[0].sum()
    loss.backward()
    return [outputs, last, weight.grad]


@program()
def loops_that_stop_early(mx, np):
    limit = mx.nd.array([5.0])
    x = mx.nd.array([1.5])
    x.attach_grad()
    with mx.autograd.record():
        outputs, last = mx.nd.contrib.while_loop(lambda i, total: total < limit, lambda i, total: ([total, i], [i + 1, total * x]),
                                                 [mx.nd.array([0.0]), mx.nd.array([1.0])], max_iterations=9)
        loss = last[1].sum()
    loss.backward()
    never = mx.nd.contrib.while_loop(lambda i: i < 0, lambda i: (i, i + 1), mx.nd.array([3.0]), max_iterations=4)
    return [[item[:3] for item in outputs], last, x.grad, never[1]]


@program()
def loops_without_a_limit_are_an_error(mx, np):
    mx.nd.contrib.while_loop(lambda i: i < 3, lambda i: (i, i + 1), [mx.nd.array([0.0])])


@program()
def nested_control_flow(mx, np):
    class Net(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x, steps):
            def body(row, state):
                inner, last = F.contrib.while_loop(lambda i, v: i < steps, lambda i, v: (v, [i + 1, v * 0.5 + row]),
                                                   [F.zeros((1,)), state], max_iterations=3)
                chosen = F.contrib.cond(F.sum(last[1]) > 4, lambda: last[1] * 2, lambda: last[1] - 1)
                return chosen, last[1]

            return F.contrib.foreach(body, x, F.ones((2,)))

    net = Net()
    x = mx.nd.array([[1.0, 2], [3, 4], [0.5, 0.25]])
    x.attach_grad()
    with mx.autograd.record():
        outputs, last = net(x, mx.nd.array([2.0]))
        loss = outputs.sum() + (last * last).sum()
    loss.backward()
    return [outputs, last, x.grad]


@program()
def control_flow_as_text(mx, np):
    data, state = mx.sym.var("data"), mx.sym.var("state")
    outputs, last = mx.sym.contrib.foreach(lambda x, s: (mx.sym.tanh(x + s), s + x), data, state)
    looped = mx.sym.contrib.while_loop(lambda i: i < 3, lambda i: (mx.sym.broadcast_mul(i, last), [i + 1]), [mx.sym.var("i")], max_iterations=5)
    chosen = mx.sym.contrib.cond(mx.sym.sum(last) > 0, lambda: last * 2, lambda: last - 1)
    net = mx.sym.Group([outputs, looped[0][0] if isinstance(looped[0], list) else looped[0], chosen])
    again = mx.sym.load_json(net.tojson())
    arrays = {"data": mx.nd.array([[0.5, 1], [2, -1]]), "state": mx.nd.array([0.25, 0.5]), "i": mx.nd.array([1.0])}
    results = [again.bind(mx.cpu(), arrays).forward()[0], again.bind(mx.cpu(), arrays).forward()[2],
               again.list_arguments()]
    return results + [net.bind(mx.cpu(), arrays).forward()[1][:2]]


@program()
def operators_in_python_with_states(mx, np):
    @mx.operator.register("frontend_counts")
    class Description(mx.operator.CustomOpProp):
        def list_arguments(self):
            return ["data", "weight"]

        def list_auxiliary_states(self):
            return ["seen"]

        def infer_shape(self, shapes):
            return [shapes[0], shapes[0]], [shapes[0]], [(1,)]

        def infer_type(self, types):
            return types, [types[0]], [types[0]]

        def create_operator(self, ctx, shapes, dtypes):
            class Operator(mx.operator.CustomOp):
                def forward(self, is_train, req, in_data, out_data, aux):
                    if is_train:
                        self.assign(aux[0], "write", aux[0] + 1)
                    self.assign(out_data[0], req[0], in_data[0] * in_data[1] * aux[0])

                def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
                    self.assign(in_grad[0], req[0], out_grad[0] * in_data[1])
                    self.assign(in_grad[1], req[1], out_grad[0] * in_data[0])

            return Operator()

    net = mx.sym.Custom(mx.sym.var("data"), op_type="frontend_counts", name="counts")
    executor = net.simple_bind(mx.cpu(), data=(3,), grad_req={"data": "add", "counts_weight": "write"})
    executor.arg_dict["data"][:] = 2
    executor.arg_dict["counts_weight"][:] = 0.5
    results = [net.list_arguments(), net.list_auxiliary_states()]
    for _ in range(3):
        results.append(executor.forward(is_train=True)[0].copy())
        mx.nd.waitall()  # the release now and then loses a state that backward is given before it is written
        executor.backward(mx.nd.ones(3))
        mx.nd.waitall()
    executor.forward(is_train=False)
    return results + [executor.outputs, executor.aux_dict, executor.grad_dict]


@program()
def tapes_in_threads(mx, np):
    import threading

    results = [None] * 4

    def work(i):
        x = mx.nd.full((2,), i + 1)
        x.attach_grad()
        before = mx.autograd.is_recording()
        with mx.autograd.record():
            y = x ** 2
        y.backward()
        results[i] = [before, x.grad]

    with mx.autograd.record():
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return results
