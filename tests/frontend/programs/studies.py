# SPDX-License-Identifier: Apache-2.0
"""Training as papers and tutorials have it: networks against each other, pairs, sequences with attention, detectors, styles,
policies, mixtures. Each trains for some steps and gives what came out."""
from registry import program


def drawn(mx, np, *shape, seed=3):
    return mx.nd.array(np.random.RandomState(seed).normal(size=shape))


def dense(mx, *sizes, last=None):
    net = mx.gluon.nn.HybridSequential()
    for size in sizes[:-1]:
        net.add(mx.gluon.nn.Dense(size, activation="relu"))
    net.add(mx.gluon.nn.Dense(sizes[-1], activation=last))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    return net


def rounded(losses):
    return [round(float(loss.mean().asscalar()), 4) for loss in losses]


@program(tolerance=1e-3)
def variational_autoencoders(mx, np):
    class Autoencoder(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.encoder = mx.gluon.nn.Dense(8, activation="tanh")
                self.code = mx.gluon.nn.Dense(4)
                self.decoder = mx.gluon.nn.Dense(12)

        def hybrid_forward(self, F, x, noise):
            mean, variance = F.split(self.code(self.encoder(x)), num_outputs=2, axis=1)
            seen = self.decoder(mean + F.exp(variance / 2) * noise)
            divergence = -0.5 * F.sum(1 + variance - F.square(mean) - F.exp(variance), axis=1)
            return F.sum(F.square(seen - x), axis=1) + divergence

    net = Autoencoder()
    net.initialize(mx.init.Normal(0.3))
    net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.02})
    x, losses = drawn(mx, np, 16, 12), []
    for _ in range(8):
        with mx.autograd.record():
            loss = net(x, mx.nd.random.normal(shape=(16, 2)))
        loss.backward()
        trainer.step(16)
        losses.append(loss)
    return [rounded(losses), net.decoder.weight.data()]


@program(tolerance=1e-3)
def networks_against_each_other(mx, np):
    nn = mx.gluon.nn
    maker, judge = nn.HybridSequential(), nn.HybridSequential()
    maker.add(nn.Conv2DTranspose(4, 3, 2, in_channels=5), nn.BatchNorm(), nn.Activation("relu"), nn.Conv2DTranspose(1, 4, 1, use_bias=False),
              nn.Activation("tanh"))
    judge.add(nn.Conv2D(4, 3, 2), nn.LeakyReLU(0.2), nn.Flatten(), nn.Dense(1))
    for net in (maker, judge):
        net.initialize(mx.init.Normal(0.1))
        net.hybridize()
    steps = [mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01, "beta1": 0.5}) for net in (maker, judge)]
    loss_of, true = mx.gluon.loss.SigmoidBinaryCrossEntropyLoss(), drawn(mx, np, 6, 1, 10, 10)
    losses = []
    for _ in range(4):
        noise = mx.nd.random.normal(shape=(6, 5, 3, 3))
        with mx.autograd.record():
            made = maker(noise)
            loss = loss_of(judge(true), mx.nd.ones(6)) + loss_of(judge(made.detach()), mx.nd.zeros(6))
        loss.backward()
        steps[1].step(6)
        with mx.autograd.record():
            fooled = loss_of(judge(maker(noise)), mx.nd.ones(6))
        fooled.backward()
        steps[0].step(6)
        losses += [loss, fooled]
    return [rounded(losses), made.shape, maker[1].running_var.data()]


@program(tolerance=1e-3)
def pairs_and_triplets(mx, np):
    net = dense(mx, 8, 4)
    trainer = mx.gluon.Trainer(net.collect_params(), "rmsprop", {"learning_rate": 0.01})
    anchor, positive, negative = (drawn(mx, np, 10, 6, seed=seed) for seed in range(3))
    triplet, cosine = mx.gluon.loss.TripletLoss(margin=0.5), mx.gluon.loss.CosineEmbeddingLoss()
    losses = []
    for _ in range(4):
        with mx.autograd.record():
            one, two, three = net(anchor), net(positive), net(negative)
            loss = triplet(one, two, three) + cosine(one, two, mx.nd.ones(10)) + cosine(one, three, -mx.nd.ones(10))
        loss.backward()
        trainer.step(10)
        losses.append(loss)
    return [rounded(losses), net(anchor)]


@program(tolerance=1e-3)
def policies(mx, np):
    net = dense(mx, 8, 3)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "clip_gradient": 1.0})
    states, taken, losses = drawn(mx, np, 20, 4), [], []
    for _ in range(3):
        with mx.autograd.record():
            chances = mx.nd.softmax(net(states))
            actions, logs = mx.nd.sample_multinomial(chances, get_prob=True)
            rewards = (actions.astype("float32") == 1) - 0.5
            loss = -(logs * rewards).sum() - 0.01 * (chances * chances.log()).sum()
        loss.backward()
        trainer.step(20)
        taken.append(actions)
        losses.append(loss)
    return [taken, rounded(losses)]


@program(tolerance=1e-3)
def recommendations(mx, np):
    class Factors(mx.gluon.Block):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.users, self.things = mx.gluon.nn.Embedding(7, 3), mx.gluon.nn.Embedding(9, 3)
                self.bias = mx.gluon.nn.Embedding(7, 1)
                self.dropout = mx.gluon.nn.Dropout(0.2)

        def forward(self, users, things):
            both = self.dropout(self.users(users)) * self.things(things)
            return both.sum(axis=1) + self.bias(users).reshape((-1,))

    net = Factors()
    net.collect_params().initialize(mx.init.Normal(0.5))
    draws = np.random.RandomState(1)
    data = mx.gluon.data.ArrayDataset(draws.randint(0, 7, 30).astype("float32"), draws.randint(0, 9, 30).astype("float32"),
                                      draws.uniform(1, 5, 30).astype("float32"))
    trainer = mx.gluon.Trainer(net.collect_params(), "adagrad", {"learning_rate": 0.2, "wd": 1e-3})
    losses, metric = [], mx.metric.RMSE()
    for users, things, stars in mx.gluon.data.DataLoader(data, batch_size=8, last_batch="rollover"):
        with mx.autograd.record():
            seen = net(users, things)
            loss = mx.gluon.loss.HuberLoss(rho=0.5)(seen, stars)
        loss.backward()
        trainer.step(users.shape[0])
        metric.update([stars], [seen])
        losses.append(loss)
    return [rounded(losses), metric.get()[1]]


@program(tolerance=1e-3)
def pictures_that_are_learned(mx, np):
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Conv2D(4, 3, padding=1, activation="relu"), mx.gluon.nn.AvgPool2D(), mx.gluon.nn.Conv2D(6, 3, activation="relu"))
    net.initialize(mx.init.Normal(0.2))
    net.collect_params().setattr("grad_req", "null")

    def gram(x):
        rows = x.reshape((x.shape[1], -1))
        return mx.nd.dot(rows, rows.T) / rows.size

    content, style = net(drawn(mx, np, 1, 3, 12, 12)), gram(net(drawn(mx, np, 1, 3, 12, 12, seed=4)))
    picture = mx.gluon.Parameter("picture", shape=(1, 3, 12, 12))
    picture.initialize(mx.init.Constant(0.1))
    trainer = mx.gluon.Trainer([picture], "adam", {"learning_rate": 0.1, "lr_scheduler": mx.lr_scheduler.FactorScheduler(2, 0.9)})
    losses = []
    for _ in range(6):
        with mx.autograd.record():
            seen = net(picture.data())
            smooth = (picture.data()[:, :, 1:] - picture.data()[:, :, :-1]).abs().mean()
            loss = (seen - content).square().mean() + 10 * (gram(seen) - style).square().sum() + 0.1 * smooth
        loss.backward()
        trainer.step(1)
        losses.append(loss)
    return [rounded(losses), picture.data()[0, 0, :3]]


@program(tolerance=1e-3)
def sequences_with_attention(mx, np):
    rnn, nn = mx.gluon.rnn, mx.gluon.nn

    class Translator(mx.gluon.Block):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.words, self.reader, self.writer = nn.Embedding(11, 6), rnn.LSTM(8, layout="NTC"), rnn.GRUCell(8)
                self.score, self.out = nn.Dense(8, flatten=False, use_bias=False), nn.Dense(11)

        def forward(self, source, lengths, target):
            memory = self.reader(self.words(source))
            state, outs = [memory[:, -1]], []
            for step in range(target.shape[1]):
                scores = mx.nd.batch_dot(self.score(memory), state[0].expand_dims(2)).squeeze(axis=2)
                masked = mx.nd.SequenceMask(scores.T, lengths, use_sequence_length=True, value=-1e9).T
                seen = mx.nd.batch_dot(mx.nd.softmax(masked).expand_dims(1), memory).squeeze(axis=1)
                out, state = self.writer(mx.nd.concat(self.words(target[:, step]), seen, dim=1), state)
                outs.append(self.out(out))
            return mx.nd.stack(*outs, axis=1)

    net = Translator()
    net.initialize(mx.init.Xavier())
    draws = np.random.RandomState(2)
    source, target = (mx.nd.array(draws.randint(0, 11, (4, length))) for length in (6, 5))
    lengths, losses = mx.nd.array([6, 3, 4, 5]), []
    trainer = mx.gluon.Trainer(net.collect_params(), "nag", {"learning_rate": 0.1, "momentum": 0.9})
    weight = mx.nd.array([[1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 1, 0], [1, 0, 0, 0]]).expand_dims(2)
    for _ in range(4):
        with mx.autograd.record():
            loss = mx.gluon.loss.SoftmaxCELoss()(net(source, lengths, target[:, :-1]), target[:, 1:], weight)
        loss.backward()
        mx.gluon.utils.clip_global_norm([param.grad() for param in net.collect_params().values()], 0.5)
        trainer.step(4)
        losses.append(loss)
    return [rounded(losses), net(source, lengths, target[:, :-1])]


@program(tolerance=1e-3)
def heads_of_attention(mx, np):
    x = drawn(mx, np, 5, 2, 3 * 8)  # time, batch, heads with queries, keys and values
    x.attach_grad()
    with mx.autograd.record():
        scores = mx.nd.contrib.interleaved_matmul_selfatt_qk(x, heads=2)
        mask = mx.nd.array(np.triu(np.ones((5, 5)), 1) * -1e4)
        weights = mx.nd.Dropout(mx.nd.softmax(mx.nd.broadcast_add(scores, mask.expand_dims(0))), p=0)
        out = mx.nd.contrib.interleaved_matmul_selfatt_valatt(x, weights, heads=2)
        out = mx.nd.LayerNorm(out, mx.nd.ones(8), mx.nd.zeros(8))
        gelu = mx.nd.LeakyReLU(out, act_type="gelu")
        total = (gelu * drawn(mx, np, *gelu.shape, seed=1)).sum()
    total.backward()
    return [scores, out, x.grad, mx.nd.contrib.div_sqrt_dim(out)]


@program(tolerance=1e-3)
def paths_through_labels(mx, np):
    """A conditional random field: its loss, and the best path."""
    steps, labels = 5, 4
    emissions, moves = drawn(mx, np, steps, labels), drawn(mx, np, labels, labels, seed=5)
    path = [1, 0, 3, 3, 2]
    for array in (emissions, moves):
        array.attach_grad()

    def log_sum(rows):
        most = rows.max(axis=0)
        return most + mx.nd.log(mx.nd.exp(mx.nd.broadcast_sub(rows, most.expand_dims(0))).sum(axis=0))

    with mx.autograd.record():
        total = emissions[0]
        for step in range(1, steps):
            total = log_sum(mx.nd.broadcast_add(total.expand_dims(1), moves)) + emissions[step]
        gold = emissions[0, path[0]] + sum((moves[path[i - 1], path[i]] + emissions[i, path[i]] for i in range(1, steps)), 0)
        loss = log_sum(total.expand_dims(1)) - gold
    loss.backward()
    best, back = emissions[0], []
    for step in range(1, steps):
        scores = mx.nd.broadcast_add(best.expand_dims(1), moves)
        back.append(scores.argmax(axis=0))
        best = scores.max(axis=0) + emissions[step]
    found = [int(best.argmax(axis=0).asscalar())]
    for pointers in reversed(back):
        found.insert(0, int(pointers[found[0]].asscalar()))
    return [loss, emissions.grad, moves.grad, found]


@program(tolerance=1e-3)
def mixtures_of_densities(mx, np):
    net = dense(mx, 6, 9)
    trainer = mx.gluon.Trainer(net.collect_params(), "adadelta", {"rho": 0.9})
    x, y, losses = drawn(mx, np, 20, 1), drawn(mx, np, 20, 1, seed=8), []
    for _ in range(4):
        with mx.autograd.record():
            weights, means, widths = net(x).split(3, axis=1)
            logs = -0.5 * mx.nd.broadcast_sub(y, means).square() * mx.nd.exp(-2 * widths) - widths
            loss = -mx.nd.log(mx.nd.sum(mx.nd.softmax(weights) * logs.exp(), axis=1) + 1e-8)
        loss.backward()
        trainer.step(20)
        losses.append(loss)
    return [rounded(losses), mx.nd.topk(weights, k=2, ret_typ="both"), mx.nd.argsort(means[0], is_ascend=False)]
