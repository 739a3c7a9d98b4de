# SPDX-License-Identifier: Apache-2.0
"""Parameters and states of Gluon: files with less or more than a network, types, sharing, trainers that go on."""
from registry import program

OPTIMIZERS = [("sgd", {"momentum": 0.9}), ("nag", {"momentum": 0.9}), ("adam", {}), ("rmsprop", {"centered": True}), ("adagrad", {}),
              ("adadelta", {}), ("ftrl", {}), ("adamax", {}), ("nadam", {}), ("signum", {}), ("ftml", {}), ("lamb", {})]


def network(mx, prefix=None):
    net = mx.gluon.nn.HybridSequential(prefix=prefix)
    with net.name_scope():
        net.add(mx.gluon.nn.Dense(4, in_units=3, activation="tanh"), mx.gluon.nn.Dense(2, in_units=4))
    return net


def values(net):
    return {name.split("_", 1)[1]: item.data() for name, item in net.collect_params().items()}


def step(mx, np, net, trainer, seed=0):
    x = mx.nd.array(np.random.RandomState(seed).normal(size=(5, 3)))
    with mx.autograd.record():
        loss = (net(x) ** 2).sum()
    loss.backward()
    trainer.step(5)


def goes_on(name, options):
    def run(mx, np):
        results = []
        net = network(mx)
        net.initialize(mx.init.Constant(0.3))
        trainer = mx.gluon.Trainer(net.collect_params(), name, dict(options, learning_rate=0.05), kvstore=None)
        for seed in range(2):
            step(mx, np, net, trainer, seed)
        trainer.save_states(f"{name}.states")
        net.save_parameters(f"{name}.params")
        again = network(mx)
        again.load_parameters(f"{name}.params")
        resumed = mx.gluon.Trainer(again.collect_params(), name, dict(options, learning_rate=0.05), kvstore=None)
        resumed.load_states(f"{name}.states")
        for item, its in ((net, trainer), (again, resumed)):
            step(mx, np, item, its, 7)
            results.append(values(item))
        return results

    run.__name__ = f"trainer_goes_on_with_{name}"
    run.__module__ = "programs_saving"
    program(1e-3)(run)


for optimizer in OPTIMIZERS:
    goes_on(*optimizer)


@program()
def files_with_less_and_more(mx, np):
    net = network(mx)
    net.initialize(mx.init.One())
    net.save_parameters("net.params")
    stored = mx.nd.load("net.params")
    names = sorted(stored)
    less, more = dict(stored), dict(stored)
    del less[names[0]]
    more["nobody"] = mx.nd.ones(1)
    mx.nd.save("less.params", less)
    mx.nd.save("more.params", more)
    results = [names]
    for path in ("less", "more"):
        for options in ({}, {"allow_missing": True}, {"ignore_extra": True}):
            other = network(mx)
            other.initialize(mx.init.Zero())
            try:
                other.load_parameters(f"{path}.params", **options)
                results.append(values(other))
            except Exception:
                results.append("refused")
    return results


@program()
def files_of_another_type(mx, np):
    net = network(mx)
    net.initialize(mx.init.Constant(0.1))
    net.cast("float16")
    net.save_parameters("half.params")
    results = [str(np.dtype(net[0].weight.dtype))]
    for options in ({}, {"cast_dtype": True}, {"cast_dtype": True, "dtype_source": "saved"}):
        other = network(mx)
        try:
            other.load_parameters("half.params", **options)
            results.append([str(np.dtype(other[0].weight.dtype)), other[0].weight.data()])
        except Exception:
            results.append("refused")
    return results


@program()
def shared_parameters(mx, np):
    first = network(mx, "shared_")
    second = mx.gluon.nn.HybridSequential(prefix="other_", params=first.collect_params())
    first.initialize(mx.init.Constant(0.2))
    tied = mx.gluon.nn.Dense(4, in_units=3, params=first[0].params)
    tied.weight.set_data(mx.nd.ones((4, 3)))
    x = mx.nd.ones((2, 3))
    return [first(x), tied(x), tied.weight is first[0].weight, sorted(first.collect_params()), sorted(second.params),
            sorted(first.collect_params(".*weight"))]


@program()
def parameters_with_prefixes(mx, np):
    net = network(mx, "pre_")
    net.initialize(mx.init.Constant(2))
    net.collect_params().save("all.params", strip_prefix="pre_")
    stored = mx.nd.load("all.params")
    other = network(mx, "post_")
    other.collect_params().load("all.params", mx.cpu(), restore_prefix="post_")
    results = [sorted(stored), values(other)]
    try:
        net.collect_params().save("wrong.params", strip_prefix="nobody_")
        results.append("saved")
    except Exception:
        results.append("refused")
    return results


@program()
def parameters_one_by_one(mx, np):
    parameter = mx.gluon.Parameter("p", shape=(2, 0), init=mx.init.One(), allow_deferred_init=True, lr_mult=0.5)
    results = []
    try:
        parameter.data()
    except Exception as error:
        results.append(type(error).__name__)
    parameter.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    try:
        parameter.data()
    except Exception as error:
        results.append(type(error).__name__)
    parameter.shape = (2, 3)
    parameter._finish_deferred_init()
    results += [parameter.data(mx.cpu(1)), parameter.list_grad(), [str(ctx) for ctx in parameter.list_ctx()], repr(parameter)]
    parameter.grad_req = "null"
    try:
        parameter.grad()
        results.append("a gradient")
    except Exception as error:
        results.append(type(error).__name__)
    parameter.reset_ctx(mx.cpu(2))
    parameter.cast("float64")
    return results + [parameter.data(), parameter.lr_mult, parameter.var()]


@program()
def constants_in_networks(mx, np):
    class Net(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.scale = self.params.get_constant("scale", mx.nd.array([1.0, 2.0, 3.0]))
                self.shift = self.params.get("shift", shape=(3,), init="ones")

        def hybrid_forward(self, F, x, scale, shift):
            return F.broadcast_add(F.broadcast_mul(x, scale), shift)

    net = Net()
    net.initialize()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0}, kvstore=None)
    with mx.autograd.record():
        y = net(mx.nd.ones((2, 3)))
    y.backward()
    trainer.step(1)
    return [y, net.scale.data(), net.shift.data(), net.scale.grad_req]


@program()
def hooks_in_order(mx, np):
    seen = []
    net = network(mx)
    net.initialize(mx.init.One())
    handles = [net.register_forward_pre_hook(lambda block, given: seen.append(["before", given[0].shape])),
               net.register_forward_hook(lambda block, given, output: seen.append(["after", output.shape])),
               net[1].register_forward_hook(lambda block, given, output: seen.append(["inside", output.shape]))]
    net(mx.nd.ones((2, 3)))
    handles[0].detach()
    net(mx.nd.ones((1, 3)))
    net.apply(lambda block: seen.append(type(block).__name__))
    return seen


@program()
def networks_by_name_and_place(mx, np):
    net = network(mx, "named_")
    part = net[1:]
    net.initialize(mx.init.Zero())
    net[0].weight.set_data(mx.nd.ones((4, 3)))
    net.collect_params().setattr("grad_req", "null")
    return [len(net), len(part), type(part).__name__, [child.name for child in net], net.prefix, repr(net),
            net[0].weight.grad_req, sorted(net._children), net[0].weight.data()]


@program()
def trainers_of_rates_and_gradients(mx, np):
    net = network(mx)
    net.initialize(mx.init.Constant(0.5))
    net[0].weight.lr_mult = 0.1
    net[1].weight.wd_mult = 3.0
    schedule = mx.lr_scheduler.FactorScheduler(1, 0.5, base_lr=0.4)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"lr_scheduler": schedule, "wd": 0.1}, kvstore=None)
    rates = []
    for seed in range(3):
        step(mx, np, net, trainer, seed)
        rates.append(trainer.learning_rate)
    with mx.autograd.record():
        loss = net(mx.nd.ones((2, 3))).sum()
    loss.backward()
    trainer.allreduce_grads()
    norm = mx.gluon.utils.clip_global_norm([item.grad() for item in net.collect_params().values()], 0.5)
    trainer.update(2)
    try:
        trainer.step(1)
        stale = "stepped"
    except Exception as error:
        stale = type(error).__name__
    trainer.step(1, ignore_stale_grad=True)
    return [rates, norm, values(net), stale]


@program()
def imported_networks_of_parts(mx, np):
    net = network(mx, "exported_")
    net.initialize(mx.init.Constant(0.5))
    net.hybridize(static_alloc=True, static_shape=True)
    x = mx.nd.ones((2, 3))
    y = net(x)
    net.export("exported", epoch=3)
    symbol, arguments, states = mx.model.load_checkpoint("exported", 3)
    block = mx.gluon.SymbolBlock.imports("exported-symbol.json", ["data"], "exported-0003.params")
    inner = mx.gluon.SymbolBlock(symbol.get_internals()["exported_dense0_fwd_output"], mx.sym.var("data"))
    inner.load_parameters("exported-0003.params", allow_missing=True, ignore_extra=True)
    return [y, block(x), inner(x), symbol, sorted(arguments), states]
