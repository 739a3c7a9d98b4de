# SPDX-License-Identifier: Apache-2.0
"""Loops and branches within networks: foreach, while_loop and cond, with gradients, within each other, in Module and in Gluon."""
from registry import program


def run(mx, net, arguments, train=True):
    """Outputs, and gradients of all arguments."""
    gradients = {name: mx.nd.zeros(array.shape) for name, array in arguments.items()}
    executor = net.bind(mx.cpu(), arguments, gradients)
    outputs = executor.forward(is_train=train)
    executor.backward([mx.nd.ones(out.shape) * (i + 1) for i, out in enumerate(outputs)])
    return [list(outputs), [gradients[name] for name in sorted(gradients)]]


@program()
def loops_over_rows_with_gradients(mx, np):
    data, state, weight = mx.sym.var("data"), mx.sym.var("state"), mx.sym.var("weight")
    arrays = {"data": mx.nd.arange(6).reshape((3, 2)) / 5, "state": mx.nd.array([1.0, -1.0]), "weight": mx.nd.array([0.5, 2.0])}
    out, last = mx.sym.contrib.foreach(lambda x, s: (x * weight + s, s * x + weight), data, state)
    return run(mx, mx.sym.Group([out, last]), arrays)


@program()
def loops_within_loops(mx, np):
    data, state = mx.sym.var("data"), mx.sym.var("state")

    def row(x, s):
        inner, last = mx.sym.contrib.foreach(lambda item, carry: (item * carry, carry + item), x, s)
        return mx.sym.sum(inner), last

    out, last = mx.sym.contrib.foreach(row, data, state)
    return run(mx, mx.sym.Group([out, last]), {"data": mx.nd.arange(6).reshape((2, 3, 1)) / 4, "state": mx.nd.array([0.5])})


@program()
def loops_with_a_condition_with_gradients(mx, np):
    i, total, weight = mx.sym.var("i"), mx.sym.var("total"), mx.sym.var("weight")
    results = []
    for start in (0.0, 2.0):
        outs, last = mx.sym.contrib.while_loop(lambda i, t: i < 3, lambda i, t: ([t * weight], [i + 1, t * weight + i]), [i, total],
                                               max_iterations=5)
        # Steps that were not taken have no numbers.
        net = mx.sym.Group([mx.sym.slice_axis(outs[0], axis=0, begin=0, end=int(3 - start))] + last)
        results.append(run(mx, net, {"i": mx.nd.array([start]), "total": mx.nd.array([1.5]), "weight": mx.nd.array([2.0])}))
    return results


@program()
def branches_with_gradients(mx, np):
    a, b = mx.sym.var("a"), mx.sym.var("b")
    net = mx.sym.contrib.cond(mx.sym.sum(a) < 3, lambda: a * b + 1, lambda: a - b * b)
    return [run(mx, net, {"a": mx.nd.array([value, 1.0]), "b": mx.nd.array([2.0, 3.0])}) for value in (1.0, 5.0)]


@program()
def branches_of_arrays(mx, np):
    results = []
    for value in (1.0, 5.0):
        a, b = mx.nd.array([value]), mx.nd.array([2.0])
        a.attach_grad()
        b.attach_grad()
        with mx.autograd.record():
            out = mx.nd.contrib.cond(a < 3, lambda: a * b, lambda: a / b)
        out.backward()
        results.append([out, a.grad, b.grad])
    return results


@program()
def recurrent_cells_in_loops(mx, np):
    """A cell in foreach gives what unrolling it gives."""
    results = []
    for kind in ("RNNCell", "LSTMCell", "GRUCell"):
        cell = getattr(mx.gluon.rnn, kind)(3, input_size=2, prefix="cell_")
        cell.initialize(mx.init.Xavier())
        data = mx.nd.random.uniform(-1, 1, (4, 2, 2))
        for parameter in cell.collect_params().values():
            parameter.set_data(mx.nd.arange(parameter.data().size).reshape(parameter.shape) / 40 - 0.2)
        with mx.autograd.record():
            outs, states = mx.nd.contrib.foreach(cell, mx.nd.arange(16).reshape((4, 2, 2)) / 16, cell.begin_state(2))
        outs.backward()
        looped = [parameter.grad().copy() for parameter in cell.collect_params().values()]
        with mx.autograd.record():
            unrolled, _ = cell.unroll(4, mx.nd.arange(16).reshape((4, 2, 2)) / 16, cell.begin_state(2), layout="TNC", merge_outputs=True)
        unrolled.backward()
        results.append([kind, data.shape, outs, list(states), unrolled, looped, [p.grad() for p in cell.collect_params().values()]])
    return results


@program()
def loops_in_modules(mx, np):
    data, label = mx.sym.var("data"), mx.sym.var("softmax_label")
    rows = mx.sym.transpose(data, (1, 0, 2))
    weight = mx.sym.var("loop_weight", shape=(4, 4))
    out, last = mx.sym.contrib.foreach(lambda x, s: (x, mx.sym.tanh(mx.sym.dot(s, weight) + x)), rows, mx.sym.zeros((2, 4)))
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(last, num_hidden=3, name="fc"), label, name="softmax")
    module = mx.mod.Module(net)
    module.bind([("data", (2, 5, 4))], [("softmax_label", (2,))])
    module.init_params(mx.init.Constant(0.2))
    module.init_optimizer(optimizer_params={"learning_rate": 0.3})
    results = []
    for step in range(3):
        batch = mx.io.DataBatch([mx.nd.arange(40).reshape((2, 5, 4)) / 40 - step * 0.1], [mx.nd.array([0, 2])])
        module.forward_backward(batch)
        module.update()
        results.append(module.get_outputs()[0].copy())
    arguments, _ = module.get_params()
    return results + [arguments["loop_weight"], arguments["fc_weight"]]


@program()
def loops_that_are_saved(mx, np):
    class Net(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x, state):
            out, last = F.contrib.foreach(lambda row, carry: (row * carry, carry + row), x, state)
            big = F.contrib.cond(F.sum(last) > 10, lambda: last * 2, lambda: last - 1)
            return out, big

    net = Net()
    net.hybridize()
    results = []
    for scale in (1, 4):
        results.append(list(net(mx.nd.arange(6).reshape((3, 2)) * scale, mx.nd.ones(2))))
    net.export("loop")
    again = mx.gluon.SymbolBlock.imports("loop-symbol.json", ["data0", "data1"], None)
    return results + [list(again(mx.nd.arange(6).reshape((3, 2)), mx.nd.ones(2)))]


@program()
def loops_without_end_errors(mx, np):
    return mx.nd.contrib.while_loop(lambda i: i < 3, lambda i: (i, i + 1), [mx.nd.array([0.0])])


@program()
def branches_of_two_shapes_errors(mx, np):
    a = mx.sym.var("a")
    net = mx.sym.contrib.cond(mx.sym.sum(a) < 3, lambda: mx.sym.concat(a, a, dim=0), lambda: [a, a])
    return net.eval(a=mx.nd.ones(2))


@program()
def loops_over_lists_and_nothing(mx, np):
    x = mx.nd.arange(6).reshape((3, 2))
    without_states, none = mx.nd.contrib.foreach(lambda row, states: (row * 2, states), x, [])
    pairs, last = mx.nd.contrib.foreach(lambda rows, states: ([rows[0] + rows[1], states[0]], [states[0] + 1]), [x, x * 10], [mx.nd.zeros(1)])
    return [without_states, len(none), pairs, last]
