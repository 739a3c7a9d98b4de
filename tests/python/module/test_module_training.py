# SPDX-License-Identifier: Apache-2.0
"""Modules: training, prediction, files, shapes, several devices, buckets, chains."""

import json
import pathlib

import numpy as np
import pytest

import mxnet as mx

ROWS, INPUTS = 60, 8
DRAWS = np.random.RandomState(0)
X = DRAWS.randn(ROWS, INPUTS).astype("float32")
Y = (X[:, 0] > 0) * 1.0 + (X[:, 1] > 0)


def network(hidden=16):
    data = mx.sym.Variable("data")
    layer = mx.sym.FullyConnected(data, num_hidden=hidden, name="fc1")
    layer = mx.sym.BatchNorm(mx.sym.Activation(layer, act_type="relu"), name="bn", fix_gamma=False)
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(layer, num_hidden=3, name="fc2"), name="softmax")


def iterator(batch_size=20, **options):
    return mx.io.NDArrayIter(X, Y, batch_size, **options)


def trained(context=None, epochs=8, **options):
    mx.random.seed(5)
    module = mx.mod.Module(network(), context=context or mx.cpu())
    settings = {"learning_rate": 0.5, "momentum": 0.9}
    module.fit(iterator(), num_epoch=epochs, optimizer_params=settings, initializer=mx.init.Xavier(), **options)
    return module


def arrays(params):
    return {name: array.asnumpy() for part in params for name, array in part.items()}


def assert_same(first, second, tolerance=1e-5):
    assert first.keys() == second.keys()
    for name in first:
        np.testing.assert_allclose(first[name], second[name], rtol=tolerance, atol=tolerance, err_msg=name)


def test_fit_learns_and_score_and_predict_agree():
    module = trained(epochs=30)
    accuracy = dict(module.score(iterator(25), "acc"))["accuracy"]
    outputs = module.predict(iterator(25)).asnumpy()
    assert outputs.shape == (ROWS, 3)
    assert accuracy > 0.9


def test_seeded_training_is_that_of_the_reference():
    # Sums of parameters after one epoch, obtained by running the reference on this program.
    found = arrays(trained(epochs=1).get_params())
    wanted = json.loads((pathlib.Path(__file__).parent / "reference_training.json").read_text())
    assert found.keys() == wanted.keys()
    for name, total in wanted.items():
        assert float(found[name].astype("float64").sum()) == pytest.approx(total, rel=1e-3, abs=1e-4), name


def test_callbacks_see_batches_and_epochs():
    seen = []
    trained(
        epochs=2,
        batch_end_callback=lambda param: seen.append(("batch", param.epoch, param.nbatch)),
        epoch_end_callback=lambda epoch, sym, args, aux: seen.append(("epoch", epoch, len(args), len(aux))),
    )
    batches = [("batch", 0, i) for i in range(3)]
    assert seen[:4] == [*batches, ("epoch", 0, 6, 2)]
    assert len(seen) == 8


def test_callbacks_see_the_variables_of_fit():
    seen = []
    module = trained(epochs=1, batch_end_callback=lambda param: seen.append(param.locals))
    for given in seen:
        assert given["self"] is module and given["num_epoch"] == 1 and given["optimizer"] == "sgd" and given["eval_data"] is None
        assert given["train_data"].batch_size == 20 and given["data_batch"].data[0].shape == (20, INPUTS)
    assert [(given["nbatch"], given["end_of_batch"]) for given in seen] == [(0, False), (1, False), (2, True)]


def test_a_module_in_python_updates_a_metric_that_needs_no_labels():
    loss = mx.mod.PythonLossModule(grad_func=lambda scores, labels: scores)
    loss.bind([("data", (2, 3))], [("softmax_label", (2,))])
    loss.forward(mx.io.DataBatch([mx.nd.full((2, 3), 4)], [mx.nd.zeros((2,))]))
    metric = mx.metric.Loss()
    loss.update_metric(metric, None)
    assert metric.get() == ("loss", 4)


def test_a_checkpoint_goes_on_where_it_was(tmp_path):
    prefix = str(tmp_path / "model")
    first = trained(epochs=2)
    first.save_checkpoint(prefix, 2, save_optimizer_states=True)
    second = mx.mod.Module.load(prefix, 2, load_optimizer_states=True)
    second.bind(iterator().provide_data, iterator().provide_label)
    second.init_optimizer(optimizer_params={"learning_rate": 0.5, "momentum": 0.9})
    assert_same(arrays(first.get_params()), arrays(second.get_params()), 0)
    batch = iterator().next()
    for module in (first, second):
        module.forward_backward(batch)
        module.update()
    assert_same(arrays(first.get_params()), arrays(second.get_params()), 0)
    symbol, arguments, states = mx.model.load_checkpoint(prefix, 2)
    assert symbol.list_outputs() == ["softmax_output"]
    assert set(arguments) == {"fc1_weight", "fc1_bias", "bn_gamma", "bn_beta", "fc2_weight", "fc2_bias"}
    assert set(states) == {"bn_moving_mean", "bn_moving_var"}


def test_parameters_in_a_file_of_their_own(tmp_path):
    path = str(tmp_path / "only.params")
    first = trained(epochs=1)
    first.save_params(path)
    second = mx.mod.Module(network())
    second.bind(iterator().provide_data, iterator().provide_label)
    second.init_params()
    second.load_params(path)
    assert_same(arrays(first.get_params()), arrays(second.get_params()), 0)


def plain_network():
    layer = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")
    return mx.sym.SoftmaxOutput(layer, name="softmax")


@pytest.mark.parametrize("kvstore", ["local", "device"])
def test_several_devices_are_as_one(kvstore):
    results = []
    for contexts in ([mx.cpu(0)], [mx.cpu(0), mx.cpu(1)]):
        mx.random.seed(3)
        module = mx.mod.Module(plain_network(), context=contexts)
        module.fit(iterator(), num_epoch=2, kvstore=kvstore, optimizer_params={"learning_rate": 0.1, "momentum": 0.9})
        results.append(arrays(module.get_params()))
    assert_same(*results, 1e-4)


def test_workloads_split_batches():
    module = mx.mod.Module(plain_network(), context=[mx.cpu(0), mx.cpu(1)], work_load_list=[3, 1])
    module.bind(iterator().provide_data, iterator().provide_label)
    assert [part.stop - part.start for part in module._exec_group.slices] == [15, 5]
    module.init_params()
    module.forward(iterator().next(), is_train=False)
    assert module.get_outputs()[0].shape == (20, 3)
    assert [part.shape for part in module.get_outputs(merge_multi_context=False)[0]] == [(15, 3), (5, 3)]


def test_batches_of_other_shapes_bind_anew():
    module = trained(epochs=1)
    whole = module.predict(iterator(20)).asnumpy()
    batch = mx.io.DataBatch([mx.nd.array(X[:7])])
    module.forward(batch, is_train=False)
    np.testing.assert_allclose(module.get_outputs()[0].asnumpy(), whole[:7], rtol=1e-5, atol=1e-6)
    module.reshape([("data", (20, INPUTS))], [("softmax_label", (20,))])
    assert module.data_shapes[0].shape == (20, INPUTS)


def test_fixed_parameters_stay():
    mx.random.seed(5)
    module = mx.mod.Module(network(), fixed_param_names=["fc1_weight"])
    module.bind(iterator().provide_data, iterator().provide_label)
    module.init_params(mx.init.Xavier())
    before = arrays(module.get_params())
    module.fit(iterator(), num_epoch=1)
    after = arrays(module.get_params())
    assert (before["fc1_weight"] == after["fc1_weight"]).all()
    assert (before["fc2_weight"] != after["fc2_weight"]).any()


def test_gradients_of_inputs():
    module = mx.mod.Module(plain_network())
    module.bind(iterator().provide_data, iterator().provide_label, inputs_need_grad=True)
    module.init_params(mx.init.Xavier())
    batch = iterator().next()
    module.forward_backward(batch)
    scores = module.get_outputs()[0].asnumpy()
    scores[np.arange(20), Y[:20].astype(int)] -= 1
    weight = module.get_params()[0]["fc_weight"].asnumpy()
    np.testing.assert_allclose(module.get_input_grads()[0].asnumpy(), scores @ weight, rtol=1e-4, atol=1e-6)


def test_missing_and_extra_parameters_are_named():
    module = mx.mod.Module(plain_network())
    module.bind(iterator().provide_data, iterator().provide_label)
    with pytest.raises(RuntimeError, match="fc_bias is not presented"):
        module.init_params(arg_params={"fc_weight": mx.nd.zeros((3, INPUTS))})
    module.init_params(arg_params={"other": mx.nd.zeros((1,))}, allow_missing=True)  # of a larger network
    with pytest.raises(ValueError, match="other"):
        module.set_params({"other": mx.nd.zeros((1,))}, {}, allow_missing=True)
    with pytest.raises(ValueError, match="given data name 'date'"):
        mx.mod.Module(plain_network(), data_names=["date"])
    with pytest.raises(RuntimeError, match="bind.. was not called"):
        mx.mod.Module(plain_network()).forward(iterator().next())


def test_a_monitor_sees_values():
    monitor = mx.mon.Monitor(1, pattern=".*fc.*", sort=True)
    module = mx.mod.Module(plain_network())
    module.bind(iterator().provide_data, iterator().provide_label)
    module.init_params()
    module.install_monitor(monitor)
    monitor.tic()
    module.forward_backward(iterator().next())
    names = {name for _, name, _ in monitor.toc()}
    assert {"fc_output", "fc_weight", "fc_bias"} <= names
    assert monitor.toc() == []


def test_what_a_monitor_logs_stands_in_columns(caplog):
    """As programs for 1.9.1 read it out of logs: the name begins at column 15."""
    monitor = mx.mon.Monitor(1, pattern="fc_bias")
    executor = plain_network().simple_bind(mx.cpu(), data=(2, 3))
    executor.arg_dict["fc_bias"][:] = 0.25
    monitor.install(executor)
    monitor.tic()
    executor.forward()
    with caplog.at_level("INFO"):
        monitor.toc_print()
    assert caplog.messages == ["Batch:       1 fc_bias                        0.25\t"]


def test_a_monitor_says_what_a_statistic_has_to_be():
    monitor = mx.mon.Monitor(1, stat_func=lambda array: array.shape, pattern="fc_bias")
    executor = plain_network().simple_bind(mx.cpu(), data=(2, 3))
    monitor.install(executor)
    monitor.tic()
    executor.forward()
    with pytest.raises(TypeError, match="fc_bias: given a tuple by stat_func"):
        monitor.toc()


def test_buckets_share_parameters():
    def sym_gen(length):
        data = mx.sym.Variable("data")
        embedded = mx.sym.Embedding(data, input_dim=9, output_dim=4, name="embed")
        layer = mx.sym.FullyConnected(mx.sym.sum(embedded, axis=1), num_hidden=3, name="fc")
        return mx.sym.SoftmaxOutput(layer, name="softmax"), ("data",), ("softmax_label",)

    module = mx.mod.BucketingModule(sym_gen, default_bucket_key=6)
    module.bind([("data", (4, 6))], [("softmax_label", (4,))])
    module.init_params(mx.init.Xavier())
    module.init_optimizer(optimizer_params={"learning_rate": 0.5})
    for length in (6, 3, 5, 3):
        before = arrays(module.get_params())
        batch = mx.io.DataBatch(
            [mx.nd.ones((4, length))],
            [mx.nd.array([0, 1, 2, 0])],
            bucket_key=length,
            provide_data=[("data", (4, length))],
            provide_label=[("softmax_label", (4,))],
        )
        module.forward_backward(batch)
        module.update()
        assert (arrays(module.get_params())["fc_weight"] != before["fc_weight"]).any()
    weights = {id(one._exec_group.param_arrays[0][0].handle) for one in module._buckets.values()}
    first = module._buckets[6]._exec_group.param_arrays[0][0]
    for other in module._buckets.values():
        np.testing.assert_array_equal(first.asnumpy(), other._exec_group.param_arrays[0][0].asnumpy())
    assert sorted(module._buckets) == [3, 5, 6] and weights


def test_a_chain_trains_as_one_network():
    first = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=8, name="fc1")
    second = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable("hidden"), num_hidden=3, name="fc2"), name="softmax")
    chain = mx.mod.SequentialModule()
    chain.add(mx.mod.Module(first, label_names=[]))
    chain.add(mx.mod.Module(second, data_names=["hidden"]), take_labels=True, auto_wiring=True)
    mx.random.seed(4)
    chain.fit(iterator(), num_epoch=2, optimizer_params={"learning_rate": 0.2}, initializer=mx.init.Xavier())
    whole = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=8, name="fc1")
    whole = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(whole, num_hidden=3, name="fc2"), name="softmax")
    module = mx.mod.Module(whole)
    mx.random.seed(4)
    module.fit(iterator(), num_epoch=2, optimizer_params={"learning_rate": 0.2}, initializer=mx.init.Xavier())
    assert_same(arrays(chain.get_params()), arrays(module.get_params()), 1e-4)


def test_a_loss_in_python_ends_a_chain():
    scores = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")

    def gradient(values, labels):
        made = mx.nd.softmax(values).asnumpy()
        made[np.arange(len(made)), labels.asnumpy().astype(int)] -= 1
        return made

    chain = mx.mod.SequentialModule()
    chain.add(mx.mod.Module(scores, label_names=[]))
    chain.add(mx.mod.PythonLossModule(grad_func=gradient), take_labels=True, auto_wiring=True)
    mx.random.seed(4)
    chain.fit(iterator(), num_epoch=2, optimizer_params={"learning_rate": 0.2}, initializer=mx.init.Xavier())
    module = mx.mod.Module(mx.sym.SoftmaxOutput(scores, name="softmax"))
    mx.random.seed(4)
    module.fit(iterator(), num_epoch=2, optimizer_params={"learning_rate": 0.2}, initializer=mx.init.Xavier())
    assert_same(arrays(chain.get_params()), arrays(module.get_params()), 1e-4)


def test_feed_forward_fits_arrays_and_loads(tmp_path):
    mx.random.seed(5)
    np.random.seed(5)
    model = mx.model.FeedForward(plain_network(), num_epoch=20, numpy_batch_size=20, learning_rate=0.3, initializer=mx.init.Xavier())
    model.fit(X, Y)
    outputs = model.predict(X)
    assert outputs.shape == (ROWS, 3)
    assert model.score(iterator()) == pytest.approx((outputs.argmax(1) == Y).mean())
    prefix = str(tmp_path / "old")
    model.save(prefix)
    np.testing.assert_allclose(mx.model.FeedForward.load(prefix, 20).predict(X), outputs, rtol=1e-5)


SHUFFLED = [
    (1, None, False, [0.00545686, -0.00548923, 0.00429579, -0.00426344]),
    (1, None, True, [0.00527147, -0.0069701, 0.0050075, -0.00330887]),
    (3, None, False, [0.0119867, -0.01301261, 0.01206599, -0.01104007]),
    (3, None, True, [0.01213256, -0.01465669, 0.01397605, -0.01145192]),
    (3, 3, False, [0.02493198, -0.02472387, 0.02363954, -0.02384766]),
    (3, 3, True, [0.00403683, -0.01556854, 0.03476131, -0.0232296]),
]


@pytest.mark.parametrize("epochs, epoch_size, evaluated, bias", SHUFFLED)
def test_feed_forward_shuffles_arrays_as_often_as_the_release_from_one_seed(epochs, epoch_size, evaluated, bias):
    random = np.random.RandomState(3)
    rows, labels = random.normal(size=(50, 6)).astype("f"), random.randint(0, 4, 50).astype("f")
    mx.random.seed(7)
    np.random.seed(7)
    hidden = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=8, name="fc1")
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(hidden, num_hidden=4, name="fc2"), name="softmax")
    model = mx.model.FeedForward(net, num_epoch=epochs, epoch_size=epoch_size, learning_rate=0.1, numpy_batch_size=10)
    model.fit(rows, labels, eval_data=(rows, labels) if evaluated else None)
    np.testing.assert_allclose(model.arg_params["fc2_bias"].asnumpy(), bias, rtol=1e-4)


def test_an_epoch_without_batches_is_told_of(caplog):
    """A program has read the iterator to its end and not reset it: nothing is trained."""
    batches = mx.io.NDArrayIter(np.ones((4, 3), "float32"), np.zeros(4), 2)
    assert len(list(batches)) == 2
    network = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc"), name="softmax")
    with caplog.at_level("WARNING"):
        mx.mod.Module(network).fit(batches, num_epoch=2)
    assert [message[:25] for message in caplog.messages] == ["Epoch[0] has no batches: "]


def test_feed_forward_counts_batches_from_one_and_logs_an_evaluation_once(caplog):
    seen = []
    model = mx.model.FeedForward(plain_network(), num_epoch=2, numpy_batch_size=ROWS // 2, learning_rate=0.3)
    with caplog.at_level("INFO"):
        model.fit(
            X,
            Y,
            eval_data=(X, Y),
            batch_end_callback=lambda param: seen.append(("batch", param.epoch, param.nbatch)),
            epoch_end_callback=[lambda epoch, *_: seen.append(("epoch", epoch))],
            eval_batch_end_callback=lambda param: seen.append(("evaluated", param.epoch, param.nbatch)),
        )
    assert seen[:5] == [("batch", 0, 1), ("batch", 0, 2), ("epoch", 0), ("evaluated", 0, 0), ("evaluated", 0, 1)]
    assert seen[5:] == [("batch", 1, 1), ("batch", 1, 2), ("epoch", 1), ("evaluated", 1, 0), ("evaluated", 1, 1)]
    assert caplog.text.count("Validation-accuracy") == 2


def test_feed_forward_takes_data_whose_batches_are_generated():
    class Batches:
        """Not a DataIter: programs of old bring no more than this."""

        provide_data, provide_label, batch_size = [("data", (ROWS, X.shape[1]))], [("softmax_label", (ROWS,))], ROWS

        def __iter__(self):
            for _ in range(2):
                yield mx.io.DataBatch([mx.nd.array(X)], [mx.nd.array(Y)])

        def reset(self):
            pass

    counts = []
    model = mx.model.FeedForward(plain_network(), num_epoch=2, learning_rate=0.3)
    model.fit(Batches(), batch_end_callback=lambda param: counts.append(param.nbatch))
    assert counts == [1, 2, 1, 2]


def test_speed_and_checkpoints_are_callbacks(tmp_path, caplog):
    prefix = str(tmp_path / "saved")
    with caplog.at_level("INFO"):
        trained(epochs=2, batch_end_callback=mx.callback.Speedometer(20, 2), epoch_end_callback=mx.callback.do_checkpoint(prefix, 2))
    assert "samples/sec\taccuracy=" in caplog.text
    assert (tmp_path / "saved-0002.params").exists() and not (tmp_path / "saved-0001.params").exists()


@pytest.mark.parametrize("size, calls", [("auto", [1, 1, 1, 1]), ("3", [3, 1]), ("8", [4])])
def test_arrays_go_to_the_store_together_as_its_variable_says(size, calls):
    class Counting:
        """Counts what goes to a store together."""

        type = "local"
        counts: list = []

        def pushpull(self, key, value, out=None, priority=0):
            self.counts.append(len(key) if isinstance(key, list) else 1)
            assert priority == -sum(self.counts[:-1])

    store = Counting()
    store.counts = []
    arrays = [[mx.nd.ones(2)] for _ in range(4)]
    with mx.util.environment("MXNET_UPDATE_AGGREGATION_SIZE", size):
        mx.model._update_params_on_kvstore(arrays, arrays, store, list("abcd"))
    assert store.counts == calls


def test_variables_of_stores_are_read_as_all_are(run_python):
    """A bool may be a word in any case, and what is empty is unset."""
    code = "import mxnet as mx; print(mx.model._create_kvstore('device', 2, {})[1], mx.model._update_aggregation_size(mx.kv.create()))"
    answers = {
        run_python(code, env={"MXNET_UPDATE_ON_KVSTORE": on, "MXNET_UPDATE_AGGREGATION_SIZE": size}).stdout: (on, size)
        for on, size in [("False", "3"), ("TRUE", ""), ("0", "auto")]
    }
    assert list(answers) == ["False 3\n", "True 1\n", "False 1\n"], answers


def test_updates_through_a_store_are_the_same_in_any_groups():
    def weights(size):
        with mx.util.environment("MXNET_UPDATE_AGGREGATION_SIZE", size):
            store = mx.kv.create("local")
            store.set_optimizer(mx.optimizer.SGD(learning_rate=0.5))
            values = [[mx.nd.array([i, 1.0])] for i in range(5)]
            names = [f"w{i}" for i in range(5)]
            for name, value in zip(names, values):
                store.init(name, value[0])
            for _ in range(3):
                mx.model._update_params_on_kvstore(values, [[mx.nd.array([1.0, i])] for i in range(5)], store, names)
            return np.stack([value[0].asnumpy() for value in values])

    np.testing.assert_array_equal(weights("auto"), weights("2"))


def test_parameters_of_a_larger_network_may_be_given():
    module = mx.mod.Module(network())
    module.bind(iterator().provide_data, iterator().provide_label)
    module.init_params(mx.init.Zero(), {"fc1_bias": mx.nd.ones(16), "of_another": mx.nd.ones(1)}, allow_missing=True)
    assert module.get_params()[0]["fc1_bias"].asnumpy().tolist() == [1] * 16
    assert "of_another" not in module.get_params()[0]


def test_what_is_no_network_is_named():
    with pytest.raises(TypeError, match="given int, expected a Symbol"):
        mx.mod.Module(3)


PLACED = """
import mxnet as mx, numpy as np
rng = np.random.RandomState(1)
batches = mx.io.NDArrayIter(rng.rand(32, 6).astype("f"), rng.randint(0, 2, 32), 8)
hidden = mx.sym.var("data")
for group, width in (("first", 5), ("second", 2)):
    with mx.AttrScope(ctx_group=group):
        hidden = mx.sym.FullyConnected(hidden, num_hidden=width, name=group)
network = mx.sym.SoftmaxOutput(hidden, name="softmax")
for optimizer in ("sgd", "nag", "adam", "lamb", "lars"):
    found = []
    for groups in (None, {"first": mx.gpu(0), "second": mx.gpu(1)}):
        mx.random.seed(1)
        module = mx.mod.Module(network, context=mx.gpu(0), group2ctxs=groups)
        module.fit(batches, num_epoch=2, optimizer=optimizer, initializer=mx.init.Xavier())
        batches.reset()
        found.append([array.asnumpy() for _, array in sorted(module.get_params()[0].items())])
    print(optimizer, all(np.array_equal(*pair) for pair in zip(*found)))
"""


def test_layers_on_two_devices_are_trained_as_on_one(run_python):
    """One operator updates several weights, but those of one device only."""
    lines = run_python(PLACED, env={"MXNET_SIM_GPUS": "2"}).stdout.splitlines()
    assert lines == [f"{optimizer} True" for optimizer in ("sgd", "nag", "adam", "lamb", "lars")]
