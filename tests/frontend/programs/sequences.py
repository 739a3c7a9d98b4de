# SPDX-License-Identifier: Apache-2.0
"""Networks that read and write sequences with mx.np and mx.npx: encoders, decoders, attention, words and their neighbours, sentences."""
import math

from registry import numpy_program


def drawn(mnp, np, *shape, seed=3):
    return mnp.array(np.random.RandomState(seed).normal(size=shape).astype("float32"))


def masked_softmax(npx, mnp, x, lengths):
    if lengths is None:
        return npx.softmax(x)
    shape = x.shape
    lengths = lengths.repeat(shape[1]) if lengths.ndim == 1 else lengths.reshape(-1)
    x = npx.sequence_mask(x.reshape(-1, shape[-1]), lengths, True, value=-1e6, axis=1)
    return npx.softmax(x).reshape(shape)


@numpy_program(2e-3)
def encoders_and_decoders(mx, mnp, np):
    from mxnet import npx
    from mxnet.gluon import nn, rnn

    class Encoder(nn.Block):
        def __init__(self, words, size, hidden, **options):
            super().__init__(**options)
            self.embedding, self.rnn = nn.Embedding(words, size), rnn.GRU(hidden, 2)

        def forward(self, x):
            x = self.embedding(x).swapaxes(0, 1)
            return self.rnn(x, self.rnn.begin_state(batch_size=x.shape[1], ctx=x.ctx))

    class Decoder(nn.Block):
        def __init__(self, words, size, hidden, **options):
            super().__init__(**options)
            self.embedding, self.rnn = nn.Embedding(words, size), rnn.GRU(hidden, 2)
            self.dense = nn.Dense(words, flatten=False)

        def forward(self, x, state):
            x = self.embedding(x).swapaxes(0, 1)
            context = mnp.broadcast_to(state[0][-1], (x.shape[0], state[0].shape[1], state[0].shape[2]))
            seen, state = self.rnn(mnp.concatenate((x, context), 2), state)
            return self.dense(seen).swapaxes(0, 1), state

    class MaskedLoss(mx.gluon.loss.SoftmaxCELoss):
        def forward(self, seen, labels, lengths):
            weights = mnp.expand_dims(mnp.ones_like(labels), axis=-1)
            return super().forward(seen, labels, npx.sequence_mask(weights, lengths, True, axis=1))

    encoder, decoder, loss_of = Encoder(9, 4, 5), Decoder(8, 4, 5), MaskedLoss()
    for net in (encoder, decoder):
        net.initialize(mx.init.Xavier())
    draws = np.random.RandomState(5)
    x, y, lengths = mnp.array(draws.randint(0, 9, (3, 6))), mnp.array(draws.randint(0, 8, (3, 5)).astype("float32")), mnp.array([5, 2, 4])
    trainers = [mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01}) for net in (encoder, decoder)]
    losses = []
    for _ in range(3):
        fed = mnp.concatenate([mnp.array([1] * y.shape[0]).reshape(-1, 1), y[:, :-1]], 1)
        with mx.autograd.record():
            _, state = encoder(x)
            loss = loss_of(decoder(fed, state)[0], y, lengths)
        loss.backward()
        for trainer in trainers:
            trainer.step(float(lengths.sum()))
        losses.append(loss)
    state, word, written = encoder(x[:1])[1], mnp.expand_dims(mnp.array([1]), axis=0), []
    for _ in range(4):
        seen, state = decoder(word, state)
        word = seen.argmax(axis=2)
        written.append(int(word.squeeze(axis=0).astype("int32").item()))
    weights = mnp.expand_dims(mnp.ones((3, 5)), axis=-1)
    return [losses, written, npx.sequence_mask(weights, lengths, True, axis=1), masked_softmax(npx, mnp, drawn(mnp, np, 2, 2, 4), mnp.array([2, 3]))]


@numpy_program(2e-3)
def transformers_from_scratch(mx, mnp, np):
    from mxnet import npx
    from mxnet.gluon import nn

    def heads_first(x, heads):
        x = x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(0, 2, 1, 3)
        return x.reshape(-1, x.shape[2], x.shape[3])

    def heads_last(x, heads):
        x = x.reshape(-1, heads, x.shape[1], x.shape[2]).transpose(0, 2, 1, 3)
        return x.reshape(x.shape[0], x.shape[1], -1)

    class Attention(nn.Block):
        def __init__(self, size, heads, dropout, **options):
            super().__init__(**options)
            self.heads, self.dropout, self.weights = heads, nn.Dropout(dropout), None
            self.q, self.k, self.v, self.o = (nn.Dense(size, use_bias=False, flatten=False) for _ in range(4))

        def forward(self, queries, keys, values, lengths):
            queries, keys, values = (heads_first(layer(x), self.heads) for layer, x in
                                     ((self.q, queries), (self.k, keys), (self.v, values)))
            if lengths is not None:
                lengths = lengths.repeat(self.heads, axis=0)
            scores = npx.batch_dot(queries, keys, transpose_b=True) / math.sqrt(queries.shape[-1])
            self.weights = masked_softmax(npx, mnp, scores, lengths)
            return self.o(heads_last(npx.batch_dot(self.dropout(self.weights), values), self.heads))

    class Positions(nn.Block):
        def __init__(self, size, longest=20, **options):
            super().__init__(**options)
            self.table = mnp.zeros((1, longest, size))
            angles = mnp.arange(longest).reshape(-1, 1) / mnp.power(10000, mnp.arange(0, size, 2) / size)
            self.table[:, :, 0::2] = mnp.sin(angles)
            self.table[:, :, 1::2] = mnp.cos(angles)

        def forward(self, x):
            return x + self.table[:, :x.shape[1], :].as_in_ctx(x.ctx)

    class Added(nn.Block):
        def __init__(self, dropout, **options):
            super().__init__(**options)
            self.dropout, self.norm = nn.Dropout(dropout), nn.LayerNorm()

        def forward(self, x, y):
            return self.norm(self.dropout(y) + x)

    class Block(nn.Block):
        def __init__(self, size, heads, **options):
            super().__init__(**options)
            self.attention, self.first, self.second = Attention(size, heads, 0.1), Added(0.1), Added(0.1)
            self.wide, self.narrow = nn.Dense(16, flatten=False, activation="relu"), nn.Dense(size, flatten=False)

        def forward(self, x, lengths):
            x = self.first(x, self.attention(x, x, x, lengths))
            return self.second(x, self.narrow(self.wide(x)))

    class Encoder(nn.Block):
        def __init__(self, words, size, heads, count, **options):
            super().__init__(**options)
            self.size, self.embedding, self.positions = size, nn.Embedding(words, size), Positions(size)
            self.blocks = nn.Sequential()
            for _ in range(count):
                self.blocks.add(Block(size, heads))
            self.dense = nn.Dense(2)

        def forward(self, x, lengths):
            x = self.positions(self.embedding(x) * math.sqrt(self.size))
            for block in self.blocks:
                x = block(x, lengths)
            return self.dense(x[:, 0, :])

    net = Encoder(11, 8, 2, 2)
    net.initialize(mx.init.Xavier())
    words, lengths, labels = mnp.array(np.random.RandomState(1).randint(0, 11, (4, 7))), mnp.array([7, 3, 5, 1]), mnp.array([0, 1, 1, 0])
    trainer, loss_of, losses = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.005}), mx.gluon.loss.SoftmaxCELoss(), []
    for _ in range(3):
        with mx.autograd.record():
            loss = loss_of(net(words, lengths), labels)
        loss.backward()
        trainer.step(4)
        losses.append(loss)
    masks = mnp.tile(mnp.arange(1, 4), (2, 1))
    return [losses, net(words, lengths), net.blocks[1].attention.weights.shape, net.blocks[0].attention.weights[:, 0],
            masked_softmax(npx, mnp, drawn(mnp, np, 2, 3, 4), masks), Positions(6)(mnp.zeros((1, 5, 6)))]


@numpy_program(2e-3)
def attention_that_adds(mx, mnp, np):
    from mxnet import npx
    from mxnet.gluon import nn, rnn

    class Additive(nn.Block):
        def __init__(self, hidden, **options):
            super().__init__(**options)
            self.key, self.query = (nn.Dense(hidden, use_bias=False, flatten=False) for _ in range(2))
            self.value = nn.Dense(1, use_bias=False, flatten=False)

        def forward(self, queries, keys, values, lengths):
            both = mnp.expand_dims(self.query(queries), axis=2) + mnp.expand_dims(self.key(keys), axis=1)
            scores = mnp.squeeze(self.value(mnp.tanh(both)), axis=-1)
            return npx.batch_dot(masked_softmax(npx, mnp, scores, lengths), values)

    class Decoder(nn.Block):
        def __init__(self, **options):
            super().__init__(**options)
            self.attention, self.embedding, self.rnn = Additive(5), nn.Embedding(8, 4), rnn.GRU(5, 1)
            self.dense = nn.Dense(8, flatten=False)

        def forward(self, x, outputs, hidden, lengths):
            made = []
            for step in self.embedding(x).swapaxes(0, 1):
                context = self.attention(mnp.expand_dims(hidden[0][-1], axis=1), outputs, outputs, lengths)
                step = mnp.concatenate((context, mnp.expand_dims(step, axis=1)), axis=-1)
                out, hidden = self.rnn(step.swapaxes(0, 1), hidden)
                made.append(out)
            return self.dense(mnp.concatenate(made, axis=0)).swapaxes(0, 1), hidden

    encoder, decoder = rnn.GRU(5, 1), Decoder()
    for net in (encoder, decoder):
        net.initialize(mx.init.Normal(0.3))
    x, words = drawn(mnp, np, 6, 3, 4), mnp.array(np.random.RandomState(2).randint(0, 8, (3, 4)))
    with mx.autograd.record():
        outputs, state = encoder(x, encoder.begin_state(batch_size=3))
        seen, state = decoder(words, outputs.swapaxes(0, 1), state, mnp.array([6, 2, 4]))
        loss = mx.gluon.loss.SoftmaxCELoss()(seen, words)
    loss.backward()
    gradients = {name[-14:]: item.grad() for net in (encoder, decoder) for name, item in net.collect_params().items()}
    return [loss, seen, state, sorted(gradients), [gradients[key] for key in sorted(gradients)]]


@numpy_program(2e-3)
def words_by_their_neighbours(mx, mnp, np):
    """Skip-grams with negative samples: one word and its neighbours, padded, with a mask and labels."""
    from mxnet import npx
    from mxnet.gluon import nn

    draws = np.random.RandomState(3)
    centres = mnp.array(draws.randint(0, 20, (6, 1)))
    contexts, masks = mnp.array(draws.randint(0, 20, (6, 5))), mnp.array(draws.randint(0, 2, (6, 5)))
    masks[:, 0] = 1
    labels = mnp.array([[1, 0, 0, 0, 0]] * 6)
    net = nn.Sequential()
    net.add(nn.Embedding(input_dim=20, output_dim=4), nn.Embedding(input_dim=20, output_dim=4))
    net.initialize(mx.init.Normal(0.5))

    def seen():
        return npx.batch_dot(net[0](centres), net[1](contexts).swapaxes(1, 2))

    loss_of, losses = mx.gluon.loss.SigmoidBinaryCrossEntropyLoss(), []
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    for _ in range(3):
        with mx.autograd.record():
            loss = loss_of(seen().reshape(labels.shape), labels, masks) / masks.sum(axis=1) * masks.shape[1]
        loss.backward()
        trainer.step(6)
        losses.append(loss.sum())
    table = net[0].weight.data()
    query = table[7]
    near = mnp.dot(table, query) / mnp.sqrt(mnp.sum(table * table, axis=1) * mnp.sum(query * query) + 1e-9)
    best = npx.topk(near, k=4, ret_typ="indices").asnumpy().astype("int32")
    return [losses, best, near, [f"{float(near[int(i)]):.3f}" for i in best[1:]]]


@numpy_program(2e-3)
def sentences_judged(mx, mnp, np):
    """By a recurrent network in both directions, and by convolutions over time."""
    from mxnet import npx
    from mxnet.gluon import nn, rnn

    class Recurrent(nn.Block):
        def __init__(self, **options):
            super().__init__(**options)
            self.embedding, self.decoder = nn.Embedding(30, 4), nn.Dense(2)
            self.encoder = rnn.LSTM(5, num_layers=2, bidirectional=True, input_size=4)

        def forward(self, x):
            outputs = self.encoder(self.embedding(x.T))
            return self.decoder(mnp.concatenate((outputs[0], outputs[-1]), axis=1))

    class Convolving(nn.Block):
        def __init__(self, sizes, channels, **options):
            super().__init__(**options)
            self.embedding, self.fixed = nn.Embedding(30, 4), nn.Embedding(30, 4)
            self.dropout, self.decoder, self.pool = nn.Dropout(0.5), nn.Dense(2), nn.GlobalMaxPool1D()
            self.convs = nn.Sequential()
            for count, size in zip(channels, sizes):
                self.convs.add(nn.Conv1D(count, size, activation="relu"))

        def forward(self, x):
            x = mnp.concatenate((self.embedding(x), self.fixed(x)), axis=2).transpose(0, 2, 1)
            x = mnp.concatenate([mnp.squeeze(self.pool(conv(x)), axis=-1) for conv in self.convs], axis=1)
            return self.decoder(self.dropout(x))

    words, labels, results = mnp.array(np.random.RandomState(9).randint(0, 30, (4, 8))), mnp.array([0, 1, 1, 0]), []
    vectors, loss_of = drawn(mnp, np, 30, 4), mx.gluon.loss.SoftmaxCrossEntropyLoss()
    for net in (Recurrent(), Convolving([2, 3, 4], [3, 2, 3])):
        net.initialize(mx.init.Xavier())
        net.embedding.weight.set_data(vectors)
        net.embedding.collect_params().setattr("grad_req", "null")
        trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.02})
        for _ in range(2):
            with mx.autograd.record():
                loss = loss_of(net(words), labels)
            loss.backward()
            trainer.step(4)
            results.append(loss)
        label = mnp.argmax(net(words[:1].reshape(1, -1)), axis=1)
        results += ["positive" if label == 1 else "negative", net.embedding.weight.data()[0], npx.softmax(net(words))]
    return results
