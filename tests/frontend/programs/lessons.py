# SPDX-License-Identifier: Apache-2.0
"""Lessons with mx.nd and modules as they were written for 1.x: iterators, callbacks, checkpoints, buckets, stores, operators in Python."""
import logging
import os

from registry import program


def drawn(mx, np, *shape, seed=3):
    return mx.nd.array(np.random.RandomState(seed).normal(size=shape))


def rows(mx, np, count=40, batch=8, shape=(1, 8, 8), **options):
    draws = np.random.RandomState(11)
    return mx.io.NDArrayIter(draws.normal(size=(count, *shape)).astype("float32"), draws.randint(0, 4, count).astype("float32"), batch, **options)


def lenet(mx):
    data = mx.sym.Variable("data")
    for i, filters in enumerate((3, 4)):
        data = mx.sym.Convolution(data=data, kernel=(3, 3), num_filter=filters, name=f"conv{i}")
        data = mx.sym.Pooling(data=mx.sym.Activation(data=data, act_type="tanh"), pool_type="max", kernel=(2, 2), stride=(1, 1))
    data = mx.sym.Activation(mx.sym.FullyConnected(data=mx.sym.flatten(data), num_hidden=10, name="hidden"), act_type="tanh")
    return mx.sym.SoftmaxOutput(data=mx.sym.FullyConnected(data, num_hidden=4, name="last"), name="softmax")


@program(tolerance=2e-3)
def digits_by_a_module(mx, np):
    """fit with everything that it takes; what callbacks are told; then scores, predictions, rows of them."""
    train, check, told = rows(mx, np), rows(mx, np, 16), []
    module = mx.mod.Module(symbol=lenet(mx), context=mx.cpu(), logger=logging.getLogger("quiet"))
    module.fit(train, eval_data=check, eval_metric=["acc", "ce"], optimizer="sgd", kvstore="local",
               optimizer_params=(("learning_rate", 0.1), ("momentum", 0.9), ("wd", 1e-4)),
               initializer=mx.init.Xavier(factor_type="in", magnitude=2.34), num_epoch=2,
               batch_end_callback=[mx.callback.Speedometer(8, 2), lambda seen: told.append([seen.epoch, seen.nbatch, seen.eval_metric.get()])],
               epoch_end_callback=[mx.callback.do_checkpoint("digits"), lambda epoch, symbol, arguments, states: told.append([epoch, sorted(arguments)])],
               eval_end_callback=lambda seen: told.append([seen.epoch, seen.eval_metric.get_name_value()]),
               eval_batch_end_callback=lambda seen: told.append(seen.nbatch))
    each = [[outputs[0].shape, number, batch.pad] for outputs, number, batch in module.iter_predict(check)]
    return [told, module.score(check, mx.metric.CrossEntropy()), module.predict(check), module.predict(check, num_batch=1, merge_batches=False),
            each, sorted(name for name in os.listdir(".") if name.startswith("digits")), module.data_shapes, module.label_shapes,
            module.output_shapes, module.data_names, module.output_names, module.binded, module.params_initialized, module.for_training]


@program(tolerance=2e-3)
def training_that_goes_on(mx, np):
    results = []
    module = mx.mod.Module(lenet(mx))
    module.fit(rows(mx, np), optimizer_params={"learning_rate": 0.05}, num_epoch=1, initializer=mx.init.Xavier(),
               epoch_end_callback=mx.callback.module_checkpoint(module, "goes", save_optimizer_states=True))
    symbol, arguments, states = mx.model.load_checkpoint("goes", 1)
    for begin in ({"arg_params": arguments, "aux_params": states}, {"arg_params": {"conv0_weight": arguments["conv0_weight"]}, "allow_missing": True}):
        again = mx.mod.Module(symbol)
        again.fit(rows(mx, np), begin_epoch=1, num_epoch=2, optimizer="adam", initializer=mx.init.Normal(0.1), **begin)
        results.append([again.get_params()[0][name] for name in ("conv0_weight", "last_bias")])
    hidden = symbol.get_internals()["hidden_output"]
    features = mx.mod.Module(hidden, label_names=None)
    features.bind([("data", (3, 1, 8, 8))], for_training=False)
    features.set_params(arguments, states, allow_extra=True)
    features.forward(mx.io.DataBatch([drawn(mx, np, 3, 1, 8, 8)]))
    tuned = mx.mod.Module(mx.sym.SoftmaxOutput(mx.sym.FullyConnected(hidden, num_hidden=2, name="other"), name="softmax"),
                          fixed_param_names=["conv0_weight", "conv0_bias"])
    data = rows(mx, np, 8)
    tuned.bind(data.provide_data, data.provide_label)
    tuned.init_params(mx.init.One(), arg_params=arguments, allow_missing=True, allow_extra=True)
    tuned.init_optimizer(optimizer="nag", optimizer_params={"learning_rate": 0.1, "momentum": 0.5})
    for batch in data:
        tuned.forward(batch)
        tuned.backward()
        tuned.update()
    kept = (tuned.get_params()[0]["conv0_weight"] == arguments["conv0_weight"]).asnumpy().all()
    return [results, features.get_outputs(), bool(kept), tuned.get_params()[0]["other_weight"]]


@program(tolerance=2e-3)
def sentences_in_buckets(mx, np):
    """A language model of LSTMs for sentences of several lengths, which share their weights."""
    draws = np.random.RandomState(7)
    sentences = [list(draws.randint(1, 12, draws.choice([4, 6]))) for _ in range(36)]
    data = mx.rnn.BucketSentenceIter(sentences, 6, buckets=[4, 6], invalid_label=0)
    stack = mx.rnn.SequentialRNNCell()
    for i in range(2):
        stack.add(mx.rnn.LSTMCell(num_hidden=5, prefix=f"lstm{i}_"))

    def network(length):
        words = mx.sym.Embedding(data=mx.sym.Variable("data"), input_dim=12, output_dim=4, name="embed")
        stack.reset()
        outputs, _ = stack.unroll(length, inputs=words, merge_outputs=True)
        seen = mx.sym.FullyConnected(mx.sym.Reshape(outputs, shape=(-1, 5)), num_hidden=12, name="pred")
        labels = mx.sym.Reshape(mx.sym.Variable("softmax_label"), shape=(-1,))
        return mx.sym.SoftmaxOutput(data=seen, label=labels, name="softmax", use_ignore=True, ignore_label=0), ("data",), ("softmax_label",)

    module = mx.mod.BucketingModule(network, default_bucket_key=data.default_bucket_key, context=mx.cpu())
    metric, seen = mx.metric.Perplexity(0), []
    module.bind(data.provide_data, data.provide_label)
    module.init_params(mx.init.Xavier(factor_type="in", magnitude=2.34))
    module.init_optimizer(optimizer="sgd", optimizer_params={"learning_rate": 0.1, "momentum": 0.9, "wd": 1e-5})
    for _ in range(2):
        data.reset()
        metric.reset()
        for batch in sorted(data, key=lambda batch: (batch.bucket_key, float(batch.data[0].sum().asscalar()))):
            module.forward_backward(batch)
            module.update_metric(metric, batch.label)
            module.update()
        seen.append(metric.get())
    arguments, _ = module.get_params()
    packed = stack.unpack_weights(arguments)
    return [seen, sorted(arguments), sorted(packed), arguments["pred_bias"], stack.pack_weights(packed)["lstm0_i2h_weight"]]


@program(tolerance=2e-3)
def losses_in_python(mx, np):
    class Softmax(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            x = in_data[0].asnumpy()
            y = np.exp(x - x.max(axis=1).reshape((x.shape[0], 1)))
            self.assign(out_data[0], req[0], mx.nd.array(y / y.sum(axis=1).reshape((x.shape[0], 1))))

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            labels, y = in_data[1].asnumpy().ravel().astype(np.int64), out_data[0].asnumpy()
            y[np.arange(labels.shape[0]), labels] -= 1.0
            self.assign(in_grad[0], req[0], mx.nd.array(y))

    @mx.operator.register("lesson_softmax")
    class SoftmaxProp(mx.operator.CustomOpProp):
        def __init__(self, scale="1"):
            super().__init__(need_top_grad=False)
            self.scale = float(scale)

        def list_arguments(self):
            return ["data", "label"]

        def list_outputs(self):
            return ["output"]

        def infer_shape(self, in_shape):
            return [in_shape[0], (in_shape[0][0],)], [in_shape[0]], []

        def infer_type(self, in_type):
            return in_type, [in_type[0]], []

        def create_operator(self, ctx, shapes, dtypes):
            return Softmax()

    net = mx.sym.FullyConnected(mx.sym.Variable("data"), name="fc", num_hidden=4)
    net = mx.sym.Custom(data=net, name="softmax", op_type="lesson_softmax", scale=2)
    module = mx.mod.Module(net)
    module.fit(rows(mx, np, shape=(5,)), num_epoch=2, initializer=mx.init.Xavier(), optimizer_params={"learning_rate": 0.1})
    return [module.score(rows(mx, np, shape=(5,)), "acc"), module.get_params()[0]["fc_weight"], net.list_arguments(),
            mx.sym.load_json(net.tojson()).infer_shape(data=(3, 5)), net.attr_dict().get("softmax")]


@program(tolerance=2e-3)
def values_watched(mx, np):
    """A monitor in fit, a profiler around it, the variance-reduced module beside."""
    from mxnet.contrib.svrg_optimization.svrg_module import SVRGModule

    net = mx.sym.LinearRegressionOutput(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1, name="fc"), mx.sym.Variable("label"), name="lro")
    draws = np.random.RandomState(1)
    x = draws.normal(size=(32, 3)).astype("float32")
    data = mx.io.NDArrayIter(x, (x @ [1.0, -2, 0.5]).astype("float32"), 8, label_name="label")
    watched = []

    class Watch(mx.mon.Monitor):
        def toc_print(self):
            watched.extend([count, name, text.strip()[:5]] for count, name, text in self.toc())

    module = mx.mod.Module(net, label_names=["label"])
    mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename="profile.json")
    mx.profiler.set_state("run")
    module.fit(data, num_epoch=1, eval_metric="mse", monitor=Watch(2, pattern=".*weight|fc_output", sort=True), initializer=mx.init.One(),
               optimizer_params={"learning_rate": 0.1})
    mx.profiler.set_state("stop")
    mx.profiler.dump()
    reduced = SVRGModule(net, data_names=["data"], label_names=["label"], update_freq=4)
    data.reset()
    reduced.fit(data, eval_metric="mse", num_epoch=3, optimizer="sgd", optimizer_params={"learning_rate": 0.05}, initializer=mx.init.One())
    return [[count for count, _, _ in watched], sorted({name for _, name, _ in watched}), watched[0][2], os.path.getsize("profile.json") > 500,
            module.get_params()[0]["fc_weight"], reduced.get_params()[0]["fc_weight"], reduced.score(data, "mse")]


@program(tolerance=2e-3)
def noise_contrasted(mx, np):
    """Words with drawn others beside them, in the older way: embeddings of labels, multiplied and summed."""
    draws = np.random.RandomState(8)
    words, labels = draws.randint(0, 20, (24, 2)).astype("float32"), draws.randint(0, 20, (24, 4)).astype("float32")
    weights = np.tile([[1.0, 0, 0, 0]], (24, 1)).astype("float32")
    data = mx.io.NDArrayIter({"data": words}, {"label": labels, "label_weight": weights}, 6)
    table = mx.sym.Variable("table_weight")
    hidden = mx.sym.Embedding(data=mx.sym.Variable("data"), input_dim=20, output_dim=4, weight=table, name="embed")
    hidden = mx.sym.FullyConnected(data=hidden, num_hidden=4, name="fc")
    near = mx.sym.Embedding(data=mx.sym.Variable("label"), input_dim=20, output_dim=4, name="label_embed")
    both = mx.sym.broadcast_mul(near, mx.sym.Reshape(data=hidden, shape=(-1, 1, 4)))
    net = mx.sym.LogisticRegressionOutput(data=mx.sym.sum(data=both, axis=2), label=mx.sym.Variable("label_weight"), name="loss")

    class Accuracy(mx.metric.EvalMetric):
        def __init__(self):
            super().__init__("nce-accuracy")

        def update(self, labels, preds):
            wanted, seen = labels[1].asnumpy(), preds[0].asnumpy()
            for row, best in zip(wanted, seen.argmax(axis=1)):
                self.sum_metric += int(row[best])
                self.num_inst += 1

    module = mx.mod.Module(net, data_names=["data"], label_names=["label", "label_weight"])
    metric = Accuracy()
    module.fit(data, num_epoch=3, eval_metric=metric, optimizer="sgd", initializer=mx.init.Xavier(magnitude=2.34),
               optimizer_params={"learning_rate": 0.5, "momentum": 0.9, "wd": 0.0000})
    return [metric.get(), module.get_params()[0]["table_weight"], module.predict(data)]


@program(tolerance=2e-3)
def actors_and_critics(mx, np):
    """One body with two heads, gradients through make_loss and BlockGrad, and steps by hand from the outputs' gradients."""
    data = mx.sym.Variable("data")
    body = mx.sym.Activation(mx.sym.FullyConnected(data, name="fc", num_hidden=6), act_type="relu")
    policy = mx.sym.SoftmaxActivation(mx.sym.FullyConnected(body, name="policy", num_hidden=3), name="policy_out")
    value = mx.sym.FullyConnected(body, name="value", num_hidden=1)
    entropy = mx.sym.MakeLoss(0.01 * mx.sym.sum(policy * mx.sym.log(policy + 1e-7), axis=1), name="entropy")
    module = mx.mod.Module(mx.sym.Group([mx.sym.log(policy, name="logs"), value, entropy, mx.sym.BlockGrad(policy, name="chances")]),
                           data_names=["data"], label_names=None)
    module.bind(data_shapes=[("data", (5, 4))], label_shapes=None, grad_req="add", inputs_need_grad=True)
    module.init_params(mx.init.Xavier())
    module.init_optimizer(optimizer="rmsprop", optimizer_params={"learning_rate": 0.01, "clip_gradient": 1.0, "gamma1": 0.9})
    taken, returns = mx.nd.array([0, 2, 1, 1, 0]), drawn(mx, np, 5)
    results = []
    for _ in range(3):
        module.forward(mx.io.DataBatch(data=[drawn(mx, np, 5, 4)], label=None), is_train=True)
        logs, values, _, chances = module.get_outputs()
        advantage = returns - values.reshape((-1,))
        slope = -mx.nd.one_hot(taken, 3) * advantage.reshape((-1, 1)) / 5
        module.backward([slope, (-2 * advantage / 5).reshape((-1, 1)), mx.nd.ones(5), mx.nd.zeros((5, 3))])
        results += [chances, values, module.get_input_grads()[0]]
        module.update()
        for gradients in module._exec_group.grad_arrays:
            for gradient in gradients:
                gradient[:] = 0
    return [results, module.get_params()[0]["policy_weight"]]


@program(tolerance=2e-3)
def modules_one_after_the_other(mx, np):
    first = mx.sym.Activation(mx.sym.FullyConnected(mx.sym.Variable("data"), name="fc1", num_hidden=6), act_type="relu", name="act")
    second = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable("data"), name="fc2", num_hidden=4), name="softmax")
    module = mx.mod.SequentialModule()
    module.add(mx.mod.Module(first, label_names=[], context=[mx.cpu(0), mx.cpu(1)]))
    module.add(mx.mod.Module(second, context=[mx.cpu(0), mx.cpu(1)]), take_labels=True, auto_wiring=True)
    data = rows(mx, np, shape=(5,))
    module.fit(data, num_epoch=2, initializer=mx.init.Xavier(), optimizer_params={"learning_rate": 0.1}, eval_metric=mx.metric.create(["acc", mx.metric.TopKAccuracy(top_k=2)]))
    return [module.score(data, ["acc", mx.metric.Loss()]), sorted(module.get_params()[0]), module.get_params()[0]["fc1_weight"], module.output_shapes]
