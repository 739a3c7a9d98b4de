# SPDX-License-Identifier: Apache-2.0
"""Models whose data or gradients are sparse: linear models and factorization machines in Module, embeddings in Gluon, what optimizers
do to the rows that a batch has touched."""
from registry import program


def some_rows(mx, np, rows=8, columns=6):
    """A csr matrix and a class a row."""
    dense = np.where(np.random.rand(rows, columns) < 0.4, np.random.randn(rows, columns), 0).astype("float32")
    return mx.nd.array(dense).tostype("csr"), mx.nd.array((dense.sum(1) > 0).astype("float32"))


def write_libsvm(np, path, rows=6, columns=5):
    lines = []
    for i in range(rows):
        chosen = [(i + 1) % columns, (i + 3) % columns]
        lines.append(f"{i % 2} " + " ".join(f"{column}:{i + column * 0.5}" for column in sorted(chosen)))
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


@program()
def linear_models_of_sparse_rows(mx, np):
    data, label = some_rows(mx, np)
    x, y = mx.sym.var("data", stype="csr"), mx.sym.var("label")
    weight, bias = mx.sym.var("weight", stype="row_sparse", shape=(6, 2)), mx.sym.var("bias", shape=(2,))
    net = mx.sym.SoftmaxOutput(mx.sym.broadcast_add(mx.sym.sparse.dot(x, weight), bias), y, name="softmax")
    iterator = mx.io.NDArrayIter({"data": data}, {"label": label}, batch_size=4, last_batch_handle="discard")
    module = mx.mod.Module(net, data_names=["data"], label_names=["label"])
    module.bind(iterator.provide_data, iterator.provide_label)
    module.init_params(mx.init.Constant(0.1))
    module.init_optimizer(optimizer="sgd", optimizer_params={"learning_rate": 0.5, "momentum": 0.9})
    losses = []
    for _ in range(3):
        iterator.reset()
        for batch in iterator:
            module.prepare(batch, sparse_row_id_fn=lambda b: {"weight": b.data[0].indices})
            module.forward_backward(batch)
            module.update()
            losses.append(module.get_outputs()[0].copy())
    arguments, _ = module.get_params()
    return losses + [arguments["weight"].stype, arguments["weight"].tostype("default"), arguments["bias"]]


@program()
def files_of_sparse_rows(mx, np):
    write_libsvm(np, "rows.libsvm")
    iterator = mx.io.LibSVMIter(data_libsvm="rows.libsvm", data_shape=(5,), batch_size=2)
    results = []
    for _ in range(2):
        results.append([[batch.data[0].copy(), batch.label[0].copy(), batch.pad] for batch in iterator])
        iterator.reset()
    with open("labels.libsvm", "w") as file:
        file.write("".join(f"9 0:{i} 2:{i + 1}\n" for i in range(6)))
    both = mx.io.LibSVMIter(data_libsvm="rows.libsvm", data_shape=(5,), label_libsvm="labels.libsvm", label_shape=(3,), batch_size=3)
    return results + [[[batch.data[0].copy(), batch.label[0].copy()] for batch in both],
                      [[batch.data[0].copy() for batch in mx.io.LibSVMIter(data_libsvm="rows.libsvm", data_shape=(5,), batch_size=1, num_parts=2,
                                                                   part_index=part)] for part in range(2)]]


@program()
def factorization_machines(mx, np):
    data, label = some_rows(mx, np)
    x, y = mx.sym.var("data", stype="csr"), mx.sym.var("label")
    w = mx.sym.var("w", shape=(6, 1), stype="row_sparse")
    v = mx.sym.var("v", shape=(6, 3), stype="row_sparse")
    linear = mx.sym.sparse.dot(x, w)
    crossed = mx.sym.sum(mx.sym.square(mx.sym.sparse.dot(x, v)), axis=1, keepdims=True)
    squares = mx.sym.sum(mx.sym.sparse.dot(mx.sym.sparse.square(x), mx.sym.sparse.square(v)), axis=1, keepdims=True)
    net = mx.sym.LogisticRegressionOutput(mx.sym.Flatten(linear + 0.5 * (crossed - squares)), y, name="out")
    arguments = {"data": data, "label": label.reshape((8, 1)), "w": (mx.nd.arange(6).reshape((6, 1)) / 10).tostype("row_sparse"),
                 "v": (mx.nd.arange(18).reshape((6, 3)) / 20 - 0.4).tostype("row_sparse")}
    gradients = {name: mx.nd.sparse.zeros("row_sparse", arguments[name].shape) for name in ("w", "v")}
    executor = net.bind(mx.cpu(), arguments, gradients, {"data": "null", "label": "null", "w": "write", "v": "write"})
    out = executor.forward(is_train=True)[0]
    executor.backward()
    return [out, gradients["w"], gradients["v"].tostype("default"), gradients["v"].stype]


@program()
def embeddings_with_sparse_gradients(mx, np):
    results = []
    for optimizer, settings in (("sgd", {"momentum": 0.9, "lazy_update": True}), ("sgd", {"momentum": 0.9, "lazy_update": False, "wd": 0.1}),
                                ("adam", {"lazy_update": True, "wd": 0.01}), ("adagrad", {}), ("ftrl", {"lamda1": 0.1})):
        net = mx.gluon.nn.Embedding(7, 3, sparse_grad=True)
        net.initialize(mx.init.Constant(0.5))
        trainer = mx.gluon.Trainer(net.collect_params(), optimizer, {"learning_rate": 0.1, **settings})
        for step in range(3):
            with mx.autograd.record():
                loss = (net(mx.nd.array([step, 4, 4])) * mx.nd.array([[1], [2], [3]])).sum()
            loss.backward()
            trainer.step(1)
        results.append([optimizer, net.weight.grad().stype, net.weight.grad().indices, net.weight.data()])
    return results


@program()
def rows_of_parameters_are_pulled(mx, np):
    parameter = mx.gluon.Parameter("rows", shape=(5, 2), stype="row_sparse", grad_stype="row_sparse")
    parameter.initialize(mx.init.Constant(2))
    trainer = mx.gluon.Trainer([parameter], "sgd", {"learning_rate": 0.5}, kvstore="local")
    index = mx.nd.array([1, 3], dtype="int64")
    with mx.autograd.record():
        rows = parameter.row_sparse_data(index)
        loss = (mx.nd.sparse.dot(mx.nd.sparse.csr_matrix(([1.0, 2.0], [1, 3], [0, 1, 2]), shape=(2, 5)), rows)).sum()
    loss.backward()
    trainer.step(1)
    return [rows.indices, loss, parameter.row_sparse_data(mx.nd.array([0, 1, 3], dtype="int64"))]


@program()
def products_of_sparse_matrices(mx, np):
    data, _ = some_rows(mx, np)
    weight = mx.nd.arange(18).reshape((6, 3)) / 10
    weight.attach_grad(stype="row_sparse")
    with mx.autograd.record():
        y = mx.nd.sparse.dot(data, weight)
    y.backward(mx.nd.ones((8, 3)))
    back = mx.nd.sparse.dot(data, mx.nd.ones((8, 3)), transpose_a=True)
    by_rows = mx.nd.sparse.dot(data, mx.nd.ones((8, 3)), transpose_a=True, forward_stype="row_sparse")
    return [y, weight.grad.stype, weight.grad.tostype("default"), back.stype, back.tostype("default"), by_rows.stype, by_rows]


@program()
def sparse_arrays_keep_their_layout(mx, np):
    rows = mx.nd.sparse.row_sparse_array((np.array([[1.0, -2.0], [3.0, 4.0]], "float32"), [1, 4]), shape=(6, 2))
    csr = mx.nd.sparse.csr_matrix((np.array([1.0, -4.0, 9.0], "float32"), [0, 2, 1], [0, 2, 2, 3]), shape=(3, 4))
    results = []
    for name in ("abs", "sign", "square", "sqrt", "floor", "ceil", "rint", "sin", "tan", "tanh", "arctan", "expm1", "log1p", "relu",
                 "exp", "cos"):
        for array in (rows, csr):
            out = getattr(mx.nd.sparse, name, getattr(mx.nd, name))(array)
            results.append([name, out.stype, out.tostype("default")])
    return results + [mx.nd.sparse.retain(rows, mx.nd.array([4])), mx.nd.clip(rows, -1, 2).stype, mx.nd.sparse.elemwise_add(rows, rows).stype,
                      mx.nd.sparse.elemwise_mul(csr, csr).stype, mx.nd.elemwise_add(rows, mx.nd.ones((6, 2))).stype, mx.nd.norm(rows)]


@program()
def stores_of_sparse_rows(mx, np):
    store = mx.kv.create("local")
    store.init("w", mx.nd.sparse.row_sparse_array((np.ones((4, 2)), [0, 1, 2, 3]), shape=(4, 2)))
    store.set_optimizer(mx.optimizer.SGD(learning_rate=0.5))
    store.push("w", [mx.nd.sparse.row_sparse_array((np.ones((1, 2)), [2]), shape=(4, 2)),
                     mx.nd.sparse.row_sparse_array((np.full((2, 2), 2.0), [2, 3]), shape=(4, 2))])
    out = mx.nd.sparse.zeros("row_sparse", (4, 2))
    store.row_sparse_pull("w", out=out, row_ids=mx.nd.array([0, 2, 3]))
    whole = mx.nd.sparse.zeros("row_sparse", (4, 2))
    store.pull("w", out=whole, ignore_sparse=False)
    return [out, whole]


def graphs_of_storage(mx, first, second):
    """Graphs of a variable a of the first storage type and others of the second; title, symbol, shapes."""
    sym, rows = mx.sym, {"a": (3, 4), "b": (3, 4)}
    a, b, c = sym.var("a", stype=first), sym.var("b", stype=second), sym.var("c")
    weight = sym.var("w", stype=second)
    yield "add", sym.elemwise_add(a, b), rows
    yield "mul", sym.elemwise_mul(a, b), rows
    yield "dot", sym.dot(a, b), {"a": (4, 4), "b": (4, 4)}
    yield "dot of transposed", sym.dot(a, b, transpose_a=True), {"a": (4, 4), "b": (4, 4)}
    yield "dense", sym.FullyConnected(a, weight, num_hidden=2, no_bias=True), {"a": (3, 4)}
    yield "cast", sym.cast_storage(a, stype=second), {"a": (3, 4)}
    yield "where", sym.where(a, b, c), {"c": (3, 4), **rows}
    yield "concat", sym.concat(a, b, dim=0), rows
    yield "add_n", sym.add_n(a, b), rows
    yield "blocked", sym.Group([sym.BlockGrad(a), b * 2]), rows


@program()
def storage_of_what_is_bound(mx, np):
    results = {}
    types = ("default", "csr", "row_sparse")
    for first in types:
        for second in types:
            for title, graph, shapes in graphs_of_storage(mx, first, second):
                try:
                    executor = graph.simple_bind(mx.cpu(), grad_req="write", **shapes)
                except RuntimeError:  # a cast that there is not
                    results[f"{title} {first} {second}"] = "refused"
                    continue
                results[f"{title} {first} {second}"] = [[array.stype for _, array in sorted(arrays.items())]
                                                        for arrays in (executor.arg_dict, executor.grad_dict)]
    return results


@program()
def gradients_that_nothing_flows_to(mx, np):
    results = []
    for stype in ("csr", "row_sparse"):
        for request in ("write", "add"):
            a, b = mx.sym.var("a", stype=stype), mx.sym.var("b")
            executor = mx.sym.Group([mx.sym.BlockGrad(a), b * 2]).simple_bind(mx.cpu(), grad_req=request, a=(3, 4), b=(3, 4))
            for arrays in (executor.arg_dict, executor.grad_dict):
                mx.nd.array([[1, 0, 2, 0], [0, 0, 0, 0], [0, 3, 0, 0]]).tostype(stype).copyto(arrays["a"])
            executor.forward(is_train=True)
            executor.backward([executor.outputs[0], mx.nd.ones((3, 4))])
            results.append([executor.grad_dict["a"], executor.grad_dict["b"]])
    return results
