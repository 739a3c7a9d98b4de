# SPDX-License-Identifier: Apache-2.0
"""Gluon's layers and optimizers with the arguments that are seldom given."""
from registry import program


def outcome(act):
    """What it gives, or that it raises."""
    try:
        value = act()
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if hasattr(item, "wait_to_read"):
                item.wait_to_read()
        return value
    except Exception:
        return "raises"


@program()
def losses_with_weights(mx, np):
    rng = np.random.RandomState(0)
    pred, label = mx.nd.array(rng.normal(size=(4, 3))), mx.nd.array(rng.normal(size=(4, 3)))
    classes, weights = mx.nd.array([0, 2, 1, 1]), mx.nd.array([[1.0], [0.5], [0.0], [2.0]])
    signs = mx.nd.array(np.sign(rng.normal(size=(4, 3))))
    loss = mx.gluon.loss
    return {name: outcome(act) for name, act in {
        "l1": lambda: loss.L1Loss(weight=2.0)(pred, label, weights), "l2": lambda: loss.L2Loss(batch_axis=1)(pred, label),
        "huber": lambda: loss.HuberLoss(rho=0.3)(pred, label), "hinge": lambda: loss.HingeLoss(margin=0.5)(pred, signs),
        "squared_hinge": lambda: loss.SquaredHingeLoss()(pred, signs, weights),
        "logistic": lambda: loss.LogisticLoss(label_format="binary")(pred, signs > 0),
        "logistic_wrong": lambda: loss.LogisticLoss(label_format="odd")(pred, signs),
        "sparse": lambda: loss.SoftmaxCrossEntropyLoss()(pred, classes, weights),
        "axis": lambda: loss.SoftmaxCrossEntropyLoss(axis=0, batch_axis=1)(pred, mx.nd.array([0, 3, 1])),
        "dense": lambda: loss.SoftmaxCrossEntropyLoss(sparse_label=False)(pred, mx.nd.softmax(label)),
        "logits": lambda: loss.SoftmaxCrossEntropyLoss(from_logits=True)(mx.nd.log_softmax(pred), classes),
        "sigmoid": lambda: loss.SigmoidBCELoss()(pred, label > 0, None, mx.nd.array([[2.0, 1, 3]])),
        "from_sigmoid": lambda: loss.SigmoidBCELoss(from_sigmoid=True)(mx.nd.sigmoid(pred), label > 0, weights),
        "kl": lambda: loss.KLDivLoss(from_logits=False)(pred, mx.nd.softmax(label)),
        "triplet": lambda: loss.TripletLoss(margin=0.2)(pred, label, pred * 0.5),
        "poisson": lambda: loss.PoissonNLLLoss(compute_full=True)(pred, label.abs()),
        "cosine": lambda: loss.CosineEmbeddingLoss(margin=0.1)(pred, label, mx.nd.array([1, -1, 1, -1])),
        "sdml": lambda: loss.SDMLLoss()(pred, label),
        "ctc": lambda: loss.CTCLoss(layout="NTC")(mx.nd.array(rng.normal(size=(2, 6, 4))), mx.nd.array([[1, 2], [0, -1]]))}.items()}


@program()
def layers_with_options(mx, np):
    nn = mx.gluon.nn
    rng = np.random.RandomState(1)
    image, rows = mx.nd.array(rng.normal(size=(2, 4, 6, 6))), mx.nd.array(rng.normal(size=(2, 4, 5)))
    made = {"dense": (nn.Dense(3, flatten=False, use_bias=False), rows), "conv1": (nn.Conv1D(3, 3, 2, 1, 2), rows),
            "conv_groups": (nn.Conv2D(4, 3, groups=2, padding=(1, 0), dilation=(1, 2), activation="relu"), image),
            "transposed": (nn.Conv2DTranspose(3, 3, strides=2, padding=1, output_padding=1), image),
            "transposed1": (nn.Conv1DTranspose(2, 4, strides=3), rows), "max": (nn.MaxPool2D(3, 2, ceil_mode=True), image),
            "mean": (nn.AvgPool2D(3, 2, 1, count_include_pad=False), image), "mean1": (nn.AvgPool1D(2), rows),
            "global": (nn.GlobalAvgPool2D(), image), "global1": (nn.GlobalMaxPool1D(), rows), "batch": (nn.BatchNorm(axis=2, scale=False), image),
            "layer": (nn.LayerNorm(axis=1, center=False), rows), "instance": (nn.InstanceNorm(axis=1), image),
            "group": (nn.GroupNorm(2), image), "prelu": (nn.PReLU(), image), "elu": (nn.ELU(0.5), rows),
            "gelu": (nn.GELU(), rows), "swish": (nn.Swish(2.0), rows), "leaky": (nn.LeakyReLU(0.3), rows),
            "pad": (nn.ReflectionPad2D(2), image), "flatten": (nn.Flatten(), image), "lambda": (nn.HybridLambda("tanh"), rows),
            "lambda2": (nn.Lambda(lambda x: x * 2), rows), "drop": (nn.Dropout(0.5, axes=(1,)), rows)}
    results = {}
    for name, (layer, given) in made.items():
        layer.initialize(mx.init.Constant(0.1))
        given.attach_grad()
        with mx.autograd.record():
            y = layer(given) if name != "drop" else given * 1
        y.backward()
        results[name] = [y, given.grad.copy(), repr(layer), {item.name.split("_")[-1]: item.shape for item in layer.collect_params().values()}]
    return results


@program()
def cells_over_lengths(mx, np):
    rnn = mx.gluon.rnn
    rng = np.random.RandomState(2)
    x = mx.nd.array(rng.normal(size=(3, 4, 2)))
    lengths = mx.nd.array([4, 2, 1])
    results = {}
    for name, cell in {"rnn": rnn.RNNCell(3), "lstm": rnn.LSTMCell(3, activation="relu"), "gru": rnn.GRUCell(3),
                       "two": rnn.SequentialRNNCell(), "both": rnn.BidirectionalCell(rnn.GRUCell(2), rnn.LSTMCell(2)),
                       "residual": rnn.ResidualCell(rnn.RNNCell(2)), "zoneout": rnn.ZoneoutCell(rnn.RNNCell(2), 0.3, 0.3)}.items():
        if name == "two":
            cell.add(rnn.LSTMCell(3))
            cell.add(rnn.GRUCell(2))
        cell.initialize(mx.init.Constant(0.2))
        for merge in (True, False, None):
            results[f"{name} {merge}"] = outcome(lambda: cell.unroll(4, x, layout="NTC", merge_outputs=merge, valid_length=lengths))
            cell.reset()
        results[f"{name} states"] = [cell.state_info(2), [state.shape for state in cell.begin_state(batch_size=2, func=mx.nd.zeros)], repr(cell)]
    return results


@program()
def recurrent_layers_with_options(mx, np):
    rnn = mx.gluon.rnn
    rng = np.random.RandomState(3)
    x = mx.nd.array(rng.normal(size=(4, 2, 3)))
    results = {}
    for name, layer in {"rnn": rnn.RNN(3, 2, activation="tanh"), "lstm": rnn.LSTM(3, bidirectional=True), "gru": rnn.GRU(3, 2, layout="NTC"),
                        "projected": rnn.LSTM(4, projection_size=2), "inputs": rnn.GRU(2, input_size=3)}.items():
        layer.initialize(mx.init.Constant(0.15))
        results[name] = [outcome(lambda: layer(x)), outcome(lambda: layer(x, layer.begin_state(4 if name == "gru" else 2))), repr(layer),
                         sorted(item.name.split("_", 1)[1] for item in layer.collect_params().values()),
                         outcome(lambda: layer(x, sequence_length=mx.nd.array([2, 4])))]
    return results


@program(1e-3)
def optimizers_in_half_precision(mx, np):
    results = {}
    for name, options in {"sgd": {"momentum": 0.9}, "nag": {"momentum": 0.9}, "adam": {}, "lamb": {}, "rmsprop": {}, "ftrl": {},
                          "signum": {}, "adagrad": {}, "lars": {"momentum": 0.9}}.items():
        for multi in (True, False) if name in ("sgd", "nag", "signum") else (True,):  # others overflow without a copy
            optimizer = mx.optimizer.create(name, learning_rate=0.1, multi_precision=multi, **options)
            weight = mx.nd.array([[1, 2], [3, 4]], dtype="float16")

            def steps():
                state = optimizer.create_state_multi_precision(0, weight)
                for i in range(2):
                    optimizer.update_multi_precision(0, weight, mx.nd.array([[0.5, 0.25], [i, 1]], dtype="float16"), state)
                return weight

            results[f"{name} {multi}"] = outcome(steps)
    return results


@program()
def optimizers_of_sparse_gradients(mx, np):
    results = {}
    for name, options in {"sgd": {"momentum": 0.9, "wd": 0.1}, "adam": {"wd": 0.1}, "adagrad": {}, "ftrl": {},
                          "sgd_whole": {"momentum": 0.9, "lazy_update": False}, "adam_whole": {"lazy_update": False}, "groupadagrad": {}}.items():
        optimizer = mx.optimizer.create(name.split("_")[0], learning_rate=0.1, **options)
        updater = mx.optimizer.get_updater(optimizer)
        weight = mx.nd.ones((4, 2)).tostype("row_sparse") if name != "groupadagrad" else mx.nd.ones((4, 2))
        for rows in ([0, 2], [2, 3]):
            gradient = mx.nd.sparse.row_sparse_array((np.array([[1.0, 2], [3, 4]], "float32"), rows), shape=(4, 2))
            updater(0, gradient, weight)
        results[name] = [weight, optimizer.num_update]
    return results


@program()
def updaters_that_travel(mx, np):
    results = []
    for dump in (False, True):
        updater = mx.optimizer.get_updater(mx.optimizer.Adam(learning_rate=0.1))
        weight = mx.nd.ones(2)
        updater(3, mx.nd.array([1.0, 2.0]), weight)
        states = updater.get_states(dump_optimizer=dump)
        other = mx.optimizer.get_updater(mx.optimizer.Adam(learning_rate=0.1))
        other.set_states(states)
        twin = weight.copy()
        for one, array in ((updater, weight), (other, twin)):
            one(3, mx.nd.array([1.0, 2.0]), array)
        results.append([weight, twin, sorted(other.states), other.optimizer.learning_rate])
    return results


@program()
def fluent_arrays(mx, np):
    x = mx.nd.array([[3.0, -1, 2], [0.5, 4, -2]])
    calls = ("abs argmax argmin argsort cbrt ceil cos degrees erf exp expm1 fix flatten floor gamma gammaln log_softmax log1p max mean "
             "min nanprod nansum norm ones_like prod radians relu rint round rsqrt shape_array sigmoid sign sin size_array softmax softmin "
             "sort sqrt square squeeze sum tan tanh topk transpose trunc zeros_like").split()
    results = {name: outcome(lambda: getattr(x, name)()) for name in calls}
    more = {"topk": lambda: x.topk(k=2, ret_typ="both"), "reshape": lambda: [x.reshape(3, 2), x.reshape((-1,)), x.reshape(0, -1), x.reshape(shape=(6,))],
            "reshape_wrong": lambda: x.reshape(4, 2), "swap": lambda: x.swapaxes(0, 1), "tile": lambda: x.tile((2, 1)),
            "repeat": lambda: x.repeat(2, axis=1), "pad": lambda: x.reshape((1, 1, 2, 3)).pad("constant", (0, 0, 0, 0, 1, 1, 2, 0), 7),
            "expand": lambda: x.expand_dims(1), "split": lambda: x.split(3, axis=1), "split_v2": lambda: x.split_v2((1, 2), axis=1),
            "one_hot": lambda: mx.nd.array([0, 2]).one_hot(3), "pick": lambda: x.pick(mx.nd.array([0, 2])), "take": lambda: x.take(mx.nd.array([1, 0])),
            "clip": lambda: x.clip(-1, 1), "slice": lambda: x.slice((0, 1), (2, 3)), "slice_like": lambda: x.slice_like(mx.nd.ones((1, 2))),
            "like": lambda: mx.nd.ones((1, 3)).broadcast_like(x), "depth": lambda: x.reshape((1, 4 - 3, 2, 3)).space_to_depth(1), "diag": lambda: x.diag(k=1),
            "astype": lambda: [x.astype("int32"), x.astype(np.float64), x.astype("float32", copy=False) is x],
            "bool": lambda: bool(x), "len": lambda: len(x), "item": lambda: x.asscalar(), "iter": lambda: [row for row in x],
            "contains": lambda: 3 in [1, 3], "hash": lambda: isinstance(hash(x), int), "T": lambda: x.T, "size": lambda: [x.size, x.ndim, x.shape, x.stype],
            "context": lambda: [str(x.context), str(x.ctx)], "repr": lambda: repr(x), "str": lambda: str(x.astype("int8")), "divide": lambda: x // 2,
            "matmul": lambda: x @ x.T}
    return [results, {name: outcome(act) for name, act in more.items()}]


@program()
def pictures_changed_by_layers(mx, np):
    transforms = mx.gluon.data.vision.transforms
    picture = mx.nd.array(np.random.RandomState(4).randint(0, 256, (9, 7, 3)), dtype="uint8")
    made = {"tensor": transforms.ToTensor(), "resize": transforms.Resize((5, 4)), "keep": transforms.Resize(6, keep_ratio=True),
            "centre": transforms.CenterCrop((4, 3)), "cast": transforms.Cast("float16"), "crop": transforms.CropResize(1, 2, 4, 5),
            "crop_resize": transforms.CropResize(1, 2, 4, 5, (3, 3), 1), "large": transforms.CenterCrop((12, 4)),
            "all": transforms.Compose([transforms.Resize((6, 6)), transforms.ToTensor(), transforms.Normalize((0.5, 0.4, 0.3), (0.2, 0.3, 0.4))])}
    results = {name: outcome(lambda: layer(picture)) for name, layer in made.items()}
    results["batch"] = outcome(lambda: transforms.ToTensor()(mx.nd.stack(picture, picture)))
    results["wrong"] = outcome(lambda: transforms.Normalize(0.5, 0.5)(picture))
    return results
