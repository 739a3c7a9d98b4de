# SPDX-License-Identifier: Apache-2.0
"""Networks of a course with mx.np and mx.npx, each small and trained for some steps: of pictures, of sequences, and what trains them."""
import math

from registry import numpy_program


def drawn(mnp, np, *shape, seed=3):
    return mnp.array(np.random.RandomState(seed).normal(size=shape).astype("float32"))


def learned(mx, mnp, net, x, y, steps=2, rate=0.05):
    """The losses of some steps, and what comes out then."""
    net.initialize(mx.init.Xavier())
    trainer, losses = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": rate}), []
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    for _ in range(steps):
        with mx.autograd.record():
            loss = loss_of(net(x), y).mean()
        loss.backward()
        trainer.step(1)
        losses.append(float(loss))
    return [losses, net(x)]


@numpy_program(2e-3)
def blocks_of_convolutions(mx, mnp, np):
    """Layers one after the other, groups of them, and ones that see one pixel."""
    from mxnet.gluon import nn

    def group(count, channels):
        made = nn.Sequential()
        for _ in range(count):
            made.add(nn.Conv2D(channels, kernel_size=3, padding=1, activation="relu"))
        made.add(nn.MaxPool2D(pool_size=2, strides=2))
        return made

    def pixels(channels, size, strides, padding):
        made = nn.HybridSequential()
        made.add(nn.Conv2D(channels, size, strides, padding, activation="relu"), nn.Conv2D(channels, kernel_size=1, activation="relu"))
        return made

    x, y = drawn(mnp, np, 3, 1, 20, 20), mnp.array([0, 2, 1])
    deep, grouped, pixelwise = nn.Sequential(), nn.Sequential(), nn.HybridSequential()
    deep.add(nn.Conv2D(4, kernel_size=5, strides=2, activation="relu"), nn.MaxPool2D(pool_size=3, strides=2),
             nn.Conv2D(6, kernel_size=3, padding=1, activation="relu"), nn.Dense(8, activation="relu"), nn.Dropout(0.5), nn.Dense(3))
    for count, channels in ((1, 3), (2, 4)):
        grouped.add(group(count, channels))
    grouped.add(nn.Dense(8, activation="relu"), nn.Dropout(0.5), nn.Dense(3))
    pixelwise.add(pixels(4, 5, 2, 0), nn.MaxPool2D(pool_size=3, strides=2), nn.Dropout(0.5), pixels(3, 3, 1, 1), nn.GlobalAvgPool2D(), nn.Flatten())
    shapes, seen = [], x
    deep.initialize(mx.init.Xavier())
    for layer in deep:
        seen = layer(seen)
        shapes.append((layer.name, seen.shape))
    return [shapes, learned(mx, mnp, grouped, x, y), learned(mx, mnp, pixelwise, x, y)]


@numpy_program(2e-3)
def blocks_beside_each_other(mx, mnp, np):
    from mxnet.gluon import nn
    from mxnet import npx

    class Inception(nn.Block):
        def __init__(self, one, two, three, four, **options):
            super().__init__(**options)
            self.one = nn.Conv2D(one, kernel_size=1, activation="relu")
            self.two, self.three = nn.Sequential(), nn.Sequential()
            self.two.add(nn.Conv2D(two[0], kernel_size=1, activation="relu"), nn.Conv2D(two[1], kernel_size=3, padding=1, activation="relu"))
            self.three.add(nn.Conv2D(three[0], kernel_size=1, activation="relu"), nn.Conv2D(three[1], kernel_size=5, padding=2, activation="relu"))
            self.pool, self.four = nn.MaxPool2D(pool_size=3, strides=1, padding=1), nn.Conv2D(four, kernel_size=1, activation="relu")

        def forward(self, x):
            return mnp.concatenate((self.one(x), self.two(x), self.three(x), self.four(self.pool(x))), axis=1)

    class Residual(nn.Block):
        def __init__(self, channels, other=False, strides=1, **options):
            super().__init__(**options)
            self.first = nn.Conv2D(channels, kernel_size=3, padding=1, strides=strides)
            self.second = nn.Conv2D(channels, kernel_size=3, padding=1)
            self.third = nn.Conv2D(channels, kernel_size=1, strides=strides) if other else None
            self.norms = [nn.BatchNorm(), nn.BatchNorm()]
            for norm in self.norms:
                self.register_child(norm)

        def forward(self, x):
            y = self.norms[1](self.second(npx.relu(self.norms[0](self.first(x)))))
            return npx.relu(y + (self.third(x) if self.third else x))

    class Dense(nn.Block):
        def __init__(self, count, channels, **options):
            super().__init__(**options)
            self.net = nn.Sequential()
            for _ in range(count):
                part = nn.Sequential()
                part.add(nn.BatchNorm(), nn.Activation("relu"), nn.Conv2D(channels, kernel_size=3, padding=1))
                self.net.add(part)

        def forward(self, x):
            for part in self.net:
                x = mnp.concatenate((x, part(x)), axis=1)
            return x

    x, y, results = drawn(mnp, np, 2, 2, 9, 9), mnp.array([1, 2]), []
    for made in ([Inception(2, (2, 3), (1, 2), 2)], [Residual(2), Residual(4, other=True, strides=2)],
                 [Dense(2, 3), nn.Conv2D(4, kernel_size=1), nn.AvgPool2D(pool_size=2, strides=2)]):
        net = nn.Sequential()
        net.add(*made, nn.GlobalAvgPool2D(), nn.Dense(3))
        results += [learned(mx, mnp, net, x, y), sorted(name[-12:] for name in net.collect_params().keys())]
    return results


@numpy_program(2e-3)
def recurrent_networks_from_scratch(mx, mnp, np):
    from mxnet import npx

    text = "the time machine by an old teller of tales the time traveller was expounding"
    letters = sorted(set(text))
    corpus = mnp.array([letters.index(letter) for letter in text])
    vocabulary, hidden = len(letters), 8

    def normal(*shape):
        return mnp.random.normal(scale=0.1, size=shape)

    def three():
        return normal(vocabulary, hidden), normal(hidden, hidden), mnp.zeros(hidden)

    def plain(inputs, state, parts):
        (state,), outputs, (w_xh, w_hh, b_h, w_hq, b_q) = state, [], parts
        for x in inputs:
            state = mnp.tanh(mnp.dot(x, w_xh) + mnp.dot(state, w_hh) + b_h)
            outputs.append(mnp.dot(state, w_hq) + b_q)
        return mnp.concatenate(outputs, axis=0), (state,)

    def gated(inputs, state, parts):
        (state,), outputs, (xz, hz, bz, xr, hr, br, xh, hh, bh, hq, bq) = state, [], parts
        for x in inputs:
            update = npx.sigmoid(mnp.dot(x, xz) + mnp.dot(state, hz) + bz)
            reset = npx.sigmoid(mnp.dot(x, xr) + mnp.dot(state, hr) + br)
            candidate = mnp.tanh(mnp.dot(x, xh) + mnp.dot(reset * state, hh) + bh)
            state = update * state + (1 - update) * candidate
            outputs.append(mnp.dot(state, hq) + bq)
        return mnp.concatenate(outputs, axis=0), (state,)

    def clip(parts, limit):
        norm = math.sqrt(sum((part.grad**2).sum() for part in parts))
        if norm > limit:
            for part in parts:
                part.grad[:] *= limit / norm
        return norm

    results, loss_of = [], mx.gluon.loss.SoftmaxCrossEntropyLoss()
    for step, parts in ((plain, [*three()]), (gated, [*three(), *three(), *three()])):
        parts += [normal(hidden, vocabulary), mnp.zeros(vocabulary)]
        for part in parts:
            part.attach_grad()
        state = (mnp.zeros((2, hidden)),)
        for begin in range(0, 18, 6):
            x = corpus[begin:begin + 48].reshape(2, -1)[:, :6]
            y = corpus[begin + 1:begin + 49].reshape(2, -1)[:, :6]
            for item in state:
                item = item.detach()
            with mx.autograd.record():
                seen, state = step(npx.one_hot(x.T, vocabulary), state, parts)
                loss = loss_of(seen, y.T.reshape(-1)).mean()
            loss.backward()
            results += [float(loss), float(clip(parts, 1))]
            for part in parts:
                part[:] = part - 1.0 * part.grad
        seen, _ = step(npx.one_hot(corpus[:5].reshape(1, -1).T, vocabulary), (mnp.zeros((1, hidden)),), parts)
        results += [[letters[int(i)] for i in seen.argmax(axis=1).reshape(-1)], math.exp(results[-2])]
    return results


@numpy_program(2e-3)
def recurrent_networks_by_layers(mx, mnp, np):
    from mxnet import npx
    from mxnet.gluon import nn, rnn

    class Model(nn.Block):
        def __init__(self, layer, vocabulary, **options):
            super().__init__(**options)
            self.rnn, self.vocabulary, self.dense = layer, vocabulary, nn.Dense(vocabulary)

        def forward(self, inputs, state):
            seen, state = self.rnn(npx.one_hot(inputs.T, self.vocabulary), state)
            return self.dense(seen.reshape(-1, seen.shape[-1])), state

    words = mnp.array(np.random.RandomState(0).randint(0, 7, (3, 6)))
    results, loss_of = [], mx.gluon.loss.SoftmaxCrossEntropyLoss()
    for layer in (rnn.RNN(5), rnn.GRU(5, num_layers=2), rnn.LSTM(5, bidirectional=True), rnn.LSTM(4, num_layers=2, dropout=0.1)):
        net = Model(layer, 7)
        net.initialize(mx.init.Normal(0.1), force_reinit=True)
        state = layer.begin_state(batch_size=3)
        trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1})
        for _ in range(2):
            state = [item.detach() for item in state]
            with mx.autograd.record():
                seen, state = net(words[:, :-1], state)
                loss = loss_of(seen, words[:, 1:].T.reshape(-1))
            loss.backward()
            for item in net.collect_params().values():
                item.grad()[:] *= 0.5
            trainer.step(15)
            results.append(loss.mean())
        results += [[item.shape for item in state], seen.shape]
    return results


@numpy_program(2e-3)
def optimizers_from_scratch(mx, mnp, np):
    features = drawn(mnp, np, 32, 3)
    labels = mnp.dot(features, mnp.array([1.0, -2, 0.5]))

    def momentum(parts, states, settings):
        for part, velocity in zip(parts, states):
            velocity[:] = settings["momentum"] * velocity + part.grad
            part[:] -= settings["lr"] * velocity

    def adagrad(parts, states, settings):
        for part, sum_of_squares in zip(parts, states):
            sum_of_squares[:] += mnp.square(part.grad)
            part[:] -= settings["lr"] * part.grad / mnp.sqrt(sum_of_squares + 1e-6)

    def adam(parts, states, settings):
        for part, (mean, square) in zip(parts, states):
            mean[:] = 0.9 * mean + (1 - 0.9) * part.grad
            square[:] = 0.999 * square + (1 - 0.999) * mnp.square(part.grad)
            unbiased = mean / (1 - 0.9 ** settings["t"])
            part[:] -= settings["lr"] * unbiased / (mnp.sqrt(square / (1 - 0.999 ** settings["t"])) + 1e-6)
        settings["t"] += 1

    results = []
    for step, settings in ((momentum, {"lr": 0.02, "momentum": 0.5}), (adagrad, {"lr": 0.1}), (adam, {"lr": 0.01, "t": 1})):
        weight, bias = drawn(mnp, np, 3, seed=1) * 0.01, mnp.zeros(1)
        states = [(mnp.zeros(3), mnp.zeros(3)), (mnp.zeros(1), mnp.zeros(1))] if step is adam else [mnp.zeros(3), mnp.zeros(1)]
        for part in (weight, bias):
            part.attach_grad()
        for first in range(0, 32, 8):
            with mx.autograd.record():
                loss = ((mnp.dot(features[first:first + 8], weight) + bias - labels[first:first + 8]) ** 2 / 2).mean()
            loss.backward()
            step([weight, bias], states, settings)
            results.append(float(loss))
        results += [weight, bias]
    return results


@numpy_program(1e-3)
def rates_that_change(mx, mnp, np):
    from mxnet import lr_scheduler

    class SquareRoot:
        def __init__(self, rate=0.1):
            self.rate = rate

        def __call__(self, count):
            return self.rate * pow(count + 1.0, -0.5)

    net, loss_of, results = mx.gluon.nn.Dense(1), mx.gluon.loss.L2Loss(), []
    x, y = drawn(mnp, np, 8, 3), drawn(mnp, np, 8, 1, seed=5)
    schedules = [SquareRoot(), lr_scheduler.FactorScheduler(1, factor=0.9, stop_factor_lr=1e-2, base_lr=2.0),
                 lr_scheduler.MultiFactorScheduler(step=[2, 4], factor=0.5, base_lr=0.5),
                 lr_scheduler.CosineScheduler(max_update=5, base_lr=0.3, final_lr=0.01, warmup_steps=2, warmup_begin_lr=0),
                 lr_scheduler.PolyScheduler(max_update=5, base_lr=0.3, pwr=2)]
    for schedule in schedules:
        net.initialize(mx.init.One(), force_reinit=True)
        trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"lr_scheduler": schedule})
        for _ in range(6):
            with mx.autograd.record():
                loss = loss_of(net(x), y)
            loss.backward()
            trainer.step(8)
            results.append([float(loss.mean()), trainer.learning_rate])
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
    trainer.set_learning_rate(0.25)
    return [results, trainer.learning_rate]


@numpy_program(1e-3)
def several_devices(mx, mnp, np):
    from mxnet import npx
    from mxnet.gluon import nn

    devices = [mx.cpu(0), mx.cpu(1)]

    def allreduce(data):
        for i in range(1, len(data)):
            data[0][:] += data[i].copyto(data[0].ctx)
        for i in range(1, len(data)):
            data[0].copyto(data[i])

    x, y = drawn(mnp, np, 8, 1, 6, 6), mnp.array([0, 1, 2, 0] * 2)
    copies = [mnp.ones((1, 2), ctx=device) * (i + 1) for i, device in enumerate(devices)]
    allreduce(copies)
    parts = mx.gluon.utils.split_and_load(x, devices)
    net = nn.Sequential()
    net.add(nn.Conv2D(3, kernel_size=3, activation="relu"), nn.BatchNorm(), nn.Dense(3))
    net.initialize(init=mx.init.Normal(sigma=0.1), ctx=devices)
    trainer, loss_of = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.2}), mx.gluon.loss.SoftmaxCrossEntropyLoss()
    losses = []
    for _ in range(3):
        with mx.autograd.record():
            each = [loss_of(net(data), labels) for data, labels in zip(parts, mx.gluon.utils.split_and_load(y, devices))]
        for loss in each:
            loss.backward()
        trainer.step(8)
        npx.waitall()
        losses.append([float(loss.sum()) for loss in each])
    weights = [net[0].weight.data(device) for device in devices]
    return [copies, [str(part.ctx) for part in parts], losses, weights, net[0].weight.list_ctx() == devices, npx.num_gpus() >= 0]


@numpy_program(1e-3)
def first_values_of_networks(mx, mnp, np):
    """Layers draw one after the other from the stream of np.random, whatever their initializers."""
    results = []
    for initializer in (mx.init.Uniform(0.3), mx.init.Normal(0.2), mx.init.Xavier(), mx.init.Xavier(rnd_type="gaussian"), mx.init.MSRAPrelu()):
        net = mx.gluon.nn.HybridSequential()
        net.add(mx.gluon.nn.Dense(3, in_units=4, weight_initializer=initializer), mx.gluon.nn.Dense(2))
        net.initialize()
        out = net(mnp.ones((2, 4)))
        results.append([net[0].weight.data(), net[1].weight.data(), out, mnp.random.uniform(size=3), mx.nd.random.uniform(shape=3)])
    return results


@numpy_program(1e-3)
def training_with_numpy_arrays(mx, mnp, np):
    class Net(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.weight = self.params.get("weight", shape=(4, 0), allow_deferred_init=True, init=mx.init.Normal(0.1))
            self.out, self.norm = mx.gluon.nn.Dense(3), mx.gluon.nn.LayerNorm(in_channels=8)

        def infer_shape(self, x):
            self.weight.shape = (4, x.shape[1])

        def hybrid_forward(self, F, x, weight):
            seen = F.np.dot(x, weight.T)
            seen = F.npx.relu(seen) + F.np.tanh(seen) * 2
            return F.npx.log_softmax(self.out(self.norm(F.np.concatenate([seen, seen**2], axis=1))), axis=-1)

    net, losses = Net(), []
    net.initialize()
    x, y = mnp.array(np.random.rand(16, 6).astype("float32")), mnp.array(np.random.randint(0, 3, 16))
    net(x)
    net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), "nag", {"learning_rate": 0.05, "momentum": 0.9, "wd": 1e-3})
    for _ in range(5):
        with mx.autograd.record():
            loss = -mx.npx.pick(net(x), y).mean()
        loss.backward()
        trainer.step(1)
        losses.append(loss)
    return [losses, net.weight.data(), mnp.argsort(net(x), axis=1)]


@numpy_program(1e-3)
def gluon_with_numpy(mx, mnp, np):
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(4, activation="relu"), mx.gluon.nn.Dense(2))
    net.initialize(mx.init.One())
    x = mnp.ones((3, 5))
    plain = net(x)
    net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1}, kvstore=None)
    with mx.autograd.record():
        loss = mx.gluon.loss.L2Loss()(net(x), mnp.zeros((3, 2)))
    loss.backward()
    trainer.step(3)
    return [plain, loss, net[0].weight.data(), type(plain).__name__]
