# SPDX-License-Identifier: Apache-2.0
"""Training with pictures and text: detectors, transformed grids, texts of pictures, finetuning, teachers, attacks."""
from registry import program


def drawn(mx, np, *shape, seed=3):
    return mx.nd.array(np.random.RandomState(seed).normal(size=shape))


def rounded(losses):
    return [round(float(loss.mean().asscalar()), 4) for loss in losses]


def convolutions(mx, *channels):
    net = mx.gluon.nn.HybridSequential()
    for count in channels:
        net.add(mx.gluon.nn.Conv2D(count, 3, padding=1), mx.gluon.nn.BatchNorm(), mx.gluon.nn.Activation("relu"), mx.gluon.nn.MaxPool2D())
    return net


@program(tolerance=1e-3)
def detectors_in_one_pass(mx, np):
    class Detector(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.body = convolutions(mx, 4, 6)
                self.classes, self.boxes = mx.gluon.nn.Conv2D(4 * 3, 3, padding=1), mx.gluon.nn.Conv2D(4 * 4, 3, padding=1)

        def hybrid_forward(self, F, x):
            seen = self.body(x)
            anchors = F.contrib.MultiBoxPrior(seen, sizes=(0.3, 0.5), ratios=(1, 2, 0.5))
            flat = [F.flatten(F.transpose(part(seen), axes=(0, 2, 3, 1))) for part in (self.classes, self.boxes)]
            return anchors, F.reshape(flat[0], shape=(0, -1, 3)), flat[1]

    net = Detector()
    net.initialize(mx.init.Xavier())
    net.hybridize()
    x = drawn(mx, np, 2, 3, 16, 16)
    labels = mx.nd.array([[[0, 0.1, 0.1, 0.5, 0.6]], [[1, 0.4, 0.3, 0.9, 0.8]]])
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "wd": 5e-4})
    losses = []
    for _ in range(3):
        with mx.autograd.record():
            anchors, classes, boxes = net(x)
            with mx.autograd.pause():
                targets, mask, of = mx.nd.contrib.MultiBoxTarget(anchors, labels, classes.transpose((0, 2, 1)), negative_mining_ratio=3)
            loss = (mx.gluon.loss.SoftmaxCrossEntropyLoss()(classes, of).mean()
                    + mx.nd.smooth_l1((boxes - targets) * mask, scalar=1.0).mean())
        loss.backward()
        trainer.step(2)
        losses.append(loss)
    found = mx.nd.contrib.MultiBoxDetection(mx.nd.softmax(classes, axis=-1).transpose((0, 2, 1)), boxes, anchors, nms_threshold=0.4)
    return [rounded(losses), of, found[:, :5]]


@program(tolerance=1e-3)
def regions_of_pictures(mx, np):
    seen = drawn(mx, np, 1, 4, 8, 8)
    seen.attach_grad()
    boxes = mx.nd.array([[0, 0, 0, 15, 15], [0, 4, 2, 11, 13], [0, 8, 8, 15, 9]])
    with mx.autograd.record():
        aligned = mx.nd.contrib.ROIAlign(seen, boxes, pooled_size=(3, 3), spatial_scale=0.5, sample_ratio=2)
        pooled = mx.nd.ROIPooling(seen, boxes, pooled_size=(2, 2), spatial_scale=0.5)
        loss = (aligned * aligned).sum() + pooled.sum()
    loss.backward()
    kept = mx.nd.contrib.box_nms(mx.nd.array([[0, 0.9, 0, 0, 1, 1], [0, 0.8, 0, 0, 1, 0.9], [1, 0.7, 0, 0, 1, 1]]), overlap_thresh=0.5,
                                 coord_start=2, score_index=1, id_index=0)
    overlap = mx.nd.contrib.box_iou(boxes[:, 1:], boxes[:2, 1:])
    return [aligned, pooled, seen.grad, kept, overlap]


@program(tolerance=1e-3)
def grids_that_are_learned(mx, np):
    class Transformer(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.where = mx.gluon.nn.Dense(6, bias_initializer=mx.init.Constant(0.2), weight_initializer="zeros")
                self.out = mx.gluon.nn.Dense(3)

        def hybrid_forward(self, F, x):
            grid = F.GridGenerator(self.where(x), transform_type="affine", target_shape=(6, 6))
            return self.out(F.BilinearSampler(x, grid))

    net = Transformer()
    net.initialize(mx.init.Normal(0.3))
    net.hybridize()
    x, y, losses = drawn(mx, np, 4, 2, 8, 8), mx.nd.array([0, 2, 1, 1]), []
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05})
    for _ in range(4):
        with mx.autograd.record():
            loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()(net(x), y)
        loss.backward()
        trainer.step(4)
        losses.append(loss)
    return [rounded(losses), net.where.weight.data()[:, :6], net.where.bias.data()]


@program(tolerance=1e-3)
def texts_of_pictures(mx, np):
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Conv2D(6, (8, 3), activation="relu"), mx.gluon.nn.HybridLambda(lambda F, x: F.transpose(F.squeeze(x, axis=2), (0, 2, 1))),
            mx.gluon.rnn.GRU(5, layout="NTC", bidirectional=True), mx.gluon.nn.Dense(5, flatten=False))
    net.initialize(mx.init.Xavier())
    x, losses = drawn(mx, np, 3, 1, 8, 14), []
    text, loss_of = mx.nd.array([[1, 2, -1], [3, 3, 0], [2, -1, -1]]), mx.gluon.loss.CTCLoss(layout="NTC", label_layout="NT")
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.03})
    for _ in range(4):
        with mx.autograd.record():
            loss = loss_of(net(x), text, None, mx.nd.array([2, 3, 1]))
        loss.backward()
        trainer.step(3)
        losses.append(loss)
    return [rounded(losses), net(x).argmax(axis=2)]


@program(tolerance=1e-3)
def networks_that_are_tuned(mx, np):
    """The features of one network in another, of which the old part learns slowly or not at all."""
    first = mx.gluon.model_zoo.vision.mobilenet0_25(classes=5, prefix="old_")
    first.initialize(mx.init.Xavier())
    x = drawn(mx, np, 2, 3, 32, 32)
    first(x)
    net = mx.gluon.model_zoo.vision.mobilenet0_25(classes=3, prefix="new_")
    net.features = first.features
    net.output.initialize(mx.init.Constant(0.02))
    net.features.collect_params().setattr("lr_mult", 0.1)
    net.features.collect_params(".*conv0.*").setattr("grad_req", "null")
    before = net.features[0].weight.data().copy()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5, "momentum": 0.9})
    losses = []
    for _ in range(2):
        with mx.autograd.record():
            loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()(net(x), mx.nd.array([0, 2]))
        loss.backward()
        trainer.step(2)
        losses.append(loss)
    same = (net.features[0].weight.data() == before).min().asscalar()
    return [rounded(losses), same, sorted(name for name in net.collect_params() if name.startswith("new"))]


@program(tolerance=1e-3)
def teachers_and_pupils(mx, np):
    def network(width):
        net = mx.gluon.nn.HybridSequential()
        net.add(mx.gluon.nn.Dense(width, activation="sigmoid"), mx.gluon.nn.Dense(4))
        net.initialize(mx.init.Uniform(0.7))
        net.hybridize(static_alloc=True)
        return net

    teacher, pupil, heat = network(16), network(3), 4.0
    x, y, losses = drawn(mx, np, 12, 5), mx.nd.array(np.arange(12) % 4), []
    soft, hard = mx.gluon.loss.KLDivLoss(from_logits=False), mx.gluon.loss.SoftmaxCrossEntropyLoss(weight=0.3)
    trainer = mx.gluon.Trainer(pupil.collect_params(), "signum", {"learning_rate": 0.01, "momentum": 0.9})
    for _ in range(4):
        taught = mx.nd.softmax(teacher(x) / heat)
        with mx.autograd.record():
            seen = pupil(x)
            loss = heat * heat * soft(seen / heat, taught) + hard(seen, y)
        loss.backward()
        trainer.step(12)
        losses.append(loss)
    return [rounded(losses), pupil(x), mx.nd.smooth_l1(seen - teacher(x), scalar=2.0)]


@program(tolerance=1e-3)
def attacks_and_doubts(mx, np):
    """Pictures that are changed against a network, and the spread of what it says with dropout left on."""
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Conv2D(4, 3, padding=1, activation="relu"), mx.gluon.nn.GlobalAvgPool2D(), mx.gluon.nn.Dropout(0.5), mx.gluon.nn.Dense(3))
    net.initialize(mx.init.MSRAPrelu())
    x, y = drawn(mx, np, 4, 1, 8, 8), mx.nd.array([0, 1, 2, 0])
    net(x)
    x.attach_grad()
    changed = []
    for _ in range(2):
        with mx.autograd.record(train_mode=False):
            loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()(net(x), y)
        loss.backward(train_mode=False)
        x[:] = mx.nd.clip(x + 0.1 * mx.nd.sign(x.grad), -2, 2)
        changed.append(loss)
    with mx.autograd.train_mode():
        drawn_outs = mx.nd.stack(*[mx.nd.softmax(net(x)) for _ in range(3)])
    return [rounded(changed), x[0, 0], drawn_outs.shape, drawn_outs.mean(axis=(0, 2)), mx.nd.moments(net(x), axes=(0,))]


@program(tolerance=1e-3)
def words_in_classes(mx, np):
    counter = mx.contrib.text.utils.count_tokens_from_str("a cat sat on a mat \n a dog sat on a log", to_lower=True)
    words = mx.contrib.text.vocab.Vocabulary(counter, min_freq=1, reserved_tokens=["<pad>"])
    rows = [words.to_indices(text.split()) for text in ("a cat sat", "a dog", "the mat on a log")]
    rows = [(row + [words.to_indices("<pad>")] * 5)[:5] for row in rows]

    class Classifier(mx.gluon.HybridBlock):
        def __init__(self, count):
            super().__init__()
            with self.name_scope():
                self.words = mx.gluon.nn.Embedding(count, 6)
                self.parts = mx.gluon.nn.HybridSequential()
                for width in (2, 3):
                    self.parts.add(mx.gluon.nn.Conv1D(4, width, activation="tanh"))
                self.out = mx.gluon.nn.Dense(2)

        def hybrid_forward(self, F, x):
            seen = F.transpose(self.words(x), (0, 2, 1))
            return self.out(F.concat(*[F.max(part(seen), axis=2) for part in self.parts], dim=1))

    net = Classifier(len(words))
    net.initialize(mx.init.Xavier(magnitude=2))
    net.hybridize()
    x, losses = mx.nd.array(rows), []
    trainer = mx.gluon.Trainer(net.collect_params(), "ftrl", {"learning_rate": 0.3, "lamda1": 1e-3})
    for _ in range(4):
        with mx.autograd.record():
            loss = mx.gluon.loss.LogisticLoss(label_format="binary")(net(x).slice_axis(1, 0, 1), mx.nd.array([1, 0, 1]))
        loss.backward()
        trainer.step(3)
        losses.append(loss)
    metric = mx.metric.CompositeEvalMetric([mx.metric.Accuracy(), mx.metric.F1(), mx.metric.CrossEntropy()])
    metric.update([mx.nd.array([1, 0, 1])], [mx.nd.softmax(net(x))])
    return [rows, rounded(losses), net(x), metric.get()]
