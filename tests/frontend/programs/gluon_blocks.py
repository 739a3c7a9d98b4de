# SPDX-License-Identifier: Apache-2.0
"""Gluon: layers, losses, recurrent cells, and blocks compiled and saved."""
from registry import program


def run_layer(mx, np, layer, shape, training=True):
    """Value and gradients, first as written, then hybridized."""
    layer.initialize(mx.init.Xavier(), force_reinit=True)
    x = mx.nd.array(np.random.RandomState(1).uniform(-1, 1, shape))
    results = []
    for hybrid in (False, True):
        if hybrid:
            layer.hybridize()
        x.attach_grad()
        with mx.autograd.record(train_mode=training):
            y = layer(x)
        y.backward()
        results += [y, x.grad, {name.split("_", 1)[1]: item.grad() for name, item in layer.collect_params().items()
                                if item.grad_req != "null"}]
    return results


def layers(names_and_shapes, tolerance=2e-3):
    def mark(function):
        def run(mx, np):
            return [run_layer(mx, np, make(mx.gluon.nn), shape) for make, shape in names_and_shapes]

        run.__name__ = function.__name__
        run.__module__ = "programs_blocks"
        program(tolerance)(run)
        return run

    return mark


@layers([(lambda nn: nn.Dense(4), (2, 5)), (lambda nn: nn.Dense(3, activation="relu", use_bias=False), (2, 5)),
         (lambda nn: nn.Dense(3, flatten=False), (2, 3, 5)), (lambda nn: nn.Flatten(), (2, 3, 4)),
         (lambda nn: nn.Lambda("tanh"), (2, 3)), (lambda nn: nn.HybridLambda("sigmoid"), (2, 3)),
         (lambda nn: nn.Activation("softrelu"), (2, 3))][:4])
def dense():
    pass


@layers([(lambda nn: nn.Conv1D(3, 3), (2, 2, 8)), (lambda nn: nn.Conv2D(3, 3, padding=1), (2, 2, 6, 6)),
         (lambda nn: nn.Conv2D(4, (3, 2), strides=2, groups=2, use_bias=False), (2, 2, 7, 7)),
         (lambda nn: nn.Conv3D(2, 2), (1, 2, 4, 4, 4)), (lambda nn: nn.Conv1DTranspose(2, 3), (1, 2, 5)),
         (lambda nn: nn.Conv2DTranspose(2, 3, strides=2, output_padding=1), (1, 2, 5, 5)),
         (lambda nn: nn.Conv3DTranspose(2, 2), (1, 2, 3, 3, 3))])
def convolutions():
    pass


@layers([(lambda nn: nn.MaxPool1D(), (1, 2, 8)), (lambda nn: nn.MaxPool2D(3, 2, ceil_mode=True), (1, 2, 8, 8)),
         (lambda nn: nn.MaxPool3D(), (1, 2, 4, 4, 4)), (lambda nn: nn.AvgPool1D(), (1, 2, 8)),
         (lambda nn: nn.AvgPool2D(2, 1, 1, count_include_pad=False), (1, 2, 6, 6)),
         (lambda nn: nn.AvgPool3D(), (1, 2, 4, 4, 4)), (lambda nn: nn.GlobalMaxPool1D(), (1, 2, 8)),
         (lambda nn: nn.GlobalMaxPool2D(), (1, 2, 5, 5)), (lambda nn: nn.GlobalMaxPool3D(), (1, 2, 3, 3, 3)),
         (lambda nn: nn.GlobalAvgPool1D(), (1, 2, 8)), (lambda nn: nn.GlobalAvgPool2D(), (1, 2, 5, 5)),
         (lambda nn: nn.GlobalAvgPool3D(), (1, 2, 3, 3, 3)), (lambda nn: nn.ReflectionPad2D(1), (1, 2, 4, 4))])
def pooling():
    pass


@layers([(lambda nn: nn.BatchNorm(), (4, 3, 2, 2)), (lambda nn: nn.BatchNorm(scale=False, use_global_stats=True), (4, 3)),
         (lambda nn: nn.LayerNorm(), (4, 3)), (lambda nn: nn.InstanceNorm(), (2, 3, 4, 4)),
         (lambda nn: nn.GroupNorm(num_groups=2), (2, 4, 3, 3))], 5e-3)
def normalization():
    pass


@layers([(lambda nn: nn.LeakyReLU(0.1), (2, 3)), (lambda nn: nn.PReLU(), (2, 3)), (lambda nn: nn.ELU(), (2, 3)),
         (lambda nn: nn.GELU(), (2, 3)), (lambda nn: nn.Swish(), (2, 3)),
         (lambda nn: nn.Activation("relu"), (2, 3))])
def activations():
    pass


@program()
def embedding(mx, np):
    layer = mx.gluon.nn.Embedding(5, 3)
    layer.initialize(mx.init.One())
    sparse = mx.gluon.nn.Embedding(5, 3, sparse_grad=True)
    sparse.initialize(mx.init.One())
    results = []
    for item in (layer, sparse):
        with mx.autograd.record():
            y = item(mx.nd.array([1, 3, 1]))
        y.backward()
        results += [y, item.weight.grad(), item.weight.grad().stype]
    return results


@program()
def sequential(mx, np):
    net = mx.gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(mx.gluon.nn.Dense(4, activation="relu"), mx.gluon.nn.Dropout(0.5), mx.gluon.nn.Dense(2))
    plain = mx.gluon.nn.Sequential()
    plain.add(net, mx.gluon.nn.Lambda(lambda x: x * 2))
    net.initialize(mx.init.One())
    return [plain(mx.nd.ones((1, 3))), len(net), net[0].name, sorted(net.collect_params()),
            sorted(net.collect_params(".*weight")), repr(net), net.prefix]


@program()
def names_of_blocks(mx, np):
    class Net(mx.gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            with self.name_scope():
                self.a = mx.gluon.nn.Dense(2)
                self.b = mx.gluon.nn.Dense(2, prefix="own_")
                self.scale = self.params.get("scale", shape=(1,), init="ones")

        def hybrid_forward(self, F, x, scale):
            return F.broadcast_mul(self.b(self.a(x)), scale)

    net = Net(prefix="outer_")
    net.initialize()
    net(mx.nd.ones((1, 2)))
    return [list(net.collect_params()), net.a.name, list(net._collect_params_with_prefix())]


@program()
def symbolic_blocks(mx, np):
    net = mx.gluon.nn.HybridSequential(prefix="n_")
    with net.name_scope():
        net.add(mx.gluon.nn.Dense(3), mx.gluon.nn.BatchNorm())
    net.initialize()
    return net(mx.sym.var("data"))


@program(2e-3)
def export_and_import(mx, np):
    net = mx.gluon.nn.HybridSequential(prefix="e_")
    with net.name_scope():
        net.add(mx.gluon.nn.Conv2D(3, 3, activation="relu"), mx.gluon.nn.BatchNorm(), mx.gluon.nn.Dense(2))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    x = mx.nd.array(np.random.RandomState(2).uniform(size=(1, 2, 6, 6)))
    y = net(x)
    net.export("model", epoch=3)
    again = mx.gluon.SymbolBlock.imports("model-symbol.json", ["data"], "model-0003.params")
    with open("model-symbol.json") as file:
        text = file.read()
    sym, arguments, states = mx.model.load_checkpoint("model", 3)
    return [y, again(x), text, sorted(arguments), sorted(states), sym]


@program()
def saving_parameters(mx, np):
    def make():
        net = mx.gluon.nn.HybridSequential()
        net.add(mx.gluon.nn.Dense(3, in_units=2), mx.gluon.nn.Dense(1, in_units=3))
        return net

    first, second, third = make(), make(), make()
    first.initialize(mx.init.Uniform(1))
    first.save_parameters("p.params")
    second.load_parameters("p.params")
    third.initialize()
    third.load_parameters("p.params", ignore_extra=True, allow_missing=True, cast_dtype=False)
    return [first(mx.nd.ones((1, 2))), second(mx.nd.ones((1, 2))), sorted(mx.nd.load("p.params")), third[0].weight.data()]


@program()
def missing_parameters_are_an_error(mx, np):
    net = mx.gluon.nn.Dense(2, in_units=2)
    mx.nd.save("few.params", {"weight": mx.nd.ones((2, 2))})
    net.load_parameters("few.params")


@program()
def uninitialized_parameters_are_an_error(mx, np):
    return mx.gluon.nn.Dense(2)(mx.nd.ones((1, 2)))


@program()
def parameters(mx, np):
    p = mx.gluon.Parameter("w", shape=(2, 3), lr_mult=0.5, wd_mult=2.0)
    p.initialize(mx.init.Constant(3), ctx=[mx.cpu(0), mx.cpu(1)])
    constant = mx.gluon.Constant("c", mx.nd.array([1, 2]))
    constant.initialize()
    p.set_data(mx.nd.ones((2, 3)) * 5)
    p.grad_req = "add"
    p.zero_grad()
    shared = mx.gluon.ParameterDict("a_")
    shared.get("w", shape=(2,))
    return [p.data(mx.cpu(1)), p.grad(mx.cpu(0)), [str(c) for c in p.list_ctx()], len(p.list_data()), repr(p),
            constant.data(), list(shared.keys()), p.var().name, p.lr_mult, p.wd_mult, str(p.dtype), p.shape]


@program()
def parameter_dictionaries(mx, np):
    params = mx.gluon.ParameterDict("x_")
    params.get("a", shape=(2, 2), init=mx.init.One())
    params.get_constant("b", mx.nd.array([3.0]))
    params.initialize()
    params.save("d.params", strip_prefix="x_")
    params.setattr("grad_req", "null")
    params.reset_ctx(mx.cpu(1))
    params.zero_grad()
    return [sorted(mx.nd.load("d.params")), params["x_a"].data(), repr(params), params.prefix,
            [str(c) for c in params.list_ctx()]]


@program()
def casting(mx, np):
    net = mx.gluon.nn.Dense(2, in_units=2)
    net.initialize(mx.init.One())
    net.cast("float64")
    return [net(mx.nd.ones((1, 2), dtype="float64")), str(net.weight.dtype)]


@program()
def hooks(mx, np):
    seen = []
    net = mx.gluon.nn.Dense(2, in_units=2)
    net.initialize()
    handle = net.register_forward_hook(lambda block, inputs, output: seen.append(("after", output.shape)))
    net.register_forward_pre_hook(lambda block, inputs: seen.append(("before", inputs[0].shape)))
    net(mx.nd.ones((3, 2)))
    handle.detach()
    net(mx.nd.ones((4, 2)))
    names = []
    net.hybridize()
    net.register_op_hook(lambda name, op, array: names.append(name), monitor_all=False)
    net(mx.nd.ones((1, 2)))
    net.apply(lambda block: seen.append(block.name[:5]))
    return [seen, len(names)]


@program()
def summaries(mx, np):
    import contextlib
    import io

    net = mx.gluon.nn.HybridSequential(prefix="s_")
    with net.name_scope():
        net.add(mx.gluon.nn.Dense(4, activation="relu"), mx.gluon.nn.Dense(2))
    net.initialize()
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        net.summary(mx.nd.ones((1, 3)))
    return text.getvalue()


@program()
def hybrid_options(mx, np):
    results = []
    for options in ({}, {"static_alloc": True}, {"static_alloc": True, "static_shape": True}, {"inline_limit": 0},
                    {"forward_bulk_size": 2, "backward_bulk_size": 2}):
        net = mx.gluon.nn.HybridSequential()
        net.add(mx.gluon.nn.Dense(3), mx.gluon.nn.Dense(2))
        net.initialize(mx.init.One())
        net.hybridize(**options)
        for batch in (1, 4, 1):
            results.append(net(mx.nd.ones((batch, 2))))
    return results


@program(1e-3)
def losses(mx, np):
    loss = mx.gluon.loss
    rng = np.random.RandomState(1)
    pred, target = mx.nd.array(rng.uniform(0.1, 0.9, (4, 3))), mx.nd.array(rng.uniform(0.1, 0.9, (4, 3)))
    label, sign = mx.nd.array([0, 2, 1, 0]), mx.nd.array(np.sign(rng.normal(size=(4, 3))))
    weight = mx.nd.array([[1], [2], [0], [1]])
    cases = [(loss.L1Loss(), (pred, target)), (loss.L2Loss(), (pred, target, weight)),
             (loss.SigmoidBinaryCrossEntropyLoss(), (pred, target)), (loss.SigmoidBCELoss(from_sigmoid=True), (pred, target)),
             (loss.SoftmaxCrossEntropyLoss(), (pred, label)), (loss.SoftmaxCELoss(sparse_label=False), (pred, target)),
             (loss.KLDivLoss(from_logits=False), (pred, target)), (loss.HuberLoss(rho=0.2), (pred, target)),
             (loss.HingeLoss(), (pred, sign)), (loss.SquaredHingeLoss(), (pred, sign)),
             (loss.LogisticLoss(), (pred, sign)), (loss.TripletLoss(), (pred, target, target * 2)),
             (loss.PoissonNLLLoss(), (pred, target)), (loss.CosineEmbeddingLoss(), (pred, target, mx.nd.array([1, -1, 1, -1]))),
             (loss.SDMLLoss(), (pred, target))]
    results = []
    for function, inputs in cases:
        inputs[0].attach_grad()
        with mx.autograd.record():
            value = function(*inputs)
        value.backward()
        results += [value, inputs[0].grad]
    ctc = loss.CTCLoss()(mx.nd.array(rng.normal(size=(2, 6, 5))), mx.nd.array([[1, 2, 0], [3, 3, 1]]))
    return results + [ctc]


def run_cell(mx, np, cell, steps=3):
    cell.initialize(mx.init.Uniform(0.5))
    x = mx.nd.array(np.random.RandomState(3).uniform(-1, 1, (2, steps, 4)))
    x.attach_grad()
    with mx.autograd.record():
        outputs, states = cell.unroll(steps, x, merge_outputs=True)
    outputs.backward()
    return [outputs, states, x.grad]


@program(1e-3)
def cells(mx, np):
    rnn = mx.gluon.rnn
    stack = rnn.SequentialRNNCell()
    stack.add(rnn.LSTMCell(3))
    stack.add(rnn.ResidualCell(rnn.GRUCell(3)))
    return [run_cell(mx, np, cell) for cell in (
        rnn.RNNCell(3), rnn.LSTMCell(3), rnn.GRUCell(3), stack, rnn.BidirectionalCell(rnn.LSTMCell(2), rnn.GRUCell(2)),
        rnn.ZoneoutCell(rnn.RNNCell(3), 0, 0))]


@program(1e-3)
def recurrent_layers(mx, np):
    rnn = mx.gluon.rnn
    results = []
    for layer in (rnn.RNN(3), rnn.LSTM(3, num_layers=2), rnn.GRU(3, bidirectional=True, layout="NTC"),
                  rnn.LSTM(3, bidirectional=True)):
        layer.initialize(mx.init.Uniform(0.5))
        x = mx.nd.array(np.random.RandomState(3).uniform(-1, 1, (4, 2, 5)))
        state = layer.begin_state(batch_size=4 if layer._layout == "NTC" else 2)
        x.attach_grad()
        with mx.autograd.record():
            y, after = layer(x, state)
        y.backward()
        results += [y, after, x.grad, [name.split("_", 1)[1] for name in layer.collect_params()]]
    return results


@program()
def utilities(mx, np):
    x = mx.nd.arange(12).reshape((6, 2))
    arrays = [mx.nd.ones(3) * 3, mx.nd.ones(4) * 4]
    norm = mx.gluon.utils.clip_global_norm(arrays, 1.0)
    return [mx.gluon.utils.split_data(x, 3), mx.gluon.utils.split_and_load(x, [mx.cpu(0), mx.cpu(1)]), norm, arrays]


@program(2e-2)
def model_zoo(mx, np):
    results = []
    for name in ("resnet18_v1", "mobilenetv2_0.25", "mobilenet0.25"):
        net = mx.gluon.model_zoo.vision.get_model(name, classes=10)
        mx.random.seed(1)
        net.initialize(mx.init.Xavier())
        net.hybridize()
        results += [net(mx.nd.ones((1, 3, 64, 64))), len(list(net.collect_params()))]
    return results


@program()
def zoo_networks(mx, np):
    vision = mx.gluon.model_zoo.vision
    counts = []
    for make in (vision.alexnet, vision.vgg11, vision.vgg16_bn, vision.densenet121, vision.inception_v3,
                 vision.resnet50_v2, vision.mobilenet1_0, vision.mobilenet_v2_1_0, vision.squeezenet1_1):
        net = make(classes=4)
        counts.append([len(list(net.collect_params())), sorted(net.collect_params())[-1].split("_", 1)[1],
                       len(net(mx.sym.var("data")).get_internals().list_outputs())])
    return counts


@program(1e-3)
def contrib_layers(mx, np):
    nn = mx.gluon.contrib.nn
    x = mx.nd.array(np.random.RandomState(1).uniform(size=(1, 4, 3, 3)))
    both = nn.HybridConcurrent(axis=1)
    both.add(nn.Identity(), mx.gluon.nn.Activation("relu"))
    plain = nn.Concurrent(axis=1)
    plain.add(nn.Identity(), nn.Identity())
    cell = mx.gluon.contrib.rnn.VariationalDropoutCell(mx.gluon.rnn.LSTMCell(3), 0, 0, 0)
    conv = mx.gluon.contrib.rnn.Conv2DLSTMCell((2, 5, 5), 3, (3, 3), (3, 3), i2h_pad=(1, 1))
    conv.initialize(mx.init.One())
    return [both(x), plain(x), nn.PixelShuffle2D(2)(x), nn.PixelShuffle1D(2)(x[:, :, 0]),
            run_cell(mx, np, cell), conv(mx.nd.ones((1, 2, 5, 5)), conv.begin_state(1))]
