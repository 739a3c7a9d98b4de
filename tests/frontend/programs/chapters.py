# SPDX-License-Identifier: Apache-2.0
"""Chapters of a course with mx.np and mx.npx: from a regression by hand to normalization."""
from registry import numpy_program


def drawn(mnp, np, *shape, seed=3):
    return mnp.array(np.random.RandomState(seed).normal(size=shape).astype("float32"))


def batches(features, labels, size):
    """As readers of the course write it: rows in an order of NumPy's."""
    import numpy

    order = numpy.random.permutation(len(features))
    for first in range(0, len(features), size):
        rows = order[first:first + size]
        yield features[rows], labels[rows]


def descend(parameters, rate, size):
    for parameter in parameters:
        parameter[:] = parameter - rate * parameter.grad / size


@numpy_program(1e-3)
def regression_from_scratch(mx, mnp, np):
    true = mnp.array([2, -3.4])
    features = mnp.random.normal(0, 1, (60, 2))
    labels = mnp.dot(features, true) + 4.2
    labels += mnp.random.normal(0, 0.01, labels.shape)
    weight, bias = mnp.random.normal(0, 0.01, (2, 1)), mnp.zeros(1)
    weight.attach_grad()
    bias.attach_grad()
    losses = []
    for _ in range(3):
        for x, y in batches(features, labels, 10):
            with mx.autograd.record():
                loss = (mnp.dot(x, weight) + bias - y.reshape(-1, 1)) ** 2 / 2
            loss.backward()
            descend([weight, bias], 0.03, 10)
        losses.append(float(((mnp.dot(features, weight) + bias - labels.reshape(-1, 1)) ** 2).mean()))
    return [losses, true - weight.reshape(true.shape), 4.2 - bias]


@numpy_program(1e-3)
def regression_by_layers(mx, mnp, np):
    features = drawn(mnp, np, 40, 2)
    labels = mnp.dot(features, mnp.array([2, -3.4])) + 4.2
    loader = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(features, labels), 8, shuffle=False)
    net = mx.gluon.nn.Sequential()
    net.add(mx.gluon.nn.Dense(1))
    net.initialize(mx.init.Normal(sigma=0.01))
    trainer, loss_of, losses = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.03}), mx.gluon.loss.L2Loss(), []
    for _ in range(3):
        for x, y in loader:
            with mx.autograd.record():
                loss = loss_of(net(x), y)
            loss.backward()
            trainer.step(8)
        losses.append(loss_of(net(features), labels).mean().asnumpy())
    return [losses, net[0].weight.data(), net[0].bias.data(), net[0].weight.grad(), repr(net), str(net[0].weight)]


@numpy_program(1e-3)
def softmax_from_scratch(mx, mnp, np):
    features, labels = drawn(mnp, np, 30, 1, 4, 4), mnp.array(np.random.RandomState(1).randint(0, 3, 30))
    weight, bias = mnp.random.normal(0, 0.01, (16, 3)), mnp.zeros(3)
    for parameter in (weight, bias):
        parameter.attach_grad()

    def softmax(x):
        powers = mnp.exp(x)
        return powers / powers.sum(1, keepdims=True)

    def net(x):
        return softmax(mnp.dot(x.reshape((-1, weight.shape[0])), weight) + bias)

    def right(seen, y):
        if len(seen.shape) > 1 and seen.shape[1] > 1:
            seen = seen.argmax(axis=1)
        return float((seen.astype(y.dtype) == y).astype(y.dtype).sum())

    results = []
    for x, y in batches(features, labels, 10):
        with mx.autograd.record():
            seen = net(x)
            loss = -mnp.log(seen[range(len(seen)), y])
        loss.backward()
        descend([weight, bias], 0.1, x.shape[0])
        results += [float(loss.sum()), right(seen, y)]
    return [results, weight, bias]


@numpy_program(1e-3)
def perceptrons_with_dropout_and_decay(mx, mnp, np):
    def dropout(x, share):
        if share == 1:
            return mnp.zeros_like(x)
        kept = mnp.random.uniform(0, 1, x.shape) > share
        return kept.astype(mnp.float32) * x / (1.0 - share)

    x, y = drawn(mnp, np, 12, 6), drawn(mnp, np, 12, 1, seed=4)
    sizes, parameters = [6, 8, 8, 1], []
    for fan_in, fan_out in zip(sizes, sizes[1:]):
        parameters += [mnp.random.normal(scale=0.3, size=(fan_in, fan_out)), mnp.zeros(fan_out)]
    for parameter in parameters:
        parameter.attach_grad()
    losses = []
    for _ in range(4):
        with mx.autograd.record():
            hidden = x
            for i, share in enumerate((0.2, 0.5)):
                hidden = mnp.maximum(mnp.dot(hidden, parameters[2 * i]) + parameters[2 * i + 1], 0)
                if mx.autograd.is_training():
                    hidden = dropout(hidden, share)
            loss = ((mnp.dot(hidden, parameters[4]) + parameters[5] - y) ** 2 / 2).mean()
            loss = loss + 0.01 * sum((weight**2).sum() for weight in parameters[::2]) / 2
        loss.backward()
        descend(parameters, 0.1, 1)
        losses.append(loss)
    return [losses, parameters, dropout(x, 0), dropout(x, 1)]


@numpy_program(1e-3)
def houses(mx, mnp, np):
    """Columns of numbers and of kinds, as a table has them; folds; the logarithm's error."""
    from mxnet.gluon import nn

    draws = np.random.RandomState(2)
    numbers, kinds = draws.normal(size=(50, 5)) * 100, draws.randint(0, 3, 50)
    numbers = (numbers - numbers.mean(0)) / numbers.std(0)
    table = np.concatenate([numbers, np.eye(3)[kinds]], axis=1).astype(np.float32)
    prices = np.exp(draws.normal(size=50) * 0.2 + 5).astype(np.float32)
    features, labels = mnp.array(table, dtype=mnp.float32), mnp.array(prices, dtype=mnp.float32).reshape(-1, 1)
    loss_of = mx.gluon.loss.L2Loss()

    def error(net, x, y):
        seen = mnp.clip(net(x), 1, float("inf"))
        return float(mnp.sqrt(2 * loss_of(mnp.log(seen), mnp.log(y)).mean()))

    results, size = [], len(features) // 5
    for fold in range(2):
        part = slice(fold * size, (fold + 1) * size)
        x = mnp.concatenate([features[:part.start], features[part.stop:]], 0)
        y = mnp.concatenate([labels[:part.start], labels[part.stop:]], 0)
        net = nn.Sequential()
        net.add(nn.Dense(1))
        net.initialize()
        trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 5, "wd": 0.1})
        for _ in range(4):
            for rows, wanted in mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(x, y), 16):
                with mx.autograd.record():
                    loss = loss_of(net(rows), wanted)
                loss.backward()
                trainer.step(16)
        results += [error(net, x, y), error(net, features[part], labels[part])]
    return results


@numpy_program(1e-3)
def layers_of_ones_own(mx, mnp, np):
    from mxnet.gluon import nn

    class Centred(nn.Block):
        def forward(self, x):
            return x - x.mean()

    class Dense(nn.Block):
        def __init__(self, units, in_units, **options):
            super().__init__(**options)
            self.weight = self.params.get("weight", shape=(in_units, units))
            self.bias = self.params.get("bias", shape=(units,))

        def forward(self, x):
            return mx.npx.relu(mnp.dot(x, self.weight.data(ctx=x.ctx)) + self.bias.data(ctx=x.ctx))

    class Fixed(nn.Block):
        def __init__(self, **options):
            super().__init__(**options)
            self.random = self.params.get_constant("random", mnp.random.uniform(size=(5, 5)))
            self.dense = nn.Dense(5, activation="relu")

        def forward(self, x):
            x = mx.npx.relu(mnp.dot(self.dense(x), self.random.data()) + 1)
            x = self.dense(x)
            while mnp.abs(x).sum() > 1:
                x /= 2
            return x.sum()

    class Chain(nn.Block):
        def __init__(self, **options):
            super().__init__(**options)
            self.net = nn.Sequential()
            self.net.add(nn.Dense(6, activation="relu"), nn.Dense(4, activation="relu"))
            self.dense = nn.Dense(5, activation="relu")

        def forward(self, x):
            return self.dense(self.net(x))

    x = mnp.random.uniform(size=(2, 5))
    net = nn.Sequential()
    net.add(Chain(), Dense(3, 5), nn.Dense(5), Fixed())
    net.initialize(mx.init.Uniform(0.5))
    centred = nn.Sequential()
    centred.add(nn.Dense(8), Centred())
    centred.initialize()
    return [net(x), abs(float(centred(x).mean())) < 1e-6, [net[1].weight.data(), net[3].random.data(), net[3].dense.weight.shape]]


@numpy_program(1e-3)
def parameters_found_and_shared(mx, mnp, np):
    from mxnet.gluon import nn

    class Odd(mx.init.Initializer):
        def _init_weight(self, name, data):
            data[:] = mnp.random.uniform(-10, 10, data.shape)
            data *= mnp.abs(data) >= 5

    def block():
        inner = nn.Sequential()
        inner.add(nn.Dense(4, activation="relu"), nn.Dense(5, activation="relu"))
        return inner

    net = nn.Sequential()
    for _ in range(2):
        net.add(block())
    net.add(nn.Dense(3))
    net.initialize(init=mx.init.Normal(sigma=0.01))
    x = mnp.random.uniform(size=(2, 6))
    results = [net(x), net[0][1].bias.data(), {name[-6:]: item.shape for name, item in net.collect_params(".*weight").items()}]
    net.initialize(init=mx.init.Constant(1), force_reinit=True)
    results.append(net[0][0].weight.data()[0])
    net[0][0].weight.initialize(init=mx.init.Xavier(), force_reinit=True)
    net[0][1].initialize(init=Odd(), force_reinit=True)
    results += [net[0][0].weight.data()[0], net[0][1].weight.data()]
    net[0][0].weight.data()[:] += 1
    net[0][0].weight.data()[0, 0] = 42
    results.append(net[0][0].weight.data()[0])
    shared = nn.Dense(8, activation="relu")
    tied = nn.Sequential()
    tied.add(nn.Dense(8, activation="relu"), shared, nn.Dense(8, activation="relu", params=shared.params), nn.Dense(2))
    tied.initialize()
    tied(x)
    tied[1].weight.data()[0, 0] = 100
    return results + [tied[1].weight.data()[0] == tied[2].weight.data()[0], len(tied.collect_params().keys())]


@numpy_program(1e-3)
def arrays_and_networks_in_files(mx, mnp, np):
    from mxnet import npx
    from mxnet.gluon import nn

    class Perceptron(nn.Block):
        def __init__(self, **options):
            super().__init__(**options)
            self.hidden, self.output = nn.Dense(8, activation="relu"), nn.Dense(3)

        def forward(self, x):
            return self.output(self.hidden(x))

    x, y = mnp.arange(4), mnp.zeros(4)
    npx.save("x-file", x)
    npx.save("x-files", [x, y])
    npx.save("mydict", {"x": x, "y": y})
    net = Perceptron()
    net.initialize()
    data = mnp.random.uniform(size=(2, 6))
    seen = net(data)
    net.save_parameters("mlp.params")
    clone = Perceptron()
    clone.load_parameters("mlp.params")
    return [npx.load("x-file"), npx.load("x-files"), npx.load("mydict"), clone(data) == seen, sorted(npx.load("mlp.params"))]


@numpy_program(1e-3)
def correlations_by_hand(mx, mnp, np):
    from mxnet.gluon import nn

    def correlate(x, kernel):
        height, width = kernel.shape
        y = mnp.zeros((x.shape[0] - height + 1, x.shape[1] - width + 1))
        for i in range(y.shape[0]):
            for j in range(y.shape[1]):
                y[i, j] = (x[i:i + height, j:j + width] * kernel).sum()
        return y

    x = mnp.ones((6, 8))
    x[:, 2:6] = 0
    y = correlate(x, mnp.array([[1.0, -1.0]]))
    layer = nn.Conv2D(1, kernel_size=(1, 2), use_bias=False)
    layer.initialize()
    x, wanted, losses = x.reshape(1, 1, 6, 8), y.reshape(1, 1, 6, 7), []
    for _ in range(6):
        with mx.autograd.record():
            loss = (layer(x) - wanted) ** 2
        loss.backward()
        layer.weight.data()[:] -= 3e-2 * layer.weight.grad()
        losses.append(float(loss.sum()))
    pooled = [nn.MaxPool2D((2, 3), padding=(1, 2), strides=(2, 3))(x), nn.AvgPool2D(3, padding=1, strides=2)(x)]
    channels = mnp.concatenate((x, x + 1), axis=1)
    stacked = mnp.stack([correlate(channels[0, i], mnp.array([[0.0, 1], [2, 3]]) + i) for i in range(2)]).sum(0)
    return [y, correlate(y.T, mnp.array([[1.0, -1.0]])), losses, layer.weight.data().reshape((1, 2)), pooled, stacked]


@numpy_program(1e-3)
def normalization_by_hand(mx, mnp, np):
    from mxnet.gluon import nn

    class Norm(nn.Block):
        def __init__(self, channels, dims, **options):
            super().__init__(**options)
            shape = (1, channels) + (1, 1) * (dims == 4)
            self.gamma = self.params.get("gamma", shape=shape, init=mx.init.One())
            self.beta = self.params.get("beta", shape=shape, init=mx.init.Zero())
            self.mean, self.var = mnp.zeros(shape), mnp.ones(shape)

        def forward(self, x):
            self.mean, self.var = self.mean.copyto(x.ctx), self.var.copyto(x.ctx)
            if not mx.autograd.is_training():
                return self.gamma.data() * (x - self.mean) / mnp.sqrt(self.var + 1e-5) + self.beta.data()
            axes = 0 if len(x.shape) == 2 else (0, 2, 3)
            mean = x.mean(axis=axes, keepdims=True)
            var = ((x - mean) ** 2).mean(axis=axes, keepdims=True)
            self.mean = 0.9 * self.mean + (1.0 - 0.9) * mean
            self.var = 0.9 * self.var + (1.0 - 0.9) * var
            return self.gamma.data() * (x - mean) / mnp.sqrt(var + 1e-5) + self.beta.data()

    def lenet(first, second):
        net = nn.Sequential()
        net.add(nn.Conv2D(3, kernel_size=3), first, nn.Activation("sigmoid"), nn.AvgPool2D(2, 2), nn.Dense(7), second,
                nn.Activation("sigmoid"), nn.Dense(4))
        net.initialize(mx.init.Xavier())
        return net

    x, y, results = drawn(mnp, np, 8, 1, 10, 10), mnp.array([0, 1, 2, 3] * 2), []
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    for net in (lenet(Norm(3, 4), Norm(7, 2)), lenet(nn.BatchNorm(), nn.BatchNorm())):
        trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
        for _ in range(3):
            with mx.autograd.record():
                loss = loss_of(net(x), y)
            loss.backward()
            trainer.step(8)
            results.append(loss.mean())
        results += [net[1].gamma.data().reshape(-1), net(x)]
    return results
