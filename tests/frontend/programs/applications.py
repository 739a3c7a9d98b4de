# SPDX-License-Identifier: Apache-2.0
"""What a course ends with, with mx.np and mx.npx: pictures changed and found, styles, recommendations, networks against each other,
networks that go on from others."""
from registry import numpy_program


def drawn(mnp, np, *shape, seed=3):
    return mnp.array(np.random.RandomState(seed).normal(size=shape).astype("float32"))


@numpy_program(1e-3)
def pictures_that_vary(mx, mnp, np):
    """What draws nothing is compared by its numbers, what draws by its shapes and bounds."""
    from mxnet.gluon.data.vision import transforms

    picture = mnp.array(np.random.RandomState(0).randint(0, 256, (12, 10, 3)).astype("uint8"))
    fixed = transforms.Compose([transforms.Resize((8, 8)), transforms.CenterCrop(6), transforms.ToTensor(),
                                transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
    drawing = [transforms.RandomFlipLeftRight(), transforms.RandomFlipTopBottom(),
               transforms.RandomResizedCrop((7, 5), scale=(0.1, 1), ratio=(0.5, 2)), transforms.RandomBrightness(0.5),
               transforms.RandomHue(0.5), transforms.RandomColorJitter(brightness=0.5, contrast=0.5, saturation=0.5, hue=0.5)]
    data = mx.gluon.data.ArrayDataset(mnp.stack([picture, picture[::-1]]), mnp.arange(2))
    loader = mx.gluon.data.DataLoader(data.transform_first(fixed), batch_size=2, shuffle=False)
    shapes = [(layer(picture).shape, str(layer(picture).dtype)) for layer in drawing]
    return [fixed(picture), shapes, [(x, y) for x, y in loader]]


@numpy_program(2e-3)
def networks_that_go_on(mx, mnp, np):
    """Features of one network below a new output layer, which learns ten times as fast; some parts do not learn."""
    from mxnet.gluon import nn
    from mxnet.gluon.model_zoo import vision

    source = vision.resnet18_v1(classes=5, thumbnail=True)
    source.initialize(mx.init.Xavier())
    x, y = drawn(mnp, np, 2, 3, 16, 16), mnp.array([1, 0])
    before = source(x)
    target = nn.HybridSequential()
    target.add(source.features, nn.Dropout(0.0), nn.Flatten(), nn.Dense(2))
    target[3].initialize(mx.init.Xavier())
    target[3].collect_params().setattr("lr_mult", 10)
    for item in source.features[0].collect_params().values():
        item.grad_req = "null"
    kept = source.features[0].weight.data().copy()
    trainer = mx.gluon.Trainer(target.collect_params(), "sgd", {"learning_rate": 0.001, "wd": 0.001})
    loss_of, losses = mx.gluon.loss.SoftmaxCrossEntropyLoss(), []
    for _ in range(2):
        with mx.autograd.record():
            loss = loss_of(target(x), y)
        loss.backward()
        trainer.step(2)
        losses.append(float(loss.mean()))
    return [before, losses, target(x), bool((kept == source.features[0].weight.data()).all())]


@numpy_program(2e-3)
def boxes_found_and_judged(mx, mnp, np):
    from mxnet import npx
    from mxnet.gluon import nn

    def flat(parts):
        return mnp.concatenate([npx.batch_flatten(part.transpose(0, 2, 3, 1)) for part in parts], axis=1)

    def smaller(channels):
        made = nn.Sequential()
        made.add(nn.Conv2D(channels, kernel_size=3, padding=1), nn.BatchNorm(in_channels=channels), nn.Activation("relu"), nn.MaxPool2D(2))
        return made

    class Detector(nn.Block):
        def __init__(self, **options):
            super().__init__(**options)
            for i in range(3):
                setattr(self, f"block{i}", smaller(4 + i) if i < 2 else nn.GlobalMaxPool2D())
                setattr(self, f"kinds{i}", nn.Conv2D(4 * 2, kernel_size=3, padding=1))
                setattr(self, f"places{i}", nn.Conv2D(4 * 4, kernel_size=3, padding=1))

        def forward(self, x):
            anchors, kinds, places = [None] * 3, [None] * 3, [None] * 3
            for i, sizes in enumerate(([0.2, 0.272], [0.37, 0.447], [0.88, 0.961])):
                x = getattr(self, f"block{i}")(x)
                anchors[i] = npx.multibox_prior(x, sizes=sizes, ratios=[1, 2, 0.5])
                kinds[i], places[i] = getattr(self, f"kinds{i}")(x), getattr(self, f"places{i}")(x)
            kinds = flat(kinds).reshape(x.shape[0], -1, 2)
            return mnp.concatenate(anchors, axis=1), kinds, flat(places)

    net = Detector()
    net.initialize(mx.init.Xavier())
    x, labels = drawn(mnp, np, 2, 3, 16, 16), mnp.array([[[0, 0.1, 0.1, 0.5, 0.6]], [[0, 0.4, 0.3, 0.9, 0.8]]])
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.2, "wd": 5e-4})
    kind_loss, place_loss, results = mx.gluon.loss.SoftmaxCrossEntropyLoss(), mx.gluon.loss.L1Loss(), []
    for _ in range(3):
        with mx.autograd.record():
            anchors, kinds, places = net(x)
            wanted, masks, classes = npx.multibox_target(anchors, labels, kinds.transpose(0, 2, 1))
            loss = kind_loss(kinds, classes) + place_loss(places * masks, wanted * masks)
        loss.backward()
        trainer.step(2)
        results += [loss, float((kinds.argmax(axis=-1).astype(classes.dtype) == classes).sum()), float(masks.sum())]
    chances = npx.softmax(kinds).transpose(0, 2, 1)
    found = npx.multibox_detection(chances, places, anchors, nms_threshold=0.5)
    best = [i for i, row in enumerate(found[0]) if row[0] != -1][:3]
    return results + [found[0, best], anchors[0, :4], npx.roi_pooling(mnp.arange(16).reshape(1, 1, 4, 4).astype("float32"),
                                                                      mnp.array([[0, 0, 0, 20, 20], [0, 0, 10, 30, 30]]),
                                                                      pooled_size=(2, 2), spatial_scale=0.1)]


@numpy_program(2e-3)
def pixels_in_classes(mx, mnp, np):
    """A network that ends in a transposed convolution which begins as bilinear interpolation."""
    from mxnet.gluon import nn

    def bilinear(channels, size):
        factor = (size + 1) // 2
        centre = factor - 1 if size % 2 == 1 else factor - 0.5
        rows, columns = mnp.arange(size).reshape(-1, 1), mnp.arange(size).reshape(1, -1)
        kernel = (1 - mnp.abs(rows - centre) / factor) * (1 - mnp.abs(columns - centre) / factor)
        weight = mnp.zeros((channels, channels, size, size))
        for channel in range(channels):
            weight[channel, channel, :, :] = kernel
        return mnp.array(weight)

    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, kernel_size=3, strides=2, padding=1, activation="relu"), nn.Conv2D(3, kernel_size=1),
            nn.Conv2DTranspose(3, kernel_size=4, padding=1, strides=2))
    net[2].initialize(mx.init.Constant(bilinear(3, 4)))
    net[:2].initialize(init=mx.init.Xavier())
    x, y = drawn(mnp, np, 2, 3, 8, 8), mnp.array(np.random.RandomState(2).randint(0, 3, (2, 8, 8)))
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss(axis=1)
    trainer, losses = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "wd": 1e-3}), []
    for _ in range(3):
        with mx.autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(2)
        losses.append(loss)
    return [bilinear(1, 4), losses, net(x).argmax(axis=1), net[2].weight.data()]


@numpy_program(2e-3)
def styles(mx, mnp, np):
    from mxnet.gluon import nn

    class Picture(nn.Block):
        def __init__(self, shape, **options):
            super().__init__(**options)
            self.weight = self.params.get("weight", shape=shape)

        def forward(self):
            return self.weight.data()

    def gram(x):
        channels, count = x.shape[1], x.size // x.shape[1]
        x = x.reshape(channels, count)
        return mnp.dot(x, x.T) / (channels * count)

    net = nn.Sequential()
    for channels in (4, 5, 6):
        net.add(nn.Conv2D(channels, 3, padding=1, activation="relu"))
    net.initialize(mx.init.Xavier())

    def features(x):
        seen = []
        for layer in net:
            x = layer(x)
            seen.append(x)
        return seen

    content, style = drawn(mnp, np, 1, 3, 8, 8), drawn(mnp, np, 1, 3, 8, 8, seed=4)
    wanted, grams = features(content)[2].copy(), [gram(x) for x in features(style)[:2]]
    made = Picture(content.shape)
    made.initialize(mx.init.Constant(content), force_reinit=True)
    trainer = mx.gluon.Trainer(made.collect_params(), "adam", {"learning_rate": 0.1})
    losses = []
    for _ in range(4):
        with mx.autograd.record():
            x = made()
            seen = features(x)
            parts = [mnp.square(seen[2] - wanted).mean(), *(mnp.square(gram(y) - g).mean() * 10 for y, g in zip(seen, grams)),
                     0.5 * (mnp.abs(x[:, :, 1:, :] - x[:, :, :-1, :]).mean() + mnp.abs(x[:, :, :, 1:] - x[:, :, :, :-1]).mean())]
            loss = sum(parts)
        loss.backward()
        trainer.step(1)
        losses.append([float(part) for part in parts])
        if len(losses) == 2:
            trainer.set_learning_rate(trainer.learning_rate * 0.1)
    return [losses, made()]


@numpy_program(2e-3)
def recommendations(mx, mnp, np):
    """Factors of users and things, ranks of pairs, and machines of factors, deep ones too."""
    from mxnet import npx
    from mxnet.gluon import nn

    class Factors(nn.Block):
        def __init__(self, **options):
            super().__init__(**options)
            self.user, self.thing = nn.Embedding(6, 3), nn.Embedding(9, 3)
            self.user_bias, self.thing_bias = nn.Embedding(6, 1), nn.Embedding(9, 1)

        def forward(self, user, thing):
            user, bias, thing, other = self.user(user), self.user_bias(user), self.thing(thing), self.thing_bias(thing)
            return ((user * thing).sum(axis=1) + mnp.squeeze(bias) + mnp.squeeze(other)).flatten()

    class Machine(nn.Block):
        def __init__(self, sizes, deep, **options):
            super().__init__(**options)
            count = int(sum(sizes))
            self.offsets = mnp.array((0, *np.cumsum(sizes)[:-1]), dtype="int64")
            self.embedding, self.linear_of, self.linear = nn.Embedding(count, 4), nn.Embedding(count, 1), nn.Dense(1, use_bias=True)
            self.deep = nn.Sequential()
            for width in deep:
                self.deep.add(nn.Dense(width, activation="relu"), nn.Dropout(rate=0.1))
            self.deep.add(nn.Dense(1))

        def forward(self, x):
            x = x + self.offsets
            embedded = self.embedding(x)
            square = mnp.sum(embedded, axis=1) ** 2
            squares = mnp.sum(embedded**2, axis=1)
            return npx.sigmoid(self.linear(self.linear_of(x).sum(1)) + 0.5 * (square - squares).sum(1, keepdims=True)
                               + self.deep(mnp.reshape(embedded, (-1, 3 * 4))))

    class PairLoss(mx.gluon.loss.Loss):
        def __init__(self, weight=None, batch_axis=0, **options):
            super().__init__(weight=weight, batch_axis=batch_axis, **options)

        def forward(self, better, worse):
            return -mnp.sum(mnp.log(npx.sigmoid(better - worse)), 0, keepdims=True)

    draws = np.random.RandomState(6)
    users, things, others = (mnp.array(draws.randint(0, count, 8)) for count in (6, 9, 9))
    stars, rows = mnp.array(draws.randint(1, 6, 8).astype("float32")), mnp.array(np.stack([draws.randint(0, count, 8) for count in (4, 5, 6)], 1))
    net, results = Factors(), []
    net.initialize(mx.init.Normal(0.1))
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.02, "wd": 1e-5})
    for _ in range(2):
        with mx.autograd.record():
            loss = mx.gluon.loss.L2Loss()(net(users, things), stars)
        loss.backward()
        trainer.step(8)
        with mx.autograd.record():
            pairs = PairLoss()(net(users, things), net(users, others))
        pairs.backward()
        trainer.step(8)
        results += [loss, pairs]
    for deep in ([], [6, 4]):
        machine = Machine([4, 5, 6], deep)
        machine.initialize(mx.init.Xavier())
        trainer = mx.gluon.Trainer(machine.collect_params(), "adam", {"learning_rate": 0.02})
        for _ in range(2):
            with mx.autograd.record():
                loss = mx.gluon.loss.SigmoidBinaryCrossEntropyLoss(from_sigmoid=True)(machine(rows), (stars > 3).astype("float32"))
            loss.backward()
            trainer.step(8)
            results.append(loss)
    return [*results, machine(rows)]


@numpy_program(2e-3)
def makers_and_judges(mx, mnp, np):
    from mxnet.gluon import nn

    def update(judge, maker, real, noise, trainers):
        ones, zeros = mnp.ones((real.shape[0],)), mnp.zeros((real.shape[0],))
        with mx.autograd.record():
            made = maker(noise)
            judged = (loss_of(judge(real), ones) + loss_of(judge(made.detach()), zeros)) / 2
        judged.backward()
        trainers[0].step(real.shape[0])
        with mx.autograd.record():
            fooled = loss_of(judge(maker(noise)), ones)
        fooled.backward()
        trainers[1].step(real.shape[0])
        return float(judged.sum()), float(fooled.sum())

    maker, judge = nn.Sequential(), nn.Sequential()
    maker.add(nn.Conv2DTranspose(4, 4, 1, 0, use_bias=False), nn.BatchNorm(), nn.Activation("relu"),
              nn.Conv2DTranspose(1, 4, 2, 1, use_bias=False, activation="tanh"))
    judge.add(nn.Conv2D(4, 4, 2, 1, use_bias=False), nn.BatchNorm(), nn.LeakyReLU(0.2), nn.Conv2D(1, 4, use_bias=False))
    for net in (maker, judge):
        net.initialize(mx.init.Normal(0.02), force_reinit=True)
    trainers = [mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.005, "beta1": 0.5}) for net in (judge, maker)]
    loss_of, real, losses = mx.gluon.loss.SigmoidBinaryCrossEntropyLoss(), mnp.tanh(drawn(mnp, np, 4, 1, 8, 8)), []
    for _ in range(3):
        noise = mnp.random.normal(0, 1, (4, 3, 1, 1))
        losses.append(update(judge, maker, real, noise, trainers))
    return [losses, maker(noise), maker[1].running_mean.data()]
