# SPDX-License-Identifier: Apache-2.0
"""Training: autograd, trainers, modules, optimizers, schedules, initializers, metrics, callbacks."""
from registry import program


def classes(np, count=64, features=6):
    rng = np.random.RandomState(0)
    x = rng.normal(size=(count, features)).astype("float32")
    return x, (x[:, 0] + x[:, 1] > 0).astype("float32") + (x[:, 2] > 0.5)


@program()
def gradients(mx, np):
    x = mx.nd.array([[1, 2], [3, 4]])
    x.attach_grad()
    with mx.autograd.record():
        y = (x * x).sum() + mx.nd.exp(x).mean()
    y.backward()
    return [x.grad, mx.autograd.is_recording(), mx.autograd.is_training()]


@program()
def head_gradients(mx, np):
    x, y = mx.nd.array([1.0, 2.0]), mx.nd.array([3.0, 4.0])
    mx.autograd.mark_variables([x, y], [mx.nd.zeros(2), mx.nd.zeros(2)], ["write", "add"])
    for _ in range(2):
        with mx.autograd.record():
            z, w = x * y, x + y
        mx.autograd.backward([z, w], [mx.nd.array([1, 2]), None])
    return [x.grad, y.grad]


@program()
def higher_gradients(mx, np):
    x = mx.nd.array([0.1, 0.2, 0.3])
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.sin(x)
        first = mx.autograd.grad(y, x, create_graph=True, retain_graph=True)[0]
    first.backward()
    return [first, x.grad]


@program()
def scopes(mx, np):
    x = mx.nd.ones(2)
    x.attach_grad()
    states = []
    with mx.autograd.record(train_mode=False):
        states.append([mx.autograd.is_recording(), mx.autograd.is_training()])
        with mx.autograd.pause():
            states.append([mx.autograd.is_recording(), mx.autograd.is_training()])
            unrecorded = x * 2
        with mx.autograd.train_mode():
            states.append([mx.autograd.is_recording(), mx.autograd.is_training()])
        with mx.autograd.predict_mode():
            y = x * 3 + unrecorded
    y.backward()
    mx.autograd.set_training(True)
    mx.autograd.set_recording(False)
    states.append(mx.autograd.set_training(False))
    return [states, x.grad]


@program()
def functions(mx, np):
    class Sigmoid(mx.autograd.Function):
        def forward(self, x):
            y = 1 / (1 + mx.nd.exp(-x))
            self.save_for_backward(y)
            return y

        def backward(self, dy):
            y, = self.saved_tensors
            return dy * y * (1 - y)

    x = mx.nd.array([0.0, 1.0, -1.0])
    x.attach_grad()
    with mx.autograd.record():
        y = Sigmoid()(x)
        z = y * 2
    z.backward()
    return [y, x.grad]


@program()
def recorded_networks(mx, np):
    x = mx.nd.ones(2)
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.exp(x) + x
    return [mx.autograd.get_symbol(y).list_arguments().__len__()]


@program()
def backward_twice_is_an_error(mx, np):
    x = mx.nd.ones(2)
    x.attach_grad()
    with mx.autograd.record():
        y = x * x
    y.backward()
    y.backward()


@program()
def unrecorded_backward_is_an_error(mx, np):
    (mx.nd.ones(2) * 2).backward()


@program()
def writing_recorded_arrays_is_an_error(mx, np):
    x = mx.nd.ones(2)
    x.attach_grad()
    with mx.autograd.record():
        y = x * 2
        y += 1
    y.backward()


def train(mx, np, optimizer, options, steps=5, hybrid=True):
    x, y = classes(np)
    mx.random.seed(2)
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(8, activation="tanh", in_units=6), mx.gluon.nn.Dense(3, in_units=8))
    net.initialize(mx.init.Xavier())
    if hybrid:
        net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), optimizer, options, kvstore=None)
    loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    losses = []
    for _ in range(steps):
        with mx.autograd.record():
            value = loss(net(mx.nd.array(x)), mx.nd.array(y))
        value.backward()
        trainer.step(len(x))
        losses.append(float(value.mean().asscalar()))
    return [losses, net[1].weight.data()]


def trains(optimizer, tolerance=1e-3, **options):
    def run(mx, np):
        return train(mx, np, optimizer, options)

    run.__name__ = f"trainer_{optimizer}" + "".join(f"_{key}" for key in options if key not in ("learning_rate",))
    run.__module__ = "programs_training"
    program(tolerance)(run)


for name, extra in [("sgd", {"learning_rate": 0.5}), ("sgd", {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01}),
                    ("nag", {"learning_rate": 0.1, "momentum": 0.9}), ("adam", {"learning_rate": 0.05}),
                    ("rmsprop", {"learning_rate": 0.01}), ("rmsprop", {"learning_rate": 0.01, "centered": True}),
                    ("adagrad", {"learning_rate": 0.1}), ("adadelta", {}), ("ftrl", {"learning_rate": 0.1}),
                    ("adamax", {"learning_rate": 0.01}), ("nadam", {"learning_rate": 0.01}),
                    ("signum", {"learning_rate": 0.01}), ("ftml", {"learning_rate": 0.05}), ("dcasgd", {"learning_rate": 0.1}),
                    ("lamb", {"learning_rate": 0.05}), ("lars", {"learning_rate": 0.1}), ("lbsgd", {"learning_rate": 0.1}),
                    ("sgd", {"learning_rate": 0.1, "clip_gradient": 0.01}), ("test", {"learning_rate": 0.1})]:
    trains(name, **extra)


@program(1e-3)
def trainer_with_store(mx, np):
    x, y = classes(np)
    net = mx.gluon.nn.Dense(3, in_units=6)
    net.initialize(mx.init.One(), ctx=[mx.cpu(0), mx.cpu(1)])
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9})
    loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    for _ in range(3):
        parts = mx.gluon.utils.split_and_load(mx.nd.array(x), [mx.cpu(0), mx.cpu(1)])
        labels = mx.gluon.utils.split_and_load(mx.nd.array(y), [mx.cpu(0), mx.cpu(1)])
        with mx.autograd.record():
            values = [loss(net(a), b) for a, b in zip(parts, labels)]
        for value in values:
            value.backward()
        trainer.step(len(x))
    trainer.save_states("trainer.states")
    trainer.load_states("trainer.states")
    trainer.set_learning_rate(0.01)
    return [net.weight.data(mx.cpu(1)), trainer.learning_rate]


@program(1e-3)
def module_fit(mx, np):
    x, y = classes(np)
    data = mx.sym.var("data")
    net = mx.sym.FullyConnected(data, num_hidden=8, name="fc1")
    net = mx.sym.Activation(net, act_type="tanh")
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=3, name="fc2"), name="softmax")
    train_data = mx.io.NDArrayIter(x, y, batch_size=16)
    module = mx.mod.Module(net, context=mx.cpu())
    mx.random.seed(4)
    module.fit(train_data, eval_metric="acc", optimizer="sgd", optimizer_params={"learning_rate": 0.5},
               initializer=mx.init.Xavier(), num_epoch=3, kvstore=None)
    module.save_checkpoint("fit", 3)
    again = mx.mod.Module.load("fit", 3)
    again.bind(train_data.provide_data, train_data.provide_label, for_training=False)
    arguments, states = module.get_params()
    return [module.score(train_data, "acc"), arguments, states, module.predict(train_data), again.predict(train_data),
            module.data_names, module.label_names, module.output_names, module.output_shapes]


@program(1e-3)
def module_step_by_step(mx, np):
    x, y = classes(np)
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc"), name="softmax")
    module = mx.mod.Module(net)
    module.bind([("data", (16, 6))], [("softmax_label", (16,))], inputs_need_grad=True)
    module.init_params(mx.init.One())
    module.init_optimizer(kvstore=None, optimizer="adam", optimizer_params={"learning_rate": 0.1})
    metric = mx.metric.create(["acc", "ce"])
    for i in range(3):
        batch = mx.io.DataBatch([mx.nd.array(x[16 * i:16 * i + 16])], [mx.nd.array(y[16 * i:16 * i + 16])])
        module.forward_backward(batch)
        module.update()
        module.update_metric(metric, batch.label)
    module.reshape([("data", (8, 6))], [("softmax_label", (8,))])
    module.forward(mx.io.DataBatch([mx.nd.array(x[:8])], None), is_train=False)
    return [metric.get(), module.get_outputs(), module.get_params()[0], len(module.get_input_grads())]


@program(1e-3)
def bucketing(mx, np):
    def network(length):
        data = mx.sym.var("data")
        pooled = mx.sym.sum(mx.sym.Embedding(data, input_dim=5, output_dim=4, name="embed"), axis=1)
        fc = mx.sym.FullyConnected(pooled, num_hidden=2, name="fc")
        return mx.sym.SoftmaxOutput(fc, name="softmax"), ("data",), ("softmax_label",)

    module = mx.mod.BucketingModule(network, default_bucket_key=6)
    module.bind([mx.io.DataDesc("data", (2, 6))], [mx.io.DataDesc("softmax_label", (2,))])
    module.init_params(mx.init.One())
    module.init_optimizer(kvstore=None, optimizer="sgd", optimizer_params={"learning_rate": 0.1})
    for length in (6, 3, 6):
        batch = mx.io.DataBatch([mx.nd.ones((2, length))], [mx.nd.array([0, 1])], bucket_key=length,
                                provide_data=[mx.io.DataDesc("data", (2, length))],
                                provide_label=[mx.io.DataDesc("softmax_label", (2,))])
        module.forward(batch, is_train=True)
        module.backward()
        module.update()
    return [module.get_params()[0], module.get_outputs()]


@program()
def schedules(mx, np):
    s = mx.lr_scheduler
    schedule = [s.FactorScheduler(10, 0.5, base_lr=1.0), s.MultiFactorScheduler([5, 15], 0.1, base_lr=1.0),
                s.PolyScheduler(20, base_lr=1.0, pwr=2), s.CosineScheduler(20, base_lr=1.0, final_lr=0.1, warmup_steps=4)]
    return [[item(step) for step in range(0, 25, 3)] for item in schedule]


@program()
def optimizers_as_objects(mx, np):
    results = []
    for name in ("sgd", "adam", "sgld", "ccsgd") if hasattr(mx.optimizer, "ccSGD") else ("sgd", "adam"):
        optimizer = mx.optimizer.create(name, learning_rate=0.1, rescale_grad=0.5, param_idx2name={0: "a_weight"})
        updater = mx.optimizer.get_updater(optimizer)
        weight = mx.nd.ones((2, 2))
        updater(0, mx.nd.ones((2, 2)), weight)
        results += [weight.shape, optimizer.learning_rate, len(updater.get_states()) > 0]
    optimizer = mx.optimizer.SGD(learning_rate=0.1, multi_precision=True, momentum=0.9)
    weight = mx.nd.ones((2, 2), dtype="float16")
    state = optimizer.create_state_multi_precision(0, weight)
    optimizer.update_multi_precision(0, weight, mx.nd.ones((2, 2), dtype="float16"), state)
    optimizer.set_lr_mult({"a": 0.1})
    optimizer.set_wd_mult({})
    return results + [weight]


@program(1e-3)
def initializers(mx, np):
    init = mx.init
    results = {}
    cases = {"zero": init.Zero(), "one": init.One(), "constant": init.Constant(3), "uniform": init.Uniform(0.2),
             "xavier": init.Xavier(), "xavier_in": init.Xavier(rnd_type="uniform", factor_type="in", magnitude=2),
             "msra": init.MSRAPrelu(), "bilinear": init.Bilinear(), "normal": init.Normal(0.1)}
    for name, item in cases.items():
        mx.random.seed(3)
        array = mx.nd.zeros((2, 3, 4, 4))
        item(init.InitDesc("x_weight"), array)
        results[name] = array
        results[name + "_json"] = item.dumps()
    for name in ("x_bias", "x_gamma", "x_beta"):
        array = mx.nd.full((3,), 7)
        init.Xavier()(init.InitDesc(name), array)
        results[name] = array
    mixed = init.Mixed(["bias", ".*"], [init.Zero(), init.One()])
    array = mx.nd.zeros((2,))
    mixed("a_weight", array)
    orthogonal = mx.nd.zeros((3, 3))
    init.Orthogonal()(init.InitDesc("q_weight"), orthogonal)
    lstm = mx.nd.zeros((8,))
    init.LSTMBias(1.0)(init.InitDesc("l_bias"), lstm)
    return [results, array, mx.nd.dot(orthogonal, orthogonal.T).shape, lstm]


@program()
def metrics(mx, np):
    rng = np.random.RandomState(0)
    scores = mx.nd.array(rng.dirichlet([1, 1, 1], 8))
    labels = mx.nd.array(rng.randint(0, 3, 8))
    binary = mx.nd.array(np.stack([1 - rng.uniform(size=8), rng.uniform(size=8)], 1))
    truth = mx.nd.array(rng.randint(0, 2, 8))
    real, guess = mx.nd.array(rng.normal(size=8)), mx.nd.array(rng.normal(size=8))
    m = mx.metric
    cases = [(m.Accuracy(), labels, scores), (m.TopKAccuracy(top_k=2), labels, scores), (m.F1(), truth, binary),
             (m.F1(average="micro"), truth, binary), (m.MCC(), truth, binary), (m.PCC(), labels, scores),
             (m.Perplexity(ignore_label=None), labels, scores), (m.MAE(), real, guess), (m.MSE(), real, guess),
             (m.RMSE(), real, guess), (m.CrossEntropy(), labels, scores), (m.NegativeLogLikelihood(), labels, scores),
             (m.PearsonCorrelation(), real, guess), (m.Loss(), None, guess), (m.Torch(), None, guess), (m.Caffe(), None, guess),
             (m.CustomMetric(lambda label, pred: float(np.abs(label - pred).sum()), name="mine"), real, guess)]
    results = []
    for metric, label, pred in cases:
        for _ in range(2):
            metric.update([label], [pred])
        results += [list(metric.get()), metric.get_name_value(), metric.name]
        metric.reset()
    joint = m.CompositeEvalMetric([m.Accuracy(), m.create("ce")])
    joint.update([labels], [scores])
    by_function = m.np(lambda label, pred: 3.0)
    by_function.update([real], [guess])
    return results + [joint.get(), m.create("acc").get(), by_function.get()]


@program()
def callbacks(mx, np):
    net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1, name="fc")
    save = mx.callback.do_checkpoint("cb", 1)
    save(0, net, {"fc_weight": mx.nd.ones((1, 2)), "fc_bias": mx.nd.ones(1)}, {})
    sym, arguments, _ = mx.model.load_checkpoint("cb", 1)
    speed = mx.callback.Speedometer(2, 1)
    parameter = mx.model.BatchEndParam(epoch=0, nbatch=1, eval_metric=mx.metric.Accuracy(), locals=None)
    speed(parameter)
    mx.callback.ProgressBar(4)(parameter)
    mx.callback.log_train_metric(1)(parameter)
    return [sym, arguments]


@program(1e-3)
def old_cells(mx, np):
    cell = mx.rnn.SequentialRNNCell()
    cell.add(mx.rnn.LSTMCell(3, prefix="l0_"))
    cell.add(mx.rnn.GRUCell(3, prefix="l1_"))
    outputs, states = cell.unroll(2, mx.sym.var("data"), layout="NTC", merge_outputs=True)
    fused = mx.rnn.FusedRNNCell(3, num_layers=1, mode="lstm", prefix="f_")
    merged, _ = fused.unroll(2, mx.sym.var("data"), layout="NTC", merge_outputs=True)
    shapes = outputs.infer_shape(data=(1, 2, 4))
    arguments = {name: mx.nd.full(shape, 0.1) for name, shape in zip(outputs.list_arguments(), shapes[0])}
    fused_shapes = dict(zip(merged.list_arguments(), merged.infer_shape(data=(1, 2, 4))[0]))
    return [outputs.list_arguments(), outputs.bind(mx.cpu(), arguments).forward(), fused_shapes["f_parameters"],
            sorted(fused.unpack_weights({"f_parameters": mx.nd.ones(fused_shapes["f_parameters"])}))]


@program(1e-3)
def estimators(mx, np):
    x, y = classes(np)
    net = mx.gluon.nn.Dense(3, in_units=6)
    net.initialize(mx.init.One())
    estimator = mx.gluon.contrib.estimator.Estimator(
        net, mx.gluon.loss.SoftmaxCrossEntropyLoss(), train_metrics=mx.metric.Accuracy(),
        trainer=mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1}, kvstore=None))
    data = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(x, y.astype("float32")), batch_size=16)
    estimator.fit(data, epochs=2)
    return [net.weight.data(), estimator.train_metrics[0].get()]


@program()
def monitors(mx, np):
    monitor = mx.mon.Monitor(1, pattern=".*output", sort=True)
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc"), name="softmax")
    executor = net.simple_bind(mx.cpu(), data=(1, 2))
    monitor.install(executor)
    monitor.tic()
    executor.forward()
    return [[row[1] for row in monitor.toc()]]
