# SPDX-License-Identifier: Apache-2.0
"""What scripts do between the lines of a tutorial: parts of networks are shared, cast, frozen and hooked, optimizers are asked and
saved, large random arrays go through whole networks, and mistakes are made that raise."""
import os

from registry import program, settle


def small_net(mx, **settings):
    net = mx.gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(mx.gluon.nn.Dense(6, activation="relu", in_units=4), mx.gluon.nn.Dense(3, in_units=6))
    net.initialize(mx.init.Constant(0.1), **settings)
    return net


def raises(call):
    """Whether there is an error."""
    try:
        settle(call())
    except Exception:
        return True
    return False


def batch(mx, np, rows=5, columns=4):
    return mx.nd.array(np.linspace(-1, 1, rows * columns).reshape(rows, columns))


def weights(net):
    return [[name, param.data()] for name, param in sorted(net.collect_params().items())]


def steps(mx, net, trainer, x, count=3):
    losses = []
    for _ in range(count):
        with mx.autograd.record():
            loss = (net(x) ** 2).mean()
        loss.backward()
        trainer.step(x.shape[0])
        losses.append(loss)
    return losses


@program()
def trainers_with_every_optimizer(mx, np):
    results = []
    for name, settings in (("sgd", {"momentum": 0.9, "wd": 0.01}), ("nag", {"momentum": 0.9}), ("adam", {}), ("adagrad", {}), ("rmsprop", {"centered": True}),
                           ("adadelta", {}), ("ftrl", {}), ("adamax", {}), ("nadam", {}), ("signum", {}), ("ftml", {}), ("dcasgd", {}), ("lamb", {}), ("lars", {}),
                           ("adabelief", {})):
        try:
            net = small_net(mx)
            trainer = mx.gluon.Trainer(net.collect_params(), name, {"learning_rate": 0.05, **settings})
            results.append([name, steps(mx, net, trainer, batch(mx, np)), weights(net)])
        except Exception as error:
            results.append([name, type(error).__name__])
    return results


@program()
def trainers_are_asked_and_saved(mx, np):
    net, x = small_net(mx), batch(mx, np)
    schedule = mx.lr_scheduler.MultiFactorScheduler([2, 4], factor=0.5, base_lr=0.4)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"momentum": 0.9, "lr_scheduler": schedule})
    rates = []
    for _ in range(6):
        steps(mx, net, trainer, x, 1)
        rates.append(trainer.learning_rate)
    trainer.save_states("trainer.states")
    saved = weights(net)
    steps(mx, net, trainer, x, 2)
    after = weights(net)
    for name, value in saved:
        net.collect_params()[name].set_data(value)
    trainer.load_states("trainer.states")
    steps(mx, net, trainer, x, 2)
    return [rates, after, weights(net), trainer.learning_rate]


@program()
def rates_and_decay_of_single_parameters(mx, np):
    net, x = small_net(mx), batch(mx, np)
    net.collect_params(".*bias").setattr("lr_mult", 0.0)
    net.collect_params(".*weight").setattr("wd_mult", 5.0)
    list(net.collect_params().values())[2].grad_req = "null"
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "wd": 0.1})
    losses = steps(mx, net, trainer, x)
    trainer.set_learning_rate(0.01)
    return [losses, steps(mx, net, trainer, x), weights(net), trainer.learning_rate]


@program()
def gradients_that_add_up_over_batches(mx, np):
    net, x = small_net(mx), batch(mx, np)
    for param in net.collect_params().values():
        param.grad_req = "add"
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    for part in (x[:2], x[2:]):
        with mx.autograd.record():
            loss = (net(part) ** 2).sum()
        loss.backward()
    before = [param.grad().copy() for param in net.collect_params().values()]
    trainer.step(5)
    for param in net.collect_params().values():
        param.zero_grad()
    return [before, weights(net), [param.grad() for param in net.collect_params().values()]]


@program()
def parameters_that_two_blocks_share(mx, np):
    first = mx.gluon.nn.Dense(4, in_units=4, prefix="shared_")
    second = mx.gluon.nn.Dense(4, in_units=4, params=first.params, prefix="other_")
    first.initialize(mx.init.Constant(0.2))
    x = batch(mx, np)
    with mx.autograd.record():
        loss = second(first(x)).sum()
    loss.backward()
    return [loss, first.weight.grad(), second.weight is first.weight, sorted(second.collect_params())]


@program()
def hooks_and_functions_on_blocks(mx, np):
    net, seen = small_net(mx), []
    ahead = net[0].register_forward_pre_hook(lambda block, inputs: seen.append(["before", block.name, inputs[0].shape]))
    after = net[1].register_forward_hook(lambda block, inputs, output: seen.append(["after", block.name, output.shape]))
    net(batch(mx, np))
    ahead.detach()
    net(batch(mx, np))
    after.detach()
    net(batch(mx, np))
    net.apply(lambda block: seen.append(type(block).__name__))
    return [seen, repr(net), len(net), [type(child).__name__ for child in net]]


@program(tolerance=1e-3)
def networks_cast_to_doubles(mx, np):
    net, x = small_net(mx), batch(mx, np)
    net.cast("float64")
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9})
    losses = steps(mx, net, trainer, x.astype("float64"))
    net.cast("float32")
    return [losses, weights(net), net(x)]


@program()
def parameters_in_files_of_all_kinds(mx, np):
    net, x = small_net(mx), batch(mx, np)
    net.save_parameters("net.params")
    other = small_net(mx)
    for param in other.collect_params().values():
        param.set_data(mx.nd.zeros(param.shape))
    other.load_parameters("net.params")
    net.hybridize()
    expected = net(x)
    net.export("exported", epoch=3)
    again = mx.gluon.SymbolBlock.imports("exported-symbol.json", ["data"], "exported-0003.params")
    symbol, arguments, states = mx.model.load_checkpoint("exported", 3)
    stored = mx.nd.load("net.params")
    return [expected, other(x), again(x), symbol, sorted(arguments), sorted(states), sorted(stored)]


@program()
def mistakes_with_parameters_are_errors(mx, np):
    net = small_net(mx)
    net.save_parameters("mistakes.params")
    wider = mx.gluon.nn.Dense(7, in_units=4)
    late = mx.gluon.nn.Dense(3)
    late.initialize()
    bare = mx.gluon.nn.Dense(3, in_units=4)
    return [raises(lambda: wider.load_parameters("mistakes.params")), raises(lambda: net.load_parameters("missing.params")), raises(lambda: late.weight.data()),
            raises(lambda: bare(batch(mx, np))), raises(lambda: net(batch(mx, np, 2, 9))), raises(lambda: net.collect_params()["no_such"]),
            raises(lambda: mx.gluon.Trainer(net.collect_params(), "no_such")), raises(lambda: mx.gluon.Trainer([1, 2], "sgd")),
            raises(lambda: mx.gluon.Trainer(net.collect_params(), "sgd").step(1)), raises(lambda: net.add(5)), raises(lambda: mx.init.create("no_such")),
            raises(lambda: mx.metric.create("no_such")), raises(lambda: mx.gluon.loss.L2Loss()(mx.nd.ones((2, 3)), mx.nd.ones((2, 4)))),
            raises(lambda: mx.gluon.utils.split_data(mx.nd.ones((5, 2)), 2)), raises(lambda: mx.gluon.nn.Dense(3, in_units=4)(mx.sym.var("x")))]


@program()
def mistakes_with_symbols_are_errors(mx, np):
    a, b = mx.sym.var("a"), mx.sym.var("b")
    net = mx.sym.FullyConnected(a, num_hidden=3, name="fc")
    return [raises(call) for call in (
        lambda: (a + b).infer_shape(a=(2, 3), b=(4, 5)), lambda: net.infer_shape(no_such=(2, 3)), lambda: net.bind(mx.cpu(), {"a": mx.nd.ones((2, 4))}),
        lambda: net.simple_bind(mx.cpu()), lambda: net["no_such"], lambda: net[3], lambda: mx.sym.load("missing.json"), lambda: mx.sym.load_json("{"),
        lambda: mx.sym.Group([a, 5]), lambda: mx.sym.var(5), lambda: net(5), lambda: a + "text", lambda: mx.sym.Variable("v", shape="text").infer_shape(),
        lambda: mx.sym.FullyConnected(a), lambda: mx.sym.no_such(a), lambda: net.eval(a=5), lambda: bool(a == b), lambda: iter(a) and None,
        lambda: mx.sym.Convolution(a, kernel=(3,), num_filter=2).infer_shape(a=(2, 2)))]


@program(tolerance=1e-3)
def large_arrays_through_a_network(mx, np):
    random = np.random.RandomState(11)
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Conv2D(16, 3, padding=1, in_channels=3, use_bias=False), mx.gluon.nn.BatchNorm(in_channels=16), mx.gluon.nn.Activation("relu"),
            mx.gluon.nn.MaxPool2D(), mx.gluon.nn.Conv2D(32, 3, strides=2, in_channels=16), mx.gluon.nn.GlobalAvgPool2D(), mx.gluon.nn.Dense(10, in_units=32))
    net.initialize()
    for param in net.collect_params().values():
        if param.grad_req != "null":
            param.set_data(mx.nd.array(random.uniform(-0.2, 0.2, param.shape)))
    x, y = mx.nd.array(random.normal(size=(32, 3, 56, 56))), mx.nd.array(random.randint(0, 10, 32))
    results = []
    for hybrid in (False, True):
        net.hybridize(hybrid)
        with mx.autograd.record():
            out = net(x)
            loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()(out, y)
        loss.backward()
        results.append([out, loss, [param.grad() for param in net.collect_params().values() if param.grad_req != "null"]])
    return results + [net(x)]


@program(tolerance=1e-3)
def large_arrays_through_operators(mx, np):
    random = np.random.RandomState(12)
    x, y = mx.nd.array(random.normal(size=(300, 401))), mx.nd.array(random.normal(size=(401, 257)))
    order = mx.nd.topk(x, k=7, axis=1, ret_typ="both")
    return [mx.nd.dot(x, y)[:5], list(order), mx.nd.argsort(x, axis=0)[:4], x.sum(axis=0), x.norm(axis=1), mx.nd.softmax(x)[:3], mx.nd.log_softmax(x, axis=0)[:3],
            mx.nd.take(x, mx.nd.array([0, 299, 150, -1])), mx.nd.batch_dot(x.reshape((3, 100, 401)), x.reshape((3, 100, 401)), transpose_b=True)[:, :2],
            mx.nd.LayerNorm(x, mx.nd.ones(401), mx.nd.zeros(401))[:3], mx.nd.cumsum(x, axis=1)[:, -3:], mx.nd.where(x > 0, x, -x).mean(),
            mx.nd.broadcast_mul(x, x[:1])[:3], mx.nd.linalg.gemm2(x, y).max(axis=1), mx.nd.SequenceMask(x, mx.nd.array([5] * 401), True)[4:6]]


@program()
def numbers_drawn_from_seeds(mx, np):
    mx.random.seed(99)
    first = [mx.nd.random.uniform(shape=(3, 4)), mx.nd.random.normal(1, 2, shape=(3, 4)), mx.nd.random.randint(0, 100, shape=(6,)),
             mx.nd.random.shuffle(mx.nd.arange(20)), mx.nd.random.multinomial(mx.nd.array([0.2, 0.3, 0.5]), shape=8), mx.nd.random.poisson(4, shape=(5,)),
             mx.nd.random.exponential(2, shape=(5,)), mx.nd.random.gamma(2, 3, shape=(5,)), mx.nd.random.negative_binomial(3, 0.4, shape=(5,)),
             mx.nd.random.generalized_negative_binomial(2, 0.3, shape=(5,)), mx.nd.sample_uniform(mx.nd.array([0, 5]), mx.nd.array([1, 9]), shape=3),
             mx.nd.sample_normal(mx.nd.array([0, 5]), mx.nd.array([1, 9]), shape=3), mx.nd.random.randn(2, 2, loc=1, scale=3)]
    mx.random.seed(99)
    return [first, mx.nd.random.uniform(shape=(3, 4)), mx.nd.Dropout(mx.nd.ones((40,)), p=0.5, mode="always")]


@program()
def data_over_several_contexts(mx, np):
    contexts = [mx.cpu(0), mx.cpu(1)]
    net = small_net(mx, ctx=contexts)
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1}, kvstore="device", update_on_kvstore=False)
    parts = mx.gluon.utils.split_and_load(batch(mx, np, 6), contexts)
    results = []
    for _ in range(2):
        with mx.autograd.record():
            losses = [(net(part) ** 2).sum() for part in parts]
        mx.autograd.backward(losses)
        trainer.allreduce_grads()
        norm = mx.gluon.utils.clip_global_norm([param.grad(contexts[0]) for param in net.collect_params().values()], 1.0)
        trainer.update(6)
        results.append([losses, norm])
    return [results, [param.data(context) for param in net.collect_params().values() for context in contexts], [part.context.device_id for part in parts]]


@program()
def iterators_that_users_wrap(mx, np):
    data = {"first": np.arange(20).reshape(10, 2), "second": np.arange(10)}
    results = []
    for handling in ("pad", "discard", "roll_over"):
        iterator = mx.io.NDArrayIter(data, {"label": np.arange(10) % 3}, batch_size=4, last_batch_handle=handling)
        for _ in range(2):
            for part in iterator:
                results.append([list(part.data), list(part.label), part.pad, iterator.getindex() is None])
            iterator.reset()
    ahead = mx.io.PrefetchingIter(mx.io.NDArrayIter(np.arange(12).reshape(6, 2), batch_size=3))
    sized = mx.io.ResizeIter(mx.io.NDArrayIter(np.arange(12).reshape(6, 2), batch_size=3), 5)
    return [results, [part.data[0] for part in ahead], [part.data[0] for part in sized], [tuple(item)[:2] for item in ahead.provide_data]]


@program()
def modules_that_predict_and_score(mx, np):
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc"), name="softmax")
    iterator = mx.io.NDArrayIter(np.linspace(-1, 1, 40).reshape(10, 4), np.arange(10) % 3, batch_size=4)
    module = mx.mod.Module(net)
    module.fit(iterator, num_epoch=3, optimizer="adam", optimizer_params={"learning_rate": 0.1}, initializer=mx.init.Constant(0.1),
               eval_metric=["acc", "ce"], batch_end_callback=mx.callback.Speedometer(4, 1), epoch_end_callback=mx.callback.do_checkpoint("fit"))
    scores = module.score(iterator, ["acc", mx.metric.TopKAccuracy(2)])
    again = mx.mod.Module.load("fit", 3)
    again.bind(iterator.provide_data, iterator.provide_label, for_training=False)
    batches = [[out[0], number] for out, number, _ in module.iter_predict(iterator)]
    return [scores, module.predict(iterator), module.predict(iterator, num_batch=1), module.predict(iterator, merge_batches=False)[0], again.predict(iterator),
            batches, module.get_params()[0], sorted(name for name in os.listdir(".") if name.startswith("fit-"))]


@program()
def functions_with_gradients_of_ones_own(mx, np):
    class TwoOutputs(mx.autograd.Function):
        def forward(self, x, y):
            self.save_for_backward(x, y)
            return x * y, x + y

        def backward(self, first, second):
            x, y = self.saved_tensors
            return first * y + second * 10, first * x

    x, y = mx.nd.array([1.0, 2.0]), mx.nd.array([3.0, 5.0])
    x.attach_grad()
    y.attach_grad()
    for _ in range(2):
        with mx.autograd.record():
            first, second = TwoOutputs()(x, y)
            loss = first * 2 + second
        loss.backward(mx.nd.array([1.0, 10.0]))
    with mx.autograd.record():
        wave = mx.nd.sin(x)
        (slope,) = mx.autograd.grad(wave, [x], create_graph=True, retain_graph=True)
        curve = mx.nd.exp(slope)
    curve.backward()
    return [x.grad, y.grad, slope]
