# SPDX-License-Identifier: Apache-2.0
"""Parts of the package that need more than one call to say anything: symbolic cells and buckets, images and
augmenters, text, schedules, initializers, the older model class."""
import logging

from registry import program


def png(np, height, width, seed=0):
    """A picture as a file of bytes, without a library."""
    import struct
    import zlib

    pixels = np.random.RandomState(seed).randint(0, 256, (height, width, 3)).astype("uint8")
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def run_symbol(mx, np, outputs, **shapes):
    """Values of a symbol whose arguments are drawn in the order of their names."""
    net = mx.sym.Group(outputs) if isinstance(outputs, (list, tuple)) else outputs
    executor = net.simple_bind(mx.cpu(), **shapes)
    draws = np.random.RandomState(3)
    for name in sorted(executor.arg_dict):
        array = executor.arg_dict[name]
        array[:] = mx.nd.array(draws.uniform(-0.5, 0.5, array.shape))
    values = executor.forward(is_train=True)
    executor.backward([mx.nd.ones(value.shape) for value in values])
    return [list(values), {name: executor.grad_dict[name] for name in sorted(executor.grad_dict)}]


def unrolled(mx, np, cell, layout="NTC"):
    shape = (2, 4, 3) if layout == "NTC" else (4, 2, 3)
    outputs, _ = cell.unroll(4, inputs=mx.sym.var("data"), layout=layout, merge_outputs=True)
    return [outputs.list_arguments(), run_symbol(mx, np, outputs, data=shape)]


@program()
def symbolic_cells(mx, np):
    rnn = mx.rnn
    return {
        "rnn": unrolled(mx, np, rnn.RNNCell(5, activation="relu", prefix="a_")),
        "lstm": unrolled(mx, np, rnn.LSTMCell(5, prefix="b_", forget_bias=2.0)),
        "gru": unrolled(mx, np, rnn.GRUCell(5, prefix="c_"), "TNC"),
        "zoneout": unrolled(mx, np, rnn.ZoneoutCell(rnn.RNNCell(3, prefix="d_"), 0.0, 0.0)),
        "residual": unrolled(mx, np, rnn.ResidualCell(rnn.GRUCell(3, prefix="e_"))),
    }


@program()
def stacked_symbolic_cells(mx, np):
    rnn = mx.rnn
    stack = rnn.SequentialRNNCell()
    stack.add(rnn.LSTMCell(4, prefix="l0_"))
    stack.add(rnn.DropoutCell(0.0, prefix="drop_"))
    stack.add(rnn.BidirectionalCell(rnn.GRUCell(3, prefix="left_"), rnn.GRUCell(3, prefix="right_"), output_prefix="both_"))
    fused = rnn.FusedRNNCell(4, num_layers=2, mode="lstm", prefix="f_", bidirectional=True)
    plain = fused.unfuse()
    return [unrolled(mx, np, stack)[1][0][0], [info["shape"] for info in stack.state_info],
            unrolled(mx, np, plain)[1][0][0], [type(cell).__name__ for cell in plain._cells],
            fused.state_shape, fused.state_info]


@program()
def weights_of_symbolic_cells(mx, np):
    draws = np.random.RandomState(0)
    cell = mx.rnn.LSTMCell(3, prefix="x_")
    packed = {"x_i2h_weight": mx.nd.array(draws.randn(12, 2)), "x_i2h_bias": mx.nd.array(draws.randn(12)),
              "x_h2h_weight": mx.nd.array(draws.randn(12, 3)), "x_h2h_bias": mx.nd.array(draws.randn(12))}
    apart = cell.unpack_weights(dict(packed))
    again = cell.pack_weights(dict(apart))
    fused = mx.rnn.FusedRNNCell(3, num_layers=1, mode="gru", prefix="y_")
    flat = {"y_parameters": mx.nd.array(draws.randn(63))}
    split = fused.unpack_weights(dict(flat))
    return [{name: apart[name] for name in sorted(apart)}, {name: again[name] for name in sorted(again)},
            {name: split[name] for name in sorted(split)}, fused.pack_weights(dict(split))["y_parameters"]]


@program()
def sentences_in_buckets(mx, np):
    import random

    words = [["the", "cat", "sat"], ["a", "dog"], ["the", "dog", "sat", "on", "a", "cat"], ["a", "cat", "sat"], ["on", "the"]] * 4
    coded, vocabulary = mx.rnn.encode_sentences(words, invalid_label=0, start_label=1)
    again, same = mx.rnn.encode_sentences([["the", "dog"]], vocab=dict(vocabulary))
    random.seed(1)
    np.random.seed(1)
    batches = mx.rnn.BucketSentenceIter(coded, batch_size=2, buckets=[2, 3, 6], invalid_label=0)
    seen = []
    for batch in batches:
        seen.append([batch.bucket_key, batch.data[0], batch.label[0], [tuple(item) for item in batch.provide_data]])
    return [coded, vocabulary, again, len(same), batches.default_bucket_key, seen]


@program(1e-3)
def words_by_buckets(mx, np):
    """A language model through BucketingModule: perplexities of two epochs."""
    import random

    draws = np.random.RandomState(2)
    sentences = [list(draws.randint(1, 8, draws.randint(2, 7))) for _ in range(40)]
    random.seed(3)
    np.random.seed(3)
    data = mx.rnn.BucketSentenceIter(sentences, 4, buckets=[3, 6], invalid_label=0)
    stack = mx.rnn.SequentialRNNCell()
    stack.add(mx.rnn.LSTMCell(8, prefix="lstm_"))

    def generate(length):
        embedded = mx.sym.Embedding(mx.sym.var("data"), input_dim=8, output_dim=5, name="embed")
        stack.reset()
        outputs, _ = stack.unroll(length, inputs=embedded, merge_outputs=True)
        scores = mx.sym.FullyConnected(mx.sym.Reshape(outputs, shape=(-1, 8)), num_hidden=8, name="scores")
        labels = mx.sym.Reshape(mx.sym.var("softmax_label"), shape=(-1,))
        return mx.sym.SoftmaxOutput(scores, labels, name="softmax"), ("data",), ("softmax_label",)

    module = mx.mod.BucketingModule(generate, default_bucket_key=data.default_bucket_key)
    module.bind(data.provide_data, data.provide_label)
    mx.random.seed(4)
    module.init_params(mx.init.Xavier(factor_type="in", magnitude=2.34))
    module.init_optimizer(optimizer="adam", optimizer_params={"learning_rate": 0.05})
    metric, found = mx.metric.Perplexity(0), []
    for _ in range(2):
        data.reset()
        metric.reset()
        for batch in data:
            module.forward(batch)
            module.update_metric(metric, batch.label)
            module.backward()
            module.update()
        found.append(metric.get()[1])
    return found


@program()
def pictures(mx, np):
    image = mx.image
    picture = image.imdecode(png(np, 12, 17))
    gray = image.imdecode(png(np, 6, 5, 1), flag=0)
    blue = image.imdecode(png(np, 6, 5, 1), to_rgb=0)
    cropped, box = image.center_crop(picture, (8, 6))
    return [picture, gray, blue, image.resize_short(picture, 6, interp=0), image.fixed_crop(picture, 2, 3, 6, 5),
            image.fixed_crop(picture, 2, 3, 6, 5, size=(3, 3), interp=0), cropped, box, image.scale_down((10, 20), (30, 30)),
            image.color_normalize(picture.astype("float32"), mx.nd.array([1, 2, 3]), mx.nd.array([2, 2, 4])),
            image.copyMakeBorder(picture, 1, 2, 3, 0)]


@program()
def random_pictures(mx, np):
    import random

    image = mx.image
    picture = image.imdecode(png(np, 14, 19)).astype("float32")
    results = []
    for make in (lambda: image.RandomCropAug((6, 5)), lambda: image.RandomSizedCropAug((6, 6), (0.3, 1.0), (0.75, 1.3), 0),
                 lambda: image.HorizontalFlipAug(0.5), lambda: image.BrightnessJitterAug(0.3), lambda: image.ContrastJitterAug(0.3),
                 lambda: image.SaturationJitterAug(0.3), lambda: image.HueJitterAug(0.2), lambda: image.RandomGrayAug(0.5),
                 lambda: image.LightingAug(0.1, np.array([55.46, 4.794, 1.148]), np.eye(3)),
                 lambda: image.ColorNormalizeAug(mx.nd.array([1, 2, 3]), mx.nd.array([2, 2, 2])), lambda: image.CastAug()):
        augmenter = make()
        random.seed(5)
        np.random.seed(5)
        mx.random.seed(5)
        results.append([augmenter(picture.copy()), augmenter(picture.copy()), augmenter.dumps()])
    return results


@program()
def lists_of_augmenters(mx, np):
    made = mx.image.CreateAugmenter((3, 8, 8), resize=10, rand_crop=True, rand_mirror=True, mean=True, std=True, brightness=0.1,
                                    contrast=0.1, saturation=0.1, hue=0.1, pca_noise=0.1, rand_gray=0.1, inter_method=1)
    plain = mx.image.CreateAugmenter((3, 8, 8))
    boxes = mx.image.CreateDetAugmenter((3, 8, 8), rand_crop=0.5, rand_pad=0.5, rand_mirror=True, mean=True, std=True)
    return [[type(item).__name__ for item in made], [type(item).__name__ for item in plain], [type(item).__name__ for item in boxes]]


@program()
def pictures_from_a_list(mx, np):
    import os

    os.makedirs("pictures", exist_ok=True)
    for i in range(5):
        with open(f"pictures/{i}.png", "wb") as file:
            file.write(png(np, 9 + i, 11, i))
    listed = [[float(i % 3), f"{i}.png"] for i in range(5)]
    batches = mx.image.ImageIter(2, (3, 8, 8), path_root="pictures", imglist=listed,
                                 aug_list=[mx.image.ForceResizeAug((8, 8), 0), mx.image.CastAug()])
    seen = [[batch.data[0], batch.label[0], batch.pad] for batch in batches]
    batches.reset()
    return [seen, batches.next().label[0], [tuple(item) for item in batches.provide_data], tuple(batches.provide_label[0])]


@program()
def transforms_of_gluon(mx, np):
    import random

    transforms = mx.gluon.data.vision.transforms
    picture = mx.image.imdecode(png(np, 14, 20))
    results = []
    for make in (lambda: transforms.Resize(7, interpolation=0), lambda: transforms.Resize((5, 6), interpolation=1),
                 lambda: transforms.Resize(6, keep_ratio=True, interpolation=0), lambda: transforms.CenterCrop((8, 6)),
                 lambda: transforms.ToTensor(), lambda: transforms.Cast("float16"), lambda: transforms.RandomFlipLeftRight(),
                 lambda: transforms.RandomFlipTopBottom(), lambda: transforms.CropResize(1, 2, 6, 5, (3, 3), 0),
                 lambda: transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.1, 0.2, 0.3), (0.5, 0.6, 0.7))])):
        transform = make()
        random.seed(6)
        np.random.seed(6)
        mx.random.seed(6)
        results.append([transform(picture), transform(picture)])
    return results


@program()
def words_and_vectors(mx, np):
    import collections

    text = mx.contrib.text
    counts = text.utils.count_tokens_from_str("a b b c\nc c d D", to_lower=True)
    vocabulary = text.vocab.Vocabulary(counts, most_freq_count=3, min_freq=1, unknown_token="<u>", reserved_tokens=["<p>"])
    with open("vectors.txt", "w") as file:
        file.write("b 1 2 3\nc 4 5 6\nz 7 8 9\n")
    vectors = text.embedding.CustomEmbedding("vectors.txt", elem_delim=" ", vocabulary=vocabulary)
    whole = text.embedding.CustomEmbedding("vectors.txt")
    whole.update_token_vectors("z", mx.nd.array([[0, 0, 1]]))
    both = text.embedding.CompositeEmbedding(vocabulary, [whole, whole])
    return [sorted(counts.items()), vocabulary.idx_to_token, vocabulary.to_indices(["b", "nothing"]), vocabulary.to_tokens([1, 2]),
            len(vocabulary), vectors.idx_to_vec, vectors.get_vecs_by_tokens(["c", "a"]), whole.idx_to_vec, whole.vec_len,
            both.idx_to_vec, isinstance(counts, collections.Counter), sorted(text.embedding.get_pretrained_file_names())]


@program()
def schedules(mx, np):
    made = [mx.lr_scheduler.FactorScheduler(3, 0.5, stop_factor_lr=1e-3, base_lr=0.4, warmup_steps=2, warmup_begin_lr=0.1),
            mx.lr_scheduler.MultiFactorScheduler([2, 5, 9], 0.3, base_lr=1.0),
            mx.lr_scheduler.PolyScheduler(8, base_lr=0.5, pwr=3, final_lr=0.01, warmup_steps=3, warmup_mode="constant"),
            mx.lr_scheduler.CosineScheduler(9, base_lr=0.6, final_lr=0.05, warmup_steps=2)]
    return [[scheduler(step) for step in range(14)] for scheduler in made]


@program()
def initializers_by_name(mx, np):
    init = mx.init
    mixed = init.Mixed([".*bias", "fc2.*", ".*"], [init.Zero(), init.Constant(2), init.Uniform(0.1)])
    results = []
    for made in (mixed, init.Load({"arg:fc_weight": mx.nd.ones((2, 3)), "aux:bn_moving_mean": mx.nd.ones(2)}, init.One()),
                 init.Xavier("gaussian", "out", 2), init.MSRAPrelu("in", 0.3), init.Orthogonal(1.5), init.LSTMBias(1.0), init.Bilinear()):
        mx.random.seed(8)
        np.random.seed(8)
        filled = {}
        for name, shape in (("fc_weight", (2, 3)), ("fc2_weight", (2, 2)), ("fc_bias", (4,)), ("bn_gamma", (2,)), ("bn_moving_mean", (2,))):
            array = mx.nd.zeros(shape)
            try:
                made(init.InitDesc(name), array)
                filled[name] = array
            except Exception:
                filled[name] = "raises"
        results.append([filled, made.dumps() if hasattr(made, "dumps") else 0])
    return results


@program(1e-3)
def older_model_class(mx, np):
    logging.disable(logging.CRITICAL)
    draws = np.random.RandomState(9)
    x, y = draws.randn(40, 5).astype("float32"), draws.randint(0, 3, 40).astype("float32")
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc"), name="softmax")
    mx.random.seed(10)
    model = mx.model.FeedForward(net, num_epoch=3, numpy_batch_size=8, learning_rate=0.1, momentum=0.9, initializer=mx.init.Uniform(0.1))
    np.random.seed(11)
    model.fit(x, y)
    model.save("older", 3)
    again = mx.model.FeedForward.load("older", 3)
    data = mx.io.NDArrayIter(x, y, batch_size=8)
    return [model.arg_params["fc_weight"], again.predict(x[:8]), model.score(data), sorted(again.arg_params)]


@program()
def names_and_attributes_in_scopes(mx, np):
    with mx.AttrScope(ctx_group="one", __lr_mult__="2"):
        a = mx.sym.var("a", lr_mult=3, wd_mult=0.5, shape=(2, 3), dtype="float64", init=mx.init.One())
        with mx.name.Prefix("mine_"):
            b = mx.sym.FullyConnected(a, num_hidden=2)
        with mx.AttrScope(ctx_group="two"):
            c = mx.sym.Activation(b, act_type="relu", attr={"__note__": "x"})
    return [{name: {key: value for key, value in sorted(found.items())} for name, found in sorted(c.attr_dict().items())
             if not name.startswith("activation")}, c.list_arguments()[1:], sorted(a.list_attr().items()), b.attr("ctx_group")]


@program()
def summary_of_a_network(mx, np):
    import contextlib
    import io

    data = mx.sym.var("data")
    net = mx.sym.Convolution(data, kernel=(3, 3), num_filter=4, name="conv")
    net = mx.sym.Pooling(mx.sym.Activation(mx.sym.BatchNorm(net, name="bn"), act_type="relu", name="act"), kernel=(2, 2), name="pool")
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Flatten(net, name="flat"), num_hidden=3, name="fc"), name="softmax")
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        mx.viz.print_summary(net, shape={"data": (1, 3, 8, 8)})
    blocks = mx.gluon.nn.HybridSequential(prefix="s_")
    blocks.add(mx.gluon.nn.Conv2D(4, 3, in_channels=3), mx.gluon.nn.BatchNorm(), mx.gluon.nn.Dense(2))
    blocks.initialize()
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        blocks.summary(mx.nd.ones((1, 3, 8, 8)))
    return [text.getvalue(), shown.getvalue()]


@program()
def iterators_around_iterators(mx, np):
    x, y = np.arange(20, dtype="float32").reshape(10, 2), np.arange(10, dtype="float32")
    inner = mx.io.NDArrayIter({"a": x}, {"l": y}, batch_size=4, last_batch_handle="pad")
    sized = mx.io.ResizeIter(inner, 5)
    first = [[batch.data[0], batch.pad] for batch in sized]
    ahead = mx.io.PrefetchingIter([mx.io.NDArrayIter(x, y, 4), mx.io.NDArrayIter(x * 2, y, 4)],
                                  rename_data=[{"data": "p"}, {"data": "q"}], rename_label=[{"softmax_label": "r"}, {"softmax_label": "s"}])
    second = [[batch.data, batch.label] for batch in ahead]
    np.savetxt("x.csv", x, delimiter=",")
    np.savetxt("y.csv", y, delimiter=",")
    rows = mx.io.CSVIter(data_csv="x.csv", data_shape=(2,), label_csv="y.csv", batch_size=3, round_batch=False)
    third = [[batch.data[0], batch.label[0], batch.pad] for batch in rows]
    return [first, second, [tuple(item) for item in ahead.provide_data], third]


@program()
def helpers_of_tests(mx, np):
    utils = mx.test_utils
    x = mx.sym.var("x")
    squared = x * x
    value = np.array([[1.0, -2.0], [3.0, 0.5]], "float32")
    utils.check_symbolic_forward(squared, [value], [value * value])
    utils.check_symbolic_backward(squared, [value], [np.ones((2, 2), "float32")], [2 * value])
    utils.check_numeric_gradient(squared, [value], rtol=1e-2, atol=1e-2)
    utils.assert_almost_equal(value, mx.nd.array(value))
    return [utils.same(value, value), utils.almost_equal(value, value + 1e-9), utils.list_gpus() == [],
            utils.simple_forward(squared, x=value), utils.default_context().device_type, len(utils.rand_shape_2d(4, 5)),
            utils.np_reduce(value, 1, True, np.sum)]


@program(1e-3)
def variance_reduced_descent(mx, np):
    from mxnet.contrib.svrg_optimization.svrg_module import SVRGModule

    draws = np.random.RandomState(12)
    x = draws.randn(24, 3).astype("float32")
    data = mx.io.NDArrayIter(x, (x @ np.array([1, 2, 3], "float32")), batch_size=6, label_name="lin_label")
    net = mx.sym.LinearRegressionOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1, name="fc"), mx.sym.var("lin_label"))
    module = SVRGModule(net, data_names=["data"], label_names=["lin_label"], update_freq=2)
    module.bind(data.provide_data, data.provide_label)
    module.init_params(mx.init.Zero())
    module.init_optimizer(kvstore=None, optimizer="sgd", optimizer_params=(("learning_rate", 0.1),))
    module.update_full_grads(data)
    for _ in range(2):
        data.reset()
        for batch in data:
            module.forward_backward(batch)
            module.update()
    return module.get_params()[0]
