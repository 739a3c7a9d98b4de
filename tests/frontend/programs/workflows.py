# SPDX-License-Identifier: Apache-2.0
"""What programs build around training: heads of many kinds, resuming, averages of weights, own optimizers, schedules, metrics and
initializers, features from the middle, folds of data, numerical methods in arrays."""
from registry import program


def drawn(mx, np, *shape, seed=3):
    return np.random.RandomState(seed).normal(size=shape).astype("float32")


def network(mx, hidden=6, classes=3):
    net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=hidden, name="fc1")
    net = mx.sym.Activation(net, act_type="relu", name="relu1")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=classes, name="fc2"), name="softmax")


def rows(mx, np, count=24, batch=8, **options):
    return mx.io.NDArrayIter(drawn(mx, np, count, 5), np.arange(count) % 3, batch, label_name="softmax_label", **options)


@program()
def heads_of_many_kinds(mx, np):
    seen = mx.sym.Activation(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4, name="body"), act_type="tanh")

    height = mx.sym.var("height")

    def part(name, count=1):
        return mx.sym.FullyConnected(seen, num_hidden=count, name=name)

    heads = mx.sym.Group([
        mx.sym.SVMOutput(part("a", 3), mx.sym.var("kind"), margin=0.5, regularization_coefficient=0.7, name="svm"),
        mx.sym.LinearRegressionOutput(part("b"), height, grad_scale=0.5, name="linear"),
        mx.sym.LogisticRegressionOutput(part("c"), mx.sym.var("chance"), name="logistic"),
        mx.sym.MAERegressionOutput(part("d"), height, name="absolute"),
        mx.sym.MakeLoss(mx.sym.smooth_l1(part("e") - 0.5, scalar=2), grad_scale=0.1, name="smooth"),
        mx.sym.BlockGrad(seen, name="features")])
    labels = {"kind": np.arange(12) % 3, "height": drawn(mx, np, 12, 1), "chance": (np.arange(12) % 2).astype("float32")[:, None]}
    data = mx.io.NDArrayIter({"data": drawn(mx, np, 12, 5)}, labels, 4)
    module = mx.mod.Module(heads, label_names=sorted(labels))
    module.bind(data.provide_data, data.provide_label)
    module.init_params(mx.init.Xavier())
    module.init_optimizer(optimizer_params={"learning_rate": 0.1})
    for batch in data:
        module.forward_backward(batch)
        module.update()
    arguments, _ = module.get_params()
    return [[name for name, _ in module.output_shapes], module.get_outputs(), [arguments[name] for name in sorted(arguments)]]


@program()
def training_that_is_resumed(mx, np):
    def trained(epochs, begin=0, **options):
        data = rows(mx, np)
        module = options.pop("module", None) or mx.mod.Module(network(mx))
        module.fit(data, num_epoch=epochs, begin_epoch=begin, optimizer="adam", initializer=mx.init.Uniform(0.5), **options)
        return module

    whole = trained(4)
    mx.random.seed(7)
    first = trained(2)
    first.save_checkpoint("resumed", 2, save_optimizer_states=True)
    module = mx.mod.Module.load("resumed", 2, load_optimizer_states=True)
    data = rows(mx, np)
    module.bind(data.provide_data, data.provide_label)
    second = trained(4, 2, module=module)
    names = sorted(whole.get_params()[0])
    return [[whole.get_params()[0][name] for name in names], [second.get_params()[0][name] for name in names],
            dict(second.score(data, ["acc", "ce"]))]


@program()
def averages_of_weights_and_early_ends(mx, np):
    history, module = [], mx.mod.Module(network(mx))

    class Enough(Exception):
        pass

    def after_epoch(epoch, symbol, arguments, states):
        history.append({name: array.copy() for name, array in arguments.items()})
        if epoch == 3:
            raise Enough

    try:
        module.fit(rows(mx, np), num_epoch=9, optimizer_params=(("learning_rate", 0.2), ("momentum", 0.5)), epoch_end_callback=after_epoch,
                   initializer=mx.init.One())
    except Enough:
        pass
    mean = {name: mx.nd.add_n(*[entry[name] for entry in history]) / len(history) for name in history[0]}
    module.set_params(mean, {})
    return [len(history), module.predict(rows(mx, np)), module.get_params()[0]["fc1_weight"]]


@program()
def features_from_the_middle(mx, np):
    symbol = network(mx)
    module = mx.mod.Module(symbol)
    data = rows(mx, np, 10, 4)
    module.bind(data.provide_data, data.provide_label, for_training=False)
    module.init_params(mx.init.Normal(0.4))
    inner = symbol.get_internals()
    part = mx.mod.Module(mx.sym.Group([inner["relu1_output"], inner["fc2_output"]]), label_names=None)
    part.bind([("data", (4, 5))], for_training=False)
    part.set_params(*module.get_params())
    outs = part.predict(mx.io.NDArrayIter(drawn(mx, np, 10, 5), batch_size=4))
    steps = [[number, [out.shape for out in batch_outs], batch.pad] for batch_outs, number, batch in part.iter_predict(rows(mx, np, 10, 4))]
    return [outs, steps, inner.list_outputs(), [out.shape for out in part.predict(data, merge_batches=False)[0]]]


@program()
def optimizers_and_schedules_of_ones_own(mx, np):
    class Steps(mx.lr_scheduler.LRScheduler):
        def __call__(self, num_update):
            return self.base_lr / (1 + num_update // 2)

    class Signs(mx.optimizer.Optimizer):
        def __init__(self, share=0.5, **options):
            super().__init__(**options)
            self.share = share

        def create_state(self, index, weight):
            return mx.nd.zeros(weight.shape, weight.context)

        def update(self, index, weight, grad, state):
            self._update_count(index)
            rate, decay = self._get_lr(index), self._get_wd(index)
            state[:] = self.share * state + (1 - self.share) * grad * self.rescale_grad
            weight[:] -= rate * (mx.nd.sign(state) + decay * weight)

    mx.optimizer.register(Signs)
    module = mx.mod.Module(network(mx))
    module.fit(rows(mx, np), num_epoch=2, initializer=mx.init.Xavier(), kvstore="local", optimizer="signs",
               optimizer_params={"learning_rate": 0.1, "lr_scheduler": Steps(base_lr=0.1), "wd": 0.01, "share": 0.8})
    net = mx.gluon.nn.Dense(3, in_units=5)
    net.initialize(mx.init.One())
    trainer = mx.gluon.Trainer(net.collect_params(), Signs(learning_rate=0.05, lr_scheduler=Steps(base_lr=0.05)))
    rates = []
    for _ in range(4):
        with mx.autograd.record():
            loss = (net(mx.nd.array(drawn(mx, np, 4, 5))) ** 2).sum()
        loss.backward()
        trainer.step(4)
        rates.append(trainer.learning_rate)
    return [module.get_params()[0]["fc2_weight"], net.weight.data(), rates]


@program()
def metrics_of_ones_own(mx, np):
    class Spread(mx.metric.EvalMetric):
        def __init__(self):
            super().__init__("spread", output_names=["softmax_output"], label_names=["softmax_label"])

        def update(self, labels, preds):
            for pred in preds:
                self.sum_metric += float(pred.asnumpy().std())
                self.num_inst += 1

    several = mx.metric.CompositeEvalMetric([Spread(), mx.metric.create(lambda label, pred: float((pred.argmax(1) == label).mean()))])
    several.add(mx.metric.np(lambda label, pred: (float(pred.max()), 2), name="most"))
    module = mx.mod.Module(network(mx))
    data = rows(mx, np)
    module.bind(data.provide_data, data.provide_label)
    module.init_params(mx.init.Normal(0.5))
    scores = module.score(data, several, num_batch=2)
    return [[[name, value] for name, value in scores], several.get_name_value(), mx.metric.create(["acc", "mse"]).get()[0]]


@program()
def initializers_of_ones_own(mx, np):
    @mx.init.register
    class Ramp(mx.init.Initializer):
        def __init__(self, top=1.0):
            super().__init__(top=top)
            self.top = top

        def _init_weight(self, name, array):
            array[:] = mx.nd.arange(array.size).reshape(array.shape) * self.top / array.size

    net = mx.gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(mx.gluon.nn.Dense(3, in_units=2, weight_initializer="ramp", bias_initializer=mx.init.Constant(4)),
                mx.gluon.nn.Dense(2, in_units=3))
    net.initialize(Ramp(2.0))
    symbol = mx.sym.FullyConnected(mx.sym.var("data"), mx.sym.var("own_weight", init=Ramp(3.0)), num_hidden=2, name="own")
    module = mx.mod.Module(symbol, label_names=None)
    module.bind([("data", (2, 4))])
    module.init_params(mx.init.Load({"own_bias": mx.nd.array([5, 6])}, default_init=mx.init.Zero()))
    return [[param.data() for param in net.collect_params().values()], module.get_params()[0], Ramp(2.0).dumps()]


@program()
def folds_of_data(mx, np):
    x, y, scores = drawn(mx, np, 15, 4), (np.arange(15) % 2).astype("float32"), []
    for fold in range(3):
        held = np.arange(15) % 3 == fold
        train, test = (mx.gluon.data.ArrayDataset(x[part], y[part]) for part in (~held, held))
        net = mx.gluon.nn.Dense(1, weight_initializer=mx.init.Normal(0.1))
        net.initialize()
        trainer = mx.gluon.Trainer(net.collect_params(), "lamb", {"learning_rate": 0.05})
        loss_of = mx.gluon.loss.SigmoidBCELoss()
        sampler = mx.gluon.data.BatchSampler(mx.gluon.data.SequentialSampler(len(train)), 4, "keep")
        for _ in range(2):
            for rows_of, labels in mx.gluon.data.DataLoader(train, batch_sampler=sampler):
                with mx.autograd.record():
                    loss = loss_of(net(rows_of), labels)
                loss.backward()
                trainer.step(len(labels))
        accuracy = mx.metric.Accuracy()
        for rows_of, labels in mx.gluon.data.DataLoader(test.transform_first(lambda row: row * 1.0), 5):
            accuracy.update(labels, net(rows_of).sigmoid().round().reshape(-1))
        scores.append([accuracy.get()[1], net.weight.data()])
    return [scores, len(test.filter(lambda sample: sample[1] > 0)), test.take(2)[1][1], [len(test.shard(2, i)) for i in range(2)]]


@program(tolerance=1e-3)
def methods_of_numbers(mx, np):
    """Clusters, least squares, Newton's steps, a filter, and powers of a matrix, with arrays alone."""
    nd, x = mx.nd, mx.nd.array(drawn(mx, np, 20, 3))
    centres = x[:3].copy()
    for _ in range(4):
        away = nd.broadcast_sub(x.expand_dims(1), centres.expand_dims(0)).square().sum(axis=2)
        chosen = nd.one_hot(away.argmin(axis=1), 3)
        centres = nd.broadcast_div(nd.dot(chosen, x, transpose_a=True), chosen.sum(axis=0).expand_dims(1) + 1e-6)
    gram = nd.dot(x, x, transpose_a=True) + 0.1 * nd.eye(3)
    root = nd.linalg.potrf(gram)
    target = nd.dot(x, nd.array([[1.0], [2], [-1]]))
    half = nd.linalg.trsm(root, nd.dot(x, target, transpose_a=True))
    solved = nd.linalg.trsm(root, half, transpose=True)
    weights, labels = nd.zeros((3, 1)), (target > 0)
    for _ in range(3):
        chance = nd.sigmoid(nd.dot(x, weights))
        slope = nd.dot(x, chance - labels, transpose_a=True) + 0.1 * weights
        bend = nd.dot(x * (chance * (1 - chance)), x, transpose_a=True) + 0.1 * nd.eye(3)
        weights = weights - nd.dot(nd.linalg.inverse(bend), slope)
    vector = nd.ones((3, 1))
    for _ in range(20):
        vector = nd.dot(gram, vector)
        vector = vector / vector.norm()
    level, seen = nd.array([0.0]), []
    for value in x[:6, 0]:
        level = 0.7 * level + 0.3 * value
        seen.append(level)
    return [centres, solved, weights, vector, nd.concat(*seen, dim=0), nd.linalg.sumlogdiag(root), nd.linalg.slogdet(gram)]


@program(tolerance=1e-3)
def words_that_are_hidden(mx, np):
    nd, draws = mx.nd, np.random.RandomState(1)
    words = nd.array(draws.randint(2, 12, (3, 7)))
    places = nd.array([[0, 1, 2, 2], [3, 0, 5, 6]])
    true = nd.gather_nd(words, places)
    hidden = nd.where(nd.scatter_nd(nd.ones(4), places, shape=(3, 7)), nd.ones_like(words), words)
    table, positions = nd.array(draws.normal(size=(12, 6))), nd.array(draws.normal(size=(7, 6)))
    for array in (table, positions):
        array.attach_grad()
    with mx.autograd.record():
        seen = nd.Embedding(hidden, table, 12, 6)
        seen = nd.broadcast_add(seen, nd.take(positions, nd.contrib.arange_like(hidden, axis=1)).expand_dims(0))
        picked = nd.gather_nd(seen, places)
        scores = nd.FullyConnected(picked, table, num_hidden=12, no_bias=True)
        loss = -nd.pick(nd.log_softmax(scores), true).mean()
    loss.backward()
    return [hidden, loss, table.grad, positions.grad, nd.contrib.index_copy(table, nd.array([1, 3]), nd.zeros((2, 6)))[:4]]


@program(tolerance=1e-3)
def data_over_four_contexts(mx, np):
    contexts = [mx.cpu(i) for i in range(4)]
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(6, activation="relu"), mx.gluon.nn.Dropout(0.0), mx.gluon.nn.Dense(3))
    net.initialize(mx.init.Normal(0.3), ctx=contexts)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9}, kvstore="device")
    x, y = mx.nd.array(drawn(mx, np, 10, 5)), mx.nd.array(np.arange(10) % 3)
    losses = []
    for _ in range(3):
        parts = zip(*(mx.gluon.utils.split_and_load(array, contexts, even_split=False) for array in (x, y)))
        with mx.autograd.record():
            each = [mx.gluon.loss.SoftmaxCrossEntropyLoss()(net(rows_of), labels) for rows_of, labels in parts]
        mx.autograd.backward(each)
        trainer.step(10)
        losses.append([loss.as_in_context(mx.cpu()) for loss in each])
    weights = net[0].weight.list_data()
    return [losses, weights[0], [bool((weight.as_in_context(mx.cpu()) == weights[0]).min().asscalar()) for weight in weights]]
