# SPDX-License-Identifier: Apache-2.0
"""Names that no other program uses, one program each: operators as functions of arrays and of symbols, classes of Gluon, and
functions of mx.np and mx.npx that take an expression."""
from registry import program


def both(mx, name, inputs, **parameters):
    """An operator on arrays, and as a network of it that is bound to the same arrays."""
    array_function, symbol_function = mx.nd, mx.sym
    for part in name.split("."):
        array_function, symbol_function = getattr(array_function, part), getattr(symbol_function, part)
    eager = array_function(*[value.copy() for value in inputs], **parameters)
    names = [f"x{i}" for i in range(len(inputs))]
    net = symbol_function(*[mx.sym.var(name) for name in names], **parameters)
    values = dict(zip(names, (value.copy() for value in inputs)))
    states = {key: values.pop(key) for key in net.list_auxiliary_states()}
    bound = net.bind(mx.cpu(), values, aux_states=states).forward()
    return [eager, bound, [values[key] for key in sorted(values)], states]


def arrays(mx, np, *shapes, low=0.1, high=1.0, dtype="float32"):
    random = np.random.RandomState(11)
    return [mx.nd.array(random.uniform(low, high, shape), dtype=dtype) for shape in shapes]


def positive(mx, np, size=3):
    matrix = np.random.RandomState(12).uniform(0.1, 1, (size, size)).astype("float32")
    return [mx.nd.array(matrix @ matrix.T + np.eye(size, dtype="float32") * size)]


def lower(mx, np):
    return [mx.nd.array(np.tril(np.random.RandomState(13).uniform(0.5, 1, (3, 3)))), *arrays(mx, np, (3, 3))]


UPDATE = {"lr": 0.1, "eta": 1.0, "wd": 0.01}
OPERATORS = {  # name: (inputs, parameters)
    "contrib.boolean_mask": (lambda mx, np: [*arrays(mx, np, (4, 2)), mx.nd.array([1, 0, 1, 1])], {}),
    "linalg.potrf": (positive, {}), "linalg_potrf": (positive, {}),
    "linalg.potri": (lambda mx, np: lower(mx, np)[:1], {}), "linalg_potri": (lambda mx, np: lower(mx, np)[:1], {}),
    "linalg_sumlogdiag": (positive, {}),
    "linalg_trmm": (lower, {"alpha": 2.0}), "linalg_trsm": (lower, {"alpha": 2.0}),
    "linalg.trmm": (lower, {"transpose": True}), "linalg.trsm": (lower, {"rightside": True}),
    "random_pdf_dirichlet": (lambda mx, np: [mx.nd.array([[0.2, 0.3, 0.5]]), mx.nd.array([[1.0, 2.0, 3.0]])], {}),
    "random_pdf_exponential": (lambda mx, np: arrays(mx, np, (2, 3), (2,)), {}),
    "random_pdf_gamma": (lambda mx, np: arrays(mx, np, (2, 3), (2,), (2,)), {"is_log": True}),
    "random_pdf_generalized_negative_binomial": (
        lambda mx, np: [mx.nd.array([[1, 2, 3], [0, 4, 2]]), *arrays(mx, np, (2,), (2,))], {}),
    "random_pdf_negative_binomial": (
        lambda mx, np: [mx.nd.array([[1, 2, 3], [0, 4, 2]]), mx.nd.array([3, 5]), *arrays(mx, np, (2,), high=0.9)], {}),
    "random_pdf_normal": (lambda mx, np: arrays(mx, np, (2, 3), (2,), (2,)), {}),
    "random_pdf_poisson": (lambda mx, np: [mx.nd.array([[1, 2, 3], [0, 4, 2]]), *arrays(mx, np, (2,))], {}),
    "random_pdf_uniform": (lambda mx, np: [mx.nd.array([[0.2, 0.5]]), mx.nd.array([0.0]), mx.nd.array([0.8])], {}),
    "sparse.LinearRegressionOutput": (lambda mx, np: arrays(mx, np, (2, 3), (2, 3)), {}),
    "sparse.LogisticRegressionOutput": (lambda mx, np: arrays(mx, np, (2, 3), (2, 3)), {}),
    "sparse.MAERegressionOutput": (lambda mx, np: arrays(mx, np, (2, 3), (2, 3)), {}),
    "sparse.elemwise_add": (lambda mx, np: arrays(mx, np, (2, 3), (2, 3)), {}),
    "sparse.elemwise_div": (lambda mx, np: arrays(mx, np, (2, 3), (2, 3)), {}),
    "sparse.elemwise_mul": (lambda mx, np: arrays(mx, np, (2, 3), (2, 3)), {}),
    "sparse.elemwise_sub": (lambda mx, np: arrays(mx, np, (2, 3), (2, 3)), {}),
    "sparse.make_loss": (lambda mx, np: arrays(mx, np, (2, 3)), {}),
}

EXPRESSIONS = {  # name: expression over mx, np and the functions above
    "adamw_update": "mx.nd.contrib.adamw_update(*arrays(mx, np, (3,), (3,), (3,), (3,), (1,)), **UPDATE)",
    "mp_adamw_update": "mx.nd.contrib.mp_adamw_update(*arrays(mx, np, (3,), (3,), dtype='float16'), *arrays(mx, np, (3,), (3,), "
                       "(3,), (1,)), **UPDATE)",
    "multi_adamw_update": "[mx.nd.contrib.multi_adamw_update(*[arrays(mx, np, (3,), (2,)) for _ in range(4)], mx.nd.array([1.0]), "
                          "(0.1, 0.2), (0.0, 0.1), (1.0, 1.0), out=arrays(mx, np, (3,), (2,)))]",
    "multi_mp_adamw_update": "[mx.nd.contrib.multi_mp_adamw_update(arrays(mx, np, (3,), dtype='float16'), arrays(mx, np, (3,), "
                             "dtype='float16'), *[arrays(mx, np, (3,)) for _ in range(3)], mx.nd.array([1.0]), (0.1,), (0.1,), (1.0,), "
                             "out=arrays(mx, np, (3,), dtype='float16'))]",
    "multi_mp_lamb_update": "[mx.nd.contrib.multi_mp_lamb_update(arrays(mx, np, (3,), dtype='float16'), arrays(mx, np, (3,), "
                            "dtype='float16'), *[arrays(mx, np, (3,)) for _ in range(3)], (1,), (0.1,), (0.1,), "
                            "out=arrays(mx, np, (3,), dtype='float16'))]",
    "calibrate_entropy": "mx.nd.contrib.calibrate_entropy(mx.nd.array(np.bincount(np.random.RandomState(3).binomial(600, 0.5, "
                         "9000), minlength=601)), mx.nd.array(np.linspace(-3, 3, 602)), num_quantized_bins=101)",
    "dgl_adjacency": "mx.nd.contrib.dgl_adjacency(graph(mx))",
    "edge_id": "mx.nd.contrib.edge_id(graph(mx), mx.nd.array([0, 1, 2], dtype='int64'), mx.nd.array([1, 2, 2], dtype='int64'))",
    "dgl_subgraph": "list(mx.nd.contrib.dgl_subgraph(graph(mx), mx.nd.array([0, 1, 2], dtype='int64'), return_mapping=True))",
    "sym_rand_zipfian": "[part.list_outputs() for part in mx.sym.contrib.rand_zipfian(mx.sym.var('x'), 4, 10)]",
    "sym_shuffle": "mx.sym.random.shuffle(mx.sym.var('x'), name='s')",
    "group_adagrad": "updated(mx, mx.optimizer.contrib.GroupAdaGrad(learning_rate=0.1))",
    "optimizer_register": "mx.optimizer.Optimizer.create_optimizer(mx.optimizer.optimizer.register(type('Plain17', "
                          "(mx.optimizer.SGD,), {})).__name__).learning_rate",
    "deformable_convolution": "ran(mx, mx.gluon.contrib.cnn.DeformableConvolution(2, kernel_size=(3, 3), in_channels=2), "
                              "mx.nd.arange(50).reshape((1, 2, 5, 5)))",
    "modulated_deformable_convolution": "ran(mx, mx.gluon.contrib.cnn.ModulatedDeformableConvolution(2, kernel_size=(3, 3), "
                                        "in_channels=2), mx.nd.arange(50).reshape((1, 2, 5, 5)) / 50)",
    "interval_sampler": "[list(mx.gluon.contrib.data.sampler.IntervalSampler(13, 3)), list(mx.gluon.contrib.data.sampler."
                        "IntervalSampler(13, 3, rollover=False))]",
    "pixel_shuffle": "ran(mx, mx.gluon.contrib.nn.PixelShuffle3D((1, 2, 2)), mx.nd.arange(64).reshape((1, 8, 2, 2, 2)))",
    "sparse_embedding": "repr(mx.gluon.contrib.nn.SparseEmbedding(5, 3))",
    "sync_batch_norm": "ran(mx, mx.gluon.contrib.nn.SyncBatchNorm(in_channels=2, num_devices=1), mx.nd.arange(8).reshape((1, 2, 2, 2)))",
    "dynamic_unroll": "unrolled(mx)",
    "loader_v1": "[list(batch) for batch in mx.gluon.data.dataloader.DataLoaderV1(mx.gluon.data.ArrayDataset(mx.nd.arange(5), "
                 "mx.nd.arange(5)), batch_size=2)]",
    "mp_batchify": "mx.gluon.data.dataloader.default_mp_batchify_fn([mx.nd.ones((2,)), mx.nd.zeros((2,))])",
    "reduce_arrays": "[call(part) for part in (mx.gluon.data.dataloader.reduce_ndarray(mx.nd.arange(3).as_in_context("
                     "mx.Context('cpu_shared', 0))),)]",
    "reduce_np_arrays": "[call(part) for part in (mx.gluon.data.dataloader.reduce_np_ndarray(mx.np.arange(3).as_in_ctx("
                        "mx.Context('cpu_shared', 0))),)]",
    "record_file_dataset": "recorded(mx, mx.gluon.data.RecordFileDataset)",
    "image_record_dataset": "recorded(mx, mx.gluon.data.vision.ImageRecordDataset)",
    "image_folder_dataset": "folder(mx)",
    "sampler_error": "len(mx.gluon.data.sampler.Sampler())",
    "deferred_error": "mx.gluon.nn.Dense(2).weight.data()",
    "short_hash": "mx.gluon.model_zoo.model_store.short_hash('resnet18_v1')",
    "purge": "[__import__('os').makedirs('models', exist_ok=True), mx.gluon.model_zoo.model_store.purge('models')]",
    "get_model_file_error": "mx.gluon.model_zoo.model_store.get_model_file('no_such_network')",
    "alexnet": "shapes(mx.gluon.model_zoo.vision.alexnet(classes=3, prefix='n_'))",
    "alexnet_class": "shapes(mx.gluon.model_zoo.vision.AlexNet(classes=3, prefix='n_'))",
    "inception": "sorted(shapes(mx.gluon.model_zoo.vision.inception_v3(classes=3, prefix='n_')))[:40]",
    "selu": "ran(mx, mx.gluon.nn.SELU(), mx.nd.arange(5) - 2)",
    "batch_norm_relu": "ran(mx, mx.gluon.nn.BatchNormReLU(in_channels=2), mx.nd.arange(8).reshape((1, 2, 2, 2)) - 4)",
    "hybrid_lambda": "ran(mx, mx.gluon.nn.HybridLambda('relu'), mx.nd.arange(5) - 2)",
    "check_sha1": "hashed(mx)",
    "replace_file": "replaced(mx)",
    "estimator_handlers": "estimated(mx)",
    "np_arccosh": "mx.np.arccosh(mx.np.array([1.0, 2.0, 3.0]))",
    "np_around": "[mx.np.around(mx.np.array([1.25, -2.5, 3.75]), d) for d in (0, 1)]",
    "np_round": "mx.np.round_(mx.np.array([1.25, -2.5, 3.75]), 1)",
    "np_copy": "mx.np.copy(mx.np.array([1.0, 2.0]))",
    "np_empty_like": "mx.np.empty_like(mx.np.array([[1.0, 2.0]])).shape",
    "np_histogram": "list(mx.np.histogram(mx.np.arange(10), bins=4, range=(0, 9)))",
    "np_eig": "sorted(mx.np.linalg.eig(mx.np.array([[2.0, 1.0], [1.0, 3.0]]))[0].asnumpy().tolist())",
    "np_shares_memory": "[mx.np.shares_memory(mx.np.arange(3), mx.np.arange(3)), mx.np.may_share_memory(mx.np.arange(3), "
                        "mx.np.arange(3))]",
    "np_product": "mx.np.product(mx.np.arange(1, 5))",
    "np_sometrue": "mx.np.sometrue(mx.np.array([0, 1, 0]))",
    "np_shape": "mx.np.shape(mx.np.ones((2, 3)))",
    "np_shuffle": "shuffled(mx)",
    "np_printoptions": "printed(mx)",
    "np_genfromtxt": "mx.np.genfromtxt(['1 2', '3 4'])",
    "npx_brightness": "mx.npx.image.random_brightness(mx.np.ones((2, 2, 3)), 0.5, 0.5)",
    "npx_contrast": "mx.npx.image.random_contrast(mx.np.ones((2, 2, 3)), 0.5, 0.5)",
    "npx_saturation": "mx.npx.image.random_saturation(mx.np.ones((2, 2, 3)), 0.5, 0.5)",
    "npx_hue": "mx.npx.image.random_hue(mx.np.ones((2, 2, 3)), 1.0, 1.0)",
    "npx_lighting": "mx.npx.image.random_lighting(mx.np.ones((2, 2, 3)), 0.0)",
    "npx_flip_left_right": "sorted(mx.npx.image.random_flip_left_right(mx.np.arange(12).reshape((2, 2, 3))).asnumpy().ravel().tolist())",
    "npx_flip_top_bottom": "sorted(mx.npx.image.random_flip_top_bottom(mx.np.arange(12).reshape((2, 2, 3))).asnumpy().ravel().tolist())",
    "npx_multibox_target": "list(mx.npx.multibox_target(mx.np.array([[[0.1, 0.1, 0.4, 0.4], [0.5, 0.5, 0.9, 0.9]]]), "
                           "mx.np.array([[[1, 0.1, 0.1, 0.45, 0.4]]]), mx.np.zeros((1, 3, 2))))",
    "npx_multibox_detection": "mx.npx.multibox_detection(mx.np.array([[[0.1, 0.6], [0.9, 0.4]]]), mx.np.zeros((1, 8)), "
                              "mx.np.array([[[0.1, 0.1, 0.4, 0.4], [0.5, 0.5, 0.9, 0.9]]]))",
}


def graph(mx):
    """Four nodes with numbered edges."""
    edges, ends, starts = list(range(1, 8)), [1, 3, 0, 2, 0, 3, 2], [0, 2, 4, 6, 7]
    return mx.nd.sparse.csr_matrix((edges, ends, starts), shape=(4, 4), dtype="int64")


def updated(mx, optimizer):
    weight, grad = mx.nd.ones((3, 2)), mx.nd.array([[1, 2], [3, 4], [5, 6]])
    state = optimizer.create_state(0, weight)
    for _ in range(3):
        optimizer.update(0, weight, grad, state)
    return weight


def ran(mx, layer, data):
    layer.initialize(mx.init.Constant(0.1))
    return [layer(data), repr(layer)]


def shapes(net):
    return [[key, list(param.shape or ())] for key, param in net.collect_params().items()]


def call(reduced):
    function, arguments = reduced
    return function(*arguments)


def unrolled(mx):
    cell = mx.gluon.rnn.LSTMCell(3, input_size=2)
    cell.initialize(mx.init.Constant(0.1))
    outputs, states = mx.gluon.contrib.rnn.rnn_cell.dynamic_unroll(
        cell, mx.nd.ones((4, 2, 2)), cell.begin_state(2), layout="TNC", valid_length=mx.nd.array([2, 4]))
    return [outputs, list(states)]


def recorded(mx, dataset):
    """How many records; what they are where they need not be decoded."""
    writer = mx.recordio.MXIndexedRecordIO("r.idx", "r.rec", "w")
    for i in range(3):
        writer.write_idx(i, b"record %d" % i)
    writer.close()
    made = dataset("r.rec")
    return [len(made), [made[i] for i in range(3)] if dataset is mx.gluon.data.RecordFileDataset else None]


def folder(mx):
    """Without reading pictures, for which the reference's front end needs OpenCV."""
    import os

    for label in ("cat", "dog"):
        os.makedirs(os.path.join("pictures", label), exist_ok=True)
        with open(os.path.join("pictures", label, "one.png"), "wb") as file:
            file.write(b"no picture")
    dataset = mx.gluon.data.vision.ImageFolderDataset("pictures")
    return [dataset.synsets, [[os.path.basename(path), label] for path, label in dataset.items], len(dataset)]


def hashed(mx):
    with open("hashed", "w", encoding="utf-8") as file:
        file.write("text")
    return [mx.gluon.utils.check_sha1("hashed", text) for text in ("372ea08cab33e71c02c651dbc83a474d32c676ea", "0" * 40)]


def replaced(mx):
    for name in ("from", "to"):
        with open(name, "w", encoding="utf-8") as file:
            file.write(name)
    mx.gluon.utils.replace_file("from", "to")
    with open("to", encoding="utf-8") as file:
        return file.read()


def shuffled(mx):
    values = mx.np.arange(6)
    mx.np.random.shuffle(values)
    return sorted(values.asnumpy().tolist())


def printed(mx):
    mx.np.set_printoptions(precision=2)
    text = repr(mx.np.array([1.23456]))
    mx.np.set_printoptions(precision=8)
    return text


def estimated(mx):
    """Epochs with every handler, which count how often they were called."""
    handlers = mx.gluon.contrib.estimator.event_handler
    kinds = ("train_begin", "train_end", "epoch_begin", "epoch_end", "batch_begin", "batch_end")
    counts = dict.fromkeys(kinds, 0)

    def counting(kind):
        def called(self, estimator, *args, **kwargs):
            counts[kind] += 1

        return called

    bases = (handlers.TrainBegin, handlers.TrainEnd, handlers.EpochBegin, handlers.EpochEnd, handlers.BatchBegin, handlers.BatchEnd)
    counter = type("Counter", bases, {kind: counting(kind) for kind in kinds})()
    for base, kind in zip(bases, kinds):
        getattr(base(), kind)(None)  # what a handler inherits does nothing
    net = mx.gluon.nn.Dense(2, in_units=3)
    net.initialize(mx.init.Constant(0.1))
    data = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(mx.nd.ones((4, 3)), mx.nd.array([0, 1, 0, 1])), batch_size=2)
    accuracy = mx.metric.Accuracy()
    estimator = mx.gluon.contrib.estimator.Estimator(
        net, mx.gluon.loss.SoftmaxCrossEntropyLoss(), train_metrics=accuracy,
        trainer=mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1}))
    estimator.fit(data, val_data=data, epochs=2, event_handlers=[
        counter, handlers.ValidationHandler(data, estimator.evaluate), handlers.CheckpointHandler("checkpoints", monitor=accuracy),
        handlers.EarlyStoppingHandler(monitor=accuracy, patience=5)])
    import os

    return [counts, sorted(name.rpartition(".")[2] for name in os.listdir("checkpoints"))]


def as_program(name, function):
    function.__name__, function.__module__ = name.replace(".", "_"), __name__
    program(tolerance=1e-3)(function)


for _name, (_inputs, _parameters) in OPERATORS.items():
    as_program(f"operator_{_name}", lambda mx, np, name=_name, inputs=_inputs, parameters=_parameters: both(
        mx, name, inputs(mx, np), **parameters))
for _name, _text in EXPRESSIONS.items():
    as_program(_name, lambda mx, np, text=_text: eval(text, {**globals(), "mx": mx, "np": np}))  # this table's own texts
