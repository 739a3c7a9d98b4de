# SPDX-License-Identifier: Apache-2.0
"""What calls that cannot work raise. Programs catch mx.MXNetError, the class that the library's failures have; a front end
may raise classes of its own before the library is asked."""
from registry import program


def raised_by(mx, call):
    try:
        result = call()
        if hasattr(result, "asnumpy"):
            result.asnumpy()
    except mx.base.MXNetError:
        return "MXNetError"
    except Exception as error:
        return type(error).__name__
    return "nothing"


@program()
def failures_of_operators(mx, np):
    nd = mx.nd
    a, row, cube = nd.ones((3, 4)), nd.ones((4,)), nd.ones((2, 3, 4))
    calls = [
        lambda: nd.elemwise_add(a, row),
        lambda: nd.concat(a, cube),
        lambda: a + nd.ones((3, 3)),
        lambda: nd.dot(a, a),
        lambda: nd.batch_dot(cube, cube),
        lambda: a.reshape((5, 5)),
        lambda: nd.Convolution(a, a, kernel=(3, 3), num_filter=1, no_bias=True),
        lambda: nd.FullyConnected(a, nd.ones((2, 5)), no_bias=True, num_hidden=2),
        lambda: nd.softmax(a, axis=5),
        lambda: nd.sum(a, axis=7),
        lambda: nd.one_hot(row),
        lambda: nd.Activation(a, act_type="nosuch"),
        lambda: nd.Pooling(a, kernel=(2, 2)),
        lambda: nd.slice_axis(a, axis=0, begin=2, end=9),
        lambda: nd.split(a, num_outputs=3, axis=1),
        lambda: nd.transpose(a, axes=(0, 3)),
        lambda: nd.broadcast_to(a, shape=(2, 4)),
        lambda: nd.linalg.potrf(-nd.eye(3)),
        lambda: nd.random.uniform(0, 1, shape=(2, 2), dtype="int32"),
        lambda: nd.sgd_update(a, row, lr=0.1),
        lambda: nd.zeros((2, 3), ctx=mx.gpu(63)),
    ]
    return [raised_by(mx, call) for call in calls]


@program()
def failures_of_graphs_and_files(mx, np):
    sym = mx.sym
    data = sym.var("data")
    net = sym.FullyConnected(data, num_hidden=2, name="fc")
    executor = net.simple_bind(mx.cpu(), data=(2, 3))

    def backward_twice():
        x = mx.nd.ones((2,))
        x.attach_grad()
        with mx.autograd.record():
            y = x * x
        y.backward()
        y.backward()

    calls = [
        lambda: net.infer_shape(data=(2, 3), fc_weight=(7, 7)),
        lambda: sym.load_json("{}"),
        lambda: sym.load_json("no json"),
        lambda: sym.load("nowhere-symbol.json"),
        lambda: mx.nd.load("nowhere.params"),
        lambda: mx.recordio.MXRecordIO("nowhere.rec", "r"),
        lambda: mx.io.CSVIter(data_csv="nowhere.csv", data_shape=(2,), batch_size=1).next(),
        lambda: mx.nd.ones((2,)).backward(),
        backward_twice,
        lambda: executor.forward(data=mx.nd.ones((5, 5))),
        lambda: net.eval(ctx=mx.cpu(), data=mx.nd.ones((2, 3))),
        lambda: sym.Group([]),
        lambda: net.get_internals()["nosuch_output"],
        lambda: sym.FullyConnected(data, num_hidden="many"),
        lambda: sym.Activation(data, act_type="relu", slope=2),
        lambda: mx.kv.create("local").pull(3, out=mx.nd.ones((2,))),
    ]
    return [raised_by(mx, call) for call in calls]


@program()
def failures_of_binding(mx, np):
    net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    return raised_by(mx, lambda: net.simple_bind(mx.cpu(), data=(2, 3), fc_weight=(7, 7)))
