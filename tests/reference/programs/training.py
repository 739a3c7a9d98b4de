# SPDX-License-Identifier: Apache-2.0
"""What a training program uses beside layers: optimizers over many steps, schedulers, metrics, initializers, losses, random numbers,
transforms and loaders."""
from . import Program, called

OPTIMIZERS = {
    "SGD": ["momentum=0.9", "lazy_update=False"], "NAG": ["momentum=0.9"], "Adam": ["beta1=0.8", "beta2=0.9",
    "epsilon=1e-4"], "AdaGrad": ["eps=1e-4"], "AdaDelta": ["rho=0.8", "epsilon=1e-3"],
    "RMSProp": ["gamma1=0.8", "gamma2=0.5", "centered=True", "clip_weights=0.9"], "Ftrl": ["lamda1=0.1", "beta=0.5"],
    "FTML": ["beta1=0.5", "beta2=0.9"], "Adamax": ["beta1=0.8"], "Nadam": ["beta1=0.8", "schedule_decay=0.01"],
    "Signum": ["momentum=0.9", "wd_lh=0.01"], "SGLD": [], "DCASGD": ["lamda=0.1"], "LBSGD": ["momentum=0.9",
    "warmup_strategy='lars'", "batch_scale=2"], "LARS": ["momentum=0.9", "eta=0.01"],
    "LAMB": ["beta1=0.8", "bias_correction=False", "lower_bound=0.1", "upper_bound=3"], "LANS": ["beta1=0.8",
    "upper_bound=3"], "AdamW": ["beta1=0.8", "eta=0.5"], "Test": [], "contrib.GroupAdaGrad": ["eps=1e-3"]}
COMMON = ["learning_rate=0.1", "learning_rate=0.02", "wd=0.01", "rescale_grad=0.5", "clip_gradient=0.5",
          "multi_precision=True", "begin_num_update=3",
          "lr_scheduler=mx.lr_scheduler.FactorScheduler(step=2, factor=0.5, base_lr=0.2)",
          "param_idx2name={0: 'a_weight', 1: 'b_bias'}"]
METRICS = ["Accuracy()", "Accuracy(axis=-1)", "TopKAccuracy(top_k=2)", "F1()", "F1(average='micro')", "MCC()",
           "MCC(average='micro')", "Perplexity(None)", "Perplexity(0)", "MAE()", "MSE()", "RMSE()", "CrossEntropy()",
           "NegativeLogLikelihood()", "PearsonCorrelation()", "PCC()", "Loss()", "Torch()", "Caffe()",
           "CompositeEvalMetric([mx.metric.MAE(), mx.metric.MSE()])",
           "np(lambda l, p: (l - p.reshape(l.shape)).mean() if l.size == p.size else 1.0)",
           "CustomMetric(lambda l, p: float((l.sum() - p.sum())))"]
INITIALIZERS = ["Zero()", "One()", "Constant(0.3)", "Uniform(0.2)", "Normal(0.3)", "Xavier()",
                "Xavier('gaussian', 'in', 2)", "Xavier('uniform', 'out', 1)", "MSRAPrelu()",
                "Orthogonal(rand_type='normal')", "Bilinear()",
                "LSTMBias(1.0)", "Mixed(['bias', '.*'], [mx.init.Zero(), mx.init.Uniform(0.1)])",
                "Load({'p_weight': mx.nd.ones((2, 3))}, mx.init.One())"]
SCHEDULES = ["FactorScheduler(step=3, factor=0.7, base_lr=0.5{})", "FactorScheduler(2, 0.5, 0.1, 0.8{})",
             "MultiFactorScheduler(step=[3, 6, 9], factor=0.5, base_lr=1{})",
             "PolyScheduler(max_update=12, base_lr=0.4, pwr=2{})",
             "PolyScheduler(10, 0.4, 1, 0.01{})", "CosineScheduler(max_update=15, base_lr=0.3, final_lr=0.05{})",
             "CosineScheduler(9{})"]
LOSSES = ["L2Loss()", "L1Loss()", "L2Loss(weight=2.0)", "SigmoidBCELoss()", "SigmoidBCELoss(from_sigmoid=True)",
          "SoftmaxCELoss()", "SoftmaxCELoss(sparse_label=False)", "SoftmaxCELoss(axis=0, from_logits=True)",
          "KLDivLoss()", "KLDivLoss(from_logits=False)",
          "HuberLoss(rho=0.5)", "HingeLoss()", "SquaredHingeLoss(margin=0.5)", "LogisticLoss()",
          "LogisticLoss(label_format='binary')", "PoissonNLLLoss()", "PoissonNLLLoss(from_logits=False)",
          "CosineEmbeddingLoss()", "TripletLoss()", "SDMLLoss()"]
RANDOM = ["uniform(-1, 2, {s})", "normal(1, 2, {s})", "randn(2, 3)", "exponential(2, {s})", "gamma(2, 0.5, {s})",
          "poisson(3, {s})", "negative_binomial(3, 0.4, {s})", "generalized_negative_binomial(2, 0.5, {s})",
          "randint(-3, 9, {s})",
          "multinomial(mx.nd.array([0.2, 0.3, 0.5]), shape={s})",
          "multinomial(mx.nd.array([[0.2, 0.8], [1, 0]]), shape=3, get_prob=True)",
          "shuffle(mx.nd.arange(12).reshape((6, 2)))", "uniform(mx.nd.array([0, 5]), mx.nd.array([1, 9]), shape={s})",
          "normal(mx.nd.array([0, 5]), mx.nd.array([1, 9]), shape={s})",
          "gamma(mx.nd.array([1, 5]), mx.nd.array([1, 9]), shape={s})", "poisson(mx.nd.array([1, 5]), shape={s})",
          "exponential(mx.nd.array([1, 5]), shape={s})",
          "negative_binomial(mx.nd.array([1, 5]), mx.nd.array([0.5, 0.2]), shape={s})",
          "uniform(0, 1, {s}, dtype='float64')", "normal(0, 1, {s}, dtype='float16')"]
NUMPY_RANDOM = ["uniform(-1, 2, {s})", "normal(1, 2, {s})", "randint(-3, 9, {s})", "rand(2, 3)", "randn(2, 3)",
                "choice(5, {s})", "choice(5, 3, replace=False)",
                "choice(np.arange(4), p=np.array([0.1, 0.2, 0.3, 0.4]), size={s})", "permutation(6)",
                "gamma(2.0, 1.0, {s})", "exponential(2.0, {s})", "multinomial(5, [0.2, 0.8], {s})",
                "logistic(0, 1, {s})", "gumbel(0, 1, {s})", "laplace(0, 1, {s})", "rayleigh(1.0, {s})",
                "weibull(2.0, {s})",
                "pareto(2.0, {s})", "power(2.0, {s})", "beta(1.0, 2.0, {s})", "chisquare(2.0, {s})", "f(2.0, 3.0, {s})",
                "lognormal(0.0, 1.0, {s})", "uniform(np.array([0, 1]), np.array([2, 3]))",
                "normal(np.zeros((2, 1)), np.ones(3))", "shuffle(x)"]
TRANSFORMS = ["ToTensor()", "Cast('float32')", "Resize(4)", "Resize((5, 3))", "Resize(4, keep_ratio=True)",
              "CenterCrop(3)", "CenterCrop((4, 6))", "CropResize(1, 1, 3, 2)", "CropResize(0, 1, 3, 3, (4, 5))",
              "RandomFlipLeftRight()", "RandomFlipTopBottom()",
              "Compose([mx.gluon.data.vision.transforms.ToTensor(), mx.gluon.data.vision.transforms.Normalize((0.1, 0.2, 0.3), 0.5)])", "RandomCrop(3)", "RandomResizedCrop(4)", "RandomBrightness(0.3)", "RandomContrast(0.3)", "RandomSaturation(0.3)", "RandomHue(0.1)",
              "RandomColorJitter(0.1, 0.2, 0.3, 0.1)", "RandomLighting(0.1)", "RandomGray(0.5)",
              "RandomApply([mx.gluon.data.vision.transforms.Cast('float32')], 0.5)"]


def drawn(draw):
    return draw.one_of([optimizer, optimizer, optimizer, metric, metric, loss, loss, small, numbers, numpy_numbers,
                        images, loader])(draw)


def optimizer(draw):
    name = draw.one_of(sorted(OPTIMIZERS))
    own = draw.random.sample(OPTIMIZERS[name], draw.whole(0, len(OPTIMIZERS[name])))
    given = {c.split("=")[0]: c for c in own + draw.random.sample(COMMON, draw.whole(0, 4))}
    dtype, count = draw.one_of(["float32", "float32", "float16", "float64"]), draw.whole(1, 3)
    if dtype == "float16":
        given["multi_precision"] = "multi_precision=True"
    shapes = [draw.shape(1, 3, 4) for _ in range(count)]
    arrays = {f"{kind}{i}": (draw.numbers.randint(-8, 9, shape) / 8).astype(dtype) for i,
              shape in enumerate(shapes) for kind in "wabc"}
    order = "cba" if draw.chance(0.5) else "aab"
    steps = [("made",
              f"w = [mx.nd.array(arrays['w%d' % i], dtype='{dtype}') for i in range({count})]; o = {called(f'mx.optimizer.{name}', list(given.values()))}; u = mx.optimizer.get_updater(o); r = w")]
    if draw.chance(0.3):
        steps[0] = ("made", steps[0][1] + f"; o.set_lr_mult({{0: 0.5}}); o.set_wd_mult({{0: 2.0}})")
    for t in range(4):
        whole = draw.chance(0.3)
        grads = f"g = [mx.nd.array(arrays['{order[t % 3]}%d' % i], dtype='{dtype}') for i in range({count})]"
        steps.append((f"step {t}",
                      f"{grads}\n" + (f"u(list(range({count})), g, w)" if whole else f"for i in range({count}): u(i, g[i], w[i])") + "\nr = w"))
        if t == 1 and draw.chance(0.4):
            steps.append(("resumed",
                          f"s = u.get_states(dump_optimizer=False); u = mx.optimizer.get_updater(o); u.set_states(s); r = w"))
    return Program(f"optimizer {name}", "", steps, arrays)


def metric(draw):
    n, classes = draw.whole(1, 6), draw.whole(2, 4)
    text = draw.one_of(METRICS)
    alike = text.split("(")[0] in ("MAE", "MSE", "RMSE", "PearsonCorrelation", "CompositeEvalMetric", "np",
                                   "CustomMetric")
    classes = 2 if text[:2] in ("F1", "MC") else classes
    arrays, lines = {}, []
    for i in range(3):
        scores = draw.numbers.rand(n, classes).astype("float32")
        arrays[f"p{i}"] = scores[:, draw.one_of([0, slice(0, 1)])] if alike else scores / scores.sum(1, keepdims=True)
        arrays[f"l{i}"] = draw.numbers.randint(0, classes, (n,
            1) if alike and draw.chance(0.4) else n).astype(draw.one_of(["float32", "float32", "int32"]))
        lines.append(f"mx.nd.array(arrays['l{i}'], dtype=arrays['l{i}'].dtype), mx.nd.array(arrays['p{i}'])")
    steps = [("made", f"m = mx.metric.{text}; r = m.get()[1]")]
    steps += [(f"update {i}", f"l, p = {line}; m.update([l], [p]); r = [m.get(), m.get_global()]") for i,
              line in enumerate(lines)]
    steps += [("both",
               f"a, p = {lines[0]}; b, q = {lines[1]}; m.update([a, b], [p, q]); r = [m.get(), m.get_name_value()]"),
               ("local", "m.reset_local(); r = [m.get(), m.get_global()]"), ("reset", "m.reset(); r = m.get()")]
    return Program(f"metric {text.split('(')[0]}", "", steps, arrays)


def loss(draw):
    text, shape = draw.one_of(LOSSES), draw.shape(2, 3, 4)
    name = text.split("(")[0]
    arrays = {"p": draw.numbers.rand(*shape).astype("float32"), "l": draw.numbers.randint(0, 2,
        shape).astype("float32"), "m": draw.numbers.rand(*shape).astype("float32"),
              "n": draw.numbers.randint(0, shape[-1], shape[:-1]).astype("float32"), "o": draw.numbers.randint(-1, 2,
              shape[:1]).astype("float32") * 2 + 1, "k": draw.numbers.rand(shape[0],
              *[1] * (len(shape) - 1)).astype("float32")}
    start = "; ".join(f"{k} = mx.nd.array(arrays['{k}'])" for k in arrays) + f"; f = mx.gluon.loss.{text}; p.attach_grad(); m.attach_grad()"
    weight = draw.one_of(["", "", "k"])
    args = {"TripletLoss": ["p", "m", "l"], "CosineEmbeddingLoss": ["p", "m", "o", weight], "SDMLLoss": ["p", "m"],
            "SoftmaxCELoss": ["p", "n" if "False" not in text else "l", weight]}.get(name, ["p",
            draw.one_of(["l", "l", "m"]), weight])
    call = called("f", args)
    steps = [("value", f"r = {call}"), ("slopes",
                                        f"with mx.autograd.record():\n    z = {call}\nz.backward(); r = [z, p.grad, m.grad]"),
             ("hybrid",
              f"f.hybridize()\nwith mx.autograd.record():\n    z = {call}\nz.backward(); r = [z, p.grad, m.grad]")]
    return Program(f"loss {name}", start, steps, arrays)


def small(draw):
    """A schedule, an initializer, or clipping of gradients."""
    warm = draw.one_of(["", "", ", warmup_steps=3", ", warmup_steps=2, warmup_begin_lr=0.1, warmup_mode='constant'",
                        ", warmup_steps=4, warmup_begin_lr=0.05"])
    schedule, start = draw.one_of(SCHEDULES).format(warm), draw.one_of(INITIALIZERS)
    shape = draw.one_of([(2, 3), (4, 4), (2, 3, 4, 4), (3, 2, 3), (6,)])
    name = draw.one_of(["p_weight", "p_bias", "p_gamma", "p_running_var", "p_moving_mean", "lstm_i2h_bias"])
    factor = draw.one_of(["0.5", "10", "1"])
    steps = [("schedule",
              f"s = mx.lr_scheduler.{schedule}; r = [float(s(i)) for i in {draw.one_of(['range(16)', '[1, 1, 5, 5, 14]', 'range(1, 40, 6)'])}]"),
             ("initializer", f"a = mx.nd.zeros({shape}); mx.init.{start}(mx.init.InitDesc('{name}'), a); r = a"),
             ("dumped", f"r = mx.init.{start}.dumps()" if "Load" not in start and "Mixed" not in start else "r = 1"),
             ("block",
              f"n = mx.gluon.nn.Dense(3, in_units=2); n.initialize(mx.init.{start}); r = [n.weight.data(), n.bias.data()]"),
             ("block by default",
              "n = mx.gluon.nn.Conv2D(2, 3, in_channels=2); n.initialize(); r = [n.weight.data(), n.bias.data()]"),
             ("clipped",
              f"a = [mx.nd.ones((2, 3)) * 2, mx.nd.arange(4)]; t = mx.gluon.utils.clip_global_norm(a, {factor}); r = [t, a]"),
             ("split",
              f"r = mx.gluon.utils.split_data(mx.nd.arange(12).reshape((6, 2)), {draw.one_of([1, 2, 3, 4])}, batch_axis={draw.one_of([0, 1])}, even_split={draw.chance(0.5)})")]
    return Program(f"small {schedule.split('(')[0]} {start.split('(')[0]}", "pass", steps)


def shape_text(draw):
    return draw.one_of(["3", "(2, 3)", "(1,)", "(5, 2, 3)", "(70, 30)", "(0, 2)"])


def numbers(draw):
    lines = [draw.one_of(RANDOM).format(s=shape_text(draw)) for _ in range(3)]
    seed = draw.whole(0, 2**31 - 1)
    steps = [("seeded", f"mx.random.seed({seed}); r = mx.nd.random.{lines[0]}"), ("next",
        f"r = mx.nd.random.{lines[1]}"), ("third", f"r = mx.nd.random.{lines[2]}"),
             ("dropout",
              "mx.autograd.set_training(True); r = mx.nd.Dropout(mx.nd.ones((7, 9)), p=0.4); mx.autograd.set_training(False)")]
    return Program(f"random {lines[0].split('(')[0]}", "", steps)


def numpy_numbers(draw):
    lines = [draw.one_of(NUMPY_RANDOM).format(s=shape_text(draw)) for _ in range(3)]
    steps = [("seeded", f"mx.random.seed({draw.whole(0, 10**6)}); x = np.arange(6); r = [np.random.{lines[0]}, x]"),
             ("next", f"r = np.random.{lines[1]}"), ("third", f"r = np.random.{lines[2]}"),
             ("other",
              f"r = npx.random.{draw.one_of(['bernoulli(0.4, size=(3, 4))', 'uniform_n(0, 1, (2,))', 'normal_n(0, 1, (2,))', 'bernoulli(logit=np.zeros(5))'])}")]
    return Program(f"np.random {lines[0].split('(')[0]}", "", steps, {}, True)


def images(draw):
    text = draw.one_of(TRANSFORMS)
    arrays = {"x": draw.numbers.randint(0, 256, (draw.one_of([4, 6, 8]), draw.one_of([4, 6, 8]), 3)).astype("uint8")}
    steps = [("uint8", f"f = mx.gluon.data.vision.transforms.{text}; r = f(mx.nd.array(arrays['x'], dtype='uint8'))"),
             ("float32", "r = f(mx.nd.array(arrays['x']) / 255)"),
             ("batch", "r = f(mx.nd.array(onp.stack([arrays['x']] * 2), dtype='uint8'))")]
    return Program(f"transform {text.split('(')[0]}", "", steps, arrays)


def loader(draw):
    n, size = draw.whole(1, 9), draw.whole(1, 4)
    last = draw.one_of(["keep", "discard", "rollover"])
    shuffled = draw.chance(0.5)
    source = draw.one_of(["mx.gluon.data.ArrayDataset(x, y)", "mx.gluon.data.ArrayDataset(x)",
                          "mx.gluon.data.SimpleDataset(list(range(len(x))))",
                          "mx.gluon.data.ArrayDataset(x, y).transform_first(lambda a: a * 2)",
                          "mx.gluon.data.SimpleDataset([(1, 2.5)] * len(x))",
                          "mx.gluon.data.ArrayDataset(x, y).take(3)", "mx.gluon.data.ArrayDataset(x, y).shard(2, 1)",
                          "mx.gluon.data.ArrayDataset(x, y).filter(lambda v: v[1] > 0)",
                          "mx.gluon.data.ArrayDataset(x, y).transform(lambda a, b: (a, -b), lazy=False)"])
    pad = draw.one_of(["pad", "discard", "roll_over"])
    arrays = {"x": draw.numbers.rand(n, 2).astype("float32"), "y": draw.numbers.randint(-2, 3,
        n).astype(draw.one_of(["float32", "int32", "float64"]))}
    start = "x, y = arrays['x'], arrays['y']; onp.random.seed(5); import random; random.seed(5)"
    steps = [("loader",
              f"l = mx.gluon.data.DataLoader({source}, batch_size={size}, shuffle={shuffled}, last_batch='{last}'); r = [len(l), list(l), list(l), len(l)]"),
             ("items", f"d = {source}; r = [len(d), [d[i] for i in range(len(d))]]"),
             ("sampler",
              f"r = [list(mx.gluon.data.BatchSampler(mx.gluon.data.{draw.one_of(['SequentialSampler', 'RandomSampler'])}({n}), {size}, '{last}')), list(mx.gluon.data.FilterSampler(lambda v: v > 1, list(range({n}))))]"),
             ("iterator",
              f"t = mx.io.NDArrayIter(x, y, {size}, shuffle={shuffled}, last_batch_handle='{pad}'); r = [[[b.data, b.label, b.pad, str(b.index)] for b in t] for _ in range(2) if t.reset() is None]"),
             ("resized",
              f"t = mx.io.ResizeIter(mx.io.NDArrayIter(x, y, {size}), {draw.whole(1, 5)}); r = [[b.data, b.pad] for b in t]")]
    return Program(f"loader {last}", start, steps, arrays)
